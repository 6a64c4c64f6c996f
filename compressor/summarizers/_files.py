"""What is known of the files that were read and written: purpose, exports, dependencies, entry points."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from compressor.briefs import clip
from compressor.model import Part, PartType, Session

_PATH_KEYS: Final = frozenset(
    {"file_path", "filePath", "path", "notebook_path", "target_file", "filename", "absolute_path", "file", "filepath"}
)
_CONTENT_KEYS: Final = frozenset({"content", "file_text", "contents", "code_edit"})
_NEW_KEYS: Final = ("new_string", "new_str", "newString", "replacement")
#: Characters of a file that are looked at.
_READ: Final = 4_000
_FILE: Final = re.compile(
    r"(?:[\w.@~+-]*/)*[\w.@+-]*\w\.[A-Za-z][A-Za-z0-9]{0,7}\Z|(?:[\w.@~+-]*/)+(?:Dockerfile|Makefile|LICENSE)\Z"
)
#: A list item about a file: its name, and what is said of it.
ABOUT_FILE: Final = re.compile(
    r"`?((?:[\w.@~+-]+/){0,20}[\w.@+-]+\.[A-Za-z][A-Za-z0-9]{0,7})`?(?::\d[\d-]*)?(?: \([^()]{1,40}\))?\s*(?:[-–—:：]|→)+\s+(.{8,})"
)
_SHELL_READ: Final = re.compile(
    r"\b(?:cat|head|tail|nl|sed|less|bat)\b((?:\s+(?:'[^'\n]*'|\"[^\"\n]*\"|[^\s|;&<>]+))+)"
)
_SHELL_WRITE: Final = re.compile(r"(?:(?<=[\s\d])>>?|\btee\s(?:-a\s)?)\s*([\w./@~+-]+\.\w{1,8})")
_PATCHED: Final = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_NUMBERED: Final = re.compile(r"^\s*\d+(?:→|\t|: |\| )", re.MULTILINE)

_NAME: Final = r"([A-Za-z_$][\w$]*)"
_EXPORT: Final = re.compile(
    rf"""
        export\s+(?:default\s+)?(?:declare\s+)?(?:async\s+)?(?:abstract\s+)?(?:function\*?|class|const|let|interface|type|enum)\s+{_NAME}
      | (?:async\s+)?def\s+{_NAME} | class\s+{_NAME} | function\s+{_NAME}
      | func\s+(?:\([^)\n]{{1,80}}\)\s*)?{_NAME} | type\s+{_NAME}\s+(?:struct|interface|func|=|\w)
      | pub(?:\([^)\n]*\))?\s+(?:async\s+)?(?:fn|struct|enum|trait|const|mod|type)\s+{_NAME}
      | (?:public|protected)\s+(?:static\s+|final\s+|abstract\s+)*(?:class|interface|enum|record)\s+{_NAME}
    """,
    re.VERBOSE,
)
_IMPORT: Final = re.compile(
    r"""from\s+([\w.]+)\s+import\b|import\s+([\w.]+)\s*(?:as\s+\w+)?\s*;?\s*$|use\s+([\w:]+)|\s+(?:\w+\s+)?"([\w.-]+(?:/[\w.-]+)+)"\s*$
      |import\s+"([^"\n]+)"|\#include\s+[<"]([^>"\n]+)|import\s+static\s+([\w.]+);
      |.{0,200}\bfrom\s+['"]([^'"\n]{1,120})['"]|.{0,80}\brequire\(['"]([^'"\n]{1,120})['"]\)""",
    re.VERBOSE,
)
_MODULE: Final = re.compile(r"[A-Za-z_@.~][\w./@:+-]*\Z")
_ENTRY: Final = re.compile(
    r"""if\s+__name__\s*==\s*['"](__main__)|func\s+(main)\(\)|(?:async\s+)?fn\s+(main)\(|(?:public\s+static\s+void|int)\s+(main)\(
      |\s*@?\w+\.(get|post|put|delete|patch|route|websocket)\(\s*['"](/[^'"\n]{0,80})['"]
      |\s+Use:\s+"([\w-]+)[^"\n]*"|@(?:click|cli|app|main)\.(command)\b|.{0,80}add_parser\(\s*['"]([\w-]+)['"]""",
    re.VERBOSE,
)
#: First words (or what a line begins with) that make a line worth a closer look.
_DEFINES: Final = frozenset(
    {"export", "async", "def", "class", "function", "func", "type", "pub", "public", "protected"}
)
_IMPORTS: Final = frozenset({"from", "import", "use", "#include", "}", "const", "var", "let"})
_ENTRIES: Final = ("if __name__", "func main", "fn main", "async fn main", "public static void", "int main", "@")
_NO_PURPOSE: Final = re.compile(
    r"copyright|licen[sc]e|spdx|eslint|prettier|go:\w+|\+build|@ts-|use (?:client|strict)|noqa|coding[:=]|generated|^!",
    re.IGNORECASE,
)
_SAYS: Final = re.compile(r"[^\W\d_]{3}|[\u3400-\u9fff]")
_TITLE: Final = re.compile(r"<title>\s*([^<]{3,160}?)\s*</title>", re.IGNORECASE)
_COMMENT: Final = re.compile(r"(?://+|\#+|--|;+|/\*+|\*|<!--)\s*(.*?)\s*(?:\*/|-->)?\s*\Z")


@dataclass(slots=True)
class Seen:
    """What one file has gone through."""

    path: str
    purpose: str = ""
    exports: dict[str, bool] = field(default_factory=dict)
    imports: dict[str, None] = field(default_factory=dict)
    entries: dict[str, None] = field(default_factory=dict)
    reads: list[int] = field(default_factory=list)
    edits: list[int] = field(default_factory=list)
    created: int = -1
    deleted: int = -1

    @property
    def last(self) -> int:
        return max((*self.reads[-1:], *self.edits[-1:], self.created, self.deleted), default=-1)

    @property
    def changed(self) -> bool:
        return bool(self.edits) or self.created >= 0 or self.deleted >= 0

    def join(self, other: Seen) -> None:
        """Take up what is known of the same file under another name."""
        self.purpose = self.purpose or other.purpose
        self.exports = {**other.exports, **self.exports}
        self.imports = {**self.imports, **other.imports}
        self.entries = {**self.entries, **other.entries}
        self.reads = sorted((*self.reads, *other.reads))
        self.edits = sorted((*self.edits, *other.edits))
        self.created = max(self.created, other.created)
        self.deleted = max(self.deleted, other.deleted)

    def learn(self, text: str, *, whole: bool) -> None:
        """Take up what a piece of the file's text shows; `whole`: it begins at the file's first line."""
        if whole and not self.purpose:
            self.purpose = purpose(text)
        for line in text.split("\n"):
            word = line.partition(" ")[0]
            if word in _DEFINES and (found := _EXPORT.match(line)):
                name = next(g for g in found.groups() if g)
                self.exports[name] = self.exports.get(name, False) or _is_public(word, name)
            if (word in _IMPORTS or line[:2] in ('\t"', "  ") and line[-1:] == '"') and (found := _IMPORT.match(line)):
                name = next((g for g in found.groups() if g), "")
                if _MODULE.match(name) and name != "__future__":
                    self.imports.setdefault(name)
            if line.startswith(_ENTRIES) or "(" in line and ("/" in line or "parser" in line) or "\tUse:" in line:
                found = _ENTRY.match(line)
                if found:
                    self.entries.setdefault(_entry(found))


def _is_public(word: str, name: str) -> bool:
    """Others can use it: exported, or capitalised, or at the top level of a Python file."""
    return word in ("export", "pub", "public", "def", "class", "async") or name[:1].isupper()


def _entry(found: re.Match[str]) -> str:
    words = [g for g in found.groups() if g]
    if len(words) == 2:
        return f"{words[0].upper()} {words[1]}" if words[0] != "route" else words[1]
    return words[0].strip("_")


def purpose(text: str) -> str:
    """What a file says of itself: its first docstring, comment or title, one sentence of it."""
    lines = [line.strip() for line in text[:2_000].split("\n")[:30]]
    while lines and (not lines[0] or lines[0].startswith(("#!", "---", "package ", "'use ", '"use '))):
        lines.pop(0)
    if not lines:
        return ""
    if lines[0].startswith(('"""', "'''", 'r"""')):
        return _sentence(" ".join(_until(lines, lines[0][-3:] if len(lines[0]) == 3 else '"""')).strip("r\"' "))
    said: list[str] = []
    for line in lines:
        found = _COMMENT.match(line)
        if not found or (said and not found.group(1)):
            break
        if _SAYS.search(found.group(1)) and not _NO_PURPOSE.search(found.group(1)):
            said.append(found.group(1))
    title = _TITLE.search(text[:3_000]) if not said else None
    return title.group(1) if title else _sentence(" ".join(said))


def _until(lines: Sequence[str], end: str) -> Iterator[str]:
    for number, line in enumerate(lines[:6]):
        yield line
        if end in line[3:] or (number and end in line) or not line:
            return


def _sentence(text: str) -> str:
    found = re.match(r".{10,160}?[.。](?=\s|\Z)|.{3,160}", text)
    return found.group().strip(" .。*/") if found else ""


def files(session: Session) -> dict[str, Seen]:
    """All files that calls name, by path, in the order of their first use."""
    seen: dict[str, Seen] = {}
    results: dict[int, Part] = {}
    arguments: dict[int, list[Part]] = {}
    for part in session.parts:
        if part.call >= 0 and part.type is PartType.TOOL_CALL:
            arguments.setdefault(part.call, []).append(part)
        elif part.call >= 0 and part.type is PartType.TOOL_RESULT:
            results.setdefault(part.call, part)
    for call in session.calls:
        parts = arguments.get(call.index)
        if parts and not call.error and not session.messages[call.message].abandoned:
            _take(seen, call.message, parts, results.get(call.index))
    return _united(seen)


def _united(seen: dict[str, Seen]) -> dict[str, Seen]:
    """Relative paths joined with the absolute path of the same file, where there is one."""
    absolute: dict[str, list[Seen]] = {}
    for path, file in seen.items():
        if path.startswith(("/", "~")):
            absolute.setdefault(path.rsplit("/", 1)[-1], []).append(file)
    out: dict[str, Seen] = {}
    for path, file in seen.items():
        plain = path.removeprefix("./")
        same = [f for f in absolute.get(plain.rsplit("/", 1)[-1], ()) if "/" in plain and f.path.endswith(f"/{plain}")]
        if same:
            max(same, key=lambda f: f.last).join(file)
        else:
            out[path] = file
    return out


def _take(seen: dict[str, Seen], at: int, parts: Sequence[Part], result: Part | None) -> None:
    for part in parts:
        if "*** Begin Patch" in part.text[:4_000]:
            _take_patch(seen, at, part.text)
            return
    path = next((p.text for p in parts if p.key in _PATH_KEYS and _is_file(p.text)), "")
    if path:
        _take_tool(seen.setdefault(path, Seen(path)), at, {p.key: p.text for p in parts}, result)
        return
    command = next((p.text for p in parts if p.key in ("command", "cmd", "script") or p.key.startswith("command.")), "")
    if command:
        _take_shell(seen, at, command[:3_000], result)


def _is_file(text: str) -> bool:
    return len(text) < 300 and "\n" not in text and bool(_FILE.match(text))


def _take_tool(file: Seen, at: int, arguments: Mapping[str, str], result: Part | None) -> None:
    content = next((arguments[k] for k in _CONTENT_KEYS if k in arguments), None)
    new = [t for k, t in arguments.items() if k.rsplit(".", 1)[-1] in _NEW_KEYS]
    if content is not None:
        if file.last >= 0:
            file.edits.append(at)
        else:
            file.created = at
        file.learn(content[:_READ], whole=True)
        file.purpose = file.purpose or _sentence(" ".join(arguments.get("description", "").split()))
    elif new or any(k.endswith(("old_string", "old_str", "oldString", "insert_line")) for k in arguments):
        file.edits.append(at)
        for text in new:
            file.learn(text[:_READ], whole=False)
    else:
        file.reads.append(at)
        if result is not None:
            _learn_result(file, result.text[:_READ])


def _learn_result(file: Seen, text: str) -> None:
    first = re.match(r"\s*(\d+)(?:→|\t|: |\| )", text)
    if first:
        text = _NUMBERED.sub("", text)
    file.learn(text, whole=not first or first.group(1) == "1")


def _take_patch(seen: dict[str, Seen], at: int, text: str) -> None:
    marks = list(_PATCHED.finditer(text))
    for mark, after in zip(marks, [*marks[1:], None], strict=False):
        path = mark.group(2).strip()
        file = seen.setdefault(path, Seen(path))
        body = text[mark.end() : after.start() if after else len(text)][:_READ]
        added = "\n".join(line[1:] for line in body.split("\n") if line.startswith("+"))
        if mark.group(1) == "Add":
            file.created = at
        elif mark.group(1) == "Delete":
            file.deleted = at
        else:
            file.edits.append(at)
        file.learn(added, whole=mark.group(1) == "Add")


def _take_shell(seen: dict[str, Seen], at: int, command: str, result: Part | None) -> None:
    written = {p for p in _SHELL_WRITE.findall(command) if _is_file(p) and not p.startswith("/dev/")}
    for path in written:
        seen.setdefault(path, Seen(path)).edits.append(at)
    shown = [
        w for a in _SHELL_READ.findall(command) for w in a.split() if _is_file(w) and w not in written and "/" in w
    ]
    for path in dict.fromkeys(shown):
        file = seen.setdefault(path, Seen(path))
        file.reads.append(at)
        if result is not None and len(shown) == 1:
            _learn_result(file, _after_header(result.text[:_READ]))


def _after_header(text: str) -> str:
    """A shell result without the lines that some harnesses put before the output."""
    at = text.find("\nOutput:\n", 0, 400)
    return text[at + 9 :] if at >= 0 else text


def root_of(paths: Iterable[str]) -> str:
    """The folder that most absolute paths share, or "": the project's root, told once instead of in every path."""
    counts: Counter[str] = Counter()
    total = 0
    for path in paths:
        if path.startswith("/"):
            total += 1
            steps = path.split("/")[:-1]
            counts.update("/".join(steps[:n]) for n in range(3, min(len(steps), 12) + 1))
    best = [folder for folder, count in counts.items() if count >= max(3, 0.75 * total)]
    return max(best, key=len, default="")


def within(names: Sequence[str], most: int, room: int) -> tuple[str, ...]:
    """The first names, so many and so long at most."""
    out: list[str] = []
    for name in names[:most]:
        room -= len(name) + 2
        if room < 0 and out:
            break
        out.append(clip(name, 100))
    return tuple(out)


def telling_imports(imports: Mapping[str, None]) -> list[str]:
    """The project's own modules and third-party ones before plain standard names."""
    names = [n for n in imports if n]
    return sorted(names, key=lambda n: not (n.startswith((".", "@")) or "/" in n or "." in n))
