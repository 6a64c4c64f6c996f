"""What the summarizers read: the visible texts of the messages that leave, in order."""

from __future__ import annotations

from collections.abc import Iterator

from compressor.brief import Task
from compressor.model import VISIBLE, Message, Part


def source(message: Message) -> str:
    """The short form in which a brief cites a message."""
    return f"#{message.index}"


def leaving_messages(task: Task) -> Iterator[Message]:
    """The messages that the brief is for, oldest first; our own old brief and abandoned branches are not read."""
    session = task.session
    for index in sorted(task.leaving):
        message = session.messages[index]
        if index != session.brief and not message.abandoned:
            yield message


def leaving_parts(task: Task) -> Iterator[tuple[Message, Part]]:
    """Their visible parts that hold any text."""
    for message in leaving_messages(task):
        for part in message.parts:
            if part.type in VISIBLE and part.text.strip():
                yield message, part
