"""How a model is named; what is wrong is told before any file is touched; keys go nowhere but to their endpoint."""

from __future__ import annotations

import builtins
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from modelkit import KEY, messages, report_of
from server import Server, Status

import compressor
from compressor.errors import ConfigError
from compressor.summarizers._providers import client_name, key_of

Cli = Callable[..., Any]


def _untouched() -> bool:
    return sorted(p.name for p in Path().iterdir()) == ["session.json"]


def test_a_model_is_named_in_every_place(
    session: Path, server: Server, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways: list[tuple[str, dict[str, str], list[str]]] = [
        ("", {}, ["--model", "m", "--base-url", server.url]),
        ("", {"COMPRESS_MODEL": "m", "COMPRESS_BASE_URL": server.url}, []),
        (f"model: m\nbase-url: {server.url}\n", {}, []),
        (f"summarizer: llm\nsummarizer-option: {{model: m, base_url: '{server.url}'}}\n", {}, []),
    ]
    for number, (config, variables, args) in enumerate(ways):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        Path("compress.yaml").write_text(config or "{}\n")
        assert cli("run", "session.json", "-o", f"{number}.json", "--archive", f"a{number}", *args).code == 0
        for name in variables:
            monkeypatch.delenv(name)
        assert report_of(f"{number}.report.json")["summarizer"] == "llm"
    Path("mine.yaml").write_text(
        f"description: mine\nextends: archive\nsummarizer: {{llm: {{model: m, base_url: '{server.url}'}}}}\n"
    )
    assert cli("run", "session.json", "-o", "p.json", "--archive", "ap", "--preset", "mine.yaml").code == 0
    assert report_of("p.report.json")["summarizer"] == "llm"
    assert len(server.asked) == 5
    assert {a.body["model"] for a in server.asked} == {"m"}


def test_the_python_api(server: Server, folder: Path) -> None:
    result = compressor.compress(messages(), model="m", base_url=server.url)

    assert result.sessions[0].summarizer == "llm"
    assert result.sessions[0].usage["requests"] == 1
    assert list(Path().iterdir()) == []


def test_the_note_alone(session: Path, server: Server, cli: Cli) -> None:
    ran = cli("brief", "session.json", "--model", "m", "--base-url", server.url)

    assert ran.code == 0
    assert "## Goal" in ran.out
    assert _untouched()


@pytest.mark.parametrize(
    ("args", "message", "hint"),
    [
        (["--summarizer", "llm"], "no model named", "--model NAME"),
        (["--summarizer", "llmm"], 'summarizer: "llmm" is not known', 'did you mean "llm"?'),
        (["--model", "m", "--summarizer", "head"], "model: the summarizer head has none", "--summarizer llm"),
        (["--base-url", "http://x/v1"], "base-url: the summarizer extractive has none", "--summarizer llm"),
        (["--model", "m", "--base-url", "localhost:1"], 'base-url: "localhost:1" is no address', "http://localhost:11434/v1"),
        (["--model", "gpt-4.1"], 'no key for "api.openai.com"', "OPENAI_API_KEY"),
        (["--model", "claude-sonnet-4-20250514"], 'no key for "api.anthropic.com"', "ANTHROPIC_API_KEY"),
        (["--model", "m", "--base-url", "https://openrouter.ai/api/v1"], 'no key for "openrouter.ai"', "OPENROUTER_API_KEY"),
        (["--model", "m", "--base-url", "https://llm.example.org/v1"], 'no key for "llm.example.org"', "COMPRESS_API_KEY"),
        (["--model", "none.gguf"], "none.gguf: the model cannot be opened", "--model FILE.gguf"),
        (["--model", "session.json", "--summarizer", "local"], "session.json: not a GGUF file", "--model FILE.gguf"),
        (["--summarizer", "replay"], "cassette: none named", "record one"),
        (["--summarizer", "replay", "--cassette", "no.jsonl"], 'cassette: "no.jsonl" is not there', "record one"),
        (["--summarizer", "replay", "--cassette", "session.json"], "session.json:1: not a cassette", "record it"),
        (["--model", "m", "--base-url", "http://localhost:1/v1", "--max-cost", "1"], "max-cost: no price is known", "--prices"),
        (["--model", "gpt-4.1", "--max-cost", "0"], 'max-cost: "0" is not a number above 0', "see compress run"),
        (["--model", "m", "--summarizer-option", "tiemout=3"], "tiemout", 'did you mean "timeout"?'),
        (["--model", "m", "--summarizer-option", "client=llm"], 'the llm package knows no model "m"', "llm models"),
        (["--batch"], "batch: the summarizer extractive has none", "--summarizer llm"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_before_any_file_is_touched(
    session: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, args: list[str], message: str, hint: str
) -> None:
    monkeypatch.delenv("COMPRESS_API_KEY")

    ran = cli("run", "session.json", *args)

    assert ran.code == 2, ran.out + ran.err
    assert message in ran.err
    assert hint in ran.err
    assert "Traceback" not in ran.err
    assert _untouched()


@pytest.mark.parametrize(
    ("package", "args", "extra"),
    [
        ("openai", ["--model", "m"], "openai"),
        ("anthropic", ["--model", "claude-x"], "anthropic"),
        ("llm", ["--model", "m", "--summarizer-option", "client=llm"], "llm"),
        ("stamina", ["--model", "m"], "openai"),
        ("xllamacpp", ["--model", "m.gguf"], "local"),
    ],
)
def test_a_missing_extra_says_what_to_install(
    session: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, package: str, args: list[str], extra: str
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == package else real(name, *a))

    ran = cli("run", "session.json", *args)

    assert ran.code == 2
    assert f'the package "{package}" is not installed' in ran.err
    assert f"pip install 'transcript-compressor[{extra}]'" in ran.err
    assert _untouched()


def test_commands_that_ask_nobody_need_no_key(session: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMPRESS_API_KEY")
    Path("compress.yaml").write_text("model: gpt-4.1\n")

    assert cli("stats", "session.json").code == 0
    assert cli("facts", "session.json").code == 0
    assert cli("verify", "session.json", "session.json").code == 0


def test_the_sdks_are_imported_only_when_a_model_is_asked(
    session: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def watched(name: str, *args: Any, **kwargs: Any) -> Any:
        assert name.split(".", maxsplit=1)[0] not in {"openai", "anthropic", "llm", "xllamacpp", "stamina"}, name
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", watched)
    assert cli("run", "session.json").code == 0


def test_a_key_goes_only_where_it_belongs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMPRESS_API_KEY")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    monkeypatch.setenv("DEEPSEEK_API_KEY", "sk-deepseek")

    assert key_of({}, "openai") == ("sk-openai", "OPENAI_API_KEY")
    assert key_of({"base_url": "https://api.deepseek.com"}, "openai") == ("sk-deepseek", "DEEPSEEK_API_KEY")
    assert key_of({"base_url": "http://localhost:11434/v1"}, "openai")[0] == "none"
    for elsewhere in (
        "https://api.openai.com.evil.example/v1",
        "https://evil-openrouter.ai/v1",
        "https://x.example/v1",
    ):
        with pytest.raises(ConfigError):
            key_of({"base_url": elsewhere}, "openai")
    monkeypatch.setenv("COMPRESS_API_KEY", "sk-own")
    assert key_of({"base_url": "https://x.example/v1"}, "openai") == ("sk-own", "COMPRESS_API_KEY")


def test_which_client_speaks() -> None:
    assert client_name({"model": "claude-x"}) == "anthropic"
    assert client_name({"model": "claude-x", "base_url": "https://openrouter.ai/api/v1"}) == "openai"
    assert client_name({"model": "gpt-x"}) == "openai"
    assert client_name({"model": "x", "base_url": "https://api.anthropic.com"}) == "anthropic"
    assert client_name({"model": "x", "client": "llm"}) == "llm"


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
@pytest.mark.parametrize("failing", [False, True])
def test_the_key_is_nowhere_but_in_the_request(
    session: Path, server: Server, run: Cli, protocol: str, failing: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    if failing:
        server.script = lambda a: Status(500 if a.number else 503, f"your key {a.key} is fine but we are not")

    ran = run("session.json", "--cassette", "tape.jsonl", "--summarizer-option", "attempts=2", protocol=protocol)

    assert {a.key for a in server.asked} == {KEY}
    assert KEY not in ran.out + ran.err + caplog.text
    written = [p for p in Path().rglob("*") if p.is_file()]
    assert len(written) > 4
    assert not [p for p in written if KEY.encode() in p.read_bytes()]
    assert "sk-test" not in json.dumps(report_of())


def test_an_address_with_a_password_is_not_shown(session: Path, server: Server, cli: Cli) -> None:
    address = server.url.replace("http://", "http://me:hunter2@")
    server.script = lambda a: Status(404)

    ran = cli("run", "session.json", "--model", "m", "--base-url", address, "--cassette", "tape.jsonl")

    assert ran.code == 0
    written = b"".join(p.read_bytes() for p in Path().rglob("*") if p.is_file())
    assert b"hunter2" not in written
    assert "hunter2" not in ran.out + ran.err


def test_the_llm_package(session: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    llm = pytest.importorskip("llm")

    class Echo(llm.Model):  # type: ignore[misc,name-defined]
        model_id = "echo"
        needs_key = None

        def execute(self, prompt: Any, stream: bool, response: Any, conversation: Any) -> Any:
            from server import Asked, plain

            response.set_usage(input=7, output=5)
            yield json.dumps(plain(Asked(0, "llm", {}, "", (prompt.prompt,), prompt.system)))

    monkeypatch.setattr(llm, "get_model", lambda name: Echo())
    ran = cli("run", "session.json", "--model", "echo", "--summarizer-option", "client=llm")

    assert ran.code == 0
    result = report_of()
    assert result["summarizer"] == "llm"
    assert result["model"]["tokens"] == {"input": 7, "output": 5, "cached": 0}
