"""Secrets out of a file before anything else sees it: the model, the hash, the disk.

The rules of kind `secret` find them in the file's own text, line by line, so that copies which no message shows
(what only a tool's screen uses) are found as well. Each is replaced wherever it stands in the file. The same secret
becomes the same placeholder everywhere in the file, so that ids that are secrets still pair; the placeholder tells
nothing of it. A match never stops a run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from compressor import plugins
from compressor.formats._records import Source
from compressor.model import Message, Origin, Part, PartType, Role, Session, View

if TYPE_CHECKING:
    from compressor.rules import Rule
    from compressor.settings import Settings

#: Secrets from this length on are replaced wherever they stand; shorter ones only where a rule found them.
_LONG: Final = 8
#: How much text a rule looks at in one go; whole lines unless one is longer.
_WINDOW: Final = 256 * 1024
#: A secret that stands as a bare JSON value (`"pin": 12345678`) needs quotes around its placeholder.
_BARE: Final = re.compile(rb'((?<!\\)"\s*:\s*)(\[redacted:[^\]]*\])(?=\s*[,}\]])')


def redacted(source: Source, settings: Settings) -> tuple[Source, int]:
    """The file without its secrets, and how many there were; -1: redaction was not asked for."""
    if not settings.redact:
        return source, -1
    raw = bytes(source.raw)
    found = _secrets(raw, _rules(settings.preset.rules))
    if not found:
        return Source(source.path, raw), 0
    return Source(source.path, _replace(raw, found)), len(found)


def _rules(of_preset: Sequence[Rule]) -> tuple[Rule, ...]:
    own = {r.id: r for r in of_preset if r.action.verb == "redact"}
    return (*(r for r in _shipped() if r.id not in own), *own.values())


@cache
def _shipped() -> tuple[Rule, ...]:
    from compressor.rules import load_rules

    return tuple(f.rule() for f in load_rules() if f.data.get("kind") == "secret")


def _secrets(raw: bytes, rules: Sequence[Rule]) -> dict[bytes, bytes]:
    """Every secret of the file with its placeholder, numbered as they first occur."""
    found: dict[bytes, bytes] = {}
    for window in _windows(raw):
        text = window.decode("utf-8", "replace")
        hits = sorted(
            (match.start, text[match.start : match.end], rule.action.value)
            for rule in rules
            for match in plugins.load("kinds", rule.kind).find(_view(text), rule.options)
        )
        for _, secret, label in hits:
            key = secret.encode("utf-8", "surrogatepass")
            if key not in found:
                found[key] = f"[redacted:{label or 'secret'}:{len(found) + 1}]".encode()
    return found


def _windows(raw: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(raw):
        end = min(len(raw), at + _WINDOW)
        cut = raw.rfind(b"\n", at, end) + 1
        if end < len(raw) and not cut:
            # one long line: it is looked at whole, so that nothing is cut in two
            cut = raw.find(b"\n", end) + 1 or len(raw)
        end = end if end == len(raw) else cut
        yield raw[at:end]
        at = end


def _view(text: str) -> View:
    part = Part(0, 0, PartType.OTHER, (), text)
    message = Message(0, "#0", Role.TOOL, Origin.TOOL, (part,), 0, 1)
    return View(Session("", (message,), (part,)), (part,))


def _replace(raw: bytes, found: dict[bytes, bytes]) -> bytes:
    import re2

    # longest first: a secret may hold another one
    long = sorted((s for s in found if len(s) >= _LONG), key=len, reverse=True)
    if long:
        pattern: Any = re2.compile(b"|".join(map(re2.escape, long)))
        raw = pattern.sub(lambda m: found[m.group()], raw)
    for short in (s for s in found if len(s) < _LONG):
        raw = raw.replace(b":" + short + b"@", b":" + found[short] + b"@")
    return _BARE.sub(rb'\1"\2"', raw)
