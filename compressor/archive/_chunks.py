"""Cut a file into runs of records by their content, so that files that share records share runs.

A run ends after a record whose checksum says so, with a chance in proportion to its length: the same records end
the same runs in every file, whatever stands before them. Records are lines; a long line is cut at the ends of the
JSON objects and of the escaped lines in it.

Forks of a session differ in the ids of every record and in nothing else. So ids are taken out of the text and kept
beside it, 16 bytes each: the text is then the same text.
"""

from __future__ import annotations

import re
import zlib
from binascii import unhexlify
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

#: Mean size of a run, the least and the most.
MEAN: Final = 16 * 1024
LEAST: Final = 2 * 1024
MOST: Final = 128 * 1024
#: A line above this size is cut inside.
_LONG: Final = 64 * 1024
#: How much of a file is looked at in one go.
WINDOW: Final = 4 * 1024 * 1024

_UUID: Final = rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
#: The literal start lets the scan run at the speed of a plain search.
_ID: Final = re.compile(rb'd":"(' + _UUID + rb')"')
_HOLE: Final = b"\x01"
_FILLED: Final = b'd":"' + _HOLE + b'"'
_LINE: Final = re.compile(rb"\n")
#: Ends of objects, for documents printed over many short lines: looking at each line would cost more than it gives.
_OBJECT: Final = re.compile(rb"\}[,\]]?\r?\n")
#: Lines below this mean length are short.
_SHORT: Final = 150
#: Inside a long line: between objects, and at blank lines of a text.
_INSIDE: Final = re.compile(rb"\},(?=[{\"])|\\n\\n")


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of records: its text with holes, and the ids that fill them."""

    text: bytes
    ids: bytes


def pieces(data: Any) -> Iterator[Piece]:
    """Cut a whole file; filled again and joined, the pieces are the file, byte for byte."""
    text, ids = b"", b""
    for window in _windows(data):
        drained, found = _drain(window)
        if not found and _HOLE in drained:
            # the file itself holds the byte that stands for an id: left as it is, and apart from the others
            yield from _piece_by_piece(text, ids, last=True)
            yield from (Piece(run, b"") for run in _runs(drained))
            text, ids = b"", b""
            continue
        text, ids = text + drained, ids + found
        used = taken = 0
        for piece in _piece_by_piece(text, ids, last=False):
            yield piece
            used, taken = used + len(piece.text), taken + len(piece.ids)
        text, ids = text[used:], ids[taken:]
    yield from _piece_by_piece(text, ids, last=True)


def fill(text: bytes, ids: bytes) -> bytes:
    """The piece as it stood in the file."""
    if not ids:
        return text
    parts = text.split(_HOLE)
    digits = ids.hex()
    out = [parts[0]]
    for i, part in enumerate(parts[1:]):
        d = digits[32 * i : 32 * i + 32]
        out += (f"{d[:8]}-{d[8:12]}-{d[12:16]}-{d[16:20]}-{d[20:]}".encode(), part)
    return b"".join(out)


def _windows(data: Any) -> Iterator[bytes]:
    at, size = 0, len(data)
    while at < size:
        end = min(size, at + WINDOW)
        if end < size:
            end = data.rfind(b"\n", at, end) + 1 or end
        yield bytes(data[at:end])
        at = end


def _drain(window: bytes) -> tuple[bytes, bytes]:
    if _HOLE in window:
        return window, b""
    parts = _ID.split(window)
    return _FILLED.join(parts[::2]), unhexlify(b"".join(parts[1::2]).replace(b"-", b""))


def _piece_by_piece(text: bytes, ids: bytes, *, last: bool) -> Iterator[Piece]:
    """The pieces of drained text; unless it is the last of its file, what is left over waits for what follows."""
    runs = list(_runs(text))
    if not last and runs:
        runs.pop()
    at = 0
    for run in runs:
        end = at + 16 * run.count(_HOLE)
        yield Piece(run, ids[at:end])
        at = end


def _runs(text: bytes) -> Iterator[bytes]:
    start = at = 0
    for end in _ends(text):
        size = end - at
        run = end - start
        if run >= LEAST and (run >= MOST or zlib.crc32(text[at:end]) * MEAN < size << 32):
            yield text[start:end]
            start = end
        at = end
    if start < len(text):
        yield text[start:]


def _ends(text: bytes) -> Iterator[int]:
    """Where records end."""
    short = len(text) < _SHORT * text.count(b"\n")
    at = 0
    for match in (_OBJECT if short else _LINE).finditer(text):
        end = match.end()
        if end - at > _LONG:
            yield from _inside(text, at, end)
        yield end
        at = end
    if len(text) - at > _LONG:
        yield from _inside(text, at, len(text))


def _inside(text: bytes, at: int, end: int) -> Iterator[int]:
    """Places in a long line where it may be cut."""
    for match in _INSIDE.finditer(text, at, end):
        yield from range(at + MOST, match.end(), MOST)
        yield match.end()
        at = match.end()
    yield from range(at + MOST, end, MOST)
