"""`compress restore`: the original of an output, byte for byte."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from compressor.cli._options import take
from compressor.errors import ArchiveError, ConfigError, Location
from compressor.options import Options


@click.command(
    short_help="Give back an original, byte for byte.",
    epilog="""\b
Examples:
  compress restore session.compact.jsonl -o session.jsonl
  compress restore session.compact.jsonl | sha256sum
  compress restore 3f0c…(64 digits) --archive backups/.compress -o session.jsonl
""",
)
@click.argument("output_or_key", metavar="OUTPUT|KEY")
@take("output", "archive", "format", "map")
def command(options: Options, output_or_key: str) -> None:
    """Give back the original of OUTPUT, byte for byte, from the archive (or the one that KEY names).

    The archive is looked for in .compress/ beside OUTPUT unless --archive says where. Without -o the original
    goes to standard output.
    """
    from compressor.archive import Store
    from compressor.jobs import write_file

    path = Path(output_or_key)
    named = not path.exists() and len(output_or_key) == 64
    key = output_or_key if named else _key(path, options)
    folder = options.archive or (Path() if named else path.parent) / ".compress"
    data = Store(folder).get(key)
    if options.output in {"", "-"}:
        sys.stdout.buffer.write(data)
        return
    output = Path(options.output)
    if output.exists() and not output.is_file():
        raise ConfigError(f'"{output}" is not a regular file', hint="redirect standard output instead")
    write_file(output, data)


def _key(path: Path, options: Options) -> str:
    """The archive key that an output carries in its mark, or that the report beside it names."""
    from compressor.reading import read

    for session in read(path, format=options.format, options=options.map).sessions:
        if session.mark is not None:
            return session.mark.archive
    raise ArchiveError(
        "carries no mark of ours: it was left as it was, or written by another tool",
        at=Location(str(path)),
        hint="an unchanged session is its own original",
    )
