"""The store gives back what went in, shares what files share, and says what is damaged."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sessions import dump, fork, grown, session

from compressor.archive import Store, keys, optimize, prune, stats, verify
from compressor.archive._chunks import fill, own_id, pieces
from compressor.archive._index import NAME, SEAL
from compressor.archive._store import BLOCK
from compressor.errors import ArchiveError


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def whole(data: bytes) -> bytes:
    own = own_id(data)
    return b"".join(fill(p, own) for p in pieces(data, own))


@given(st.binary(max_size=3000))
def test_any_bytes_come_back_from_their_pieces(data: bytes) -> None:
    assert whole(data) == data


_ID = '"uuid":"0b1f8e4c-5d2a-4f3b-9c7d-1e2f3a4b5c6d"'


@given(
    st.lists(
        st.sampled_from([_ID, '"d":"x"', "\n", "\x01", "\x02", '"parentUuid":null', "}, {", "\\n\\n", "é", "a" * 900])
    )
)
def test_ids_and_the_byte_that_stands_for_them_come_back(words: list[str]) -> None:
    data = ",".join(words).encode() * 3

    assert whole(data) == data


def test_one_line_of_many_megabytes_is_cut() -> None:
    line = b'{"d":"' + b"A" * (9 * 1024 * 1024) + b'"}'

    found = list(pieces(line, b""))

    assert b"".join(p.text for p in found) == line
    assert max(len(p.text) for p in found) <= 256 * 1024


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"x", b"\x00" * 70_000, b'{"uuid":"00000000-0000-0000-0000-000000000000"}']
)
def test_odd_originals(store: Store, data: bytes) -> None:
    key = store.put(data)

    assert key == digest(data)
    assert store.has(key)
    assert store.get(key) == data
    assert list(verify(store)) == []


def test_what_is_not_there_is_told(store: Store) -> None:
    assert not store.has("0" * 64)
    store.put(b"x")
    with pytest.raises(ArchiveError, match="does not hold"):
        store.get("0" * 64)
    with pytest.raises(ArchiveError, match="no archive key"):
        store.get("../../etc/passwd")


def test_several_blocks(store: Store) -> None:
    rng = random.Random(1)
    data = dump(session(rng, 3000, 900))
    assert len(data) > 2 * BLOCK

    key = store.put(data)

    assert store.get(key) == data
    assert stats(store).blocks >= 3


def test_the_same_again_costs_nothing(store: Store) -> None:
    data = dump(session(random.Random(2), 50))
    store.put(data)
    before = stats(store)

    store.put(data)

    assert stats(store) == before


@pytest.mark.parametrize("kind", ["grown", "fork", "fork with new ids"])
def test_what_sessions_share_is_stored_once(store: Store, kind: str) -> None:
    rng = random.Random(3)
    old = session(rng, 400)
    new = grown(rng, old, 20) if kind == "grown" else fork(rng, old, 20, ids=kind != "fork")
    store.put(dump(old))
    before = stats(store).stored

    key = store.put(dump(new))

    assert store.get(key) == dump(new)
    # of new ids, 16 bytes each remain
    assert stats(store).stored - before < (0.25 if kind == "fork with new ids" else 0.2) * before


def test_packing_tightly_changes_no_original(store: Store) -> None:
    rng = random.Random(4)
    files = [dump(session(rng, rng.randrange(5, 200))) for _ in range(40)]
    made = [store.put(f) for f in files]
    loose = stats(store)

    assert optimize(store)

    tight = stats(store)
    assert tight.loose == 0
    assert tight.stored < loose.stored
    assert [store.get(k) for k in made] == files
    assert keys(store) == made
    assert list(verify(store)) == []
    assert not optimize(store)
    # what comes later is kept apart, and small sessions use what was learned
    late = dump(session(rng, 20))
    key = store.put(late)
    assert store.index.one("SELECT count(*) FROM blocks WHERE tight=0 AND dictionary<>0") == (1,)
    assert optimize(store)
    assert store.get(key) == late
    assert [store.get(k) for k in made] == files


def test_prune_lets_go_of_what_is_named_and_of_nothing_else(store: Store) -> None:
    rng = random.Random(5)
    old = session(rng, 200)
    files = [dump(old), dump(grown(rng, old, 10)), dump(session(rng, 200))]
    made = [store.put(f) for f in files]

    freed = prune(store, [made[0], made[2]])

    assert freed > 0
    assert keys(store) == [made[1]]
    assert store.get(made[1]) == files[1]
    assert list(verify(store)) == []


def test_a_lost_index_is_made_anew(store: Store) -> None:
    files = [dump(session(random.Random(i), 30)) for i in range(5)]
    made = [store.put(f) for f in files]
    optimize(store)
    made.append(store.put(b"late"))
    store.close()

    for damage in (Path.unlink, lambda p: p.write_bytes(b"no database at all" * 100)):
        damage(store.folder / NAME)
        again = Store(store.folder)
        assert [again.get(k) for k in made] == [*files, b"late"]
        assert list(verify(again)) == []
        again.close()


def test_another_writer_is_seen(store: Store) -> None:
    other = Store(store.folder)
    store.put(b"one")
    key = other.put(b"two")
    assert store.put(b"three")
    assert store.get(key) == b"two"
    assert other.has(key)
    other.close()


def test_a_torn_last_entry_is_cut_off_by_the_next_writer(store: Store) -> None:
    first = store.put(dump(session(random.Random(6), 20)))
    store.close()
    pack = store.pack_path(1)
    whole_pack = pack.read_bytes()
    second = Store(store.folder)
    second.put(dump(session(random.Random(7), 20)))
    second.close()
    grown_pack = pack.read_bytes()

    for cut in range(len(whole_pack) + 1, len(grown_pack), 97):
        pack.write_bytes(grown_pack[:cut])
        (store.folder / NAME).unlink()
        torn = Store(store.folder)
        assert torn.get(first)
        key = torn.put(b"after")
        assert torn.get(key) == b"after"
        assert list(verify(torn)) == []
        torn.close()


def test_every_flipped_bit_is_found_and_named(store: Store) -> None:
    rng = random.Random(8)
    made = {store.put(dump(session(rng, 20))) for _ in range(4)}
    optimize(store)
    made.add(store.put(dump(session(rng, 5))))
    store.close()
    assert (store.folder / SEAL).is_file()
    files = [*(store.folder / "packs").iterdir(), store.folder / "format.json", store.folder / NAME]
    kept = {p.relative_to(store.folder): p.read_bytes() for p in [*files, store.folder / SEAL]}
    for path in files:
        sound = path.read_bytes()
        places = [*range(40), *(rng.randrange(len(sound)) for _ in range(60)), len(sound) - 1]
        for at in (p for p in places if p < len(sound)):
            flipped = bytearray(sound)
            flipped[at] ^= 1 << rng.randrange(8)
            path.write_bytes(flipped)
            hurt = Store(store.folder)
            if path.name == NAME:
                assert [p.file for p in verify(hurt)][:1] == [NAME], at
            elif path.name == "format.json":
                with pytest.raises(ArchiveError, match="another version, or a damaged one"):
                    _ = hurt.index
            else:
                found = list(verify(hurt))
                assert any(p.file == f"packs/{path.name}" and p.offset <= at for p in found), at
                assert set().union(*(p.originals for p in found)) <= made
            hurt.close()
            for name, data in kept.items():
                (store.folder / name).write_bytes(data)


def test_a_damaged_run_is_written_anew_when_it_is_met_again(store: Store) -> None:
    old = session(random.Random(9), 60)
    key = store.put(dump(old))
    store.close()
    pack = store.pack_path(1)
    raw = bytearray(pack.read_bytes())
    raw[len(raw) // 3] ^= 4
    pack.write_bytes(raw)

    healed = Store(store.folder)
    assert not healed.sound(key)
    assert healed.put(dump(old)) == key
    assert healed.get(key) == dump(old)
    healed.close()


def test_a_folder_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("…")

    with pytest.raises(ArchiveError, match="holds something else"):
        Store(tmp_path).put(b"x")

    assert [p.name for p in tmp_path.iterdir() if p.name != "packs"] == ["thesis.tex"]


def test_a_later_version_is_refused(store: Store) -> None:
    store.put(b"x")
    store.close()
    (store.folder / "format.json").write_text('{"format":"transcript-compressor archive","version":2}\n')

    with pytest.raises(ArchiveError, match="another version"):
        Store(store.folder).has("0" * 64)


@pytest.mark.corpus
def test_the_corpus_comes_back(store: Store, corpus: Path) -> None:
    files = [p for p in corpus.rglob("*.json*") if p.stat().st_size < 1_500_000]
    made = [(store.put(p.read_bytes()), p) for p in files]
    optimize(store)
    for key, path in made:
        assert store.get(key) == path.read_bytes(), path
