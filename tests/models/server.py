"""A scripted server on loopback: chat completions, messages, and both batch protocols; it misbehaves on demand.

A *script* is a function from an `Asked` to a reply: a brief (a dict), a text, or one of the misbehaviours below. What
was asked is counted, so that tests can say what was sent, how often and with which key.
"""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_HEAD = re.compile(r"^<<([0-9a-f]{16}) (.+)>>$", re.MULTILINE)


@dataclass(frozen=True)
class Say:
    """A text, and how it ends."""

    text: str
    finish: str = "stop"
    usage: tuple[int, int, int] = (100, 50, 0)


@dataclass(frozen=True)
class Status:
    """An error of the protocol."""

    code: int
    message: str = "scripted"
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "error"


@dataclass(frozen=True)
class Raw:
    """A body that is none of the protocol's."""

    body: bytes
    code: int = 200


@dataclass(frozen=True)
class Drop:
    """The connection breaks, before or in the middle of the answer."""

    midway: bool = False


@dataclass(frozen=True)
class Hang:
    """Nothing for some seconds, then an answer; `drip`: a byte at a time."""

    seconds: float
    drip: bool = False


@dataclass(frozen=True)
class Section:
    """One message, as the data shows it."""

    head: str
    body: str

    @property
    def id(self) -> str:
        return self.head.split(" ")[0]


@dataclass(frozen=True)
class Asked:
    """One request for a brief."""

    number: int
    protocol: str
    body: dict[str, Any]
    key: str
    turns: tuple[str, ...]
    system: str

    @property
    def data(self) -> str:
        return self.turns[0]

    @property
    def is_repair(self) -> bool:
        return len(self.turns) > 1

    @property
    def is_merge(self) -> bool:
        return self.system.startswith("You join briefs")

    @property
    def problems(self) -> str:
        return self.turns[-1] if self.is_repair else ""

    def sections(self) -> list[Section]:
        """The messages between the marks; only the mark of the first line counts."""
        first = _HEAD.match(self.data)
        assert first is not None, self.data[:200]
        mark = first[1]
        pieces = re.split(rf"^<<{mark} (.+)>>\n?", self.data, flags=re.MULTILINE)
        pairs = list(zip(pieces[1::2], pieces[2::2], strict=True))
        return [Section(head, body.rstrip("\n")) for head, body in pairs if head != "end"]

    def messages(self) -> list[Section]:
        return [s for s in self.sections() if s.id.startswith("#")]


Script = Callable[[Asked], Any]


def entry(text: str, *sources: str) -> dict[str, Any]:
    return {"text": text, "sources": list(sources)}


def brief(**said: Any) -> dict[str, Any]:
    """A brief in the shape of an answer."""
    empty: dict[str, Any] = {
        "goal": entry(""), "progress": entry(""), "completed": [], "pending": [], "findings": [], "errors": [],
        "decisions": [], "files": [], "notes": [], "red_lines": [], "keep": [],
    }  # fmt: skip
    return {**empty, **said}


def plain(asked: Asked) -> dict[str, Any]:
    """A dull, honest brief: the beginning of the first request as goal, that of the last message as progress."""
    if asked.is_merge:
        briefs = [json.loads(s.body) for s in asked.sections()]
        return {**briefs[-1], "goal": briefs[0]["goal"], "findings": [f for b in briefs for f in b["findings"]]}
    shown = asked.messages()
    users = [s for s in shown if " user" in s.head] or shown
    return brief(
        goal=entry(_first(users[0].body), users[0].id),
        progress=entry(_first(shown[-1].body), shown[-1].id),
    )


def _first(text: str) -> str:
    return " ".join(text.split("\n", maxsplit=1)[0].split())[:200]


