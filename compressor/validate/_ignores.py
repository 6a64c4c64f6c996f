"""Which findings count: selected and ignored codes, codes ignored in some files, and what a baseline knows."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

import orjson

from compressor import disk, report
from compressor.errors import ConfigError, Location, WriteError
from compressor.model import Finding
from compressor.validate import codes
from compressor.validate.terms import Terms

#: First keys of a baseline: how we know our own.
_KIND: Final = "check-baseline"


class Filter:
    """Lets through what counts.

    Args:
        terms: what the user said.
        folder: file names in per-file ignores and in the baseline are meant from here.

    Raises:
        ConfigError: a code that no finding ever has, or a baseline that is none.
    """

    def __init__(self, terms: Terms, folder: Path | None = None) -> None:
        self._select, self._ignore = terms.codes("select"), terms.codes("ignore")
        self._files = {glob: _several(said) for glob, said in terms.per_file_ignores.items()}
        for code in (*self._select, *self._ignore, *(c for found in self._files.values() for c in found)):
            _refuse_unknown(code)
        self._folder = folder or (terms.baseline.parent if terms.baseline else Path())
        self._known = _load(terms.baseline) if terms.baseline else Counter[str]()

    def wants(self, code: str) -> bool:
        """Whether a code (or some code that begins so) can count at all."""
        selected = not self._select or any(code.startswith(s) or s.startswith(code) for s in self._select)
        return selected and not any(code.startswith(i) for i in self._ignore)

    def counting(self, path: str, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Those that count; each entry of the baseline lets one finding pass unseen."""
        name = self.name(path)
        ignored = [c for glob, said in self._files.items() if _matches(name, glob) for c in said]
        for f in findings:
            if not self.wants(f.check) or any(f.check.startswith(c) for c in ignored):
                continue
            if self._select and not any(f.check.startswith(s) for s in self._select):
                continue
            key = _key(name, f)
            if self._known[key] > 0:
                self._known[key] -= 1
                continue
            yield f

    def name(self, path: str) -> str:
        """The file's name from the folder on, the same on every machine."""
        try:
            return Path(os.path.relpath(path, self._folder)).as_posix()
        except ValueError:  # another drive
            return Path(path).as_posix()


def write_baseline(path: Path, found: Sequence[tuple[str, Sequence[Finding]]], names: Filter) -> int:
    """Write the findings of all files as known; how many there are.

    Raises:
        WriteError: it cannot be written.
    """
    entries: Counter[tuple[str, str, str]] = Counter()
    for file, findings in found:
        for f in findings:
            entries[names.name(file), f.check, _key(names.name(file), f)] += 1
    document: dict[str, Any] = {
        "tool": report.TOOL,
        "kind": _KIND,
        "findings": [{"file": f, "code": c, "key": k, "count": n} for (f, c, k), n in sorted(entries.items())],
    }
    try:
        disk.publish(path, report.dumps(document), "baseline")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise WriteError(f"cannot be written: {reason}", at=Location(str(path))) from error
    return sum(entries.values())


def _load(path: Path) -> Counter[str]:
    at = Location(str(path))
    try:
        document = orjson.loads(path.read_bytes())
    except OSError as error:
        hint = "write one with --write-baseline"
        raise ConfigError(f"cannot be read: {(error.strerror or str(error)).lower()}", at=at, hint=hint) from error
    except orjson.JSONDecodeError as error:
        raise ConfigError(f"is not JSON: {error}", at=at) from error
    if not isinstance(document, dict) or document.get("kind") != _KIND:
        raise ConfigError("is no baseline", at=at, hint="write one with --write-baseline")
    return Counter({str(e["key"]): int(e["count"]) for e in document["findings"]})


def _key(name: str, f: Finding) -> str:
    """What a finding is, wherever in the file it stands: lines move."""
    text = f"{name}\x00{f.check}\x00{f.message}\x00{f.fact}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _several(said: object) -> tuple[str, ...]:
    parts = said if isinstance(said, (list, tuple)) else str(said).split(",")
    return tuple(str(code).strip() for code in parts if str(code).strip())


def _matches(name: str, glob: str) -> bool:
    """A glob matches the whole name, or the end of it that begins at a folder."""
    return fnmatchcase(name, glob) or fnmatchcase(name, f"*/{glob}") or fnmatchcase(name, glob.removeprefix("**/"))


def _refuse_unknown(code: str) -> None:
    known: Mapping[str, object] = codes.CODES
    if code.startswith(codes.GUARD) or any(k.startswith(code) for k in known):
        return
    from compressor.yamlfile import nearest

    raise ConfigError(f'no code "{code}"', hint=nearest(code, known) + "; see compress check --help")
