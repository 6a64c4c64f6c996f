"""A model on this machine: it speaks the interfaces that agents call, follows a script, and remembers what it was sent.

`POST …/responses` (OpenAI Responses), `…/chat/completions` (OpenAI chat), `…/messages` (Anthropic) and
`…:generateContent`, `…:streamGenerateContent` (Gemini), as JSON or as a stream. While the script has calls left and
the request offers tools, the answer is a call; a request for a summary gets one; else the answer is a sentence.
"""

from __future__ import annotations

import gzip
import itertools
import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

#: What every agent's request for a summary of the session says somewhere in its last message or its instructions.
ASKS_FOR_SUMMARY = re.compile(
    r"CHECKPOINT COMPACTION|handoff summary|state_snapshot|(?:detailed|anchored) summary|<conversation-history>",
    re.IGNORECASE,
)
SUMMARY = "SCRIPTED-SUMMARY: the folder was listed and read, one command failed. Go on as asked."


@dataclass(frozen=True)
class Call:
    """A tool call of an answer."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Sent:
    """One thing in a request: a text, a call or a result; `turn` is its message's place."""

    turn: int
    role: str
    kind: str
    text: str
    id: str = ""


@dataclass
class Script:
    """What the model does next.

    Attributes:
        calls: how many answers shall be calls.
        usage: tokens to tell with the next requests that offer tools, one after another (0: what is true).
        folder: the folder that the agent works in.
    """

    calls: int = 0
    usage: list[int] = field(default_factory=list)
    folder: str = ""


@dataclass(frozen=True)
class Answer:
    """What the model says."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    tokens: int = 1


#: The scripted steps: shell commands, and files to read.
STEPS = ("ls -la", "@README.md", "seq 1 300", "git log --oneline | head -5; git status --short", "cat nothing.txt",
         "@src/app.py", "grep -n def src/app.py", "seq 1 400 | tail -150", "wc -l README.md src/app.py")  # fmt: skip
#: By the name of its tool for shells, what an agent calls the argument, and its tool for reading with its argument.
SHELLS = {
    "exec_command": ("cmd", ""),
    "shell_command": ("command", ""),
    "shell": ("command", ""),
    "Bash": ("command", "Read file_path"),
    "bash": ("command", "read filePath"),
    "run_shell_command": ("command", "read_file file_path"),
}


class Model:
    """The server; use it as a context manager."""

    def __init__(self) -> None:
        self.script = Script()
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self._numbers = itertools.count(1)
        self._steps = itertools.cycle(STEPS)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, tools: set[str], asked: str, size: int) -> Answer:
        """The next answer to a request."""
        with self._lock:
            number = next(self._numbers)
            tokens = max(1, size // 4)
            if tools and self.script.usage:
                tokens = self.script.usage.pop(0) or tokens
            if ASKS_FOR_SUMMARY.search(asked):
                return Answer(f"<state_snapshot>{SUMMARY}</state_snapshot>" if "state_snapshot" in asked else SUMMARY)
            if self.script.calls > 0 and (calls := tuple(self._calls(tools, number))):
                self.script.calls -= 1
                return Answer("", calls, tokens)
            return Answer(f"SCRIPTED-ANSWER-{number}: this turn is done.", (), tokens)

    def _calls(self, tools: set[str], number: int) -> Iterator[Call]:
        shell = next((name for name in SHELLS if name in tools), None)
        if shell is None:
            return
        argument, reading = SHELLS[shell]
        # now and then two calls in one answer
        for i in range(2 if number % 5 == 0 else 1):
            step = next(self._steps)
            if step.startswith("@") and reading:
                name, key = reading.split()
                yield Call(f"call_{number:05d}x{i}", name, {key: f"{self.script.folder}/{step[1:]}"})
                continue
            command = f"cat {step[1:]}" if step.startswith("@") else step
            value: Any = ["bash", "-lc", command] if shell == "shell" else command
            more = {} if shell in ("exec_command", "shell_command", "shell") else {"description": "a scripted step"}
            yield Call(f"call_{number:05d}x{i}", shell, {argument: value, **more})


def texts(value: Any) -> str:
    """All texts of a content value."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(texts(v) for v in value)
    if isinstance(value, dict):
        inner = (value[k] for k in ("text", "content", "parts", "output", "response") if k in value)
        return "\n".join(texts(v) for v in inner) or ("" if "text" in value else json.dumps(value, ensure_ascii=False))
    return ""


