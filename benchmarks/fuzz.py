"""Fuzz every reader: damaged fixtures by the million; no exception but ours, no hang, memory bounded.

    python benchmarks/fuzz.py --inputs 1000000 [--seed 0] [--size 2500] [--only FORMAT]

An input is a fixture of at most `--size` bytes (longer files of lines are cut at a line) with one to six changes, as
`tests/fuzz/harness.py` makes them; each goes through detection, the reader of the format it shows, the reader of the
format it was made from, the writer without edits, the format's own check and `compress check`. A failing input is
kept in `--keep`. Coverage-guided fuzzing (atheris) is used where it is installed: `--guided`.
"""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from fuzz.harness import Tally, mutate, run, seeds  # noqa: E402 - the harness lies with the tests

from compressor import plugins  # noqa: E402


def _hangs(*_: Any) -> None:
    raise TimeoutError("hangs")


def main() -> int:
    """Run until the number of inputs is reached; 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=2500)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"))
    parser.add_argument("--guided", action="store_true")
    args = parser.parse_args()
    known = set(plugins.names("formats"))
    found = {n: [r[: args.size * 4] for r in raws] for n, raws in seeds(args.size).items() if n in known}
    if args.only:
        found = {args.only: found[args.only]}
    if args.guided:
        return _guided(found)
    return _blind(found, args)


def _blind(found: dict[str, list[bytes]], args: argparse.Namespace) -> int:
    random, tally, failures = Random(args.seed), Tally(), 0
    everything = [raw for raws in found.values() for raw in raws]
    names = sorted(found)
    signal.signal(signal.SIGALRM, _hangs)
    began = time.perf_counter()
    for number in range(args.inputs):
        name = names[number % len(names)]
        raw = mutate(random.choice(found[name]), random, everything)
        signal.setitimer(signal.ITIMER_REAL, 20)
        try:
            run(raw, name, tally)
        except Exception as error:  # noqa: BLE001 - this is what is looked for
            failures += 1
            args.keep.mkdir(exist_ok=True)
            (args.keep / f"{name}-{number}").write_bytes(raw)
            print(f"{name} {number}: {type(error).__name__}: {error}"[:300], flush=True)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if number % 5_000 == 4_999:
            _say(tally, failures, began)
    _say(tally, failures, began)
    return int(failures > 0)


def _say(tally: Tally, failures: int, began: float) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds = time.perf_counter() - began
    print(
        f"{tally.inputs:,} inputs in {seconds:,.0f} s: {sum(tally.read.values()):,} readings, {tally.refused:,} refused, "
        f"{failures} failures; slowest {tally.slowest:.2f} s, peak memory {peak:.0f} MB, {len(tally.read)} formats",
        flush=True,
    )


def _guided(found: dict[str, list[bytes]]) -> int:
    import atheris

    names = sorted(found)

    def one(raw: bytes) -> None:
        run(raw, names[len(raw) % len(names)], Tally())

    atheris.Setup(sys.argv[:1], one)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
