"""Every registered fact is in the output, in the form its rule asks for.

What this run wrote must hold a verbatim fact word for word (white space and markup apart). Somebody else's
compaction may tell it again: with the same polarity, value and names that is a note, not an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from compressor.checks import _compared
from compressor.checks._compared import Compared, shown
from compressor.checks._items import items
from compressor.checks._retold import retold
from compressor.checks._terms import bag, bare, squeeze
from compressor.model import Comparison, Fact, Finding, Level, Mode, Origin, Place, Role, requests

OPTIONS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}
#: Kinds whose fact is a whole request, and kinds of which a request holds many.
_REQUESTS: Final = frozenset({"whole", "task"})
_DETAILS: Final = frozenset({"number", "entity"})
#: So much of a title's words say something.
_TITLE: Final = 3
#: After so many more calls a failure is no longer what everybody has in mind.
_LONG_AGO: Final = 20
#: What an agent says before it does it.
_STEP: Final = re.compile(
    r"[\W_]*(?:now |next |first |then )?(?:I['’]?ll|I will|I['’]?m going to|let me|我会|我来|我先|我将|接下来|现在)",
    re.IGNORECASE,
)
MECHANICAL = True
FIXED_LEVELS = True


def check(comparison: Comparison, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding per fact that is not in the output, at the fact's own level; a note for one told in other words."""
    compared = _compared.of(comparison)
    gone: list[Fact] = []
    for fact in comparison.facts:
        if _stands(fact, compared) or _is_within(fact, gone):
            continue
        again = None if comparison.ours and fact.mode is Mode.VERBATIM else retold(fact, compared)
        if again is None:
            finding = _missing(fact, compared)
            yield finding
            if fact.kind in _REQUESTS and finding.level is Level.ERROR:
                gone.append(fact)
        elif fact.mode is Mode.VERBATIM and again.text:
            yield _told(fact, again.text, compared)
    if not comparison.ours:
        yield from _salient(compared)


def _stands(fact: Fact, compared: Compared) -> bool:
    if fact.text in compared.output_text or squeeze(fact.text) in compared.output_squeezed:
        return True
    if compared.comparison.ours and fact.mode is Mode.VERBATIM:
        return False
    words = bare(fact.text)
    return bool(words) and words in compared.output_bare


def _is_within(fact: Fact, gone: Sequence[Fact]) -> bool:
    """Whether a number or name went with a request that is reported: one loss, one finding."""
    return fact.kind in _DETAILS and any(
        g.part == fact.part and g.start <= fact.start and fact.end <= g.end for g in gone
    )


def _missing(fact: Fact, compared: Compared) -> Finding:
    level: Level = fact.level if fact.level is not Level.NOTE else Level.WARNING
    message = f"the {_NAMES.get(fact.kind, fact.kind)} is not in the output"
    spared = None if compared.comparison.ours else _spared(fact, compared)
    if spared is not None:
        level, why = spared
        message = f"{message} ({why})"
    return Finding(fact.rule, level, message, _shown(fact.text), _at(fact, compared))


def _spared(fact: Fact, compared: Compared) -> tuple[Level, str] | None:
    """Why somebody else's compaction may do without a fact, and at which level that is told; None: it may not."""
    if fact.part < 0:
        return None
    original = compared.original
    message = original.messages[original.parts[fact.part].message]
    if message.regainable:
        return Level.NOTE, "the harness says it anew in every session"
    if fact.kind == "task" and _is_heading(fact.text):
        return Level.NOTE, "a heading"
    if fact.kind in _REQUESTS and message.origin is Origin.PERSON and not message.pinned:
        typed = [m.index for m in requests(original)]
        if message.index not in (typed[0], typed[-1]):
            return Level.WARNING, "an earlier request; what it forbids, requires and counts is asked for apart"
    if fact.kind == "decision" and message.role is Role.ASSISTANT and _STEP.match(fact.text):
        return Level.NOTE, "a step that was taken next"
    if fact.kind == "outcome" and sum(1 for c in original.calls if c.message > message.index) > _LONG_AGO:
        return Level.WARNING, "much has been done since"
    return None


def _is_heading(text: str) -> bool:
    """A title or a lead-in asks for nothing by itself."""
    return text.rstrip(" *_").endswith((":", "：")) or len(bag(text)) <= _TITLE


_NAMES: Mapping[str, str] = {"whole": "text", "task": "request", "negation": "prohibition", "outcome": "open error"}


def _told(fact: Fact, again: str, compared: Compared) -> Finding:
    message = f"the {_NAMES.get(fact.kind, fact.kind)} is told in other words: {shown(again)}"
    return Finding(fact.rule, Level.NOTE, message, _shown(fact.text), _at(fact, compared))


def _at(fact: Fact, compared: Compared) -> Place:
    return Place(compared.comparison.files[0], fact.line, fact.message, fact.start)


def _shown(text: str) -> str:
    return text if len(text) <= 200 else text[:200] + "…"


def _salient(compared: Compared) -> Iterator[Finding]:
    """One line on the hard items that no rule registered: how many of them are gone."""
    every = {i.text for s in compared.index.statements if len(s.text) < 400 for i in items(s.text)}
    gone = sum(1 for item in every if item not in compared.output_text)
    if gone:
        yield Finding(
            "", Level.NOTE, f"{gone:,} of {len(every):,} paths, identifiers and the like are not in the output"
        )
