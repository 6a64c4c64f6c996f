"""Change JSON text in place: what is not named stays, byte for byte, in whatever style it was written.

A document or a line is never serialised anew. An `Editor` finds the stretch of text that holds a value, by
its path, and replaces that stretch alone; new values are written in the style of their surroundings. Values
are skipped by the C scanner of `json`, so an edit costs about one parse of the text.

Text is what `decode("utf-8", "surrogateescape")` gives, so that broken bytes go back as they came.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from json.decoder import JSONDecoder, scanstring  # type: ignore[attr-defined]  # missing from typeshed
from typing import Any, Final, NamedTuple

from compressor.model import NESTED, PathSteps

_WHITE: Final = re.compile(r"[ \t\r\n]*")
#: An escape that only a writer of pure ASCII makes (control characters are always escaped).
_ESCAPE: Final = re.compile(r"\\u(?!00[01])[0-9a-fA-F]{4}")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SCAN: Final[Callable[[str, int], tuple[Any, int]]] = JSONDecoder(strict=False).scan_once  # type: ignore[attr-defined]


class Span(NamedTuple):
    """`text[start:end]`; for a member of an object from its key (`key`) on."""

    start: int
    end: int
    key: int


@dataclass(frozen=True, slots=True)
class Style:
    """How JSON text is set.

    Attributes:
        comma: between the items of one line.
        colon: between key and value.
        indent: one level of indentation; "" puts everything on one line.
        newline: between lines.
        ascii: non-ASCII characters are written as escapes.
    """

    comma: str = ","
    colon: str = ":"
    indent: str = ""
    newline: str = "\n"
    ascii: bool = False


def dump_string(text: str, *, ascii_only: bool = False) -> str:
    """A JSON string literal; lone surrogates are always escapes, so that the result is valid UTF-8."""
    literal = json.dumps(text, ensure_ascii=ascii_only)
    if ascii_only or literal.isascii():
        return literal
    return _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", literal)


def dump(value: Any, style: Style, margin: str = "") -> str:
    """`value` as JSON text; `margin` is the indentation of the line on which it starts."""
    if isinstance(value, str):
        return dump_string(value, ascii_only=style.ascii)
    if not isinstance(value, (dict, list)) or not value:
        return json.dumps(value)
    inner = margin + style.indent
    if isinstance(value, dict):
        items = [dump_string(k, ascii_only=style.ascii) + style.colon + dump(v, style, inner) for k, v in value.items()]
    else:
        items = [dump(v, style, inner) for v in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    if not style.indent:
        return opening + style.comma.join(items) + closing
    separator = "," + style.newline + inner
    return f"{opening}{style.newline}{inner}{separator.join(items)}{style.newline}{margin}{closing}"


def sniff(text: str, start: int = 0, *, escapes: bool | None = None) -> Style:
    """The style in which the value at `start` is set; whether it is all ASCII is judged on the whole text."""
    start = _skip(text, start)
    if escapes is None:
        escapes = escapes_in(text)
    comma, colon = _separators(text, start)
    lead = _WHITE.match(text, start + 1)
    gap = lead[0] if lead else ""
    if "\n" not in gap:
        return Style(comma, colon, "", "\n", escapes)
    newline = "\r\n" if "\r\n" in gap else "\n"
    indent = gap.rsplit("\n", 1)[1].removeprefix(margin_at(text, start))
    return Style(",", colon, indent, newline, escapes)


def escapes_in(text: str) -> bool:
    """Non-ASCII characters are written as escapes: there are such escapes, and no such characters."""
    return text.isascii() and _ESCAPE.search(text) is not None


def _separators(text: str, start: int) -> tuple[str, str]:
    """What stands between items, and between key and value: from the first object at or below `start`."""
    at = inner = start
    while text[at : at + 1] == "[":
        at, inner = _skip(text, at + 1), at
    if text[at : at + 1] != "{":
        items = list(_elements(text, inner).values()) if text[inner : inner + 1] == "[" else []
        return (text[items[0].end : items[1].start] if len(items) > 1 else ","), ":"
    members = list(_members(text, at).values())
    if not members:
        return ",", ":"
    first = members[0]
    after_key = scanstring(text, first.key + 1, False)[1]
    colon = text[_skip(text, after_key) : first.start]
    comma = text[first.end : members[1].key].lstrip() if len(members) > 1 else "," + colon[1:]
    return ("," if "\n" in comma else comma), colon


def margin_at(text: str, at: int) -> str:
    """The indentation of the line on which `at` stands."""
    line = text.rfind("\n", 0, at) + 1
    white = _WHITE.match(text, line)
    return white[0] if white else ""


def _skip(text: str, at: int) -> int:
    if text[at : at + 1] not in _BLANKS:  # most JSON is written without any
        return at
    match = _WHITE.match(text, at)
    return match.end() if match else at


#: The end of the text is among them, as the empty text.
_BLANKS: Final = " \t\r\n"


def _elements(text: str, at: int) -> dict[int, Span]:
    """The elements of the list that opens at `at`."""
    found: dict[int, Span] = {}
    at = _skip(text, at + 1)
    while text[at] != "]":
        end = _SCAN(text, at)[1]
        found[len(found)] = Span(at, end, at)
        at = _next(text, end)
    return found


def _members(text: str, at: int) -> dict[str, Span]:
    """The members of the object that opens at `at`; of a key that stands twice the last one, as parsers do."""
    found: dict[str, Span] = {}
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, end = scanstring(text, at + 1, False)
        start = _skip(text, (end if text[end] == ":" else _skip(text, end)) + 1)
        end = _SCAN(text, start)[1]
        found.pop(key, None)
        found[key] = Span(start, end, at)
        at = _next(text, end)
    return found


def _next(text: str, end: int) -> int:
    """Where the next element begins, or the bracket stands, behind an element that ends at `end`."""
    at = end if text[end] == "," else _skip(text, end)
    return _skip(text, at + 1) if text[at] == "," else at


class Editor:
    """Collects changes to one JSON text; `text()` gives it with all of them.

    Paths are steps into the value as it was before any change; a `NESTED` step goes into JSON text inside a string.
    """

    def __init__(self, text: str, *, escapes: bool | None = None) -> None:
        self._text = text
        self._escapes = escapes
        self._spans: dict[PathSteps, Span] = {}
        self._children: dict[PathSteps, Mapping[Any, Span]] = {}
        self._set: dict[PathSteps, str] = {}
        self._gone: dict[PathSteps, set[int | str]] = {}
        self._new: dict[PathSteps, dict[int, list[str]]] = {}
        self._inner: dict[PathSteps, Editor] = {}
        self._style: Style | None = None

    @property
    def style(self) -> Style:
        """The style of the whole text."""
        if self._style is None:
            self._style = sniff(self._text, escapes=self._escapes)
        return self._style

    def span(self, path: PathSteps) -> Span:
        """Where the value at `path` stands.

        Raises:
            KeyError: it is not there.
        """
        if not path:
            start = _skip(self._text, 0)
            return Span(start, len(self._text), start)
        return self.children(path[:-1])[path[-1]]

    def _at(self, path: PathSteps) -> tuple[Editor, PathSteps]:
        """The editor that a path leads to through JSON text in strings, and the rest of the path."""
        if NESTED not in path:
            return self, path
        cut = path.index(NESTED)
        outer = path[:cut]
        if outer not in self._inner:
            self._inner[outer] = Editor(json.loads(self.source(outer), strict=False))
        return self._inner[outer]._at(path[cut + 1 :])  # noqa: SLF001  (its own kind)

    def children(self, path: PathSteps) -> Mapping[Any, Span]:
        """Where the elements or members of the container at `path` stand, by index or key."""
        home, path = self._at(path)
        if home is not self:
            return home.children(path)
        known = self._children.get(path)
        if known is None:
            start = self.span(path).start
            opening = self._text[start]
            known = {}
            if opening == "[":
                known = _elements(self._text, start)
            elif opening == "{":
                known = _members(self._text, start)
            self._children[path] = known
        return known

    def source(self, path: PathSteps) -> str:
        """The text of the value at `path`."""
        home, path = self._at(path)
        span = home.span(path)
        return home._text[span.start : span.end]  # noqa: SLF001

    def set(self, path: PathSteps, value: Any) -> None:
        """Put `value` in the place of the value at `path`."""
        home, path = self._at(path)
        if home is not self:
            home.set(path, value)
            return
        span = self.span(path)
        style = self._style_at(span.start) if isinstance(value, (dict, list)) else self.style
        self._set[path] = dump(value, style, margin_at(self._text, span.start))

    def delete(self, path: PathSteps) -> None:
        """Take the element or member at `path` out of its list or object."""
        home, path = self._at(path)
        home._gone.setdefault(path[:-1], set()).add(path[-1])  # noqa: SLF001

    def insert(self, path: PathSteps, index: int, value: Any) -> None:
        """Put `value` before element `index` of the list at `path` (its length: at the end)."""
        home, path = self._at(path)
        home.insert_source(path, index, dump(value, home._style_below(path), home._margin_below(path)))  # noqa: SLF001

    def insert_source(self, path: PathSteps, index: int, source: str) -> None:
        """The same with a value that is JSON text already, set in this text's own style."""
        home, path = self._at(path)
        home._new.setdefault(path, {}).setdefault(index, []).append(source)  # noqa: SLF001

    def _style_below(self, path: PathSteps) -> Style:
        """The style of a list's elements: theirs, else that of the text."""
        if not self.children(path):
            return self.style
        return self._style_at(self.children(path)[0].start)

    def _style_at(self, start: int) -> Style:
        """The style of the value that stands at `start`."""
        return sniff(self._text, start, escapes=self.style.ascii)

    def _margin_below(self, path: PathSteps) -> str:
        children = self.children(path)
        if children:
            return margin_at(self._text, children[0].start)
        return margin_at(self._text, self.span(path).start) + self.style.indent

    def text(self) -> str:
        """The text with all changes."""
        for path, inner in self._inner.items():
            self._set[path] = dump_string(inner.text(), ascii_only=self.style.ascii)
        changes = [(s.start, s.end, new) for path, new in self._set.items() for s in (self._value_span(path),)]
        for path in {**self._gone, **self._new}:
            changes += self._relisted(path)
        return _replaced(self._text, changes)

    def _value_span(self, path: PathSteps) -> Span:
        span = self.span(path)
        return span if path else span._replace(end=_SCAN(self._text, span.start)[1])

    def _relisted(self, path: PathSteps) -> Iterable[tuple[int, int, str]]:
        """The changes that take elements out of one container and put new ones in."""
        children = self.children(path)
        order = list(children)
        spans = list(children.values())
        gone = sorted(order.index(step) for step in self._gone.get(path, ()) if step in children)
        runs = _runs(gone)
        ends = {last: first for first, last in runs}
        new = self._moved(path, runs)
        if not spans:
            return [self._filled(path, new[0])] if new.get(0) else []
        comma = self._comma(path, spans)
        changes: list[tuple[int, int, str]] = []
        for first, last in runs:
            if last + 1 < len(spans):
                changes.append((spans[first].key, spans[last + 1].key, ""))
            else:
                changes.append((spans[first - 1].end if first else spans[0].key, spans[last].end, ""))
        for index, sources in new.items():
            if index < len(spans):
                changes.append((spans[index].key, spans[index].key, "".join(s + comma for s in sources)))
                continue
            first = ends.get(len(spans) - 1, len(spans))
            if first:
                at = spans[first - 1].end
                changes.append((at, at, "".join(comma + s for s in sources)))
            else:
                changes.append((spans[0].key, spans[0].key, comma.join(sources)))
        return changes

    def _moved(self, path: PathSteps, runs: list[tuple[int, int]]) -> dict[int, list[str]]:
        """New elements by index, moved behind a run of deleted ones that they would stand in."""
        moved: dict[int, list[str]] = {}
        for index in sorted(self._new.get(path, ())):
            at = next((last + 1 for first, last in runs if first <= index <= last), index)
            moved.setdefault(at, []).extend(self._new[path][index])
        return moved

    def _comma(self, path: PathSteps, spans: list[Span]) -> str:
        """What stands between two elements of this container."""
        if len(spans) > 1:
            return self._text[spans[0].end : spans[1].key]
        lead = self._text[self.span(path).start + 1 : spans[0].key]
        return "," + lead if "\n" in lead else self.style.comma

    def _filled(self, path: PathSteps, sources: list[str]) -> tuple[int, int, str]:
        """New elements for a list that was empty."""
        start = self.span(path).start + 1
        end = self._text.index("]", start)
        style = self.style
        if not style.indent:
            return start, end, style.comma.join(sources)
        margin = self._margin_below(path)
        lead = style.newline + margin
        outer = style.newline + margin.removesuffix(style.indent)
        return start, end, lead + ("," + lead).join(sources) + outer


def _runs(indexes: list[int]) -> list[tuple[int, int]]:
    """Runs of consecutive numbers as (first, last)."""
    runs: list[tuple[int, int]] = []
    for i in indexes:
        if runs and runs[-1][1] == i - 1:
            runs[-1] = (runs[-1][0], i)
        else:
            runs.append((i, i))
    return runs


def _replaced(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    """`text` with stretches replaced; a change inside a stretch that leaves is lost with it."""
    out: list[str] = []
    at = 0
    for start, end, new in sorted(changes, key=lambda c: (c[0], c[1])):
        if start < at:
            continue
        out += (text[at:start], new)
        at = end
    out.append(text[at:])
    return "".join(out)
