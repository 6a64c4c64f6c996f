"""Entries at the end of a pack."""

from __future__ import annotations

import os
from typing import Any

from compressor import disk
from compressor.archive import _pack
from compressor.archive._index import Index
from compressor.archive._pack import Kind, Recipe
from compressor.archive._squeeze import Squeezer


class Appender:
    """Writes entries at the end of one pack, and enters them in the index."""

    def __init__(self, index: Index, squeezer: Squeezer, file: int, number: int, *, tight: bool) -> None:
        self._index = index
        self._squeezer = squeezer
        self._file = file
        self.number = number
        self._tight = tight
        self.at = os.lseek(file, 0, os.SEEK_END)

    def block(self, chunks: dict[bytes, bytes]) -> None:
        """Append chunks as one block."""
        if not chunks:
            return
        raw = b"".join(chunks.values())
        sizes = [(digest, len(data)) for digest, data in chunks.items()]
        table = _pack.table_of(sizes)
        frame, dictionary = self._squeezer.pack(raw, tight=self._tight)
        flags = _pack.TIGHT if self._tight else 0
        self._entry(
            _pack.build(Kind.BLOCK, table + frame, raw=len(raw), table=len(table), dictionary=dictionary, flags=flags),
            _pack.chunks_of(table),
        )

    def recipe(self, recipe: Recipe) -> None:
        """Append how an original is put together."""
        raw = recipe.pack()
        packed = self._squeezer.small(raw)
        self._entry(_pack.build(Kind.RECIPE, packed, raw=len(raw)), key=recipe.key)

    def dictionary(self, number: int, raw: bytes) -> None:
        """Append a dictionary."""
        packed = self._squeezer.small(raw)
        self._entry(_pack.build(Kind.DICTIONARY, packed, raw=len(raw), dictionary=number))

    def _entry(self, data: bytes, chunks: Any = (), key: bytes = b"") -> None:
        disk.write("pack", self._file, data)
        entry = _pack.entry_at(data, 0)
        assert entry is not None
        self._index.add(self.number, entry.moved(self.at), chunks, key)
        self.at += len(data)


def is_tight(index: Index, pack: int) -> bool:
    """Whether a pack holds tight blocks (then it holds no others)."""
    return index.one("SELECT 1 FROM blocks WHERE pack=? AND tight=1 LIMIT 1", pack) is not None
