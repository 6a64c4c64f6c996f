"""Remember what has been worked out of a text."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

T = TypeVar("T")

#: What an entry weighs besides its text, in characters.
_EACH: Final = 100


class Memo(Generic[T]):
    """What is known of texts, up to so many characters of them; then it is all forgotten.

    Bounded by what the texts weigh, not by their number: a session may have fifty thousand short ones.
    """

    def __init__(self, most: int = 16_000_000) -> None:
        self._most = most
        self._weight = 0
        self._known: dict[str, T] = {}

    def get(self, text: str) -> T | None:
        """What was put for this text; None: nothing, or it is forgotten."""
        return self._known.get(text)

    def put(self, text: str, value: T) -> T:
        """Remember the value; it is given back."""
        self._weight += len(text) + _EACH
        if self._weight > self._most:
            self._known.clear()
            self._weight = len(text) + _EACH
        self._known[text] = value
        return value
