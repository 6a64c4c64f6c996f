"""YAML that people write: values, places, and every mistake with its line and column."""

from __future__ import annotations

import contextlib
import random
import time

import pytest

from compressor import yamlfile, yamlplain
from compressor.data import resource
from compressor.errors import ConfigError

RULE = resource("rules/superseded.yaml").read_text(encoding="utf-8")

MIXED = """\
a: [x, y,
  "z, q", w,
  u, # c
  v]
b: {k: v, l: [1, 2.5, -3]}   # comment
c:
- - p
  - q: 1
    r: -x
- null
- 'it''s'
d: >
  folded
  text
e: |
  lit: eral
  text
f:
g: "a\\tb \\"c\\""
时: 1
"""


def mistake(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        yamlfile.parse(text, "r.yaml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\na: 2\n", 'r.yaml:2:1: duplicate key "a"\nhint: keep one of them'),
        ("{a: 1, a: 2}", 'r.yaml:1:8: duplicate key "a"\nhint: keep one of them'),
        ("a:\n\t- 1\n", "r.yaml:2:1: a tab where YAML wants spaces\nhint: indent with spaces"),
        ("a: [1,\nb: 2\n", 'r.yaml:1:4: a list or mapping that is not closed with "]"\nhint: close it'),
        ('a: "x\n', "r.yaml:1:4: a quote that is not closed\nhint: close it"),
        ("a: b: c\n", "r.yaml:1:5: a second colon on the line\nhint: put a text that contains a colon in quotes"),
        ("- 1\nb: 2\n", "r.yaml:2:1: does not fit the lines above\nhint: check the indentation"),
        ("a: *x\n", 'r.yaml:1:4: unknown alias "*x"\nhint: put a text that begins with * in quotes'),
        ("a: @x\n", 'r.yaml:1:4: a plain text cannot begin with "@"\nhint: put it in quotes'),
        (
            "a: !!python/object:os.system {}\n",
            'r.yaml:1:4: tags are not taken: "python/object:os.system"\nhint: write plain values',
        ),
        ("a: 1\n---\nb: 2\n", "r.yaml:2:1: a second document\nhint: one document per file"),
        ("a: 1\nb: \x07\n", "r.yaml:2:4: a control character (U+0007)\nhint: remove it"),
        ("a: .nan\n", "r.yaml:1:4: is not a finite number"),
        ("1: a\n", 'r.yaml:1:1: a key that is not text: "1"\nhint: quote it'),
        ("a: !!binary aGk=\n", "r.yaml:1:4: is neither text, number, list nor mapping\nhint: write plain values"),
        ("[" * 5000, "r.yaml: is nested too deeply"),
    ],
)
def test_mistakes_have_a_place_and_a_hint(text, said):
    assert mistake(text) == said


def test_aliases_may_not_multiply():
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9)
    )
    start = time.perf_counter()
    assert mistake(bomb) == "r.yaml: holds more than 100,000 values\nhint: do its aliases multiply?"
    assert mistake("&a [*a]") == "r.yaml: is nested too deeply"
    assert time.perf_counter() - start < 5


def test_aliases_within_bounds_are_fine():
    assert yamlfile.parse("a: &x [1]\nb: *x\n", "r").value == {"a": [1], "b": [1]}


def test_bytes_that_are_no_utf8(tmp_path):
    path = tmp_path / "r.yaml"
    path.write_bytes("a: 1\nb: caf\xe9\n".encode("latin-1"))
    with pytest.raises(ConfigError) as caught:
        yamlfile.load(path)
    assert str(caught.value) == f"{path}:2:7: is not UTF-8: byte 0xe9\nhint: save it as UTF-8"


def test_huge_and_missing_files(tmp_path):
    path = tmp_path / "r.yaml"
    with pytest.raises(ConfigError, match="cannot be read: no such file"):
        yamlfile.load(path)
    path.write_bytes(b"a" * (yamlfile.MAX_BYTES + 1))
    with pytest.raises(ConfigError, match="is larger than 1,000,000 bytes"):
        yamlfile.load(path)


