"""What a model's brief rests on: its sources are looked up, and the facts that it proposes are found or refused.

Judgement to the model, discipline to the code: a source that does not exist is taken out, one that was forgotten is
put in, a name that no message holds is an error, and a proposed fact counts only if a source holds it word for word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import Any, Final

from compressor import support
from compressor.asking import Proposal
from compressor.brief import Brief, Count, Decision, Entry, Note
from compressor.briefs import LISTS, Item
from compressor.model import VISIBLE, Fact, Finding, Level, Message, Mode, PartType, Session
from compressor.salience import Scanner

#: Share of the brief's budget that proposed facts may take, how many they may be, and how long.
_SHARE: Final = 0.25
_MOST: Final = 10
_LENGTHS: Final = (3, 400)
#: A reason of whose words the sources hold less than this share was not given there.
_SHARED: Final = 0.5
#: An entry that says so little besides a name says nothing of it.
_TOLD: Final = 3
#: Longer messages are output of tools, which nobody retells sentence by sentence.
_SPOKEN: Final = 20_000
_CLAUSES: Final = re.compile(r"[,;:，；：] ?| because | since |因为|由于")
#: Rule name of the facts that the model proposed.
PROPOSED: Final = "model"
_SHORT: Final = re.compile(r"#(\d{1,9})\Z")
_NUMBER: Final = re.compile(r"(?<![\w.])\d{3,9}(?![\w.])")
_LETTERS: Final = re.compile(r"[^\W\d_]")


class Sourcing:
    """Looks things up in the originals of one session."""

    def __init__(self, session: Session, language: str = "en") -> None:
        self._session = session
        self._language = language
        self._scanner = Scanner()
        self._texts: dict[int, str] = {}

    @cached_property
    def _by_id(self) -> dict[str, int]:
        return {m.id: m.index for m in self._session.messages}

    @cached_property
    def _everything(self) -> str:
        return "\n".join(self._text(m.index) for m in self._session.messages)

    @cached_property
    def _digits(self) -> str:
        return self._everything.replace(",", "")

    def _text(self, index: int) -> str:
        found = self._texts.get(index)
        if found is None:
            parts = (p.text for p in self._session.messages[index].parts if p.type in VISIBLE)
            found = self._texts[index] = "\n".join(parts).casefold()
        return found

    def message(self, source: str) -> Message | None:
        """The message that a source names; our own brief is none."""
        short = _SHORT.match(source)
        index = int(short[1]) if short else self._by_id.get(source, -1)
        known = 0 <= index < len(self._session.messages) and index != self._session.brief
        return self._session.messages[index] if known else None

    # -- entries

    def checked(self, brief: Brief) -> tuple[Brief, list[Finding]]:
        """The brief with sources that hold, and what was wrong with them."""
        found: list[Finding] = []
        said: dict[str, Any] = {}
        for name in ("goal", "progress"):
            entry: Entry = getattr(brief, name)
            said[name] = self._entry(entry, found) if entry.text.strip() else entry
        for name in LISTS:
            said[name] = tuple(self._entry(item, found) for item in getattr(brief, name))
        return replace(brief, **said), found

    def _entry(self, item: Any, found: list[Finding]) -> Any:
        words = " ".join(_words(item))
        good = {s: m for s in item.sources if (m := self.message(s)) is not None}
        unknown = [s for s in item.sources if s not in good]
        if unknown:
            names = ", ".join(dict.fromkeys(unknown))[:80]
            found.append(
                Finding("sources", Level.WARNING, f"no message {names}, which this is said to rest on", words[:200])
            )
        cited = "\n".join(self._text(m.index) for m in good.values())
        sources = list(good)
        for name in dict.fromkeys(i for segment in self._scanner.segments(words) for i in segment[2]):
            key = name.casefold()
            if not _LETTERS.search(name) or key in cited:
                continue  # numbers have checks of their own, which know their notations
            holder = self._holder(key)
            if holder is None:
                found.append(Finding("sources", Level.ERROR, "no message holds what the brief tells", name))
            else:
                sources.append(f"#{holder}")
                cited += "\n" + self._text(holder)
        found += self._not_supported(item, words, [m.index for m in good.values()])
        if not sources and not unknown:
            found.append(Finding("sources", Level.NOTE, "an entry without a source", words[:200]))
        return replace(item, sources=tuple(dict.fromkeys(sources)))

    def _not_supported(self, item: Any, words: str, cited: list[int]) -> Iterator[Finding]:
        """What is told of a matter that the originals do not speak of so."""
        reason = item.reason if isinstance(item, Decision) else support.reason(words, self._language)
        around = {i for c in cited for i in (c - 1, c, c + 1) if 0 <= i < len(self._session.messages)}
        if reason and cited and support.share(reason, map(self._text, around)) < _SHARED:
            yield Finding("sources", Level.ERROR, "no source gives this reason", reason[:200])
        for number in dict.fromkeys(_NUMBER.findall(words.replace(",", ""))):
            if number not in self._digits:
                yield Finding("sources", Level.ERROR, "no message holds this number", number)
        yield from self._turned(words, around)
        for name in dict.fromkeys(i for segment in self._scanner.segments(words) for i in segment[2]):
            rest = words.replace(name, " ")
            if _LETTERS.search(name) and len(support.matter(rest)) >= _TOLD and not self._speaks(name.casefold(), rest):
                yield Finding("sources", Level.ERROR, f"the originals say nothing like this of {name}", words[:200])

    def _turned(self, words: str, around: set[int]) -> Iterator[Finding]:
        """Sentences that are copied from a source, but for what matters most."""
        near = [s for i in sorted(around) if len(self._text(i)) < _SPOKEN for s in support.sentences(self._text(i))]
        for told in support.sentences(words):
            pieces = [told, *_CLAUSES.split(told)]
            for piece in pieces:
                turned = next(
                    (t for s in near for o in (s, *_CLAUSES.split(s)) if (t := support.changed(piece, o))), ""
                )
                exact = any(piece.casefold().strip(" .。") in s for s in near)
                if turned and not exact:
                    yield Finding("sources", Level.ERROR, f"a source says this, but for {turned}", piece[:200])
                    return

    def _speaks(self, key: str, rest: str) -> bool:
        """Whether anything of the rest is said where the name stands."""
        wanted = support.matter(rest)
        for message in self._session.messages:
            if key not in self._text(message.index):
                continue
            prose = all(p.type is PartType.TEXT for p in message.parts if p.type in VISIBLE)
            near = [s for s in support.sentences(self._text(message.index)) if key in s]
            if not prose:
                near += [self._text(i) for i in (message.index - 1, message.index, message.index + 1)
                         if 0 <= i < len(self._session.messages)]  # fmt: skip
            if any(wanted & support.matter(n) for n in near):
                return True
        return False

    def _holder(self, key: str) -> int | None:
        """The last message that holds an item; a path may be told by its end, a name in a sentence by its stem."""
        if key not in self._everything:
            return None
        return next((m.index for m in reversed(self._session.messages) if key in self._text(m.index)), None)

    # -- proposals

    def admitted(
        self, proposals: Sequence[Proposal], facts: Sequence[Fact], budget: int, count: Count
    ) -> tuple[Fact, ...]:
        """The proposed facts that a source holds word for word, as far as there is room for them."""
        room = budget * _SHARE
        out: list[Fact] = []
        guaranteed = "\n".join(f.text for f in facts)
        for proposal in proposals:
            fact = self._fact(proposal)
            if fact is None or fact.text in guaranteed or any(fact.text in f.text for f in out):
                continue
            room -= count(fact.text)
            if room < 0 or len(out) == _MOST:
                break
            out.append(fact)
        return tuple(out)

    def _fact(self, proposal: Proposal) -> Fact | None:
        text = proposal.text.strip()
        if not _LENGTHS[0] <= len(text) <= _LENGTHS[1]:
            return None
        for source in proposal.sources:
            message = self.message(source)
            if message is None or message.abandoned:
                continue
            for part in message.parts:
                at = part.text.find(text) if part.type in VISIBLE else -1
                if at >= 0:
                    return Fact(
                        PROPOSED, PROPOSED, Mode.VERBATIM, Level.ERROR, text, text, part.ordinal, message.id,
                        message.line, at, at + len(text),
                    )  # fmt: skip
        return None


def _words(item: Item) -> Iterator[str]:
    """What an entry says."""
    for f in fields(item):
        value = getattr(item, f.name)
        if f.name == "sources" or (isinstance(item, Note) and f.name == "type"):
            continue
        yield from value if isinstance(value, tuple) else (value,)
