"""One session through the stages: what must stay, what may go, the brief, and the verdict on what was written."""

from __future__ import annotations

import hashlib
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from compressor import briefs, claims, ledger, summarize, tokens, verify
from compressor.asked import waits as asks_a_model
from compressor.brief import Brief, Task
from compressor.language import language
from compressor.layers import Layers, assign
from compressor.model import (
    VISIBLE,
    Action,
    Compaction,
    Comparison,
    Edit,
    Fact,
    Finding,
    Layer,
    Level,
    Loss,
    Mark,
    Message,
    Origin,
    PartType,
    Role,
    Session,
    Transcript,
    Verdict,
    digest_messages,
)
from compressor.plan import Outcome, Plan, Question
from compressor.regrowth import state
from compressor.result import RuleStats, SessionResult
from compressor.salience import Salience, Scanner, scan
from compressor.settings import Clock, Settings

#: Share of the budget that is set aside for the brief, and the most it may take.
BRIEF_SHARE: Final = 0.12
BRIEF_MOST: Final = 0.40
#: The brief gets at least this many tokens, as far as `BRIEF_MOST` allows.
BRIEF_LEAST: Final = 500
#: Saving less than this share of the tokens, and fewer than so many, is not worth losing anything for.
WORTH_SHARE: Final = 0.05
WORTH_TOKENS: Final = 200
#: Tokens of the mark, in formats that have no field for it.
MARK_TOKENS: Final = 60


