from __future__ import annotations

from pathlib import Path

import pytest

from compressor.errors import ConfigError, Location
from compressor.options import Options, Said, from_environment, merge, specs, spelled


def test_the_strongest_source_wins() -> None:
    said = merge(Said({"preset": "strict"}), Said({"preset": "resume", "jobs": "3"}), Said({"jobs": 2, "focus": "x"}))

    assert (said.preset, said.jobs, said.focus) == ("strict", 3, "x")


def test_a_ratio_on_the_command_line_replaces_a_budget_in_a_file() -> None:
    said = merge(Said({"ratio": "4"}), Said({"budget": 5000}))

    assert (said.ratio, said.budget) == (4.0, None)


def test_a_budget_and_a_ratio_at_once_are_refused() -> None:
    with pytest.raises(ConfigError, match="at once"):
        merge(Said({"budget": "5000", "ratio": "4"}))


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("budget", "12000", 12000),
        ("ratio", "2.5", 2.5),
        ("new_id", "yes", True),
        ("new_id", False, False),
        ("pin", "one", ("one",)),
        ("pin", ["one", "two words"], ("one", "two words")),
        ("map", ["role=speaker", "depth=3", "strict=true"], {"role": "speaker", "depth": 3, "strict": True}),
        ("map", {"role": "speaker"}, {"role": "speaker"}),
        ("archive", "store", Path("store")),
        ("fail_on", "never", "never"),
    ],
)
def test_values_get_their_type(name: str, value: object, wanted: object) -> None:
    assert getattr(merge(Said({name: value})), name) == wanted


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("budget", "many", 'budget: "many" is not a whole number'),
        ("budget", "0", 'budget: "0" is not a whole number'),
        ("budget", "1.5", 'budget: "1.5" is not a whole number'),
        ("budget", True, "is not a whole number"),
        ("budget", 1e3, "is not a whole number"),
        ("ratio", "nan", "is not a number"),
        ("ratio", "0.5", "is not a number, 1 or more"),
        ("jobs", "-2", "is not a whole number"),
        ("new_id", "perhaps", "is not true or false"),
        ("map", ["role"], "is not KEY=VALUE"),
        ("archive", "", "is not a path"),
        ("focus", 3, "is not text"),
        ("pin", 3, "is not a list"),
        ("fail_on", "warn", "is not known"),
        ("summarizer", "extractiv", "is not known"),
    ],
)
def test_what_an_option_cannot_take_is_told_with_its_place(name: str, value: object, message: str) -> None:
    said = Said({name: value}, {name: Location("compress.yaml", 3, 1)})

    with pytest.raises(ConfigError, match="^compress.yaml:3:1: ") as caught:
        merge(said)

    assert message in caught.value.message
    assert caught.value.hint


def test_a_near_miss_is_named() -> None:
    with pytest.raises(ConfigError) as caught:
        merge(Said({"summarizer": "heat"}))

    assert caught.value.hint == 'did you mean "head"?'


def test_the_environment_says_options_that_are_not_for_one_call_alone() -> None:
    said = from_environment(
        {"COMPRESS_PRESET": "strict", "COMPRESS_PIN": "one thing\nanother", "COMPRESS_OUTPUT": "x", "COMPRESS_JOBS": ""}
    )

    assert said.values == {"preset": "strict", "pin": ["one thing", "another"]}


def test_a_wrong_variable_is_named() -> None:
    with pytest.raises(ConfigError, match="^COMPRESS_JOBS: jobs"):
        merge(from_environment({"COMPRESS_JOBS": "lots"}))


def test_paths_of_a_file_are_meant_from_its_folder(tmp_path: Path) -> None:
    said = merge(Said({"rules": ["mine.yaml", "/abs.yaml"], "archive": "../store"}, folder=tmp_path))

    assert said.rules == (tmp_path / "mine.yaml", Path("/abs.yaml"))
    assert said.archive == tmp_path / "../store"


@pytest.mark.parametrize("name", specs())
def test_every_option_says_what_it_is_and_has_a_default_of_its_type(name: str) -> None:
    spec = specs()[name]

    assert spec.help.split("  [")[0].endswith(".")
    assert spelled(name) == name.replace("_", "-")
    assert hasattr(Options(), name)
