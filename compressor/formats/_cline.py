"""The API history of Cline and Roo Code: Anthropic messages, results as blocks or as text of a fixed form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from compressor.formats import anthropic
from compressor.formats._lists import Item, Where
from compressor.formats._messages import State, is_list, name_of, origin_of, time_of, word
from compressor.formats._pairs import Builder
from compressor.model import Finding, Origin, PathSteps, Role

#: What the model asked for before tools had calls of their own: a tag with the tool's name in its text.
_ASKED: Final = re.compile(
    r"<(execute_command|read_file|write_to_file|replace_in_file|apply_diff|insert_content|search_and_replace|search_files"
    r"|list_files|list_code_definition_names|browser_action|use_mcp_tool|access_mcp_resource|ask_followup_question"
    r"|attempt_completion|new_task|switch_mode|update_todo_list|fetch_instructions|codebase_search|web_fetch)>"
)
#: How a result begins that is text: `[read_file for 'src/a.py'] Result:`.
_RESULT: Final = re.compile(r"\[(\w+)(?: for [^\n]{0,2000}?)?\] Result:[ \t]*\n?")
#: How a result begins that was cleared.
_CLEARED: Final = re.compile(r"\[cleared: ([\w.-]+), [\d,]+ characters\]")
#: Words of the person's in what answers a tool; all else is the harness's.
_PERSON: Final = ("<task>", "<feedback>", "<user_message>", "<answer>")
_FIRST: Final = "<task>"
_CLINE: Final = frozenset({"modelInfo", "metrics"})
_ROO: Final = frozenset(
    {"isSummary", "condenseId", "condenseParent", "isTruncationMarker", "truncationId", "truncationParent"}
)


def find(value: Any) -> Iterator[Where]:
    """The file is the list."""
    if is_list(value, anthropic.is_message):
        yield Where(())


def is_cline(value: Any) -> bool:
    """Messages that say by which model they are, or a task without times."""
    if not is_list(value, anthropic.is_message) or _has(value, _ROO):
        return False
    return _has(value, _CLINE) or (_is_task(value) and not _timed(value))


def is_roo(value: Any) -> bool:
    """Messages that were condensed, or a task whose messages all have times."""
    if not is_list(value, anthropic.is_message) or _has(value, _CLINE):
        return False
    return _has(value, _ROO) or (_is_task(value) and _timed(value))


def is_open(finding: Finding) -> bool:
    """A call that needs no result: one in a text, or the model's last word, which waits for the person."""
    return finding.check == "E02" and (not finding.fact or '"attempt_completion"' in finding.message)


def _has(value: list[Any], keys: frozenset[str]) -> bool:
    return any(isinstance(m, dict) and not keys.isdisjoint(m) for m in value)


def _timed(value: list[Any]) -> bool:
    return all(isinstance(m, dict) and isinstance(m.get("ts"), (int, float)) for m in value)


def _is_task(value: list[Any]) -> bool:
    content = value[0].get("content") if isinstance(value[0], dict) else None
    blocks = content if isinstance(content, list) else [content]
    texts = (b.get("text") if isinstance(b, dict) else b for b in blocks[:1])
    return any(isinstance(t, str) and t.startswith(_FIRST) for t in texts)


def put(build: Builder, item: Item, state: State, **flags: Any) -> None:
    """Put one message into the builder: what answers tools, and what else is said, as two."""
    value, at = item.value, (*item.path, "content")
    content = value["content"]
    time = time_of(value.get("ts"))
    fields: dict[str, Any] = {"record": item.record, "line": item.line, "time": time, "group": f"@{item.path}", **flags}
    if word(value, "role") == "assistant":
        _answer(build, at, content, fields, state)
        return
    blocks = _blocks(content, at)
    answers = list(_answers(blocks))
    if answers:
        build.start(role=Role.TOOL, origin=Origin.TOOL, **fields)
        for path, block, name, text in answers:
            _result(build, path, block, name, text, state)
    used = {path for path, *_ in answers} | {(*p[:-1], int(p[-1]) - 1) for p, _, _, text in answers if text < 0}
    rest = [(path, block) for path, block in blocks if path not in used]
    if rest or not answers:
        told = "".join(_text(block) for _, block in rest)
        person = not answers or any(tag in told for tag in _PERSON)
        origin = origin_of(Role.USER, told) if person else Origin.HARNESS
        build.start(role=Role.USER, origin=origin, **fields)
        for path, block in rest:
            _put_block(build, path, block)


def _blocks(content: Any, at: PathSteps) -> list[tuple[PathSteps, Any]]:
    if isinstance(content, str):
        return [(at, content)]
    return [((*at, i), b) for i, b in enumerate(content if isinstance(content, list) else ())]


def _text(block: Any) -> str:
    text = block.get("text") if isinstance(block, dict) and word(block, "type") == "text" else block
    return text if isinstance(text, str) else ""


def _answers(blocks: list[tuple[PathSteps, Any]]) -> Iterator[tuple[PathSteps, Any, str, int]]:
    """The results: place, block, the tool's name, and where its text begins (-1: the block before names the tool)."""
    name = ""
    for path, block in blocks:
        if word(block, "type") == "tool_result":
            yield path, block, "", 0
            continue
        match = _RESULT.match(_text(block)) or _CLEARED.match(_text(block))
        if match is None:
            if name:
                yield path, block, name, -1
            name = ""
            continue
        name = match[1] if match.re is _RESULT and match.end() == len(_text(block)) else ""
        if not name:
            yield path, block, match[1], match.end()


def _result(build: Builder, path: PathSteps, block: Any, name: str, text: int, state: State) -> None:
    if word(block, "type") == "tool_result":
        state.answered(block.get("tool_use_id"))
        anthropic.put_block(build, path, block)
        return
    build.result(state.answered(None, name), name=name)
    if isinstance(block, str):
        build.output(path, block)
    elif word(block, "type") == "text":
        build.output((*path, "text"), _text(block))
    else:
        anthropic.put_block(build, path, block)


def _put_block(build: Builder, path: PathSteps, block: Any) -> None:
    if isinstance(block, str):
        build.text(path, block)
    elif isinstance(block, dict):
        anthropic.put_block(build, path, block)


def _answer(build: Builder, at: PathSteps, content: Any, fields: Mapping[str, Any], state: State) -> None:
    """The model's message; a tag in its text is a call where no block is one."""
    build.start(role=Role.ASSISTANT, origin=Origin.AGENT, **fields)
    blocks = _blocks(content, at)
    called = False
    for path, block in blocks:
        _put_block(build, path, block)
        if word(block, "type") == "tool_use":
            called = True
            state.called(name_of(block.get("id")))
    if not called:
        match = _ASKED.search("\n".join(_text(block) for _, block in blocks))
        if match:
            state.open.clear()
            state.called("")
            build.call("", match[1])
