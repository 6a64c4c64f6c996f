"""The audit log: sealed, valid against its schema, and nothing recorded twice."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from kit import FIXTURES, Ran

from compressor.archive import Store
from compressor.audit import NAME, Audit
from compressor.chain import Chain
from compressor.data import resource

Cli = Callable[..., Ran]


def values(count: int) -> list[dict[str, Any]]:
    return [{"event": f"e{i}", "name": "naïve \udce9" if i % 3 == 0 else "x"} for i in range(count)]


def test_a_chain_grows_and_verifies(tmp_path: Path) -> None:
    chain = Chain(tmp_path / "log.jsonl", "log")

    for value in values(5):
        chain.append([value])
    chain.append(values(3))

    assert list(chain.verify()) == []
    assert [line.data()["number"] for line in chain.lines()] == list(range(1, 9))
    assert next(chain.lines()).data()["name"] == "naïve \udce9"


def test_a_half_written_line_is_told_and_then_cut_off(tmp_path: Path) -> None:
    chain = Chain(tmp_path / "log.jsonl", "log")
    chain.append(values(2))
    whole = chain.path.read_bytes()
    chain.append(values(1))
    last = chain.path.read_bytes()[len(whole) :]

    for cut in range(1, len(last)):
        chain.path.write_bytes(whole + last[:cut])
        assert [f.line for f in chain.verify()] == [3]
        assert len(list(chain.lines())) == 2
        chain.append([{"event": "next"}])
        assert list(chain.verify()) == []
        assert [line.data()["event"] for line in chain.lines()] == ["e0", "e1", "next"]


def test_every_flipped_bit_is_found_and_its_line_named(tmp_path: Path) -> None:
    chain = Chain(tmp_path / "log.jsonl", "log")
    chain.append(values(6))
    sound = chain.path.read_bytes()
    rng = random.Random(1)

    for at in range(len(sound)):
        flipped = bytearray(sound)
        flipped[at] ^= 1 << rng.randrange(8)
        chain.path.write_bytes(flipped)
        line = sound[:at].count(b"\n") + 1
        assert line in [f.line for f in chain.verify()] or line - 1 in [f.line for f in chain.verify()]


@pytest.mark.parametrize("change", ["remove a line", "swap lines", "edit", "cut the end"])
def test_what_was_tampered_with_is_told(cli: Cli, folder: Path, change: str) -> None:
    for i, name in enumerate(("claude-crlf-line-ends", "claude-two-sessions", "chat-duplicate-keys")):
        shutil.copy(FIXTURES / "dirty" / f"{name}.jsonl", folder / f"{i}.jsonl")
        cli("run", f"{i}.jsonl", "-q")
    log = folder / ".compress" / NAME
    lines = log.read_bytes().splitlines(keepends=True)
    assert len(lines) == 3
    assert cli("audit", "verify").out == "whole: 3 records\n"
    match change:
        case "remove a line":
            lines.pop(1)
        case "swap lines":
            lines[0], lines[1] = lines[1], lines[0]
        case "edit":
            lines[1] = re.sub(rb'"trigger":"run"', b'"trigger":"api"', lines[1])
        case "cut the end":
            lines.pop()
    log.write_bytes(b"".join(lines))

    ran = cli("audit", "verify")

    assert ran.code == 1
    assert f"{NAME}:" in ran.out
    if change == "cut the end":
        assert "1 records are missing at the end" in ran.out


def test_records_are_valid_and_can_be_asked_for(cli: Cli, sample: Path) -> None:
    shutil.copy(FIXTURES / "openai-chat" / "rows.jsonl", "rows.jsonl")
    cli("run", sample, "rows.jsonl", "-o", "out", "-q")
    schema = json.loads(resource("schemas/audit.schema.json").read_text(encoding="utf-8"))

    records = json.loads(cli("audit", "list", "out/.compress", "--since", "1d", "--json").out)["records"]

    assert len(records) >= 2
    for r in records:
        jsonschema.validate(r, schema)
    assert json.loads(cli("audit", "list", "out/.compress", "--since", "2100-01-01", "--json").out)["records"] == []
    session = records[0]["session"]
    assert len(json.loads(cli("audit", "list", "out/.compress", "--session", session, "--json").out)["records"]) == 1
    assert cli("audit", "list", "out/.compress", "--since", "yesterdayish").code == 2
    assert "session.jsonl" in cli("audit", "list", "out/.compress").out


def test_the_same_outcome_is_recorded_once(cli: Cli, sample: Path) -> None:
    for _ in range(3):
        cli("run", sample, "-q")
    store = Store(Path(".compress"))
    assert len(list(Audit(store).records())) == 1
    cli("run", sample, "--ratio", "3", "-q")
    cli("run", sample, "-q")
    records = list(Audit(store).records())
    first, other, again = [r["options_digest"] for r in records]
    assert first == again != other
    store.close()
