"""ATIF trajectories (Harbor, Terminal-Bench): one document with numbered steps.

A step of the agent holds its words, its calls and what they gave; a result without the id of its call belongs to the
step's calls in turn. A brief is a step of the system with the mark in its `extra`, as the format's own agents note a
summary of theirs; steps are numbered anew. `final_metrics`, and each step's `metrics`, tell of the original run and
stay, but for token ids of words that were edited. Trajectories of sub-agents in the document are sessions of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from compressor.formats import _document, _mark
from compressor.formats._layout import Editor
from compressor.formats._lists import Item, Where
from compressor.formats._messages import (
    State,
    check_lists,
    is_list,
    name_of,
    origin_of,
    read_lists,
    time_of,
    word,
)
from compressor.formats._pairs import Builder
from compressor.formats._records import Head, Source, leaves
from compressor.model import (
    Compaction,
    Finding,
    Level,
    Origin,
    Part,
    PartType,
    PathSteps,
    Place,
    Role,
    Session,
    Transcript,
    Written,
)

TITLE: Final = "ATIF trajectory"
ORDER: Final = 20
APPENDS: Final = False

_ROLES: Final = {"system": Role.SYSTEM, "user": Role.USER, "agent": Role.ASSISTANT}
_DEEPEST: Final = 8
#: Metrics that spell a step's words in the model's own tokens.
_SPELT: Final = ("completion_token_ids", "logprobs")


def _is_step(value: Any) -> bool:
    return word(value, "source") in _ROLES and isinstance(value.get("step_id"), int) and "message" in value


def find(value: Any) -> Iterator[Where]:
    """The steps of a trajectory, and of those of its sub-agents."""
    if word(value, "schema_version").startswith("ATIF-"):
        yield from _below(value, (), 0)


def _below(value: Any, path: PathSteps, depth: int) -> Iterator[Where]:
    if not isinstance(value, dict) or depth > _DEEPEST:
        return
    if is_list(value.get("steps"), _is_step):
        yield Where((*path, "steps"), name_of(value.get("session_id")) or name_of(value.get("trajectory_id")))
    inner = value.get("subagent_trajectories")
    for i, trajectory in enumerate(inner if isinstance(inner, list) else ()):
        yield from _below(trajectory, (*path, "subagent_trajectories", i), depth + 1)


def sniff(head: Head) -> bool:
    """The document says its version."""
    return word(head.document, "schema_version").startswith("ATIF-")


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file (see `compressor.formats`)."""
    return read_lists(source, "atif", find, message, finish=_finish)


def message(build: Builder, item: Item, state: State) -> None:
    """Put one step into the builder: what is said, and what its calls gave."""
    value, at = item.value, item.path
    if not _is_step(value):
        return
    extra = value.get("extra")
    mark = _mark.from_field(extra.get(_mark.FIELD)) if isinstance(extra, dict) else None
    role = Role.USER if mark else _ROLES[value["source"]]
    text = value["message"] if isinstance(value["message"], str) else ""
    origin = Origin.HARNESS if mark else origin_of(role, text)
    group = f"{at[:-1]} {at[-1]}"
    time = time_of(value.get("timestamp"))
    fields: dict[str, Any] = {"record": item.record, "line": item.line, "time": time, "group": group}
    name = f"step {value['step_id']}"
    index = build.start(role=role, origin=origin, id=name, **fields)
    if mark is not None:
        state.notes["mark"] = (index, mark)
    elif isinstance(extra, dict) and _mark.FIELD in extra:
        _fault(item, state, "E10", "mark of a compaction cannot be read")
    if isinstance(value.get("reasoning_content"), str):
        build.thinking((*at, "reasoning_content"), value["reasoning_content"])
    _content(build, (*at, "message"), value["message"], build.text)
    made = _calls(build, item)
    _results(build, item, made, {**fields, "id": f"{name} result"}, state)


def _fault(item: Item, state: State, code: str, text: str, fact: str = "", level: Level = Level.WARNING) -> None:
    at = Place("", item.line, f"step {item.value.get('step_id')}")
    state.notes.setdefault("faults", []).append(Finding(code, level, text, fact, at))


def _content(build: Builder, at: PathSteps, content: Any, put: Callable[[PathSteps, str], None]) -> None:
    if isinstance(content, str):
        put(at, content)
    for i, part in enumerate(content if isinstance(content, list) else ()):
        if word(part, "type") == "text" and isinstance(part.get("text"), str):
            put((*at, i, "text"), part["text"])
        elif isinstance(part, dict) and isinstance(part.get("source"), dict):
            source = part["source"]
            build.image((*at, i), f"{source.get('media_type')} at {str(source.get('path'))[:200]}")


