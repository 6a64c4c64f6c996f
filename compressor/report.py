"""Results as one document: what `--report`, `--json` and every reporter show.

The document is plain JSON data, valid against `schemas/report.schema.json`. All that varies from run to run
stands under keys named `timing`; everything else is the same for the same input, rules and versions.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson

from compressor import __version__
from compressor.model import Finding, Level, Verdict
from compressor.result import SessionResult

if TYPE_CHECKING:
    from compressor.rules import Weights

#: First value of every report: how we know our own.
TOOL: Final = "transcript-compressor"
#: Grows when a key changes its meaning or goes.
SCHEMA: Final = 1


def score(findings: Iterable[Finding], weights: Weights) -> float:
    """1 less the weights of the findings, never below 0."""
    lost: float = sum(getattr(weights, f.level.value) for f in findings)
    return round(max(0.0, 1.0 - lost), 4)


def document(results: Sequence[SessionResult], seconds: float = 0.0) -> dict[str, Any]:
    """The report of a run.

    Args:
        results: of every session and every file, in input order.
        seconds: what the whole run took.
    """
    return {
        "tool": TOOL,
        "version": __version__,
        "schema": SCHEMA,
        "sessions": [session(r) for r in results],
        "totals": totals(results),
        "timing": {"seconds": round(seconds, 3)},
    }


def session(r: SessionResult) -> dict[str, Any]:
    """One session's part of the report."""
    return {
        "path": r.path,
        "output": r.output,
        "format": r.format,
        "session": r.session,
        "parent": r.parent,
        "verdict": r.verdict.value,
        "reason": r.reason,
        "bytes": {"before": r.bytes_before, "after": r.bytes_after},
        "tokens": {
            "whole_before": r.whole_before,
            "live_before": r.live_before,
            "after": r.after,
            "abandoned": r.abandoned_tokens,
            "budget": r.budget,
        },
        "ratio": round(r.ratio, 4),
        "share": round(r.after / r.whole_before, 4) if r.whole_before else 1.0,
        "messages": {"before": r.messages_before, "after": r.messages_after},
        "score": r.score,
        "generation": r.generation,
        "preset": r.preset,
        "summarizer": r.summarizer,
        "rules_digest": r.rules_digest,
        "archive": r.archive,
        "language": r.language,
        "resume": r.resume,
        "rules": {
            i: {"matches": s.matches, "edits": s.edits, "tokens_saved": s.tokens_saved} for i, s in r.rules.items()
        },
        "facts": {kind: {"registered": n, "kept": r.facts_kept.get(kind, 0)} for kind, n in r.facts_registered.items()},
        "salient": {"total": r.salient_total, "kept": r.salient_kept},
        "findings": [finding(f) for f in r.findings],
        "reachability": dict(r.reachability),
        "model": dict(r.usage),
        "steps": list(r.steps),
        "dropped": [
            {
                "message": d.message,
                "line": d.line,
                "layer": d.layer,
                "reason": d.reason,
                "tokens": d.tokens,
                "rule": d.rule,
            }
            for d in r.dropped
        ],
        "left_out": dict(r.left_out),
        "dirt": dict(r.dirt),
        "brief": r.brief,
        "timing": {stage: round(seconds, 4) for stage, seconds in r.timing.items()},
    }


def finding(f: Finding) -> dict[str, Any]:
    """A finding, in the shape that every command prints."""
    return {
        "check": f.check,
        "level": f.level.value,
        "message": f.message,
        "fact": f.fact,
        "at": {"file": f.at.file, "line": f.at.line, "message": f.at.message, "offset": f.at.offset},
    }


def totals(results: Sequence[SessionResult]) -> dict[str, Any]:
    """Sums over all sessions; bytes once for every file, however many sessions it holds."""
    verdicts = Counter(r.verdict.value for r in results)
    levels = Counter(f.level.value for r in results for f in r.findings)
    files = {r.path: r for r in results}.values()
    return {
        "sessions": len(results),
        "verdicts": {v.value: verdicts[v.value] for v in Verdict if verdicts[v.value]},
        "findings": {level.value: levels[level.value] for level in Level},
        "tokens": {
            "whole_before": sum(r.whole_before for r in results),
            "live_before": sum(r.live_before for r in results),
            "after": sum(r.after for r in results),
        },
        "bytes": {"before": sum(r.bytes_before for r in files), "after": sum(r.bytes_after for r in files)},
        "model": asked([r.usage for r in results if r.usage]),
    }


def asked(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What models were asked, over all sessions that asked one; the cost of what has a price."""
    if not found:
        return {}
    costs = [u["cost"] for u in found if u["cost"] is not None]
    return {
        **{name: sum(u[name] for u in found) for name in ("requests", "stored", "retries", "planned")},
        "tokens": {name: sum(u["tokens"][name] for u in found) for name in ("input", "output", "cached")},
        "cost": round(sum(costs), 6) if costs else None,
    }


def dumps(value: Any) -> bytes:
    """Indented JSON with a final newline; text that is no Unicode (lone surrogates) goes out escaped."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return (json.dumps(value, indent=2) + "\n").encode()


def line(value: Any) -> bytes:
    """JSON in one line, with its newline; text that is no Unicode goes out escaped."""
    try:
        return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return (json.dumps(value, separators=(",", ":")) + "\n").encode()


def is_report(raw: bytes) -> bool:
    """Whether these bytes begin like one of our reports."""
    return raw[:200].lstrip().startswith(b'{\n  "tool": "' + TOOL.encode() + b'"')
