"""`compress rules`: look at rules, check rule files, run their examples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from compressor.cli import complain
from compressor.cli._options import take
from compressor.cli._print import columns, say, write_json
from compressor.errors import ConfigError
from compressor.options import Options

if TYPE_CHECKING:
    from compressor.rules import RuleFile


@click.group(
    epilog="""\b
Examples:
  compress rules list --preset strict
  compress rules show NEG001
  compress rules check my-rules/*.yaml
  compress rules test my-rules/*.yaml
"""
)
def command() -> None:
    """List, show, check and test rules."""


@command.command("list")
@take("preset", "rules", "json")
def list_rules(options: Options) -> None:
    """List the rules of a preset: scope, kind and action of each."""
    from compressor.rules import load_preset

    preset = load_preset(options.preset, options.rules)
    if options.json:
        keys = ("id", "kind", "level", "description", "file")
        write_json({"preset": preset.name, "rules": [{k: str(getattr(r, k)) for k in keys} for r in preset.rules]})
        return
    say(f"preset {preset.name}: {preset.description}")
    columns([(r.id, r.kind, f"{r.action.verb} {r.action.value}".strip(), r.description) for r in preset.rules])


@command.command("show")
@click.argument("rule", metavar="ID")
@take("rules")
def show_rule(options: Options, rule: str) -> None:
    """Print one rule as it is written, with its examples."""
    from compressor.rules import load_rules
    from compressor.yamlfile import nearest

    found = {str(r.data["id"]): r for r in load_rules(options.rules)}
    if rule not in found:
        raise ConfigError(f'unknown rule "{rule}"', hint=nearest(rule, found))
    document = found[rule].document
    say(f"# {document.file}\n{document.text.rstrip()}")


@command.command("check")
@click.argument("files", nargs=-1, metavar="FILE...")
def check_rules(files: Sequence[str]) -> int:
    """Check rule and preset files; without FILE, all that are shipped."""
    mistakes = 0
    for file in files or [""]:
        try:
            _read(file)
        except ConfigError as error:
            complain(error)
            mistakes += 1
    if not mistakes:
        say(f"{len(files) or 'all'} files fine" if len(files) != 1 else f"{files[0]}: fine")
    return ConfigError.exit_code if mistakes else 0


def _read(file: str) -> None:
    from compressor import yamlfile
    from compressor.rules import load_preset, load_rules, preset_names

    if not file:
        for name in preset_names():
            load_preset(name)
        for rule in load_rules():
            rule.rule()
        return
    value = yamlfile.load(Path(file)).value
    if isinstance(value, dict) and "id" not in value and {"rules", "extends", "budget"} & value.keys():
        load_preset(Path(file).absolute())
        return
    for rule in _of_files([file]):
        rule.rule()


@command.command("test")
@click.argument("files", nargs=-1, metavar="[FILE...]")
@take("json")
def run_examples(options: Options, files: Sequence[str]) -> int:
    """Run the examples that stand in rule files; without FILE, those of all shipped rules."""
    from compressor.report import finding
    from compressor.rules import load_rules, test_rules

    rules = list(_of_files(files)) if files else list(load_rules())
    examples = sum(len(list(r.examples())) for r in rules)
    failed = list(test_rules(rules))
    if options.json:
        write_json({"rules": len(rules), "examples": examples, "findings": [finding(f) for f in failed]})
        return int(bool(failed))
    for f in failed:
        say(f"{f.at.file}:{f.at.line}: {f.check}: {f.message}\n  in: {f.fact}")
    say(f"{len(rules)} rules, {examples} examples, {len(failed)} failed")
    return int(bool(failed))


def _of_files(files: Sequence[str]) -> Iterator[RuleFile]:
    from compressor import rulefile

    for file in files:
        yield from rulefile.read(Path(file))
