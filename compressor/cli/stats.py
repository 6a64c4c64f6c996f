"""`compress stats`: where the tokens of a file are."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from compressor.cli._open import open_transcript
from compressor.cli._options import RULES, take
from compressor.cli._print import columns, say, write_json
from compressor.options import Options

if TYPE_CHECKING:
    from compressor.model import Transcript
    from compressor.pipeline import Settings


@click.command(
    short_help="Show where the tokens are.",
    epilog="""\b
Examples:
  compress stats session.jsonl
  compress stats session.jsonl --preset resume --json
""",
)
@click.argument("file", metavar="FILE")
@take(*RULES, "json")
def command(options: Options, file: str) -> None:
    """Show where the tokens of FILE are: by role, by tool, by layer, and by what each rule would save.

    Tokens are those of model-visible text. In many formats most bytes never reach the model; file bytes are
    shown apart.
    """
    from compressor.options import settings

    chosen = settings(options, asking=False)
    transcript = open_transcript(file, options)
    tables = [_tables(transcript, i, chosen) for i in range(len(transcript.sessions))]
    if options.json:
        write_json({"path": file, "format": transcript.format, "bytes": len(transcript.raw), "sessions": tables})
        return
    say(f"{file}: {transcript.format}, {len(transcript.raw):,} bytes, {len(transcript.records):,} records")
    for table in tables:
        _print(table)


def _tables(transcript: Transcript, position: int, settings: Settings) -> dict[str, Any]:
    from compressor import insight
    from compressor.formats import Source
    from compressor.pipeline import compact

    session = transcript.sessions[position]
    seen = insight.look(session, settings)
    result = compact(Source(transcript.path, transcript.raw), settings).results[position]
    facts = Counter(f.rule for f in seen.ledger.facts)
    rules = {
        name: {"matches": r.matches, "facts": facts[name], "edits": r.edits, "tokens_saved": r.tokens_saved}
        for name, r in sorted(result.rules.items())
    }
    return {
        "session": session.id,
        "messages": len(session.messages),
        "tokens": {"whole": seen.total(), "live": result.live_before, "abandoned": result.abandoned_tokens},
        "role": dict(insight.by_role(seen).most_common()),
        "tool": dict(insight.by_tool(seen).most_common()),
        "layer": dict(insight.by_layer(seen).most_common()),
        "rule": rules,
    }


def _print(table: dict[str, Any]) -> None:
    whole, live = table["tokens"]["whole"], table["tokens"]["live"]
    say(f"\nsession {table['session'] or '(no id)'}: {table['messages']:,} messages, {whole:,} tokens, {live:,} live")
    for title in ("role", "tool", "layer"):
        rows = [(name, n, f"{n / max(1, whole):.1%}") for name, n in table[title].items()]
        if rows:
            say(f"\nby {title}")
            columns(rows, right=frozenset({1, 2}))
    rules = {n: (r["matches"], r["edits"], r["tokens_saved"]) for n, r in table["rule"].items()}
    rows_of_rules = [(name, *figures) for name, figures in rules.items() if any(figures)]
    if rows_of_rules:
        say("\nby rule")
        columns([("rule", "matches", "edits", "tokens saved"), *rows_of_rules], right=frozenset({1, 2, 3}))
