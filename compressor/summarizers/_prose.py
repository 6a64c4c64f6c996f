"""Cut the prose of a session into statements: sentences and list items, with the heading they stand under."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from compressor.brief import Task
from compressor.briefs import clip
from compressor.model import Message, Origin, Part, PartType, Role
from compressor.summarizers._cues import Cues, Hits

#: Characters of one text that are read: first and last; the middle of a longer one is mostly pasted.
_HEAD, _TAIL = 12_000, 4_000
#: Of a request only the beginning: what is longer is mostly pasted.
_ASKED: Final = 1_500
_LONGEST: Final = 420

_BULLET: Final = re.compile(r"(?:[-*•+]|\d{1,2}[.)、])\s+(?:\[([ xX])\]\s+)?")
_HEADING: Final = re.compile(r"#{1,6}\s+(.*)|\*\*([^*]{2,80})\*\*[:：]?\s*\Z|(.{2,70})[:：]\Z")
_END: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'`*(\[])|(?<=[。！？；])\s*")
_MARKS: Final = re.compile(r"[✅✓✔☑❌⚠🎉🚀]\ufe0f?\s*")
#: Only what is surely emphasis: `src/**/*.py`, `2**8` and `__init__` are names and code.
_BOLD: Final = re.compile(r"(?<![A-Za-z0-9_/*`])\*\*(?=[^\s/*.])([^*\n]{1,400}?)(?<=[^\s/*])\*\*(?![A-Za-z0-9_/*`])")
#: What is left of emphasis that a sentence's end has cut in two.
_HALF: Final = re.compile(r"\A\*\*(?=[^\s/*.])(?=[^*]*\Z)|\A(?=[^*]*\*\*\Z)(.*)\*\*\Z", re.DOTALL)
_LINK: Final = re.compile(r"\[([^\]\n]{1,200})\]\((?:[^()\s]{1,500})\)")
_EMPTY_LEAD: Final = re.compile(r"(?:here|let me|i['’]ll|now|looking|以下|如下)\b", re.IGNORECASE)
#: Lines of code that stand in prose without a fence.
_CODE: Final = re.compile(
    r"(?:print\(|import \w|from \S+ import |def \w+\(|class \w+[(:]|return\b.*[()]|[\w.\[\]]+ = |at \S+\(|File \".{1,200}\", line \d)"
    r"|[\w.]+\([^()]{0,200}\)[;:]?\Z|#!"
)
#: Tools whose results are another agent's report: prose, not output.
_REPORT_KEYS: Final = frozenset({"subagent_type", "agent_type", "subagent"})


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence or list item.

    Attributes:
        text: without list marks and emphasis, on one line.
        message: index of its message.
        person: a person said it (else the agent, or a sub-agent's report).
        heading: the heading or lead-in line that it stands under, or "".
        before: the sentence before it in the same paragraph, or "".
        bullet: it is a list item.
        box: a ticked (True) or open (False) check box, else None.
        hits: cue lists that hit in it; of a list item also those of its heading, as `heading:NAME`.
        planned: it stands in a plan that was put before the person.
        place: its number within the message, from 0.
    """

    text: str
    message: int
    person: bool
    heading: str
    before: str
    bullet: bool
    box: bool | None
    hits: Hits
    place: int
    planned: bool = False

    @property
    def whole(self) -> str:
        """The statement, with the sentence before it if it begins with a pronoun."""
        at = self.hits.get("pronoun")
        if not self.bullet and at and at[0] == 0 and self.before and len(self.before) + len(self.text) < _LONGEST:
            gap = "" if self.before[-1] in "。！？；" else " "
            return f"{self.before}{gap}{self.text}"
        return self.text

    @property
    def leads(self) -> bool:
        """The heading helps to understand the statement."""
        return bool(self.heading) and not _EMPTY_LEAD.match(self.heading)


def statements(task: Task, cues: Cues, indexes: Sequence[int]) -> list[Statement]:
    """The statements of persons, the agent and its sub-agents in these messages, in order."""
    reports = _reports(task)
    out: list[Statement] = []
    for index in indexes:
        message = task.session.messages[index]
        for part in message.parts:
            if _is_prose(message, part, reports):
                person = message.role is Role.USER and part.type is PartType.TEXT
                text = part.text[:_ASKED] if person else _bounded(part.text)
                cut = _cut(text, index, cues, person=person)
                out += (replace(s, planned=True) for s in cut) if part.type is PartType.TOOL_CALL else cut
    return out


def _reports(task: Task) -> frozenset[int]:
    """Calls of sub-agents: what they return is read as prose."""
    return frozenset(p.call for p in task.session.parts if p.type is PartType.TOOL_CALL and p.key in _REPORT_KEYS)


def _is_prose(message: Message, part: Part, reports: frozenset[int]) -> bool:
    if part.type is PartType.TEXT:
        return message.origin is Origin.AGENT or message.origin is Origin.PERSON
    if part.type is PartType.TOOL_CALL:
        return part.key == "plan"
    return part.type is PartType.TOOL_RESULT and part.call in reports


def _bounded(text: str) -> str:
    return text if len(text) <= _HEAD + _TAIL else text[:_HEAD] + "\n" + text[-_TAIL:]


def _cut(text: str, message: int, cues: Cues, *, person: bool) -> Iterator[Statement]:
    heading = ""
    heading_hits: dict[str, tuple[int, int]] = {}
    lead_in = False
    place = 0
    for line, bullet, box in _lines(text):
        head = None if bullet else _HEADING.match(line)
        sentences = [line] if bullet else _END.split(line)
        if head:
            # "Found it. Two things are wrong:" says something before it leads in
            sentences = sentences[:-1] if head.group(3) else []
        if not bullet and (head is None or sentences) and lead_in:
            heading, heading_hits, lead_in = "", {}, False
        before = ""
        for sentence in sentences:
            said = clean(sentence).rstrip("；;，, ")
            if len(said) < 2:
                continue
            hits = {**heading_hits, **cues.find(said)}
            yield Statement(clip(said, _LONGEST), message, person, heading, before, bullet, box, hits, place)
            before, place = said, place + 1
        if head:
            lead_in = head.group(3) is not None
            heading = _END.split(clean(head.group(1) or head.group(2) or head.group(3)))[-1].rstrip(":：")
            heading_hits = {f"heading:{name}": at for name, at in cues.find(heading).items()}


def _lines(text: str) -> Iterator[tuple[str, bool, bool | None]]:
    """Lines of prose as (text, list item?, check box); code, tables and quotes of markup are left out."""
    fenced = False
    for raw in text.split("\n"):
        line = raw.strip()
        if line.startswith(("```", "~~~")):
            fenced = not fenced
        elif line and not fenced and line[0] not in "|<>{}$\\" and not _CODE.match(line):
            item = _BULLET.match(line)
            if item:
                box = None if item.group(1) is None else item.group(1) != " "
                yield line[item.end() :], True, box
            else:
                yield line, False, None


def clean(text: str) -> str:
    """Without emphasis, pictograms and link targets."""
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if "**" in text:
        text = _HALF.sub(r"\1", _BOLD.sub(r"\1", text).strip())
    return " ".join(_MARKS.sub("", text).split())
