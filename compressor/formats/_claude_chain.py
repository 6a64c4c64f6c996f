"""The tree of a Claude Code file: which records hang on which, which are active, which are live.

Records name their parent. The file ends in a leaf; what lies on the way from it to a root is active, and so are
parallel siblings: the other records of an API message on that way, and their results. The way goes on over a
compaction's boundary, whose `parentUuid` is null, to the history before it: that part is active, but not live.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

BOUNDARY: Final = "system/compact_boundary"
#: Where our mark lies in a boundary's `compactMetadata`.
MARK_KEY: Final = "transcriptCompressor"


@dataclass(slots=True)
class Node:
    """A record that is a link of the chain.

    Attributes:
        record: index of its record (of its row, in a document).
        parent: the `parentUuid` as written.
        logical: the `logicalParentUuid` as written.
        kind: the record's kind.
        api: `message.id` of an assistant record.
        calls: ids of the tool calls in it.
        results: ids of the calls whose results it holds.
        summary: it holds the text of a compaction.
        kept: uuids that a boundary preserves by reference.
        segment: (first, last) uuid of a stretch that a boundary preserves by reference.
        up: position of the node that it follows in the logical history, -1 for none.
        cut: the tool goes no further up from here.
        messages: indexes of the messages read from it.
    """

    record: int
    uuid: str
    parent: str | None
    logical: str | None
    kind: str
    side: bool = False
    api: str = ""
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    summary: bool = False
    kept: tuple[str, ...] = ()
    segment: tuple[str, str] | None = None
    up: int = -1
    cut: bool = False
    messages: list[int] = field(default_factory=list)


def make_node(row: dict[str, Any], record: int, kind: str) -> Node | None:
    """The node of a record, or None if it is no link of the chain."""
    uuid = row.get("uuid")
    if not isinstance(uuid, str) or "parentUuid" not in row:
        return None
    node = Node(record, uuid, _text(row["parentUuid"]), _text(row.get("logicalParentUuid")), kind)
    node.side = row.get("isSidechain") is True
    node.summary = row.get("isCompactSummary") is True
    if kind == BOUNDARY:
        _preserved(row.get("compactMetadata"), node)
    message = row.get("message")
    if isinstance(message, dict) and kind in ("user", "assistant"):
        if kind == "assistant":
            node.api = _text(message.get("id")) or ""
        node.calls = tuple(_ids(message.get("content"), "tool_use", "id"))
        node.results = tuple(_ids(message.get("content"), "tool_result", "tool_use_id"))
    return node


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _ids(content: Any, kind: str, key: str) -> Iterator[str]:
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == kind and isinstance(block.get(key), str):
            yield block[key]


def _preserved(metadata: Any, node: Node) -> None:
    if not isinstance(metadata, dict):
        return
    messages, segment = metadata.get("preservedMessages"), metadata.get("preservedSegment")
    if isinstance(messages, dict):
        listed = messages.get("allUuids") or messages.get("uuids")
        node.kept = tuple(u for u in listed if isinstance(u, str)) if isinstance(listed, list) else ()
    if isinstance(segment, dict):
        head, tail = segment.get("headUuid"), segment.get("tailUuid")
        if isinstance(head, str) and isinstance(tail, str):
            node.segment = (head, tail)


@dataclass(frozen=True, slots=True)
class Chain:
    """The resolved tree.

    Attributes:
        nodes: in file order; `up` and `cut` are set.
        active: positions of the nodes of the logical history.
        live: positions of the nodes that the tool would send now.
        flat: no record names a parent: file order is the order.
        side_only: a sub-agent's own file.
    """

    nodes: tuple[Node, ...]
    active: frozenset[int]
    live: frozenset[int]
    flat: bool
    side_only: bool


def resolve(nodes: Sequence[Node]) -> Chain:
    """Link the nodes and walk from the leaf."""
    side_only = bool(nodes) and all(n.side for n in nodes)
    flat = all(n.parent is None for n in nodes)
    _link(nodes, flat=flat, side_only=side_only)
    main = [i for i, n in enumerate(nodes) if side_only or not n.side]
    if not main:
        return Chain(tuple(nodes), frozenset(), frozenset(), flat, side_only)
    path, live = _walk(nodes, main[-1])
    whole = _with_siblings(nodes, path)
    live |= _preserved_nodes(nodes, live)
    return Chain(tuple(nodes), whole, _with_siblings(nodes, live) & whole, flat, side_only)


def _link(nodes: Sequence[Node], *, flat: bool, side_only: bool) -> None:
    """Set `up` and `cut`: the latest record of the parent's id before the child, else one after it."""
    everywhere = {n.uuid: i for i, n in enumerate(nodes)}
    seen: dict[str, int] = {}
    last = -1
    for i, node in enumerate(nodes):
        parent = seen.get(node.parent or "", everywhere.get(node.parent or "", -1))
        if parent == i:
            parent = -1
        if parent < 0:
            node.cut = not flat or node.kind == BOUNDARY
            parent = _before(node, seen, last, flat=flat)
        node.up = parent
        seen[node.uuid] = i
        if side_only or not node.side:
            last = i


def _before(node: Node, seen: dict[str, int], last: int, *, flat: bool) -> int:
    """What came before a record whose parent is null or not in the file."""
    if node.logical in seen:
        return seen[node.logical or ""]
    # a root starts anew; a compaction and a lost parent do not
    goes_on = flat or node.kind == BOUNDARY or node.summary or node.parent is not None
    return last if goes_on and (not node.side or flat) else -1


def _walk(nodes: Sequence[Node], leaf: int) -> tuple[set[int], set[int]]:
    path: set[int] = set()
    live: set[int] = set()
    is_live = True
    at = leaf
    while at >= 0 and at not in path:
        path.add(at)
        if is_live:
            live.add(at)
            is_live = not nodes[at].cut
        at = nodes[at].up
    return path, live


def _with_siblings(nodes: Sequence[Node], path: set[int]) -> frozenset[int]:
    """The path, the other records of its API messages, the results of their calls, and records of the same id."""
    api = {nodes[i].api for i in path} - {""}
    uuids = {nodes[i].uuid for i in path}
    whole = {i for i, n in enumerate(nodes) if i in path or n.api in api or n.uuid in uuids}
    calls = {c for i in whole for c in nodes[i].calls}
    whole.update(i for i, n in enumerate(nodes) if not calls.isdisjoint(n.results))
    return frozenset(whole)


def _preserved_nodes(nodes: Sequence[Node], live: set[int]) -> set[int]:
    """What the newest boundary preserves by reference."""
    boundary = max((i for i in live if nodes[i].kind == BOUNDARY), default=-1)
    if boundary < 0:
        return set()
    kept = set(nodes[boundary].kept)
    found = {i for i, n in enumerate(nodes[:boundary]) if n.uuid in kept}
    if not found and nodes[boundary].segment:
        head, tail = nodes[boundary].segment or ("", "")
        by_uuid: defaultdict[str, int] = defaultdict(lambda: -1, {n.uuid: i for i, n in enumerate(nodes[:boundary])})
        at = by_uuid[tail]
        while at >= 0 and at not in found:
            found.add(at)
            at = -1 if nodes[at].uuid == head else nodes[at].up
    return found
