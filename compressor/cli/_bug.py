"""The report of a bug: what a maintainer needs, and nothing of the transcript but what the traceback says."""

from __future__ import annotations

import platform
import sys
import tempfile
import traceback
from pathlib import Path

from compressor import __version__


def write_report(error: BaseException | str) -> Path:
    """Write a report into a file of its own and return its path."""
    trace = error if isinstance(error, str) else "".join(traceback.format_exception(error))
    text = "\n".join(
        [
            "# Unexpected error",
            "",
            f"transcript compressor {__version__}, Python {platform.python_version()}, {platform.platform()}",
            f"arguments: {sys.argv[1:]}",
            "",
            "```",
            trace.rstrip(),
            "```",
            "",
        ]
    )
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", errors="backslashreplace", prefix="compress-bug-", suffix=".md", delete=False
        ) as file:
            file.write(text)
    except OSError:
        # no room for a report: better on the terminal than lost
        sys.stderr.write(text)
        return Path("above")
    return Path(file.name)
