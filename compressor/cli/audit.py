"""`compress audit`: what was done to every session, and whether the log of it is whole."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import click

from compressor.cli._options import take
from compressor.cli._print import columns, say, write_json
from compressor.cli.archive import store_of
from compressor.errors import ConfigError
from compressor.options import Options, seconds


@click.group(
    epilog="""\b
Examples:
  compress audit list vault --since 7d
  compress audit list vault --since 2026-01-31 --json
  compress audit verify vault
ARCHIVE is .compress in the current folder if neither it nor --archive is given.
"""
)
def command() -> None:
    """List and verify the audit log of an archive: one record per session that was published."""


@command.command("list")
@click.argument("folder", required=False, metavar="[ARCHIVE]")
@click.option("--since", metavar="DATE|AGE", help="Only records from this day on, or not older than this (7d, 12h).")
@click.option("--session", metavar="ID", help="Only records of this session.")
@take("archive", "json")
def list_records(options: Options, folder: str | None, since: str | None, session: str | None) -> None:
    """List the records, oldest first; --json prints them whole (schemas/audit.schema.json)."""
    from compressor.audit import Audit

    begin = _begin(since) if since else ""
    found = [
        r
        for r in Audit(store_of(options, folder)).records()
        if r["time"] >= begin and (session is None or r["session"] == session)
    ]
    if options.json:
        write_json({"records": found})
    elif not found:
        say("no records")
    else:
        columns([_HEAD, *map(_row, found)], right=frozenset({0, 4, 5, 6}))


_HEAD = ("number", "time", "verdict", "session", "before", "after", "dropped", "summarizer", "output")


def _row(r: dict[str, Any]) -> tuple[object, ...]:
    dropped = sum(len(group["messages"]) for group in r["dropped"])
    tokens = r["tokens"]
    return (
        r["number"], r["time"][:19], r["verdict"], r["session"][:36], tokens["whole_before"], tokens["after"],
        dropped, r["summarizer"] or "-", r["output"],
    )  # fmt: skip


def _begin(said: str) -> str:
    """A day, a moment or an age as the records write time."""
    try:
        moment = datetime.fromisoformat(said)
    except ValueError:
        try:
            moment = datetime.now(UTC) - timedelta(seconds=seconds(said))
        except ValueError:
            raise ConfigError(
                f'since: "{said}" is neither a date nor an age', hint="write 2026-01-31, or 7d, or 12h"
            ) from None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@command.command("verify")
@click.argument("folder", required=False, metavar="[ARCHIVE]")
@take("archive", "json", "quiet")
def verify_log(options: Options, folder: str | None) -> int:
    """Check the chain of records: none changed, none missing, and every original that they name is there."""
    from compressor.audit import NAME, Audit

    store = store_of(options, folder)
    audit = Audit(store)
    faults = list(audit.verify())
    if options.json:
        found = [{"line": f.line, "offset": f.offset, "message": f.message} for f in faults]
        write_json({"verdict": "broken" if faults else "whole", "faults": found})
        return int(bool(faults))
    for f in faults:
        say(f"{store.folder / NAME}:{f.line}: {f.message}")
    if not faults and not options.quiet:
        say(f"whole: {sum(1 for _ in audit.records())} records")
    return int(bool(faults))
