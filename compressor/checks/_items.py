"""Hard items of a text: paths, files, addresses, identifiers, hashes, tickets; what nobody can guess again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from compressor.guards._data import CJK
from compressor.guards.entities import technical

_ITEM: Final = re.compile(
    rf"""
  (?P<url>(?:https?|ftp|ssh|git|postgres(?:ql)?|redis|mongodb|s3|file)://[^\s"'<>)\]`，。；、{CJK}]{{3,400}})
| (?P<mail>[\w.+-]{{1,64}}@[\w-]{{1,64}}(?:\.[\w-]{{1,64}})*\.[A-Za-z]{{2,24}}(?![\w.-]))
| (?P<path>(?<![\w/.~-])(?:(?:~|\.{{1,2}})?/(?=[\w.@-])|[\w.@+-]+/(?=[\w.@*-]))(?:[\w.@+*-]+/)*[\w.@+*-]*[\w*])
| (?P<file>(?<![\w./-])[\w-]+(?:\.[\w-]+)*\.(?:py|pyi|js|jsx|ts|tsx|mjs|cjs|go|rs|rb|java|kt|c|h|cc|cpp|hpp|cs|php|swift|scala|sh|bash|zsh
    |json|jsonl|ya?ml|toml|ini|cfg|conf|env|lock|md|rst|txt|csv|tsv|sql|html?|css|scss|xml|proto|log|ipynb|parquet|db|sqlite|png|jpe?g
    |svg|gif|pdf|zip|gz|tgz|tar|whl|vue|svelte|tf|gradle|properties|dockerfile|mod|sum|bak|tmp|patch|diff|ps1|bat|exe|dll|so)(?![\w-]))
| (?P<uuid>\b[0-9a-fA-F]{{8}}-(?:[0-9a-fA-F]{{4}}-){{3}}[0-9a-fA-F]{{12}}\b)
| (?P<hash>(?<![\w/-])(?=[0-9a-f]{{0,64}}[a-f])(?=[0-9a-f]{{0,64}}\d)[0-9a-f]{{7,64}}(?![\w-]))
| (?P<ticket>(?<![\w-])(?!\#[0-9A-Fa-f]{{6}}\b)[A-Z][A-Z0-9]{{1,11}}(?:-[A-Z0-9]+)*-\d[A-Z0-9]*(?![\w-])|(?<![\w&/])\#\d{{2,9}}(?!\w))
| (?P<flag>(?<![\w-])--?[a-zA-Z][\w-]+)
| (?P<variable>(?<![\w-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?!\w))
| (?P<symbol>(?<![\w-])(?:[A-Za-z_]\w*(?:(?:::|\.)[A-Za-z_]\w*)*\(\)|[A-Za-z][a-z0-9]*(?:_[a-z0-9]+)+|_{{1,2}}[a-z]\w+
    |[a-z]+[a-z0-9]*(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){{2,}}[A-Z]*)(?!\w))
| (?P<colour>(?<![\w&])\#(?:[0-9A-Fa-f]{{6}}|[0-9A-Fa-f]{{8}})(?!\w))
| (?P<code>(?<![\w.-])(?=[\w-]{{0,40}}\d)(?=[\w-]{{0,40}}[A-Za-z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*(?![\w-]|\.\d)
    |(?<![\w-])[A-Z]{{2,8}}(?:-[A-Z]{{2,8}})+(?![\w-]))
""",
    re.VERBOSE | re.ASCII,
)
#: A stretch without white space that is longer is data.
_LONGEST: Final = 400
_SLASHED: Final = re.compile(r"[A-Za-z]+(?:/[A-Za-z]+){1,3}")
_FILE_LIKE: Final = re.compile(r"[._~\d]|^/")


@dataclass(frozen=True, slots=True)
class Item:
    """A hard item: `text` is what is written."""

    start: int
    end: int
    kind: str
    text: str


@lru_cache(maxsize=4096)  # several checks ask for the same statements
def items(text: str) -> tuple[Item, ...]:
    """The hard items of a short text, in order."""
    out: list[Item] = []
    for match in _ITEM.finditer(text):
        kind, word = match.lastgroup or "", match.group().rstrip(".,:;")
        if len(word) > _LONGEST or len(word) < 2 or _is_words(kind, word):
            continue
        out.append(Item(match.start(), match.start() + len(word), kind, word))
    return tuple(out)


def _is_words(kind: str, word: str) -> bool:
    """`and/or`, `input/output` are words with a stroke between, `3rd` is an ordinal."""
    if kind == "path":
        if _SLASHED.fullmatch(word) and not _FILE_LIKE.search(word):
            return not any(e.label == "path" for e in technical(word))
        return word.count("/") == len(word)
    if kind == "code":
        return bool(
            re.fullmatch(
                r"\d+(?:\.\d+)?[eE][-+]?\d+|\d+(?:st|nd|rd|th|[smhdxkKMGTB]|[kKMGT]i?[Bb]|[mnu]s|hrs?|min|mins|secs?|days?|px|am|pm|bit|fps)?(?:-[a-z]+)*",
                word,
            )
        )
    return False
