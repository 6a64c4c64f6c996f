"""Damage good transcripts, one fault at a time, and say on which lines it lies.

Works on raw JSON with the standard library alone and shares no code with the checks that must find the damage.
Documents are printed anew (indented), so that a damaged and an undamaged file differ by the damage only.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any

from .shapes import SHAPES, Nested, Shape


@dataclass(frozen=True)
class Mutant:
    """A damaged file: `lines` are those that may be named."""

    kind: str
    data: bytes
    lines: frozenset[int]


@dataclass
class File:
    """A file as JSON: the values of its lines, or one document; and the items that are messages."""

    shape: Shape
    document: Any
    rows: list[Any]
    touched: list[Any] = field(default_factory=list)

    @property
    def lists(self) -> list[list[Any]]:
        """Lists of items; the lines of a file are one list."""
        if self.rows:
            return [self.rows]
        assert self.shape.lists is not None
        return list(self.shape.lists(self.document))

    def touch(self, *items: Any) -> None:
        self.touched += items

    def render(self) -> tuple[bytes, dict[int, tuple[int, int]]]:
        """The bytes, and first and last line of every object by its identity."""
        spans: dict[int, tuple[int, int]] = {}
        if self.rows:
            out = []
            for number, row in enumerate(self.rows, 1):
                out.append(json.dumps(row, ensure_ascii=False, separators=(",", ":")))
                for inner in _objects(row):
                    spans[id(inner)] = (number, number)
            return ("\n".join(out) + "\n").encode("utf-8", "surrogatepass"), spans
        printer = _Printer(spans)
        printer.put(self.document, 0)
        return ("".join(printer.out) + "\n").encode("utf-8", "surrogatepass"), spans


class _Printer:
    """Indented JSON that remembers where its objects stand."""

    def __init__(self, spans: dict[int, tuple[int, int]]) -> None:
        self.out: list[str] = []
        self.line = 1
        self.spans = spans

    def put(self, value: Any, depth: int) -> None:
        start = self.line
        if isinstance(value, Nested):
            self.out.append(json.dumps(json.dumps(value)))
            for inner in _objects(value):
                self.spans[id(inner)] = (start, start)
        elif isinstance(value, (dict, list)) and value:
            pairs = value.items() if isinstance(value, dict) else ((None, v) for v in value)
            self.out.append("{" if isinstance(value, dict) else "[")
            for i, (key, inner) in enumerate(pairs):
                self.out.append("," if i else "")
                self._break(depth + 1)
                if key is not None:
                    self.out.append(json.dumps(key) + ": ")
                self.put(inner, depth + 1)
            self._break(depth)
            self.out.append("}" if isinstance(value, dict) else "]")
        else:
            self.out.append(json.dumps(value))
        if isinstance(value, (dict, list)) and not isinstance(value, Nested):
            self.spans[id(value)] = (start, self.line)

    def _break(self, depth: int) -> None:
        self.out.append("\n" + " " * depth)
        self.line += 1


def _objects(value: Any) -> Iterator[dict]:
    """Every object below a value, itself included."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(inner)


def load(name: str, raw: bytes) -> File:
    """A good file of a format."""
    shape = SHAPES[name]
    text = raw.decode("utf-8")
    try:
        document = json.loads(text)
    except ValueError:
        return File(shape, None, [json.loads(line) for line in text.split("\n") if line.strip()])
    if shape.lists is None or not list(shape.lists(shape.unnest(document))):
        return File(shape, None, [document])
    return File(shape, shape.unnest(document), [])


# -- what stands where


def _ids(item: Any, key_of: Callable[[dict], str | None]) -> list[tuple[dict, str]]:
    return [(d, key) for d in _objects(item) if (key := key_of(d))]


