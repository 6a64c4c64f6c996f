"""The kinds that look at texts as wholes: whole, duplicate, long, stale, blob, novel lines, superseded."""

from __future__ import annotations

import base64
import itertools
import random

import pytest

from compressor import plugins
from compressor.kinds import blob
from compressor.model import Call, Message, Origin, Part, PartType, Role, Session, View

RND = random.Random(5)
DATA = bytes(RND.randrange(256) for _ in range(1200))
B64 = base64.b64encode(DATA).decode()
PEM = base64.encodebytes(DATA).decode()


class Making:
    """Builds a session message by message."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.parts: list[Part] = []
        self.calls: list[Call] = []
        self.turn: list[int] = []

    def _add(self, role, origin, type_, texts, name="", call=-1, **more) -> int:
        index = len(self.messages)
        first = len(self.parts)
        for offset, (key, text) in enumerate(texts.items()):
            self.parts.append(Part(first + offset, index, type_, (), text, name, call, key))
        self.messages.append(
            Message(index, f"m{index}", role, origin, tuple(self.parts[first:]), index, index + 1, **more)
        )
        last = self.turn[-1] if self.turn else -1
        self.turn.append(last + (origin is Origin.PERSON))
        return index

    def ask(self, text: str) -> Making:
        self._add(Role.USER, Origin.PERSON, PartType.TEXT, {"": text})
        return self

    def say(self, text: str, **more) -> Making:
        self._add(Role.ASSISTANT, Origin.AGENT, PartType.TEXT, {"": text}, **more)
        return self

    def image(self, text: str) -> Making:
        self._add(Role.USER, Origin.PERSON, PartType.IMAGE, {"": text})
        return self

    def call(self, name: str, arguments: dict[str, str], *results: str, error: bool = False) -> Making:
        number = len(self.calls)
        message = self._add(Role.ASSISTANT, Origin.AGENT, PartType.TOOL_CALL, arguments, name, number)
        found = tuple(self._add(Role.TOOL, Origin.TOOL, PartType.TOOL_RESULT, {"": r}, name, number) for r in results)
        self.calls.append(Call(number, f"c{number}", name, message, found, error))
        return self

    @property
    def session(self) -> Session:
        return Session("s", tuple(self.messages), tuple(self.parts), tuple(self.calls))


def find(kind: str, made: Making | str, types=(PartType.TOOL_RESULT,), **options) -> list[str]:
    """Texts that the kind finds; a bare text is the result of a call."""
    if isinstance(made, str):
        made = Making().call("Bash", {"command": "x"}, made)
    session = made.session
    view = View(session, [p for p in session.parts if p.type in types], (), made.turn)
    matches = list(plugins.load("kinds", kind).find(view, options))
    for m in matches:
        assert 0 <= m.start < m.end <= len(session.parts[m.part].text)
    places = [(m.part, m.start, m.end) for m in matches]
    assert places == sorted(places)
    assert all(a[0] != b[0] or a[2] <= b[1] for a, b in itertools.pairwise(places)), "matches overlap"
    return [session.parts[m.part].text[m.start : m.end] for m in matches]


# -- whole --------------------------------------------------------------------------------------------------


def test_whole():
    made = Making().call("a", {}, "one").call("a", {}, "").call("a", {}, "three")

    assert find("whole", made) == ["one", "three"]
    assert find("whole", made, min=4) == ["three"]
    assert find("whole", made, max=3) == ["one"]


# -- duplicate ----------------------------------------------------------------------------------------------

LONG = "a line of text that is long enough to be looked at\n" * 6


def test_the_earlier_of_equal_texts_match():
    made = Making().call("a", {}, LONG).call("a", {}, "other " + LONG).call("a", {}, LONG).call("a", {}, LONG)

    assert find("duplicate", made) == [LONG, LONG]
    assert find("duplicate", made, keep="first") == [LONG, LONG]
    assert find("duplicate", made, min=len(LONG) + 1) == []


def test_white_space_is_no_difference_unless_asked():
    spaced = LONG.replace(" ", "  ").replace("\n", "\n\n") + "\n"
    made = Making().call("a", {}, LONG).call("a", {}, spaced)

    assert find("duplicate", made) == [LONG]
    assert find("duplicate", made, exact=True) == []
    assert find("duplicate", Making().call("a", {}, LONG).call("a", {}, LONG.replace("line", "lime"))) == []


def test_same_ends_are_not_the_same_text():
    made = Making().call("a", {}, LONG + "1" + LONG).call("a", {}, LONG + "2" + LONG)

    assert find("duplicate", made) == []


# -- long ---------------------------------------------------------------------------------------------------


def test_the_middle_of_a_long_text():
    text = "".join(f"line {i:04}\n" for i in range(1000))
    (middle,) = find("long", text)

    assert text.startswith("line 0000\n")
    assert middle.startswith("line 0200\n")
    assert middle.endswith("line 0799")
    assert find("long", text[:8000]) == []
    assert find("long", text, max=1, head=0, tail=0) == [text]
    assert find("long", "x" * 9000) == ["x" * 5000]


# -- stale --------------------------------------------------------------------------------------------------


def test_stale_by_calls_and_by_turns():
    made = Making().ask("do it")
    for i in range(4):
        made.call("a", {}, f"result {i} " + "x" * 100)
    made.ask("more").call("a", {}, "result 4 " + "x" * 100)

    def numbers(**options):
        return [text.split()[1] for text in find("stale", made, **options)]

    assert numbers(calls=1) == ["0", "1", "2", "3"]
    assert numbers(calls=3) == ["0", "1"]
    assert numbers(calls=9) == []
    assert numbers(calls=0) == ["0", "1", "2", "3", "4"]
    assert numbers(calls=0, turns=1) == ["0", "1", "2", "3"]
    assert numbers(calls=1, turns=2) == []
    assert numbers(calls=0, min=200) == []


def test_parallel_calls_are_equally_old():
    made = Making().call("a", {}, "x" * 200, "y" * 200).call("b", {}, "z" * 200)

    assert find("stale", made, calls=1) == ["x" * 200, "y" * 200]


# -- blob ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "data", "after"),
    [
        ("", B64, ""),
        ("text before\n", B64, "\ntext behind"),
        ('{"a": "', B64, '"}'),
        ("token=", B64.rstrip("=").replace("+", "-").replace("/", "_"), "&x=1"),
        ("-----BEGIN CERTIFICATE-----\n", PEM.rstrip(), "\n-----END CERTIFICATE-----\n"),
        ("key\r\n", PEM.rstrip().replace("\n", "\r\n"), "\r\n"),
        ("sum ", DATA.hex(), " ok"),
        ("![x](", "data:image/png;base64," + B64, ")"),
        ("url(", "data:image/svg+xml,%3Csvg%20xmlns=" + "%3Cpath%20d=" * 30, ")"),
        ("图片：", B64[:240], "。完"),
    ],
)
def test_data_is_found_wherever_it_begins(before, data, after):
    for shift in (0, 1, 37, 99, 100, 101, 250):
        assert find("blob", "·" * shift + "\n" + before + data + after) == [data]


def test_hex_dumps():
    rows = [
        f"{i * 16:08x}: " + " ".join(DATA[i * 16 + j : i * 16 + j + 2].hex() for j in range(0, 16, 2)) + "  ....\n"
        for i in range(9)
    ]
    canonical = [f"{i * 16:08x}  " + " ".join(f"{b:02x}" for b in DATA[i * 16 : i * 16 + 8]) + "  " + " ".join(f"{b:02x}" for b in DATA[i * 16 + 8 : i * 16 + 16]) + "  |.a b.|\n" for i in range(9)]  # fmt: skip
    for dump in ("".join(rows), "".join(canonical)):
        assert find("blob", f"$ xxd f\n{dump}$ ls\n") == [dump.rstrip("\n")]
    assert find("blob", "".join(rows[:2])) == []


@pytest.mark.parametrize(
    "text",
    [
        "-" * 400,
        "=" * 400,
        "a" * 400,
        "/srv/app/" + "some-folder/of-a-deep/tree/" * 20,
        "some_very_long_identifier_" * 20,
        "HTTPServerRequestHandlerFactory" * 12,
        "word " * 200,
        "中文" * 300,
        "ACGTTGCA" * 60,
        B64[:190],
        "1.5,2.25,3.125," * 40,
        "\n".join(f"src/module{i}/file{i}" for i in range(80)),
    ],
)
def test_what_is_no_data(text):
    assert find("blob", text) == []


def test_pictures_match_whole_and_sorts_can_be_chosen():
    made = Making().image("image/png, 12,345 bytes").call("a", {}, B64)
    types = (PartType.IMAGE, PartType.TOOL_RESULT)

    assert find("blob", made, types) == ["image/png, 12,345 bytes", B64]
    assert find("blob", made, types, what=["base64"]) == [B64]
    assert find("blob", made, types, what=["image"]) == ["image/png, 12,345 bytes"]
    assert find("blob", made, types, what=["hex_dump", "data_url"]) == []
    assert find("blob", made, types, what=["base64"], min=5000) == []


def test_many_runs_are_all_found():
    runs = [B64[i : i + 230] for i in range(0, 1200, 50)]

    assert find("blob", "\n\n".join(runs)) == runs
    assert blob.OPTIONS["properties"]["min"]["minimum"] == 200


# -- novel lines --------------------------------------------------------------------------------------------


def test_lines_without_news():
    made = (
        Making()
        .call("Bash", {"command": "pytest"}, "start now\nsrc/pay.py:10 failed\ntotal 3\n\nbye")
        .say("The failure is in src/pay.py:10")
    )

    assert find("novel-lines", made, min=1) == ["start now\nsrc/pay.py:10 failed", "\nbye"]


def test_the_newest_telling_stays():
    made = Making().call("a", {}, "id x_1 old").call("a", {}, "id x_1 new")

    assert find("novel-lines", made, min=1) == ["id x_1 old"]


def test_quotes_and_commas_are_no_news():
    made = Making().call("a", {}, '"lib/a.py", (lib/b.py)').say("see lib/a.py and lib/b.py.")

    assert find("novel-lines", made, min=1) == ['"lib/a.py", (lib/b.py)']


@pytest.mark.parametrize(
    "item",
    ["v1.2.3", "a/b", "snake_case", "camelCase", "KeyError", "#12", "3,000", "deadbeef1", "http://x", "路径/a.py"],
)
def test_hard_items_are_news(item):
    assert find("novel-lines", f"just words\n{item}\nmore words", min=1) == ["just words", "more words"]


def test_data_is_no_news():
    assert find("novel-lines", B64[:400], min=1) == [B64[:400]]


def test_short_texts_stay_whole():
    assert find("novel-lines", "just words") == []


def test_nothing_that_is_told_once_is_lost():
    """Each hard item of a text stands in what stays, or in another text."""
    words = [f"item_{i}" for i in range(60)] + ["and", "then", "done"]
    made = Making()
    for _ in range(12):
        made.call("a", {}, "\n".join(" ".join(RND.choices(words, k=3)) for _ in range(20)))
    session = made.session
    view = View(session, [p for p in session.parts if p.type is PartType.TOOL_RESULT])
    gone = {}
    for m in plugins.load("kinds", "novel-lines").find(view, {"min": 1}):
        gone.setdefault(m.part, []).append((m.start, m.end))
    left = []
    for p in view.parts:
        text = p.text
        for start, end in reversed(gone.get(p.ordinal, [])):
            text = text[:start] + "\n" + text[end:]
        left += text.split()

    assert {w for p in view.parts for w in p.text.split() if "_" in w} == {w for w in left if "_" in w}
    assert len(left) < sum(len(p.text.split()) for p in view.parts) / 2


# -- superseded ---------------------------------------------------------------------------------------------


def numbered(first: int, last: int, word: str = "x") -> str:
    return "\n".join(f"{i:6}→{word} = {i}" for i in range(first, last + 1))


@pytest.mark.parametrize(
    ("tool", "key"),
    [
        ("Read", "file_path"),
        ("read", "filePath"),
        ("read_file", "absolute_path"),
        ("read_file", "path"),
        ("view", "path"),
        ("open_file", "filename"),
    ],
)
def test_a_file_that_is_read_again(tool, key):
    made = Making().call(tool, {key: "/a/b.py"}, "old text").call(tool, {key: "/a/./b.py"}, "new text!")

    assert find("superseded", made) == ["old text"]
    other = Making().call(tool, {key: "/a/b.py"}, "old text").call(tool, {key: "/a/c.py"}, "new text!")
    assert find("superseded", other) == []


def test_lines_must_be_covered():
    whole, part, more = numbered(1, 100), numbered(10, 60), numbered(5, 70, "y")

    def read(*texts):
        made = Making()
        for text in texts:
            made.call("Read", {"file_path": "f"}, text)
        return find("superseded", made)

    assert read(whole, part) == []
    assert read(part, whole) == [part]
    assert read(part, more, whole) == [part, more]
    assert read(more, part) == []


def test_a_later_look_without_lines_must_not_be_much_shorter():
    long, short = "text of a file\n" * 20, "text of a file\n" * 5

    assert find("superseded", Making().call("Read", {"path": "f"}, long).call("Read", {"path": "f"}, short)) == []
    assert find("superseded", Making().call("Read", {"path": "f"}, short).call("Read", {"path": "f"}, long)) == [short]
    made = Making().call("Read", {"path": "f"}, long).call("Read", {"path": "f"}, short)
    assert find("superseded", made, similar=0.2) == [long]


def test_a_file_that_is_written_in_whole_later():
    made = (
        Making()
        .call("Read", {"file_path": "f"}, "old")
        .call("Write", {"file_path": "f", "content": "first"}, "ok")
        .call("Write", {"file_path": "f", "content": "second"}, "ok")
        .call("Edit", {"file_path": "f", "old_string": "a", "new_string": "b"}, "ok")
    )

    assert find("superseded", made) == ["old"]
    assert find("superseded", made, (PartType.TOOL_RESULT, PartType.TOOL_CALL)) == ["old", "first"]


def test_editors_say_what_they_do():
    view = {"command": "view", "path": "/f"}
    made = Making().call("str_replace_editor", view, "old").call("str_replace_editor", view, "newer")

    assert find("superseded", made) == ["old"]
    create = {"command": "create", "path": "/f", "file_text": "x"}
    assert find(
        "superseded", Making().call("str_replace_editor", view, "old").call("str_replace_editor", create, "ok")
    ) == ["old"]
    replaced = {"command": "str_replace", "path": "/f", "old_str": "a"}
    assert (
        find("superseded", Making().call("str_replace_editor", view, "old").call("str_replace_editor", replaced, "ok"))
        == []
    )


@pytest.mark.parametrize(
    ("command", "later", "old"),
    [
        ("cat a.py", "cat ./a.py", True),
        ("cat a.py", "cat 'a.py'", True),
        ("cat a.py", "cat b.py", False),
        ("cat a.py", "cat a.py | grep x", False),
        ("cat a.py", "cat a.py; rm a.py", False),
        ("sed -n '1,80p' a.py", "sed -n '1,200p' a.py", True),
        ("sed -n '1,200p' a.py", "sed -n '1,80p' a.py", False),
        ("sed -n '50,80p' a.py", "cat a.py", True),
        ("sed -n '50,$p' a.py", "sed -n '40,$p' a.py", True),
        ("nl -ba a.py | sed -n '10,20p'", "nl -ba a.py | sed -n '1,90p'", True),
        ("head -n 20 a.py", "head -50 a.py", True),
        ("cd /srv && cat a.py", "cat /srv/a.py", True),
        ("cat a.py", "cat > a.py <<'EOF'\nnew\nEOF", True),
        ("cat a.py", "cat <<EOF > a.py\nnew\nEOF", True),
        ("cat a.py", "cat >> a.py <<'EOF'\nnew\nEOF", False),
    ],
)
def test_shells(command, later, old):
    for tool, key in (("Bash", "command"), ("shell", "command.2"), ("exec_command", "cmd")):
        made = Making().call(tool, {key: command}, "the text").call(tool, {key: later}, "the text, once more")

        assert find("superseded", made) == (["the text"] if old else [])


def test_a_failed_look_supersedes_nothing():
    made = Making().call("Read", {"path": "f"}, "text").call("Read", {"path": "f"}, "Error: no such file", error=True)

    assert find("superseded", made) == []


def test_own_tool_names():
    made = Making().call("peek", {"where": "f"}, "old").call("peek", {"where": "f"}, "newer")

    assert find("superseded", made) == []
    assert find("superseded", made, read=["pe*"], path=["where"]) == ["old"]
