"""What is told as the user's or the agent's saying, doing or wish is theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.checks import _compared
from compressor.checks._compared import Compared, distinct, error, shown, where
from compressor.checks._pairs import Pair, covered
from compressor.checks._statements import Statement
from compressor.checks._terms import bag
from compressor.model import Comparison, Finding, Origin, Part, PartType, Role, text_of

OPTIONS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}

_VERB: Final = (
    r"(?:said|says|asked|asks|wants?|wanted|told|requested|requests|decided|decides|prefers?|preferred|confirmed|confirms|approved|approves|rejected"
    r"|rejects|suggested|suggests|proposed|proposes|recommended|recommends|insisted|insists|required|requires|reported|reports|noted|notes|pointed out"
    r"|stated|states|explained|claimed|agreed|chose|chooses|instructed|ordered|demanded|offered|warned|complained|needs|forbade|forbids|ruled out|announced)"
)
_HAN_VERB: Final = "(?:说|表示|要求|希望|提出|建议|决定|确认|同意|批准|拒绝|指出|认为|选择|询问|强调|指示|禁止|想要|需要|提议|推荐|反馈|报告|明确)"
_USER: Final = re.compile(
    rf"^[\W_]*(?:the )?(?:user|customer|client|human)\s+(?:has |had |also |then |explicitly |clearly |later )*{_VERB}\b"
    rf"|^[\W_]*(?:用户|客户|使用者)(?:还|又|也|已|明确|随后|后来)?{_HAN_VERB}",
    re.IGNORECASE,
)
_AGENT: Final = re.compile(
    rf"^[\W_]*(?:the )?(?:assistant|agent|model|ai|i)\s+(?:has |had |also |then |explicitly |clearly |later )*{_VERB}\b"
    rf"|^[\W_]*(?:助手|助理|代理|模型|我)(?:还|又|也|已|明确|随后|后来)?{_HAN_VERB}",
    re.IGNORECASE,
)
_END: Final = re.compile(r"[;；]|[,，]\s*(?:but|and|while|但|而)\s?")
_CLEAR: Final = 0.6
_FAINT: Final = 0.4
_LEAST: Final = 3
_SAME: Final = 2


def check(comparison: Comparison, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each saying that the original gives to somebody else."""
    compared = _compared.of(comparison)
    yield from distinct(_told(compared))
    for ordinal, source in compared.alignment.kept.items():
        yield from _moved(compared, compared.output.parts[ordinal], source)


def _told(compared: Compared) -> Iterator[Finding]:
    for statement in compared.claims:
        if not statement.prose:
            continue
        for pattern, origin in ((_USER, Origin.PERSON), (_AGENT, Origin.AGENT)):
            found = pattern.match(statement.text)
            if found:
                yield from _checked(statement, found.end(), origin, compared)


def _checked(statement: Statement, start: int, origin: Origin, compared: Compared) -> Iterator[Finding]:
    """The words behind the verb, looked for in what each has said."""
    words = bag(_END.split(statement.text[start:])[0])
    if len(words) < _LEAST:
        return
    own = max((covered(words, b, compared) for b in compared.said_by(origin)), default=0.0)
    others = 0.0
    other: Statement | None = None
    for share, candidate in (
        compared.evidence(statement, words) if compared.comparison.ours else compared.index.near(words, most=24)
    ):
        if (
            candidate.speaker is not origin
            and candidate.speaker in (Origin.PERSON, Origin.AGENT)
            and share > others
            and candidate.prose
        ):
            others, other = share, candidate
    if (
        other is not None
        and others >= _CLEAR
        and own < min(_FAINT, others - 0.25)
        and not _answers(other, words, compared)
    ):
        yield _finding(Pair(statement, other, others, 0.0), compared)


def _answers(other: Statement, words: frozenset[str], compared: Compared) -> bool:
    """Whether the agent only says again what the person has just said: a third of the words is in that message."""
    if other.speaker is not Origin.AGENT:
        return False
    before = compared.original.messages[: other.message.index]
    asked = next((m for m in reversed(before) if m.origin is Origin.PERSON and not m.abandoned), None)
    theirs = bag(text_of(asked)) if asked is not None else frozenset[str]()
    return len(words & theirs) >= max(_SAME, len(words) / 3)


def _finding(pair: Pair, compared: Compared) -> Finding:
    place = where(pair.old.message)
    message = f'another speaker: "{shown(pair.old.text)}" in the original ({place}) reads "{shown(pair.new.text)}" here'
    return error(message, pair.old.text, compared.place(pair.new))


def _moved(compared: Compared, part: Part, source: Part) -> Iterator[Finding]:
    """A whole message of one speaker in the name of the other."""
    here, there = compared.message(part), compared.original.messages[source.message]
    talk = {Role.USER, Role.ASSISTANT}
    if part.type is not PartType.TEXT or here.role is there.role or not {here.role, there.role} <= talk:
        return
    if Origin.HARNESS in (here.origin, there.origin):
        return
    message = f'the {there.role.value} of the original ({where(there)}) says it, here the {here.role.value}: "{shown(source.text)}"'
    yield error(message, source.text, compared.place_of(part))
