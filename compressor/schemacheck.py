"""Check a YAML document against a JSON Schema, with messages for people.

A rule file is nearly always right, and importing jsonschema takes longer than reading all rules. So a small
check goes first that knows the keywords our schemas use and is sure when it says yes; at anything else jsonschema
decides and its best match is put into words. Tests hold the two equal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from compressor.yamlfile import Document, Steps, nearest

if TYPE_CHECKING:
    from compressor.errors import ConfigError

Schema = Mapping[str, Any]

_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}
#: Keywords that say nothing about the value, and those that `sure` handles.
_SILENT: Final = frozenset({"$schema", "$id", "$defs", "title", "description", "default", "examples"})
_HANDLED: Final = frozenset(
    {
        "type", "enum", "const", "properties", "additionalProperties", "required", "items", "minItems", "maxItems",
        "minProperties", "maxProperties", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum",
        "anyOf", "$ref", "pattern", "uniqueItems",
    }
)  # fmt: skip


def check(document: Document, schema: Schema, steps: Steps = (), what: str = "") -> None:
    """Check the value at `steps` of a document; `what` names it in messages ("a rule").

    Raises:
        ConfigError: it does not fit; the message tells the worst mistake, at its place.
    """
    value = document.value
    for step in steps:
        value = value[step]
    if sure(value, schema, schema):
        return
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import relevance

    errors = list(Draft202012Validator(schema).iter_errors(value))
    if errors:
        worst = _closest(max(errors, key=relevance))
        raise _explain(document, worst, steps, what, schema)


def sure(value: Any, schema: Schema, root: Schema) -> bool:
    """Is the value valid without doubt? False may also mean that the schema uses an unknown keyword."""
    if not (_HANDLED | _SILENT).issuperset(schema):
        return False
    if "$ref" in schema and not sure(value, root["$defs"][str(schema["$ref"]).rpartition("/")[2]], root):
        return False
    if "type" in schema and not _is_type(value, schema["type"]):
        return False
    if "enum" in schema and not any(type(value) is type(known) and value == known for known in schema["enum"]):
        return False
    if "const" in schema and (type(value) is not type(schema["const"]) or value != schema["const"]):
        return False
    if "anyOf" in schema and not any(sure(value, branch, root) for branch in schema["anyOf"]):
        return False
    if isinstance(value, dict):
        return _sure_object(value, schema, root)
    if isinstance(value, list):
        return _sure_array(value, schema, root)
    return _sure_string(value, schema) if isinstance(value, str) else _sure_number(value, schema)


def _is_type(value: Any, names: str | Sequence[str]) -> bool:
    if isinstance(names, str):
        names = (names,)
    if isinstance(value, bool):
        return "boolean" in names
    return any(isinstance(value, _TYPES[name]) for name in names)


def _sure_object(value: dict[str, Any], schema: Schema, root: Schema) -> bool:
    known: Schema = schema.get("properties", {})
    rest = schema.get("additionalProperties", True)
    if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value)):
        return False
    if any(name not in value for name in schema.get("required", ())):
        return False
    for name, child in value.items():
        part = known.get(name, rest)
        if part is False or (part is not True and not sure(child, part, root)):
            return False
    return True


def _sure_array(value: list[Any], schema: Schema, root: Schema) -> bool:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        return False
    if schema.get("uniqueItems") and len({repr(item) for item in value}) < len(value):
        return False
    return "items" not in schema or all(sure(item, schema["items"], root) for item in value)


def _sure_string(value: str, schema: Schema) -> bool:
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
        return False
    return "pattern" not in schema or re.search(schema["pattern"], value) is not None


def _sure_number(value: Any, schema: Schema) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return True
    if value < schema.get("minimum", value) or value > schema.get("maximum", value):
        return False
    return "exclusiveMinimum" not in schema or value > schema["exclusiveMinimum"]


def _closest(error: Any) -> Any:
    """Of several alternatives that all fail the mistake in the one that was meant: whose type fits, if one's does."""
    if error.validator != "anyOf":
        return error
    branches: dict[int, list[Any]] = {}
    for inner in error.context:
        branches.setdefault(inner.relative_schema_path[0], []).append(inner)
    meant = [found for found in branches.values() if not any(map(_other_type, found))]
    if len(meant) != 1:
        return error
    return _closest(max(meant[0], key=lambda inner: len(inner.absolute_path)))


