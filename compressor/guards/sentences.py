"""Cut text into sentences, and tell prose from code, logs and tables of data.

One pass over the lines. A sentence may run across a wrapped line; a bullet, a heading, a quoted line or a
table cell is a sentence of its own. What is no prose (fenced and bare code, log lines, diffs, stack traces,
JSON, lines without words) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from compressor.guards._data import CJK, phrases
from compressor.guards._phrases import lines

#: Longer lines are data, unless they have the spaces or the punctuation that prose of their script has.
_LONG: Final = 1_500
#: A sentence is cut at this length: what is longer has lost its punctuation.
LONGEST: Final = 1_200
#: A line of this many characters was wrapped by its writer rather than ended.
_WRAPPED: Final = 55
_WRAPPED_CJK: Final = 24

_FENCE: Final = re.compile(r"\s{0,3}(?:>\s?)?(`{3,}|~{3,})")
_LEAD: Final = re.compile(
    r"[^\S\n]*(?:>[^\S\n]?)*[^\S\n]*"
    r"(?:(?:[-*+\u2022\u2023\u25aa\u25cf\u25e6\u00b7\u2013\u2014]|\(?(?:\d{1,3}|[a-zA-Z])[.)]|#{1,6}|[\u2610\u2611\u2705\u274c\u26a0\U0001f6ab]\ufe0f?)"
    r"[^\S\n]+|\(?\d{1,3}[.)\u3001](?!\d)|[\u2460-\u2473]|[\uff08(][\u4e00-\u5341\d]{1,3}[\uff09)]"
    r"|[\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341]{1,2}\u3001)?(?:\[[ xX]\]\s+)?"
)
_LOG: Final = re.compile(
    r"\s*[\[(]?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d"
    r"|\s*\[?\d\d:\d\d:\d\d"
    r"|\s*[A-Z][a-z]{2}\s+\d{1,2}\s\d\d:\d\d:\d\d"
    r"|\s*\[(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|TRACE|NOTICE)\s*\]"
    r"|\s*(?:DEBUG|INFO|WARN|ERROR|FATAL|TRACE|E|W|I)(?::|\s+[\w.]+:|\s+-)\s"
    r"|\s*(?:npm|yarn|pip|cargo|gcc|make)(?:\[\d+\])?[: ](?:ERR!|error|warn|WARN|\*\*\*)"
    r"|\s*(?:\d+\s)?(?:PASS|FAIL|FAILED|PASSED|ok|not ok|---|===)\s*:?\s+[\w./:\[\]-]+(?:\s+\(?[\d.]+\s?m?s\)?)?\s*$"
    r"|\s*(?:Traceback \(|File \"|at [\w$.<>]+ ?\(|Caused by: )|\s*[\w.]*(?:Error|Exception)(?: \[\w+\])?: "
)
_CODE: Final = re.compile(
    r"\s*(?:(?:async\s+)?(?:def|class|fn|func|function)\s+[\w.$]+\s*[(:<{]"
    r"|(?:import|from)\s+[\w.{}*\"']+(?:\s+(?:import|from|as)\b.*)?;?\s*$"
    r"|return\b[^.!?]{0,200}[;(){}\[\]=]|return\s+[\w.]+\s*$"
    r"|(?:if|elif|while|for|with|except|switch|catch)\b.*[:{]\s*$|(?:try|else|finally)\s*[:{]\s*$"
    r"|(?:if|while|assert)\s+not\s+[\w.()\[\]]+\s*(?::|$)|if\s*\(.*\)|assert\s+.*(?:==|!=|\bin\b|\bis\b)"
    r"|(?:const|let|var|val|public|private|protected|static|export|final)\s+[\w<>\[\]{},: ]+\s*[=({;]"
    r"|#(?:include|define|ifdef|ifndef|!)"
    r"|(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER|DROP|FROM|WHERE|AND|OR|ON|JOIN|LEFT JOIN|SET)\s+[\w\"`*.(]+.*?"
    r"(?:\b(?:FROM|SET|TABLE|VALUES|WHERE|NULL|IN|EXISTS|LIKE|IS|INDEX|BY)\b|[=;<>]).*$"
    r"|[\w\"`]+\s+(?:INT|INTEGER|BIGINT|TEXT|VARCHAR|SERIAL|BOOLEAN|TIMESTAMP|UUID|NUMERIC)\b.*"
    r"|[$%]\s+[\w./~-]+|>>>\s|\.\.\.\s{2,}|PS [A-Z]:|[\w.-]+@[\w.-]+:[^\s]*[$#]\s|sudo\s"
    r"|\d{1,6}\s{1,8}[-+]\s|\d{1,6}[\u2192|]|@@\s|diff --git|index [0-9a-f]{6,}|\+\+\+ |--- [ab/]|[+-](?:\s{2,}|\s*[\w.]+\s*[=(:{]|[#/]{1,2})"
    r"|\"[\w$ .-]+\"\s*:|[{}\[\]]|</?[A-Za-z][\w-]*[\s/>]"
    r"|[\w.\[\]]+\s*(?:=|:=|\+=|==|!=|=>)\s*\S|[\w-]+:\s*(?:[|>]\s*$|\[|\{|true\b|false\b|null\b)"
    r"|(?://|/\*|\*/|--\s*\w+\s*=)|[\w.$]+\([^)\n]{0,120}\)\s*[;{]?\s*$|\w+\(.*\)\s*(?:=>|->|\{)"
    r")"
)
_CODE_END: Final = re.compile(r"[{}]\s*$|\)\s*;\s*$|=.*;\s*$|\\\s*$|=>\s*$|\(\s*$")
#: What programs draw at the beginning of a line on a terminal's screen, and nobody types.
_SCREEN: Final = re.compile(
    "^[^\\S\n]*[\u23fa\u23bf\u273b\u273d\u2722\u276f\u2570\u256d\u2502\u2503\u2514\u251c\u250c\u2590]", re.MULTILINE
)
_INDENT: Final = ("  ", "\t")
_PADDING: Final = "    "
_WORDS: Final = re.compile(rf"[^\W\d_]{{2}}|[{CJK}]")
_MARKUP_COMMENT: Final = re.compile(r"\s*<!--")
_END: Final = re.compile(
    r"[.!?]+[\"')\]*_\u201d\u2019\u00bb]*(?=\s|$)|[\u3002\uff01\uff1f\uff0e]+[\"'*_\u201d\u2019\u300d\u300f\uff09)]*|\u2026+(?=\s|$)"
)
_CJK_END: Final = re.compile(f"[{CJK}\\uff09\\u300d\\u201d]$")
_OPEN_END: Final = re.compile(r"[,\uff0c\u3001;\uff1b(\uff08\u2014-]\s*$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of prose: `text[start:end]`, without its bullet."""

    start: int
    end: int


