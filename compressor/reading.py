"""Open a file, find out by its content which format it is, and read it."""

from __future__ import annotations

import gzip
import json
import mmap
import stat
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from compressor import plugins
from compressor.errors import Location, ReadError
from compressor.formats._records import BOM, Head, Source, loads
from compressor.model import Transcript

#: Files above this size are mapped, not read.
MAP_ABOVE: Final = 64 * 1024 * 1024
#: How many lines detection looks at.
HEAD_ROWS: Final = 60

_NO_OPTIONS: Final[Mapping[str, Any]] = MappingProxyType({})
_GZIP, _ZSTD, _SQLITE = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"SQLite format 3\x00"
#: An archive: of these only Inspect's logs are read.
_ZIP: Final = b"PK\x03\x04"
#: Names that tell whose database a file is, and what to do instead.
_DATABASES: Final = (
    (b"cursorDiskKV", "Cursor's database", "export the chat from Cursor, and name that file"),
    (b"session", "OpenCode's database", "export the session first (opencode export ID > session.json)"),
)
_TEXT_SUFFIXES: Final = frozenset({".json", ".jsonl", ".ndjson", ".traj"})
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")


class NotATranscript(ReadError):
    """The file is no transcript at all: in a folder it is passed over, not quarantined."""


def read(
    source: str | Path | Source, *, format: str | None = None, options: Mapping[str, Any] = _NO_OPTIONS
) -> Transcript:
    """Read a transcript.

    Args:
        source: a path, "-" for standard input, or bytes that are open already.
        format: name of the format; None: detect it.
        options: for the format (a key mapping, …).

    Raises:
        NotATranscript: it is none.
        ReadError: it looks like one but cannot be read.
        ConfigError: unknown format.
    """
    opened = source if isinstance(source, Source) else open_source(source)
    name = format or detect(opened)
    transcript: Transcript = plugins.load("formats", name).read(opened, options)
    return transcript


def open_source(path: str | Path) -> Source:
    """The bytes of a file, decompressed if they are gzip or zstd, mapped if they are many.

    Raises:
        ReadError: the file cannot be opened or decompressed.
    """
    if str(path) == "-":
        return Source("<stdin>", _plain("<stdin>", sys.stdin.buffer.read()))
    name = str(path)
    try:
        _refuse_odd(name, Path(path).stat().st_mode)
        with Path(path).open("rb") as file:
            if not file.seekable():
                return Source(name, _plain(name, file.read()))
            if file.seek(0, 2) > MAP_ABOVE:
                return Source(name, _plain(name, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))
            file.seek(0)
            return Source(name, _plain(name, file.read()))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReadError(
            f"cannot be opened: {reason}", at=Location(name), hint="check the path and its rights"
        ) from error


def read_bytes(path: Path) -> Source:
    """The bytes of a file as they are, packed or not.

    Raises:
        ReadError: it cannot be opened.
    """
    try:
        return Source(str(path), path.read_bytes())
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ReadError(f"cannot be opened: {reason}", at=Location(str(path))) from error


def _refuse_odd(name: str, mode: int) -> None:
    """Opening a pipe that nobody writes to waits for ever; the shell's own (`<(…)`) are written to."""
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode) or name.startswith(("/dev/fd/", "/dev/stdin", "/proc/")):
        return
    kind = "a named pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    raise ReadError(f"{kind}, not a file", at=Location(name), hint="read it through standard input: compress run -")


def _plain(name: str, raw: Any) -> Any:
    try:
        if raw[:2] == _GZIP:
            return gzip.decompress(raw)
        if raw[:4] == _ZSTD:
            return _unpack_zstd(raw)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise _damaged(name, error) from error
    return raw


def _unpack_zstd(raw: Any) -> bytes:
    """All frames of a file; a frame that ends too early is an error, which a stream reader would pass over."""
    import zstandard

    out: list[bytes] = []
    rest = bytes(raw)
    while rest:
        frame = zstandard.ZstdDecompressor().decompressobj()
        try:
            out.append(frame.decompress(rest))
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error
        if not frame.eof:
            raise ValueError("cut short")
        rest = frame.unused_data
    return b"".join(out)


def _damaged(name: str, error: Exception) -> ReadError:
    return ReadError(f"cannot be decompressed: {error}", at=Location(name), hint="the file is damaged or cut short")


def detect(source: Source) -> str:
    """The name of the format that a file's content shows.

    Raises:
        NotATranscript: it is none.
        ReadError: it looks like one but cannot be read.
    """
    _refuse_encodings(source)
    head = make_head(source)
    for module_name in ordered():
        if plugins.load("formats", module_name).sniff(head):
            return module_name
    raise _unknown(source, head)