def _pairs(file: File, items: list[Any]) -> list[tuple[int, list[int], Any]]:
    """Items with exactly one call: their index, the indexes of the results, and the id."""
    found = []
    for i, item in enumerate(items):
        calls = _ids(item, file.shape.call)
        if len({d[k] for d, k in calls}) != 1 or _ids(item, file.shape.result):
            continue
        id_ = calls[0][0][calls[0][1]]
        if file.shape is SHAPES["sharegpt"]:
            results = [i + 1] if i + 1 < len(items) and _ids(items[i + 1], file.shape.result) else []
        else:
            results = [
                j for j in range(i + 1, len(items)) if any(d[k] == id_ for d, k in _ids(items[j], file.shape.result))
            ]
            again = any(d[k] == id_ for j, o in enumerate(items) if j != i for d, k in _ids(o, file.shape.call))
            if again or len(results) > 1 or any(len(_ids(items[j], file.shape.result)) > 1 for j in results):
                continue
        if results:
            found.append((i, results, id_))
    return found


def _pick(file: File, random: Random) -> tuple[list[Any], int, int] | None:
    """A list, and the indexes of a call and of its result in it."""
    options = [(items, i, results[0]) for items in file.lists for i, results, _ in _pairs(file, items)]
    return random.choice(options) if options else None


def _relink(file: File, items: list[Any], gone: Any) -> None:
    """Children of a record that leaves follow its parent, so that the chain is no second fault."""
    if not file.shape.chain:
        return
    own, up = file.shape.chain
    for item in items:
        if isinstance(item, dict) and item.get(up) is not None and item.get(up) == gone.get(own):
            item[up] = gone.get(up)


# -- kinds of damage: each changes the file in place, touches what it damaged, and says whether it could


def orphaned_result(file: File, random: Random) -> bool:
    """The call is deleted."""
    spot = _pick(file, random)
    if spot is None:
        return False
    items, call, result = spot
    _relink(file, items, items[call])
    file.touch(items[result])
    del items[call]
    return True


def orphaned_call(file: File, random: Random) -> bool:
    """The result is deleted."""
    spot = _pick(file, random)
    if spot is None:
        return False
    items, call, result = spot
    _relink(file, items, items[result])
    file.touch(items[call])
    del items[result]
    return True


def result_before_call(file: File, random: Random) -> bool:
    """The result stands before its call."""
    spot = _pick(file, random)
    if spot is None:
        return False
    items, call, result = spot
    file.touch(items[call], items[result])
    items.insert(call, items.pop(result))
    return True


def other_id_in_result(file: File, random: Random) -> bool:
    """The result names a call that there is not."""
    spot = _pick(file, random)
    if spot is None or file.shape is SHAPES["sharegpt"]:
        return False
    items, call, result = spot
    for holder, key in _ids(items[result], file.shape.result):
        holder[key] = f"{holder[key]}x" if isinstance(holder[key], str) else 100_000
    file.touch(items[call], items[result])
    return True


def split_pair(file: File, random: Random) -> bool:
    """A message of another role stands between a call and its result."""
    spot = _pick(file, random)
    if spot is None or file.shape.speaker is None:
        return False
    items, call, result = spot
    new = file.shape.speaker(copy.deepcopy(items[call]))
    items.insert(result, new)
    file.touch(items[call], new, items[result + 1])
    return True


def broken_batch(file: File, random: Random) -> bool:
    """Of several calls of one message one has no result any more."""
    options = []
    for items in file.lists:
        for i, item in enumerate(items):
            ids = list(dict.fromkeys(d[k] for d, k in _ids(item, file.shape.call)))
            for id_ in ids if len(ids) > 1 and not _ids(item, file.shape.result) else ():
                there = [
                    j
                    for j in range(i + 1, len(items))
                    if any(d[k] == id_ for d, k in _ids(items[j], file.shape.result))
                ]
                if len(there) == 1 and len(_ids(items[there[0]], file.shape.result)) == 1:
                    options.append((items, i, there[0]))
    if not options:
        return False
    items, call, result = random.choice(options)
    _relink(file, items, items[result])
    file.touch(items[call])
    del items[result]
    return True


