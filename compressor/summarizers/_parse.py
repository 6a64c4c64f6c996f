"""From an answer to a brief, or to what is wrong with it, told so that the model can mend it."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from typing import Any, Final

from compressor import briefs
from compressor.asking import Proposal
from compressor.brief import Brief, Task
from compressor.errors import SummarizeError
from compressor.language import language_of
from compressor.summarizers._answers import Answer
from compressor.summarizers._request import Request

#: From so many characters on, an answer that packs to a fifteenth of its size says one thing over and over.
_LONG: Final = 20_000
_PACKED: Final = 15
#: A passage of so many characters that stands so in the transcript is a copy, not a summary.
_COPY: Final = 1_500
#: Words from which on the language of a brief can be told.
_WORDS: Final = 40
_KNOWN: Final = frozenset({"en", "de", "fr", "es", "zh", "ja", "ko"})
_THINKING: Final = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_SOURCE: Final = re.compile(r"\A[\s\[(]*#?(\d{1,9})(?:\.\d+)?[\s\])]*\Z")
_LISTS: Final = ("completed", "pending", "findings", "errors", "decisions", "files", "notes", "red_lines")


class AnswerError(SummarizeError):
    """An answer that cannot be used; the message says why, to the model and to the user."""


def parse(task: Task, request: Request, answer: Answer) -> tuple[Brief, tuple[Proposal, ...]]:
    """The brief of an answer, and the facts that it proposes.

    Raises:
        AnswerError: it holds no usable brief; the model may be asked once more.
        SummarizeError: the model will not write one.
    """
    if answer.finish == "refusal":
        raise SummarizeError("the model refuses to summarize this session", hint="try another model")
    text = answer.text
    if not text.strip():
        raise AnswerError("the answer is empty")
    if len(text) > _LONG and len(zlib.compress(text.encode("utf-8", "replace"), 1)) * _PACKED < len(text):
        raise AnswerError("the answer says one thing over and over")
    value = _object(text, cut=answer.finish == "length")
    keep = value.pop("keep", None)
    for name in _LISTS:
        value.setdefault(name, [])
    value.pop("carried", None)
    try:
        brief = briefs.validate(_with_sources(value))
    except SummarizeError as error:
        raise AnswerError(error.message) from None
    _check(task, request, brief)
    return brief, _proposals(keep)


def _object(text: str, *, cut: bool) -> dict[str, Any]:
    text = _THINKING.sub("", text)
    start, end = text.find("{"), text.rfind("}")
    try:
        value = json.loads(text[start : end + 1]) if 0 <= start < end else None
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    if cut:
        raise AnswerError("the answer was cut off before its end: write a shorter one")
    raise AnswerError("the answer is not one JSON object")


def _with_sources(value: Any) -> Any:
    """The value with its sources in the short form: models write 12, "12" and "[#12]" for "#12"."""
    if isinstance(value, list):
        return [_with_sources(v) for v in value]
    if not isinstance(value, dict):
        return value
    out = {k: _with_sources(v) for k, v in value.items()}
    if isinstance(out.get("sources"), list):
        out["sources"] = [_source(s) for s in out["sources"] if s not in ("", None)]
    return out


def _source(said: Any) -> Any:
    found = _SOURCE.match(str(said)) if isinstance(said, (str, int)) else None
    return f"#{found[1]}" if found else said


def _proposals(keep: Any) -> tuple[Proposal, ...]:
    """What the model proposes to keep; code decides, so what is malformed is no fault of the brief."""
    out = []
    for item in keep if isinstance(keep, list) else ():
        entry = _with_sources(item)
        if isinstance(entry, Mapping) and isinstance(entry.get("text"), str) and isinstance(entry.get("sources"), list):
            out.append(Proposal(entry["text"], tuple(str(s) for s in entry["sources"])))
    return tuple(out)


def _check(task: Task, request: Request, brief: Brief) -> None:
    texts = list(_texts(briefs.to_json(brief)))
    if not any(t.strip() for t in texts):
        raise AnswerError("the brief says nothing")
    data = request.turns[0].blocks[0]
    mark = data[: data.find(" ")]
    for text in texts:
        if mark in text or (len(text) >= _COPY and text[:_COPY] in data):
            raise AnswerError("the answer copies the transcript: summarize it")
    wanted = task.language.split("-")[0]
    found, words = language_of(" ".join(texts))
    if wanted in _KNOWN and found != wanted and words >= _WORDS:
        raise AnswerError(f'the brief is in "{found}": write it in "{wanted}"')


def _texts(value: Any) -> list[str]:
    """All words of the brief that a reader reads; paths, names and sources are of no language."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [t for v in value for t in _texts(v)]
    names = ("path", "sources", "type", "exports", "dependencies", "entry_points", "red_lines", "carried")
    return [t for k, v in value.items() if k not in names for t in _texts(v)]
