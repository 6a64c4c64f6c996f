"""Sort statements into the fields of a brief: decisions with their reasons, notes, what is done, what is next."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from compressor.brief import Decision, Entry, Note
from compressor.summarizers._cues import Cues
from compressor.summarizers._prose import Statement
from compressor.summarizers._worth import Told, Worth

NOTE_TYPES: Final = ("dead_end", "insight", "pattern", "decision", "todo")
#: Cue list of a note type where it is not the type's own name.
_LIST: Final = {"decision": "chosen"}
_COMMA: Final = re.compile(r"[,，]\s*")
_LEAD: Final = re.compile(r"^(?:so |then |and |but |now |therefore,? |我(?:会|将|们|来|先)?)+", re.IGNORECASE)
_GOING_TO: Final = re.compile(r"^(?:also |now |just )?(?:going to |planning to )?", re.IGNORECASE)
_LABEL: Final = re.compile(r"^(?:decisions?|决定)[^:：]{0,20}[:：]\s*", re.IGNORECASE)
#: "since 04:12" gives a time, not a reason.
_TIME: Final = re.compile(
    r"since\s+(?:\d|last\b|yesterday\b|then\b|the (?:last|first|beginning|start)\b)", re.IGNORECASE
)
_ANNOUNCED: Final = re.compile(r"\bI['’](?:ll|m)\s|\blet me\s|我(?:先|来|将|会)", re.IGNORECASE)
_NEXT_UP: Final = re.compile(
    r"(?:next|meanwhile|after|then|once|while|waiting)\b.{0,80}?(?:\bI['’](?:ll|m)\s|\bstep now\b)", re.IGNORECASE
)
#: Longest entry that items of one list are joined to, in characters.
_JOINED: Final = 420
#: A finding that is worth less than this share of the best one is not told.
_LEAST: Final = 0.22
#: "…; I'll inspect that next": what the agent was about to look at then.
_ABOUT_TO: Final = re.compile(
    r"(?:[,;，；—]| -)\s*(?:so |and |but )?(?:I['’](?:ll|m)\b|let me\b|I will\b|我(?:先|来|将|会)).*$", re.IGNORECASE
)
_ASKING: Final = re.compile(r"(?:why|what|how|should|can|could|is|are|do|does|did|where|which)\b", re.IGNORECASE)
_FUTURE: Final = re.compile(
    r"\b(?:if|when|once|should|will|would|need|needs|needed|to be|can|could|not|no|before|until|must|verify|ensure|check|make sure)\b|n['’]t\b|需要|如果|尚未|没有|未",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Group:
    """Statements that are told as one: a sentence, or the items of one list in their order."""

    said: list[Statement]
    texts: list[str]

    @property
    def size(self) -> int:
        return sum(map(len, self.texts))

    @property
    def sources(self) -> tuple[str, ...]:
        return (f"#{self.said[0].message}",)

    @property
    def text(self) -> str:
        """The texts in the order in which they were said, under their heading if it says anything."""
        pairs = sorted(zip(self.said, self.texts, strict=True), key=lambda p: p[0].place)
        joined = "; ".join(text.rstrip(".。;；") for _, text in pairs) if len(pairs) > 1 else self.texts[0]
        first = self.said[0]
        return f"{first.heading}: {joined}" if first.bullet and first.leads else joined


@dataclass(frozen=True, slots=True)
class Judge:
    """Ranks statements of one session; `size` is its number of messages."""

    cues: Cues
    worth: Worth
    told: Told
    size: int

    def recency(self, message: int) -> float:
        """From 0.4 for the oldest message to 1 for the newest."""
        return 0.4 + 0.6 * message / max(self.size - 1, 1)

    def score(self, said: Statement) -> float:
        """Worth of a statement: its items, its age, who said it."""
        base = self.worth.of(said.text) * self.recency(said.message)
        if said.person:
            base *= 1.3
        if said.text.endswith(("?", "？")) or len(said.text) < 25 and not _cjk(said.text):
            base *= 0.4
        return base

    def ranked(self, said: Sequence[Statement], *, least: float = 0.0) -> list[Statement]:
        """Best first, equal ones in their order, down to the share `least` of the best one's score."""
        scored = sorted(((self.score(s), s) for s in said), key=lambda p: (-p[0], p[1].message))
        return [s for score, s in scored if score >= least * scored[0][0]]

    # --- decisions ---

    def decisions(self, said: Sequence[Statement], most: int) -> tuple[Decision, ...]:
        """Statements that give what was decided and why."""
        out: list[Decision] = []
        for statement in self.ranked([s for s in said if s.hits.keys() & {"because", "purpose", "therefore"}]):
            found = self._decision(statement)
            if found and self.told.fresh(statement.text):
                out.append(found)
                if len(out) >= most:
                    break
        return tuple(out)

    def _decision(self, said: Statement) -> Decision | None:
        decision, reason = _halves(said)
        if len(decision) < 12 - 8 * _cjk(decision) or len(reason) < 12 - 8 * _cjk(reason):
            return None
        if said.text.endswith(("?", "？")) or "?" in decision or _TIME.search(said.text):
            return None
        hits = self.cues.find(decision)
        start = hits.get("chatter")
        intends = start is not None and start[0] == 0 or hits.get("chosen", (1, 0))[0] == 0
        decision = _LABEL.sub("", decision)
        if start and start[0] == 0:
            decision = _GOING_TO.sub("", decision[start[1] :].strip(" ,，"))
            hits = self.cues.find(decision)
        look, decide = hits.get("look", (99, 0))[0], hits.get("decide", (99, 0))[0]
        if len(decision) < 6 or look <= min(decide, 12) or (decide > 30 and not intends):
            return None
        return Decision(decision, reason, (f"#{said.message}",))

    # --- notes ---

    def notes(self, said: Sequence[Statement], most: int) -> tuple[Note, ...]:
        """Notes of all types, the best first; what is more than `most` is merged with a note on the same item."""
        chosen: list[tuple[float, Note]] = []
        for kind in NOTE_TYPES:
            name = _LIST.get(kind, kind)
            fitting = [s for s in said if _is_note(s, name) and (kind != "todo" or s.message >= self.size // 2)]
            for group in self.groups(self.ranked(fitting), most * 2):
                note = Note(kind, group.text, group.sources)
                chosen.append((self.score(group.said[0]), note))
        chosen.sort(key=lambda c: (-c[0], NOTE_TYPES.index(c[1].type)))
        return self._merged([n for _, n in chosen], most)

    def _merged(self, notes: Sequence[Note], most: int) -> tuple[Note, ...]:
        """Keep the first `most`; join to each a later one of its type that speaks of the same item."""
        kept = list(notes[:most])
        by_subject = {
            (n.type, item): i for i, n in reversed(list(enumerate(kept))) for item in self.worth.items(n.text)
        }
        for note in notes[most : most * 2]:
            subjects = ((note.type, item) for item in self.worth.items(note.text))
            home = next((by_subject[s] for s in subjects if s in by_subject), -1)
            if home >= 0 and len(kept[home].text) + len(note.text) < _JOINED:
                old = kept[home]
                sources = tuple(dict.fromkeys((*old.sources, *note.sources)))
                kept[home] = replace(old, text=f"{old.text.rstrip('.。')}; {note.text}", sources=sources)
        return tuple(kept)

    # --- state ---

    def completed(self, said: Sequence[Statement], most: int) -> list[Entry]:
        """What the agent says it has done: ticked boxes, items of a summary, `Fixed …`."""
        fitting = [s for s in said if not (s.person or s.planned) and _is_done(s) and self._is_full(s)]
        return self.entries(self.ranked(fitting), most)

    def _is_full(self, said: Statement) -> bool:
        """It says what was done: `All good now.` does not."""
        return said.bullet or len(said.text.split()) >= 7 or bool(self.worth.items(said.text)) or _cjk(said.text)

    def pending(self, said: Sequence[Statement], most: int) -> list[Entry]:
        """What the agent says is next, newest first."""
        fitting = [s for s in said if not s.person and is_next(s)]
        return self.entries(list(reversed(fitting)), most)

    def tell(self, said: Statement) -> str:
        """The statement as it is to be told, "" if it has been.

        With the sentence before it where it needs one (unless that was told), without what the agent was about
        to look at.
        """
        if not self.told.fresh(said.text):
            return ""
        text = said.whole
        if text != said.text and not self.told.fresh(said.before):
            text = said.text
        return _ABOUT_TO.sub("", text) if len(text) > 60 else text

    def groups(self, said: Sequence[Statement], most: int) -> list[Group]:
        """The first `most` of these that have not been told yet, the items of one list in one group."""
        out: list[Group] = []
        lists: dict[tuple[int, str], Group] = {}
        for statement in said:
            key = (statement.message, statement.heading)
            home = lists.get(key) if statement.bullet and statement.heading else None
            if home is None and len(out) >= most or home is not None and home.size + len(statement.text) > _JOINED:
                continue
            text = self.tell(statement)
            if text and home is None:
                lists[key] = Group([statement], [text])
                out.append(lists[key])
            elif text and home is not None:
                home.said.append(statement)
                home.texts.append(text)
        return out

    def entries(self, said: Sequence[Statement], most: int) -> list[Entry]:
        """The same as entries of the brief."""
        return [Entry(g.text, g.sources) for g in self.groups(said, most)]

    def findings(self, said: Sequence[Statement], most: int) -> list[Entry]:
        """The statements with the most valuable items that were not told yet."""
        fitting = [s for s in said if not s.person and _tells(s) and not says_nothing(s) and self.worth.items(s.text)]
        return self.entries(self.ranked(fitting, least=_LEAST)[: most * 3], most)


def _cjk(text: str) -> bool:
    return any("\u3400" <= c <= "\u9fff" for c in text[:40])


def _tells(said: Statement) -> bool:
    """More than a bare address or number, and no question."""
    words = len(said.text.split()) + (3 if said.bullet and said.leads else 0)
    return (words >= 4 or _cjk(said.text)) and not said.text.endswith(("?", "？"))


def says_nothing(said: Statement) -> bool:
    """Announcements and pleasantries: what the agent is about to look at, not what it has found."""
    start = said.hits.get("chatter")
    if is_pleasantry(said) or start and start[0] == 0 or "passing_by" in said.hits or said.text.endswith((":", "：")):
        return True
    if _NEXT_UP.match(said.text):
        return True
    if "look" in said.hits and _ANNOUNCED.search(said.text):
        return len(_ABOUT_TO.sub("", said.text)) < 40
    pronoun = said.hits.get("pronoun")
    return bool(pronoun and pronoun[0] == 0 and _ANNOUNCED.match(said.before))


def is_pleasantry(said: Statement) -> bool:
    """Thanks, greetings, good wishes, offers of more help."""
    start = said.hits.get("pleasantry")
    return bool(start and start[0] == 0)


def _halves(said: Statement) -> tuple[str, str]:
    """What was decided and why, wherever the cue stands."""
    text, hits = said.text, said.hits
    so = hits.get("therefore")
    if so and so[0] > 10 - 5 * _cjk(text):
        because = hits.get("because")
        begin = because[1] if because and because[0] == 0 else 0
        return _LEAD.sub("", text[so[1] :].strip(" ,，")), text[begin : so[0]].strip(" ,，;；")
    at = hits.get("because") or hits.get("purpose")
    if at is None:
        return "", ""
    if at[0] < 3:
        comma = _COMMA.search(text, at[1])
        if comma is None:
            return "", ""
        return _LEAD.sub("", text[comma.end() :]), text[at[1] : comma.start()].strip(" ,，")
    begin = at[1] if "because" in hits else at[0]
    return text[: at[0]].strip(" ,，;；—-(（"), text[begin:].strip(" ,，:：")


def _is_note(said: Statement, name: str) -> bool:
    at = said.hits.get(name)
    if name == "chosen" and said.text.endswith(("?", "？")):
        return False
    if at is None:
        return f"heading:{name}" in said.hits and said.bullet and len(said.text) > 15
    if len(said.text) < 30 and not _cjk(said.text):
        return False
    if said.person and (name in ("todo", "pattern") or said.text.endswith(("?", "？")) or _ASKING.match(said.text)):
        return False
    return name == "dead_end" or not says_nothing(said)


def _is_done(said: Statement) -> bool:
    if said.box is not None:
        return said.box
    if says_nothing(said) or said.text.endswith(("?", "？")) or len(said.text) < 15 - 8 * _cjk(said.text):
        return False
    if said.bullet and "heading:done" in said.hits:
        return True
    at = said.hits.get("done")
    return at is not None and at[0] < 40 and not _FUTURE.search(said.text[: at[1]])


def is_next(said: Statement) -> bool:
    if said.box is not None:
        return not said.box
    if said.bullet and "heading:next" in said.hits:
        return True
    at = said.hits.get("next") or said.hits.get("open_question")
    if (
        at is None
        or "passing_by" in said.hits
        or said.hits.get("chatter", (1, 1))[0] == 0
        and "open_question" not in said.hits
    ):
        return False
    return at[0] < 30 or "open_question" in said.hits or "todo" in said.hits
