"""People, organisations, products and places: a cheap scan picks sentences, spaCy's EntityRuler finds the names.

The ruler's patterns are built from the lists in `rules/cues/names.yaml`. A trained pipeline or jieba is asked as
well when the caller names it and it is installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from compressor.guards._data import CJK, phrases
from compressor.guards.sentences import Sentence, sentences

Span = tuple[int, int, str]
_NAME: Final = r"^[A-Z\u00c0-\u00de][\w\u00c0-\u024f'\u2019-]*\.?$"
_CJK_CHAR: Final = re.compile(f"[{CJK}]")
_TWO_CAPITALS: Final = re.compile(
    r"(?:(?<=\w )|(?<=\w, ))[A-Z\u00c0-\u00de][a-z\u00df-\u024f'\u2019-]+ [A-Z\u00c0-\u00de][a-z\u00df-\u024f'\u2019-]+"
)
_LABELS: Final = {
    "PERSON": "person",
    "ORG": "org",
    "GPE": "place",
    "LOC": "place",
    "FAC": "place",
    "PRODUCT": "product",
}
_JIEBA: Final = {"nr": "person", "ns": "place", "nt": "org"}


def proper_names(text: str, model: str = "") -> list[Span]:
    """Names of people, organisations, products and places, in order."""
    if not _holds_known(text) and not _TWO_CAPITALS.search(text) and not _CJK_CHAR.search(text):
        return []
    out: list[Span] = []
    for sentence in sentences(text):
        picked = text[sentence.start : sentence.end]
        if _CJK_CHAR.search(picked):
            out += _in(picked, sentence, "zh")
        out += _in(picked, sentence, "en")
        if model:
            out += [(s + sentence.start, e + sentence.start, label) for s, e, label in _asked(picked, model)]
    return sorted(set(out))


def _in(picked: str, sentence: Sentence, lang: str) -> Iterator[Span]:
    if lang == "zh":
        wanted = _han_scan().search(picked) is not None
    else:
        wanted = _holds_known(picked) or _TWO_CAPITALS.search(picked) is not None
    if not wanted:
        return
    taken: list[Span] = []
    for entity in _ruler(lang)(picked).ents:
        start, end = _cropped(picked, entity.start_char, entity.end_char, entity.ent_id_)
        span = _accepted(picked, start, end, entity.label_)
        if span:
            taken.append(span)
    for match in _TWO_CAPITALS.finditer(picked) if lang == "en" else ():
        span = _accepted(picked, match.start(), match.end(), "CAPITALS")
        if span is None:
            continue
        inside = [t for t in taken if span[0] < t[1] and t[0] < span[1]]
        # a first name alone gives way to the whole name
        if all(t[2] == span[2] and span[0] <= t[0] and t[1] <= span[1] for t in inside):
            taken = [t for t in taken if t not in inside] + [span]
    for start, end, label in taken:
        yield start + sentence.start, end + sentence.start, label


def _cropped(text: str, start: int, end: int, mark: str) -> tuple[int, int]:
    """A match without the word that stands before or behind the name: its pattern's id says how long that is."""
    if mark.startswith("before"):
        start += int(mark[6:])
    if mark.startswith("after"):
        end -= int(mark[5:])
    if end - start <= _TWO or not _CJK_CHAR.match(text[start]):
        return start, end
    # of a lawyer's title and name the title's last character is no family name
    if text[start - 1 : start + 1] in _ranks():
        start += 1
    # of "Zhang Wei is responsible" the name has not the verb's first character
    if end - start > _TWO and mark and (text[end - 1] in _verbs() or text.startswith(_after_names(), end - 1)):
        end -= 1
    return start, end


@cache
def _verbs() -> frozenset[str]:
    """Words of one character that follow a name and end none."""
    return frozenset(w for w in phrases("names", "zh_after") if len(w) == 1)


@cache
def _ranks() -> frozenset[str]:
    return frozenset(w for key in ("zh_titles", "zh_before") for w in phrases("names", key) if len(w) == _TWO)


#: A Chinese name has two or three characters.
_TWO: Final = 2


@cache
def _after_names() -> tuple[str, ...]:
    return tuple(w for w in phrases("names", "zh_after") if len(w) > 1)


