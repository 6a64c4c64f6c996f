from __future__ import annotations

import io
import json

import jsonschema
import pytest

from compressor import plugins, report
from compressor.data import resource
from compressor.model import Dropped, Finding, Level, Place, Verdict
from compressor.presets import Weights
from compressor.result import RuleStats, SessionResult

FULL = SessionResult(
    path="logs/a.jsonl",
    output="out/a.jsonl",
    format="claude-code",
    session="s-1",
    verdict=Verdict.COMPACTED,
    bytes_before=1_250_000,
    bytes_after=240_000,
    whole_before=40_000,
    live_before=38_000,
    after=10_000,
    budget=10_000,
    messages_before=80,
    messages_after=30,
    generation=1,
    score=0.45,
    preset="archive",
    summarizer="extractive",
    rules={"OLD001": RuleStats(12, 4, 9000)},
    facts_registered={"negation": 3, "number": 2},
    facts_kept={"negation": 3, "number": 1},
    salient_total=100,
    salient_kept=93,
    findings=(
        Finding("NUM001", Level.ERROR, "the number is missing", "85.3 %", Place("logs/a.jsonl", 12, "m-3", 4)),
        Finding("over-budget", Level.WARNING, "12 tokens over the budget"),
        Finding("STAT", Level.NOTE, "a note"),
    ),
    dropped=(Dropped("m-7", 20, "tool_result", "old", 800, "OLD001"),),
    reachability={"leaving": 3, "seen": 3},
    steps=("extractive: brief written",),
    resume="tool --resume s-1",
    timing={"read": 0.123456},
)
BROKEN = SessionResult("b.jsonl", "", "", "", Verdict.QUARANTINED, reason="not JSON")


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft202012Validator:
    found = json.loads(resource("schemas/report.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


@pytest.mark.parametrize("results", [[], [FULL], [FULL, BROKEN]])
def test_reports_are_valid(schema: jsonschema.Draft202012Validator, results: list[SessionResult]) -> None:
    schema.validate(json.loads(report.dumps(report.document(results, 1.5))))


def test_the_schema_refuses_what_is_no_report(schema: jsonschema.Draft202012Validator) -> None:
    wrong = report.document([FULL])
    wrong["sessions"][0]["verdict"] = "fine"

    assert not schema.is_valid(wrong)
    assert not schema.is_valid({"sessions": []})


def test_numbers_are_those_of_the_result() -> None:
    document = report.document([FULL, BROKEN])
    one = document["sessions"][0]

    assert (one["ratio"], one["share"]) == (4.0, 0.25)
    assert one["facts"] == {"negation": {"registered": 3, "kept": 3}, "number": {"registered": 2, "kept": 1}}
    assert document["totals"]["verdicts"] == {"compacted": 1, "quarantined": 1}
    assert document["totals"]["findings"] == {"note": 1, "warning": 1, "error": 1}


def test_the_bytes_of_a_file_count_once_whatever_it_holds() -> None:
    document = report.document([FULL, FULL])

    assert document["totals"]["bytes"] == {"before": 1_250_000, "after": 240_000}
    assert document["totals"]["tokens"]["whole_before"] == 80_000


def test_all_that_varies_stands_under_timing() -> None:
    def still(value: object) -> object:
        if isinstance(value, dict):
            return {k: still(v) for k, v in value.items() if k != "timing"}
        return [still(v) for v in value] if isinstance(value, list) else value

    from dataclasses import replace

    slow = replace(FULL, timing={"read": 9.9})

    assert still(report.document([FULL], 1.0)) == still(report.document([slow], 2.0))
    assert report.document([FULL], 1.0) != report.document([slow], 2.0)


def test_the_score_is_one_less_the_weighted_findings() -> None:
    weights = Weights(note=0.01, warning=0.1, error=0.5)

    assert report.score((), weights) == 1.0
    assert report.score(FULL.findings, weights) == pytest.approx(0.39)
    assert report.score(FULL.findings * 9, weights) == 0.0


def test_text_that_is_no_unicode_does_not_stop_a_report() -> None:
    result = SessionResult("a\udcff.jsonl", "", "", "", Verdict.IGNORED)

    assert json.loads(report.dumps(report.document([result])))["sessions"][0]["path"] == "a\udcff.jsonl"


def test_our_reports_are_known_by_their_first_bytes() -> None:
    assert report.is_report(report.dumps(report.document([FULL])))
    assert not report.is_report(b'{"sessions": []}')


def render(reporter: str, *results: SessionResult, **options: object) -> str:
    stream = io.StringIO()
    plugins.load("reporters", reporter).write(report.document(results), stream, options)
    return stream.getvalue()


def test_the_json_reporter_writes_the_document() -> None:
    assert json.loads(render("json", FULL)) == report.document([FULL])
    assert json.loads(render("json", SessionResult("\udcff", "", "", "", Verdict.IGNORED)))["totals"]["sessions"] == 1


@pytest.mark.parametrize("terminal", [False, True])
def test_the_table_has_one_line_a_session_and_the_sums(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = render("table", FULL, BROKEN, terminal=terminal)

    row = next(line for line in text.splitlines() if line.startswith("logs/a.jsonl "))
    assert row.split() == [
        "logs/a.jsonl", "compacted", "40,000", "->", "10,000", "4.0x", "1.2", "MB", "->", "240.0", "kB", "4/5", "0.45",
    ]  # fmt: skip
    assert "1 compacted, 1 quarantined; 40,000 -> 10,000 tokens (4.0x); 1 error, 1 warning" in text
    assert "logs/a.jsonl:12: error NUM001: the number is missing: 85.3 %" in text
    assert "to go on from it: tool --resume s-1" in text


def test_what_was_passed_over_is_only_counted() -> None:
    text = render(
        "table", SessionResult("x.txt", "", "", "", Verdict.IGNORED), SessionResult("r", "", "", "", Verdict.OWN_OUTPUT)
    )

    assert text == "1 ignored, 1 own-output\n"


@pytest.mark.parametrize("terminal", [False, True])
def test_names_never_steer_the_terminal(terminal: bool) -> None:
    text = render("table", SessionResult("[red]\x1b[2Jx\u202e", "", "", "", Verdict.QUARANTINED), terminal=terminal)

    assert "[red]\\x1b[2Jx\\u202e" in text
    assert "\x1b[2J" not in text


def test_many_findings_are_cut_short() -> None:
    from dataclasses import replace

    many = replace(FULL, findings=tuple(Finding("X", Level.WARNING, f"number {i}") for i in range(30)))

    text = render("table", many)

    assert text.count("warning X") == 10
    assert "20 more findings in the report" in text


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1_250_000, "1.2 MB"), (3 * 10**9, "3.0 GB")]
)
def test_sizes_are_readable(count: int, shown: str) -> None:
    from compressor.reporters._text import size

    assert size(count) == shown


def test_what_no_file_had_is_told_once_and_what_one_had_is_not() -> None:
    from dataclasses import replace

    from compressor.result import ABSENT

    note = Finding("pin", Level.NOTE, ABSENT, "never written")
    one, two = replace(FULL, path="a", findings=(note,), budget=5), replace(FULL, path="b", findings=(note,), budget=5)

    assert render("table", one, two).count("pin: stands nowhere in the transcript") == 1
    assert "pin: stands" not in render("table", one, replace(two, findings=()))


def test_why_a_session_is_unchanged_is_told_for_a_few() -> None:
    one = SessionResult("a", "", "codex", "", Verdict.UNCHANGED, reason="below the soft mark")

    assert "a: unchanged: below the soft mark" in render("table", one)
    assert "below the soft mark" not in render("table", *[one] * 11)


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_number_is_shown_whole_or_not_at_all(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    text = render("table", FULL, terminal=True)

    assert "40,000" in text
    assert "-> 10,000" in text
    assert ("240.0 kB" in text) is (width > 80)
    table = text[: text.index("logs/a.jsonl:")]
    assert "…" not in table
