"""Roo Code's API history (`tasks/<id>/api_conversation_history.json`).

The tool's own condensing adds a summary (`isSummary`, `condenseId`) and hides what it stands for (`condenseParent`);
it sends what stands from the newest summary on, less what is hidden. A compaction is such a summary before all that
stays; what it stands for leaves the file. The mark is a field of the summary.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from compressor.formats import _cline, _document, _mark, anthropic
from compressor.formats._lists import Item
from compressor.formats._messages import State, check_lists, name_of, read_lists
from compressor.formats._pairs import Builder, place
from compressor.formats._records import Head, Source
from compressor.model import Compaction, Finding, Level, Origin, Session, Transcript, Written

TITLE: Final = "Roo Code task (API history)"
ORDER: Final = 46
APPENDS: Final = False

find = _cline.find


def sniff(head: Head) -> bool:
    """Messages that were condensed, or a task whose messages all have times."""
    return _cline.is_roo(head.document)


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file (see `compressor.formats`)."""
    return read_lists(source, "roo", find, message, finish=_finish)


def message(build: Builder, item: Item, state: State) -> None:
    """Put one message into the builder."""
    value = item.value
    if not anthropic.is_message(value):
        return
    first = len(build)
    _cline.put(build, item, state, generation=int(value.get("isSummary") is True))
    for index in range(first, len(build)) if value.get("isTruncationMarker") or value.get("isSummary") else ():
        build.change(index, origin=Origin.HARNESS)
    state.notes.setdefault("made", []).append((range(first, len(build)), value))


def _finish(build: Builder, state: State) -> None:
    """Flag what the tool would not send, and note the mark."""
    made = state.notes.pop("made", [])
    values = [item.value for item in state.thread.items if isinstance(item.value, dict)]
    summaries = {name_of(v.get("condenseId")) for v in values if v.get("isSummary") is True}
    markers = {name_of(v.get("truncationId")) for v in values if v.get("isTruncationMarker") is True}
    newest = max((i for i, (_, v) in enumerate(made) if v.get("isSummary") is True), default=0)
    for i, (indexes, value) in enumerate(made):
        condensed, cut = name_of(value.get("condenseParent")), name_of(value.get("truncationParent"))
        hidden = (condensed and condensed in summaries) or (cut and cut in markers)
        for index in indexes if hidden or i < newest else ():
            build.change(index, live=False)
        if condensed and condensed not in summaries:
            state.notes.setdefault("lost", []).append((indexes[0], condensed))
        if _mark.FIELD in value:
            mark = _mark.from_field(value[_mark.FIELD])
            state.notes["mark" if mark else "forged"] = (indexes[0], mark)


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write a file (see `compressor.formats`)."""
    # the newest summary cuts off what stands before it: it stands first
    early = {i: replace(change, brief_at=0) for i, change in changes.items()}
    return _document.write(transcript, early, _note, more=_plain)


def _note(session: Session, change: Compaction, text: str, near: Any) -> Any:
    """The summary, in the shape of the session's own messages."""
    content: Any = change.brief or _mark.CLEARED
    first = min((m for m in session.messages if m.index not in change.dropped), default=None, key=lambda m: m.index)
    time = {"ts": float(first.time) if "." in first.time else int(first.time)} if first and first.time else {}
    summary = {"isSummary": True, "condenseId": f"compaction-{change.mark.digest[:16]}"}
    fields = {"role": "user", "content": [{"type": "text", "text": content}]}
    return {**fields, **time, **summary, _mark.FIELD: _mark.as_field(change.mark)}


def _plain(session: Session, change: Compaction, editor: Any) -> None:
    """What stays was perhaps hidden, or a summary itself: now it is sent, for ours stands before it."""
    for m in session.messages:
        if m.index in change.dropped:
            continue
        path = session.meta["at"][m.index]
        for key in (
            "condenseParent",
            "truncationParent",
            "isSummary",
            "condenseId",
            "isTruncationMarker",
            "truncationId",
        ):
            if key in editor(m.record).children(path):
                editor(m.record).delete((*path, key))


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01-E04, E10; calls in texts, and the last word, need no result."""
    yield from (f for f in check_lists(transcript, adjacent=False) if not _cline.is_open(f))
    for session in transcript.sessions:
        for index, name in session.meta.get("lost", ()):
            at = place(transcript.path, session.messages[index])
            text = "message is hidden by a summary that is not in the file: the tool sends it"
            yield Finding("E10", Level.WARNING, text, name, at)
        if "forged" in session.meta:
            at = place(transcript.path, session.messages[session.meta["forged"][0]])
            yield Finding("E10", Level.WARNING, "mark of a compaction cannot be read", at=at)


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the messages of `grown` from `first_new` on."""
    return _document.join(original, grown, first_new)


def resume_command(transcript: Transcript, output: str) -> str:
    """The editor opens tasks by their folder: there is no command."""
    return ""
