"""Cline's API history (`tasks/<id>/api_conversation_history.json`).

The list of what the display shows (`ui_messages.json`) names messages of this one by their places, and the tool sees
to it that the two sides take turns. So no message leaves and none is added: of one that is dropped a sign stays, and
the brief is a further block of the first user message, its last line the mark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from compressor.formats import _cline, _document, _mark, anthropic
from compressor.formats._layout import Editor
from compressor.formats._lists import Item
from compressor.formats._messages import State, check_lists, read_lists, word
from compressor.formats._pairs import Builder, place
from compressor.formats._records import Head, Source, loads
from compressor.model import (
    Compaction,
    Finding,
    Level,
    Message,
    Origin,
    PartType,
    PathSteps,
    Role,
    Session,
    Transcript,
    Written,
)

TITLE: Final = "Cline task (API history)"
ORDER: Final = 48
APPENDS: Final = False

#: All that stays of a message that is dropped.
LEFT: Final = [{"type": "text", "text": "[…]"}]

find = _cline.find


def sniff(head: Head) -> bool:
    """Messages that say by which model they are, or a task."""
    return _cline.is_cline(head.document)


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file (see `compressor.formats`)."""
    return read_lists(source, "cline", find, message)


def message(build: Builder, item: Item, state: State) -> None:
    """Put one message into the builder, without the sign of one that was dropped; a brief is a message of its own."""
    value = item.value
    if not anthropic.is_message(value):
        return
    content = value["content"]
    blocks = content if isinstance(content, list) else []
    briefs = [i for i, b in enumerate(blocks) if _is_brief(b)]
    rest = [{} if i in briefs else b for i, b in enumerate(blocks)] if blocks else content
    if content != LEFT and (not briefs or any(rest)):
        shown = Item({**value, "content": rest}, item.record, item.path, item.line)
        _cline.put(build, shown, state)
    for i in briefs:
        build.start(
            record=item.record, line=item.line, role=Role.USER, origin=Origin.HARNESS, group=f"@{item.path}.{i}"
        )
        build.text((*item.path, "content", i, "text"), blocks[i]["text"])


def _is_brief(block: Any) -> bool:
    text = block.get("text") if word(block, "type") == "text" else None
    return isinstance(text, str) and _mark.split(text)[1] is not None


# -- writing -----------------------------------------------------------------------------------------------------


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write a file (see `compressor.formats`)."""
    change = changes.get(0)
    if change is None:
        return Written(bytes(transcript.raw))
    session = change.session
    record = transcript.records[session.messages[0].record]
    text = bytes(transcript.raw[record.start : record.end]).decode("utf-8", "surrogateescape")
    editor = Editor(text)
    gone = _signs(session, change, editor)
    _texts(session, change, editor, gone)
    _brief(session, change, editor, gone)
    before = bytes(transcript.raw[: record.start])
    return Written(before + editor.text().encode("utf-8", "surrogateescape"))


def _signs(session: Session, change: Compaction, editor: Editor) -> set[PathSteps]:
    """Put the sign in the place of what leaves whole; an older brief leaves its message."""
    places: Sequence[PathSteps] = session.meta["at"]
    by_place: dict[PathSteps, list[Message]] = {}
    for m in session.messages:
        by_place.setdefault(places[m.index], []).append(m)
    gone = set()
    for path, messages in by_place.items():
        if all(m.index in change.dropped for m in messages):
            gone.add(path)
            continue
        for m in messages:
            if m.index in change.dropped and _is_brief_of(session, m):
                editor.delete(m.parts[0].path[:-1])
    for path in gone:
        editor.set((*path, "content"), LEFT)
    return gone


def _is_brief_of(session: Session, message: Message) -> bool:
    return message.index == session.brief or message.generation > 0


def _texts(session: Session, change: Compaction, editor: Editor, gone: set[PathSteps]) -> None:
    places: Sequence[PathSteps] = session.meta["at"]
    for ordinal, text in change.texts.items():
        part = session.parts[ordinal]
        if part.message not in change.dropped and places[part.message] not in gone:
            value: Any = {"type": "text", "text": text} if part.type is PartType.IMAGE else text
            editor.set(part.path, value)


def _brief(session: Session, change: Compaction, editor: Editor, gone: set[PathSteps]) -> None:
    """A further block of the first user message that the person wrote, else of the first one."""
    places: Sequence[PathSteps] = session.meta["at"]
    users = [m for m in session.messages if m.role is not Role.ASSISTANT and places[m.index] not in gone]
    typed = [m for m in users if m.origin is Origin.PERSON]
    block = {"type": "text", "text": _mark.join(change.brief, change.mark)}
    if not users:
        first = places[next((m.index for m in session.messages if m.role is not Role.ASSISTANT), 0)]
        editor.set((*first, "content"), [block])
        return
    path = (*places[(typed or users)[0].index], "content")
    if editor.source(path).startswith("["):
        editor.insert(path, len(editor.children(path)), block)
        return
    said = change.texts.get(
        (typed or users)[0].parts[0].ordinal, loads(editor.source(path).encode("utf-8", "surrogateescape"))
    )
    editor.set(path, [{"type": "text", "text": said}, block])


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01, E02, E04, E10, E13; calls in texts, and the last word, need no result."""
    yield from (f for f in check_lists(transcript, adjacent=False) if not _cline.is_open(f))
    for session in transcript.sessions:
        places: Sequence[PathSteps] = session.meta["at"]
        last: Role | None = None
        at: PathSteps = ()
        for m in session.messages:
            if places[m.index] != at:
                side = Role.ASSISTANT if m.role is Role.ASSISTANT else Role.USER
                if side is last:
                    text = "two messages of one side in a row"
                    yield Finding("E13", Level.WARNING, text, at=place(transcript.path, m))
                last, at = side, places[m.index]


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the messages of `grown` from `first_new` on."""
    return _document.join(original, grown, first_new)


def resume_command(transcript: Transcript, output: str) -> str:
    """The editor opens tasks by their folder: there is no command."""
    return ""
