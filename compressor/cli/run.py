"""`compress run`: compact files, folders or standard input."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from compressor.cli import INTERRUPTED
from compressor.cli._options import take
from compressor.cli._print import printable, write_json
from compressor.errors import ConfigError
from compressor.options import Options

if TYPE_CHECKING:
    from compressor.inputs import Work
    from compressor.jobs import Outcome


@click.command(
    short_help="Compact transcripts.",
    epilog="""\b
Examples:
  compress run session.jsonl                        session.compact.jsonl and session.report.json beside it
  compress run session.jsonl -o out.jsonl --ratio 4
  compress run logs/ -o small/ --jobs 2             every transcript, in the same tree
  compress run session.jsonl --dry-run --diff       what would change
  compress run - -o - < session.jsonl > out.jsonl
  compress run logs/ -o small/ --archive vault/     every night: only what is new or changed
  transcript-compress run logs/ --quiet             for cron and hooks (macOS has another `compress`)

\b
Exit code: 0 fine; 1 findings at the level of --fail-on, or a session that was reverted or could not be
read; 2 a wrong option, preset or rule, nothing touched; 3 a bug, with a report; 130 interrupted.
Options can also stand in compress.yaml, in [tool.compress] of pyproject.toml, or in COMPRESS_<OPTION>.
""",
)
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@take()
def command(options: Options, inputs: Sequence[str]) -> int:
    """Compact transcripts in their own format, with a report that says what survived.

    INPUT is a file, a folder (every transcript in it) or - for standard input. The originals go into an
    archive first; no input is ever overwritten, unless --replace says so.

    A folder with --archive is a nightly run: only what is new or changed since the last one is done, and a report
    of one line a session goes into run.report.jsonl (compress status shows the last runs).
    """
    from compressor import inputs as work_list
    from compressor import jobs
    from compressor.cli import _nightly
    from compressor.options import settings

    if options.batch and not options.dry_run:
        from compressor.cli.batch import submit

        return submit(inputs, options)
    if _nightly.wanted(inputs, options):
        return _nightly.run(inputs, options, _nightly.orders_of(options))
    if not inputs:
        raise click.UsageError("Missing argument 'INPUT...'.")
    if options.json and options.output == work_list.STDIN:
        raise ConfigError("--json and -o - both want standard output", hint="write the report with --report FILE")
    archive = work_list.archive_of(inputs, options)
    orders = jobs.Orders(replace(settings(options), archive=archive), write=not options.dry_run, diff=options.diff)
    work = work_list.plan(inputs, options)
    started = time.perf_counter()
    outcomes: list[Outcome] = []
    interrupted = False
    try:
        for outcome in _watched(jobs.run(work, orders, options.jobs), work, options):
            outcomes.append(_show(outcome))  # noqa: PERF401 - what was shown must be kept when an interrupt comes
    except KeyboardInterrupt:
        interrupted = True
    _finish(outcomes, options, time.perf_counter() - started)
    if interrupted:
        click.echo("interrupted: what was finished stays", err=True)
        return INTERRUPTED
    return jobs.exit_code(outcomes, options.fail_on)


def _watched(outcomes: Iterator[Outcome], work: Sequence[Work], options: Options) -> Iterator[Outcome]:
    if options.quiet or options.json or len(work) < 2 or not sys.stderr.isatty():
        return outcomes
    from compressor.reporters._progress import track

    return track(outcomes, len(work), sys.stderr)


def _show(outcome: Outcome) -> Outcome:
    """Print what cannot wait, and let go of it."""
    if outcome.complaint:
        click.echo(printable(outcome.complaint), err=True)
    if outcome.diff:
        click.echo(printable(outcome.diff))
    if outcome.data is not None:
        sys.stdout.flush()
        sys.stdout.buffer.write(outcome.data)
        sys.stdout.buffer.flush()
    return replace(outcome, data=None, diff="")


def _finish(outcomes: Sequence[Outcome], options: Options, seconds: float) -> None:
    from compressor import jobs, report
    from compressor.cli._bug import write_report

    document = report.document([r for o in outcomes for r in o.results], seconds)
    if options.report is not None and not options.dry_run:
        jobs.write_file(options.report, report.dumps(document))
    if options.json:
        write_json(document)
    elif not options.quiet:
        from compressor import plugins

        # the output itself has standard output then
        stream = sys.stderr if options.output == "-" else sys.stdout
        plugins.load("reporters", "table").write(document, stream, {})
    bugs = [o.bug for o in outcomes if o.bug]
    if bugs:
        place: Path = write_report("\n".join(bugs))
        click.echo(f"hint: this is a bug; see {place}", err=True)
