"""Run labelled sessions: what a check says of a faithful compaction, and of each mutation of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from compressor import verify
from compressor.formats._records import Source
from compressor.model import Finding, Level
from compressor.rules import load_preset
from compressor.settings import Settings


@dataclass(frozen=True)
class Case:
    """One compaction of a labelled session; `mutation` is None for a faithful one."""

    id: str
    original: list[dict[str, Any]]
    compacted: list[dict[str, Any]]
    mutation: Mapping[str, Any] | None = None


def load(path: Path) -> list[dict[str, Any]]:
    """The sessions of a file."""
    sessions: list[dict[str, Any]] = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    return sessions


def cases(session: Mapping[str, Any]) -> Iterator[Case]:
    """The faithful ones first, then each mutation."""
    for name in ("faithful", "reworded"):
        yield Case(f"{session['id']}:{name}", session["original"], session[name])
    for n, mutation in enumerate(session["mutations"]):
        compacted = mutate(session[mutation["of"]], mutation)
        yield Case(f"{session['id']}:{n}-{mutation['sort']}", session["original"], compacted, mutation)


def mutate(messages: list[dict[str, Any]], mutation: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The compaction with the mutation made in it."""
    out = deepcopy(messages)
    if "drop_message" in mutation:
        del out[mutation["drop_message"]]
    if "set" in mutation:
        out[mutation["set"]["index"]]["content"] = mutation["set"]["content"]
    done = 0
    for find, put in mutation.get("replace", ()):
        for message in out:
            if isinstance(message.get("content"), str) and find in message["content"]:
                message["content"] = message["content"].replace(find, put)
                done += 1
            for call in message.get("tool_calls") or ():
                if find in call["function"]["arguments"]:
                    call["function"]["arguments"] = call["function"]["arguments"].replace(find, put)
                    done += 1
    assert done or not mutation.get("replace"), mutation
    return out


@cache
def settings(preset: str = "archive") -> Settings:
    return Settings(preset=load_preset(preset))


def findings(case: Case, preset: str = "archive") -> tuple[Finding, ...]:
    """What verification says, the size of the example apart (a labelled session is small)."""
    before = Source("original.json", json.dumps(case.original, ensure_ascii=False).encode())
    after = Source("compacted.json", json.dumps(case.compacted, ensure_ascii=False).encode())
    return tuple(f for f in verify.verify_files(before, after, settings(preset)) if f.check != "RATIO001")


def errors(case: Case, preset: str = "archive") -> list[Finding]:
    """Those at level error."""
    return [f for f in findings(case, preset) if f.level is Level.ERROR]


def caught(case: Case, found: list[Finding], before: list[Finding]) -> bool:
    """Whether an error that the faithful compaction does not have speaks of one of the mutation's names."""
    assert case.mutation is not None
    old = {(f.check, f.message, f.fact) for f in before}
    fresh = [f for f in found if (f.check, f.message, f.fact) not in old]
    said = [f"{f.message} {f.fact} {f.check}".lower() for f in fresh]
    return any(str(n).lower() in s for n in case.mutation["names"] for s in said)
