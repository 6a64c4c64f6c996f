"""The rule engine's public face: rules and presets from YAML, the parts a rule looks at, and the test of examples."""

from __future__ import annotations

from compressor.presets import Budget, Keep, Preset, Share, Weights, load_preset, load_rules, preset_names
from compressor.rulefile import ActionSpec, Example, Rule, RuleFile, Scope, Verb
from compressor.ruletest import test_rules
from compressor.selection import Selector, select

__all__ = [
    "ActionSpec",
    "Budget",
    "Example",
    "Keep",
    "Preset",
    "Rule",
    "RuleFile",
    "Scope",
    "Selector",
    "Share",
    "Verb",
    "Weights",
    "load_preset",
    "load_rules",
    "preset_names",
    "select",
    "test_rules",
]
