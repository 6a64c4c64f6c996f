"""The archive of originals: content-addressed, one zstd object per original, read back before it counts.

Everything outside speaks to `Store.put`, `Store.get` and `Store.has` alone.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any, Final

from compressor.errors import ArchiveError, Location

#: zstd level of objects: what a nightly run can afford.
_LEVEL: Final = 3


class Store:
    """A folder of originals by the sha256 of their bytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, key: str) -> Path:
        """Where the object of this key lies."""
        if len(key) != 64 or not set(key) <= set("0123456789abcdef"):
            raise ArchiveError(f'"{key}" is no archive key', hint="a key is 64 hexadecimal digits")
        return self.folder / "objects" / key[:2] / f"{key[2:]}.zst"

    def has(self, key: str) -> bool:
        """Whether this original is here."""
        return self.path(key).is_file()

    def put(self, data: Any) -> str:
        """Keep these bytes; returns their key once they have been read back and compared.

        Raises:
            ArchiveError: they could not be written, or came back different.
        """
        import zstandard

        key = hashlib.sha256(data).hexdigest()
        path = self.path(key)
        if path.is_file() and self._sound(key):
            return key
        packed = zstandard.ZstdCompressor(level=_LEVEL, threads=0).compress(bytes(data))
        try:
            _publish(packed, path)
        except OSError as error:
            raise ArchiveError(
                f"the original could not be archived: {error.strerror or error}",
                at=Location(str(path)),
                hint="free space or choose another folder with --archive",
            ) from error
        if not self._sound(key):
            raise ArchiveError(
                "the original came back different from the archive", at=Location(str(path)), hint="check the disk"
            )
        return key

    def get(self, key: str) -> bytes:
        """The bytes of this key.

        Raises:
            ArchiveError: they are not here, or damaged.
        """
        import zstandard

        path = self.path(key)
        try:
            data = zstandard.ZstdDecompressor().decompress(path.read_bytes())
        except FileNotFoundError:
            raise ArchiveError(
                "the archive does not hold this original", at=Location(str(path)), hint="name its folder with --archive"
            ) from None
        except (OSError, zstandard.ZstdError) as error:
            raise ArchiveError(f"the archive cannot be read: {error}", at=Location(str(path))) from error
        if hashlib.sha256(data).hexdigest() != key:
            raise ArchiveError(
                "the archived original is damaged", at=Location(str(path)), hint="restore it from a backup"
            )
        return data

    def _sound(self, key: str) -> bool:
        try:
            self.get(key)
        except ArchiveError:
            return False
        return True


def _publish(data: bytes, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, data)


def write_atomic(path: Path, data: bytes) -> None:
    """Write beside, fsync, one rename, fsync the folder: either the old file or the new one is there."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            os.chmod(name, path.stat().st_mode & 0o7777)
        else:
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
