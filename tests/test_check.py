"""`compress check`: what it finds, how it says so, what it repairs and what it lets pass."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from uuid import uuid4
from xml.etree import ElementTree as ET

import pytest

from compressor import data
from compressor.validate import codes

FIXTURES = Path(__file__).parent.parent / "fixtures"
GOOD = FIXTURES / "openai-chat" / "zh-support.jsonl"
ORPHAN = FIXTURES / "dirty" / "chat-orphan-result.jsonl"


@pytest.fixture
def orphan(folder: Path) -> Path:
    return Path(shutil.copy(ORPHAN, folder / "orphan.jsonl"))


def found(ran) -> list[tuple[str, int, str]]:
    return [(f["at"]["file"], f["at"]["line"], f["check"]) for f in json.loads(ran.out)["findings"]]


def test_a_good_file(cli, folder: Path) -> None:
    shutil.copy(GOOD, folder / "good.jsonl")
    ran = cli("check", "good.jsonl")

    assert (ran.code, ran.out) == (0, "1 file checked: nothing found\n")


def test_quiet_says_nothing_of_a_good_file(cli, folder: Path) -> None:
    shutil.copy(GOOD, folder / "good.jsonl")

    assert cli("check", "-q", "good.jsonl").out == ""


def test_a_finding_has_place_code_message_and_advice(cli, orphan: Path) -> None:
    ran = cli("check", "orphan.jsonl")

    assert ran.code == 1
    assert ran.out.startswith("orphan.jsonl:5: error E02: tool result without its call: call_7gT0w")
    assert "\n  hint: delete the half that is alone" in ran.out


def test_a_folder_passes_over_what_is_no_transcript(cli, folder: Path) -> None:
    shutil.copy(GOOD, folder / "good.jsonl")
    (folder / "package.json").write_text('{"name": "x"}')
    ran = cli("check", ".")

    assert (ran.code, ran.out) == (0, "1 file checked, 1 passed over: nothing found\n")


def test_a_named_file_that_is_no_transcript_is_told(cli, folder: Path) -> None:
    (folder / "package.json").write_text('{"name": "x"}')

    assert found(cli("check", "package.json", "--format", "json")) == [("package.json", 1, "F01")]


def test_a_missing_file_is_told_and_the_others_are_checked(cli, folder: Path) -> None:
    shutil.copy(ORPHAN, folder / "b.jsonl")
    ran = cli("check", "a.jsonl", "b.jsonl", "--format", "json")

    assert found(ran) == [("a.jsonl", 1, "F02"), ("b.jsonl", 5, "E02")]


def test_packed_files_are_checked(cli, folder: Path) -> None:
    (folder / "orphan.jsonl.gz").write_bytes(gzip.compress(ORPHAN.read_bytes()))

    assert found(cli("check", "orphan.jsonl.gz", "--format", "json")) == [("orphan.jsonl.gz", 5, "E02")]


@pytest.mark.parametrize(
    ("name", "code", "line"),
    [
        ("chat-byte-order-mark", "J04", 1),
        ("chat-duplicate-keys", "J09", 3),
        ("chat-invalid-utf8", "J06", 4),
        ("chat-nan-values", "J07", 2),
        ("chat-utf16", "J06", 1),
        ("chat-blank-lines", "J10", 3),
        ("chat-truncated-last-line", "J03", 13),
        ("claude-glued-records", "J02", 5),
        ("claude-lone-surrogates", "J08", 1),
        ("claude-crlf-line-ends", "J05", 1),
        ("claude-comment-lines", "J10", 1),
        ("claude-no-final-newline", "E01", 17),
        ("claude-dangling-parents", "E05", 1),
        ("claude-two-sessions", "E12", 1),
        ("claude-unpaired-call", "E02", 14),
        ("codex-garbage-between", "J01", 8),
    ],
)
def test_dirt_is_named_with_its_line(cli, folder: Path, name: str, code: str, line: int) -> None:
    shutil.copy(FIXTURES / "dirty" / f"{name}.jsonl", folder / "x.jsonl")

    assert ("x.jsonl", line, code) in found(cli("check", "x.jsonl", "--format", "json"))


def test_secrets_are_found_and_never_shown(cli, folder: Path) -> None:
    secret = "AKIAQ3EGRKZ5TPLM2W7X"
    rows = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": f"the key is {secret}"}]
    (folder / "x.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    ran = cli("check", "x.jsonl")

    assert ran.code == 1
    assert "x.jsonl:2: error K01" in ran.out
    assert secret not in ran.out


def test_limits(cli, folder: Path) -> None:
    shutil.copy(GOOD, folder / "x.jsonl")
    ran = cli("check", "x.jsonl", "--max-bytes", "100", "--max-line", "100", "--format", "json")

    assert {code for _, _, code in found(ran)} == {"L01", "L02"}


def test_doubles(cli, folder: Path) -> None:
    shutil.copy(GOOD, folder / "a.jsonl")
    shutil.copy(GOOD, folder / "b.jsonl")
    rows = [json.loads(line) for line in GOOD.read_text(encoding="utf-8").splitlines()]
    (folder / "c.json").write_text(json.dumps(rows, indent=1))
    ran = cli("check", "a.jsonl", "b.jsonl", "c.json", "--format", "json")

    assert found(ran) == [("b.jsonl", 1, "D01"), ("c.json", 1, "D02")]


def test_schema(cli, folder: Path) -> None:
    rows = [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": 17},
        {"role": "user", "content": "x"},
    ]
    (folder / "x.json").write_text(json.dumps(rows, indent=1))
    ran = cli("check", "x.json")

    assert "x.json:8: error S01: [1].content: 17 is not string or array or null" in ran.out


# -- which findings count


def test_select_and_ignore(cli, orphan: Path) -> None:
    assert cli("check", "orphan.jsonl", "--ignore", "E02").code == 0
    assert cli("check", "orphan.jsonl", "--select", "J,S").code == 0
    assert cli("check", "orphan.jsonl", "--select", "E").code == 1


def test_an_unknown_code_is_a_mistake(cli, orphan: Path) -> None:
    ran = cli("check", "orphan.jsonl", "--ignore", "E99")

    assert ran.code == 2
    assert 'no code "E99"\nhint: did you mean "E09"?' in ran.err


def test_fail_on(cli, folder: Path) -> None:
    shutil.copy(FIXTURES / "dirty" / "chat-byte-order-mark.jsonl", folder / "x.jsonl")

    assert cli("check", "x.jsonl").code == 0
    assert cli("check", "x.jsonl", "--fail-on", "warning").code == 1
    assert cli("check", "x.jsonl", "--fail-on", "never").code == 0


def test_configuration(cli, orphan: Path) -> None:
    (orphan.parent / "compress.yaml").write_text("preset: strict\ncheck:\n  per-file-ignores:\n    '*.jsonl': [E02]\n")
    assert cli("check", "orphan.jsonl").code == 0

    (orphan.parent / "compress.yaml").unlink()
    (orphan.parent / "pyproject.toml").write_text('[tool.compress.check]\nignore = ["E02"]\n')
    assert cli("check", "orphan.jsonl").code == 0


def test_a_mistake_in_the_configuration(cli, orphan: Path) -> None:
    (orphan.parent / "compress.yaml").write_text("check:\n  ignor: [E02]\n")
    ran = cli("check", "orphan.jsonl")

    assert ran.code == 2
    assert 'compress.yaml:1:1: unknown option "ignor" of check\nhint: did you mean "ignore"?' in ran.err


def test_the_table_of_check_does_not_disturb_a_run(cli, sample: Path) -> None:
    (sample.parent / "compress.yaml").write_text("check: {ignore: [E02]}\n")

    assert cli("run", "session.jsonl", "--dry-run", "-q").code == 0


def test_baseline(cli, orphan: Path) -> None:
    """Old sins are known; the same sin on another line is old, a second one is new."""
    assert cli("check", "orphan.jsonl", "--write-baseline", "--baseline", "known.json").code == 0
    assert cli("check", "orphan.jsonl", "--baseline", "known.json").code == 0

    lines = orphan.read_text().split("\n")
    orphan.write_text("\n".join([lines[0], *lines]))
    assert cli("check", "orphan.jsonl", "--baseline", "known.json", "--select", "E02").code == 0

    orphan.write_text("\n".join([*lines[:6], lines[4].replace("call_7g", "call_8h"), *lines[6:]]))
    assert cli("check", "orphan.jsonl", "--baseline", "known.json").code == 1


def test_a_baseline_that_is_none(cli, orphan: Path) -> None:
    assert cli("check", "orphan.jsonl", "--baseline", "orphan.jsonl").code == 2
    assert cli("check", "orphan.jsonl", "--baseline", "nothing.json").code == 2
    assert cli("check", "orphan.jsonl", "--write-baseline").code == 2


# -- repairs


def test_fix_deletes_an_orphaned_result_and_keeps_the_old_file(cli, orphan: Path) -> None:
    ran = cli("check", "orphan.jsonl", "--fix")

    assert ran.code == 0
    assert "orphan.jsonl: repaired 1 E02" in ran.err
    assert (orphan.parent / "orphan.jsonl.bak").read_bytes() == ORPHAN.read_bytes()
    old = ORPHAN.read_bytes().split(b"\n")
    assert orphan.read_bytes() == b"\n".join(old[:4] + old[5:])


def test_fix_into_a_new_file(cli, orphan: Path) -> None:
    assert cli("check", "orphan.jsonl", "--fix", "-o", "new.jsonl").code == 0
    assert orphan.read_bytes() == ORPHAN.read_bytes()
    assert (orphan.parent / "new.jsonl").exists()


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("claude-glued-records", "J02"),
        ("claude-no-final-newline", "E01"),
        ("claude-dangling-parents", "E05"),
        ("chat-byte-order-mark", "J04"),
        ("chat-blank-lines", "J10"),
        ("codex-orphan-result", "E02"),
    ],
)
def test_fix_mends(cli, folder: Path, name: str, code: str) -> None:
    path = shutil.copy(FIXTURES / "dirty" / f"{name}.jsonl", folder / "x.jsonl")
    before = found(cli("check", "x.jsonl", "--format", "json"))
    ran = cli("check", "x.jsonl", "--fix", "--format", "json")
    after = found(ran)

    assert code in {c for _, _, c in before}
    assert code not in {c for _, _, c in after}
    assert {c for _, _, c in after} <= {c for _, _, c in before}

    again = Path(path).read_bytes()
    cli("check", "x.jsonl", "--fix")
    assert Path(path).read_bytes() == again


def test_fix_relinks_the_chain_past_a_record_that_leaves(cli, folder: Path) -> None:
    """Without its call a result leaves, and what followed it follows what was before it."""
    lines = (FIXTURES / "claude-code" / "zh-deploy.jsonl").read_text(encoding="utf-8").rstrip("\n").split("\n")
    rows = [json.loads(line) for line in lines]
    call = next(i for i, r in enumerate(rows) if '"tool_use"' in lines[i])
    gone = rows.pop(call)
    for row in rows:
        if row.get("parentUuid") == gone["uuid"]:
            row["parentUuid"] = gone["parentUuid"]
    text = "".join(json.dumps(r, ensure_ascii=False, separators=(",", ":")) + "\n" for r in rows)
    (folder / "x.jsonl").write_text(text, encoding="utf-8")

    assert {c for _, _, c in found(cli("check", "x.jsonl", "--format", "json"))} >= {"E02"}
    assert found(cli("check", "x.jsonl", "--fix", "--format", "json")) == []


def test_fix_never_touches_a_good_file(cli, folder: Path) -> None:
    path = Path(shutil.copy(GOOD, folder / "good.jsonl"))
    stamp = path.stat().st_mtime_ns
    cli("check", "good.jsonl", "--fix")

    assert path.stat().st_mtime_ns == stamp
    assert not (folder / "good.jsonl.bak").exists()


# -- a compaction against its original


def test_a_compaction_is_checked_against_its_source(cli, sample: Path) -> None:
    assert cli("run", "session.jsonl", "-q").code == 0
    ran = cli("check", "session.compact.jsonl", "--format", "json")
    assert ran.code == 0, ran.out
    assert {c[:2] for _, _, c in found(ran)} <= {"V:"}

    with sample.open("a", encoding="utf-8") as file:
        last = json.loads(sample.read_text(encoding="utf-8").rstrip("\n").split("\n")[-1])
        file.write(json.dumps({**last, "uuid": "99999999-0000-4000-8000-000000000000"}) + "\n")
    stale = cli("check", "session.compact.jsonl", "--format", "json", "--select", "V")
    assert stale.code == 1
    assert [c for _, _, c in found(stale)] == ["V01"]


def test_a_compaction_is_checked_against_the_archive(cli, sample: Path) -> None:
    """Where the source has gone, and the output says less than it must, the guards tell."""
    # an original of its own: no archive above the test's folder holds it
    sample.write_text(
        sample.read_text(encoding="utf-8").replace("main", f"main-{uuid4().hex[:8]}", 1), encoding="utf-8"
    )
    assert cli("run", "session.jsonl", "-q").code == 0
    sample.unlink()
    assert cli("check", "session.compact.jsonl").code == 0

    shutil.rmtree(sample.parent / ".compress")
    assert {c for _, _, c in found(cli("check", "session.compact.jsonl", "--format", "json"))} == {"V02"}


def test_a_compaction_edited_by_hand(cli, sample: Path) -> None:
    assert cli("run", "session.jsonl", "-q").code == 0
    output = sample.parent / "session.compact.jsonl"
    rows = output.read_text(encoding="utf-8").split("\n")
    spoiled = [i for i, r in enumerate(rows) if '"role":"assistant"' in r and '"type":"text"' in r][-1]
    row = json.loads(rows[spoiled])
    next(b for b in row["message"]["content"] if b["type"] == "text")["text"] = "Nothing was done."
    rows[spoiled] = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    output.write_text("\n".join(rows), encoding="utf-8")

    assert "V03" in {c for _, _, c in found(cli("check", "session.compact.jsonl", "--format", "json"))}


def test_reports_of_ours_are_passed_over(cli, sample: Path) -> None:
    cli("run", "session.jsonl", "-q")

    assert cli("check", "session.report.json").out == "0 files checked, 1 passed over: nothing found\n"


# -- how it is shown


def test_sarif(cli, orphan: Path) -> None:
    log = json.loads(cli("check", "orphan.jsonl", "--format", "sarif").out)
    (result,) = log["runs"][0]["results"]

    assert log["version"] == "2.1.0"
    assert result["ruleId"] == "E02"
    assert result["level"] == "error"
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 5}
    assert log["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "E02"


def test_junit(cli, orphan: Path) -> None:
    shutil.copy(GOOD, orphan.parent / "good.jsonl")
    suite = ET.fromstring(cli("check", "orphan.jsonl", "good.jsonl", "--format", "junit").out)[0]

    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.get("name") for case in suite] == ["orphan.jsonl", "good.jsonl"]
    assert suite[0][0].get("type") == "E02"


def test_github(cli, orphan: Path) -> None:
    ran = cli("check", "orphan.jsonl", "--format", "github")

    assert ran.out.startswith("::error file=orphan.jsonl,line=5,title=E02::tool result without its call")


def test_text_of_a_file_is_never_a_command(cli, folder: Path) -> None:
    """A workflow command or markup in a transcript stays text."""
    rows = [
        {"role": "user", "content": "hi"},
        {"role": "tool", "tool_call_id": "x\n::error::<b>&]]>\x1b[2J", "content": "y"},
    ]
    (folder / "x.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))

    github = cli("check", "x.jsonl", "--format", "github").out
    assert all(line.startswith("::error file=x.jsonl") for line in github.splitlines())
    assert "\x1b" not in github
    assert ET.fromstring(cli("check", "x.jsonl", "--format", "junit").out) is not None
    assert "\x1b" not in cli("check", "x.jsonl").out


@pytest.mark.parametrize("code", [*codes.CODES, "V:facts"])
def test_every_code_is_explained(cli, code: str) -> None:
    ran = cli("check", "--explain", code)

    assert ran.code == 0
    assert ran.out.startswith(f"{code}: ")


def test_an_unknown_code_is_not_explained(cli) -> None:
    assert cli("check", "--explain", "E99").code == 2


def test_every_format_has_a_schema() -> None:
    from compressor import plugins

    for name in plugins.names("formats"):
        assert data.resource(f"schemas/{name}.schema.json").is_file(), name


def test_the_page_of_codes_is_up_to_date() -> None:
    page = (Path(__file__).parent.parent / "docs" / "check.md").read_text(encoding="utf-8")

    for code, entry in codes.CODES.items():
        assert f"| {code} | {entry.title} | {entry.why} | {entry.do} | {entry.fix or 'no'} |" in page
