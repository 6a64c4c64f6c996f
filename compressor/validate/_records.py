"""What can be seen in the records alone, whatever a format's reader makes of them.

E07: a sealed value that cannot be one. E12: a record of another session. S02: arguments that are JSON text and do
not parse. W02: a record that carries a message and is of no kind that is read, or an item of a list that is no
message.
"""

from __future__ import annotations

import binascii
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from compressor.formats._lists import Lines
from compressor.formats._records import BLANK, UNREADABLE, Source
from compressor.model import NESTED, Finding, Level, Place, Record, Transcript
from compressor.validate._text import Text

#: Keys of a record that name its session.
SESSIONS: Final[Mapping[str, str]] = {"claude-code": "sessionId", "qwen-code": "sessionId", "gemini-cli": "sessionId"}
#: Keys of sealed values, and whether their base64 is padded.
_SEALS: Final[Mapping[str, bool]] = {
    "signature": True, "thinkingSignature": True, "thoughtSignature": False, "encrypted_content": False,
    "reasoningOpaque": True, "reasoningEncryptedContent": False,
}  # fmt: skip
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
#: Of a value whose service says nothing of its form.
_OPAQUE: Final = re.compile(r"[A-Za-z0-9+/_=.-]+")
#: A Fernet token: version, time, vector, whole blocks, signature.
_FERNET: Final = "gAAAAA"
_ITEMS: Final = frozenset(
    {
        "message", "reasoning", "function_call", "function_call_output", "custom_tool_call",
        "custom_tool_call_output", "local_shell_call", "local_shell_call_output", "web_search_call",
    }
)  # fmt: skip
#: Records that carry a message: what they must have, and the kinds that are read.
_KINDS: Final[Mapping[str, tuple[tuple[str, ...], frozenset[str]]]] = {
    "claude-code": (("uuid", "message"), frozenset({"user", "assistant", "system", "attachment", "progress"})),
    "qwen-code": (("uuid", "message"), frozenset({"user", "assistant", "system", "tool_result"})),
    "pi": (("parentId", "message"), frozenset({"message"})),
    "gemini-cli": (("id", "content"), frozenset({"user", "gemini", "info", "warning", "error"})),
    "copilot-cli": (
        ("data", "id"),
        frozenset(
            {
                "abort", "assistant.message", "assistant.turn_end", "assistant.turn_start", "assistant.reasoning",
                "assistant.intent", "assistant.usage", "hook.end", "hook.start", "permission.completed",
                "permission.requested", "session.compaction_complete", "session.compaction_start",
                "session.context_changed", "session.error", "session.handoff", "session.idle", "session.info",
                "session.mode_changed", "session.model_change", "session.permissions_changed", "session.resume",
                "session.shutdown", "session.snapshot_rewind", "session.start", "session.truncation",
                "skill.invoked", "subagent.completed", "subagent.failed", "subagent.started", "system.message",
                "system.notification", "tool.execution_complete", "tool.execution_partial_result",
                "tool.execution_start", "tool.user_requested", "user.message",
            }
        ),
    ),
}  # fmt: skip
_ROLES: Final[Mapping[str, frozenset[str]]] = {
    "claude-code": frozenset({"user", "assistant", "system"}),
    "qwen-code": frozenset({"user", "model"}),
    "pi": frozenset({"user", "assistant", "toolResult", "bashExecution", "custom", "branchSummary",
                     "compactionSummary", "system"}),
}  # fmt: skip
#: Formats whose lists hold nothing but messages.
_PURE: Final = frozenset(
    {"openai-chat", "anthropic", "langchain", "generic", "tau-bench", "tau2-bench", "sharegpt", "letta"}
)


def check(source: Source, text: Text, transcript: Transcript) -> Iterator[Finding]:
    """All findings, record by record."""
    name = transcript.format
    yield from _sessions(text, transcript)
    for record, value in zip(text.file.records, text.file.values, strict=True):
        if isinstance(value, dict):
            yield from _kind(name, record, value, source.path)
        if isinstance(value, (dict, list)):
            yield from _values(source, record, value)
    if name == "copilot-cli":
        yield from _unrequested(text, source.path)
    if name in _PURE:
        yield from _no_messages(text, transcript)


def _sessions(text: Text, transcript: Transcript) -> Iterator[Finding]:
    """Where a run of records of another session begins; most records say which one is meant."""
    key = SESSIONS.get(transcript.format)
    if key is None:
        return
    said = [
        (record.line, value[key])
        for record, value in zip(text.file.records, text.file.values, strict=True)
        if isinstance(value, dict) and isinstance(value.get(key), str)
    ]
    if len({id_ for _, id_ in said}) < 2:
        return
    own = Counter(id_ for _, id_ in said).most_common(1)[0][0]
    before = own
    for line, id_ in said:
        if id_ not in (before, own):
            yield Finding("E12", Level.WARNING, "record of another session", id_, Place(transcript.path, line))
        before = id_


