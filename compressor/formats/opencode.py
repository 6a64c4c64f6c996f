"""OpenCode exports (`opencode export ID`): one document with the session's `info` and its messages with their parts.

A tool part holds the call and its result; a result the tool has cleared (`state.time.compacted`) stands in the file,
but is not sent. A compaction is the tool's own pair of messages: a user message with a `compaction` part, and below
it the summary (`summary: true`), which cuts off all before it. Ours stands before all that stays; the mark is in the
metadata of the summary's text. The store keeps what it has under an id: to import a compaction beside or after its
original, write it under a new id, which renames every message and part.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from compressor.formats import _document, _mark, _opencode_check
from compressor.formats._layout import Editor
from compressor.formats._lists import Item, Where
from compressor.formats._messages import State, describe, first_text, is_list, name_of, origin_of, read_lists, time_of
from compressor.formats._opencode_check import Info, infos_of
from compressor.formats._opencode_ids import Renamed, make, rename, ticks
from compressor.formats._pairs import Builder
from compressor.formats._records import Head, Source, leaves, loads
from compressor.model import Compaction, Finding, Origin, Part, PathSteps, Role, Session, Transcript, Written

TITLE: Final = "OpenCode export"
ORDER: Final = 32
APPENDS: Final = False

#: A picture of one transparent pixel: what is left of a result's picture, whose name tells what it was.
PIXEL: Final = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
#: Longer strings of a tool's metadata are copies of its output or input.
_COPY: Final = 80


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("info"), dict) and isinstance(value.get("parts"), list)


def find(value: Any) -> Iterator[Where]:
    """The messages of an export."""
    info = value.get("info") if isinstance(value, dict) else None
    if isinstance(info, dict) and isinstance(info.get("id"), str):
        messages = value.get("messages")
        if is_list(messages, _is_message) or (messages == [] and info["id"].startswith("ses_")):
            yield Where(("messages",), info["id"])


def sniff(head: Head) -> bool:
    """An export: `info`, and messages with `info` and parts."""
    return any(True for _ in find(head.document))


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file (see `compressor.formats`)."""
    return read_lists(source, "opencode", find, message, finish=_opencode_check.finish)


def message(build: Builder, item: Item, state: State) -> None:
    """Put one message into the builder: its texts, and each result as a message of its own."""
    if _is_message(item.value):
        first = len(build)
        _message(build, item, state)
        state.notes.setdefault("made", {})[int(item.path[-1])] = range(first, len(build))


def _message(build: Builder, item: Item, state: State) -> None:
    info, parts = item.value["info"], item.value["parts"]
    if any(isinstance(p, dict) and p.get("type") == "compaction" for p in parts):
        state.notes["request"] = item
        return
    fields: dict[str, Any] = {"record": item.record, "line": item.line, "time": _time(info)}
    name = name_of(info.get("id")) or f"#{len(build)}"
    if info.get("role") == "assistant":
        _answer(build, item, state, {**fields, "group": f"{name} {item.path[-1]}"})
        return
    told = [(i, p) for i, p in enumerate(parts) if isinstance(p, dict)]
    typed = [(i, p) for i, p in told if p.get("synthetic") is not True]
    added = [(i, p) for i, p in told if p.get("synthetic") is True]
    origin = origin_of(Role.USER, first_text([p for _, p in typed])) if typed else Origin.HARNESS
    build.start(role=Role.USER, origin=origin, id=name, **fields, group=f"{name} {item.path[-1]}")
    for i, part in typed or added:
        _said(build, (*item.path, "parts", i), part, state)
    if typed and added:
        # what the tool adds to a request (the files that it names) is another voice
        build.start(
            role=Role.USER, origin=Origin.HARNESS, id=f"{name}#added", **fields, group=f"{name} {item.path[-1]}"
        )
        for i, part in added:
            _said(build, (*item.path, "parts", i), part, state)


def _time(info: Mapping[str, Any]) -> str:
    time = info.get("time")
    return time_of(time.get("created")) if isinstance(time, dict) else ""


