"""What a check is told: on the command line, in the environment, in the table `check` of the configuration file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from compressor.errors import ConfigError
from compressor.options import Said, Spec, convert, spelled

_Texts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Terms:
    """Everything a check can be told; the defaults are the product's."""

    select: Annotated[_Texts, Spec("Only these codes, or all that begin so (E,J01).", many=True, metavar="CODES")] = ()
    ignore: Annotated[_Texts, Spec("Not these codes, nor any that begin so.", many=True, metavar="CODES")] = ()
    per_file_ignores: Annotated[
        Mapping[str, Any],
        Spec(
            "Codes to ignore in the files that match (tests/data/**=E02,J).", "pairs", many=True, metavar="GLOB=CODES"
        ),
    ] = field(default_factory=dict)
    baseline: Annotated[Path | None, Spec("Findings that are known already; only new ones count.", "path")] = None
    max_bytes: Annotated[int | None, Spec("L01: how large a file may be.", "count", metavar="BYTES")] = None
    max_line: Annotated[int | None, Spec("L02: how long a line may be.", "count", metavar="BYTES")] = None
    generations: Annotated[int, Spec("G01: how many summaries deep a text may be.", "count")] = 2
    preset: Annotated[
        str, Spec("Preset whose guards judge a compacted file; its report says so otherwise.", metavar="NAME")
    ] = ""
    archive: Annotated[Path | None, Spec("Where the originals lie; .compress/ above the file otherwise.", "path")] = (
        None
    )
    input_format: Annotated[
        str | None, Spec("Format of the files; found out by their content otherwise.", "name", group="formats")
    ] = None
    map: Annotated[Mapping[str, Any], Spec("An option of the format (role=speaker text=body).", "pairs", many=True)] = (
        field(default_factory=dict)
    )
    include: Annotated[_Texts, Spec("In folders, only files that match.", many=True, metavar="GLOB")] = ()
    exclude: Annotated[_Texts, Spec("In folders, no files that match.", many=True, metavar="GLOB")] = ()
    fail_on: Annotated[
        str,
        Spec("Level of finding from which the exit code is 1.", "name", choices=("note", "warning", "error", "never")),
    ] = "error"

    def codes(self, said: str) -> tuple[str, ...]:
        """The codes of `select` or `ignore`, one by one."""
        given: _Texts = getattr(self, said)
        return tuple(code.strip() for text in given for code in text.split(",") if code.strip())


@cache
def specs() -> Mapping[str, Spec]:
    """The spelling of every term, by name, in order."""
    hints = get_type_hints(Terms, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items()}


def merge(*sources: Said) -> Terms:
    """The terms that these sources make, the strongest first.

    Raises:
        ConfigError: a value that its term cannot take.
    """
    chosen: dict[str, Any] = {}
    for said in sources:
        for name, value in said.values.items():
            if name not in chosen:
                chosen[name] = convert(name, specs()[name], value, said)
    return Terms(**chosen)


def from_environment(environ: Mapping[str, str]) -> Said:
    """What `COMPRESS_CHECK_<TERM>` variables say; empty ones say nothing."""
    values: dict[str, Any] = {}
    for name, spec in specs().items():
        text = environ.get(f"COMPRESS_CHECK_{name.upper()}", "")
        if text:
            values[name] = text.splitlines() if spec.many else text
    return Said(values)


def from_config(path: Path) -> Said:
    """What the table `check` of a configuration file says.

    Raises:
        ConfigError: it says what no term is.
    """
    from compressor import config
    from compressor.yamlfile import nearest

    table, at = config.section(path, "check")
    known = {spelled(name): name for name in specs()}
    for key in table:
        if key not in known:
            raise ConfigError(f'unknown option "{key}" of check', at=at, hint=nearest(key, known))
    places = {known[key]: at for key in table if at is not None}
    return Said({known[key]: value for key, value in table.items()}, places, path.parent)
