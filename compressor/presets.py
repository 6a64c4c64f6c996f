"""Presets: which rules run, to which budget; read from YAML, with `extends`, overrides and `off`."""

from __future__ import annotations

import fnmatch
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final

import orjson

from compressor import __version__, plugins, rulefile, yamlfile
from compressor.data import resource
from compressor.errors import ConfigError
from compressor.rulefile import Blame, Rule, RuleFile, Verb
from compressor.schemacheck import check
from compressor.yamlfile import Document, Steps


@dataclass(frozen=True, slots=True)
class Budget:
    """When to compact and down to what: the first three of the targets are shares or tokens, see the fields.

    Attributes:
        window: context window of the model that reads on, in tokens.
        soft: below this nothing is touched; a share of the window up to 1, tokens above.
        hard: above this old tool output is cut first and no model is asked; as `soft`.
        target: stop here; as `soft`.
        target_share: stop at this share of the whole history.
        target_window: stop at this share of the window.
        tokens: stop at this many tokens.
        ratio: stop when the output is this many times smaller than the whole history.
    """

    window: int = 200_000
    soft: float = 0.0
    hard: float = 0.95
    target: float | None = None
    target_share: float | None = None
    target_window: float | None = None
    tokens: int | None = None
    ratio: float | None = None


#: The keys of a budget that say where to stop; naming one replaces the others.
TARGETS: Final = ("target", "target_share", "target_window", "tokens", "ratio")


@dataclass(frozen=True, slots=True)
class Keep:
    """What stands at the two ends: first requests, newest tool calls, most of the budget the tail may take."""

    head: int = 1
    tail: int = 6
    tail_share: float = 0.3


@dataclass(frozen=True, slots=True)
class Share:
    """Bounds of tokens after / before; outside of them is a finding."""

    min: float = 0.01
    max: float = 0.8


@dataclass(frozen=True, slots=True)
class Weights:
    """What a finding takes off the score of 1."""

    note: float = 0.0
    warning: float = 0.05
    error: float = 0.5


@dataclass(frozen=True, slots=True)
class Preset:
    """A preset with everything it extends; `digest` changes whenever an output could.

    `generations` is the maximum; `language` is a tag or "auto" (that of the requests).
    """

    name: str
    description: str = ""
    budget: Budget = Budget()
    keep: Keep = Keep()
    generations: int = 2
    share: Share = Share()
    rules: tuple[Rule, ...] = ()
    summarizer: str = "extractive"
    summarizer_options: Mapping[str, Any] = field(default_factory=dict)
    repairs: int = 2
    weights: Weights = Weights()
    language: str = "auto"
    digest: str = ""

    def sealed(self) -> Preset:
        """This preset with the digest of what it says now (for one that was changed with `replace`)."""
        return replace(self, digest=_digest(self))


def preset_names() -> tuple[str, ...]:
    """The shipped presets."""
    files = resource("rules/presets").iterdir()
    return tuple(sorted(f.name.removesuffix(".yaml") for f in files if f.name.endswith(".yaml")))


def load_preset(name_or_path: str | Path, extra_rule_files: Sequence[Path | str] = ()) -> Preset:
    """A shipped preset by name, or a preset file, with everything it extends.

    Args:
        name_or_path: a name without a slash and suffix is a shipped preset, anything else a file.
        extra_rule_files: rule files whose rules run besides; one with a known id replaces that rule.

    Raises:
        ConfigError: with file, line and column of what is wrong.
    """
    layers = _layers(_document(name_or_path))
    entries: dict[str, _Entry] = {}
    for document in reversed(layers):
        for index in range(len(document.value.get("rules", ()))):
            _add(entries, document, index)
    for path in extra_rule_files:
        for rule_file in rulefile.read(Path(path)):
            entries[rule_file.data["id"]] = _Entry(rule_file)
    says: dict[str, Any] = {}
    for document in reversed(layers):
        _merge(says, document)
    return _preset(_name(layers[0]), says, [e for e in entries.values() if not e.off]).sealed()


