"""An oracle that writes good briefs of the labelled sessions in `tests/guards`, and liars that spoil one entry of it.

The oracle knows each session's faithful compaction: its sentences become entries, each with the messages that hold
its names and numbers as sources. The sessions are made longer by output that nobody needs, so that there is
something to compact.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from server import Asked, brief, entry

SETS = Path(__file__).parent.parent / "guards"
#: The tail is short, so that what the labels speak of leaves and only the brief can tell it.
PRESET = "description: labelled sessions\nextends: archive\nkeep: {tail: 1}\nbudget: {target_share: 0.3}\n"
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“`])|(?<=[。！？])\s*|\n+")
_HARD = re.compile(r"[\w./:-]*\d[\w./:-]*|[\w-]+[./_][\w./-]+|[A-Z][a-z]+ [A-Z][a-z]+|[A-Za-z]{5,}|[一-鿿]{2}")


@dataclass(frozen=True)
class Labelled:
    """One labelled session, made longer."""

    id: str
    lang: str
    messages: list[dict[str, Any]]
    sentences: list[str]
    mutations: list[dict[str, Any]]


@cache
def labelled(half: str = "tune") -> tuple[Labelled, ...]:
    from ruamel.yaml import YAML

    path = SETS / half / "sessions.yaml"
    return tuple(_labelled(s) for s in YAML(typ="safe").load(path.read_text(encoding="utf-8"))) if path.exists() else ()


def _labelled(said: Mapping[str, Any]) -> Labelled:
    known = {m.get("content") for m in said["original"]}
    told = [m["content"] for m in said["faithful"] if m["role"] == "assistant" and m["content"] not in known]
    sentences = [s.strip() for text in told for s in _END.split(text) if s.strip()]
    return Labelled(said["id"], said["lang"], _longer(said["original"]), sentences, list(said["mutations"]))


def _longer(original: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The session with a look at some dull files behind the first request."""
    at = 1 + next(i for i, m in enumerate(original) if m["role"] == "user")
    dull: list[dict[str, Any]] = []
    for i in range(4):
        call = {"id": f"dull_{i}", "type": "function", "function": {"name": "show", "arguments": '{"what": "log"}'}}
        text = "".join(
            f"nothing of note happens here, entry {'abcdefgh'[n % 8]} of part {'wxyz'[i]}\n" for n in range(60)
        )
        dull += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"dull_{i}", "content": text},
        ]
    return [*original[:at], *dull, *original[at:]]


