"""What is done to an archive when nobody waits: look at every byte, pack tightly, let go of what nothing needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from compressor import disk
from compressor.archive import _pack
from compressor.archive._append import Appender, is_tight
from compressor.archive._chunks import MEAN
from compressor.archive._format import FORMAT
from compressor.archive._index import NAME, Index, is_sealed
from compressor.archive._pack import Damage, Kind, Recipe
from compressor.archive._squeeze import SAMPLES, train
from compressor.archive._store import PACK, Store
from compressor.errors import ArchiveError

#: Raw size of a tight block: sessions near each other in time look back on each other.
_BLOCK: Final = 16 * 1024 * 1024
#: A dictionary is made from this many bytes on, and anew when there are this many times more.
_LEARN: Final = 1024 * 1024
_ANEW: Final = 16


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with an archive: in which file, at which byte (-1: the whole), what, and whom it concerns."""

    file: str
    offset: int
    message: str
    originals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stats:
    """Sizes of an archive, in bytes.

    Attributes:
        raw: of all originals as they were.
        shared: of the runs that they are made of, each once.
        stored: of the packs.
        index: of the index.
    """

    originals: int
    raw: int
    shared: int
    stored: int
    index: int
    packs: int
    blocks: int
    chunks: int
    loose: int


def keys(store: Store) -> list[str]:
    """The keys of all originals, in the order in which they were stored."""
    return [row[0].hex() for row in store.index.all("SELECT key FROM originals ORDER BY pack, offset")]


def stats(store: Store) -> Stats:
    """Sizes."""
    index = store.index
    recipes = [store.recipe(k) for k in keys(store)]
    (blocks, loose) = index.one("SELECT count(*), coalesce(sum(raw * (1 - tight)), 0) FROM blocks") or (0, 0)
    (chunks, shared) = index.one("SELECT count(*), coalesce(sum(size), 0) FROM chunks") or (0, 0)
    packs = store.packs()
    size = sum(p.stat().st_size for p in store.folder.glob(f"{NAME}*"))
    raw = sum(r.size for r in recipes)
    return Stats(len(recipes), raw, shared, sum(packs.values()), size, len(packs), blocks, chunks, loose)


# -- verify


def verify(store: Store) -> Iterator[Problem]:
    """Look at every byte: packs, index, and every original put together again.

    Whatever is wrong is told, with the file and the place; nothing is changed.
    """
    if (store.folder / "format.json").read_bytes() != FORMAT:
        yield Problem("format.json", 0, "not what this version writes")
        return
    if is_sealed(store.folder) is False:
        yield Problem(NAME, -1, "damaged, or changed by somebody else; remove it, and it is made anew from the packs")
    damaged = list(_verify_packs(store))
    try:
        yield from _verify_index(store)
        broken = [key for key in keys(store) if not _whole(store, key)]
    except Exception as error:  # noqa: BLE001 - whatever a damaged index makes SQLite say
        yield Problem(NAME, -1, f"cannot be read: {error}; it is made anew at the next write")
        broken = []
    for problem in damaged:
        yield Problem(problem.file, problem.offset, problem.message, tuple(broken))
    if broken and not damaged:
        yield Problem("packs", -1, "originals that cannot be put together", tuple(broken))


def _verify_packs(store: Store) -> Iterator[Problem]:
    for number in store.packs():
        path = store.pack_path(number)
        for found in _pack.scan(path):
            if isinstance(found, Damage):
                yield Problem(
                    f"packs/{path.name}",
                    found.offset,
                    f"{found.end - found.offset:,} bytes are damaged or half-written",
                )


def _whole(store: Store, key: str) -> bool:
    try:
        for _ in store.stream(key):
            pass
    except ArchiveError:
        return False
    return True


def _verify_index(store: Store) -> Iterator[Problem]:
    index = store.index
    for (message,) in index.all("PRAGMA integrity_check"):
        if message != "ok":
            yield Problem(NAME, -1, message)
            return
    for number in store.packs():
        for found in _pack.scan(store.pack_path(number)):
            if not isinstance(found, Damage) and not _entered(store, index, number, found):
                yield Problem(NAME, -1, f"does not say what stands in pack {number} at byte {found.offset}")
                return


def _entered(store: Store, index: Index, pack: int, entry: _pack.Entry) -> bool:
    if entry.kind is Kind.BLOCK:
        row = index.one("SELECT id, size, raw FROM blocks WHERE pack=? AND offset=?", pack, entry.offset)
        if row is None or row[1:] != (entry.size, entry.raw):
            return False
        table = _pack.read(store.pack_path(pack), entry.offset, entry.size)[: entry.table]
        # a run that stands in a later block as well is found there
        found = [(index.chunk(digest), at, size) for digest, at, size in _pack.chunks_of(table)]
        return all(
            c is not None and (c == (row[0], at, size) or (c[0] != row[0] and c[2] == size)) for c, at, size in found
        )
    if entry.kind is Kind.RECIPE:
        payload = _pack.read(store.pack_path(pack), entry.offset, entry.size)
        return index.original(store.squeezer.plain(payload, entry.raw)[:32]) is not None
    return index.dictionary(entry.dictionary) is not None


