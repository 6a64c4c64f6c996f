"""Open the one transcript that a command looks into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compressor.options import Options

if TYPE_CHECKING:
    from compressor.model import Transcript


def open_transcript(file: str, options: Options) -> Transcript:
    """Read a file (or `-`) in the format that the options or its content say.

    Raises:
        ReadError: it cannot be read.
    """
    from compressor.reading import read

    return read(file, format=options.format, options=options.map)
