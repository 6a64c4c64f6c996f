"""Whether an item is a longer item of the original, cut short in the middle of a name."""

from __future__ import annotations

import re
from typing import Final

from compressor.checks._compared import Compared
from compressor.checks._items import Item

#: A commit is named by its first digits from here on; what is shorter is cut.
_SHORT_HASH: Final = 7
_FULL_HASH: Final = 40
_LEAST: Final = 4
_JOINED: Final = re.compile(r"[\w@.+-]")
_NAMES: Final = frozenset({"path", "file", "url", "uuid", "hash", "ticket", "code", "mail"})


def cut_of(item: Item, compared: Compared) -> str | None:
    """The whole item of the original that begins (or ends) with this one, or None."""
    word = item.text
    if item.kind not in _NAMES or len(word) < _LEAST or _stands_whole(item, compared.original_text):
        return None
    return _whole(word, compared.original_text)


def bare_file(item: Item, compared: Compared) -> str | None:
    """The path of which the output names only the file, when neither text ever names the file alone, or None."""
    word = item.text
    if item.kind != "file" or _is_alone(word, compared.original_text) or f"/{word}" in compared.output_text:
        return None
    at = compared.original_text.find(f"/{word}")
    if at < 0:
        return None
    text = compared.original_text
    start = at
    while start > 0 and (_JOINED.match(text, start - 1) or text[start - 1] in "/~") and at - start < 400:
        start -= 1
    return text[start : at + 1 + len(word)]


def _is_alone(word: str, text: str) -> bool:
    """Whether the file stands somewhere without its folder."""
    at = text.find(word)
    while at >= 0:
        before = text[at - 1 : at]
        if before not in ("/", "\\") and not _JOINED.match(before) and not _goes_on(text, at + len(word)):
            return True
        at = text.find(word, at + 1)
    return False


def _stands_whole(item: Item, text: str) -> bool:
    """Whether the word stands somewhere with no letter, digit or joint of a name on either side."""
    word = item.text
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        # an address begins with its scheme, whatever it is written behind; a range joins two names
        is_free = item.kind == "url" or text[max(0, at - 2) : at] == ".."
        if (is_free or not _JOINED.match(text[at - 1 : at])) and not _goes_on(text, end):
            return True
        at = text.find(word, at + 1)
    return False


def _goes_on(text: str, end: int) -> bool:
    """Whether a name goes on: a dot or hyphen must have more of it behind."""
    if text[end : end + 1] in (".", "-", "+"):
        return bool(re.match(r"\w", text[end + 1 : end + 2]))
    return bool(_JOINED.match(text[end : end + 1]))


def _whole(word: str, text: str) -> str | None:
    at = text.find(word)
    tries = 0
    while at >= 0 and tries < 50:
        end = at + len(word)
        while end < len(text) and _JOINED.match(text, end) and end - at < 400:
            end += 1
        start = at
        while start > 0 and _JOINED.match(text, start - 1) and end - start < 400:
            start -= 1
        whole = text[start:end].rstrip(".-")
        if whole != word and len(whole) > len(word):
            return whole
        at = text.find(word, at + 1)
        tries += 1
    return None


def is_short_hash(item: Item, whole: str) -> bool:
    """The usual short name of a commit."""
    return (
        item.kind == "hash"
        and len(item.text) >= _SHORT_HASH
        and len(whole) == _FULL_HASH
        and whole.startswith(item.text)
    )
