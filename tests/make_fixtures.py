"""Write the committed fixtures: `python tests/make_fixtures.py [--check]`.

Every fixture is told once as a script (`tests/fixture_text/*.yaml`): requests, sentences of the agent,
files of an invented project, commands with their output.  Scripts know nothing of formats; one writer per
format turns a script into the records that the format's own tool would have left behind.

The output is the same bytes on every run: ids, times and signatures come from hashes of the fixture's name.
"""

from __future__ import annotations

import argparse
import base64
import copy
import datetime as dt
import difflib
import fnmatch
import hashlib
import json
import random
import re
import struct
import sys
import uuid
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

HERE = Path(__file__).parent
TEXT = HERE / "fixture_text"
FIXTURES = HERE.parent / "fixtures"
BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

Record = dict[str, Any]


# --- deterministic ids, times, pictures -------------------------------------------------------------------


class Ids:
    """Well-formed ids of every kind, counted up from one seed."""

    def __init__(self, seed: str) -> None:
        self.seed = seed
        self.count = 0

    def bytes(self, size: int) -> bytes:
        self.count += 1
        return hashlib.shake_256(f"{self.seed}/{self.count}".encode()).digest(size)

    def letters(self, size: int) -> str:
        return "".join(BASE62[byte % 62] for byte in self.bytes(size))

    def hex(self, size: int) -> str:
        return self.bytes(size).hex()[:size]

    def uuid(self) -> str:
        return str(uuid.UUID(bytes=self.bytes(16), version=4))

    def uuid7(self, moment: dt.datetime) -> str:
        stamp = int(moment.timestamp() * 1000).to_bytes(6, "big")
        tail = bytearray(self.bytes(10))
        tail[0] = 0x70 | tail[0] & 0x0F
        tail[2] = 0x80 | tail[2] & 0x3F
        return str(uuid.UUID(bytes=stamp + bytes(tail)))

    def opaque(self, size: int) -> str:
        return base64.b64encode(self.bytes(size)).decode()


def sealed(opaque: str) -> str:
    """An encrypted token as such services make it: a version, a time, a vector, whole blocks, a signature."""
    raw = base64.b64decode(opaque)
    size = 57 + (len(raw) - 57) // 16 * 16
    return base64.urlsafe_b64encode(b"\x80" + bytes(4) + raw[: size - 5]).decode()


class Clock:
    """A clock that moves only when it is told to, by an uneven step."""

    def __init__(self, start: str, seed: str) -> None:
        self.now = dt.datetime.fromisoformat(str(start)).replace(tzinfo=dt.UTC)
        self.random = random.Random(f"clock/{seed}")

    def tick(self, low: float = 0.4, high: float = 9.0) -> str:
        self.now += dt.timedelta(milliseconds=self.random.randint(int(low * 1000), int(high * 1000)))
        return self.stamp()

    def stamp(self) -> str:
        return self.now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.now.microsecond // 1000:03d}Z"


def png(rows: list[str]) -> str:
    """A grey PNG drawn from text rows (`#` dark, `.` light), stored and not deflated, as base64."""
    width = max(len(row) for row in rows)
    shades = {"#": 0x20, "+": 0x90}
    raw = b"".join(b"\0" + bytes(shades.get(char, 0xF4) for char in row.ljust(width)) for row in rows)
    pieces = [raw[start : start + 0xFFFF] for start in range(0, len(raw), 0xFFFF)]
    blocks = [struct.pack("<BHH", piece is pieces[-1], len(piece), len(piece) ^ 0xFFFF) + piece for piece in pieces]
    stored = b"\x78\x01" + b"".join(blocks) + struct.pack(">I", zlib.adler32(raw))

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, len(rows), 8, 0, 0, 0, 0)
    picture = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", stored) + chunk(b"IEND", b"")
    return base64.b64encode(picture).decode()


# --- the invented project's files -------------------------------------------------------------------------


@dataclass
class Workspace:
    """The files of an invented project, with the few operations an agent's tools need."""

    root: str
    files: dict[str, str]
    committed: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.committed = dict(self.files)

    def path(self, name: str) -> str:
        return f"{self.root}/{name}"

    def lines(self, name: str, offset: int = 1, limit: int | None = None) -> list[str]:
        lines = self.files[name].splitlines()
        return lines[offset - 1 : None if limit is None else offset - 1 + limit]

    def replace(self, name: str, old: str, new: str) -> None:
        found = self.files[name].count(old)
        if found != 1:
            raise ValueError(f"{name}: text to replace stands there {found} times: {old[:60]!r}")
        self.files[name] = self.files[name].replace(old, new)

    def grep(self, pattern: str, under: str = "", glob: str = "*") -> list[tuple[str, int, str]]:
        wanted = re.compile(pattern)
        return [
            (name, number, line)
            for name, text in sorted(self.files.items())
            if name.startswith(under) and fnmatch.fnmatch(name, glob)
            for number, line in enumerate(text.splitlines(), 1)
            if wanted.search(line)
        ]

    def changed(self) -> list[str]:
        names = sorted(self.files.keys() | self.committed.keys())
        return [name for name in names if self.files.get(name) != self.committed.get(name)]

    def hunks(self, name: str, old: str, *, context: int = 3) -> list[str]:
        """Unified diff lines of one file against an older text, without the two header lines."""
        diff = difflib.unified_diff(old.splitlines(), self.files.get(name, "").splitlines(), n=context, lineterm="")
        return list(diff)[2:]

    def diff(self, name: str) -> str:
        old = self.committed.get(name, "")
        source = f"a/{name}" if old else "/dev/null"
        blob = hashlib.sha1(old.encode()).hexdigest()[:7], hashlib.sha1(self.files[name].encode()).hexdigest()[:7]
        head = [f"diff --git a/{name} b/{name}", f"index {blob[0]}..{blob[1]} 100644", f"--- {source}", f"+++ b/{name}"]
        return "\n".join(head + self.hunks(name, old))

    def stat(self) -> str:
        rows, added, removed = [], 0, 0
        for name in self.changed():
            hunks = self.hunks(name, self.committed.get(name, ""))
            plus = sum(line.startswith("+") for line in hunks)
            minus = sum(line.startswith("-") for line in hunks)
            scale = max(1, (plus + minus) // 40)
            rows.append(f" {name:<38} | {plus + minus:>3} {'+' * (plus // scale)}{'-' * (minus // scale)}")
            added, removed = added + plus, removed + minus
        count = len(rows)
        rows.append(f" {count} file{'s' * (count != 1)} changed, {added} insertions(+), {removed} deletions(-)")
        return "\n".join(rows)


def pytest_report(ws: Workspace, spec: Record) -> str:
    """What pytest prints for the test functions that stand in the workspace."""
    select = spec.get("select", "tests/")
    failures: dict[str, Record] = spec.get("fail", {})
    tests = [
        (name, match.group(1))
        for name, text in sorted(ws.files.items())
        if any(name.startswith(prefix) for prefix in select.split()) and Path(name).name.startswith("test_")
        for match in re.finditer(r"^def (test_\w+)", text, re.MULTILINE)
    ]
    out = [
        " test session starts ".center(80, "="),
        "platform linux -- Python 3.12.4, pytest-8.3.2, pluggy-1.5.0",
        f"rootdir: {ws.root}",
        "configfile: pyproject.toml",
        f"collected {len(tests)} items",
        "",
    ]
    if select == "tests/":  # the whole suite is run quietly
        dots = "".join("F" if test in failures else "." for _, test in tests)
        out = [f"{dots:<72} [100%]"]
        tests_shown = []
    else:
        tests_shown = tests
    for number, (name, test) in enumerate(tests_shown, 1):
        outcome = "FAILED" if test in failures else "PASSED"
        out.append(f"{name}::{test} {outcome}".ljust(73) + f"[{100 * number // len(tests):3d}%]")
    if failures:
        out += ["", " FAILURES ".center(80, "=")]
    for name, test in tests:
        if test in failures:
            out += [f" {test} ".center(80, "_"), "", *_traceback(ws, name, test, failures[test])]
    if failures:
        out.append(" short test summary info ".center(80, "="))
        out += [
            f"FAILED {name}::{test} - {failures[test]['error'].splitlines()[0]}"
            for name, test in tests
            if test in failures
        ]
    passed = len(tests) - len(failures)
    totals = ", ".join([f"{len(failures)} failed"] * bool(failures) + [f"{passed} passed"])
    return "\n".join([*out, f" {totals} in {spec.get('seconds', 4.2):.2f}s ".center(80, "=")])


def _traceback(ws: Workspace, name: str, test: str, failure: Record) -> Iterator[str]:
    lines = ws.files[name].splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"def {test}("))
    end = next(number for number in range(start, len(lines)) if failure["at"] in lines[number])
    for line in lines[start:end]:
        yield f"    {line}" if line else ""
    yield f">   {lines[end]}"
    for line in failure["error"].splitlines():
        yield f"E       {line}"
    yield ""
    yield f"{name}:{end + 1}: {failure['error'].split(':')[0]}"


