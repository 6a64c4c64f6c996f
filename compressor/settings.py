"""Everything that decides an output, in one frozen value, and the clock that times the stages."""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from compressor import __version__, plugins, tokens
from compressor.asking import Terms
from compressor.rules import Preset


@dataclass(frozen=True)
class Settings:
    """Everything that decides an output, and where the originals go.

    Attributes:
        budget: tokens of the output's live context; None: `ratio` or the preset says.
        ratio: tokens of the whole history / tokens of the output.
        archive: folder of the originals; None: `.compress/` beside the output.
        trigger: who asked, for the audit record; decides nothing.
        terms: on which a model is asked; they decide nothing.
        redact: replace secrets before anything else sees them.
    """

    preset: Preset
    encoding: str = tokens.DEFAULT
    summarizer: str = "extractive"
    summarizer_options: Mapping[str, Any] = field(default_factory=dict)
    budget: int | None = None
    ratio: float | None = None
    focus: str = ""
    pins: tuple[str, ...] = ()
    facts_file: Path | None = None
    new_id: bool = False
    format: str | None = None
    format_options: Mapping[str, Any] = field(default_factory=dict)
    archive: Path | None = None
    trigger: str = "run"
    terms: Terms = field(default_factory=Terms)
    redact: bool = False

    @cached_property
    def digest(self) -> str:
        """Digest of all that decides the output's bytes."""
        facts = self.facts_file.read_bytes().hex() if self.facts_file else ""
        said = (
            __version__, self.preset.digest, self.encoding, self.summarizer, self._deciding(), self.budget,
            self.ratio, self.focus, self.pins, facts, self.new_id, dict(self.format_options), self.redact,
        )  # fmt: skip
        return hashlib.sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS, default=str)).hexdigest()[:16]

    def _deciding(self) -> dict[str, Any]:
        """The summarizer's options, without those that decide nothing; a cassette decides all."""
        incidental = getattr(plugins.load("summarizers", self.summarizer), "INCIDENTAL", ())
        said = {k: v for k, v in self.summarizer_options.items() if k not in incidental}
        if self.summarizer == "replay" and self.terms.cassette is not None:
            said["cassette"] = hashlib.sha256(self.terms.cassette.read_bytes()).hexdigest()
        return said


class Clock:
    """Seconds per stage."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of the block to a stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - start
