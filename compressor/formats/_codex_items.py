"""The items of a Codex history: who speaks in them, and where their texts lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from compressor.formats._pairs import Builder
from compressor.formats._records import frame, leaves, loads
from compressor.model import NESTED, Origin, PathSteps, Role

ITEMS: Final = frozenset(
    {
        "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
        "local_shell_call", "local_shell_call_output", "web_search_call", "tool_search_call", "tool_search_output",
        "compaction", "context_compaction", "compaction_summary",
    }
)  # fmt: skip
#: How the tool's own plain summary begins.
SUMMARY: Final = "Another language model started to solve this problem"

_HARNESS: Final = (
    "# AGENTS.md instructions", "<environment_context>", "<user_instructions>", "<permissions", "<turn_aborted>",
    "<skill>", "<skills_instructions>", "<collaboration_mode>", "<subagent_notification>", "<user_shell_command>",
    "<INSTRUCTIONS>", "<model_switch>", "<personality_spec>", "<apps_instructions>", "<plugins_instructions>", SUMMARY,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """Where an item lies: its record, and the steps from the record's value to it."""

    record: int
    base: PathSteps


def start_item(item: dict[str, Any], place: Place, line: int, time: str, build: Builder) -> int:
    """Put one item into a builder; -1 if it is none that a model reads."""
    kind = item.get("type")
    if not isinstance(kind, str) or kind not in ITEMS:
        return -1
    role, origin = _speaker(item)
    native = item.get("id")
    flags: dict[str, Any] = {"time": time, "group": f"#{len(build)}"}
    if kind == "message" and text_of_item(item).startswith(SUMMARY):
        flags["generation"] = 1
    elif kind == "message" and origin is Origin.HARNESS:
        flags["regainable"] = True
    if "compaction" in kind:
        flags |= {"generation": 1, "opaque": True}
    name = native if isinstance(native, str) and native != "REDACTED" else ""
    index = build.start(record=place.record, line=line, role=role, origin=origin, id=name, **flags)
    _PARTS.get(kind, _call)(item, place.base, build)
    return index


def _speaker(item: Mapping[str, Any]) -> tuple[Role, Origin]:
    kind = item.get("type")
    if kind != "message":
        if str(kind).endswith("_output"):
            return Role.TOOL, Origin.TOOL
        return Role.ASSISTANT, Origin.HARNESS if "compaction" in str(kind) else Origin.AGENT
    role = item.get("role")
    if role == "assistant":
        return Role.ASSISTANT, Origin.AGENT
    if role == "user":
        return Role.USER, who(item)
    return Role.SYSTEM, Origin.HARNESS


def who(item: Mapping[str, Any]) -> Origin:
    """Who wrote a user message: the tool says so itself, or each of its texts begins as harness texts do."""
    passed = item.get("internal_chat_message_metadata_passthrough")
    listed = passed.get("content_item_metadata") if isinstance(passed, dict) else None
    if isinstance(listed, list) and listed:
        sources = [c.get("provenance") for c in listed if isinstance(c, dict)]
        types = {s.get("type") for s in sources if isinstance(s, dict)}
        if types:
            return Origin.PERSON if "user" in types else Origin.HARNESS
    texts = [text for _, text in _texts(item.get("content"), ())]
    return Origin.HARNESS if texts and all(t.startswith(_HARNESS) for t in texts) else Origin.PERSON


def text_of_item(item: Mapping[str, Any]) -> str:
    return "\n".join(text for _, text in _texts(item.get("content"), ()))


def _texts(content: Any, base: PathSteps) -> list[tuple[PathSteps, str]]:
    if isinstance(content, str):
        return [(base, content)]
    blocks = content if isinstance(content, list) else []
    return [
        ((*base, i, "text"), b["text"])
        for i, b in enumerate(blocks)
        if isinstance(b, dict) and isinstance(b.get("text"), str)
    ]


def _message(item: dict[str, Any], base: PathSteps, build: Builder) -> None:
    content = item.get("content")
    if isinstance(content, str):
        build.text((*base, "content"), content)
        return
    for i, block in enumerate(content if isinstance(content, list) else ()):
        if not isinstance(block, dict):
            continue
        if isinstance(block.get("text"), str):
            build.text((*base, "content", i, "text"), block["text"])
        elif "image" in str(block.get("type")):
            build.image((*base, "content", i), describe(block))


def describe(block: Mapping[str, Any]) -> str:
    """A picture in a few words."""
    url = block.get("image_url")
    if not isinstance(url, str) or not url.startswith("data:"):
        return "image"
    head, _, data = url.partition(",")
    return f"{head.removeprefix('data:').split(';')[0]}, {len(data) * 3 // 4:,} bytes"


def _reasoning(item: dict[str, Any], base: PathSteps, build: Builder) -> None:
    for key in ("summary", "content"):
        for path, text in _texts(item.get(key), (*base, key)):
            build.thinking(path, text)


def _call(item: dict[str, Any], base: PathSteps, build: Builder) -> None:
    """Calls of all kinds; what is searched in the web has no result of its own."""
    kind = str(item["type"])
    name = str(item.get("name") or kind.removesuffix("_call"))
    if kind != "web_search_call":
        build.call(str(item.get("call_id") or item.get("id") or ""), name)
    arguments = item.get("arguments")
    if isinstance(arguments, str):
        parsed = _parsed(arguments)
        if parsed is None:
            build.argument((*base, "arguments"), "", arguments)
        else:
            if kind != "web_search_call":
                build.frame(frame(parsed))
            for path, key, text in leaves(parsed, (*base, "arguments", NESTED)):
                build.argument(path, key, text)
        return
    for key in ("arguments", "input", "action"):
        for path, dotted, text in leaves(item.get(key), (*base, key)):
            if dotted != "type":
                build.argument(path, dotted, text, name=name)


def _parsed(text: str) -> dict[str, Any] | None:
    """The object that JSON text holds, or None."""
    if not text.startswith("{"):
        return None
    try:
        value = loads(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _output(item: dict[str, Any], base: PathSteps, build: Builder) -> None:
    build.result(str(item.get("call_id") or ""))
    output, path = item.get("output"), (*base, "output")
    if isinstance(output, dict):
        output, path = output.get("content"), (*path, "content")
    if isinstance(output, str):
        wrapped = _parsed(output) if output.startswith('{"output"') else None
        inner = wrapped.get("output") if wrapped else None
        build.output(
            (*path, NESTED, "output") if isinstance(inner, str) else path, inner if isinstance(inner, str) else output
        )
        return
    for i, block in enumerate(output if isinstance(output, list) else ()):
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            build.output((*path, i, "text"), block["text"])
        elif isinstance(block, dict) and "image" in str(block.get("type")):
            build.image((*path, i), describe(block))


def _opaque(item: dict[str, Any], base: PathSteps, build: Builder) -> None:
    for key in ("encrypted_content", "summary"):
        if isinstance(item.get(key), str):
            build.other((*base, key), item[key])


_PARTS: Final = {
    "message": _message,
    "reasoning": _reasoning,
    "function_call_output": _output,
    "custom_tool_call_output": _output,
    "local_shell_call_output": _output,
    "tool_search_output": _output,
    "compaction": _opaque,
    "context_compaction": _opaque,
    "compaction_summary": _opaque,
}
