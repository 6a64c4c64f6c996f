"""Keys, tokens and passwords: what a pattern finds, unless it is too regular to be one.

Patterns are RE2 (linear in the text) and are also met by JSON text, in which quotes and line ends are escaped. A
match counts if it has enough different characters for its length (`entropy`, in bits a character) and is not what
people write in a secret's place (`<token>`, `${TOKEN}`, `xxxx`, `changeme`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from compressor.model import Match, View

OPTIONS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["pattern"],
    "properties": {
        "pattern": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "string", "minLength": 1},
            "description": "Regular expressions in RE2 syntax; the first group is the secret, or all of it.",
        },
        "entropy": {"type": "number", "minimum": 0, "description": "Least bits a character (0)."},
        "mixed": {"type": "boolean", "description": "Only what holds a letter and a digit (false)."},
        "ignore_case": {"type": "boolean", "description": "Upper and lower case are the same (false)."},
    },
}

_STANDS_FOR_ONE: Final = re.compile(
    r"(?i)(?:\$|<|\{|%|\*{3}|x{4}|\.{3}|…|redacted|example|changeme|placeholder|your[-_ ]|dummy|not[-_]?a[-_])"
)
#: A name in a program is no secret: few of them hold digits.
_MIXED: Final = re.compile(r"[A-Za-z].*[0-9]|[0-9].*[A-Za-z]", re.DOTALL)


def mistakes(options: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """Patterns that do not compile."""
    import re2

    for i, pattern in enumerate(options["pattern"]):
        try:
            _compile(pattern, ignore_case=bool(options.get("ignore_case", False)))
        except re2.error as error:
            words = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
            hint = "RE2 syntax: no look-around, no back-references, at most 1000 repetitions"
            yield ("pattern", i), f"is not a pattern that we take: {words}", hint


def find(view: View, options: Mapping[str, Any]) -> Iterator[Match]:
    """The secrets of each part, in order; where two patterns overlap the earlier and longer match wins."""
    patterns = [_compile(p, ignore_case=bool(options.get("ignore_case", False))) for p in options["pattern"]]
    for part in view.parts:
        spans = _apart(sorted(_spans(part.text, patterns, options), key=lambda s: (s[0], -s[1])))
        yield from (Match(part.ordinal, start, end) for start, end in spans)


@cache
def _compile(pattern: str, *, ignore_case: bool) -> Any:
    import re2

    settings = re2.Options()
    settings.log_errors = False
    settings.case_sensitive = not ignore_case
    return re2.compile(pattern, settings)


def _spans(text: str, patterns: list[Any], options: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    data = text.encode("utf-8", "surrogatepass")
    for pattern in patterns:
        # characters are counted from the last match on, so that many matches cost no more than few
        at = position = 0
        for match in pattern.finditer(data):
            start, end = match.span(1 if pattern.groups else 0)
            found = data[start:end].decode("utf-8", "surrogatepass")
            position += start - at if len(data) == len(text) else len(data[at:start].decode("utf-8", "surrogatepass"))
            at = start
            if found and _is_secret(found, options):
                yield position, position + len(found)


def _is_secret(text: str, options: Mapping[str, Any]) -> bool:
    if _STANDS_FOR_ONE.search(text) or (options.get("mixed") and not _MIXED.search(text)):
        return False
    least = float(options.get("entropy", 0))
    return not least or _entropy(text) >= least


def _apart(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    last = 0
    for start, end in spans:
        if start >= last:
            yield start, end
            last = end


def _entropy(text: str) -> float:
    """Bits a character, by how often each stands in the text itself."""
    size = len(text)
    return -sum(n / size * math.log2(n / size) for n in Counter(text).values())
