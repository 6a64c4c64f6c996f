"""The few errors that a user can meet, each with its place and its next step."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file: `line` and `column` count from 1, 0 means unknown."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        place = self.file
        if self.line:
            place += f":{self.line}"
            if self.column:
                place += f":{self.column}"
        return place


class CompressError(Exception):
    """Something the user can mend.

    Args:
        message: what is wrong, lower case, no full stop.
        at: where.
        hint: the next action, lower case, no full stop.
    """

    exit_code = 1

    def __init__(self, message: str, *, at: Location | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.at}: {self.message}" if self.at else self.message
        return f"{text}\nhint: {self.hint}" if self.hint else text

    def __reduce__(self) -> tuple[object, ...]:
        # exceptions cross process borders; the default would lose the keyword fields
        return (_rebuild, (type(self), self.message, self.at, self.hint))


def _rebuild(kind: type[CompressError], message: str, at: Location | None, hint: str) -> CompressError:
    return kind(message, at=at, hint=hint)


class ConfigError(CompressError):
    """A rule, preset, option or plug-in name is wrong; nothing was touched."""

    exit_code = 2


class ReadError(CompressError):
    """A transcript does not parse in its format."""


class SummarizeError(CompressError):
    """No usable summary after all retries."""


class TransientError(SummarizeError):
    """A summarizer failure that may pass by itself: it is retried."""


class WaitError(CompressError):
    """Not now: the answer comes later, or a limit of the run is reached. Nothing was written; run again."""


class LimitError(WaitError):
    """A limit of cost or tokens is reached: the rest of the run is left as it is."""


class CassetteError(CompressError):
    """A recorded answer is missing: never made up by anything else."""


class WriteError(CompressError):
    """An output could not be written whole."""


class ArchiveError(CompressError):
    """The archive is locked, damaged, or does not hold what was asked for."""