def write(folder: Path, sessions: tuple[Labelled, ...]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for s in sessions:
        (folder / f"{s.id}.json").write_text(json.dumps({"messages": s.messages}, ensure_ascii=False), encoding="utf-8")


def _of(asked: Asked, sessions: tuple[Labelled, ...]) -> Labelled:
    first = next(s.body for s in asked.messages() if " user" in s.head)
    return next(
        s for s in sessions if next(m["content"] for m in s.messages if m["role"] == "user").startswith(first[:60])
    )


def sentences(asked: Asked, sessions: tuple[Labelled, ...]) -> list[str]:
    return list(_of(asked, sessions).sentences)


def write_brief(asked: Asked, said: list[str]) -> dict[str, Any]:
    """A brief of these sentences, each where it belongs."""
    shown = asked.messages()
    user = next(s for s in shown if " user" in s.head)
    out: dict[str, Any] = brief(goal=entry(user.body.split("\n")[0], user.id))
    for sentence in said:
        sources = _sources(sentence, shown)
        if re.search(r" because |, since |因为|由于", sentence):
            decision, reason = re.split(r" because |, since |因为|由于", sentence, maxsplit=1)
            if re.search(r"decid|chose|决定|选", decision):
                out["decisions"].append({"decision": decision, "reason": reason, "sources": sources})
                continue
        field = "pending" if re.search(r"pending|not yet|still|open|还没|尚未|待", sentence) else "findings"
        if re.search(r"fail|lost|error|失败|出错", sentence):
            field = "errors"
        out[field].append(entry(sentence, *sources))
    return out


def _sources(sentence: str, shown: list[Any]) -> list[str]:
    hard = set(_HARD.findall(sentence))
    worth = [(sum(len(h) for h in hard if h in s.body), -i, s.id) for i, s in enumerate(shown)]
    best = sorted((w for w in worth if w[0]), reverse=True)[:4]
    return [w[2] for w in best] or [shown[0].id]


# -- liars: each spoils one sentence of a good brief, or says that there is nothing that it could spoil


Liar = Callable[[list[str]], tuple[list[str], str] | None]


def _swap(pairs: list[tuple[str, str]]) -> Liar:
    def lie(said: list[str]) -> tuple[list[str], str] | None:
        for i, sentence in enumerate(said):
            for pattern, put in pairs:
                spoilt, count = re.subn(pattern, put, sentence, count=1)
                if count and spoilt != sentence:
                    return [*said[:i], spoilt, *said[i + 1 :]], spoilt
        return None

    return lie


def _add(text: str, chinese: str) -> Liar:
    def lie(said: list[str]) -> tuple[list[str], str]:
        put = chinese if re.search(r"[一-鿿]", "".join(said)) else text
        return [*said, put], put

    return lie


def _change_number(said: list[str]) -> tuple[list[str], str] | None:
    return _swap([(r"(?<![\w.,-])(\d{2,6})(?![\w-])", r"9\1"), (r"(?<![\w.,-])(\d)(?![\w-])", r"4\1")])(said)


def _swap_names(said: list[str]) -> tuple[list[str], str] | None:
    names = [n for s in said for n in re.findall(r"[A-Z][a-z]+ [A-Z][a-z]+|[\w-]+/[\w./-]+\w|\b[a-z]+_[a-z_]+\b", s)]
    for i, sentence in enumerate(said):
        for name in names:
            other = next((n for n in names if n != name and n not in sentence), None)
            if name in sentence and other:
                spoilt = sentence.replace(name, other, 1)
                return [*said[:i], spoilt, *said[i + 1 :]], spoilt
    return None


LIARS: dict[str, Liar] = {
    "drops negations": _swap([
        (r"\b([Dd])o not ", r"\1o "), (r"\bNever ", "Always "), (r"\bnever ", "always "), (r" not ", " "), (r"\bno (?=[a-z])", "some "),
        (r"不要", "要"), (r"不能", "能"), (r"没有", "有"), (r"不得", "可以"), (r"不", ""),
    ]),
    "changes numbers": _change_number,
    "swaps names": _swap_names,
    "invents quotes": _add('The user said "go ahead, I have a backup of everything".', "用户说：“直接删除吧，我已经备份好了全部数据。”"),
    "tells failures as done": _swap([
        (r"\bfailed\b", "passed"), (r"\bfails\b", "passes"), (r"failure", "success"), (r"\berror\b", "success"), (r"失败", "成功"), (r"报错", "通过"),
    ]),
    "closes what is open": _swap([
        (r"is still (pending|open)", "is done"), (r"are still (pending|open)", "are done"), (r"is (pending|not done yet|open)", "is done"),
        (r"still pending", "done"), (r"not yet", "already"), (r"还没有?", "已经"), (r"尚未", "已经"), (r"待(?=[一-鿿])", "已"),
    ]),
    "invents a path": _add("The fix went into src/core/retry_manager.py.", "修复写在 src/core/retry_manager.py 里。"),
    "invents a number": _add("The whole run took 4711 seconds.", "整个过程用了 4711 秒。"),
    "changes the reason": _swap([
        (r" because .*", " because the user liked it better that way."), (r", since .*", ", since the user liked it better that way."),
        (r"因为[^，。]*", "因为用户更喜欢这样"), (r"由于[^，。]*", "由于用户更喜欢这样"),
    ]),
    "allows what was forbidden": _swap([
        (r"\b[Dd]o not ([a-z]+)", r"You may \1"), (r"\b[Mm]ust not ", "may "), (r"\bNever ([a-z]+)", r"It is fine to \1"), (r"must be asked before", "need not be asked before"),
        (r"before you touch", "after you touch"), (r"不要", "可以"), (r"禁止", "允许"), (r"不能", "可以"), (r"不得", "可以"), (r"必须", "不必"),
    ]),
}  # fmt: skip


def mutants(said: Labelled) -> Iterator[tuple[str, list[str], str, str]]:
    """The labelled lies about the sentences of the brief: (sort, sentences, the spoilt sentence, what it leaves out)."""
    whole = "\n".join(said.sentences)
    for m in said.mutations:
        if m.get("of") != "faithful" or "replace" not in m:
            continue
        spoilt, gone = whole, ""
        for find, put in m["replace"]:
            spoilt = spoilt.replace(find, put)
            gone = gone or ("" if put.strip(" .。") else _CAUSE.sub("", find).strip(" .,。，"))
        lies = [s for s in spoilt.split("\n") if s.strip() and s not in said.sentences]
        if spoilt != whole and lies:
            yield m["sort"], [s.strip() for s in spoilt.split("\n") if s.strip()], lies[0].strip(), gone


_CAUSE = re.compile(r"^[ ,，]*(?:because|since|so that|因为|由于|以便)?[ ,，]*")
