"""Small helpers on words that several guards share."""

from __future__ import annotations

from compressor.guards._cues import CJK_CHAR
from compressor.guards.negation import content_words


def content(text: str) -> tuple[str, ...]:
    """The content words of a stretch in any language."""
    if CJK_CHAR.search(text):
        return content_words(text, "zh")
    return content_words(text, "en")
