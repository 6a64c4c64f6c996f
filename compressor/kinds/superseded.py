"""What a tool showed of a file that was read again, or written in whole, later on.

Reads and writes are told by tool names, by the path among the arguments, and for shells by commands that only
print or replace a file (`cat F`, `sed -n '1,80p' F`, `cat > F <<EOF`). A later look supersedes an earlier one
if it covers its lines, or, where the lines are not known, if it is not much shorter.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from compressor.model import Match, Part, PartType, Session, View

_DEFAULTS: Final[Mapping[str, tuple[str, ...]]] = {
    "read": ("Read", "read_file", "readFile", "fs_read", "view", "view_file", "open", "open_file", "cat", "NotebookRead"),
    "write": ("Write", "write_file", "writeFile", "fs_write", "write_to_file", "create", "create_file", "new_file"),
    "editor": ("str_replace_editor", "str_replace_based_edit_tool", "edit_file_tool", "file_editor"),
    "shell": ("Bash", "shell", "shell_command", "local_shell*", "exec_command", "execute_bash", "execute_command",
              "run_shell_command", "run_command", "run_terminal_cmd", "container.exec", "terminal", "run"),
    "path": ("file_path", "filePath", "path", "absolute_path", "target_file", "filename", "file", "notebook_path"),
    "command": ("command", "cmd", "command.2", "cmd.2", "script", "input"),
    "content": ("content", "contents", "file_text", "text"),
}  # fmt: skip

_NAMES: Final = {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}}
OPTIONS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "read": {**_NAMES, "description": "Tools that show a file; `*` and `?` allowed, case ignored."},
        "write": {**_NAMES, "description": "Tools that write a whole file."},
        "editor": {**_NAMES, "description": "Tools whose `command` says `view` or `create`."},
        "shell": {**_NAMES, "description": "Tools that run a command line."},
        "path": {**_NAMES, "description": "Arguments that hold the path, the first that is there."},
        "command": {**_NAMES, "description": "Arguments that hold the command line."},
        "content": {**_NAMES, "description": "Arguments that hold the content that is written."},
        "similar": {
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "description": "How long a later look must be, as a share of the earlier, if no lines are known (0.8).",
        },
    },
}

#: A range of lines that is the whole file.
_WHOLE: Final = (1, 1 << 60)
#: A longer command line does more than show a file.
_LONGEST: Final = 600

_FILE: Final = r"""['"]?(?P<path>[^\s'"|;&<>*?$`()]+)['"]?"""
_RANGE: Final = r"""sed\s+-n\s+['"]?(?P<first>\d+),\s*(?P<last>\d+|\$)p['"]?"""
_CD: Final = re.compile(r"""\s*cd\s+['"]?(?P<folder>[^\s'"|;&<>*?$`()]+)['"]?\s*(?:&&|;)\s*""")
_SHOW: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\s*(?:cat|bat|nl)(?:\s+-[\w-]+)*\s+{_FILE}\s*",
        rf"\s*{_RANGE}\s+{_FILE}\s*",
        rf"\s*(?:cat|nl)(?:\s+-[\w-]+)*\s+{_FILE}\s*\|\s*{_RANGE}\s*",
        rf"\s*head\s+(?:-n\s*|-)(?P<last>\d+)\s+{_FILE}\s*",
    )
)
_REPLACE: Final = re.compile(rf"\s*cat\s*>\s*{_FILE}\s*<<-?\s*")
_REPLACE_END: Final = re.compile(rf"\s*cat\s*<<-?\s*['\"]?\w+['\"]?\s*>\s*{_FILE}\s*\n")
#: Line numbers that readers print in front of lines.
_NUMBER: Final = re.compile(r"\s*(\d{1,7})(?:→|\t|: | \| )")

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Touch:
    """One call that shows or replaces a file."""

    path: str
    order: int
    whole: bool
    lines: Range | None
    size: int
    parts: tuple[int, ...]


def find(view: View, options: Mapping[str, Any]) -> Iterator[Match]:
    """The whole results of superseded looks (and contents of superseded writes, if the scope holds calls)."""
    touches: dict[str, list[_Touch]] = {}
    for touch in _touches(view.session, options):
        touches.setdefault(touch.path, []).append(touch)
    similar = options.get("similar", 0.8)
    old: set[int] = set()
    for same in touches.values():
        old.update(_superseded(same, similar))
    for part in view.parts:
        if part.ordinal in old and part.text:
            yield Match(part.ordinal, 0, len(part.text))


