"""Find the names of a text: technical ones by pattern, people, organisations, products and places by lists and shapes.

One pass of one pattern per text; a smaller name inside a found one is not reported by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from compressor.guards._data import phrases

#: The labels of technical names, roughly in the order in which their patterns are tried.
TECHNICAL: Final = (
    "url", "email", "command", "error", "env", "branch", "path", "file", "host", "id", "model", "commit", "version",
    "flag", "symbol",
)  # fmt: skip
_TRAILING: Final = ".,;:!?'\"\u2019\u201d\u3002\uff0c\uff1b\uff1a\uff01\uff1f\u3001)\uff09]}>*_"
_BACKTICKS: Final = re.compile(r"`([^`\n]{1,200})`")


@dataclass(frozen=True, slots=True)
class Entity:
    """A name in a text: `text[start:end]`, with what it names."""

    start: int
    end: int
    text: str
    label: str


def entities(text: str, *, names: bool = True, model: str = "") -> list[Entity]:
    """All names of the text, in order, none inside another.

    Args:
        names: also people, organisations, products and places.
        model: a trained spaCy pipeline to ask as well, if it is installed; or `jieba` for Chinese names.
    """
    found = technical(text)
    if names:
        from compressor.guards._names import proper_names

        found += [Entity(s, e, text[s:e], label) for s, e, label in proper_names(text, model)]
    return _outermost(found)


def technical(text: str) -> list[Entity]:
    """The technical names of the text, in order."""
    out: list[Entity] = []
    plain, commands = _plain_words()
    after_branch = False
    until = 0
    for chunk in _CHUNK.finditer(text):
        word, start, end = chunk.group(), chunk.start(), chunk.end()
        if end <= until or end - start > _LONGEST:
            continue
        if word.isalpha() and word.islower() and not after_branch and word not in plain:
            after_branch = word == "branch"
            continue
        after_branch = word.lower() == "branch"
        first = _COMMAND_WORD.match(word)
        if first and first.group(1) in commands:
            command = _command().match(text, start + first.start(1))
            if command:
                until = command.end()
                out.append(Entity(command.start(), until, command.group(), "command"))
                continue
        out += _in_chunk(text, max(start, until), end)
    out += _quoted(text)
    return _outermost(out)


def _in_chunk(text: str, start: int, end: int) -> Iterator[Entity]:
    # what stands behind the chunk may say what it is ("\u2026 branch"), but belongs to the next one
    for match in _pattern().finditer(text, start, min(len(text), end + 8)):
        if match.start() >= end:
            break
        label = match.lastgroup or ""
        made = _trimmed(text, match.start(label), match.end(label), label)
        if made:
            yield made


#: Longer runs without a blank are data, not names.
_LONGEST: Final = 1_000
_CHUNK: Final = re.compile(r"\S+")
_COMMAND_WORD: Final = re.compile(r"[(\"'\u201c$>]*([a-z][\w.-]*)$")


@cache
def _plain_words() -> tuple[frozenset[str], frozenset[str]]:
    """Words in small letters that may be names all the same, and those that begin a command."""
    commands = frozenset(phrases("technical", "commands")) | {"sudo"}
    return commands | frozenset(phrases("technical", "branch_names")) | {"localhost"}, commands


def _outermost(found: list[Entity]) -> list[Entity]:
    found.sort(key=lambda e: (e.start, -e.end))
    out: list[Entity] = []
    for entity in found:
        if not out or entity.start >= out[-1].end:
            out.append(entity)
        elif entity.end - entity.start > out[-1].end - out[-1].start:
            out[-1] = entity
    return out


@cache
def _refused() -> frozenset[str]:
    return frozenset(phrases("technical", "not_names"))


def _trimmed(text: str, start: int, end: int, label: str) -> Entity | None:
    while end > start and text[end - 1] in _TRAILING:
        if text[end - 1] in ")]}>" and text.count(_OPENING[text[end - 1]], start, end) >= text.count(
            text[end - 1], start, end
        ):
            break
        if text[end - 1] == "_" and label == "symbol":
            break
        end -= 1
    name = text[start:end]
    if not name or name.lower() in _refused():
        return None
    if label == "path" and not _is_path(name):
        return None
    return Entity(start, end, name, label)


_OPENING: Final = {")": "(", "]": "[", "}": "{", ">": "<"}


def _is_path(name: str) -> bool:
    """`src/a.py` and `/etc/hosts` are paths; `read/write` and `3/4` are not."""
    parts = [p for p in re.split(r"[/\\]", name) if p]
    if not parts or not any(c.isalpha() for c in name):
        return False
    if name[0] in "/~.\\" or name[1:3] == ":\\" or name.endswith("/"):
        return len(parts) > 1 or len(name) > 3
    if "." in parts[-1].strip(".") or any("_" in p or "-" in p or p[:1] == "@" for p in parts) or len(parts) > 2:
        return all(not p.isdigit() for p in parts[:1])
    return parts[0].lower() in _FOLDERS


_FOLDERS: Final = frozenset(
    [
        "src",
        "lib",
        "app",
        "apps",
        "test",
        "tests",
        "docs",
        "bin",
        "pkg",
        "cmd",
        "internal",
        "packages",
        "scripts",
        "config",
        "configs",
        "etc",
        "var",
        "usr",
        "tmp",
        "home",
        "opt",
        "api",
        "dist",
        "build",
        "node_modules",
        "public",
        "static",
        "assets",
        "components",
        "pages",
        "utils",
        "server",
        "client",
        "data",
        "rules",
        "schemas",
        "examples",
        "migrations",
        "fixtures",
    ]
)


def _quoted(text: str) -> list[Entity]:
    """What stands in back-ticks is a name: a command, a path, a symbol."""
    out: list[Entity] = []
    commands = frozenset(phrases("technical", "commands"))
    for match in _BACKTICKS.finditer(text) if "`" in text else ():
        inner = match.group(1).strip()
        start = match.start(1) + match.group(1).find(inner) if inner else match.start(1)
        first = inner.split(" ", 1)[0].lower()
        if " " in inner and (first in commands or first.startswith("./")):
            out.append(Entity(start, start + len(inner), inner, "command"))
        elif re.fullmatch(r"[A-Za-z_$][\w$.:<>-]*(?:\([^()]{0,40}\))?", inner) and not technical_label(inner):
            out.append(
                Entity(start, start + len(inner), inner, "branch" if _names_branch(text, match.start()) else "symbol")
            )
    return out


def _names_branch(text: str, at: int) -> bool:
    return bool(re.search(r"(?:branch(?:es)?|\u5206\u652f)\W{0,3}$", text[max(0, at - 12) : at], re.IGNORECASE))


def technical_label(name: str) -> str:
    """The label of a stretch that is one technical name as a whole, else ""."""
    match = _pattern().fullmatch(name)
    return match.lastgroup or "" if match else ""


@cache
def _command() -> re.Pattern[str]:
    """A command: its name with a known second word, or with arguments that look like ones."""
    commands = "|".join(re.escape(c) for c in sorted(phrases("technical", "commands"), key=len, reverse=True))
    subs = "|".join(re.escape(c) for c in sorted(phrases("technical", "subcommands"), key=len, reverse=True))
    plain = r"(?!(?:and|or|to|then|first|before|after|the|in|on|for|with|is|are|shows|when|if|so|but|from|again|it|that|as|und|et|y)\b)"
    value = rf"(?:[= ](?![-&|]){plain}[\w./:@%+~-]*[\w/](?=[\s`.,;:)\u3000-\u9fff\uff00-\uffef]|$))"
    argument = (
        rf"(?:[ ](?:--?[A-Za-z][\w-]*{value}?|[\w@./:~-]*[/.:_@~-][\w@./:~-]*\w|[\w@.~/-]+/|origin|HEAD(?:[~^]\d*)?|main|master|install|dev"
        rf"|{plain}[a-z][\w-]*(?= --?[a-zA-Z])))"
    )
    sub = rf"(?: (?:{subs})(?![\w/.]))"
    return re.compile(rf"(?:sudo )?(?:(?:{commands}){sub}{sub}?{argument}{{0,6}}|(?:{commands}){argument}{{1,6}})")


@cache
def _pattern() -> re.Pattern[str]:
    """One pattern for all technical names; every part is anchored by a rare character or a listed word."""
    ext = "|".join(sorted(phrases("technical", "extensions"), key=len, reverse=True))
    files = "|".join(re.escape(f) for f in sorted(phrases("technical", "files"), key=len, reverse=True))
    models = "|".join(re.escape(m) for m in sorted(phrases("technical", "models"), key=len, reverse=True))
    branches = "|".join(phrases("technical", "branch_names"))
    parts = {
        "url": r"\b(?:https?|ftp|ssh|git|wss?|s3|gs|postgres(?:ql)?|mysql|redis|mongodb(?:\+srv)?|file)://[^\s<>\"'`\u3000-\u9fff\uff00-\uffef]{1,500}",
        "email": r"(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}",
        "error": r"(?<![\w.])(?:[a-z][\w]*\.)*[A-Z][A-Za-z0-9]*(?:Error|Exception|Fault|Warning|Interrupt|Panic)\b(?!\.\w)|\b(?:EACCES|EADDRINUSE|ECONNREFUSED|ECONNRESET|EEXIST|EISDIR|EMFILE|ENOENT|ENOMEM|ENOSPC|ENOTDIR|ENOTEMPTY|ENOTFOUND|EPERM|EPIPE|ETIMEDOUT|ERESOLVE|EINVAL|EBUSY|EAGAIN|SIGKILL|SIGSEGV|SIGTERM|SIGINT|SIGABRT|SIGHUP|OOMKilled|CrashLoopBackOff|ImagePullBackOff|ERR_[A-Z_]+|E\d{3,4}|TS\d{4,5}|SQLSTATE\[?\w+\]?|ORA-\d{5})\b",
        "env": r"\$\{?[A-Z][A-Z0-9_]{1,60}\}?|%[A-Z][A-Z0-9_]{2,40}%|(?<![\w./-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w/-])",
        "branch": rf"(?<=branch )(?!is\b|was\b|to\b|and\b|that\b|in\b|of\b|for\b|the\b|with\b|from\b|on\b|which\b|before\b|until\b|has\b|but\b|or\b|name)[\w./-]*\w|(?<=分支 )[\w./-]+\w|(?<![\w/.-])[\w.-]+/[\w./-]*\w(?=\s?(?:branch\b|分支))|(?<![\w/-])(?:origin/)?(?:{branches})(?= branch|\s?分支|-Branch|-branch)|(?<![\w/.-])[a-z][\w.-]{{1,40}}(?=\s?(?:branch\b|分支))(?<=[-\d_]..|.[-\d_].|..[-\d_])",
        "path": r"(?<![\w/@.:])(?:[A-Za-z]:\\[\w.@$\\-]{1,300}|(?:~|\.{1,2}|@[\w-]+)?(?:/[\w.@+*\[\]{}$-]{1,120}){1,30}/?|[\w.@+-]{1,120}(?:/[\w.@+*\[\]{}$-]{1,120}){1,30}/?)(?:::[\w\[\]-]+)*(?::\d+)?",
        "file": rf"(?<![\w/@.-])(?:(?:{files})(?:\.\w+)?(?![\w/])|\.?[A-Za-z0-9_][\w.-]{{0,100}}\.(?:{ext})(?![\w/]|\.\w)(?:::[\w\[\]-]+)*(?::\d+)?)",
        "host": r"(?<![\w.@/-])(?:localhost(?::\d{2,5})?|(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5}|/\d{1,2})?(?![\w.]*\d)|(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,5}(?:com|org|net|io|dev|ai|app|co|internal|local|cloud|edu|gov|cn|de|fr|es|jp|uk|eu|example|test|lan|corp|me|sh|xyz|info|svc)(?::\d{2,5})?(?![\w-]))",
        "id": r"(?<![\w/-])(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[A-Z][A-Z0-9]{1,11}-\d{1,12}(?:-[A-Z0-9]+)*|#[A-Z]{0,4}-?\d{2,16}|GH-\d+|(?:[a-z]{2,10}_)(?=[A-Za-z0-9]*\d)[A-Za-z0-9]{8,40}|(?=[A-Z0-9]*\d)(?=\d*[A-Z])[A-Z0-9]{6,24}|[A-Z]{2}\d{3,4}|[A-Z]\d{4,12}|SKU-\w+)(?![\w-])",
        "model": rf"(?<![\w/.-])(?i:(?:{models}))(?:[-_ ]?v?\d[\w.]*(?:[-:][\w.]+)*|(?:-[a-z0-9.]+)+)(?![\w-])",
        "commit": r"(?<![\w/.-])(?=[0-9a-f]{0,39}[a-f])(?=[a-f]{0,39}\d)(?:[0-9a-f]{7,12}|[0-9a-f]{40}|[0-9a-f]{64})(?![\w-])",
        "version": r"(?<![\w./-])(?:[vV]\d+(?:\.\d+){0,3}|\d+\.\d+\.\d+(?:\.\d+)?)(?:[-+](?:alpha|beta|rc|dev|post|pre)[-.]?\d*)?(?![\w-]|\.\d)",
        "flag": r"(?<![\w-])--[a-zA-Z][\w-]{1,60}(?:=[\w./:@%+-]*\w)?|(?<![\w-])-[a-zA-Z]{1,3}(?![\w-])(?=[\s`,.;)\u4e00-\u9fff]|$)",
        "symbol": r"(?<![\w./-])(?:[A-Za-z_][\w]*(?:(?:\.|::|->|#)[A-Za-z_]\w*)*\(\)|[A-Za-z_]\w*(?:::\w+)+|[a-z][a-z0-9]*(?:[A-Z][a-z0-9]+)+(?:\.\w+)*|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+(?:\.\w+)*|_{0,2}[a-z][a-z0-9]*(?:_[a-z0-9]+)+_{0,2}(?:\.\w+)*|[a-z_]\w+(?:\.[a-z_]\w+){1,5}|@[a-z][\w-]+/[\w-]+|__\w+__|[A-Z]\w+\.[a-z_]\w+)(?![\w/])",
    }  # fmt: skip
    return re.compile("|".join(f"(?P<{name}>{part})" for name, part in parts.items()))


__all__ = ["TECHNICAL", "Entity", "entities", "technical", "technical_label"]
