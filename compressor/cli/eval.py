"""`compress eval`: how much of what was needed later a compaction keeps."""

from __future__ import annotations

from dataclasses import asdict, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

import click

from compressor.cli._open import open_transcript
from compressor.cli._options import RULES, take
from compressor.cli._print import columns, say, write_json
from compressor.errors import ConfigError
from compressor.options import Options

if TYPE_CHECKING:
    from compressor.evaluate.retention import Score
    from compressor.model import Transcript
    from compressor.pipeline import Settings


@click.command(
    short_help="Measure what a compaction keeps of what was needed later.",
    epilog="""\b
Examples:
  compress eval sessions/*.jsonl
  compress eval sessions/*.jsonl --share 0.1 --preset mine.yaml --json
""",
)
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@click.option(
    "--share", type=click.FloatRange(0.005, 1), default=0.25, show_default=True, help="Tokens after / before."
)
@click.option(
    "--cut", type=click.FloatRange(0.05, 0.95), default=0.6, show_default=True, help="Share of the bytes kept."
)
@take(*RULES, "summarizer", "summarizer_option", "json")
def command(options: Options, files: tuple[str, ...], share: float, cut: float) -> None:
    """Cut each FILE, compact its beginning alone, and count what the agent later used that still stands there.

    A hard item (path, identifier, number, hash, URL) counts as needed if the agent wrote it behind the cut, had it
    from before, and nobody had shown it again. "In context" asks for half of the words around it as well.
    """
    from compressor.options import settings

    chosen = settings(options)
    scores: dict[str, Score] = {}
    for file in files:
        found = _one(open_transcript(file, options), chosen, share, cut)
        if found is not None:
            scores[file] = found
    if not scores:
        raise ConfigError("nothing to measure in these files", hint="name long single sessions of one record a line")
    if options.json:
        write_json({"files": {f: asdict(s) for f, s in scores.items()}, "mean": _mean(scores)})
    else:
        _print(scores)


def _one(transcript: Transcript, chosen: Settings, share: float, at: float) -> Score | None:
    from compressor import reading
    from compressor.evaluate import retention
    from compressor.formats import Source
    from compressor.pipeline import compact

    needed = retention.need(transcript, at)
    if needed is None:
        return None
    source = Source(transcript.path, needed.prefix)
    whole = compact(source, replace(chosen, budget=2**40)).results[0].whole_before
    outcome = compact(source, replace(chosen, budget=max(1, round(whole * share))))
    data = needed.prefix if outcome.data is None else outcome.data
    output = reading.read(Source(transcript.path, data), format=transcript.format).sessions[0]
    return retention.score(needed, output, outcome.results[0].after / max(1, whole))


def _mean(scores: dict[str, Score]) -> dict[str, Any]:
    from compressor.evaluate.retention import interval

    figures: dict[str, Any] = {"files": len(scores), "share": fmean(s.share for s in scores.values())}
    for name in ("recall", "in_context"):
        values = [getattr(s, name) for s in scores.values()]
        figures[name] = fmean(values)
        figures[f"{name}_interval"] = interval(values, fmean)
    return figures


def _print(scores: dict[str, Score]) -> None:
    rows = [("needed", "recall", "in context", "share", "file")]
    rows += [(str(s.needed), f"{s.recall:.3f}", f"{s.in_context:.3f}", f"{s.share:.3f}", f) for f, s in scores.items()]
    columns(rows, right=frozenset({0, 1, 2, 3}))
    mean = _mean(scores)
    low, high = mean["in_context_interval"]
    say(
        f"\n{mean['files']} files: recall {mean['recall']:.3f}, in context {mean['in_context']:.3f} "
        f"(95 % interval {low:.3f}-{high:.3f}), mean token share {mean['share']:.3f}"
    )