def sentences(text: str, flags: Sequence[bool] | None = None) -> list[Sentence]:
    """All sentences of prose in the text, in order; with `flags`, those around the flagged lines."""
    out: list[Sentence] = []
    for start, end in paragraphs(text, flags):
        out.extend(_cut(text, start, end))
    return out


def near(text: str, holds: Callable[[list[str], str], bool]) -> list[Sentence]:
    """The sentences around the lines of which `holds` is true, given the line's words and the line in lower case.

    The look costs a fraction of cutting the text; what it leaves out is never cut.
    """
    small = lines(text)
    flags = [holds(line.split(), line) for line in small]
    return sentences(text, _spread(flags, small)) if any(flags) else []


def _spread(flags: list[bool], small: list[str]) -> list[bool]:
    """Also the lines that may belong to the sentence of a flagged line: its neighbours up to a blank line."""
    out = list(flags)
    for i, flag in enumerate(flags):
        if not flag:
            continue
        for step in (-1, 1):
            j = i + step
            while (
                0 <= j < len(small) and abs(j - i) <= _NEIGHBOURS and not out[j] and small[j] and not small[j].isspace()
            ):
                out[j] = True
                j += step
    return out


#: A sentence seldom runs over more lines.
_NEIGHBOURS: Final = 6


def paragraphs(text: str, flags: Sequence[bool] | None = None) -> Iterator[tuple[int, int]]:
    """Stretches of prose: lines that belong together, bullets and table cells apart."""
    start = end = -1
    at = 0
    for line, usable in _judged(text, flags):
        begin, at = at, at + len(line) + 1
        if not usable:
            if start >= 0:
                yield start, end
            start = -1
            continue
        lead = _lead(line)
        if start >= 0 and (lead > len(line) - len(line.lstrip()) or not _goes_on(text[start:end], line)):
            yield start, end
            start = -1
        if line.lstrip().startswith("|"):
            yield from _cells(line, begin)
            continue
        if start < 0:
            start = begin + lead
        end = begin + len(line)
    if start >= 0:
        yield start, end


def _judged(text: str, flags: Sequence[bool] | None) -> Iterator[tuple[str, bool]]:
    """Every line, and whether it is prose: outside of fences, and not copied off a terminal."""
    fence = ""
    screen = not text.isascii() and _SCREEN.search(text) is not None
    copied = False
    for number, line in enumerate(text.split("\n")):
        opens = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if screen:
            copied = _is_copied(line, after=copied)
        if opens and (not fence or opens.group(1).startswith(fence)):
            fence = "" if fence else opens.group(1)
            yield line, False
        else:
            yield line, not fence and not copied and (flags is None or flags[number]) and is_prose(line)


