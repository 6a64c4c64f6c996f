from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compressor import tokens
from compressor.brief import Brief
from compressor.briefs import render, to_json, validate
from compressor.language import language, lexicon
from compressor.model import Fact, Level, Mode, Session
from compressor.plugins import load

from .golden import BUDGET, NAMES, golden, write
from .sessions import Row, session, task, words

extractive = load("summarizers", "extractive")


def brief(*rows: Row, **options: object) -> Brief:
    result: Brief = extractive.summarize(task(session(rows), **options), {})  # type: ignore[arg-type]
    return result


READER = '     1→"""Read the supplier\'s CSV file."""\n     2→import csv\n     3→from shop.models import Row\n     4→\n     5→def read_rows(path):\n     6→    return list(csv.reader(open(path)))\n     7→\n     8→if __name__ == "__main__":\n'

ENGLISH: list[Row] = [
    ("user", "Make importer/reader.py stream its rows: large files fill the memory. Do not touch the table layout."),
    ("agent", "I'll look at the reader first."),
    ("call", "Read", {"file_path": "/srv/shop/importer/reader.py"}, READER),
    ("agent", "The problem is that read_rows loads the whole 1.2 GB file into a list. The csv module iterates by itself, so I'll use a generator instead of a list."),
    ("call", "Edit", {"file_path": "/srv/shop/importer/reader.py", "old_string": "return list(", "new_string": "with open(path) as f:\n        yield from csv.reader(f)"}, "updated"),
    ("call", "Bash", {"command": "cd /srv/shop && pytest tests/test_reader.py"}, "Exit code 1\nE   TypeError: object of type 'generator' has no len()\nFAILED tests/test_reader.py::test_count", True),
    ("agent", "Wrapping the generator in list() didn't work: memory went back to 1.1 GB."),
    ("agent", "Let me count the rows in importer/jobs.py to avoid a second pass over the file."),
    ("call", "Edit", {"file_path": "/srv/shop/importer/jobs.py", "old_string": "len(rows)", "new_string": "sum(1 for _ in rows)"}, "updated"),
    ("call", "Bash", {"command": "cd /srv/shop && pytest tests/test_reader.py"}, "3 passed in 0.41s"),
    ("call", "Bash", {"command": "git commit -am \"Stream rows from the supplier's file\""}, "[stream 1f3c9ab] Stream rows from the supplier's file"),
    ("call", "TodoWrite", {"todos.0.content": "Stream reader.py", "todos.0.status": "completed", "todos.1.content": "Cap memory of jobs.py in a test", "todos.1.status": "in_progress", "todos.2.content": "Update docs/import.md", "todos.2.status": "pending"}, "ok"),
    ("call", "Bash", {"command": "pytest tests/test_memory.py"}, "Exit code 1\nE   AssertionError: peak 612 MB > 200 MB\nFAILED tests/test_memory.py::test_peak", True),
    ("call", "Bash", {"command": "rm -rf /srv/shop/data"}, "The user doesn't want to proceed with this tool use. The user said:\nkeep the sample data", True),
    ("agent", "The reader streams now and 3 tests pass. tests/test_memory.py still fails with a peak of 612 MB.\n\nNext steps:\n- find what holds 612 MB in importer/jobs.py"),
    ("user", "Go on with the memory test, please."),
]  # fmt: skip

