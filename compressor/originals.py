"""The originals of an archive, by whatever name somebody has for one: the Python API of the archive.

from compressor import Archive

for original in Archive("vault"):
    print(original.time, original.source, original.size)
transcript = Archive("vault").read("small/session.jsonl")
Archive("vault").restore("small/session.jsonl", "session.jsonl")
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from compressor import disk
from compressor.archive import Problem, Store, keys
from compressor.archive import verify as of_packs
from compressor.audit import NAME as AUDIT
from compressor.audit import Audit
from compressor.chain import Chain
from compressor.errors import ArchiveError, Location, WriteError
from compressor.formats import Source
from compressor.inputs import archives_near
from compressor.model import Message, Transcript
from compressor.reading import read

_KEY: Final = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Original:
    """One original.

    Attributes:
        key: sha256 of its bytes.
        size: in bytes.
        source: path that it was read from; "": no record names it.
        output: path of the newest output that was made from it.
        sessions: ids of the conversations in it.
        time: of its newest record.
        redacted: how many secrets were replaced before it was stored; -1: that was not asked for.
    """

    key: str
    size: int
    source: str = ""
    output: str = ""
    format: str = ""
    sessions: tuple[str, ...] = ()
    time: str = ""
    redacted: int = -1


class Archive:
    """An archive, for reading.

    Raises:
        ArchiveError: there is none in this folder.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.store = Store(Path(folder))
        self.audit = Audit(self.store)
        _ = self.store.index

    def __iter__(self) -> Iterator[Original]:
        """All originals, in the order in which they were stored."""
        known: dict[str, list[dict[str, Any]]] = {}
        for r in self.audit.records():
            known.setdefault(r["original"]["sha256"], []).append(r)
        for key in keys(self.store):
            yield self._original(key, known.get(key, []))

    def __len__(self) -> int:
        return len(keys(self.store))

    def _original(self, key: str, records: list[dict[str, Any]]) -> Original:
        size = self.store.recipe(key).size
        if not records:
            return Original(key, size)
        last = records[-1]
        sessions = tuple(dict.fromkeys(r["session"] for r in records if r["output"] == last["output"] and r["session"]))
        return Original(
            key, size, last["source"], last["output"], last["format"], sessions, last["time"],
            last["original"]["redacted"],
        )  # fmt: skip

    def find(self, name: str | os.PathLike[str]) -> Original:
        """The newest original of an output, a source or a session, or the one of a key or the beginning of one.

        Raises:
            ArchiveError: the archive holds none, or several, of that name.
        """
        said = os.fspath(name)
        if _KEY.fullmatch(said) and self.store.has(said):
            return self._original(said, [r for r in self.audit.records() if r["original"]["sha256"] == said])
        found = self.audit.of(said)
        if found:
            key = found[-1]["original"]["sha256"]
            if said != found[-1]["session"] and key.startswith(said):
                self._refuse_several(said, {r["original"]["sha256"] for r in found})
            return self._original(key, [r for r in found if r["original"]["sha256"] == key])
        begin = [k for k in keys(self.store) if len(said) >= 6 and k.startswith(said)]
        if not begin:
            raise ArchiveError(
                f'the archive holds no original of "{said}"', at=self._at(), hint="see compress archive list"
            )
        self._refuse_several(said, set(begin))
        return self._original(begin[0], [])

    def _refuse_several(self, said: str, found: set[str]) -> None:
        if len(found) > 1:
            raise ArchiveError(f'{len(found)} originals begin with "{said}"', at=self._at(), hint="say more digits")

    def data(self, name: str | os.PathLike[str]) -> bytes:
        """The bytes of an original.

        Raises:
            ArchiveError: it is not here, or damaged.
        """
        return self.store.get(self.find(name).key)

    def read(self, name: str | os.PathLike[str]) -> Transcript:
        """An original, read.

        Raises:
            ArchiveError: it is not here, or damaged.
            ReadError: it is no transcript.
        """
        original = self.find(name)
        return read(Source(original.source or original.key, self.store.get(original.key)))

    def restore(self, name: str | os.PathLike[str], path: str | os.PathLike[str]) -> Original:
        """Write an original to a file, byte for byte; the file is there only once it is whole.

        Raises:
            ArchiveError: it is not here, or damaged.
            WriteError: the file cannot be written.
        """
        original = self.find(name)
        write(self.store, original.key, Path(path))
        return original

    def _at(self) -> Location:
        return Location(str(self.store.folder))


def near(path: Path, named: Path | None, key: str = "") -> Archive:
    """The archive in which the original of an output lies: the named one, else the nearest above it.

    Args:
        key: of the original, if it is known: an archive that holds it is preferred.

    Raises:
        ArchiveError: there is none.
    """
    folders = [named] if named is not None else list(archives_near(path))
    found = [Archive(folder) for folder in folders]
    if not found:
        raise ArchiveError(
            "no archive here or in the folders above", at=Location(str(path)), hint="name it with --archive"
        )
    return next((a for a in found if key and a.store.has(key)), found[0])


def verify(store: Store) -> Iterator[Problem]:
    """What is wrong with an archive, its audit log and the log of its runs included; nothing is changed."""
    yield from of_packs(store)
    yield from (Problem(AUDIT, f.offset, f"line {f.line}: {f.message}") for f in Audit(store).verify())
    runs = Chain(store.folder / "runs.jsonl", "runs")
    yield from (Problem(runs.path.name, f.offset, f"line {f.line}: {f.message}") for f in runs.verify())


def write(store: Store, key: str, path: Path) -> None:
    """Write an original to a file.

    Raises:
        ArchiveError: it is not here, or damaged.
        WriteError: the file cannot be written.
    """
    try:
        disk.make_folder(path.parent)
        disk.publish(path, store.stream(key), "restore")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise WriteError(f"cannot be written: {reason}", at=Location(str(path))) from error


def message(transcript: Transcript, name: str) -> Message:
    """A message by its own id or by its short form (`#12`, `12`).

    Raises:
        ArchiveError: the original holds none of that name.
    """
    number = name.removeprefix("#")
    for session in transcript.sessions:
        for m in session.messages:
            if m.id == name or (number.isdecimal() and m.index == int(number)):
                return m
    raise ArchiveError(
        f'no message "{name}" in the original', at=Location(transcript.path), hint="briefs cite messages as #12"
    )


def record_of(transcript: Transcript, m: Message) -> bytes:
    """The bytes of the record that a message stands in."""
    record = transcript.records[m.record]
    return bytes(transcript.raw[record.start : record.end])
