"""Read a YAML file that a person wrote: plain values, and the place of every one of them.

Values come from the quickest reader that is sure of itself; places are looked up only when there is something
to say, by composing the text once more into nodes with marks. A file is input like any other: its size,
depth and alias expansion are bounded, and every mistake has a line and a column.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from compressor import yamlplain
from compressor.errors import ConfigError, Location

if TYPE_CHECKING:
    from ruamel.yaml.error import MarkedYAMLError

#: Largest file read, in bytes: a rule file of a megabyte is a mistake, not a rule.
MAX_BYTES: Final = 1_000_000

#: Most values a file may hold once its aliases are written out, and how deep they may lie.
MAX_VALUES: Final = 100_000
MAX_DEPTH: Final = 50

Steps = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML file as read: `value` is made of dict, list, str, int, float, bool and None."""

    file: str
    text: str
    value: Any

    def place(self, steps: Steps = (), *, key: bool = False) -> Location:
        """Where the value at these steps stands (`key`: its key); for a missing one, the nearest around it."""
        line, column = _mark(self.text, steps, key=key)
        return Location(self.file, line, column)

    def mistake(self, message: str, steps: Steps = (), *, key: bool = False, hint: str = "") -> ConfigError:
        """The error to raise for what stands at these steps."""
        return ConfigError(message, at=self.place(steps, key=key), hint=hint)


