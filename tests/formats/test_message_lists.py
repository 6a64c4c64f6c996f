"""The cases and laws of the formats that are message lists inside somebody's document."""

from __future__ import annotations

import json

import list_laws
import pytest

from compressor import plugins

NAMES = (
    "langchain",
    "letta",
    "mini-swe-agent",
    "openhands",
    "openhands-events",
    "otel",
    "responses",
    "sharegpt",
    "swe-agent",
    "tau-bench",
    "tau2-bench",
)


PLAIN = ("anthropic", "generic", "openai-chat")


def every(find, names=NAMES):
    return [pytest.param(name, *p.values, id=f"{name}-{p.id}") for name in names for p in find(name)]


@pytest.mark.parametrize(("name", "case"), every(list_laws.cases))
def test_case(name, case):
    list_laws.run_case(plugins.load("formats", name), case)


@pytest.mark.parametrize(("name", "path"), every(list_laws.fixtures))
def test_fixture_keeps_the_laws(name, path):
    raw = path.read_bytes()

    assert not list_laws.invalid(name, raw)
    list_laws.laws(plugins.load("formats", name), raw, detected=True)


#: Values of a fixture that are damaged: the fixture, the path to the value, and what is put there (None: nothing).
DAMAGE = [
    ("langchain", "thread.json", ("values", "messages", 0, "type"), "person"),
    ("langchain", "thread.json", ("values", "messages", 0, "content"), 5),
    ("langchain", "thread.json", ("values", "messages", 2, "tool_calls", 0, "args"), "{}"),
    ("langchain", "thread.json", ("values", "messages", 3, "tool_call_id"), None),
    ("langchain", "thread.json", ("values", "messages"), {}),
    ("letta", "keykeeper.af", ("agents", 0, "messages", 0, "role"), "robot"),
    ("letta", "keykeeper.af", ("agents", 0, "messages", 3, "tool_calls", 0, "function", "arguments"), {}),
    ("letta", "keykeeper.af", ("agents", 0, "in_context_message_ids"), "message-0"),
    ("letta", "keykeeper.af", ("agents", 0, "messages", 2, "id"), None),
    ("mini-swe-agent", "tide.traj.json", ("messages", 1, "role"), "robot"),
    ("mini-swe-agent", "tide.traj.json", ("messages", 1, "content"), None),
    ("mini-swe-agent", "tide.traj.json", ("trajectory_format",), 1),
    ("mini-swe-agent", "tide.traj.json", ("info",), None),
    ("openhands", "bee-yard.json", (1, "args"), []),
    ("openhands", "bee-yard.json", (1, "source"), "bee"),
    ("openhands", "bee-yard.json", (4, "content"), None),
    ("openhands", "bee-yard.json", (4, "cause"), "3"),
    ("otel", "wells.json", ("resourceSpans", 0, "scopeSpans", 0, "spans", 0, "attributes"), {}),
    (
        "otel",
        "wells.json",
        ("resourceSpans", 0, "scopeSpans", 0, "spans", 0, "attributes", 3, "value"),
        {"stringValue": 3},
    ),
    ("otel", "wells.json", ("resourceSpans", 0, "scopeSpans", 0, "spans", 0, "traceId"), None),
    ("responses", "lock-log.json", ("input", 0, "role"), "robot"),
    ("responses", "lock-log.json", ("input", 2, "arguments"), {}),
    ("responses", "lock-log.json", ("input", 2, "call_id"), None),
    ("responses", "lock-log.json", ("input", 4, "output"), 3),
    ("responses", "lock-log.json", ("input", 1, "summary"), "text"),
    ("sharegpt", "greenhouse.json", (0, "conversations", 0, "from"), "robot"),
    ("sharegpt", "greenhouse.json", (0, "conversations", 0, "value"), 3),
    ("sharegpt", "greenhouse.json", (0, "conversations"), None),
    ("swe-agent", "tide.traj", ("history", 0, "role"), "robot"),
    ("swe-agent", "tide.traj", ("history", 2, "tool_calls", 0, "function", "name"), None),
    ("swe-agent", "tide.traj", ("history", 3, "tool_call_ids"), None),
    ("swe-agent", "tide.traj", ("trajectory", 0, "action"), None),
    ("tau-bench", "ferry.json", (0, "reward"), "1.0"),
    ("tau-bench", "ferry.json", (0, "traj", 1, "role"), "robot"),
    ("tau-bench", "ferry.json", (0, "traj", 2, "tool_calls", 0, "function", "arguments"), 3),
    ("tau2-bench", "gauges.json", ("simulations", 0, "messages", 4, "tool_calls", 0, "arguments"), "{}"),
    ("tau2-bench", "gauges.json", ("simulations", 0, "messages", 5, "id"), None),
    ("tau2-bench", "gauges.json", ("simulations", 0, "messages", 0, "role"), "robot"),
]


@pytest.mark.parametrize(("name", "file", "path", "value"), DAMAGE)
def test_the_schema_rejects_damage(name, file, path, value):
    good = json.loads((list_laws.TOP / "fixtures" / name / file).read_bytes())

    def damage(whole):
        holder = whole
        for step in path[:-1]:
            holder = holder[step]
        if value is None:
            del holder[path[-1]]
        else:
            holder[path[-1]] = value

    list_laws.rejected(name, good, [damage])


@pytest.mark.parametrize(("name", "path"), every(list_laws.fixtures, (*NAMES, *PLAIN)))
def test_no_damage_makes_a_reader_fail(name, path):
    raw = path.read_bytes()
    for seed in range(60):
        list_laws.survives(plugins.load("formats", name), list_laws.damaged(raw, seed))


@pytest.mark.corpus
@pytest.mark.parametrize("name", NAMES)
def test_corpus_keeps_the_laws(name):
    files = list_laws.corpus(name)
    if not files:
        pytest.skip("COMPRESS_CORPUS is not set or holds none")
    for path in files:
        list_laws.laws(plugins.load("formats", name), path.read_bytes(), detected=True)
        assert not list_laws.invalid(name, path.read_bytes())
