"""The runner of `tests/formats/<format>.yaml` for formats that keep the mark in a field, and their corpus."""

from __future__ import annotations

import re
from pathlib import Path

import agent_laws as laws
import list_laws
import pytest

from compressor import plugins, reading
from compressor.formats._records import Source
from compressor.model import Compaction

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_MARK = re.compile(r'"transcriptCompressor": ?\{[^{}]*\}')


def cases(name: str) -> list[pytest.ParameterSet]:
    """The cases of one format."""
    return list_laws.cases(name)


def files(name: str) -> list[Path]:
    """The shipped fixtures of a format, and the corpus's files of it."""
    return [*laws.fixtures(f"{name}/**/*.*"), *list_laws.corpus(name)]


def run(name: str, case) -> None:
    """Read, compare, check, write; and the laws."""
    module = plugins.load("formats", name)
    raw = case["input"].encode("utf-8", "surrogatepass")
    transcript = module.read(Source("case", raw), case.get("options", {}))

    assert module.sniff(reading.make_head(Source("case", raw))) is case.get("detected", True)
    laws.assert_unchanged(transcript)
    if "reads" in case:
        assert list_laws.shown(transcript)[0] == case["reads"]
    for key, state in (("live", "live"), ("abandoned", "abandoned")):
        if key in case:
            assert [m.index for m in transcript.sessions[0].messages if getattr(m, state)] == case[key]
    if "ids" in case:
        assert [s.id for s in transcript.sessions] == case["ids"]
    if "lines" in case:
        assert [m.line for m in transcript.sessions[0].messages] == case["lines"]
    assert [f"{f.check} {f.at.line} {f.message}" for f in module.check(transcript)] == case.get("findings", [])
    if "change" in case:
        written = module.write(transcript, {0: change_of(transcript, case["change"])}).data.decode()
        assert plain(written) == case["writes"]
    if case.get("valid", True):
        assert laws.invalid(transcript) == set()
    if transcript.sessions[0].messages and case.get("lawful", True):
        laws.assert_compacted(transcript, laws.compaction(transcript.sessions[0]))


def plain(written: str) -> str:
    """What was written, without the mark's fields and the ids made from them."""
    return _UUID.sub("[new id]", _MARK.sub('"transcriptCompressor":[mark]', written))


def change_of(transcript, spec) -> Compaction:
    """A compaction as a case spells it, under a new id if it names one."""
    change = list_laws.change_of(transcript, spec)
    return Compaction(
        change.session,
        change.texts,
        change.dropped,
        change.brief,
        change.brief_at,
        laws.MARK,
        spec.get("new_id", ""),
    )


def grows(name: str, original: Source, added: bytes) -> None:
    """What a tool appends to our compaction of a file stands in the file grown by it, too."""
    module = plugins.load("formats", name)
    before = module.read(original, {})
    change = laws.compaction(before.sessions[0])
    out = module.write(before, {0: change}).data
    grown = module.read(Source("grown", out + added), {})
    count = len(module.read(Source("out", out), {}).sessions[0].messages)
    joined = module.read(Source("joined", module.join(bytes(original.raw), grown, count)), {})

    assert bytes(joined.raw).startswith(bytes(original.raw))
    new = [laws.texts(m) for m in grown.sessions[0].messages[count:]]
    assert new
    assert [laws.texts(m) for m in joined.sessions[0].messages] == [
        *(laws.texts(m) for m in before.sessions[0].messages),
        *new,
    ]
    assert laws.findings(joined) <= laws.findings(before) | laws.findings(grown)
