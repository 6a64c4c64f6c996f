"""Pack files: entries one after the other, each with a digest of its own; nothing in them ever changes.

    entry  = header, payload
    header = magic, kind, flags, reserved, length of the table, dictionary, raw size, payload size, digest

The digest covers the header before it and the payload, so that a flipped bit anywhere is seen, and so that what a
kill left half-written at the end is known for that. The packs are the whole truth: the index is made from them.
"""

from __future__ import annotations

import hashlib
import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import Any, Final

_HEAD: Final = struct.Struct("<4sBBHIIII")
_DIGEST: Final = 16
SIZE: Final = _HEAD.size + _DIGEST
_MAGIC: Final = b"TCA1"
_CHUNK: Final = struct.Struct("<16sI")
_RECIPE: Final = struct.Struct("<32sQB16s")

#: Flag of a block: packed tightly, in no hurry.
TIGHT: Final = 1


class Kind(IntEnum):
    """What an entry holds."""

    BLOCK = 1
    RECIPE = 2
    DICTIONARY = 3


_KINDS: Final = frozenset(Kind)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a pack.

    Attributes:
        offset: of its header in the pack.
        table: length of the uncompressed part at the start of the payload.
        dictionary: with which the rest is packed; 0: none. Of a dictionary: its own id.
        raw: size of the rest, unpacked.
        size: of the payload.
    """

    kind: Kind
    flags: int
    offset: int
    table: int
    dictionary: int
    raw: int
    size: int

    @property
    def end(self) -> int:
        """Where the next entry starts."""
        return self.offset + SIZE + self.size

    def moved(self, offset: int) -> Entry:
        """The same entry elsewhere."""
        return replace(self, offset=offset)


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes of a pack that are no entry."""

    offset: int
    end: int


def build(kind: Kind, payload: bytes, *, raw: int, table: int = 0, dictionary: int = 0, flags: int = 0) -> bytes:
    """The bytes of an entry."""
    head = _HEAD.pack(_MAGIC, kind, flags, 0, table, dictionary, raw, len(payload))
    return head + _digest(head, payload) + payload


def _digest(head: Any, payload: Any) -> bytes:
    h = hashlib.sha256(head)
    h.update(payload)
    return h.digest()[:_DIGEST]


def entry_at(raw: Any, offset: int) -> Entry | None:
    """The entry that starts here; None: there is none, or it is damaged."""
    head = bytes(raw[offset : offset + SIZE])
    if len(head) < SIZE or not head.startswith(_MAGIC):
        return None
    _, kind, flags, reserved, table, dictionary, size_raw, size = _HEAD.unpack(head[: _HEAD.size])
    end = offset + SIZE + size
    if end > len(raw) or reserved or kind not in _KINDS or table > size:
        return None
    with memoryview(raw) as view, view[offset + SIZE : end] as payload:
        if _digest(head[: _HEAD.size], payload) != head[_HEAD.size :]:
            return None
    return Entry(Kind(kind), flags, offset, table, dictionary, size_raw, size)


def scan(path: Path, start: int = 0) -> Iterator[Entry | Damage]:
    """All entries of a pack from `start` on, and the stretches between them that are none."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        if size <= start:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw:
            yield from _scan(raw, start)


def _scan(raw: mmap.mmap, start: int) -> Iterator[Entry | Damage]:
    at = start
    while at < len(raw):
        entry = entry_at(raw, at)
        if entry is None:
            bad = at
            # the length in a damaged header cannot be trusted: the next whole entry is looked for
            while (at := raw.find(_MAGIC, at + 1)) >= 0 and entry_at(raw, at) is None:
                pass
            at = len(raw) if at < 0 else at
            yield Damage(bad, at)
            continue
        yield entry
        at = entry.end


def read(path: Path, offset: int, size: int) -> bytes:
    """The payload of the entry at `offset`; empty or short if the pack ends before it."""
    with path.open("rb") as file:
        file.seek(offset + SIZE)
        return file.read(size)


def table_of(chunks: list[tuple[bytes, int]]) -> bytes:
    """The table of a block: digest and size of each chunk in it."""
    return b"".join(_CHUNK.pack(digest, size) for digest, size in chunks)


def chunks_of(table: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Digest, offset and size of the chunks of a block."""
    at = 0
    for digest, size in _CHUNK.iter_unpack(table):
        yield digest, at, size
        at += size


#: In a recipe in the place of the digest of a piece's ids: it has none, or it is not to be filled.
NO_IDS, AS_IT_IS = bytes(16), b"\xff" * 16


@dataclass(frozen=True, slots=True)
class Recipe:
    """How an original is put together.

    Attributes:
        own: the id that most of its records carry, or nothing.
        pieces: for each the digest of its text and of the ids that stand in it.
    """

    key: bytes
    size: int
    own: bytes
    pieces: tuple[tuple[bytes, bytes], ...]

    def pack(self) -> bytes:
        """As bytes."""
        head = _RECIPE.pack(self.key, self.size, len(self.own), self.own)
        return head + b"".join(a + b for a, b in self.pieces)

    @classmethod
    def unpack(cls, raw: bytes) -> Recipe:
        """From bytes.

        Raises:
            ValueError: they are too few.
        """
        try:
            key, size, length, own = _RECIPE.unpack_from(raw)
        except struct.error as error:
            raise ValueError("cut short") from error
        pieces = tuple((raw[i : i + 16], raw[i + 16 : i + 32]) for i in range(_RECIPE.size, len(raw), 32))
        return cls(key, size, own[:length], pieces)

    def chunks(self) -> Iterator[bytes]:
        """The digests of all chunks, in order."""
        for text, ids in self.pieces:
            yield text
            if ids not in (NO_IDS, AS_IT_IS):
                yield ids
