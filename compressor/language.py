"""Which language a session is held in, and the words we know of it (`rules/cues/<language>.yaml`).

The files are plain on purpose: section names at column 0, below them `- item` lines or `key: value` lines,
no quotes, no nesting. So they are read without a YAML parser, which would cost more than the whole brief.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from compressor.data import resource
from compressor.model import Origin, PartType, Role, Session

#: Characters looked at per request, and in all: more does not change the vote.
_PER_REQUEST: Final = 2_000
_IN_ALL: Final = 40_000

_FENCED: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_KANA: Final = re.compile(r"[\u3041-\u30ff]")
_HANGUL: Final = re.compile(r"[\uac00-\ud7a3\u1100-\u11ff]")
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_LATIN_WORD: Final = re.compile(r"[A-Za-zÀ-ÿ]+")

#: Languages in Latin script that are told apart by their most frequent words.
_LATIN: Final = ("en", "de", "fr", "es")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words of one language: `labels` for what we write, `cues` (lists by name) for what we look for."""

    labels: Mapping[str, str] = field(default_factory=dict)
    cues: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@cache
def lexicon(language: str) -> Lexicon:
    """The words of a language by its tag; `zh-CN` is `zh`; an unknown language is empty."""
    tag = language.lower().replace("_", "-").split("-")[0]
    if tag not in languages():
        return Lexicon()
    file = resource("rules/cues") / f"{tag}.yaml"
    return parse_lexicon(file.read_text("utf-8"))


@cache
def languages() -> tuple[str, ...]:
    """The languages that have a file of words, sorted; another language is one more file."""
    names = (file.name for file in resource("rules/cues").iterdir())
    # the folder holds word lists of other parts too: ours are named by a two-letter tag
    return tuple(sorted(name[:2] for name in names if name[2:] == ".yaml"))


def parse_lexicon(text: str) -> Lexicon:
    """Read the plain subset of YAML that the module docstring describes."""
    labels: dict[str, str] = {}
    cues: dict[str, list[str]] = {}
    section = ""
    for line in text.split("\n"):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        if bare.startswith("- "):
            cues.setdefault(section, []).append(bare[2:].strip())
        elif not line[0].isspace():
            section = bare.removesuffix(":")
        else:
            key, _, value = bare.partition(": ")
            labels[key] = value.strip()
    return Lexicon(labels, {name: tuple(words) for name, words in cues.items()})


def language(session: Session) -> str:
    """The language of most requests: `zh`, `ja`, `ko`, `de`, `fr`, `es`, else `en`."""
    votes: Counter[str] = Counter()
    room = _IN_ALL
    for text in _request_texts(session):
        if room <= 0:
            break
        piece = text[: min(_PER_REQUEST, room)]
        room -= len(piece)
        tag, weight = language_of(piece)
        votes[tag] += weight
    return votes.most_common(1)[0][0] if votes else "en"


def _request_texts(session: Session) -> list[str]:
    messages = [m for m in session.messages if m.role is Role.USER and not m.abandoned]
    typed = [m for m in messages if m.origin is Origin.PERSON] or messages
    return [_FENCED.sub(" ", p.text[: 4 * _PER_REQUEST]) for m in typed for p in m.parts if p.type is PartType.TEXT]


def language_of(text: str) -> tuple[str, int]:
    """The language of a text and how much of it speaks for that (a Han character counts as a word)."""
    kana, hangul, han = (len(p.findall(text)) for p in (_KANA, _HANGUL, _HAN))
    words = _LATIN_WORD.findall(text)
    # a word of Latin script inside Chinese prose is mostly a name; a third of the weight is a fair share
    latin = len(words) // 3
    if kana and kana * 5 >= han and kana + han >= latin:
        return "ja", kana + han
    if hangul and hangul >= max(han, latin):
        return "ko", hangul
    if han and han >= latin:
        return "zh", han
    return _latin(words), len(words)


def _latin(words: list[str]) -> str:
    counts = Counter(w.lower() for w in words)
    scores = [(sum(counts[w] for w in lexicon(tag).cues.get("frequent", ())), tag) for tag in _LATIN]
    best, tag = max(scores, key=lambda s: s[0])
    return tag if best >= 2 and best > scores[0][0] else "en"
