"""Run the checks that the rules ask for, on the output as it was read back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from compressor import plugins
from compressor.model import Comparison, Finding, Level

if TYPE_CHECKING:
    from compressor.rules import Preset, Rule


def run(comparison: Comparison, preset: Preset) -> tuple[Finding, ...]:
    """All findings of the preset's checks, in the order of its rules."""
    found: list[Finding] = []
    for rule in preset.rules:
        if rule.action.verb == "require":
            found += _check(comparison, rule)
    return tuple(found)


def _check(comparison: Comparison, rule: Rule) -> Iterator[Finding]:
    check = plugins.load("checks", rule.kind)
    fixed = getattr(check, "FIXED_LEVELS", False)
    for finding in check.check(comparison, rule.options):
        level = finding.level if fixed else rule.level
        yield replace(finding, check=finding.check or rule.id, level=level)


def errors(findings: Sequence[Finding]) -> list[Finding]:
    """Those that stop an output."""
    return [f for f in findings if f.level is Level.ERROR]
