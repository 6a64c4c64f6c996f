"""Compact agent and chat transcripts, and prove what survived.

The Python API in three lines::

    import compressor

    result = compressor.compress("session.jsonl", budget=20_000)
    print(result.verdict, result.ratio)

Everything is imported when it is first asked for, so `import compressor` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compressor.api import Result, compress
    from compressor.errors import CompressError, ConfigError, ReadError, WriteError
    from compressor.model import Finding, Verdict
    from compressor.originals import Archive

__version__ = "0.1.0"

__all__ = [
    "Archive",
    "CompressError",
    "ConfigError",
    "Finding",
    "ReadError",
    "Result",
    "Verdict",
    "WriteError",
    "__version__",
    "compress",
]

_HOMES = {
    "Archive": "originals",
    "CompressError": "errors",
    "ConfigError": "errors",
    "Finding": "model",
    "ReadError": "errors",
    "Result": "api",
    "Verdict": "model",
    "WriteError": "errors",
    "compress": "api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
