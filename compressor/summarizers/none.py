"""No brief at all: the baseline that shows what the placeholders and carried facts do alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from compressor.brief import Brief, Task

OPTIONS: Final[Mapping[str, Any]] = {"type": "object", "additionalProperties": False, "properties": {}}
DETERMINISTIC: Final = True


def summarize(task: Task, options: Mapping[str, Any]) -> Brief:
    """An empty brief, whatever the task."""
    return Brief()
