"""The closures that a schema is compiled into say what jsonschema says."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from jsonschema import Draft202012Validator

from compressor import plugins
from compressor.formats import Source
from compressor.formats._lists import load as load_file
from compressor.validate import _schema

from .damage import mutants
from .shapes import SHAPES

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize("name", plugins.names("formats"))
def test_every_schema_compiles(name: str) -> None:
    schema = _schema.load(name)

    assert schema is not None
    Draft202012Validator.check_schema(dict(schema))
    _schema.compiled(schema)


@pytest.mark.parametrize("name", SHAPES)
def test_compiled_schemas_agree_with_jsonschema(name: str) -> None:
    """On the records of good files and of damaged ones."""
    schema = _schema.load(name)
    assert schema is not None
    test, validator = _schema.compiled(schema), Draft202012Validator(dict(schema))
    agreed = {True: 0, False: 0}
    for path in sorted((FIXTURES / name).iterdir(), key=lambda p: p.stat().st_size)[:2]:
        raw = path.read_bytes()
        files = [
            raw,
            *(
                m.data
                for m in mutants(name, raw, Random(5), 1)
                if m.kind in {"wrong_type", "missing_field", "invalid_enum"}
            ),
        ]
        for data in files:
            for value in load_file(Source("x", data)).values:
                if isinstance(value, (dict, list)):
                    assert test(value) == validator.is_valid(value), json.dumps(value)[:300]
                    agreed[test(value)] += 1

    assert agreed[True]


def test_an_unknown_keyword_is_left_to_jsonschema() -> None:
    with pytest.raises(_schema.UnknownKeywordError):
        _schema.compiled({"propertyNames": {"maxLength": 3}})


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        ({"type": "integer"}, True, False),
        ({"type": "integer"}, 3.0, True),
        ({"enum": [1]}, True, False),
        ({"const": None}, None, True),
        ({"oneOf": [{"type": "string"}, {"minLength": 2}]}, "ab", False),
        ({"not": {"type": "null"}}, None, False),
        ({"additionalProperties": False, "properties": {"a": True}}, {"b": 1}, False),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}}, {"a": 1}, False),
        (
            {"$defs": {"t": {"items": {"$ref": "#/$defs/t"}, "maxItems": 2}}, "$ref": "#/$defs/t"},
            [[], [[], [], []]],
            False,
        ),
    ],
)
def test_keywords(schema: dict, value: object, fits: bool) -> None:
    assert _schema.compiled(schema)(value) is fits
    assert Draft202012Validator(schema).is_valid(value) is fits
