"""The text that stands where text was cleared: one grammar, written here and recognised here.

[cleared: Read, 12340 characters]
<kept lines, verbatim; "[…]" alone on a line where lines between them are left out>
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

#: Stands for left-out lines between kept ones.
GAP: Final = "[…]"

#: First line of a cleared text.
PATTERN: Final = re.compile(
    r"\[cleared: (?P<what>[^,\]\n]{0,80}), (?P<size>\d+) characters(?:; (?P<why>[^\]\n]{1,120}))?\]"
)

Span = tuple[int, int]


def header(what: str, size: int, why: str = "") -> str:
    """The first line: `what` was cleared (a tool's or argument's name), its size in characters, and why if a rule says."""
    name = re.sub(r"[,\]\n]", " ", what)[:80] or "text"
    return f"[cleared: {name}, {size} characters; {why}]" if why else f"[cleared: {name}, {size} characters]"


def merge(spans: Iterable[Span]) -> list[Span]:
    """Sorted, with touching and overlapping spans made one; spans one character apart (a newline) touch."""
    out: list[Span] = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1] + 1:
            if end > out[-1][1]:
                out[-1] = (out[-1][0], end)
        else:
            out.append((start, end))
    return out


def excerpt(text: str, spans: Sequence[Span]) -> str:
    """The stretches of `text` named by merged `spans`, with a gap line between them."""
    return f"\n{GAP}\n".join(text[a:b] for a, b in spans)


def cleared(text: str, spans: Iterable[Span], what: str, why: str = "") -> str:
    """The whole placeholder text for `text` of which `spans` are kept."""
    kept = merge(spans)
    first = header(what, len(text), why)
    return f"{first}\n{excerpt(text, kept)}" if kept else first


def shortened(text: str, spans: Iterable[Span]) -> str:
    """A note of which only `spans` are kept: gaps stand for the rest, without a first line."""
    kept = merge(spans)
    if not kept:
        return GAP
    body = excerpt(text, kept)
    if kept[0][0] > 0:
        body = f"{GAP}\n{body}"
    return body if kept[-1][1] >= len(text) else f"{body}\n{GAP}"