# -- one class for each interface: what a request offers and holds, and how an answer is written ---------------------


class Responses:
    """OpenAI Responses."""

    @staticmethod
    def tools(body: dict[str, Any]) -> set[str]:
        return {t.get("name") or t.get("type") for t in body.get("tools") or ()}

    @staticmethod
    def asked(body: dict[str, Any]) -> str:
        return texts((body.get("input") or [""])[-1:])

    @staticmethod
    def sent(body: dict[str, Any]) -> Iterator[Sent]:
        for i, item in enumerate(body.get("input") or ()):
            kind = item.get("type", "message")
            if kind.endswith("_call"):
                yield Sent(i, "assistant", "call", item.get("arguments") or item.get("input") or "", item["call_id"])
            elif kind.endswith("_call_output"):
                yield Sent(i, "tool", "result", texts(item.get("output")), item["call_id"])
            elif kind == "message":
                yield Sent(i, item["role"], "text", texts(item.get("content")))

    @staticmethod
    def events(body: dict[str, Any], answer: Answer, number: int) -> Iterator[tuple[str, dict[str, Any]]]:
        items: list[dict[str, Any]] = [
            {"type": "function_call", "id": f"fc_{c.id}", "call_id": c.id, "name": c.name, "status": "completed",
             "arguments": json.dumps(c.arguments)} for c in answer.calls
        ]  # fmt: skip
        if answer.text:
            content = [{"type": "output_text", "text": answer.text, "annotations": []}]
            items.append(
                {
                    "type": "message",
                    "id": f"msg_{number}",
                    "role": "assistant",
                    "status": "completed",
                    "content": content,
                }
            )
        usage = {"input_tokens": answer.tokens, "output_tokens": 9, "total_tokens": answer.tokens + 9}
        response = {"id": f"resp_{number}", "object": "response", "model": body.get("model"), "output": []}
        yield "response.created", {"response": {**response, "status": "in_progress"}}
        for i, item in enumerate(items):
            yield "response.output_item.added", {"output_index": i, "item": item}
            yield "response.output_item.done", {"output_index": i, "item": item}
        yield "response.completed", {"response": {**response, "status": "completed", "output": items, "usage": usage}}


class Messages:
    """Anthropic Messages."""

    @staticmethod
    def tools(body: dict[str, Any]) -> set[str]:
        return {t["name"] for t in body.get("tools") or ()}

    @staticmethod
    def asked(body: dict[str, Any]) -> str:
        return texts((body.get("messages") or [""])[-1:])

    @staticmethod
    def sent(body: dict[str, Any]) -> Iterator[Sent]:
        for i, message in enumerate(body.get("messages") or ()):
            content = message["content"]
            for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
                if block["type"] == "tool_use":
                    yield Sent(i, message["role"], "call", json.dumps(block["input"]), block["id"])
                elif block["type"] == "tool_result":
                    yield Sent(i, message["role"], "result", texts(block.get("content")), block["tool_use_id"])
                elif block["type"] == "text":
                    yield Sent(i, message["role"], "text", block["text"])

    @staticmethod
    def events(body: dict[str, Any], answer: Answer, number: int) -> Iterator[tuple[str, dict[str, Any]]]:
        usage = {"input_tokens": answer.tokens, "output_tokens": 9}
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body.get("model"),
                   "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}  # fmt: skip
        yield "message_start", {"message": message}
        blocks = [({"type": "text", "text": ""}, {"type": "text_delta", "text": answer.text})] if answer.text else []
        blocks += [
            (
                {"type": "tool_use", "id": f"toolu_{c.id}", "name": c.name, "input": {}},
                {"type": "input_json_delta", "partial_json": json.dumps(c.arguments)},
            )
            for c in answer.calls
        ]
        for i, (block, delta) in enumerate(blocks):
            yield "content_block_start", {"index": i, "content_block": block}
            yield "content_block_delta", {"index": i, "delta": delta}
            yield "content_block_stop", {"index": i}
        stop = "tool_use" if answer.calls else "end_turn"
        yield "message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}
        yield "message_stop", {}


