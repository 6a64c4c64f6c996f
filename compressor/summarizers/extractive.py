"""The default: fill the brief from the transcript itself, with no model.

What was said is read for its cue words (`rules/cues/`), what was done from the calls and their results: plans,
failures that still stand, commits, files. Only what leaves the transcript needs telling; state (plans, failures)
is followed to the very end, so that nothing is told that was made good later.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from compressor.brief import Brief, Decision, Entry, FileNote, Task
from compressor.briefs import clip, trim
from compressor.language import lexicon
from compressor.model import Message, Origin, PartType, Role
from compressor.summarizers._cues import Cues, cues
from compressor.summarizers._files import ABOUT_FILE, Seen, files, root_of, telling_imports, within
from compressor.summarizers._judge import Judge, is_next, is_pleasantry, says_nothing
from compressor.summarizers._outcomes import Failure, Outcomes, Plan, Step, answers, outcomes, plan, steps
from compressor.summarizers._prose import Statement, statements
from compressor.summarizers._worth import Told, Worth

OPTIONS: Final[Mapping[str, Any]] = {"type": "object", "additionalProperties": False, "properties": {}}
DETERMINISTIC: Final = True
QUOTES: Final = True

#: Most entries of each field for a brief of `_USUAL` tokens; a larger budget allows more, a smaller fewer.
_MOST: Final[Mapping[str, int]] = {
    "completed": 12,
    "pending": 12,
    "errors": 10,
    "decisions": 12,
    "notes": 20,
    "findings": 30,
    "files": 25,
}
#: How far a field grows with the budget, where more of it would only be noise.
_GROWS: Final[Mapping[str, float]] = {"completed": 2.0, "pending": 1.0, "errors": 2.0}
_USUAL: Final = 3_000
#: A note of fewer tokens does not repeat what stays word for word beside it.
_SHORT: Final = 500
#: Chinese sets no space after a full stop.
_FULL_STOP: Final = re.compile(r"(?<=[。！？；])\s+")
#: `###STOP###` and the like, which end a conversation.
_IS_MARK: Final = re.compile(r"[^a-z]{0,40}")
#: Folders whose files are none of the project's own.
_NOT_OURS: Final = re.compile(
    r"^/(?:tmp|var|private)/|/(?:node_modules|\.claude|\.codex|\.agents/skills|site-packages|go/pkg/mod)/"
)


def summarize(task: Task, options: Mapping[str, Any]) -> Brief:
    """A brief of the leaving messages, at most `task.budget` tokens when rendered."""
    if not task.session.messages:
        return Brief()
    return trim(_Writer(task).brief(), task.budget, task.count, task.language, task.session)


@dataclass(frozen=True, slots=True)
class _Read:
    """What reading the session gave."""

    said: Sequence[Statement]
    steps: Sequence[Step]
    outcomes: Outcomes
    plan: Plan
    files: Mapping[str, Seen]


class _Writer:
    """Puts one brief together; what is told in one field is not told again in a later one."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.cues: Cues = cues(task.language)
        self.labels = {**lexicon("en").labels, **lexicon(task.language).labels}
        self.kept = [m for m in task.session.messages if not m.abandoned and m.index != task.session.brief]
        leaving = [m.index for m in self.kept if m.index in task.leaving and m.generation == 0]
        said = statements(task, self.cues, leaving)
        done = steps(task.session)
        self.read = _Read(said, done, outcomes(done, self.cues), plan(task.session), files(task.session))
        worth = Worth(task.value, said, task.focus)
        self.judge = Judge(self.cues, worth, Told(), len(task.session.messages))

    def most(self, name: str) -> int:
        """How many entries a field may have at this budget."""
        scale = min(_GROWS.get(name, 4.0), max(0.3, self.task.budget / _USUAL))
        return max(2, round(_MOST[name] * scale))

    def is_stale(self, newest: Plan) -> bool:
        """Two requests later a plan that nobody has touched speaks of another matter."""
        return sum(m.index > newest.at for m in self.requests()) > 1

    def leaves(self, index: int) -> bool:
        """The message does not stay verbatim beside the brief."""
        return index in self.task.leaving

    def is_told_beside(self, *indexes: int) -> bool:
        """A short note does not say again what these messages say beside it."""
        return self.task.budget < _SHORT and not any(self.leaves(i) for i in indexes)

    def brief(self) -> Brief:
        """All fields, in the order in which they may claim a statement."""
        said = self.read.said
        red_lines = self.red_lines()
        goal = self.goal()
        pending = self.pending()
        errors = self.errors()
        decisions = (*self.answers(), *self.judge.decisions(said, self.most("decisions")))
        progress = self.progress()
        completed = self.completed()
        notes = self.judge.notes(said, self.most("notes"))
        file_notes = self.files()
        findings = self.judge.findings(said, self.most("findings"))
        return Brief(
            goal=goal,
            progress=progress,
            completed=completed,
            pending=pending,
            findings=tuple(findings),
            errors=errors,
            decisions=decisions,
            files=file_notes,
            notes=notes,
            red_lines=red_lines,
        )

    # --- what was asked -----------------------------------------------------------------------------------------

    def requests(self) -> list[Message]:
        """What persons asked, oldest first; without any, the first message of the user's role."""
        users = [m for m in self.kept if m.role is Role.USER and m.generation == 0 and _prose(m)]
        return [m for m in users if m.origin is Origin.PERSON] or users[:1]

    def goal(self) -> Entry:
        """The first request, and the latest one that says something new."""
        asked = self.requests()
        if not asked:
            return Entry("")
        first, later = asked[0], [m for m in asked[1:] if self._asks_something(m)]
        if self.is_told_beside(first.index, *(m.index for m in later[-1:])):
            return Entry("")
        text = self._opening(first, 420)
        sources = [f"#{first.index}"]
        if later:
            last = later[-1]
            text += f" — {self.labels['latest']}: {self._opening(last, 320)}"
            sources.append(f"#{last.index}")
        return Entry(text, tuple(sources))

    def _asks_something(self, message: Message) -> bool:
        """More than thanks."""
        if not _is_substantial(_prose(message)):
            return False
        said = statements(self.task, self.cues, [message.index])
        return not said or not all(is_pleasantry(s) or _IS_MARK.fullmatch(s.text) and s.text.isascii() for s in said)

    def _opening(self, message: Message, most: int) -> str:
        """The beginning of a message's prose, in whole statements."""
        text, previous = "", ""
        for said in statements(self.task, self.cues, [message.index]):
            if said.heading and said.heading != previous:
                text += f" {said.heading}:"
                previous = said.heading
            text += f" {said.text}"
            self.judge.told.add_text(said.text)
            if len(text) >= most:
                break
        return clip(_FULL_STOP.sub("", text.strip()) or " ".join(_prose(message).split()), most)

    def red_lines(self) -> tuple[Entry, ...]:
        """Prohibitions and obligations of persons and the system, verbatim, as far as they do not stay anyway.

        What does not fit a quarter of the budget is left to be carried forward.
        """
        room = self.task.budget // 4
        out: dict[str, Entry] = {}
        messages = self.task.session.messages
        binding = [f for f in self.task.facts if f.kind in ("negation", "obligation")]
        for fact in sorted(binding, key=lambda f: messages[_message_of(self.task, f.part)].role is not Role.USER):
            message = messages[_message_of(self.task, fact.part)]
            if message.role not in (Role.USER, Role.SYSTEM) or not self.leaves(message.index) or fact.text in out:
                continue
            room -= self.task.count(fact.text) + 6
            if room < 0:
                break
            out[fact.text] = Entry(fact.text, (f"#{message.index}",))
            self.judge.told.add_text(fact.text)
        return tuple(out.values())

    # --- where things stand -------------------------------------------------------------------------------------

    def progress(self) -> Entry:
        """What the agent said last about the state of the work, and how the last checks went."""
        parts: list[str] = []
        sources: list[str] = []
        last = self._last_words()
        if last and not self.is_told_beside(last[0].message):
            lead = f"{last[0].heading}: " if last[0].bullet and last[0].leads else ""
            parts.append(clip(lead + _joined(s.text for s in last), 480))
            sources.append(f"#{last[0].message}")
            for said in last:
                self.judge.told.add_text(said.text)
        running = [text for text, state in self.read.plan.steps if state == "running"]
        if running and self.leaves(self.read.plan.at) and not self.is_stale(self.read.plan):
            parts.append(f"{self.labels['in_progress']}: {running[0]}")
            sources.append(f"#{self.read.plan.at}")
        for command, passed, at in self.read.outcomes.checks[-2:]:
            parts.append(f"`{command}`: {'ok' if passed else self.labels['failed']}")
            sources.append(f"#{at}")
        return Entry(" ".join(p if p[-1:] in ".。!！?？…" else f"{p}." for p in parts), tuple(dict.fromkeys(sources)))

    def _last_words(self) -> list[Statement]:
        """Up to four telling statements of the agent's last message that has any."""
        for message in reversed(self.kept):
            if message.origin is not Origin.AGENT or not _prose(message) or message.generation:
                continue
            said = [s for s in statements(self.task, self.cues, [message.index]) if len(s.text) > 12]
            telling = [s for s in said if not says_nothing(s) and not is_next(s)]
            if telling:
                return telling[:4]
        return []

    def pending(self) -> tuple[Entry, ...]:
        """Open steps of the newest plan, then what the agent's last messages call next."""
        listed: list[Entry] = []
        newest = self.read.plan
        if newest.at >= 0 and self.leaves(newest.at):
            order = sorted((s for s in newest.steps if s[1] != "done"), key=lambda s: s[1] != "running")
            for text in dict.fromkeys(text for text, _ in order):
                self.judge.told.add_text(text)
                listed.append(Entry(text, (f"#{newest.at}",)))
        asked = self.requests()
        since = asked[-1].index if asked else 0
        recent = [s for s in self.read.said if s.message >= min(since, int(0.9 * self.judge.size))]
        most = self.most("pending")
        said = self.judge.pending(recent, max(2, most - len(listed)))
        both = (*said, *listed) if self.is_stale(newest) else (*listed, *said)
        return both[: max(most, len(listed) + 2)]

    def completed(self) -> tuple[Entry, ...]:
        """Commits and finished steps, newest first, then what the agent says it has done."""
        most = self.most("completed")
        steps_done = sorted(self.read.plan.done.items(), key=lambda d: -d[1])
        known = [(text, at) for text, at in (*reversed(self.read.outcomes.commits), *steps_done) if self.leaves(at)]
        out = [Entry(text, (f"#{at}",)) for text, at in known]
        for entry in out[:most]:
            self.judge.told.add_text(entry.text)
        del out[most:]
        return (*out, *self.judge.completed(self.read.said, max(most // 3, most - len(out))))

    def errors(self) -> tuple[Entry, ...]:
        """Failures that still stand, refusals first, then by how late and how often."""
        judge = self.judge
        standing = [f for f in self.read.outcomes.failures if self.leaves(f.at) and f.tells]

        def weight(failure: Failure) -> float:
            plain = judge.recency(failure.at) * (1 + 0.5 * min(failure.times - 1, 4)) * judge.worth.of(failure.line)
            return plain * (10 if failure.refused else 1)

        out: list[Entry] = []
        for failure in sorted(standing, key=lambda f: (-weight(f), -f.at)):
            text = self._failure(failure)
            if len(out) < self.most("errors") and judge.told.fresh(failure.line + " " + failure.target[:60]):
                out.append(Entry(text, (f"#{failure.at}",)))
        return tuple(out)

    def _failure(self, failure: Failure) -> str:
        tried = f"`{failure.target.replace('`', '')}`" if failure.target else failure.name
        what = self.labels["rejected"] if failure.refused else self.labels["failed"]
        often = f" ({self.labels['often']})" if failure.times > 1 else ""
        said = "" if failure.line == "refused" else f": {failure.line}"
        return f"{tried} {what}{often}{said}"

    def answers(self) -> tuple[Decision, ...]:
        """What persons decided when they were asked, newest first."""
        asked = [(q, a, at) for q, a, at in answers(self.read.steps) if self.leaves(at)]
        return tuple(
            Decision(answer, f"{self.labels['answered']}: {question}", (f"#{at}",))
            for question, answer, at in reversed(asked[-self.most("decisions") :])
            if self.judge.told.fresh(f"{question} {answer}")
        )

    # --- files --------------------------------------------------------------------------------------------------

    def files(self) -> tuple[FileNote, ...]:
        """The files that mattered, those worked on last and most first; the common root is told once."""
        seen = [f for f in self.read.files.values() if self._touched_in_leaving(f) and not _is_scratch(f)]
        most = self.most("files")
        ranked = sorted(seen, key=lambda f: (-self._weight(f), f.path))
        changed = [f for f in ranked if f.changed][:most]
        only_read = [f for f in ranked if not f.changed][: max(most // 2, most - len(changed))]
        ranked = sorted((*changed, *only_read), key=lambda f: (-self._weight(f), f.path))[:most]
        root = root_of([f.path for f in changed] or [f.path for f in ranked])
        says = self._said_of(ranked)
        out = [self._file(f, root, says.get(f.path)) for f in ranked]
        if root and len(out) > 1:
            out.insert(0, FileNote(root, purpose=self.labels["root"], sources=out[0].sources[:1]))
        return tuple(out)

    def _touched_in_leaving(self, file: Seen) -> bool:
        touched = (*file.reads, *file.edits, file.created, file.deleted)
        return any(self.leaves(i) for i in touched if i >= 0)

    def _weight(self, file: Seen) -> float:
        made = 6 * (file.created >= 0) + 3 * min(len(file.edits), 6) + min(len(file.reads), 4) + 2 * (file.deleted >= 0)
        outside = _is_outside(file)
        items = self.judge.worth.items(file.path)
        return (made + math.sqrt(sum(items.values()))) * self.judge.recency(file.last) * (0.2 if outside else 1)

    def _said_of(self, ranked: Sequence[Seen]) -> dict[str, Statement]:
        """What the agent says of the files: the newest list item that begins with the file's name.

        For files that say nothing of themselves, else, a short statement that says what they are.
        """
        by_name = {f.path.rsplit("/", 1)[-1]: f for f in ranked}
        out: dict[str, Statement] = {}
        for said in self.read.said:
            if said.person:
                continue
            item = ABOUT_FILE.match(said.text) if said.bullet else None
            name = item.group(1).rsplit("/", 1)[-1] if item else ""
            if name in by_name:
                out[by_name[name].path] = said
                self.judge.told.add_text(said.text)
            elif "describes" in said.hits and 20 < len(said.text) < 200 and not says_nothing(said):
                self._described(said, by_name, out)
        return out

    @staticmethod
    def _described(said: Statement, by_name: Mapping[str, Seen], out: dict[str, Statement]) -> None:
        for name, file in by_name.items():
            at = said.text.find(name)
            if 0 <= at < min(said.hits["describes"][0], 40) and not file.purpose:
                old = out.get(file.path)
                if old is None or not old.bullet and len(said.text) < len(old.text):
                    out[file.path] = said

    def _often(self, what: str, times: Sequence[int]) -> str:
        """`edited (repeatedly)`; no count, for a number that nobody has said is an invention to a checker."""
        return self.labels[what] + (f" ({self.labels['often']})" if len(times) > 2 else "")

    def _file(self, file: Seen, root: str, said: Statement | None) -> FileNote:
        done = [self.labels["created"]] if file.created >= 0 else []
        done += [self._often("edited", file.edits)] if file.edits else []
        done += [self._often("read", file.reads)] if file.reads and not file.edits else []
        touched = [i for i in (file.created, *file.edits, *file.reads[:1], file.deleted) if i >= 0]
        sources = dict.fromkeys((min(touched), max(touched)))
        if said:
            sources.setdefault(said.message)
        path = file.path.removeprefix(f"{root}/") if root else file.path
        item = ABOUT_FILE.match(said.text) if said and said.bullet else None
        if item:
            done.append(clip(item.group(2), 200))
        public = sorted((n for n in file.exports if not n.startswith("_")), key=lambda n: not file.exports[n])
        return FileNote(
            path=path,
            purpose=file.purpose or (said.text if said and not item else ""),
            exports=within(public, 8, 170),
            dependencies=within(telling_imports(file.imports), 4, 120),
            entry_points=within(list(file.entries), 4, 80),
            notes=", ".join(done),
            sources=tuple(f"#{i}" for i in sources),
        )


def _joined(texts: Iterable[str]) -> str:
    """Statements in a row; those without an end mark of their own get a semicolon."""
    marked = " ".join(text if text[-1] in ".!?。！？…；;" else f"{text};" for text in texts)
    return _FULL_STOP.sub("", marked.rstrip(";"))


def _prose(message: Message) -> str:
    return "\n".join(p.text for p in message.parts if p.type is PartType.TEXT)


def _is_substantial(text: str) -> bool:
    """More than `ok`, `go on`, `yes please`."""
    return len(text.split()) >= 5 or sum("\u3400" <= c <= "\u9fff" for c in text[:200]) >= 8


def _is_outside(file: Seen) -> bool:
    return bool(_NOT_OURS.search(file.path))


def _is_scratch(file: Seen) -> bool:
    """Read only, and none of the project's own files, or one of which nothing is known."""
    return not file.changed and (_is_outside(file) or not (file.purpose or file.exports or file.entries))


def _message_of(task: Task, part: int) -> int:
    return task.session.parts[part].message
