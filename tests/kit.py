"""Where the checkout is, and what a call of the command line gave."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"


@dataclass(frozen=True)
class Ran:
    """One call of the command line."""

    code: int
    out: str
    err: str
