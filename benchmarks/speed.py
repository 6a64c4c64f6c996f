"""How long a whole deterministic run takes, against the least that any compactor must do.

    python benchmarks/speed.py FILE... [--preset NAME] [--budget N]

For every file, in one process, one thread and one run: the time of `orjson.loads` of every line plus counting the
tokens of every model-visible string with tiktoken (the base), against the time of the whole run: read, plan, brief,
write, verify, archive, fsync and report (imports and the loading of the vocabulary apart). Prints both, their
ratio, megabytes of file per second and the peak memory of the process. Folders are searched for `*.jsonl`.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from compressor import jobs, options, reading, tokens
from compressor.errors import CompressError
from compressor.inputs import Job, sidecar
from compressor.model import VISIBLE
from compressor.options import Said

#: A session that is compacted before the clock runs, so that imports and vocabulary are loaded.
WARM_UP = Path(__file__).parent.parent / "fixtures" / "claude-code" / "refactor-billing.jsonl"


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds of one file; `stages` are those of the run."""

    path: Path
    size: int
    base: float
    run: float
    verdict: str
    stages: dict[str, float]


def main() -> int:
    """Time the files and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--preset", default="archive")
    parser.add_argument("--budget")
    parser.add_argument("--larger-than", type=int, default=0, metavar="BYTES", help="in folders, only larger files")
    parser.add_argument("--stages", action="store_true", help="also print the share of every stage")
    args = parser.parse_args()
    said = {"preset": args.preset} | ({"budget": args.budget} if args.budget else {})
    orders = jobs.Orders(options.settings(options.merge(Said(said))))
    with tempfile.TemporaryDirectory() as folder:
        for warm in (WARM_UP, WARM_UP):
            timed(warm, orders, Path(folder))
        done = []
        print(f"{'base':>8} {'run':>8} {'ratio':>6} {'MB/s':>6}  file")
        for path in found(args.files, args.larger_than):
            one = timed(path, orders, Path(folder))
            if one is not None:
                done.append(one)
                show("/".join(one.path.parts[-3:]), [one])
    if not done:
        print("no transcripts", file=sys.stderr)
        return 1
    show(f"all {len(done)}, {peak():.0f} MB at most", done)
    if args.stages:
        shares(done)
    return 0


def found(paths: list[Path], larger_than: int) -> Iterator[Path]:
    """The files, and those of the folders."""
    for path in paths:
        if path.is_dir():
            yield from (p for p in sorted(path.rglob("*.jsonl")) if p.stat().st_size > larger_than)
        else:
            yield path


def timed(path: Path, orders: jobs.Orders, folder: Path) -> Timed | None:
    """Time one file; None if it is no transcript."""
    try:
        transcript = reading.read(path)
    except CompressError as error:
        print(error, file=sys.stderr)
        return None
    texts = [p.text for s in transcript.sessions for m in s.messages for p in m.parts if p.type in VISIBLE]
    base = least(path.read_bytes(), texts)
    output = folder / f"{time.perf_counter_ns()}.jsonl"
    started = time.perf_counter()
    outcome = jobs.do(orders, Job(str(path), output, sidecar(output), named=True))
    run = time.perf_counter() - started
    if outcome.bug:
        raise SystemExit(outcome.bug)
    # the clock of a file runs through all its sessions: the last one has seen everything
    stages = dict(outcome.results[-1].timing)
    return Timed(path, path.stat().st_size, base, run, outcome.results[0].verdict, stages)


def least(raw: bytes, texts: list[str]) -> float:
    """Seconds to parse every line and to count every text."""
    encode = tokens.encoding().encode_ordinary
    started = time.perf_counter()
    for line in raw.split(b"\n"):
        try:
            orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
    for text in texts:
        len(encode(text.encode("utf-8", "replace").decode()))
    return time.perf_counter() - started


def show(name: str, done: list[Timed]) -> None:
    """One line of figures; over several files those of their sums."""
    base, run, size = sum(d.base for d in done), sum(d.run for d in done), sum(d.size for d in done)
    print(f"{base:8.3f} {run:8.3f} {run / base:6.2f} {size / run / 1e6:6.1f}  {name}")


def shares(done: list[Timed]) -> None:
    """The share of every stage in the time of all runs."""
    run = sum(d.run for d in done)
    names = sorted({n for d in done for n in d.stages}, key=lambda n: -sum(d.stages.get(n, 0) for d in done))
    for name in names:
        seconds = sum(d.stages.get(name, 0.0) for d in done)
        print(f"{seconds:8.3f} {seconds / run:7.1%}  {name}")
    rest = run - sum(sum(d.stages.values()) for d in done)
    print(f"{rest:8.3f} {rest / run:7.1%}  archive, write, report and the rest")


def peak() -> float:
    """Peak memory of the process in MB."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most / 1e3


if __name__ == "__main__":
    sys.exit(main())
