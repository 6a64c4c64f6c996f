"""Drive the real agents without a person: a home and a folder of their own, and the model on this machine."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripted_model import Model

#: Seconds that one turn of an agent may take.
PATIENCE = 180
_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR")


def binary(name: str) -> Path | None:
    """The agent's program, from one of the folders in COMPRESS_CLIENTS."""
    for folder in filter(None, os.environ.get("COMPRESS_CLIENTS", "").split(os.pathsep)):
        path = Path(folder) / "node_modules" / ".bin" / name
        if path.exists():
            return path
    return None


@dataclass
class Agent:
    """One agent in its own home.

    Attributes:
        home: its home; a file that is put there is resumed there.
        folder: the repository it works in.
        model: whom it asks.
    """

    home: Path
    folder: Path
    model: Model
    errors: list[str] = field(default_factory=list)

    name = ""
    suffix = ".jsonl"
    adjacent = True
    #: Tokens that make the agent compact by itself.
    full = 0

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        if not (self.folder / ".git").exists():
            self._make_folder()
        self.model.script.folder = str(self.folder)
        self.prepare()

    def _make_folder(self) -> None:
        (self.folder / "src").mkdir(parents=True)
        (self.folder / "README.md").write_text("# scratch\n\n" + "".join(f"line {n}\n" for n in range(60)))
        (self.folder / "src" / "app.py").write_text("def add(a, b):\n    return a + b\n\n\nprint(add(1, 2))\n")
        who = ("-c", "user.name=t", "-c", "user.email=t@example.com")
        for command in (("init", "-q", "-b", "main"), ("add", "-A"), (*who, "commit", "-qm", "start")):
            subprocess.run(["git", *command], cwd=self.folder, check=True, capture_output=True)

    def run(self, *arguments: str, cwd: Path | None = None) -> str:
        """Run the agent's program; its standard output."""
        env = {k: os.environ[k] for k in _KEPT if k in os.environ}
        env |= {"HOME": str(self.home), "NO_COLOR": "1", "TERM": "xterm-256color", **self.environment()}
        for key, place in (
            ("DATA", ".local/share"),
            ("CONFIG", ".config"),
            ("STATE", ".local/state"),
            ("CACHE", ".cache"),
        ):
            env[f"XDG_{key}_HOME"] = str(self.home / place)
        # into a file: an agent that exits while a pipe is full loses what is in it
        with tempfile.TemporaryFile("w+") as told:
            process = subprocess.Popen(
                [str(binary(self.name)), *arguments],
                cwd=cwd or self.folder,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=told,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            try:
                _, err = process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                _, err = process.communicate()
            told.seek(0)
            out = told.read()
        self.errors.append(f"{process.returncode}: {out[-500:]} {err[-1000:]}")
        return out

    def turn(self, prompt: str, session: str = "", *, calls: int = 0, full: bool = False) -> str:
        """One turn of a session, a new one without `session`; returns the session's id.

        Args:
            calls: how many tool calls the model makes.
            full: the model says, at the third call, that its window is full.
        """
        self.model.script.calls = calls
        self.model.script.usage = [0, 0, self.full] if full else []
        out = self.talk(prompt, session, full=full)
        self.model.script.usage = []
        return session or self.session_of(out)

    # -- what differs from agent to agent

    def prepare(self) -> None:
        """Write the settings."""

    def environment(self) -> dict[str, str]:
        """Further environment variables."""
        return {}

    def talk(self, prompt: str, session: str, *, full: bool) -> str:
        """Say something; standard output."""
        raise NotImplementedError

    def session_of(self, out: str) -> str:
        """The new session's id, from the output."""
        raise NotImplementedError

    def compact(self, session: str) -> None:
        """Let the agent compact the session by itself."""
        self.turn("Second turn BETA", session, calls=5, full=True)

    def file(self, session: str) -> Path:
        """The session's file."""
        raise NotImplementedError

    def put(self, file: Path, session: str) -> None:
        """Put a session file where the agent finds it."""
        raise NotImplementedError


class Codex(Agent):
    """OpenAI Codex."""

    name = "codex"
    adjacent = False
    full = 90_000

    def prepare(self) -> None:
        folder = self.home / ".codex"
        folder.mkdir(exist_ok=True)
        (folder / "config.toml").write_text(
            'model = "mock-model"\nmodel_provider = "mock"\napproval_policy = "never"\n'
            'sandbox_mode = "danger-full-access"\n[model_providers.mock]\nname = "mock"\n'
            f'base_url = "http://127.0.0.1:{self.model.port}/v1"\nenv_key = "MOCK_KEY"\nwire_api = "responses"\n'
            "request_max_retries = 0\nstream_max_retries = 0\n"
            f'[projects."{self.folder}"]\ntrust_level = "trusted"\n'
        )

    def environment(self) -> dict[str, str]:
        return {"CODEX_HOME": str(self.home / ".codex"), "MOCK_KEY": "none"}

    def talk(self, prompt: str, session: str, *, full: bool) -> str:
        resume = ("resume", session) if session else ()
        limit = ("-c", "model_auto_compact_token_limit=60000") if full else ()
        return self.run("exec", "--json", "--skip-git-repo-check", *limit, *resume, prompt)

    def session_of(self, out: str) -> str:
        return _named(out, "thread_id")

    def file(self, session: str) -> Path:
        return next((self.home / ".codex" / "sessions").rglob(f"*{session}.jsonl"))

    def put(self, file: Path, session: str) -> None:
        known = list((self.home / ".codex" / "sessions").rglob(f"*{session}.jsonl"))
        place = (
            self.home / ".codex" / "sessions" / "2026" / "01" / "01" / f"rollout-2026-01-01T00-00-00-{session}.jsonl"
        )
        target = known[0] if known else place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())
        for store in (self.home / ".codex").glob("state_*.sqlite"):
            with sqlite3.connect(store) as db:
                db.execute("update threads set rollout_path=? where id=?", (str(target), session))
            db.close()


