"""What was done before, and which files are outputs: kept in the index, believed only with a digest that agrees."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from compressor.archive._index import Index
from compressor.errors import ArchiveError


@dataclass(frozen=True, slots=True)
class Done:
    """One file that is done.

    Attributes:
        source: sha256 of its bytes (with `--redact`: of the redacted ones).
        options: digest of everything else that decides the output.
        output: path of the output; "": there is none.
        result: sha256 of the output.
        said: what the report says of its sessions, in short.
    """

    source: bytes
    options: str
    output: str
    result: bytes
    said: Sequence[Mapping[str, Any]]


def place(path: str | Path) -> bytes:
    """By what name a file is known here: absolute, links left as they are, any bytes."""
    return os.fsencode(os.path.abspath(path))  # noqa: PTH100 - a link is a file of its own


def done(index: Index, path: str | Path) -> Done | None:
    """What was noted of a file."""
    row = index.one("SELECT source, options, output, result, said FROM done WHERE path=?", place(path))
    return None if row is None else Done(row[0], row[1], os.fsdecode(row[2]), row[3], orjson.loads(row[4]))


def mark(index: Index, path: str | Path, what: Done) -> None:
    """Note that a file is done."""
    output = place(what.output) if what.output else b""
    row = (place(path), what.source, what.options, output, what.result, orjson.dumps(what.said))
    # without its mark a file is done once more, and comes out the same: no reason to call it failed
    with suppress(ArchiveError):
        index.change("done", "INSERT OR REPLACE INTO done VALUES (?,?,?,?,?,?)", row)


def announce(index: Index, output: str | Path, digest: bytes) -> None:
    """Note, before it is there, that a file will be an output of ours."""
    index.change("announce", "INSERT OR IGNORE INTO outputs VALUES (?,?)", (place(output), digest))


def is_output(index: Index, path: str | Path, digest: bytes) -> bool:
    """Whether we wrote these very bytes to this place."""
    return index.one("SELECT 1 FROM outputs WHERE path=? AND digest=?", place(path), digest) is not None


def is_place(index: Index, path: str | Path) -> bool:
    """Whether we ever wrote an output to this place."""
    return index.one("SELECT 1 FROM outputs WHERE path=? LIMIT 1", place(path)) is not None
