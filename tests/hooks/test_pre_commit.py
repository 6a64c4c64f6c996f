"""The hooks as users have them: installed by pre-commit from this checkout, in a repository of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
GOOD = ROOT / "fixtures" / "claude-code" / "zh-deploy.jsonl"
HOOKS = ("compress-check", "compress-rules", "compress-verify")

RULE = """\
id: OWN001
description: The code word stays.
kind: phrase
with: {phrases: [blue heron]}
action: {protect: verbatim}
examples:
- {text: say blue heron, finds: [blue heron]}
- {text: say nothing, finds: []}
"""


def git(folder: Path, *args: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    env.pop("PYTHONPATH", None)  # the hook's environment must find its own installation
    names = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "protocol.file.allow=always"]
    command = ["git", *names, *args]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=check, timeout=900)


def test_hooks_are_well_formed() -> None:
    hooks = YAML(typ="safe").load((ROOT / ".pre-commit-hooks.yaml").read_text())

    assert tuple(h["id"] for h in hooks) == HOOKS
    assert all(h["entry"].startswith("transcript-compress ") and h["language"] == "python" for h in hooks)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository that uses the hooks of this checkout, uncommitted changes included."""
    pytest.importorskip("pre_commit")
    top = tmp_path_factory.mktemp("hooks")
    probe = [sys.executable, "-m", "pip", "download", "--no-deps", "-q", "-d", str(top / "probe"), "click"]
    if subprocess.run(probe, capture_output=True, timeout=120).returncode:
        pytest.skip("no package index")
    product = top / "product"
    listed = git(ROOT, "ls-files", "-co", "--exclude-standard", check=False)
    if listed.returncode:
        pytest.skip("this is no git checkout")
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file() and not name.startswith(("tests/", "fixtures/", "benchmarks/")):
            (product / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, product / name)
    git(product, "init", "-q")
    git(product, "add", "-A")
    git(product, "commit", "-q", "-m", "product")
    rev = git(product, "rev-parse", "HEAD").stdout.strip()
    repo = top / "repo"
    repo.mkdir()
    git(repo, "init", "-q")
    config = {"repos": [{"repo": str(product), "rev": rev, "hooks": [{"id": i} for i in HOOKS]}]}
    (repo / ".pre-commit-config.yaml").write_text(json.dumps(config))
    os.environ["PRE_COMMIT_HOME"] = str(top / "home")
    run = subprocess.run(
        [sys.executable, "-m", "pre_commit", "install", "--install-hooks"],
        cwd=repo, capture_output=True, text=True, timeout=900,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    return repo


@pytest.mark.slow
def test_a_good_commit_passes_and_a_bad_one_stops(scratch: Path) -> None:
    """Good transcripts and rules pass; an orphaned result, a mistake in a rule and a stale compaction do not."""
    (scratch / "compress-rules").mkdir()
    (scratch / "compress-rules" / "own.yaml").write_text(RULE)
    shutil.copy(GOOD, scratch / "deploy.jsonl")
    git(scratch, "add", "-A")
    good = git(scratch, "commit", "-m", "good", check=False)
    assert good.returncode == 0, good.stdout + good.stderr

    lines = GOOD.read_text(encoding="utf-8").split("\n")
    call = next(i for i, line in enumerate(lines) if '"tool_use"' in line)
    (scratch / "deploy.jsonl").write_text("\n".join(lines[:call] + lines[call + 1 :]), encoding="utf-8")
    git(scratch, "add", "-A")
    bad = git(scratch, "commit", "-m", "bad", check=False)
    assert bad.returncode == 1
    assert "deploy.jsonl:" in bad.stdout + bad.stderr
    assert "E02" in bad.stdout + bad.stderr

    git(scratch, "checkout", "-q", "HEAD", "--", "deploy.jsonl")
    (scratch / "compress-rules" / "own.yaml").write_text(RULE.replace("kind: phrase", "kind: phrse"))
    git(scratch, "add", "-A")
    wrong = git(scratch, "commit", "-m", "wrong rule", check=False)
    assert wrong.returncode == 1
    assert 'did you mean "phrase"?' in wrong.stdout + wrong.stderr


@pytest.mark.slow
def test_a_hook_starts_fast(scratch: Path) -> None:
    """Below 0.4 seconds of processor time, the best of several: other work may share the machine."""
    entry = next(Path(os.environ["PRE_COMMIT_HOME"]).glob("repo*/py_env*/bin/transcript-compress"))
    shutil.copy(ROOT / "fixtures" / "openai-chat" / "zh-support.jsonl", scratch / "small.jsonl")
    best = wall = 9.0
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    for _ in range(7):
        before, began = os.times(), time.perf_counter()
        subprocess.run([entry, "check", "small.jsonl"], cwd=scratch, check=True, capture_output=True, env=env)
        after = os.times()
        wall = min(wall, time.perf_counter() - began)
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        best = min(best, spent)

    print(f"hook start-up: {best:.2f} s of processor time, {wall:.2f} s")
    assert best < 0.4
