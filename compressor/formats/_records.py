"""Split the bytes of a file into records, whatever dirt it holds, without losing one byte.

Lines end at the byte `\n` and nowhere else (U+2028 and friends are text). Two JSON values glued on
one line are two records. What does not parse is a record of kind `unreadable`; blank lines, `//`
comment lines and a byte-order mark are records of kind `blank`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

BOM: Final = b"\xef\xbb\xbf"
UNREADABLE: Final = "unreadable"
BLANK: Final = "blank"


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of one file and the name it is shown by."""

    path: str
    raw: Any


@dataclass(frozen=True, slots=True)
class Head:
    """What detection looks at.

    Attributes:
        document: the whole file's JSON value if it is one document, else None.
        rows: up to 60 parsed values of the first lines, for line-wise files.
        text: the first 4 kB as text, for what is no JSON at all.
    """

    document: Any
    rows: tuple[Any, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Raw:
    """A raw record: its byte range, 1-based line, and its parsed value (None if `kind` says so)."""

    start: int
    end: int
    line: int
    value: Any
    kind: str = ""


@dataclass(slots=True)
class Dirt:
    """Counts of the kinds of dirt met while reading."""

    counts: Counter[str] = field(default_factory=Counter)


def loads(raw: bytes | memoryview) -> Any:
    """Parse one JSON value as leniently as the source tools do.

    orjson first; what it rejects (NaN, lone surrogates, bad UTF-8) goes through `json`.

    Raises:
        ValueError: not one JSON value.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _lenient(bytes(raw).decode("utf-8", "surrogateescape"))


def _lenient(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def dumps(value: Any) -> bytes:
    """Serialise compactly, non-ASCII literal, as the line-wise tools do; keeps lone surrogates as escapes."""
    try:
        return orjson.dumps(value)
    except TypeError:  # lone surrogates, integers over 64 bits, NaN from a lenient read
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        try:
            return text.encode()
        except UnicodeEncodeError:
            # escaped bytes of a broken file go back as they were; lone surrogates as JSON escapes
            out = "".join(
                c if not "\ud800" <= c <= "\udfff" or "\udc80" <= c <= "\udcff" else f"\\u{ord(c):04x}" for c in text
            )
            return out.encode("utf-8", "surrogateescape")


def split(raw: Any, dirt: Dirt) -> Iterator[Raw]:
    """Yield the records of a line-wise file, end to end.

    Args:
        raw: bytes or a memory map.
        dirt: counts `bom`, `crlf`, `blank`, `comment`, `glued`, `unreadable`, `nan-or-surrogate`,
            `no-final-newline`.
    """
    pos, line, size = 0, 1, len(raw)
    if raw[:3] == BOM:
        dirt.counts["bom"] += 1
        yield Raw(0, 3, 1, None, BLANK)
        pos = 3
    while pos < size:
        cut = raw.find(b"\n", pos)
        end = size if cut < 0 else cut + 1
        if cut < 0:
            dirt.counts["no-final-newline"] += 1
        yield from _line(raw, pos, end, line, dirt)
        pos, line = end, line + 1


def _line(raw: Any, start: int, end: int, line: int, dirt: Dirt) -> Iterator[Raw]:
    body = raw[start:end]
    try:
        yield Raw(start, end, line, orjson.loads(body))
        if body.endswith(b"\r\n"):
            dirt.counts["crlf"] += 1
        return
    except orjson.JSONDecodeError:
        pass
    if body.endswith(b"\r\n"):
        dirt.counts["crlf"] += 1
    bare = body.strip()
    if not bare or bare.startswith(b"//"):
        dirt.counts["comment" if bare else "blank"] += 1
        yield Raw(start, end, line, None, BLANK)
        return
    try:
        value = _lenient(bare.decode("utf-8", "surrogateescape"))
    except ValueError:
        yield from _glued(body, start, end, line, dirt)
        return
    dirt.counts["nan-or-surrogate"] += 1
    yield Raw(start, end, line, value)


def _glued(body: bytes, start: int, end: int, line: int, dirt: Dirt) -> Iterator[Raw]:
    """Several JSON values on one line; what is left over is one unreadable record."""
    text = body.decode("utf-8", "surrogateescape")
    decoder = json.JSONDecoder()
    found: list[tuple[int, int, Any]] = []
    at = len(text) - len(text.lstrip())
    while at < len(text):
        try:
            value, stop = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        if not isinstance(value, (dict, list)):
            break
        found.append((at, stop, value))
        at = stop + len(text[stop:]) - len(text[stop:].lstrip())
    if not found:
        dirt.counts[UNREADABLE] += 1
        yield Raw(start, end, line, None, UNREADABLE)
        return
    if len(found) > 1:
        dirt.counts["glued"] += len(found) - 1
    pos = start
    for i, (_, stop, value) in enumerate(found):
        last = i == len(found) - 1 and at >= len(text)
        to = end if last else start + len(text[:stop].encode("utf-8", "surrogateescape"))
        yield Raw(pos, to, line, value)
        pos = to
    if pos < end:
        dirt.counts[UNREADABLE] += 1
        yield Raw(pos, end, line, None, UNREADABLE)


def get_at(value: Any, path: tuple[str | int, ...]) -> Any:
    """The value at `path`, going through JSON strings at `NESTED` steps."""
    for step in path:
        value = loads(value.encode("utf-8", "surrogatepass")) if step == -1 else value[step]
    return value


def set_at(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    """`value` with `new` at `path` (changed in place where it can be); JSON strings on the way are dumped anew."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if step == -1:
        return dumps(set_at(loads(value.encode("utf-8", "surrogatepass")), rest, new)).decode("utf-8", "surrogatepass")
    value[step] = set_at(value[step], rest, new)
    return value


def leaves(
    value: Any, path: tuple[str | int, ...] = (), key: str = ""
) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """All string leaves below `value` as (path, dotted key, text), in order."""
    # a stack of its own: values may be nested more deeply than Python calls
    stack: list[tuple[Any, tuple[str | int, ...], str]] = [(value, path, key)]
    while stack:
        at, steps, name = stack.pop()
        if isinstance(at, str):
            yield steps, name, at
        elif isinstance(at, dict):
            stack += [(v, (*steps, k), f"{name}.{k}" if name else k) for k, v in reversed(at.items())]
        elif isinstance(at, list):
            stack += [(v, (*steps, i), f"{name}.{i}" if name else str(i)) for i, v in reversed(list(enumerate(at)))]


def frame(value: Any) -> str:
    """JSON text of `value` with every string value emptied: the keys, numbers and punctuation around the strings."""
    return dumps(_emptied(value)).decode("utf-8", "surrogatepass")


def _emptied(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _emptied(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_emptied(v) for v in value]
    return "" if isinstance(value, str) else value
