"""Find the files that travel with the package: rules, presets, schemas, prompts, vocabulary.

In a checkout (and an editable install) `rules/` and `schemas/` stand beside the package; in a wheel
they are mapped into `compressor/_data/`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path


@cache
def resource(name: str) -> Traversable:
    """A shipped file or folder by its name from the project's top (`rules`, `schemas/brief.schema.json`, …)."""
    package = files("compressor")
    inside = package / name
    if inside.is_file() or inside.is_dir():
        return inside
    shipped = package / "_data" / name
    if shipped.is_file() or shipped.is_dir():
        return shipped
    return Path(str(package)).parent / name
