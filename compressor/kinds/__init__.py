"""Kinds: how a rule picks text out of the parts in its scope.

A kind is one module of this folder:

    OPTIONS: Mapping[str, Any]                  # JSON Schema of the rule's `with`
    def find(view: View, options: Mapping[str, Any]) -> Iterator[Match]

It knows nothing of ids, levels, actions or tokens. Matches are in part order, `start < end`, and do not overlap
within a part. A kind takes time linear in the text, whatever the text is. Two more names are optional:

    def mistakes(options: Mapping[str, Any]) -> Iterator[tuple[Steps, message, hint]]
                                                # what is wrong with them beyond the schema; the steps lead from
                                                # `with` to the value (an option's name first)
    def fingerprint() -> str                    # of an engine or model it uses: enters the rules digest
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from compressor.model import Match, View


class Kind(Protocol):
    """What a kind offers (see the module docstring)."""

    OPTIONS: Mapping[str, Any]

    @staticmethod
    def find(view: View, options: Mapping[str, Any]) -> Iterator[Match]: ...
