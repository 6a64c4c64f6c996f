"""Failures of endpoints, sorted by what helps: asking again, mending something, or nothing."""

from __future__ import annotations

import re
from typing import Final

from compressor.errors import SummarizeError, TransientError

_MOST: Final = 200
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]+")


class BusyError(TransientError):
    """May pass by itself. `after`: seconds that the endpoint asks us to wait, or None."""

    after: float | None = None


class RefusedError(SummarizeError):
    """No request of this run can succeed: a wrong key, model or address."""


def busy(message: str, after: float | None = None) -> BusyError:
    """A failure that is worth another try."""
    error = BusyError(message, hint="the endpoint is busy or unreachable; run again later")
    error.after = after
    return error


def told(text: object, key: str) -> str:
    """What an endpoint says, as one short line that holds no key and steers no terminal."""
    line = " ".join(_CONTROL.sub(" ", str(text)).split())
    if key:
        line = line.replace(key, "***")
    return line if len(line) <= _MOST else line[:_MOST] + "…"
