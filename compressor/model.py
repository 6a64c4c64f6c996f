"""The session model: the frozen types that pass between the stages.

A file is a `Transcript`; it holds one `Session` per conversation. A session is a sequence of
`Message`s; a message is a sequence of `Part`s. One part is exactly one string slot of the file
(a text, one string argument of a tool call, one text of a tool result), so that every edit is
"put this text there" and every format writes edits in the same way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

#: A step of `Part.path` that means "this string is JSON text: parse it and go on inside".
NESTED: Final = -1

PathSteps = tuple[str | int, ...]


class Role(StrEnum):
    """Who speaks, in every format's own wording mapped to these four."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class PartType(StrEnum):
    """What a part is."""

    TEXT = "text"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    IMAGE = "image"
    OTHER = "other"


#: The part types whose text the model reads and whose tokens are counted.
VISIBLE: Final = frozenset({PartType.TEXT, PartType.TOOL_CALL, PartType.TOOL_RESULT})


class Origin(StrEnum):
    """Who wrote a message: a person typed it, the harness put it there, the agent, or a tool."""

    PERSON = "person"
    HARNESS = "harness"
    AGENT = "agent"
    TOOL = "tool"


class Layer(StrEnum):
    """How compressible a part is; only the first two are ever edited to save room."""

    TOOL_RESULT = "tool_result"
    NOTE = "note"
    CONCLUSION = "conclusion"
    PINNED = "pinned"
    SUMMARY = "summary"


class Level(StrEnum):
    """Severity of a finding (SARIF's levels)."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


class Mode(StrEnum):
    """In which form a fact must survive."""

    VERBATIM = "verbatim"
    VALUE = "value"
    POLARITY = "polarity"
    PRESENT = "present"


class Verdict(StrEnum):
    """What became of a session."""

    COMPACTED = "compacted"
    UNCHANGED = "unchanged"
    REVERTED = "reverted"
    QUARANTINED = "quarantined"
    IGNORED = "ignored"
    OWN_OUTPUT = "own-output"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a finding is: `line` counts from 1 (0: unknown), `offset` in characters of the part."""

    file: str = ""
    line: int = 0
    message: str = ""
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check reports; `check` is a rule id or an integrity code, `fact` the words in question."""

    check: str
    level: Level
    message: str
    fact: str = ""
    at: Place = Place()


@dataclass(frozen=True, slots=True)
class Record:
    """One record of the file: `raw[start:end]`, with its line end; `kind` is the format's own name.

    Records lie end to end: together they are the file. What could not be parsed is a record of
    kind `unreadable` (a broken line) or `blank` (blank and comment lines, a byte-order mark).
    """

    index: int
    line: int
    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Part:
    """One string slot of a message.

    Attributes:
        ordinal: position in `Session.parts`; the part's identity within its session.
        message: index of its message in `Session.messages`.
        path: steps from the record's data (a JSON value) to the string.
        text: the string itself; for an image a short description (`image/png, 12,345 bytes`).
        name: the tool's name, for tool calls and (through pairing) tool results.
        call: index into `Session.calls`, or -1.
        key: for a tool call, the dotted argument name (`command`, `edits.0.old_string`).
    """

    ordinal: int
    message: int
    type: PartType
    path: PathSteps
    text: str
    name: str = ""
    call: int = -1
    key: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the logical history, in order.

    Attributes:
        id: native id, else `#` and the 0-based index.
        record: index of its record in `Transcript.records`.
        line: line of the record, from 1.
        group: key of the records that are one API message (they live or die together), else its own id.
        live: the source tool would send it if it resumed the file now.
        abandoned: on a branch that nobody went on from: no facts, first to go.
        sidechain: an inner step of a sub-agent whose return stands in the parent.
        generation: how many summaries deep the text is; 0 is an original.
        opaque: encrypted or signed content that must be carried as it is.
        regainable: context that the harness writes (instruction files, skills, environment): it also stands elsewhere.
        time: the record's own time stamp, as written, or "".
    """

    index: int
    id: str
    role: Role
    origin: Origin
    parts: tuple[Part, ...]
    record: int
    line: int
    group: str = ""
    live: bool = True
    abandoned: bool = False
    sidechain: bool = False
    generation: int = 0
    pinned: bool = False
    opaque: bool = False
    time: str = ""
    regainable: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call and its results, paired by id and by position (real files re-use ids).

    `message` is -1 for a result without a call; `results` is empty for a call without a result. `frame` is what the
    model reads of arguments that are JSON text besides their strings: keys, numbers, punctuation.
    """

    index: int
    id: str
    name: str
    message: int
    results: tuple[int, ...] = ()
    error: bool = False
    frame: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """What every output carries, so that a second run knows what it has before it.

    Attributes:
        options: digest of rules, preset, options and versions that made the output.
        tokens: tokens of the originals' whole history.
        generation: of the brief.
        archive: sha256 of the original file's bytes: its key in the archive.
        messages: how many messages the output had when it was written (the brief included).
        digest: digest of those messages' texts (`digest_messages`).
    """

    options: str
    tokens: int
    generation: int
    archive: str
    messages: int
    digest: str


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation of a file.

    Attributes:
        id: the tool's own session id, else "".
        messages: the whole logical history in order, abandoned branches included where they stood.
        parts: all parts of all messages, by ordinal.
        brief: index of the message that holds our brief, or -1.
        mark: our mark, if the session carries one.
        language_hint: language tag if the format says one.
        meta: format-private, read-only.
    """

    id: str
    messages: tuple[Message, ...]
    parts: tuple[Part, ...]
    calls: tuple[Call, ...] = ()
    brief: int = -1
    mark: Mark | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Transcript:
    """A file as read.

    Attributes:
        path: display name of the file ("<stdin>" for standard input).
        format: name of the format module.
        raw: the bytes (decompressed), `bytes` or a read-only memory map.
        records: all records, end to end.
        sessions: one per conversation, in file order.
        dirt: kinds of dirt met and passed through, with counts (`{"glued": 2, "crlf": 130}`).
        meta: format-private, read-only (layout of a document, key mapping, …).
    """

    path: str
    format: str
    raw: Any
    records: tuple[Record, ...]
    sessions: tuple[Session, ...]
    dirt: Mapping[str, int] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Match:
    """A stretch of a part that a kind found: `part.text[start:end]`, with its normal form if it has one."""

    part: int
    start: int
    end: int
    value: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """A match registered as must-survive."""

    rule: str
    kind: str
    mode: Mode
    level: Level
    text: str
    value: str
    part: int
    message: str
    line: int
    start: int = 0
    end: int = 0


