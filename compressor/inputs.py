"""From what the user named to the list of work: which files, and where each result goes.

Every file that is met is in the list: as a `Job`, or as a result that is settled already (`ignored`, `own-output`,
`quarantined`). No output ever stands on an input, by whatever name, link or spelling it is reached.
"""

from __future__ import annotations

import filecmp
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

import orjson

from compressor import disk
from compressor.errors import CompressError, ConfigError, Location
from compressor.formats import Source
from compressor.model import Finding, Level, Place, Verdict
from compressor.options import Options
from compressor.report import is_report
from compressor.result import SessionResult

STDIN: Final = "-"
ARCHIVE_NAME: Final = ".compress"
_PACKED: Final = (".gz", ".zst")
#: What every mark and report of ours holds: a file without it need not be parsed to know.
_OURS: Final = re.compile(rb"transcript-?compressor", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Job:
    """One file to compact.

    Attributes:
        name: as the user knows it.
        output: where the result goes; None: standard output.
        report: where its own report goes; None: nowhere.
        named: the user named this very file, it was not found in a folder.
    """

    name: str
    output: Path | None
    report: Path | None
    named: bool


Work = Job | SessionResult


@dataclass(frozen=True, slots=True)
class _Found:
    """A file of an input: `below` is its path under the folder that is mirrored."""

    path: Path
    below: Path
    named: bool


def _nobodys(_: Path) -> bool:
    return False


def plan(
    inputs: Sequence[str], options: Options, *, own: Callable[[Path], bool] = _nobodys, lenient: bool = False
) -> list[Work]:
    """The work list of a run, in input order.

    Args:
        own: knows more files that are outputs of ours.
        lenient: a file whose result has no place is quarantined; the rest goes on.

    Raises:
        ConfigError: a result would stand on an input, or the options do not fit the inputs.
    """
    if STDIN in inputs:
        return [_from_stdin(inputs, options)]
    if "" in inputs:
        # a shell's empty variable must not mean the current folder
        raise ConfigError("an input without a name", hint="name a file, or . for the current folder")
    found = list(_unique(_find_all([Path(i) for i in inputs], options)))
    many = _many(inputs, options)
    work: list[Work] = []
    for f in found:
        try:
            work.append(_job(f, options, many=many) if isinstance(f, _Found) else f)
        except ConfigError as error:
            if not lenient:
                raise
            work.append(settled(str(f.path), Verdict.QUARANTINED, error.message))
    return _without_clashes(work, options, own, lenient=lenient)


def archive_of(inputs: Sequence[str], options: Options) -> Path | None:
    """The one archive of a run over a folder or into one; None: it lies beside the only output."""
    if options.archive is not None or STDIN in inputs:
        return options.archive
    if _many(inputs, options):
        return Path(options.output) / ARCHIVE_NAME
    folders = [Path(i) for i in inputs if Path(i).is_dir()]
    return folders[0] / ARCHIVE_NAME if len(inputs) == 1 and folders and not options.output else None


def archives_near(path: Path) -> Iterator[Path]:
    """The archives in which the original of this output may lie, the nearest first."""
    for folder in path.absolute().parents:
        if (folder / ARCHIVE_NAME).is_dir():
            yield folder / ARCHIVE_NAME


def settled(name: str, verdict: Verdict, reason: str, at: Location | None = None) -> SessionResult:
    """The result of a file that is not compacted; quarantine comes with a finding."""
    findings: tuple[Finding, ...] = ()
    if verdict is Verdict.QUARANTINED:
        place = Place(at.file, at.line) if at else Place(name)
        findings = (Finding("read", Level.ERROR, reason, at=place),)
    return SessionResult(name, "", "", "", verdict, reason=reason, findings=findings)


def is_own(source: Source) -> bool:
    """Whether this is a report of ours, or a transcript that we wrote and that has not grown since."""
    if _OURS.search(source.raw) is None:
        return False
    if is_report(bytes(source.raw[:200])):
        return True
    from compressor.reading import read
    from compressor.regrowth import state

    try:
        states = {state(s)[0] for s in read(source).sessions}
    except CompressError:
        return False
    return "pure" in states and "grown" not in states


def beside(path: Path) -> Path:
    """Default output: `session.jsonl` -> `session.compact.jsonl`."""
    plain = _unpacked(path)
    return plain.with_name(f"{plain.stem}.compact{plain.suffix}")


def sidecar(output: Path) -> Path:
    """Report beside an output: `session.compact.jsonl` and `session.jsonl` -> `session.report.json`."""
    stem = output.name.removesuffix(output.suffix).removesuffix(".compact")
    return output.with_name(f"{stem}.report.json")


def _unpacked(path: Path) -> Path:
    return path.with_name(path.stem) if path.suffix in _PACKED and path.stem else path


def _from_stdin(inputs: Sequence[str], options: Options) -> Job:
    if len(inputs) > 1:
        raise ConfigError("standard input together with other inputs", hint="give - alone, or name the files")
    if options.output in {"", STDIN}:
        return Job(STDIN, None, None, named=True)
    output = Path(options.output)
    _refuse_odd(output)
    return Job(STDIN, output, None if options.report else sidecar(output), named=True)


def _many(inputs: Sequence[str], options: Options) -> bool:
    """Whether `-o` is a folder."""
    if not options.output:
        return False
    many = len(inputs) > 1 or any(Path(i).is_dir() for i in inputs)
    if options.output == STDIN:
        if many:
            raise ConfigError("several inputs to standard output", hint="name a folder with -o")
        return False
    folder = Path(options.output)
    if many and folder.exists() and not folder.is_dir():
        raise ConfigError(f'"{folder}" is a file, and there are several inputs', hint="name a folder with -o")
    return many or folder.is_dir() or options.output.endswith(("/", os.sep))


def _job(f: _Found, options: Options, *, many: bool) -> Work:
    name = str(f.path)
    if options.replace:
        return _in_place(f)
    if options.output == STDIN:
        return Job(name, None, None, f.named)
    output = Path(options.output)
    if not options.output:
        output = beside(f.path)
    elif many:
        output = _unpacked(output / f.below)
        if not _is_below(output, Path(options.output)):
            return settled(name, Verdict.QUARANTINED, f'its result "{output}" would leave the output folder by a link')
    _refuse_odd(output)
    return Job(name, output, None if options.report else sidecar(output), f.named)


def _in_place(f: _Found) -> Work:
    """The result takes the place of its input."""
    if f.path.suffix in _PACKED:
        return settled(str(f.path), Verdict.IGNORED, "packed already: --replace leaves it")
    if f.path.is_symlink():
        return settled(str(f.path), Verdict.IGNORED, "a link: --replace leaves it")
    return Job(str(f.path), f.path, None, f.named)


def _is_below(output: Path, folder: Path) -> bool:
    return Path(os.path.realpath(output.parent)).is_relative_to(os.path.realpath(folder))


def _refuse_odd(output: Path) -> None:
    """A rename onto a device or a pipe would replace it."""
    if output.exists() and not output.is_file():
        raise ConfigError(f'cannot write "{output}": not a regular file', hint="use -o - and a redirection")


@dataclass(frozen=True, slots=True)
class _Walk:
    """How one folder is gone through: `base` is what the output folder mirrors, `skip` is our own."""

    root: Path
    base: Path
    skip: frozenset[object]
    options: Options


def _find_all(inputs: list[Path], options: Options) -> Iterator[_Found | SessionResult]:
    if len(inputs) == 1:
        base = inputs[0] if inputs[0].is_dir() else inputs[0].parent
    else:
        base = Path(os.path.commonpath([os.path.abspath(i.parent) for i in inputs]))  # noqa: PTH100 - see _below
    own = [Path(p) for p in (options.output, options.archive, options.report) if p]
    skip = frozenset(i for p in own for i in _identities(p))
    for path in inputs:
        if path.is_dir():
            # an output folder that is the input itself is a clash, and told as such
            yield from _walk(path, _Walk(path, base, skip - _identities(path), options))
        else:
            yield _Found(path, _below(path, base), named=True)


def _below(path: Path, base: Path) -> Path:
    # abspath keeps links as they are named, and takes ".." out: nothing leaves the output folder
    return Path(os.path.relpath(os.path.abspath(path), os.path.abspath(base)))  # noqa: PTH100


def _walk(folder: Path, walk: _Walk) -> Iterator[_Found | SessionResult]:
    try:
        entries = sorted(os.scandir(folder), key=lambda e: e.name)
    except OSError as error:
        yield settled(str(folder), Verdict.QUARANTINED, f"cannot be opened: {(error.strerror or str(error)).lower()}")
        return
    for entry in entries:
        path = folder / entry.name
        if entry.name == ARCHIVE_NAME or disk.is_temp(entry.name) or _identities(path) & walk.skip:
            yield settled(str(path), Verdict.OWN_OUTPUT, "our own archive, output, report or what a killed run left")
            continue
        reason = _no_input(entry, path, walk)
        if reason:
            yield settled(str(path), Verdict.IGNORED, reason)
        elif entry.is_dir():
            yield from _walk(path, walk)
        else:
            yield _Found(path, _below(path, walk.base), named=False)


def _no_input(entry: os.DirEntry[str], path: Path, walk: _Walk) -> str:
    """Why this entry of a folder is no input, or ""."""
    try:
        if entry.is_dir():
            if entry.is_symlink():
                return "a link to a folder; name it to go through it"
            return "a hidden folder; name it to go through it" if entry.name.startswith(".") else ""
        if not entry.is_file():
            return "a broken link" if entry.is_symlink() and not path.exists() else "neither a file nor a folder"
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return "" if _wanted(path, walk) else "left out by --include or --exclude"


def _wanted(path: Path, walk: _Walk) -> bool:
    names = (path.name, path.relative_to(walk.root).as_posix(), path.as_posix())
    include, exclude = walk.options.include, walk.options.exclude

    def matches(globs: Iterable[str]) -> bool:
        return any(fnmatchcase(n, g) for g in globs for n in names)

    return (not include or matches(include)) and not matches(exclude)


def _unique(found: Iterable[_Found | SessionResult]) -> Iterator[_Found | SessionResult]:
    """A file that is named twice is one input."""
    seen: set[str] = set()
    for f in found:
        key = os.path.abspath(f.path)  # noqa: PTH100 - a link is an input of its own
        if key not in seen:
            seen.add(key)
            yield f


def _identities(path: Path) -> set[object]:
    """By what a file is known: its inode, and its real path whatever the case of its letters."""
    # of what we may not look at, the name alone
    out: set[object] = {str(path.absolute()).casefold()}
    try:
        out = {os.path.realpath(path).casefold()}
        info = path.stat()
    except OSError:
        return out
    if stat.S_ISREG(info.st_mode) or stat.S_ISDIR(info.st_mode):
        out.add((info.st_dev, info.st_ino))
    return out


def _without_clashes(work: list[Work], options: Options, own: Callable[[Path], bool], *, lenient: bool) -> list[Work]:
    """Settle what is our own from an earlier run; refuse results that would stand on an input or on each other."""
    jobs = {position: w for position, w in enumerate(work) if isinstance(w, Job)}
    inputs = {i: position for position, job in jobs.items() for i in _identities(Path(job.name))}
    if options.report is not None and any(i in inputs for i in _identities(options.report)):
        raise ConfigError(f'the report "{options.report}" would replace an input', hint="name another --report")
    out = list(work)
    for position, job in jobs.items():
        if options.replace:
            continue
        for target in filter(None, (job.output, job.report)):
            for hit in {inputs[i] for i in _identities(target) if i in inputs}:
                try:
                    out[hit] = _ours_or_refuse(jobs[hit], job, target, own)
                except ConfigError as error:
                    if not lenient:
                        raise
                    out[position] = settled(job.name, Verdict.QUARANTINED, error.message)
    return [_settle_copy(w, own) for w in _without_doubles(out)]


def _ours_or_refuse(hit: Job, job: Job, target: Path, own: Callable[[Path], bool]) -> SessionResult:
    """The input that a result would replace may go only if it is an earlier result itself."""
    if not hit.named and (own(Path(hit.name)) or _is_earlier(Path(hit.name), job)):
        return settled(hit.name, Verdict.OWN_OUTPUT, "our own output")
    raise ConfigError(f'"{target}" would replace the input "{hit.name}"', hint="name another place with -o")


def _without_doubles(work: list[Work]) -> Iterator[Work]:
    """Of two files whose results would have one name (also where letter case does not count) the second waits."""
    taken: dict[str, str] = {}
    for w in work:
        if isinstance(w, Job) and w.output is not None:
            first = taken.setdefault(os.path.realpath(w.output).casefold(), w.name)
            if first != w.name:
                reason = f'its result would replace that of "{first}"'
                yield settled(w.name, Verdict.QUARANTINED, reason)
                continue
        yield w


def _settle_copy(w: Work, own: Callable[[Path], bool]) -> Work:
    if (
        isinstance(w, Job)
        and w.output != Path(w.name)
        and not w.named
        and (own(Path(w.name)) or _is_copy(Path(w.name)))
    ):
        return settled(w.name, Verdict.OWN_OUTPUT, "our own output")
    return w


def _is_earlier(path: Path, job: Job) -> bool:
    from compressor.reading import open_source

    try:
        if _is_copy(path) or is_own(open_source(path)):
            return True
        # a session that was left unchanged is a plain copy, without a mark
        return filecmp.cmp(path, job.name, shallow=False) and not path.samefile(job.name)
    except (CompressError, OSError):
        return False


def _is_copy(path: Path) -> bool:
    """`X.compact.jsonl` as the report `X.report.json` beside it left it."""
    if not path.name.removesuffix(path.suffix).endswith(".compact"):
        return False
    try:
        raw = sidecar(path).read_bytes()
        if not is_report(raw):
            return False
        sizes = {s["bytes"]["after"] for s in orjson.loads(raw)["sessions"]}
        return path.stat().st_size in sizes
    except (OSError, ValueError, KeyError, TypeError):
        return False
