"""tau-bench trajectories: rows with `traj`, a list of OpenAI chat messages, beside task, reward and info.

Only `traj` is ever touched. A file of few-shot examples (`messages_display`, one text a line) is read as pinned
lines: it is recognised, and nothing of it can be compacted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from compressor.formats import _document, openai_chat
from compressor.formats._lists import Item, Where
from compressor.formats._messages import State, check_lists, is_list, like, name_of, read_lists
from compressor.formats._pairs import Builder
from compressor.formats._records import Head, Source
from compressor.model import Compaction, Finding, Origin, Role, Session, Transcript, Written

TITLE = "tau-bench trajectories"
ORDER = 50
APPENDS = False


def find(value: Any) -> Iterator[Where]:
    """The trajectory of each row, and lines of few-shot examples."""
    if isinstance(value, list):
        for i, row in enumerate(value):
            if _is_row(row):
                yield Where((i, "traj"), _id(row))
    elif _is_row(value):
        yield Where(("traj",), _id(value))
    elif isinstance(value, dict) and isinstance(value.get("messages_display"), str):
        yield Where(None)


def _is_row(row: Any) -> bool:
    return (
        isinstance(row, dict)
        and "task_id" in row
        and "reward" in row
        and is_list(row.get("traj"), openai_chat.is_message)
    )


def _id(row: dict[str, Any]) -> str:
    trial = name_of(row.get("trial"))
    return name_of(row["task_id"]) + (f"/{trial}" if trial else "")


def sniff(head: Head) -> bool:
    """Rows with a trajectory and a reward, or few-shot lines."""
    values = (head.document,) if head.document is not None else head.rows
    return any(True for value in values for _ in find(value))


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file of this format."""
    return read_lists(source, "tau-bench", find, message)


def message(build: Builder, item: Item, state: State) -> None:
    """Put one message, or one few-shot line, into the builder."""
    if item.path:
        openai_chat.message(build, item, state)
        return
    build.start(record=item.record, line=item.line, role=Role.USER, origin=Origin.HARNESS, pinned=True)
    build.text(("messages_display",), item.value["messages_display"])


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write the changes into the source's own layout."""
    return _document.write(transcript, changes, note, openai_chat.picture)


def note(session: Session, change: Compaction, text: str, near: Any) -> Any:
    """The brief: a user message; in a file of examples a line of its own."""
    if isinstance(near, dict) and "messages_display" in near:
        return {"messages_display": text}
    return like(near, {"role": "user", "content": text})


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01-E04, E10."""
    yield from check_lists(transcript)


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the messages of `grown` from `first_new` on."""
    return _document.join(original, grown, first_new)


def resume_command(transcript: Transcript, output: str) -> str:
    """No tool resumes such a file."""
    return ""
