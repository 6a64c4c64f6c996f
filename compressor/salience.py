"""What is worth keeping: the hard items of a session and what each is worth to a later reader.

A *hard item* is a path, file name, identifier, number, version, hash or URL: what cannot be guessed
again once it is gone. An item is worth what the agent itself has made of it (how many of its own texts
and calls name it), a little for how often it occurs, and more the later it was last seen. The measure
and the figures behind the weights are in `benchmarks/README.md`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from compressor.model import VISIBLE, Origin, Session

#: Longest stretch that is kept or left out as one: a line, or a piece of a longer line, in characters.
SEGMENT: Final = 220

#: What parts tokens besides white space, as bytes: they are all ASCII, so that they can be replaced in UTF-8 at once.
_PARTING: Final = bytes.maketrans(b"\"'<>()[]{},;|`=*", b" " * 16)
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

_CAMEL: Final = re.compile(r"\b(?:[a-z]+(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,})\b")
#: A word, perhaps with hyphens and punctuation behind it: of all items it can only be in camel case.
_PLAIN: Final = re.compile(r"[A-Za-z]+(?:['-][A-Za-z]+)*[.:!?]*")
#: The digits of a line that a machine writes again and again with other numbers.
_DIGITS: Final = re.compile(r"[0-9a-f]{6,}|\d+")
#: How many lines of one make (but for their numbers) make a number that stands in nothing else cheap, and how cheap.
_SAME_MAKE: Final = 4
_CHEAP: Final = 0.1

#: The number that a reading tool puts before each line of a file: it is the line's place, no word of anybody.
_LINE_NUMBER: Final = re.compile(r"^ *\d+→", re.MULTILINE)
#: What a searching tool puts before a line around a hit: the file and the line's number.
_CONTEXT: Final = re.compile(r"([\w.@+/-]*\.[a-z]{1,5})-\d+-")

#: Longest whitespace-free run that can hold items; what is longer is an encoding of something.
_LONGEST: Final = 300


#: A stretch of a part, `text[start:end]`, and the hard items in it: (start, end, items). A plain tuple, because
#: a long session has a hundred thousand of them.
Segment = tuple[int, int, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Salience:
    """Segments by part ordinal (only those with items), and the worth of each item."""

    segments: Mapping[int, Sequence[Segment]]
    value: Mapping[str, float]
    focus: Callable[[str], bool] | None = field(default=None, compare=False)


class _Known(dict[str, tuple[str, ...]]):
    """The items of each token met so far."""

    def __missing__(self, token: str) -> tuple[str, ...]:
        if len(self) >= _REMEMBERED:
            self.clear()
        found = self[token] = _classify(token)
        return found


#: So many tokens and lines are remembered at most: memory must not grow with the session.
_REMEMBERED: Final = 200_000
#: Sessions of one project speak of the same things: tokens are remembered from one to the next.
_TOKENS: Final = _Known()


def _classify(token: str) -> tuple[str, ...]:
    if len(token) < 3 or token.isalpha() and token.islower():
        return ()
    if _PLAIN.fullmatch(token):
        pattern = _CAMEL
        if token.islower() or token[1:].islower():
            return ()
    elif len(token) > _LONGEST:
        return ()
    else:
        pattern = _ITEM
        if (place := _CONTEXT.match(token)) is not None:
            token = f"{place[1]} {token[place.end() :]}"
    return tuple({m.rstrip(".,:;"): None for m in pattern.findall(token) if len(m) >= 3})


class Scanner:
    """Finds segments and items; each distinct line and each distinct token is looked at once."""

    def __init__(self) -> None:
        self._lines: dict[str, tuple[str, ...]] = {}

    def segments(self, text: str) -> list[Segment]:
        """The segments of a text that hold items, in order. Linear in the text, whatever it is."""
        out: list[Segment] = []
        lines = self._lines
        if len(lines) > _REMEMBERED:
            lines.clear()
        known = lines.get
        start = 0
        # character by character the same text, with spaces for all that parts tokens
        parted = text.encode("utf-8", "surrogatepass").translate(_PARTING).decode("utf-8", "surrogatepass")
        if "→" in text:
            parted = _LINE_NUMBER.sub(lambda m: " " * len(m[0]), parted)
        for line in parted.split("\n"):
            size = len(line)
            if size <= SEGMENT:
                found = known(line)
                if found is None:
                    found = lines[line] = _items(line)
                if found:
                    out.append((start, start + size, found))
            else:
                whole = text[start : start + size]
                out += [(start + a, start + b, i) for a, b in _pieces(whole) if (i := _items(line[a:b]))]
            start += size + 1
        return out


def _items(parted: str) -> tuple[str, ...]:
    """The hard items of a short text, in order, each once."""
    hits = list(filter(None, map(_TOKENS.__getitem__, parted.split())))
    if len(hits) <= 1:
        return hits[0] if hits else ()
    return tuple(dict.fromkeys(chain.from_iterable(hits)))


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
    count: Counter[str] = Counter()
    own: Counter[str] = Counter()
    last: dict[str, int] = {}
    done = 0
    for message in session.messages:
        for part in message.parts:
            if part.type not in VISIBLE or not part.text:
                continue
            found = segments[part.ordinal] = scanner.segments(part.text)
            done += len(part.text)
            held = list(chain.from_iterable(s[2] for s in found))
            count.update(held)
            last.update(dict.fromkeys(held, done))
            if message.origin is Origin.AGENT:
                own.update(set(held))
    value = _values(count, own, last, max(done, 1))
    for item in _serial(session, segments, own):
        value[item] *= _CHEAP
    return Salience(segments, value, _focus(focus))


def _values(count: Mapping[str, int], own: Mapping[str, int], last: Mapping[str, int], size: int) -> dict[str, float]:
    """What each item is worth, by how often it occurs, how many of the agent's texts hold it, and where it was last."""
    log = math.log1p
    said = {item: 3.0 + 2.0 * log(n) for item, n in own.items()}.get
    return {item: (said(item, 0.0) + 0.3 * log(n)) * (0.3 + last[item] / size) for item, n in count.items()}


def _serial(session: Session, segments: Mapping[int, Sequence[Segment]], own: Mapping[str, int]) -> set[str]:
    """Numbers that stand alone in lines of a make that recurs: timings, counters, ids of output chunks."""
    alone: list[tuple[int, Segment]] = []
    other: set[str] = set()
    for ordinal, found in segments.items():
        for segment in found:
            start, end, items = segment
            if len(items) == 1 and end - start <= 80 and items[0][-1].isdigit():
                alone.append((ordinal, segment))
            else:
                other.update(items)
    makes: dict[str, set[str]] = {}
    makes_of: dict[str, set[str]] = {}
    for ordinal, (start, end, (item,)) in alone:
        if item not in other and item not in own:
            line = session.parts[ordinal].text[start:end]
            make = _DIGITS.sub("#", line)
            makes.setdefault(make, set()).add(line)
            makes_of.setdefault(item, set()).add(make)
    return {item for item, found in makes_of.items() if all(len(makes[m]) >= _SAME_MAKE for m in found)}


def _focus(text: str) -> Callable[[str], bool] | None:
    words = [w for w in re.findall(r"\w+", text.casefold()) if len(w) > 2 or not w.isascii()]
    if not words:
        return None
    pattern = re.compile("|".join(re.escape(w) for w in words), re.IGNORECASE)
    return lambda stretch: pattern.search(stretch) is not None
