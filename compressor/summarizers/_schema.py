"""The shape of an answer: the brief's own schema, in the subset of JSON Schema that endpoints understand."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import orjson

from compressor.data import resource

#: What structured output of some endpoint does not know; the full schema is checked when the answer is here.
_LEFT_OUT: Final = ("$schema", "$id", "$defs", "title", "minLength")

#: Most entries of a list and characters of a text, where a small model must be kept from writing without an end.
_MOST_ITEMS: Final = 3
_MOST_WORDS: Final = 2


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
    """The schema with limits, so that what a grammar lets through ends within about so many characters."""
    return {k: _bound(v, max(16, characters // 60)) for k, v in schema.items()}


def _bound(value: Any, length: int) -> Any:
    if isinstance(value, list):
        return [_bound(v, length) for v in value]
    if not isinstance(value, dict):
        return value
    out = {k: _bound(v, length) for k, v in value.items()}
    if out.get("type") == "string" and "enum" not in out:
        out["maxLength"] = length
    if out.get("type") == "array":
        words = out.get("items", {}).get("type") == "string"
        out["maxItems"] = _MOST_WORDS if words else _MOST_ITEMS
    return out
