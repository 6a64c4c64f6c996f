"""What the output says and the original nowhere has: numbers, paths, identifiers, addresses, names.

Equal values in another notation are not invented, nor are counts that can be worked out from the original, nor the
shorter form of a path that names the same file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.checks import _compared
from compressor.checks._compared import Compared, distinct, shown
from compressor.checks._counts import is_count
from compressor.checks._cutshort import cut_of
from compressor.checks._items import Item, items
from compressor.checks._statements import Statement
from compressor.checks._verdicts import replaced
from compressor.guards.entities import Entity, entities
from compressor.guards.numbers import Number
from compressor.model import Comparison, Finding

OPTIONS: Mapping[str, Any] = {"type": "object", "additionalProperties": False, "properties": {}}

_LIST_MARK: Final = re.compile(
    r"^\s*(?:#{1,6}\s+)?(?:[-*+]\s+)?(?:\*{1,2})?(?:(?:step|phase|part|item|task|第)\s*\d{1,3}|\(?\d{1,3}[.)、:：](?!\d))",
    re.IGNORECASE,
)


def check(comparison: Comparison, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each item of the new text that the original does not have."""
    compared = _compared.of(comparison)
    yield from distinct(_all(compared))


def _all(compared: Compared) -> Iterator[Finding]:
    told = {(id(r.mention.statement), r.mention.text) for r in replaced(compared)}
    for statement in compared.new:
        found = [*_items(statement, compared), *_people(statement, compared)]
        taken = [(start, end) for _, start, end, _ in found]
        for kind, start, end, known in (*found, *_numbers(statement, taken, compared)):
            text = statement.text[start:end]
            if not known and (id(statement), text) not in told:
                yield _finding(kind, text, statement, compared)


#: Kind, start, end, and whether the original has it.
Found = tuple[str, int, int, bool]


def _items(statement: Statement, compared: Compared) -> Iterator[Found]:
    for item in items(statement.text):
        known = compared.cites(statement, item.text) or _is_example(item, statement) or _known(item, compared)
        yield item.kind, item.start, item.end, known


def _people(statement: Statement, compared: Compared) -> Iterator[Found]:
    for start, end in people(statement, compared):
        words = statement.text[start:end].split()
        yield "name", start, end, _is_heading(statement) or all(compared.has_word(w) for w in words)


def _numbers(statement: Statement, taken: list[tuple[int, int]], compared: Compared) -> Iterator[Found]:
    if not _DIGIT.search(_without(statement.text, taken)):
        return
    for number in statement.numbers:
        if not any(a < number.end and number.start < b for a, b in taken):
            known = _is_mark(number, statement) or _number_known(number, statement, compared)
            yield "number", number.start, number.end, known


_DIGIT: Final = re.compile(
    r"\d|[零一二三四五六七八九十百千万亿]|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|hundred|thousand|million|dozen)\b",
    re.IGNORECASE,
)


def _without(text: str, taken: list[tuple[int, int]]) -> str:
    """The text without the stretches that are names, and without its citation."""
    for start, end in reversed(taken):
        text = text[:start] + " " + text[end:]
    return text.partition(" [#")[0]


def _finding(kind: str, text: str, statement: Statement, compared: Compared) -> Finding:
    name = {"file": "file", "path": "path", "url": "address", "number": "number", "name": "name"}.get(
        kind, "identifier"
    )
    message = f'the {name} "{shown(text)}" is nowhere in the original; the output says: {shown(statement.text)}'
    return compared.unproven(message, text, compared.place(statement))


_NAMED: Final = re.compile(
    r"\b(?:namespace|bucket|topic|cluster|branch|queue|container|pod|host|tenant|keyspace|schema)\s+[`\"']?([a-z][a-z0-9]*(?:[-_.][a-z0-9]+)*)(?=[`\"'.,;)]|\s(?:and|on|in|with)\b|$)"
)


def people(statement: Statement, compared: Compared) -> list[tuple[int, int]]:
    """People that a statement names, and things that it calls by name (`the namespace billing`)."""
    if not statement.prose:
        return []
    if compared.comparison.ours and not _has_new_name(statement, compared):
        return [m.span(1) for m in _NAMED.finditer(statement.text)]
    found = [
        (e.start, e.end) for e in entities(statement.text) if e.label == "person" and not _runs_on(e, statement.text)
    ]
    return found + [m.span(1) for m in _NAMED.finditer(statement.text)]