class Claude(Agent):
    """Claude Code."""

    name = "claude"
    adjacent = False  # between them may stand a system message; duplicates and order are looked at

    def environment(self) -> dict[str, str]:
        off = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "IS_SANDBOX")
        address = f"http://127.0.0.1:{self.model.port}"
        return {"ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "none", **dict.fromkeys(off, "1")}

    def talk(self, prompt: str, session: str, *, full: bool) -> str:
        resume = ("--resume", session) if session else ()
        rights = ("--permission-mode", "bypassPermissions", "--allow-dangerously-skip-permissions")
        return self.run("-p", "--output-format", "json", *rights, *resume, prompt)

    def session_of(self, out: str) -> str:
        return _named(out, "session_id")

    def compact(self, session: str) -> None:
        self.turn("Second turn BETA", session, calls=4)
        self.talk("/compact", session, full=False)

    def _folder(self) -> Path:
        return self.home / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(self.folder))

    def file(self, session: str) -> Path:
        return next((self.home / ".claude" / "projects").rglob(f"{session}.jsonl"))

    def put(self, file: Path, session: str) -> None:
        self._folder().mkdir(parents=True, exist_ok=True)
        (self._folder() / f"{session}.jsonl").write_bytes(file.read_bytes())


class Gemini(Agent):
    """Gemini CLI."""

    name = "gemini"
    full = 700_000

    def prepare(self) -> None:
        folder = self.home / ".gemini"
        (folder / "tmp" / "repo" / "chats").mkdir(parents=True, exist_ok=True)
        (folder / "history" / "repo").mkdir(parents=True, exist_ok=True)
        for kind in ("tmp", "history"):
            (folder / kind / "repo" / ".project_root").write_text(str(self.folder))
        (folder / "projects.json").write_text(json.dumps({"projects": {str(self.folder): "repo"}}))
        settings: dict[str, Any] = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"enableAutoUpdate": False, "sessionRetention": {"enabled": False}},
            "telemetry": {"enabled": False},
            "privacy": {"usageStatisticsEnabled": False},
        }
        (folder / "settings.json").write_text(json.dumps(settings))

    def environment(self) -> dict[str, str]:
        address = f"http://127.0.0.1:{self.model.port}"
        return {"GOOGLE_GEMINI_BASE_URL": address, "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def talk(self, prompt: str, session: str, *, full: bool) -> str:
        resume = ("--resume", session) if session else ()
        return self.run("--skip-trust", "--yolo", "-m", "gemini-2.5-flash", "-o", "json", *resume, "-p", prompt)

    def session_of(self, out: str) -> str:
        return _named(out, "session_id")

    def file(self, session: str) -> Path:
        # a resume in another minute leaves a file with nothing but a header beside it
        return max(
            (self.home / ".gemini" / "tmp").rglob(f"session-*{session[:8]}.jsonl"), key=lambda p: p.stat().st_size
        )

    def put(self, file: Path, session: str) -> None:
        chats = self.home / ".gemini" / "tmp" / "repo" / "chats"
        known = list(chats.glob(f"session-*{session[:8]}.jsonl"))
        for stale in known:
            stale.unlink()
        target = known[0] if known else chats / f"session-2026-01-01T00-00-{session[:8]}.jsonl"
        target.write_bytes(file.read_bytes())


class OpenCode(Agent):
    """OpenCode; its session files are exports."""

    name = "opencode"
    suffix = ".json"
    adjacent = False
    full = 199_000

    def prepare(self) -> None:
        folder = self.home / ".config" / "opencode"
        folder.mkdir(parents=True, exist_ok=True)
        model = {"name": "mock", "limit": {"context": 200_000, "output": 8_000}, "tool_call": True}
        address = {"baseURL": f"http://127.0.0.1:{self.model.port}/v1", "apiKey": "none"}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "mock",
            "options": address,
            "models": {"mock-model": model},
        }
        settings: dict[str, Any] = {
            "autoupdate": False,
            "share": "disabled",
            "permission": {"*": "allow"},
            "lsp": False,
        }
        settings |= dict.fromkeys(("model", "small_model"), "mock/mock-model")
        (folder / "opencode.json").write_text(json.dumps({**settings, "provider": {"mock": provider}}))

    def environment(self) -> dict[str, str]:
        off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
        return {f"OPENCODE_DISABLE_{name}": "1" for name in off}

    def talk(self, prompt: str, session: str, *, full: bool) -> str:
        resume = ("--session", session) if session else ()
        return self.run("run", "--format", "json", "--auto", *resume, prompt)

    def session_of(self, out: str) -> str:
        return _named(out, "sessionID")

    def file(self, session: str) -> Path:
        path = self.home / f"{session}.json"
        path.write_text(self.run("export", session))
        return path

    def put(self, file: Path, session: str) -> None:
        self.run("import", str(file))


AGENTS = {agent.name: agent for agent in (Codex, Claude, Gemini, OpenCode)}


def _named(out: str, key: str) -> str:
    found = re.search(rf'"{key}": ?"([^"]+)"', out)
    assert found, out[-2000:]
    return found[1]
