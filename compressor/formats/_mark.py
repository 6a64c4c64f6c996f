"""The mark as a line of text, for formats that have no field for it.

It is the last line of the brief: `[transcript-compressor BASE64URL]`, the base64url (without padding) of the
mark's fields in a fixed binary layout. A line that does not decode to a mark is plain text: a
forged one costs nothing, and is never an error while reading.
"""

from __future__ import annotations

import base64
import binascii
import struct
from dataclasses import asdict
from typing import Any, Final

from compressor.model import MARK_PREFIX, VISIBLE, Mark, Session, digest_messages

#: Longest mark line that is looked at, in characters; real ones have about 100.
_LONGEST: Final = 2000
#: Version, tokens, generation, messages, and the digests of options, messages and original.
_LAYOUT: Final = struct.Struct(">BIBI8s8s32s")
_VERSION: Final = 1
_TYPES: Final = (str, int, int, str, int, str)
#: The key of the mark in formats that have a field for it.
FIELD: Final = "transcriptCompressor"
#: What stands in the brief's place when the history before the kept messages was cleared without a brief.
CLEARED: Final = "The conversation before this point was cleared."
_NAMES: Final = ("options", "tokens", "generation", "archive", "messages", "digest")


def encode(mark: Mark) -> str:
    """The mark as one line, short because a model reads it too."""
    digests = (bytes.fromhex(d) for d in (mark.options, mark.digest, mark.archive))
    packed = _LAYOUT.pack(_VERSION, mark.tokens, mark.generation, mark.messages, *digests)
    return f"{MARK_PREFIX}{base64.urlsafe_b64encode(packed).rstrip(b'=').decode()}]"


def decode(line: str) -> Mark | None:
    """The mark that a line carries, or None."""
    if not line.startswith(MARK_PREFIX) or not line.endswith("]") or len(line) > _LONGEST:
        return None
    packed = line[len(MARK_PREFIX) : -1]
    try:
        fields = _LAYOUT.unpack(base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, struct.error):
        return None
    version, tokens, generation, messages, options, digest, archive = fields
    if version != _VERSION:
        return None
    return Mark(options.hex(), tokens, generation, archive.hex(), messages, digest.hex())


def from_fields(fields: Any) -> Mark | None:
    """The mark with these fields (a list, in order), or None if they cannot be one."""
    if not isinstance(fields, list) or len(fields) != len(_TYPES):
        return None
    typed = all(type(value) is kind for value, kind in zip(fields, _TYPES, strict=True))
    return Mark(*fields) if typed and all(f >= 0 for f in fields if isinstance(f, int)) else None


def as_field(mark: Mark, **more: Any) -> dict[str, Any]:
    """The mark as the value of a field; `more` says what else the format has to know of its compaction."""
    return {"version": 1, **more, **asdict(mark)}


def from_field(value: Any) -> Mark | None:
    """The mark that a field holds, or None."""
    return from_fields([value.get(name) for name in _NAMES]) if isinstance(value, dict) else None


def join(text: str, mark: Mark) -> str:
    """The brief's text with the mark as its last line."""
    return f"{text}\n{encode(mark)}" if text else encode(mark)


def split(text: str) -> tuple[str, Mark | None]:
    """The text without its mark line, and the mark; the text as it is and None if its last line is no mark."""
    line = last_line(text)
    if not line:
        return text, None
    mark = decode(line)
    if mark is None:
        return text, None
    return text.rstrip()[: -len(line)].removesuffix("\n"), mark


def last_line(text: str) -> str:
    """The last line of a text if it claims to be a mark, else ""."""
    tail = text[-_LONGEST - 8 :].rstrip()
    if not tail.endswith("]"):
        return ""
    line = tail.rsplit("\n", 1)[-1]
    return line if line.startswith(MARK_PREFIX) else ""


def choose(session: Session, found: dict[int, Mark]) -> int:
    """Of the messages whose text ends with a mark (by index), the one that is our brief, or -1.

    Somebody may have quoted a mark: the one whose digest fits the messages beside it counts, else the first.
    """
    for index, mark in found.items():
        beside = [m for m in session.messages if m.index != index and any(p.text for p in m.parts if p.type in VISIBLE)]
        if mark.messages <= len(beside) and digest_messages(beside[: mark.messages]) == mark.digest:
            return index
    return next(iter(found), -1)
