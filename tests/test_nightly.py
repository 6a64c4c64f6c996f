"""Nights: only what is new, the same for any number of workers, every odd file with its verdict."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from kit import FIXTURES, ROOT, Ran

from compressor import Archive
from compressor.archive import Store
from compressor.audit import Audit
from compressor.data import resource
from compressor.homes import known, open_files, parent_of
from compressor.originals import verify

Cli = Callable[..., Ran]
DIRTY = FIXTURES / "dirty"
SMALL = b"""{"role": "user", "content": "Is the ferry late?"}
{"role": "assistant", "content": "No."}
"""
NIGHT = ("run", "logs", "-o", "small", "--archive", "vault")


@pytest.fixture
def logs(folder: Path) -> Path:
    """A folder of small sessions, and files that are none."""
    made = folder / "logs"
    (made / "app").mkdir(parents=True)
    shutil.copy(DIRTY / "claude-crlf-line-ends.jsonl", made / "app" / "one.jsonl")
    shutil.copy(DIRTY / "claude-two-sessions.jsonl", made / "app" / "two.jsonl")
    (made / "small.jsonl").write_bytes(SMALL)
    shutil.copy(DIRTY / "readme.jsonl", made / "readme.jsonl")
    return made


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path("small/run.report.jsonl").read_bytes().splitlines()]


def by_name() -> dict[str, dict[str, Any]]:
    return {Path(r["path"]).name: r for r in lines()[:-1]}


def tree(folder: str) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(Path(folder).rglob("*")) if p.is_file() and "report" not in p.name}


def test_a_second_night_does_nothing(cli: Cli, logs: Path) -> None:
    first = cli(*NIGHT)
    assert first.code == 0, first
    assert "compacted" in first.out
    outputs = {p: (Path(p).stat().st_mtime_ns, data) for p, data in tree("small").items()}

    second = cli(*NIGHT)

    assert second.code == 0
    assert second.out.startswith("nothing new, 3 as before; ")
    assert {p: (Path(p).stat().st_mtime_ns, data) for p, data in tree("small").items()} == outputs
    assert by_name()["one.jsonl"]["verdict"] == "compacted"
    assert by_name()["one.jsonl"]["reason"] == "not changed since an earlier run"
    assert len(list(Audit(Store(Path("vault"))).records())) == 3


def test_content_decides_and_not_time(cli: Cli, logs: Path) -> None:
    cli(*NIGHT)
    os.utime(logs / "app" / "one.jsonl", (1, 1))
    stat = (logs / "app" / "two.jsonl").stat()
    raw = (logs / "app" / "two.jsonl").read_bytes()
    (logs / "app" / "two.jsonl").write_bytes(raw.replace(b"2026", b"2025"))
    os.utime(logs / "app" / "two.jsonl", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert (logs / "app" / "two.jsonl").read_bytes() != raw

    again = cli(*NIGHT)

    assert again.out.startswith("1 compacted, 2 as before; ")


@pytest.mark.parametrize("change", ["an option", "a rule", "a lost output", "a changed output"])
def test_what_decides_an_output_is_done_again_when_it_changes(cli: Cli, logs: Path, change: str) -> None:
    cli(*NIGHT)
    kept = tree("small")
    options: list[str] = []
    match change:
        case "an option":
            options = ["--focus", "billing"]
        case "a rule":
            Path("own.yaml").write_text(
                "id: OWN001\ndescription: Mine.\nkind: pattern\nwith: {pattern: zebra}\nscope: {role: [user]}\n"
                "action: {protect: verbatim}\nexamples:\n- text: a zebra\n  finds: [zebra]\n- text: a horse\n  finds: []\n"
            )
            options = ["--rules", "own.yaml"]
        case "a lost output":
            Path("small/app/one.jsonl").unlink()
        case "a changed output":
            Path("small/app/one.jsonl").write_bytes(b"{}\n")

    again = cli(*NIGHT, *options)

    assert again.code == 0, again
    assert "nothing new" not in again.out
    if "output" in change:
        assert tree("small") == kept


def test_any_number_of_workers_writes_the_same(cli: Cli, logs: Path) -> None:
    for name in ("claude-inline-sidechain", "codex-orphan-result", "claude-unpaired-call", "chat-utf16"):
        shutil.copy(DIRTY / f"{name}.jsonl", logs / f"{name}.jsonl")
    cli(*NIGHT)
    alone, reports = tree("small"), lines()
    shutil.rmtree("small")
    shutil.rmtree("vault")

    cli(*NIGHT, "--jobs", "2")

    assert tree("small") == alone
    for mine, theirs in zip(reports, lines(), strict=True):
        mine.pop("timing")
        theirs.pop("timing")
        assert mine == theirs
    assert list(verify(Store(Path("vault")))) == []


def test_the_report_is_valid_line_by_line(cli: Cli, logs: Path) -> None:
    shutil.copy(DIRTY / "chat-utf16.jsonl", logs / "broken.jsonl")
    cli(*NIGHT)
    schema = json.loads(resource("schemas/report.schema.json").read_text(encoding="utf-8"))
    one = {"$ref": "#/$defs/session", "$defs": schema["$defs"]}

    *sessions, last = lines()

    for line in sessions:
        jsonschema.validate(line, one)
    jsonschema.validate({**last, "sessions": []}, schema)
    assert last["totals"]["sessions"] == len(sessions) == 5


def test_one_old_broken_file_fails_one_night(cli: Cli, logs: Path) -> None:
    shutil.copy(DIRTY / "chat-utf16.jsonl", logs / "broken.jsonl")

    first, second = cli(*NIGHT), cli(*NIGHT, "-q")

    assert first.code == 1
    assert "broken.jsonl:1: text in UTF-16" in first.err
    assert (second.code, second.out, second.err) == (0, "", "")
    assert by_name()["broken.jsonl"]["verdict"] == "quarantined"
    (logs / "broken.jsonl").write_bytes((logs / "broken.jsonl").read_bytes() + b"\0\n")
    assert cli(*NIGHT).code == 1
    (logs / "broken.jsonl").write_bytes((logs / "broken.jsonl").read_bytes() + b"\0\n")
    assert cli(*NIGHT, "--fail-on", "never").code == 0


def test_every_odd_file_has_its_verdict(cli: Cli, logs: Path) -> None:
    os.mkfifo(logs / "pipe.jsonl")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(logs / "socket.jsonl"))
    (logs / "loop.jsonl").symlink_to(logs / "loop.jsonl")
    (logs / "up").symlink_to(logs, target_is_directory=True)
    (logs / "broken-link.jsonl").symlink_to(logs / "nowhere.jsonl")
    (logs / "device.jsonl").symlink_to("/dev/zero")
    shutil.copy(logs / "small.jsonl", os.fsencode(logs) + b"/name-\xe9\xff.jsonl")
    (logs / "empty.jsonl").touch()
    locked = logs / "locked.jsonl"
    shutil.copy(logs / "small.jsonl", locked)
    locked.chmod(0)

    ran = cli(*NIGHT)

    listener.close()
    found = by_name()
    assert {n: found[n]["reason"] for n in ("pipe.jsonl", "socket.jsonl", "device.jsonl")} == dict.fromkeys(
        ("pipe.jsonl", "socket.jsonl", "device.jsonl"), "neither a file nor a folder"
    )
    assert found["loop.jsonl"]["reason"] == "too many levels of symbolic links"
    assert found["broken-link.jsonl"]["reason"] == "a broken link"
    assert found["up"]["reason"].startswith("a link to a folder")
    assert found["empty.jsonl"]["verdict"] == "ignored"
    assert found["name-\udce9\udcff.jsonl"]["verdict"] == "unchanged"
    if os.geteuid():
        assert found["locked.jsonl"]["verdict"] == "quarantined"
        assert "locked.jsonl: cannot be opened: permission denied" in ran.err
    assert found["one.jsonl"]["verdict"] == "compacted"
    assert list(verify(Store(Path("vault")))) == []
    assert cli("restore", os.fsdecode(b"small/name-\xe9\xff.jsonl"), "--archive", "vault", "-o", "x").code == 0
    assert Path("x").read_bytes() == (logs / "small.jsonl").read_bytes()


@pytest.mark.parametrize("path", ["pipe", "device"])
def test_a_pipe_or_a_device_that_is_named_is_refused(cli: Cli, folder: Path, path: str) -> None:
    if path == "pipe":
        os.mkfifo("pipe")
    ran = cli("run", "pipe" if path == "pipe" else "/dev/zero", "-o", "out.jsonl")

    assert ran.code == 1
    assert ("a named pipe, not a file" if path == "pipe" else "a device, not a file") in ran.err


def test_no_output_leaves_its_folder_by_a_link(cli: Cli, logs: Path) -> None:
    Path("elsewhere").mkdir()
    Path("small").mkdir()
    Path("small/app").symlink_to(Path("elsewhere").absolute(), target_is_directory=True)

    ran = cli(*NIGHT)

    assert ran.code == 1
    assert list(Path("elsewhere").iterdir()) == []
    assert by_name()["one.jsonl"]["verdict"] == "quarantined"
    assert "would leave the output folder by a link" in by_name()["one.jsonl"]["reason"]
    assert by_name()["small.jsonl"]["verdict"] == "unchanged"


def test_the_young_and_the_open_are_left_for_later(cli: Cli, logs: Path) -> None:
    for path in logs.rglob("*.jsonl"):
        os.utime(path, (time.time() - 7200,) * 2)
    os.utime(logs / "app" / "one.jsonl", (time.time() - 60,) * 2)

    with (logs / "app" / "two.jsonl").open("ab"):
        ran = cli(*NIGHT, "--min-age", "1h")

    assert ran.code == 0
    assert "left for the next run" in ran.out
    assert by_name()["one.jsonl"]["verdict"] == "ignored"
    assert "younger than --min-age" in by_name()["one.jsonl"]["reason"]
    if sys.platform == "linux":
        assert by_name()["two.jsonl"]["reason"] == "left for the next run: a process is writing to it"
    assert cli(*NIGHT).code == 0
    assert by_name()["one.jsonl"]["verdict"] == "compacted"


def test_max_time_leaves_the_rest(cli: Cli, logs: Path) -> None:
    ran = cli(*NIGHT, "--max-time", "0s")

    assert ran.code == 0
    assert ran.out.startswith("nothing new, 4 left for the next run")
    assert cli(*NIGHT).out.startswith("2 compacted, 1 unchanged; ")


def test_two_runs_at_once(cli: Cli, logs: Path) -> None:
    cli(*NIGHT)
    script = (
        "import sys,time\nfrom pathlib import Path\nfrom compressor.archive import hold\n"
        "with hold(Path('vault/run.lock'), wait=0, purpose='nightly run'):\n print(flush=True)\n time.sleep(60)"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert other.stdout is not None
    other.stdout.readline()

    ran = cli(*NIGHT)
    status = json.loads(cli("status", "vault", "--json").out)["runs"]

    assert ran.code == 1
    assert f"vault: in use by another process ({other.pid} on" in ran.err
    assert "hint: wait until it has ended" in ran.err
    assert [r["state"] for r in status] == ["ended"]
    other.kill()
    other.communicate()
    assert cli(*NIGHT).code == 0


def test_status_tells_of_the_last_runs(cli: Cli, logs: Path) -> None:
    assert cli("status", "vault").code == 1
    cli(*NIGHT)
    cli(*NIGHT)

    ran = cli("status", "vault")

    assert ran.code == 0
    assert ran.out.count("exit 0") == 2
    assert "2 compacted, 1 unchanged" in ran.out
    assert len(json.loads(cli("status", "vault", "--last", "1", "--json").out)["runs"]) == 1


def test_outputs_beside_their_inputs_stay_outputs(cli: Cli, logs: Path) -> None:
    for _ in range(3):
        ran = cli("run", "logs", "--archive", "vault")
        assert ran.code == 0, ran
    assert sorted(p.name for p in logs.rglob("*.compact*")) == [
        "one.compact.jsonl", "small.compact.jsonl", "two.compact.jsonl",
    ]  # fmt: skip
    (logs / "small.jsonl").write_bytes(SMALL.replace(b"No", b"Yes"))
    assert cli("run", "logs", "--archive", "vault").code == 0
    assert (logs / "small.compact.jsonl").read_bytes() == (logs / "small.jsonl").read_bytes()


def test_replace_frees_the_disk_and_nothing_is_lost(cli: Cli, logs: Path) -> None:
    before = tree("logs")
    for path in logs.rglob("*.jsonl"):
        os.utime(path, (time.time() - 7200,) * 2)

    first = cli("run", "logs", "--archive", "vault", "--replace")

    assert first.code == 0, first
    assert first.out.startswith("2 compacted, 1 unchanged; ")
    assert tree("logs") != before
    for path, raw in before.items():
        if "readme" not in path:
            assert cli("restore", path, "--archive", "vault", "-o", "x").code == 0
            assert Path("x").read_bytes() == raw
    small = tree("logs")
    second = cli("run", "logs", "--archive", "vault", "--replace", "--min-age", "0")
    assert second.out.startswith("nothing new, 3 as before; ")
    assert tree("logs") == small


def test_a_replaced_session_that_goes_on_is_compacted_from_its_original(cli: Cli, folder: Path) -> None:
    (folder / "logs").mkdir()
    path = Path(shutil.copy(FIXTURES / "codex" / "payments-cli.jsonl", folder / "logs" / "session.jsonl"))
    raw = path.read_bytes()
    run = ("run", "logs", "--archive", "vault", "--replace", "--min-age", "0", "--fail-on", "never")
    cli(*run)
    if path.read_bytes() == raw:
        pytest.skip("the session was reverted")
    more = b"".join(
        line for line in raw.splitlines(keepends=True)[-40:] if b'"user_message"' in line or b'"user"' in line
    )
    path.write_bytes(path.read_bytes() + more)

    cli(*run)

    record = list(Audit(Store(Path("vault"))).records())[-1]
    assert record["generation"] <= 1
    assert Archive("vault").data(record["original"]["sha256"]) == raw + more


def test_replace_spares_the_young_and_wants_an_archive(cli: Cli, logs: Path) -> None:
    before = tree("logs")

    ran = cli("run", "logs", "--archive", "vault", "--replace")

    assert tree("logs") == before
    assert "left for the next run" in ran.out
    assert cli("run", "logs", "--replace").code == 2
    assert cli("run", "logs", "--replace", "--archive", "vault", "-o", "small").code == 2


def test_what_is_written_while_it_is_replaced_is_put_back(
    cli: Cli, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from compressor import disk, transaction

    path = logs / "app" / "one.jsonl"
    raw = path.read_bytes()
    writer = path.open("ab")
    plain = disk.rename

    def late(name: str, source: Path, target: Path) -> None:
        plain(name, source, target)
        if target == path.absolute() or target == Path("logs/app/one.jsonl"):
            writer.write(b"{}\n")
            writer.flush()

    monkeypatch.setattr(transaction.disk, "rename", late)
    monkeypatch.setattr("compressor.homes.open_files", frozenset)

    ran = cli("run", "logs", "--archive", "vault", "--replace", "--min-age", "0")

    writer.close()
    assert ran.code == 1
    assert "written to while it was compacted: left as it is" in ran.err
    assert path.read_bytes() == raw + b"{}\n"


def test_known_homes_are_listed_first(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setenv("CODEX_HOME", str(folder / "codex"))
    assert cli("run", "--known", "--dry-run").out == "none of the known tools has a home here\n"
    project = folder / ".claude" / "projects" / "-home-mara-app"
    project.mkdir(parents=True)
    shutil.copy(DIRTY / "claude-crlf-line-ends.jsonl", project / "s.jsonl")
    (folder / "codex" / "sessions").mkdir(parents=True)

    listed = cli("run", "--known", "--dry-run")
    ran = cli("run", "--known", "--archive", "vault", "-o", "small")

    assert [h.tool for h in known()] == ["claude-code", "codex"]
    assert "claude-code" in listed.out
    assert ran.code == 0, ran
    assert "1 compacted" in ran.out
    assert len(list(Path("small").rglob("s.jsonl"))) == 1
    assert cli("run", "--known").code == 2
    assert cli("run", "--known", "--archive", "vault").code == 2
    assert cli("run").code == 2


def test_sub_agents_belong_to_their_session(cli: Cli, logs: Path) -> None:
    agents = logs / "app" / "one" / "subagents"
    agents.mkdir(parents=True)
    (agents / "agent-1.jsonl").write_bytes(SMALL)
    (agents.parent / "result.txt").write_bytes(b"\x00 a long result \xff")

    cli(*NIGHT)

    assert parent_of(agents / "agent-1.jsonl") == "one"
    record = next(r for r in Audit(Store(Path("vault"))).records() if r["source"].endswith("one.jsonl"))
    kept = {Path(p).name: Archive("vault").data(key) for p, key in record["attached"].items()}
    assert kept == {"agent-1.jsonl": SMALL, "result.txt": b"\x00 a long result \xff"}
    assert "0 originals" in cli("archive", "prune", "vault", "--unreferenced").out
    assert by_name()["agent-1.jsonl"]["parent"] == "one"
    assert by_name()["one.jsonl"]["parent"] == ""


def test_open_files_are_seen(folder: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("the system does not tell")
    with Path("held").open("wb") as file:
        info = os.fstat(file.fileno())
        assert (info.st_dev, info.st_ino) in open_files()
    assert (info.st_dev, info.st_ino) not in open_files()


class Home:
    """Two weeks of a home: sessions appear, grow, fork, vanish, break."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder, self.rng = folder, rng
        folder.mkdir()
        self.ever: dict[str, bytes] = {}
        self.count = 0
        source = (DIRTY / "claude-inline-sidechain.jsonl").read_bytes()
        self.records = [line for line in source.splitlines(keepends=True) if line.strip()]

    def night(self) -> None:
        for _ in range(self.rng.randint(1, 2)):
            self._write(f"s{self.count}.jsonl", b"".join(self.records[: self.rng.randint(6, len(self.records))]))
            self.count += 1
        names = sorted(p.name for p in self.folder.iterdir())
        for name in self.rng.sample(names, min(3, len(names))):
            path = self.folder / name
            raw = path.read_bytes()
            match self.rng.choice(["grow", "fork", "vanish", "break", "rest"]):
                case "grow":
                    extra = {"type": "user", "uuid": f"g{self.rng.random()}", "sessionId": "x", "message":
                             {"role": "user", "content": f"And now part {self.rng.randint(0, 999)}, please."}}  # fmt: skip
                    self._write(name, raw + json.dumps(extra).encode() + b"\n")
                case "fork":
                    self._write(f"s{self.count}.jsonl", raw[: raw.rfind(b"\n", 0, len(raw) * 9 // 10) + 1] + b"\n")
                    self.count += 1
                case "vanish":
                    path.unlink()
                case "break":
                    self._write(name, raw[: self.rng.randint(1, len(raw))])
                case _:
                    pass

    def _write(self, name: str, raw: bytes) -> None:
        (self.folder / name).write_bytes(raw)
        self.ever[hashlib.sha256(raw).hexdigest()] = raw


@pytest.mark.slow
def test_two_weeks_of_nights(cli: Cli, folder: Path) -> None:
    home = Home(folder / "logs", random.Random(14))
    stored: set[str] = set()
    for night in range(14):
        home.night()
        ran = cli(*NIGHT)
        assert ran.code in {0, 1}, (night, ran)
        assert "unexpected" not in ran.err, (night, ran)

        store = Store(Path("vault"))
        assert list(verify(store)) == [], night
        archive = Archive("vault")
        now = {o.key for o in archive}
        assert stored <= now, "an original was lost"
        stored = now
        for key in now:
            assert store.get(key) == home.ever[key], (night, key)
        done = by_name()
        there = {p.name: p.read_bytes() for p in home.folder.iterdir()}
        assert {n for n, r in done.items() if r["verdict"] in {"compacted", "unchanged", "reverted"}} <= there.keys()
        assert there.keys() <= done.keys()
        for name, raw in there.items():
            if done[name]["verdict"] in {"compacted", "unchanged", "reverted"}:
                assert hashlib.sha256(raw).hexdigest() in now, (night, name)
                assert done[name]["generation"] <= 1
                assert archive.find(Path("small") / name).key == done[name]["archive"]
        kept = tree("small")
        again = cli(*NIGHT)
        assert again.out.startswith("nothing new"), (night, again)
        assert tree("small") == kept
        store.close()
    records = list(Audit(Store(Path("vault"))).records())
    seen = [(r["source"], r["position"], r["original"]["sha256"], r["result"]["sha256"]) for r in records]
    assert all(a != b for a, b in pairwise(seen))
    print(f"\n{len(stored)} originals, {len(records)} records, {home.count} sessions in 14 nights")
