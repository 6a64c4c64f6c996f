"""What models cost: a small dated table that ships with the package, and one of the user's that goes first."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import orjson

from compressor import schemacheck, yamlfile
from compressor.asking import Price
from compressor.data import resource


def price(model: str, host: str, own: Path | None = None) -> Price | None:
    """The price of a model at a host; None: nobody has written it down.

    Raises:
        ConfigError: the user's table is wrong.
    """
    for entry in _entries(own):
        if fnmatchcase(model, entry["model"]) and entry.get("host", host) == host:
            given = float(entry["input"])
            return Price(
                entry["model"], given, float(entry["output"]), float(entry.get("cached", given)),
                float(entry.get("batch", 1.0)), str(entry.get("as_of", "")),
            )  # fmt: skip
    return None


def _entries(own: Path | None) -> Iterator[dict[str, Any]]:
    schema = orjson.loads(resource("schemas/prices.schema.json").read_bytes())
    for path in (own, resource("rules/models/prices.yaml")):
        if path is None:
            continue
        document = yamlfile.load(path)
        schemacheck.check(document, schema, (), "price table")
        yield from document.value["prices"]
