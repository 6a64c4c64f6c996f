"""Whether two numbers say the same, and if not, in what they differ."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from compressor.guards._number import Number
from compressor.guards._units import units

#: What a bare number may stand for: its text is the same, its kind was to be seen from the words around it.
_BARE: Final = frozenset({"number", "count", "line", "port", "id", "ordinal", "version"})
_EXACT: Final = frozenset({"version", "hash", "id", "address", "hex"})


def same(a: Number, b: Number) -> bool:
    """Whether both say the same value, in whatever notation."""
    return not compare(a, b)


def compare(a: Number, b: Number) -> str:
    """In what two numbers differ: "" for nothing, else `value`, `unit`, `sign` or `kind`."""
    share = _share(a, b) or _share(b, a)
    if share:
        return "" if share == "same" else "value"
    if a.kind in _TIMES and b.kind in _TIMES:
        return _compare_times(a, b)
    if a.kind != b.kind and not (a.kind in _QUANTITY and b.kind in _QUANTITY):
        return _compare_kinds(a, b)
    if isinstance(a.value, str) or isinstance(b.value, str):
        return _compare_texts(a, b)
    return _compare_quantities(a, b)


_TIMES: Final = frozenset({"date", "time", "datetime"})
_QUANTITY: Final = frozenset({"percent", "money", "size", "duration", "measure", "count", "number"})


def _compare_texts(a: Number, b: Number) -> str:
    if a.kind == "range" and a.unit != b.unit and a.unit and b.unit:
        return "unit"
    return "" if str(a.value) == str(b.value) else "value"


def _compare_times(a: Number, b: Number) -> str:
    x, y = str(a.value), str(b.value)
    if a.kind == b.kind:
        if a.kind == "date" and len(x) != len(y):
            short, long = sorted((x, y), key=len)
            if "/" in short or "/" in long:
                return "" if _readings(x) & _readings(y) else "value"
            return "" if long.endswith(f"-{short}") else "value"
        if a.kind == "date" and ("/" in x) != ("/" in y):
            return "" if _readings(x) & _readings(y) else "value"
        return "" if x == y else "value"
    return "kind"


def _readings(value: str) -> set[str]:
    """An ambiguous `3/4/26` is the third of April or the fourth of March."""
    if "/" not in value:
        return {value}
    a, b, year = value.split("/")
    return {f"20{year}-{int(a):02d}-{int(b):02d}", f"20{year}-{int(b):02d}-{int(a):02d}"}


def _compare_kinds(a: Number, b: Number) -> str:
    """Two kinds: a bare number stands for any of them that is written with the same digits."""
    if a.kind in _BARE and b.kind in _BARE and "number" in (a.kind, b.kind):
        if {a.kind, b.kind} <= {"number", "version", "id"}:
            return "" if a.text.strip().lstrip("vV#") == b.text.strip().lstrip("vV#") else "value"
        return "" if _number(a) == _number(b) else "value"
    if {a.kind, b.kind} == {"hex", "number"}:
        hexa, number = (a, b) if a.kind == "hex" else (b, a)
        return "" if isinstance(number.value, Decimal) and number.value == int(str(hexa.value), 16) else "value"
    if {a.kind, b.kind} == {"ordinal", "line"} or {a.kind, b.kind} == {"ordinal", "count"}:
        return "" if _number(a) == _number(b) else "value"
    return "kind"


def _number(n: Number) -> Decimal | str:
    if isinstance(n.value, Decimal):
        return n.value
    return Decimal(n.value) if n.value.isdigit() else n.value


def _share(a: Number, b: Number) -> str:
    """A share in per cent against a fraction (85.3 % = 0.853 = 3 of 4); "" when this is none."""
    if a.kind != "percent" or not isinstance(a.value, Decimal):
        return ""
    value = a.value * units().by_name[a.unit].factor
    if b.kind == "number" and isinstance(b.value, Decimal) and abs(b.value) <= 1 and not b.unit:
        return "same" if b.value * 100 == value and a.sign == b.sign else "value"
    if b.kind == "ratio":
        up, _, down = str(b.value).partition("/")
        return "same" if Decimal(up) * 100 == value * Decimal(down) else "value"
    return ""


def _compare_quantities(a: Number, b: Number) -> str:
    assert isinstance(a.value, Decimal)
    assert isinstance(b.value, Decimal)
    if _billions(a, b) or _billions(b, a):
        return ""
    if (a.sign == "-") != (b.sign == "-") and a.value:
        return "sign"
    if a.unit == b.unit or not a.unit or not b.unit:
        # a unit that is left out is no other unit
        return "" if a.value == b.value else "value"
    return _compare_units(a, b, a.value, b.value)


def _compare_units(a: Number, b: Number, x: Decimal, y: Decimal) -> str:
    table = units()
    for name_a in _units_of(a):
        for name_b in _units_of(b):
            first, second = table.by_name.get(name_a), table.by_name.get(name_b)
            if name_a == name_b:
                return "" if x == y else "value"
            if first and second and first.of == second.of:
                return "" if x * first.factor == y * second.factor else ("unit" if x == y else "value")
    if {a.unit, b.unit} == {"attempt", "x"} or (a.kind == b.kind == "count" and _other_script(a, b)):
        return "" if x == y else "value"
    return "unit"


def _units_of(number: Number) -> tuple[str, ...]:
    """The units that a number may have: "800 m" may be metres, though it was read as minutes."""
    is_bare_m = number.unit == "min" and number.text.endswith("m") and number.text.count("m") == 1
    return units().ambiguous.get("m" if is_bare_m else number.unit, (number.unit,))


def _billions(a: Number, b: Number) -> bool:
    """`7B` of parameters is seven billion, not seven bytes."""
    if a.unit != "B" or b.kind not in ("count", "number") or not a.text.endswith("B"):
        return False
    return isinstance(a.value, Decimal) and isinstance(b.value, Decimal) and a.value.scaleb(9) == b.value


def _other_script(a: Number, b: Number) -> bool:
    return a.unit.isascii() != b.unit.isascii()