def load_rules(extra_rule_files: Sequence[Path | str] = ()) -> tuple[RuleFile, ...]:
    """Every shipped rule and those of the files, whatever preset uses them (for listing and testing)."""
    shipped = [rulefile.shipped_file(name) for name in rulefile.shipped()]
    return (*shipped, *(r for path in extra_rule_files for r in rulefile.read(Path(path))))


@dataclass(frozen=True, slots=True)
class _Entry:
    """A rule with what the presets say otherwise, and where they say it."""

    file: RuleFile
    override: Mapping[str, Any] = field(default_factory=dict)
    blame: Blame = field(default_factory=dict)
    off: bool = False

    def rule(self) -> Rule:
        return self.file.rule(self.override, self.blame)


def _document(name_or_path: str | Path, beside: Path | None = None) -> Document:
    """A preset's file: shipped by name, else a path (from the folder of the file that names it)."""
    text = str(name_or_path)
    source: Path | Traversable
    if text in preset_names():
        source, file = resource(f"rules/presets/{text}.yaml"), f"rules/presets/{text}.yaml"
    else:
        source, file = _path(text, beside), ""
        if not source.is_file() and not text.endswith((".yaml", ".yml")) and "/" not in text:
            raise ConfigError(f'unknown preset "{text}"', hint=yamlfile.nearest(text, preset_names()))
    document = yamlfile.load(source, file)
    check(document, rulefile.schema("preset"), (), "the preset")
    named = [key for key in TARGETS if key in document.value.get("budget", {})]
    if len(named) > 1:
        where = ("budget", named[1])
        raise document.mistake(f'a second target "{named[1]}" beside "{named[0]}"', where, key=True, hint="keep one")
    return document


def _path(text: str, beside: Path | None) -> Path:
    path = Path(text).expanduser()
    return path if beside is None or path.is_absolute() else beside / path


def _layers(document: Document) -> list[Document]:
    """The preset and what it extends, nearest first."""
    chain = [document]
    while "extends" in chain[-1].value:
        last = chain[-1]
        try:
            parent = _document(last.value["extends"], Path(last.file).parent)
        except ConfigError as error:
            if error.at is not None and (error.at.line or Path(error.at.file).exists()):
                raise
            raise last.mistake(error.message, ("extends",), hint=error.hint) from error
        if parent.file in [d.file for d in chain]:
            names = " -> ".join(Path(d.file).stem for d in [*chain, parent])
            raise last.mistake(f"extends itself: {names}", ("extends",), hint="break the circle")
        chain.append(parent)
    return chain


def _name(document: Document) -> str:
    return Path(document.file).stem


def _add(entries: dict[str, _Entry], document: Document, index: int) -> None:
    """One item of `rules`: an id, a pattern of ids, a file, or one of them with an override."""
    item = document.value["rules"][index]
    steps: Steps = ("rules", index)
    what, override = (item, {}) if isinstance(item, str) else next(iter(item.items()))
    inside: Steps = steps if isinstance(item, str) else (*steps, what)
    for rule_file in _named(entries, document, what, steps):
        name = rule_file.data["id"]
        before = entries.get(name) or _Entry(rule_file)
        if override == "off":
            entries[name] = replace(before, off=True)
            continue
        check(document, {**rulefile.schema("rule"), "required": []}, inside, "the override") if override else None
        merged = {**before.override, **override}
        if "with" in override:
            merged["with"] = {**before.override.get("with", {}), **override["with"]}
        said = [*override.get("with", {}), *(["action"] if "action" in override else [])]
        blame = {**before.blame, **dict.fromkeys(said, (document, inside))}
        entries[name] = replace(before, override=merged, blame=blame, off=False)


