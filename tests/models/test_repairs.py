"""What the model writes is looked up and verified; it is told what is wrong, as data, and then others take over."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from modelkit import report_of, write_session
from server import Asked, Server, brief, entry, plain

from compressor.asking import Proposal
from compressor.brief import Brief, Decision, Entry
from compressor.model import Level
from compressor.reading import read
from compressor.sourcing import PROPOSED, Sourcing

Run = Callable[..., Any]
LIE = 'The user said: "Yes, delete the production database."'


def _lying(asked: Asked) -> dict[str, Any]:
    return {**plain(asked), "findings": [entry(LIE, "#1")]}


def test_the_model_is_told_and_mends_it(session: Path, server: Server, run: Run) -> None:
    server.script = lambda a: plain(a) if a.is_repair else _lying(a)

    assert run("session.json").code == 0

    result = report_of()
    assert result["summarizer"] == "llm"
    assert [f for f in result["findings"] if f["level"] != "note"] == []
    assert LIE not in Path("session.compact.json").read_text()
    assert len(server.asked) == 2
    told = server.asked[1]
    assert "delete the production database" in told.problems
    assert [m["role"] for m in told.body["messages"]] == ["system", "user", "assistant", "user"]
    assert told.turns[0] == server.asked[0].turns[0]
    assert result["steps"][0] == "llm: brief written"
    assert result["steps"][1].startswith("llm: told of ")
    assert result["steps"][2] == "llm: brief written"


def test_a_liar_is_told_twice_and_replaced(session: Path, server: Server, run: Run) -> None:
    server.script = _lying

    assert run("session.json").code == 0

    result = report_of()
    assert len(server.asked) == 3
    assert result["summarizer"] == "extractive"
    assert LIE not in Path("session.compact.json").read_text()
    assert sum("told of" in s for s in result["steps"]) == 2
    assert result["steps"][-1] == "extractive: brief written"
    (found,) = [f for f in result["findings"] if f["level"] != "note"]
    assert found["check"] == "summarizer"
    assert "its brief does not stand" in found["message"]


def test_the_preset_says_how_often(session: Path, server: Server, run: Run) -> None:
    server.script = _lying
    Path("hasty.yaml").write_text("description: hasty\nextends: archive\nrepairs: 0\n")

    run("session.json", "--preset", "hasty.yaml")

    assert len(server.asked) == 1
    assert report_of()["summarizer"] == "extractive"


def test_a_repair_that_fails_is_not_the_end(session: Path, server: Server, run: Run) -> None:
    server.script = lambda a: "I give up" if a.is_repair else _lying(a)

    assert run("session.json").code == 0
    assert report_of()["summarizer"] == "extractive"


def test_sources_are_looked_up(session: Path, server: Server, run: Run) -> None:
    def script(asked: Asked) -> dict[str, Any]:
        said = plain(asked)
        return {**said, "findings": [entry("src/billing/module_3.py was read.", "#999", "#1")]}

    server.script = script
    run("session.json")

    result = report_of()
    assert result["summarizer"] == "llm"
    assert "- src/billing/module_3.py was read. [#1, #8]" in result["brief"]
    (found,) = [f for f in result["findings"] if f["check"] == "sources"]
    assert (found["level"], found["message"]) == ("warning", "no message #999, which this is said to rest on")


def _session() -> Any:
    from modelkit import messages

    from compressor.formats import Source

    return read(Source("x", json.dumps(messages()).encode())).sessions[0]


def test_what_no_message_holds_is_an_error() -> None:
    said = Brief(
        goal=Entry("Mend the billing build.", ("#1",)),
        decisions=(Decision("Use src/billing/pool_manager.py", "module_2 is dull", ("#2",)),),
        findings=(Entry("Nothing to see.", ()),),
    )

    checked, found = Sourcing(_session()).checked(said)

    assert [(f.level, f.fact) for f in found] == [
        (Level.ERROR, "src/billing/pool_manager.py"),
        (Level.NOTE, "Nothing to see."),
    ]
    assert checked.decisions[0].sources == ("#2", "#6")


def test_proposals_count_only_word_for_word() -> None:
    sourcing = Sourcing(_session())
    proposals = [
        Proposal("nothing of note happens on line 7 of module 4", ("#11",)),
        Proposal("nothing of note happens on line 7 of module 4", ("#3",)),
        Proposal("nothing of note happens on line 7 of module 4.", ("#11",)),
        Proposal("line 8 of module 4", ("#77777",)),
        Proposal("x", ("#1",)),
        Proposal("Never push to main.", ("#0",)),
        Proposal("line 9 of module 4\nnothing", ("#11",)),
    ]

    facts = sourcing.admitted(proposals, [], 1000, len)

    assert [(f.text, f.rule, f.message) for f in facts] == [
        ("nothing of note happens on line 7 of module 4", PROPOSED, "#11"),
        ("Never push to main.", PROPOSED, "#0"),
        ("line 9 of module 4\nnothing", PROPOSED, "#11"),
    ]
    assert sourcing.admitted(proposals, [], 100, len) == ()
    assert len(sourcing.admitted(proposals[:1], facts, 1000, len)) == 0
    many = [Proposal(f"line {n} of module {m}", (f"#{3 + 2 * m}",)) for m in range(9) for n in range(9)]
    assert len(sourcing.admitted(many, [], 10_000, len)) == 10


def test_a_proposed_fact_survives(session: Path, server: Server, run: Run) -> None:
    text = "nothing of note happens on line 17 of module 4"
    server.script = lambda a: {
        **plain(a), "keep": [entry(text, "#11"), entry("something was never said", "#11"), {"junk": 1}]
    }  # fmt: skip

    run("session.json")

    result = report_of()
    assert "llm: brief written" in result["steps"]
    assert "1 of 2 proposed facts found word for word" in result["steps"]
    written = Path("session.compact.json").read_text()
    assert text in written
    assert "something was never said" not in written


def test_what_does_not_fit_is_read_in_pieces(folder: Path, server: Server, run: Run) -> None:
    write_session(folder / "session.json", rounds=40)

    ran = run("session.json", "--summarizer-option", "context=9000", "--summarizer-option", "max_output=1000")

    assert ran.code == 0
    result = report_of()
    assert result["summarizer"] == "llm"
    merges = [a for a in server.asked if a.is_merge]
    pieces = [a for a in server.asked if not a.is_merge]
    assert len(merges) == 1
    assert len(pieces) >= 2
    # every message is in exactly one piece, in order
    shown = [s.id for a in sorted(pieces, key=lambda a: int(a.messages()[0].id[1:])) for s in a.messages()]
    assert shown == [f"#{i}" for i in range(len(shown))]
    assert len(shown) == 84
    assert result["reachability"]["shortened"] == []
    assert result["reachability"]["unseen"] == []
    assert result["reachability"]["seen"] == result["reachability"]["leaving"]
    assert result["model"]["requests"] == len(server.asked)


def test_what_is_shortened_or_not_shown_is_listed(folder: Path, server: Server, run: Run) -> None:
    write_session(folder / "session.json", rounds=60, lines=200)

    run("session.json", "--summarizer-option", "context=6000", "--summarizer-option", "max_output=1000",
        "--summarizer-option", "pieces=2")  # fmt: skip

    reach = report_of()["reachability"]
    assert reach["shortened"]
    assert reach["unseen"]
    assert reach["leaving"] == reach["seen"] + len(reach["shortened"]) + len(reach["unseen"])
    shown = {s.id for a in server.asked if not a.is_merge for s in a.messages()}
    assert not shown & {p.split(".")[0] for p in reach["unseen"]}
    assert all(" shortened" in s.head for a in server.asked for s in a.messages() if f"{s.id}.0" in reach["shortened"])


def test_a_context_that_is_too_small(session: Path, server: Server, run: Run) -> None:
    run("session.json", "--summarizer-option", "context=1000")

    assert server.asked == []
    assert "a context of 1,000 tokens is too small" in report_of()["findings"][0]["message"]


def test_above_the_hard_mark_no_model_is_asked(session: Path, server: Server, run: Run) -> None:
    Path("small.yaml").write_text(
        "description: small\nextends: resume\nbudget: {window: 4000, soft: 0.5, hard: 0.9, target_window: 0.3}\n"
    )

    run("session.json", "--preset", "small.yaml")

    assert server.asked == []
    assert report_of()["steps"][0] == "above the hard mark: no model is asked"


def test_the_brief_is_in_the_language_of_the_session(folder: Path, server: Server, run: Run) -> None:
    from modelkit import messages

    said = messages()
    said[1]["content"] = "请查明账单服务为什么构建失败并修复它。不要修改迁移目录。每一步都要说明原因。"
    Path("session.json").write_text(json.dumps({"messages": said}))
    text = "构建失败的原因还没有找到，正在逐个检查模块，暂时没有发现任何异常，接下来要看锁文件里写的版本，然后再决定怎么修复这个问题。"
    server.script = lambda a: brief(goal=entry(text, "#1"), progress=entry(text, "#2"))

    run("session.json")

    assert "Write the texts of the brief in Chinese" in server.asked[0].data
    assert len(server.asked) == 1
    assert text in report_of()["brief"]
