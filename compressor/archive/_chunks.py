"""Cut a file into runs of records by their content, so that files that share records share runs.

A run ends after a record whose checksum says so, with a chance in proportion to its length: the same records end
the same runs in every file, whatever stands before them. Records are lines; a long line is cut at the ends of the
JSON objects and of the escaped lines in it.

Forks of a session differ in the ids of every record, or in the session's own id alone, and in nothing else. So ids
are taken out of the text and kept beside it, 16 bytes each, and the session's own id once for the whole file: the
text is then the same text.
"""

from __future__ import annotations

import re
import zlib
from binascii import unhexlify
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from compressor.disk import release

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
#: Stand in the text for an id, and for the session's own.
_HOLE, _OWN = b"\x01", b"\x02"
_LINE: Final = re.compile(rb"\n")
#: Ends of objects, for documents printed over many short lines: looking at each line would cost more than it gives.
_OBJECT: Final = re.compile(rb"\}[,\]]?\r?\n")
#: Lines below this mean length are short.
_SHORT: Final = 150
#: Inside a long line: between objects, and at blank lines of a text.
_INSIDE: Final = re.compile(rb"\},(?=[{\"])|\\n\\n")


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of records: its text with holes, and the ids that fill them; None: it has no holes, whatever it holds."""

    text: bytes
    ids: bytes | None


def own_id(data: Any) -> bytes:
    """The id that most records at the start of a file carry; empty: there is none."""
    found = Counter(_ID.findall(bytes(data[:_LONG])))
    name, count = found.most_common(1)[0] if found else (b"", 0)
    return unhexlify(name.replace(b"-", b"")) if count > 2 else b""


def pieces(data: Any, own: bytes) -> Iterator[Piece]:
    """Cut a whole file; filled again and joined, the pieces are the file, byte for byte."""
    text, ids = b"", b""
    for window in _windows(data):
        if _HOLE in window or _OWN in window:
            # the file itself holds a byte that stands for an id: left as it is, and apart from the others
            yield from _piece_by_piece(text, ids, last=True)
            yield from (Piece(run, None) for run in _runs(window))
            text, ids = b"", b""
            continue
        drained, found = _drain(window, own)
        text, ids = text + drained, ids + found
        used = taken = 0
        for piece in _piece_by_piece(text, ids, last=False):
            yield piece
            used, taken = used + len(piece.text), taken + len(piece.ids or b"")
        text, ids = text[used:], ids[taken:]
    yield from _piece_by_piece(text, ids, last=True)


def fill(piece: Piece, own: bytes) -> bytes:
    """The piece as it stood in the file."""
    if piece.ids is None:
        return piece.text
    text = piece.text.replace(_OWN, _spelled(own.hex())) if own else piece.text
    if not piece.ids:
        return text
    parts = text.split(_HOLE)
    digits = piece.ids.hex()
    out = [parts[0]]
    for i, part in enumerate(parts[1:]):
        out += (_spelled(digits[32 * i : 32 * i + 32]), part)
    return b"".join(out)


def _spelled(digits: str) -> bytes:
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}".encode()


def _windows(data: Any) -> Iterator[bytes]:
    at, size = 0, len(data)
    while at < size:
        end = min(size, at + WINDOW)
        if end < size:
            end = data.rfind(b"\n", at, end) + 1 or end
        yield bytes(data[at:end])
        release(data, at, end)
        at = end


def _drain(window: bytes, own: bytes) -> tuple[bytes, bytes]:
    if own:
        window = window.replace(b'd":"' + _spelled(own.hex()) + b'"', b'd":"' + _OWN + b'"')
    parts = _ID.split(window)
    return (b'd":"' + _HOLE + b'"').join(parts[::2]), unhexlify(b"".join(parts[1::2]).replace(b"-", b""))


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
