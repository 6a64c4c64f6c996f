from __future__ import annotations

from pathlib import Path

import pytest

from compressor import config
from compressor.errors import ConfigError
from compressor.options import merge


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_yaml_says_options(tmp_path: Path) -> None:
    path = write(tmp_path, "compress.yaml", "preset: strict\nfail-on: warning\npin:\n- never delete\nnew-id: true\n")

    said = merge(config.load(path))

    assert (said.preset, said.fail_on, said.pin, said.new_id) == ("strict", "warning", ("never delete",), True)


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    assert config.load(write(tmp_path, "compress.yaml", "# nothing yet\n")).values == {}


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("preset: archive\nbudgett: 3\n", "compress.yaml:2:1", 'did you mean "budget"?'),
        ("jobs: 1\noutput: x\n", "compress.yaml:2:1", "for one run"),
        ("fail_on: note\n", "compress.yaml:1:1", 'did you mean "fail-on"?'),
        ("- preset\n", "compress.yaml:1:1", "one option a line"),
        ("preset: [\n", "compress.yaml:2:1", ""),
    ],
)
def test_mistakes_in_yaml_have_a_place_and_a_hint(tmp_path: Path, text: str, place: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config.load(write(tmp_path, "compress.yaml", text))

    assert str(caught.value.at).endswith(place)
    assert hint in caught.value.hint


def test_a_wrong_value_is_told_where_it_stands(tmp_path: Path) -> None:
    path = write(tmp_path, "compress.yaml", "preset: archive\njobs: lots\n")

    with pytest.raises(ConfigError, match=r'compress\.yaml:2:1: jobs: "lots"'):
        merge(config.load(path))


def test_toml_says_options(tmp_path: Path) -> None:
    text = (
        '[project]\nname = "x"\n\n[tool.compress]\npreset = "resume"\njobs = 2\n\n[tool.compress.map]\nrole = "who"\n'
    )

    said = merge(config.load(write(tmp_path, "pyproject.toml", text)))

    assert (said.preset, said.jobs, said.map) == ("resume", 2, {"role": "who"})


def test_mistakes_in_toml_have_a_line(tmp_path: Path) -> None:
    text = '[tool.other]\njobz = 1\n[tool.compress]\npreset = "resume"\n  jobz = 2\n'

    with pytest.raises(ConfigError, match=r'pyproject\.toml:5:3: unknown option "jobz"') as caught:
        config.load(write(tmp_path, "pyproject.toml", text))

    assert caught.value.hint == 'did you mean "jobs"?'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.compress\n", "cannot be read"),
        ("[tool]\ncompress = 3\n", "not a table"),
        ("[tool.other]\n", "has no table"),
    ],
)
def test_a_named_toml_file_must_hold_the_table(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        config.load(write(tmp_path, "pyproject.toml", text))


def test_the_nearest_file_above_is_found(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    write(tmp_path / "a", "pyproject.toml", "[tool.other]\n")
    wanted = write(tmp_path, "compress.yaml", "jobs: 2\n")

    assert config.find(below) == wanted

    nearer = write(tmp_path / "a", "pyproject.toml", "[tool.compress]\njobs = 3\n")
    assert config.find(below) == nearer


def test_a_broken_toml_file_of_others_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path, "pyproject.toml", "[broken\n")

    assert config.find(tmp_path) != tmp_path / "pyproject.toml"


def test_a_broken_toml_file_that_speaks_of_us_is_told(tmp_path: Path) -> None:
    write(tmp_path, "pyproject.toml", "[project]\nname = 'x'\n[tool.compress\nratio = 3\n")
    with pytest.raises(ConfigError, match=r"pyproject\.toml: cannot be read: .*line 3"):
        config.find(tmp_path)
