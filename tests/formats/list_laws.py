"""The laws that every message-list format keeps, and the runner of `tests/formats/<format>.yaml` cases."""

from __future__ import annotations

import copy
import json
import os
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

import orjson
import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from compressor import reading
from compressor.errors import CompressError
from compressor.formats import _document, _lists, _mark
from compressor.formats._records import Source
from compressor.model import Compaction, Mark, Origin, PartType, Transcript

TOP = Path(__file__).parents[2]
MARK = Mark(options="0f" * 8, tokens=4321, generation=1, archive="ab" * 32, messages=3, digest="cd" * 8)
BRIEF = '# Brief\n\nDo not touch `main`; 不要删除 the log. \\ " \u2028 done'


def cases(name: str) -> list[pytest.ParameterSet]:
    """The cases of one format."""
    loaded = YAML(typ="safe").load((Path(__file__).parent / f"{name}.yaml").read_text(encoding="utf-8"))
    return [pytest.param(case, id=case["name"]) for case in loaded]


def fixtures(name: str) -> list[pytest.ParameterSet]:
    """The shipped fixtures of one format; what another tool made of them is none."""
    folder = TOP / "fixtures" / name
    found = sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix in (".json", ".jsonl", ".traj", ".af"))
    keep = [p for p in found if not p.name.endswith((".report.json",))]
    return [pytest.param(p, id=p.name) for p in keep]


@cache
def corpus(name: str) -> tuple[Path, ...]:
    """Every file of the corpus whose content is of this format."""
    top = os.environ.get("COMPRESS_CORPUS")
    if not top:
        return ()
    return tuple(p for p in sorted(Path(top).rglob("*")) if p.is_file() and _detected(p) == name)


@cache
def _detected(path: Path) -> str:
    try:
        return reading.detect(reading.open_source(path))
    except (CompressError, RecursionError):
        return ""


def shown(transcript: Transcript) -> list[list[str]]:
    """What was read, one line a message: `role/origin type name key: text`, further parts joined by ` | `."""
    lines = []
    for session in transcript.sessions:
        out = []
        for m in session.messages:
            flags = "".join(f" {f}" for f in ("pinned", "opaque") if getattr(m, f))
            parts = []
            for p in m.parts:
                about = " ".join(x for x in (p.type.value, p.name, p.key) if x)
                parts.append(f"{about}: {p.text}")
            out.append(f"{m.role.value}/{m.origin.value}{flags} " + " | ".join(parts))
        lines.append(out)
    return lines


def run_case(module, case) -> None:
    """Read, compare, check, write, read again."""
    raw = case["input"].encode("utf-8", "surrogatepass")
    transcript = module.read(Source("case", raw), case.get("options", {}))

    assert module.sniff(reading.make_head(Source("case", raw))) is case.get("detected", True)
    assert module.write(transcript, {}).data == raw
    if "reads" in case:
        several = not case["reads"] or isinstance(case["reads"][0], list)
        assert shown(transcript) == (case["reads"] if several else [case["reads"]])
    if "ids" in case:
        assert [s.id for s in transcript.sessions] == case["ids"]
    if "lines" in case:
        assert [m.line for m in transcript.sessions[0].messages] == case["lines"]
    assert [f"{f.check} {f.at.line} {f.message}" for f in module.check(transcript)] == case.get("findings", [])
    if "change" in case:
        changes = {case["change"].get("session", 0): change_of(transcript, case["change"])}
        written = module.write(transcript, changes).data.decode("utf-8", "surrogatepass")
        assert written.replace(_mark.encode(MARK), "[mark]") == case["writes"]
    if case.get("valid", True):
        assert not invalid(transcript.format, raw)
    laws(module, raw, case.get("options", {}))


def change_of(transcript: Transcript, spec) -> Compaction:
    """A compaction as a case spells it: `drop` and `at` by index, `texts` by part ordinal."""
    session = transcript.sessions[spec.get("session", 0)]
    dropped = frozenset(spec.get("drop", ()))
    at = spec.get("at", min(dropped) if dropped else len(session.messages))
    while at in dropped:
        at += 1
    return Compaction(session, dict(spec.get("texts", {})), dropped, spec.get("brief", "Brief."), at, MARK)


