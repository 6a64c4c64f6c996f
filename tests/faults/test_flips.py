"""A bit flipped anywhere in an archive is found by `archive verify`, and the file is named."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

from kit import FIXTURES, ROOT

from compressor.archive import Store
from compressor.errors import ArchiveError
from compressor.originals import verify

#: Bits flipped in each file.
FLIPS = 40


def problems(vault: Path) -> list[str]:
    store = Store(vault)
    try:
        return [f"{p.file}: {p.message}" for p in verify(store)]
    except ArchiveError as error:
        return [str(error)]
    finally:
        store.close()


def test_every_flipped_bit_of_every_file(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for name in ("claude-two-sessions", "claude-crlf-line-ends", "claude-inline-sidechain"):
        shutil.copy(FIXTURES / "dirty" / f"{name}.jsonl", logs)
    command = [sys.executable, "-m", "compressor", "run", "logs", "-o", "small", "--archive", "vault"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    sound = tmp_path / "vault"
    files = sorted(p.relative_to(sound) for p in sound.rglob("*") if p.is_file() and p.stat().st_size)
    assert {str(f) for f in files} == {
        "audit.jsonl", "format.json", "index.seal", "index.sqlite", "packs/000001.pack", "runs.jsonl",
    }  # fmt: skip
    assert problems(shutil.copytree(sound, tmp_path / "copy")) == []
    rng = random.Random(40)
    for file in files:
        for _ in range(FLIPS):
            hurt = tmp_path / "hurt"
            shutil.copytree(sound, hurt)
            raw = bytearray((hurt / file).read_bytes())
            at, bit = rng.randrange(len(raw)), rng.randrange(8)
            raw[at] ^= 1 << bit
            (hurt / file).write_bytes(raw)

            found = problems(hurt)

            named = "index.sqlite" if str(file) == "index.seal" else str(file)
            assert any(named in f for f in found), (file, at, bit, found)
            shutil.rmtree(hurt)
