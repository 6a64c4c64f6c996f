"""How far a model's lies get: an oracle that writes good briefs of the labelled sessions, and liars that spoil them.

python benchmarks/models.py [--half tune|proving] [--repairs N]

Prints how many of the oracle's briefs pass unrepaired, and, by liar, how many lies were told, how many reached an
output, and how many registered facts were lost. Every lie that got through is listed. No model and no network: a
scripted server on this machine plays both.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "tests" / "models")]

from oracle import LIARS, PRESET, Labelled, labelled, mutants, sentences, write, write_brief  # noqa: E402
from server import Asked, Server, serving  # noqa: E402

#: Sentences of a brief, the spoilt one among them, and what it leaves out.
Lie = tuple[list[str], str, str]


@dataclass
class Score:
    """What became of one liar's lies."""

    told: int = 0
    reached: list[str] = field(default_factory=list)
    lost: int = 0


def compact(folder: Path, server: Server, repairs: int) -> list[dict[str, Any]]:
    """All sessions of the folder through the command line; their parts of the report."""
    from compressor.cli import main

    with chdir(folder):
        Path("preset.yaml").write_text(f"{PRESET}repairs: {repairs}\n")
        out = tempfile.mkdtemp(dir=folder)
        main(["run", "in", "-o", out, "--model", "scripted", "--base-url", server.url, "--preset", "preset.yaml",
              "--quiet", "--report", f"{out}/report.json", "--fail-on", "never"])  # fmt: skip
        found: list[dict[str, Any]] = json.loads(Path(out, "report.json").read_text())["sessions"]
        for r in found:
            r["text"] = Path(r["output"]).read_text(encoding="utf-8") if r["output"] else ""
    return found


def oracle(folder: Path, server: Server, sessions: tuple[Labelled, ...]) -> list[str]:
    """Sessions whose good brief did not pass at once, with the reason."""
    server.script = lambda a: write_brief(a, sentences(a, sessions))
    return [
        f"{Path(r['path']).stem}: {'; '.join(r['steps'])[:300]}"
        for r in compact(folder, server, 0)
        if r["summarizer"] != "llm"
    ]


def liar(
    folder: Path,
    server: Server,
    sessions: tuple[Labelled, ...],
    lie: Callable[[Labelled], Lie | None],
    repairs: int,
) -> Score:
    """One liar over all sessions in which it finds something to lie about."""
    lies = {s.id: found for s in sessions if (found := lie(s)) is not None}
    firsts = {next(m["content"] for m in s.messages if m["role"] == "user")[:60]: s.id for s in sessions}

    def script(asked: Asked) -> dict[str, Any]:
        first = next(s.body for s in asked.messages() if " user" in s.head)
        name = firsts[first[:60]]
        return write_brief(asked, lies[name][0] if name in lies else sentences(asked, sessions))

    server.script = script
    score = Score()
    for r in compact(folder, server, repairs):
        name = Path(r["path"]).stem
        score.lost += sum(f["registered"] - f["kept"] for f in r["facts"].values())
        if name in lies:
            score.told += 1
            # a decision is told with its reason set apart; each half is looked for
            halves = [h for h in _halves(lies[name][1]) if h]
            told = r["summarizer"] == "llm" and all(h in r["brief"] for h in halves)
            # what only leaves something out tells nobody anything wrong, if that stands in the output beside it
            gone = json.dumps(lies[name][2], ensure_ascii=False)[1:-1]
            if told and not (gone and gone in r["text"]):
                score.reached.append(f"{name}: {lies[name][1]}")
    return score


def _halves(sentence: str) -> list[str]:
    import re

    return [" ".join(p.split()) for p in re.split(r" because |, since |因为|由于", sentence, maxsplit=1)]


def main() -> int:
    """Print the figures; 1 if a fact was lost."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--half", default="tune", choices=("tune", "proving"))
    parser.add_argument("--repairs", type=int, default=0)
    said = parser.parse_args()
    os.environ["COMPRESS_API_KEY"] = "none"
    sessions = labelled(said.half)
    told = reached = lost = 0
    with serving() as server, tempfile.TemporaryDirectory() as top:
        folder = Path(top)
        write(folder / "in", sessions)
        failed = oracle(folder, server, sessions)
        print(f"oracle: {len(sessions) - len(failed)} of {len(sessions)} pass unrepaired")
        for line in failed:
            print(f"  {line}")
        liars: dict[str, Callable[[Labelled], Lie | None]] = {
            name: (lambda s, spoil=spoil: (*found, "") if (found := spoil(list(s.sentences))) else None)
            for name, spoil in LIARS.items()
        }
        for sort in sorted({m[0] for s in sessions for m in mutants(s)}):
            liars[f"labelled: {sort}"] = lambda s, sort=sort: next(
                ((said, lie, gone) for found, said, lie, gone in mutants(s) if found == sort), None
            )
        for name, lie in liars.items():
            score = liar(folder, server, sessions, lie, said.repairs)
            told, reached, lost = told + score.told, reached + len(score.reached), lost + score.lost
            print(f"{name}: {score.told} told, {len(score.reached)} reached an output, {score.lost} facts lost")
            for line in score.reached:
                print(f"  {line}")
    print(f"all: {told} told, {reached} reached an output ({reached / max(1, told):.1%}), {lost} facts lost")
    return int(lost > 0)


if __name__ == "__main__":
    sys.exit(main())