def _is_copied(line: str, *, after: bool) -> bool:
    """Whether a line was copied off a terminal: with a mark of its screen, or padded or indented below such a line."""
    if _SCREEN.match(line):
        return True
    return after and (not line or line.isspace() or line.startswith(_INDENT) or line.endswith(_PADDING))


def is_prose(line: str) -> bool:
    """Whether one line reads as prose: not code, log, diff, trace or data."""
    if not line or line.isspace():
        return False
    if len(line) > _LONG and line.count(" ") < len(line) // 15 and len(_CJK_STOPS.findall(line)) < len(line) // 120:
        return False
    head = line[:400]
    if not _WORDS.search(head):
        return False
    if _CODE.match(head) and not _bullet_of_prose(head):
        return False
    if _LOG.match(head):
        return False
    return not _CODE_END.search(line[-200:]) and not _MARKUP_COMMENT.match(head)


_CJK_STOPS: Final = re.compile("[\u3002\uff0c\uff1b\uff01\uff1f\u3001]")
_BULLET: Final = re.compile(
    rf"\s*[-+*]\s+(?:[A-Z*_`\"']|[{CJK}])|\s*\[[ xX]\]\s|\s*[\[{{][^\[\]{{}}]{{0,60}}[\]}}][\s:]"
)
_PROSE_END: Final = re.compile(r"[.!?\u3002\uff01\uff1f]\s*$")


def _bullet_of_prose(head: str) -> bool:
    """A bullet or a bracketed tag before a sentence looks like a diff line or a literal, but is none."""
    if not _BULLET.match(head):
        return False
    rest = head[_lead(head) :]
    return not _CODE.match(rest) or bool(_PROSE_END.search(rest) and rest[:1] == "[")


def _lead(line: str) -> int:
    match = _LEAD.match(line)
    return match.end() if match else 0


def _goes_on(before: str, line: str) -> bool:
    """Whether the line goes on with the sentence of the lines before it."""
    last = before.rsplit("\n", 1)[-1].rstrip()
    first = line.lstrip()[:1]
    if not last or _END.search(last[-4:]) or last.endswith((":", "\uff1a")):
        return False
    if _OPEN_END.search(last) or first.islower():
        return True
    if _CJK_END.search(last):
        return len(last) >= _WRAPPED_CJK or _ends_open(last)
    return len(last) >= _WRAPPED or _ends_open(last)


@cache
def _open_words() -> tuple[frozenset[str], tuple[str, ...]]:
    words = phrases("sentences", "open")
    return frozenset(w for w in words if w.isascii()), tuple(w for w in words if not w.isascii())


def _ends_open(last: str) -> bool:
    """A line that ends in "the", "not", "\u4e0d\u8981" … is not at its end."""
    latin, rest = _open_words()
    word = last.rsplit(None, 1)[-1].lower().strip("*_").replace("\u2019", "'")
    return word in latin or last.endswith(rest)


def _cells(line: str, begin: int) -> Iterator[tuple[int, int]]:
    at = 0
    for cell in line.split("|"):
        if _WORDS.search(cell):
            yield begin + at, begin + at + len(cell)
        at += len(cell) + 1


@cache
def _abbreviations() -> frozenset[str]:
    return frozenset(a.lower() for a in phrases("sentences", "abbreviations"))


def _cut(text: str, start: int, end: int) -> Iterator[Sentence]:
    at = start
    for match in _END.finditer(text, start, end):
        stop = match.end()
        if match.group()[0] == "." and _is_abbreviation(text, start, match.start(), stop, end):
            continue
        yield from _piece(text, at, stop)
        at = stop
    yield from _piece(text, at, end)


def _is_abbreviation(text: str, start: int, dot: int, stop: int, end: int) -> bool:
    rest = text[stop : stop + 3].lstrip()
    if stop < end and rest[:1].islower():
        return True
    words = text[max(start, dot - 12) : dot].rsplit(None, 1)
    if len(words) > 1 and words[0][-1:].isdigit():
        # "12 ms." ends a sentence, "Ms." does not
        return False
    name = (words or [""])[-1].lstrip("(\u201c\"'*").lower()
    return name in _abbreviations() or (len(name) == 1 and name.isalpha() and stop < end)


def _piece(text: str, start: int, end: int) -> Iterator[Sentence]:
    while start < end:
        stop = end if end - start <= LONGEST else _break(text, start, start + LONGEST)
        first, last = start, stop
        while first < last and text[first].isspace():
            first += 1
        while last > first and text[last - 1].isspace():
            last -= 1
        if first < last:
            yield Sentence(first, last)
        start = stop


def _break(text: str, start: int, end: int) -> int:
    space = text.rfind(" ", start + LONGEST // 2, end)
    return end if space < 0 else space