def test_byte_order_mark_and_crlf_are_fine(tmp_path):
    path = tmp_path / "r.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\r\nb: [x]\r\n")
    assert yamlfile.load(path).value == {"a": 1, "b": ["x"]}


def test_dates_and_odd_scalars_stay_what_was_written():
    text = "a: 2026-11-29\nb: yes\nc: =\nd: 1:30\ne: 0x1F\nf: 1.10\n"
    assert yamlfile.parse(text, "r").value == {"a": "2026-11-29", "b": "yes", "c": "=", "d": "1:30", "e": 31, "f": 1.1}


def test_places_of_values_keys_and_what_is_missing():
    document = yamlfile.parse("a:\n  b: [x, yy]\n  c: 1\n", "r.yaml")

    assert str(document.place(("a", "b", 1))) == "r.yaml:2:10"
    assert str(document.place(("a", "c"), key=True)) == "r.yaml:3:3"
    assert str(document.place(("a", "nope"))) == "r.yaml:2:3"
    assert str(document.place(())) == "r.yaml:1:1"


def test_nearest_word_or_all_of_them():
    assert yamlfile.nearest("verbatin", ["verbatim", "value"]) == 'did you mean "verbatim"?'
    assert yamlfile.nearest("zzz", ["b", "a"]) == "known: a, b"
    assert yamlfile.nearest("zzz", []) == ""


def plain(text: str):
    try:
        return yamlplain.parse(text)
    except yamlplain.UnsureError:
        return None


def full(text: str):
    return yamlfile._parse(text, "r")


@pytest.mark.parametrize(
    "text",
    [MIXED.replace("时: 1\n", ""), RULE, "- a\n- b: 1\n", "a:\n- 1\n- -2\n", "a: -\n", "a: x#y\n", "k: 'a'  # c\n"],
)
def test_the_quick_reader_gives_what_the_full_one_gives(text):
    found = plain(text)

    assert found is None or found == full(text)


def test_the_quick_reader_is_used_at_all():
    for text in (RULE, MIXED.replace("时: 1\n", "")):
        assert plain(text) is not None
    for entry in resource("rules").iterdir():
        if entry.name.endswith(".yaml"):
            assert plain(entry.read_text(encoding="utf-8")) is not None, f"{entry.name} is read slowly"


def test_the_quick_reader_never_guesses():
    """Broken and shuffled rule files: it is right, or it is not sure."""
    rnd = random.Random(7)
    seeds = [RULE, MIXED, resource("rules/presets/archive.yaml").read_text(encoding="utf-8")]
    signs = " \n\n:-,[]{}#\"'ab1.0~&*!|>%\\/=?@`\u3000\xa0中\t"
    sure = 0
    for _ in range(4000):
        lines = rnd.choice(seeds).split("\n")
        at = rnd.randrange(len(lines))
        text = "\n".join(lines[at : at + rnd.randrange(1, 10)])
        for _ in range(rnd.randrange(4)):
            i = rnd.randrange(len(text) + 1)
            text = text[:i] + rnd.choice(signs) + text[i:] if rnd.random() < 0.5 else text[:i] + text[i + 1 :]
        found = plain(text)
        if found is None:
            continue
        sure += 1
        try:
            assert repr(found) == repr(full(text)), text
        except ConfigError as error:
            pytest.fail(f"{text!r} was read as {found!r}, but: {error}")
    assert sure > 400


@pytest.mark.parametrize("sign", ["a", " ", "[", "-", "#", ":", "\n", "- ", "{a: ", '"'])
def test_odd_megabytes_take_no_time(sign):
    start = time.perf_counter()
    with contextlib.suppress(yamlplain.UnsureError):
        yamlplain.parse(sign * (200_000 // len(sign)))
    assert time.perf_counter() - start < 2