@cache
def _known() -> frozenset[str]:
    """First words of the lists: a text without any of them needs no look."""
    keys = ("titles", "first_names", "org_suffixes", "orgs", "products", "places", "place_suffixes")
    words = (w.split(" ", 1)[0] for key in keys for w in phrases("names", key) if not _CJK_CHAR.search(w))
    return frozenset(part for word in words for part in (word, word.rstrip(".")))


def _holds_known(text: str) -> bool:
    return not _known().isdisjoint(_WORD.findall(text))


_WORD: Final = re.compile(r"[A-Z\u00c0-\u00de][\w\u00c0-\u024f.-]*\w|[A-Z]\b")


@cache
def _han_scan() -> re.Pattern[str]:
    words: list[str] = []
    for key in ("orgs", "products", "places", "zh_titles", "zh_org_suffixes", "zh_place_suffixes"):
        words += [w for w in phrases("names", key) if _CJK_CHAR.search(w)]
    surnames = phrases("names", "surnames")[0]
    inner = "|".join(re.escape(w) for w in sorted(set(words), key=len, reverse=True))
    return re.compile(f"{inner}|[{surnames}][{CJK}]")


@cache
def _ruler(lang: str) -> Any:
    """A blank pipeline with an EntityRuler; spaCy is imported here, when a sentence needs it."""
    import spacy

    nlp = spacy.blank(lang)
    ruler: Any = nlp.add_pipe("entity_ruler")
    ruler.add_patterns(list(_han_patterns() if lang == "zh" else _patterns()))
    return nlp


def _patterns() -> Iterator[dict[str, Any]]:
    """Shapes around the words of the lists: `Dr. Ana Ruiz`, `Foo Bar GmbH`, `Ana`, `asked Lin Wu`, `Lin Wu said`."""
    name = {"TEXT": {"REGEX": _NAME}}
    more = {"TEXT": {"REGEX": _NAME}, "OP": "?"}
    titles = [t for word in phrases("names", "titles") for t in (word, word + ".")]
    yield {"label": "PERSON", "pattern": [{"TEXT": {"IN": titles}}, {"TEXT": ".", "OP": "?"}, name, more, more]}
    first = list(phrases("names", "first_names"))
    yield {
        "label": "PERSON",
        "pattern": [{"TEXT": {"IN": first}}, {"TEXT": {"REGEX": r"^[A-Z]\.?$"}, "OP": "?"}, more, more],
    }
    suffixes = [s for w in phrases("names", "org_suffixes") for s in (w, f"{w}.")]
    for count in (1, 2, 3):
        yield {
            "label": "ORG",
            "pattern": [
                *[name] * count,
                {"TEXT": "&", "OP": "?"},
                {"TEXT": {"IN": suffixes}},
                {"TEXT": {"IN": suffixes}, "OP": "?"},
            ],
        }
        yield {"label": "ORG", "pattern": [*[name] * count, {"TEXT": ","}, {"TEXT": {"IN": suffixes}}]}
    yield {
        "label": "ORG",
        "pattern": [{"TEXT": {"IN": ["University", "Bank", "Institute", "Ministry"]}}, {"TEXT": "of"}, name, more],
    }
    yield {"label": "LOC", "pattern": [name, more, {"TEXT": {"IN": list(phrases("names", "place_suffixes"))}}]}
    yield from _listed_patterns(cjk=False)


def _han_patterns() -> Iterator[dict[str, Any]]:
    """Chinese is cut into characters: shapes of family name, given name and title; endings of firms and places."""
    surname = {"TEXT": {"IN": list(phrases("names", "surnames")[0])}}
    stops = re.escape(phrases("names", "zh_stops")[0])
    given = {"TEXT": {"REGEX": f"^(?![{stops}])[{CJK}]$"}}
    person = [surname, given, {**given, "OP": "?"}]
    for title in phrases("names", "zh_titles"):
        for count in (0, 1, 2):
            mark = {"id": f"after{len(title)}"} if count and len(title) > 1 else {}
            yield {"label": "PERSON", **mark, "pattern": [surname, *[given] * count, *_letters(title)]}
    for word in (w + sign for w in phrases("names", "zh_before") for sign in ("", "\uff1a", ":")):
        yield {"label": "PERSON", "id": f"before{len(word)}", "pattern": [*_letters(word), *person]}
    for word in phrases("names", "zh_after"):
        yield {"label": "PERSON", "id": f"after{len(word)}", "pattern": [*person, *_letters(word)]}
    yield from _endings(stops)
    yield from _listed_patterns(cjk=True)


