"""Transcript formats: read any of them, detect them by content, write them back.

A format is one module of this folder:

    TITLE: str                                  # one line for `compress formats`
    ORDER: int                                  # detection order, lowest first: the most specific first
    APPENDS: bool                               # the source tool appends to this file when it resumes
    def sniff(head: Head) -> bool               # is it this format? looks at content only
    def read(source: Source, options: Mapping[str, Any]) -> Transcript
    def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written
                                                # session position -> change; the others as they are
    def check(transcript: Transcript) -> Iterator[Finding]     # integrity codes E01-E16 of this format
    def join(original: bytes, grown: Transcript, first_new: int) -> bytes
                                                # the original's bytes, grown by the records of session 0's
                                                # messages from `first_new` on (a single-session file)
    def resume_command(transcript: Transcript, output: str) -> str   # "" if its tool cannot resume a file

`read` never fails on a broken record: it is kept (kind `unreadable`), counted in `dirt`, and written back as
it was. `write` with no changes returns exactly `transcript.raw`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from compressor.formats._records import Head, Source
from compressor.model import Compaction, Finding, Transcript, Written

__all__ = ["Format", "Head", "Source"]


class Format(Protocol):
    """What a format module offers (see the module docstring)."""

    TITLE: str
    ORDER: int
    APPENDS: bool

    @staticmethod
    def sniff(head: Head) -> bool: ...
    @staticmethod
    def read(source: Source, options: Mapping[str, Any]) -> Transcript: ...
    @staticmethod
    def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written: ...
    @staticmethod
    def check(transcript: Transcript) -> Iterator[Finding]: ...
    @staticmethod
    def join(original: bytes, grown: Transcript, first_new: int) -> bytes: ...
    @staticmethod
    def resume_command(transcript: Transcript, output: str) -> str: ...