def _said(build: Builder, at: PathSteps, part: Mapping[str, Any], state: State) -> None:
    kind = part.get("type")
    if kind == "text" and isinstance(part.get("text"), str) and part.get("ignored") is not True:
        build.text((*at, "text"), part["text"])
    elif kind == "reasoning" and isinstance(part.get("text"), str):
        build.thinking((*at, "text"), part["text"])
    elif kind == "file" and not str(part.get("mime")).startswith("text/"):
        state.notes.setdefault("files", {})[at] = {k: part[k] for k in ("id", "sessionID", "messageID") if k in part}
        build.image(at, describe(part.get("url"), part.get("mime")))


def _answer(build: Builder, item: Item, state: State, fields: Mapping[str, Any]) -> None:
    info, parts = item.value["info"], item.value["parts"]
    summary = info.get("summary") is True or info.get("mode") == "compaction"
    origin = Origin.HARNESS if summary else Origin.AGENT
    name = name_of(info.get("id"))
    index = build.start(role=Role.ASSISTANT, origin=origin, id=name, generation=int(summary), **fields)
    done: list[tuple[int, Mapping[str, Any]]] = []
    for i, part in enumerate(parts):
        if not isinstance(part, dict):
            continue
        if part.get("type") == "tool" and isinstance(part.get("state"), dict):
            _call(build, (*item.path, "parts", i), part)
            done.append((i, part))
        else:
            _said(build, (*item.path, "parts", i), part, state)
            _note_mark(part, index, state)
    for i, part in done:
        _result(build, item, i, part, {**fields, "id": f"{name}#{i}" if name else ""}, state)
    request: Item | None = state.notes.get("request")
    if summary and request is not None and info.get("parentID") == request.value["info"].get("id"):
        state.also.setdefault(index, []).append((request.record, request.path))


def _note_mark(part: Mapping[str, Any], message: int, state: State) -> None:
    metadata = part.get("metadata")
    if isinstance(metadata, dict) and _mark.FIELD in metadata:
        mark = _mark.from_field(metadata[_mark.FIELD])
        if mark is not None:
            state.notes["mark"] = (message, mark)


def _call(build: Builder, at: PathSteps, part: Mapping[str, Any]) -> None:
    build.call(name_of(part.get("callID")), name_of(part.get("tool")))
    for path, key, text in leaves(part["state"].get("input"), (*at, "state", "input")):
        build.argument(path, key, text)


def _result(
    build: Builder, item: Item, i: int, part: Mapping[str, Any], fields: Mapping[str, Any], state: State
) -> None:
    """The result in a tool part; what the tool keeps beside it for its display changes with it."""
    inner = part["state"]
    key = "output" if isinstance(inner.get("output"), str) else "error"
    if not isinstance(inner.get(key), str):
        return
    time = inner.get("time")
    cleared = isinstance(time, dict) and time.get("compacted") is not None
    index = build.start(role=Role.TOOL, origin=Origin.TOOL, live=not cleared, **fields)
    at = (*item.path, "parts", i, "state")
    if cleared:
        state.notes.setdefault("cleared", {})[index] = (*at, "time", "compacted")
    build.result(name_of(part.get("callID")), error=inner.get("status") == "error")
    build.output((*at, key), inner[key])
    for path, _, text in leaves(inner.get("metadata"), (*at, "metadata")):
        if len(text) > _COPY or text == inner[key]:
            state.mirror(item, (*at, key), path)
            for argument, _, given in leaves(inner.get("input"), (*at, "input")):
                if len(given) > _COPY and given in text:
                    state.mirror(item, argument, path)
    attached = inner.get("attachments")
    for j, file in enumerate(attached if isinstance(attached, list) else ()):
        if isinstance(file, dict) and file.get("url") == PIXEL and isinstance(file.get("filename"), str):
            build.output((*at, "attachments", j, "filename"), file["filename"])
        elif isinstance(file, dict):
            state.notes.setdefault("attached", {})[(*at, "attachments", j)] = file.get("id")
            build.image((*at, "attachments", j), describe(file.get("url"), file.get("mime")))


