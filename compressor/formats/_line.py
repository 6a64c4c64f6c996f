"""Change a line of JSON: what is not named stays, byte for byte.

Nearly every tool writes its lines as orjson does. Such a line is parsed, changed and written again, which is many
times as fast as finding the places in its text; any other line is changed in place (`compressor.formats._layout`).
"""

from __future__ import annotations

from typing import Any

import orjson

from compressor.formats._layout import Editor
from compressor.formats._records import get_at, loads
from compressor.model import NESTED, PathSteps


class Line:
    """Collects changes to one line; `changed()` gives it with all of them.

    Attributes:
        value: the line's value before the changes.
    """

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._changes: list[tuple[PathSteps, tuple[Any, ...]]] = []
        self.value = loads(body)

    def set(self, path: PathSteps, value: Any) -> None:
        """Put `value` in the place of the value at `path`."""
        self._changes.append((path, (value,)))

    def delete(self, path: PathSteps) -> None:
        """Take the member at `path` out of its object."""
        self._changes.append((path, ()))

    def changed(self) -> bytes:
        """The line with all changes; nothing may be asked of it afterwards."""
        if not self._changes:
            return self._body
        try:
            if orjson.dumps(self.value) == self._body:
                return self._written_anew()
        except TypeError:  # what orjson does not write: lone surrogates, large integers
            pass
        return self._changed_in_place()

    def _written_anew(self) -> bytes:
        for path, new in self._changes:
            if NESTED in path:
                self._set_inside(path, new[0])
                continue
            holder = get_at(self.value, path[:-1])
            if new:
                holder[path[-1]] = new[0]
            else:
                del holder[path[-1]]
        return orjson.dumps(self.value)

    def _set_inside(self, path: PathSteps, new: Any) -> None:
        """A change in JSON text inside a string: that is set in the style of whoever wrote it."""
        cut = path.index(NESTED)
        holder = get_at(self.value, path[: cut - 1])
        inner = Editor(holder[path[cut - 1]])
        inner.set(path[cut + 1 :], new)
        holder[path[cut - 1]] = inner.text()

    def _changed_in_place(self) -> bytes:
        editor = Editor(self._body.decode("utf-8", "surrogateescape"))
        for path, new in self._changes:
            if new:
                editor.set(path, new[0])
            else:
                editor.delete(path)
        return editor.text().encode("utf-8", "surrogateescape")