class Server:
    """The server and what it was asked."""

    def __init__(self, script: Script = plain) -> None:
        self.script = script
        self.asked: list[Asked] = []
        self.answered: list[str] = []
        self.paths: list[str] = []
        self.batches: dict[str, dict[str, Any]] = {}
        self.files: dict[str, bytes] = {}
        self.batch_delay = 0
        self.fail_in_batch: Callable[[Asked], bool] = lambda _: False
        self.latency = 0.0
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._http.daemon_threads = True
        self._http.owner = self  # type: ignore[attr-defined]
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def url(self) -> str:
        """What `--base-url` is for the OpenAI protocol."""
        return f"{self.root}/v1"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    # -- what comes in

    def take(self, protocol: str, body: dict[str, Any], key: str) -> Asked:
        if protocol == "openai":
            system = body["messages"][0]["content"]
            turns = tuple(m["content"] for m in body["messages"][1:])
        else:
            system = body["system"][0]["text"]
            turns = tuple("\n\n".join(b["text"] for b in m["content"]) for m in body["messages"])
        with self._lock:
            asked = Asked(len(self.asked), protocol, body, key, turns, system)
            self.asked.append(asked)
        return asked

    def note(self, body: dict[str, Any]) -> None:
        """An answer went out whole."""
        with self._lock:
            self.answered.append(json.dumps(body, sort_keys=True))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def owner(self) -> Server:
        return self.server.owner  # type: ignore[attr-defined,no-any-return]

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        self.owner.paths.append(f"POST {self.path}")
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        path = self.path.split("?")[0]
        if path == "/v1/chat/completions":
            self._answer("openai", json.loads(raw))
        elif path == "/v1/messages":
            self._answer("anthropic", json.loads(raw))
        else:
            self._batch("POST", path, raw)

    def do_GET(self) -> None:
        self.owner.paths.append(f"GET {self.path}")
        self._batch("GET", self.path.split("?")[0], b"")

    # -- answers

    def _key(self) -> str:
        return self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")

    def _answer(self, protocol: str, body: dict[str, Any]) -> None:
        asked = self.owner.take(protocol, body, self._key())
        time.sleep(self.owner.latency)
        reply = self.owner.script(asked)
        if isinstance(reply, Drop) and not reply.midway:
            self._break()
            return
        if isinstance(reply, Status):
            self._send_status(reply)
            return
        if isinstance(reply, Raw):
            self._send(reply.code, reply.body)
            return
        hang = reply if isinstance(reply, Hang) else None
        if hang and not hang.drip:
            time.sleep(hang.seconds)
        if isinstance(reply, (Hang, Drop)):
            reply, cut = plain(asked), reply
            value = json.dumps(answer_body(protocol, reply, body)).encode()
            self._send_badly(value, cut)
            return
        value = json.dumps(answer_body(protocol, reply, body)).encode()
        self.owner.note(body)
        self._send(200, value)

    def _send_badly(self, value: bytes, how: Any) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(value)))
        self.end_headers()
        try:
            if isinstance(how, Drop):
                self.wfile.write(value[: len(value) // 2])
                self.wfile.flush()
                self._break()
            elif how.drip:
                for i in range(len(value)):
                    self.wfile.write(value[i : i + 1])
                    time.sleep(how.seconds)
            else:
                self.wfile.write(value)
        except OSError:
            pass  # the client has had enough

    def _send_status(self, status: Status) -> None:
        error = {"type": status.kind, "message": status.message, "code": status.kind}
        self._send(status.code, json.dumps({"type": "error", "error": error}).encode(), status.headers)

    def _send(
        self, code: int, value: bytes, headers: dict[str, str] | None = None, kind: str = "application/json"
    ) -> None:
        try:
            self.send_response(code)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(value)))
            for name, text in (headers or {}).items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(value)
        except OSError:
            pass  # the client has gone

    def _json(self, value: Any, code: int = 200) -> None:
        self._send(code, json.dumps(value).encode())

    def _break(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    # -- batches

    def _batch(self, method: str, path: str, raw: bytes) -> None:
        for protocol, root in (("anthropic", "/v1/messages/batches"), ("openai", "/v1/batches")):
            if path.startswith(root):
                parts = path[len(root) :].strip("/").split("/")
                getattr(self, f"_{protocol}_batch")(method, *parts, raw=raw)
                return
        if path == "/v1/files" and method == "POST":
            name = f"file-{len(self.owner.files)}"
            content = raw.split(b"\r\n\r\n")
            self.owner.files[name] = max(content, key=len).rsplit(b"\r\n--", 1)[0]
            self._json(
                {
                    "id": name,
                    "object": "file",
                    "bytes": len(raw),
                    "created_at": 1,
                    "filename": "x",
                    "purpose": "batch",
                    "status": "processed",
                }
            )
        elif path.startswith("/v1/files/"):
            self._send(200, self.owner.files[path.split("/")[3]], kind="application/octet-stream")
        else:
            self._json({"error": {"message": "no such path"}}, 404)

    def _openai_batch(self, method: str, name: str, action: str = "", raw: bytes = b"") -> None:
        owner = self.owner
        if method == "POST" and not name:
            said = json.loads(raw)
            lines = [json.loads(x) for x in owner.files[said["input_file_id"]].split(b"\n") if x.strip()]
            name = f"batch_{len(owner.batches)}"
            owner.batches[name] = {
                "requests": [(x["custom_id"], x["body"]) for x in lines],
                "looks": 0,
                "state": "",
                "said": said,
            }
        elif method == "GET" and not name:
            self._json({"object": "list", "data": [self._openai_view(n) for n in owner.batches], "has_more": False})
            return
        elif name not in owner.batches:
            self._json({"error": {"message": "no such batch"}}, 404)
            return
        if action == "cancel":
            owner.batches[name]["state"] = "cancelled"
        elif method == "GET":
            owner.batches[name]["looks"] += 1
        self._json(self._openai_view(name))

    def _openai_view(self, name: str) -> dict[str, Any]:
        batch = self.owner.batches[name]
        status = batch["state"] or ("completed" if batch["looks"] > self.owner.batch_delay else "in_progress")
        view = {
            "id": name, "object": "batch", "endpoint": "/v1/chat/completions", "input_file_id": batch["said"]["input_file_id"],
            "completion_window": "24h", "status": status, "created_at": int(time.time()), "metadata": batch["said"].get("metadata"),
            "output_file_id": None, "error_file_id": None,
            "request_counts": {"total": len(batch["requests"]), "completed": 0, "failed": 0},
        }  # fmt: skip
        if status == "completed":
            view["output_file_id"], view["error_file_id"] = f"{name}-out", f"{name}-err"
            good, bad = [], []
            for key, body in batch["requests"]:
                asked = self.owner.take("openai", body, self._key())
                if self.owner.fail_in_batch(asked):
                    bad.append(
                        {
                            "custom_id": key,
                            "response": {"status_code": 400, "body": {"error": {"message": "scripted"}}},
                            "error": None,
                        }
                    )
                else:
                    value = answer_body("openai", self.owner.script(asked), body)
                    good.append({"custom_id": key, "response": {"status_code": 200, "body": value}, "error": None})
            self.owner.files[f"{name}-out"] = b"".join(json.dumps(x).encode() + b"\n" for x in good)
            self.owner.files[f"{name}-err"] = b"".join(json.dumps(x).encode() + b"\n" for x in bad)
        return view

    def _anthropic_batch(self, method: str, name: str, action: str = "", raw: bytes = b"") -> None:
        owner = self.owner
        if method == "POST" and not name:
            name = f"msgbatch_{len(owner.batches)}"
            asked = [(r["custom_id"], r["params"]) for r in json.loads(raw)["requests"]]
            owner.batches[name] = {"requests": asked, "looks": 0, "state": ""}
        elif method == "GET" and not name:
            self._json(
                {
                    "data": [self._anthropic_view(n) for n in owner.batches],
                    "has_more": False,
                    "first_id": None,
                    "last_id": None,
                }
            )
            return
        elif name not in owner.batches:
            self._json({"type": "error", "error": {"type": "not_found_error", "message": "no such batch"}}, 404)
            return
        if action == "results":
            lines = []
            for key, body in owner.batches[name]["requests"]:
                asked = owner.take("anthropic", body, self._key())
                if owner.fail_in_batch(asked):
                    result: dict[str, Any] = {
                        "type": "errored",
                        "error": {"type": "error", "error": {"type": "invalid_request", "message": "scripted"}},
                    }
                else:
                    result = {"type": "succeeded", "message": answer_body("anthropic", owner.script(asked), body)}
                lines.append(json.dumps({"custom_id": key, "result": result}))
            self._send(200, "\n".join(lines).encode(), kind="application/x-jsonl")
            return
        if action == "cancel":
            owner.batches[name]["state"] = "canceled"
        elif method == "GET":
            owner.batches[name]["looks"] += 1
        self._json(self._anthropic_view(name))

    def _anthropic_view(self, name: str) -> dict[str, Any]:
        batch = self.owner.batches[name]
        ended = bool(batch["state"]) or batch["looks"] > self.owner.batch_delay
        count = len(batch["requests"])
        return {
            "id": name, "type": "message_batch", "processing_status": "ended" if ended else "in_progress",
            "request_counts": {"processing": 0 if ended else count, "succeeded": count if ended else 0, "errored": 0, "canceled": 0, "expired": 0},
            "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "expires_at": "2099-01-01T00:00:00Z", "ended_at": None, "archived_at": None,
            "cancel_initiated_at": None, "results_url": f"{self.owner.root}/v1/messages/batches/{name}/results" if ended else None,
        }  # fmt: skip


def answer_body(protocol: str, reply: Any, body: dict[str, Any]) -> dict[str, Any]:
    """What the endpoint would send back."""
    if isinstance(reply, dict):
        reply = Say(json.dumps(reply, ensure_ascii=False))
    elif isinstance(reply, str):
        reply = Say(reply)
    given, written, cached = reply.usage
    if protocol == "openai":
        message: dict[str, Any] = {"role": "assistant", "content": reply.text}
        if reply.finish == "refusal":
            message = {"role": "assistant", "content": None, "refusal": reply.text}
        return {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop" if reply.finish == "refusal" else reply.finish}],
            "usage": {"prompt_tokens": given, "completion_tokens": written, "total_tokens": given + written,
                      "prompt_tokens_details": {"cached_tokens": cached}},
        }  # fmt: skip
    content: list[dict[str, Any]] = [{"type": "text", "text": reply.text}]
    if reply.finish == "stop" and "tools" in body:
        with suppress(ValueError, RecursionError):  # a model may write what is no JSON
            content = [
                {"type": "tool_use", "id": "toolu_1", "name": body["tools"][0]["name"], "input": json.loads(reply.text)}
            ]
    reason = {"length": "max_tokens", "refusal": "refusal"}.get(
        reply.finish, "tool_use" if content[0]["type"] == "tool_use" else "end_turn"
    )
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": content,
        "stop_reason": reason, "stop_sequence": None,
        "usage": {"input_tokens": given - cached, "output_tokens": written, "cache_read_input_tokens": cached, "cache_creation_input_tokens": 0},
    }  # fmt: skip


@contextmanager
def serving(script: Script = plain) -> Iterator[Server]:
    server = Server(script)
    try:
        yield server
    finally:
        server.close()
