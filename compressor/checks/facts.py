"""Every registered fact is in the output, in the form its rule asks for.

Verbatim facts must stand word for word (white space apart); the other modes are looked at by the checks of
their own kind, and here only when the words themselves are still there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from compressor.model import VISIBLE, Comparison, Fact, Finding, Level, Place, Session

OPTIONS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}
FIXED_LEVELS = True

_SPACE = re.compile(r"\s+")


def check(comparison: Comparison, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding per fact that is not in the output, at the fact's own level."""
    text = plain(comparison.output)
    squeezed = ""
    for fact in comparison.facts:
        if fact.text in text:
            continue
        squeezed = squeezed or _SPACE.sub(" ", text)
        if _SPACE.sub(" ", fact.text.strip()) not in squeezed:
            yield missing(fact)


def plain(session: Session) -> str:
    """All text that the model will see of a session."""
    return "\n".join(
        p.text for m in session.messages if m.live and not m.abandoned for p in m.parts if p.type in VISIBLE
    )


def missing(fact: Fact) -> Finding:
    """The finding for a fact that is gone."""
    shown = fact.text if len(fact.text) <= 200 else fact.text[:200] + "…"
    return Finding(
        fact.rule,
        fact.level if fact.level is not Level.NOTE else Level.WARNING,
        f"the {fact.kind} is not in the output",
        shown,
        Place(line=fact.line, message=fact.message, offset=fact.start),
    )
