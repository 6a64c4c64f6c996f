"""Every file of a corpus: which format, byte-exact without edits, compaction that adds no finding, stable second run.

    python benchmarks/formats.py FOLDER [--write] [--ratio 2]

Prints the tables that stand in `docs/formats.md`; `--write` puts them there. A file counts as *sound* if compacting it
adds no finding to those of its original (compared by code, message and words), *stable* if compacting the output again
with the same options gives the same bytes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from compressor import plugins, reading
from compressor.api import compress
from compressor.errors import CompressError
from compressor.formats import Source
from compressor.model import Verdict
from compressor.validate import Terms, check_source

PAGE = Path(__file__).resolve().parent.parent / "docs" / "formats.md"
BEGIN, END = "<!-- corpus -->\n", "<!-- end of corpus -->\n"
TERMS = Terms(ignore=("K", "V", "D"))


@dataclass
class Row:
    """What was seen of one format."""

    files: int = 0
    exact: int = 0
    compacted: int = 0
    reverted: int = 0
    sound: int = 0
    stable: int = 0
    failed: list[str] = field(default_factory=list)


def main() -> int:
    """Go through the folder; 1 if a file failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--ratio", type=float, default=2)
    args = parser.parse_args()
    rows: dict[str, Row] = {name: Row() for name in plugins.names("formats")}
    codes: dict[str, Counter[str]] = defaultdict(Counter)
    refused: dict[str, Counter[str]] = defaultdict(Counter)
    for path in sorted(p for p in args.folder.rglob("*") if p.is_file()):
        if path.parent == args.folder:
            continue
        try:
            transcript = reading.read(path)
        except CompressError as error:
            refused[path.relative_to(args.folder).parts[0]][error.message] += 1
            continue
        name = transcript.format
        rows[name].files += 1
        rows[name].exact += plugins.load("formats", name).write(transcript, {}).data == bytes(transcript.raw)
        codes[name].update(f"{f.check}" for f in check_source(path, Terms(ignore=("V",))).findings)
        _compacted(path, bytes(transcript.raw), args.ratio, rows[name])
    text = _tables(rows, codes, refused)
    print(text)
    for name, row in rows.items():
        for failure in row.failed:
            print(f"{name}: {failure}", file=sys.stderr)
    if args.write:
        page = PAGE.read_text(encoding="utf-8")
        before, after = page.split(BEGIN)[0], page.split(END)[1]
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
    return int(any(row.failed for row in rows.values()))


def _compacted(path: Path, raw: bytes, ratio: float, row: Row) -> None:
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / path.name
        result = compress(path, output=output, ratio=ratio)
        row.compacted += any(s.verdict is Verdict.COMPACTED for s in result.sessions)
        row.reverted += any(s.verdict is Verdict.REVERTED for s in result.sessions)
        added = _findings(path, result.data) - _findings(path, raw)
        row.sound += not added
        if added:
            row.failed.append(f"{path}: compaction adds {next(iter(added))}")
        again = (
            compress(output, output=Path(folder) / f"again-{path.name}", ratio=ratio).data if output.exists() else b""
        )
        same = again == result.data or not output.exists()
        row.stable += same
        if not same:
            row.failed.append(f"{path}: a second run changes it")


def _findings(path: Path, data: bytes) -> Counter[tuple[str, str, str]]:
    found = check_source(Source(str(path), data), TERMS).findings
    return Counter((f.check, f.message, f.fact) for f in found)


def _tables(rows: dict[str, Row], codes: dict[str, Counter[str]], refused: dict[str, Counter[str]]) -> str:
    out = ["| format | files | byte-exact | compacted | sound | stable |", "|---|---|---|---|---|---|"]
    for name, r in rows.items():
        cells = (r.files, r.exact, r.compacted, r.sound, r.stable) if r.files else ("fixtures only", "", "", "", "")
        out.append(f"| {name} | {' | '.join(map(str, cells))} |")
    total = [sum(getattr(r, k) for r in rows.values()) for k in ("files", "exact", "compacted", "sound", "stable")]
    out += [f"| all | {' | '.join(map(str, total))} |", ""]
    if refused:
        out += ["Not read, with the reason:", "", "| folder | files | reason |", "|---|---|---|"]
        out += [f"| {folder} | {n} | {why} |" for folder, found in refused.items() for why, n in found.items()]
        out.append("")
    out += ["What `compress check` says of the files as they are:", "", "| format | findings by code |", "|---|---|"]
    for name, r in rows.items():
        if r.files:
            told = ", ".join(f"{code} {n}" for code, n in sorted(codes[name].items())) or "none"
            out.append(f"| {name} | {told} |")
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    sys.exit(main())