def load(path: Path | Traversable, file: str = "") -> Document:
    """Read one file; `file` is the name for messages.

    Raises:
        ConfigError: it cannot be read, is not UTF-8, or is no YAML that we take.
    """
    file = file or str(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot be read: {(error.strerror or str(error)).lower()}", at=Location(file)) from error
    if len(data) > MAX_BYTES:
        raise ConfigError(f"is larger than {MAX_BYTES:,} bytes", at=Location(file), hint="is it a YAML file of rules?")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        at = Location(file, line, column)
        raise ConfigError(f"is not UTF-8: byte 0x{data[error.start]:02x}", at=at, hint="save it as UTF-8") from error
    return parse(text, file)


def parse(text: str, file: str) -> Document:
    """Read YAML text.

    Raises:
        ConfigError: no YAML, duplicate keys, several documents, tags, or aliases that expand without bound.
    """
    try:
        value = yamlplain.parse(text)
    except yamlplain.UnsureError:
        value = _parse(text, file)
    document = Document(file, text, value)
    _check_values(document)
    return document


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint for a word that is not known: the one that was probably meant, else all there are."""
    names = sorted(known)
    near = difflib.get_close_matches(word, names, n=1)
    if near:
        return f'did you mean "{near[0]}"?'
    return f"known: {', '.join(names)}" if names else ""


def _parse(text: str, file: str) -> Any:
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return _reader().load(text)
    except RecursionError:
        raise ConfigError("is nested too deeply", at=Location(file)) from None
    except MarkedYAMLError as error:
        raise _translate(error, file) from error
    except YAMLError as error:
        raise _unreadable(error, text, file) from error


def _reader() -> Any:
    """The pure reader: the same everywhere, whether or not the C one is installed."""
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import SafeConstructor

    class Plain(SafeConstructor):
        """Dates stay the text that was written."""

    Plain.add_constructor("tag:yaml.org,2002:timestamp", SafeConstructor.construct_yaml_str)
    Plain.add_constructor("tag:yaml.org,2002:value", SafeConstructor.construct_yaml_str)
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor = Plain
    return yaml


#: ruamel's words -> ours and the next step.
_WORDS: Final = (
    (r'found duplicate key "(.*?)" with', r'duplicate key "\1"', "keep one of them"),
    (r"found character '\\t'", "a tab where YAML wants spaces", "indent with spaces"),
    (r"found character '(.)'", r'a plain text cannot begin with "\1"', "put it in quotes"),
    (r"mapping values are not allowed", "a second colon on the line", "put a text that contains a colon in quotes"),
    (r"found undefined alias '(.*?)'", r'unknown alias "*\1"', "put a text that begins with * in quotes"),
    (r"constructor for the tag '(?:tag:yaml.org,2002:)?(.*?)'", r'tags are not taken: "\1"', "write plain values"),
    (r"another document", "a second document", "one document per file"),
    (r"unexpected end of stream", "a quote that is not closed", "close it"),
    (r"expected ',' or '(.)'", r'a list or mapping that is not closed with "\1"', "close it"),
    (r"expected <block end>", "does not fit the lines above", "check the indentation"),
    (r"could not find expected ':'", "a key without a colon", "write `key: value`"),
)


def _translate(error: MarkedYAMLError, file: str) -> ConfigError:
    problem = str(error.problem or error.context or "is not YAML")
    mark = error.problem_mark or error.context_mark
    opened = error.context_mark
    if opened is not None and ("end of stream" in problem or "stream end" in problem):
        mark = opened  # the place that was left open says more than the end of the file
    at = Location(file, mark.line + 1, mark.column + 1) if mark is not None else Location(file)
    for pattern, message, hint in _WORDS:
        found = re.search(pattern, problem)
        if found:
            return ConfigError(found.expand(message), at=at, hint=hint)
    return ConfigError(f"is not YAML: {problem.splitlines()[0]}", at=at)


def _unreadable(error: Exception, text: str, file: str) -> ConfigError:
    """A character that YAML forbids; ruamel gives its position alone."""
    position = getattr(error, "position", None)
    if not isinstance(position, int):
        return ConfigError(f"is not YAML: {str(error).splitlines()[0]}", at=Location(file))
    line, column = text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
    code = ord(text[position]) if position < len(text) else 0
    return ConfigError(f"a control character (U+{code:04X})", at=Location(file, line, column), hint="remove it")


def _check_values(document: Document) -> None:
    for count, (steps, value) in enumerate(_walk(document.value), 1):
        if count > MAX_VALUES:
            at = Location(document.file)
            raise ConfigError(f"holds more than {MAX_VALUES:,} values", at=at, hint="do its aliases multiply?")
        if len(steps) > MAX_DEPTH:
            raise ConfigError("is nested too deeply", at=Location(document.file))
        if isinstance(value, float) and not math.isfinite(value):
            raise document.mistake("is not a finite number", steps)
        if isinstance(value, dict):
            for key in value:
                if not isinstance(key, str):
                    raise document.mistake(f'a key that is not text: "{key}"', (*steps, key), key=True, hint="quote it")
        elif not isinstance(value, str | int | float | list | None):
            raise document.mistake("is neither text, number, list nor mapping", steps, hint="write plain values")


def _walk(value: Any) -> Iterator[tuple[Steps, Any]]:
    """Every value with its steps, aliases written out; lazily, since they may have no end."""
    stack: list[tuple[Steps, Any]] = [((), value)]
    while stack:
        steps, item = stack.pop()
        yield steps, item
        if isinstance(item, dict):
            stack.extend(((*steps, key), child) for key, child in item.items())
        elif isinstance(item, list):
            stack.extend(((*steps, index), child) for index, child in enumerate(item))


def _mark(text: str, steps: Steps, *, key: bool) -> tuple[int, int]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError
    from ruamel.yaml.nodes import MappingNode, SequenceNode

    try:
        node: Any = YAML(typ="safe", pure=True).compose(text)
    except YAMLError:
        return 0, 0  # JSON that YAML does not take, with tabs perhaps
    mark: Any = node.start_mark if node is not None else None
    for step in steps:
        if isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            mark = node.start_mark
            continue
        pair = next((p for p in node.value if p[0].value == str(step)), None) if isinstance(node, MappingNode) else None
        if pair is None:
            break
        node = pair[1]
        mark = pair[0].start_mark if key and step == steps[-1] else node.start_mark
    return (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
