"""What is recognised and not read says what it is, and what to do instead."""

from __future__ import annotations

import io
import sqlite3
import zipfile
from pathlib import Path

import pytest

from compressor.errors import ReadError
from compressor.reading import NotATranscript, detect, open_source


def refused(path: Path) -> ReadError:
    with pytest.raises(ReadError) as caught:
        detect(open_source(path))
    return caught.value


@pytest.mark.parametrize(
    ("tables", "name", "hint"),
    [
        (("session", "message", "part"), "OpenCode's database", "opencode export"),
        (("ItemTable", "cursorDiskKV"), "Cursor's database", "from Cursor"),
        (("birds",), "a database", "export"),
    ],
)
def test_databases(tmp_path: Path, tables: tuple[str, ...], name: str, hint: str):
    path = tmp_path / "store.db"
    with sqlite3.connect(path) as db:
        for table in tables:
            db.execute(f"CREATE TABLE {table} (id TEXT)")
    db.close()

    error = refused(path)

    assert isinstance(error, NotATranscript)
    assert error.message == f"{name}, not a transcript"
    assert hint in error.hint


def test_other_archives(tmp_path: Path):
    path = tmp_path / "stuff.zip"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("notes.txt", "hello")
    path.write_bytes(packed.getvalue())

    assert refused(path).message == "an archive, not a transcript"


def test_logs_of_protocols(tmp_path: Path):
    acp, sse = tmp_path / "acp.jsonl", tmp_path / "sse.txt"
    acp.write_text('{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s"}}\n' * 2)
    sse.write_text('event: message\ndata: {"type":"text"}\n\n')

    assert refused(acp).message == "a log of the Agent Client Protocol"
    assert refused(sse).message == "a log of server-sent events"
