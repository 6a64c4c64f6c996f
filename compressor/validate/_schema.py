"""Records against the JSON Schema of their format.

A schema is compiled into closures that say yes or no, which is what nearly every record gets; only a record that
is refused goes through jsonschema, whose import costs more than checking a small file, for its words and place.
A schema with a keyword that the closures do not know is left to jsonschema altogether.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final

import orjson

from compressor.data import resource
from compressor.formats._lists import Lines
from compressor.formats._records import Source
from compressor.model import Finding, Level, Place, Record
from compressor.validate._text import Text

Test = Callable[[Any], bool]
Schema = Mapping[str, Any]

#: Findings of one record that are told: the first ones say what is wrong with it.
_PER_RECORD: Final = 5
_SILENT: Final = frozenset(
    {"$schema", "$id", "$defs", "title", "description", "default", "examples", "contentMediaType", "$comment"}
)
_TYPES: Final[Mapping[str, Test]] = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool) or isinstance(v, float) and v.is_integer(),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
}


class UnknownKeywordError(Exception):
    """The schema says more than the closures understand."""


def check(source: Source, text: Text, format_name: str) -> Iterator[Finding]:
    """S01 for every record that does not fit."""
    schema = load(format_name)
    if schema is None:
        return
    test = _test(format_name)
    for record, value in zip(text.file.records, text.file.values, strict=True):
        if isinstance(value, (dict, list)) and not (test is not None and test(value)):
            yield from _told(source, schema, record, value)


@cache
def load(format_name: str) -> Schema | None:
    """The schema of a format; a format of somebody else's may have none."""
    path = resource(f"schemas/{format_name}.schema.json")
    if not path.is_file():
        return None
    schema: Schema = orjson.loads(path.read_bytes())
    return schema


@cache
def _test(format_name: str) -> Test | None:
    schema = load(format_name)
    assert schema is not None
    try:
        return compiled(schema)
    except UnknownKeywordError:
        return None


def compiled(schema: Schema) -> Test:
    """One function that says whether a value fits.

    Raises:
        UnknownKeywordError: jsonschema must decide.
    """
    return _Compiler(schema).test(schema)


