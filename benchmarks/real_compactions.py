"""What `compress verify` says of the compactions that tools themselves made, cut out of real transcripts.

    python -m benchmarks.real_compactions FOLDER... [--show CHECK] [--only TEXT] [--level note|warning|error]

A transcript in which its tool has compacted the conversation holds both sides: all that stands before the compaction
is the original, what is live right behind it (the tool's summary and what it kept) is the compaction. Prints one line
for each compaction, with the number of findings of each check, and the totals; `--show` prints findings, for a person
to judge.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from compressor import reading
from compressor.errors import CompressError
from compressor.formats._records import Source
from compressor.model import Finding, Level, Record, Transcript
from compressor.rules import load_preset
from compressor.settings import Settings
from compressor.verify import verify_files

#: How the bytes of a file show that a tool has compacted in it.
_SIGNS: Final = (
    b"compact_boundary",
    b"isCompactSummary",
    b'"compacted"',
    b'"compaction"',
    b"chat_compression",
    b"condens",
)
#: Records that make or begin a compaction, by the format's own name for them.
_MICRO: Final = "system/microcompact_boundary"
_KINDS: Final = frozenset({"system/compact_boundary", _MICRO, "compacted", "compaction"})


@dataclass(frozen=True, slots=True)
class Cut:
    """One compaction: the file up to it, and the file with it."""

    name: str
    original: Source
    compacted: Source


def cuts(path: Path) -> Iterator[Cut]:
    """The compactions of one file, oldest first; one that follows another is also held beside what came since that."""
    raw = path.read_bytes()
    if not any(sign in raw for sign in _SIGNS):
        return
    try:
        transcript = reading.read(Source(str(path), raw))
    except CompressError:
        return
    name = "/".join(path.parts[-4:])
    if len(transcript.records) == 1:
        yield from _document(name, raw)
        return
    since = 0
    for i, (kind, start, end) in enumerate(_places(transcript), 1):
        before = Source(f"{name}.before", raw[:start])
        if kind == _MICRO:
            yield Cut(f"{name} {i} micro", before, Source(f"{name}.after", _cleared(raw[:start], raw[start:end])))
            continue
        yield Cut(f"{name} {i}", before, Source(f"{name}.after", raw[:end]))
        if since:
            before = Source(f"{name}.before", raw[since:start])
            yield Cut(f"{name} {i} since", before, Source(f"{name}.after", raw[since:end]))
        since = start


def _cleared(raw: bytes, boundary: bytes) -> bytes:
    """The file with the results cleared that a boundary says were cleared, as its tool sends them."""
    said = orjson.loads(boundary).get("microcompactMetadata", {})
    gone = set(said.get("compactedToolIds", ()))
    return b"\n".join(_without(line, gone) for line in raw.split(b"\n"))


def _without(line: bytes, gone: set[str]) -> bytes:
    if not any(name.encode() in line for name in gone) or b'"tool_result"' not in line:
        return line
    value = orjson.loads(line)
    for block in value["message"]["content"]:
        if block.get("tool_use_id") in gone:
            block["content"] = "[Old tool result content cleared]"
    return orjson.dumps(value)


def _places(transcript: Transcript) -> Iterator[tuple[str, int, int]]:
    """The kind of each compaction, and where it begins and ends: its boundary, and the summary behind it."""
    records = transcript.records
    for at, record in enumerate(records):
        if record.kind in _KINDS:
            end = record.end if record.kind == _MICRO else _end(transcript.raw, records, at)
            yield record.kind, record.start, end


def _end(raw: Any, records: tuple[Record, ...], at: int) -> int:
    for record in records[at + 1 : at + 6]:
        if b'"isCompactSummary":true' in bytes(raw[record.start : record.end]):
            return record.end
    return records[at].end


def _document(name: str, raw: bytes) -> Iterator[Cut]:
    """An export whose messages are one list; the summary is a message that says so."""
    value = orjson.loads(raw)
    found = value.get("messages") if isinstance(value, dict) else None
    messages: list[Any] = found if isinstance(found, list) else []
    for i, message in enumerate(messages):
        info = message.get("info", {}) if isinstance(message, dict) else {}
        if info.get("summary") is True or info.get("mode") == "compaction":
            before = i - 1 if any(p.get("type") == "compaction" for p in messages[i - 1].get("parts", ())) else i
            original = orjson.dumps({**value, "messages": messages[:before]})
            compacted = orjson.dumps({**value, "messages": messages[: i + 1]})
            yield Cut(f"{name} {i}", Source(f"{name}.before", original), Source(f"{name}.after", compacted))


def main(arguments: list[str] | None = None) -> int:
    """Judge all compactions and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--show", metavar="CHECK", help="print the findings of this check (`all`: of every check)")
    parser.add_argument("--level", choices=[level.value for level in Level], default="error", help="of those shown")
    parser.add_argument("--only", default="", metavar="TEXT", help="only compactions with this in their name")
    args = parser.parse_args(arguments)
    settings = Settings(preset=load_preset("archive"))
    errors: Counter[str] = Counter()
    judged = 0
    for cut in (c for folder in args.folders for path in _files(folder) for c in cuts(path) if args.only in c.name):
        try:
            found = verify_files(cut.original, cut.compacted, settings)
        except CompressError as error:
            print(f"{cut.name}: {error}")
            continue
        judged += 1
        here = Counter(f.check for f in found if f.level is Level.ERROR)
        errors += here
        print(f"{cut.name}: {sum(here.values())} errors  {dict(sorted(here.items()))}")
        _show(found, args.show, args.level)
    print(f"{judged} compactions, {sum(errors.values())} errors  {dict(sorted(errors.items()))}")
    return 0


def _files(folder: Path) -> Iterator[Path]:
    found = sorted(folder.rglob("*.json*")) if folder.is_dir() else [folder]
    yield from (path for path in found if path.is_file())


def _show(found: tuple[Finding, ...], check: str | None, level: str) -> None:
    for finding in found:
        if check in ("all", finding.check) and finding.level.value == level:
            print(f"    {finding.check} {finding.at.line}: {finding.message[:400]}  <{finding.fact[:160]}>")


if __name__ == "__main__":
    sys.exit(main())
