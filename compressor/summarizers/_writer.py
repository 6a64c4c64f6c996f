"""A brief by a model: one request, or one for each piece and one that joins them; one repair for what cannot be read."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from compressor import briefs
from compressor.asking import Proposal
from compressor.brief import Brief, Task
from compressor.errors import SummarizeError
from compressor.summarizers import _pieces, _request
from compressor.summarizers._answers import Answer
from compressor.summarizers._parse import AnswerError, parse
from compressor.summarizers._request import Request
from compressor.summarizers._schema import bounded
from compressor.summarizers._service import Service

#: Tokens of an answer: JSON and sources take more than the text that is made of them.
_OUTPUT: Final = (4, 2_000, 16_000)
#: A piece of fewer tokens than this tells no story.
_LEAST_ROOM: Final = 300
#: Characters of an answer for each of its tokens, at least.
_CHARACTERS: Final = 2

#: Options that decide what is asked, with their schemas: those of every summarizer that asks a model.
OPTIONS: Final[Mapping[str, Any]] = {
    "model": {"type": "string", "minLength": 1, "description": "Name of the model, as its provider spells it."},
    "context": {"type": "integer", "minimum": 512, "description": "Tokens that the model reads at once."},
    "max_output": {"type": "integer", "minimum": 64, "description": "Tokens of an answer, at most."},
    "temperature": {"type": "number", "minimum": 0, "maximum": 2},
    "pieces": {
        "type": "integer",
        "minimum": 1,
        "description": "Requests for one session, at most, those that join apart.",
    },
    "bounded": {"type": "boolean", "description": "Tell the endpoint lengths too: for small models that find no end."},
}
CONTEXT: Final = 100_000
PIECES: Final = 40


@dataclass(frozen=True, slots=True)
class _Written:
    """An answer that could be read."""

    request: Request
    answer: str
    brief: Brief
    proposals: tuple[Proposal, ...]


class Writer:
    """Writes the brief of one task."""

    def __init__(self, task: Task, options: Mapping[str, Any], service: Service) -> None:
        self._task = task
        self._options = options
        self._service = service
        least = min(max(_OUTPUT[0] * task.budget, _OUTPUT[1]), _OUTPUT[2])
        self._output: int = options.get("max_output", least)
        self._until = time.monotonic() + service.terms.deadline - task.journal.waited

    def write(self) -> Brief:
        """The brief; what is left for a next attempt stands in the journal.

        Raises:
            SummarizeError: no usable brief.
            WaitError: not now.
        """
        started = time.monotonic()
        journal = self._task.journal
        try:
            written = self._repaired() if self._task.problems and journal.state else self._from_originals()
        finally:
            journal.waited += time.monotonic() - started
        journal.state = (written.request, written.answer)
        journal.proposals = written.proposals
        return written.brief

    def _repaired(self) -> _Written:
        request, answer = self._task.journal.state
        return self._usable([_request.for_repair(self._task, request, answer, self._task.problems)])[0]

    def _from_originals(self) -> _Written:
        context = int(self._options.get("context", CONTEXT))
        room = context - self._output - _request.overhead(self._task, schema=not self._options.get("bounded"))
        if room < _LEAST_ROOM:
            raise SummarizeError(
                f"a context of {context:,} tokens is too small for this",
                hint="a larger `context`, a smaller `max_output`, or another model",
            )
        cut = _pieces.cut(self._task, room, int(self._options.get("pieces", PIECES)))
        journal = self._task.journal
        journal.shortened = tuple(p for piece in cut.pieces for p in piece.shortened)
        journal.unseen = cut.unseen
        journal.seen = sum(p.parts for p in cut.pieces) - len(journal.shortened)
        count = len(cut.pieces)
        if not count:
            return _Written(_request.for_merge(self._task, [], self._output), "", Brief(), ())
        requests = [
            _request.for_brief(self._task, p.sections, self._output, (i, count)) for i, p in enumerate(cut.pieces, 1)
        ]
        return self._joined(self._usable(requests), room)

    def _joined(self, parts: Sequence[_Written], room: int) -> _Written:
        while len(parts) > 1:
            groups: list[list[str]] = [[]]
            size = 0
            for part in parts:
                text = _as_json(part)
                tokens = self._task.count(text)
                # two at least, or there would be no end
                if size + tokens > room and len(groups[-1]) > 1:
                    groups.append([])
                    size = 0
                groups[-1].append(text)
                size += tokens
            parts = self._usable([_request.for_merge(self._task, g, self._output) for g in groups])
        return parts[0]

    def _usable(self, requests: list[Request]) -> list[_Written]:
        """The answers in order; one that cannot be read is asked for once more."""
        requests = [self._shaped(r) for r in requests]
        answers = self._service.ask_all(requests, self._task.journal, self._until)
        return [self._read(r, a) for r, a in zip(requests, answers, strict=True)]

    def _read(self, request: Request, answer: Answer) -> _Written:
        task = self._task
        try:
            return _Written(request, answer.text, *parse(task, request, answer))
        except AnswerError as error:
            task.journal.steps.append(f"{request.purpose}: {error.message}; asked again")
            again = self._shaped(_request.for_repair(task, request, answer.text, [error.message]))
            (second,) = self._service.ask_all([again], task.journal, self._until)
        try:
            return _Written(request, second.text, *parse(task, request, second))
        except AnswerError as error:
            raise SummarizeError(f"{error.message}, twice", hint="try another model") from None

    def _shaped(self, request: Request) -> Request:
        if not self._options.get("bounded"):
            return request
        return _request.bound(request, bounded(request.schema, request.max_output * _CHARACTERS))


def _as_json(part: _Written) -> str:
    value = briefs.to_json(part.brief)
    del value["carried"]
    value["keep"] = [{"text": p.text, "sources": list(p.sources)} for p in part.proposals]
    return orjson.dumps(value, option=orjson.OPT_PASSTHROUGH_SUBCLASS).decode()
