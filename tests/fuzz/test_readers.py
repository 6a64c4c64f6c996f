"""Whatever the bytes are: they are read or refused with one of our errors, and nothing hangs."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compressor import plugins
from compressor.formats import Source

from .harness import TOKENS, Tally, mutate, run, seeds

SEEDS = seeds()
FORMATS = sorted(set(SEEDS) & set(plugins.names("formats")))
ALL = [raw for found in SEEDS.values() for raw in found]


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=25)
@given(data=st.data())
def test_damaged_files(name: str, data: st.DataObject) -> None:
    """Fixtures with stretches deleted, doubled, moved and spliced."""
    raw = data.draw(st.sampled_from(SEEDS[name]))
    seed = data.draw(st.integers(0, 2**32))
    run(mutate(raw, Random(seed), ALL), name, Tally())


@settings(max_examples=150)
@given(pieces=st.lists(st.one_of(st.sampled_from(TOKENS), st.binary(max_size=20)), max_size=60))
def test_soups_of_tokens(pieces: list[bytes]) -> None:
    """Bytes that never were a file."""
    run(b"".join(pieces), "generic", Tally())


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=15)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3) | st.sampled_from(["user", "assistant", "tool", "x1"]),
        lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "role", "content", "id", "message", "payload", "messages", "uuid", "parentUuid", "data",
                             "sessionId", "tool_calls", "function", "parts", "text", "history", "trajectory", "traj", "steps",
                             "events", "kind", "agents", "input", "value", "from", "conversations", "simulations", "info"]),
            inner, max_size=5),
        max_leaves=20,
    )
)  # fmt: skip
def test_values_of_any_shape(name: str, value: object) -> None:
    """JSON with the keys that readers look at, in places where nobody would put them."""
    import json

    raw = json.dumps(value).encode()
    run(raw, name, Tally())
    run(raw + b"\n" + raw + b"\n", name, Tally())


def test_the_harness_would_see_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception that is not ours gets through."""

    def broken(_: Source, __: object) -> None:
        raise KeyError("type")

    monkeypatch.setattr(plugins.load("formats", "openai-chat"), "read", broken)
    with pytest.raises(KeyError):
        run(b'{"role": "user", "content": "x"}\n' * 3, "openai-chat", Tally())


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("codex", b'{"timestamp":"t","type":"response_item","payload":{"type":["message"]}}\n'),
        ("qwen-code", b'{"uuid":"a","parentUuid":null,"sessionId":"s","type":["user"],"message":{"parts":[]}}\n'),
        ("claude-code", b'{"uuid":"a","parentUuid":null,"sessionId":"s","type":{},"message":{"role":[]}}\n'),
        ("pi", b'{"type":"session","cwd":"/","id":"x"}\n{"type":[1],"id":"a","parentId":null,"message":{"role":{}}}\n'),
    ],
)
def test_kinds_that_are_no_words(name: str, raw: bytes) -> None:
    """Found by fuzzing: a kind that is a list cannot be looked up."""
    run(raw * 3, name, Tally())
