"""`.eval` files: archives of a log's parts, packed and unpacked by the `inspect-ai` package alone."""

from __future__ import annotations

import io
import struct
import tempfile
import zipfile
from pathlib import Path
from typing import Any, Final

from compressor.errors import Location, ReadError, WriteError
from compressor.formats._records import Source

_MAGIC: Final = b"PK\x03\x04"
#: The first moment that an archive can note: new files have no time of their own.
_NO_TIME: Final = struct.pack("<HH", 0, (1 << 5) | 1)
_MISSING: Final = "an Inspect .eval log needs the package inspect-ai"
_HINT: Final = 'install it: pip install "transcript-compressor[inspect]"'


def is_archive(raw: Any) -> bool:
    """Whether these bytes are an archive."""
    return bool(raw[:4] == _MAGIC)


def is_log(text: str) -> bool:
    """Whether an archive begins with a part of a log."""
    return any(name in text for name in ("_journal/", "header.json", "samples/"))


def unpack(source: Source) -> bytes:
    """The log as one JSON document.

    Raises:
        ReadError: the file is damaged, or the package is not installed.
    """
    try:
        from inspect_ai.log import read_eval_log
        from pydantic_core import to_json
    except ImportError as error:
        raise ReadError(_MISSING, at=Location(source.path), hint=_HINT) from error
    try:
        log = read_eval_log(io.BytesIO(bytes(source.raw)), format="eval")
        return to_json(log, exclude_none=True, inf_nan_mode="constants", indent=2)
    except Exception as error:  # the package raises what its parts raise: zip, JSON and validation errors
        what = str(error).split("\n", 1)[0]
        raise ReadError(f"the .eval log cannot be read: {what}", at=Location(source.path)) from error


def pack(document: bytes, path: str) -> bytes:
    """The document as an `.eval` file, the same bytes for the same document.

    Raises:
        WriteError: the package cannot write it.
    """
    from inspect_ai.log import EvalLog, write_eval_log

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "log.eval"
        try:
            write_eval_log(EvalLog.model_validate_json(document), file, format="eval")
        except Exception as error:
            what = str(error).split("\n", 1)[0]
            raise WriteError(f"the .eval log cannot be written: {what}", at=Location(path)) from error
        return _timeless(file.read_bytes())


def _timeless(data: bytes) -> bytes:
    """The archive without the times of its making: they are no part of any check sum."""
    out = bytearray(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        at = archive.start_dir
        for info in archive.infolist():
            out[info.header_offset + 10 : info.header_offset + 14] = _NO_TIME
            out[at + 12 : at + 16] = _NO_TIME
            names, extra, comment = struct.unpack_from("<HHH", out, at + 28)
            at += 46 + names + extra + comment
    return bytes(out)
