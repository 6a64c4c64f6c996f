"""What the user may say, once: the command line, the environment and the configuration file all speak `Options`.

A new option is one field here. `compress run --help`, `COMPRESS_<NAME>`, the keys of `compress.yaml` and their
error messages follow from it.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_type_hints

from compressor.errors import ConfigError, Location

if TYPE_CHECKING:
    from compressor.pipeline import Settings

Kind = Literal["text", "name", "path", "count", "number", "flag", "pairs", "age", "amount"]

_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"", "0", "false", "no", "off"})
_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_AGE: Final = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)\s*([smhdw]?)")


@dataclass(frozen=True, slots=True)
class Spec:
    """How one option is spelled and checked.

    Attributes:
        kind: `count` is a whole number >= 1, `number` a number >= 1, `pairs` KEY=VALUE, `name` one of `choices`,
            `age` a span of time, in seconds.
        many: may be given several times (a list in the configuration file, one a line in the environment).
        choices: the values of a `name`; `group`: or the plug-in group that knows them.
        once: belongs to one call: not read from the environment or the configuration file.
    """

    help: str
    kind: Kind = "text"
    metavar: str = ""
    short: str = ""
    many: bool = False
    choices: tuple[str, ...] = ()
    group: str = ""
    once: bool = False


_Texts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Options:
    """Everything a run can be told; the defaults are the product's."""

    output: Annotated[
        str,
        Spec(
            "A file for one input, a folder for several (or with a final /), - for standard output.",
            metavar="PATH",
            short="-o",
            once=True,
        ),
    ] = ""
    preset: Annotated[str, Spec("Preset by name, or a preset file.", metavar="NAME")] = "archive"
    rules: Annotated[
        tuple[Path, ...], Spec("A rule file of your own, besides the preset's rules.", "path", many=True)
    ] = ()
    budget: Annotated[int | None, Spec("Tokens that the output may cost its reader.", "count", metavar="TOKENS")] = None
    ratio: Annotated[float | None, Spec("How many times smaller than the original (4: a quarter).", "number")] = None
    summarizer: Annotated[
        str, Spec("Who writes the brief; the preset says so otherwise.", "name", group="summarizers")
    ] = ""
    summarizer_option: Annotated[Mapping[str, Any], Spec("An option of the summarizer.", "pairs", many=True)] = field(
        default_factory=dict
    )
    model: Annotated[
        str, Spec("The model that writes the brief: its provider's name for it, or a .gguf file.", metavar="NAME")
    ] = ""
    base_url: Annotated[str, Spec("Address of the model's endpoint, its provider's own otherwise.", metavar="URL")] = ""
    cassette: Annotated[
        Path | None, Spec("Record the model's answers here; --summarizer replay reads them.", "path")
    ] = None
    max_cost: Annotated[
        float | None, Spec("Stop before the models of this run cost more, in the price table's currency.", "amount")
    ] = None
    max_tokens: Annotated[int | None, Spec("Stop before the models of this run use more tokens.", "count")] = None
    prices: Annotated[Path | None, Spec("A price table of your own, asked before the one that ships.", "path")] = None
    concurrency: Annotated[int | None, Spec("How many requests to a model at once.  [default: 4]", "count")] = None
    rpm: Annotated[int | None, Spec("Requests to a model per minute, at most.", "count")] = None
    tpm: Annotated[int | None, Spec("Tokens to and from a model per minute, at most.", "count")] = None
    deadline: Annotated[
        float | None, Spec("How long a session may wait for a model, all in all (90s, 10m).  [default: 10m]", "age")
    ] = None
    batch: Annotated[
        bool,
        Spec("Hand the requests to the provider's batch endpoint; `compress batch` does the rest.", "flag", once=True),
    ] = False
    focus: Annotated[str, Spec("Words that matter now: what matches them is kept first.", metavar="TEXT")] = ""
    pin: Annotated[_Texts, Spec("Keep every part that holds this text, as it is.", many=True, metavar="TEXT")] = ()
    facts: Annotated[
        Path | None, Spec("Facts that must survive, in the shape that `compress facts --json` prints.", "path")
    ] = None
    new_id: Annotated[bool, Spec("Write under a new session id, for tools whose live file stays.", "flag")] = False
    archive: Annotated[Path | None, Spec("Where the originals go; .compress/ beside the output otherwise.", "path")] = (
        None
    )
    redact: Annotated[
        bool, Spec("Replace secrets before anything else sees them; the archive holds the redacted bytes.", "flag")
    ] = False
    known: Annotated[
        bool,
        Spec("Also all sessions in the homes of the known tools; with --dry-run only list them.", "flag", once=True),
    ] = False
    replace: Annotated[
        bool, Spec("Put each output in its input's place, once the original is in the --archive.", "flag", once=True)
    ] = False
    min_age: Annotated[float | None, Spec("Leave sessions alone that are younger (30m, 2h, 1d).", "age")] = None
    max_time: Annotated[float | None, Spec("Begin no more sessions after this long (30m, 2h).", "age")] = None
    format: Annotated[
        str | None, Spec("Format of the input; found out by its content otherwise.", "name", group="formats")
    ] = None
    map: Annotated[Mapping[str, Any], Spec("An option of the format (role=speaker text=body).", "pairs", many=True)] = (
        field(default_factory=dict)
    )
    encoding: Annotated[str, Spec("How tokens are counted.", "name", choices=("o200k_base", "cl100k_base"))] = (
        "o200k_base"
    )
    include: Annotated[_Texts, Spec("In folders, only files that match.", many=True, metavar="GLOB")] = ()
    exclude: Annotated[_Texts, Spec("In folders, no files that match.", many=True, metavar="GLOB")] = ()
    fail_on: Annotated[
        str,
        Spec(
            "Level of finding from which the exit code is 1; never: whatever happens to a session.",
            "name",
            choices=("note", "warning", "error", "never"),
        ),
    ] = "error"
    jobs: Annotated[int, Spec("How many files at once.", "count")] = 1
    report: Annotated[
        Path | None, Spec("One report of the whole run (JSON), not one beside each output.", "path", once=True)
    ] = None
    dry_run: Annotated[bool, Spec("Say what would be done; write nothing.", "flag", once=True)] = False
    diff: Annotated[bool, Spec("Show what goes and what comes, message by message.", "flag", once=True)] = False
    quiet: Annotated[bool, Spec("Print nothing but errors.", "flag", short="-q")] = False
    json: Annotated[bool, Spec("Print the report as JSON on standard output.", "flag", once=True)] = False


