"""Which folder is an archive, and of which version."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from compressor import disk
from compressor.errors import ArchiveError, Location

_NAME: Final = "format.json"
#: What the file holds.
FORMAT: Final = b'{"format":"transcript-compressor archive","version":1}\n'
#: What may lie in a folder that is to become an archive.
_OURS: Final = frozenset({"packs", "lock", "answers", "batches"})


def is_archive(folder: Path) -> bool:
    """Whether the folder says that it is an archive."""
    return (folder / _NAME).is_file()


def check(folder: Path) -> None:
    """Refuse what this version did not write.

    Raises:
        ArchiveError: an archive of another version, or a damaged one.
    """
    if (folder / _NAME).read_bytes() != FORMAT:
        raise ArchiveError(
            "an archive of another version, or a damaged one",
            at=Location(str(folder / _NAME), 1),
            hint="use the version of the product that wrote it",
        )


def make_archive(folder: Path) -> None:
    """Make the folder an archive if it is none.

    Raises:
        ArchiveError: it holds something else.
        OSError: it cannot be written to.
    """
    if is_archive(folder):
        return
    disk.make_folder(folder / "packs")
    # answers and batches of models may be there before the first original is (`summarizers/_answers`, `batch`)
    if any(p.name not in _OURS and not disk.is_temp(p.name) for p in folder.iterdir()):
        raise ArchiveError(
            "the folder holds something else",
            at=Location(str(folder)),
            hint="name an empty folder, or one that is an archive",
        )
    disk.publish(folder / _NAME, FORMAT, "format")
