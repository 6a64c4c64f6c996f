"""Check files one after the other: every question to every file, doubles among them, limits."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from compressor import disk, plugins, reading
from compressor.errors import ReadError
from compressor.formats import Source
from compressor.inputs import ARCHIVE_NAME
from compressor.model import Finding, Level, PartType, Place, Transcript, digest_messages
from compressor.report import is_report
from compressor.validate import _origin, _records, _schema, _secrets, _text
from compressor.validate._ignores import Filter
from compressor.validate.terms import Terms

_ID: Final = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
#: File names by which tools find a session again, with the id in them.
_NAMED: Final = {
    "claude-code": re.compile(rf"({_ID})\.jsonl"),
    "qwen-code": re.compile(rf"({_ID})\.jsonl"),
    "codex": re.compile(rf"rollout-.*?({_ID})\.jsonl"),
}
#: Orders in the output of tools. Nothing obeys them; the reader of a transcript should know that they are there.
_ORDERS: Final = re.compile(
    r"(?i)\b(?:ignore|disregard|forget)\s+(?:all\s+|any\s+)?(?:of\s+)?(?:the\s+|your\s+)?(?:previous|prior|above|earlier)"
    r"\s+(?:instructions|messages|prompts)|\bwhen\s+(?:you\s+)?summari[sz](?:e|ing)\b.{0,40}?\b(?:say|write|state|claim|omit)\b"
    r"|(?:忽略|无视)(?:之前|以上|先前|上述|前面)(?:的)?(?:所有)?(?:指令|指示|提示|消息)"
)
#: A line that a format's own check tells as well.
_TWICE: Final = frozenset({"line cannot be read, it is passed through", "line is not JSON"})
#: Told here with the line of each record.
_SESSIONS: Final = "records of several sessions"


@dataclass(frozen=True, slots=True)
class Checked:
    """One file.

    Attributes:
        format: its name, or "".
        findings: those that count, in line order.
        skipped: why it was not checked, or "".
        digest: of its bytes.
        talks: digests of its conversations.
    """

    path: str
    format: str = ""
    findings: tuple[Finding, ...] = ()
    skipped: str = ""
    digest: str = ""
    talks: tuple[str, ...] = ()


def check_files(paths: Sequence[str | os.PathLike[str]], terms: Terms, folder: Path | None = None) -> Iterator[Checked]:
    """Check files, and the transcripts of folders.

    Args:
        paths: files; folders are gone through.
        terms: what to look for.
        folder: names in per-file ignores are meant from here.

    Raises:
        ConfigError: the terms name a code that there is not.
    """
    filter_ = Filter(terms, folder)
    seen: dict[str, str] = {}
    for path, named in _all_files([Path(p) for p in paths], terms):
        checked = check_source(path, terms, filter_, named=named)
        doubles = list(_doubles(checked, seen))
        found = (*checked.findings, *filter_.counting(str(path), doubles))
        yield replace(checked, findings=tuple(sorted(found, key=lambda f: (f.at.line, f.check, f.message))))


def _all_files(paths: Iterable[Path], terms: Terms) -> Iterator[tuple[Path, bool]]:
    met: set[str] = set()
    for path in paths:
        inside = _walk(path, path, terms) if path.is_dir() else [path]
        for file in inside:
            key = os.path.abspath(file)  # noqa: PTH100 - a link is a file of its own
            if key not in met:
                met.add(key)
                yield file, not path.is_dir()


def _walk(folder: Path, root: Path, terms: Terms) -> Iterator[Path]:
    for entry in sorted(os.scandir(folder), key=lambda e: e.name):
        path = folder / entry.name
        if entry.is_dir(follow_symlinks=False):
            if entry.name != ARCHIVE_NAME and not entry.name.startswith("."):
                yield from _walk(path, root, terms)
        elif entry.is_file() and not disk.is_temp(entry.name) and _wanted(path, root, terms):
            yield path


def _wanted(path: Path, root: Path, terms: Terms) -> bool:
    names = (path.name, path.relative_to(root).as_posix(), path.as_posix())
    if terms.include and not any(fnmatchcase(n, g) for g in terms.include for n in names):
        return False
    return not any(fnmatchcase(n, g) for g in terms.exclude for n in names)


def check_source(path: Path | Source, terms: Terms, filter_: Filter | None = None, *, named: bool = True) -> Checked:
    """Check one file.

    Args:
        path: the file, or its bytes.
        terms: what to look for.
        filter_: which findings count; made from the terms if not given.
        named: the user named it: a file of a folder that is no transcript is passed over.
    """
    filter_ = filter_ or Filter(terms)
    name = path.path if isinstance(path, Source) else str(path)
    try:
        source = path if isinstance(path, Source) else reading.open_source(path)
    except ReadError as error:
        return Checked(name, findings=tuple(filter_.counting(name, [_refused("F02", error, name)])))
    if is_report(bytes(source.raw[:200])):
        return Checked(name, skipped="a report of ours")
    text = _text.look(source)
    try:
        transcript = reading.read(source, format=terms.input_format, options=terms.map)
    except reading.NotATranscript as error:
        if not named and not (text.findings and _level(text.findings) is Level.ERROR and _like_ours(name)):
            return Checked(name, skipped=error.message)
        found = [*text.findings] or [_refused("F01", error, name)]
        return Checked(name, findings=tuple(filter_.counting(name, found)))
    except ReadError as error:
        found = [f for f in text.findings if f.level is Level.ERROR] or [_refused("F01", error, name)]
        return Checked(name, findings=tuple(filter_.counting(name, found)))
    findings = tuple(filter_.counting(name, _findings(source, text, transcript, terms, filter_)))
    return Checked(
        name, transcript.format, findings, "", hashlib.sha256(source.raw).hexdigest(), tuple(_talks(transcript))
    )


def _like_ours(name: str) -> bool:
    return Path(name).suffix in {".jsonl", ".ndjson", ".traj"}


def _level(findings: Sequence[Finding]) -> Level:
    order = list(Level)
    return max((f.level for f in findings), key=order.index)


def _refused(code: str, error: ReadError, name: str) -> Finding:
    line = error.at.line if error.at else 0
    return Finding(code, Level.ERROR, error.message, error.hint, Place(name, line or 1))


def _findings(
    source: Source, text: _text.Text, transcript: Transcript, terms: Terms, filter_: Filter
) -> Iterator[Finding]:
    yield from text.findings
    broken = {f.at.line for f in text.findings}
    fmt: Any = plugins.load("formats", transcript.format)
    for f in fmt.check(transcript):
        if (f.message in _TWICE and f.at.line in broken) or f.message == _SESSIONS:
            continue
        line = f.at.line or (transcript.records[-1].line if f.check == "E01" else 1)
        if not (f.check == "E01" and line in broken):
            yield replace(f, at=replace(f.at, file=source.path, line=line))
    yield from _names(transcript)
    yield from _records.check(source, text, transcript)
    if filter_.wants("S01"):
        yield from _schema.check(source, text, transcript.format)
    if filter_.wants("K01"):
        yield from _secrets.check(source)
    yield from _twins(transcript)
    yield from _limits(source, transcript, terms)
    if filter_.wants("W03"):
        yield from _orders(transcript)
    if filter_.wants("V"):
        yield from _origin.check(transcript, terms)


def _names(transcript: Transcript) -> Iterator[Finding]:
    """E12: the file's name says which session it is."""
    pattern = _NAMED.get(transcript.format)
    match = pattern.fullmatch(Path(transcript.path).name) if pattern else None
    id_ = transcript.sessions[0].id if transcript.sessions else ""
    if match and id_ and match[1] != id_:
        at = Place(transcript.path, 1)
        yield Finding("E12", Level.WARNING, "the file's name says another session than its records", id_, at)


