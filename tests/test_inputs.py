"""The work list: which files, where the results go, and that no result ever stands on an input."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from compressor.errors import ConfigError
from compressor.inputs import Job, beside, is_own, plan, sidecar
from compressor.model import Verdict
from compressor.options import Options
from compressor.report import document, dumps
from compressor.result import SessionResult


def touch(*names: str) -> None:
    for name in names:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"role":"user","content":"' + name + '"}\n', encoding="utf-8")


def outputs(*inputs: str, **options: object) -> dict[str, str]:
    """Input -> output, or its verdict."""
    said = {k: Path(v) if k == "report" else v for k, v in options.items()}  # type: ignore[arg-type]
    return {
        (w.name if isinstance(w, Job) else w.path): (str(w.output) if isinstance(w, Job) else w.verdict.value)
        for w in plan(list(inputs), Options(**said))  # type: ignore[arg-type]
    }


def write_report(path: str, size: int) -> None:
    result = SessionResult("x", "y", "openai-chat", "", Verdict.UNCHANGED, bytes_after=size)
    Path(path).write_bytes(dumps(document([result])))


@pytest.mark.parametrize(
    ("name", "output", "report"),
    [
        ("session.jsonl", "session.compact.jsonl", "session.report.json"),
        ("a.b.json", "a.b.compact.json", "a.b.report.json"),
        ("session.jsonl.gz", "session.compact.jsonl", "session.report.json"),
        ("noext", "noext.compact", "noext.report.json"),
    ],
)
def test_the_default_places_are_beside_the_input(name: str, output: str, report: str) -> None:
    assert str(beside(Path("x", name))) == str(Path("x", output))
    assert sidecar(beside(Path(name))).name == report


def test_one_file(folder: Path) -> None:
    touch("a.jsonl")

    assert outputs("a.jsonl") == {"a.jsonl": "a.compact.jsonl"}
    assert outputs("a.jsonl", output="b.jsonl") == {"a.jsonl": "b.jsonl"}
    assert outputs("a.jsonl", output="-") == {"a.jsonl": "None"}


def test_an_existing_folder_as_output_takes_one_file(folder: Path) -> None:
    touch("a.jsonl")
    Path("out").mkdir()

    assert outputs("a.jsonl", output="out") == {"a.jsonl": "out/a.jsonl"}


def test_a_final_slash_means_a_folder(folder: Path) -> None:
    touch("a.jsonl")

    assert outputs("a.jsonl", output="new/") == {"a.jsonl": "new/a.jsonl"}


def test_several_files_mirror_their_tree(folder: Path) -> None:
    touch("x/a.jsonl", "y/z/a.jsonl")

    assert outputs("x/a.jsonl", "y/z/a.jsonl", output="out") == {
        "x/a.jsonl": "out/x/a.jsonl",
        "y/z/a.jsonl": "out/y/z/a.jsonl",
    }


def test_a_folder_mirrors_what_is_in_it(folder: Path) -> None:
    touch("logs/b/c.jsonl", "logs/a.jsonl")

    assert outputs("logs", output="out") == {"logs/a.jsonl": "out/a.jsonl", "logs/b/c.jsonl": "out/b/c.jsonl"}


def test_nothing_leaves_the_output_folder(folder: Path) -> None:
    touch("x/a.jsonl", "b.jsonl")
    Path("x/sub").mkdir()

    found = outputs("x/sub/../../b.jsonl", "x/a.jsonl", output="out")

    assert all(Path("out").resolve() in Path(o).resolve().parents for o in found.values())


@pytest.mark.parametrize("way", ["same", "dots", "link", "hard link", "folder link", "letters"])
def test_no_result_stands_on_an_input(folder: Path, way: str) -> None:
    touch("a.jsonl")
    Path("d").mkdir()
    Path("d/link.jsonl").symlink_to(folder / "a.jsonl")
    Path("here").symlink_to(folder)
    os.link("a.jsonl", "d/hard.jsonl")
    target = {
        "same": "a.jsonl",
        "dots": "d/../a.jsonl",
        "link": "d/link.jsonl",
        "hard link": "d/hard.jsonl",
        "folder link": "here/a.jsonl",
        "letters": "A.JSONL",
    }[way]

    with pytest.raises(ConfigError, match="would replace the input"):
        outputs("a.jsonl", output=target)


def test_nor_does_a_report(folder: Path) -> None:
    touch("a.jsonl", "b.report.json")

    with pytest.raises(ConfigError, match="would replace an input"):
        outputs("a.jsonl", output="x.jsonl", report="a.jsonl")
    with pytest.raises(ConfigError, match="would replace the input"):
        outputs("b.report.json", output="b.jsonl")


def test_a_folder_is_not_its_own_output(folder: Path) -> None:
    touch("logs/a.jsonl")

    with pytest.raises(ConfigError, match="would replace the input"):
        outputs("logs", output="logs")


def test_the_output_folder_inside_an_input_is_no_input(folder: Path) -> None:
    touch("logs/a.jsonl", "logs/small/a.jsonl", "logs/.compress/x")

    assert outputs("logs", output="logs/small") == {
        "logs/.compress": "own-output",
        "logs/a.jsonl": "logs/small/a.jsonl",
        "logs/small": "own-output",
    }


def test_earlier_outputs_and_reports_are_not_processed_again(folder: Path) -> None:
    touch("a.jsonl")
    Path("a.compact.jsonl").write_bytes(Path("a.jsonl").read_bytes())
    write_report("a.report.json", Path("a.jsonl").stat().st_size)

    found = {Path(k).name: v for k, v in outputs(".").items()}

    assert found["a.jsonl"] == "a.compact.jsonl"
    assert found["a.compact.jsonl"] == "own-output"
    assert found["a.report.json"] == "own-output"


def test_an_unmarked_copy_is_known_by_its_report_when_the_original_is_gone(folder: Path) -> None:
    touch("a.compact.jsonl", "b.compact.jsonl")
    write_report("a.report.json", Path("a.compact.jsonl").stat().st_size)
    write_report("b.report.json", 1)

    found = {Path(k).name: v for k, v in outputs(".").items()}

    assert found["a.compact.jsonl"] == "own-output"
    assert found["b.compact.jsonl"] == "b.compact.compact.jsonl"


def test_a_foreign_file_at_the_default_place_is_not_replaced(folder: Path) -> None:
    touch("a.jsonl", "a.compact.jsonl")

    with pytest.raises(ConfigError, match=r'would replace the input "a\.compact\.jsonl"'):
        outputs(".")


def test_two_inputs_never_share_a_result(folder: Path) -> None:
    touch("logs/a.jsonl", "logs/A.jsonl", "logs/a.jsonl.gz")

    found = outputs("logs", output="out")

    assert sorted(found.values()) == ["out/A.jsonl", "quarantined", "quarantined"]


def test_a_file_named_twice_is_one_input(folder: Path) -> None:
    touch("logs/a.jsonl")

    assert outputs("logs", "logs/a.jsonl", "./logs/a.jsonl").keys() == {"logs/a.jsonl"}


def test_what_a_folder_holds_besides_is_listed(folder: Path) -> None:
    touch("logs/a.jsonl", "logs/.git/config", "logs/deep/x.txt")
    Path("logs/away").symlink_to(folder)
    Path("logs/gone.jsonl").symlink_to("nowhere")
    Path("logs/loop").symlink_to("loop")
    os.mkfifo("logs/pipe")

    found = outputs("logs")

    ignored = {"logs/.git", "logs/away", "logs/gone.jsonl", "logs/loop", "logs/pipe"}
    assert {name for name, verdict in found.items() if verdict == "ignored"} == ignored
    assert {"logs/a.jsonl", "logs/deep/x.txt"} == found.keys() - ignored


def test_globs_choose_in_folders(folder: Path) -> None:
    touch("logs/a.jsonl", "logs/b.txt", "logs/old/a.jsonl")

    found = outputs("logs", include=("*.jsonl",), exclude=("old/*",))

    assert [name for name, verdict in found.items() if verdict != "ignored"] == ["logs/a.jsonl"]
    assert found.keys() == {"logs/a.jsonl", "logs/b.txt", "logs/old/a.jsonl"}


def test_a_folder_that_cannot_be_opened_is_quarantined(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch("logs/shut/a.jsonl", "logs/b.jsonl")
    real = os.scandir

    def scandir(path: Path) -> object:
        if Path(path).name == "shut":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)

    assert outputs("logs") == {"logs/b.jsonl": "logs/b.compact.jsonl", "logs/shut": "quarantined"}


@pytest.mark.parametrize(
    ("inputs", "options", "message"),
    [
        (["-", "a.jsonl"], {}, "standard input together"),
        (["a.jsonl", "b.jsonl"], {"output": "-"}, "several inputs to standard output"),
        (["a.jsonl", "b.jsonl"], {"output": "c.jsonl"}, "is a file, and there are several"),
        (["a.jsonl"], {"output": "pipe"}, "not a regular file"),
        (["-"], {"output": "pipe"}, "not a regular file"),
    ],
)
def test_what_does_not_fit_is_refused(folder: Path, inputs: list[str], options: dict[str, str], message: str) -> None:
    touch("a.jsonl", "b.jsonl", "c.jsonl")
    os.mkfifo("pipe")

    with pytest.raises(ConfigError, match=message):
        outputs(*inputs, **options)


def test_a_text_that_only_speaks_of_us_is_not_ours(folder: Path) -> None:
    from compressor.reading import open_source

    Path("a.jsonl").write_text('{"role":"user","content":"I use transcript-compressor daily"}\n', encoding="utf-8")

    assert not is_own(open_source("a.jsonl"))
