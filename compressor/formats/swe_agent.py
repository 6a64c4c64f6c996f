"""SWE-agent `.traj` files: `history` is the conversation, `trajectory` the steps of the run.

What is compacted is `history`. A step tells its texts again (`observation`, `response`, `thought`, and under
`query` or `messages` the whole prompt): the copies change with the original, and of a message that leaves only a
`[…]` stays in its step. Actions, `info` and `replay_config` are what a run is replayed and scored from, and are never touched.

Old files hold no tool calls: an action is the assistant's own text, and the next user message is its result.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.formats import _document, _mark, openai_chat
from compressor.formats._lists import Item, Where
from compressor.formats._messages import (
    State,
    check_lists,
    first_text,
    is_list,
    like,
    name_of,
    origin_of,
    read_lists,
    word,
)
from compressor.formats._pairs import Builder, place
from compressor.formats._records import Head, Source
from compressor.model import Compaction, Finding, Level, Origin, PathSteps, Role, Session, Transcript, Written

TITLE = "SWE-agent trajectories"
ORDER = 52
APPENDS = False

#: How many steps ahead the step of an action is looked for (a step may have no message).
_AHEAD: Final = 8
_PROMPTS: Final = ("query", "messages")


def is_message(value: Any) -> bool:
    """An entry of the history."""
    return (
        isinstance(value, dict)
        and word(value, "role") in openai_chat.ROLES
        and isinstance(value.get("content"), (str, list))
    )


def find(value: Any) -> Iterator[Where]:
    """The history of a run."""
    if isinstance(value, dict) and "trajectory" in value and is_list(value.get("history"), is_message):
        yield Where(("history",), name_of(value.get("environment")))


def sniff(head: Head) -> bool:
    """A document with a history and the steps of a run."""
    return any(True for _ in find(head.document))


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file of this format."""
    return read_lists(source, "swe-agent", find, message, finish=_prompts)


def message(build: Builder, item: Item, state: State) -> None:
    """Put one entry of the history into the builder."""
    value, at = item.value, item.path
    if not is_message(value):
        return
    text = first_text(value["content"])
    role = role_of(value, text, state)
    build.start(
        record=item.record,
        line=item.line,
        role=role,
        origin=origin(role, text, value.get("is_demo") is True, state),
        pinned=value.get("pinned") is True,
        opaque=bool(value.get("thinking_blocks")),
    )
    blocks = value.get("thinking_blocks")
    for i, block in enumerate(blocks if isinstance(blocks, list) else ()):
        if isinstance(block, dict) and isinstance(block.get("thinking"), str):
            build.thinking((*at, "thinking_blocks", i, "thinking"), block["thinking"])
    if role is Role.TOOL:
        ids = value.get("tool_call_ids")
        build.result(state.answered(ids[0] if isinstance(ids, list) and ids else value.get("tool_call_id")))
    openai_chat.parts(build, (*at, "content"), value["content"], result=role is Role.TOOL)
    openai_chat.calls(build, at, value, state)
    if role is Role.ASSISTANT and isinstance(value.get("action"), str) and not value.get("tool_calls"):
        text_call(build, state, value["action"])
    if isinstance(value["content"], str):
        state.notes.setdefault("said", {}).setdefault(text, []).append((len(build) - 1, item))
        _step(build, item, role, text, state)


def role_of(value: dict[str, Any], text: str, state: State) -> Role:
    """The role of an entry: a user message that answers an action is the tool's."""
    role = openai_chat.ROLES[value["role"]]
    answers = role is Role.USER and bool(state.open) and not value.get("is_demo") and _mark.split(text)[1] is None
    return Role.TOOL if answers else role


def origin(role: Role, text: str, demo: bool, state: State) -> Origin:
    """Who wrote an entry: of the user messages only the first is the person's task, the others are the harness's."""
    if role is not Role.USER:
        return origin_of(role)
    if demo or state.notes.get("asked"):
        return Origin.HARNESS
    state.notes["asked"] = True
    return origin_of(role, text)


