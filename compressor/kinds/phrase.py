"""Phrases, as spaCy's PhraseMatcher and Matcher find them, and the sentences they stand in.

spaCy is slow next to everything else here, so it sees only the sentences around an anchor: a literal word that
every match must hold. Anchors of phrases are their longest words; those of token patterns are read off the
patterns, or given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

import orjson

from compressor.model import Match, View

_TOKEN_KEYS: Final = (
    "TEXT", "ORTH", "LOWER", "LENGTH", "SHAPE", "PREFIX", "SUFFIX", "OP", "IS_ALPHA", "IS_ASCII", "IS_DIGIT",
    "IS_LOWER", "IS_UPPER", "IS_TITLE", "IS_PUNCT", "IS_SPACE", "IS_STOP", "IS_SENT_START", "LIKE_NUM", "LIKE_URL",
    "LIKE_EMAIL", "IS_BRACKET", "IS_QUOTE", "IS_CURRENCY",
)  # fmt: skip
_VALUE: Final = {
    "anyOf": [
        {"type": ["string", "boolean", "integer"]},
        {
            "type": "object",
            "additionalProperties": False,
            "minProperties": 1,
            "properties": {
                "IN": {"type": "array", "minItems": 1, "items": {"type": ["string", "integer"]}},
                "NOT_IN": {"type": "array", "minItems": 1, "items": {"type": ["string", "integer"]}},
                ">=": {"type": "integer"},
                "<=": {"type": "integer"},
            },
        },
    ]
}
OPTIONS: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "lang": {"type": "string", "pattern": "^[a-z]{2,3}$", "description": "Language of the words (en)."},
        "phrases": {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}},
        "patterns": {
            "type": "array",
            "minItems": 1,
            "description": "Token patterns of spaCy's Matcher, without regular expressions.",
            "items": {
                "type": "array",
                "minItems": 1,
                "maxItems": 20,
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": dict.fromkeys(_TOKEN_KEYS, _VALUE),
                },
            },
        },
        "anchors": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "string", "minLength": 1},
            "description": "Words of which one stands in every match of `patterns`.",
        },
        "case": {"type": "boolean", "description": "Upper and lower case differ in `phrases` (false)."},
        "match": {"enum": ["phrase", "sentence"], "description": "What matches (phrase)."},
    },
}

#: How far a sentence reaches from its anchor, in characters.
_REACH: Final = 400
_ENDS: Final = ("\n", ". ", "! ", "? ", "。", "！", "？", "；")
#: Languages without blanks between words: every character is a token, and an anchor may stand inside a word.
_CHARACTERS: Final = frozenset({"zh", "ja", "th", "yue", "my", "km", "lo"})


def find(view: View, options: Mapping[str, Any]) -> Iterator[Match]:
    """Phrases, or the sentences that hold one, in order, without overlap; `value` is the phrase in lower case."""
    asked = orjson.dumps(dict(options), option=orjson.OPT_SORT_KEYS)
    anchors = _anchors(asked)
    sentence = options.get("match", "phrase") == "sentence"
    for part in view.parts:
        done = 0
        for start, end in _sentences(part.text, anchors):
            for a, b in _matches(asked, part.text[start:end]):
                span = (start, end) if sentence else (start + a, start + b)
                if span[0] >= done:
                    yield Match(part.ordinal, *span, value=part.text[start + a : start + b].lower())
                    done = span[1]


def mistakes(options: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """Nothing to look for, or a token pattern that no literal word can be read off."""
    if "phrases" not in options and "patterns" not in options:
        yield (), 'the kind "phrase" needs "phrases" or "patterns"', "add one of them"
    for index, pattern in enumerate(options.get("patterns", ())):
        if "anchors" not in options and not _literals(pattern):
            hint = 'give one of its tokens a TEXT or LOWER, or add "anchors"'
            yield ("patterns", index), "has no literal word to look for", hint


@cache
def _options(asked: bytes) -> dict[str, Any]:
    options: dict[str, Any] = orjson.loads(asked)
    return options


@cache
def _anchors(asked: bytes) -> re.Pattern[str]:
    """One pattern for all anchors."""
    options = _options(asked)
    bare = options.get("lang", "en") in _CHARACTERS
    words = {max(re.findall(r"\w+", p) or [p], key=len) if not bare else p for p in options.get("phrases", ())}
    words.update(options.get("anchors", ()))
    if "anchors" not in options:
        for pattern in options.get("patterns", ()):
            words.update(_literals(pattern))
    either = "|".join(re.escape(word) for word in sorted(words, key=lambda w: (-len(w), w)))
    return re.compile(either if bare else rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)


def _literals(pattern: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The words of one token that must be there: the token with the longest."""
    best: tuple[str, ...] = ()
    for token in pattern:
        if token.get("OP", "1") not in {"1", "+"}:
            continue
        for key in ("TEXT", "ORTH", "LOWER"):
            value = token.get(key)
            words = tuple(value.get("IN", ())) if isinstance(value, dict) else (value,) if value else ()
            if words and (not best or min(map(len, words)) > min(map(len, best))):
                best = words
    return best


def _sentences(text: str, anchors: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """The sentences around anchors, each once."""
    position = 0
    while found := anchors.search(text, position):
        low, high = max(position, found.start() - _REACH), min(len(text), found.end() + _REACH)
        start = max((i + len(end) for end in _ENDS if (i := text.rfind(end, low, found.start())) >= 0), default=low)
        stop = min((i + len(end) for end in _ENDS if (i := text.find(end, found.end(), high)) >= 0), default=high)
        while start < stop and text[start].isspace():
            start += 1
        bare = len(text[start:stop].rstrip())
        yield start, start + bare
        position = stop


def _matches(asked: bytes, sentence: str) -> list[tuple[int, int]]:
    """Spans of the longest matches in a sentence, in order."""
    from spacy.util import filter_spans

    tokenize, matchers = _engine(asked)
    document = tokenize(sentence)
    spans = filter_spans([span for matcher in matchers for span in matcher(document, as_spans=True)])
    return [(span.start_char, span.end_char) for span in spans]


@cache
def _engine(asked: bytes) -> tuple[Any, list[Any]]:
    import spacy
    from spacy.matcher import Matcher, PhraseMatcher

    options = _options(asked)
    language = options.get("lang", "en")
    try:
        tokenize = spacy.blank("zh" if language in _CHARACTERS else language)
    except ImportError:
        tokenize = spacy.blank("xx")
    matchers: list[Any] = []
    if "phrases" in options:
        phrases = PhraseMatcher(tokenize.vocab, attr="ORTH" if options.get("case", False) else "LOWER")
        phrases.add("phrase", [tokenize.make_doc(phrase) for phrase in options["phrases"]])
        matchers.append(phrases)
    if "patterns" in options:
        patterns = Matcher(tokenize.vocab)
        patterns.add("pattern", options["patterns"], greedy="LONGEST")
        matchers.append(patterns)
    return tokenize.make_doc, matchers
