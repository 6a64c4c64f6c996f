"""`compress verify`: what a compaction, whoever made it, lost or changed."""

from __future__ import annotations

import click

from compressor.cli._options import RULES, take
from compressor.cli._print import say, write_json
from compressor.options import Options


@click.command(
    short_help="Check any tool's compaction against its original.",
    epilog="""\b
Examples:
  compress verify session.jsonl session.compact.jsonl
  compress verify session.jsonl theirs.jsonl --preset strict --json

\b
Exit code: 0 without findings at level error, else 1. --json prints
  {"verdict": …, "findings": [{"check", "level", "message", "fact", "at"}]}
""",
)
@click.argument("original", metavar="ORIGINAL")
@click.argument("compacted", metavar="COMPACTED")
@take(*RULES, "pin", "facts", "json", "quiet")
def command(options: Options, original: str, compacted: str) -> int:
    """Check COMPACTED against ORIGINAL: facts missing, changed, flipped or invented, structure broken.

    COMPACTED may come from any tool, in any shape: a summary, a head and a tail, a rewritten list.
    """
    from compressor import verify
    from compressor.model import Level
    from compressor.options import settings
    from compressor.reading import open_source
    from compressor.report import finding
    from compressor.reporters._text import shorten

    findings = verify.verify_files(open_source(original), open_source(compacted), settings(options, asking=False))
    failed = any(f.level is Level.ERROR for f in findings)
    if options.json:
        write_json({"verdict": "failed" if failed else "passed", "findings": [finding(f) for f in findings]})
        return int(failed)
    if not options.quiet:
        for f in findings:
            place = f"{f.at.file or compacted}:{f.at.line}" if f.at.line else f.at.file or compacted
            fact = f": {shorten(f.fact, 120)}" if f.fact else ""
            say(f"{place}: {f.level} {f.check}: {shorten(f.message, 240)}{fact}")
        errors = sum(f.level is Level.ERROR for f in findings)
        say(f"{'failed' if failed else 'passed'}: {errors} errors, {len(findings) - errors} other findings")
    return int(failed)