def _has_new_name(statement: Statement, compared: Compared) -> bool:
    """Whether two words with capitals stand side by side, one of which the original does not have."""
    return any(not compared.has_word(w) for m in _TWO.finditer(statement.text) for w in m.groups())


_TWO: Final = re.compile(r"\b([A-Z][a-zà-ÿ]+) ([A-Z][a-zà-ÿ]+)\b")


def _runs_on(entity: Entity, text: str) -> bool:
    """A name, where no spaces are, that has taken the first character of the next word."""
    if entity.text.isascii() or len(entity.text) < _THREE:
        return False
    return text.count(text[entity.end - 1 : entity.end + 1]) > 1 or text[entity.end - 1] in _VERBS


#: Verbs that often follow a name.
_VERBS: Final = frozenset("负审要说是在和与的已将会对去来把给让做写改")
_THREE: Final = 3


def _is_heading(statement: Statement) -> bool:
    line = statement.part.text.rfind("\n", 0, statement.start) + 1
    return statement.part.text[line : line + 1] == "#" or statement.text.endswith((":", "："))


def _known(item: Item, compared: Compared) -> bool:
    """Whether the original has the item, or a longer form of it (which is another check's matter)."""
    word = item.text
    if compared.has_word(word) or compared.has_word(word.strip("./~*#()")):
        return True
    if item.kind in ("path", "url") and _pieces_known(word, compared):
        return True
    if item.kind == "symbol" and compared.has_word(word.removesuffix("()")):
        return True
    if item.kind in ("code", "symbol", "variable", "flag", "ticket"):
        loose = re.sub(r"[\W_]+", "", word).lower()
        if loose.isalpha() and loose in re.sub(r"[\W_]+", "", compared.original_lower):
            return True
    return cut_of(item, compared) is not None


_EXAMPLE: Final = re.compile(
    r"(?:e\.g\.,?|for example,?|such as|like|例如|比如|譬如|<[^<>]{0,40})\s*[(\"'`]*$", re.IGNORECASE
)


def _is_example(item: Item, statement: Statement) -> bool:
    """A proposal or a stand-in (`e.g. helpers.py`, `<project-hash>`), which claims nothing."""
    return bool(_EXAMPLE.search(statement.text[max(0, item.start - 48) : item.start]))


def _pieces_known(word: str, compared: Compared) -> bool:
    """A path of which the original has folder and file apart (`cd src`, then `main.py`), or with a gap (`src/…/x.py`)."""
    pieces = [p for p in re.split(r"/(?:\.\.\.|…|\*+)/|\*+", word.strip("/")) if p.strip("./")]
    if len(pieces) > 1:
        return all(compared.has_word(p.strip("/")) for p in pieces)
    names = [n for n in word.split("/") if n.strip(".~")]
    if word[:1] not in "/~." and "." not in names[-1] and all(n.isalpha() and compared.has_word(n) for n in names):
        return True
    if not _is_file(names[-1]) if names else True:
        return False
    return len(names) > 1 and all(compared.has_word(n) for n in names) and compared.has_word("/".join(names[-2:])) or (
        len(names) > 1 and compared.has_word(names[-1]) and compared.has_word("/".join(names[:-1]))
    )  # fmt: skip


def _is_file(name: str) -> bool:
    return "." in name


def _is_mark(number: Number, statement: Statement) -> bool:
    """The number of a list entry or a heading, or a citation."""
    mark = _LIST_MARK.match(statement.text)
    if mark and number.end <= mark.end():
        return True
    before = statement.part.text[max(0, statement.start - 8) : statement.start + number.start]
    return (
        bool(re.search(r"(?:^|\n)\s*$", before))
        and bool(re.match(r"[.)、]\s", statement.text[number.end : number.end + 2]))
        or bool(re.search(r"\[#\d*$|, ?#\d*$|\[#$|, ?#$", before + number.text))
    )


def _number_known(number: Number, statement: Statement, compared: Compared) -> bool:
    if is_count(number, statement, compared) or compared.has_number(number, statement):
        return True
    if number.kind == "range":
        return all(_bound_known(b, statement, compared) for b in str(number.value).split(".."))
    return False


def _bound_known(bound: str, statement: Statement, compared: Compared) -> bool:
    from compressor.guards.numbers import numbers

    found = numbers(bound)
    return bool(found) and all(compared.has_number(n, statement) for n in found)