ENGLISH_BRIEF = """
## Goal
Make importer/reader.py stream its rows: large files fill the memory. Do not touch the table layout. — Latest request: Go on with the memory test, please. [#0, #24]

## Where things stand
The reader streams now and 3 tests pass. tests/test_memory.py still fails with a peak of 612 MB. in progress: Cap memory of jobs.py in a test. `pytest tests/test_reader.py`: ok. `pytest tests/test_memory.py`: failed. [#23, #17, #14, #20]

## Done
- commit 1f3c9ab: Stream rows from the supplier's file [#15]
- Stream reader.py [#17]

## To do
- Cap memory of jobs.py in a test [#17]
- Update docs/import.md [#17]
- Next steps: find what holds 612 MB in importer/jobs.py [#23]

## Decisions
- count the rows in importer/jobs.py — why: to avoid a second pass over the file. [#10]
- use a generator instead of a list. — why: The csv module iterates by itself [#4]

## Failed, do not try again
- `rm -rf /srv/shop/data` the user refused: keep the sample data [#22]
- `pytest tests/test_memory.py` failed: E AssertionError: peak 612 MB > 200 MB [#20]

## Files
- /srv/shop/importer/reader.py — Read the supplier's CSV file; defines read_rows; uses shop.models, csv; entry main; edited [#2, #5]
- /srv/shop/importer/jobs.py — edited [#11]

## Notes
- insight: The problem is that read_rows loads the whole 1.2 GB file into a list. [#4]
- dead end: Wrapping the generator in list() didn't work: memory went back to 1.1 GB. [#9]
"""

CHINESE: list[Row] = [
    ("user", "请把 importer/reader.py 改成流式读取，避免大文件占满内存。不要改动数据库表结构，也不要升级 pandas。"),
    ("agent", "好的，我先看看现有的实现。"),
    ("call", "Read", {"file_path": "/srv/shop/importer/reader.py"}, '     1→"""读取供应商的 CSV 文件。"""\n     2→import csv\n     3→def read_rows(path):\n'),
    ("agent", "问题在于 read_rows 一次性把 1.2GB 的文件读进列表。由于 csv 模块本身支持迭代，所以改用生成器逐行返回，不再构造列表。"),
    ("call", "Edit", {"file_path": "/srv/shop/importer/reader.py", "old_string": "a", "new_string": "b"}, "已更新"),
    ("agent", "试过在生成器外面套 list，行不通，内存又回到 1.1GB。"),
    ("agent", "为了避免两次遍历，决定让 jobs.py 用计数器统计行数，而不是调用 len()。"),
    ("call", "TodoWrite", {"todos.0.content": "流式读取 reader.py", "todos.0.status": "completed", "todos.1.content": "给 jobs.py 加内存上限测试", "todos.1.status": "in_progress"}, "ok"),
    ("call", "Bash", {"command": "pytest tests/test_memory.py"}, "Exit code 1\nE   AssertionError: peak 612 MB > 200 MB", True),
    ("agent", "已完成：reader.py 改为生成器，jobs.py 改用计数器，3 个测试通过。\n\n接下来：\n- 查清 tests/test_memory.py 峰值 612 MB 的原因\n\n注意：供应商文件约定使用 GB18030 编码。"),
    ("user", "继续，先把内存测试弄过。"),
]  # fmt: skip

CHINESE_BRIEF = """
## 目标
请把 importer/reader.py 改成流式读取，避免大文件占满内存。不要改动数据库表结构，也不要升级 pandas。 — 最新请求: 继续，先把内存测试弄过。 [#0, #14]

## 当前状态
已完成：reader.py 改为生成器，jobs.py 改用计数器，3 个测试通过。注意：供应商文件约定使用 GB18030 编码。 进行中: 给 jobs.py 加内存上限测试. `pytest tests/test_memory.py`: 失败. [#13, #9, #12]

## 已完成
- 流式读取 reader.py [#9]

## 待办
- 给 jobs.py 加内存上限测试 [#9]
- 接下来: 查清 tests/test_memory.py 峰值 612 MB 的原因 [#13]

## 决定
- 决定让 jobs.py 用计数器统计行数，而不是调用 len()。 — 理由: 避免两次遍历 [#8]
- 改用生成器逐行返回，不再构造列表。 — 理由: csv 模块本身支持迭代 [#4]

## 已失败，不要再试
- `pytest tests/test_memory.py` 失败: E AssertionError: peak 612 MB > 200 MB [#12]

## 文件
- /srv/shop/importer/reader.py — 读取供应商的 CSV 文件; 定义 read_rows; 依赖 csv; 修改 [#2, #5]

## 备注
- 要点: 问题在于 read_rows 一次性把 1.2GB 的文件读进列表。 [#4]
- 死路: 试过在生成器外面套 list，行不通，内存又回到 1.1GB。 [#7]
"""


