"""Who wrote a user record of Claude Code: a person, or the harness in the person's place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from compressor.model import Origin

#: Text that the harness wrote into a user record, by how it begins.
_HARNESS: Final = (
    "Caveat: The messages below",
    "[Request interrupted",
    "This session is being continued from a previous conversation",
)
#: Tags that begin a record which nobody types into, whatever stands behind them.
_MACHINE: Final = (
    r"local-command-[a-z]+|bash-[a-z]+|task-notification|agent-notification|teammate-message|user-prompt-submit-hook"
    r"|session-start-hook|post-tool-use-hook|background-task[a-z-]*|channel|cross-session-message|tick"
)
_TAGS: Final = rf"command-(?:name|message|args|contents)|system-reminder|ide_\w+|{_MACHINE}"
_TAG: Final = re.compile(rf"\s*<({_TAGS})(?:\s[^<>]{{0,300}})?>")
_ALONE: Final = re.compile(rf"\s*<(?:{_MACHINE})(?:\s[^<>]{{0,300}})?>")
#: What the person typed behind a slash command.
_ARGUMENTS: Final = re.compile(r"<command-args>\s*[^\s<]")
#: Senders of what a person typed.
_PERSONS: Final = frozenset({"", "human", "user"})


def who(value: Mapping[str, Any], content: Any) -> Origin:
    """A person, if any text of the record is not the harness's."""
    flags = ("isMeta", "isVisibleInTranscriptOnly", "isCompactSummary")
    if any(value.get(flag) is True for flag in flags) or _sender(value) not in _PERSONS:
        return Origin.HARNESS
    blocks = content if isinstance(content, list) else [content]
    texts = [b if isinstance(b, str) else b.get("text") for b in blocks if isinstance(b, str) or _is_text(b)]
    typed = [t for t in texts if isinstance(t, str)]
    return Origin.HARNESS if typed and all(is_harness(t) for t in typed) else Origin.PERSON


def _sender(value: Mapping[str, Any]) -> str:
    """Who sent the record, in the tool's own word (newer versions say), or ""."""
    origin = value.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    return kind if isinstance(kind, str) else ""


def is_harness(text: str) -> bool:
    """Whether a user text is the harness's alone: known openings, and tags with nothing typed after them."""
    if text.startswith(_HARNESS) or _ALONE.match(text):
        return True
    at = 0
    while match := _TAG.match(text, at):
        if match[1].startswith("command-") and _ARGUMENTS.search(text, match.start(), match.start() + 5000):
            return False
        end = text.find(f"</{match[1]}>", match.end())
        if end < 0:
            return True
        at = end + len(match[1]) + 3
    return at > 0 and not text[at:].strip()


def context(content: Any) -> frozenset[int]:
    """The blocks of a typed record that the harness added: which file is open, reminders."""
    blocks = enumerate(content if isinstance(content, list) else ())
    return frozenset(i for i, b in blocks if _is_text(b) and isinstance(b.get("text"), str) and is_harness(b["text"]))


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text"
