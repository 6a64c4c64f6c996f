"""Where everything in the packs is, in SQLite: a help for finding things, made anew from the packs when it is lost.

What it says is believed only until it is used: bytes are checked against their digests, outputs against theirs.
So it is never waited for on its way to the disk.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from compressor import disk
from compressor.archive._lock import hold
from compressor.archive._pack import TIGHT, Entry, Kind
from compressor.errors import ArchiveError, Location

NAME: Final = "index.sqlite"
#: Holds the sha256 of the index while nobody has it open to write: SQLite does not see every flipped bit by itself.
SEAL: Final = "index.seal"
#: Seconds that a writer waits for another one: each of them is done in well under a second.
PATIENCE: Final = 120.0

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS packs (id INTEGER PRIMARY KEY, size INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS blocks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, pack INTEGER NOT NULL, offset INTEGER NOT NULL, head INTEGER NOT NULL,
    size INTEGER NOT NULL, raw INTEGER NOT NULL, dictionary INTEGER NOT NULL, tight INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS chunks (
    digest BLOB PRIMARY KEY, block INTEGER NOT NULL, offset INTEGER NOT NULL, size INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS originals (
    key BLOB PRIMARY KEY, pack INTEGER NOT NULL, offset INTEGER NOT NULL, size INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS dictionaries (
    id INTEGER PRIMARY KEY, pack INTEGER NOT NULL, offset INTEGER NOT NULL, size INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS records (
    number INTEGER PRIMARY KEY, offset INTEGER NOT NULL, output BLOB NOT NULL, session TEXT NOT NULL,
    original BLOB NOT NULL, same BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS records_output ON records (output, session);
CREATE TABLE IF NOT EXISTS done (
    path BLOB PRIMARY KEY, source BLOB NOT NULL, options TEXT NOT NULL, output BLOB NOT NULL, result BLOB NOT NULL,
    said BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS outputs (path BLOB NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (path, digest)) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Block:
    """Where a block lies, and how it is packed."""

    id: int
    pack: int
    offset: int
    head: int
    size: int
    raw: int
    dictionary: int
    tight: int


@dataclass(frozen=True, slots=True)
class Spot:
    """Where the payload of an entry lies."""

    pack: int
    offset: int
    size: int


class Index:
    """The open index of one archive.

    Args:
        in_memory: made from the packs for this process alone, where the folder cannot be written to.
    """

    def __init__(self, folder: Path, *, in_memory: bool = False) -> None:
        self.path = folder / NAME
        self.db = self._open(":memory:" if in_memory else str(self.path))
        self._inode = 0 if in_memory else self.path.stat().st_ino

    def _open(self, name: str) -> sqlite3.Connection:
        new = not Path(name).exists()
        db = sqlite3.connect(name, timeout=60, isolation_level="DEFERRED", check_same_thread=False)
        try:
            if new:
                # most archives are small: one page a table is half of what they take
                db.execute("PRAGMA page_size=1024")
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=OFF")
            if new or not db.execute("SELECT 1 FROM sqlite_master WHERE name='outputs'").fetchone():
                db.executescript(_TABLES)
        except sqlite3.Error:
            db.close()
            raise
        return db

    def is_there(self) -> bool:
        """Whether the file is still the one that was opened."""
        try:
            return self.path.stat().st_ino == self._inode
        except FileNotFoundError:
            return False

    def close(self) -> None:
        """Close it; the last one to do so folds the write-ahead log into the file."""
        self.db.close()

    def commit(self) -> None:
        """Make what was changed the state."""
        self._unseal()
        disk.commit("index", self.db)

    def _unseal(self) -> None:
        with suppress(FileNotFoundError):
            self.path.with_name(SEAL).unlink()

    def rollback(self) -> None:
        """Forget what was changed since the last commit."""
        self.db.rollback()

    def change(self, name: str, query: str, row: tuple[Any, ...]) -> None:
        """One change of its own, committed at once.

        Raises:
            ArchiveError: it could not be written.
        """
        try:
            with hold(self.path.with_name("lock"), wait=PATIENCE, purpose=name):
                self._unseal()
                self.db.execute(query, row)
                disk.commit(name, self.db)
        except (OSError, sqlite3.Error) as error:
            self.db.rollback()
            reason = getattr(error, "strerror", None) or str(error)
            raise ArchiveError(
                f"the archive could not be written: {reason.lower()}",
                at=Location(str(self.path.parent)),
                hint="free space, or choose another folder with --archive",
            ) from error

    def one(self, query: str, *values: Any) -> tuple[Any, ...] | None:
        """The first row."""
        row: tuple[Any, ...] | None = self.db.execute(query, values).fetchone()
        return row

    def all(self, query: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """All rows."""
        return iter(self.db.execute(query, values))

    # -- packs

    def sizes(self) -> dict[int, int]:
        """Up to where each pack is in the index."""
        return dict(self.db.execute("SELECT id, size FROM packs"))

    def add(self, pack: int, entry: Entry, chunks: Iterable[tuple[bytes, int, int]] = (), key: bytes = b"") -> None:
        """Enter an entry; what is known already from elsewhere is from now on found here."""
        spot = (pack, entry.offset, entry.size)
        if entry.kind is Kind.BLOCK:
            tight = int(bool(entry.flags & TIGHT))
            row = (pack, entry.offset, entry.table, entry.size, entry.raw, entry.dictionary, tight)
            fields = "pack, offset, head, size, raw, dictionary, tight"
            number = self.db.execute(f"INSERT INTO blocks ({fields}) VALUES (?,?,?,?,?,?,?)", row).lastrowid  # noqa: S608
            rows = ((digest, number, at, size) for digest, at, size in chunks)
            self.db.executemany("INSERT OR REPLACE INTO chunks VALUES (?,?,?,?)", rows)
        elif entry.kind is Kind.RECIPE:
            self.db.execute("INSERT OR REPLACE INTO originals VALUES (?,?,?,?)", (key, *spot))
        else:
            self.db.execute("INSERT OR REPLACE INTO dictionaries VALUES (?,?,?,?)", (entry.dictionary, *spot))
        self.cover(pack, entry.end)

    def cover(self, pack: int, size: int) -> None:
        """Say up to where a pack is in the index."""
        self.db.execute("INSERT OR REPLACE INTO packs VALUES (?,?)", (pack, size))

    def forget(self, packs: Iterable[int]) -> None:
        """Take out all that points into these packs."""
        for pack in packs:
            self.db.execute("DELETE FROM chunks WHERE block IN (SELECT id FROM blocks WHERE pack=?)", (pack,))
            for table in ("blocks", "originals", "dictionaries"):
                self.db.execute(f"DELETE FROM {table} WHERE pack=?", (pack,))  # noqa: S608 - names of our own
            self.db.execute("DELETE FROM packs WHERE id=?", (pack,))

    def block(self, number: int) -> Block:
        """A block by its number.

        Raises:
            KeyError: it has been packed anew since its number was looked up.
        """
        row = self.one("SELECT * FROM blocks WHERE id=?", number)
        if row is None:
            raise KeyError(number)
        return Block(*row)

    def chunk(self, digest: bytes) -> tuple[int, int, int] | None:
        """Block, offset and size of a chunk."""
        row = self.one("SELECT block, offset, size FROM chunks WHERE digest=?", digest)
        return None if row is None else (row[0], row[1], row[2])

    def original(self, key: bytes) -> Spot | None:
        """Where the recipe of an original lies."""
        row = self.one("SELECT pack, offset, size FROM originals WHERE key=?", key)
        return None if row is None else Spot(*row)

    def dictionary(self, number: int) -> Spot | None:
        """Where a dictionary lies."""
        row = self.one("SELECT pack, offset, size FROM dictionaries WHERE id=?", number)
        return None if row is None else Spot(*row)


def seal(folder: Path) -> None:
    """Note what the index is, after everybody has closed it. The caller is the only writer."""
    path = folder / NAME
    if not _open_log(folder) and path.is_file():
        disk.publish(folder / SEAL, _digest(path), "seal", durable=False)


def is_sealed(folder: Path) -> bool | None:
    """Whether the index is as it was when it was sealed; None: somebody has it open, or was killed with it."""
    try:
        noted = (folder / SEAL).read_bytes()
        return None if _open_log(folder) else noted == _digest(folder / NAME)
    except FileNotFoundError:
        return None


def _open_log(folder: Path) -> bool:
    log = folder / f"{NAME}-wal"
    return log.is_file() and log.stat().st_size > 0


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest().encode() + b"\n"
