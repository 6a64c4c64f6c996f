"""The laws, through the whole pipeline: over every fixture, and over real transcripts where they are at hand."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from compressor import plugins, reading
from compressor.archive import Store
from compressor.errors import ReadError
from compressor.model import Level, Verdict
from compressor.pipeline import FileOutcome, Settings, compact
from compressor.result import SessionResult
from compressor.rules import load_preset
from compressor.transaction import publish

FIXTURES = Path(__file__).parent.parent / "fixtures"
CORPUS = Path(os.environ.get("COMPRESS_CORPUS") or "nowhere")
NOT_TRANSCRIPTS = {".md", ".tsv", ".yaml", ".report"}


def files(folder: Path) -> list[Path]:
    """Every file of a folder that may be a transcript."""
    return sorted(
        p for p in folder.rglob("*") if p.is_file() and p.suffix not in NOT_TRANSCRIPTS and not p.name.startswith(".")
    )


@dataclass
class Run:
    """One run over a file, as published."""

    source: reading.Source
    outcome: FileOutcome
    results: tuple[SessionResult, ...]
    output: bytes
    settings: Settings
    folder: Path

    @property
    def raw(self) -> bytes:
        return bytes(self.outcome.transcript.raw)


def run(path: Path, folder: Path, **options: object) -> Run:
    settings = Settings(preset=load_preset("archive"), archive=folder / "archive", **options)  # type: ignore[arg-type]
    source = reading.open_source(path)
    outcome = compact(source, settings)
    output = folder / "out.jsonl"
    results = publish(outcome, output, settings)
    return Run(source, outcome, results, output.read_bytes(), settings, folder)


def check_laws(path: Path, folder: Path) -> None:
    try:
        done = run(path, folder)
    except ReadError:
        return  # said so, with a place and a hint: the tests of reading look at that
    fmt = plugins.load("formats", done.outcome.transcript.format)
    # law 1: what is not edited is the same, byte for byte
    assert fmt.write(done.outcome.transcript, {}).data == done.raw
    if done.outcome.data is None:
        assert done.output == done.raw
        return
    assert any(r.verdict is Verdict.COMPACTED for r in done.results)
    # law 2: a second run changes nothing and adds no generation
    store = Store(done.folder / "archive")
    again = compact(reading.open_source(folder / "out.jsonl"), done.settings, store)
    assert again.data is None or again.data == done.output
    assert all(r.generation <= 1 or r.verdict is not Verdict.COMPACTED for r in done.results)
    # law 4: no structural finding that the input did not have
    before = [(f.check, f.message, f.fact) for f in fmt.check(done.outcome.transcript) if f.level is Level.ERROR]
    written = reading.read(reading.Source(str(path), done.output), format=done.outcome.transcript.format)
    for finding in fmt.check(written):
        key = (finding.check, finding.message, finding.fact)
        assert finding.level is not Level.ERROR or key in before
    # law 5: the original is in the archive, byte for byte
    assert store.get(done.results[0].archive) == done.raw
    for result in done.results:
        if result.verdict is Verdict.COMPACTED:
            # one statement that a check does not let stand does not cost the whole brief
            assert result.summarizer == "extractive", result.steps
            assert result.after <= max(result.live_before, result.budget) or result.findings
            assert not [f for f in result.findings if f.level is Level.ERROR]
        # law 6: every dropped message has its reason
        assert all(d.reason for d in result.dropped)


@pytest.mark.parametrize("path", files(FIXTURES), ids=lambda p: str(p.relative_to(FIXTURES)))
def test_fixture_keeps_the_laws(path: Path, tmp_path: Path) -> None:
    check_laws(path, tmp_path)


@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize("path", files(CORPUS), ids=lambda p: str(p.relative_to(CORPUS))[-60:])
def test_real_transcript_keeps_the_laws(path: Path, tmp_path: Path) -> None:
    check_laws(path, tmp_path)


def test_same_input_same_bytes(tmp_path: Path) -> None:
    """Law 7."""
    path = FIXTURES / "claude-code" / "zh-deploy.jsonl"
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert run(path, tmp_path / "a").output == run(path, tmp_path / "b").output


def test_a_grown_output_is_compacted_again_from_its_originals(tmp_path: Path) -> None:
    """Ten times: grow the last output by a turn, run again; the generation stays 1 and no request is lost."""
    path = FIXTURES / "openai-chat" / "support-desk.jsonl"
    current = tmp_path / "session.jsonl"
    current.write_bytes(path.read_bytes())
    settings = Settings(preset=load_preset("archive"), archive=tmp_path / "archive")
    store = Store(tmp_path / "archive")
    requests = []
    for i in range(10):
        outcome = compact(reading.open_source(current), settings, store)
        results = publish(outcome, current.with_name("out.jsonl"), settings)
        assert results[0].verdict is Verdict.COMPACTED
        assert results[0].generation == 1
        text = current.with_name("out.jsonl").read_text("utf-8")
        assert all(r in text for r in requests)
        request = f"Turn {i}: never refund order 88{i}41 without the ticket REF-{i}07."
        requests.append(request)
        new = (
            f'{{"role":"user","content":"{request}"}}\n'
            f'{{"role":"assistant","content":"Understood, order 88{i}41 waits for REF-{i}07. {"I looked at the queue. " * 40}"}}\n'
        )
        current.write_text(text + new, "utf-8")


def test_without_the_archive_a_grown_output_counts_a_generation(tmp_path: Path) -> None:
    path = FIXTURES / "openai-chat" / "support-desk.jsonl"
    done = run(path, tmp_path)
    grown = tmp_path / "grown.jsonl"
    more = (
        '{"role":"user","content":"Look at the next ticket."}\n{"role":"assistant","content":"' + "It is open. " * 900
    )
    grown.write_bytes(done.output + (more + '"}\n').encode())
    outcome = compact(reading.open_source(grown), done.settings, None)
    assert outcome.results[0].generation == 2


def test_a_pinned_text_that_stands_nowhere_is_told() -> None:
    source = reading.open_source(FIXTURES / "openai-chat" / "support-desk.jsonl")
    settings = Settings(preset=load_preset("archive"), pins=("a text that nobody wrote",))
    told = [f for r in compact(source, settings).results for f in r.findings if f.check == "pin"]
    assert [(f.level, f.fact) for f in told] == [(Level.NOTE, "a text that nobody wrote")]


def test_an_input_that_has_gone_since_it_was_read_still_has_its_output(tmp_path: Path) -> None:
    given = tmp_path / "session.jsonl"
    given.write_bytes((FIXTURES / "openai-chat" / "support-desk.jsonl").read_bytes())
    settings = Settings(preset=load_preset("archive"), archive=tmp_path / "archive")
    outcome = compact(reading.open_source(given), settings)
    (tmp_path / "out.jsonl").write_text("an older output\n", "utf-8")
    given.unlink()
    publish(outcome, tmp_path / "out.jsonl", settings)
    assert (tmp_path / "out.jsonl").read_bytes() == outcome.data


def test_a_session_that_is_nearly_all_requests_is_left_alone() -> None:
    """Three tokens less are not worth a dropped message."""
    asks = [
        {"role": "user", "content": f"Question {i}: what does the harbour charge for berth {i * 7}?"} for i in range(8)
    ]
    rows = [
        row for ask in asks for row in (ask, {"role": "assistant", "content": "It charges the usual fee, I think."})
    ]
    raw = "".join(json.dumps(row) + "\n" for row in rows).encode()
    result = compact(reading.Source("s.jsonl", raw), Settings(preset=load_preset("archive"))).results[0]
    assert result.verdict is Verdict.UNCHANGED
    assert "saved" in result.reason or "save" in result.reason