# -- writing -----------------------------------------------------------------------------------------------------


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write a file (see `compressor.formats`)."""
    # the pair cuts off what stands before it: it stands first
    early = {i: replace(change, brief_at=0) for i, change in changes.items()}
    plans = [_Plan(transcript, change) for change in early.values()]

    def of(session: Session) -> _Plan:
        return next(plan for plan in plans if plan.session is session)

    def picture(part: Part, text: str) -> Any:
        return next(p for p in plans if p.session.parts[part.ordinal] is part).picture(part, text)

    def note(session: Session, change: Compaction, text: str, near: Any) -> Any:
        return of(session).request(near)

    def more(session: Session, change: Compaction, editor: Callable[[int], Editor]) -> None:
        of(session).finish(editor(session.messages[0].record))

    return _document.write(transcript, early, note, picture, more)


class _Plan:
    """The pair of messages of one compaction, and the ids of the output."""

    def __init__(self, transcript: Transcript, change: Compaction) -> None:
        self.session, self.change = change.session, change
        record = transcript.records[self.session.messages[0].record]
        items = loads(bytes(transcript.raw[record.start : record.end]).removeprefix(b"\xef\xbb\xbf"))["messages"]
        places = self.session.meta["at"]
        stays = {int(places[m.index][-1]) for m in self.session.messages if m.index not in change.dropped}
        self.infos: Mapping[int, Info] = {i: x for i, x in infos_of(items).items() if i in stays}
        self.ids: Renamed = rename({i: items[i] for i in self.infos}, self.session.id, change.new_id)
        first = min(self.infos, default=-1)
        created = self.infos[first].created if first >= 0 else 0
        self.time = created if isinstance(created, int) else 0
        at = max(2, ticks(self.ids.messages.get(first) or (self.infos[first].id if first >= 0 else ""), created))
        seed = (self.ids.session, change.brief, *map(str, _mark.as_field(change.mark).values()))
        self.asks, self.tells = make("msg", at - 2, *seed), make("msg", at - 1, *seed)
        self.parts = make("prt", at - 2, *seed), make("prt", at - 1, *seed)
        self.first = first
        self.near: dict[str, Any] = {}

    def request(self, near: Any) -> dict[str, Any]:
        """The user message that stands for the compaction."""
        info = near.get("info") if isinstance(near, dict) else None
        self.near = info if isinstance(info, dict) else {}
        fields = {"id": self.asks, "sessionID": self.ids.session, "role": "user", "time": {"created": self.time}}
        model = self.near.get("model")
        given = {
            "agent": self.near.get("agent") or "build",
            "model": model if isinstance(model, dict) else self._model(),
        }
        part = {"type": "compaction", "auto": False, "id": self.parts[0]}
        return {"info": {**fields, **given}, "parts": [{**part, "sessionID": self.ids.session, "messageID": self.asks}]}

    def _model(self) -> dict[str, str]:
        known = next((i for i in self.infos.values() if i.provider), None)
        return {"providerID": known.provider, "modelID": known.model} if known else {"providerID": "", "modelID": ""}

    def summary(self, folder: str) -> dict[str, Any]:
        """The assistant's message with the brief."""
        model = self.near.get("model") if isinstance(self.near.get("model"), dict) else self._model()
        assert isinstance(model, dict)
        info = {
            "parentID": self.asks,
            "role": "assistant",
            "mode": "compaction",
            "agent": "compaction",
            "path": {"cwd": folder, "root": folder},
            "summary": True,
            "cost": 0,
            "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}},
            "modelID": model.get("modelID"),
            "providerID": model.get("providerID"),
            "time": {"created": self.time, "completed": self.time},
            "finish": "stop",
            "id": self.tells,
            "sessionID": self.ids.session,
        }
        text = {
            "type": "text",
            "text": self.change.brief or _mark.CLEARED,
            "metadata": {_mark.FIELD: _mark.as_field(self.change.mark)},
            "time": {"start": self.time, "end": self.time},
            "id": self.parts[1],
            "sessionID": self.ids.session,
            "messageID": self.tells,
        }
        return {"info": info, "parts": [text]}

    def picture(self, part: Part, text: str) -> Any:
        """A text in the place of a file; a result can hold files alone: there a pixel with a telling name."""
        files: Mapping[PathSteps, Any] = self.session.meta.get("files", {})
        ids = dict(files.get(part.path) or {"id": self.session.meta.get("attached", {}).get(part.path)})
        place, number = int(part.path[1]), int(part.path[3])
        if self.ids.messages:
            ids |= {"sessionID": self.ids.session, "messageID": self.ids.messages[place]}
            ids["id"] = self.ids.parts[place][number] if part.path in files else ids["id"]
        ids = {k: v for k, v in ids.items() if v is not None}
        if part.path in files:
            return {"type": "text", "text": text, **ids}
        return {"type": "file", "mime": "image/png", "filename": text, "url": PIXEL, **ids}

    def finish(self, editor: Editor) -> None:
        """The summary behind its request; parents, ids, and the tool's own signs that no longer hold."""
        folder = str(loads(editor.source(("info",)).encode()).get("directory") or "")
        index = self.first if self.first >= 0 else len(editor.children(("messages",)))
        editor.insert(("messages",), index, self.summary(folder))
        for message, path in self.session.meta.get("cleared", {}).items():
            if message not in self.change.dropped:
                editor.delete(path)
        self._unseal(editor)
        self._link(editor)
        if self.change.new_id:
            self._rename(editor)

    def _link(self, editor: Editor) -> None:
        """An answer names a request that stays; an older summary is a message like others, for ours cuts off."""
        last = self.asks
        names: dict[str, str] = {}
        for place, info in sorted(self.infos.items()):
            base = ("messages", place, "info")
            if info.role == "user":
                last = names[info.id] = self.ids.messages.get(place) or info.id
            elif info.parent is not None and info.parent != names.get(info.parent, last):
                editor.set((*base, "parentID"), names.get(info.parent, last))
            if info.summary:
                editor.delete((*base, "summary"))
        for message, asked in self.session.meta["also"].items():
            if message not in self.change.dropped:
                for _, path in asked:
                    editor.delete(path)

    def _unseal(self, editor: Editor) -> None:
        """Sealed reasoning, and the provider's ids of what it led to, leave a message whose words are edited."""
        edited = {int(self.session.parts[o].path[1]) for o in self.change.texts if self._spoken(self.session.parts[o])}
        for place in edited & self.infos.keys():
            for i in editor.children(("messages", place, "parts")):
                part = editor.children(("messages", place, "parts", i))
                if "metadata" in part:
                    editor.delete(("messages", place, "parts", i, "metadata"))

    def _spoken(self, part: Part) -> bool:
        m = self.session.messages[part.message]
        return m.role is Role.ASSISTANT and part.message not in self.change.dropped

    def _rename(self, editor: Editor) -> None:
        editor.set(("info", "id"), self.ids.session)
        for place, name in self.ids.messages.items():
            base = ("messages", place, "info")
            editor.set((*base, "id"), name)
            if "sessionID" in editor.children(base):
                editor.set((*base, "sessionID"), self.ids.session)
            for i, part in enumerate(self.ids.parts[place]):
                at = ("messages", place, "parts", i)
                for key, value in (("id", part), ("sessionID", self.ids.session), ("messageID", name)):
                    if key in editor.children(at):
                        editor.set((*at, key), value)


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01, E02, E04, E05, E10-E12, E15, E16."""
    return _opencode_check.check(transcript)


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the messages of `grown` from `first_new` on, which become messages of its session."""
    joined = _document.join(original, grown, first_new)
    value = loads(joined.removeprefix(b"\xef\xbb\xbf"))
    name = value["info"]["id"]
    if name == grown.sessions[0].id:
        return joined
    editor = Editor(joined.decode("utf-8", "surrogateescape"))
    for i, item in enumerate(value["messages"]):
        holders: Sequence[tuple[PathSteps, Any]] = [
            (("messages", i, "info"), item.get("info")),
            *((("messages", i, "parts", j), p) for j, p in enumerate(item.get("parts") or ())),
        ]
        for path, holder in holders:
            if isinstance(holder, dict) and holder.get("sessionID") not in (None, name):
                editor.set((*path, "sessionID"), name)
    return editor.text().encode("utf-8", "surrogateescape")


def resume_command(transcript: Transcript, output: str) -> str:
    """Import the output, and go on with it."""
    session = transcript.sessions[0]
    return f"opencode import {shlex.quote(output)} && opencode --session {shlex.quote(session.id)}"
