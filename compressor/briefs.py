"""What can be done with a brief: check it, join several, trim it to a budget, render it to text.

Rendering happens once, in the session's own language. The text of a transcript is data: an entry stays inside
its list item whatever it holds, and words that must survive verbatim stay one contiguous string.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from compressor.brief import Brief, Count, Decision, Entry, FileNote, Note
from compressor.data import resource
from compressor.errors import SummarizeError
from compressor.language import lexicon
from compressor.model import Session

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

Item = Entry | Decision | FileNote | Note
_T = TypeVar("_T", Entry, Decision, FileNote, Note)

#: List fields in the order in which they are shown.
LISTS: Final = ("completed", "pending", "decisions", "errors", "files", "red_lines", "notes", "findings", "carried")

#: Worth of a field's first entry and how fast it falls with the rank: what `trim` drops first is worth least.
_WORTH: Final[Mapping[str, tuple[float, float]]] = {
    "pending": (10.0, 0.93),
    "errors": (9.0, 0.90),
    "decisions": (9.0, 0.90),
    "files": (8.0, 0.93),
    "completed": (7.0, 0.92),
    "findings": (7.5, 0.97),
    "notes": (6.5, 0.90),
}
_ELLIPSIS: Final = "…"
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]|\x1b\[[0-9;]*[A-Za-z]")
_FENCE_RUN: Final = re.compile(r"`{3,}|~{3,}")
_IN_WORD: Final = re.compile(r"[!-~]")
_SPACES: Final = re.compile(r"\s+")


# --- to and from JSON ------------------------------------------------------------------------------------------


def to_json(brief: Brief) -> dict[str, Any]:
    """The brief as JSON-ready values, in the shape of `schemas/brief.schema.json`."""
    out: dict[str, Any] = _plain(asdict(brief))
    return out


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, tuple) else value


def validate(value: Any) -> Brief:
    """Check a JSON value against the schema and make a brief of it.

    Raises:
        SummarizeError: it is no brief; the message names the place (`$.decisions[2].reason`) and what is wrong.
    """
    from jsonschema.exceptions import best_match

    errors = list(_validator().iter_errors(value))
    if errors:
        worst = best_match(errors)
        more = f" ({len(errors) - 1} more)" if len(errors) > 1 else ""
        raise SummarizeError(
            f"not a brief: {_place(worst)}: {_wrong(worst)}{more}", hint="see schemas/brief.schema.json"
        )
    return Brief(
        goal=_entry(value["goal"]),
        progress=_entry(value["progress"]),
        **{name: tuple(make(v) for v in value.get(name, ())) for name, make in _MAKERS.items()},
    )


@cache
def _validator() -> Validator:
    import orjson
    from jsonschema import Draft202012Validator

    return Draft202012Validator(orjson.loads(resource("schemas/brief.schema.json").read_bytes()))


def _place(error: Any) -> str:
    return "$" + "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.absolute_path)


def _wrong(error: Any) -> str:
    """What a jsonschema error means, in one short line."""
    if error.validator == "required":
        missing = [k for k in error.validator_value if k not in error.instance]
        return f'"{missing[0]}" is missing'
    if error.validator == "additionalProperties":
        extra = sorted(set(error.instance) - set(error.schema["properties"]))
        return f'unknown key "{extra[0]}"'
    if error.validator == "type":
        return f"must be {error.validator_value}, not {_kind_of(error.instance)}"
    if error.validator == "enum":
        return f'"{error.instance}" is none of {", ".join(error.validator_value)}'
    return f"breaks {error.validator}: {str(error.validator_value)[:80]}"


def _kind_of(value: Any) -> str:
    names = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number"}
    return "null" if value is None else names.get(type(value), type(value).__name__)


def _entry(value: Mapping[str, Any]) -> Entry:
    return Entry(value["text"], tuple(value["sources"]))


def _decision(value: Mapping[str, Any]) -> Decision:
    return Decision(value["decision"], value["reason"], tuple(value["sources"]))


def _file(value: Mapping[str, Any]) -> FileNote:
    fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()}
    return FileNote(**fields)


def _note(value: Mapping[str, Any]) -> Note:
    return Note(value["type"], value["text"], tuple(value["sources"]))


_MAKERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(("completed", "pending", "findings", "errors", "red_lines", "carried"), _entry),
    "decisions": _decision,
    "files": _file,
    "notes": _note,
}


# --- joining ---------------------------------------------------------------------------------------------------


def merge(briefs: Sequence[Brief]) -> Brief:
    """One brief of several, given oldest first: the first goal, the last progress, lists without repetitions.

    The newest brief's entries come first; what a later brief calls completed is no longer pending; files are
    joined by path, errors and red lines are kept from all.
    """
    if not briefs:
        return Brief()
    newest = list(reversed(briefs))
    completed = _unique(e for b in newest for e in b.completed)
    done = {_key(e) for e in completed}
    return Brief(
        goal=next((b.goal for b in briefs if b.goal.text), Entry("")),
        progress=next((b.progress for b in newest if b.progress.text), Entry("")),
        completed=completed,
        pending=tuple(e for e in _unique(e for b in newest for e in b.pending) if _key(e) not in done),
        findings=_unique(e for b in newest for e in b.findings),
        errors=_unique(e for b in newest for e in b.errors),
        decisions=_unique(d for b in newest for d in b.decisions),
        files=_merge_files(f for b in newest for f in b.files),
        notes=_unique(n for b in newest for n in b.notes),
        red_lines=_unique(e for b in briefs for e in b.red_lines),
        carried=_unique(e for b in briefs for e in b.carried),
    )


def _key(item: Item) -> str:
    if isinstance(item, Decision):
        words = item.decision
    else:
        words = item.path if isinstance(item, FileNote) else item.text
    return _SPACES.sub(" ", words).strip(" .。;；").casefold()


def _unique(items: Iterable[_T]) -> tuple[_T, ...]:
    seen: dict[str, _T] = {}
    for item in items:
        key = _key(item)
        if not key:
            continue
        old = seen.get(key)
        seen[key] = item if old is None else replace(old, sources=_joined(old.sources, item.sources))
    return tuple(seen.values())


def _merge_files(files: Iterable[FileNote]) -> tuple[FileNote, ...]:
    seen: dict[str, FileNote] = {}
    for new in files:
        old = seen.get(new.path)
        if old is None:
            seen[new.path] = new
            continue
        seen[new.path] = FileNote(
            path=old.path,
            purpose=old.purpose or new.purpose,
            exports=_joined(old.exports, new.exports),
            dependencies=_joined(old.dependencies, new.dependencies),
            entry_points=_joined(old.entry_points, new.entry_points),
            notes="; ".join(dict.fromkeys(n for n in (old.notes, new.notes) if n)),
            sources=_joined(old.sources, new.sources),
        )
    return tuple(seen.values())


def _joined(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


# --- rendering -------------------------------------------------------------------------------------------------


def render(brief: Brief, language: str, session: Session | None = None) -> str:
    """The brief as Markdown: a fixed first line, then one section per field that says something.

    Args:
        brief: what to render; lists most important first.
        language: tag of the headings' language; one we have no words for falls back to English.
        session: maps native message ids to their short form `#n`; sources that are in neither form are not cited.
    """
    writer = _Writer(language, session)
    lines = [writer.labels["notice"]]
    for name in ("goal", "progress", *LISTS):
        items = _items(brief, name)
        if items:
            lines += ["", f"## {writer.labels[name]}", *(writer.line(name, item) for item in items)]
    return "\n".join(lines) + "\n"


def without(brief: Brief, lines: Collection[str], language: str, session: Session | None = None) -> Brief:
    """The brief without the entries that are rendered to these lines; what must stay verbatim stays."""
    writer = _Writer(language, session)
    left: dict[str, Any] = {}
    for name in ("goal", "progress", *LISTS):
        items = _items(brief, name)
        kept = tuple(item for item in items if writer.line(name, item) not in lines)
        if len(kept) < len(items) and name not in ("red_lines", "carried"):
            left[name] = kept if name in LISTS else Entry("")
    return replace(brief, **left)


def _items(brief: Brief, name: str) -> Sequence[Item]:
    if name in ("goal", "progress"):
        entry: Entry = getattr(brief, name)
        return (entry,) if entry.text.strip() else ()
    items: Sequence[Item] = getattr(brief, name)
    return [i for i in items if _key(i)]


class _Writer:
    """Renders single items in one language."""

    def __init__(self, language: str, session: Session | None) -> None:
        self.labels = {**lexicon("en").labels, **lexicon(language).labels}
        self._short = {m.id: f"#{m.index}" for m in session.messages} if session else {}
        self._size = len(session.messages) if session else 0

    def line(self, name: str, item: Item) -> str:
        cite = self._cite(item.sources)
        if name in ("red_lines", "carried"):
            assert isinstance(item, Entry)
            return _verbatim(item.text, cite)
        if name in ("goal", "progress"):
            assert isinstance(item, Entry)
            return one_line(item.text) + cite
        return f"- {self._text(item)}{cite}"

    def _text(self, item: Item) -> str:
        if isinstance(item, Decision):
            reason = one_line(item.reason)
            return one_line(item.decision) + (f" — {self.labels['reason']}: {reason}" if reason else "")
        if isinstance(item, FileNote):
            return self._file(item)
        if isinstance(item, Note):
            return f"{self.labels.get(item.type, item.type)}: {one_line(item.text)}"
        return one_line(item.text)

    def _file(self, file: FileNote) -> str:
        parts = [one_line(file.purpose)]
        for label in ("exports", "dependencies", "entry_points"):
            words = ", ".join(one_line(w) for w in getattr(file, label))
            parts.append(f"{self.labels['file_' + label]} {words}" if words else "")
        parts.append(one_line(file.notes))
        said = "; ".join(p for p in parts if p)
        path = one_line(file.path)
        return f"{path} — {said}" if said else path

    def _cite(self, sources: Sequence[str]) -> str:
        short = dict.fromkeys(s for s in map(self._number, sources) if s)
        return f" [{', '.join(short)}]" if short else ""

    def _number(self, source: str) -> str:
        found = self._short.get(source, "")
        if found:
            return found
        digits = source[1:] if source.startswith("#") else ""
        known = digits.isascii() and digits.isdigit() and (not self._short or int(digits) < self._size)
        return source if known else ""


def one_line(text: str) -> str:
    """A text as one line that cannot leave its list item: no line ends, no control bytes, no open code span."""
    text = _SPACES.sub(" ", _CONTROL.sub(" ", text)).strip()
    if "`" in text:
        text = _FENCE_RUN.sub("`", text)
        if text.count("`") % 2:
            at = text.rindex("`")
            text = (text[:at] + text[at + 1 :]).strip()
    return text


def clip(text: str, most: int) -> str:
    """At most so many characters, cut at a clause or word, never inside a name, number or address."""
    if len(text) <= most:
        return text
    cut = max(text.rfind(mark, most // 2, most) for mark in ("; ", ", ", ". ", "；", "，", "。", " "))
    if cut <= 0:
        cut = most
        while cut > most // 2 and _IN_WORD.match(text[cut - 1]) and _IN_WORD.match(text[cut]):
            cut -= 1
    # a space, so that the mark is not read as a part of the last name
    return f"{text[:cut].rstrip(' ,;，；')} {_ELLIPSIS}"


def _verbatim(text: str, cite: str) -> str:
    """Words that must stay as they are: on the item's line if they fit there, else in a fence that they cannot end."""
    if "\n" not in text and "\r" not in text and not _FENCE_RUN.match(text.lstrip()):
        return f"- {text}{cite}"
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"-{cite or ' …'}\n{fence}text\n{text}\n{fence}"


