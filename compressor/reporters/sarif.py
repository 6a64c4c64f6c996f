"""SARIF 2.1.0: the findings, for code hosts and editors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, TextIO
from urllib.parse import quote

from compressor.reporters._findings import Shown, each
from compressor.reporters._text import printable

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def write(document: Mapping[str, Any], stream: TextIO, options: Mapping[str, Any]) -> None:
    """Write one SARIF run."""
    found = list(each(document))
    codes = sorted({f.code for f in found})
    driver = {"name": document["tool"], "version": document["version"], "rules": [_rule(c, found) for c in codes]}
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [_result(f, codes.index(f.code)) for f in found],
            }
        ],
    }
    stream.write(json.dumps(log, indent=2) + "\n")


def _rule(code: str, found: list[Shown]) -> dict[str, Any]:
    first = next(f for f in found if f.code == code)
    rule: dict[str, Any] = {"id": code, "shortDescription": {"text": first.title or code}}
    if first.hint:
        rule["help"] = {"text": first.hint}
    return rule


def _result(f: Shown, rule: int) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": _uri(f.file)}, "region": {"startLine": f.line}}
    result: dict[str, Any] = {
        "ruleId": f.code,
        "ruleIndex": rule,
        "level": f.level,
        "message": {"text": printable(f.message)},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"finding/v1": f.key},
    }
    if f.id:
        result["locations"][0]["logicalLocations"] = [{"name": printable(f.id), "kind": "object"}]
    return result


def _uri(file: str) -> str:
    path = PurePath(file)
    text = quote(path.as_posix().encode("utf-8", "surrogateescape"))
    return f"file://{text}" if path.is_absolute() else text
