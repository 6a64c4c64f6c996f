"""`compress explain`: what each line of a brief rests on, and why each message that is gone is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from compressor.cli._options import take
from compressor.cli._print import say, write_json
from compressor.options import Options

if TYPE_CHECKING:
    from compressor.explain import Explanation


@click.command(
    short_help="Show what a brief rests on, and why messages are gone.",
    epilog="""\b
Examples:
  compress explain session.compact.jsonl
  compress explain session.compact.jsonl --json
  compress restore session.compact.jsonl --message '#12'
""",
)
@click.argument("file", metavar="OUTPUT")
@take("archive", "format", "map", "json")
def command(options: Options, file: str) -> None:
    """Show what each line of the brief in OUTPUT rests on, and for each message that is gone why it is.

    A line's messages are those that it cites, shown as they are in the original.
    """
    from compressor.explain import explain

    found = explain(file, options)
    if options.json:
        write_json({"path": file, "sessions": [_data(e) for e in found]})
        return
    for e in found:
        _show(e)


def _data(e: Explanation) -> dict[str, Any]:
    return {
        "session": e.session,
        "brief": [
            {
                "line": line.text,
                "messages": [{"id": c.id, "line": c.line, "role": c.role, "text": c.text} for c in line.cited],
            }
            for line in e.lines
        ],
        "dropped": list(e.dropped),
    }


def _show(e: Explanation) -> None:
    say(f"session {e.session or '(no id)'}")
    for line in e.lines:
        say(f"\n{line.text}")
        for c in line.cited:
            say(f"    {c.id}  line {c.line}  {c.role}: {c.text}")
    for group in e.dropped:
        reason = f"{group['reason']} ({group['layer']}{', ' + group['rule'] if group['rule'] else ''})"
        say(f"\n{len(group['messages'])} gone, {group['tokens']:,} tokens: {reason}")
        for name, line_number, tokens in group["messages"]:
            say(f"    {name}  line {line_number}  {tokens:,} tokens")
