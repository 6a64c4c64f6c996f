"""The Python API: one function, one result."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from compressor import inputs, options, report
from compressor.archive import Store
from compressor.errors import ConfigError
from compressor.formats import Source
from compressor.formats._records import dumps
from compressor.model import Finding, Verdict
from compressor.pipeline import compact, publish
from compressor.reading import open_source
from compressor.result import SessionResult


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one file or list of messages.

    Attributes:
        data: the output's bytes, in the input's own format; equal to the input where nothing was changed.
        sessions: one result per conversation; most files hold one. Token counts are of model-visible text.
        from_messages: the input was a list of messages.
    """

    data: bytes
    sessions: tuple[SessionResult, ...]
    from_messages: bool = False

    @property
    def verdict(self) -> Verdict:
        """Of the only session, or the worst of several (reverted before compacted before unchanged)."""
        order = (Verdict.REVERTED, Verdict.COMPACTED, Verdict.UNCHANGED)
        return min((s.verdict for s in self.sessions), key=order.index, default=Verdict.UNCHANGED)

    @property
    def ratio(self) -> float:
        """Tokens of all originals / tokens after."""
        after = sum(s.after for s in self.sessions)
        return sum(s.whole_before for s in self.sessions) / after if after else 1.0

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, session by session."""
        return tuple(f for s in self.sessions for f in s.findings)

    @property
    def brief(self) -> str:
        """The handover note that stands in the output, or ""; several are joined by blank lines."""
        return "\n\n".join(s.brief for s in self.sessions if s.brief)

    @property
    def messages(self) -> list[Any]:
        """The output as a list of messages, for an input that was one.

        Raises:
            ConfigError: the input was a file; read `data`.
        """
        if not self.from_messages:
            raise ConfigError("the input was a file, not a list of messages", hint="read Result.data")
        found: list[Any] = orjson.loads(self.data)
        return found

    def report(self) -> dict[str, Any]:
        """The report document (`schemas/report.schema.json`)."""
        return report.document(self.sessions, sum(sum(s.timing.values()) for s in self.sessions))


def compress(
    source: str | os.PathLike[str] | Sequence[Mapping[str, Any]],
    *,
    output: str | os.PathLike[str] | None = None,
    **said: Any,
) -> Result:
    """Compact one transcript.

    Nothing is written unless `output` is given; then the original goes into the archive first, and the output
    is published in one rename.

    Args:
        source: path of a file in any format that `compress formats` lists, or a list of messages
            (`{"role": …, "content": …}`, OpenAI or Anthropic).
        output: path to write to; never the input itself.
        **said: the options of `compress run`, with `_` for `-`: `preset="archive"`, `rules=[paths]`,
            `budget=tokens`, `ratio=times`, `summarizer=name`, `summarizer_option={…}`, `focus=text`, `pin=[texts]`,
            `facts=path`, `new_id=bool`, `archive=folder`, `format=name`, `map={…}`, `encoding=name`.

    Returns:
        The output's bytes and one result per session.

    Raises:
        ConfigError: an option, preset or rule is wrong; nothing was touched.
        ReadError: the source cannot be read.
        WriteError, ArchiveError: the output or the archive cannot be written; nothing was published.
    """
    chosen = _settings(said)
    path: Path | None = None
    if isinstance(source, (str, os.PathLike)):
        path = Path(os.fspath(source))
        opened = open_source(path)
    else:
        opened = Source("<messages>", dumps(list(source)))
    target = _target(path, output)
    outcome = compact(opened, chosen, _store(chosen.archive, path))
    results = publish(outcome, target, chosen) if target is not None else outcome.results
    weights = chosen.preset.weights
    scored = tuple(replace(r, score=report.score(r.findings, weights)) for r in results)
    data = bytes(outcome.transcript.raw) if outcome.data is None else outcome.data
    return Result(data, scored, from_messages=path is None)


def _settings(said: Mapping[str, Any]) -> Any:
    known = {name for name, spec in options.specs().items() if not spec.once}
    wrong = next((name for name in said if name not in known), None)
    if wrong is not None:
        from compressor.yamlfile import nearest

        raise ConfigError(f'unknown option "{wrong}"', hint=nearest(wrong, known))
    return options.settings(options.merge(options.Said({k: v for k, v in said.items() if v is not None})))


def _target(source: Path | None, output: str | os.PathLike[str] | None) -> Path | None:
    if output is None:
        return None
    target = Path(os.fspath(output))
    if source is not None:
        # the same check as on the command line: through links, case and ".."
        inputs.plan([str(source)], options.Options(output=str(target)))
    return target


def _store(archive: Path | None, path: Path | None) -> Store | None:
    folder = archive or (path.parent / inputs.ARCHIVE_NAME if path is not None else None)
    return Store(folder) if folder is not None and folder.is_dir() else None