def _calls(build: Builder, item: Item) -> list[str]:
    """The step's calls; returns their ids."""
    found = item.value.get("tool_calls")
    made = []
    for i, call in enumerate(found if isinstance(found, list) else ()):
        if isinstance(call, dict):
            made.append(name_of(call.get("tool_call_id")))
            build.call(made[-1], name_of(call.get("function_name")))
            for path, key, text in leaves(call.get("arguments"), (*item.path, "tool_calls", i, "arguments")):
                build.argument(path, key, text)
    return made


def _results(build: Builder, item: Item, made: list[str], fields: Mapping[str, Any], state: State) -> None:
    seen = item.value.get("observation")
    found = seen.get("results") if isinstance(seen, dict) else None
    results = [(i, r) for i, r in enumerate(found if isinstance(found, list) else ()) if isinstance(r, dict)]
    if not results:
        return
    if not made and not any(r.get("source_call_id") for _, r in results):
        # what the environment tells on its own, after words that are the action
        build.call(f"step {item.value['step_id']}", "")
        made = [f"step {item.value['step_id']}"]
    build.start(role=Role.TOOL, origin=Origin.TOOL, **fields)
    waiting = [name for name in made if name not in {name_of(r.get("source_call_id")) for _, r in results}]
    for i, result in results:
        named = name_of(result.get("source_call_id"))
        if named and named not in made:
            text = "result names a call that is not in its step"
            _fault(item, state, "E11", text, named, Level.ERROR)
        last = made[-1] if made else f"step {item.value['step_id']}"
        build.result(named or (waiting.pop(0) if waiting else last))
        _content(build, (*item.path, "observation", "results", i, "content"), result.get("content"), build.output)


def _finish(build: Builder, state: State) -> None:
    """E16: steps are numbered without a gap."""
    steps = [item for item in state.thread.items if _is_step(item.value)]
    for i, item in enumerate(steps):
        if item.value["step_id"] != i + 1 and (i == 0 or item.value["step_id"] != steps[i - 1].value["step_id"] + 1):
            _fault(item, state, "E16", "steps are not numbered from 1 without a gap", level=Level.ERROR)


# -- writing -----------------------------------------------------------------------------------------------------


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write a file (see `compressor.formats`)."""
    return _document.write(transcript, changes, _note, _picture, _renumber)


def _note(session: Session, change: Compaction, text: str, near: Any) -> Any:
    time = _document.replaced_time(session, change)
    about = {"timestamp": time} if time else {}
    said = {"source": "system", "message": change.brief or _mark.CLEARED}
    return {
        "step_id": _numbers(session, change)[0],
        **about,
        **said,
        "extra": {_mark.FIELD: _mark.as_field(change.mark)},
    }


def _picture(part: Part, text: str) -> Any:
    return {"type": "text", "text": text}


def _numbers(session: Session, change: Compaction) -> tuple[int, dict[PathSteps, int]]:
    """The numbers of the output's steps: that of the brief, and those of the steps that stay."""
    at = session.meta["at"]
    stays = sorted({at[m.index] for m in session.messages if m.index not in change.dropped}, key=lambda p: p[-1])
    position = _document.seam(session, change)
    before = [p for p in stays if position == len(at) or p[-1] < at[position][-1]]
    later = stays[len(before) :]
    numbers = {p: n for n, p in enumerate(before, 1)} | {p: n for n, p in enumerate(later, len(before) + 2)}
    return len(before) + 1, numbers


def _renumber(session: Session, change: Compaction, editor: Callable[[int], Editor]) -> None:
    record = session.messages[0].record
    for step, number in _numbers(session, change)[1].items():
        editor(record).set((*step, "step_id"), number)
    _unspell(session, change, editor(record))


def _unspell(session: Session, change: Compaction, editor: Editor) -> None:
    spoken = (p for o in change.texts if (p := session.parts[o]).type is not PartType.TOOL_RESULT)
    for step in {session.meta["at"][p.message] for p in spoken if p.message not in change.dropped}:
        if "metrics" in editor.children(step):
            for key in _SPELT:
                if key in editor.children((*step, "metrics")):
                    editor.delete((*step, "metrics", key))


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01, E02, E04, E10, E11, E16; a step may act in words, whose result has no call to name."""
    yield from (f for f in check_lists(transcript, adjacent=False) if f.check != "E02" or f.fact)
    for session in transcript.sessions:
        for fault in session.meta.get("faults", ()):
            yield replace(fault, at=replace(fault.at, file=transcript.path))


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the steps of `grown` from `first_new` on, numbered on."""
    joined = _document.join(original, grown, first_new)
    path = grown.sessions[0].meta["list"]
    editor = Editor(joined.decode("utf-8", "surrogateescape"))
    for i in editor.children(path):
        if editor.source((*path, i, "step_id")) != str(i + 1):
            editor.set((*path, i, "step_id"), i + 1)
    return editor.text().encode("utf-8", "surrogateescape")


def resume_command(transcript: Transcript, output: str) -> str:
    """No tool resumes such a file."""
    return ""
