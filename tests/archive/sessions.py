"""Sessions as agents write them, made up: records with ids of their own, forks and grown copies."""

from __future__ import annotations

import random
import uuid
from typing import Any

import orjson

WORDS = [
    "archive",
    "record",
    "session",
    "parser",
    "index",
    "writer",
    "reader",
    "branch",
    "commit",
    "deploy",
    "cache",
    "token",
    "ledger",
    "budget",
    "summary",
    "verify",
    "restore",
    "prune",
    "export",
    "nightly",
    "schedule",
    "worker",
    "queue",
    "lock",
    "retry",
    "failure",
    "latency",
    "throughput",
    "memory",
    "stream",
    "window",
    "schema",
    "validate",
    "migrate",
    "rollback",
    "release",
    "staging",
    "production",
    "customer",
    "invoice",
    "payment",
    "currency",
    "region",
    "tenant",
]


def new_id(rng: random.Random) -> str:
    """A UUID from a seed."""
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def record(rng: random.Random, session: str, parent: str | None, role: str, size: int) -> dict[str, Any]:
    """One record in the manner of Claude Code."""
    text = " ".join(f"{rng.choice(WORDS)}{rng.randrange(1000) if rng.random() < 0.2 else ''}" for _ in range(size))
    content: Any = text if role == "user" else [{"type": "text", "text": text}]
    return {
        "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/home/mara/src/app",
        "sessionId": session, "version": "2.1.5", "gitBranch": "main", "type": role,
        "message": {"role": role, "content": content}, "uuid": new_id(rng),
        "timestamp": f"2026-01-{rng.randrange(1, 28):02}T10:{rng.randrange(60):02}:{rng.randrange(60):02}.000Z",
    }  # fmt: skip


def session(rng: random.Random, records: int, size: int = 60) -> list[dict[str, Any]]:
    """A session of that many records."""
    name, parent, out = new_id(rng), None, []
    for i in range(records):
        made = record(rng, name, parent, "user" if i % 2 == 0 else "assistant", rng.randrange(size // 4, size * 2))
        parent = made["uuid"]
        out.append(made)
    return out


def grown(rng: random.Random, old: list[dict[str, Any]], records: int) -> list[dict[str, Any]]:
    """The same session, gone on."""
    out = list(old)
    for i in range(records):
        role = "user" if i % 2 == 0 else "assistant"
        out.append(record(rng, old[0]["sessionId"], out[-1]["uuid"], role, rng.randrange(15, 120)))
    return out


def fork(rng: random.Random, old: list[dict[str, Any]], records: int, *, ids: bool) -> list[dict[str, Any]]:
    """A copy that went another way at nine tenths; with `ids`, every record has a new id, as tools do it."""
    kept = old[: max(1, len(old) * 9 // 10)]
    name = new_id(rng)
    renamed = {r["uuid"]: new_id(rng) for r in kept} if ids else {}
    out = [
        {
            **r,
            "sessionId": name,
            "uuid": renamed.get(r["uuid"], r["uuid"]),
            "parentUuid": renamed.get(r["parentUuid"], r["parentUuid"]),
        }
        for r in kept
    ]
    return grown(rng, out, records)


def dump(records: list[dict[str, Any]]) -> bytes:
    """As the bytes of a file."""
    return b"".join(orjson.dumps(r) + b"\n" for r in records)