@pytest.mark.parametrize(("rows", "expected"), [(ENGLISH, ENGLISH_BRIEF), (CHINESE, CHINESE_BRIEF)], ids=["en", "zh"])
def test_the_whole_brief(rows: list[Row], expected: str) -> None:
    of = session(rows)
    tag = language(of)
    text = render(extractive.summarize(task(of, language=tag), {}), tag, of)

    assert text == lexicon(tag).labels["notice"] + "\n" + expected


def test_what_stays_is_not_told_again() -> None:
    of = session(ENGLISH)
    told = extractive.summarize(task(of, staying=range(4, len(of.messages))), {})

    assert told.errors == ()
    assert told.decisions == ()
    assert told.pending == ()
    assert [f.path for f in told.files] == ["/srv/shop/importer/reader.py"]


def test_a_failure_that_was_made_good_is_not_told() -> None:
    rows: list[Row] = [
        ("call", "Bash", {"command": "go test ./..."}, "--- FAIL: TestA\nFAIL shop 0.1s", True),
        ("call", "Bash", {"command": "cd /x && go test ./... 2>&1 | tail -3"}, "ok shop 0.1s"),
        (
            "call",
            "Bash",
            {"command": "go vet ./..."},
            "Process exited with code 2\nOutput:\nvet: a.go:3:1: expected ';'",
        ),
    ]

    assert [e.text for e in brief(*rows).errors] == ["`go vet ./...` failed: vet: a.go:3:1: expected ';'"]


def test_a_repeated_failure_is_told_once() -> None:
    fails: Row = ("call", "Bash", {"command": "make all"}, "exit code: 2\nmake: *** [all] Error 1", True)

    assert [e.text for e in brief(fails, fails, fails).errors] == [
        "`make all` failed (repeatedly): make: *** [all] Error 1"
    ]


def test_harmless_failures_and_looking_around_are_not_told() -> None:
    rows: list[Row] = [
        ("call", "Edit", {"file_path": "/a/b.py", "old_string": "x"}, "String to replace not found in file.", True),
        ("call", "Bash", {"command": "ls /nowhere"}, "Exit code 2\nls: cannot access '/nowhere': No such file", True),
        ("call", "Bash", {"command": "grep -r TODO src"}, "Exit code 1", True),
    ]

    assert brief(*rows).errors == ()


def test_source_code_that_speaks_of_errors_is_no_failure() -> None:
    assert (
        brief(("call", "Read", {"file_path": "/a/b.py"}, "raise ValueError\nTraceback (most recent call last)")).errors
        == ()
    )


def test_the_newest_plan_counts() -> None:
    def plan(state: str) -> Row:
        return ("call", "update_plan", {"plan.0.step": "Write the parser", "plan.0.status": state}, "Plan updated")

    assert [e.text for e in brief(plan("pending"), plan("in_progress")).pending] == ["Write the parser"]
    done = brief(plan("in_progress"), plan("completed"))
    assert done.pending == ()
    assert [e.text for e in done.completed] == ["Write the parser"]


def test_tasks_made_one_by_one() -> None:
    told = brief(
        ("call", "TaskCreate", {"subject": "Parse the header"}, "Task #1 created"),
        ("call", "TaskCreate", {"subject": "Write the footer"}, "Task #2 created"),
        ("call", "TaskUpdate", {"taskId": "1", "status": "completed"}, "Updated task #1 status"),
    )

    assert [e.text for e in told.completed] == ["Parse the header"]
    assert [e.text for e in told.pending] == ["Write the footer"]


