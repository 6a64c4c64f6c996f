"""Workflow commands: GitHub Actions shows each finding beside its line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TextIO

from compressor.reporters._findings import each
from compressor.reporters._text import printable


def write(document: Mapping[str, Any], stream: TextIO, options: Mapping[str, Any]) -> None:
    """Write one command a finding."""
    for f in each(document):
        command = "notice" if f.level == "note" else f.level
        words = f"{f.message} (hint: {f.hint})" if f.hint else f.message
        where = f"file={_property(f.file)},line={f.line},title={_property(f.code)}"
        stream.write(f"::{command} {where}::{_data(printable(words))}\n")


def _data(text: str) -> str:
    # a text of a transcript must not begin a command of its own
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
