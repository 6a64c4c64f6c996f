"""Read the cue files in `rules/cues/` and turn their phrases into patterns.

A list of phrases is written as a YAML list or as one text with commas between the phrases. In a phrase a
space stands for any white space, `a|b` for either word, `*` for up to six words, `*ing` for a word with this ending, a final `~` for any
word ending, and `'` for every sort of apostrophe.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from compressor import yamlplain
from compressor.data import resource
from compressor.errors import ConfigError, Location

#: Scripts that write no spaces between words: no word borders are asked for there.
CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
_CJK_CHAR: Final = re.compile(f"[{CJK}]")
_LIST_LANGUAGE: Final = re.compile(r"^negation-([a-z]{2,3}(?:-[A-Za-z]+)?)\.yaml$")
#: A pattern that matches nothing, for empty lists.
NOTHING: Final = re.compile(r"(?!)")


@cache
def load(name: str) -> Mapping[str, Any]:
    """The content of `rules/cues/<name>.yaml`.

    Raises:
        ConfigError: there is no such file, or it is not a mapping.
    """
    file = resource(f"rules/cues/{name}.yaml")
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f'there are no cues "{name}"', hint=f"known: {', '.join(cue_files())}") from None
    try:
        data = yamlplain.parse(text)
    except yamlplain.UnsureError:
        data = _parse(text, str(file))
    if not isinstance(data, dict):
        raise ConfigError("a cue file is a mapping of lists", at=Location(str(file), 1))
    return data


def _parse(text: str, path: str) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return YAML(typ="safe").load(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = Location(path, mark.line + 1, mark.column + 1) if mark else Location(path)
        raise ConfigError(str(getattr(error, "problem", error)), at=place) from None


@cache
def cue_files() -> tuple[str, ...]:
    """The names of all cue files, sorted."""
    return tuple(
        sorted(f.name.removesuffix(".yaml") for f in resource("rules/cues").iterdir() if f.name.endswith(".yaml"))
    )


@cache
def languages() -> tuple[str, ...]:
    """The languages that have a file of negation cues; another language is one more file."""
    found = (_LIST_LANGUAGE.match(f"{name}.yaml") for name in cue_files())
    return tuple(m.group(1) for m in found if m)


def phrases(name: str, key: str) -> tuple[str, ...]:
    """The phrases of one list of a cue file; empty when the file has no such list.

    Raises:
        ConfigError: the entry is neither a text nor a list of texts.
    """
    value = load(name).get(key, ())
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, (list, tuple)) or not all(isinstance(v, (str, int, float)) for v in value):
        at = Location(f"rules/cues/{name}.yaml")
        raise ConfigError(f'"{key}" is not a list of phrases', at=at, hint="write words with commas between them")
    return tuple(dict.fromkeys(p for p in (" ".join(str(v).split()) for v in value) if p))


def alternation(items: Iterable[str]) -> str:
    """One pattern text for any of these phrases, longest first."""
    ordered = sorted(items, key=lambda p: (-len(p), p))
    return "|".join(_phrase(p) for p in ordered)


def compiled(items: Iterable[str]) -> re.Pattern[str]:
    """A pattern for any of these phrases, letter case ignored."""
    text = alternation(items)
    return re.compile(text, re.IGNORECASE) if text else NOTHING


def _phrase(phrase: str) -> str:
    words = (phrase if _spaced((phrase,)) else phrase.replace("*", " * ")).split()
    out = ""
    for i, word in enumerate(words):
        last = i == len(words) - 1
        if word == "*":
            out += r"(?:[^\s.;!?]+\s+){0,6}?" if _spaced(words) else r"[^\s。！？；]{0,16}?"
            continue
        out += "(?:" + "|".join(_word(w) for w in word.split("|")) + ")" if "|" in word else _word(word)
        if not last:
            out += r"\s+" if _spaced(words) else r"\s*"
    before = r"(?<![\w\-/\\])" if _spaced(words[:1]) else ""
    after = r"(?![\w\-/\\])" if _spaced(words[-1:]) and not phrase.endswith("~") else ""
    return before + out + after


def _word(word: str) -> str:
    stem = word.removesuffix("~")
    if stem.startswith("*"):
        return r"\w+" + _word(word[1:])
    text = re.escape(stem).replace("'", "['\u2019\u2018\u02bc\u00b4`]")
    return text + r"[\w\u00c0-\u024f]*" if stem != word else text


def _spaced(words: Iterable[str]) -> bool:
    return not any(_CJK_CHAR.search(w) for w in words)
