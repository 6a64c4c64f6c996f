"""Inspect AI evaluation logs, as `.json` and as `.eval`: each sample's messages are a session.

A sample tells its messages again in its events and its output, and keeps long texts apart (`attachment://…`): all
copies change together, and of a message that leaves a `[…]` stays in the events. A brief is a user message with the
mark in its metadata; an event of the format's own kind notes the compaction. Scores, targets, inputs, stores and the
log's header are never touched. `.eval` files are read and written by the `inspect-ai` package.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from compressor.formats import _document, _inspect_eval, _mark
from compressor.formats._layout import Editor
from compressor.formats._lists import DOCUMENT, Item, Where
from compressor.formats._messages import State, check_lists, describe, is_list, name_of, origin_of, read_lists, word
from compressor.formats._pairs import Builder, place
from compressor.formats._records import Head, Source, leaves, loads
from compressor.model import (
    Compaction,
    Finding,
    Level,
    PathSteps,
    Record,
    Role,
    Session,
    Transcript,
    Written,
)

TITLE: Final = "Inspect AI log (.json, .eval)"
ORDER: Final = 22
APPENDS: Final = False

_ROLES: Final = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}
_ATTACHMENT: Final = "attachment://"
#: Where a sample tells its messages again.
_AGAIN: Final = ("events", "events_data", "output", "attachments")
#: Shorter texts stand in many places by chance.
_TELLING: Final = 12
LEFT: Final = "[…]"


def _is_message(value: Any) -> bool:
    return word(value, "role") in _ROLES and "content" in value


def find(value: Any) -> Iterator[Where]:
    """The messages of each sample."""
    if not isinstance(value, dict) or not {"eval", "plan", "version"} <= value.keys():
        return
    samples = value.get("samples")
    for i, sample in enumerate(samples if isinstance(samples, list) else ()):
        if isinstance(sample, dict) and is_list(sample.get("messages"), _is_message):
            name = name_of(sample.get("uuid")) or f"{sample.get('id')}_epoch_{sample.get('epoch')}"
            yield Where(("samples", i, "messages"), name)


def sniff(head: Head) -> bool:
    """The log's own header."""
    document = head.document
    if head.text.startswith("PK"):
        return _inspect_eval.is_log(head.text)
    return isinstance(document, dict) and {"eval", "plan", "version"} <= document.keys()


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file (see `compressor.formats`).

    Raises:
        ReadError: an `.eval` file is damaged, or the package that reads it is not installed.
    """
    if not _inspect_eval.is_archive(source.raw):
        return read_lists(source, "inspect", find, message, finish=_finish)
    document = _inspect_eval.unpack(source)
    inner = read_lists(Source(source.path, document), "inspect", find, message, finish=_finish)
    records = (Record(0, 1, 0, len(source.raw), DOCUMENT),)
    return replace(inner, raw=source.raw, records=records, meta={"document": document})


def message(build: Builder, item: Item, state: State) -> None:
    """Put one message into the builder."""
    value, at = item.value, item.path
    if not _is_message(value):
        return
    sample = _sample(state)
    role = _ROLES[value["role"]]
    content = value["content"]
    metadata = value.get("metadata")
    mark = _mark.from_field(metadata.get(_mark.FIELD)) if isinstance(metadata, dict) else None
    texts = [t for t in (_said(b, sample) for b in (content if isinstance(content, list) else [content])) if t]
    origin = origin_of(role, texts[0] if texts else "")
    build.start(record=item.record, line=item.line, role=role, origin=origin, id=name_of(value.get("id")))
    if mark is not None:
        state.notes["mark"] = (len(build) - 1, mark)
    elif isinstance(metadata, dict) and _mark.FIELD in metadata:
        state.notes.setdefault("forged", []).append(len(build) - 1)
    if role is Role.TOOL:
        error = value.get("error")
        name = name_of(value.get("function"))
        build.result(state.answered(value.get("tool_call_id"), name), name=name, error=isinstance(error, dict))
        _content(build, item, content, sample, result=True)
        if isinstance(error, dict) and isinstance(error.get("message"), str) and not texts:
            build.output((*at, "error", "message"), error["message"])
        return
    _content(build, item, content, sample, result=False)
    _calls(build, item, state)


def _sample(state: State) -> Mapping[str, Any]:
    holder = state.thread.holder
    return holder if isinstance(holder, dict) else {}


def _said(block: Any, sample: Mapping[str, Any]) -> str:
    text = block.get("text") if isinstance(block, dict) and word(block, "type") == "text" else block
    return _home((), text, (), sample)[1] if isinstance(text, str) else ""


def _home(path: PathSteps, text: str, samples: PathSteps, sample: Mapping[str, Any]) -> tuple[PathSteps, str]:
    """Where a text really stands: long ones are kept apart, by their hash."""
    if text.startswith(_ATTACHMENT):
        kept = sample.get("attachments")
        name = text.removeprefix(_ATTACHMENT)
        if isinstance(kept, dict) and isinstance(kept.get(name), str):
            return (*samples, "attachments", name), kept[name]
    return path, text


def _content(build: Builder, item: Item, content: Any, sample: Mapping[str, Any], *, result: bool) -> None:
    put = build.output if result else build.text
    at: PathSteps = (*item.path, "content")
    if isinstance(content, str):
        if content:
            put(*_home(at, content, item.path[:2], sample))
        return
    for i, block in enumerate(content if isinstance(content, list) else ()):
        kind = word(block, "type")
        if kind == "text" and isinstance(block.get("text"), str):
            put(*_home((*at, i, "text"), block["text"], item.path[:2], sample))
        elif kind == "reasoning" and isinstance(block.get("reasoning"), str):
            build.thinking((*at, i, "reasoning"), block["reasoning"])
        elif kind in ("image", "audio", "video", "document"):
            data = _home((), str(block.get(kind)), (), sample)[1]
            build.image((*at, i), describe(data, {"image": "image"}.get(kind, kind)))


def _calls(build: Builder, item: Item, state: State) -> None:
    found = item.value.get("tool_calls")
    for i, call in enumerate(found if isinstance(found, list) else ()):
        if isinstance(call, dict):
            name = name_of(call.get("id"))
            state.called(name)
            build.call(name, name_of(call.get("function")))
            at: PathSteps = (*item.path, "tool_calls", i, "arguments")
            for path, key, text in leaves(call.get("arguments"), at):
                build.argument(*_argument(path, text, item, _sample(state), key))


def _argument(
    path: PathSteps, text: str, item: Item, sample: Mapping[str, Any], key: str
) -> tuple[PathSteps, str, str]:
    place_, told = _home(path, text, item.path[:2], sample)
    return place_, key, told


def _finish(build: Builder, state: State) -> None:
    """Find the copies of every text in the sample's events and output."""
    told: defaultdict[str, list[PathSteps]] = defaultdict(list)
    if not state.thread.items:
        return
    first = state.thread.items[0]
    base = first.path[:2]
    for key in _AGAIN:
        for path, _, text in leaves(_sample(state).get(key), (*base, key)):
            if len(text) >= _TELLING:
                told[text].append(path)
    for part in build.build()[1]:
        for path in told.get(part.text, ()):
            if path != part.path:
                state.mirror(first, part.path, path)


