"""The command line: one module of this folder per command, found by its name, imported when it is used.

    command: click.Command      # what `compress <module name>` runs; returns the exit code (None: 0)

`_`-modules are helpers. What a command needs beyond click and `compressor.options` it imports inside its
function, so that `compress --help` starts at once. Bad input is raised as `CompressError`; `main` is the one
place that decides exit codes: 0 fine, 1 findings or a session reverted or quarantined, 2 usage or
configuration, 3 a bug (with a report file), 130 interrupted.
"""

from __future__ import annotations

import difflib
import os
import pkgutil
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import click

from compressor import __version__
from compressor.errors import CompressError, Location

BUG, INTERRUPTED, USAGE = 3, 130, 2


class Commands(click.Group):
    """The commands of this folder, looked up by module name."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click asks so
        return sorted(m.name.replace("_", "-") for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"{__name__}.{cmd_name.replace('-', '_')}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            near = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"see {ctx.command_path} --help"
            if not near and Path(args[0]).exists():
                hint = f"to compress a file: {ctx.command_path} run {args[0]}"
            raise click.UsageError(f'no command "{args[0]}"\nhint: {hint}', ctx)
        return super().resolve_command(ctx, args)


@click.command(
    cls=Commands,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  compress run session.jsonl                 session.compact.jsonl and a report beside it
  compress run logs/ -o small/ --jobs 2      every transcript of a folder
  compress brief session.jsonl               the handover note alone
  compress verify session.jsonl theirs.jsonl what another tool's compaction lost
""",
)
@click.version_option(__version__, prog_name="transcript compressor", message="%(prog)s %(version)s")
def cli() -> None:
    """Compact agent and chat transcripts in their own format, and prove what survived.

    Nothing leaves this machine unless you name a model endpoint.
    """


def main(args: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    _forgiving_streams()
    try:
        code = cli.main(args=None if args is None else list(args), standalone_mode=False)
    except CompressError as error:
        complain(error)
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return USAGE
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted: what was finished stays", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        _silence_output()
        return 0
    except OSError as error:
        # a full disk or a missing right is nobody's bug
        if error.filename is None:
            _silence_output()
        place = "standard output" if error.filename is None else os.fsdecode(error.filename)
        complain(CompressError((error.strerror or str(error)).lower(), at=Location(place)))
        return CompressError.exit_code
    except Exception as error:  # noqa: BLE001 - the one handler: whatever is left is our bug
        from compressor.cli._bug import write_report

        told = write_report(error)
        click.echo(f"unexpected error: {type(error).__name__}: {error}\nhint: this is a bug; see {told}", err=True)
        return BUG
    return code if isinstance(code, int) else 0


def _silence_output() -> None:
    """The reader of a pipe went away, or a disk is full: a second complaint at exit would only confuse."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(error: CompressError) -> None:
    """Print an error as `path:line: what is wrong`, with its hint, on standard error."""
    from compressor.cli._print import printable

    click.echo(printable(str(error)), err=True)


def _forgiving_streams() -> None:
    # transcripts hold characters that a terminal's encoding may not have
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def entry() -> NoReturn:
    """The console scripts."""
    sys.exit(main())
