"""The findings of a document, in one shape: of a check (`compress check`), or of a run's report."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

#: Findings of one code in one file that are printed one by one.
SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Shown:
    """One finding; `line` is at least 1, `message` is text for people, with the words in question."""

    file: str
    line: int
    code: str
    level: str
    message: str
    hint: str = ""
    title: str = ""
    id: str = ""

    @property
    def key(self) -> str:
        """What the finding is, wherever in the file it stands."""
        return hashlib.sha256(f"{self.file}\0{self.code}\0{self.message}".encode("utf-8", "replace")).hexdigest()[:32]


def each(document: Mapping[str, Any]) -> Iterator[Shown]:
    """All findings, in order."""
    found = [(f, f["at"]["file"]) for f in document.get("findings", ())]
    found += [(f, f["at"]["file"] or s["path"]) for s in document.get("sessions", ()) for f in s["findings"]]
    for f, file in found:
        fact = f"{f['message']}: {f['fact']}" if f["fact"] else f["message"]
        yield Shown(
            file, max(1, f["at"]["line"]), f["check"], f["level"], fact, f.get("hint", ""), f.get("title", ""),
            f["at"]["message"],
        )  # fmt: skip


def paths(document: Mapping[str, Any]) -> list[str]:
    """The files that were looked at."""
    named = [f["path"] for f in document.get("files", ())] + [s["path"] for s in document.get("sessions", ())]
    return list(dict.fromkeys(named))