def edited_seal(file: File, random: Random) -> bool:
    """A signed or encrypted value is cut short, or replaced by words."""
    spots = [
        (item, d, key)
        for items in file.lists
        for item in items
        for d in _objects(item)
        for marker, key in file.shape.sealed
        if marker in d and isinstance(d.get(key), str) and len(d[key]) > 8 and "REDACTED" not in d[key]
    ]
    if not spots:
        return False
    item, holder, key = random.choice(spots)
    value = holder[key]
    holder[key] = random.choice(
        (value[:-3], value[: len(value) // 2] + "…", "[removed]", "", f"{value[:9]} {value[9:]}")
    )
    file.touch(item)
    return True


def dropped_parent(file: File, random: Random) -> bool:
    """A record's parent is not in the file."""
    if not file.shape.chain:
        return False
    own, up = file.shape.chain
    items = [r for r in file.rows if isinstance(r, dict) and isinstance(r.get(up), str) and own in r]
    if not items:
        return False
    item = random.choice(items)
    item[up] = f"{item[up][:-4]}beef"
    file.touch(item)
    return True


def duplicate_id(file: File, random: Random) -> bool:
    """Two records have one id, or two calls."""
    if file.shape.chain:
        own, up = file.shape.chain
        items = [
            r for r in file.rows if isinstance(r, dict) and isinstance(r.get(own), str) and isinstance(r.get(up), str)
        ]
        if len(items) < 3:
            return False
        first, second = random.choice(items[:-2]), items[-1]
        second[own] = first[own]
        file.touch(first, second)
        return True
    options = [(items, a, b) for items in file.lists for a, b in _neighbours(_pairs(file, items))]
    if not options or file.shape.number == "id" or file.shape is SHAPES["sharegpt"]:
        return False
    items, (call, _, id_), (later, results, _) = random.choice(options)
    for index, key_of in ((later, file.shape.call), (results[0], file.shape.result)):
        for holder, key in _ids(items[index], key_of):
            holder[key] = id_
    file.touch(items[call], items[later], items[results[0]])
    return True


def _neighbours(found: list) -> Iterator[tuple[Any, Any]]:
    yield from pairwise(found)


def duplicated_record(file: File, random: Random) -> bool:
    """A record with a call, a result or an id stands twice."""
    spots = [
        (items, i)
        for items in file.lists
        for i, item in enumerate(items)
        if _ids(item, file.shape.call) or _ids(item, file.shape.result)
    ]
    if not spots:
        return False
    items, i = random.choice(spots)
    twin = copy.deepcopy(items[i])
    items.insert(i + 1, twin)
    file.touch(items[i], twin)
    if not file.shape.chain:
        file.touch(*(items[j] for j in (i - 1, i + 2) if 0 <= j < len(items)))
    return True


def changed_session(file: File, random: Random) -> bool:
    """A record in the middle is of another session."""
    key = file.shape.session
    items = [r for r in file.rows if isinstance(r, dict) and isinstance(r.get(key or ""), str)]
    if key is None or len(items) < 4:
        return False
    item = random.choice(items[1:])
    item[key] = f"00000000{item[key][8:]}"
    file.touch(item)
    return True


def renumbered(file: File, random: Random) -> bool:
    """A running number falls."""
    key = file.shape.number
    spots = [
        (items, i)
        for items in file.lists
        for i, item in enumerate(items)
        if i > 1 and isinstance(item, dict) and isinstance(item.get(key or ""), int)
    ]
    if not spots:
        return False
    items, i = random.choice(spots)
    items[i][key] = items[i - 2].get(key, 0)
    file.touch(*items[max(0, i - 1) : i + 2])
    return True


def _field(file: File, random: Random, said: tuple, change: Callable[[dict, str], None]) -> bool:
    spots = [
        (item, d, key)
        for items in file.lists
        for item in items
        for d in _objects(item)
        for test, key in said
        if test(d) and key in d
    ]
    if not spots:
        return False
    # each field as likely as any other, however often it stands
    keys = sorted({(id(test), key) for test, key in said for _, d, k in spots if k == key and test(d)})
    test_id, key = random.choice(keys)
    test = next(t for t, _ in said if id(t) == test_id)
    item, holder, key = random.choice([s for s in spots if s[2] == key and test(s[1])])
    change(holder, key)
    file.touch(item)
    return True


def wrong_type(file: File, random: Random) -> bool:
    """A field has a value of another type."""
    value = random.choice((17, True, {"a": 1.5}))

    def change(holder: dict, key: str) -> None:
        holder[key] = (
            [17]
            if isinstance(holder[key], (int, bool)) or (isinstance(holder[key], dict) and value == {"a": 1.5})
            else value
        )

    return _field(file, random, file.shape.typed, change)


def missing_field(file: File, random: Random) -> bool:
    """A field that must be there is not."""
    return _field(file, random, file.shape.needed, lambda holder, key: holder.pop(key))


def invalid_enum(file: File, random: Random) -> bool:
    """A word that the format does not know."""
    return _field(
        file, random, file.shape.enums, lambda holder, key: holder.update({key: f"{str(holder[key])[:-2]}zz"})
    )


def lost_inner_result(file: File, random: Random) -> bool:
    """A call that says it succeeded has no result any more, where both stand in one object."""
    spots = [
        (item, d)
        for items in file.lists
        for item in items
        for d in _objects(item)
        if d.get("status") == "success" and "args" in d and d.get("result")
        if not any(_answers(other, d.get("id")) for other in items if other is not item)
    ]
    if not spots:
        return False
    item, call = random.choice(spots)
    call["result"] = []
    file.touch(item)
    return True


def broken_inside(file: File, random: Random) -> bool:
    """A call and its result that stand in one item do not fit each other any more."""
    items = [item for items in file.lists for item in items]
    random.shuffle(items)
    for item in items:
        if file.shape.inner is not None and isinstance(item, dict) and file.shape.inner(item):
            file.touch(item)
            return True
    return False


def _answers(item: Any, id_: Any) -> bool:
    """Whether an item tells the result of a call as well."""
    return any("response" in d and d.get("id") == id_ for d in _objects(item))


def uneven_copies(file: File, random: Random) -> bool:
    """Of a text that stands twice one copy was changed."""
    if not isinstance(file.document, dict) or "trajectory" not in file.document:
        return False
    steps = [
        s for s in file.document["trajectory"] if isinstance(s.get("observation"), str) and len(s["observation"]) > 20
    ]
    texts = json.dumps(file.document.get("history"))
    steps = [s for s in steps if json.dumps(s["observation"])[1:-1] in texts]
    if not steps:
        return False
    step = random.choice(steps)
    same = [
        h
        for h in file.document["history"]
        if step["observation"] in json.dumps(h.get("content")) or step["observation"] in str(h.get("content"))
    ]
    step["observation"] = step["observation"][:10] + " (changed)"
    file.touch(step, *same)
    return True


STRUCTURAL: tuple[Callable[[File, Random], bool], ...] = (
    orphaned_result, orphaned_call, result_before_call, other_id_in_result, split_pair, broken_batch, edited_seal,
    dropped_parent, duplicate_id, duplicated_record, changed_session, renumbered, wrong_type, missing_field,
    invalid_enum, lost_inner_result, broken_inside, uneven_copies,
)  # fmt: skip


# -- damage to the bytes


def glued_lines(raw: bytes, random: Random) -> tuple[bytes, set[int]] | None:
    """A line end is gone."""
    lines = raw.split(b"\n")
    if len(lines) < 4 or not lines[0].endswith(b"}") or not lines[1].startswith(b"{"):
        return None
    at = random.randrange(1, len(lines) - 1)
    return b"\n".join([*lines[: at - 1], lines[at - 1] + lines[at], *lines[at + 1 :]]), {at}


def torn_end(raw: bytes, random: Random) -> tuple[bytes, set[int]] | None:
    """The last write was cut short."""
    body = raw.rstrip()
    last = body.rfind(b"\n") + 1
    if body[last : last + 1] == b"{" and len(body) - last > 20:
        cut = random.randrange(last + 10, len(body) - 2)
        return raw[:cut], {raw.count(b"\n", 0, cut) + 1}
    cut = random.randrange(len(body) * 2 // 3, len(body) - 2)
    line = raw.count(b"\n", 0, cut) + 1
    return raw[:cut], {line - 1, line, line + 1}


def broken_line(raw: bytes, random: Random) -> tuple[bytes, set[int]] | None:
    """A quote or a brace is gone."""
    spots = _structure(raw[:-2])
    at = random.choice(spots)
    line = raw.count(b"\n", 0, at) + 1
    # without its bracket a container shows itself as broken at its end at the latest
    last = raw.count(b"\n", 0, _closing(raw, at)) + 1 if raw[at : at + 1] in b"{[" else line
    return raw[:at] + raw[at + 1 :], set(range(line - 1, last + 2))


def _closing(raw: bytes, at: int) -> int:
    """Where the container that opens at `at` ends."""
    depth = 0
    for i in _structure(raw, b"{[]}"):
        if i >= at:
            depth += 1 if raw[i : i + 1] in b"{[" else -1
            if depth == 0:
                return i
    return len(raw)


def _structure(raw: bytes, brackets: bytes = b"{[") -> list[int]:
    """Where quotes and these brackets stand that are no part of a text."""
    spots, inside, i = [], False, 0
    while i < len(raw):
        c = raw[i : i + 1]
        if inside and c == b"\\":
            i += 2
            continue
        if c == b'"':
            inside = not inside
            if brackets == b"{[":
                spots.append(i)
        elif not inside and c in brackets:
            spots.append(i)
        i += 1
    return spots


def bad_utf8(raw: bytes, random: Random) -> tuple[bytes, set[int]] | None:
    """A byte of another encoding stands in a text."""
    spots = [i for i in range(1, len(raw) - 1) if raw[i - 1 : i + 2].isalpha()]
    at = random.choice(spots)
    return raw[:at] + b"\xe9" + raw[at:], {raw.count(b"\n", 0, at) + 1}


def repeated_key(raw: bytes, random: Random) -> tuple[bytes, set[int]] | None:
    """A member of an object stands twice."""
    names = [b'"type"', b'"role"', b'"content"', b'"text"', b'"from"', b'"id"']
    spots = [i for name in names for i in _finds(raw, name + b":") if raw[i - 1 : i] in (b"{", b",", b" ")]
    if not spots:
        return None
    at = random.choice(spots)
    key = raw[at : raw.index(b":", at)]
    line = raw.count(b"\n", 0, at) + 1
    return raw[:at] + key + b':"x",' + raw[at:], {line}


def _finds(raw: bytes, what: bytes) -> Iterator[int]:
    at = raw.find(what)
    while at >= 0:
        yield at
        at = raw.find(what, at + 1)


def not_a_number(raw: bytes, random: Random) -> tuple[bytes, set[int]] | None:
    """NaN stands where a value was."""
    spots = [i + 2 for i in _finds(raw, b'":{')] + [i + 3 for i in _finds(raw, b'": {')]
    if not spots:
        return None
    at = random.choice(spots)
    close = b'"odd":NaN' if raw[at + 1 : at + 2] == b"}" else b'"odd":NaN,'
    return raw[: at + 1] + close + raw[at + 1 :], {raw.count(b"\n", 0, at) + 1}


def byte_order_mark(raw: bytes, random: Random) -> tuple[bytes, set[int]] | None:
    """An editor put a mark before the first record."""
    return b"\xef\xbb\xbf" + raw, {1}


def conflict_marker(raw: bytes, random: Random) -> tuple[bytes, set[int]] | None:
    """A merge left its marks."""
    lines = raw.split(b"\n")
    at = random.randrange(1, max(2, len(lines) - 1))
    return b"\n".join([*lines[:at], b"<<<<<<< HEAD", *lines[at:]]), {at, at + 1, at + 2}


def half_character(raw: bytes, random: Random) -> tuple[bytes, set[int]] | None:
    """A pair of escapes was cut in two."""
    spots = [
        i
        for i in _structure(raw)
        if raw[i : i + 1] == b'"' and raw[i + 1 : i + 2].isalpha() and raw[i - 1 : i] in b": "
    ]
    if not spots:
        return None
    at = random.choice(spots) + 1
    return raw[:at] + b"\\ud83d" + raw[at:], {raw.count(b"\n", 0, at) + 1}


def cut_stretch(raw: bytes, random: Random) -> tuple[bytes, set[int]] | None:
    """A stretch in the middle of a line is lost, up to its end."""
    lines = raw.split(b"\n")
    # a number that is cut short is another number: nobody can see that
    fit = [
        i for i, line in enumerate(lines[:-1]) if len(line.strip()) > 12 and line.rstrip(b",").endswith((b'"', b"}"))
    ]
    if not fit:
        return None
    at = random.choice(fit)
    bare = len(lines[at]) - len(lines[at].lstrip())
    cut = bare + random.randrange(4, len(lines[at]) - bare - 3)
    last = len(lines) if raw[:2] in (b"{\n", b"[\n") else at + 1
    kept = [*lines[:at], lines[at][:cut], *lines[at + 1 :]]
    return b"\n".join(kept), set(range(at, min(last, at + 60) + 2))


def bare_value(raw: bytes, random: Random) -> tuple[bytes, set[int]] | None:
    """A line holds a value that is no record."""
    lines = raw.split(b"\n")
    if len(lines) < 4 or not lines[1].startswith(b"{"):
        return None
    at = random.randrange(1, len(lines) - 1)
    return b"\n".join([*lines[:at], b'[17, "lost"]', *lines[at:]]), {at + 1}


def comment_line(raw: bytes, random: Random) -> tuple[bytes, set[int]] | None:
    """Somebody wrote a remark between records."""
    lines = raw.split(b"\n")
    if len(lines) < 4 or not lines[1].startswith(b"{"):
        return None
    at = random.randrange(1, len(lines) - 1)
    return b"\n".join([*lines[:at], b"// see the ticket", *lines[at:]]), {at + 1}


BYTES: tuple[Callable[[bytes, Random], tuple[bytes, set[int]] | None], ...] = (
    glued_lines, torn_end, broken_line, bad_utf8, repeated_key, not_a_number, byte_order_mark,
    conflict_marker, half_character, cut_stretch, bare_value, comment_line,
)  # fmt: skip


def normal(name: str, raw: bytes) -> bytes:
    """The undamaged file as the generator prints it."""
    return load(name, raw).render()[0]


def mutants(name: str, raw: bytes, random: Random, rounds: int) -> Iterator[Mutant]:
    """Every kind of damage that the file can take, `rounds` times each."""
    good = normal(name, raw)
    for kind in STRUCTURAL:
        for _ in range(rounds):
            file = load(name, good)
            if not kind(file, random):
                break
            data, spans = file.render()
            lines = {n for item in file.touched for n in range(spans[id(item)][0], spans[id(item)][1] + 1)}
            yield Mutant(kind.__name__, data, frozenset(lines))
    for change in BYTES:
        for _ in range(rounds):
            done = change(good, random)
            if done is None:
                break
            yield Mutant(change.__name__, done[0], frozenset(done[1]))
