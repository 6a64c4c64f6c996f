"""Answers that are kept: in a folder, by the digest of model and request, and on cassettes for tests and hooks.

An answer is paid for once: a run that is killed and started again finds what it has heard already. Each is one file,
written beside and renamed, so that there are no half answers.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from compressor.errors import CassetteError, ConfigError, Location
from compressor.summarizers._request import Request

_FIELDS: Final = ("text", "finish", "given", "written", "cached")
#: First value of a cassette's first line.
CASSETTE: Final = "transcript-compressor-cassette"


@dataclass(frozen=True, slots=True)
class Answer:
    """What an endpoint answered.

    Attributes:
        finish: `stop`, `length` (cut off) or `refusal`.
        given, written, cached: tokens as the endpoint reports them.
    """

    text: str
    finish: str = "stop"
    given: int = 0
    written: int = 0
    cached: int = 0


def key_of(model: str, request: Request) -> str:
    """Under which an answer is kept: model, version of the prompt, request."""
    return hashlib.sha256(f"{model}\n{request.prompt}\n{request.digest}".encode()).hexdigest()


class Kept:
    """The answers in a folder; an unreadable one is one that is not there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"

    def get(self, key: str) -> Answer | None:
        """The answer, if it is there and whole."""
        try:
            value = json.loads(self._path(key).read_bytes())
            return Answer(**{name: value[name] for name in _FIELDS}) if value["key"] == key else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, model: str, request: Request, answer: Answer) -> None:
        """Keep an answer; it is on the disk when this returns."""
        said = {"key": key, "model": model, "purpose": request.purpose, "prompt": request.prompt, **asdict(answer)}
        write_whole(self._path(key), json.dumps(said).encode())


def write_whole(path: Path, data: bytes) -> None:
    """One rename: the file is there whole, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # the name ends as that of every unfinished file of ours: what a killed run leaves is swept
    temp = path.with_name(f".{path.name[:40]}.{os.getpid()}.{threading.get_ident()}.compress.tmp")
    file = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(file, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        temp.replace(path)
    except BaseException:
        with suppress(OSError):
            temp.unlink()
        raise


class Cassette:
    """Recorded answers by the digest of their request: one line each, behind a line that says how they were asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._at: dict[str, Answer] = {}
        self.options: Mapping[str, Any] = {}
        if path.exists():
            self._read()

    def _read(self) -> None:
        for number, line in enumerate(self.path.read_bytes().split(b"\n"), 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
                if number == 1:
                    self.options = dict(value[CASSETTE])
                else:
                    self._at[str(value["request"])] = Answer(**{name: value[name] for name in _FIELDS})
            except (ValueError, KeyError, TypeError):
                raise ConfigError(
                    "not a cassette" if number == 1 else "not a recorded answer",
                    at=Location(str(self.path), number),
                    hint="record it with --summarizer llm --cassette FILE",
                ) from None

    def answer(self, request: Request) -> Answer:
        """The recorded answer.

        Raises:
            CassetteError: there is none.
        """
        found = self._at.get(request.digest)
        if found is None:
            raise CassetteError(
                f"no recorded answer for this request ({request.purpose}, {request.digest[:12]})",
                at=Location(str(self.path)),
                hint="the session, the options or the prompts have changed; "
                "record again with --summarizer llm --cassette FILE",
            )
        return found

    def record(self, options: Mapping[str, Any], request: Request, answer: Answer) -> None:
        """Add an answer, unless this request has one; the new one replaces an older one that differs."""
        with self._lock:
            if self._at.get(request.digest) == answer:
                return
            self._at[request.digest] = answer
            lines: list[dict[str, Any]] = [{CASSETTE: dict(options)}]
            lines += [{"request": digest, **asdict(a)} for digest, a in sorted(self._at.items())]
            write_whole(self.path, b"".join(json.dumps(line, sort_keys=True).encode() + b"\n" for line in lines))
