"""`compress check`: what is wrong with transcripts, without a model and without compacting anything."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from compressor.cli._options import option
from compressor.cli._print import say
from compressor.errors import ConfigError, Location, WriteError

if TYPE_CHECKING:
    from compressor.model import Finding
    from compressor.validate import Checked, Terms

FORMATS: Final = ("text", "json", "sarif", "junit", "github")


def _terms(function: Callable[..., Any]) -> Callable[..., Any]:
    """All terms of a check as options, but those that only a configuration file says well."""
    from compressor.validate import terms

    for name in reversed(list(terms.specs())):
        function = option(name, terms.specs()[name], getattr(terms.Terms(), name))(function)
    return function


@click.command(
    short_help="Check transcripts: structure, JSON, secrets, limits.",
    epilog="""\b
Examples:
  compress check session.jsonl tests/fixtures/
  compress check session.jsonl --fix                the old file stays as session.jsonl.bak
  compress check session.jsonl --fix -o mended.jsonl
  compress check tests/ --write-baseline --baseline known.json   old sins; from now on only new ones
  compress check tests/ --format sarif > check.sarif
  compress check --explain E03

\b
Codes: F files, J JSON and text, S schemas, E structure, W warnings, K secrets, L limits, G generations,
D doubles, V a compaction against its original (V:<guard> for what its guards find).
Options can also stand in the table `check` of compress.yaml, in [tool.compress.check] of pyproject.toml, or in
COMPRESS_CHECK_<OPTION>. A repository ignores codes in some files by `per-file-ignores` there.
Exit code: 0 fine; 1 findings from the level of --fail-on on; 2 a wrong option; 3 a bug; 130 interrupted.
""",
)
@click.argument("files", nargs=-1, metavar="FILE...")
@_terms
@click.option("--format", "show", type=click.Choice(FORMATS), default="text", help="How findings are shown.")
@click.option("--fix", is_flag=True, help="Repair what has one right repair; the old file stays beside as .bak.")
@click.option("-o", "--output", metavar="FILE", help="With --fix: write the repaired file here instead.")
@click.option("--write-baseline", is_flag=True, help="Write all findings into the --baseline as known.")
@click.option("--explain", metavar="CODE", help="Say what a code means, and stop.")
@click.option("--config", metavar="FILE", help="Configuration file; otherwise the nearest one here or above.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing if nothing is wrong.")
def command(  # noqa: PLR0913 - the command line's own
    files: Sequence[str],
    show: str,
    explain: str | None,
    config: str | None,
    output: str | None,
    *,
    fix: bool,
    write_baseline: bool,
    quiet: bool,
    **said: Any,
) -> int:
    """Check transcripts of any known format, each on its own, without a model.

    A FILE is a transcript or a folder of them. A file that was compacted here is also checked against its original,
    if that or its archive is at hand.
    """
    if explain is not None:
        return _explain(explain)
    if not files:
        raise click.UsageError("Missing argument 'FILE...'.")
    terms, folder = _gather(config, said)
    if write_baseline:
        return _write_baseline(files, terms, folder)
    if fix:
        _fix(files, terms, output)
        files = [output] if output else files
    elif output:
        raise ConfigError("-o without --fix", hint="findings go to standard output")
    from compressor.validate import check_files

    checked = list(check_files(files, terms, folder))
    found = any(c.findings for c in checked)
    if found or not quiet or show != "text":
        _print(checked, show)
    return _exit_code(checked, terms.fail_on)


def _gather(config: str | None, said: dict[str, Any]) -> tuple[Terms, Path | None]:
    """The terms, and the folder of the configuration file."""
    from compressor import config as config_file
    from compressor.options import Said
    from compressor.validate import terms

    path = Path(config) if config else config_file.find(Path.cwd())
    given = Said({n: v for n, v in said.items() if v is not None and v != ()})
    sources = [given, terms.from_environment(os.environ)]
    if path is not None:
        sources.append(terms.from_config(path))
    return terms.merge(*sources), path.parent if path is not None else None


def _explain(code: str) -> int:
    from compressor.validate import codes

    known = codes.CODES.get(code)
    if known is None and code.startswith(codes.GUARD):
        say(f"{code}: {codes.title(code)}\ndo: {codes.advice(code)}\nsee also: compress rules show {code[2:]}")
        return 0
    if known is None:
        from compressor.yamlfile import nearest

        raise ConfigError(f'no code "{code}"', hint=nearest(code, codes.CODES))
    say(f"{code}: {known.title}\n\nwhy: {known.why}\ndo: {known.do}\n--fix: {known.fix or 'no: people must decide'}")
    return 0


def _print(checked: Sequence[Checked], show: str) -> None:
    from compressor import __version__, plugins, report
    from compressor.validate import codes

    def shown(f: Finding) -> dict[str, Any]:
        return {**report.finding(f), "title": codes.title(f.check), "hint": codes.advice(f.check)}

    document = {
        "tool": report.TOOL,
        "version": __version__,
        "kind": "check",
        "files": [
            {"path": c.path, "format": c.format, "skipped": c.skipped, "findings": len(c.findings)} for c in checked
        ],
        "findings": [shown(f) for c in checked for f in c.findings],
    }
    plugins.load("reporters", show).write(document, sys.stdout, {})
    sys.stdout.flush()


def _exit_code(checked: Sequence[Checked], fail_on: str) -> int:
    from compressor.model import Level

    if fail_on == "never":
        return 0
    order = [level.value for level in Level]
    least = order.index(fail_on)
    return int(any(order.index(f.level.value) >= least for c in checked for f in c.findings))


def _write_baseline(files: Sequence[str], terms: Terms, folder: Path | None) -> int:
    from dataclasses import replace

    from compressor.validate import check_files
    from compressor.validate._ignores import Filter, write_baseline

    if terms.baseline is None:
        raise ConfigError("--write-baseline without a file", hint="name it with --baseline FILE")
    fresh = replace(terms, baseline=None)
    where = folder or terms.baseline.parent
    checked = list(check_files(files, fresh, where))
    count = write_baseline(terms.baseline, [(c.path, c.findings) for c in checked], Filter(fresh, where))
    say(f"{terms.baseline}: {count:,} findings are known now")
    return 0


def _fix(files: Sequence[str], terms: Terms, output: str | None) -> None:
    from compressor import disk, reading
    from compressor.validate import codes
    from compressor.validate._fixes import fix
    from compressor.validate._ignores import Filter

    if output and len(files) > 1:
        raise ConfigError("several files into one", hint="without -o each is repaired in its place")
    filter_ = Filter(terms)
    wanted = frozenset(code for code, entry in codes.CODES.items() if entry.fix and filter_.wants(code))
    for name in files:
        path = Path(name)
        if path.is_dir() or path.suffix in {".gz", ".zst"}:
            raise ConfigError(f'cannot repair "{name}": name the unpacked files', hint="--fix takes files")
        fixed = fix(reading.open_source(path), terms, wanted)
        if not fixed.done and not output:
            continue
        try:
            if not output:
                disk.publish(_backup(path), path.read_bytes(), "backup")
            disk.publish(Path(output) if output else path, fixed.data, "fix")
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise WriteError(f"cannot be written: {reason}", at=Location(output or name)) from error
        done = ", ".join(f"{n:,} {code}" for code, n in sorted(fixed.done.items()))
        click.echo(f"{output or name}: repaired {done or 'nothing'}", err=True)


def _backup(path: Path) -> Path:
    """A name that is free: an older backup is never overwritten."""
    candidate = path.with_name(f"{path.name}.bak")
    number = 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}.bak{number}")
    return candidate
