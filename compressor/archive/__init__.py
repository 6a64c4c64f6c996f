"""The archive of originals: content-addressed, shared below the file, read back before it counts.

The main job speaks to `Store.put`, `Store.get` and `Store.has` alone.
"""

from __future__ import annotations

from compressor.archive._store import Store
from compressor.disk import publish as write_atomic

__all__ = ["Store", "write_atomic"]
