"""The commands and the Python API of the archive."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from kit import FIXTURES, Ran

import compressor
from compressor.archive import Store
from compressor.errors import ArchiveError

Cli = Callable[..., Ran]
SOURCE = FIXTURES / "dirty" / "claude-crlf-line-ends.jsonl"


@pytest.fixture
def made(cli: Cli, folder: Path) -> bytes:
    """One compacted session and one plain one, in `vault`; sources and outputs are gone but for the outputs."""
    Path("logs").mkdir()
    shutil.copy(SOURCE, "logs/one.jsonl")
    Path("logs/small.jsonl").write_text(
        '{"role": "user", "content": "Late?"}\n{"role": "assistant", "content": "No."}\n'
    )
    assert cli("run", "logs", "-o", "small", "--archive", "vault").code == 0
    shutil.rmtree("logs")
    return SOURCE.read_bytes()


def test_an_original_comes_back_by_any_name(cli: Cli, made: bytes) -> None:
    archive = compressor.Archive("vault")
    key = archive.find("small/one.jsonl").key
    session = archive.find("small/one.jsonl").sessions[0]
    for name in ("small/one.jsonl", "logs/one.jsonl", key, key[:10], session):
        ran = cli("restore", name, "--archive", "vault", "-o", "back.jsonl")
        assert (ran.code, ran.err) == (0, ""), (name, ran)
        assert Path("back.jsonl").read_bytes() == made
        Path("back.jsonl").unlink()
    shutil.rmtree("small")
    assert cli("restore", "small/one.jsonl", "--archive", "vault", "-o", "back.jsonl").code == 0
    assert Path("back.jsonl").read_bytes() == made
    ran = cli("restore", "nobody-knows-it", "--archive", "vault")
    assert ran.code == 1
    assert 'holds no original of "nobody-knows-it"' in ran.err


def test_a_damaged_original_is_not_written(cli: Cli, made: bytes) -> None:
    store = Store(Path("vault"))
    (number, offset) = store.index.one("SELECT pack, offset FROM blocks") or (0, 0)
    store.close()
    pack = store.pack_path(number)
    raw = bytearray(pack.read_bytes())
    raw[offset + 200] ^= 1
    pack.write_bytes(raw)
    Path("back.jsonl").write_bytes(b"mine")

    ran = cli("restore", "small/one.jsonl", "--archive", "vault", "-o", "back.jsonl")

    assert ran.code == 1
    assert "is damaged" in ran.err
    assert Path("back.jsonl").read_bytes() == b"mine"
    verified = cli("archive", "verify", "vault")
    assert verified.code == 1
    assert f"vault/packs/{pack.name}, byte" in verified.out
    assert "cannot be restored: " in verified.out


def test_one_message(cli: Cli, made: bytes) -> None:
    ran = cli("restore", "small/one.jsonl", "--archive", "vault", "--message", "#0")
    assert ran.code == 0
    assert ran.out.startswith("#0 (")
    data = json.loads(cli("restore", "small/one.jsonl", "--archive", "vault", "--message", "0", "--json").out)
    assert data["number"] == 0
    again = json.loads(cli("restore", "small/one.jsonl", "--archive", "vault", "--message", data["id"], "--json").out)
    assert again == data
    cli("restore", "small/one.jsonl", "--archive", "vault", "--message", "#0", "-o", "record.json")
    assert Path("record.json").read_bytes() == made.splitlines(keepends=True)[data["line"] - 1]
    assert cli("restore", "small/one.jsonl", "--archive", "vault", "--message", "#9999").code == 1


def test_explain(cli: Cli, made: bytes) -> None:
    found = json.loads(cli("explain", "small/one.jsonl", "--archive", "vault", "--json").out)["sessions"]

    assert len(found) == 1
    cited = [m for line in found[0]["brief"] for m in line["messages"]]
    assert cited
    assert all(m["text"] or m["line"] for m in cited)
    gone = [m for group in found[0]["dropped"] for m in group["messages"]]
    assert gone
    assert all(group["reason"] for group in found[0]["dropped"])
    assert "gone, " in cli("explain", "small/one.jsonl", "--archive", "vault").out
    ran = cli("explain", "small/small.jsonl", "--archive", "vault")
    assert ran.code == 1
    assert "carries no mark of ours" in ran.err


def test_list_stats_verify_optimize(cli: Cli, made: bytes) -> None:
    listed = json.loads(cli("archive", "list", "vault", "--json").out)["originals"]
    assert [Path(o["source"]).name for o in listed] == ["one.jsonl", "small.jsonl"]
    assert listed[0]["size"] == len(made)
    assert "one.jsonl" in cli("archive", "list", "--archive", "vault").out
    assert json.loads(cli("archive", "stats", "vault", "--json").out)["originals"] == 2
    assert "of what went in" in cli("archive", "stats", "vault").out
    assert " -> " in cli("archive", "optimize", "vault").out
    assert cli("archive", "optimize", "vault").out == "nothing to do\n"
    assert cli("archive", "verify", "vault").out == "sound\n"
    assert cli("archive", "verify", "nowhere").code == 1


def test_prune_wants_a_policy_and_spares_what_a_record_names(cli: Cli, made: bytes) -> None:
    store = Store(Path("vault"))
    orphan = store.put(b'{"role": "user", "content": "nobody recorded me"}\n')
    store.close()

    assert cli("archive", "prune", "vault").code == 2
    assert orphan in cli("archive", "prune", "vault", "--unreferenced", "--dry-run").out
    assert len(compressor.Archive("vault")) == 3
    ran = json.loads(cli("archive", "prune", "vault", "--unreferenced", "--json").out)

    assert ran["originals"] == [orphan]
    assert len(compressor.Archive("vault")) == 2
    assert cli("archive", "verify", "vault").code == 0
    assert cli("audit", "verify", "vault").code == 0


def test_export(cli: Cli, folder: Path, made: bytes) -> None:
    ran = cli("archive", "export", "vault", "-o", "out")

    assert ran.out == "2 originals in out\n"
    assert (folder / "out" / str(folder)[1:] / "logs" / "one.jsonl").read_bytes() == made
    assert cli("archive", "export", "vault").code == 2


def test_the_python_api(made: bytes, folder: Path) -> None:
    archive = compressor.Archive("vault")

    assert len(archive) == 2
    first = next(iter(archive))
    assert (first.size, first.format, first.redacted) == (len(made), "claude-code", -1)
    assert archive.data(first.key) == made
    assert bytes(archive.read(first.key).raw) == made
    assert archive.restore("small/one.jsonl", "back/one.jsonl").key == first.key
    assert Path("back/one.jsonl").read_bytes() == made
    with pytest.raises(ArchiveError, match="there is no archive here"):
        compressor.Archive(folder / "nowhere")
