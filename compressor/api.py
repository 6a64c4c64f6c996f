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
from compressor.pipeline import compact
from compressor.reading import open_source
from compressor.result import SessionResult
from compressor.transaction import publish


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


def compress(  # noqa: PLR0913 - the options of a run, spelled out for editors and type checkers
    source: str | os.PathLike[str] | Sequence[Mapping[str, Any]],
    *,
    output: str | os.PathLike[str] | None = None,
    preset: str | None = None,
    rules: Sequence[str | os.PathLike[str]] | None = None,
    budget: int | None = None,
    ratio: float | None = None,
    summarizer: str | None = None,
    summarizer_option: Mapping[str, Any] | None = None,
    model: str | None = None,
    base_url: str | None = None,
    cassette: str | os.PathLike[str] | None = None,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    deadline: float | None = None,
    focus: str | None = None,
    pin: Sequence[str] | None = None,
    facts: str | os.PathLike[str] | None = None,
    new_id: bool | None = None,
    archive: str | os.PathLike[str] | None = None,
    redact: bool | None = None,
    format: str | None = None,
    map: Mapping[str, Any] | None = None,
    encoding: str | None = None,
) -> Result:
    """Compact one transcript.

    Nothing is written unless `output` is given; then the original goes into the archive first, and the output
    is published in one rename.

    Args:
        source: path of a file in any format that `compress formats` lists, or a list of messages
            (`{"role": …, "content": …}`, OpenAI or Anthropic).
        output: path to write to; never the input itself.
        preset: a shipped preset (`archive` if not said, `resume`, `strict`, `fixtures`) or the path of one.
        rules: paths of rule files that count besides the preset's rules.
        budget: tokens that the output may cost its reader, the brief included.
        ratio: how many times smaller than the original; not together with `budget`.
        summarizer: who writes the brief (`extractive`, `head`, `none`, `llm`, `local`, `replay`).
        summarizer_option: its options.
        model: the model that writes the brief: its provider's name for it, or a `.gguf` file (`docs/models.md`).
        base_url: address of the model's endpoint.
        cassette: file of recorded answers.
        max_cost: stop before the model costs more, in the price table's currency.
        max_tokens: stop before the model uses more tokens.
        deadline: seconds that the session may wait for the model.
        focus: words that matter now.
        pin: texts; every part that holds one stays as it is.
        facts: path of a file of facts that must survive (`compress facts --json`).
        new_id: write under a new, deterministic session id.
        archive: folder of the originals; `.compress/` beside the output otherwise.
        redact: replace secrets before anything else sees them; the archive holds the redacted bytes.
        format: of the input, if its content does not tell.
        map: options of the format, such as `{"role": "speaker"}`.
        encoding: how tokens are counted, `o200k_base` (if not said) or `cl100k_base`.

    Returns:
        The output's bytes and one result per session.

    Raises:
        ConfigError: an option, preset or rule is wrong; nothing was touched.
        ReadError: the source cannot be read.
        WriteError: the output cannot be written; nothing was published.
        ArchiveError: the original cannot be archived; nothing was published.
        LimitError: a limit of cost or tokens was reached; nothing was published.
    """
    said = {
        "preset": preset, "rules": rules, "budget": budget, "ratio": ratio, "summarizer": summarizer,
        "summarizer_option": summarizer_option, "model": model, "base_url": base_url, "cassette": cassette,
        "max_cost": max_cost, "max_tokens": max_tokens, "deadline": deadline, "focus": focus, "pin": pin, "facts": facts, "new_id": new_id,
        "archive": archive, "redact": redact, "format": format, "map": map, "encoding": encoding,
    }  # fmt: skip
    merged = options.merge(options.Said({k: v for k, v in said.items() if v is not None}))
    chosen = replace(options.settings(merged), trigger="api")
    path: Path | None = None
    if isinstance(source, (str, os.PathLike)):
        path = Path(os.fspath(source))
        opened = open_source(path)
    else:
        opened = Source("<messages>", dumps(list(source)))
    target = _target(path, output)
    folder = chosen.archive or (target.parent / inputs.ARCHIVE_NAME if target is not None else None)
    if folder is not None:
        chosen = replace(chosen, terms=replace(chosen.terms, answers=folder / "answers"))
    outcome = compact(opened, chosen, _store(chosen.archive, path))
    results = publish(outcome, target, chosen) if target is not None else outcome.results
    weights = chosen.preset.weights
    scored = tuple(replace(r, score=report.score(r.findings, weights)) for r in results)
    data = bytes(outcome.transcript.raw) if outcome.data is None else outcome.data
    return Result(data, scored, from_messages=path is None)


def _target(source: Path | None, output: str | os.PathLike[str] | None) -> Path | None:
    if output is None:
        return None
    target = Path(os.fspath(output))
    if source is not None:
        # the same check as on the command line: through links, case and ".."
        inputs.plan([str(source)], options.Options(output=str(target)))
    return target


def _store(archive: Path | None, path: Path | None) -> Store | None:
    near = inputs.archives_near(path) if path is not None else iter(())
    folder = next((p for p in (archive, *near) if p is not None and p.is_dir()), None)
    return Store(folder) if folder is not None else None
