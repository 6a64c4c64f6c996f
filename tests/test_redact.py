"""Secrets leave a file before anything else sees it, and leave everything else as it was."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from kit import Ran

from compressor.formats._records import Source
from compressor.options import Options, settings
from compressor.redact import redacted

Cli = Callable[..., Ran]
KEY = "AKIAQ3EGRKZ5TPLM2W7X"
TOKEN = "ghp_a8Xk2LmQ9rT4vB7nC1dE5fG3hJ6kM0pS2uWz"
ARMOUR = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAE\nbm9uZQ==\n-----END OPENSSH PRIVATE KEY-----"
SECRETS = (KEY, TOKEN, "s3cr3t-Pw!", "wJalrXUtnFEMIK7MDENGbPxRfiCYzLq81mNvT2aQ")


def redact(raw: bytes) -> tuple[bytes, int]:
    source, count = redacted(Source("x", raw), settings(Options(redact=True)))
    return bytes(source.raw), count


def messages() -> bytes:
    text = f"use {KEY} and postgres://app:s3cr3t-Pw!@db/app; again {KEY}"
    call = {"id": TOKEN, "type": "function", "function": {"name": "login", "arguments": json.dumps({"key": KEY})}}
    rows = [
        {"role": "user", "content": text},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": TOKEN, "content": f"aws_secret_access_key = {SECRETS[3]}\n{ARMOUR}"},
        {"role": "assistant", "content": "密码：Zx9-kkP2-mmQ7-ttR4 已保存。", "hidden": {"screen": f"Bearer {TOKEN}"}},
    ]
    return b"".join(json.dumps(r, ensure_ascii=False).encode() + b"\n" for r in rows)


def test_every_secret_goes_wherever_it_stands() -> None:
    out, count = redact(messages())

    text = out.decode()
    for secret in (*SECRETS, "Zx9-kkP2", "b3BlbnNzaC1r"):
        assert secret not in text
    assert count == 6
    rows = [json.loads(line) for line in out.splitlines()]
    # the same secret has the same placeholder, so what it paired still pairs
    assert rows[1]["tool_calls"][0]["id"] == rows[2]["tool_call_id"]
    assert re.findall(r"\[redacted:key:\d\]", rows[0]["content"])[:2] == ["[redacted:key:1]"] * 2
    assert json.loads(rows[1]["tool_calls"][0]["function"]["arguments"])["key"] == "[redacted:key:1]"


def test_placeholders_tell_nothing_and_stay_the_same() -> None:
    first, _ = redact(messages())
    grown, _ = redact(messages() + b'{"role": "user", "content": "and AKIAQ3EGRKZ5TPLM2W7Y too"}\n')

    assert grown.startswith(first)
    assert redact(first) == (first, 0)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\xfe not text \x00",
        b'{"role": "user", "content": "no secret in here, only words and a path /srv/app/x.py"}\n',
        b'{"a": "' + b"A" * 400_000 + b'"}',
    ],
)
def test_nothing_is_touched_where_nothing_is_found(raw: bytes) -> None:
    assert redact(raw) == (raw, 0)


def test_a_bare_value_stays_json() -> None:
    out, count = redact(
        b'{"password": 8472a9b1c3d5e7f9, "access_token": 123456789012345a}\n{"password": 998877665544abc1 }\n'
    )

    assert count == 3
    assert out.count(b'"[redacted:secret:') == 3


def test_nothing_on_the_disk_holds_a_secret(cli: Cli, folder: Path) -> None:
    Path("logs").mkdir()
    Path("logs/chat.jsonl").write_bytes(messages() * 20)

    ran = cli("run", "logs", "-o", "small", "--archive", "vault", "--redact", "--fail-on", "never")

    assert ran.code == 0, ran
    for path in [*Path("small").rglob("*"), *Path("vault").rglob("*")]:
        if path.is_file():
            raw = path.read_bytes()
            assert not any(s.encode() in raw for s in SECRETS), path
    back = cli("restore", "small/chat.jsonl", "--archive", "vault", "-o", "back.jsonl")
    assert "note: 6 secrets were redacted before this was archived" in back.err
    assert Path("back.jsonl").read_bytes() == redact(messages() * 20)[0]
    assert cli("run", "logs", "-o", "small", "--archive", "vault", "--redact").out.startswith("nothing new")


def test_a_rule_of_your_own(cli: Cli, folder: Path) -> None:
    Path("own.yaml").write_text(
        "id: OWN001\ndescription: Badge numbers.\nkind: secret\nwith: {pattern: ['BADGE-[0-9]{8}']}\n"
        "action: {redact: badge}\nexamples:\n- text: BADGE-12345678\n  finds: [BADGE-12345678]\n- text: BADGE-1\n  finds: []\n"
    )
    Path("chat.jsonl").write_text('{"role": "user", "content": "I am BADGE-44556677."}\n' * 2)

    ran = cli("run", "chat.jsonl", "-o", "out.jsonl", "--redact", "--rules", "own.yaml")

    assert ran.code == 0, ran
    assert Path("out.jsonl").read_text().count("I am [redacted:badge:1].") >= 1
    assert "BADGE-4455" not in Path("out.jsonl").read_text()
