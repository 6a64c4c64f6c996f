"""`compress archive`: look into an archive, look after it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from compressor.cli._options import take
from compressor.cli._print import columns, say, write_json
from compressor.errors import ConfigError
from compressor.options import Options

if TYPE_CHECKING:
    from compressor.archive import Store
    from compressor.originals import Original


@click.group(
    epilog="""\b
Examples:
  compress archive list vault
  compress archive verify vault              every byte of it
  compress archive stats vault --json
  compress archive export vault -o originals/
  compress archive prune vault --unreferenced --dry-run
ARCHIVE is .compress in the current folder if neither it nor --archive is given.
"""
)
def command() -> None:
    """List, verify, measure, export, prune and tighten an archive of originals."""


def store_of(options: Options, named: str | None, *, untouched: bool = False) -> Store:
    """The archive that a command is about.

    Args:
        untouched: its index is not opened: opening makes a damaged one anew.
    """
    from compressor.archive import Store
    from compressor.inputs import ARCHIVE_NAME

    store = Store(Path(named) if named else options.archive or Path(ARCHIVE_NAME))
    if not untouched or not store.exists():
        _ = store.index
    return store


@command.command("list")
@click.argument("folder", required=False, metavar="[ARCHIVE]")
@take("archive", "json")
def list_originals(options: Options, folder: str | None) -> None:
    """List the originals: key, bytes, when recorded, session, source."""
    from dataclasses import asdict

    from compressor.originals import Archive

    found = list(Archive(store_of(options, folder).folder))
    if options.json:
        write_json({"originals": [asdict(o) for o in found]})
    elif not found:
        say("no originals")
    else:
        rows = [(o.key[:12], o.size, o.time[:19], ", ".join(o.sessions)[:36], o.source) for o in found]
        columns([("key", "bytes", "recorded", "session", "source"), *rows], right=frozenset({1}))


@command.command("verify")
@click.argument("folder", required=False, metavar="[ARCHIVE]")
@take("archive", "json", "quiet")
def verify_archive(options: Options, folder: str | None) -> int:
    """Look at every byte: packs, index, every original put together again, the audit log.

    Exit code: 0 all is sound, 1 something is damaged; it is named, and nothing is changed.
    """
    from compressor import originals

    store = store_of(options, folder, untouched=True)
    problems = list(originals.verify(store))
    if options.json:
        shown = [{"file": p.file, "offset": p.offset, "message": p.message, "originals": p.originals} for p in problems]
        write_json({"verdict": "damaged" if problems else "sound", "problems": shown})
        return int(bool(problems))
    for p in problems:
        place = f"{store.folder / p.file}{f', byte {p.offset:,}' if p.offset >= 0 else ''}"
        say(f"{place}: {p.message}")
        for key in p.originals:
            say(f"  cannot be restored: {key}")
    if problems:
        say(f"damaged: {len(problems)} problems\nhint: put the files that are named back from a copy")
    elif not options.quiet:
        say("sound")
    return int(bool(problems))


@command.command("stats")
@click.argument("folder", required=False, metavar="[ARCHIVE]")
@take("archive", "json")
def show_stats(options: Options, folder: str | None) -> None:
    """Show how much is in it, and how little it takes."""
    from dataclasses import asdict

    from compressor.archive import stats

    found = stats(store_of(options, folder))
    if options.json:
        write_json(asdict(found))
        return
    rows = [
        ("originals", found.originals, "bytes as they were", found.raw),
        ("runs of records", found.chunks, "bytes of them, each once", found.shared),
        ("blocks", found.blocks, "bytes not packed tightly yet", found.loose),
        ("packs", found.packs, "bytes on the disk", found.stored),
        ("", "", "bytes of the index", found.index),
    ]
    columns(rows, right=frozenset({1, 3}))
    if found.raw:
        say(f"{found.stored / found.raw:.1%} of what went in")


@command.command("optimize")
@click.argument("folder", required=False, metavar="[ARCHIVE]")
@take("archive")
def pack_tightly(options: Options, folder: str | None) -> None:
    """Pack tightly what was stored in a hurry (a nightly run does so at its end)."""
    from compressor.archive import optimize, stats

    store = store_of(options, folder)
    before = stats(store).stored
    done = optimize(store)
    say(f"{before:,} -> {stats(store).stored:,} bytes" if done else "nothing to do")


@command.command("prune")
@click.argument("folder", required=False, metavar="[ARCHIVE]")
@click.option("--unreferenced", is_flag=True, help="Originals that no audit record names.")
@take("archive", "dry_run", "json")
def let_go(options: Options, folder: str | None, *, unreferenced: bool) -> None:
    """Let go of originals by a policy that must be said; never of one that an audit record names.

    What no record names was stored by a run that was killed, or whose output could not be written.
    """
    from compressor.archive import keys, prune
    from compressor.audit import Audit

    if not unreferenced:
        raise ConfigError("no policy", hint="say which originals may go: --unreferenced")
    store = store_of(options, folder)
    needed = Audit(store).needed()
    unwanted = [k for k in keys(store) if k not in needed]
    freed = prune(store, unwanted) if unwanted and not options.dry_run else 0
    if options.json:
        write_json({"originals": unwanted, "freed": freed, "dry_run": options.dry_run})
        return
    for key in unwanted:
        say(key)
    say(f"{len(unwanted)} originals{' would go' if options.dry_run else f' let go, {freed:,} bytes freed'}")


@command.command("export")
@click.argument("folder", required=False, metavar="[ARCHIVE]")
@take("archive", "output")
def write_out(options: Options, folder: str | None) -> None:
    """Write every original into the folder -o, by its source's path; of a session that grew, every state."""
    from compressor.originals import Archive, write

    if not options.output:
        raise ConfigError("no folder to write to", hint="name it with -o")
    opened = Archive(store_of(options, folder).folder)
    target = Path(options.output)
    found = list(opened)
    states = Counter(o.source for o in found)
    for o in found:
        path = target / _below(o)
        # the newest state has the plain name
        if states[o.source] > 1:
            path = path.with_name(f"{path.stem}.{o.key[:12]}{path.suffix}")
        states[o.source] -= 1
        write(opened.store, o.key, path)
    say(f"{len(found)} originals in {target}")


def _below(o: Original) -> Path:
    """Where an original goes in the folder: a path in a record is data, and leads nowhere else."""
    parts = [p for p in Path(o.source).parts if p not in {"/", "..", "."}] if o.source else []
    return Path(*parts) if parts and "<" not in o.source[:1] else Path("by-key") / f"{o.key}.jsonl"
