"""Text for terminals and logs."""

from __future__ import annotations

import re
from typing import Final

_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """One line without control characters and direction switches: a file's name or text never steers a terminal."""
    return _CONTROL.sub(lambda m: f"\\x{ord(m[0]):02x}" if ord(m[0]) < 256 else f"\\u{ord(m[0]):04x}", text)


def size(count: int) -> str:
    """Bytes as people read them: 812 B, 4.2 kB, 1.3 MB (decimal)."""
    for limit, unit in ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")):
        if count >= limit:
            return f"{count / limit:,.1f} {unit}"
    return f"{count} B"


def shorten(text: str, width: int) -> str:
    """The text on one line of at most this many characters."""
    line = " ".join(text[: 4 * width].split())
    return line if len(line) <= width else line[: width - 1] + "…"