def _kind(name: str, record: Record, value: dict[str, Any], path: str) -> Iterator[Finding]:
    at = Place(path, record.line)
    needed, known = _KINDS.get(name, ((), frozenset()))
    kind = value.get("type")
    if needed and all(key in value for key in needed) and str(kind) not in known:
        yield Finding("W02", Level.WARNING, "record of a kind that is not known", str(kind)[:60], at)
    payload = value.get("payload")
    carries = name == "codex" and isinstance(payload, dict) and str(payload.get("type")) in _ITEMS
    if carries and kind not in ("response_item", "event_msg"):
        yield Finding("W02", Level.WARNING, "record of a kind that is not known", str(kind)[:60], at)
    message = value.get("message")
    if name in _ROLES and isinstance(message, dict) and "role" in message and str(message["role"]) not in _ROLES[name]:
        yield Finding("S01", Level.ERROR, "message.role is none that is known", str(message["role"])[:60], at)


def _unrequested(text: Text, path: str) -> Iterator[Finding]:
    """E02: Copilot writes what it runs; each call was asked for by a message before."""
    asked: set[str] = set()
    for record, value in zip(text.file.records, text.file.values, strict=True):
        data = value.get("data") if isinstance(value, dict) else None
        if not isinstance(data, dict):
            continue
        requests = data.get("toolRequests")
        asked |= (
            {str(r.get("toolCallId")) for r in requests if isinstance(r, dict)} if isinstance(requests, list) else set()
        )
        id_ = data.get("toolCallId")
        if str(value.get("type")).startswith("tool.execution") and isinstance(id_, str) and id_ not in asked:
            at = Place(path, record.line)
            yield Finding("E02", Level.ERROR, "a tool ran that no message called", id_, at)


def _values(source: Source, record: Record, top: Any) -> Iterator[Finding]:
    """Sealed values and JSON text, wherever they stand."""
    lines: Lines | None = None
    stack: list[tuple[Any, tuple[Any, ...]]] = [(top, ())]
    while stack:
        value, path = stack.pop()
        if isinstance(value, dict):
            for key, inner in value.items():
                if isinstance(inner, (dict, list)):
                    stack.append((inner, (*path, key)))
                elif isinstance(inner, str) and (found := _fault(key, inner, value)):
                    lines = lines or Lines(source.raw, record)
                    code, message = found
                    at = Place(source.path, lines.of((*path, key)))
                    yield Finding(code, Level.WARNING, message, key, at)
        else:
            stack += [(inner, (*path, i)) for i, inner in enumerate(value) if isinstance(inner, (dict, list))]


def _fault(key: str, text: str, holder: dict[str, Any]) -> tuple[str, str] | None:
    if key in _SEALS and (key != "signature" or "thinking" in holder) and not _sealed(text, padded=_SEALS[key]):
        return "E07", "a sealed value that was changed"
    if key == "arguments" and text.lstrip()[:1] in ("{", "[") and not _is_json(text):
        return "S02", "arguments that are JSON text do not parse"
    return None


def _sealed(text: str, *, padded: bool) -> bool:
    if not padded and not text.startswith(_FERNET):
        return _OPAQUE.fullmatch(text) is not None
    if not _BASE64.fullmatch(text) or len(text) % 4:
        return False
    if text.startswith(_FERNET):
        size = len(binascii.a2b_base64(text.replace("-", "+").replace("_", "/")))
        return size < 100 or (size - 57) % 16 == 0
    return True


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text.encode("utf-8", "surrogatepass"))
    except orjson.JSONDecodeError:
        import json

        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return False
    return True


def _no_messages(text: Text, transcript: Transcript) -> Iterator[Finding]:
    """What stands among messages and is none: it is passed through, and nobody reads it."""
    spoken = {m.record for s in transcript.sessions for m in s.messages}
    if any(s.meta.get("list") is None for s in transcript.sessions):
        for r in transcript.records:
            if r.kind not in (BLANK, UNREADABLE) and r.index not in spoken:
                at = Place(transcript.path, r.line)
                yield Finding("W02", Level.WARNING, "record is no message, nobody reads it", at=at)
    for session in transcript.sessions:
        path = session.meta.get("list")
        if path is not None and NESTED not in path:
            yield from _odd_items(text, transcript, path, {m.record: m for m in session.messages}, session.meta["at"])


def _odd_items(
    text: Text, transcript: Transcript, path: Any, records: Mapping[int, Any], places: Any
) -> Iterator[Finding]:
    for index in records:
        value = text.file.values[index]
        for step in path:
            value = value[step]
        known = {place[: len(path) + 1] for place in places}
        odd = [i for i in range(len(value)) if (*path, i) not in known]
        if odd:
            lines = Lines(transcript.raw, transcript.records[index])
            for i in odd:
                at = Place(transcript.path, lines.of((*path, i)))
                yield Finding("W02", Level.WARNING, "item is no message, nobody reads it", at=at)