# -- pack tightly


def optimize(store: Store, *, least: int = 0) -> bool:
    """Pack again, tightly, what was stored in a hurry.

    Args:
        least: raw bytes stored in a hurry below which it is not worth the while.

    Raises:
        ArchiveError: another process is writing, or the disk refuses.
    """
    with store.writing("optimize"):
        loose = [n for n in store.packs() if not is_tight(store.index, n)]
        (raw,) = store.index.one("SELECT coalesce(sum(raw), 0) FROM blocks WHERE tight=0") or (0,)
        if not loose or raw < least:
            return False
        _learn(store)
        _rewrite(store, loose, frozenset(keys(store)))
    return True


def prune(store: Store, unwanted: Iterable[str]) -> int:
    """Let go of these originals; returns by how many bytes the packs have become smaller.

    The caller has made sure that nothing needs them.
    """
    with store.writing("prune"):
        before = sum(store.packs().values())
        wanted = frozenset(keys(store)) - frozenset(unwanted)
        _rewrite(store, list(store.packs()), wanted)
        return before - sum(store.packs().values())


def _rewrite(store: Store, old: list[int], wanted: frozenset[str]) -> None:
    """Move what the wanted originals need out of these packs, then remove the packs.

    Killed in between, old and new packs stand side by side: everything is there, some of it twice.
    """
    recipes = {key: store.recipe(key) for key in keys(store) if key in wanted}
    needed = {digest: None for r in recipes.values() for digest in r.chunks()}
    number = _target(store, old)
    for group in _groups(store, needed, frozenset(old)):
        with store.appending(number, tight=True) as pack:
            pack.block(group)
        if store.pack_path(number).stat().st_size >= PACK:
            number = max(store.packs()) + 1
    with store.appending(number, tight=True) as pack:
        _move_rest(store, pack, list(recipes.values()), frozenset(old))
    store.index.forget(old)
    store.index.commit()
    for gone in old:
        disk.remove("pack", store.pack_path(gone))
    disk.sync_folder("pack", store.folder / "packs")


def _target(store: Store, old: list[int]) -> int:
    """The pack that tight blocks go to."""
    there = store.packs()
    open_ = [n for n, size in there.items() if n not in old and size < PACK and is_tight(store.index, n)]
    return max(open_) if open_ else max(there) + 1


def _groups(store: Store, needed: Iterable[bytes], old: frozenset[int]) -> Iterator[dict[bytes, bytes]]:
    """The chunks that must move, in the order in which originals need them, in groups of a tight block's size."""
    group: dict[bytes, bytes] = {}
    size = 0
    for digest in needed:
        found = store.index.chunk(digest)
        if found is None or store.index.block(found[0]).pack not in old:
            continue
        number, at, length = found
        group[digest] = store.unpacked(number)[at : at + length]
        size += length
        if size >= _BLOCK:
            yield group
            group, size = {}, 0
    if group:
        yield group


def _move_rest(store: Store, pack: Appender, recipes: list[Recipe], old: frozenset[int]) -> None:
    """The recipes and dictionaries that lie in old packs."""
    for number, in_pack in list(store.index.all("SELECT id, pack FROM dictionaries")):
        if in_pack in old:
            pack.dictionary(number, store.dictionary(number))
    for recipe in recipes:
        spot = store.index.original(recipe.key)
        if spot is not None and spot.pack in old:
            pack.recipe(recipe)


def _learn(store: Store) -> None:
    """Make a dictionary once there is enough to learn from, and a new one when there is much more."""
    (size,) = store.index.one("SELECT coalesce(sum(size), 0) FROM chunks") or (0,)
    learned = store.index.one("SELECT count(*) FROM dictionaries") or (0,)
    if size < _LEARN * _ANEW ** learned[0]:
        return
    samples: list[bytes] = []
    left = SAMPLES
    # evenly from all of it, and the beginnings of runs: that is what small sessions consist of
    step = max(1, size // SAMPLES)
    for position, (number, at, length) in enumerate(
        store.index.all("SELECT block, offset, size FROM chunks ORDER BY block")
    ):
        if position % step == 0 and left > 0:
            samples.append(store.unpacked(number)[at : at + min(length, MEAN)])
            left -= len(samples[-1])
    try:
        number, raw = train(samples)
    except store.squeezer.error:
        return
    with store.appending() as pack:
        pack.dictionary(number, raw)
