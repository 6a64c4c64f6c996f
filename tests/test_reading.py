from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
import zstandard

from compressor import reading
from compressor.errors import ConfigError, ReadError
from compressor.formats._records import Source
from compressor.reading import NotATranscript

ROW = {"parentUuid": None, "sessionId": "s", "uuid": "u", "type": "user", "message": {"role": "user", "content": "hi"}}
LINE = json.dumps(ROW).encode() + b"\n"


@pytest.fixture
def write(tmp_path: Path):
    def _write(data: bytes, name: str = "a.jsonl") -> Path:
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return _write


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("a.jsonl", bytes),
        ("a.jsonl.gz", gzip.compress),
        ("a.jsonl.zst", zstandard.ZstdCompressor().compress),
        (
            "no suffix",
            lambda data: (
                zstandard.ZstdCompressor().compress(data[:40]) + zstandard.ZstdCompressor().compress(data[40:])
            ),
        ),
    ],
)
def test_compressed_files_are_opened(write, name: str, pack):
    transcript = reading.read(write(pack(LINE), name))

    assert transcript.raw == LINE
    assert transcript.format == "claude-code"


def test_large_files_are_mapped(write, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reading, "MAP_ABOVE", 10)
    transcript = reading.read(write(LINE))

    assert not isinstance(transcript.raw, bytes)
    assert bytes(transcript.raw) == LINE


def refused(path: Path) -> ReadError:
    with pytest.raises(ReadError) as caught:
        reading.read(path)
    return caught.value


@pytest.mark.parametrize(
    ("data", "name", "message", "ignored"),
    [
        (b"", "a.jsonl", "the file is empty", True),
        (b" \n\n" * 9000, "a.jsonl", "the file is empty", True),
        ("hällo wörld\n".encode(), "a.txt", "no known transcript format", True),
        (b'{"a": 1}\n', "a.json", "no known transcript format", True),
        (b"SQLite format 3\x00 \x00", "a.db", "a database, not a transcript", True),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "a.png", "binary data, not a transcript", True),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "a.jsonl", "binary data in a file that is named as text", False),
        (LINE.decode().encode("utf-16"), "a.jsonl", "text in UTF-16, expected UTF-8", False),
        (LINE.decode().encode("utf-16-le"), "a.jsonl", "text in UTF-16, expected UTF-8", False),
        (LINE.decode().encode("utf-16-be"), "a.jsonl", "text in UTF-16, expected UTF-8", False),
        (b'{"role": "user", "con', "a.jsonl", "looks like JSON, but does not parse", False),
        (b"event: x\ndata: {}\n", "a.jsonl", "a log of server-sent events", False),
        (gzip.compress(LINE)[:-9], "a.gz", "cannot be decompressed", False),
        (zstandard.ZstdCompressor().compress(LINE)[:-3], "a.zst", "cut short", False),
        (zstandard.ZstdCompressor().compress(LINE)[:4] + b"\xff" * 9, "a.zst", "cannot be decompressed", False),
        (b"[" * 5000, "a.jsonl", "looks like JSON, but does not parse", False),
    ],
)
def test_what_cannot_be_read(write, data: bytes, name: str, message: str, ignored: bool):
    path = write(data, name)
    error = refused(path)

    assert message in error.message
    assert isinstance(error, NotATranscript) is ignored
    assert str(error).startswith(str(path))


def test_a_missing_file_is_named(tmp_path: Path):
    error = refused(tmp_path / "none.jsonl")

    assert "no such file" in error.message
    assert error.hint


def test_an_unknown_format_is_a_mistake_of_the_user(write):
    with pytest.raises(ConfigError, match="claude-cod"):
        reading.read(write(LINE), format="claude-cod")


def test_the_place_of_a_mistake_in_a_document_is_named(write):
    assert ":2:" in str(refused(write(b'{\n "a": "\\x"\n}')))


def test_standard_input(monkeypatch: pytest.MonkeyPatch):
    class Stdin:
        class buffer:  # noqa: N801
            read = staticmethod(lambda: LINE)

    monkeypatch.setattr("sys.stdin", Stdin)

    assert reading.read("-").path == "<stdin>"


def test_a_document_over_many_lines_is_one_document():
    document = {"messages": [{"role": "user", "content": "hi"}]}
    head = reading.make_head(Source("x", b"\xef\xbb\xbf" + json.dumps(document, indent=2).encode()))

    assert head.document == document
    assert head.rows == ()


def test_lines_are_rows_whatever_stands_between_them():
    head = reading.make_head(Source("x", b"// note\n\n{broken\n" + LINE * 70))

    assert head.document is None
    assert len(head.rows) == reading.HEAD_ROWS - 1


def test_a_line_nested_too_deeply_is_one_unreadable_record(write):
    transcript = reading.read(write(LINE + b"[" * 5000 + b"]" * 5000 + b"\n" + LINE))

    assert transcript.dirt == {"unreadable": 1}
    assert len(transcript.sessions[0].messages) == 2


def test_deep_arguments_are_read(write):
    block = {"type": "tool_use", "id": "c", "name": "t", "input": {"x": 0}}
    row = {**ROW, "type": "assistant", "message": {"role": "assistant", "content": [block]}}
    deep = "[" * 990 + '"end"' + "]" * 990

    transcript = reading.read(write(json.dumps(row).replace('"x": 0', f'"x": {deep}').encode() + b"\n"))

    assert transcript.sessions[0].parts[0].text == "end"
