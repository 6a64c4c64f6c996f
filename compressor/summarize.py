"""Ask a summarizer for the brief, tell it what was wrong, and ask a humbler one when it fails. Facts never depend on it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from compressor import briefs, plugins
from compressor.asking import Journal, Terms
from compressor.brief import Brief, Entry, Summarizer, Task
from compressor.errors import SummarizeError
from compressor.model import Fact, Finding, Level
from compressor.sourcing import PROPOSED, Sourcing

__all__ = ["FALLBACKS", "PROPOSED", "Asking", "carry"]

#: Who is asked when the chosen summarizer has failed; `none` cannot.
FALLBACKS: Final = ("extractive", "none")


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A summarizer with its options."""

    name: str
    options: Mapping[str, Any]

    @property
    def module(self) -> Any:
        return plugins.load("summarizers", self.name)

    @property
    def heeds(self) -> bool:
        """Whether it listens to what was wrong with its brief; then it is a model, and says where things stand."""
        return bool(getattr(self.module, "REPAIRS", not self.module.DETERMINISTIC))


class Asking:
    """Whom one session asks for its brief, and what came of it.

    Attributes:
        brief: the newest one.
        summarizer: who wrote it, or "".
        facts: what its writer proposed to keep, as far as the originals hold it.
        journal: what the summarizer tells.
        steps: repairs and fallbacks, in order, for the report.
        findings: about the brief itself.
    """

    def __init__(self, name: str, options: Mapping[str, Any], repairs: int, terms: Terms | None = None) -> None:
        chosen = _Chosen(name, options)
        self._left = [chosen, *(_Chosen(other, {}) for other in FALLBACKS if other != name)]
        self._now: _Chosen | None = None
        self._repairs = repairs if chosen.heeds else 0
        self._terms = terms or Terms()
        self._asked = 0
        self._fallen: list[Finding] = []
        self._of_brief: list[Finding] = []
        self._sourcing: Sourcing | None = None
        self._problem = ""
        self.brief = Brief()
        self.summarizer = ""
        self.facts: tuple[Fact, ...] = ()
        self.journal = Journal()
        self.steps: list[str] = []

    def reach(self, leaving: int) -> dict[str, Any]:
        """Which parts its writer was shown; all `leaving` ones if it reads the session itself."""
        journal = self.journal
        if self._now is None or not self._now.heeds:
            return {
                "leaving": leaving,
                "seen": 0 if self.summarizer == "none" else leaving,
                "shortened": [],
                "unseen": [],
            }
        return {
            "leaving": journal.seen + len(journal.shortened) + len(journal.unseen),
            "seen": journal.seen,
            "shortened": list(journal.shortened),
            "unseen": list(journal.unseen),
        }

    @property
    def findings(self) -> list[Finding]:
        """What a person should know of how the brief came about."""
        return [*self._fallen, *self._of_brief]

    def next(self, task: Task, problems: Sequence[Finding] = ()) -> bool:
        """A brief by the next summarizer in line; False: nobody is left.

        Args:
            task: what they are given.
            problems: why the brief of the last one cannot stay.
        """
        if problems and self._now is not None:
            self._give_up(f"its brief does not stand: {_told(problems[0])}")
        while self._left:
            self._now = self._left.pop(0)
            reason = self._ask(task)
            if not reason:
                return True
            self._give_up(reason)
        return False

    def repair(self, task: Task, problems: Sequence[Finding]) -> bool:
        """A new brief by the same summarizer, who is told what was wrong; False: it has said what it can say."""
        now = self._now
        if now is None or not now.heeds or self._asked >= self._repairs:
            return False
        self._asked += 1
        self.steps.append(f"{now.name}: told of {len(problems)} problems: {_told(problems[0])}")
        reason = self._ask(replace(task, problems=tuple(map(_told, problems))))
        if reason:
            self._asked = self._repairs
            self.steps.append(f"{now.name}: {reason}")
        return not reason

    def leave_out(self, lines: Collection[str], task: Task) -> bool:
        """Whether the brief can do without the entries of these lines; if one invents, so may others: then not."""
        if self._now is None or not getattr(self._now.module, "QUOTES", False):
            return False
        brief = briefs.without(self.brief, lines, task.language, task.session)
        if brief == self.brief:
            return False
        self.brief = brief
        self.steps.append(f"{self._now.name}: {len(lines)} lines that do not stand left out")
        return True

    def _ask(self, task: Task) -> str:
        """Ask whose turn it is; the reason why there is no brief, or ""."""
        assert self._now is not None
        summarizer: Summarizer = self._now.module
        try:
            brief = summarizer.summarize(replace(task, terms=self._terms, journal=self.journal), self._now.options)
        except SummarizeError as error:
            self._tell_steps()
            return f"{error.message} ({error.hint})" if error.hint else error.message
        self._tell_steps()
        # whatever a summarizer says is carried is not: that list is the code's own
        brief = replace(brief, carried=())
        self._of_brief, self.facts = [], ()
        if self._now.heeds:
            brief = self._look_up(brief, task)
        self.brief = briefs.trim(brief, task.budget, task.count, task.language, task.session)
        self.summarizer = self._now.name
        self.steps.append(f"{self._now.name}: brief written")
        return ""

    def _look_up(self, brief: Brief, task: Task) -> Brief:
        """The brief with its sources looked up, its proposals found or refused."""
        if self._sourcing is None:
            self._sourcing = Sourcing(task.session, task.language)
        brief, self._of_brief = self._sourcing.checked(brief)
        proposals = self.journal.proposals
        self.facts = self._sourcing.admitted(proposals, task.facts, task.budget, task.count)
        if proposals:
            self.steps.append(f"{len(self.facts)} of {len(proposals)} proposed facts found word for word")
        return brief

    def _tell_steps(self) -> None:
        assert self._now is not None
        self.steps += [f"{self._now.name}: {s}" for s in self.journal.steps]
        self.journal.steps.clear()

    def _give_up(self, reason: str) -> None:
        assert self._now is not None
        self.steps.append(f"{self._now.name}: {reason}")
        if self._now.heeds and self._terms.mode != "plan":
            text = f"{self._now.name} gave no brief that could be used: {reason}"
            self._fallen.append(Finding("summarizer", Level.WARNING, text))
        self._of_brief, self.facts = [], ()


def _told(finding: Finding) -> str:
    return f"{finding.message}: {finding.fact}" if finding.fact else finding.message


def carry(brief: Brief, facts: tuple[Fact, ...]) -> Brief:
    """The brief with these facts carried forward verbatim."""
    entries = dict.fromkeys(Entry(f.text, (f.message,) if f.message else ()) for f in facts)
    return replace(brief, carried=(*brief.carried, *entries))