@cache
def specs() -> Mapping[str, Spec]:
    """The spelling of every option, by name, in order."""
    hints = get_type_hints(Options, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items()}


def spelled(name: str) -> str:
    """The name as users write it."""
    return name.replace("_", "-")


@dataclass(frozen=True, slots=True)
class Said:
    """Values from one source, each with where it was said.

    Attributes:
        values: by option name, as found (strings, or what YAML and TOML make of them).
        places: where each was said, for messages.
        folder: paths are meant from here; None: from the current folder.
    """

    values: Mapping[str, Any]
    places: Mapping[str, Location] = field(default_factory=dict)
    folder: Path | None = None


def merge(*sources: Said) -> Options:
    """The options that these sources make, the strongest first.

    Raises:
        ConfigError: a value that its option cannot take; nothing has been touched.
    """
    known = specs()
    chosen: dict[str, Any] = {}
    for said in sources:
        taken = {n: convert(n, known[n], v, said) for n, v in said.values.items() if n not in chosen}
        if chosen.get("budget") or chosen.get("ratio"):
            # a size said on the command line replaces the other kind of size said in a file
            taken = {n: v for n, v in taken.items() if n not in {"budget", "ratio"}}
        chosen.update(taken)
        if chosen.get("budget") and chosen.get("ratio"):
            raise ConfigError("a budget and a ratio at once", at=said.places.get("ratio"), hint="say one of them")
    return Options(**chosen)


def from_environment(environ: Mapping[str, str]) -> Said:
    """What `COMPRESS_<OPTION>` variables say; empty ones say nothing."""
    values: dict[str, Any] = {}
    places: dict[str, Location] = {}
    for name, spec in specs().items():
        key = f"COMPRESS_{name.upper()}"
        text = environ.get(key, "")
        if text and not spec.once:
            values[name] = text.splitlines() if spec.many else text
            places[name] = Location(key)
    return Said(values, places)


def convert(name: str, spec: Spec, value: Any, said: Said) -> Any:
    """The value in the option's own type.

    Raises:
        ConfigError: it has none.
    """
    at = said.places.get(name)
    if spec.kind == "pairs":
        return _pairs(name, value, at)
    if spec.many:
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, (list, tuple)):
            raise _wrong(name, value, "a list", at)
        return tuple(_single(name, spec, v, said) for v in value)
    return _single(name, spec, value, said)