# -- writing -----------------------------------------------------------------------------------------------------


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write a file (see `compressor.formats`)."""
    if not changes:
        return Written(bytes(transcript.raw))
    document = transcript.meta.get("document")
    if document is None:
        return _document.write(transcript, changes, _note, more=_more)
    records = (Record(0, 1, 0, len(document), DOCUMENT),)
    inner = replace(transcript, raw=document, records=records, meta={})
    written = _document.write(inner, changes, _note, more=_more)
    return Written(_inspect_eval.pack(written.data, transcript.path), written.left_out)


def _note(session: Session, change: Compaction, text: str, near: Any) -> Any:
    metadata = {_mark.FIELD: _mark.as_field(change.mark)}
    name = f"compaction-{change.mark.digest[:16]}"
    return {"id": name, "content": change.brief or _mark.CLEARED, "metadata": metadata, "role": "user"}


def _more(session: Session, change: Compaction, editor: Callable[[int], Editor]) -> None:
    """Signs in the copies of what left, and an event that tells of the compaction."""
    work = editor(session.messages[0].record)
    base: PathSteps = session.meta["list"][:2]
    for path in _gone(session, change):
        work.set(path, LEFT)
    if "events" in work.children(base) and work.source((*base, "events")).startswith("["):
        events = work.children((*base, "events"))
        last = len(events) - 1
        time = _time(work, (*base, "events", last)) if events else {}
        name = f"compaction-{change.mark.digest[:16]}"
        about = {
            "uuid": name,
            "type": "summary",
            "tokens_before": change.mark.tokens,
            "source": "transcript-compressor",
        }
        work.insert((*base, "events"), last + 1, {**time, "working_start": 0, "event": "compaction", **about})


def _gone(session: Session, change: Compaction) -> set[PathSteps]:
    """Where texts stand again, or alone, whose messages left, and no message that stays has the same."""
    gone: set[PathSteps] = set()
    stays: set[PathSteps] = set()
    for m in session.messages:
        left = m.index in change.dropped
        for part in m.parts:
            copies = [path for _, path in session.meta["copies"].get((m.record, part.path), ())]
            apart = part.path[2:3] == ("attachments",)
            (gone if left else stays).update([*copies, part.path] if apart or not left else copies)
    return gone - stays


def _time(editor: Editor, event: PathSteps) -> dict[str, Any]:
    found = "timestamp" in editor.children(event)
    return {"timestamp": loads(editor.source((*event, "timestamp")).encode())} if found else {}


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01-E04, E10, E11 (attachments)."""
    yield from check_lists(transcript)
    for session in transcript.sessions:
        for index in session.meta.get("forged", ()):
            at = place(transcript.path, session.messages[index])
            yield Finding("E10", Level.WARNING, "mark of a compaction cannot be read", at=at)
        for m in session.messages:
            for part in m.parts:
                if part.text.startswith(_ATTACHMENT):
                    at = place(transcript.path, m)
                    yield Finding("E11", Level.ERROR, "attachment is not in the sample", part.text[:60], at)


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the messages of `grown` from `first_new` on."""
    if _inspect_eval.is_archive(original):
        inner = replace(
            grown, raw=grown.meta["document"], records=(Record(0, 1, 0, len(grown.meta["document"]), DOCUMENT),)
        )
        document = _inspect_eval.unpack(Source(grown.path, original))
        return _inspect_eval.pack(_document.join(document, inner, first_new), grown.path)
    return _document.join(original, grown, first_new)


def resume_command(transcript: Transcript, output: str) -> str:
    """A log is looked at, not gone on with."""
    return ""
