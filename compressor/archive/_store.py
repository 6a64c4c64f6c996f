"""The store of originals: bytes in, their sha256 out, and the same bytes back.

A folder holds

    format.json    which format, which version
    packs/         the bytes, appended and never changed (`_pack`)
    index.sqlite   where everything is (`_index`), made from the packs
    lock           held while something is written

An original is cut into runs of records (`_chunks`); runs that are here already are not stored again. It counts as
stored once it has been put together again from what is on the disk and its sha256 is its key.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from compressor import disk
from compressor.archive import _lock, _pack
from compressor.archive._append import Appender, is_tight
from compressor.archive._chunks import Piece, fill, own_id, pieces
from compressor.archive._format import check, is_archive, make_archive
from compressor.archive._index import NAME, PATIENCE, SEAL, Index, Spot, seal
from compressor.archive._pack import AS_IT_IS, NO_IDS, Damage, Kind, Recipe
from compressor.archive._squeeze import Squeezer
from compressor.errors import ArchiveError, Location

#: A pack that has reached this size is followed by the next one.
PACK: Final = 256 * 1024 * 1024
#: Raw size at which a block is closed.
BLOCK: Final = 8 * 1024 * 1024
#: Unpacked blocks kept at hand, in bytes.
_AT_HAND: Final = 48 * 1024 * 1024
_KEY: Final = re.compile(r"[0-9a-f]{64}")
_PACK_NAME: Final = re.compile(r"(\d{6})\.pack")


class Store:
    """A folder of originals by the sha256 of their bytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._index: Index | None = None
        self.squeezer = Squeezer(self.dictionary)
        self._at_hand: OrderedDict[int, bytes] = OrderedDict()
        self._writing = 0

    # -- what the main job uses

    def has(self, key: str) -> bool:
        """Whether this original is here."""
        digest = _digest(key)
        return self.exists() and self.index.original(digest) is not None

    def put(self, data: Any) -> str:
        """Keep these bytes; returns their key once they have been read back and compared.

        Args:
            data: bytes or a memory map.

        Raises:
            ArchiveError: they could not be written, or came back different.
        """
        digest = disk.digest(data)
        key = digest.hex()
        with self.writing("put"):
            if self.index.original(digest) is not None and self.sound(key):
                return key
            self._append(digest, data, shared=True)
            if not self.sound(key):
                # a run that was here already is damaged: all of them are written anew
                self._append(digest, data, shared=False)
                if not self.sound(key):
                    raise ArchiveError(
                        "the original came back different from the archive", at=self._at(), hint="check the disk"
                    )
        return key

    def get(self, key: str) -> bytes:
        """The bytes of this key.

        Raises:
            ArchiveError: they are not here, or damaged.
        """
        return b"".join(self.stream(key))

    def stream(self, key: str) -> Iterator[bytes]:
        """The bytes of this key, piece by piece; what is wrong with the whole shows only at the end.

        Raises:
            ArchiveError: they are not here, or damaged.
        """
        recipe = self.recipe(key)
        h = hashlib.sha256()
        for text, ids in recipe.pieces:
            filling = None if ids == AS_IT_IS else b"" if ids == NO_IDS else self._chunk(ids, key)
            piece = fill(Piece(self._chunk(text, key), filling), recipe.own)
            h.update(piece)
            yield piece
        if h.digest() != recipe.key:
            raise self._damaged(key)

    def sound(self, key: str) -> bool:
        """Whether this original can be put together again from what is on the disk."""
        self._at_hand.clear()
        try:
            for _ in self.stream(key):
                pass
        except ArchiveError:
            return False
        return True

    # -- opening

    @property
    def index(self) -> Index:
        """The index, opened and brought up to date with the packs."""
        if self._index is None:
            if not self.exists():
                raise ArchiveError("there is no archive here", at=self._at(), hint="name its folder with --archive")
            check(self.folder)
            self._index = self._open_index()
            self._catch_up(self._index)
        return self._index

    def exists(self) -> bool:
        """Whether the folder is an archive."""
        return is_archive(self.folder)

    def close(self) -> None:
        """Let go of the index, and seal it if nobody else has it open."""
        if self._index is None:
            return
        self._index.close()
        self._index = None
        with suppress(OSError, ArchiveError):
            if not (self.folder / SEAL).exists():
                with _lock.hold(self.folder / "lock", wait=0.0, purpose="seal"):
                    seal(self.folder)

    @contextmanager
    def writing(self, purpose: str, wait: float = PATIENCE) -> Iterator[None]:
        """Be the only writer inside the block; what other writers added is seen.

        Raises:
            ArchiveError: another process holds the lock, or the disk refuses.
        """
        if self._writing:
            yield
            return
        try:
            make_archive(self.folder)
            if self._index is not None and not self._index.is_there():
                self._index.close()
                self._index = None
            with _lock.hold(self.folder / "lock", wait=wait, purpose=purpose):
                self._writing += 1
                try:
                    self._catch_up(self.index, cut=True)
                    yield
                finally:
                    self._writing -= 1
        except (OSError, sqlite3.Error) as error:
            if self._index is not None:
                self._index.rollback()
            reason = getattr(error, "strerror", None) or str(error)
            raise ArchiveError(
                f"the archive could not be written: {reason.lower()}",
                at=self._at(),
                hint="free space, or choose another folder with --archive",
            ) from error

    def _open_index(self) -> Index:
        try:
            return Index(self.folder)
        except sqlite3.DatabaseError:
            if not os.access(self.folder, os.W_OK):
                return Index(self.folder, in_memory=True)
            # damaged: everything in it stands in the packs and in the log of records
            for path in self.folder.glob(f"{NAME}*"):
                path.unlink(missing_ok=True)
            return Index(self.folder)

    # -- packs

    def pack_path(self, number: int) -> Path:
        """The file of a pack."""
        return self.folder / "packs" / f"{number:06}.pack"

    def packs(self) -> dict[int, int]:
        """Number and size of every pack file."""
        found = {}
        with os.scandir(self.folder / "packs") as entries:
            for entry in entries:
                if match := _PACK_NAME.fullmatch(entry.name):
                    found[int(match[1])] = entry.stat().st_size
        return dict(sorted(found.items()))

    def _catch_up(self, index: Index, *, cut: bool = False) -> None:
        """Enter what the packs hold and the index does not know: another writer's, or what a kill left there.

        Args:
            cut: the lock is held, and a half-written entry at the end of a pack may go.
        """
        there, known = self.packs(), index.sizes()
        if there == known:
            return
        gone = [n for n, size in known.items() if there.get(n, -1) < size]
        index.forget(gone)
        for number, size in there.items():
            start = 0 if number in gone else known.get(number, 0)
            if size > start:
                self._enter(index, number, start, cut=cut)
        index.commit()

    def _enter(self, index: Index, number: int, start: int, *, cut: bool) -> None:
        path = self.pack_path(number)
        for found in _pack.scan(path, start):
            if isinstance(found, Damage):
                if cut and found.end == path.stat().st_size:
                    self._cut(path, found.offset)
                continue
            payload = _pack.read(path, found.offset, found.size)
            if found.kind is Kind.BLOCK:
                index.add(number, found, _pack.chunks_of(payload[: found.table]))
            elif found.kind is Kind.RECIPE:
                index.add(number, found, key=self.squeezer.plain(payload, found.raw)[:32])
            else:
                index.add(number, found)

    def _cut(self, path: Path, size: int) -> None:
        file = os.open(path, os.O_RDWR)
        try:
            disk.truncate("pack", file, size)
        finally:
            os.close(file)

    # -- writing

    def _append(self, digest: bytes, data: Any, *, shared: bool) -> None:
        """Append what is not here yet, and the recipe of the whole; fsync; then enter it in the index."""
        known = self.index.chunk if shared else lambda _: None
        self.squeezer.current = (self.index.one("SELECT id FROM dictionaries ORDER BY pack DESC, offset DESC") or (0,))[
            0
        ]
        with self.appending() as pack:
            fresh: dict[bytes, bytes] = {}
            held: set[bytes] = set()
            items: list[tuple[bytes, bytes]] = []
            size = 0
            own = own_id(data)
            for piece in pieces(data, own):
                names = []
                for part in (piece.text, piece.ids):
                    name = hashlib.sha256(part).digest()[:16] if part else AS_IT_IS if part is None else NO_IDS
                    if part and name not in fresh and name not in held and known(name) is None:
                        fresh[name] = part
                        size += len(part)
                    names.append(name)
                items.append((names[0], names[1]))
                if size >= BLOCK:
                    pack.block(fresh)
                    held |= fresh.keys()
                    fresh, size = {}, 0
            pack.block(fresh)
            pack.recipe(Recipe(digest, len(data), own, tuple(items)))

    @contextmanager
    def appending(self, number: int | None = None, *, tight: bool = False) -> Iterator[Appender]:
        """Append to a pack; nothing of it is left if the block fails.

        Args:
            number: of the pack; None: the one that is being filled.
        """
        if number is None:
            number = self._open_pack()
        path = self.pack_path(number)
        new = not path.exists()
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            start = os.lseek(file, 0, os.SEEK_END)
            try:
                yield Appender(self.index, self.squeezer, file, number, tight=tight)
                disk.sync("pack", file)
            except BaseException:
                self.index.rollback()
                # what stays there all the same is known for half-written by its digest
                with suppress(OSError):
                    os.ftruncate(file, start)
                raise
        finally:
            os.close(file)
        if new:
            disk.sync_folder("pack", path.parent)
        self.index.commit()

    def _open_pack(self) -> int:
        """The pack that is being filled: what is packed in a hurry stays apart from what is packed tightly."""
        there = self.packs()
        number = max(there, default=1)
        return number + 1 if there.get(number, 0) >= PACK or is_tight(self.index, number) else number

    # -- reading

    def recipe(self, key: str) -> Recipe:
        """How an original is put together.

        Raises:
            ArchiveError: it is not here, or damaged.
        """
        spot = self.index.original(_digest(key))
        if spot is None:
            raise ArchiveError(
                f"the archive does not hold the original {key[:12]}…",
                at=self._at(),
                hint="name its folder with --archive",
            )
        try:
            recipe = Recipe.unpack(self.squeezer.plain(self._payload(spot)))
        except (OSError, ValueError, self.squeezer.error) as error:
            raise self._damaged(key) from error
        if recipe.key.hex() != key:
            raise self._damaged(key)
        return recipe

    def _chunk(self, digest: bytes, key: str) -> bytes:
        # twice: another process may pack the archive anew between looking up and reading
        for _ in range(2):
            found = self.index.chunk(digest)
            if found is None:
                break
            number, at, size = found
            with suppress(OSError, ValueError, KeyError, self.squeezer.error):
                return self.unpacked(number)[at : at + size]
        raise self._damaged(key)

    def unpacked(self, number: int) -> bytes:
        """The chunks of a block, joined.

        Raises:
            OSError, ValueError, zstandard.ZstdError: it cannot be had.
        """
        found = self._at_hand.get(number)
        if found is None:
            block = self.index.block(number)
            payload = self._payload(Spot(block.pack, block.offset, block.size))
            found = self.squeezer.plain(payload[block.head :], block.raw, block.dictionary)
            if len(found) != block.raw:
                raise ValueError("a block of another size")
            self._at_hand[number] = found
            while len(self._at_hand) > 1 and sum(map(len, self._at_hand.values())) > _AT_HAND:
                self._at_hand.popitem(last=False)
        else:
            self._at_hand.move_to_end(number)
        return found

    def _payload(self, spot: Spot) -> bytes:
        payload = _pack.read(self.pack_path(spot.pack), spot.offset, spot.size)
        if len(payload) != spot.size:
            raise ValueError("cut short")
        return payload

    def dictionary(self, number: int) -> bytes:
        """A dictionary.

        Raises:
            OSError, ValueError, zstandard.ZstdError: it cannot be had.
        """
        spot = self.index.dictionary(number)
        if spot is None:
            raise ValueError("a dictionary that is not here")
        return self.squeezer.plain(self._payload(spot))

    def _at(self) -> Location:
        return Location(str(self.folder))

    def _damaged(self, key: str) -> ArchiveError:
        return ArchiveError(
            f"the archived original {key[:12]}… is damaged",
            at=self._at(),
            hint="see compress archive verify; put the archive back from a copy",
        )


def _digest(key: str) -> bytes:
    if not _KEY.fullmatch(key):
        raise ArchiveError(f'"{key}" is no archive key', hint="a key is 64 hexadecimal digits")
    return bytes.fromhex(key)