# --- tools: one operation of a script -> the call and result that a given tool writes ----------------------


@dataclass
class Call:
    name: str
    input: Any
    output: str
    ui: Any = None
    error: bool = False
    edits: str | None = None
    op: str = ""
    blocks: list[Record] | None = None
    progress: int = 0
    code: int = 0


def shell(ws: Workspace, op: str, arg: Any) -> tuple[str, str, str, int]:
    """Command line, description, output and exit code of an operation that is a shell command everywhere."""
    if op == "test":
        failed = bool(arg.get("fail"))
        select = arg.get("select", "tests/")
        return (
            f"python -m pytest {select} {'-q' if select == 'tests/' else '-v'}",
            arg.get("desc", "Run the tests"),
            pytest_report(ws, arg),
            int(failed),
        )
    if op == "diff":
        return f"git diff -- {arg}", f"Show the changes in {arg}", ws.diff(arg), 0
    if op == "stat":
        return "git diff --stat", "Summarise the uncommitted changes", ws.stat(), 0
    if op == "commit":
        summary = ws.stat().splitlines()[-1]
        digest = hashlib.sha1(json.dumps(ws.files, sort_keys=True).encode()).hexdigest()[:7]
        names = " ".join(ws.changed())
        ws.committed = dict(ws.files)
        return (
            f'git add {names} && git commit -m "{arg["message"]}"',
            "Commit",
            f"[{arg['branch']} {digest}] {arg['message']}\n{summary}",
            0,
        )
    if op == "revert":
        names = " ".join(arg)
        for name in arg:
            if name in ws.committed:
                ws.files[name] = ws.committed[name]
            else:
                del ws.files[name]
        return (
            f"git checkout -- {names} && git status --short",
            f"Take back {names}",
            "\n".join(f" M {n}" for n in ws.changed()),
            0,
        )
    return arg["cmd"], arg.get("desc", "Run a command"), _output(arg), arg.get("code", 0)


def _output(arg: Record) -> str:
    if "rows" in arg:
        text = arg.get("out", "") + table(**arg["rows"])
        if text.endswith(","):  # rows of a JSON list that `out` has opened
            text = text[:-1] + ("\n]}" if text.startswith("{") else "\n]")
        return text
    return arg["out"].rstrip("\n")


def table(seed: str, count: int, line: str, **columns: list[Any]) -> str:
    """`count` lines of output from a template.

    A column is a list to draw from, or [low, high, "int"|"money"], [start, step, "step"|"time"], [digits, "hex"].
    The integer columns mo, d, h, m and s are a clock: their draws are sorted, so that a log runs forward.
    """
    draw = random.Random(seed)
    clock = [name for name in ("mo", "d", "h", "m", "s") if columns.get(name, [""])[-1] == "int"]
    moments = sorted(tuple(draw.randint(*columns[name][:2]) for name in clock) for _ in range(count))
    position: dict[str, int] = {}
    lines = []
    for moment in moments:
        values: Record = dict(zip(clock, moment, strict=True))
        for name, column in columns.items():
            if name in values:
                continue
            kind = column[-1]
            if kind == "int":
                values[name] = draw.randint(column[0], column[1])
            elif kind == "money":
                values[name] = f"{draw.randint(column[0] * 100, column[1] * 100) / 100:.2f}"
            elif kind == "step":
                position[name] = position.get(name, column[0]) + draw.randint(1, column[1])
                values[name] = position[name]
            elif kind == "hex":
                values[name] = f"{draw.getrandbits(column[0] * 4):0{column[0]}x}"
            elif kind == "time":
                position[name] = position.get(name, column[0]) + draw.randint(0, column[1])
                values[name] = str(dt.timedelta(milliseconds=position[name]))[:-3].rjust(11, "0")
            else:
                values[name] = draw.choice(column)
        lines.append(line.format(**values))
    return "\n".join(lines)


def pasted(text: str, rows: Record | None) -> str:
    """A request, with the logs that the person pasted into it."""
    for name, columns in (rows or {}).items():
        text = text.replace(f"{{{name}}}", table(**columns))
    return text.rstrip("\n")


def claude_call(ws: Workspace, op: str, arg: Any) -> Call:
    if op == "read":
        return _claude_read(ws, arg)
    if op == "grep":
        return _claude_grep(ws, arg)
    if op == "glob":
        names = [ws.path(name) for name in sorted(ws.files) if fnmatch.fnmatch(name, arg)]
        ui = {"filenames": names, "durationMs": 14, "numFiles": len(names), "truncated": False}
        return Call("Glob", {"pattern": arg}, "\n".join(names) or "No files found", ui)
    if op == "edit":
        return _claude_edit(ws, arg)
    if op == "write":
        path, text = ws.path(arg["path"]), arg["text"]
        old = ws.files.get(arg["path"])
        ws.files[arg["path"]] = text
        ui = {
            "type": "update" if old else "create",
            "filePath": path,
            "content": text,
            "structuredPatch": [],
            "originalFile": old,
        }
        return Call(
            "Write",
            {"file_path": path, "content": text},
            f"File created successfully at: {path}",
            ui,
            edits=arg["path"],
        )
    if op == "todo":
        todos = [_todo(line) for line in arg]
        return Call(
            "TodoWrite",
            {"todos": todos},
            "Todos have been modified successfully.",
            {"oldTodos": [], "newTodos": todos},
            op="todo",
        )
    if op == "task":
        return _claude_task(arg)
    command, description, output, code = shell(ws, op, arg)
    given = {"command": command, "description": description}
    progress = arg.get("progress", 0) if isinstance(arg, dict) else 0
    if code:
        text = f"Exit code {code}\n{output}"
        return Call("Bash", given, text, f"Error: {text}", error=True, progress=progress)
    return Call(
        "Bash",
        given,
        output,
        {"stdout": output, "stderr": "", "interrupted": False, "isImage": False},
        progress=progress,
    )


def _claude_read(ws: Workspace, arg: Any) -> Call:
    spec = {"path": arg} if isinstance(arg, str) else arg
    offset, limit = spec.get("offset", 1), spec.get("limit")
    lines = ws.lines(spec["path"], offset, limit)
    text = "\n".join(f"{number:6d}\u2192{line}" for number, line in enumerate(lines, offset))
    given: Record = {"file_path": ws.path(spec["path"])}
    if limit is not None:
        given |= {"offset": offset, "limit": limit}
    total = len(ws.lines(spec["path"]))
    content = {
        "filePath": given["file_path"],
        "content": "\n".join(lines),
        "numLines": len(lines),
        "startLine": offset,
        "totalLines": total,
    }
    return Call("Read", given, text, {"type": "text", "file": content})


def _claude_grep(ws: Workspace, arg: Record) -> Call:
    hits = ws.grep(arg["pattern"], arg.get("path", ""), arg.get("glob", "*"))
    given = {"pattern": arg["pattern"], **{key: arg[key] for key in ("path", "glob") if key in arg}}
    if arg.get("mode") == "files":
        names = sorted({name for name, _, _ in hits})
        text = "\n".join([f"Found {len(names)} files", *names]) if names else "No files found"
        ui: Record = {"mode": "files_with_matches", "filenames": names, "numFiles": len(names)}
        return Call("Grep", given | {"output_mode": "files_with_matches"}, text, ui)
    text = "\n".join(f"{name}:{number}:{line}" for name, number, line in hits) or "No matches found"
    ui = {"mode": "content", "numFiles": 0, "filenames": [], "content": text, "numLines": len(hits)}
    return Call("Grep", given | {"output_mode": "content", "-n": True}, text, ui)