def _letters(word: str) -> list[dict[str, Any]]:
    return [{"TEXT": c} for c in word]


def _endings(stops: str) -> Iterator[dict[str, Any]]:
    part = {"TEXT": {"REGEX": f"^(?![{stops}\u7701\u5e02\u53bf])[{CJK}]$"}}
    for label, key, most in (("ORG", "zh_org_suffixes", 8), ("GPE", "zh_place_suffixes", 4)):
        for ending in phrases("names", key):
            least = 1 if ending in ("\u7701", "\u5e02", "\u53bf") else 2
            for count in range(least, most + 1):
                yield {"label": label, "pattern": [*[part] * count, *_letters(ending)]}


def _listed_patterns(*, cjk: bool) -> Iterator[dict[str, Any]]:
    for label, key in (("GPE", "places"), ("ORG", "orgs"), ("PRODUCT", "products")):
        for word in phrases("names", key):
            if bool(_CJK_CHAR.search(word)) is cjk:
                yield {"label": label, "pattern": word}


@cache
def _refused() -> frozenset[str]:
    return frozenset(phrases("names", "not_names"))


@cache
def _starters() -> frozenset[str]:
    """Words with a capital because a sentence begins with them."""
    return frozenset(w[:1].upper() + w[1:] for key in ("person_before", "starters") for w in phrases("names", key))


@cache
def _listed() -> dict[str, str]:
    return {
        w: label
        for label, key in (("GPE", "places"), ("ORG", "orgs"), ("PRODUCT", "products"))
        for w in phrases("names", key)
    }


@cache
def _around() -> tuple[re.Pattern[str], re.Pattern[str]]:
    def words(key: str) -> str:
        return "|".join(re.escape(w) for w in sorted(phrases("names", key), key=len, reverse=True))

    return re.compile(rf"(?:^|\W)(?:{words('person_before')})\s$", re.IGNORECASE), re.compile(
        rf"\s(?:{words('person_after')})\b"
    )


def _accepted(text: str, start: int, end: int, label: str) -> Span | None:
    """The span of a match: two words with capitals are a person only in the company of the right words."""
    name = text[start:end]
    if name in _refused() or (name[:2] in _refused() and _CJK_CHAR.match(name)):
        return None
    first = name.split(None, 1)[0]
    if " " in name and (first in _starters() and label in ("ORG", "LOC", "CAPITALS")):
        return _accepted(text, start + len(first) + 1, end, label)
    if label == "CAPITALS" and " " not in name:
        return None
    last = name.rsplit(None, 1)[-1].rstrip(".")
    if label in ("CAPITALS", "PERSON") and " " in name:
        label = (
            "ORG"
            if last in phrases("names", "org_suffixes")
            else "LOC"
            if last in phrases("names", "place_suffixes")
            else label
        )
    if label == "CAPITALS":
        label = _listed().get(name, label)
    if label != "CAPITALS":
        return start, end, _LABELS[label]
    before, after = _around()
    if any(word in _refused() for word in name.split()):
        return None
    if before.search(text[max(0, start - 24) : start]) or after.match(text, end):
        return start, end, "person"
    return None


@cache
def _pipeline(model: str) -> Any:
    import spacy

    return spacy.load(model)


def _asked(picked: str, model: str) -> Iterator[Span]:
    """What a trained pipeline (or jieba) says; nothing when it is not installed."""
    try:
        if model == "jieba":
            yield from _jieba(picked)
            return
        doc = _pipeline(model)(picked)
    except (ImportError, OSError):
        return
    for entity in doc.ents:
        if entity.label_ in _LABELS:
            yield entity.start_char, entity.end_char, _LABELS[entity.label_]


def _jieba(picked: str) -> Iterator[Span]:
    import jieba.posseg  # type: ignore[import-not-found,unused-ignore]

    at = 0
    for word, flag in jieba.posseg.cut(picked):
        label = _JIEBA.get(flag[:2])
        if label and len(word) > 1:
            yield at, at + len(word), label
        at += len(word)
