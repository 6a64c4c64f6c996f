"""One line a finding, for people and editors: `path:line: level CODE: what is wrong`, then what to do.

Options: `hints` (true: say what to do, once a code).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, TextIO

from compressor.reporters._findings import SHOWN, each
from compressor.reporters._text import printable, shorten

_WIDTH: Final = 240


def write(document: Mapping[str, Any], stream: TextIO, options: Mapping[str, Any]) -> None:
    """Write the findings, then the sums."""
    printed: Counter[tuple[str, str]] = Counter()
    hinted: set[str] = set()
    levels: Counter[str] = Counter()
    for f in each(document):
        levels[f.level] += 1
        printed[f.file, f.code] += 1
        if printed[f.file, f.code] > SHOWN:
            continue
        id_ = f" [{f.id}]" if f.id and f.id not in f.message else ""
        stream.write(printable(f"{f.file}:{f.line}: {f.level} {f.code}: {shorten(f.message, _WIDTH)}{id_}") + "\n")
        if f.hint and f.code not in hinted and options.get("hints", True):
            hinted.add(f.code)
            stream.write(printable(f"  hint: {f.hint}") + "\n")
    for (file, code), count in printed.items():
        if count > SHOWN:
            stream.write(printable(f"{file}: {count - SHOWN:,} more of {code}") + "\n")
    stream.write(_sums(document, levels) + "\n")


def _sums(document: Mapping[str, Any], levels: Counter[str]) -> str:
    files = document.get("files", document.get("sessions", ()))
    skipped = sum(bool(f.get("skipped")) for f in files)
    found = [f"{levels[n]:,} {n}{'s' * (levels[n] > 1)}" for n in ("error", "warning", "note") if levels[n]]
    checked = len(files) - skipped
    words = f"{checked:,} file{'s' * (checked != 1)} checked"
    words += f", {skipped:,} passed over" if skipped else ""
    return f"{words}: {', '.join(found) or 'nothing found'}"
