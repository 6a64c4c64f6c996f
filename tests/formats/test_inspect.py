"""Inspect logs of both kinds pass the package's own reader, and the package is asked for by name."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import agent_laws as laws
import pytest

from compressor.errors import ReadError
from compressor.formats import inspect
from compressor.formats._records import Source
from compressor.model import Transcript
from compressor.reading import detect, open_source, read

DOCUMENT = laws.FIXTURES / "inspect" / "lanternlog.json"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """The fixture as an `.eval` file."""
    log = pytest.importorskip("inspect_ai.log")
    path = tmp_path / "lanternlog.eval"
    log.write_eval_log(log.read_eval_log(str(DOCUMENT)), str(path))
    return path


def messages(raw: bytes, kind: str) -> list[str]:
    log = pytest.importorskip("inspect_ai.log").read_eval_log(io.BytesIO(raw), format=kind)
    return [m.text for m in log.samples[0].messages]


def texts(transcript: Transcript) -> list[str]:
    return [
        "".join(p.text for p in m.parts if p.type in ("text", "tool_result")) for m in transcript.sessions[0].messages
    ]


def test_a_compacted_document_is_a_log():
    transcript = laws.load(DOCUMENT)
    out = laws.rewrite(transcript, laws.compaction(transcript.sessions[0]))

    assert messages(bytes(out.raw), "json") == texts(out)


def test_an_archive_keeps_the_laws(archive: Path):
    transcript = laws.load(archive)
    change = laws.compaction(transcript.sessions[0])

    assert detect(open_source(archive)) == "inspect"
    laws.assert_unchanged(transcript)
    out = laws.assert_compacted(transcript, change)
    assert messages(bytes(out.raw), "eval") == texts(out)
    assert inspect.write(transcript, {0: change}).data == bytes(out.raw)
    assert texts(transcript) == texts(laws.load(DOCUMENT))


def test_a_grown_archive_is_joined(archive: Path):
    transcript = laws.load(archive)
    out = laws.rewrite(transcript, laws.compaction(transcript.sessions[0]))

    joined = inspect.read(Source("joined", inspect.join(bytes(transcript.raw), out, 1)), {})

    assert texts(joined) == [*texts(transcript), *texts(out)[1:]]


def test_the_package_is_asked_for_by_name(archive: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)

    with pytest.raises(ReadError) as caught:
        read(archive)

    assert caught.value.message == "an Inspect .eval log needs the package inspect-ai"
    assert "[inspect]" in caught.value.hint


def test_a_damaged_archive_says_so(archive: Path, tmp_path: Path):
    damaged = tmp_path / "damaged.eval"
    damaged.write_bytes(archive.read_bytes()[:3000])

    with pytest.raises(ReadError, match="cannot be read"):
        read(damaged)
