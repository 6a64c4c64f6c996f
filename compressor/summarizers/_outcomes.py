"""What the tool calls came to: failures that still stand, refusals, commits, the state of the plan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from compressor.briefs import clip
from compressor.model import Call, Part, PartType, Session
from compressor.summarizers._cues import Cues

_COMMAND_KEYS: Final = ("command", "cmd", "script", "code", "input")
_TARGET_KEYS: Final = ("file_path", "filePath", "path", "notebook_path", "target_file", "pattern", "url", "query")
_FRONT, _BACK = 400, 1_600
#: Characters of a command that are read.
_COMMAND: Final = 10_000

_EXIT: Final = re.compile(
    r"(?:exit(?:ed with)? (?:code|status)|returncode|exit_code|exit code)[\"']?\s*[:=]?\s*(\d{1,3})", re.IGNORECASE
)
_BROKEN: Final = re.compile(
    r"^Traceback \(most recent|^--- FAIL|^FAIL\b|^panic: |^fatal: |^error(?:\[E\d+\])?: |^npm ERR!|^E   |\bFAILED\b"
    r"|^Error: |command not found|^make: \*\*\* ",
    re.MULTILINE,
)
#: One of these stands in whatever `_BROKEN` finds: a cheap look before the dear one.
_HINTS: Final = ("Traceback", "FAIL", "panic:", "fatal:", "rror", "npm ERR!", "\nE   ", "not found", "make: ***")
_TELLING: Final = re.compile(
    r"\b\w*(?:Error|Exception)\b|\berror\b|\bFAIL(?:ED)?\b|--- FAIL|panic:|fatal:|denied|not found|undefined|cannot|can't"
    r"|unknown|invalid|unexpected|no such|refused|timed? ?out|AssertionError|expected|rejected|conflict|错误|失败|异常",
    re.IGNORECASE,
)
_CHECK: Final = re.compile(r"\b(?:tests?|pytest|lint|check|build|tsc|typecheck|vitest|jest|clippy|mypy|ruff|ci)\b")
_ANSI: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
#: Programs that only look: their failure means "not there", and is worth little.
_LOOKING: Final = frozenset(
    {
        "ls",
        "cat",
        "head",
        "tail",
        "grep",
        "rg",
        "find",
        "which",
        "test",
        "file",
        "stat",
        "wc",
        "sed",
        "awk",
        "nl",
        "diff",
    }
    | {"tree", "pwd", "read", "glob", "list", "search", "open"}
)
_SETUP: Final = frozenset({"cd", "export", "source", "set", "echo", "sleep", "env", "true", "pushd", "."})
_SPLIT: Final = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_COMMIT: Final = re.compile(r"\bgit\b[^\n|;&]{0,80}?\bcommit\b")
_SUBJECT: Final = (
    re.compile(r"<<-?\s*['\"]?(\w+)['\"]?\n\s*(.+)"),
    re.compile(r"(?:-\w*m|--message)[= ]\s*\"((?:[^\"\\]|\\.){3,300})", re.DOTALL),
    re.compile(r"(?:-\w*m|--message)[= ]\s*'([^']{3,300})", re.DOTALL),
)
_PULL: Final = re.compile(r"\bgh\s+(pr|issue)\s+create\b[^\n]*?--title[= ]\s*[\"']([^\"'\n]{3,200})")
_ANSWER: Final = re.compile(r"\"([^\"\n]{3,400})\"=\"([^\"\n]{1,600})\"")
_HASH: Final = re.compile(r"\[[^\]\n]{1,120}? ([0-9a-f]{7,40})\]")
_URL: Final = re.compile(r"https?://[^\s\"'<>)\]]{6,200}")


@dataclass(frozen=True, slots=True)
class Step:
    """One tool call as the brief sees it.

    Attributes:
        command: the shell command, or "".
        target: what the call was about: the command, else the file, pattern, address, …
        call_at: index of the message that called.
        result_at: index of the first message with a result, or -1.
    """

    call: Call
    command: str
    target: str
    call_at: int
    result_at: int
    result: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that failed and was not made good later."""

    target: str
    name: str
    line: str
    at: int
    times: int = 1
    looking: bool = False
    refused: bool = False

    @property
    def tells(self) -> bool:
        """Neither a look at what was not there nor a refusal of nothing in particular."""
        if self.refused:
            return bool(self.target) or self.line != "refused"
        return not self.looking or self.times > 2


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Failures (oldest first), what was committed or published, and the last state of each check that was run."""

    failures: tuple[Failure, ...]
    commits: tuple[tuple[str, int], ...]
    checks: tuple[tuple[str, bool, int], ...]


def steps(session: Session) -> list[Step]:
    """All calls of the session in order, abandoned branches apart."""
    arguments: dict[int, list[Part]] = {}
    results: dict[int, Part] = {}
    for part in session.parts:
        if part.call >= 0:
            if part.type is PartType.TOOL_CALL:
                arguments.setdefault(part.call, []).append(part)
            elif part.type is PartType.TOOL_RESULT:
                results.setdefault(part.call, part)
    out = []
    for call in session.calls:
        if call.message < 0 or session.messages[call.message].abandoned:
            continue
        parts = arguments.get(call.index, [])
        command = _first(parts, _COMMAND_KEYS)
        result = results.get(call.index)
        text, at = (result.text, result.message) if result else ("", -1)
        out.append(Step(call, command, command or _first(parts, _TARGET_KEYS), call.message, at, text))
    return out


def _first(parts: Sequence[Part], keys: Sequence[str]) -> str:
    for key in keys:
        found = [p.text for p in parts if p.key == key or p.key.startswith(f"{key}.")]
        if found:
            return " ".join(found)
    return ""


@dataclass(slots=True)
class _Open:
    """Failures not made good so far, by what was run."""

    by_key: dict[str, Failure] = field(default_factory=dict)
    checks: dict[str, tuple[str, bool, int]] = field(default_factory=dict)

    def failed(self, keys: Sequence[str], failure: Failure) -> None:
        key = keys[-1]
        old = self.by_key.pop(key, None)
        times = old.times + 1 if old and old.line == failure.line else 1
        self.by_key[key] = replace(failure, times=times)

    def passed(self, keys: Sequence[str]) -> None:
        """A success makes good earlier failures of the same, and of a part of it (`pytest` after `pytest a.py`)."""
        for key in keys:
            whole = f"{key} " if " " in key else f"{key}\n"
            for old in [k for k in self.by_key if k == key or k.startswith(whole)]:
                del self.by_key[old]


def outcomes(all_steps: Sequence[Step], cues: Cues) -> Outcomes:
    """Go through the calls in order and keep what still stands at the end."""
    open_ = _Open()
    commits: dict[str, int] = {}
    for step in all_steps:
        if step.result_at < 0:
            continue
        keys = signatures(step)
        line = failure_line(step, cues)
        if line is None:
            open_.passed(keys)
            for told in _published(step):
                commits[told] = step.call_at
        elif line:
            refused = "refused" in cues.find(step.result[:_FRONT])
            looking = keys[-1].partition(" ")[0] in _LOOKING
            failure = Failure(short_command(step.target), step.call.name, line, step.result_at, 1, looking, refused)
            open_.failed(keys if not refused else [f"{step.call.index}"], failure)
        if step.command and _is_check(keys[-1]) and not _COMMIT.search(step.command):
            open_.checks[keys[-1]] = (short_command(step.command), line is None, step.result_at)
    failures = sorted(open_.by_key.values(), key=lambda f: f.at)
    checks = sorted(open_.checks.values(), key=lambda c: c[2])
    return Outcomes(tuple(failures), tuple(commits.items()), tuple(checks))


def _is_check(key: str) -> bool:
    return key.partition(" ")[0] not in _LOOKING | {"git", "gh"} and bool(_CHECK.search(key))


def signatures(step: Step) -> list[str]:
    """What a call runs, so that a later success of the same can be known: program and first plain words."""
    if not step.command:
        return [f"{step.call.name.lower()} {step.target}"]
    out = []
    for piece in _SPLIT.split(step.command[:2_000])[:12]:
        words = [w for w in piece.split("|")[0].split()[:12] if "=" not in w and w[:1] not in "-<>2" and w != "./..."]
        if words and words[0] not in _SETUP:
            out.append(" ".join(words[: 2 if words[0] == "git" else 3]))
    return out or [f"{step.call.name.lower()} {step.command[:80]}"]


def short_command(text: str) -> str:
    """A command on one line without its change of folder, short enough to be told."""
    one = " ".join(text[:600].split())
    one = re.sub(r"^cd \S+ && ", "", one)
    return clip(one, 140)


def failure_line(step: Step, cues: Cues) -> str | None:
    """The line that tells how a call failed; "" if the failure says nothing; None if it did not fail."""
    front, back = step.result[:_FRONT], step.result[-_BACK:]
    found = _EXIT.search(front)
    code = int(found.group(1)) if found else None
    if not (step.call.error or code or (code is None and step.command and _is_broken(back))):
        return None
    hits = cues.find(front)
    if "harmless" in hits:
        return ""
    text = front + "\n" + back if len(step.result) > _FRONT else front
    if "refused" in hits:
        return _refusal(text)
    return _telling(text)


def _is_broken(text: str) -> bool:
    return any(hint in text for hint in _HINTS) and bool(_BROKEN.search(text))


def _refusal(text: str) -> str:
    """What the person said when refusing, if anything."""
    found = re.search(
        r"(?:the user (?:said|provided)[^\n:]{0,60}:|reason[^\n:]{0,40}:)\s*(\S[^\n]{2,300})", text, re.IGNORECASE
    )
    return found.group(1).strip() if found else "refused"


def _telling(text: str) -> str:
    lines = [" ".join(_ANSI.sub("", line).split()) for line in text.split("\n")]
    lines = [line.replace("<tool_use_error>", "").replace("</tool_use_error>", "") for line in lines]
    lines = [line for line in lines if len(line) > 3 and not _EXIT.fullmatch(line)]
    telling = [line for line in lines if _TELLING.search(line)]
    if not telling:
        return clip(lines[-1], 200) if lines and len(lines[-1]) > 12 else ""
    # a traceback tells its reason at the end; compilers and test runners name the first fault first
    last = any(line.startswith("Traceback (most recent") for line in lines)
    specific = [line for line in telling if re.search(r":\d+|Error\b.*:|error.*:", line)] or telling
    return clip(specific[-1] if last else specific[0], 200)


def _published(step: Step) -> Iterator[str]:
    """Commits, pull requests and issues that a successful command made, with their hash or address."""
    if not step.command:
        return
    command = step.command[:_COMMAND]
    if _COMMIT.search(command):
        subject = _commit_subject(command)
        if subject:
            found = _HASH.search(step.result[:2_000])
            yield f"commit {found.group(1)}: {subject}" if found else f"commit: {subject}"
    for kind, title in _PULL.findall(command):
        address = _URL.search(step.result)
        yield f"{'PR' if kind == 'pr' else 'issue'}: {title}" + (f" ({address.group()})" if address else "")


def answers(all_steps: Sequence[Step]) -> Iterator[tuple[str, str, int]]:
    """What persons answered when a tool asked them: question, answer, message."""
    for step in all_steps:
        if step.result.startswith("User has answered"):
            for question, answer in _ANSWER.findall(step.result[:6_000]):
                yield question, answer, step.result_at


def _commit_subject(command: str) -> str:
    for pattern in _SUBJECT:
        found = pattern.search(command)
        if found:
            text = found.group(found.lastindex or 1)
            if not text.startswith("$("):
                return clip(text.strip().split("\n")[0], 160)
    return ""


# --- plans -----------------------------------------------------------------------------------------------------

_STEP: Final = re.compile(r"(?:.*\.)?(\d+)\.(content|step|title|text|task|subject|name|description|status|state)\Z")
_PLAN_KEYS: Final = re.compile(r"(?:todos?|plan|items|tasks|steps|todo_list|todoList)\.\d+\.")
_DONE: Final = frozenset({"completed", "complete", "done", "finished", "cancelled", "canceled"})
_RUNNING: Final = frozenset({"in_progress", "in-progress", "active", "doing", "running"})


@dataclass(frozen=True, slots=True)
class Plan:
    """The newest plan: steps as (text, state: done, running or open), all steps ever done, where it stands."""

    steps: tuple[tuple[str, str], ...] = ()
    done: Mapping[str, int] = field(default_factory=dict)
    at: int = -1


def plan(session: Session) -> Plan:
    """Read the plan tools (to-do lists, plan updates, created and updated tasks) in order."""
    newest, done, at = _lists(session)
    single, single_at = _single_tasks(session)
    if single_at > at:
        newest, at = tuple(single.values()), single_at
    for text, state in single.values():
        if state == "done":
            done.setdefault(text, single_at)
    return Plan(newest, done, at)


def _lists(session: Session) -> tuple[tuple[tuple[str, str], ...], dict[str, int], int]:
    newest: tuple[tuple[str, str], ...] = ()
    done: dict[str, int] = {}
    at = -1
    for call, rows in _rows(session).items():
        current = []
        index = session.calls[call].message
        for row in rows.values():
            text = next(
                (
                    row[k]
                    for k in ("content", "step", "title", "text", "task", "subject", "name", "description")
                    if k in row
                ),
                "",
            )
            state = _state(row.get("status") or row.get("state") or "")
            if text:
                current.append((" ".join(text.split()), state))
        if current:
            newest, at = tuple(current), index
            for text, state in current:
                if state == "done":
                    done.setdefault(text, index)
                else:
                    done.pop(text, None)
    return newest, done, at


def _rows(session: Session) -> dict[int, dict[str, dict[str, str]]]:
    calls: dict[int, dict[str, dict[str, str]]] = {}
    for part in session.parts:
        if part.type is PartType.TOOL_CALL and part.call >= 0 and _PLAN_KEYS.match(part.key):
            found = _STEP.match(part.key)
            if found and session.calls[part.call].message >= 0:
                calls.setdefault(part.call, {}).setdefault(found.group(1), {})[found.group(2)] = part.text
    return {call: rows for call, rows in calls.items() if any("status" in r or "state" in r for r in rows.values())}


def _state(word: str) -> str:
    low = word.lower()
    return "done" if low in _DONE else "running" if low in _RUNNING else "open"


def _single_tasks(session: Session) -> tuple[dict[str, tuple[str, str]], int]:
    """Tasks made and changed one by one (`TaskCreate`, `TaskUpdate`); ids are told in the result of the creation."""
    arguments: dict[int, dict[str, str]] = {}
    results: dict[int, str] = {}
    for part in session.parts:
        if part.name in ("TaskCreate", "TaskUpdate") and part.call >= 0:
            if part.type is PartType.TOOL_CALL:
                arguments.setdefault(part.call, {})[part.key] = part.text
            elif part.type is PartType.TOOL_RESULT:
                results.setdefault(part.call, part.text[:200])
    tasks: dict[str, tuple[str, str]] = {}
    at = -1
    for call, args in arguments.items():
        if args.get("subject") and "taskId" not in args:
            found = re.search(r"#(\d+)", results.get(call, ""))
            tasks[found.group(1) if found else f"call {call}"] = (args["subject"], "open")
        elif args.get("taskId") in tasks:
            subject, state = tasks[args["taskId"]]
            tasks[args["taskId"]] = (
                args.get("subject", subject),
                _state(args["status"]) if "status" in args else state,
            )
            if args.get("status") == "deleted":
                del tasks[args["taskId"]]
        at = max(at, session.calls[call].message)
    return tasks, at