def _named(entries: Mapping[str, _Entry], document: Document, what: str, steps: Steps) -> Iterator[RuleFile]:
    """The rules that an item names."""
    if what.endswith((".yaml", ".yml")):
        path = _path(what, Path(document.file).parent)
        if not path.is_file():
            raise document.mistake(f'no such rule file: "{what}"', steps, hint=f"looked for {path}")
        yield from rulefile.read(path)
        return
    known = {**dict.fromkeys(rulefile.shipped()), **{name: entry.file for name, entry in entries.items()}}
    names = [name for name in known if fnmatch.fnmatchcase(name, what)] if "*" in what else [what]
    if not names or names[0] not in known:
        raise document.mistake(f'unknown rule "{what}"', steps, hint=yamlfile.nearest(what, known))
    for name in names:
        yield known[name] or rulefile.shipped_file(name)


def _merge(says: dict[str, Any], document: Document) -> None:
    """Lay a preset over what it extends; mappings key by key."""
    for key, value in document.value.items():
        if key in {"rules", "extends"}:
            continue
        if key == "budget":
            before = says.get(key, {})
            kept = {k: v for k, v in before.items() if k not in TARGETS or not set(TARGETS) & set(value)}
            says[key] = {**kept, **value}
        elif isinstance(value, dict) and key != "summarizer":
            says[key] = {**says.get(key, {}), **value}
        else:
            says[key] = value
    budget, share = says.get("budget", {}), {**asdict(Share()), **says.get("share", {})}
    if budget.get("soft", 0) and _share_of(budget, "soft") > _share_of(budget, "hard"):
        raise document.mistake('"soft" is above "hard"', ("budget", "soft"))
    if share["min"] > share["max"]:
        raise document.mistake('"min" is above "max"', ("share", "min"))


def _share_of(budget: Mapping[str, Any], key: str) -> float:
    value: float = budget.get(key, getattr(Budget(), key))
    return value if value <= 1 else value / budget.get("window", Budget().window)


def _preset(name: str, says: Mapping[str, Any], entries: Sequence[_Entry]) -> Preset:
    summarizer = says.get("summarizer", "extractive")
    options: Mapping[str, Any] = {}
    if not isinstance(summarizer, str):
        summarizer, options = next(iter(summarizer.items()))
    preset = Preset(
        name=name,
        description=says["description"],
        budget=Budget(**says.get("budget", {})),
        keep=Keep(**says.get("keep", {})),
        generations=says.get("generations", {}).get("max", 2),
        share=Share(**says.get("share", {})),
        summarizer=summarizer,
        summarizer_options=options,
        repairs=says.get("repairs", 2),
        weights=Weights(**says.get("weights", {})),
        language=says.get("language", "auto"),
    )
    return replace(preset, rules=tuple(_limited(entry.rule(), preset) for entry in entries))


def _limited(rule: Rule, preset: Preset) -> Rule:
    """The limits that a preset sets by itself reach their checks."""
    limits: dict[str, dict[str, Any]] = {"generations": {"max": preset.generations}, "ratio": asdict(preset.share)}
    if rule.action.verb is not Verb.REQUIRE or rule.kind not in limits:
        return rule
    return replace(rule, options={**limits[rule.kind], **rule.options})


def _digest(preset: Preset) -> str:
    """sha256 (hex, 32 digits) of all that can change an output: values, versions, engines of the kinds."""
    rules = [
        [r.id, r.kind, _plain(r.scope), r.options, r.action.verb, r.action.value, r.level, r.loss] for r in preset.rules
    ]
    says = asdict(replace(preset, rules=(), digest="", name="", description=""))
    kinds = {
        rule.kind: getattr(plugins.load("kinds", rule.kind), "fingerprint", str)()
        for rule in preset.rules
        if rule.action.verb is not Verb.REQUIRE
    }
    data = orjson.dumps([__version__, says, rules, kinds], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(data).hexdigest()[:32]


def _plain(scope: rulefile.Scope) -> list[list[str]]:
    return [sorted(scope.role), sorted(scope.type), sorted(scope.layer), sorted(scope.origin), list(scope.tool)]
