"""Labelled sessions: no error on a faithful compaction, one on each mutation of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from labelled import Case, cases, caught, errors, load

HERE = Path(__file__).resolve().parent
OWN = sorted((HERE / "cases").glob("*.yaml"))
TUNE = HERE.parent / "guards" / "tune" / "sessions.yaml"

#: What the goal asks for on sessions that nobody tuned on.
CAUGHT, FALSE_ALARMS = 0.97, 0.02


def _own() -> list[tuple[Case, Case]]:
    """Each case, and the faithful compaction that it was made from."""
    out = []
    for path in OWN:
        for session in load(path):
            made = list(cases(session))
            faithful = {c.id.split(":")[1]: c for c in made if c.mutation is None}
            out += [(c, faithful[c.mutation["of"]] if c.mutation else c) for c in made]
    return out


@pytest.mark.parametrize(("case", "faithful"), [pytest.param(*c, id=c[0].id) for c in _own()])
def test_case(case: Case, faithful: Case) -> None:
    found = errors(case)
    if case.mutation is None:
        assert [f"{f.check}: {f.message}" for f in found] == []
    else:
        assert caught(case, found, errors(faithful)), [f.message for f in found]


@pytest.mark.slow
def test_reach_on_the_tuning_half() -> None:
    """Per sort of mutation, so that a failure says where reach was lost."""
    missed: Counter[str] = Counter()
    false_alarms: list[str] = []
    made = faithful = 0
    for session in load(TUNE):
        base = {}
        for case in cases(session):
            found = errors(case)
            if case.mutation is None:
                faithful += 1
                base[case.id.split(":")[1]] = found
                false_alarms += [f"{case.id}: {f.message}" for f in found[:1]]
            else:
                made += 1
                missed[case.mutation["sort"]] += not caught(case, found, base[case.mutation["of"]])

    assert len(false_alarms) <= FALSE_ALARMS * faithful, false_alarms
    assert missed.total() <= (1 - CAUGHT) * made, missed
