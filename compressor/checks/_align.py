"""Lay an output beside its original: what is kept, what is cut and says so, what is altered, what is new.

Nothing is assumed about the tool that made the output: parts are matched by equal text, by the call that a result
answers, by message id, by likeness.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from compressor import placeholder
from compressor.checks._terms import bag, squeeze
from compressor.model import MARK_PREFIX, VISIBLE, Message, Origin, Part, PartType, Role, Session

#: What tools write where they left something out; in a line of its own, or at the end of what they kept.
MARKER: Final = re.compile(
    r"[\[(<{][^\[\](){}<>\n]{0,80}?(?:truncat|omitted|clipped|removed|cleared|snip|elided|shortened|abbreviated|skipped"
    r"|compacted|more lines|more characters|省略|截断|已清除|略去|删节|已压缩|已移除|缩略|中略)[^\[\](){}<>\n]{0,120}?[\])>}]"
    r"|(?:…|\.\.\.)?\s*\(?\+?\d[\d,]* (?:more |other )?(?:lines?|characters?|chars|bytes|tokens|rows)(?: of [^\n]{0,60}?)? "
    r"(?:truncated|omitted|clipped|removed|more|left out|not shown|hidden)\)?(?:\s?(?:…|\.\.\.))?"
    r"|(?:output|content|result|response|text) (?:was |is |has been )?(?:truncated|omitted|clipped|cleared|removed)[^\n]{0,60}"
    r"|[\[(<{]?\s*(?:…|\.\.\.)\s*[\])>}]?"
    r"|[^\n]{0,20}(?:已省略|已截断|内容省略|省略了?\s?\d+)[^\n]{0,30}",
    re.IGNORECASE,
)
#: How a text begins that tells of a conversation.
SUMMARY: Final = re.compile(
    r"summar|compact|condens|handover|hand-off|handoff|previous (?:conversation|session|context)|earlier (?:conversation|context|history|turns)"
    r"|conversation so far|continued from|context (?:so far|checkpoint)|progress (?:so far|report)|history|recap|state of|session notes?|notes?:"
    r"|摘要|总结|概要|小结|回顾|交接|此前|之前的(?:对话|会话|历史)|历史记录|压缩|进展|要約|zusammenfassung|résumé|resumen",
    re.IGNORECASE,
)
_IMAGE: Final = re.compile(r"\[image: ([^\n]{1,300})\]")
_LIKE: Final = 0.45
_HEAD: Final = 120


@dataclass(slots=True)
class Alignment:
    """What each part of the output is.

    Attributes:
        kept: ordinal of an output part -> the original part with the same text.
        cut: output part and the original part of which it openly shows only some.
        altered: output part and the original part from which it differs without saying so.
        new: parts that the original does not have: a summary, a brief, a new message.
        gone: what stands for nothing (a mark, an empty text).
    """

    kept: dict[int, Part] = field(default_factory=dict)
    cut: list[tuple[Part, Part]] = field(default_factory=list)
    altered: list[tuple[Part, Part]] = field(default_factory=list)
    new: list[Part] = field(default_factory=list)


def visible(session: Session, *, live: bool) -> Iterator[tuple[Message, Part]]:
    """The parts that count: of an output those that the model will see, of an original the whole history."""
    for message in session.messages:
        if message.abandoned or (live and not message.live):
            continue
        for part in message.parts:
            if part.type in VISIBLE and part.text:
                yield message, part


def align(original: Session, output: Session) -> Alignment:
    """Match every visible part of the output."""
    return _Aligner(original, output).run()


class _Aligner:
    def __init__(self, original: Session, output: Session) -> None:
        self.original, self.output = original, output
        self.by_text: dict[str, list[Part]] = defaultdict(list)
        self._by_size: dict[int, list[Part]] = defaultdict(list)
        for _, part in visible(original, live=False):
            self.by_text[part.text].append(part)
            self._by_size[len(part.text)].append(part)
        self.used: set[int] = set()
        self.found = Alignment()

    def run(self) -> Alignment:
        left: list[tuple[Message, Part]] = []
        for message, part in visible(self.output, live=True):
            same = self._equal(message, part)
            if same is not None:
                self.found.kept[part.ordinal] = same
                self.used.add(same.ordinal)
            elif part.text.strip() and not self._is_mark(part):
                left.append((message, part))
        for message, part in left:
            self._place(message, part)
        return self.found

    def _equal(self, message: Message, part: Part) -> Part | None:
        same = self.by_text.get(part.text) or self.by_text.get(part.text.strip()) or ()
        fresh = [p for p in same if p.ordinal not in self.used] or list(same)
        alike = [p for p in fresh if self._role(p) is message.role and p.type is part.type]
        return next(iter(alike or fresh), None)

    def _role(self, part: Part) -> Role:
        return self.original.messages[part.message].role

    @staticmethod
    def _is_mark(part: Part) -> bool:
        return part.text.startswith(MARK_PREFIX) and "\n" not in part.text.strip()

    def _place(self, message: Message, part: Part) -> None:
        if message.index == self.output.brief or message.generation:
            self.found.new.append(part)
            return
        image = _IMAGE.fullmatch(part.text)
        if image and any(p.text == image.group(1) for p in self.original.parts if p.type is PartType.IMAGE):
            return
        source = self._source(message, part)
        if source is None:
            self.found.new.append(part)
        elif openly_cut(part.text, source.text):
            self.found.cut.append((part, source))
            self.used.add(source.ordinal)
        else:
            self.found.altered.append((part, source))
            self.used.add(source.ordinal)

    def _source(self, message: Message, part: Part) -> Part | None:
        """The original part that this one stands for, or None."""
        ours = placeholder.PATTERN.match(part.text)
        if ours:
            return self._of_placeholder(part, int(ours["size"]))
        if part.type is not PartType.TEXT:
            return self._of_call(part)
        return self._alike(message, part)

    def _of_placeholder(self, part: Part, size: int) -> Part | None:
        alike = [p for p in self._by_size.get(size, ()) if p.type is part.type]
        if not alike and part.type is PartType.TEXT:
            return None
        return next((p for p in alike if openly_cut(part.text, p.text)), None) or self._of_call(part)

    def _of_call(self, part: Part) -> Part | None:
        """The argument or result of the same call: by the call's id and name, then by what was asked."""
        if part.call < 0:
            return None
        mine = self.output.calls[part.call]
        same = [c for c in self.original.calls if c.id == mine.id and (c.name == mine.name or not mine.name)]
        same = same or [c for c in self.original.calls if c.id == mine.id]
        if len(same) > 1:
            mine_asked = self._asked(self.output, mine.index)
            same = [c for c in same if self._asked(self.original, c.index) == mine_asked] or same
        parts = [
            p
            for c in same
            for p in self._parts_of(c.index)
            if p.type is part.type and (p.key == part.key or p.type is PartType.TOOL_RESULT)
        ]
        fresh = [p for p in parts if p.ordinal not in self.used] or parts
        return max(fresh, key=lambda p: likeness(p.text, part.text), default=None)

    @staticmethod
    def _asked(session: Session, call: int) -> tuple[str, ...]:
        message = session.calls[call].message
        if message < 0:
            return ()
        parts = session.messages[message].parts
        return tuple(p.text for p in parts if p.call == call and p.type is PartType.TOOL_CALL)

    def _parts_of(self, call: int) -> Iterator[Part]:
        c = self.original.calls[call]
        for message in (c.message, *c.results):
            if message >= 0:
                yield from (p for p in self.original.messages[message].parts if p.call == call)

    def _alike(self, message: Message, part: Part) -> Part | None:
        """The original text of the same speaker that this one was made from."""
        best, score = None, _LIKE
        if SUMMARY.search(part.text[:_HEAD]):
            return None
        native = not message.id.startswith("#")
        for other, candidate in visible(self.original, live=False):
            if other.role is not message.role or candidate.type is not part.type or candidate.ordinal in self.used:
                continue
            if native and other.id == message.id and len(other.parts) == 1:
                return candidate
            n = likeness(candidate.text, part.text)
            if n > score:
                best, score = candidate, n
        return best


