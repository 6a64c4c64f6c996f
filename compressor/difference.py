"""What a compaction changed, message by message, for people to read."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Final

from compressor.model import VISIBLE, Message, Part, Session, Transcript, text_of

#: A message that came or went is shown by its first lines.
_SHOWN_LINES: Final = 4
#: Longest line shown, in characters.
_WIDTH: Final = 160
#: Texts above this many lines are not aligned line by line: their new form is shown.
_ALIGN_LINES: Final = 2000


def render(before: Transcript, after: Transcript) -> str:
    """The difference of two forms of one file, as lines that begin with ` `, `-`, `+` or `@`."""
    pairs = zip(before.sessions, after.sessions, strict=False)
    return "\n".join(line for old, new in pairs for line in _session(old, new))


def _session(old: Session, new: Session) -> Iterator[str]:
    if new.brief >= 0:
        yield f"@ {_title(new.messages[new.brief])}: the brief"
        yield from _lines("+", text_of(new.messages[new.brief]), limit=0)
    before = [m for i, m in enumerate(old.messages) if i != old.brief]
    after = [m for i, m in enumerate(new.messages) if i != new.brief]
    matcher = difflib.SequenceMatcher(None, [*map(_key, before)], [*map(_key, after)], autojunk=False)
    for _, a, a_end, b, b_end in matcher.get_opcodes():
        yield from _block(before[a:a_end], after[b:b_end])


def _key(message: Message) -> str:
    """Messages without a native id are known by what they say."""
    return message.id if not message.id.startswith("#") else f"{message.role}\0{text_of(message)}"


def _block(old: list[Message], new: list[Message]) -> Iterator[str]:
    """Messages that stand between the same neighbours: those of one role, in order, are forms of each other."""
    waiting = list(new)
    for message in old:
        twin = next((m for m in waiting if m.role is message.role), None)
        if twin is None:
            yield f"@ {_title(message)}: gone"
            yield from _lines("-", text_of(message), limit=_SHOWN_LINES)
            continue
        waiting.remove(twin)
        yield from _changed(message, twin)
    for message in waiting:
        yield f"@ {_title(message)}: new"
        yield from _lines("+", text_of(message), limit=0)


def _title(message: Message) -> str:
    names = sorted({p.name for p in message.parts if p.name})
    return " ".join(filter(None, [f"line {message.line}", message.role.value, *names]))


def _changed(old: Message, new: Message) -> Iterator[str]:
    before, after = _texts(old), _texts(new)
    if [p.text for p in before] == [p.text for p in after]:
        return
    yield f"@ {_title(old)}: changed"
    if len(before) != len(after):
        yield from _lines("-", text_of(old), limit=_SHOWN_LINES)
        yield from _lines("+", text_of(new), limit=0)
        return
    for one, other in zip(before, after, strict=True):
        if one.text != other.text:
            yield from _aligned(one.text.split("\n"), other.text.split("\n"))


def _texts(message: Message) -> list[Part]:
    return [p for p in message.parts if p.type in VISIBLE]


def _aligned(old: list[str], new: list[str]) -> Iterator[str]:
    if max(len(old), len(new)) > _ALIGN_LINES:
        yield from _lines("-", "\n".join(old), limit=_SHOWN_LINES)
        yield from _lines("+", "\n".join(new), limit=0)
        return
    for line in difflib.unified_diff(old, new, n=1, lineterm=""):
        if not line.startswith(("---", "+++", "@@")):
            yield _cut(line)


def _lines(sign: str, text: str, *, limit: int) -> Iterator[str]:
    lines = text.split("\n")
    shown = lines[:limit] if limit else lines
    yield from (_cut(sign + line) for line in shown)
    if len(shown) < len(lines):
        yield f"{sign}… {len(lines) - len(shown):,} more lines"


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"
