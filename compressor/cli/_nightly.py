"""The nightly form of `compress run`: folders into one archive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from compressor.cli import INTERRUPTED
from compressor.cli._print import columns, printable, say, write_json
from compressor.errors import ConfigError
from compressor.options import Options

if TYPE_CHECKING:
    from compressor.jobs import Orders, Outcome


def wanted(inputs: Sequence[str], options: Options) -> bool:
    """Whether this is a nightly run: a folder, a named archive, and something to write."""
    if options.known or options.replace:
        return True
    return options.archive is not None and not options.dry_run and options.output != "-" and _folder(inputs)


def _folder(inputs: Sequence[str]) -> bool:
    return any(Path(i).is_dir() for i in inputs)


def run(inputs: Sequence[str], options: Options, orders: Orders) -> int:
    """Do one night and print its line."""
    from compressor import nightly

    _check(options)
    if options.known:
        if options.dry_run:
            return _list_homes(options)
        inputs = [*inputs, *_homes()]
    if not inputs:
        raise ConfigError("none of the known tools has a home here", hint="name a folder")
    night = nightly.run(inputs, options, orders, _tell)
    if options.json:
        write_json({"totals": night.tally.totals(), "line": night.line, "report": str(night.report)})
    elif not options.quiet or night.tally.exit_code():
        say(f"{night.line}; report {night.report}")
    if night.tally.bugs:
        from compressor.cli._bug import write_report

        click.echo(f"hint: this is a bug; see {write_report(chr(10).join(night.tally.bugs))}", err=True)
    if night.interrupted:
        click.echo("interrupted: what was finished stays", err=True)
        return INTERRUPTED
    return night.tally.exit_code()


def _check(options: Options) -> None:
    """What frees the disk, or goes through homes, must be said in full."""
    if options.archive is None and not options.dry_run:
        flag = "--replace" if options.replace else "--known"
        raise ConfigError(f"{flag} without --archive", hint="name the folder that keeps the originals")
    if options.replace and (options.output or options.dry_run):
        other = "-o" if options.output else "--dry-run"
        raise ConfigError(f"--replace together with {other}", hint="say one of them")
    if options.known and not options.replace and not options.output and not options.dry_run:
        hint = "name a folder with -o (or say --replace): a tool would take outputs in its home for sessions"
        raise ConfigError("--known without -o", hint=hint)


def _homes() -> list[str]:
    from compressor import homes

    return list(dict.fromkeys(str(h.path) for h in homes.known()))


def _list_homes(options: Options) -> int:
    from compressor import homes

    rows = [(h.tool, str(h.path), *homes.size(h)) for h in homes.known()]
    if options.json:
        write_json({"homes": [dict(zip(("tool", "path", "files", "bytes"), row, strict=True)) for row in rows]})
    elif not rows:
        say("none of the known tools has a home here")
    else:
        columns([("tool", "home", "files", "bytes"), *rows], right=frozenset({2, 3}))
    return 0


def _tell(outcome: Outcome) -> None:
    if outcome.complaint:
        click.echo(printable(outcome.complaint), err=True)


def orders_of(options: Options) -> Orders:
    """What workers are told in a nightly run."""
    from compressor.jobs import Orders
    from compressor.options import settings

    return Orders(replace(settings(options), archive=options.archive))
