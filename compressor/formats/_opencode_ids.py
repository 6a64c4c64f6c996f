"""Ids of OpenCode: a prefix, twelve hexadecimal digits that grow with time, and a tail of letters and digits.

The tool sorts by id, and adds what it imports to what it has: an import that shall be a session of its own needs new
ids for the session, every message and every part. New ids keep the order, and the time where the old id tells it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

_ID: Final = re.compile(r"[a-z]{3}_([0-9a-f]{12})[0-9A-Za-z]*")
_LETTERS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_TICKS: Final = 0x1000  # of a millisecond
_ALL: Final = 1 << 48


def tail(*seed: str) -> str:
    """Fourteen letters and digits made from a seed."""
    number = int.from_bytes(hashlib.sha256("\0".join(seed).encode("utf-8", "surrogatepass")).digest())
    out = []
    for _ in range(14):
        number, digit = divmod(number, 62)
        out.append(_LETTERS[digit])
    return "".join(out)


def ticks(id: Any, created: Any) -> int:
    """The time in an id; where it tells none, that of its creation (milliseconds)."""
    match = _ID.fullmatch(id) if isinstance(id, str) else None
    if match:
        return int(match[1], 16)
    return int(created) * _TICKS % _ALL if isinstance(created, (int, float)) else 0


def make(prefix: str, at: int, *seed: str) -> str:
    """An id with this time."""
    return f"{prefix}_{max(at, 0) % _ALL:012x}{tail(prefix, *seed)}"


@dataclass(slots=True)
class Renamed:
    """The new ids of a session's items, if it gets any.

    Attributes:
        session: the session's id in the output.
        messages: new message id by the item's place in the list.
        parts: new part ids by the item's place, in order.
    """

    session: str
    messages: dict[int, str] = field(default_factory=dict)
    parts: dict[int, list[str]] = field(default_factory=dict)


def session_id(old: str, new_id: str) -> str:
    """The id under which a session is written: the old one, the one that was asked for, or one made from that."""
    if not new_id:
        return old
    if new_id.startswith("ses_"):
        return new_id
    match = _ID.fullmatch(old)
    return f"ses_{match[1] if match else hashlib.sha256(new_id.encode()).hexdigest()[:12]}{tail('ses', new_id)}"


def rename(items: Mapping[int, Mapping[str, Any]], old: str, new_id: str) -> Renamed:
    """New ids for all items, by place; none if the session keeps its id."""
    renamed = Renamed(session_id(old, new_id))
    if not new_id:
        return renamed
    at = part_at = 0
    for place, item in sorted(items.items()):
        info = item["info"]
        created = info["time"].get("created") if isinstance(info.get("time"), dict) else None
        at = max(at + 1, ticks(info.get("id"), created))
        renamed.messages[place] = make("msg", at, renamed.session, str(place))
        part_at = max(part_at, at)
        ids = []
        for i, part in enumerate(parts(item)):
            part_at = max(part_at + 1, ticks(part.get("id"), created))
            ids.append(make("prt", part_at, renamed.session, str(place), str(i)))
        renamed.parts[place] = ids
    return renamed


def parts(item: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The parts of a message; what is no object stands for an empty one."""
    found = item.get("parts")
    for part in found if isinstance(found, list) else ():
        yield part if isinstance(part, dict) else {}
