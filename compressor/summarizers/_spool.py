"""Requests that a batch will carry, written down one by one, and why some of them got no answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from compressor.errors import SummarizeError, WaitError
from compressor.summarizers._answers import write_whole
from compressor.summarizers._request import Request, Turn


class Spool:
    """A folder: `<key>.request` is to be sent, `<key>.failed` was and got no answer."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, requests: Sequence[tuple[str, Request]]) -> None:
        """Write requests down.

        Raises:
            SummarizeError: one was sent and failed: it has no answer.
            WaitError: always, otherwise: the answers come later.
        """
        for key, _ in requests:
            failed = self.folder / f"{key}.failed"
            if failed.exists():
                reason = failed.read_text(encoding="utf-8")
                raise SummarizeError(f"no answer in the batch: {reason}", hint="run without --batch")
        for key, request in requests:
            write_whole(self.folder / f"{key}.request", json.dumps(_plain(request)).encode())
        raise WaitError("its requests go into the batch", hint="finish with: compress batch collect")

    def requests(self) -> Iterator[tuple[str, Request]]:
        """What is to be sent, by key."""
        for path in sorted(self.folder.glob("*.request")):
            yield path.stem, _request(json.loads(path.read_bytes()))

    def failed(self, key: str, reason: str) -> None:
        """Note that a request got no answer."""
        write_whole(self.folder / f"{key}.failed", reason.encode())

    def done(self, key: str) -> None:
        """A request has its answer, or will get none."""
        (self.folder / f"{key}.request").unlink(missing_ok=True)


def _plain(request: Request) -> dict[str, object]:
    return {
        "purpose": request.purpose,
        "system": request.system,
        "prompt": request.prompt,
        "turns": [[t.role, list(t.blocks)] for t in request.turns],
        "schema": request.schema,
        "max_output": request.max_output,
        "tokens": request.tokens,
    }


def _request(value: dict[str, object]) -> Request:
    turns = value.pop("turns")
    assert isinstance(turns, list)
    made = tuple(Turn(role, tuple(blocks)) for role, blocks in turns)
    return Request(turns=made, **value)  # type: ignore[arg-type]
