"""A model behind an endpoint writes the brief: `--summarizer llm --model NAME [--base-url URL]`.

The transcript goes in as data between unguessable marks, in pieces where it does not fit, and comes back as a brief in
its own schema, every entry with its sources. What the model says is checked like everything else; see `docs/models.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from compressor.asking import Terms
from compressor.brief import Brief, Task
from compressor.summarizers import _writer
from compressor.summarizers._providers import check, make
from compressor.summarizers._service import service

OPTIONS: Final[Mapping[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        **_writer.OPTIONS,
        "base_url": {"type": "string", "minLength": 1, "description": "Address of a compatible endpoint."},
        "client": {"enum": ["openai", "anthropic", "llm"], "description": "Who speaks to it."},
        "timeout": {"type": "number", "exclusiveMinimum": 0, "description": "Seconds for one request."},
        "attempts": {"type": "integer", "minimum": 1, "description": "Tries of a request that fails in passing."},
        "backoff": {"type": "number", "exclusiveMinimum": 0, "description": "Seconds before the second try."},
    },
}
DETERMINISTIC: Final = False
WAITS: Final = True
INCIDENTAL: Final = frozenset({"base_url", "client", "timeout", "attempts", "backoff"})


def ready(options: Mapping[str, Any], terms: Terms) -> None:
    """Raise `ConfigError` if the model cannot be asked: no name, no package, no key."""
    check(options, sending=terms.mode != "plan")


def summarize(task: Task, options: Mapping[str, Any]) -> Brief:
    """The model's brief; see `Task.journal` for how it came about."""
    return _writer.Writer(task, options, service(options, task.terms, partial(make, options))).write()
