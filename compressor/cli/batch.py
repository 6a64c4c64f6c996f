"""`compress batch`: runs that a provider answers later."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from compressor.cli._options import take
from compressor.cli._print import columns, say, write_json
from compressor.options import Options

if TYPE_CHECKING:
    from compressor.batch import Round, Run


@click.group(
    epilog="""\b
Examples:
  compress run logs/ -o small/ --model gpt-4.1-mini --batch
  compress batch status --archive small/.compress
  compress batch collect --archive small/.compress
  compress batch cancel --archive small/.compress 3f2a
The archive is .compress in the current folder if --archive is not given. Runs are named by the beginning of their
name; without a name, all open ones are meant.
"""
)
def command() -> None:
    """Look after runs that were handed to a provider's batch endpoint (`compress run --batch`)."""


def submit(inputs: Sequence[str], options: Options) -> int:
    """`compress run --batch`."""
    from compressor import batch

    done = batch.submit(inputs, options)
    code = _show(done, options)
    if done.waiting and not options.quiet:
        archive = batch.archive_for(inputs, options)
        say(
            f"{done.waiting} requests handed in as {done.state.name}; finish with: compress batch collect --archive {archive}"
        )
    return code


@command.command("status")
@click.argument("names", nargs=-1, metavar="[NAME…]")
@take("archive", "json")
def status(options: Options, names: tuple[str, ...]) -> None:
    """Say where batch runs stand, as far as is known here; nobody is asked."""
    from compressor.batch import Run

    runs = _named(options, names) if names else Run.all(_archive(options).absolute())
    if options.json:
        write_json({"batches": [_document(r) for r in runs]})
    elif not runs:
        say("no batch runs")
    else:
        rows = [
            (r.state.name, r.state.stage, len(r.state.parts), len(r.state.waiting()), " ".join(r.state.inputs))
            for r in runs
        ]
        columns([("name", "stage", "batches", "on their way", "inputs"), *rows], right=frozenset({2, 3}))


@command.command("collect")
@click.argument("names", nargs=-1, metavar="[NAME…]")
@click.option("--wait", is_flag=True, help="Look again every minute until all is answered.")
@take("archive", "quiet", "json", "fail_on")
def collect(options: Options, names: tuple[str, ...], wait: bool) -> int:
    """Fetch answers, and finish the sessions that have theirs; collecting twice changes nothing."""
    import time

    code = 0
    runs = _named(options, names)
    if not runs and not options.quiet:
        say("no open batch runs")
    for run in runs:
        while True:
            done = run.collect()
            code = max(code, _show(done, options))
            if not done.waiting or not wait:
                break
            time.sleep(60)
        if done.waiting and not options.quiet:
            say(f"{run.state.name}: {done.waiting} requests are on their way; collect again later")
    return code


@command.command("cancel")
@click.argument("names", nargs=-1, metavar="[NAME…]")
@take("archive", "quiet")
def cancel(options: Options, names: tuple[str, ...]) -> None:
    """Stop batch runs; answers that have been collected stay, and no transcript is touched."""
    for run in _named(options, names):
        stopped = run.cancel()
        if not options.quiet:
            say(f"{run.state.name}: cancelled, {stopped} requests were on their way")


def _archive(options: Options) -> Path:
    from compressor.inputs import ARCHIVE_NAME

    return options.archive or Path(ARCHIVE_NAME)


def _named(options: Options, names: tuple[str, ...]) -> list[Run]:
    from compressor.batch import find

    return find(_archive(options), names)


def _show(done: Round, options: Options) -> int:
    """The sessions that were looked at, in the form of every run; the exit code."""
    import sys

    from compressor import jobs, plugins, report

    document = report.document([r for o in done.outcomes for r in o.results])
    for outcome in done.outcomes:
        if outcome.complaint:
            click.echo(outcome.complaint, err=True)
    if options.json:
        write_json({**document, "batch": {"name": done.state.name, "waiting": done.waiting, "usage": done.state.usage}})
    elif done.outcomes and not options.quiet:
        plugins.load("reporters", "table").write(document, sys.stdout, {})
        usage = done.state.usage
        if usage:
            cost = f"{usage['cost']:.4f}" if usage["cost"] is not None else "no price is known"
            say(
                f"by batch: {usage['requests']} answers, {usage['given']:,} tokens in, {usage['written']:,} out; cost: {cost}"
            )
    return jobs.exit_code(done.outcomes, options.fail_on)


def _document(run: Run) -> dict[str, object]:
    state = run.state
    parts = [{"id": p.id, "stage": p.stage, "requests": len(p.keys)} for p in state.parts]
    return {
        "name": state.name,
        "stage": state.stage,
        "inputs": state.inputs,
        "waiting": len(state.waiting()),
        "batches": parts,
        "usage": state.usage,
    }
