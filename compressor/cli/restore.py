"""`compress restore`: the original of an output, byte for byte."""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from compressor.cli._options import take
from compressor.errors import ArchiveError, ConfigError, Location
from compressor.options import Options

if TYPE_CHECKING:
    from compressor.archive import Store

_KEY: Final = re.compile("[0-9a-f]{64}")


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

    The archive is looked for in .compress/ beside OUTPUT and in the folders above, unless --archive says where.
    Without -o the original goes to standard output.
    """
    from compressor.jobs import write_file

    path = Path(output_or_key)
    key = output_or_key if not path.exists() and _KEY.fullmatch(output_or_key) else _key(path, options)
    data = _store(path, key, options).get(key)
    if options.output in {"", "-"}:
        sys.stdout.buffer.write(data)
        return
    output = Path(options.output)
    if output.exists() and not output.is_file():
        raise ConfigError(f'"{output}" is not a regular file', hint="redirect standard output instead")
    write_file(output, data)


def _store(path: Path, key: str, options: Options) -> Store:
    """The archive that holds this key; if none does, the one in which it should be."""
    from compressor.archive import Store
    from compressor.inputs import ARCHIVE_NAME, archives_near

    if options.archive is not None:
        return Store(options.archive)
    near = [Store(folder) for folder in archives_near(path)]
    return next((s for s in near if s.has(key)), near[0] if near else Store(path.parent / ARCHIVE_NAME))


def _key(path: Path, options: Options) -> str:
    """The archive key that an output carries in its mark; one that was left as it was is its own original."""
    from compressor.reading import open_source, read

    source = open_source(path)
    for session in read(source, format=options.format, options=options.map).sessions:
        if session.mark is not None:
            return session.mark.archive
    key = hashlib.sha256(source.raw).hexdigest()
    if _store(path, key, options).has(key):
        return key
    raise ArchiveError(
        "carries no mark of ours, and no archive here holds it",
        at=Location(str(path)),
        hint="was it written by another tool? name the archive with --archive",
    )
