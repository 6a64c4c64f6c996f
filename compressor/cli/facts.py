"""`compress facts`: the ledger of a file, what must survive."""

from __future__ import annotations

import click

from compressor.cli._open import open_transcript
from compressor.cli._options import RULES, take
from compressor.cli._print import columns, say, write_json
from compressor.options import Options


@click.command(
    short_help="List what must survive.",
    epilog="""\b
Examples:
  compress facts session.jsonl
  compress facts session.jsonl --preset strict --json > facts.json
  compress run session.jsonl --facts facts.json      what is in the file must survive
""",
)
@click.argument("file", metavar="FILE")
@take(*RULES, "pin", "facts", "json")
def command(options: Options, file: str) -> None:
    """List the facts of FILE that a compaction must keep, with the mode in which each must survive."""
    from compressor.insight import look
    from compressor.ledger import to_json
    from compressor.options import settings
    from compressor.reporters._text import shorten

    chosen = settings(options, asking=False)
    transcript = open_transcript(file, options)
    facts = [f for session in transcript.sessions for f in look(session, chosen).ledger.facts]
    if options.json:
        write_json(to_json(facts))
        return
    if not facts:
        say("no facts: no rule of this preset registers any here")
        return
    columns([("line", "kind", "mode", "text"), *((f.line, f.kind, f.mode.value, shorten(f.text, 100)) for f in facts)])