def test_answers_are_decisions() -> None:
    told = brief(
        ("call", "AskUserQuestion", {}, 'User has answered your questions: "Which store?"="SQLite". You can now go on.')
    )

    assert [(d.decision, d.reason) for d in told.decisions] == [("SQLite", "the user's answer to: Which store?")]


def test_files_of_a_patch_and_of_the_shell() -> None:
    patch = "*** Begin Patch\n*** Add File: src/new.ts\n+// Renders the chart.\n+import { a } from './a';\n+export function chart() {}\n*** Update File: src/old.ts\n@@\n-x\n+y\n*** End Patch"
    files = {
        f.path: f
        for f in brief(
            ("call", "apply_patch", {"input": patch}, "Success"),
            ("call", "exec_command", {"cmd": "sed -n '1,80p' src/app.py"}, "Chunk ID: 1\nOutput:\n# Serves the chart.\n@app.get('/chart')\ndef chart(): ...\n"),
        ).files
    }  # fmt: skip

    assert files["src/new.ts"].purpose == "Renders the chart"
    assert files["src/new.ts"].exports == ("chart",)
    assert files["src/new.ts"].dependencies == ("./a",)
    assert files["src/new.ts"].notes == "created"
    assert files["src/old.ts"].notes == "edited"
    assert files["src/app.py"].entry_points == ("GET /chart",)


def test_red_lines_are_verbatim_and_bounded() -> None:
    text = "Never push to main.  Not even  once."
    of = session([("user", text), ("agent", "Never mind the gap, never.")])
    facts = tuple(
        Fact("NEG001", "negation", Mode.VERBATIM, Level.ERROR, t, "", part, f"m{part}", 1)
        for t, part in ((text, 0), ("Never mind the gap, never.", 1), ("x" * 9000, 0))
    )

    assert [e.text for e in extractive.summarize(task(of, facts=facts), {}).red_lines] == [text]
    assert extractive.summarize(task(of, facts=facts, staying=[0]), {}).red_lines == ()


@pytest.mark.parametrize(
    ("said", "decision", "reason"),
    [
        ("We use SQLite because one file is easier to ship.", "We use SQLite", "one file is easier to ship."),
        ("Since the API is rate limited, I'll add a cache of 60 seconds.", "add a cache of 60 seconds.", "the API is rate limited"),
        ("I'm keeping the old route so that bookmarks survive.", "keeping the old route", "so that bookmarks survive."),
        ("因为接口有限流，所以我们增加 60 秒的缓存。", "增加 60 秒的缓存。", "接口有限流"),
        ("采用 SQLite，因为单个文件更容易分发。", "采用 SQLite", "单个文件更容易分发。"),
    ],
)  # fmt: skip
def test_decisions_have_reasons(said: str, decision: str, reason: str) -> None:
    assert [(d.decision, d.reason) for d in brief(("agent", said)).decisions] == [(decision, reason)]


@pytest.mark.parametrize(
    "said",
    [
        "I'll check the logs because the build failed.",
        "Let me read the file since it is short enough.",
        "The build failed because the disk is full.",
        "Should we use SQLite because it is easy to ship?",
    ],
)
def test_what_is_no_decision(said: str) -> None:
    assert brief(("agent", said)).decisions == ()


def test_notes_of_all_types() -> None:
    told = brief(
        ("user", "Fix the importer."),
        ("agent", "The root cause is a stale lock in worker/pool.py that nobody releases."),
        ("agent", "Retrying with a longer timeout didn't work, the lock stays for 300 seconds."),
        ("agent", "The codebase follows the convention that every pool closes itself in __exit__."),
        ("agent", "We decided to go with an advisory lock on pool.lock instead."),
        ("agent", "The docs in docs/pool.md still need the new option lock_timeout."),
        ("agent", "That is where things are."),
    )

    assert {n.type for n in told.notes} == {"insight", "dead_end", "pattern", "decision", "todo"}


