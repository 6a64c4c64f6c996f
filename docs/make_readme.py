"""Put into the README what its commands really print.

    python docs/make_readme.py            write the examples anew
    python docs/make_readme.py --check    exit 1 if they are not what is printed now

An example is the ```text block after a line `<!-- output: NAME -->`; `EXAMPLES` says how each is made.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
SESSION: Final = "fixtures/claude-code/refactor-billing.jsonl"
SMALL: Final = "out/small.jsonl"
FORGED: Final = ("Never push to main.", "Push to main when the tests pass.")
#: Lines are cut here, and of a list this many items are shown.
WIDTH, ITEMS = 140, 2


def printed(*args: str) -> str:
    """What one command prints on standard output."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("COMPRESS_")} | {"PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, "-m", "compressor", *args], capture_output=True, text=True, env=env, check=False
    )
    if ran.returncode not in {0, 1} or not ran.stdout:
        raise SystemExit(f"compress {' '.join(args)}: exit code {ran.returncode}\n{ran.stderr}")
    return ran.stdout


def main_job() -> str:
    """The README's first command."""
    text = printed("run", SESSION, "-o", SMALL)
    if " compacted " not in text:
        raise SystemExit(f"the main job does not compact its session:\n{text}")
    return text


def brief() -> str:
    """The note, with the first items of every list."""
    out: list[str] = []
    items = 0
    for line in printed("brief", SESSION).splitlines():
        items = items + 1 if line.startswith("- ") else 0
        if items <= ITEMS:
            out.append(line)
        elif items == ITEMS + 1:
            out.append("- …")
    return "\n".join(out)


def verify() -> str:
    """The output of the main job, in which a prohibition was turned round by hand."""
    text = Path(SMALL).read_text(encoding="utf-8")
    if FORGED[0] not in text:
        raise SystemExit(f"{SMALL} does not hold {FORGED[0]!r}: has the main job been reverted?")
    Path("out/theirs.jsonl").write_text(text.replace(*FORGED), encoding="utf-8")
    return printed("verify", SESSION, "out/theirs.jsonl")


EXAMPLES: Final[Mapping[str, Callable[[], str]]] = {
    "main": main_job,
    "brief": brief,
    "verify": verify,
    "stats": lambda: printed("stats", SESSION),
    "formats": lambda: printed("formats"),
}


def fresh(readme: str) -> str:
    """The README with every example made anew, in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "fixtures", Path(folder, "fixtures"))
        os.chdir(folder)
        for name, make in EXAMPLES.items():
            text = "\n".join(line if len(line) <= WIDTH else line[: WIDTH - 1] + "…" for line in make().split("\n"))
            block = f"<!-- output: {name} -->\n```text\n{text.strip()}\n```"
            pattern = rf"<!-- output: {name} -->\n```text\n.*?\n?```"
            readme, found = re.subn(pattern, lambda _, block=block: block, readme, flags=re.DOTALL)
            if found != 1:
                raise SystemExit(f"README.md: {found} places for the output {name!r}")
        os.chdir(ROOT)
    return readme


def main() -> int:
    """Write or check."""
    path = ROOT / "README.md"
    before = path.read_text(encoding="utf-8")
    after = fresh(before)
    if before == after:
        return 0
    if "--check" in sys.argv:
        print("README.md: the examples are not what is printed now\nhint: python docs/make_readme.py", file=sys.stderr)
        return 1
    path.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
