"""Bytes, encoding and JSON: what is wrong before any format is asked.

One pass over the records; a record that a strict reader takes costs one `orjson.loads`. Everything slower
happens only to what it refused, or where a repeated key is possible.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from compressor.formats._lists import DOCUMENT, File, load
from compressor.formats._records import BLANK, BOM, UNREADABLE, Source
from compressor.model import Finding, Level, Place, Record

_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
#: A string (a key with its colon) or a bracket.
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*"(?:[ \t\r\n]*:)?|[{}\[\]]')
#: What only lenient readers take: a number that is none outside of strings, a surrogate without its other half.
_ODD: Final = re.compile(
    rb"(?<!\\)(?:\\\\)*\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    rb"|(?P<number>(?<=[\s:,\[])-?(?:NaN|Infinity)(?=[\s,\]}]))"
)


@dataclass(frozen=True, slots=True)
class Text:
    """A file as JSON: its records with their values, and what is wrong with it as such."""

    file: File
    findings: tuple[Finding, ...]


def look(source: Source) -> Text:
    """Read a file as JSON, line by line or whole."""
    file = load(source)
    return Text(file, tuple(_findings(source, file)))


def _findings(source: Source, file: File) -> Iterator[Finding]:
    raw, path = source.raw, source.path
    start = bytes(raw[:2])
    if start in _UTF16 or b"\x00" in start:
        yield Finding("J06", Level.ERROR, "the text is UTF-16, not UTF-8", at=Place(path, 1))
        return
    whole = _torn_document(source, file)
    if whole is not None:
        yield whole
        return
    if bytes(raw[:3]) == BOM:
        yield Finding("J04", Level.WARNING, "byte-order mark before the first record", at=Place(path, 1))
    yield from _whole_file(file, path)
    previous = 0
    for index, record in enumerate(file.records):
        if record.kind == BLANK:
            continue
        body = bytes(raw[record.start : record.end])
        if record.kind == UNREADABLE:
            yield _unreadable(body, record, path, last=index == len(file.records) - 1)
        else:
            yield from _record(body, record, file.values[index], path)
        if record.line == previous and record.kind != UNREADABLE:
            yield Finding("J02", Level.ERROR, "two JSON values on one line", at=Place(path, record.line))
        previous = record.line


def _whole_file(file: File, path: str) -> Iterator[Finding]:
    """What is told once a file, with its count."""
    crlf = file.dirt.get("crlf", 0)
    if crlf:
        yield Finding("J05", Level.NOTE, f"{crlf:,} lines end with CR LF", at=Place(path, 1))
    for kind, words in (("blank", "blank lines"), ("comment", "comment lines")):
        count = file.dirt.get(kind, 0)
        if count:
            level = Level.NOTE if kind == "blank" else Level.WARNING
            first = next((r.line for r in file.records if r.kind == BLANK and r.end - r.start != len(BOM)), 1)
            yield Finding("J10", level, f"{count:,} {words} between the records", at=Place(path, first))


def _torn_document(source: Source, file: File) -> Finding | None:
    """A document over many lines that does not parse: it is no file of broken lines."""
    if any(r.kind not in (UNREADABLE, BLANK) for r in file.records) and not _looks_printed(source.raw):
        return None
    body = bytes(source.raw).removeprefix(BOM)
    if not body.lstrip()[:1] or body.lstrip()[:1] not in b"{[" or any(r.kind == DOCUMENT for r in file.records):
        return None
    try:
        json.loads(body.decode("utf-8", "replace"))
    except json.JSONDecodeError as error:
        if len(body.strip().split(b"\n")) > 1 and not _looks_printed(source.raw):
            return None
        torn = error.pos >= len(body.decode("utf-8", "replace").rstrip()) - 1 or "Unterminated" in error.msg
        code, what = ("J03", "the document ends too early") if torn else ("J01", "the document is not JSON")
        return Finding(code, Level.ERROR, f"{what}: {_lower(error.msg)}", at=Place(source.path, error.lineno))
    except RecursionError:
        return Finding("J01", Level.ERROR, "nested thousands of levels deep", at=Place(source.path, 1))
    return None


def _looks_printed(raw: Any) -> bool:
    """Whether the first line opens a document that is printed over many lines."""
    return bytes(raw[:64]).removeprefix(BOM).lstrip().split(b"\n")[0].strip() in (b"{", b"[", b"[{")


def _unreadable(body: bytes, record: Record, path: str, *, last: bool) -> Finding:
    at = Place(path, record.line)
    reason = _reason(body)
    if last and not body.endswith(b"\n"):
        return Finding("J03", Level.ERROR, f"the last line is cut short: {reason}", at=at)
    return Finding("J01", Level.ERROR, f"the line is not JSON: {reason}", at=at)


def _reason(body: bytes) -> str:
    try:
        json.loads(body.decode("utf-8", "replace"))
    except json.JSONDecodeError as error:
        return f"{_lower(error.msg)} in column {error.colno:,}"
    except (ValueError, RecursionError):
        pass
    return "nested too deeply"


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _record(body: bytes, record: Record, value: Any, path: str) -> Iterator[Finding]:
    bare = body.strip()
    try:
        strict = orjson.loads(bare)
    except orjson.JSONDecodeError:
        yield from _lenient(bare, record, path)
        strict = value
    again = _repeated(bare, strict)
    if again is not None:
        key, offset = again
        line = record.line + (bare.count(b"\n", 0, offset) if record.kind == DOCUMENT else 0)
        yield Finding("J09", Level.WARNING, f"the key {key} stands twice in an object", at=Place(path, line))


def _lenient(bare: bytes, record: Record, path: str) -> Iterator[Finding]:
    """What a strict reader refuses and a lenient one takes."""
    try:
        bare.decode("utf-8")
    except UnicodeDecodeError as error:
        line = record.line + bare.count(b"\n", 0, error.start)
        message = f"byte 0x{bare[error.start]:02x} is not UTF-8"
        yield Finding("J06", Level.ERROR, message, at=Place(path, line))
        return
    for match in _ODD.finditer(bare):
        if match.lastgroup is None:
            continue
        line = record.line + (bare.count(b"\n", 0, match.start()) if record.kind == DOCUMENT else 0)
        code, message = ("J07", f"{match[0].decode()} is not a JSON number")
        if match.lastgroup == "half":
            code, message = "J08", "half a character (a lone surrogate)"
        yield Finding(code, Level.WARNING, message, at=Place(path, line))
        return


def _repeated(bare: bytes, value: Any) -> tuple[str, int] | None:
    """A key that an object has twice, and where: possible only where writing the value again makes it shorter."""
    try:
        if len(orjson.dumps(value)) == len(bare):
            return None
    except (TypeError, RecursionError):
        pass
    found: list[bool] = []

    def pairs(items: Sequence[tuple[str, Any]]) -> None:
        if len(dict(items)) < len(items):
            found.append(True)

    try:
        json.loads(bare.decode("utf-8", "replace"), object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return None
    return _second(bare) if found else None


def _second(bare: bytes) -> tuple[str, int]:
    """The first key that stands a second time in its object, as written, and its offset."""
    open_objects: list[set[bytes] | None] = []
    for match in _TOKEN.finditer(bare):
        token = match[0]
        if token in b"{[":
            open_objects.append(set() if token == b"{" else None)
        elif token in b"}]":
            open_objects.pop()
        else:
            keys = open_objects[-1] if open_objects else None
            name = token.rstrip(b": \t\r\n")
            if keys is not None and token.endswith(b":"):
                if name in keys:
                    return name[:200].decode("utf-8", "replace"), match.start()
                keys.add(name)
    return "", 0
