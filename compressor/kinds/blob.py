"""Data that no reader reads: base64, data URLs, hex dumps, pictures.

Found by probing: a run of 200 characters covers a whole block of 100, so only one place in a hundred is looked
at, and the run is measured where a probe hits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.model import Match, PartType, View

OPTIONS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "min": {"type": "integer", "minimum": 200, "description": "Shorter runs do not match, in characters (200)."},
        "what": {
            "type": "array",
            "minItems": 1,
            "uniqueItems": True,
            "items": {"enum": ["base64", "data_url", "hex_dump", "image"]},
            "description": "Which sorts (all).",
        },
    },
}

_STEP: Final = 100
#: Shortest line of base64 that is wrapped over lines.
_WRAPPED: Final = 60
_PROBE: Final = re.compile(r"[A-Za-z0-9+/_-]{0,100}(?:\r?\n[A-Za-z0-9+/]{60})?")
_RUN: Final = re.compile(
    r"[A-Za-z0-9+/_-]+(?:\r?\n[A-Za-z0-9+/]{60,}(?=[\r\n=]|\Z))*(?:\r?\n[A-Za-z0-9+/]{4,}(?=={0,2}(?:[\r\n]|\Z)))?={0,2}"
)
_LINE_ABOVE: Final = re.compile(r"(?<![A-Za-z0-9+/])([A-Za-z0-9+/]{60,}\r?\n)\Z")
_BEFORE: Final = re.compile(r"data:[A-Za-z0-9/+.;=-]{0,80},\Z")
_DATA_URL: Final = re.compile(r"data:[A-Za-z0-9/+.;=-]{0,80},[^\s\"'<>()\\]*")
_HEX_LINE: Final = re.compile(
    r"[0-9a-fA-F]{7,8}:? {1,2}(?:[0-9a-fA-F]{2}(?:[0-9a-fA-F]{2})? {1,2}){4,16}[^\n]{0,40}(?:\n|\Z)"
)
#: The second line of every dump that begins at offset 0.
_HEX_ANCHOR: Final = "0000010"
_LETTERS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-")

Span = tuple[int, int]


def find(view: View, options: Mapping[str, Any]) -> Iterator[Match]:
    """The runs of each part in order; a picture matches whole."""
    least = options.get("min", 200)
    what = frozenset(options.get("what", ("base64", "data_url", "hex_dump", "image")))
    for part in view.parts:
        if part.type is PartType.IMAGE:
            if "image" in what and part.text:
                yield Match(part.ordinal, 0, len(part.text), label="image")
        elif len(part.text) >= least:
            for (start, end), label in _apart(_all(part.text, what, least)):
                yield Match(part.ordinal, start, end, label=label)


def _all(text: str, what: frozenset[str], least: int) -> list[tuple[Span, str]]:
    found: list[tuple[Span, str]] = []
    if "base64" in what:
        found += [(span, "base64") for span in _runs(text, least)]
    if "data_url" in what:
        found += [(span, "data_url") for span in _data_urls(text, least)]
    if "hex_dump" in what:
        found += [(span, "hex_dump") for span in _dumps(text, least)]
    return found


def _apart(found: list[tuple[Span, str]]) -> Iterator[tuple[Span, str]]:
    done = 0
    for (start, end), label in sorted(found, key=lambda item: (item[0][0], -item[0][1])):
        if start >= done:
            yield (start, end), label
            done = end


def _runs(text: str, least: int) -> Iterator[Span]:
    probe, position, done, size = _PROBE.match, 0, 0, len(text)
    while position < size:
        hit = probe(text, position)
        assert hit is not None
        if hit.end() - position <= _WRAPPED:
            position += _STEP
            continue
        start = _back(text, position, done)
        run = _RUN.match(text, start)
        end = run.end() if run else position + 1
        start = _without_word(text, start, end)
        if end - start >= least and _is_data(text, start, end):
            yield _prefixed(text, start, done), end
            done = end
        # the next run begins behind this one: an aligned step from here cannot jump over it
        done = max(done, end)
        position = max(end, position + 1)


def _back(text: str, start: int, done: int) -> int:
    """The beginning of the line of letters around a place, and of the wrapped lines right above it."""
    while start > done and text[start - 1] in _LETTERS:
        start -= 1
    while start > done and text[start - 1] == "\n":
        above = _LINE_ABOVE.search(text, max(done, start - 2 * _STEP), start)
        if above is None:
            break
        start = above.start(1)
    return start


def _without_word(text: str, start: int, end: int) -> int:
    """A short line of its own above wrapped base64 is a word, not data."""
    line = text.find("\n", start, min(end, start + _WRAPPED))
    return line + 1 if line >= 0 and (start == 0 or text[start - 1] == "\n") else start


def _is_data(text: str, start: int, end: int) -> bool:
    """Base64 and hex use their letters evenly; a ruler of dashes, a path or a long name does not."""
    sample = text[start : min(end, start + 2000)]
    letters = set(sample)
    if len(letters) < 10 or sample.count("/") * 16 > len(sample) + 64 or sample.count("-") * 8 > len(sample):
        return False
    digits = sum(map(sample.count, "0123456789"))
    if digits * 25 < len(sample):
        return False
    mixed = not sample.islower() and not sample.isupper()
    return mixed or letters <= set("0123456789abcdefABCDEF\r\n")


def _prefixed(text: str, start: int, done: int) -> int:
    """The start of the data URL that a run is the data of, else its own."""
    if text[start - 1 : start] != ",":
        return start
    before = max(done, start - 100)
    head = text.rfind("data:", before, start)
    return head if head >= 0 and _BEFORE.match(text[head:start]) else start


def _data_urls(text: str, least: int) -> Iterator[Span]:
    position = text.find("data:")
    while position >= 0:
        url = _DATA_URL.match(text, position)
        end = url.end() if url else position + 5
        if url and end - position >= least:
            yield position, end
        position = text.find("data:", end)


def _dumps(text: str, least: int) -> Iterator[Span]:
    """Hex dumps as xxd and hexdump print them, known by their second line."""
    position = text.find(_HEX_ANCHOR)
    while position >= 0:
        end = position + 1
        second = _line_start(text, position)
        if second >= 0 and _HEX_LINE.match(text, second):
            first = text.rfind("\n", max(0, second - 200), max(0, second - 1)) + 1
            start = end = first if _HEX_LINE.match(text, first) else second
            while hit := _HEX_LINE.match(text, end):
                end = hit.end()
            if end - start >= least:
                yield start, end - text.endswith("\n", start, end)
        position = text.find(_HEX_ANCHOR, end)


def _line_start(text: str, position: int) -> int:
    """The start of the line whose first or second character stands here, else -1."""
    for start in (position, position - 1):
        if start == 0 or (start > 0 and text[start - 1] == "\n"):
            return start
    return -1
