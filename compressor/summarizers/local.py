"""A model in this process: `--summarizer local --model FILE.gguf`, run by xllamacpp. Nothing leaves the machine.

The grammar of the brief's schema, with lengths, binds what the model writes: even the smallest ends with a brief that
can be read. What it says is checked like everything else.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from compressor.asking import Terms
from compressor.brief import Brief, Task
from compressor.errors import ConfigError, Location, SummarizeError
from compressor.summarizers import _writer
from compressor.summarizers._answers import Answer
from compressor.summarizers._clients import of_chat
from compressor.summarizers._failures import told
from compressor.summarizers._providers import need
from compressor.summarizers._request import Request
from compressor.summarizers._service import service

OPTIONS: Final[Mapping[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        **{k: v for k, v in _writer.OPTIONS.items() if k != "bounded"},
        "threads": {"type": "integer", "minimum": 1, "description": "Threads of the model."},
        "gpu_layers": {"type": "integer", "minimum": 0, "description": "Layers that a GPU holds."},
    },
}
DETERMINISTIC: Final = False
WAITS: Final = True
INCIDENTAL: Final = frozenset({"threads", "gpu_layers"})

#: Tokens that the model reads at once, and those it answers, where nothing else is said.
_CONTEXT: Final = 8_192
_OUTPUT: Final = 1_024
_MAGIC: Final = b"GGUF"


def ready(options: Mapping[str, Any], terms: Terms) -> None:
    """Raise `ConfigError` if there is no model file or nothing to run it."""
    if not options.get("model"):
        raise ConfigError("no model named", hint="--model FILE.gguf")
    need("xllamacpp", "local")
    need("stamina", "local")
    path = Path(options["model"]).expanduser()
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ConfigError(
            f"the model cannot be opened: {reason}", at=Location(str(path)), hint="--model FILE.gguf"
        ) from None
    if magic != _MAGIC:
        raise ConfigError("not a GGUF file", at=Location(str(path)), hint="--model FILE.gguf")


def summarize(task: Task, options: Mapping[str, Any]) -> Brief:
    """The model's brief."""
    said = {"context": _CONTEXT, "max_output": _OUTPUT, "temperature": 0, "bounded": True, **options}
    return _writer.Writer(task, said, service(said, task.terms, partial(_client, said))).write()


_clients: dict[tuple[str, int], Local] = {}
_lock = threading.Lock()


def _client(options: Mapping[str, Any]) -> Local:
    """One model of a kind in a process, whatever the number of runs: it fills the memory."""
    key = (str(options["model"]), int(options["context"]))
    with _lock:
        if key not in _clients:
            _clients.clear()
            _clients[key] = Local(options)
        return _clients[key]


class Local:
    """An xllamacpp server that is asked without a network."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(Path(options["model"]).expanduser())
        params.n_ctx = int(options["context"])
        params.n_parallel = 1
        params.verbosity = -1
        if "threads" in options:
            params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(options["threads"])
        if "gpu_layers" in options:
            params.n_gpu_layers = int(options["gpu_layers"])
        self._options = options
        self._turn = threading.Lock()
        try:
            self._server = xllamacpp.Server(params)
        except (RuntimeError, ValueError) as error:
            raise SummarizeError(f"the model cannot be loaded: {told(error, '')}", hint="try another file") from None

    def send(self, request: Request, _seconds: float) -> Answer:
        """Ask; one at a time."""
        messages = [{"role": "system", "content": request.system}]
        messages += [{"role": t.role, "content": t.text} for t in request.turns]
        shape = {"name": "brief", "strict": True, "schema": dict(request.schema)}
        body = {
            "messages": messages,
            "max_tokens": request.max_output,
            "temperature": self._options["temperature"],
            "response_format": {"type": "json_schema", "json_schema": shape},
        }
        with self._turn:
            try:
                value = self._server.handle_chat_completions(body)
            except (RuntimeError, ValueError) as error:
                raise SummarizeError(f"the model failed: {told(error, '')}") from None
        if isinstance(value, dict) and "error" in value:
            said = value["error"]
            hint = "a smaller `context` leaves the model more room for its own way of counting"
            raise SummarizeError(f"the model refuses: {told(said.get('message', said), '')}", hint=hint)
        return of_chat(value)

    def close(self) -> None:
        """The model stays: loading it is what takes time."""
