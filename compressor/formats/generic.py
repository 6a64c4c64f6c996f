"""Chat logs of any make: a key that says who speaks and a key that holds the text.

Options name the keys (dots go into objects): `{"role": "speaker", "text": "message.body", "time": "ts",
"conversation": "channel", "id": "msg_id"}`. Without options the keys are found if only one choice fits; a file in
which two keys could be the speaker or the text is refused with the choices named.

Speakers are mapped by the usual words; one that nobody knows is a user. The brief is a line of the same keys
in the name of the file's system or assistant speaker; its last line is the mark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from compressor.errors import ConfigError, Location, ReadError
from compressor.formats import _document
from compressor.formats._lists import Item, load
from compressor.formats._messages import (
    CONVERSATION_KEYS,
    State,
    check_lists,
    finder,
    like,
    name_of,
    origin_of,
    read_lists,
    step,
    texts,
    time_of,
)
from compressor.formats._pairs import Builder
from compressor.formats._records import Head, Source, loads
from compressor.model import Compaction, Finding, PathSteps, Role, Session, Transcript, Written

TITLE = "chat logs with a speaker and a text (keys by option)"
ORDER = 99
APPENDS = False

ROLE_KEYS: Final = ("role", "speaker", "from", "author", "sender", "type")
TEXT_KEYS: Final = ("content", "text", "value", "message", "body")
TIME_KEYS: Final = ("timestamp", "ts", "created_at", "time")
#: Fewer are no conversation.
MIN_ROWS: Final = 2
_LISTS: Final[Sequence[PathSteps]] = tuple(
    (k,)
    for k in (
        "messages",
        "conversation",
        "conversations",
        "dialogue",
        "dialog",
        "history",
        "turns",
        "trajectory",
        "log",
    )
)
_WORDS: Final = {
    Role.SYSTEM: ("system", "developer", "instructions", "系统"),
    Role.USER: ("user", "human", "customer", "client", "person", "visitor", "prompter", "用户", "客户"),
    Role.ASSISTANT: (
        "assistant",
        "bot",
        "ai",
        "agent",
        "gpt",
        "model",
        "chatbot",
        "chatgpt",
        "llm",
        "helper",
        "助手",
        "客服",
    ),
    Role.TOOL: ("tool", "function", "observation", "environment", "tool_result", "function_response", "工具"),
}
SPEAKERS: Final = {word: role for role, words in _WORDS.items() for word in words}


@dataclass(frozen=True, slots=True)
class Keys:
    """Where a message keeps what; "" for what it does not have."""

    role: str
    text: str
    time: str = ""
    conversation: str = ""
    id: str = ""


def inside(value: Any, key: str) -> Any:
    """The value at a dotted key; a key that holds dots itself comes first."""
    if isinstance(value, dict) and key in value:
        return value[key]
    return step(value, tuple(key.split(".")))


def guess(rows: Sequence[Any]) -> Keys | list[tuple[str, str]]:
    """The keys of these messages, or the pairs of speaker and text keys among which nothing decides."""
    dicts = [r for r in rows if isinstance(r, dict)]
    roles = [k for k in ROLE_KEYS if dicts and _nearly_all(isinstance(r.get(k), str) for r in dicts)]
    bodies = [
        k
        for k in TEXT_KEYS
        if any(r.get(k) for r in dicts) and _nearly_all(isinstance(r.get(k), (str, type(None))) for r in dicts)
    ]
    known = [k for k in roles if _known(r[k] for r in dicts if isinstance(r.get(k), str))]
    pairs = [(r, t) for r in known or roles for t in bodies if r != t]
    if len(pairs) != 1:
        return pairs
    first = dicts[0]
    time = next((k for k in TIME_KEYS if k in first), "")
    conversation = next((k for k in CONVERSATION_KEYS if name_of(first.get(k))), "")
    return Keys(*pairs[0], time, conversation, "id" if name_of(first.get("id")) else "")


def _nearly_all(good: Iterable[bool]) -> bool:
    """One damaged message in ten does not hide what the file is."""
    found = list(good)
    return sum(found) * 10 >= len(found) * 9


def _known(speakers: Iterator[str]) -> bool:
    """At least half of the different speakers are known words."""
    words = {s.strip().lower() for s in speakers}
    return sum(w in SPEAKERS for w in words) * 2 >= len(words) > 0


def _sample(values: Sequence[Any]) -> list[Any]:
    """Messages to guess from: the rows, or the first list that a row or document holds."""
    out: list[Any] = []
    objects = any(isinstance(v, dict) for v in values)
    for value in values:
        if isinstance(value, list):
            if objects:  # a stray list among lines
                continue
            return _sample(value[:60]) if value else []
        lists = (step(value, key) for key in _LISTS)
        found = next((v for v in lists if isinstance(v, list) and v and isinstance(v[0], dict)), None)
        out += found[:60] if found is not None else [value]
    return out[:200]


def sniff(head: Head) -> bool:
    """Messages whose keys show by themselves, with speakers that are known words, or names that speak again."""
    rows = _sample((head.document,) if head.document is not None else head.rows)
    keys = guess(rows)
    if len(rows) < MIN_ROWS or not isinstance(keys, Keys):
        return False
    speakers = [r[keys.role] for r in rows if isinstance(r, dict) and isinstance(r.get(keys.role), str)]
    return _known(iter(speakers)) or (keys.role != "type" and 1 < len(set(speakers)) < len(speakers))


def read(source: Source, options: Mapping[str, Any]) -> Transcript:
    """Read a file of this format.

    Raises:
        ReadError: the keys do not show, and no option names them.
        ConfigError: an option that is none.
    """
    keys = _keys(source, options)
    names: dict[Role, Counter[str]] = {}
    find = finder(_tester(keys), _LISTS)
    conversation = (keys.conversation,) if keys.conversation else ()
    found = read_lists(source, "generic", find, _parser(keys, names), conversation)
    meta = {"keys": keys, "speaker": _speaker(names)}
    return replace(found, sessions=tuple(replace(s, meta={**s.meta, **meta}) for s in found.sessions))


def _keys(source: Source, options: Mapping[str, Any]) -> Keys:
    names = set(Keys.__slots__)
    unknown = sorted(set(options) - names)
    if unknown:
        raise ConfigError(f'unknown key mapping "{unknown[0]}"', hint=f"known: {', '.join(sorted(names))}")
    if "role" in options and "text" in options:
        return Keys(**{k: str(v) for k, v in options.items()})
    rows = _sample([v for v in load(source).values if v is not None][:60])
    if options:
        rows = [r for r in rows if all(inside(r, str(v)) is not None for v in options.values())]
    keys = guess(rows)
    at = Location(source.path, 1)
    if isinstance(keys, Keys):
        return replace(keys, **{k: str(v) for k, v in options.items()})
    if "role" in options or "text" in options:
        pairs = [p for p in keys if options.get("role", p[0]) == p[0] and options.get("text", p[1]) == p[1]]
        if len(pairs) == 1:
            return replace(Keys(*pairs[0]), **{k: str(v) for k, v in options.items()})
    choices = "; ".join(f"role={r}, text={t}" for r, t in keys)
    hint = f"choose one: {choices}" if keys else "name the keys by option: role=…, text=…"
    raise ReadError("which keys hold the speaker and the text does not show", at=at, hint=hint)


def _tester(keys: Keys) -> Callable[[Any], bool]:
    def is_message(value: Any) -> bool:
        return isinstance(inside(value, keys.role), str) and isinstance(value, dict) and _has(value, keys.text)

    return is_message


def _has(value: dict[str, Any], key: str) -> bool:
    return key in value or inside(value, key) is not None


def role_of(speaker: str) -> Role:
    """The role that a speaker's name means."""
    return SPEAKERS.get(speaker.strip().lower(), Role.USER)


