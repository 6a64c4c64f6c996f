"""`compress brief`: the handover note alone."""

from __future__ import annotations

import click

from compressor.cli._open import open_transcript
from compressor.cli._options import RULES, take
from compressor.cli._print import say
from compressor.options import Options


@click.command(
    short_help="Print the handover note alone.",
    epilog="""\b
Examples:
  compress brief session.jsonl
  compress brief session.jsonl --budget 1500 --focus "the billing migration" > handover.md
""",
)
@click.argument("file", metavar="FILE")
@take(*RULES, "budget", "summarizer", "summarizer_option", "model", "base_url", "deadline", "focus")
def command(options: Options, file: str) -> None:
    """Print the handover note of FILE as Markdown: goal, state, decisions, dead ends, files, red lines.

    Nothing is written. --budget is the room for the note.
    """
    from compressor.insight import handover
    from compressor.options import settings

    chosen = settings(options)
    transcript = open_transcript(file, options)
    say("\n\n".join(handover(session, chosen) for session in transcript.sessions))
