"""What is done with every fuzzed input: it is read, checked and written back; only our own errors may come."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from compressor import plugins
from compressor.errors import CompressError
from compressor.formats import Source
from compressor.reading import detect, read
from compressor.validate import Terms, check_source

FIXTURES = Path(__file__).parents[2] / "fixtures"
#: An input that takes more processor time than this, at the least and for each kilobyte of it, hangs.
SECONDS, SECONDS_PER_KB = 2.0, 0.02
TERMS = Terms(ignore=("V", "K"))

#: What breaks readers: brackets, quotes, escapes, words of JSON, other encodings, keys that formats look at.
TOKENS = [
    b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\", b"\n", b"\r\n", b"\x00", b"\xff", b"\xef\xbb\xbf", b"null", b"true",
    b"-1", b"1e400", b"NaN", b"1" * 400, b'"\\ud800"', b"\\u0000", b"\xe2\x80\xa8", b"[" * 300, b'{"a":' * 300, b"{}", b"[]",
    b'""', b'"type"', b'"role"', b'"content"', b'"id"', b'"parentUuid"', b'"uuid"', b'"message"', b'"payload"',
    b'"tool_calls"', b'"tool_use"', b'"tool_result"', b'"assistant"', b'"user"', b'"compacted"', b'"$set"', b"//", b"\x1f\x8b", b"PK\x03\x04",
]  # fmt: skip


@dataclass
class Tally:
    """How many inputs there were, of which formats they still were, and what was refused."""

    inputs: int = 0
    slowest: float = 0.0
    read: dict[str, int] = field(default_factory=dict)
    refused: int = 0


def seeds(limit: int = 40_000) -> dict[str, list[bytes]]:
    """The fixtures by format; long ones are cut at a line, so that an input costs little."""
    found: dict[str, list[bytes]] = {}
    for folder in sorted(FIXTURES.iterdir()):
        for path in sorted(
            p for p in folder.rglob("*") if p.is_file() and p.suffix in {".json", ".jsonl", ".traj", ".af"}
        ):
            raw = path.read_bytes()
            if len(raw) > limit and path.suffix == ".jsonl":
                raw = raw[: raw.rfind(b"\n", 0, limit) + 1] or raw[:limit]
            if raw:
                found.setdefault(folder.name, []).append(raw)
    return found


#: Values that stand where nobody would put them.
ODD: list[Any] = [
    None, 0, -1, 1.5, True, "", "x", [], {}, [1], [[]], [None], {"a": 1}, {"type": "text"}, {"type": ["text"]}, "\ud800",
    {"role": "user"}, [{"type": "tool_use"}], '{"a": [1]}', "[" * 40, 10**30, "assistant", "compacted", "tool_result",
]  # fmt: skip


def mutate_values(raw: bytes, random: Random) -> bytes | None:
    """One record, or the document, with one to four of its values replaced, deleted or put elsewhere."""
    lines = raw.split(b"\n")
    at = random.randrange(len(lines))
    for whole in (False, True):
        try:
            value = json.loads(raw if whole else lines[at])
        except (ValueError, RecursionError):
            continue
        places = list(_places(value))
        if not places:
            return None
        for _ in range(random.randint(1, 4)):
            holder, key = random.choice(places)
            if isinstance(holder, dict):
                if random.random() < 0.15:
                    holder.pop(key, None)
                else:
                    holder[key] = _odd(random, places)
            elif key < len(holder):
                holder[key] = _odd(random, places)
        lines[at] = json.dumps(value).encode()
        return lines[at] if whole else b"\n".join(lines)
    return None


def _odd(random: Random, places: list[tuple[Any, Any]]) -> Any:
    if random.random() < 0.3:
        holder, key = random.choice(places)
        try:
            return copy.deepcopy(holder[key])
        except (KeyError, IndexError):
            pass
    return copy.deepcopy(random.choice(ODD))


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        yield value, key
        yield from _places(inner)


def mutate(raw: bytes, random: Random, others: list[bytes]) -> bytes:
    """The bytes with one to six changes: stretches deleted, doubled, moved, replaced, spliced in from elsewhere.

    Half of the time values of the JSON are changed instead, so that what comes out can still be parsed.
    """
    if random.random() < 0.5:
        changed = mutate_values(raw, random)
        if changed is not None:
            return changed
    data = bytearray(raw)
    for _ in range(random.randint(1, 6)):
        size = len(data)
        at = random.randrange(size + 1)
        length = min(size - at, random.choice((1, 1, 2, 8, 40, 400, 4000)))
        match random.randrange(7):
            case 0:
                del data[at : at + length]
            case 1:
                data[at:at] = random.choice(TOKENS)
            case 2:
                data[at : at + length] = random.choice(TOKENS)
            case 3:
                data[at:at] = data[at : at + length]
            case 4:
                to = random.randrange(size + 1)
                data[to:to] = data[at : at + length]
            case 5:
                other = random.choice(others)
                start = random.randrange(len(other))
                data[at:at] = other[start : start + random.choice((20, 300, 3000))]
            case _ if size:
                data[min(at, size - 1)] = random.randrange(256)
    return bytes(data)


def run(raw: bytes, name: str, tally: Tally) -> None:
    """One input through detection, the reader it shows, the reader of the format it was, and the check."""
    began = time.process_time()
    tally.inputs += 1
    source = Source("x.jsonl", raw)
    for format_name in {_detected(source), name} - {""}:
        _read(source, format_name, tally)
    check_source(source, TERMS)
    seconds = time.process_time() - began
    tally.slowest = max(tally.slowest, seconds)
    assert seconds < SECONDS + SECONDS_PER_KB * len(raw) / 1000, f"{seconds:.1f} s for {len(raw):,} bytes"


def _detected(source: Source) -> str:
    try:
        return detect(source)
    except CompressError:
        return ""


def _read(source: Source, name: str, tally: Tally) -> None:
    try:
        transcript = read(source, format=name)
    except CompressError:
        tally.refused += 1
        return
    fmt = plugins.load("formats", name)
    tally.read[name] = tally.read.get(name, 0) + 1
    assert fmt.write(transcript, {}).data == source.raw
    list(fmt.check(transcript))