def likeness(original: str, output: str) -> float:
    """How likely one text was made from another by cutting or editing: the words they share."""
    if not original or not output:
        return 0.0
    if output in original and len(output) * 5 > len(original):
        return 1.0
    size = len(original) / len(output)
    if size < 0.2 or size > 40:
        return 0.0
    a, b = bag(original[:20_000]), bag(output[:20_000])
    if not a or not b:
        return 0.0
    shared = len(a & b)
    # a summary shares words with much; only an edited copy shares most of its own and of the original's
    return min(shared / len(b), 2 * shared / (len(a) + len(b)))


def openly_cut(output: str, original: str) -> bool:
    """Whether the output shows stretches of the original in their order, and says where something is left out."""
    first = placeholder.PATTERN.match(output)
    if first:
        if int(first["size"]) != len(original):
            return False
        rest = output[first.end() :].removeprefix("\n")
        return not rest or _in_order(rest.split(f"\n{placeholder.GAP}\n"), original)
    if not MARKER.search(output):
        return False
    pieces = [p for p in MARKER.split(output) if p and p.strip()]
    if not pieces:
        return True
    return _in_order(pieces, original) or _in_order(pieces, squeeze(original), squeeze_first=True)


def _in_order(pieces: list[str], text: str, *, squeeze_first: bool = False) -> bool:
    at = 0
    for piece in pieces:
        wanted = squeeze(piece) if squeeze_first else piece.strip()
        found = text.find(wanted, at)
        if found < 0:
            return False
        at = found + len(wanted)
    return True


def is_person(message: Message) -> bool:
    """Whether the message shows as words that a person typed."""
    return message.role is Role.USER and message.origin is Origin.PERSON
