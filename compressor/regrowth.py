"""What was compacted before: recognise our own output, as it was or grown since, and find its originals."""

from __future__ import annotations

import re
from typing import Final

from compressor import plugins, reading
from compressor.archive import Store
from compressor.errors import ArchiveError
from compressor.formats._records import Source
from compressor.model import VISIBLE, Message, Origin, Session, Transcript, digest_messages
from compressor.settings import Settings

#: What stands where something was cut from a message, or for a picture.
_CUT: Final = re.compile(r"^\[(?:…|cleared: [^\n]*|image: [^\n]*)\]$", re.MULTILINE)


def marked(session: Session) -> list[Message]:
    """The messages that a mark speaks of."""
    return [
        m
        for m in session.messages
        if m.index != session.brief
        and m.live
        and not m.abandoned
        and any(p.type in VISIBLE and p.text for p in m.parts)
    ]


def state(session: Session) -> tuple[str, int]:
    """`pure` (as we wrote it), `grown` (new messages since; the index of the first) or `foreign`."""
    mark = session.mark
    if mark is None:
        return "foreign", -1
    messages = marked(session)
    if len(messages) < mark.messages or digest_messages(messages[: mark.messages]) != mark.digest:
        return "foreign", -1
    if len(messages) == mark.messages:
        return "pure", -1
    return "grown", messages[mark.messages].index


def already_done(transcript: Transcript, settings: Settings) -> bool:
    """Whether every session that we ever compacted is as we wrote it, with the same options."""
    marked = [s for s in transcript.sessions if s.mark is not None]
    return bool(marked) and all(
        state(s)[0] == "pure" and s.mark is not None and s.mark.options == settings.digest for s in marked
    )


def originals(given: Transcript, settings: Settings, store: Store | None) -> Transcript:
    """For our own output that has grown (or is wanted otherwise): its original, grown by what is new."""
    if store is None or len(given.sessions) != 1:
        return given
    session = given.sessions[0]
    found_state, first_new = state(session)
    mark = session.mark
    if mark is None or found_state == "foreign" or (found_state == "pure" and mark.options == settings.digest):
        return given
    try:
        original = store.get(mark.archive)
    except ArchiveError:
        return given
    fmt = plugins.load("formats", given.format)
    if found_state == "grown":
        original = fmt.join(original, given, first_new)
    found = reading.read(Source(given.path, original), format=given.format, options=settings.format_options)
    return found if _is_original_of(found, session) else given


def _is_original_of(found: Transcript, session: Session) -> bool:
    """A forged mark must not swap in another session: all words of a person must stand in the original."""
    if len(found.sessions) != 1:
        return False
    there = {p.text for p in found.sessions[0].parts}
    texts = (
        p.text
        for m in session.messages
        if m.index != session.brief and m.origin is Origin.PERSON
        for p in m.parts
        if p.type in VISIBLE and p.text not in there
    )
    cut = [piece for text in texts for piece in map(str.strip, _CUT.split(text)) if piece]
    every = "\n".join(there) if cut else ""
    return all(piece in every for piece in cut)
