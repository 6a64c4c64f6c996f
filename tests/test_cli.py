"""The command line as a whole: help, dispatch, errors, exit codes, start-up."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from compressor import __version__
from compressor.cli import cli as group
from compressor.cli import main
from compressor.cli._print import printable

Cli = Callable[..., Any]

COMMANDS = group.list_commands(click.Context(group))


def leaves(command: click.Command, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], click.Command]]:
    if isinstance(command, click.Group):
        return [leaf for name, sub in command.commands.items() for leaf in leaves(sub, (*path, name))]
    return [(path, command)]


LEAVES = [leaf for name in COMMANDS for leaf in leaves(group.get_command(click.Context(group), name), (name,))]


def test_commands_are_the_modules_of_the_folder() -> None:
    assert {"brief", "facts", "formats", "restore", "rules", "run", "stats", "verify"} <= set(COMMANDS)


@pytest.mark.parametrize(("path", "command"), LEAVES, ids=[" ".join(path) for path, _ in LEAVES])
def test_every_command_says_what_it_does(path: tuple[str, ...], command: click.Command, cli: Cli) -> None:
    ran = cli(*path, "--help")

    assert ran.code == 0
    assert f"{' '.join(path)} [OPTIONS]" in ran.out
    assert command.help
    assert all(p.help for p in command.params if isinstance(p, click.Option))


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_commands_has_examples(name: str, cli: Cli) -> None:
    if name == "formats":
        return
    assert "Examples:" in cli(name, "--help").out


def test_the_version(cli: Cli) -> None:
    assert cli("--version").out == f"transcript compressor {__version__}\n"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "Commands:"),
        (["runn", "x"], 'did you mean "run"?'),
        (["run"], "Missing argument 'INPUT...'"),
        (["run", "x", "--bugdet", "3"], "--budget"),
        (["run", "x", "--budget", "lots"], 'budget: "lots" is not a whole number'),
        (["run", "x", "--ratio", "4", "--budget", "9"], "a budget and a ratio at once"),
        (["run", "x", "--preset", "strikt"], 'did you mean "strict"?'),
        (["run", "x", "--summarizer", "hed"], 'did you mean "head"?'),
        (["run", "x", "--summarizer", "head", "--summarizer-option", "size=3"], "summarizer-option: "),
        (["run", "x", "--format", "codecs"], "format: "),
        (["run", "x", "--rules", "none.yaml"], "none.yaml"),
        (["run", "x", "--facts", "none.json"], "none.json"),
        (["run", "x", "--config", "none.yaml"], "none.yaml"),
        (["run", "x", "--json", "-o", "-"], "both want standard output"),
        (["rules", "show", "NOPE"], 'unknown rule "NOPE"'),
    ],
)
def test_mistakes_of_the_user_are_2_with_a_hint_and_touch_nothing(args: list[str], said: str, cli: Cli) -> None:
    ran = cli(*args)

    assert ran.code == 2
    assert said in ran.err + ran.out
    assert ran.err.count("Traceback") == 0
    assert list(Path().iterdir()) == []


def test_a_file_as_command_is_understood(cli: Cli) -> None:
    Path("session.jsonl").touch()

    assert "to compress a file:" in cli("session.jsonl").err


def test_a_bug_is_3_with_a_report(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("compressor.reading.ordered", lambda: 1 / 0)

    ran = cli("formats")

    assert ran.code == 3
    assert "ZeroDivisionError" in ran.err
    report = Path(re.search(r"this is a bug; see (\S+)", ran.err)[1])
    assert "Traceback" in report.read_text(encoding="utf-8")


def test_an_interrupt_is_130(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("compressor.reading.ordered", interrupt)

    assert cli("formats").code == 130


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m compressor rules list --preset strict | head -c 1"
    ran = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True)

    assert ran.stderr == ""


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert printable("a\x1b[31m\u202eb\tc\nd") == "a\\x1b[31m\\u202eb\tc\nd"


def test_completion_knows_names(monkeypatch: pytest.MonkeyPatch) -> None:
    env = {"_COMPRESS_COMPLETE": "bash_complete", "COMP_WORDS": "compress run --fail-on ", "COMP_CWORD": "3"}
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    code = "import sys; sys.argv = ['compress']; from compressor.cli import entry; entry()"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert "plain,warning" in ran.stdout


def seconds(*args: str) -> float:
    """Processor time, the best of several runs: the machine may be busy with other tests."""
    best = 9.0
    for _ in range(7):
        before = os.times()
        subprocess.run([sys.executable, *args], check=True, capture_output=True)
        after = os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        best = min(best, spent)
    return best


def test_help_starts_at_once() -> None:
    assert seconds("-m", "compressor", "--help") - seconds("-c", "") < 0.15


def test_nothing_heavy_is_imported_for_help() -> None:
    code = (
        "import sys; from compressor.cli import main; main(['run', '--help']); "
        "print([m for m in ('spacy', 'tiktoken', 'rich', 'jsonschema', 'ruamel.yaml', 'orjson') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout.splitlines()[-1] == "[]"


def test_main_takes_the_arguments_of_the_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["compress", "--version"])

    assert main() == 0
    assert __version__ in capsys.readouterr().out