class Action(StrEnum):
    """What an edit does to its part."""

    CLEAR = "clear"
    DROP = "drop"
    SUMMARIZE = "summarize"


class Loss(StrEnum):
    """What an edit costs; settled in this order, cheapest first."""

    NONE = "none"
    RESULTS = "results"
    NOTES = "notes"
    HARD = "hard"


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit that a rule proposes: `spans` of the part go (empty: the whole text)."""

    rule: str
    part: int
    action: Action
    loss: Loss
    placeholder: str = ""
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Dropped:
    """One thing that is not in the output, and why: a message, or the cleared stretch of a part."""

    message: str
    line: int
    layer: str
    reason: str
    tokens: int
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Compaction:
    """The settled change of one session, in the form that every format can write.

    Attributes:
        session: what it changes.
        texts: new text by part ordinal; an image part becomes a text part with it.
        dropped: indexes of messages that leave the file.
        brief: text of the brief, "" for none; stands at `brief_at`.
        brief_at: index of the kept message before which the brief stands (len(messages): at the end).
        mark: to be written into the output.
        new_id: session id to write under, "" to keep the old one.
    """

    session: Session
    texts: Mapping[int, str]
    dropped: frozenset[int]
    brief: str
    brief_at: int
    mark: Mark
    new_id: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """What a format wrote: the bytes, and the invisible records and fields it left out, with counts."""

    data: bytes
    left_out: Mapping[str, int] = field(default_factory=dict)


def text_of(message: Message) -> str:
    """The visible texts of a message, joined with newlines."""
    return "\n".join(p.text for p in message.parts if p.type in VISIBLE)


def requests(session: Session) -> Sequence[Message]:
    """The messages that a person typed, abandoned branches apart."""
    return [m for m in session.messages if m.origin is Origin.PERSON and m.role is Role.USER and not m.abandoned]


#: The line that carries the mark in formats without a field for it; it is no part of any digest.
MARK_PREFIX: Final = "[transcript-compressor "


def digest_messages(messages: Sequence[Message]) -> str:
    """Start of the sha256 (hex, 16 digits) of roles and visible texts: what a mark says its output held."""
    h = hashlib.sha256()
    for m in messages:
        h.update(m.role.encode())
        for p in m.parts:
            if p.type not in VISIBLE:
                continue
            text = p.text
            if MARK_PREFIX in text:
                text = "\n".join(line for line in text.split("\n") if not line.startswith(MARK_PREFIX))
            h.update(b"\x00" + text.encode("utf-8", "surrogatepass"))
        h.update(b"\x01")
    return h.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class View:
    """What a kind sees: the parts in its rule's scope, and the session they stand in.

    Attributes:
        session: for context (calls, neighbours, who speaks); never for its parts outside the scope.
        parts: in order; abandoned messages and our own brief are not among them.
        layers: layer by part ordinal.
        turn: number of the request that a message (by index) belongs to, from 0.
    """

    session: Session
    parts: Sequence[Part]
    layers: Sequence[Layer] = ()
    turn: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a check sees: the original session, a compaction of it, and what was promised.

    Attributes:
        original: the whole history as read.
        output: the compaction as read back from its bytes.
        facts: the ledger of the original.
        layers: layer of each part of the original, by ordinal.
        tokens_original: visible tokens of the original's whole history.
        tokens_live: visible tokens of the original's live context.
        tokens_output: visible tokens of the output's live context.
        ours: the output was just made by this run, or carries our mark.
        baseline: integrity findings that already stood in the original file.
        integrity: integrity findings of the output file.
        files: names of the original and of the output, for the places of findings; "" inside a run.
        raw: bytes of the original file: what its invisible fields say is not invented.
        claims: the output as checks of statements see it, if code has cut parts of it (`compressor.claims`).
        shared: what the checks of one run have worked out, so that each thing is worked out once.
    """

    original: Session
    output: Session
    facts: Sequence[Fact]
    layers: Sequence[Layer]
    tokens_original: int
    tokens_live: int
    tokens_output: int
    ours: bool = True
    baseline: Sequence[Finding] = ()
    integrity: Sequence[Finding] = ()
    files: tuple[str, str] = ("", "")
    raw: Any = b""
    claims: Session | None = None
    shared: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