def synthetic(session, mark: Mark = MARK) -> Compaction:
    """What the product does, in small: the middle leaves with pairs whole, old results are cleared, a brief comes."""
    n = len(session.messages)
    head = next((m.index + 1 for m in session.messages if m.origin is Origin.PERSON), min(1, n))
    tail = max(head, n - 4)
    middle = whole_groups(session, range(head, head + max(0, (tail - head) * 2 // 3)))
    protected = set(range(head)) | set(range(tail, n))
    dropped = frozenset() if middle & protected else middle
    texts = {
        p.ordinal: f"[cleared: {p.name}, {len(p.text):,} characters] 清 \u2028"
        for p in session.parts
        if p.text
        and p.type in (PartType.TOOL_RESULT, PartType.IMAGE)
        and head <= p.message < tail
        and p.message not in dropped
    }
    at = next((i for i in range(head, n) if i not in dropped), n)
    return Compaction(session, texts, dropped, BRIEF, at, mark)


def whole_groups(session, dropped) -> frozenset[int]:
    """`dropped` grown until calls, results and records of one message leave together."""
    gone = set(dropped)
    groups = [{m.index for m in session.messages if m.group == g} for g in {m.group for m in session.messages}]
    groups += [{i for i in (c.message, *c.results) if i >= 0} for c in session.calls]
    size = -1
    while size != len(gone):
        size = len(gone)
        for group in groups:
            if group & gone:
                gone |= group
    return frozenset(gone)


def findings(module, transcript) -> Counter:
    return Counter((f.check, f.message, f.fact) for f in module.check(transcript))


def laws(module, raw: bytes, options=None, *, detected: bool = False) -> None:
    """Byte-exact without edits; a compaction reads back, adds no finding, and is stable."""
    options = options or {}
    transcript = module.read(Source("in", raw), options)
    assert module.write(transcript, {}).data == raw
    assert b"".join(raw[r.start : r.end] for r in transcript.records) == raw
    _sound(transcript)
    if not transcript.sessions:
        return
    changes = {i: synthetic(s) for i, s in enumerate(transcript.sessions)}
    out = module.write(transcript, changes).data
    again = module.read(Source("out", out), options)
    _sound(again)
    assert len(again.sessions) == len(transcript.sessions)
    for before, after, change in zip(transcript.sessions, again.sessions, changes.values(), strict=True):
        _compare(before, after, change)
    assert not findings(module, again) - findings(module, transcript)
    assert len(invalid(transcript.format, out)) <= len(invalid(transcript.format, raw))
    assert module.write(again, {}).data == out
    assert module.write(again, {i: _same(s) for i, s in enumerate(again.sessions)}).data == out
    if detected:
        assert reading.detect(Source("out", out)) == transcript.format
    for i in range(min(3, len(transcript.sessions))):
        one = module.write(transcript, {i: changes[i]}).data
        _compare(transcript.sessions[i], module.read(Source("one", one), options).sessions[i], changes[i])


@cache
def validator(name: str):
    """The validator of a format's schema."""
    schema = orjson.loads((TOP / "schemas" / f"{name}.schema.json").read_bytes())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def invalid(name: str, raw: bytes) -> list[str]:
    """What the format's schema says against the records of a file."""
    values = [v for v in _lists.load(Source("x", raw)).values if isinstance(v, (dict, list))]
    return [f"{e.json_path}: {e.message[:200]}" for v in values for e in validator(name).iter_errors(v)]


def rejected(name: str, good, damages) -> None:
    """Each damage of a good value is rejected by the schema."""
    assert not invalid(name, orjson.dumps(good))
    for damage in damages:
        value = copy.deepcopy(good)
        damage(value)
        assert invalid(name, orjson.dumps(value)), damage


def _same(session) -> Compaction:
    """The compaction that puts the same brief in the place of the brief."""
    text, mark = _mark.split(session.messages[session.brief].parts[0].text)
    return Compaction(session, {}, frozenset({session.brief}), text, session.brief + 1, mark)


def _sound(transcript: Transcript) -> None:
    """Ordinals, indexes and calls point where they should."""
    for s in transcript.sessions:
        assert [p.ordinal for p in s.parts] == list(range(len(s.parts)))
        assert [m.index for m in s.messages] == list(range(len(s.messages)))
        assert [p for m in s.messages for p in m.parts] == list(s.parts)
        assert all(
            m.line == transcript.records[m.record].line or transcript.records[m.record].kind == "document"
            for m in s.messages
        )


def _empty(message) -> bool:
    """A turn without text: some formats need one to keep the two sides in turn."""
    return bool(message.parts) and not any(p.text for p in message.parts)


def _compare(before, after, change) -> None:
    assert after.mark == MARK
    brief = after.messages[after.brief]
    assert _mark.split(brief.parts[0].text) == (BRIEF, MARK)
    assert brief.generation == MARK.generation
    assert brief.origin is Origin.HARNESS
    kept = [m for m in before.messages if m.index not in change.dropped and not _empty(m)]
    others = [m for m in after.messages if m.index != after.brief and not _empty(m)]
    assert [m.role for m in others] == [m.role for m in kept]
    for old, new in zip(kept, others, strict=True):
        assert [p.text for p in new.parts] == [change.texts.get(p.ordinal, p.text) for p in old.parts]
        assert [(p.name, p.key) for p in new.parts] == [(p.name, p.key) for p in old.parts]


_WRONG = (None, 0, -1, 1.5, True, "", "x", [], {}, [1], {"a": 1}, '{"a":1}', [None], [[]], {"type": "text"}, "\ud800")


def damaged(raw: bytes, seed: int) -> bytes:
    """The file with a few values replaced, deleted or put elsewhere, or (one time in four) some bytes changed."""
    random = Random(seed)
    if random.random() < 0.25:
        out = bytearray(raw)
        for _ in range(random.randint(1, 4)):
            at = random.randrange(len(out))
            out[at : at + random.choice((0, 1, 30))] = random.choice((b'"', b"\xff", b"\n", b"\\", b"]", b""))
        return bytes(out)
    try:
        whole = json.loads(raw)
    except json.JSONDecodeError:
        lines = raw.splitlines()
        at = random.randrange(len(lines))
        lines[at] = json.dumps(_damage(json.loads(lines[at]), random)).encode()
        return b"\n".join(lines)
    return json.dumps(_damage(whole, random), indent=random.choice((None, 2))).encode()


def _damage(value, random: Random):
    """`value` with one to three of its inner values changed."""
    places = list(_places(value))
    for _ in range(random.randint(1, 3)):
        holder, key = random.choice(places)
        if isinstance(holder, list) and key >= len(holder):
            continue
        if random.random() < 0.2 and isinstance(holder, list):
            del holder[key]
        else:
            holder[key] = copy.deepcopy(random.choice(_WRONG))
    return value


def _places(value):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        yield value, key
        yield from _places(inner)


def survives(module, raw: bytes) -> None:
    """Whatever stands in the file: it is read, checked and written back, and a compaction of it can be read again."""
    try:
        transcript = module.read(Source("x", raw), {})
    except CompressError:
        return
    assert module.write(transcript, {}).data == raw
    list(module.check(transcript))
    out = module.write(transcript, {i: synthetic(s) for i, s in enumerate(transcript.sessions)}).data
    if transcript.sessions:
        assert len(module.read(Source("y", out), {}).sessions) == len(transcript.sessions)


def grows(module, raw: bytes, cut: int, options=None) -> None:
    """`join` gives the grown file back from the file as it was before it grew."""
    options = options or {}
    whole = module.read(Source("whole", raw), options)
    session = whole.sessions[0]
    gone = frozenset(range(cut, len(session.messages)))
    places = {session.meta["at"][i] for i in gone}
    assert len(places) == len(gone) or session.meta["list"] is None
    work = _document._Rewriting(whole)
    for i in gone:
        path = session.meta["at"][i]
        if path:
            work.editor(session.messages[i].record).delete(path)
        else:
            work.gone.add(session.messages[i].record)
    assert module.join(work.bytes(), whole, cut) == (
        raw if raw.endswith(b"\n") or session.meta["list"] is not None else raw + b"\n"
    )