class Chat:
    """OpenAI chat completions."""

    @staticmethod
    def tools(body: dict[str, Any]) -> set[str]:
        return {t["function"]["name"] for t in body.get("tools") or ()}

    @staticmethod
    def asked(body: dict[str, Any]) -> str:
        messages = body.get("messages") or [{}]
        # a request without tools may ask in its instructions
        told = messages if not body.get("tools") else messages[-1:]
        return "\n".join(texts(m.get("content")) for m in told)

    @staticmethod
    def sent(body: dict[str, Any]) -> Iterator[Sent]:
        for i, message in enumerate(body.get("messages") or ()):
            if message["role"] == "tool":
                yield Sent(i, "tool", "result", texts(message.get("content")), message["tool_call_id"])
                continue
            if message.get("content"):
                yield Sent(i, message["role"], "text", texts(message["content"]))
            for call in message.get("tool_calls") or ():
                yield Sent(i, message["role"], "call", call["function"]["arguments"], call["id"])

    @staticmethod
    def events(body: dict[str, Any], answer: Answer, number: int) -> Iterator[tuple[str, dict[str, Any]]]:
        about = {"id": f"chat_{number}", "object": "chat.completion.chunk", "created": 1, "model": body.get("model")}
        calls = [
            {
                "index": i,
                "id": c.id,
                "type": "function",
                "function": {"name": c.name, "arguments": json.dumps(c.arguments)},
            }
            for i, c in enumerate(answer.calls)
        ]
        delta = {"role": "assistant", **({"tool_calls": calls} if calls else {"content": answer.text})}
        stop = "tool_calls" if calls else "stop"
        usage = {"prompt_tokens": answer.tokens, "completion_tokens": 9, "total_tokens": answer.tokens + 9}
        yield "", {**about, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield "", {**about, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}], "usage": usage}


class Gemini:
    """Gemini generateContent."""

    @staticmethod
    def tools(body: dict[str, Any]) -> set[str]:
        return {f["name"] for t in body.get("tools") or () for f in t.get("functionDeclarations") or ()}

    @staticmethod
    def asked(body: dict[str, Any]) -> str:
        told = [(body.get("contents") or [""])[-1]]
        if not body.get("tools"):
            told.append(body.get("systemInstruction") or "")
        return texts(told)

    @staticmethod
    def sent(body: dict[str, Any]) -> Iterator[Sent]:
        for i, content in enumerate(body.get("contents") or ()):
            for part in content["parts"]:
                if "functionCall" in part:
                    yield Sent(
                        i,
                        content["role"],
                        "call",
                        json.dumps(part["functionCall"].get("args")),
                        part["functionCall"].get("id", ""),
                    )
                elif "functionResponse" in part:
                    answer = part["functionResponse"]
                    yield Sent(
                        i, content["role"], "result", texts(list(answer["response"].values())), answer.get("id", "")
                    )
                elif not part.get("thought"):
                    yield Sent(i, content["role"], "text", part.get("text", ""))

    @staticmethod
    def events(body: dict[str, Any], answer: Answer, number: int) -> Iterator[tuple[str, dict[str, Any]]]:
        parts: list[dict[str, Any]] = [{"text": answer.text}] if answer.text else []
        if (body.get("generationConfig") or {}).get("responseMimeType") == "application/json":
            parts = [{"text": json.dumps({"reasoning": "scripted", "next_speaker": "user", "model_choice": "flash"})}]
        parts += [{"functionCall": {"name": c.name, "args": c.arguments}} for c in answer.calls]
        candidate = {"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": parts}}
        usage = {"promptTokenCount": answer.tokens, "candidatesTokenCount": 9, "totalTokenCount": answer.tokens + 9}
        yield (
            "",
            {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "mock", "responseId": f"r{number}"},
        )