def _single(name: str, spec: Spec, value: Any, said: Said) -> Any:
    at = said.places.get(name)
    match spec.kind:
        case "flag":
            return _flag(name, value, at)
        case "count" | "number":
            return _number(name, spec.kind, value, at)
        case "path":
            return _path(name, value, said)
        case "age":
            return _age(name, value, at)
        case "amount":
            return _amount(name, value, at)
        case "name":
            return _name(name, spec, value, at)
    if not isinstance(value, str):
        raise _wrong(name, value, "text", at)
    return value


def _flag(name: str, value: Any, at: Location | None) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _TRUE | _FALSE:
        return value.lower() in _TRUE
    raise _wrong(name, value, "true or false", at)


def _number(name: str, kind: str, value: Any, at: Location | None) -> int | float:
    wanted = "a whole number, 1 or more" if kind == "count" else "a number, 1 or more"
    try:
        number = int(value) if kind == "count" and isinstance(value, (str, int)) else float(value)
    except (TypeError, ValueError):
        raise _wrong(name, value, wanted, at) from None
    if isinstance(value, bool) or not 1 <= number < 1e15 or (kind == "count" and not isinstance(number, int)):
        raise _wrong(name, value, wanted, at)
    return number


def _amount(name: str, value: Any, at: Location | None) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if isinstance(value, bool) or not 0 < number < 1e15:
        raise _wrong(name, value, "a number above 0", at)
    return number


def seconds(said: str) -> float:
    """A span of time, such as `30m`, in seconds.

    Raises:
        ValueError: it is none.
    """
    match = _AGE.fullmatch(said.strip().lower())
    if match is None:
        raise ValueError(said)
    return float(match[1]) * _UNITS[match[2]]


def _age(name: str, value: Any, at: Location | None) -> float:
    try:
        return seconds(str(value))
    except ValueError:
        raise _wrong(name, value, "a span of time (90s, 30m, 2h, 1d)", at) from None


def _path(name: str, value: Any, said: Said) -> Path:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str) or not value or "\0" in value:
        raise _wrong(name, value, "a path", said.places.get(name))
    path = Path(value)
    if said.folder is not None:
        path = said.folder / path.expanduser()
    return path


def _name(name: str, spec: Spec, value: Any, at: Location | None) -> str:
    known = spec.choices
    if spec.group:
        from compressor import plugins

        known = plugins.names(spec.group)
    if isinstance(value, str) and value in known:
        return value
    near = difflib.get_close_matches(str(value), known, n=1)
    hint = f'did you mean "{near[0]}"?' if near else f"known: {', '.join(known)}"
    raise ConfigError(f'{spelled(name)}: "{value}" is not known', at=at, hint=hint)


def _pairs(name: str, value: Any, at: Location | None) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {str(k): v for k, v in value.items()}
    out: dict[str, Any] = {}
    for item in [value] if isinstance(value, str) else value:
        key, equals, text = str(item).partition("=")
        if not key or not equals:
            raise _wrong(name, item, "KEY=VALUE", at)
        out[key.strip()] = _literal(text)
    return out


def _literal(text: str) -> Any:
    """Numbers and true/false as such: plug-ins check their options against a schema."""
    if text in {"true", "false"}:
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _wrong(name: str, value: Any, wanted: str, at: Location | None) -> ConfigError:
    return ConfigError(
        f'{spelled(name)}: "{value}" is not {wanted}', at=at, hint=f"see compress run --help, --{spelled(name)}"
    )


def settings(options: Options, *, asking: bool = True) -> Settings:
    """What the engine is told.

    Args:
        asking: the summarizer will be asked, so it must be able to work; otherwise a deterministic one stands in.

    Raises:
        ConfigError: a preset or rule file is wrong.
    """
    from compressor import asked
    from compressor.asking import Terms
    from compressor.pipeline import Settings
    from compressor.rules import load_preset

    preset = load_preset(options.preset, options.rules)
    summarizer, summarizer_options = asked.summarizer(options, preset)
    terms = Terms()
    if asking:
        terms = asked.terms(options, summarizer, summarizer_options)
    else:
        # a look costs nothing and sends nothing
        summarizer, summarizer_options = "extractive", {}
    if options.facts is not None:
        from compressor.ledger import from_file

        from_file(options.facts)
    return Settings(
        preset=preset,
        encoding=options.encoding,
        summarizer=summarizer,
        summarizer_options=summarizer_options,
        budget=options.budget,
        ratio=options.ratio,
        focus=options.focus,
        pins=options.pin,
        facts_file=options.facts,
        new_id=options.new_id,
        format=options.format,
        format_options=options.map,
        archive=options.archive,
        redact=options.redact,
        terms=terms,
    )
