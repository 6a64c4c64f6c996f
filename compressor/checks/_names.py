"""The proper names of a comparison: by their capitals, and by the lists and shapes of the entity guard."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

from compressor.checks._compared import Compared
from compressor.checks._statements import Statement, is_speech
from compressor.checks._terms import bag
from compressor.guards.entities import entities
from compressor.model import Role

_CAPITAL: Final = re.compile(r"(?<![\w.@/#`-])[A-Z][a-zà-ÿ]+(?:[A-Z][a-z]+)*(?![\w@/.-]*[/@])")
_PLAIN: Final = re.compile(r"\b[a-zà-ÿ]{2,40}\b")
_INITIAL: Final = re.compile(r"(?:^|[.!?:;•\"“(\[|/-]|\*\*|[-*+] )\s*[*_`\"'“‘(]*$")
#: Longer sentences are not looked through for names without a capital.
_LONGEST: Final = 400
_SUBJECT: Final = re.compile(
    r"(?:^|[.;!?,]\s|\n|\band\s)[\s*-]*([A-Z][a-z]{2,20})(?:\s[A-Z][a-z]{2,20})?\s(?:only |also |always |never )?[a-z]{2,14}[^su\W]s\b"
)
_KEY: Final = "names"


@dataclass(frozen=True, slots=True)
class Names:
    """Proper names.

    Attributes:
        every: words with a capital inside sentences and never without, and the listed ones.
        sure: those that are names at the beginning of a sentence, too.
        han: those in a script without spaces.
    """

    every: frozenset[str]
    sure: frozenset[str]
    han: tuple[str, ...]

    def find(self, text: str) -> list[tuple[int, int]]:
        """Where the text has one of them."""
        found: list[tuple[int, int]] = []
        for match in _CAPITAL.finditer(text):
            if (
                found
                and match.start() == found[-1][1] + 1
                and text[match.start() - 1] == " "
                and match.group() in self.every
            ):
                found[-1] = (found[-1][0], match.end())
            elif self._is_name(match, text):
                found.append(match.span())
        for name in self.han:
            at = text.find(name)
            if at >= 0:
                found.append((at, at + len(name)))
        return found

    def _is_name(self, match: re.Match[str], text: str) -> bool:
        if match.group() in self.sure:
            return True
        return match.group() in self.every and not _opens(match, text)


def names(compared: Compared) -> Names:
    """The names of this comparison, worked out once."""
    known = compared.comparison.shared.get(_KEY)
    if known is None:
        known = compared.comparison.shared[_KEY] = _names(compared)
    assert isinstance(known, Names)
    return known


def _names(compared: Compared) -> Names:
    inside: Counter[str] = Counter()
    plain: set[str] = set()
    for statement in _read(compared):
        if statement.prose:
            text = statement.text
            plain.update(_PLAIN.findall(text))
            inside.update(m.group() for m in _CAPITAL.finditer(text) if not _opens(m, text))
    capital = frozenset(n for n in inside if n.lower() not in plain)
    listed = (frozenset[str]() if compared.comparison.ours else _listed(compared)) | frozenset(
        n for n in _subjects(compared) if n.lower() not in plain
    )
    return Names(capital | listed, listed, tuple(sorted(n for n in listed if not n.isascii())))


def _read(compared: Compared) -> list[Statement]:
    """Where names are looked for: in all that is said; for an output of our own in what it cites."""
    if not compared.comparison.ours:
        return compared.index.statements
    return [*compared.claims, *compared.cited_statements]


def _subjects(compared: Compared) -> set[str]:
    """Words at the beginning of a sentence that do something: `Priya approves every rotation`."""
    every = [s for s in _read(compared) if s.prose and is_speech(s.message)] + compared.claims
    found = (m.group(1) for s in every for m in _SUBJECT.finditer(s.text))
    return {n for n in found if not n.endswith("ing") and bag(n)}


def _opens(match: re.Match[str], text: str) -> bool:
    """Whether a word has its capital from standing at the beginning."""
    return bool(_INITIAL.search(text[max(0, match.start() - 12) : match.start()]))


def _listed(compared: Compared) -> frozenset[str]:
    """People and organisations that the new text and the requests name."""
    spoken = [s for s in compared.index.statements if s.prose and s.message.role is not Role.TOOL]
    texts = [s.text for s in compared.new if s.prose] + [s.text for s in spoken if len(s.text) < _LONGEST]
    found = {e.text for e in entities("\n".join(texts)) if e.label in ("person", "org")}
    # a name that runs on into the next word, where no spaces are
    return frozenset(n for n in found if n.isascii() or not any(n != o and n.startswith(o) for o in found))
