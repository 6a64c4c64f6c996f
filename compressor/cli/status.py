"""`compress status`: what the last nightly runs did."""

from __future__ import annotations

from typing import Any

import click

from compressor.cli._options import take
from compressor.cli._print import say, write_json
from compressor.cli.archive import store_of
from compressor.options import Options


@click.command(
    short_help="Show what the last runs did.",
    epilog="""\b
Examples:
  compress status vault
  compress status vault --last 30 --json
""",
)
@click.argument("folder", required=False, metavar="[ARCHIVE]")
@click.option("--last", type=click.IntRange(1), default=7, show_default=True, metavar="N", help="How many runs.")
@take("archive", "json")
def command(options: Options, folder: str | None, last: int) -> int:
    """Show what the last nightly runs into ARCHIVE did.

    Exit code: that of the newest run that ended; 1 if it was killed and none has ended since.
    """
    from compressor.nightly import runs

    store = store_of(options, folder)
    found = runs(store)[-last:]
    if options.json:
        write_json({"runs": found})
    elif not found:
        say("no runs yet: compress run FOLDER --archive makes one")
    else:
        for run in found:
            say(_line(run))
    newest = found[-1] if found else {"exit": 0}
    return int(newest["exit"]) if newest.get("exit") is not None else int(newest["state"] == "killed")


def _line(run: dict[str, Any]) -> str:
    if run["state"] == "running":
        return f"{run['started']}  still running (process {run['pid']})"
    if run["state"] == "killed":
        return f"{run['started']}  killed: the next run goes on where it was"
    state = "interrupted" if run["interrupted"] else f"exit {run['exit']}"
    return f"{run['started']}  {state}  {run['line']}"
