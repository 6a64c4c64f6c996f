"""What of an output is somebody's claim, and what is the original's own words, cut by code.

The checks of statements (invented, turned round, swapped, …) judge claims. Cut texts and the cited slices in the brief
are proven otherwise: they must read back exactly as they were cut (the mark's digest). Here they are put aside.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from compressor.model import MARK_PREFIX, Part, PartType, Session


def of(output: Session, original: Session, texts: Mapping[int, str], slices: Collection[str]) -> Session:
    """The output with cut texts whole again, and without the mark, the slices' lines and pictures' places.

    Args:
        output: as read back.
        texts: new text by part ordinal of the original.
        slices: lines of the brief that are cited slices of the original.
    """
    cut = _in_order(original, texts)
    expected = next(cut, None)
    parts = []
    for part in output.parts:
        if expected is not None and part.text == expected[0] and part.message != output.brief:
            parts.append(replace(part, text=expected[1]))
            expected = next(cut, None)
        elif part.message == output.brief:
            parts.append(_without(part, slices))
        else:
            parts.append(part)
    changed = {new.message for new, old in zip(parts, output.parts, strict=True) if new is not old}
    messages = tuple(
        replace(m, parts=tuple(parts[p.ordinal] for p in m.parts)) if m.index in changed else m for m in output.messages
    )
    return replace(output, messages=messages, parts=tuple(parts))


def _in_order(original: Session, texts: Mapping[int, str]) -> Iterator[tuple[str, str]]:
    """Each cut text with what it was cut from; a picture's place was cut from nothing."""
    for ordinal in sorted(texts):
        part = original.parts[ordinal]
        yield texts[ordinal], "" if part.type is PartType.IMAGE else part.text


def _without(part: Part, slices: Collection[str]) -> Part:
    lines = (x for x in part.text.split("\n") if x not in slices and not x.startswith(MARK_PREFIX))
    return replace(part, text="\n".join(lines))