class _Compiler:
    """Turns schemas into closures; definitions are compiled once, also where they refer to themselves."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._known: dict[str, Test] = {}

    def test(self, schema: Any) -> Test:
        if isinstance(schema, bool):
            return lambda _: schema
        tests: list[Test] = []
        for key, value in schema.items():
            if key in _SILENT or key in {"then", "else"}:
                continue
            make = _KEYWORDS.get(key)
            if make is None:
                raise UnknownKeywordError(key)
            tests.append(make(self, value, schema))
        return _all(tests)

    def reference(self, name: str) -> Test:
        if not name.startswith("#/$defs/"):
            raise UnknownKeywordError(name)
        if name not in self._known:
            later: list[Test] = []
            self._known[name] = lambda v: later[0](v)  # noqa: PLW0108 - it is not compiled yet
            later.append(self.test(self._root["$defs"][name.removeprefix("#/$defs/")]))
            self._known[name] = later[0]
        return self._known[name]


def _all(tests: list[Test]) -> Test:
    if len(tests) == 1:
        return tests[0]
    fixed = tuple(tests)

    def every(value: Any) -> bool:
        for test in fixed:  # noqa: SIM110 - a generator costs more than the tests themselves
            if not test(value):
                return False
        return True

    return every


def _type(_: _Compiler, names: Any, _schema: Schema) -> Test:
    tests = [_TYPES[name] for name in ([names] if isinstance(names, str) else names)]
    return tests[0] if len(tests) == 1 else _some(tests)


def _some(tests: list[Test]) -> Test:
    fixed = tuple(tests)

    def some(value: Any) -> bool:
        for test in fixed:  # noqa: SIM110 - as above
            if test(value):
                return True
        return False

    return some


def _enum(_: _Compiler, values: Any, _schema: Schema) -> Test:
    known = frozenset((type(v) is bool, v) for v in values)

    def test(value: Any) -> bool:
        return not isinstance(value, (dict, list)) and (type(value) is bool, value) in known

    return test


def _const(compiler: _Compiler, value: Any, schema: Schema) -> Test:
    return _enum(compiler, [value], schema)


def _properties(compiler: _Compiler, value: Any, _schema: Schema) -> Test:
    tests = {name: compiler.test(part) for name, part in value.items()}
    if len(tests) == 1:
        ((only, test),) = tests.items()
        return lambda v: not isinstance(v, dict) or only not in v or test(v[only])

    def each(value: Any) -> bool:
        if isinstance(value, dict):
            for name, inner in value.items():
                test = tests.get(name)
                if test is not None and not test(inner):
                    return False
        return True

    return each


def _additional(compiler: _Compiler, value: Any, schema: Schema) -> Test:
    known = frozenset(schema.get("properties", {}))
    rest = compiler.test(value)
    return lambda v: not isinstance(v, dict) or all(rest(inner) for name, inner in v.items() if name not in known)


def _required(_: _Compiler, names: Any, _schema: Schema) -> Test:
    fixed = tuple(names)
    return lambda v: not isinstance(v, dict) or all(name in v for name in fixed)


def _items(compiler: _Compiler, value: Any, _schema: Schema) -> Test:
    test = compiler.test(value)
    return lambda v: not isinstance(v, list) or all(test(inner) for inner in v)


def _any_of(compiler: _Compiler, value: Any, _schema: Schema) -> Test:
    return _some([compiler.test(branch) for branch in value])


def _all_of(compiler: _Compiler, value: Any, _schema: Schema) -> Test:
    return _all([compiler.test(branch) for branch in value])


def _one_of(compiler: _Compiler, value: Any, _schema: Schema) -> Test:
    tests = tuple(compiler.test(branch) for branch in value)
    return lambda v: sum(test(v) for test in tests) == 1


def _not(compiler: _Compiler, value: Any, _schema: Schema) -> Test:
    test = compiler.test(value)
    return lambda v: not test(v)


def _if(compiler: _Compiler, value: Any, schema: Schema) -> Test:
    test = compiler.test(value)
    then, other = compiler.test(schema.get("then", True)), compiler.test(schema.get("else", True))
    return lambda v: then(v) if test(v) else other(v)


def _ref(compiler: _Compiler, value: Any, _schema: Schema) -> Test:
    return compiler.reference(value)


def _size(kind: type[list[Any] | dict[str, Any] | str], *, least: bool) -> Callable[[_Compiler, Any, Schema], Test]:
    def make(_: _Compiler, bound: Any, _schema: Schema) -> Test:
        if least:
            return lambda v: not isinstance(v, kind) or len(v) >= bound
        return lambda v: not isinstance(v, kind) or len(v) <= bound

    return make


def _bound(*, least: bool) -> Callable[[_Compiler, Any, Schema], Test]:
    def make(_: _Compiler, bound: Any, _schema: Schema) -> Test:
        number = _TYPES["number"]
        if least:
            return lambda v: not number(v) or v >= bound
        return lambda v: not number(v) or v <= bound

    return make


def _pattern(_: _Compiler, value: Any, _schema: Schema) -> Test:
    search = re.compile(value).search
    return lambda v: not isinstance(v, str) or search(v) is not None


_KEYWORDS: Final[Mapping[str, Callable[[_Compiler, Any, Schema], Test]]] = {
    "type": _type, "enum": _enum, "const": _const, "properties": _properties, "additionalProperties": _additional,
    "required": _required, "items": _items, "anyOf": _any_of, "allOf": _all_of, "oneOf": _one_of, "not": _not,
    "if": _if, "$ref": _ref, "pattern": _pattern, "minItems": _size(list, least=True), "maxItems": _size(list, least=False),
    "minLength": _size(str, least=True), "maxLength": _size(str, least=False), "minProperties": _size(dict, least=True),
    "maxProperties": _size(dict, least=False), "minimum": _bound(least=True), "maximum": _bound(least=False),
}  # fmt: skip


def _told(source: Source, schema: Schema, record: Record, value: Any) -> Iterator[Finding]:
    from jsonschema import Draft202012Validator

    lines: Lines | None = None
    errors = sorted(_deepest(Draft202012Validator(schema).iter_errors(value)), key=lambda e: list(map(str, e[0])))
    for path, message in errors[:_PER_RECORD]:
        lines = lines or Lines(source.raw, record)
        where = "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in path).lstrip(".")
        words = f"{where}: {message}" if where else message
        yield Finding("S01", Level.ERROR, words, at=Place(source.path, _line(lines, path, record)))


def _line(lines: Lines, path: tuple[Any, ...], record: Record) -> int:
    try:
        return lines.of(path)
    except (KeyError, IndexError, TypeError, ValueError):
        return record.line


def _deepest(errors: Any) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Each error at its deepest place: of alternatives that all fail the one that got furthest."""
    for error in errors:
        worst = error
        while worst.context:
            worst = max(worst.context, key=lambda e: (len(e.absolute_path), e.validator not in ("const", "type")))
        yield tuple(worst.absolute_path), _worded(worst)


def _worded(error: Any) -> str:
    shown = _short(error.instance)
    rule, limit = error.validator, error.validator_value
    if rule == "required":
        missing = [name for name in limit if name not in error.instance]
        return f'"{missing[0]}" is missing'
    if rule == "type":
        return f"{shown} is not {' or '.join([limit] if isinstance(limit, str) else limit)}"
    if rule == "enum":
        return f"{shown} is none of {', '.join(map(str, limit))}"
    if rule == "const":
        return f"{shown} is not {_short(limit)}"
    return f"{shown} does not fit ({rule})"


def _short(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else f"a list of {len(value):,}"
    text = str(value).lower() if isinstance(value, bool) else "null" if value is None else repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