def _claude_edit(ws: Workspace, arg: Record) -> Call:
    path, before = ws.path(arg["path"]), ws.files[arg["path"]]
    given = {"replace_all": False, "file_path": path, "old_string": arg["old"], "new_string": arg["new"]}
    if before.count(arg["old"]) != 1:
        if not arg.get("fails"):
            raise ValueError(f"{arg['path']}: {before.count(arg['old'])} matches for {arg['old'][:70]!r}")
        message = (
            "String to replace not found in file."
            if arg["old"] not in before
            else f"Found {before.count(arg['old'])} matches of the string to replace, but replace_all is false."
        )
        return Call(
            "Edit",
            given,
            f"<tool_use_error>{message}\nString: {arg['old']}</tool_use_error>",
            f"Error: {message}",
            error=True,
        )
    ws.replace(arg["path"], arg["old"], arg["new"])
    ui = {
        "filePath": path,
        "oldString": arg["old"],
        "newString": arg["new"],
        "originalFile": before,
        "structuredPatch": list(_structured(ws.hunks(arg["path"], before))),
        "userModified": False,
        "replaceAll": False,
    }
    return Call("Edit", given, f"The file {path} has been updated successfully.", ui, edits=arg["path"])


def _structured(hunks: list[str]) -> Iterator[Record]:
    lines: list[str] = []
    for line in hunks:
        match = re.match(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", line)
        if match:
            old, old_count, new, new_count = (int(part or 1) for part in match.groups())
            lines = []
            yield {"oldStart": old, "oldLines": old_count, "newStart": new, "newLines": new_count, "lines": lines}
        else:
            lines.append(line)


def _todo(line: str) -> Record:
    status = {"x": "completed", ">": "in_progress", "-": "pending"}[line[0]]
    text = line[2:]
    return {"content": text, "status": status, "activeForm": f"Working on: {text[0].lower()}{text[1:]}"}


def _claude_task(arg: Record) -> Call:
    agent = hashlib.sha1(arg["prompt"].encode()).hexdigest()[:7]
    given = {"description": arg["description"], "prompt": arg["prompt"], "subagent_type": "Explore"}
    usage = f"agentId: {agent} (for resuming to continue this agent's work if needed)\n<usage>total_tokens: 41877\ntool_uses: {len(arg['steps'])}\nduration_ms: 88214</usage>"
    blocks = [{"type": "text", "text": arg["return"]}, {"type": "text", "text": usage}]
    ui = {
        "status": "completed",
        "prompt": arg["prompt"],
        "agentId": agent,
        "content": [blocks[0]],
        "totalDurationMs": 88214,
        "totalTokens": 41877,
        "totalToolUseCount": len(arg["steps"]),
        "usage": _usage(38012, 911),
    }
    return Call("Task", given, arg["return"], ui, blocks=blocks, op="task")


def codex_call(ws: Workspace, op: str, arg: Any) -> Call:
    if op == "read":
        spec = {"path": arg} if isinstance(arg, str) else arg
        first, limit = spec.get("offset", 1), spec.get("limit", 240)
        text = "\n".join(ws.lines(spec["path"], first, limit))
        return _exec(f"sed -n '{first},{first + limit - 1}p' {spec['path']}", text)
    if op == "grep":
        hits = ws.grep(arg["pattern"], arg.get("path", ""), arg.get("glob", "*"))
        text = "\n".join(f"{name}:{number}:{line}" for name, number, line in hits)
        return _exec(f'rg -n "{arg["pattern"]}" {arg.get("path", ".")}', text, code=0 if hits else 1)
    if op == "glob":
        return _exec("rg --files", "\n".join(name for name in sorted(ws.files) if fnmatch.fnmatch(name, arg)))
    if op in {"edit", "write"}:
        return _apply_patch(ws, op, arg)
    if op == "todo":
        steps = [{"step": line[2:], "status": _todo(line)["status"]} for line in arg]
        return Call("update_plan", {"plan": steps}, "Plan updated", op="todo")
    command, _, output, code = shell(ws, op, arg)
    wall = arg.get("wall") if isinstance(arg, dict) else None
    return _exec(command, output, code=code, wall=wall)


def _exec(command: str, output: str, *, code: int = 0, wall: float | None = None) -> Call:
    return Call("exec_command", {"cmd": command}, output, code=code, ui=wall, op="exec")


def _apply_patch(ws: Workspace, op: str, arg: Record) -> Call:
    name = arg["path"]
    before = ws.files.get(name, "")
    if op == "write":
        ws.files[name] = arg["text"]
        body = [f"*** Add File: {ws.path(name)}", *(f"+{line}" for line in arg["text"].splitlines())]
    else:
        ws.replace(name, arg["old"], arg["new"])
        body = [
            f"*** Update File: {ws.path(name)}",
            *("@@" if line.startswith("@@") else line for line in ws.hunks(name, before)),
        ]
    patch = "\n".join(["*** Begin Patch", *body, "*** End Patch", ""])
    letter = "A" if op == "write" else "M"
    output = f"Success. Updated the following files:\n{letter} {ws.path(name)}\n"
    change = (
        {"type": "add", "content": arg["text"]}
        if op == "write"
        else {"type": "update", "unified_diff": "\n".join(ws.hunks(name, before, context=2)), "move_path": None}
    )
    return Call("apply_patch", patch, output, ui={ws.path(name): change}, op="patch")


# --- Claude Code ------------------------------------------------------------------------------------------


CALLS = {
    "read",
    "grep",
    "glob",
    "edit",
    "write",
    "bash",
    "todo",
    "task",
    "test",
    "diff",
    "stat",
    "commit",
    "revert",
    "parallel",
}


def _usage(cached: int, output: int, fresh: int = 3) -> Record:
    created = cached // 9
    return {
        "input_tokens": fresh,
        "cache_creation_input_tokens": created,
        "cache_read_input_tokens": cached,
        "output_tokens": output,
        "service_tier": "standard",
    }


class ClaudeCode:
    """Writes the records of one Claude Code session file."""

    def __init__(self, name: str, story: Record) -> None:
        self.ids = Ids(name)
        self.clock = Clock(story["start"], name)
        self.ws = Workspace(
            story["cwd"],
            load(story["files"]) if isinstance(story.get("files"), str) else dict(story.get("files") or {}),
        )
        self.records: list[Record] = []
        self.leaf: str | None = None
        self.last_before_boundary: str | None = None
        self.session = self.ids.uuid()
        self.envelope = {
            "isSidechain": False,
            "userType": "external",
            "cwd": story["cwd"],
            "sessionId": self.session,
            "version": story.get("version", "2.1.47"),
            "gitBranch": story.get("branch", "main"),
            "slug": story.get("slug", "patient-folding-heron"),
        }
        self.model = story.get("model", "claude-sonnet-4-5-20250929")
        self.message: Record | None = None
        self.context = 14200
        self.todos: list[Record] = []
        self.tracked: Record = {}
        self.request = ""
        self.dirty = False
        self.commands = 0

    def run(self, steps: list[Record]) -> ClaudeCode:
        for step in steps:
            ((op, arg),) = ((key, value) for key, value in step.items() if key not in {"image", "rows"})
            if op in CALLS:
                self.calls(arg if op == "parallel" else [step])
            else:
                getattr(self, op)(arg, **{key: value for key, value in step.items() if key != op})
        return self

    def chain(self, record: Record, *, parent: str | None = None, **extra: Any) -> Record:
        record = {
            "parentUuid": parent if parent is not None else self.leaf,
            **self.envelope,
            **record,
            "uuid": self.ids.uuid(),
            "timestamp": self.clock.stamp(),
            **extra,
        }
        self.records.append(record)
        self.leaf = record["uuid"]
        return record

    # requests and what surrounds them

    def user(self, text: str, *, image: list[str] | None = None, rows: Record | None = None) -> None:
        self.message = None
        self.clock.tick(20, 400)
        content: Any = pasted(text, rows)
        if image:
            picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png(image)}}
            content = [{"type": "text", "text": content}, picture]
        extra: Record = {"todos": self.todos, "permissionMode": "default"}
        if image:
            extra["imagePasteIds"] = [1]
        record = self.chain({"type": "user", "message": {"role": "user", "content": content}}, **extra)
        self.request = record["uuid"]
        self.context += len(content) // 4
        self.dirty = False
        self.snapshot(update=False)

    def snapshot(self, *, update: bool) -> None:
        if update:
            self.ids.uuid()  # an id that is not used any more: those after it stay what they were
        body = {"messageId": self.request, "trackedFileBackups": dict(self.tracked), "timestamp": self.clock.stamp()}
        self.records.append(
            {"type": "file-history-snapshot", "messageId": self.request, "snapshot": body, "isSnapshotUpdate": update}
        )

    def meta(self, text: str) -> None:
        self.clock.tick(5, 60)
        self.chain({"type": "user", "message": {"role": "user", "content": text.rstrip("\n")}, "isMeta": True})

    def command(self, arg: Record) -> None:
        """A local slash command: three user records that no model answers."""
        self.meta("Caveat: The messages below were generated by the user while running local commands.")
        name = arg["name"]
        call = f"<command-name>/{name}</command-name>\n            <command-message>{name}</command-message>\n            <command-args>{arg.get('args', '')}</command-args>"
        self.chain({"type": "user", "message": {"role": "user", "content": call}})
        output = f"<local-command-stdout>{arg['out'].rstrip()}</local-command-stdout>"
        self.chain({"type": "user", "message": {"role": "user", "content": output}})

    def queue(self, text: str) -> None:
        for operation in ("enqueue", "dequeue"):
            record = {
                "type": "queue-operation",
                "operation": operation,
                "timestamp": self.clock.tick(),
                "sessionId": self.session,
            }
            self.records.append(record | ({"content": text} if operation == "enqueue" else {}))

    def hook(self, event: str) -> None:
        tool = self.ids.uuid()
        data = {
            "type": "hook_progress",
            "hookEvent": event,
            "hookName": f"{event}:startup",
            "command": "python .claude/hooks/announce.py",
        }
        self.chain({"type": "progress", "data": data, "parentToolUseID": tool, "toolUseID": tool})

    def done(self, duration: int) -> None:
        self.message = None
        self.clock.tick(0.01, 0.2)
        self.chain({"type": "system", "subtype": "turn_duration", "durationMs": duration, "isMeta": False})

    def overloaded(self, attempts: int) -> None:
        for attempt in range(1, attempts + 1):
            self.clock.tick(1, 4)
            error = {
                "status": 529,
                "error": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            }
            self.chain(
                {
                    "type": "system",
                    "subtype": "api_error",
                    "level": "error",
                    "error": error,
                    "retryInMs": 531.25 * 2**attempt,
                    "retryAttempt": attempt,
                    "maxRetries": 10,
                }
            )

    def abandoned(self, steps: list[Record]) -> None:
        """A branch that the user left by editing the request: it stays in the file, off the active chain."""
        leaf, files, tracked, todos = self.leaf, dict(self.ws.files), dict(self.tracked), self.todos
        self.run(steps)
        self.leaf, self.ws.files, self.tracked, self.todos, self.message = leaf, files, tracked, todos, None

    def title(self, text: str) -> None:
        self.records.append({"type": "summary", "summary": text, "leafUuid": self.leaf})

    def compact(self, arg: Record) -> None:
        """The tool's own compaction: a boundary without parent, then the summary as a user record."""
        self.message = None
        self.clock.tick(30, 90)
        logical = self.ids.uuid() if arg.get("dangling") else self.leaf
        record = {
            "parentUuid": None,
            "logicalParentUuid": logical,
            **self.envelope,
            "type": "system",
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "isMeta": False,
            "timestamp": self.clock.stamp(),
            "uuid": self.ids.uuid(),
            "level": "info",
            "compactMetadata": {"trigger": arg.get("trigger", "auto"), "preTokens": arg.get("tokens", 155312)},
        }
        self.records.append(record)
        self.leaf = record["uuid"]
        lead = "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.\n\n"
        content = lead + arg["summary"].rstrip("\n")
        self.clock.tick(0.001, 0.01)
        self.chain(
            {
                "type": "user",
                "message": {"role": "user", "content": content},
                "isVisibleInTranscriptOnly": True,
                "isCompactSummary": True,
            }
        )
        self.context = 9000 + len(content) // 4

    # the assistant's blocks

    def block(self, block: Record, size: int) -> Record:
        if self.message is None:
            self.clock.tick(1, 7)
            self.message = {
                "id": f"msg_01{self.ids.letters(22)}",
                "request": f"req_011C{self.ids.letters(20)}",
                "size": 0,
            }
        self.message["size"] += size // 4
        self.clock.tick(0.3, 4)
        message = {
            "model": self.model,
            "id": self.message["id"],
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": _usage(self.context, self.message["size"]),
        }
        return self.chain({"message": message, "requestId": self.message["request"], "type": "assistant"})

    def think(self, text: str) -> None:
        text = text.rstrip("\n")
        self.block(
            {"type": "thinking", "thinking": text, "signature": self.ids.opaque(120 + len(text) // 2)}, len(text)
        )

    def say(self, text: str) -> None:
        self.block({"type": "text", "text": text.rstrip("\n")}, len(text))

    def calls(self, steps: list[Record]) -> None:
        pending = []
        for step in steps:
            ((op, arg),) = step.items()
            call = claude_call(self.ws, op, arg)
            tool = f"toolu_01{self.ids.letters(22)}"
            use = {"type": "tool_use", "id": tool, "name": call.name, "input": call.input}
            record = self.block(use, len(json.dumps(call.input)))
            pending.append((call, tool, record["uuid"], arg))
        for call, tool, caller, arg in pending:
            self.result(call, tool, caller, arg)
        self.message = None

    def result(self, call: Call, tool: str, caller: str, arg: Any) -> None:
        self.leaf = caller
        for number in range(call.progress):
            self.clock.tick(1, 3)
            tail = "\n".join(call.output.splitlines()[: 2 + number])
            data = {
                "type": "bash_progress",
                "output": tail,
                "fullOutput": tail,
                "elapsedTimeSeconds": 2 + 3 * number,
                "totalLines": 2 + number,
            }
            self.chain(
                {
                    "type": "progress",
                    "data": data,
                    "toolUseID": f"bash-progress-{self.commands}",
                    "parentToolUseID": tool,
                }
            )
        if call.op == "task":
            self.inner(arg, tool, call.ui["agentId"])
        self.commands += 1
        self.clock.tick(0.1, 5)
        block: Record = {"tool_use_id": tool, "type": "tool_result", "content": call.blocks or call.output}
        if call.name == "Bash" or call.error:
            block["is_error"] = call.error
        ui = call.ui
        if call.op == "todo":
            ui = {"oldTodos": self.todos, "newTodos": ui["newTodos"]}
            self.todos = ui["newTodos"]
        extra = {"toolUseResult": ui, "sourceToolAssistantUUID": caller}
        self.chain({"type": "user", "message": {"role": "user", "content": [block]}}, **extra)
        self.context += len(call.output) // 4
        if call.edits:
            version = self.tracked.get(call.edits, {}).get("version", 0) + 1
            backup = hashlib.sha1(call.edits.encode()).hexdigest()[:16]
            self.tracked[call.edits] = {
                "backupFileName": f"{backup}@v{version}",
                "version": version,
                "backupTime": self.clock.stamp(),
            }
            if not self.dirty:
                self.snapshot(update=True)
            self.dirty = True

    def inner(self, arg: Record, tool: str, agent: str) -> None:
        """The steps of a sub-agent as the parent file shows them: progress records."""
        prompt = {"role": "user", "content": [{"type": "text", "text": arg["prompt"]}]}
        messages: list[tuple[str, Record]] = [("user", prompt)]
        for step in arg["steps"]:
            ((op, value),) = step.items()
            call = claude_call(self.ws, op, value)
            use = f"toolu_01{self.ids.letters(22)}"
            content = [{"type": "tool_use", "id": use, "name": call.name, "input": call.input}]
            said = {
                "model": self.model,
                "id": f"msg_01{self.ids.letters(22)}",
                "type": "message",
                "role": "assistant",
                "content": content,
                "usage": _usage(9000, 84),
            }
            messages.append(("assistant", said))
            messages.append(
                (
                    "user",
                    {"role": "user", "content": [{"tool_use_id": use, "type": "tool_result", "content": call.output}]},
                )
            )
        for kind, message in messages:
            self.clock.tick(1, 6)
            inner = {"type": kind, "message": message, "uuid": self.ids.uuid(), "timestamp": self.clock.stamp()}
            data = {
                "message": inner,
                "normalizedMessages": [],
                "type": "agent_progress",
                "prompt": arg["prompt"] if kind == "user" and message is prompt else "",
                "agentId": agent,
            }
            self.chain(
                {
                    "type": "progress",
                    "data": data,
                    "toolUseID": f"agent_msg_01{self.ids.letters(22)}",
                    "parentToolUseID": tool,
                }
            )


# --- Codex ------------------------------------------------------------------------------------------------


class Codex:
    """Writes the lines of one Codex rollout; `paginated` stories get the newer kinds of lines."""

    WINDOW = 258400

    def __init__(self, name: str, story: Record) -> None:
        self.ids = Ids(name)
        self.clock = Clock(story["start"], name)
        self.story = story
        self.ws = Workspace(
            story["cwd"],
            load(story["files"]) if isinstance(story.get("files"), str) else dict(story.get("files") or {}),
        )
        self.paginated = story.get("paginated", False)
        self.records: list[Record] = []
        self.history: list[Record] = []
        self.session = self.ids.uuid7(self.clock.now)
        self.window = self.ids.uuid7(self.clock.now)
        self.turn = ""
        self.first_text = ""
        self.sequence = 0
        self.context = 9400
        self.total = {
            "input_tokens": 0,
            "cached_input_tokens": 0,
            "output_tokens": 0,
            "reasoning_output_tokens": 0,
            "total_tokens": 0,
        }
        self.last = dict(self.total)
        self.open_turn = False
        self.meta()

    # lines

    def line(self, kind: str, payload: Record, **extra: Any) -> None:
        record: Record = {"timestamp": self.clock.tick(0.001, 0.4)}
        if self.paginated:
            record["ordinal"] = len(self.records)
        self.records.append(record | {"type": kind, "payload": payload} | extra)

    def event(self, kind: str, **payload: Any) -> None:
        self.line("event_msg", {"type": kind, **payload})

    def item(self, payload: Record) -> None:
        payload |= {"internal_chat_message_metadata_passthrough": {"turn_id": self.turn}}
        self.history.append(payload)
        extra = {}
        if self.paginated:
            self.sequence += 1
            extra = {
                "metadata": {
                    "history_sequence": self.sequence,
                    "client_authored": False,
                    "model_search_state": "unused",
                }
            }
        self.line("response_item", payload, **extra)

    def shown(self, item: Record) -> None:
        stamp = int(self.clock.now.timestamp() * 1000)
        self.event(
            "item_completed",
            thread_id=self.session,
            turn_id=self.turn,
            item=item,
            started_at_ms=stamp,
            completed_at_ms=stamp,
        )

    def message(self, role: str, *texts: str, **extra: Any) -> None:
        kind = "output_text" if role == "assistant" else "input_text"
        payload: Record = {"type": "message", "role": role, "content": [{"type": kind, "text": text} for text in texts]}
        if role == "assistant" or self.paginated:
            payload["id"] = f"msg_{self.ids.hex(50)}"
        self.item(payload | extra)

    # the frame of a session and of a turn

    def meta(self) -> None:
        story = self.story
        payload: Record = {
            "session_id": self.session,
            "id": self.session,
            "timestamp": self.clock.stamp(),
            "cwd": story["cwd"],
            "originator": "codex-tui",
            "cli_version": story.get("version", "0.142.4"),
            "source": "cli",
            "thread_source": "user",
            "model_provider": "openai",
            "base_instructions": {"text": story["instructions"].rstrip("\n")},
        }
        if self.paginated:
            payload |= {"history_mode": "paginated", "context_window": {"window_id": self.window}}
        payload["git"] = {"commit_hash": self.ids.hex(40), "branch": story.get("branch", "main")}
        self.line("session_meta", payload)

    def begin(self) -> None:
        self.turn = self.ids.uuid7(self.clock.now)
        self.open_turn = True
        self.event(
            "task_started",
            turn_id=self.turn,
            started_at=int(self.clock.now.timestamp()),
            model_context_window=self.WINDOW,
            collaboration_mode_kind="default",
        )
        if not self.history:
            self.preamble()
        self.context_line()

    def preamble(self) -> None:
        story = self.story
        self.message("developer", story["permissions"].rstrip("\n"))
        agents = f"# AGENTS.md instructions for {story['cwd']}\n\n<INSTRUCTIONS>\n{story['agents_md'].rstrip()}\n</INSTRUCTIONS>"
        self.message("user", agents, self.environment())
        if self.paginated:
            state = {
                "agents_md": {},
                "collaboration_mode": {"mode": "default", "model": "gpt-5.3-codex"},
                "environments": {
                    "environments": {"local": {"cwd": story["cwd"], "status": "available", "shell": "bash"}}
                },
                "model": "gpt-5.3-codex",
                "realtime": {"active": False},
            }
            self.line("world_state", {"full": True, "state": state})

    def environment(self) -> str:
        day = self.clock.now.strftime("%Y-%m-%d")
        return f"<environment_context>\n  <cwd>{self.story['cwd']}</cwd>\n  <shell>bash</shell>\n  <current_date>{day}</current_date>\n  <timezone>Europe/Stockholm</timezone>\n</environment_context>"

    def context_line(self) -> None:
        payload = {
            "turn_id": self.turn,
            "cwd": self.story["cwd"],
            "workspace_roots": [self.story["cwd"]],
            "current_date": self.clock.now.strftime("%Y-%m-%d"),
            "timezone": "Europe/Stockholm",
            "approval_policy": "on-request",
            "sandbox_policy": {"type": "workspace-write", "network_access": False},
            "model": "gpt-5.3-codex",
            "collaboration_mode": {
                "mode": "default",
                "settings": {"model": "gpt-5.3-codex", "reasoning_effort": "medium"},
            },
            "effort": "medium",
            "summary": "auto",
        }
        self.line("turn_context", payload)

    def tokens(self, output: int) -> None:
        self.last = {
            "input_tokens": self.context,
            "cached_input_tokens": self.context * 7 // 8,
            "output_tokens": output,
            "reasoning_output_tokens": output // 3,
            "total_tokens": self.context + output,
        }
        self.total = {key: self.total[key] + value for key, value in self.last.items()}
        if self.paginated:
            self.line(
                "token_usage_record",
                {
                    "thread_id": self.session,
                    "turn_id": self.turn,
                    "response_id": f"resp_{self.ids.hex(16)}",
                    "usage": self.last,
                    "thread_token_usage": self.total,
                },
            )
        info = {"total_token_usage": self.total, "last_token_usage": self.last, "model_context_window": self.WINDOW}
        limits = {
            "limit_id": "codex",
            "primary": {"used_percent": 4.0, "window_minutes": 300, "resets_at": 1784555100},
            "secondary": None,
            "credits": None,
            "plan_type": "team",
        }
        self.event("token_count", info=info, rate_limits=limits)

    # operations of a script

    def run(self, steps: list[Record]) -> Codex:
        for position, step in enumerate(steps):
            ((op, arg),) = ((key, value) for key, value in step.items() if key != "rows")
            if op in CALLS:
                self.calls(arg if op == "parallel" else [step])
            elif op == "say":
                following = next(iter(steps[position + 1])) if position + 1 < len(steps) else "user"
                self.say(arg.rstrip("\n"), final=following in {"user", "compact", "aborted"})
            else:
                getattr(self, op)(arg, **{key: value for key, value in step.items() if key != op})
        return self

    def user(self, text: str, *, rows: Record | None = None) -> None:
        text = pasted(text, rows)
        self.clock.tick(30, 500)
        self.begin()
        self.message("user", text)
        self.context += len(text) // 4
        if self.paginated:
            self.shown(
                {
                    "type": "UserMessage",
                    "id": self.ids.uuid7(self.clock.now),
                    "content": [{"type": "text", "text": text, "text_elements": []}],
                }
            )
        else:
            self.event("user_message", message=text, images=[], local_images=[], text_elements=[])

    def think(self, text: str) -> None:
        self.clock.tick(2, 20)
        text = text.rstrip("\n")
        summary = f"**{text}**" if "\n" not in text and len(text) < 90 else text
        payload = {
            "type": "reasoning",
            "id": f"rs_{self.ids.hex(50)}",
            "summary": [{"type": "summary_text", "text": summary}],
            "content": None,
            "encrypted_content": sealed(self.ids.opaque(220 + 3 * len(text))),
        }
        if self.paginated:
            self.shown({"type": "Reasoning", "id": payload["id"], "summary_text": [summary], "raw_content": []})
        else:
            self.event("agent_reasoning", text=summary)
        self.item(payload)

    def say(self, text: str, *, final: bool) -> None:
        self.clock.tick(1, 6)
        phase = "final_answer" if final else "commentary"
        if self.paginated:
            self.shown(
                {
                    "type": "AgentMessage",
                    "id": f"msg_{self.ids.hex(12)}",
                    "content": [{"type": "Text", "text": text}],
                    "phase": phase,
                }
            )
        else:
            self.event("agent_message", message=text, phase=phase, memory_citation=None)
        self.message("assistant", text, phase=phase)
        self.context += len(text) // 4
        if final:
            self.tokens(len(text) // 4)
            self.event(
                "task_complete",
                turn_id=self.turn,
                last_agent_message=text,
                completed_at=int(self.clock.now.timestamp()),
                duration_ms=self.clock.random.randint(40_000, 400_000),
            )

    def aborted(self, reason: str) -> None:
        self.event("turn_aborted", turn_id=self.turn, reason=reason, duration_ms=61250)

    def calls(self, steps: list[Record]) -> None:
        pending = []
        for step in steps:
            ((op, arg),) = step.items()
            call = codex_call(self.ws, op, arg)
            name = f"call_{self.ids.letters(24)}"
            self.clock.tick(1, 5)
            if call.op == "patch":
                self.item(
                    {
                        "type": "custom_tool_call",
                        "id": f"ctc_{self.ids.hex(50)}",
                        "status": "completed",
                        "call_id": name,
                        "name": call.name,
                        "input": call.input,
                    }
                )
            else:
                given = call.input
                if call.op == "exec":
                    given = given | {"workdir": self.story["cwd"], "yield_time_ms": 1000, "max_output_tokens": 8000}
                arguments = json.dumps(given, ensure_ascii=False, separators=(",", ":"))
                self.item(
                    {
                        "type": "function_call",
                        "id": f"fc_{self.ids.hex(50)}",
                        "name": call.name,
                        "arguments": arguments,
                        "call_id": name,
                    }
                )
            pending.append((call, name))
        for call, name in pending:
            self.result(call, name)
        self.tokens(sum(len(str(call.input)) // 4 for call, _ in pending) + 24)

    def result(self, call: Call, name: str) -> None:
        self.clock.tick(0.1, 4)
        output = call.output
        kind = "custom_tool_call_output" if call.op == "patch" else "function_call_output"
        if call.op == "exec":
            wall = call.ui if call.ui is not None else self.clock.random.randint(1, 9000) / 10_000
            output = f"Chunk ID: {self.ids.hex(6)}\nWall time: {wall:.4f} seconds\nProcess exited with code {call.code}\nOriginal token count: {len(output) // 4}\nOutput:\n{output}\n"
            if self.paginated:
                self.shown(
                    {
                        "type": "CommandExecution",
                        "id": name,
                        "command": ["/bin/bash", "-lc", call.input["cmd"]],
                        "cwd": f"file://{self.story['cwd']}",
                        "status": "completed" if not call.code else "failed",
                        "aggregated_output": call.output,
                        "exit_code": call.code,
                    }
                )
        elif call.op == "patch":
            if self.paginated:
                self.shown({"type": "FileChange", "id": name, "changes": call.ui, "status": "completed"})
            else:
                self.event(
                    "patch_apply_end",
                    call_id=name,
                    turn_id=self.turn,
                    stdout=output,
                    stderr="",
                    success=True,
                    changes=call.ui,
                    status="completed",
                )
            output = f"Exit code: 0\nWall time: 0 seconds\nOutput:\n{output}"
        self.item({"type": kind, "call_id": name, "output": output})
        self.context += len(output) // 4

    def compact(self, arg: Record) -> None:
        """The tool's own compaction: the real user messages, then an opaque item."""
        self.clock.tick(10, 40)
        kept = [
            item
            for item in self.history
            if item["type"] == "message"
            and item["role"] == "user"
            and not item["content"][0]["text"].startswith("# AGENTS.md")
        ]
        developer = next(item for item in self.history if item.get("role") == "developer")
        frame = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": self.environment()}]}
        opaque = {
            "type": "compaction",
            "id": f"cmp_{self.ids.hex(50)}",
            "encrypted_content": sealed(self.ids.opaque(arg.get("size", 2400))),
        }
        following = self.ids.uuid7(self.clock.now)
        payload = {
            "message": "",
            "replacement_history": copy.deepcopy([*kept, developer, frame, opaque]),
            "window_number": 1,
            "first_window_id": self.window,
            "previous_window_id": self.window,
            "window_id": following,
        }
        self.line("compacted", payload)
        self.window = following
        self.context = 11200
        self.context_line()
        self.tokens(0)
        self.event("context_compacted")


# --- message lists ----------------------------------------------------------------------------------------


def chat_messages(name: str, story: Record) -> list[Record]:
    """OpenAI chat messages. `ids: reused` counts call ids anew in every turn, so that pairs hold by position only."""
    ids, messages, counter = Ids(name), [], 0
    for step in story["steps"]:
        ((op, arg),) = step.items()
        if op in {"system", "user"}:
            messages.append({"role": op, "content": arg.rstrip("\n")})
            counter = 0
        elif op == "say":
            messages.append({"role": "assistant", "content": arg.rstrip("\n")})
        else:
            calls, results = [], []
            for call in arg if op == "parallel" else [arg]:
                key = f"call_{counter}" if story.get("ids") == "reused" else f"call_{ids.letters(24)}"
                counter += 1  # noqa: SIM113 - it goes on over the outer loops
                arguments = json.dumps(call.get("args", {}), ensure_ascii=False)
                calls.append(
                    {"id": key, "type": "function", "function": {"name": call["name"], "arguments": arguments}}
                )
                results.append({"role": "tool", "tool_call_id": key, "content": _output(call)})
            spoken = (
                messages.pop() if messages[-1]["role"] == "assistant" and "tool_calls" not in messages[-1] else None
            )
            messages.append(
                {"role": "assistant", "content": spoken["content"] if spoken else None, "tool_calls": calls}
            )
            messages += results
    return messages


def anthropic_messages(name: str, story: Record) -> list[Record]:
    """Anthropic messages: blocks of one side are gathered in one message, results stand in the next user message."""
    ids: Ids = Ids(name)
    messages: list[Record] = []

    def add(role: str, *blocks: Record) -> None:
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        else:
            messages.append({"role": role, "content": list(blocks)})

    for step in story["steps"]:
        ((op, arg),) = step.items()
        if op == "user":
            add("user", {"type": "text", "text": arg.rstrip("\n")})
        elif op == "think":
            text = arg.rstrip("\n")
            add("assistant", {"type": "thinking", "thinking": text, "signature": ids.opaque(150 + len(text) // 2)})
        elif op == "say":
            add("assistant", {"type": "text", "text": arg.rstrip("\n")})
        elif op in {"call", "parallel"}:
            calls = arg if op == "parallel" else [arg]
            keys = [f"toolu_01{ids.letters(22)}" for _ in calls]
            add(
                "assistant",
                *(
                    {"type": "tool_use", "id": key, "name": call["name"], "input": call.get("args", {})}
                    for key, call in zip(keys, calls, strict=True)
                ),
            )
            results = []
            for key, call in zip(keys, calls, strict=True):
                result = {"type": "tool_result", "tool_use_id": key, "content": _output(call)}
                results.append(result | ({"is_error": True} if call.get("error") else {}))
            add("user", *results)
    return messages


def anthropic_document(name: str, story: Record) -> Record:
    return {
        "model": "claude-sonnet-4-5-20250929",
        "max_tokens": 8192,
        "system": story["system"].rstrip("\n"),
        "tools": story["tools"],
        "messages": anthropic_messages(name, story),
    }


# --- files ------------------------------------------------------------------------------------------------


def load(name: str) -> Any:
    """A data module: YAML, or a bundle of files parted by `=== path` lines."""
    text = (TEXT / name).read_text(encoding="utf-8")
    if name.endswith(".yaml"):
        return YAML(typ="safe", pure=True).load(text)
    parts = re.split(r"^=== (\S+)\n", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def dump(record: Any) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def lines(records: list[Any]) -> bytes:
    return b"".join(dump(record) + b"\n" for record in records)


def claude_code(name: str) -> bytes:
    story = load(f"{name}.yaml")
    return lines(ClaudeCode(name, story).run(story["steps"]).records)


def codex(name: str) -> bytes:
    story = load(f"{name}.yaml")
    story = load(story["frame"]) | story
    return lines(Codex(name, story).run(story["steps"]).records)


def forum(story: Record) -> list[Record]:
    clock = Clock(story["start"], "forum")
    posts = []
    for number, post in enumerate(story["posts"], 1):
        ((speaker, text),) = post.items()
        text = pasted(text, {name: rows for name, rows in story["tables"].items() if f"{{{name}}}" in text})
        posts.append({"id": number, "ts": clock.tick(600, 70_000), "speaker": speaker, "text": text})
    return posts


def chats() -> dict[str, bytes]:
    stories = load("chats.yaml")
    rows = []
    for number, story in enumerate(stories["rows"]):
        tools = [
            {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
            for name in story["tools"]
        ]
        rows.append({"messages": chat_messages(f"rows/{number}", story), "tools": tools})
    array = chat_messages("array", stories["array"])
    document = anthropic_document("ops-runbook", stories["ops-runbook"])
    return {
        "openai-chat/support-desk.jsonl": lines(chat_messages("support-desk", stories["support-desk"])),
        "openai-chat/rows.jsonl": lines(rows),
        "openai-chat/array.json": json.dumps(array, ensure_ascii=False, indent=2).encode() + b"\n",
        "openai-chat/zh-support.jsonl": lines(chat_messages("zh-support", stories["zh-support"])),
        "anthropic/ops-runbook.json": json.dumps(document, ensure_ascii=False, indent=2).encode(),
        "anthropic/lines.jsonl": lines(anthropic_messages("lines", stories["lines"])),
        "generic/forum.jsonl": lines(forum(stories["forum"])),
    }


# --- dirt -------------------------------------------------------------------------------------------------
#
# One clean base per format, spoiled in one way per file.  fixtures/dirty/README.md says what is right.


def dirty_base(name: str) -> list[Record]:
    story = load("dirty.yaml")[name]
    if name == "claude":
        return ClaudeCode("dirty/claude", story).run(story["steps"]).records
    if name == "codex":
        return Codex("dirty/codex", story).run(story["steps"]).records
    return chat_messages("dirty/chat", story)


def chain(records: list[Record]) -> list[Record]:
    return [record for record in records if "uuid" in record]


def glued_records(records: list[Record]) -> bytes:
    """The newline after the fifth record is gone: a snapshot stands on the same line."""
    raw = [dump(record) for record in records]
    return b"\n".join([*raw[:4], raw[4] + raw[5], *raw[6:]]) + b"\n"


def truncated_last_line(records: list[Record]) -> bytes:
    return lines(records)[:-160]


def byte_order_mark(records: list[Record]) -> bytes:
    return b"\xef\xbb\xbf" + lines(records)


def crlf_line_ends(records: list[Record]) -> bytes:
    return lines(records).replace(b"\n", b"\r\n")


def comment_lines(records: list[Record]) -> bytes:
    raw = [dump(record) for record in records]
    return (
        b"\n".join(
            [b"// exported for the test bench, shortened", *raw[:3], b"// the middle was left out here", *raw[3:]]
        )
        + b"\n"
    )


def blank_lines(records: list[Record]) -> bytes:
    raw = [dump(record) for record in records]
    return b"\n".join([*raw[:2], b"", b"   ", *raw[2:], b"", b""]) + b"\n"


def unknown_kinds(records: list[Record]) -> bytes:
    session = chain(records)[0]["sessionId"]
    extra = [
        {"type": "weather-report", "sessionId": session, "wind": 14.2},
        {"type": "x-plugin", "sessionId": session, "payload": {"nested": [1, None, {"deep": True}]}},
        {"silly": "this"},
        ["a", "list", "line"],
        42,
    ]
    return lines([*records[:3], *extra, *records[3:]])


def duplicate_ids(records: list[Record]) -> bytes:
    """The third and the fourth chain record carry the same uuid, and the last record is there twice."""
    third, fourth = chain(records)[2:4]
    again = json.loads(dump(records).replace(fourth["uuid"].encode(), third["uuid"].encode()))
    chain(again)[3]["parentUuid"] = third["parentUuid"]
    return lines([*again, again[-1]])


def parent_cycle(records: list[Record]) -> bytes:
    """Two records name each other as parent: a walk without a visited set never ends."""
    links = chain(records)
    links[1]["parentUuid"] = links[2]["uuid"]
    return lines(records)


def dangling_parents(records: list[Record]) -> bytes:
    """The beginning of the session is missing, as in a fork of a truncated file."""
    return lines(records[3:])


def lone_surrogates(records: list[Record]) -> bytes:
    """A half emoji, written as an escape: valid JSON, not encodable text."""
    raw = [dump(record) for record in records]
    raw[0] = raw[0].replace(b"The last day", b"\\ud83d The last day")
    raw[-2] = raw[-2].replace(b"Fixed:", b"Fixed \\ude80:")
    return b"\n".join(raw) + b"\n"


def nan_values(records: list[Record]) -> bytes:
    records[1] = records[1] | {"score": float("nan"), "limit": float("inf")}
    return lines(records)


def control_characters(records: list[Record]) -> bytes:
    """NUL and ANSI escapes inside a tool result, as terminals leave them."""
    return (
        lines(records)
        .replace(b" PASSED ", b" \\u001b[32mPASSED\\u001b[0m\\u0000 ")
        .replace(b"FAILED", b"\\u001b[1;31mFAILED\\u001b[0m")
    )


def no_final_newline(records: list[Record]) -> bytes:
    return lines(records)[:-1]


def empty(records: list[Record]) -> bytes:
    return b""


def only_non_chain(records: list[Record]) -> bytes:
    links = chain(records)
    snapshots = [record for record in records if record["type"] == "file-history-snapshot"]
    summary = {"type": "summary", "summary": "Cap the tide week at 52", "leafUuid": links[-1]["uuid"]}
    prompt = {
        "type": "last-prompt",
        "lastPrompt": "The last day of the year comes out as week 53",
        "sessionId": links[0]["sessionId"],
    }
    return lines([summary, *snapshots, prompt])


def two_sessions(records: list[Record]) -> bytes:
    """The second half was continued under another sessionId and version."""
    half = len(records) // 2
    old = chain(records)[0]["sessionId"].encode()
    later = (
        lines(records[half:]).replace(old, Ids("dirty/two-sessions").uuid().encode()).replace(b'"2.1.44"', b'"2.1.49"')
    )
    return lines(records[:half]) + later


def line_separators(records: list[Record]) -> bytes:
    """U+2028, U+0085 and form feed inside strings: `splitlines()` would tear these records."""
    return (
        lines(records)
        .replace(b"Never write", "Never\u2028write".encode())
        .replace(b"harbour kiosk", "harbour\u0085kiosk".encode())
        .replace(b"capped at 52", b"capped\\fat 52")
    )


def duplicate_keys(records: list[Record]) -> bytes:
    raw = [dump(record) for record in records]
    raw[2] = raw[2].replace(b'"role":', b'"role":"user","role":', 1)
    raw[3] = b'{"role":"assistant",' + raw[3][1:]
    return b"\n".join(raw) + b"\n"


def invalid_utf8(records: list[Record]) -> bytes:
    """Latin-1 bytes in one tool result."""
    return lines(records).replace(b"Tordmulen", b"Tordm\xfcl\xe9n", 2)


def utf16(records: list[Record]) -> bytes:
    return b"\xff\xfe" + lines(records).decode().encode("utf-16-le")


def binary(records: list[Record]) -> bytes:
    return b"\x1f\x9d\x90" + b"".join(hashlib.sha256(bytes([number])).digest() for number in range(90))


def readme_named_jsonl(records: list[Record]) -> bytes:
    return b"# Sessions of the tide table\n\nOne file per session, named by its id.\nOld ones go to the shelf after 90 days.\n"


def unpaired_call(records: list[Record]) -> bytes:
    """The session was killed while a tool ran."""
    last = max(number for number, record in enumerate(records) if b'"tool_use"' in dump(record))
    return lines(records[: last + 1])


def orphan_result(records: list[Record]) -> bytes:
    """A tool message whose call is nowhere."""
    return lines(
        [
            *records[:4],
            {"role": "tool", "tool_call_id": "call_7gT0wQmZ1kVb3XyNd5RsLpCe", "content": '{"tide_cm":41}'},
            *records[4:],
        ]
    )


def orphan_result_codex(records: list[Record]) -> bytes:
    orphan = {
        "type": "function_call_output",
        "call_id": "call_Zt4QmB81sVwY0kLr2XcNd7Pf",
        "output": "Chunk ID: 9a01c2\nWall time: 0.0200 seconds\nProcess exited with code 0\nOutput:\nlost\n",
    }
    return lines([*records[:-4], records[-4] | {"type": "response_item", "payload": orphan}, *records[-4:]])


def inline_sidechain(records: list[Record]) -> bytes:
    """Version 1.0.x style: a sub-agent's records stand between those of the main chain, as a tree of their own."""
    ids = Ids("dirty/inline-sidechain")
    template = {
        key: value for key, value in chain(records)[0].items() if key not in {"message", "todos", "permissionMode"}
    }
    side: list[Record] = []
    tool = f"toolu_01{ids.letters(22)}"
    bodies: list[tuple[str, Any]] = [
        ("user", "List every caller of tide_week outside tests/ and say which ones pass a datetime."),
        ("assistant", [{"type": "tool_use", "id": tool, "name": "Grep", "input": {"pattern": r"tide_week\("}}]),
        (
            "user",
            [
                {
                    "type": "tool_result",
                    "tool_use_id": tool,
                    "content": "kiosk/grid.py:31:    column = tide_week(day)\nprint/table.py:12:    week = tide_week(row.day)",
                }
            ],
        ),
        (
            "assistant",
            [{"type": "text", "text": "Two callers: kiosk/grid.py:31 and print/table.py:12. Both pass a date."}],
        ),
    ]
    for kind, content in bodies:
        message: Record = {"role": kind, "content": content}
        if kind == "assistant":
            message = {
                "id": f"msg_01{ids.letters(22)}",
                "type": "message",
                "model": "claude-sonnet-4-5-20250929",
                **message,
                "stop_reason": None,
                "stop_sequence": None,
                "usage": _usage(4100, 60),
            }
        side.append(
            template
            | {
                "parentUuid": side[-1]["uuid"] if side else None,
                "isSidechain": True,
                "version": "1.0.98",
                "type": kind,
                "message": message,
                "uuid": ids.uuid(),
            }
        )
    main = [record | {"version": "1.0.98"} if "version" in record else record for record in records]
    return lines([*main[:6], side[0], main[6], side[1], side[2], main[7], side[3], *main[8:]])


def bare_string_content(records: list[Record]) -> bytes:
    """Lists of plain strings where blocks are due, and a misspelt key."""
    links = chain(records)
    links[0]["message"]["content"] = ["The last day of the year comes out as week 53.", "Do not change the signature."]
    result = next(record for record in links if "toolUseResult" in record)
    result["message"]["content"][0]["content"] = ["first part", "second part"]
    links[-2]["message"]["contenst"] = links[-2]["message"].pop("content")
    return lines(records)


def crlf_in_strings(records: list[Record]) -> bytes:
    """Tool output of a Windows program: CRLF inside the string, LF between the lines of the file."""
    return lines(records).replace(b"\\n {", b"\\r\\n {").replace(b'bicycles\\":false}]', b'bicycles\\":false}]\\r\\n')


def pretty_printed(records: list[Record]) -> bytes:
    """A JSON document, indented, in a file that is named .jsonl."""
    return json.dumps(records, indent=2, ensure_ascii=False).encode() + b"\n"


def null_info(records: list[Record]) -> bytes:
    """token_count without info, an empty output and a line of JSON in JSON."""
    for record in records:
        if record["payload"].get("type") == "token_count":
            record["payload"]["info"] = None
        if record["payload"].get("type") == "custom_tool_call_output":
            record["payload"]["output"] = json.dumps(
                {"output": record["payload"]["output"], "metadata": {"exit_code": 0}}
            )
    return lines(records)


def garbage_between(records: list[Record]) -> bytes:
    """A stack trace was written into the file by mistake."""
    raw = [dump(record) for record in records]
    return (
        b"\n".join(
            [
                *raw[:7],
                b"Traceback (most recent call last):",
                b'  File "logger.py", line 8, in emit',
                b'{"timestamp":',
                *raw[7:],
            ]
        )
        + b"\n"
    )


def megabyte_line(records: list[Record], size: int = 1_200_000) -> bytes:
    """A line of 1.2 MB (a picture in a tool result). Not committed: tests call this function."""
    rows = ["#.+" * 260] * (size * 3 // 4 // 781)
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png(rows)}}
    result = next(record for record in chain(records) if "toolUseResult" in record)
    result["message"]["content"][0]["content"] = [{"type": "text", "text": "Screenshot taken."}, picture]
    return lines(records)


DIRTY: dict[str, tuple[str, Callable[[list[Record]], bytes]]] = {
    "claude-glued-records": ("claude", glued_records),
    "claude-truncated-last-line": ("claude", truncated_last_line),
    "chat-truncated-last-line": ("chat", truncated_last_line),
    "claude-byte-order-mark": ("claude", byte_order_mark),
    "chat-byte-order-mark": ("chat", byte_order_mark),
    "claude-crlf-line-ends": ("claude", crlf_line_ends),
    "codex-crlf-line-ends": ("codex", crlf_line_ends),
    "claude-comment-lines": ("claude", comment_lines),
    "claude-blank-lines": ("claude", blank_lines),
    "chat-blank-lines": ("chat", blank_lines),
    "claude-unknown-kinds": ("claude", unknown_kinds),
    "claude-duplicate-ids": ("claude", duplicate_ids),
    "claude-parent-cycle": ("claude", parent_cycle),
    "claude-dangling-parents": ("claude", dangling_parents),
    "claude-lone-surrogates": ("claude", lone_surrogates),
    "chat-nan-values": ("chat", nan_values),
    "claude-control-characters": ("claude", control_characters),
    "claude-no-final-newline": ("claude", no_final_newline),
    "codex-no-final-newline": ("codex", no_final_newline),
    "empty": ("chat", empty),
    "claude-only-non-chain": ("claude", only_non_chain),
    "claude-two-sessions": ("claude", two_sessions),
    "claude-line-separators": ("claude", line_separators),
    "chat-duplicate-keys": ("chat", duplicate_keys),
    "chat-invalid-utf8": ("chat", invalid_utf8),
    "chat-utf16": ("chat", utf16),
    "binary": ("chat", binary),
    "readme": ("chat", readme_named_jsonl),
    "claude-unpaired-call": ("claude", unpaired_call),
    "chat-orphan-result": ("chat", orphan_result),
    "codex-orphan-result": ("codex", orphan_result_codex),
    "claude-inline-sidechain": ("claude", inline_sidechain),
    "claude-bare-string-content": ("claude", bare_string_content),
    "chat-crlf-in-strings": ("chat", crlf_in_strings),
    "chat-pretty-printed": ("chat", pretty_printed),
    "codex-null-info": ("codex", null_info),
    "codex-garbage-between": ("codex", garbage_between),
}


# --- the list of fixtures ---------------------------------------------------------------------------------


CLAUDE_CODE = {
    "refactor-billing": "refactor-billing",
    "compacted-by-tool": "claude-compacted",
    "compacted-dangling": "claude-dangling",
    "zh-deploy": "zh-deploy",
}
CODEX = {"payments-cli": "payments-cli", "compacted-by-tool": "codex-compacted", "paginated": "codex-paginated"}


def build() -> dict[str, bytes]:
    files = {f"claude-code/{name}.jsonl": claude_code(story) for name, story in CLAUDE_CODE.items()}
    files |= {f"codex/{name}.jsonl": codex(story) for name, story in CODEX.items()}
    files |= chats()
    files |= {f"dirty/{name}.jsonl": spoil(dirty_base(base)) for name, (base, spoil) in DIRTY.items()}
    return files


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a committed fixture differs")
    args = parser.parse_args(argv)
    different = []
    for name, content in build().items():
        path = FIXTURES / name
        if path.exists() and path.read_bytes() == content:
            continue
        different.append(name)
        if not args.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    for name in different:
        print(f"{'differs' if args.check else 'wrote'}: {name}")
    return int(args.check and bool(different))


if __name__ == "__main__":
    sys.exit(main())
