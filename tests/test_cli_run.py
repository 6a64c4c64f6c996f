"""`compress run` and the commands around it, on shipped fixtures, through the command line."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from compressor.data import resource

Cli = Callable[..., Any]
DIRTY = Path(__file__).parent.parent / "fixtures" / "dirty"
CODEX = Path(__file__).parent.parent / "fixtures" / "codex" / "payments-cli.jsonl"


def report_of(path: str) -> dict[str, Any]:
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    schema = json.loads(resource("schemas/report.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document)
    return document


def still(value: Any) -> Any:
    """A report without what may vary."""
    if isinstance(value, dict):
        return {k: still(v) for k, v in value.items() if k != "timing"}
    return [still(v) for v in value] if isinstance(value, list) else value


def names() -> set[str]:
    return {str(p) for p in Path().rglob("*") if p.is_file() and ".compress" not in p.parts}


# -- one file ---------------------------------------------------------------------------------------------------


def test_the_main_job(sample: Path, cli: Cli) -> None:
    before = sample.read_bytes()

    ran = cli("run", "session.jsonl")

    assert ran.code == 0, ran.err
    assert names() == {"session.jsonl", "session.compact.jsonl", "session.report.json"}
    assert sample.read_bytes() == before
    (one,) = report_of("session.report.json")["sessions"]
    assert one["verdict"] == "compacted"
    assert one["output"] == "session.compact.jsonl"
    assert one["bytes"] == {"before": len(before), "after": Path("session.compact.jsonl").stat().st_size}
    assert one["tokens"]["after"] < one["tokens"]["whole_before"]
    assert one["dropped"]
    assert one["resume"] in ran.out
    assert "compacted" in ran.out


def test_the_original_comes_back_byte_for_byte(sample: Path, cli: Cli) -> None:
    cli("run", "session.jsonl", "-o", "small/out.jsonl")

    assert cli("restore", "small/out.jsonl", "-o", "back.jsonl").code == 0
    assert Path("back.jsonl").read_bytes() == sample.read_bytes()

    key = report_of("small/out.report.json")["sessions"][0]["archive"]
    sample.unlink()
    Path("small/out.jsonl").unlink()
    assert cli("restore", key, "--archive", "small/.compress").out.encode() == Path("back.jsonl").read_bytes()


def test_a_second_run_changes_nothing(sample: Path, cli: Cli) -> None:
    cli("run", "session.jsonl", "-o", "one.jsonl")
    cli("run", "one.jsonl", "-o", "two.jsonl")

    assert Path("one.jsonl").read_bytes() == Path("two.jsonl").read_bytes()
    assert report_of("two.report.json")["sessions"][0]["verdict"] == "unchanged"
    assert cli("run", "session.jsonl", "-o", "one.jsonl").code == 0
    assert Path("one.jsonl").read_bytes() == Path("two.jsonl").read_bytes()


def test_standard_input_and_output(sample: Path, cli: Cli) -> None:
    cli("run", "session.jsonl", "-o", "file.jsonl")

    with sample.open("rb") as file:
        command = [sys.executable, "-m", "compressor", "run", "-", "-o", "-"]
        ran = subprocess.run(command, stdin=file, capture_output=True, check=True)

    assert ran.stdout == Path("file.jsonl").read_bytes()
    assert b"compacted" in ran.stderr


def test_dry_run_writes_nothing(sample: Path, cli: Cli) -> None:
    ran = cli("run", "session.jsonl", "--dry-run", "--diff", "--report", "r.json")

    assert ran.code == 0
    assert names() == {"session.jsonl"}
    assert not Path(".compress").exists()
    assert ": gone\n-" in ran.out or ": changed\n" in ran.out


def test_quiet_prints_nothing(sample: Path, cli: Cli) -> None:
    ran = cli("run", "session.jsonl", "--quiet")

    assert (ran.out, ran.err) == ("", "")


def test_json_is_the_report(sample: Path, cli: Cli) -> None:
    ran = cli("run", "session.jsonl", "--json", "--report", "r.json")

    assert still(json.loads(ran.out)) == still(report_of("r.json"))
    assert "session.report.json" not in names()


def test_a_budget_and_a_ratio_decide_the_size(sample: Path, cli: Cli) -> None:
    cli("run", "session.jsonl", "-o", "a.jsonl", "--budget", "20000")
    cli("run", "session.jsonl", "-o", "b.jsonl", "--ratio", "8")
    a, b = report_of("a.report.json")["sessions"][0], report_of("b.report.json")["sessions"][0]

    assert a["tokens"]["budget"] == 20000
    assert b["tokens"]["budget"] == pytest.approx(b["tokens"]["whole_before"] / 8, abs=1)
    assert b["tokens"]["after"] < a["tokens"]["after"]


def test_options_come_from_file_and_environment(sample: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("compress.yaml").write_text("budget: 30000\nsummarizer: none\n", encoding="utf-8")
    monkeypatch.setenv("COMPRESS_BUDGET", "25000")

    cli("run", "session.jsonl")

    one = report_of("session.report.json")["sessions"][0]
    assert (one["tokens"]["budget"], one["summarizer"]) == (25000, "none")


def test_pinned_text_and_facts_by_hand_survive(sample: Path, cli: Cli) -> None:
    cli("run", "session.jsonl", "-o", "plain.jsonl")
    text = next(d for d in report_of("plain.report.json")["sessions"][0]["dropped"] if d["tokens"] > 20)
    line = json.loads(sample.read_bytes().split(b"\n")[text["line"] - 1])
    word = max(json.dumps(line, ensure_ascii=False).split(), key=len)[:40]
    Path("facts.json").write_text(json.dumps({"facts": [{"text": word}]}), encoding="utf-8")

    assert cli("run", "session.jsonl", "-o", "kept.jsonl", "--facts", "facts.json").code == 0


def test_facts_round_trip(sample: Path, cli: Cli) -> None:
    ran = cli("facts", "session.jsonl", "--preset", "strict", "--json")
    facts = json.loads(ran.out)["facts"]
    Path("facts.json").write_text(ran.out, encoding="utf-8")

    assert facts
    assert all(set(f) == {"kind", "text", "value", "mode", "message", "line"} for f in facts)
    assert cli("run", "session.jsonl", "--facts", "facts.json", "--dry-run").code in {0, 1}


def test_an_output_in_which_its_tool_went_on_is_spared(sample: Path, cli: Cli) -> None:
    cli("run", "session.jsonl")
    output = Path("session.compact.jsonl")
    records = [json.loads(line) for line in output.read_bytes().split(b"\n") if line]
    leaf = next(r for r in reversed(records) if r.get("uuid"))
    grown = {
        **{k: leaf[k] for k in ("sessionId", "cwd", "version", "timestamp") if k in leaf},
        "uuid": "11111111-2222-4333-8444-555555555555",
        "parentUuid": leaf["uuid"],
        "type": "user",
        "isSidechain": False,
        "userType": "external",
        "message": {"role": "user", "content": "One more thing, please."},
    }
    with output.open("a", encoding="utf-8") as file:
        file.write(json.dumps(grown) + "\n")
    kept = output.read_bytes()

    ran = cli("run", "session.jsonl")

    assert ran.code == 1
    assert "its tool has gone on" in ran.err
    assert "hint: " in ran.err
    assert output.read_bytes() == kept


# -- what goes wrong --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing.jsonl", "cannot be opened"),
        ("empty.jsonl", "the file is empty"),
        ("binary.jsonl", "binary data"),
        ("readme.jsonl", ""),
        ("chat-utf16.jsonl", "UTF-16"),
    ],
)
def test_a_file_that_cannot_be_read_is_1_and_stays_as_it_was(name: str, said: str, folder: Path, cli: Cli) -> None:
    if (DIRTY / name).exists():
        shutil.copy(DIRTY / name, name)

    ran = cli("run", name, "--json")

    assert ran.code == 1
    assert said in ran.err
    assert ran.err.startswith(name)
    (one,) = json.loads(ran.out)["sessions"]
    assert one["verdict"] == "quarantined"
    assert names() <= {name}


def test_one_bad_file_never_stops_the_rest(sample: Path, cli: Cli) -> None:
    Path("bad.jsonl").write_bytes(b"\x00\x01\x02" * 50)

    ran = cli("run", "bad.jsonl", "session.jsonl", "-o", "out/")

    assert ran.code == 1
    assert Path("out/session.jsonl").exists()
    assert cli("run", "bad.jsonl", "session.jsonl", "-o", "out/", "--fail-on", "never").code == 0


def test_a_bug_in_one_file_is_3_and_never_stops_the_rest(
    sample: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    shutil.copy(CODEX, "other.jsonl")
    from compressor import pipeline

    real = pipeline.compact

    def compact(source: Any, *rest: Any) -> Any:
        if source.path == "other.jsonl":
            raise ZeroDivisionError
        return real(source, *rest)

    monkeypatch.setattr(pipeline, "compact", compact)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("bugs")))

    ran = cli("run", "other.jsonl", "session.jsonl", "-o", "out/", "--quiet")

    assert ran.code == 3
    assert "other.jsonl: unexpected error: ZeroDivisionError" in ran.err
    assert Path("out/session.jsonl").exists()
    assert not Path("out/other.jsonl").exists()


def test_a_full_disk_leaves_the_old_state(sample: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)

    ran = cli("run", "session.jsonl")

    assert ran.code == 1
    assert "no space left" in ran.err.lower()
    assert names() == {"session.jsonl"}


def test_fail_on_decides_the_exit_code(sample: Path, cli: Cli) -> None:
    cli("run", "session.jsonl", "--budget", "1000")
    found = {f["level"] for f in report_of("session.report.json")["sessions"][0]["findings"]}

    assert "warning" in found
    assert cli("run", "session.jsonl", "--budget", "1000", "--fail-on", "warning").code == 1
    assert cli("run", "session.jsonl", "--budget", "1000", "--fail-on", "error").code == 0


# -- folders ----------------------------------------------------------------------------------------------------


@pytest.fixture
def tree(sample: Path) -> Path:
    Path("logs/deep").mkdir(parents=True)
    sample.rename("logs/a.jsonl")
    shutil.copy(CODEX, "logs/deep/b.jsonl")
    shutil.copy(DIRTY / "claude-glued-records.jsonl", "logs/c.jsonl")
    shutil.copy(DIRTY / "binary.jsonl", "logs/d.bin")
    return Path("logs")


def test_a_folder_is_every_transcript_in_it(tree: Path, cli: Cli) -> None:
    ran = cli("run", "logs", "-o", "out", "--report", "run.json")

    assert ran.code == 0, ran.err
    verdicts = {s["path"]: s["verdict"] for s in report_of("run.json")["sessions"]}
    assert verdicts["logs/d.bin"] == "ignored"
    assert verdicts.keys() == {"logs/a.jsonl", "logs/deep/b.jsonl", "logs/c.jsonl", "logs/d.bin"}
    assert {n for n in names() if n.startswith("out/")} == {"out/a.jsonl", "out/deep/b.jsonl", "out/c.jsonl"}


def test_outputs_beside_the_inputs_are_not_processed_again(tree: Path, cli: Cli) -> None:
    cli("run", "logs")
    before = {n: Path(n).read_bytes() for n in names() if not n.endswith(".report.json")}

    ran = cli("run", "logs", "--report", "run.json")

    assert ran.code == 0, ran.err
    verdicts = {s["path"]: s["verdict"] for s in report_of("run.json")["sessions"]}
    own = {p for p, v in verdicts.items() if v == "own-output"}
    assert {"logs/a.compact.jsonl", "logs/deep/b.compact.jsonl", "logs/c.compact.jsonl", "logs/a.report.json"} <= own
    assert {n: Path(n).read_bytes() for n in before} == before
    assert not [n for n in names() if ".compact.compact." in n]


def test_a_folder_has_one_archive_and_every_output_finds_it(tree: Path, cli: Cli) -> None:
    before = {n: Path(n).read_bytes() for n in names()}

    cli("run", "logs", "-o", "out")
    cli("run", "logs")

    assert [str(p) for p in sorted(Path().rglob(".compress"))] == ["logs/.compress", "out/.compress"]
    for name in ("a.jsonl", "deep/b.jsonl", "c.jsonl"):
        for output in (Path("out", name), Path("logs", name).with_suffix(".compact.jsonl")):
            assert cli("restore", output, "-o", "back").code == 0
            assert Path("back").read_bytes() == before[f"logs/{name}"]


def test_any_number_of_workers_gives_the_same(tree: Path, cli: Cli) -> None:
    cli("run", "logs", "-o", "one", "--report", "one.json", "--jobs", "1")
    ran = cli("run", "logs", "-o", "two", "--report", "two.json", "--jobs", "2")

    assert ran.code == 0, ran.err
    for path in ("a.jsonl", "deep/b.jsonl", "c.jsonl"):
        assert Path("one", path).read_bytes() == Path("two", path).read_bytes()
    one = json.dumps(still(report_of("one.json"))).replace("one/", "two/")
    assert json.loads(one) == still(report_of("two.json"))


def test_an_interrupt_leaves_what_is_finished(tree: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from compressor import pipeline

    real = pipeline.compact

    def compact(source: Any, *rest: Any) -> Any:
        if source.path.endswith("b.jsonl"):
            os.kill(os.getpid(), signal.SIGINT)
        return real(source, *rest)

    monkeypatch.setattr(pipeline, "compact", compact)

    ran = cli("run", "logs", "-o", "out", "--report", "run.json")

    assert ran.code == 130
    assert "interrupted" in ran.err
    assert Path("out/a.jsonl").exists()
    assert not Path("out/deep/b.jsonl").exists()
    assert [s["path"] for s in report_of("run.json")["sessions"]] == ["logs/a.jsonl", "logs/c.jsonl", "logs/d.bin"]


# -- other commands ---------------------------------------------------------------------------------------------


def test_verify_passes_our_own_output(sample: Path, cli: Cli) -> None:
    cli("run", "session.jsonl")

    ran = cli("verify", "session.jsonl", "session.compact.jsonl", "--json")

    verdict = json.loads(ran.out)
    assert set(verdict) == {"verdict", "findings"}
    assert all(set(f) == {"check", "level", "message", "fact", "at"} for f in verdict["findings"])
    assert [f for f in verdict["findings"] if f["level"] == "error"] == []
    assert ran.code == 0


def test_verify_finds_what_is_missing(sample: Path, cli: Cli) -> None:
    cli("run", "session.jsonl")
    lines = sample.read_bytes().split(b"\n")
    Path("cut.jsonl").write_bytes(b"\n".join(lines[len(lines) // 2 :]))

    ran = cli("verify", "session.jsonl", "cut.jsonl")

    assert ran.code == 1
    assert ran.out.splitlines()[-1].startswith("failed: ")


def test_stats_show_where_the_tokens_are(sample: Path, cli: Cli) -> None:
    ran = cli("stats", "session.jsonl", "--json")

    (one,) = json.loads(ran.out)["sessions"]
    whole = one["tokens"]["whole"]
    assert sum(one["role"].values()) == sum(one["layer"].values()) == whole
    assert one["rule"]
    text = cli("stats", "session.jsonl").out
    assert all(f"\nby {title}\n" in text for title in ("role", "tool", "layer", "rule"))


def test_brief_is_markdown_with_its_sources(sample: Path, cli: Cli) -> None:
    ran = cli("brief", "session.jsonl")

    assert ran.code == 0
    assert ran.out.count("\n## ") >= 3
    assert "[#" in ran.out
    assert names() == {"session.jsonl"}


def test_formats_are_listed(cli: Cli) -> None:
    listed = [f["name"] for f in json.loads(cli("formats", "--json").out)["formats"]]

    assert {"claude-code", "codex", "openai-chat", "anthropic", "generic"} <= set(listed)
    assert all(name in cli("formats").out for name in listed)


def test_restore_of_what_we_never_touched_says_so(sample: Path, cli: Cli) -> None:
    # its own bytes, which no archive of a folder above may happen to hold
    sample.write_bytes(sample.read_bytes() + b'{"type":"tag","tag":"%s"}\n' % str(sample).encode())

    ran = cli("restore", "session.jsonl")

    assert ran.code == 1
    assert ran.err.startswith("session.jsonl: ")
    assert "\nhint: " in ran.err


# -- rules ------------------------------------------------------------------------------------------------------


def test_rules_are_listed_shown_and_tested(cli: Cli) -> None:
    listed = json.loads(cli("rules", "list", "--json").out)["rules"]
    first = listed[0]["id"]

    assert first in cli("rules", "list").out
    assert f"id: {first}" in cli("rules", "show", first).out
    ran = cli("rules", "test")
    assert (ran.code, ran.out.splitlines()[-1].endswith(" 0 failed")) == (0, True)
    assert cli("rules", "check").code == 0


def test_a_rule_file_of_ones_own(folder: Path, cli: Cli) -> None:
    rule = (
        "id: MINE1\ndescription: Ticket ids stay.\nkind: pattern\nscope: {role: user, type: text}\n"
        "with: {pattern: 'TICKET-[0-9]+'}\naction: {protect: verbatim}\nlevel: error\n"
        "examples:\n- text: see TICKET-42\n  finds: [TICKET-42]\n- text: no ticket\n  finds: []\n"
    )
    Path("mine.yaml").write_text(rule, encoding="utf-8")
    Path("bad.yaml").write_text(rule.replace("kind: pattern", "kind: patern"), encoding="utf-8")

    assert cli("rules", "check", "mine.yaml").out == "mine.yaml: fine\n"
    assert cli("rules", "test", "mine.yaml").out == "1 rules, 2 examples, 0 failed\n"
    ran = cli("rules", "check", "mine.yaml", "bad.yaml")
    assert ran.code == 2
    assert ran.err.startswith("bad.yaml:")
    assert 'did you mean "pattern"?' in ran.err

    Path("mine.yaml").write_text(rule.replace("finds: []", "finds: [ticket]"), encoding="utf-8")
    ran = cli("rules", "test", "mine.yaml")
    assert ran.code == 1
    assert "mine.yaml:" in ran.out


def test_a_report_that_cannot_be_written_takes_nothing_back(sample: Path, cli: Cli) -> None:
    Path("session.report.json").mkdir()

    ran = cli("run", "session.jsonl")

    assert ran.code == 1
    assert "compacted" in ran.out
    assert "error write: the report cannot be written" in ran.out
    assert Path("session.compact.jsonl").read_bytes() != sample.read_bytes()


def test_an_input_without_a_name_is_not_the_current_folder(sample: Path, cli: Cli) -> None:
    ran = cli("run", "")

    assert (ran.code, ran.err) == (2, "an input without a name\nhint: name a file, or . for the current folder\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_behind_standard_output_is_no_bug(sample: Path) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        ran = subprocess.run(
            [sys.executable, "-m", "compressor", "run", str(sample), "-o", "-", "--quiet"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip

    assert (ran.returncode, ran.stderr) == (1, "standard output: no space left on device\n")


def test_what_may_not_be_looked_at_has_a_name_at_least(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from compressor import inputs

    def refuse(path: object) -> str:
        raise PermissionError(13, "permission denied", str(path))

    monkeypatch.setattr(inputs.os.path, "realpath", refuse)
    assert inputs._identities(tmp_path / "Session.jsonl") == {str(tmp_path / "Session.jsonl").casefold()}
