"""What regular expressions match, in time linear in the text: RE2 syntax, no look-around, no back-references.

Even a linear engine can be made to look at the rest of the text anew for every match, so a search never sees
more than a window: a match may be that long, and one that crosses a window's end is found. Where the matches lie
so close that this alone would be slow, the window shrinks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from compressor.model import Match, View

#: Bytes that one search may look at; windows without a match overlap by a quarter.
WINDOW: Final = 4096
#: The same once the windows of a text's matches together are this many times as long as the text.
SMALL_WINDOW: Final = 512
_PATIENCE: Final = 64

OPTIONS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["pattern"],
    "properties": {
        "pattern": {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}},
            ],
            "description": "A regular expression in RE2 syntax, or several; `^` and `$` match at line ends.",
        },
        "ignore_case": {"type": "boolean", "description": "Upper and lower case are the same (false)."},
        "group": {
            "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "minLength": 1}],
            "description": "The group whose text is the match (0: all of it).",
        },
    },
}

_HINT: Final = "RE2 syntax: no look-around, no back-references"


def find(view: View, options: Mapping[str, Any]) -> Iterator[Match]:
    """The matches of each part in order; where two patterns overlap the earlier and longer match wins."""
    patterns = options["pattern"]
    patterns = (patterns,) if isinstance(patterns, str) else tuple(patterns)
    compiled = [_compile(pattern, bool(options.get("ignore_case", False))) for pattern in patterns]
    group = options.get("group", 0)
    for part in view.parts:
        data = part.text.encode("utf-8", "surrogatepass")
        spans = [span for regexp in compiled for span in _spans(regexp, data, group)]
        if spans:
            for start, end in _characters(data, _apart(spans), ascii_only=len(data) == len(part.text)):
                yield Match(part.ordinal, start, end)


def mistakes(options: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """Patterns that do not compile, match nothing at all, or lack the group that is asked for."""
    import re2

    value, group = options["pattern"], options.get("group", 0)
    for steps, pattern in [((), value)] if isinstance(value, str) else [((i,), p) for i, p in enumerate(value)]:
        try:
            regexp = _compile(pattern, bool(options.get("ignore_case", False)))
        except re2.error as error:
            words = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
            yield ("pattern", *steps), f"is not a pattern that we take: {words}", _HINT
            continue
        if regexp.search(b"") is not None:
            yield ("pattern", *steps), "matches the empty text", "let it match at least one character"
        if group not in regexp.groupindex and not (isinstance(group, int) and group <= regexp.groups):
            yield (
                ("group",),
                f'the pattern has no group "{group}"',
                f"groups: {', '.join(regexp.groupindex) or regexp.groups or 'none'}",
            )


@cache
def _compile(pattern: str, ignore_case: bool) -> Any:
    import re2

    settings = re2.Options()
    settings.log_errors = False
    settings.case_sensitive = not ignore_case
    return re2.compile("(?m)" + pattern, settings)


def _spans(regexp: Any, data: bytes, group: int | str) -> Iterator[tuple[int, int]]:
    """Spans in bytes, in order, without overlap."""
    if isinstance(group, str):
        group = regexp.groupindex[group]
    start, size, window = 0, len(data), WINDOW
    patience = _PATIENCE * size
    while start < size:
        end = min(start + window, size)
        found = regexp.search(data, start, end)
        if found is None:
            if end == size:
                return
            start = end - window // 4
        elif found.end() == end < size and found.start() > start:
            start = found.start()  # perhaps cut short by the window: look again with all of it ahead
        else:
            a, b = found.span(group)
            if a < b:
                yield a, b
            start = max(found.end(), start + 1)
            patience -= end - start
            if patience < 0:
                window = SMALL_WINDOW


def _apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not out or start >= out[-1][1]:
            out.append((start, end))
    return out


def _characters(data: bytes, spans: list[tuple[int, int]], *, ascii_only: bool) -> Iterator[tuple[int, int]]:
    """Byte spans to character spans, in one pass over the data."""
    if ascii_only:
        yield from spans
        return
    bytes_done = characters = 0
    for start, end in spans:
        characters += _length(data, bytes_done, start)
        size = _length(data, start, end)
        yield characters, characters + size
        characters += size
        bytes_done = end


def _length(data: bytes, start: int, end: int) -> int:
    return len(data[start:end].decode("utf-8", "surrogatepass"))
