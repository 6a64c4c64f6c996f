"""The work that checks share: the alignment, what is new in the output, and where the original speaks of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

from compressor.checks._align import SUMMARY, Alignment, align, visible
from compressor.checks._excerpts import excerpts
from compressor.checks._lines import Lines
from compressor.checks._statements import Index, Statement, cut, of_session
from compressor.checks._terms import bag, bare, squeeze
from compressor.checks._wording import (
    BULLET,
    CITED,
    DIGITS,
    HARNESS,
    JOINED,
    agent_tools,
    bordered,
    clauses_of,
    has_digits,
    is_inventory,
    labels,
    plain,
    stands,
    without_citation,
)
from compressor.guards.numbers import Number, same
from compressor.model import MARK_PREFIX, Comparison, Finding, Level, Message, Origin, Part, PartType, Place, Role

_KEY: Final = "compared"
_SHOWN: Final = 160


#: Marks that a summary begins with, and so many list entries make one.
_STRUCTURED: Final = ("<", "[", "#")
_LISTED: Final = 2
_THIRD_PERSON: Final = re.compile(r"\b(?:the|our) (?:user|customer|assistant|agent)\b|用户|助手|客户", re.IGNORECASE)
#: A cited message speaks of a statement when it has more than this share of its words.
_CLEAR: Final = 0.5
#: A word is rare when it weighs so much of what a word can weigh.
_RARE: Final = 0.4
_LONG: Final = 6
#: So many lines of a cited tool result are looked at, from each end.
_CITED_LINES: Final = 300
_ORDERS: Final = frozenset({"negation", "obligation"})
#: A statement of so few words, without a source, says nothing that could be found.
_FEW: Final = 4
#: Longer texts are not looked through for clauses with other markup.
_SPOKEN: Final = 20_000
#: So many statements of the original are held beside one of the output; beside one that cites its source, fewer.
_NEAR, _NEAR_OWN = 12, 4
#: Of a date the year alone proves nothing.
_COMPOSED: Final = frozenset({"date", "datetime", "time"})
#: Shorter words are not looked for in the file's invisible fields.
_LEAST: Final = 4


class Compared:
    """One comparison, worked out as far as anybody asks."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.original, self.output = comparison.original, comparison.output
        self._clauses: dict[int, frozenset[str]] = {}
        self._locals: dict[tuple[int, ...], Index] = {}
        self._said: dict[Origin, list[frozenset[str]]] = {}

    @cached_property
    def alignment(self) -> Alignment:
        return align(self.original, self.output)

    # -- the output

    @cached_property
    def output_text(self) -> str:
        return "\n".join(part.text for _, part in visible(self.output, live=True))

    @cached_property
    def output_squeezed(self) -> str:
        return squeeze(self.output_text)

    @cached_property
    def output_bare(self) -> str:
        return bare(self.output_text)

    @cached_property
    def output_index(self) -> Index:
        """What the output says, kept or new."""
        return Index(
            [s for m, p in visible(self.output, live=True) for s in cut(m, p)],
        )

    def told(self, words: frozenset[str], most: int = 6) -> Sequence[tuple[float, Statement]]:
        """Where the output speaks of these words; in an output of our own only what is said counts."""
        return self._output_lines.near(words, most) if self.comparison.ours else self.output_index.near(words, most)

    @cached_property
    def _output_lines(self) -> Lines:
        return Lines(self.output)

    @cached_property
    def new_parts(self) -> list[Part]:
        """Texts that somebody wrote for the output; an edited request, pin or result has a check of its own."""
        edited = [
            part
            for part, _ in self.alignment.altered
            if self.message(part).role is Role.ASSISTANT and part.type is PartType.TEXT
        ]
        return [*self.alignment.new, *edited]

    @cached_property
    def claims(self) -> list[Statement]:
        """The new statements that say something; not lists of names, of which only the names can be wrong."""
        return [s for s in self.new if s.prose and not is_inventory(s)]

    @cached_property
    def new(self) -> list[Statement]:
        """The statements that the original does not have in these words."""
        whole = [without_citation(s) for part in self.new_parts for s in cut(self.message(part), part)]
        sources = {part.ordinal: source.text for part, source in self.alignment.altered}
        out = [s for s in whole if s.text not in sources.get(s.part.ordinal, "")]
        known = labels()
        if not self.comparison.ours:
            # of our own run the caller has put them aside
            proven = {p.ordinal: excerpts(p.text, self.original) for p in self.new_parts}
            out = [s for s in out if not any(a <= s.start < b for a, b in proven[s.part.ordinal])]
        return [
            s for s in out
            if not s.text.startswith(MARK_PREFIX) and not HARNESS.match(s.text) and s.text.strip("# ") not in known and not self.is_verbatim(s)
        ]  # fmt: skip

    def message(self, part: Part) -> Message:
        """The output's message of a part."""
        return self.output.messages[part.message]

    def is_new_summary(self, part: Part) -> bool:
        """Whether a new part tells of the conversation rather than being a turn of it."""
        message = self.message(part)
        text = part.text
        return (
            message.generation > 0
            or message.index == self.output.brief
            or bool(SUMMARY.search(text[:400]))
            or text.lstrip()[:1] in _STRUCTURED
            or text.count("\n- ") > _LISTED
            or bool(_THIRD_PERSON.search(text[:2_000]))
        )

    def is_kept(self, text: str) -> bool:
        """Whether the output has this text, white space and markup apart."""
        return text in self.output_text or squeeze(text) in self.output_squeezed or bare(text) in self.output_bare

    # -- the original

    @cached_property
    def original_text(self) -> str:
        return "\n".join(part.text for _, part in visible(self.original, live=False))

    @cached_property
    def original_squeezed(self) -> str:
        return squeeze(self.original_text)

    @cached_property
    def tools(self) -> frozenset[str]:
        """The names of the tools: those that the original has calls or results of, and agents' own; in lower case."""
        return frozenset([*(p.name.lower() for p in self.original.parts if p.name), *agent_tools()])

    @cached_property
    def is_fragment(self) -> bool:
        """Whether the original says itself that its beginning is in another file."""
        first = min((m.line for m in self.original.messages), default=0)
        return any("parent is not in the file" in f.message and f.at.line <= first for f in self.comparison.baseline)

    @cached_property
    def original_bare(self) -> str:
        return bare(self.original_text)

    @cached_property
    def original_lower(self) -> str:
        return self.original_text.lower()

    @cached_property
    def index(self) -> Index:
        """What the original says; for an output of our own, which cites its sources, without the tools' output."""
        return Index(list(of_session(self.original, spoken=self.comparison.ours)))

    def said_by(self, origin: Origin) -> list[frozenset[str]]:
        """The words of each message of one speaker."""
        if origin not in self._said:
            self._said[origin] = [
                bag("\n".join(p.text for p in m.parts if p.type is PartType.TEXT))
                for m in self.original.messages
                if m.origin is origin and not m.abandoned
            ]
        return self._said[origin]

    @cached_property
    def _digits(self) -> frozenset[str]:
        return frozenset(plain(d) for d in set(DIGITS.findall(self.original_text)))

    @cached_property
    def prose_numbers(self) -> list[tuple[Number, Statement]]:
        """Every number in the sentences of the original."""
        return [(n, s) for s in self.index.statements if s.prose for n in s.numbers]

    def cited(self, statement: Statement) -> list[Message]:
        """The original messages that a statement of a brief cites."""
        line_end = statement.part.text.find("\n", statement.end)
        line = statement.part.text[statement.start : line_end if line_end >= 0 else None]
        found = CITED.search(line)
        if not found:
            return []
        numbers_ = (int(n) for n in re.findall(r"\d+", found.group(1)))
        return [self.original.messages[n] for n in numbers_ if n < len(self.original.messages)]

    def is_verbatim(self, statement: Statement) -> bool:
        """Whether the original has the same words as a whole statement, not as a piece of one."""
        body = squeeze(BULLET.sub("", CITED.sub("", statement.text), count=1))
        if not body:
            return True
        cited = self.cited(statement)
        if cited:
            clauses = [c for c in (c.strip() for c in JOINED.split(body)) if c]
            if any(self._says(m, body) for m in cited) or all(any(self._says(m, c) for m in cited) for c in clauses):
                return True
            if self.comparison.ours:
                return False
        return stands(body, self.original_text) or stands(body, self.original_squeezed)

    def _says(self, message: Message, clause: str) -> bool:
        """Whether a message has these words as a line, sentence or clause, its markup apart."""
        if any(stands(clause, p.text) for p in message.parts):
            return True
        known = self._clauses.get(message.index)
        if known is None:
            texts = [p.text for p in message.parts if p.type is PartType.TEXT and len(p.text) <= _SPOKEN]
            found = {c for text in texts for line in text.split("\n") for c in (bare(line), *clauses_of(line))}
            known = self._clauses[message.index] = frozenset(found)
        return bare(clause) in known

    def evidence(self, statement: Statement, words: frozenset[str] | None = None) -> Sequence[tuple[float, Statement]]:
        """Where the original speaks of the same: cited messages first, else all of it."""
        words = statement.bag if words is None else words
        cited = self.cited(statement)
        if cited:
            found = self._local(tuple(m.index for m in cited)).near(words, _NEAR_OWN if self.comparison.ours else _NEAR)
            if found and found[0][0] > _CLEAR:
                return found
        if not self.comparison.ours:
            return self.index.near(words, _NEAR)
        return self._spoken.near(words, _NEAR_OWN) if len(words) >= _FEW else []

    @cached_property
    def _spoken(self) -> Lines:
        return Lines(self.original)

    @cached_property
    def order_statements(self) -> list[Statement]:
        """Where prohibitions and obligations may stand; the ledger of our own run knows it."""
        if not self.comparison.ours:
            return self.index.statements
        messages, parts = self.original.messages, self.original.parts
        facts = [f for f in self.comparison.facts if f.kind in _ORDERS and f.part >= 0]
        return [Statement(messages[parts[f.part].message], parts[f.part], f.start, f.end) for f in facts]

    @cached_property
    def cited_statements(self) -> list[Statement]:
        """What the messages say that the claims of a brief cite."""
        cited = {m.index: m for s in self.claims for m in self.cited(s)}
        return [s for i in sorted(cited) for s in self._local((i,)).statements]

    def _local(self, messages: tuple[int, ...]) -> Index:
        """What some messages say; weighed as in the whole original."""
        known = self._locals.get(messages)
        if known is None:
            parts = [(m, p) for i in messages for m in (self.original.messages[i],) for p in m.parts]
            known = self._locals[messages] = Index([s for m, p in parts for s in cut(m, p, lines=_CITED_LINES)])
        return known

    def cites(self, statement: Statement, word: str) -> bool:
        """Whether a message that the statement cites has this word."""
        return any(bordered(word, p.text) for m in self.cited(statement) for p in m.parts)

    def has_number(self, number: Number, statement: Statement) -> bool:
        """Whether the original has this value, in whatever notation."""
        if bordered(number.text.strip(), self.original_text):
            return True
        written = DIGITS.search(number.text)
        digits = plain(written.group()) if written else ""
        if digits in self._digits and not number.unit and number.kind not in _COMPOSED:
            return True
        if any(same(number, n) for _, s in self.evidence(statement) for n in s.numbers):
            return True
        if self.comparison.ours:
            return False
        known = any(same(number, n) for n, _ in self.prose_numbers) or self._in_lines(number, digits)
        return known or (number.kind in _COMPOSED and self._in_file(number.text))

    def _in_lines(self, number: Number, digits: str) -> bool:
        """The value in the tool output: lines with these digits, or with the same unit."""
        if digits in self._digits:
            return any(
                same(number, n) for s in self.index.statements if not s.prose and has_digits(s.text, digits)
                for n in s.numbers
            )  # fmt: skip
        return False

    def has_word(self, word: str) -> bool:
        """Whether the original has this word or name, whatever its letter case."""
        lower = word.lower()
        return lower in self.tools or bordered(lower, self.original_lower) or self._in_file(word)

    def _in_file(self, word: str) -> bool:
        """The word in the file's own fields (ids, names of arguments, branches, times), as it is written."""
        if not word.isascii() or len(word) < _LEAST:
            return False
        found: int = self.comparison.raw.find(word.encode())
        return found >= 0 and bordered(word, self._around(found, len(word)))

    def _around(self, at: int, size: int) -> str:
        return bytes(self.comparison.raw[max(0, at - 1) : at + size + 2]).decode("utf-8", "replace")

    def weigh(self, words: Iterable[str]) -> float:
        """How much words say: by how rare they are, or, for an output of our own, each the same."""
        return float(sum(1 for _ in words)) if self.comparison.ours else self.index.weigh(words)

    def is_rare(self, words: frozenset[str]) -> bool:
        """Whether one of the words alone says what is spoken of."""
        if self.comparison.ours:
            return any(len(w) >= _LONG or not w.isascii() for w in words)
        return any(self.index.weigh((w,)) >= _RARE * self.index.rarest for w in words)

    # -- findings

    def place(self, statement: Statement) -> Place:
        """Where a statement of the output stands."""
        m = statement.message
        return Place(self.comparison.files[1], m.line, m.id, statement.start)

    def unproven(self, message: str, fact: str, place: Place) -> Finding:
        """What the original does not have: an error, but a note where the original's beginning is in another file."""
        if self.is_fragment:
            text = f"{message} (the original's beginning is in another file)"
            return Finding("", Level.NOTE, text, shown(fact), place)
        return error(message, fact, place)

    def place_of(self, part: Part) -> Place:
        m = self.message(part)
        return Place(self.comparison.files[1], m.line, m.id)

    def origin(self, message: Message, offset: int = 0) -> Place:
        """A place in the original."""
        return Place(self.comparison.files[0], message.line, message.id, offset)


def of(comparison: Comparison) -> Compared:
    """What is known of this comparison, worked out once for all checks."""
    found = comparison.shared.get(_KEY)
    if found is None:
        found = comparison.shared[_KEY] = Compared(comparison)
    assert isinstance(found, Compared)
    return found


def error(message: str, fact: str, at: Place) -> Finding:
    """A finding that stops an output; its check is the rule's id."""
    return Finding("", Level.ERROR, message, shown(fact), at)


def shown(text: str) -> str:
    """A text as findings show it: one line, not too long."""
    text = squeeze(text)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def where(message: Message) -> str:
    """A place in words, for the second place that a finding names."""
    name = message.id if message.id.startswith("#") else f"#{message.index}"
    return f"{message.role.value} {name}, line {message.line}" if message.line else f"{message.role.value} {name}"


def distinct(findings: Iterator[Finding]) -> Iterator[Finding]:
    """Each finding once."""
    seen: set[tuple[str, str]] = set()
    for finding in findings:
        key = (finding.message, finding.fact)
        if key not in seen:
            seen.add(key)
            yield finding


__all__ = ["Compared", "bare", "distinct", "error", "of", "shown", "where"]
