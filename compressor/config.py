"""The configuration file: `compress.yaml`, or the table `[tool.compress]` of a `pyproject.toml`.

Its keys are the options of `compress run` without the dashes; the table `check` holds those of `compress check`.
Paths in it are meant from its own folder.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from compressor.errors import ConfigError, Location
from compressor.options import Said, specs, spelled

YAML_NAME: Final = "compress.yaml"
TOML_NAME: Final = "pyproject.toml"
#: Tables of single commands.
SECTIONS: Final = frozenset({"check"})

_OURS: Final = re.compile(r"^\s*\[\s*tool\s*\.\s*compress\b", re.MULTILINE)
_HEADER: Final = re.compile(r"\s*\[{1,2}([^\[\]]+)\]{1,2}\s*(?:#.*)?$")


def find(start: Path) -> Path | None:
    """The nearest configuration file in this folder or above it."""
    for folder in (start, *start.parents):
        if (folder / YAML_NAME).is_file():
            return folder / YAML_NAME
        toml = folder / TOML_NAME
        if toml.is_file() and _table(toml) is not None:
            return toml
    return None


def load(path: Path) -> Said:
    """What a configuration file says.

    Raises:
        ConfigError: it cannot be read, or says what no option is.
    """
    return _load_toml(path) if path.suffix == ".toml" else _load_yaml(path)


def _load_yaml(path: Path) -> Said:
    from compressor import yamlfile

    document = yamlfile.load(path)
    value = document.value if document.value is not None else {}
    if not isinstance(value, dict):
        raise document.mistake("is not a mapping of options", hint="write `preset: archive`, one option a line")
    places = {key: document.place((key,), key=True) for key in value}
    return _said(value, places, path)


def _load_toml(path: Path) -> Said:
    table = _table(path, strict=True)
    if table is None:
        raise ConfigError("has no table [tool.compress]", at=Location(str(path)))
    return _said(table, _toml_places(path, table), path)


def _said(value: dict[str, Any], places: dict[str, Location], path: Path) -> Said:
    known = {spelled(name): name for name, spec in specs().items() if not spec.once}
    value = {key: v for key, v in value.items() if key not in SECTIONS}
    for key in value:
        if key not in known:
            raise ConfigError(f'unknown option "{key}"', at=places[key], hint=_hint(key, known))
    return Said(
        values={known[k]: v for k, v in value.items()},
        places={known[k]: at for k, at in places.items() if k in known},
        folder=path.parent,
    )


def section(path: Path, name: str) -> tuple[dict[str, Any], Location | None]:
    """The table of one command, and where it stands.

    Raises:
        ConfigError: the file cannot be read, or holds something else under this name.
    """
    if path.suffix == ".toml":
        table = _table(path, strict=True) or {}
        at = _toml_places(path, table).get(name)
    else:
        from compressor import yamlfile

        document = yamlfile.load(path)
        table = document.value if isinstance(document.value, dict) else {}
        at = document.place((name,), key=True) if name in table else None
    found = table.get(name, {})
    if not isinstance(found, dict):
        raise ConfigError(f'"{name}" is not a table of options', at=at)
    return found, at


def _hint(key: str, known: Iterable[str]) -> str:
    from compressor.yamlfile import nearest

    spec = specs().get(key.replace("-", "_"))
    if spec is not None and spec.once:
        return "this one is said on the command line, for one run"
    return nearest(key, known)


def _table(path: Path, *, strict: bool = False) -> dict[str, Any] | None:
    """`[tool.compress]`; a broken file that nobody named, and that does not speak of us, is somebody else's matter."""
    text = ""
    try:
        text = path.read_text(encoding="utf-8")
        tool = tomllib.loads(text).get("tool", {})
    except (OSError, ValueError) as error:
        if not strict and not _OURS.search(text):
            return None
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise ConfigError(f"cannot be read: {reason}", at=Location(str(path))) from error
    table = tool.get("compress") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError("tool.compress is not a table of options", at=Location(str(path)))
    return table


def _toml_places(path: Path, keys: Iterable[str]) -> dict[str, Location]:
    """Where each key stands: the TOML reader does not say, so the table's lines are looked through."""
    places = {key: Location(str(path)) for key in keys}
    inside = False
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        header = _HEADER.match(line)
        if header:
            name = header[1].replace(" ", "")
            inside = name == "tool.compress"
            if name.startswith("tool.compress."):
                places.setdefault(key := name.split(".")[2].strip("\"'"), Location(str(path)))
                places[key] = Location(str(path), number, line.index("[") + 1)
        elif inside:
            key = line.split("=", 1)[0].strip().strip("\"'").split(".")[0]
            if key in places and not places[key].line:
                places[key] = Location(str(path), number, len(line) - len(line.lstrip()) + 1)
    return places
