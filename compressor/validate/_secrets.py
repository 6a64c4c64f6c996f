"""K01: what looks like a key, a token or a password. The finding never shows it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from compressor import plugins
from compressor.data import resource
from compressor.formats._records import Source
from compressor.model import Finding, Level, Message, Origin, Part, PartType, Place, Role, Session, View
from compressor.rulefile import Rule

#: How much text is looked at in one go; whole lines unless one is longer.
_WINDOW: Final = 256 * 1024


def check(source: Source) -> Iterator[Finding]:
    """One finding for each line and kind of secret."""
    line = 1
    for window in _windows(bytes(source.raw)):
        text = window.decode("utf-8", "replace")
        view = _view(text)
        found = {
            (line + text.count("\n", 0, match.start), rule.action.value or "secret", rule.id)
            for rule in _rules()
            for match in plugins.load("kinds", rule.kind).find(view, rule.options)
        }
        for at, label, rule_id in sorted(found):
            yield Finding("K01", Level.ERROR, f"what looks like a secret: {label}", rule_id, Place(source.path, at))
        line += window.count(b"\n")


@cache
def _rules() -> tuple[Rule, ...]:
    from compressor import rulefile

    files = sorted((f for f in resource("rules").iterdir() if f.name.startswith("secret")), key=lambda f: f.name)
    return tuple(r.rule() for f in files for r in rulefile.read(f, f"rules/{f.name}"))


def _windows(raw: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(raw):
        end = min(len(raw), at + _WINDOW)
        if end < len(raw):
            end = raw.rfind(b"\n", at, end) + 1 or raw.find(b"\n", end) + 1 or len(raw)
        yield raw[at:end]
        at = end


def _view(text: str) -> View:
    part = Part(0, 0, PartType.OTHER, (), text)
    message = Message(0, "#0", Role.TOOL, Origin.TOOL, (part,), 0, 1)
    return View(Session("", (message,), (part,)), (part,))
