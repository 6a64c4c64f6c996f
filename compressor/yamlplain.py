"""A quick reader for the plain part of YAML that rule files are written in.

Rule files are read at every start, and a full YAML reader in Python takes a millisecond for ten lines. This one
reads mappings, lists, quoted and plain texts on one line, flow lists over several lines and even block texts,
about twenty times as fast. It never guesses: at anything else (anchors, tags, duplicate keys, every mistake) it raises
`UnsureError`, and the full reader decides. Tests hold the two equal wherever this one answers.
"""

from __future__ import annotations

import re
from typing import Any, Final


class UnsureError(Exception):
    """Not in the plain part: ask the full reader."""


#: A line: its indent, and the rest; comment and blank lines do not match.
_LINE: Final = re.compile(r"( *)([^ #].*)")
_KEY: Final = re.compile(r"([^\W\d][\w./*-]*)[ ]*:(?: +|$)")
_DOUBLE: Final = re.compile(r'"((?:[^"\\\n]|\\["\\/nt])*)"')
_SINGLE: Final = re.compile(r"'((?:[^'\n]|'')*)'")
#: Plain text: begins with no sign that means something, and holds neither ": " nor " #".
_PLAIN: Final = re.compile(r"(?:-(?=[^\s,\[\]{}])|[^\s\-?:,\[\]{}#&*!|>'\"%@`=<])[^\n]*")
_FLOW_PLAIN: Final = re.compile(r"(?:-(?=[^\s,\[\]{}:#])|[^\s\-?:,\[\]{}#&*!|>'\"%@`=<])[^\n,\[\]{}:#]*")
_FLOW_KEY: Final = re.compile(r"([^\W\d][\w.-]*): ")
_COMMENT: Final = re.compile(r"[ ]*(?: #[^\n]*)?$")
_INT: Final = re.compile(r"0|-?[1-9][0-9]{0,17}")
_FLOAT: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,15})\.[0-9]{1,15}")
#: What could be a number in one of YAML's many notations: not for us to say.
_NUMBERISH: Final = re.compile(r"[-+]?[.0-9][-+.:_0-9A-Za-z]*")
_WORDS: Final = {"true": True, "false": False, "null": None}
_ODD_WORDS: Final = frozenset({"~", "True", "TRUE", "False", "FALSE", "Null", "NULL"})
_FORBIDDEN: Final = re.compile("[\t\r\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_ESCAPES: Final = {"n": "\n", "t": "\t"}
_MAX_DEPTH: Final = 20


def parse(text: str) -> Any:
    """The value of the text.

    Raises:
        UnsureError: it is not plain.
    """
    if _FORBIDDEN.search(text):
        raise UnsureError
    reader = _Reader(text)
    if not reader.lines:
        raise UnsureError
    value = reader.block(reader.lines[0][0], 0)
    if reader.at < len(reader.lines):
        raise UnsureError
    return value


class _Reader:
    def __init__(self, text: str) -> None:
        self.raw = text.split("\n")
        #: indent, rest and number of every line that says something
        self.lines = [(len(m[1]), m[2].rstrip(" ")) for m in map(_LINE.match, self.raw) if m]
        self.numbers = [n for n, line in enumerate(self.raw) if _LINE.match(line)]
        self.at = 0

    def block(self, indent: int, depth: int) -> Any:
        """The mapping or list whose lines begin at this indent."""
        if depth > _MAX_DEPTH or self.lines[self.at][0] != indent:
            raise UnsureError
        rest = self.lines[self.at][1]
        return self.sequence(indent, depth) if rest[:2] in {"- ", "-"} else self.mapping(indent, depth)

    def sequence(self, indent: int, depth: int) -> list[Any]:
        out: list[Any] = []
        while self.at < len(self.lines) and self.lines[self.at][0] == indent:
            rest = self.lines[self.at][1]
            if rest[:2] != "- ":
                break
            inner = rest[2:].lstrip(" ")
            column = indent + len(rest) - len(inner)
            if inner[:2] == "- " or _KEY.match(inner):
                # `- key: value` is a block that begins in the middle of the line
                self.lines[self.at] = (column, inner)
                out.append(self.block(column, depth + 1))
            else:
                out.append(self.inline(inner, indent))
        self.ended(indent)
        return out

    def mapping(self, indent: int, depth: int) -> dict[str, Any]:
        out: dict[str, Any] = {}
        while self.at < len(self.lines) and self.lines[self.at][0] == indent:
            rest = self.lines[self.at][1]
            found = _KEY.match(rest)
            if found is None or found[1] in out or found[1] in _WORDS or found[1] in _ODD_WORDS:
                raise UnsureError
            value = rest[found.end() :]
            out[found[1]] = self.inline(value, indent) if value and value[0] != "#" else self.below(indent, depth)
        self.ended(indent)
        return out

    def ended(self, indent: int) -> None:
        """A block ends where the indent shrinks, or where a list ends inside its mapping."""
        if self.at < len(self.lines) and self.lines[self.at][0] > indent:
            raise UnsureError

    def below(self, indent: int, depth: int) -> Any:
        """The value of a key that has nothing on its own line."""
        self.at += 1
        if self.at == len(self.lines):
            return None
        deeper, rest = self.lines[self.at]
        if deeper > indent or (deeper == indent and rest[:2] == "- "):
            return self.block(deeper, depth + 1)
        return None

    def inline(self, rest: str, indent: int) -> Any:
        """A value on the line of its key or dash; a flow value may go on below."""
        self.at += 1
        if rest[:1] in {"[", "{"}:
            return self.flow(rest, indent)
        if rest in {"|", ">"}:
            return self.block_text(rest, indent)
        value, end = _scalar(rest, 0, _PLAIN)
        if end != len(rest) or (self.at < len(self.lines) and self.lines[self.at][0] > indent):
            raise UnsureError
        return value

    def block_text(self, style: str, indent: int) -> str:
        """A text below `|` or `>` whose lines all have one indent, without blank lines."""
        first = self.at
        if first == len(self.lines) or self.lines[first][0] <= indent:
            raise UnsureError
        column = self.lines[first][0]
        while self.at < len(self.lines) and self.lines[self.at][0] >= column:
            self.at += 1
        start, last = self.numbers[first], self.numbers[self.at - 1]
        behind = self.numbers[self.at] if self.at < len(self.lines) else len(self.raw)
        if start != self.numbers[first - 1] + 1 or last - start != self.at - 1 - first or last + 1 == len(self.raw):
            raise UnsureError
        if any(line[:column].strip(" ") == "" for line in self.raw[last + 1 : behind] if line):
            raise UnsureError  # lines of the text that begin with "#", or hold blanks alone
        texts = [line[column:] for line in self.raw[start : last + 1]]
        if any(t[0] == " " or t[-1] == " " for t in texts):
            raise UnsureError
        return ("\n" if style == "|" else " ").join(texts) + "\n"

    def flow(self, rest: str, indent: int) -> Any:
        rest = _bare(rest)
        while True:
            try:
                value, end = _flow(rest, 0, 0)
            except _OpenError:
                rest = self.join(rest, indent)
                continue
            if not _COMMENT.match(rest, end) or (self.at < len(self.lines) and self.lines[self.at][0] > indent):
                raise UnsureError
            return value

    def join(self, rest: str, indent: int) -> str:
        """The flow value with the lines up to the next that could close it; no text may go over a line's end."""
        parts = [rest]
        while self.at < len(self.lines) and self.lines[self.at][0] > indent:
            line = _bare(self.lines[self.at][1])
            if parts[-1][-1] not in ",[{" and line[0] not in ",]}":
                break
            parts.append(line)
            self.at += 1
            if line[-1] in "]}":
                return " ".join(parts)
        raise UnsureError


def _bare(line: str) -> str:
    """A line of a flow value without its comment."""
    if " #" not in line:
        return line
    if '"' in line or "'" in line:
        raise UnsureError
    return line[: line.index(" #")].rstrip(" ")


class _OpenError(Exception):
    """The flow value is not closed yet."""


def _flow(text: str, at: int, depth: int) -> tuple[Any, int]:
    if depth > _MAX_DEPTH:
        raise UnsureError
    if text[at] == "[":
        return _flow_list(text, at + 1, depth)
    if text[at] == "{":
        return _flow_mapping(text, at + 1, depth)
    return _scalar(text, at, _FLOW_PLAIN)


def _flow_list(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    out: list[Any] = []
    while True:
        at = _skip(text, at)
        if text[at] == "]":
            return out, at + 1
        value, at = _flow(text, at, depth + 1)
        out.append(value)
        at = _separator(text, at, "]")


def _flow_mapping(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    out: dict[str, Any] = {}
    while True:
        at = _skip(text, at)
        if text[at] == "}":
            return out, at + 1
        found = _FLOW_KEY.match(text, at)
        if found is None or found[1] in out or found[1] in _WORDS or found[1] in _ODD_WORDS:
            raise UnsureError
        value, at = _flow(text, _skip(text, found.end()), depth + 1)
        out[found[1]] = value
        at = _separator(text, at, "}")


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] == " ":
        at += 1
    if at == len(text):
        raise _OpenError
    return at


def _separator(text: str, at: int, end: str) -> int:
    """Past the comma, or at the closing bracket."""
    at = _skip(text, at)
    if text[at] == ",":
        return at + 1
    if text[at] != end:
        raise UnsureError
    return at


def _scalar(text: str, at: int, plain: re.Pattern[str]) -> tuple[Any, int]:
    """A quoted or plain scalar and where it ends (a comment behind a block scalar is eaten)."""
    sign = text[at]
    if sign in "\"'":
        found = (_DOUBLE if sign == '"' else _SINGLE).match(text, at)
        if found is None:
            raise UnsureError
        value = re.sub(r"\\(.)", _unescape, found[1]) if sign == '"' else found[1].replace("''", "'")
        end = found.end()
        if plain is _PLAIN and _COMMENT.match(text, end):
            end = len(text)
        return value, end
    found = plain.match(text, at)
    if found is None:
        raise UnsureError
    word = found[0].rstrip(" ")
    if plain is _PLAIN and " #" in word:
        word = word[: word.index(" #")].rstrip(" ")
    if ": " in word or word.endswith(":"):
        raise UnsureError
    return _resolve(word), found.end()


def _unescape(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[1], found[1])


def _resolve(word: str) -> Any:
    if word in _WORDS:
        return _WORDS[word]
    if word in _ODD_WORDS:
        raise UnsureError
    if not _NUMBERISH.fullmatch(word):
        return word
    if _INT.fullmatch(word):
        return int(word)
    if _FLOAT.fullmatch(word):
        return float(word)
    raise UnsureError
