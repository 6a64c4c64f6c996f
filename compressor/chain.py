"""A log that only grows, each line sealed over itself and the line before it.

    {"number":7,"previous":"<hash of line 6>", …,"hash":"<sha256 of this line up to here>"}

A line that a kill left half-written is cut off by the next writer: it was never acknowledged.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from compressor import disk

_SEAL: Final = re.compile(rb',"hash":"([0-9a-f]{64})"\}\n\Z')
_SEAL_SIZE: Final = len(b',"hash":"') + 64 + len(b'"}\n')
_START: Final = "0" * 64
_STEP: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its number from 1, its place in the file, and its bytes."""

    number: int
    offset: int
    raw: bytes

    def data(self) -> dict[str, Any]:
        """What it says.

        Raises:
            ValueError: it is damaged.
        """
        try:
            found = orjson.loads(self.raw)
        except orjson.JSONDecodeError:
            # names of files that are no UTF-8 are escaped surrogates, which strict JSON does not know
            found = json.loads(self.raw)
        if not isinstance(found, dict):
            raise ValueError("not an object")  # noqa: TRY004 - damage is one kind of error
        return found


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a line."""

    line: int
    offset: int
    message: str


class Chain:
    """One such log.

    Args:
        name: of its steps on the disk.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self._name = name

    def append(self, values: Iterable[Mapping[str, Any]]) -> list[Line]:
        """Append lines and wait until they are on the disk. The caller is the only writer."""
        file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            end = self._mend(file)
            number, previous = self._last(file, end)
            lines = []
            at = end
            for value in values:
                number += 1
                raw = _seal({"number": number, "previous": previous, **value})
                previous = raw[-_SEAL_SIZE:].decode()[9:73]
                lines.append(Line(number, at, raw))
                at += len(raw)
            os.lseek(file, end, os.SEEK_SET)
            disk.write(self._name, file, b"".join(line.raw for line in lines))
            disk.sync(self._name, file)
        finally:
            os.close(file)
        if end == 0:
            disk.sync_folder(self._name, self.path.parent)
        return lines

    def _mend(self, file: int) -> int:
        """Cut off a half-written last line; returns the size of what is left."""
        size = os.lseek(file, 0, os.SEEK_END)
        end = size
        while end and os.pread(file, 1, end - 1) != b"\n":
            back = max(0, end - _STEP)
            cut = os.pread(file, end - back, back).rfind(b"\n")
            end = back + cut + 1 if cut >= 0 else back
        if end != size:
            disk.truncate(self._name, file, end)
        return end

    def _last(self, file: int, end: int) -> tuple[int, str]:
        """Number and hash of the last line."""
        if not end:
            return 0, _START
        at = end - 1
        raw = b"\n"
        while at and b"\n" not in raw[:-1]:
            back = max(0, at - _STEP)
            raw = os.pread(file, at - back, back) + raw
            at = back
        raw = raw[raw.rfind(b"\n", 0, -1) + 1 :]
        seal = _SEAL.search(raw)
        number = re.match(rb'\{"number":(\d+),', raw)
        if seal is None or number is None:
            # damaged: `verify` says so; what follows is chained to what stands there now
            return os.pread(file, end, 0).count(b"\n"), hashlib.sha256(raw).hexdigest()
        return int(number[1]), seal[1].decode()

    def lines(self, start: int = 0, number: int = 1) -> Iterator[Line]:
        """All whole lines from a place in the file on; `number` is that of the first."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(start)
            at = start
            for raw in file:
                if not raw.endswith(b"\n"):
                    return
                yield Line(number, at, raw)
                number += 1
                at += len(raw)

    def verify(self) -> Iterator[Fault]:
        """What is wrong with the chain, line by line."""
        previous = _START
        end = number = 0
        for line in self.lines():
            number, end = line.number, line.offset + len(line.raw)
            seal = _SEAL.search(line.raw)
            if seal is None or hashlib.sha256(line.raw[:-_SEAL_SIZE]).hexdigest() != seal[1].decode():
                yield Fault(number, line.offset, "damaged, or changed after it was written")
            elif not line.raw.startswith(f'{{"number":{number},"previous":"{previous}"'.encode()):
                yield Fault(number, line.offset, "does not follow the line before it")
            previous = seal[1].decode() if seal else hashlib.sha256(line.raw).hexdigest()
        if self.path.exists() and self.path.stat().st_size > end:
            yield Fault(number + 1, end, "half-written: a run was killed here; the next one cuts it off")


def _seal(value: Mapping[str, Any]) -> bytes:
    try:
        body = orjson.dumps(value)[:-1]
    except TypeError:
        body = json.dumps(value, separators=(",", ":")).encode()[:-1]
    return body + b',"hash":"' + hashlib.sha256(body).hexdigest().encode() + b'"}\n'