# --- trimming --------------------------------------------------------------------------------------------------


def trim(brief: Brief, budget: int, count: Count, language: str = "en", session: Session | None = None) -> Brief:
    """The brief without its least important entries, so that the rendered text fits `budget` tokens.

    `carried` is not counted and, like `red_lines`, never dropped: if those and the first line alone are above
    the budget, so is the result. Goal and progress are shortened last.
    """
    writer = _Writer(language, session)
    rest = replace(brief, carried=())
    size = count(render(rest, language, session))
    if size <= budget:
        return brief
    gone: dict[str, set[int]] = {}
    for name, rank, cost in _least_first(rest, writer, count):
        if size <= budget and count(render(_without(rest, gone), language, session)) <= budget:
            break
        gone.setdefault(name, set()).add(rank)
        size -= cost
    rest = _shortened(_without(rest, gone), budget, count, language, session)
    return replace(rest, carried=brief.carried)


def _least_first(brief: Brief, writer: _Writer, count: Count) -> Iterator[tuple[str, int, int]]:
    """Droppable entries as (field, rank, tokens), cheapest loss first."""
    ranked = []
    for name, (first, decay) in _WORTH.items():
        for rank, item in enumerate(getattr(brief, name)):
            ranked.append((first * decay**rank, name, rank, item))
    ranked.sort(key=lambda r: (r[0], r[1], -r[2]))
    for _, name, rank, item in ranked:
        yield name, rank, count(writer.line(name, item) + "\n")


def _without(brief: Brief, gone: Mapping[str, set[int]]) -> Brief:
    left: dict[str, Any] = {}
    for name, ranks in gone.items():
        left[name] = tuple(item for rank, item in enumerate(getattr(brief, name)) if rank not in ranks)
    return replace(brief, **left)


def _shortened(brief: Brief, budget: int, count: Count, language: str, session: Session | None) -> Brief:
    """Goal and progress cut in halves, then left out, until the rest fits."""
    for name in ("progress", "goal"):
        while (entry := getattr(brief, name)).text and count(render(brief, language, session)) > budget:
            text = entry.text.removesuffix(_ELLIPSIS)
            half = clip(text, len(text) // 2)
            short: dict[str, Any] = {name: Entry(half, entry.sources) if 20 <= len(half) < len(text) else Entry("")}
            brief = replace(brief, **short)
    return brief
