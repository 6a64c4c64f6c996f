"""Content as Gemini's interface has it: a text, or a list of parts (texts, thoughts, calls, answers, data)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from compressor.formats._messages import describe, name_of
from compressor.formats._pairs import Builder
from compressor.formats._records import leaves
from compressor.model import PathSteps

#: Parts that hold data, and the key of their kind.
_DATA: Final = {"inlineData": "data", "fileData": "fileUri"}
#: Parts of the interface's own code tool, and the key of their text.
_CODE: Final = {"executableCode": "code", "codeExecutionResult": "output"}


def parts_of(content: Any) -> list[Any]:
    """The parts of a content value; a text is none."""
    return content if isinstance(content, list) else [content] if isinstance(content, dict) else []


def answers(content: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The answers to calls among the parts, with their places."""
    for i, part in enumerate(parts_of(content)):
        if isinstance(part, dict) and isinstance(part.get("functionResponse"), dict):
            yield i, part["functionResponse"]


def calls(content: Any) -> Iterator[Mapping[str, Any]]:
    """The calls among the parts."""
    for part in parts_of(content):
        if isinstance(part, dict) and isinstance(part.get("functionCall"), dict):
            yield part["functionCall"]


def said(content: Any) -> str:
    """The texts of a content value, thoughts apart."""
    if isinstance(content, str):
        return content
    texts = (p.get("text") if isinstance(p, dict) else p for p in parts_of(content) if not is_thought(p))
    return "".join(t for t in texts if isinstance(t, str))


def is_thought(part: Any) -> bool:
    """A part that tells the model's thoughts."""
    return isinstance(part, dict) and part.get("thought") is True


def put_content(build: Builder, at: PathSteps, content: Any, *, skip: Callable[[Any], bool] | None = None) -> None:
    """Put all but the answers into the builder; `skip` names further parts that are left out."""
    if isinstance(content, str):
        if content:
            build.text(at, content)
        return
    whole = isinstance(content, dict)
    for i, part in enumerate(parts_of(content)):
        path = at if whole else (*at, i)
        if isinstance(part, str):
            build.text(path, part)
        elif isinstance(part, dict) and "functionResponse" not in part and not (skip and skip(part)):
            _put_part(build, path, part)


def _put_part(build: Builder, at: PathSteps, part: Mapping[str, Any]) -> None:
    if isinstance(part.get("text"), str):
        (build.thinking if is_thought(part) else build.text)((*at, "text"), part["text"])
    elif isinstance(part.get("functionCall"), dict):
        put_call(build, (*at, "functionCall"), part["functionCall"])
    for key in _DATA.keys() & part.keys():
        build.image(at, _described(part[key], _DATA[key]))
    for key in _CODE.keys() & part.keys():
        text = part[key].get(_CODE[key]) if isinstance(part[key], dict) else None
        if isinstance(text, str):
            build.text((*at, key, _CODE[key]), text)


def _described(data: Any, key: str) -> str:
    return describe(data.get(key), data.get("mimeType")) if isinstance(data, dict) else "data"


def put_call(build: Builder, at: PathSteps, call: Mapping[str, Any]) -> None:
    """Put a call with its arguments into the builder; `at` leads to the object with `name` and `args`."""
    build.call(name_of(call.get("id")), name_of(call.get("name")))
    for path, key, text in leaves(call.get("args"), (*at, "args")):
        build.argument(path, key, text)


def put_answer(build: Builder, at: PathSteps, answer: Mapping[str, Any], *, error: bool = False) -> None:
    """Put an answer into the builder; `at` leads to the `functionResponse`."""
    response = answer.get("response")
    failed = error or (isinstance(response, dict) and "error" in response and "output" not in response)
    build.result(name_of(answer.get("id")), name=name_of(answer.get("name")), error=failed)
    for path, _, text in leaves(response, (*at, "response")):
        build.output(path, text)
    for i, part in enumerate(parts_of(answer.get("parts"))):
        if isinstance(part, dict):
            put_data(build, (*at, "parts", i), part)


def put_data(build: Builder, at: PathSteps, part: Mapping[str, Any]) -> None:
    """Put the data of a part that stands in or beside an answer into the builder."""
    for key in _DATA.keys() & part.keys():
        build.image(at, _described(part[key], _DATA[key]))


def holds_data(part: Any) -> bool:
    """A part that holds data."""
    return isinstance(part, dict) and bool(_DATA.keys() & part.keys())


def texts_of(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """The texts of an answer."""
    return tuple(text for _, _, text in leaves(answer.get("response")))
