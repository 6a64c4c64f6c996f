"""The shape of an answer: the brief's own schema, in the subset of JSON Schema that endpoints understand."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import orjson

from compressor.data import resource

#: What structured output of some endpoint does not know; the full schema is checked when the answer is here.
_LEFT_OUT: Final = ("$schema", "$id", "$defs", "title", "minLength")

#: Where a small model must be kept from writing without an end: characters of a text, and of an entry with its keys.
_TEXT: Final = 100
_PER_ENTRY: Final = 180
#: The lists, most important first.
_LISTS: Final = ("pending", "errors", "findings", "completed", "decisions", "files", "notes", "red_lines", "keep")


@cache
def answer_schema() -> dict[str, Any]:
    """Schema of an answer: a brief without `carried`, which is the program's, and with `keep`, the model's proposals."""
    whole = orjson.loads(resource("schemas/brief.schema.json").read_bytes())
    schema: dict[str, Any] = _plain(whole, whole["$defs"])
    schema["properties"].pop("carried")
    entry = _plain(whole["$defs"]["entry"], whole["$defs"])
    schema["properties"]["keep"] = {
        "description": "Passages that must survive word for word, copied from a message.",
        "type": "array",
        "items": entry,
    }
    schema["required"] = list(schema["properties"])
    return schema


def _plain(value: Any, definitions: Mapping[str, Any]) -> Any:
    """The schema without references: some endpoints take none beside other keywords."""
    if isinstance(value, list):
        return [_plain(v, definitions) for v in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        said = {k: v for k, v in value.items() if k != "$ref"}
        return {**_plain(definitions[value["$ref"].rsplit("/", 1)[1]], definitions), **said}
    return {
        k: _plain(v, definitions) for k, v in value.items() if k not in _LEFT_OUT or not isinstance(v, (str, int, dict))
    }


def bounded(schema: Mapping[str, Any], characters: int) -> dict[str, Any]:
    """The schema with limits, so that what a grammar lets through ends within about so many characters.

    What does not fit is left out, least important lists first; sources have the form of sources.
    """
    entries = max(3, characters // _PER_ENTRY)
    lists = _LISTS[: entries - 2]
    most = max(1, min(8, (entries - 2) // len(_LISTS)))
    properties: dict[str, Any] = {}
    for name in ("goal", "progress", *lists):
        value = _short(schema["properties"][name])
        if name in lists:
            value["maxItems"] = most
        properties[name] = value
    return {**schema, "properties": properties, "required": list(properties)}


def _short(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    out = {k: _short(v) for k, v in value.items()}
    if out.get("type") == "string" and "enum" not in out:
        out["maxLength"] = _TEXT
    if out.get("type") == "array":
        out["maxItems"] = 2
    if "sources" in out.get("properties", {}):
        out["properties"]["sources"]["items"] = {"type": "string", "pattern": "^#[0-9]{1,5}$"}
    return out