def _parser(keys: Keys, names: dict[Role, Counter[str]]) -> Callable[[Builder, Item, State], None]:
    is_message = _tester(keys)

    def parse(build: Builder, item: Item, state: State) -> None:
        value = item.value
        if not is_message(value):
            return
        speaker = inside(value, keys.role)
        role = role_of(speaker)
        names.setdefault(role, Counter())[speaker] += 1
        body = inside(value, keys.text)
        build.start(
            record=item.record,
            line=item.line,
            role=role,
            origin=origin_of(role, body if isinstance(body, str) else ""),
            id=name_of(inside(value, keys.id)) if keys.id else "",
            pinned=value.get("pinned") is True,
            time=time_of(inside(value, keys.time)) if keys.time else "",
        )
        path = (*item.path, *([keys.text] if keys.text in value else keys.text.split(".")))
        texts(body, path, build.output if role is Role.TOOL else build.text)

    return parse


def _speaker(names: Mapping[Role, Counter[str]]) -> str:
    """In whose name the brief speaks: the file's own word for the system, else for the assistant; never a person."""
    best = next((names[r] for r in (Role.SYSTEM, Role.ASSISTANT) if r in names), Counter(["system"]))
    return best.most_common(1)[0][0]


def write(transcript: Transcript, changes: Mapping[int, Compaction]) -> Written:
    """Write the changes into the source's own layout."""
    return _document.write(transcript, changes, note)


def note(session: Session, change: Compaction, text: str, near: Any) -> Any:
    """The brief: a line of the same keys, in the order of a neighbour's."""
    keys: Keys = session.meta["keys"]
    fields: dict[str, Any] = {}
    time: Any = _document.replaced_time(session, change)
    if keys.time and not isinstance(inside(near, keys.time), str):
        time = _number(time)
    conversation = inside(near, keys.conversation) if keys.conversation else ""
    values = {keys.role: session.meta["speaker"], keys.text: text, keys.time: time, keys.conversation: conversation}
    for key, value in values.items():
        if key and value not in ("", None):
            _put(fields, [key] if key in near else key.split("."), value)
    return like(near, fields)


def _number(time: str) -> Any:
    """A time stamp as the number it was written as."""
    try:
        return loads(time.encode())
    except ValueError:
        return time


def _put(fields: dict[str, Any], steps: list[str], value: Any) -> None:
    for key in steps[:-1]:
        fields = fields.setdefault(key, {})
    fields[steps[-1]] = value


def check(transcript: Transcript) -> Iterator[Finding]:
    """E01 and E10: these logs have no calls."""
    yield from check_lists(transcript)


def join(original: bytes, grown: Transcript, first_new: int) -> bytes:
    """The original with the messages of `grown` from `first_new` on."""
    return _document.join(original, grown, first_new)


def resume_command(transcript: Transcript, output: str) -> str:
    """No tool resumes such a file."""
    return ""