def test_notes_are_merged_when_they_grow_too_many() -> None:
    causes = [
        "stale lock blocked twelve writers",
        "missing flush lost four records",
        "early return skipped cleanup entirely",
        "wrong clock source shifted timestamps",
        "double close raised during shutdown",
        "signed offset wrapped beyond 2 GB",
        "open socket kept children alive",
        "bad mask hid every permission",
    ]
    rows: list[Row] = [("agent", f"Turns out that in worker/pool.py a {cause}.") for cause in causes]
    few = brief(*rows, ("agent", "All found."), budget=400, value={"worker/pool.py": 3.0}).notes

    assert 0 < len(few) < len(causes)
    assert any("; " in n.text and len(n.sources) > 1 for n in few)


def test_chatter_is_not_told() -> None:
    text = render(
        brief(("user", "Fix a.py"), ("agent", "Great! Let me look at a.py now."), ("agent", "I'll now run it.")), "en"
    )

    assert "Let me" not in text.split("## Where")[-1]
    assert "I'll now" not in text


def test_findings_go_by_value() -> None:
    said = "The service answers on port {} at host {}.example.net in rack {}."
    rows: list[Row] = [
        ("agent", said.format(p, h, r)) for p, h, r in ((8431, "ada", "K7"), (9112, "bob", "J2"), (7003, "cy", "L9"))
    ]
    told = brief(
        ("user", "Find the service."),
        *rows,
        ("agent", "All looked at."),
        value={"9112": 50.0, "7003": 1.0, "8431": 1.0},
    )

    assert "9112" in told.findings[0].text


def test_focus_raises_what_matches() -> None:
    rows: list[Row] = [
        ("agent", "The cache in cache/store.py holds 512 entries."),
        ("agent", "The queue in queue/worker.py has 16 slots and 4 retries in queue/retry.py."),
        ("agent", "Both modules are covered by tests."),
    ]

    assert "cache/store.py" in brief(*rows, focus="cache").findings[0].text
    assert "queue/worker.py" in brief(*rows).findings[0].text


def test_everything_is_told_once() -> None:
    said = "Fixed the parser in src/parse.py so it accepts 3 columns."
    told = brief(("user", "Fix it."), ("agent", said), ("agent", said), ("agent", said.replace("it", "that")))

    assert render(told, "en").count("src/parse.py") <= 2


def test_nothing_to_tell() -> None:
    assert extractive.summarize(task(session([])), {}) == Brief()
    assert render(brief(("agent", "Ok.")), "en") == lexicon("en").labels["notice"] + "\n"


def test_same_input_same_brief() -> None:
    assert brief(*ENGLISH) == brief(*ENGLISH)


prose = st.one_of(
    st.text(max_size=300),
    st.lists(
        st.sampled_from(
            [
                "Done: fixed it.", "because", "## Next steps", "- [ ] open", "- [x] shut", "so I'll use `x`", "因为", "所以改用",
                "```", "didn't work", "| a | b |", "TODO: see a/b.py", "Error: no", "1. one", "**Bold:**", "\n", "不要", "。",
            ]
        ),
        max_size=12,
    ).map("\n".join),
)  # fmt: skip
arguments = st.dictionaries(
    st.sampled_from(["file_path", "command", "cmd", "todos.0.content", "todos.0.status", "plan.0.step", "plan.0.status", "content", "new_string", "input", "plan"]),
    prose,
    max_size=4,
)  # fmt: skip
rows_of_any = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["user", "agent", "system", "harness"]), prose),
        st.tuples(
            st.just("call"),
            st.sampled_from(["Bash", "Read", "TodoWrite", "TaskCreate", "x"]),
            arguments,
            prose,
            st.booleans(),
        ),
    ),
    max_size=12,
)