class Work:
    """The stages of one session, and what they found out."""

    def __init__(self, transcript: Transcript, position: int, settings: Settings, clock: Clock) -> None:
        self.transcript = transcript
        self.session = transcript.sessions[position]
        self.settings = settings
        self.clock = clock
        self.verdict = Verdict.UNCHANGED
        self.reason = ""
        self.findings: list[Finding] = []
        self.after = 0
        self.brief_text = ""
        self.language = ""
        self.outcome: Outcome | None = None
        self.output: Session | None = None
        self._claimed: Session | None = None
        self._carried: tuple[Fact, ...] = ()
        self._leaving = 0
        self.asking = summarize.Asking(summarize.FALLBACKS[0], {}, 0)
        with clock.stage("count"):
            #: tokens of a text
            self.count = tokens.Counter(settings.encoding)
            self.counts = [self.count(p.text) if p.type in VISIBLE else 0 for p in self.session.parts]
            self.frames = self._frames(self.session)
        self.whole, self.live, self.abandoned = self._sizes()
        mark = self.session.mark
        if mark is not None and state(self.session)[0] == "pure":
            self.whole = max(self.whole, mark.tokens)

    def _sizes(self) -> tuple[int, int, int]:
        """Tokens of the whole history, of the live context, and of abandoned branches."""
        live = whole = abandoned = 0
        told_whole = _originals_stand(self.session)
        for m in self.session.messages:
            n = self.frames[m.index] + sum(self.counts[p.ordinal] for p in m.parts if p.type in VISIBLE)
            if m.abandoned:
                abandoned += n
                continue
            if not m.generation or not told_whole:
                whole += n
            if m.live:
                live += n
        return whole, live, abandoned

    # -- plan

    @cached_property
    def target(self) -> int:
        """Tokens that the output's live context may have; 0: leave the session alone."""
        s, budget = self.settings, self.settings.preset.budget
        if s.budget is not None:
            return s.budget
        if s.ratio is not None:
            return max(1, round(self.whole / s.ratio))
        if budget.tokens:
            return budget.tokens
        if budget.target_window:
            if self.live < (budget.soft or 0) * budget.window:
                return 0
            return round(budget.target_window * budget.window)
        share = budget.target_share or 0.25
        return min(round(share * self.whole), self.live)

    @cached_property
    def hard(self) -> bool:
        """Whether the live context is above the hard mark."""
        budget = self.settings.preset.budget
        return bool(budget.target_window and budget.hard and self.live >= budget.hard * budget.window)

    @cached_property
    def ledger(self) -> ledger.Ledger:
        """The facts, pins and proposals of the session."""
        s = self.settings
        with self.clock.stage("ledger"):
            extra = list(ledger.from_pins(s.pins))
            if s.facts_file is not None:
                extra += ledger.from_file(s.facts_file)
            base = self.base_layers
            return ledger.register(self.session, s.preset, base.layer, base.turn, extra)

    @cached_property
    def base_layers(self) -> Layers:
        """Layers before the rules have pinned anything."""
        return self._layers(frozenset())

    @cached_property
    def layers(self) -> Layers:
        """Layers with what the rules pinned."""
        pins = frozenset(self.ledger.pins)
        return self._layers(pins) if pins else self.base_layers

    def _layers(self, pins: frozenset[int]) -> Layers:
        keep = self.settings.preset.keep
        room = int((self.target or self.whole) * keep.tail_share)
        return assign(self.session, self.counts, tail_calls=keep.tail, tail_room=room, pinned=pins)

    @cached_property
    def salience(self) -> Salience:
        """Hard items and their worth."""
        with self.clock.stage("salience"):
            return scan(self.session, self.settings.focus)

    def propose(self) -> Compaction | None:
        """The first change to try; None: the session stays as it is."""
        if not self.target:
            self.reason = "below the soft mark"
            return None
        if max(self.whole, self.live) <= self.target and not self._mostly_pictures():
            self.reason = "within the budget"
            return None
        s = self.settings
        self.asking = summarize.Asking(s.summarizer, s.summarizer_options, s.preset.repairs, s.terms)
        if self.hard and asks_a_model(s.summarizer):
            self.asking = summarize.Asking(summarize.FALLBACKS[0], {}, 0)
            self.asking.steps.append("above the hard mark: no model is asked")
        return self.again(())

    def _mostly_pictures(self) -> bool:
        """Whether pictures that no worker needs again make up most of the file."""
        records = {m.record for m in self.session.messages for p in m.parts if p.type is PartType.IMAGE}
        held = sum(r.end - r.start for r in self.transcript.records if r.index in records)
        return held * 2 > len(self.transcript.raw)

    def saves_nothing(self) -> bool:
        """Whether the output would cost its reader about as much as the original; then that stays."""
        before = max(self.whole, self.live)
        saved = before - self.after
        if (saved > 0 and saved >= min(WORTH_SHARE * before, WORTH_TOKENS)) or self._mostly_pictures():
            return False
        self.reason = "an edit would save nothing" if saved <= 0 else f"only {saved:,} tokens could be saved"
        return True

    def again(self, findings: Sequence[Finding]) -> Compaction | None:
        """The next change to try after these findings; None when there is nothing left to try."""
        with self.clock.stage("plan"):
            leaving = self._plan.leaving(self.target - self.brief_room)
        if not leaving:
            self.reason = "nothing could be saved"
            return None
        task = self._task(leaving)
        self._leaving = sum(
            p.type in VISIBLE and bool(p.text.strip()) for i in leaving for p in self.session.messages[i].parts
        )
        with self.clock.stage("summarize"):
            if findings and self.asking.repair(task, findings):
                return self._compaction()
        carried = self._carry_what_is_lost(findings)
        if self.asking.leave_out(self._faulty(findings), task) or carried:
            return self._compaction()
        with self.clock.stage("summarize"):
            written = self.asking.next(task, findings)
        return self._compaction() if written else None

    def _carry_what_is_lost(self, findings: Sequence[Finding]) -> bool:
        missing = {(f.check, f.fact) for f in findings}
        lost = [f for f in self.facts if (f.rule, shown(f.text)) in missing]
        fresh = [f for f in lost if f not in self._carried]
        self._carried += tuple(fresh)
        if fresh:
            self.asking.steps.append(f"carried forward {len(fresh)} facts")
        return bool(fresh)

    def _faulty(self, findings: Sequence[Finding]) -> set[str]:
        """The lines of the brief that findings are about."""
        claimed = self._claimed
        if claimed is None or claimed.brief < 0:
            return set()
        brief = claimed.messages[claimed.brief]
        text = next((p.text for p in brief.parts if p.type in VISIBLE), "")
        offsets = (f.at.offset for f in findings if f.at.message == brief.id and f.at.offset < len(text))
        return {text[text.rfind("\n", 0, at) + 1 :].split("\n", 1)[0] for at in offsets}

    @property
    def facts(self) -> Sequence[Fact]:
        """What must survive: the ledger, and what the writer of the brief proposed and the originals hold."""
        return (*self.ledger.facts, *self.asking.facts) if self.asking.facts else self.ledger.facts

    @cached_property
    def brief_room(self) -> int:
        """Tokens set aside for the brief."""
        return int(min(self.target * BRIEF_MOST, max(self.target * BRIEF_SHARE, BRIEF_LEAST)))

    @property
    def _plan(self) -> Plan:
        cached = getattr(self, "_plan_of", None)
        key = self.asking.facts
        if cached is None or cached[0] != key:
            edits = self._edits()
            question = Question(
                session=self.session, layers=self.layers, counts=self.counts, frames=self.frames, facts=self.facts, edits=edits,
                salience=self.salience, target=self.target, brief=self.brief_room, count=self.count,
                hard=self.hard, replace_summaries=_originals_stand(self.session),
            )  # fmt: skip
            cached = (key, Plan(question))
            self._plan_of = cached
        plan: Plan = cached[1]
        return plan

    def _edits(self) -> list[Edit]:
        """What the rules propose, the pastes of long requests, and, as the last resort, context and older conclusions."""
        layers = self.layers
        edits = list(ledger.proposals(self.session, self.settings.preset, layers.layer, layers.turn))
        edits += [Edit("pastes", o, Action.CLEAR, Loss.RESULTS) for o in layers.pasted]
        context = (p.ordinal for m in self.session.messages if m.regainable for p in m.parts)
        edits += [Edit("context", o, Action.SUMMARIZE, Loss.HARD) for o in context]
        conclusions = (o for o, layer in enumerate(layers.layer) if layer is Layer.CONCLUSION)
        edits += [Edit("conclusions", o, Action.SUMMARIZE, Loss.HARD) for o in conclusions]
        return edits

    def _regainable(self, fact: Fact) -> bool:
        """Whether a fact stands in context that nobody has to be told of: it stays there anyway."""
        return fact.part >= 0 and self.session.messages[self.session.parts[fact.part].message].regainable

    def _frames(self, session: Session) -> list[int]:
        """Tokens of the frames of its calls, by message index."""
        frames = [0] * len(session.messages)
        for call in session.calls:
            if call.frame and call.message >= 0:
                frames[call.message] += self.count(call.frame)
        return frames

    def _task(self, leaving: frozenset[int]) -> Task:
        said = self.settings.preset.language
        self.language = self.language or (language(self.session) if said == "auto" else said)
        staying = frozenset(m.index for m in self.session.messages) - leaving
        return Task(
            session=self.session, layers=self.layers.layer, leaving=leaving, staying=staying,
            facts=[f for f in self.ledger.facts if not self._regainable(f)], budget=self.brief_room, language=self.language, count=self.count,
            focus=self.settings.focus, value=self.salience.value,
        )  # fmt: skip

    def _compaction(self) -> Compaction | None:
        brief = summarize.carry(self.asking.brief, self._carried)
        room = max(0, self.target - MARK_TOKENS - self.count(briefs.render(brief, self.language, self.session)))
        with self.clock.stage("plan"):
            self.outcome = self._plan.settle(room)
        brief = replace(brief, findings=(*brief.findings, *self.outcome.excerpts))
        text = briefs.render(brief, self.language, self.session)
        self.brief_text = text
        # the excerpts are in both
        self.after = self.outcome.tokens + self.target - room
        if self.saves_nothing():
            return None
        expected = self._expected(self.outcome)
        mark = Mark(
            self.settings.digest, self.whole, self._generation(), hashlib.sha256(self.transcript.raw).hexdigest(),
            len(expected), digest_messages(expected),
        )  # fmt: skip
        return Compaction(
            session=self.session, texts=self.outcome.texts, dropped=self.outcome.dropped, brief=text,
            brief_at=self._opening(), mark=mark, new_id=self._new_id(),
        )  # fmt: skip

    def _opening(self) -> int:
        """Where the brief stands: behind the first request, or behind the system text if nobody asked anything."""
        typed = (m.index for m in self.session.messages if m.origin is Origin.PERSON and not m.abandoned)
        first = next(typed, -1)
        if first < 0:
            others = (m.index for m in self.session.messages if m.role is not Role.SYSTEM)
            return next(others, 0)
        return first + 1

    def _expected(self, outcome: Outcome) -> list[Message]:
        """The messages that the output will hold beside the brief, as they will read."""
        out = []
        for m in self.session.messages:
            if m.index in outcome.dropped:
                continue
            if not any(p.ordinal in outcome.texts for p in m.parts):
                if any(p.type in VISIBLE and p.text for p in m.parts):
                    out.append(m)
                continue
            parts = tuple(
                replace(p, text=outcome.texts[p.ordinal], type=p.type if p.type in VISIBLE else _shown_as(p.call))
                if p.ordinal in outcome.texts
                else p
                for p in m.parts
            )
            if any(p.type in VISIBLE and p.text for p in parts):
                out.append(replace(m, parts=parts))
        return out

    def _generation(self) -> int:
        live = [m.generation for m in self.session.messages if m.live and not m.opaque]
        return 1 if _originals_stand(self.session) else max(live, default=0) + 1

    def _new_id(self) -> str:
        if not self.settings.new_id:
            return ""
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.session.id}:{self.settings.digest}"))

    # -- verify

    def compare(self, output: Session, baseline: Sequence[Finding], integrity: Sequence[Finding]) -> list[Finding]:
        """All findings of the output."""
        self.output = output
        frames = self._frames(output)
        self.after = sum(
            frames[m.index] + sum(self.count(p.text) for p in m.parts if p.type in VISIBLE)
            for m in output.messages
            if m.live and not m.abandoned
        )
        self._claimed = self._claims(output)
        comparison = Comparison(
            original=self.session, output=output, claims=self._claimed, facts=self.ledger.facts, layers=self.layers.layer,
            tokens_original=self.whole, tokens_live=self.live, tokens_output=self.after, ours=True,
            baseline=baseline, integrity=integrity, raw=self.transcript.raw,
        )  # fmt: skip
        found = list(verify.run(comparison, self.settings.preset))
        mark = output.mark
        if mark is None or state(output)[0] != "pure":
            found.append(Finding("mark", Level.ERROR, "the output does not read back as it was written"))
        return found + self.asking.findings + self._budget_findings()

    def _claims(self, output: Session) -> Session:
        excerpts = self.outcome.excerpts if self.outcome else ()
        lines = briefs.render(Brief(findings=excerpts), self.language, self.session).split("\n")
        texts = self.outcome.texts if self.outcome else {}
        return claims.of(output, self.session, texts, {x for x in lines if x.startswith("- ")})

    def revert(self, errors: Sequence[Finding]) -> None:
        """Keep the session whole, and say why."""
        self.findings = list(errors)
        self.verdict, self.reason = Verdict.REVERTED, errors[0].message

    def _budget_findings(self) -> list[Finding]:
        found = []
        if self.after > self.target * 1.02:
            fixed = self._over()
            text = f"{self.after - self.target:,} tokens over the budget of {self.target:,}: {fixed}"
            found.append(Finding("over-budget", Level.WARNING, text))
        if self.after > self.live:
            text = f"the live context grew from {self.live:,} to {self.after:,} tokens"
            found.append(Finding("live-context-grew", Level.WARNING, text))
        return found

    def _over(self) -> str:
        """What must stay, by why it must, largest first."""
        stays: Counter[str] = Counter()
        s = self.layers
        for m in self.session.messages:
            for p in m.parts:
                if p.type not in VISIBLE or (
                    self.outcome and (m.index in self.outcome.dropped or p.ordinal in self.outcome.texts)
                ):
                    continue
                name = "head" if m.index in s.head else "tail" if m.index in s.tail else s.layer[p.ordinal].value
                stays[name] += self.counts[p.ordinal]
        stays["brief"] = self.count(self.brief_text)
        return ", ".join(f"{name} {n:,}" for name, n in stays.most_common(5) if n)

    # -- result

    def result(self, given: Transcript, data: bytes | None, change: Compaction | None, *, kept: bool) -> SessionResult:
        """What the report says of this session."""
        compacted = change is not None
        facts = Counter(f.kind for f in self.ledger.facts) if self.target else Counter[str]()
        lost = {(f.check, f.fact) for f in self.findings}
        held = Counter(f.kind for f in self.ledger.facts if (f.rule, shown(f.text)) not in lost) if facts else facts
        total, still = self._salient() if compacted else (0, 0)
        return SessionResult(
            path=given.path, output="", format=given.format, session=self.session.id,
            verdict=Verdict.COMPACTED if compacted else self.verdict,
            reason="already compacted with these options" if kept else self.reason,
            bytes_before=len(given.raw), bytes_after=len(given.raw) if data is None else len(data),
            whole_before=self.whole, live_before=self.live,
            after=self.after if compacted else self.live, abandoned_tokens=self.abandoned, budget=self.target,
            messages_before=len(self.session.messages),
            messages_after=len(self.output.messages) if compacted and self.output else len(self.session.messages),
            generation=change.mark.generation if change else max((m.generation for m in self.session.messages), default=0),
            preset=self.settings.preset.name, summarizer=self.asking.summarizer, rules_digest=self.settings.preset.digest,
            archive=change.mark.archive if change else "", language=self.language,
            rules=self._rule_stats() if compacted else {},
            facts_registered=facts, facts_kept=held, salient_total=total, salient_kept=still,
            findings=tuple(self.findings), dropped=tuple(self._plan.gone(self.outcome)) if compacted and self.outcome else (),
            reachability=self.asking.reach(self._leaving) if compacted else {}, steps=tuple(self.asking.steps), usage=self.asking.journal.usage.document(),
            dirt=given.dirt, brief=self.brief_text if compacted else "", timing=dict(self.clock.seconds),
        )  # fmt: skip

    def _salient(self) -> tuple[int, int]:
        """Hard items of the original, and how many of them the output still holds."""
        assert self.outcome is not None
        held = self._plan.kept(self.outcome)
        held.update(item for _, _, items in Scanner().segments(self.brief_text) for item in items)
        return len(self.salience.value), len(held & self.salience.value.keys())

    def _rule_stats(self) -> dict[str, RuleStats]:
        assert self.outcome is not None
        matches = Counter(self.ledger.stats)
        edits: Counter[str] = Counter()
        saved: Counter[str] = Counter()
        for ordinal, edit in self._plan.taken(self.outcome).items():
            edits[edit.rule] += 1
            text = self.outcome.texts.get(ordinal)
            saved[edit.rule] += self.counts[ordinal] - (self.count(text) if text is not None else 0)
        names = matches.keys() | edits.keys()
        return {n: RuleStats(matches[n], edits[n], saved[n]) for n in sorted(names)}


def _shown_as(call: int) -> Any:
    return PartType.TOOL_RESULT if call >= 0 else PartType.TEXT


def shown(text: str) -> str:
    """A fact's text as findings show it."""
    return text if len(text) <= 200 else text[:200] + "…"


def _originals_stand(session: Session) -> bool:
    """Whether the originals of the tool's summaries are in the file: some of the history is no longer live."""
    return any(not m.live and not m.generation and not m.abandoned for m in session.messages) or not any(
        m.generation for m in session.messages
    )
