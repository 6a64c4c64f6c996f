"""Does `compress check` find the damage? Used by the tests and by `benchmarks/mutations.py`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from compressor.formats import Source
from compressor.model import Finding
from compressor.validate import Terms, check_source

from .damage import Mutant, mutants, normal


@dataclass
class Score:
    """Mutants by format and kind: how many there were, how many were found on the right line."""

    made: Counter = field(default_factory=Counter)
    found: Counter = field(default_factory=Counter)
    missed: defaultdict = field(default_factory=lambda: defaultdict(list))

    def share(self, kind: str | None = None) -> float:
        """The share that was found, of one kind or of all."""
        made = sum(n for (_, k), n in self.made.items() if kind in (None, k))
        return sum(n for (_, k), n in self.found.items() if kind in (None, k)) / made if made else 1.0


def findings(name: str, data: bytes) -> list[Finding]:
    """What check says; secrets and originals are other questions."""
    terms = Terms(ignore=("K", "V", "W03"))
    return list(check_source(Source(f"case.{name}", data), terms).findings)


def _count(found: Iterable[Finding]) -> Counter:
    return Counter((f.check, f.message, f.fact) for f in found)


def measure(name: str, files: Iterable[Path], score: Score, *, seed: int = 0, rounds: int = 3) -> None:
    """Damage the files of a format and add up what is found."""
    for path in files:
        raw = path.read_bytes()
        before = _count(findings(name, normal(name, raw)))
        # names of files make every file's damage its own
        for mutant in mutants(name, raw, Random(f"{seed} {name} {path.name}"), rounds):
            score.made[name, mutant.kind] += 1
            if _hit(name, mutant, before):
                score.found[name, mutant.kind] += 1
            else:
                score.missed[name, mutant.kind].append((path.name, mutant))


def _hit(name: str, mutant: Mutant, before: Counter) -> bool:
    """Something is found that was not found before, or not so often, and on a line of the damage."""
    found = findings(name, mutant.data)
    more = _count(found) - before
    return any((f.check, f.message, f.fact) in more and f.at.line in mutant.lines for f in found)
