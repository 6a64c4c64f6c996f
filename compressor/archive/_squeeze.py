"""zstd, with and without dictionaries: quickly while somebody waits, tightly when nobody does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import zstandard

#: Levels while somebody waits and when nobody does.
QUICK, TIGHT = 3, 12
#: Blocks below this size gain by a dictionary; larger ones have their own past.
_SMALL: Final = 512 * 1024
#: Size of a dictionary, and how much is looked at to make one.
_DICTIONARY: Final = 112 * 1024
SAMPLES: Final = 8 * 1024 * 1024
#: Tight blocks look back over their whole length.
_WINDOW_LOG: Final = 25


class Squeezer:
    """Packs and unpacks blocks.

    Args:
        load: the bytes of a dictionary by its number.
    """

    def __init__(self, load: Callable[[int], bytes]) -> None:
        self._load = load
        self._dictionaries: dict[int, zstandard.ZstdCompressionDict] = {}
        #: the dictionary that small blocks are packed with; 0: none
        self.current = 0

    @property
    def error(self) -> type[Exception]:
        """What is raised for bytes that are no zstd."""
        import zstandard

        return zstandard.ZstdError

    def pack(self, raw: bytes, *, tight: bool) -> tuple[bytes, int]:
        """Pack a block; returns the frame, and the number of the dictionary it needs."""
        import zstandard

        level = TIGHT if tight else QUICK
        if self.current and len(raw) < _SMALL:
            with_it = zstandard.ZstdCompressor(level=level, dict_data=self._dictionary(self.current))
            return with_it.compress(raw), self.current
        if not tight:
            return zstandard.ZstdCompressor(level=level).compress(raw), 0
        parameters = zstandard.ZstdCompressionParameters.from_level(
            level, source_size=len(raw), window_log=_WINDOW_LOG, enable_ldm=True
        )
        return zstandard.ZstdCompressor(compression_params=parameters).compress(raw), 0

    def small(self, raw: bytes) -> bytes:
        """Pack something small that is read without anything else."""
        import zstandard

        return zstandard.ZstdCompressor(level=QUICK).compress(raw)

    def plain(self, frame: bytes, size: int = 0, dictionary: int = 0) -> bytes:
        """Unpack.

        Raises:
            ZstdError, ValueError: not what was packed.
        """
        import zstandard

        data = self._dictionary(dictionary) if dictionary else None
        return zstandard.ZstdDecompressor(dict_data=data).decompress(frame, max_output_size=size)

    def _dictionary(self, number: int) -> zstandard.ZstdCompressionDict:
        import zstandard

        found = self._dictionaries.get(number)
        if found is None:
            found = zstandard.ZstdCompressionDict(self._load(number))
            self._dictionaries[number] = found
        return found


def train(samples: Sequence[bytes]) -> tuple[int, bytes]:
    """A dictionary of what these samples share: its number and its bytes.

    Raises:
        ZstdError: too few samples, or they share nothing.
    """
    import zstandard

    made = zstandard.train_dictionary(_DICTIONARY, list(samples), k=1024, d=8)
    return made.dict_id(), made.as_bytes()
