"""Where the known tools keep their sessions, and which session a file of a sub-agent belongs to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

#: Tool, the variable that moves its home, where its home is otherwise, and the folder of its sessions in there.
_HOMES: Final = (
    ("claude-code", "CLAUDE_CONFIG_DIR", "~/.claude", "projects"),
    ("codex", "CODEX_HOME", "~/.codex", "sessions"),
    ("codex", "CODEX_HOME", "~/.codex", "archived_sessions"),
    ("gemini-cli", "", "~/.gemini", "tmp"),
    ("qwen-code", "", "~/.qwen", "projects"),
    ("copilot-cli", "", "~/.copilot", "session-state"),
    ("pi", "", "~/.pi/agent", "sessions"),
    ("openhands", "", "~/.openhands", "sessions"),
)


@dataclass(frozen=True, slots=True)
class Home:
    """A folder of sessions of a known tool."""

    tool: str
    path: Path


def known() -> Iterator[Home]:
    """The homes that are there."""
    for tool, variable, home, below in _HOMES:
        path = Path(os.environ.get(variable, "") or home).expanduser() / below
        if path.is_dir():
            yield Home(tool, path)


def size(home: Home) -> tuple[int, int]:
    """How many files are in a home, and their bytes."""
    files = total = 0
    for top, _, names in os.walk(home.path):
        for name in names:
            try:
                total += Path(top, name).lstat().st_size
            except OSError:
                continue
            files += 1
    return files, total


def parent_of(path: Path) -> str:
    """The session that a file of a sub-agent belongs to, or "".

    A tool puts them in a folder that is named after the session's own file and stands beside it.
    """
    for folder in list(path.parents)[:3]:
        if folder.name and folder.with_name(f"{folder.name}.jsonl").is_file():
            return folder.name
    return ""


def open_files() -> frozenset[tuple[int, int]]:
    """Device and inode of every file that a process of this user holds open for writing.

    Only where the system tells (Linux); elsewhere a session's age has to do.
    """
    found = set()
    for links in Path("/proc").glob("[0-9]*/fd"):
        try:
            with os.scandir(links) as entries:
                found |= {known for entry in entries if (known := _written_to(links, entry)) is not None}
        except OSError:
            continue  # another user's process, or one that has ended
    return frozenset(found)


def _written_to(links: Path, entry: os.DirEntry[str]) -> tuple[int, int] | None:
    try:
        info = (links.parent / "fdinfo" / entry.name).read_text()
        if not int(info.split("flags:", 1)[1].split(None, 1)[0], 8) & (os.O_WRONLY | os.O_RDWR):
            return None
        target = Path(entry.path).stat()
    except (OSError, ValueError, IndexError):
        return None
    return target.st_dev, target.st_ino
