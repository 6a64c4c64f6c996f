"""The proper names of a comparison: by their capitals, and by the lists and shapes of the entity guard."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

from compressor.checks._compared import Compared
from compressor.guards.entities import entities
from compressor.model import Role

_CAPITAL: Final = re.compile(r"(?<![\w.@/#`-])[A-Z][a-zà-ÿ]+(?:[A-Z][a-z]+)*(?![\w@/.-]*[/@])")
_PLAIN: Final = re.compile(r"\b[a-zà-ÿ]{2,40}\b")
_INITIAL: Final = re.compile(r"(?:^|[.!?:;•\"“(\[|/-]|\*\*|[-*+] )\s*[*_`\"'“‘(]*$")
#: Longer sentences are not looked through for names without a capital.
_LONGEST: Final = 400
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
        found = [(m.start(), m.end()) for m in _CAPITAL.finditer(text) if self._is_name(m, text)]
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
    for statement in compared.index.statements:
        if statement.prose:
            text = statement.text
            plain.update(_PLAIN.findall(text))
            inside.update(m.group() for m in _CAPITAL.finditer(text) if not _opens(m, text))
    capital = frozenset(n for n in inside if n.lower() not in plain)
    listed = _listed(compared)
    return Names(capital | listed, listed, tuple(sorted(n for n in listed if not n.isascii())))


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
