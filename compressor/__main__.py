"""`python -m compressor` is `compress`."""

from __future__ import annotations

from compressor.cli import entry

if __name__ == "__main__":
    entry()