INTERFACES = {
    "/responses": Responses,
    "/messages": Messages,
    "/chat/completions": Chat,
    ":generateContent": Gemini,
    ":streamGenerateContent": Gemini,
}


def interface(path: str) -> Any:
    """The interface of a request's path, or None."""
    plain = path.partition("?")[0]
    return next((api for end, api in INTERFACES.items() if plain.endswith(end)), None)


def _handler(model: Model) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            upgrade = "upgrade" in (self.headers.get("connection") or "").lower()
            listing = {
                "object": "list",
                "data": [{"id": "mock-model", "object": "model", "type": "model"}],
                "models": [],
            }
            self._json({"error": {"message": "no websockets"}} if upgrade else listing, 426 if upgrade else 200)

        def do_HEAD(self) -> None:
            self._json({})

        def do_POST(self) -> None:
            raw = self._body()
            body = json.loads(raw) if raw else {}
            api = interface(self.path)
            if api is None:
                counts = self.path.partition("?")[0].endswith(("/count_tokens", ":countTokens"))
                tokens = len(raw) // 4
                self._json({"input_tokens": tokens, "totalTokens": tokens}, 200 if counts else 404)
                return
            model.requests.append((self.path, body))
            answer = model.answer(api.tools(body), api.asked(body), len(raw))
            events = list(api.events(body, answer, len(model.requests)))
            if body.get("stream") or "stream" in self.path:
                self._stream(events, done=api is Chat)
            else:
                self._json(_whole(api, events))

        def _body(self) -> bytes:
            if (self.headers.get("transfer-encoding") or "").lower() == "chunked":
                chunks = []
                while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
                    chunks.append(self.rfile.read(size))
                    self.rfile.readline()
                self.rfile.readline()
                raw = b"".join(chunks)
            else:
                raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            return gzip.decompress(raw) if self.headers.get("content-encoding") == "gzip" else raw

        def _json(self, value: Any, status: int = 200) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def _stream(self, events: list[tuple[str, dict[str, Any]]], *, done: bool) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            for number, (name, value) in enumerate(events):
                head = f"event: {name}\n" if name else ""
                about = {"type": name, "sequence_number": number} if name else {}
                self.wfile.write(f"{head}data: {json.dumps({**about, **value})}\n\n".encode())
            if done:
                self.wfile.write(b"data: [DONE]\n\n")
            self.wfile.flush()

    return Handler


def _whole(api: Any, events: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """The answer as one object, put together from its events."""
    if api is Responses:
        return events[-1][1]["response"]
    if api is Messages:
        message = events[0][1]["message"]
        texts_ = [e["delta"]["text"] for _, e in events if e.get("delta", {}).get("type") == "text_delta"]
        return {**message, "content": [{"type": "text", "text": t} for t in texts_], "stop_reason": "end_turn"}
    if api is Chat:
        delta = events[0][1]["choices"][0]["delta"]
        choice = {"index": 0, "message": {"content": None, **delta}, "finish_reason": "stop"}
        return {**events[-1][1], "object": "chat.completion", "choices": [choice]}
    return events[0][1]


# -- what was sent -----------------------------------------------------------------------------------------------


def pair_faults(sent: list[Sent], *, adjacent: bool) -> list[str]:
    """What a provider would refuse of calls and results."""
    calls = Counter(s.id for s in sent if s.kind == "call")
    results = Counter(s.id for s in sent if s.kind == "result")
    faults = [f"result without a call: {i}" for i in results if i not in calls]
    faults += [f"call without a result: {i}" for i in calls if i not in results]
    faults += [f"{n} results of one call: {i}" for i, n in results.items() if n > 1]
    faults += [f"{n} calls with one id: {i}" for i, n in calls.items() if n > 1]
    turns = {(s.kind, s.id): s.turn for s in sent if s.kind in ("call", "result")}
    for (kind, name), turn in turns.items():
        answered = turns.get(("result", name), turn + 1)
        if kind == "call" and (answered <= turn or (adjacent and answered != turn + 1)):
            faults.append(f"result does not follow its call: {name}")
    return faults
