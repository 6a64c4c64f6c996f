"""Where two versions of a text differ: the first stretch of words that is not the same."""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(r"\S+")
_SHOWN: Final = 12
#: So many words on each side show where it stands.
_AROUND: Final = 4


def difference(before: str, after: str) -> tuple[str, str]:
    """The words that one text has where the other has others, with a word of what stands around them."""
    a, b = _WORD.findall(before), _WORD.findall(after)
    first = 0
    while first < min(len(a), len(b)) and a[first] == b[first]:
        first += 1
    last = 0
    while last < min(len(a), len(b)) - first and a[-1 - last] == b[-1 - last]:
        last += 1
    start = max(0, first - _AROUND)
    old, new = a[start : len(a) - last + _AROUND], b[start : len(b) - last + _AROUND]
    return _short(old), _short(new)


def _short(words: list[str]) -> str:
    if len(words) <= 2 * _SHOWN:
        return " ".join(words)
    return " ".join([*words[:_SHOWN], "…", *words[-_SHOWN:]])
