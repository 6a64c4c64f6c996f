"""How well the guards find and prove, on the labelled sets in tests/guards.

python -m benchmarks.guards [--half tune|proving] [--show] [--only negation|numbers|entities|sessions]

Per kind: precision and recall on texts; accuracy of the verdicts on numbers. On sessions, per sort of mutation:
caught of total, and the false alarms on the faithful compactions.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from compressor.settings import Settings

SETS: Final = Path(__file__).parent.parent / "tests" / "guards"
PARTS: Final = ("negation", "numbers", "entities", "sessions")
_ENDS: Final = " \t\n\r-*_#>•.,;:!?\"'“”‘’()（）。，；：！？、「」"


@dataclass(slots=True)
class Score:
    """Counts of one kind; `right` of `found` and of `wanted`."""

    right: int = 0
    found: int = 0
    wanted: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.wanted if self.wanted else 1.0


def load(half: str, part: str) -> list[dict[str, Any]]:
    """One labelled set."""
    from ruamel.yaml import YAML

    path = SETS / half / f"{part}.yaml"
    if not path.exists():
        return []
    data = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    assert isinstance(data, list)
    return data


def _bare(text: str) -> str:
    return " ".join(text.strip(_ENDS).split()).lower()


def _overlaps(a: str, b: str) -> bool:
    """Whether two stretches of one text are the same clause: equal but for their ends, or one holds most of the other."""
    x, y = _bare(a), _bare(b)
    if x == y:
        return True
    short, long = sorted((x, y), key=len)
    return bool(short) and short in long and len(short) >= 0.5 * len(long)


def score_texts(
    cases: Iterable[dict[str, Any]], wanted: str, find: Any, *, exact_label: bool = True
) -> dict[str, Score]:
    """Precision and recall by label; a find is right when its text and its label are."""
    scores: dict[str, Score] = {}
    for case in cases:
        expected = [(f[wanted], f["sort" if wanted == "clause" else "label"]) for f in case["finds"]]
        found = list(find(case["text"]))
        left = list(found)
        for text, label in expected:
            score = scores.setdefault(label, Score())
            score.wanted += 1
            match = next((f for f in left if _overlaps(f[0], text) and (f[1] == label or not exact_label)), None)
            if match:
                left.remove(match)
                score.right += 1
                score.found += 1
            else:
                score.wrong.append(f"missed {text!r} in {case['text']!r}; found {found}")
        for text, label in left:
            if any(text in w for w, _ in expected) and wanted == "text":
                continue
            score = scores.setdefault(label, Score())
            score.found += 1
            score.wrong.append(f"wrong {label} {text!r} in {case['text']!r}")
    return scores


def negation(half: str) -> dict[str, Score]:
    from compressor.guards.negation import clauses

    return score_texts(
        load(half, "negation"), "clause", lambda text: [(text[c.start : c.end], c.sort) for c in clauses(text)]
    )


def entities(half: str) -> dict[str, Score]:
    from compressor.guards.entities import entities as find

    return score_texts(
        load(half, "entities"), "text", lambda text: [(e.text, e.label) for e in find(text)], exact_label=False
    )


def numbers(half: str) -> Score:
    """Verdicts on numbers: kept, changed or missing."""
    from compressor.guards.numbers import fate
    from compressor.guards.numbers import numbers as find

    score = Score()
    for case in load(half, "numbers"):
        original, compacted = find(case["original"]), find(case["compacted"])
        at = case["original"].find(str(case["number"]))
        asked = [n for n in original if n.start < at + len(str(case["number"])) and at < n.end]
        fates = {fate(n, original, compacted)[0] for n in asked}
        verdict = next((v for v in ("changed", "missing", "kept") if v in fates), "not found")
        score.wanted += 1
        score.found += 1
        if verdict == case["verdict"]:
            score.right += 1
        else:
            score.wrong.append(
                f"{verdict}, not {case['verdict']}: {case['number']} in {case['original']!r} -> {case['compacted']!r}"
            )
    return score


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--half", choices=("tune", "proving"), default="tune")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--show", action="store_true", help="print every wrong find")
    options = parser.parse_args(arguments)
    for line in _lines(options.half, options.only, show=options.show):
        print(line)
    return 0


def _lines(half: str, only: str | None, *, show: bool) -> Iterator[str]:
    for part, measure in (("negation", negation), ("entities", entities)):
        if only in (None, part):
            scores = measure(half)
            yield from _table(part, scores, show=show)
    if only in (None, "numbers"):
        score = numbers(half)
        yield f"numbers: verdicts {score.right}/{score.wanted} = {score.recall:.3f}"
        yield from (f"  {w}" for w in score.wrong if show)
    if only in (None, "sessions"):
        yield from _sessions(half, show=show)


def _table(part: str, scores: dict[str, Score], *, show: bool) -> Iterator[str]:
    total = Score()
    for label, score in sorted(scores.items()):
        yield f"{part}: {label:14} precision {score.precision:.3f} recall {score.recall:.3f} ({score.right} of {score.wanted} wanted, {score.found} found)"
        total.right += score.right
        total.found += score.found
        total.wanted += score.wanted
        yield from (f"  {w}" for w in score.wrong if show)
    yield f"{part}: {'all':14} precision {total.precision:.3f} recall {total.recall:.3f} ({total.right} of {total.wanted} wanted, {total.found} found)"


def _sessions(half: str, *, show: bool) -> Iterator[str]:
    """Caught of total for each sort of mutation, and the false alarms on the faithful compactions."""
    caught: Counter[str] = Counter()
    total: Counter[str] = Counter()
    notes: list[str] = []
    faithful = alarms = 0
    for case in load(half, "sessions"):
        for name in ("faithful", "reworded"):
            found = _errors(case["original"], case[name])
            faithful += 1
            alarms += bool(found)
            notes += [f"false alarm in {case['id']} {name}: {f}" for f in found]
        for mutation in case["mutations"]:
            total[mutation["sort"]] += 1
            said = " ".join(_errors(case["original"], mutated(case[mutation["of"]], mutation))).lower()
            hit = bool(said) and any(str(name).lower() in said for name in mutation["names"])
            caught[mutation["sort"]] += hit
            if not hit:
                what = mutation.get("replace") or {k: v for k, v in mutation.items() if k in ("drop_message", "set")}
                notes.append(
                    f"missed {mutation['sort']} in {case['id']} ({mutation['of']}): {what}; said: {said or 'nothing'}"
                )
    for sort in sorted(total):
        yield f"sessions: {sort:26} caught {caught[sort]}/{total[sort]}"
    if faithful:
        all_caught, everything = sum(caught.values()), sum(total.values())
        yield f"sessions: all mutations caught {all_caught}/{everything} = {all_caught / everything:.3f}"
        yield f"sessions: false alarms on {alarms} of {faithful} faithful compactions = {alarms / faithful:.3f}"
    yield from (f"  {note}" for note in notes if show)


def mutated(messages: list[dict[str, Any]], mutation: dict[str, Any]) -> list[dict[str, Any]]:
    """A compaction with one mutation made in it; every find is replaced in the unchanged text."""
    out = copy.deepcopy(messages)
    if "drop_message" in mutation:
        del out[mutation["drop_message"]]
        return out
    if "set" in mutation:
        out[mutation["set"]["index"]]["content"] = mutation["set"]["content"]
        return out
    pairs = [(str(find), str(put)) for find, put in mutation["replace"]]
    for message in out:
        message["content"] = _replaced(message.get("content") or "", pairs)
        for call in message.get("tool_calls", ()):
            call["function"]["arguments"] = _replaced(call["function"]["arguments"], pairs)
    return out


def _replaced(text: str, pairs: list[tuple[str, str]]) -> str:
    places = sorted((text.find(find), find, put) for find, put in pairs if find in text)
    for at, find, put in reversed(places):
        text = text[:at] + put + text[at + len(find) :]
    return text


def _errors(original: list[dict[str, Any]], compaction: list[dict[str, Any]]) -> list[str]:
    """What `compress verify` calls an error, as text."""
    from compressor.formats._records import Source
    from compressor.model import Level
    from compressor.verify import verify_files

    def source(name: str, messages: list[dict[str, Any]]) -> Source:
        return Source(name, json.dumps({"messages": messages}, ensure_ascii=False).encode())

    found = verify_files(source("original.json", original), source("compaction.json", compaction), _settings())
    return [f"{f.check}: {f.message} [{f.fact}]" for f in found if f.level is Level.ERROR]


@cache
def _settings() -> Settings:
    from compressor.rules import load_preset
    from compressor.settings import Settings

    return Settings(preset=load_preset("archive"))


if __name__ == "__main__":
    sys.exit(main())
