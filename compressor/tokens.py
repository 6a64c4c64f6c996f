"""Count tokens offline: tiktoken on rank files that ship with the package.

`tiktoken.get_encoding` would download its vocabulary; here the published rank files are package
data, verified by their sha256 when they are loaded.
"""

from __future__ import annotations

import binascii
import gzip
import hashlib
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Final

from compressor.data import resource
from compressor.errors import ConfigError

if TYPE_CHECKING:
    import tiktoken

#: sha256 of the unpacked rank files, as published with tiktoken (MIT).
_SHA256: Final = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
DEFAULT: Final = "o200k_base"

#: Longest text given to the encoder in one piece, in characters: keeps memory and time linear.
_PIECE: Final = 1_000_000
#: So many lines are remembered at most: of a larger session those that come later are counted each time.
_REMEMBERED: Final = 250_000


@cache
def encoding(name: str = DEFAULT) -> tiktoken.Encoding:
    """The encoder of this name.

    Raises:
        ConfigError: unknown name, or a rank file that is not the published one.
    """
    if name not in _SHA256:
        raise ConfigError(f'unknown encoding "{name}"', hint=f"known: {', '.join(sorted(_SHA256))}")
    import tiktoken

    packed = resource(f"vocabulary/{name}.tiktoken.gz").read_bytes()
    plain = gzip.decompress(packed)
    if hashlib.sha256(plain).hexdigest() != _SHA256[name]:
        raise ConfigError(f'the vocabulary "{name}" of this installation is damaged', hint="install the package again")
    # a rank file is pairs of words, a token and its rank: 200,000 of them, at every start
    words = plain.split()
    ranks = dict(zip(map(binascii.a2b_base64, words[::2]), map(int, words[1::2]), strict=True))
    return tiktoken.Encoding(name, pat_str=_pattern(name), mergeable_ranks=ranks, special_tokens={})


def _pattern(name: str) -> str:
    """tiktoken's own split pattern for this vocabulary, without asking for its rank file."""
    from tiktoken_ext import openai_public

    loader = openai_public.load_tiktoken_bpe
    try:
        openai_public.load_tiktoken_bpe = lambda *_a, **_k: {}
        constants: dict[str, str] = openai_public.ENCODING_CONSTRUCTORS[name]()
        return constants["pat_str"]
    finally:
        openai_public.load_tiktoken_bpe = loader


def count(text: str, name: str = DEFAULT) -> int:
    """Tokens of one text; special-token look-alikes count as plain text."""
    encode = encoding(name).encode_ordinary
    if len(text) <= _PIECE:
        return len(encode(text))
    return sum(len(encode(text[i : i + _PIECE])) for i in range(0, len(text), _PIECE))


class Counter:
    """Counts the tokens of many texts that share lines: equal texts are counted once, and equal lines.

    Tokens never reach over the end of a line, but where the next line is blank, begins with a slash, or has a
    carriage return in its margin: both vocabularies split a text into pieces before they look for tokens, and no
    piece goes on behind a newline except with such characters.
    """

    def __init__(self, name: str = DEFAULT) -> None:
        self._name = name
        self._texts: dict[str, int] = {}
        self._lines: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        n = self._texts.get(text)
        if n is None:
            n = self._texts[text] = self._sum(text)
        return n

    def _sum(self, text: str) -> int:
        total = 0
        lines, encode = self._lines, encoding(self._name).encode_ordinary
        first, *rest = text.split("\n")
        whole = first
        for line in rest:
            start = line[:1]
            if not start or start in "/\r" or (start.isspace() and (line.isspace() or "\r" in line)):
                whole = f"{whole}\n{line}"
                continue
            n = lines.get(whole)
            if n is None:
                n = len(encode(whole + "\n")) if len(whole) < _PIECE else count(whole + "\n", self._name)
                if len(lines) < _REMEMBERED:
                    lines[whole] = n
            total += n
            whole = line
        return total + count(whole, self._name)


def count_all(texts: Iterable[str], name: str = DEFAULT) -> list[int]:
    """Tokens of each text, equal texts and lines counted once."""
    return list(map(Counter(name), texts))
