"""The wheel: what travels in it, and that it does the main job anywhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import compressor

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of what the wheel is made of, with the backend of this environment."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for name in ("compressor", "rules", "schemas"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(source)]
    subprocess.run(build, check=True, capture_output=True, text=True)
    return next(folder.glob("*.whl"))


@pytest.mark.slow
def test_all_data_travels_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        inside = set(file.namelist())

    for folder in ("rules", "schemas"):
        shipped = {p.relative_to(ROOT).as_posix() for p in (ROOT / folder).rglob("*") if p.is_file()}
        assert {f"compressor/_data/{name}" for name in shipped} <= inside
    modules = {p.relative_to(ROOT).as_posix() for p in (ROOT / "compressor").rglob("*.py")}
    assert modules <= inside
    assert {"compressor/py.typed", "compressor/vocabulary/o200k_base.tiktoken.gz"} <= inside
    assert not {name for name in inside if name.startswith(("tests/", "fixtures/", "rules/"))}


@pytest.mark.slow
def test_the_installed_wheel_does_the_main_job_from_another_folder(wheel: Path, folder: Path) -> None:
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    # the dependencies are those of this environment: what is tested is our package, not the index
    seen = "import site; print(site.getsitepackages()[0])"
    outside = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True).stdout.strip()
    inside = subprocess.run([python, "-c", seen], capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", wheel], check=True)
    Path(inside, "outside.pth").write_text(outside + "\n", encoding="utf-8")
    shutil.copy(ROOT / "fixtures" / "claude-code" / "refactor-billing.jsonl", "session.jsonl")
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}

    for script in ("compress", "transcript-compress"):
        command = [folder / "env" / "bin" / script, "run", "session.jsonl", "-o", f"{script}.jsonl", "--json"]
        ran = subprocess.run(command, capture_output=True, text=True, env=env)
        assert ran.returncode == 0, ran.stderr
        (one,) = json.loads(ran.stdout)["sessions"]
        assert one["verdict"] == "compacted"
        assert one["ratio"] > 3

    where = subprocess.run(
        [python, "-c", "import compressor; print(compressor.__file__)"],
        capture_output=True,
        text=True,
        env=env,
        check=True,
    )
    assert where.stdout.startswith(inside)


def test_the_version_is_told_once() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert project["dynamic"] == ["version"]
    assert compressor.__version__ in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_public_names_come_when_they_are_asked_for() -> None:
    code = "import sys, compressor; print([m for m in sys.modules if m.startswith('compressor.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"

    assert all(getattr(compressor, name) is not None for name in compressor.__all__)
    assert dir(compressor) == sorted(compressor.__all__)
    with pytest.raises(AttributeError, match="no attribute 'squeeze'"):
        compressor.squeeze  # noqa: B018 - the look-up is the test


def test_the_readme_and_ci_agree_on_the_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = [part.split("\n```")[0] for part in text.split("```sh\n")[1:]]

    assert "compress run fixtures/claude-code/refactor-billing.jsonl" in blocks[0]
    assert "pytest" in blocks[1]
    assert "readme 1" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