def text_call(build: Builder, state: State, action: str) -> None:
    """An action that is part of the assistant's own text: a call without an id."""
    state.called("")
    build.call("", (action.split(None, 1) or [""])[0][:40])


def _step(build: Builder, item: Item, role: Role, text: str, state: State) -> None:
    """Tie an entry to the step that tells it again."""
    steps = state.thread.holder["trajectory"]
    if not isinstance(steps, list):
        return
    path = (*item.path, "content")
    if role is Role.ASSISTANT:
        now = _matching(steps, item.value, text, state.notes.get("next", 0))
        state.notes["now"] = now
        if isinstance(item.value.get("thought"), str) and item.value["thought"]:
            state.mirror(item, path, (*item.path, "thought"))
        if now >= 0:
            state.notes["next"] = now + 1
            for key in ("response", "thought"):
                if isinstance(steps[now].get(key), str) and steps[now][key]:
                    state.mirror(item, path, ("trajectory", now, key))
    elif role is Role.TOOL and state.notes.get("now", -1) >= 0:
        now = state.notes.pop("now")
        seen = steps[now].get("observation")
        if isinstance(seen, str) and seen.strip():
            state.mirror(item, path, ("trajectory", now, "observation"))
            if seen.strip() not in text and text.strip() not in seen:
                state.notes.setdefault("differ", []).append(len(build) - 1)


def _matching(steps: list[Any], entry: dict[str, Any], text: str, start: int) -> int:
    """The step of an action, or -1."""
    for i in range(start, min(len(steps), start + _AHEAD)):
        step = steps[i]
        if not isinstance(step, dict) or step.get("action") != entry.get("action"):
            continue
        thought = step.get("thought")
        if step.get("response") == text or (isinstance(thought, str) and thought.strip() and thought.strip() in text):
            return i
    return -1


def _prompts(build: Builder, state: State) -> None:
    """The copies of the history in each step's prompt: they change, and leave, with the original."""
    said: dict[str, list[tuple[int, Item]]] = state.notes.pop("said", {})
    steps = state.thread.holder["trajectory"]
    for i, step in enumerate(steps if isinstance(steps, list) else ()):
        for key in _PROMPTS:
            prompt = step.get(key) if isinstance(step, dict) else None
            last = -1
            for j, copy in enumerate(prompt if isinstance(prompt, list) else ()):
                found = said.get(copy.get("content") or "", []) if isinstance(copy, dict) and _is_text(copy) else []
                at = bisect_right(found, last, key=lambda entry: entry[0])
                if at < len(found):
                    last, item = found[at]
                    path: PathSteps = ("trajectory", i, key, j)
                    state.mirror(item, (*item.path, "content"), (*path, "content"))
                    state.also.setdefault(last, []).append((item.record, path))


def _is_text(value: dict[str, Any]) -> bool:
    return isinstance(value.get("content"), str)


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write the changes into the source's own layout."""
    return _document.write(transcript, changes, note, openai_chat.picture, _document.leave_a_sign)


def note(session: Session, change: Compaction, text: str, near: Any) -> Any:
    """The brief: a user message of the same agent."""
    fields: dict[str, Any] = {"role": "user", "content": text}
    fields |= {key: near[key] for key in ("agent", "message_type") if word(near, key)}
    return like(near, fields)


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01-E04, E10, E15 (observations); an action in plain text needs no result."""
    yield from (f for f in check_lists(transcript) if f.check != "E02" or f.fact)
    for session in transcript.sessions:
        for index in session.meta.get("differ", ()):
            at = place(transcript.path, session.messages[index])
            yield Finding("E15", Level.WARNING, "observation differs between history and trajectory", at=at)


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the messages of `grown` from `first_new` on."""
    return _document.join(original, grown, first_new)


def resume_command(transcript: Transcript, output: str) -> str:
    """No tool resumes such a file."""
    return ""
