"""Size and speed of the archive, against `zstd -19` on each file by itself.

    python benchmarks/archive.py --synthetic 2000
    python benchmarks/archive.py --corpus $COMPRESS_CORPUS
    python benchmarks/archive.py --nights $COMPRESS_CORPUS

The synthetic set: sessions of made-up words, 60 % of which are forks (half of those with a new id for every record,
as tools write them) or grown copies of others.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import zstandard

from compressor.archive import Store, optimize, stats

ROOT = Path(__file__).resolve().parent.parent
Records = list[dict[str, Any]]


def words() -> list[str]:
    """The words of the fixtures, the more frequent the earlier."""
    count: dict[str, int] = {}
    for path in sorted((ROOT / "fixtures").rglob("*.jsonl")):
        for word in path.read_text(encoding="utf-8", errors="replace").split():
            if word.isalpha():
                count[word] = count.get(word, 0) + 1
    return sorted(count, key=lambda w: (-count[w], w))


class Sessions:
    """Makes sessions from a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.words = words()

    def new_id(self) -> str:
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))

    def text(self, count: int) -> str:
        size = len(self.words)
        said = (self.words[min(size - 1, int(size ** self.rng.random()))] for _ in range(count))
        return " ".join(w if self.rng.random() < 0.9 else f"{w}_{self.rng.randrange(10_000)}" for w in said)

    def more(self, records: Records, count: int, name: str) -> Records:
        out = list(records)
        for _ in range(count):
            role = ("user", "assistant")[len(out) % 2]
            size = self.rng.choice((8, 20, 60, 150, 400))
            content: Any = [{"type": "text", "text": self.text(size)}]
            if role == "user" and self.rng.random() < 0.7:
                content = [
                    {
                        "type": "tool_result",
                        "tool_use_id": f"toolu_{self.rng.getrandbits(90):x}",
                        "content": self.text(size * 2),
                    }
                ]
            out.append(
                {
                    "parentUuid": out[-1]["uuid"] if out else None, "isSidechain": False, "userType": "external",
                    "cwd": "/home/mara/src/app", "sessionId": name, "version": "2.1.5", "gitBranch": "main",
                    "type": role, "message": {"role": role, "content": content}, "uuid": self.new_id(),
                    "timestamp": f"2026-01-{self.rng.randrange(1, 29):02}T10:{len(out) % 60:02}:00.{self.rng.randrange(1000):03}Z",
                }
            )  # fmt: skip
        return out

    def fork(self, old: Records, *, ids: bool) -> Records:
        kept = old[: max(2, len(old) * 9 // 10)]
        name = self.new_id()
        new = {r["uuid"]: self.new_id() for r in kept} if ids else {}
        copied = [
            {
                **r,
                "sessionId": name,
                "uuid": new.get(r["uuid"], r["uuid"]),
                "parentUuid": new.get(r["parentUuid"], r["parentUuid"]),
            }
            for r in kept
        ]
        return self.more(copied, max(1, len(old) // 10), name)

    def all(self, count: int) -> Iterator[Records]:
        made: list[Records] = []
        for _ in range(count):
            if not made or self.rng.random() < 0.4:
                session = self.more([], self.rng.choice((10, 30, 60, 120)), self.new_id())
            else:
                old = self.rng.choice(made[-200:])
                kind = self.rng.random()
                if kind < 0.5:
                    session = self.more(old, max(2, len(old) // 8), old[0]["sessionId"])
                else:
                    session = self.fork(old, ids=kind < 0.75)
            made.append(session)
            yield session


def measure(files: Iterator[bytes], title: str) -> None:
    """Store files one after the other; print sizes and speeds."""
    folder = Path(tempfile.mkdtemp())
    store = Store(folder / "vault")
    count = raw = alone = 0
    seconds = 0.0
    for data in files:
        count += 1
        raw += len(data)
        alone += len(zstandard.ZstdCompressor(level=19).compress(data))
        start = time.perf_counter()
        store.put(data)
        seconds += time.perf_counter() - start
    quick = stats(store)
    start = time.perf_counter()
    optimize(store)
    tightening = time.perf_counter() - start
    tight = stats(store)
    store.close()
    index = (folder / "vault" / "index.sqlite").stat().st_size
    shutil.rmtree(folder)
    print(f"## {title}: {count:,} files, {raw / 1e6:,.1f} MB")
    print(f"zstd -19, each file by itself   {alone / 1e6:9.2f} MB")
    for name, packs, note in (
        ("archive as stored", quick.stored, f"{raw / 1e6 / seconds:.0f} MB/s, fsync and reading back included"),
        ("archive packed tightly", tight.stored, f"{raw / 1e6 / tightening:.0f} MB/s more"),
    ):
        total = packs + index
        print(f"{name:30}  {total / 1e6:9.2f} MB  {total / alone:.2f} x zstd -19  ({note})")
    print(f"of which index                  {index / 1e6:9.2f} MB")


def nights(source: Path) -> None:
    """Two nights over unchanged files."""
    folder = Path(tempfile.mkdtemp())
    shutil.copytree(source, folder / "logs")
    command = [
        sys.executable,
        "-m",
        "compressor",
        "run",
        "logs",
        "-o",
        "small",
        "--archive",
        "vault",
        "--fail-on",
        "never",
    ]
    took = []
    for title in ("first night", "second night"):
        start, cpu = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        ran = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(ROOT)}
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - cpu.ru_utime - cpu.ru_stime
        took.append(spent)
        print(f"{title:13} {time.perf_counter() - start:7.2f} s, {spent:7.2f} s of processor: {ran.stdout.strip()}")
    print(f"the second costs {took[1] / took[0]:.2%} of the first")
    shutil.rmtree(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--synthetic", type=int, metavar="SESSIONS")
    parser.add_argument("--corpus", type=Path, metavar="FOLDER")
    parser.add_argument("--nights", type=Path, metavar="FOLDER")
    said = parser.parse_args()
    if said.synthetic:
        dumped = (b"".join(orjson.dumps(r) + b"\n" for r in s) for s in Sessions(1).all(said.synthetic))
        measure(dumped, "synthetic sessions, 60 % forks and grown copies")
    if said.corpus:
        paths = sorted(p for p in said.corpus.rglob("*") if p.is_file())
        measure((p.read_bytes() for p in paths), "real transcripts")
    if said.nights:
        nights(said.nights)


if __name__ == "__main__":
    main()
