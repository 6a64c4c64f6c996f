"""What goes to the terminal: text of a transcript is data, and never steers the terminal or the table."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final

import click

_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """The text with control characters and direction switches written out (`\\x1b`)."""
    return _CONTROL.sub(lambda m: f"\\x{ord(m[0]):02x}" if ord(m[0]) < 256 else f"\\u{ord(m[0]):04x}", text)


def say(text: str) -> None:
    """Print one text on standard output."""
    click.echo(printable(text))


def write_json(value: Any) -> None:
    """Print JSON data on standard output."""
    from compressor.report import dumps

    sys.stdout.flush()
    sys.stdout.buffer.write(dumps(value))
    sys.stdout.buffer.flush()


def columns(rows: Iterable[Sequence[object]], *, right: frozenset[int] = frozenset()) -> None:
    """Print rows as aligned columns; those in `right` hold numbers."""
    cells = [[f"{c:,}" if isinstance(c, int) else printable(str(c)) for c in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))] if cells else []
    for row in cells:
        line = "  ".join(
            c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))
        )
        click.echo(line.rstrip())
