"""`compress convert`: a transcript as messages of another format.

The session model stands between: what it does not hold is lost, and counted. `_turns` makes turns of a session
(each call with its results, nothing that an endpoint would refuse); `_targets` writes them, one function a format.

    from compressor.convert import convert
    from compressor.reading import read

    converted = convert(read("session.jsonl"), "openai-chat")
    converted.data, converted.losses
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from compressor.convert import _targets
from compressor.convert._turns import Losses, turns
from compressor.errors import ConfigError, Location, ReadError
from compressor.model import Transcript

TARGETS = tuple(sorted(_targets.WRITERS))


@dataclass(frozen=True, slots=True)
class Converted:
    """The bytes of the new file, its usual name's end, and what is not in it, with counts."""

    data: bytes
    suffix: str
    losses: Mapping[str, int]


def convert(transcript: Transcript, target: str, *, live: bool = False) -> Converted:
    """Write the conversations of a transcript as another format.

    Args:
        transcript: as read, of any format.
        target: one of `TARGETS`.
        live: only what the source tool would send if it resumed the file now; otherwise the whole history.

    Raises:
        ConfigError: no such target.
        ReadError: no conversation has a message that can be told.
    """
    if target not in _targets.WRITERS:
        from compressor.yamlfile import nearest

        raise ConfigError(f'cannot convert to "{target}"', hint=nearest(target, TARGETS))
    losses: Losses = Counter()
    conversations = [(s.id, turns(transcript, s, losses, live=live)) for s in transcript.sessions]
    if not any(t for _, t in conversations):
        raise ReadError("holds no conversation to convert", at=Location(transcript.path))
    data, suffix = _targets.WRITERS[target]([(i, t) for i, t in conversations if t], losses)
    spoken = {m.record for s in transcript.sessions for m in s.messages}
    losses["records that are no messages"] += sum(
        r.index not in spoken and r.kind not in ("blank", "unreadable") for r in transcript.records
    )
    return Converted(data, suffix, {what: n for what, n in sorted(losses.items()) if n})
