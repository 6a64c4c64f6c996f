"""What is worth keeping: the hard items of a session and what each is worth to a later reader.

A *hard item* is a path, file name, identifier, number, version, hash or URL: what cannot be guessed
again once it is gone. An item is worth what the agent itself has made of it (how many of its own texts
and calls name it), a little for how often it occurs, and more the later it was last seen. The measure
and the figures behind the weights are in `benchmarks/README.md`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from compressor.model import VISIBLE, Message, Origin, Part, Session

#: Longest stretch that is kept or left out as one: a line, or a piece of a longer line, in characters.
SEGMENT: Final = 220

_TOKEN: Final = re.compile(r"[^\s\"'<>()\[\]{},;|`=*]{3,}")
_BLOB: Final = re.compile(r"[A-Za-z0-9+/_-]{160}")
_ITEM: Final = re.compile(
    r"""
  https?://[^\s"'<>)\]]{6,}                                        # URL
| (?:~|\.{1,2})?/?(?:[\w.@+-]+/)+[\w.@+-]{2,}                      # path
| \b\w[\w-]*\.(?:[a-z]{1,4}|java|proto|jsonl|lock|swift)\b          # file name
| \b[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b                       # snake_case, CONSTANT
| \b(?:[a-z]+(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,})\b         # camelCase, PascalCase
| \b[0-9a-f]{7,40}\b                                               # hash
| [$€¥£]\s?\d[\d,]*(?:\.\d+)?                                      # money
| \b\d+(?:\.\d+)+%?                                                # version, decimal
| \b\d+%                                                           # percent
| \b[A-Z]{2,}-\d+\b                                                # ticket
| \#?\b[A-Z]?\d{3,}\b                                              # number, #id
""",
    re.VERBOSE,
)

#: Longest whitespace-free run that can hold items; what is longer is an encoding of something.
_LONGEST: Final = 300


#: A stretch of a part, `text[start:end]`, and the hard items in it: (start, end, items). A plain tuple, because
#: a long session has a hundred thousand of them.
Segment = tuple[int, int, tuple[str, ...]]


@dataclass(slots=True)
class _Seen:
    """Where an item occurs."""

    count: int = 0
    own: int = 0
    last_own: int = -1
    last: int = 0


@dataclass(frozen=True, slots=True)
class Salience:
    """Segments by part ordinal (only those with items), and the worth of each item."""

    segments: Mapping[int, Sequence[Segment]]
    value: Mapping[str, float]
    focus: Callable[[str], bool] | None = field(default=None, compare=False)


def _classify(token: str) -> tuple[str, ...]:
    bare = token.strip(".:!?-")
    if bare.isalpha() and (bare.islower() or bare[1:].islower()) or len(token) > _LONGEST:
        return ()
    return tuple({m.rstrip(".,:;"): None for m in _ITEM.findall(token) if len(m) >= 3})


class Scanner:
    """Finds segments and items; each distinct line and each distinct token is looked at once."""

    def __init__(self) -> None:
        self._tokens: dict[str, tuple[str, ...]] = {}
        self._lines: dict[str, tuple[str, ...]] = {}

    def segments(self, text: str) -> list[Segment]:
        """The segments of a text that hold items, in order. Linear in the text, whatever it is."""
        out: list[Segment] = []
        lines = self._lines
        start = 0
        for line in text.split("\n"):
            size = len(line)
            if 3 <= size <= SEGMENT:
                found = lines.get(line)
                if found is None:
                    found = lines[line] = self.items(line)
                if found:
                    out.append((start, start + size, found))
            elif size > SEGMENT:
                out += [(start + a, start + b, i) for a, b in _pieces(line) if (i := self.items(line[a:b]))]
            start += size + 1
        return out

    def items(self, text: str) -> tuple[str, ...]:
        """The hard items of a short text, in order, each once."""
        known = self._tokens
        hits: list[str] = []
        for token in _TOKEN.findall(text):
            found = known.get(token)
            if found is None:
                found = known[token] = _classify(token)
            if found:
                hits += found
        return tuple(dict.fromkeys(hits)) if len(hits) > 1 else tuple(hits)


def _pieces(line: str) -> Iterable[tuple[int, int]]:
    """Cut a long line at spaces, else at commas, else anywhere; encoded blobs are left out."""
    start, end = 0, len(line)
    while start < end:
        stop = min(end, start + SEGMENT)
        if stop < end:
            cut = line.rfind(" ", start + SEGMENT // 2, stop)
            if cut < 0:
                cut = line.rfind(",", start + SEGMENT // 2, stop)
            if cut >= 0:
                stop = cut + 1
        if not _BLOB.search(line, start, stop):
            yield start, stop
        start = stop


def scan(session: Session, focus: str = "") -> Salience:
    """Scan every visible part once.

    Args:
        session: abandoned branches are scanned for their segments but add little worth.
        focus: words of the user; segments that hold one are worth more.
    """
    scanner = Scanner()
    segments: dict[int, list[Segment]] = {}
    seen: dict[str, _Seen] = {}
    done = 0
    for message in session.messages:
        own = message.origin is Origin.AGENT
        for part in message.parts:
            if part.type not in VISIBLE or not part.text:
                continue
            found = scanner.segments(part.text)
            segments[part.ordinal] = found
            _tally(seen, found, own, part, done)
            done += len(part.text)
    total = max(done, 1)
    value = {item: _worth(s, total) for item, s in seen.items()}
    return Salience(segments, value, _focus(focus))


def _tally(seen: dict[str, _Seen], found: list[Segment], own: bool, part: Part, done: int) -> None:
    for segment in found:
        position = done + segment[0]
        for item in segment[2]:
            s = seen.get(item)
            if s is None:
                s = seen[item] = _Seen()
            s.count += 1
            s.last = position
            if own and s.last_own != part.ordinal:
                s.own += 1
                s.last_own = part.ordinal


def _worth(s: _Seen, total: int) -> float:
    own = 3.0 + 2.0 * math.log1p(s.own) if s.own else 0.0
    return (own + 0.5 * math.log1p(s.count)) * (0.3 + s.last / total)


def _focus(text: str) -> Callable[[str], bool] | None:
    words = [w for w in re.findall(r"\w+", text.casefold()) if len(w) > 2 or not w.isascii()]
    if not words:
        return None
    pattern = re.compile("|".join(re.escape(w) for w in words), re.IGNORECASE)
    return lambda stretch: pattern.search(stretch) is not None


def visible_text(messages: Iterable[Message]) -> str:
    """All visible text of some messages, joined with newlines."""
    return "\n".join(p.text for m in messages for p in m.parts if p.type in VISIBLE)