def _other_type(error: Any) -> bool:
    if error.relative_path:
        return False
    if error.validator == "enum":
        return not any(isinstance(error.instance, type(known)) for known in error.validator_value)
    return bool(error.validator == "type")


_KIND_OF: Final = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "null": "nothing",
}


def _explain(document: Document, error: Any, steps: Steps, what: str, root: Schema) -> ConfigError:
    here: Steps = (*steps, *error.absolute_path)
    name = f'"{here[-1]}"' if here and isinstance(here[-1], str) else (what if here == steps else "")
    name = name or _owner(here)
    rule = str(error.validator)
    if rule == "additionalProperties":
        return _unknown_key(document, error, here, name)
    if rule == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        return document.mistake(f'{name or "the file"} has no "{missing}"', here, hint=f"add `{missing}: …`")
    if rule in {"enum", "const"}:
        known = [str(k) for k in (error.validator_value if rule == "enum" else [error.validator_value])]
        hint = nearest(str(error.instance), known)
        return document.mistake(f'{name} cannot be "{_shown(error.instance)}"', here, hint=hint)
    if rule in {"type", "anyOf"}:
        return document.mistake(f"{name or 'the file'} must be {_wanted(error, root)}, not {_is(error.instance)}", here)
    return document.mistake(f"{name} {_bound(rule, error)}", here)


def _owner(here: Steps) -> str:
    """An item of a list is named after the list."""
    owner = next((step for step in reversed(here) if isinstance(step, str)), "")
    return f'an item of "{owner}"' if owner else ""


def _unknown_key(document: Document, error: Any, here: Steps, name: str) -> ConfigError:
    known = error.schema.get("properties", {})
    key = next(key for key in error.instance if key not in known)
    inside = f" in {name}" if name else ""
    return document.mistake(f'unknown key "{key}"{inside}', (*here, key), key=True, hint=nearest(key, known))


def _wanted(error: Any, root: Schema) -> str:
    branches = error.validator_value if error.validator == "anyOf" else [{"type": error.validator_value}]
    words: list[str] = []
    for branch in branches:
        if "$ref" in branch:
            branch = root["$defs"][branch["$ref"].rpartition("/")[2]]  # noqa: PLW2901
        kinds = branch.get("type", [])
        words += [f'"{k}"' for k in branch.get("enum", [])]
        words += [_KIND_OF[k] for k in ([kinds] if isinstance(kinds, str) else kinds)]
    unique = list(dict.fromkeys(words))
    return " or ".join([", ".join(unique[:-1]), unique[-1]] if len(unique) > 1 else unique)


def _is(value: Any) -> str:
    if isinstance(value, dict | list) or value is None:
        return "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else "nothing"
    return f'"{_shown(value)}"' if isinstance(value, str) else _shown(value)


def _shown(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _bound(rule: str, error: Any) -> str:
    limit = error.validator_value
    value = _shown(error.instance)
    words = {
        "minimum": f"must be at least {limit}, not {value}",
        "exclusiveMinimum": f"must be more than {limit}, not {value}",
        "maximum": f"must be at most {limit}, not {value}",
        "minLength": "must not be empty",
        "maxLength": f"must be at most {limit} characters long",
        "minItems": "must not be empty",
        "maxItems": f"must have at most {limit} items",
        "minProperties": "must not be empty",
        "maxProperties": f"must have {'one key' if limit == 1 else f'at most {limit} keys'}",
        "uniqueItems": "names something twice",
        "pattern": f'cannot be "{value}"',
    }
    return words.get(rule) or f"does not fit: {error.message}"