def ordered() -> list[str]:
    """The names of all formats in detection order."""
    return sorted(plugins.names("formats"), key=lambda name: (plugins.load("formats", name).ORDER, name))


def _refuse_encodings(source: Source) -> None:
    start = bytes(source.raw[:8192])
    at = Location(source.path, 1)
    if not start.strip():
        if len(source.raw) <= len(start) or not bytes(source.raw[:]).strip():
            raise NotATranscript("the file is empty", at=Location(source.path), hint="there is nothing to compress")
        return
    if start[:2] in _UTF16:
        raise ReadError("text in UTF-16, expected UTF-8", at=at, hint="convert it: iconv -f UTF-16 -t UTF-8")
    if start.startswith(_SQLITE):
        raise _database(source)
    if b"\x00" in start and not start.startswith(_ZIP):
        if start[:1] in b"{[" and start[1:2] == b"\x00" or start[:1] == b"\x00" and start[1:2] in b"{[":
            raise ReadError("text in UTF-16, expected UTF-8", at=at, hint="convert it: iconv -f UTF-16 -t UTF-8")
        if Path(source.path).suffix in _TEXT_SUFFIXES:
            raise ReadError("binary data in a file that is named as text", at=at, hint="is the file damaged?")
        raise NotATranscript("binary data, not a transcript", at=Location(source.path))


def _database(source: Source) -> NotATranscript:
    tables = bytes(source.raw[: 64 * 1024])
    for name, what, hint in _DATABASES:
        if name in tables:
            return NotATranscript(f"{what}, not a transcript", at=Location(source.path), hint=hint)
    return NotATranscript("a database, not a transcript", at=Location(source.path), hint="export its sessions first")


def make_head(source: Source) -> Head:
    """What the formats' `sniff` looks at: the whole document, or the first lines."""
    raw = source.raw
    start = 3 if raw[:3] == BOM else 0
    text = bytes(raw[start : start + 4096]).decode("utf-8", "replace")
    rows, lines, whole = _rows(raw, start)
    document: Any = None
    if lines == 1 and len(rows) == 1:
        document = rows[0]
    elif not whole:
        try:
            document = loads(bytes(raw[start:]))
        except ValueError:
            document = None
    return Head(document, tuple(rows), text)


def _rows(raw: Any, pos: int) -> tuple[list[Any], int, bool]:
    """The values of the first lines, how many lines with content were looked at, and whether the first is whole."""
    rows: list[Any] = []
    whole = False
    lines = 0
    size = len(raw)
    while pos < size and lines < HEAD_ROWS:
        cut = raw.find(b"\n", pos)
        end = size if cut < 0 else cut
        line = bytes(raw[pos:end]).strip()
        pos = end + 1
        if not line or line.startswith(b"//"):
            continue
        lines += 1
        try:
            rows.append(loads(line))
            whole = whole or lines == 1
        except ValueError:
            # a document printed over many lines shows in its first line: no need to try the others
            if lines == 1 and line in (b"{", b"["):
                break
    return rows, lines, whole


def _unknown(source: Source, head: Head) -> ReadError:
    text = head.text.lstrip()
    at = Location(source.path, 1)
    if text.startswith(("event:", "data:")):
        return ReadError(
            "a log of server-sent events",
            at=at,
            hint="put the chunks of each message together into one JSON line first",
        )
    if any(isinstance(r, dict) and r.get("method") == "session/update" for r in head.rows):
        hint = "the agent that wrote it keeps a session file of its own: name that"
        return ReadError("a log of the Agent Client Protocol", at=at, hint=hint)
    if source.raw[: len(_ZIP)] == _ZIP:
        return NotATranscript("an archive, not a transcript", at=Location(source.path), hint="unpack it first")
    if head.document is None and not head.rows and text[:1] in ("{", "["):
        return _broken(source)
    return NotATranscript("no known transcript format", at=Location(source.path), hint="name it with --format")


def _broken(source: Source) -> ReadError:
    """Where and why a document does not parse."""
    try:
        json.loads(bytes(source.raw).removeprefix(BOM).decode("utf-8", "replace"))
    except json.JSONDecodeError as error:
        at = Location(source.path, error.lineno, error.colno)
        return ReadError(
            f"looks like JSON, but does not parse: {error.msg.lower()}", at=at, hint="is the file cut short?"
        )
    except RecursionError:
        pass
    at = Location(source.path, 1)
    return ReadError("looks like JSON, but does not parse", at=at, hint="is it nested thousands of levels deep?")
