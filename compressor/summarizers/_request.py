"""Requests: what a model is sent. Instructions first, then the transcript as data, then what is asked of it.

What repeats stands first, so that prompt caches of providers hit: the instructions are the same for every session,
the data is the same for every repair. Nothing in a request depends on the clock or on chance: equal sessions make
equal requests, and an answer can be found again by the digest of its request.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, Literal

import orjson

from compressor.brief import Task
from compressor.data import resource
from compressor.summarizers._schema import answer_schema

Speaker = Literal["user", "assistant"]

_LANGUAGES: Final = {
    "en": "English", "zh": "Chinese", "ja": "Japanese", "ko": "Korean", "de": "German", "fr": "French",
    "es": "Spanish",
}  # fmt: skip
_SCHEMA: Final = "\n\nThe schema of the answer:\n"
#: Most characters of a problem that is told back, and most problems.
_PROBLEM: Final = 600
_PROBLEMS: Final = 40
#: Most characters of an unusable answer that is shown back to its writer.
_SHOWN_BACK: Final = 20_000


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of the conversation with the model; `blocks` are joined with blank lines where one text is wanted."""

    role: Speaker
    blocks: tuple[str, ...]

    @property
    def text(self) -> str:
        """The turn as one text."""
        return "\n\n".join(self.blocks)


@dataclass(frozen=True, slots=True)
class Request:
    """All that decides an answer, the model apart.

    Attributes:
        purpose: for people: `brief`, `piece 2 of 5`, `merge`, `repair`.
        system: the instructions, the same for every session.
        prompt: name and version of the instructions.
        tokens: about how many tokens go in.
    """

    purpose: str
    system: str
    prompt: str
    turns: tuple[Turn, ...]
    schema: Mapping[str, Any]
    max_output: int
    tokens: int

    @property
    def digest(self) -> str:
        """sha256 of what the model would read."""
        said = (
            self.prompt, self.system, [(t.role, t.blocks) for t in self.turns], self.schema, self.max_output,
        )  # fmt: skip
        return hashlib.sha256(_dumps(said)).hexdigest()


def _dumps(value: Any) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # a lone surrogate
        import json

        return json.dumps(value, sort_keys=True).encode()


@cache
def prompt(name: str) -> tuple[str, str]:
    """A prompt of the package: its version (`brief/1`) and its text."""
    head, _, body = resource(f"prompts/{name}.md").read_text(encoding="utf-8").partition("\n")
    return f"{name}/{head.removeprefix('version:').strip()}", body.strip()


@cache
def _system(name: str) -> tuple[str, str]:
    version, body = prompt(name)
    schema = orjson.dumps(answer_schema()).decode()
    return version, f"{body}{_SCHEMA}{schema}"


def bound(request: Request, schema: Mapping[str, Any]) -> Request:
    """The request to an endpoint that is bound by a grammar made of this schema: it need not read it, too."""
    return replace(request, schema=schema, system=request.system.partition(_SCHEMA)[0])


def fenced(sections: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """Text between marks that nobody who wrote the text can have guessed: (mark, text).

    The mark is made of the digest of all that it encloses.
    """
    sections = list(sections)
    h = hashlib.sha256()
    for head, body in sections:
        h.update(f"{head}\n{body}\n".encode("utf-8", "surrogatepass"))
    mark = h.hexdigest()[:16]
    lines = [f"<<{mark} {head}>>\n{body}" for head, body in sections]
    # lone surrogates cannot be sent; they stand for characters that nobody can read anyway
    text = "\n".join([*lines, f"<<{mark} end>>"]).encode("utf-8", "replace").decode()
    return mark, text


def overhead(task: Task, *, schema: bool) -> int:
    """Tokens of a request besides its data; `schema`: the model reads the answer's schema, too."""
    system = _system("brief")[1]
    return task.count(system if schema else system.partition(_SCHEMA)[0]) + 200


def for_brief(task: Task, sections: Sequence[tuple[str, str]], max_output: int, piece: tuple[int, int]) -> Request:
    """Ask for a brief of this data; `piece` is (which, of how many)."""
    mark, data = fenced(sections)
    which, of = piece
    said = [f"The mark of the transcript above is `<<{mark}`."]
    if of > 1:
        said.append(
            f"It is piece {which} of {of} of one long session; write the brief of this piece, "
            "they will be joined afterwards."
        )
    purpose = f"piece {which} of {of}" if of > 1 else "brief"
    return _request(task, purpose, "brief", data, said, max_output)


def for_merge(task: Task, found: Sequence[str], max_output: int) -> Request:
    """Ask for one brief of several, given as JSON, oldest first."""
    mark, data = fenced((f"brief {i} of {len(found)}", text) for i, text in enumerate(found, 1))
    return _request(task, "merge", "merge", data, [f"The mark of the briefs above is `<<{mark}`."], max_output)


def _request(task: Task, purpose: str, name: str, data: str, said: list[str], max_output: int) -> Request:
    version, system = _system(name)
    tongue = _LANGUAGES.get(task.language.split("-")[0], task.language)
    said.append(f"Write the texts of the brief in {tongue}, in at most {task.budget} tokens.")
    if task.focus:
        said.append(f"The reader cares most about: {task.focus}")
    turn = Turn("user", (data, " ".join(said)))
    tokens = task.count(system) + task.count(data) + task.count(turn.blocks[1])
    return Request(purpose, system, version, (turn,), answer_schema(), max_output, tokens)


def for_repair(task: Task, request: Request, answer: str, problems: Sequence[str]) -> Request:
    """Tell the model what was wrong with its answer, as data."""
    version, body = prompt("repair")
    shown = problems[:_PROBLEMS]
    lines = [f"- {' '.join(p.split())[:_PROBLEM]}" for p in shown]
    if len(problems) > len(shown):
        lines.append(f"- and {len(problems) - len(shown)} more of the same kinds")
    _, data = fenced([("problems", "\n".join(lines))])
    if len(answer) > _SHOWN_BACK:
        answer = answer[:_SHOWN_BACK] + " […]"
    answer = answer.encode("utf-8", "replace").decode() or "(nothing)"
    turns = (*request.turns, Turn("assistant", (answer,)), Turn("user", (body, data)))
    tokens = request.tokens + task.count(answer) + task.count(body) + task.count(data)
    return replace(request, purpose="repair", prompt=f"{request.prompt}+{version}", turns=turns, tokens=tokens)
