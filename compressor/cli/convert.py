"""`compress convert`: a transcript as messages of another format."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from compressor.cli._open import open_transcript
from compressor.cli._options import READING, take
from compressor.cli._print import printable, write_json
from compressor.errors import ConfigError, Location, WriteError
from compressor.options import Options


@click.command(
    short_help="Write a transcript in another format.",
    epilog="""\b
Examples:
  compress convert session.jsonl --to openai-chat            session.openai-chat.json beside it
  compress convert session.jsonl --to sharegpt -o row.json
  compress convert session.jsonl --to anthropic -o - --live  what the tool would send now

\b
Targets: openai-chat, anthropic, langchain, responses, sharegpt, generic. What is lost is printed, with counts;
docs/convert.md says why. The input is never changed.
""",
)
@click.argument("file", metavar="FILE")
@click.option("--to", "target", required=True, metavar="FORMAT", help="The format to write.")
@click.option("-o", "--output", "out", metavar="FILE", help="Where to write; - for standard output.")
@click.option("--live", is_flag=True, help="Only what the source tool would send if it resumed the file now.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@take(*READING, "json", "quiet")
def command(options: Options, file: str, target: str, out: str | None, *, live: bool, force: bool) -> None:
    """Write the conversations of FILE as messages of another format, and say what is lost."""
    from compressor import disk
    from compressor.convert import convert

    converted = convert(open_transcript(file, options), target, live=live)
    if out == "-" or (out is None and file == "-"):
        sys.stdout.flush()
        sys.stdout.buffer.write(converted.data)
        sys.stdout.buffer.flush()
    else:
        path = Path(out) if out else _beside(Path(file), target, converted.suffix)
        if path.exists() and (not force or (file != "-" and path.samefile(file))):
            raise ConfigError(f'"{path}" is there already', hint="name another file with -o, or say --force")
        try:
            disk.publish(path, converted.data, "convert")
        except OSError as error:
            raise WriteError(
                f"cannot be written: {(error.strerror or str(error)).lower()}", at=Location(str(path))
            ) from error
        if not options.quiet and not options.json:
            click.echo(printable(f"{path}: {len(converted.data):,} bytes"))
    if options.json and out != "-":
        write_json({"target": target, "losses": dict(converted.losses)})
    elif not options.quiet:
        for what, count in converted.losses.items():
            click.echo(f"lost: {count:,} {what}", err=True)


def _beside(path: Path, target: str, suffix: str) -> Path:
    plain = path.with_name(path.stem) if path.suffix in {".gz", ".zst"} else path
    return plain.with_name(f"{plain.stem}.{target}{suffix}")