def _limits(source: Source, transcript: Transcript, terms: Terms) -> Iterator[Finding]:
    size = len(source.raw)
    if terms.max_bytes and size > terms.max_bytes:
        message = f"{size:,} bytes, more than {terms.max_bytes:,}"
        yield Finding("L01", Level.ERROR, message, at=Place(source.path, 1))
    if terms.max_line:
        for r in transcript.records:
            longest = max(map(len, bytes(source.raw[r.start : r.end]).split(b"\n")))
            if longest > terms.max_line:
                message = f"a line of {longest:,} bytes, more than {terms.max_line:,}"
                yield Finding("L02", Level.ERROR, message, at=Place(source.path, r.line))
    for session in transcript.sessions:
        deepest = max(session.messages, key=lambda m: m.generation, default=None)
        if deepest is not None and deepest.generation > terms.generations:
            message = f"a text {deepest.generation} summaries deep, more than {terms.generations}"
            yield Finding("G01", Level.ERROR, message, session.id, Place(source.path, deepest.line, deepest.id))


def _orders(transcript: Transcript) -> Iterator[Finding]:
    for session in transcript.sessions:
        for part in session.parts:
            match = _ORDERS.search(part.text) if part.type is PartType.TOOL_RESULT else None
            if match:
                m = session.messages[part.message]
                fact = " ".join(match[0].split())[:120]
                at = Place(transcript.path, m.line, m.id)
                yield Finding("W03", Level.NOTE, "output of a tool reads like an order to the model", fact, at)


def _twins(transcript: Transcript) -> Iterator[Finding]:
    """D02 within one file: rows of a data set."""
    seen: dict[str, int] = {}
    for session in transcript.sessions if len(transcript.sessions) > 1 else ():
        if len(session.messages) > 2:
            line = session.messages[0].line
            first = seen.setdefault(digest_messages(session.messages), line)
            if first != line:
                at = Place(transcript.path, line)
                yield Finding("D02", Level.WARNING, f"the same conversation as in line {first}", session.id, at)


def _talks(transcript: Transcript) -> Iterator[str]:
    for session in transcript.sessions:
        if len(session.messages) > 2:
            yield digest_messages(session.messages)


def _doubles(checked: Checked, seen: dict[str, str]) -> Iterator[Finding]:
    """D01 and D02, told at the later file."""
    if not checked.digest:
        return
    first = seen.setdefault(checked.digest, checked.path)
    at = Place(checked.path, 1)
    if first != checked.path:
        yield Finding("D01", Level.WARNING, f"the same bytes as {first}", at=at)
        return
    for talk in dict.fromkeys(checked.talks):
        first = seen.setdefault(talk, checked.path)
        if first != checked.path:
            yield Finding("D02", Level.WARNING, f"the same conversation as in {first}", at=at)
            return
