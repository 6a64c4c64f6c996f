"""A compacted file against its original: is it still made from its source, and do all guards hold between them?

The original is the source that the report beside the file names, or what the archive above it holds. This is the
slow part of a check (it counts tokens and runs every guard), and only files that carry our mark get it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from compressor.errors import ArchiveError, ConfigError, ReadError
from compressor.formats import Source
from compressor.inputs import archives_near, sidecar
from compressor.model import Finding, Level, Place, Transcript
from compressor.validate.codes import GUARD
from compressor.validate.terms import Terms

if TYPE_CHECKING:
    from compressor.settings import Settings

_INTEGRITY: Final = re.compile("[EW][0-9]{2}")


def check(transcript: Transcript, terms: Terms) -> Iterator[Finding]:
    """V01-V03, the codes that need both files, and what the guards find."""
    key = next((s.mark.archive for s in transcript.sessions if s.mark is not None), "")
    if not key:
        return
    grown = yield from _states(transcript)
    path = Path(transcript.path)
    said = _report(sidecar(path))
    settings = _settings(said, terms)
    source = _source(said, path)
    at = Place(transcript.path, 1)
    if source is not None and key not in _keys(source, transcript, settings):
        yield Finding("V01", Level.ERROR, f"its source {source.path} has changed since", key[:12], at)
        return
    original = source or _archived(key, path, terms)
    if original is None:
        yield Finding("V02", Level.WARNING, "neither its source nor an archive with it is here", key[:12], at)
    elif not grown:
        yield from _guarded(original, transcript, settings)


def _states(transcript: Transcript) -> Generator[Finding, None, bool]:
    """V03; returns whether the tool has appended to a session since."""
    from compressor.regrowth import state

    grown = False
    for session in transcript.sessions:
        if session.mark is None:
            continue
        found = state(session)[0]
        line = session.messages[session.brief].line if session.brief >= 0 else 1
        if found == "foreign":
            message = "its messages are not those that were written"
            yield Finding("V03", Level.WARNING, message, session.id, Place(transcript.path, line))
        grown = grown or found == "grown"
    return grown


def _report(path: Path) -> Mapping[str, Any]:
    try:
        document = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    sessions = document.get("sessions") if isinstance(document, dict) else None
    first = sessions[0] if isinstance(sessions, list) and sessions else {}
    return first if isinstance(first, dict) else {}


def _source(said: Mapping[str, Any], path: Path) -> Source | None:
    """The file that the report names, from here or from beside the report; never the compacted file itself."""
    from compressor.reading import open_source

    name = said.get("path")
    if not isinstance(name, str) or not name or "\0" in name:
        return None
    for candidate in (Path(name), path.parent / name, path.parent / Path(name).name):
        if candidate.is_file() and candidate.resolve() != path.resolve():
            try:
                return open_source(candidate)
            except ReadError:
                continue
    return None


def _keys(source: Source, transcript: Transcript, settings: Settings) -> Iterator[str]:
    """The keys under which an original may be archived: of its bytes, or of those without secrets."""
    yield hashlib.sha256(source.raw).hexdigest()
    if b"[redacted:" in bytes(transcript.raw):
        from compressor.redact import redacted

        clean, _ = redacted(source, replace(settings, redact=True))
        yield hashlib.sha256(clean.raw).hexdigest()


def _archived(key: str, path: Path, terms: Terms) -> Source | None:
    from compressor.archive import Store

    for folder in [terms.archive] if terms.archive is not None else archives_near(path):
        try:
            return Source(f"{folder}/{key[:12]}", Store(folder).get(key))
        except ArchiveError:
            continue
    return None


def _settings(said: Mapping[str, Any], terms: Terms) -> Settings:
    from compressor.rules import load_preset
    from compressor.settings import Settings

    name = terms.preset or str(said.get("preset") or "archive")
    try:
        preset = load_preset(name)
    except ConfigError:
        if terms.preset:
            raise
        preset = load_preset("archive")  # the run's own preset file is not here
    return Settings(preset=preset, format_options=terms.map)


def _guarded(original: Source, transcript: Transcript, settings: Settings) -> Iterator[Finding]:
    from compressor import reading
    from compressor.validate import _compared
    from compressor.verify import verify_files

    try:
        before = reading.read(original, options=settings.format_options)
        found = verify_files(original, Source(transcript.path, transcript.raw), settings)
    except ReadError as error:
        at = Place(transcript.path, 1)
        yield Finding("V02", Level.WARNING, f"its original cannot be read: {error.message}", at=at)
        return
    yield from _compared.check(before, transcript)
    for f in found:
        if not _INTEGRITY.fullmatch(f.check):
            yield replace(f, check=f"{GUARD}{f.check}", at=_here(f.at, original, transcript))


def _here(at: Place, original: Source, transcript: Transcript) -> Place:
    """A finding stands in the file that was checked; what is lost stands nowhere in it."""
    if at.file == transcript.path:
        return at
    lost = at.message if at.file == original.path else ""
    return Place(transcript.path, 1, lost)
