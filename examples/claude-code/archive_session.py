"""A hook for Claude Code: compact and archive the session that ends, or that is about to be compacted.

    cp archive_session.py ~/.claude/hooks/        and settings.json into ~/.claude/settings.json

The tool gives the hook a JSON object on standard input, with the path of the transcript in `transcript_path`. The
session's own file is only read. Whatever goes wrong is told on standard error and never stops the session.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

#: Where outputs and originals go.
HOME = Path(os.environ.get("TRANSCRIPTS", "~/transcripts")).expanduser()


def main() -> int:
    """Run the compressor on the session that the hook speaks of."""
    try:
        said = json.load(sys.stdin)
        path = Path(said["transcript_path"]).expanduser()
    except (ValueError, KeyError, TypeError) as error:
        print(f"archive_session: no transcript named: {error!r}", file=sys.stderr)
        return 0
    command = [
        "transcript-compress", "run", str(path), "-o", str(HOME / "small" / path.parent.name / path.name),
        "--archive", str(HOME / "vault"), "--quiet", "--fail-on", "never",
    ]  # fmt: skip
    try:
        subprocess.run(command, check=False, stdin=subprocess.DEVNULL)
    except OSError as error:
        print(f"archive_session: {command[0]} cannot be started: {error}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
