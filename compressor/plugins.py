"""Find a plug-in by name: a module of one of our folders, else an entry point of the same group.

A plug-in is a module. Nothing is imported before it is asked for, and nothing registers itself:
the folder listing is the registry. Outside packages use entry points of the group
`compressor.<folder>` (`compressor.kinds`, `compressor.formats`, …).
"""

from __future__ import annotations

import difflib
import pkgutil
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Final

from compressor.errors import ConfigError

GROUPS: Final = ("kinds", "formats", "summarizers", "checks", "engines", "reporters")


@cache
def names(group: str) -> tuple[str, ...]:
    """The names of all plug-ins of a group, sorted; `_`-modules are helpers, not plug-ins."""
    folder = import_module(f"compressor.{group}")
    own = {m.name.replace("_", "-") for m in pkgutil.iter_modules(folder.__path__) if not m.name.startswith("_")}
    return tuple(sorted(own | set(_outside(group))))


@cache
def load(group: str, name: str) -> ModuleType:
    """Import one plug-in.

    Raises:
        ConfigError: no plug-in of this name; the hint names the nearest one.
    """
    if name not in names(group):
        near = difflib.get_close_matches(name, names(group), n=1)
        hint = f'did you mean "{near[0]}"?' if near else f"known: {', '.join(names(group))}"
        raise ConfigError(f'unknown {group.removesuffix("s")} "{name}"', hint=hint)
    outside = _outside(group).get(name)
    if outside is not None:
        module = outside.load()
        assert isinstance(module, ModuleType)
        return module
    return import_module(f"compressor.{group}.{name.replace('-', '_')}")


@cache
def _outside(group: str) -> dict[str, EntryPoint]:
    return {e.name: e for e in entry_points(group=f"compressor.{group}")}
