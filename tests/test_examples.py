"""The ready examples do what they say, as far as that can be seen here."""

from __future__ import annotations

import configparser
import json
import os
import plistlib
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from kit import FIXTURES, ROOT, Ran

from compressor import Archive
from compressor.yamlfile import load

EXAMPLES = ROOT / "examples"
Cli = Callable[..., Ran]


@pytest.fixture
def home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with one session, long finished."""
    monkeypatch.setenv("HOME", str(folder))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    project = folder / ".claude" / "projects" / "-home-mara-app"
    project.mkdir(parents=True)
    path = Path(shutil.copy(FIXTURES / "dirty" / "claude-crlf-line-ends.jsonl", project / "s.jsonl"))
    os.utime(path, (1, 1))
    return folder


def works(cli: Cli, home: Path, command: list[str]) -> None:
    """The command line compacts the session of that home, and a second time finds it done."""
    assert Path(command[0]).name == "transcript-compress"
    ran = cli(*command[1:])
    assert (ran.code, ran.err) == (0, ""), ran
    assert ran.out.startswith("1 compacted; ")
    assert cli(*command[1:]).out.startswith("nothing new, 1 as before; ")
    assert len(Archive(home / "transcripts" / "vault")) == 1


def unit(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string((EXAMPLES / "systemd" / name).read_text().replace("\\\n", " "))
    return parser


def test_the_systemd_units(cli: Cli, home: Path) -> None:
    service, timer = unit("transcript-compress.service"), unit("transcript-compress.timer")

    assert service["Service"]["Type"] == "oneshot"
    assert timer["Install"]["WantedBy"] == "timers.target"
    command = shlex.split(service["Service"]["ExecStart"].replace("%h", str(home)))
    assert command[0] == "/usr/bin/env"
    works(cli, home, command[1:])


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_takes_the_units() -> None:
    files = [str(EXAMPLES / "systemd" / f"transcript-compress.{kind}") for kind in ("service", "timer")]

    ran = subprocess.run(["systemd-analyze", "--user", "verify", *files], capture_output=True, text=True)

    assert "Unknown" not in ran.stderr, ran.stderr
    assert "Failed to parse" not in ran.stderr, ran.stderr


def test_the_crontab(cli: Cli, home: Path) -> None:
    lines = [x for x in (EXAMPLES / "cron" / "crontab").read_text().splitlines() if x and x[0].isdigit()]
    assert len(lines) == 2
    for line in lines:
        assert len(line.split()[:5]) == 5
        assert "%" not in line, "cron turns it into a line end"
    works(cli, home, shlex.split(os.path.expandvars(lines[0].split(None, 5)[5])))
    for command in os.path.expandvars(lines[1].split(None, 5)[5]).split("&&"):
        ran = cli(*shlex.split(command)[1:])
        assert (ran.code, ran.out, ran.err) == (0, "", ""), ran


def test_the_launchd_agent(cli: Cli, home: Path) -> None:
    agent = plistlib.loads((EXAMPLES / "launchd" / "org.transcript-compress.nightly.plist").read_bytes())

    shell, dash_c, line = agent["ProgramArguments"]
    assert (shell, dash_c) == ("/bin/sh", "-c")
    assert agent["StartCalendarInterval"] == {"Hour": 3, "Minute": 10}
    works(cli, home, shlex.split(os.path.expandvars(line.removeprefix("exec "))))


def test_the_github_workflow(cli: Cli, home: Path) -> None:
    workflow = load(EXAMPLES / "github-actions" / "transcripts.yml").value

    steps = workflow["jobs"]["compact"]["steps"]
    runs = [s["run"] for s in steps if "run" in s]
    shutil.copytree(home / ".claude" / "projects", "logs")
    for line in (r for r in runs if r.startswith("transcript-compress")):
        ran = cli(*shlex.split(line)[1:])
        assert ran.code == 0, (line, ran)
    assert Path("vault/audit.jsonl").is_file()
    assert all("@" in s["uses"] for s in steps if "uses" in s)


@pytest.mark.parametrize("event", ["SessionEnd", "PreCompact"])
def test_the_hook(home: Path, event: str) -> None:
    settings = json.loads((EXAMPLES / "claude-code" / "settings.json").read_text())
    hook = settings["hooks"][event][0]["hooks"][0]
    assert hook["command"].endswith("hooks/archive_session.py")
    bin_ = home / "bin"
    bin_.mkdir()
    (bin_ / "transcript-compress").write_text(f'#!/bin/sh\nexec {sys.executable} -m compressor "$@"\n')
    (bin_ / "transcript-compress").chmod(0o755)
    session = home / ".claude" / "projects" / "-home-mara-app" / "s.jsonl"
    before = session.read_bytes()
    told = {"session_id": "x", "transcript_path": str(session), "hook_event_name": event, "cwd": str(home)}

    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / "claude-code" / "archive_session.py")],
        input=json.dumps(told), capture_output=True, text=True,
        env={"PATH": f"{bin_}:{os.environ['PATH']}", "HOME": str(home), "PYTHONPATH": str(ROOT)},
    )  # fmt: skip

    assert (ran.returncode, ran.stderr) == (0, "")
    assert session.read_bytes() == before
    assert Archive(home / "transcripts" / "vault").data(session) == before
    assert (home / "transcripts" / "small" / "-home-mara-app" / "s.jsonl").is_file()


def test_a_hook_never_stops_the_session(home: Path) -> None:
    for told in ("", "[]", '{"transcript_path": 3}', '{"transcript_path": "/nowhere/x.jsonl"}'):
        ran = subprocess.run(
            [sys.executable, str(EXAMPLES / "claude-code" / "archive_session.py")],
            input=told, capture_output=True, text=True, env={"PATH": "/nowhere", "HOME": str(home)},
        )  # fmt: skip
        assert ran.returncode == 0
        assert ran.stderr.startswith("archive_session: ")
