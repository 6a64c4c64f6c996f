"""Which command runs failed and were never mended: a failing result that no later success of the same command follows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import orjson

from compressor.model import Call, Part, PartType, View

#: The head and the tail of a result say how it ended.
_EDGE: Final = 400
#: How much of a result is searched for the line that tells what failed, from its end.
_SEARCHED: Final = 20_000
#: Arguments that hold a command line.
_COMMANDS: Final = frozenset({"command", "cmd", "script", "code"})

_EXIT: Final = re.compile(
    r"(?:^|\n)\s*(?:exit code|exit status|process exited with code|command failed with exit code|\[exit code)[: ]*[1-9]"
    r"|\"exit_code\"\s*:\s*[1-9]|exited with (?:code|status) [1-9]|\u9000\u51fa\u7801[:\uff1a ]*[1-9]",
    re.IGNORECASE,
)
_EXIT_FINE: Final = re.compile(
    r"(?:exit code|exited with code|exit status)[: ]*0\b|\"exit_code\"\s*:\s*0\b", re.IGNORECASE
)
_NO_FAILURE: Final = re.compile(
    r"\s*(?:<tool_use_error>|The user doesn't want|User rejected|\[Request interrupted|Permission to use|Cancelled|aborted by user)",
    re.IGNORECASE,
)
#: Lines that tell what failed, most telling first; of exceptions the last one, of others the first.
_RAISED: Final = re.compile(
    r"^[^\S\n]*(?:E {2,}|\u2502 *)?(?:[\w.]*(?:Error|Exception)\b(?:: | \[|$).*|panic: .*|fatal: .*)", re.MULTILINE
)
_TOLD: Final = re.compile(
    r"^.{0,120}?(?:\berror(?:\[\w+\])?:|\bERROR\b|\bERR!|\bFAIL(?:ED|URE)?\b|--- FAIL|\u2717|\u2716|\u2718|not found|[Nn]o such file|[Pp]ermission denied|[Cc]annot |refused|timed out|\u5931\u8d25|\u9519\u8bef|\u62a5\u9519).*",
    re.MULTILINE,
)
#: Lines that a tool puts around the output of a command.
_HEADER: Final = re.compile(
    r"\s*(?:exit code.*|process exited.*|output:|wall time.*|chunk id.*|error:?|original token count.*|command:.*|hint:.*)?\s*",
    re.IGNORECASE,
)
_LEADING: Final = re.compile(
    r"(?:\s*(?:cd|pushd|export|source|set)\b[^&;|\n]*(?:&&|;)|\s*[A-Z_][A-Z0-9_]*=\S*|\s*(?:sudo|time|timeout \S+|nohup|env|npx|uv run|poetry run|bundle exec))\s*"
)
_WORD: Final = re.compile(r"[^\s;&|<>()]+")
_CHAIN: Final = re.compile(r"&&|\|\||;|\n")
#: Longer command lines hold files.
_LINE: Final = 2_000


def open_failures(view: View, longest: int, most: int) -> list[tuple[Part, int, int]]:
    """The telling line of each open failure, oldest first: part, start, end; the newest `most` of them."""
    newest: dict[str, tuple[Part, int, int]] = {}
    for call, part in _runs(view):
        keys = _keys(view, call)
        if not keys:
            continue
        if not _failed(call, part.text):
            # "git add . && git rebase --continue" mends the rebase, too
            for key in keys:
                newest.pop(key, None)
            continue
        newest.pop(keys[0], None)
        line = telling_line(part.text, longest)
        if line and keys[0]:
            newest[keys[0]] = (part, *line)
    return list(newest.values())[-most:]


def _runs(view: View) -> Iterator[tuple[Call, Part]]:
    """Calls with the last text of their result, in order."""
    last: dict[int, Part] = {}
    for part in view.parts:
        if part.type is PartType.TOOL_RESULT and part.call >= 0:
            last[part.call] = part
    for index, part in last.items():
        yield view.session.calls[index], part


def _failed(call: Call, text: str) -> bool:
    if _NO_FAILURE.match(text):
        return False
    edges = text if len(text) <= 2 * _EDGE else text[:_EDGE] + "\n" + text[-_EDGE:]
    return bool(_EXIT.search(edges)) or (call.error and not _EXIT_FINE.search(edges))


def _keys(view: View, call: Call) -> list[str]:
    """What makes two runs the same command, for each command of a line: its program and what it does; [] for none."""
    if call.message < 0:
        return []
    for part in view.session.messages[call.message].parts:
        if part.type is PartType.TOOL_CALL and part.call == call.index and part.key.split(".", 1)[0] in _COMMANDS:
            line = _line(part.text)[:_LINE]
            return [_program(line), *filter(None, map(_program, _CHAIN.split(line)))]
    return []


def _line(text: str) -> str:
    """A command line; some tools give a JSON list of words."""
    if text[:1] == "[":
        try:
            words = orjson.loads(text)
        except orjson.JSONDecodeError:
            return text
        if isinstance(words, list) and words and all(isinstance(w, str) for w in words):
            return words[-1] if len(words) == 3 and words[1] in ("-c", "-lc") else " ".join(words)
    return text


def _program(line: str) -> str:
    line = line[:_LINE].strip()
    while (match := _LEADING.match(line)) and match.end():
        line = line[match.end() :]
    words = [w for w in _WORD.findall(line.split("\n", 1)[0])[:8] if not w.startswith("-")]
    if not words:
        return ""
    name = words[0].rsplit("/", 1)[-1]
    if name in _QUIET:
        return ""
    many = _RUNNERS.get(name, 1)
    return " ".join([name, *words[1:many]])


#: How many words of a command line say what it does, for programs that run others; one is enough elsewhere.
_RUNNERS: Final = {
    **dict.fromkeys(
        (
            "git",
            "go",
            "cargo",
            "docker",
            "kubectl",
            "make",
            "python",
            "python3",
            "node",
            "uv",
            "gh",
            "bash",
            "sh",
            "mise",
            "helm",
        ),
        2,
    ),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun", "poetry"), 3),
}
#: Their failing exit code says that nothing was found.
_QUIET: Final = frozenset(
    {
        "grep",
        "rg",
        "diff",
        "test",
        "[",
        "ls",
        "which",
        "cat",
        "find",
        "head",
        "tail",
        "sleep",
        "kill",
        "pkill",
        "echo",
        "true",
        "cmp",
        "stat",
        "ps",
        "pgrep",
        "sed",
    }
)


def telling_line(text: str, longest: int) -> tuple[int, int] | None:
    """Where the line stands that says what failed, cut to `longest` characters; None for an empty text."""
    low = max(0, len(text) - _SEARCHED)
    raised = list(_RAISED.finditer(text, low))
    match = raised[-1] if raised else _TOLD.search(text, low)
    start, end = match.span() if match else _last_line(text)
    if _HEADER.fullmatch(text, start, end):
        return None
    while start < end and text[start].isspace():
        start += 1
    end = min(end, start + longest)
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


def _last_line(text: str) -> tuple[int, int]:
    end = len(text.rstrip())
    start = text.rfind("\n", 0, end) + 1
    if _HEADER.fullmatch(text, start, end) and start > 1:
        return _last_line(text[: start - 1])
    return start, end