def _superseded(same: Sequence[_Touch], similar: float) -> Iterator[int]:
    """Ordinals of what later touches of the same file make old news."""
    for index, touch in enumerate(same):
        if any(_covers(later, touch, similar) for later in same[index + 1 : index + 40]):
            yield from touch.parts


def _covers(later: _Touch, touch: _Touch, similar: float) -> bool:
    if later.order == touch.order:
        return False
    if later.whole:
        return True
    if later.lines and touch.lines:
        return later.lines[0] <= touch.lines[0] and touch.lines[1] <= later.lines[1]
    return later.size > 0 and later.size >= similar * touch.size


def _touches(session: Session, options: Mapping[str, Any]) -> Iterator[_Touch]:
    names = {key: tuple(options.get(key, default)) for key, default in _DEFAULTS.items()}
    arguments = _arguments(session)
    for call in session.calls:
        if call.message < 0 or call.error or session.messages[call.message].abandoned:
            continue
        sort = _sort(call.name, names)
        if not sort:
            continue
        own = arguments.get(call.index, {})
        results = [p for r in call.results for p in session.messages[r].parts if p.call == call.index]
        touch = _touch(sort, call.index, own, [p for p in results if p.type is PartType.TOOL_RESULT], names)
        if touch is not None:
            yield touch


def _arguments(session: Session) -> dict[int, dict[str, Part]]:
    found: dict[int, dict[str, Part]] = {}
    for part in session.parts:
        if part.type is PartType.TOOL_CALL and part.call >= 0:
            found.setdefault(part.call, {})[part.key] = part
    return found


def _sort(name: str, names: Mapping[str, tuple[str, ...]]) -> str:
    return next((s for s in ("read", "write", "editor", "shell") if _globs(names[s]).fullmatch(name)), "")


@cache
def _globs(globs: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(fnmatch.translate(glob) for glob in globs), re.IGNORECASE)


def _touch(
    sort: str, order: int, own: Mapping[str, Part], results: list[Part], names: Mapping[str, tuple[str, ...]]
) -> _Touch | None:
    """What a call did to a file, if that is certain."""
    if sort == "shell":
        return _shell(order, _first(own, names["command"]), results)
    path = _first(own, names["path"])
    if not path:
        return None
    if sort == "editor":
        sort = {"view": "read", "create": "write"}.get(_first(own, ("command",)), "")
    if sort == "write":
        content = next((own[key] for key in names["content"] if key in own), None)
        return _Touch(_tidy(path), order, True, _WHOLE, 0, (content.ordinal,)) if content else None
    if sort == "read" and results:
        return _look(path, order, None, results)
    return None


def _first(own: Mapping[str, Part], keys: Sequence[str]) -> str:
    return next((own[key].text for key in keys if key in own), "")


def _shell(order: int, command: str, results: list[Part]) -> _Touch | None:
    folder = ""
    moved = _CD.match(command[:_LONGEST])
    if moved:
        folder, command = moved["folder"], command[moved.end() :]
    head = command[:_LONGEST]
    replaced = _REPLACE.match(head) or _REPLACE_END.match(head)
    if replaced:
        return _Touch(_tidy(replaced["path"], folder), order, True, _WHOLE, 0, ())
    if len(command) > _LONGEST or not results:
        return None
    for pattern in _SHOW:
        shown = pattern.fullmatch(command)
        if shown:
            return _look(_tidy(shown["path"], folder), order, _asked(shown), results)
    return None


def _asked(shown: re.Match[str]) -> Range:
    groups = shown.groupdict()
    last = groups.get("last") or "$"
    return int(groups.get("first") or 1), _WHOLE[1] if last == "$" else int(last)


def _look(path: str, order: int, asked: Range | None, results: list[Part]) -> _Touch:
    size = sum(len(part.text) for part in results)
    lines = asked if asked is not None else _numbered(results)
    return _Touch(_tidy(path), order, False, lines, size, tuple(part.ordinal for part in results))


def _numbered(results: Sequence[Part]) -> Range | None:
    """The range that line numbers in the text itself tell."""
    first = _NUMBER.match(results[0].text)
    text = results[-1].text.rstrip()[-2_000:]
    last = None
    for line in text.split("\n")[-12:]:
        last = _NUMBER.match(line) or last
    if first is None or last is None or int(first[1]) > int(last[1]):
        return None
    return int(first[1]), int(last[1])


def _tidy(path: str, folder: str = "") -> str:
    return posixpath.normpath(posixpath.join(folder, path.strip().removeprefix("file://").replace("\\", "/")))
