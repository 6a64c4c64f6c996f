"""`compress restore`: the original of an output, byte for byte, or one message of it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from compressor.cli._options import take
from compressor.cli._print import say, write_json
from compressor.errors import ArchiveError, ConfigError, Location
from compressor.options import Options

if TYPE_CHECKING:
    from compressor.originals import Archive, Original

_KEY: Final = re.compile("[0-9a-f]{64}")


@click.command(
    short_help="Give back an original, byte for byte, or one message of it.",
    epilog="""\b
Examples:
  compress restore session.compact.jsonl -o session.jsonl
  compress restore session.compact.jsonl | sha256sum
  compress restore 53f86af3-14ee-4590-8627-98a41c069b6c --archive vault -o session.jsonl
  compress restore session.compact.jsonl --message '#12'

ID is a session id, the path of a source or an output that is gone, or the key of an original (six digits will do).
""",
)
@click.argument("output_or_id", metavar="OUTPUT|ID")
@click.option("--message", metavar="ID", help="Only this message of the original (#12, or its own id).")
@take("output", "archive", "format", "map", "json")
def command(options: Options, output_or_id: str, message: str | None) -> None:
    """Give back the original of OUTPUT, byte for byte, from the archive alone; OUTPUT itself may be gone.

    The archive is looked for in .compress/ beside OUTPUT and in the folders above, unless --archive says where.
    Without -o the original goes to standard output.
    """
    from compressor import originals

    archive, original = _find(output_or_id, options)
    if original.redacted > 0:
        click.echo(f"note: {original.redacted} secrets were redacted before this was archived", err=True)
    if message is not None:
        _message(archive, original, message, options)
        return
    if options.output in {"", "-"}:
        if not archive.store.sound(original.key):
            archive.store.get(original.key)  # says what is wrong before anything is printed
        for piece in archive.store.stream(original.key):
            sys.stdout.buffer.write(piece)
        return
    originals.write(archive.store, original.key, _target(options.output))


def _target(said: str) -> Path:
    path = Path(said)
    if path.exists() and not path.is_file():
        raise ConfigError(f'"{path}" is not a regular file', hint="redirect standard output instead")
    return path


def _message(archive: Archive, original: Original, name: str, options: Options) -> None:
    from compressor import originals

    transcript = archive.read(original.key)
    found = originals.message(transcript, name)
    record = originals.record_of(transcript, found)
    if options.output not in {"", "-"}:
        from compressor.jobs import write_file

        write_file(_target(options.output), record)
    elif options.json:
        parts = [{"type": p.type.value, "name": p.name, "key": p.key, "text": p.text} for p in found.parts]
        write_json(
            {"id": found.id, "number": found.index, "line": found.line, "role": found.role.value, "parts": parts}
        )
    else:
        say(f"#{found.index} ({found.id}), line {found.line}, {found.role.value}")
        for part in found.parts:
            name = f" {part.name}" if part.name else ""
            say(f"\n[{part.type.value}{name}{' ' + part.key if part.key else ''}]\n{part.text}")


def _find(said: str, options: Options) -> tuple[Archive, Original]:
    from compressor import originals

    path = Path(said)
    key = _key(path, options) if path.is_file() else said if _KEY.fullmatch(said) else ""
    archive = originals.near(path if path.parent.is_dir() else Path("x"), options.archive, key)
    if not path.is_file() or archive.store.has(key):
        return archive, archive.find(key or said)
    raise ArchiveError(
        "the archive does not hold its original",
        at=Location(said),
        hint="was it written by another tool? name the archive with --archive",
    )


def _key(path: Path, options: Options) -> str:
    """The archive key that an output carries in its mark; one that was left as it was is its own original."""
    from compressor.disk import digest
    from compressor.reading import open_source, read

    source = open_source(path)
    for session in read(source, format=options.format, options=options.map).sessions:
        if session.mark is not None:
            return session.mark.archive
    return digest(source.raw).hex()