@settings(deadline=None, max_examples=150)
@given(rows_of_any, st.integers(0, 1500), st.sampled_from(["en", "zh", "de", "ja"]), st.data())
def test_any_session_gives_a_brief_that_holds(rows: list[Row], budget: int, tag: str, data: st.DataObject) -> None:
    of = session(rows)
    staying = data.draw(st.sets(st.integers(0, max(0, len(of.messages) - 1))))
    of_task = task(of, budget=budget, language=tag, staying=[i for i in staying if i < len(of.messages)])
    told = extractive.summarize(of_task, {})

    holds(told, of, budget, tag)
    assert extractive.summarize(of_task, {}) == told


def holds(told: Brief, of: Session, budget: int, tag: str) -> None:
    assert validate(to_json(told)) == told
    assert words(render(told, tag, of)) <= max(budget, words(render(Brief(red_lines=told.red_lines), tag, of)))
    for entry in (told.goal, told.progress, *told.completed, *told.pending, *told.findings, *told.errors, *told.decisions, *told.files, *told.notes):  # fmt: skip
        text = getattr(entry, "text", "x")
        assert not text or entry.sources, entry
        assert all(0 <= int(s[1:]) < len(of.messages) for s in entry.sources)


@pytest.mark.parametrize("name", NAMES)
def test_briefs_of_the_fixtures(name: str) -> None:
    text = write(name)

    assert tokens.count(text) <= BUDGET
    assert text == golden(name).read_text("utf-8")


CORPUS = os.environ.get("COMPRESS_CORPUS", "")


@pytest.mark.skipif(not CORPUS, reason="COMPRESS_CORPUS is not set")
@pytest.mark.parametrize("folder", ["claude-code", "codex", "langchain"])
def test_real_sessions(folder: str) -> None:
    from compressor.errors import ReadError
    from compressor.reading import read

    seen = 0
    for path in sorted(p for p in Path(CORPUS, folder).rglob("*.json*") if p.stat().st_size < 700_000)[:25]:
        try:
            transcript = read(path)
        except ReadError:
            continue
        for of in transcript.sessions[:3]:
            tag = language(of)
            told = extractive.summarize(task(of, budget=1200, language=tag), {})
            holds(told, of, 1200, tag)
            seen += 1
    assert seen or folder == "langchain"


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("**Bold**: see `src/**/*.py` and __init__.py", "Bold: see `src/**/*.py` and __init__.py"),
        ("clone python__mypy__1.6; 2**8 is **256**.", "clone python__mypy__1.6; 2**8 is 256."),
        ("**Half of it.", "Half of it."),
        ("这是**重点**内容", "这是重点内容"),
        ("pass **kwargs and **opts on", "pass **kwargs and **opts on"),
    ],
)
def test_only_emphasis_is_taken_away(said: str, read: str) -> None:
    from compressor.summarizers._prose import clean

    assert clean(said) == read


def test_thanks_are_no_request_and_no_state() -> None:
    rows: list[Row] = [
        ("user", "Cancel my flight to Oslo, please, and tell me what I get back."),
        ("agent", "The flight to Oslo is cancelled; 214 euros go back to your card."),
        ("user", "Thank you so much for your help! Have a great day! ###STOP###"),
        ("agent", "You're very welcome! Feel free to reach out."),
    ]
    brief = extractive.summarize(task(session(rows), language="en"), {})
    assert "Thank" not in brief.goal.text
    assert "welcome" not in brief.progress.text
    assert "214 euros" in brief.progress.text


def test_a_short_note_does_not_repeat_what_stays_beside_it() -> None:
    of = session(ENGLISH)
    given = task(of, language="en")
    leaving = frozenset(m.index for m in of.messages[1:-1])
    short = replace(given, leaving=leaving, staying=frozenset({0, len(of.messages) - 1}), budget=400)
    assert not extractive.summarize(short, {}).goal.text
    assert extractive.summarize(replace(short, budget=4_000), {}).goal.text
