"""The archive of originals: content-addressed, shared below the file, read back before it counts.

The main job speaks to `Store.put`, `Store.get` and `Store.has` alone.
"""

from __future__ import annotations

from compressor.archive import _state as state
from compressor.archive._lock import hold
from compressor.archive._store import Store
from compressor.archive._upkeep import Problem, Stats, keys, optimize, prune, stats, verify

__all__ = ["Problem", "Stats", "Store", "hold", "keys", "optimize", "prune", "state", "stats", "verify"]
