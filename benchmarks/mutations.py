"""How much of the damage done to good files `compress check` finds, on the right line.

    python benchmarks/mutations.py [FOLDER] [--rounds 3] [--seed 0]

The files are the fixtures, or with FOLDER the sound files of up to 300 kB of a corpus. Prints one line a format and one
line a kind of damage; the generator (`tests/mutations/damage.py`) shares no code with the checks.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from mutations.measure import Score, findings, measure  # noqa: E402 - they lie with the tests
from mutations.shapes import SHAPES  # noqa: E402

from compressor.errors import CompressError  # noqa: E402
from compressor.reading import detect, open_source  # noqa: E402


def main() -> int:
    """Measure, print; 1 below 98 % over all or 90 % of a kind."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    score = Score()
    for name, path in _files(args.folder):
        measure(name, [path], score, seed=args.seed, rounds=args.rounds)
    for name in SHAPES:
        made = sum(n for (f, _), n in score.made.items() if f == name)
        found = sum(n for (f, _), n in score.found.items() if f == name)
        kinds = len({k for f, k in score.made if f == name})
        if made:
            print(f"{name:18} {kinds:3} kinds {made:6,} damaged {found:6,} found {found / made:7.1%}")
    kinds_of_damage = sorted({k for _, k in score.made})
    for kind in kinds_of_damage:
        print(f"{kind:20} {sum(n for (_, k), n in score.made.items() if k == kind):6,} {score.share(kind):7.1%}")
    print(f"all {sum(score.made.values()):,}: {score.share():.2%}")
    return int(score.share() < 0.98 or any(score.share(k) < 0.9 for k in kinds_of_damage))


def _files(folder: Path | None) -> Iterator[tuple[str, Path]]:
    if folder is None:
        for name in SHAPES:
            yield from ((name, p) for p in sorted((ROOT / "fixtures" / name).iterdir()) if p.suffix != ".md")
        return
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and 500 < p.stat().st_size < 300_000):
        try:
            name = detect(open_source(path))
        except CompressError:
            continue
        sound = not any(f.check[0] in "JF" or f.check in {"S01", "E05"} for f in findings(name, path.read_bytes()))
        if name in SHAPES and sound:
            yield name, path


if __name__ == "__main__":
    sys.exit(main())
