"""Which parts the guard kinds read: what people, the system and the agent say, not what tools print."""

from __future__ import annotations

from collections.abc import Iterator

from compressor.model import Origin, Part, PartType, Role, View

#: Longer texts that somebody "said" are pasted data.
LONGEST = 400_000


def spoken(view: View, *, harness: bool = False) -> Iterator[Part]:
    """The texts of a view in order.

    Args:
        view: what the rule looks at.
        harness: also what the harness put into the user's mouth (environment blocks, command output).
    """
    messages = view.session.messages
    for part in view.parts:
        message = messages[part.message]
        put = message.origin is Origin.HARNESS and message.role is Role.USER
        if part.type is PartType.TEXT and part.text and len(part.text) <= LONGEST and (harness or not put):
            yield part
