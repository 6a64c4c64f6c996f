"""A short table for people: one line a session, then what was found, then the sums.

On a terminal it is drawn with rich; anywhere else (a pipe, a log, a mail from cron) it is plain text. Options:
`terminal` (true: draw, false: plain; default: what the stream is).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TextIO

from compressor.reporters._text import printable, shorten, size
from compressor.result import ABSENT

#: These are counted below the table; a folder may hold thousands.
_UNLISTED: Final = frozenset({"ignored", "own-output"})
_HEADINGS: Final = ("file", "verdict", "tokens", "", "ratio", "bytes", "", "facts", "score")
#: Findings printed per session; the report has them all.
_FINDINGS: Final = 10
#: Reasons of unchanged sessions are printed for so many sessions at most.
_REASONS: Final = 10
#: Characters that a file's name needs at least; it goes on in the next line.
_NAME: Final = 16
#: Resume commands printed; the report has them all.
_RESUMES: Final = 5


def write(document: Mapping[str, Any], stream: TextIO, options: Mapping[str, Any]) -> None:
    """Write the table."""
    sessions = [s for s in document["sessions"] if s["verdict"] not in _UNLISTED]
    rows = [_row(s) for s in sessions]
    drawn = options.get("terminal", stream.isatty())
    if rows:
        (_draw if drawn else _plain)(rows, stream)
    for s in sessions:
        stream.writelines(f"{line}\n" for line in _remarks(s, reasons=len(sessions) <= _REASONS))
    stream.writelines(f"{line}\n" for line in _absent(sessions))
    stream.write(f"{_sums(document['totals'])}\n")
    if document["totals"].get("model"):
        stream.write(f"{_asked(document['totals']['model'])}\n")
    live = [s["resume"] for s in sessions if s["resume"] and s["output"]]
    stream.writelines(f"to go on from it: {printable(command)}\n" for command in live[:_RESUMES])
    if len(live) > _RESUMES:
        stream.write(f"how to go on from {len(live) - _RESUMES} more is in their reports\n")


def _row(s: Mapping[str, Any]) -> tuple[str, ...]:
    if s["verdict"] == "quarantined":
        return (printable(s["path"]), s["verdict"], "", "", "", "", "", "", "")
    tokens, facts = s["tokens"], s["facts"].values()
    registered, kept = sum(f["registered"] for f in facts), sum(f["kept"] for f in facts)
    return (
        printable(s["path"]),
        s["verdict"],
        f"{tokens['whole_before']:,}",
        f"-> {tokens['after']:,}",
        f"{s['ratio']:.1f}x",
        size(s["bytes"]["before"]),
        f"-> {size(s['bytes']['after'])}",
        f"{kept}/{registered}",
        f"{s['score']:.2f}",
    )


def _draw(rows: Sequence[tuple[str, ...]], stream: TextIO) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=stream, highlight=False, emoji=False)
    columns = _fitting(rows, console.width)
    colours = {"compacted": "green", "unchanged": "", "reverted": "yellow", "quarantined": "red"}
    table = Table(box=None, pad_edge=False, header_style="bold")
    for i in columns:
        table.add_column(_HEADINGS[i], justify="left" if i in {0, 1, 3, 6} else "right", overflow="fold", no_wrap=i > 0)
    for row in rows:
        # Text, not str: names of files are data, not markup
        table.add_row(*(Text(row[i], style=colours.get(row[1], "") if i == 1 else "") for i in columns))
    console.print(table)


def _fitting(rows: Sequence[tuple[str, ...]], width: int) -> list[int]:
    """The columns that a terminal has room for: a number that is cut reads as another number."""
    columns = list(range(len(_HEADINGS)))
    wide = [max(len(line[i]) for line in (_HEADINGS, *rows)) + 2 for i in columns]
    for away in ({5, 6}, {8}, {7}, {4}):
        if sum(wide[i] for i in columns if i) + _NAME <= width:
            break
        columns = [i for i in columns if i not in away]
    return columns


def _plain(rows: Sequence[tuple[str, ...]], stream: TextIO) -> None:
    lines = [_HEADINGS, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(_HEADINGS))]
    for line in lines:
        cells = (
            cell.ljust(w) if i in {0, 1, 3, 6} else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        )
        stream.write(f"{'  '.join(cells).rstrip()}\n")


def _absent(sessions: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What the user asked to keep and no file of the run has: a slip of the pen, most likely."""
    nowhere: dict[tuple[str, str], set[str]] = {}
    for s in sessions:
        for f in s["findings"]:
            if f["message"] == ABSENT:
                nowhere.setdefault((f["check"], f["fact"]), set()).add(s["path"])
    compacted = {s["path"] for s in sessions if s["verdict"] != "quarantined" and s["tokens"]["budget"]}
    for (check, fact), paths in nowhere.items():
        if paths >= compacted:
            yield printable(f"{check}: {ABSENT}: {shorten(fact, 80)}")


def _remarks(s: Mapping[str, Any], *, reasons: bool) -> Iterator[str]:
    """What a person should look at; what could not be read has been said on standard error."""
    if s["verdict"] == "quarantined":
        return
    if s["verdict"] == "reverted":
        yield printable(f"{s['path']}: reverted: {shorten(s['reason'], 160)}")
    if s["verdict"] == "unchanged" and s["reason"] and reasons:
        yield printable(f"{s['path']}: unchanged: {shorten(s['reason'], 160)}")
    found = [f for f in s["findings"] if f["level"] != "note"]
    for f in found[:_FINDINGS]:
        at = f["at"]
        place = f"{at['file'] or s['path']}:{at['line']}" if at["line"] else at["file"] or s["path"]
        fact = f": {shorten(f['fact'], 80)}" if f["fact"] else ""
        yield printable(f"{place}: {f['level']} {f['check']}: {shorten(f['message'], 160)}{fact}")
    if len(found) > _FINDINGS:
        yield printable(f"{s['path']}: {len(found) - _FINDINGS} more findings in the report")


def _asked(model: Mapping[str, Any]) -> str:
    """What models were asked, or would be."""
    tokens, cost = model["tokens"], model["cost"]
    money = f"{cost:,.4f}" if cost is not None else "no price is known"
    stored = f" ({model['stored']:,} more answers at hand)" if model["stored"] else ""
    if model["planned"]:
        return (
            f"model: would be sent {model['planned']:,} requests{stored}, about {tokens['input']:,} tokens, "
            f"at most {tokens['output']:,} back; cost at most: {money}"
        )
    retries = f", {model['retries']:,} sent again" if model["retries"] else ""
    return (
        f"model: {model['requests']:,} requests{stored}{retries}, {tokens['input']:,} tokens in, "
        f"{tokens['output']:,} out; cost: {money}"
    )


def _sums(totals: Mapping[str, Any]) -> str:
    verdicts = ", ".join(f"{n:,} {verdict}" for verdict, n in totals["verdicts"].items())
    before, after = totals["tokens"]["whole_before"], totals["tokens"]["after"]
    ratio = f" ({before / after:.1f}x)" if after else ""
    levels = totals["findings"]
    found = ", ".join(f"{levels[n]:,} {n}{'s' * (levels[n] > 1)}" for n in ("error", "warning") if levels[n])
    tokens = f"; {before:,} -> {after:,} tokens{ratio}" if before else ""
    return f"{verdicts or 'nothing to do'}{tokens}{'; ' + found if found else ''}"
