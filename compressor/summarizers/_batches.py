"""Batch endpoints: many requests for half the price, answered within a day. What is known of a batch is its id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol
from urllib.parse import urlsplit

import orjson

from compressor.errors import SummarizeError
from compressor.summarizers._answers import Answer
from compressor.summarizers._clients import (
    Anthropic,
    OpenAI,
    is_theirs,
    of_chat,
    of_message,
    said_in,
    sort_out,
    without_key,
)
from compressor.summarizers._failures import told
from compressor.summarizers._request import Request

State = Literal["running", "ended", "gone"]
#: A batch that we may have handed in just before we were killed is looked for from so many seconds before.
_SKEW: Final = 120.0
_PATH: Final = "/v1/chat/completions"
#: Most batches looked through to find our own.
_LOOKED_AT: Final = 200
_ENDED: Final = frozenset({"completed", "expired", "cancelled", "ended"})


@dataclass(frozen=True, slots=True)
class Sent:
    """One batch, as we know it: `name` is our own, `since` when we began to hand it in."""

    name: str
    keys: frozenset[str]
    since: float


class Batches(Protocol):
    """A provider's batch endpoint; `MOST` is how many requests and bytes one batch may hold."""

    MOST: tuple[int, int]

    def hand_in(self, sent: Sent, items: Sequence[tuple[str, Request]], /) -> str: ...

    def body(self, request: Request) -> dict[str, Any]: ...

    def find(self, sent: Sent, known: frozenset[str], /) -> tuple[str, bool]: ...

    def look(self, batch: str) -> State: ...

    def answers(self, batch: str) -> Iterator[tuple[str, Answer | str]]: ...

    def cancel(self, batch: str) -> None: ...

    def close(self) -> None: ...


class OpenAIBatches:
    """A file of requests, a batch of the file, a file of answers."""

    MOST = (50_000, 180_000_000)

    def __init__(self, client: OpenAI) -> None:
        self._client = client
        self._api = client.client

    def body(self, request: Request) -> dict[str, Any]:
        """One request, as the batch carries it."""
        return self._client.body(request)

    def hand_in(self, sent: Sent, items: Sequence[tuple[str, Request]]) -> str:
        """Hand in requests; the batch's id."""
        lines = [
            orjson.dumps({"custom_id": key, "method": "POST", "url": _PATH, "body": self.body(r)}) for key, r in items
        ]
        with _sorted(self._client):
            file = self._api.files.create(file=(f"{sent.name}.jsonl", b"\n".join(lines) + b"\n"), purpose="batch")
            made = self._api.batches.create(
                input_file_id=file.id, endpoint=_PATH, completion_window="24h", metadata={"compress": sent.name}
            )
        return str(made.id)

    def find(self, sent: Sent, _known: frozenset[str]) -> tuple[str, bool]:
        """The batch that bears our name, or ""; and whether that is certain."""
        with _sorted(self._client):
            for number, batch in enumerate(self._api.batches.list(limit=50)):
                if (batch.metadata or {}).get("compress") == sent.name:
                    return str(batch.id), True
                if number >= _LOOKED_AT or (batch.created_at and batch.created_at < sent.since - _SKEW):
                    break
        return "", True

    def look(self, batch: str) -> State:
        """Where it stands."""
        with _sorted(self._client):
            status = str(self._api.batches.retrieve(batch).status)
        return "gone" if status == "failed" else "ended" if status in _ENDED else "running"

    def answers(self, batch: str) -> Iterator[tuple[str, Answer | str]]:
        """Answers by key, or why there is none."""
        with _sorted(self._client):
            found = self._api.batches.retrieve(batch)
            files = [f for f in (found.output_file_id, found.error_file_id) if f]
            contents = [self._api.files.content(f).read() for f in files]
        for line in (line for data in contents for line in data.split(b"\n") if line.strip()):
            value = orjson.loads(line)
            yield str(value["custom_id"]), _checked(self._client, _of_line(value))

    def cancel(self, batch: str) -> None:
        """Stop it; what is answered already can still be collected."""
        with _sorted(self._client):
            self._api.batches.cancel(batch)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _of_line(value: dict[str, Any]) -> Answer | str:
    response = value.get("response") or {}
    if response.get("status_code") != 200:
        return told(said_in(response.get("body") or value.get("error") or "expired"), "")
    try:
        return of_chat(response["body"])
    except SummarizeError as error:
        return error.message


class AnthropicBatches:
    """Message batches: no names of ours, so one that was handed in just before a kill is known by its keys."""

    MOST = (100_000, 240_000_000)

    def __init__(self, client: Anthropic) -> None:
        self._client = client
        self._api = client.client.messages.batches

    def body(self, request: Request) -> dict[str, Any]:
        """One request, as the batch carries it."""
        return self._client.body(request)

    def hand_in(self, _sent: Sent, items: Sequence[tuple[str, Request]]) -> str:
        """Hand in requests; the batch's id."""
        asked: list[Any] = [{"custom_id": key, "params": self.body(r)} for key, r in items]
        with _sorted(self._client):
            return str(self._api.create(requests=asked).id)

    def find(self, sent: Sent, known: frozenset[str]) -> tuple[str, bool]:
        """The batch with our keys; one of the same size that still runs may be it."""
        unclear = False
        with _sorted(self._client):
            for number, batch in enumerate(self._api.list(limit=50)):
                if number >= _LOOKED_AT or batch.created_at.timestamp() < sent.since - _SKEW:
                    break
                counts = batch.request_counts
                size = counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired
                if batch.id in known or size != len(sent.keys):
                    continue
                if batch.processing_status != "ended":
                    unclear = True
                elif any(key in sent.keys for key, _ in self.answers(batch.id)):
                    return str(batch.id), True
        return "", not unclear

    def look(self, batch: str) -> State:
        """Where it stands."""
        with _sorted(self._client):
            return "ended" if self._api.retrieve(batch).processing_status in _ENDED else "running"

    def answers(self, batch: str) -> Iterator[tuple[str, Answer | str]]:
        """Answers by key, or why there is none."""
        with _sorted(self._client):
            place = self._api.retrieve(batch).results_url
            # the key is sent along: to the endpoint that the user named, and to no other
            if place and urlsplit(place).netloc != urlsplit(str(self._client.client.base_url)).netloc:
                raise SummarizeError("the endpoint keeps its results elsewhere", hint="collect them with its own tools")
            for line in self._api.results(batch):
                yield str(line.custom_id), _checked(self._client, _of_result(line.result))

    def cancel(self, batch: str) -> None:
        """Stop it; what is answered already can still be collected."""
        with _sorted(self._client):
            self._api.cancel(batch)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _of_result(result: Any) -> Answer | str:
    if result.type != "succeeded":
        inner = getattr(getattr(result, "error", None), "error", None)
        return told(getattr(inner, "message", result.type), "")
    try:
        return of_message(result.message.model_dump())
    except SummarizeError as error:
        return error.message


def _checked(client: OpenAI | Anthropic, answer: Answer | str) -> Answer | str:
    try:
        return answer if isinstance(answer, str) else without_key(answer, client.key)
    except SummarizeError as error:
        return error.message


@contextmanager
def _sorted(client: OpenAI | Anthropic) -> Iterator[None]:
    """Inside the block, failures of the SDK become ours."""
    try:
        yield
    except Exception as error:
        if not is_theirs(error, client.sdk.APIError):
            raise
        raise sort_out(error, client.sdk, client.key, client.variable, client.options) from None
