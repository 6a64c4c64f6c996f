"""Every code of `compress check`: what it says, why it matters, what to do.

The texts are the manual: `compress check --explain CODE` prints them, reports carry the advice, and
`docs/check.md` lists them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Code:
    """One code.

    Attributes:
        title: the rule, in a few words.
        why: what goes wrong where it is broken.
        do: the next step, for people.
        fix: what `--fix` does about it; "": nothing, there is no one right repair.
    """

    title: str
    why: str
    do: str
    fix: str = ""


CODES: Final[Mapping[str, Code]] = {
    "F01": Code(
        "the file is a transcript of a known format",
        "a file that is not understood is not checked, and passes for a good one",
        "name its format with --input-format, or leave the file out",
    ),
    "F02": Code(
        "the file can be opened and unpacked",
        "a damaged .gz or .zst, or a file without rights, holds nothing that could be checked",
        "restore the file from where it came from",
    ),
    "J01": Code(
        "every line, or the document, is JSON",
        "tools skip the broken line in silence: its message is lost, and what refers to it is orphaned",
        "restore the line from the original, or delete it together with its partner",
    ),
    "J02": Code(
        "one JSON value a line",
        "tools skip a line with two values: both records are lost",
        "put a line end between the values",
        "puts a line end between them",
    ),
    "J03": Code(
        "the end of the file is whole",
        "a write was cut short: the last record is lost, and the next append is glued to the torn one",
        "restore the end from the original, or delete the torn line",
    ),
    "J04": Code(
        "no byte-order mark",
        "many JSON readers refuse the first record because of it",
        "save the file as UTF-8 without a byte-order mark",
        "removes the mark",
    ),
    "J05": Code(
        "lines end with a line feed alone",
        "version control and byte comparisons see every line changed; the records themselves are sound",
        "convert the line ends, or set `text eol=lf` for the file",
    ),
    "J06": Code(
        "the file is UTF-8",
        "readers refuse the record, or replace what they cannot read",
        "find out the true encoding and convert: iconv -f … -t UTF-8",
    ),
    "J07": Code(
        "numbers are JSON numbers",
        "NaN and Infinity are no JSON: strict readers, browsers among them, refuse the record",
        "write null, or the number as text",
    ),
    "J08": Code(
        "no lone surrogates",
        "half a character: it cannot be written as UTF-8, and strict readers refuse the record",
        "replace the escape with the whole character or with U+FFFD",
    ),
    "J09": Code(
        "a key stands once in an object",
        "readers differ in which of the two values they take",
        "keep the one that is meant",
    ),
    "J10": Code(
        "no blank lines and no comments between records",
        "line-wise readers stop or complain at them",
        "delete them",
        "deletes blank lines",
    ),
    "S01": Code(
        "records fit the schema of their format",
        "a field has the wrong type, is missing, or has a value that the tool does not know",
        "compare with the format's schema (schemas/<format>.schema.json) and with a record of the same kind",
    ),
    "S02": Code(
        "arguments of a call that are JSON text parse",
        "the tool that is called again, in a replay or a resumed session, cannot read them",
        "restore them, or delete the call with its result",
    ),
    "E01": Code(
        "the file is whole: it ends with a line end, and every line can be read",
        "the next record that the tool appends is glued to the last one, and both are lost",
        "add the line end",
        "adds the line end",
    ),
    "E02": Code(
        "a call has its result, a result has its call",
        "model endpoints refuse the request: the session cannot be resumed",
        "delete the half that is alone, or restore its partner",
        "deletes results without a call",
    ),
    "E03": Code(
        "results directly follow the message that called, all of them together",
        "model endpoints refuse a user or assistant message between a call and its result",
        "move the results up to their call",
    ),
    "E04": Code(
        "ids are used once",
        "a result may be matched to the wrong call, and one of two records is dropped by the tool",
        "give the second one an id of its own, or delete it if it is a copy",
    ),
    "E05": Code(
        "each record's parent is in the file, before it, and ids are unique",
        "the tool follows the chain of parents from the end: what lies behind the break is not loaded",
        "link the record to the one before it",
        "links a record whose parent is missing to the record before it",
    ),
    "E06": Code(
        "the records of one model message stay together",
        "half a message is sent: endpoints refuse it, or the thought is lost",
        "keep all records of the message, or none",
    ),
    "E07": Code(
        "signed and encrypted content is untouched",
        "the endpoint verifies it and refuses the request",
        "restore the value byte for byte, or remove the whole block",
    ),
    "E08": Code(
        "the last turn is what it was",
        "the next model answers something that nobody asked",
        "compact again from the original",
    ),
    "E09": Code(
        "a reasoning item is followed by what it led to",
        "the endpoint refuses a reasoning item that stands alone",
        "remove the reasoning item, or restore the item behind it",
    ),
    "E10": Code(
        "the mark of a compaction is well formed",
        "the tool does not see the compaction, and sends the whole history again",
        "compact again from the original",
    ),
    "E11": Code(
        "what refers to another record finds it",
        "the tool shows or restores something else, or drops the list",
        "restore the record, or remove the reference",
    ),
    "E12": Code(
        "one file, one session, and its name says which",
        "the tool finds sessions by file name and reads them by id: the wrong one is resumed",
        "give records and file the same session id",
    ),
    "E13": Code(
        "speakers take their turns as the format demands",
        "endpoints and trainers refuse or shift the messages",
        "restore the message that is missing",
    ),
    "E14": Code(
        "what a benchmark needs for re-scoring is untouched",
        "scores can no longer be reproduced",
        "compact again from the original",
    ),
    "E15": Code(
        "copies of a text say the same",
        "the screen shows one thing, the model reads another",
        "make the copies equal",
    ),
    "E16": Code(
        "sequence numbers run on",
        "tools stop reading at a gap, or refuse the file",
        "number the records as the tool does",
    ),
    "W01": Code(
        "token usage is that of the original run",
        "sums over a rewritten usage say what nobody paid",
        "restore the usage of the original records",
    ),
    "W02": Code(
        "every record is of a known kind",
        "it is passed through byte for byte, and nobody reads it: a message may be lost",
        "compare it with a record of the same kind; a new kind of the tool is no fault",
    ),
    "W03": Code(
        "tool output gives no orders",
        "text of a tool that reads like an order to the model or the summarizer may be obeyed by a weak one",
        "read it; nothing here obeys it",
    ),
    "K01": Code(
        "no keys, tokens or passwords",
        "a secret in a repository is public, and stays in its history",
        "revoke it, and replace it: compress run --redact",
    ),
    "L01": Code(
        "the file is not larger than the limit (max-bytes)",
        "hosts refuse large files, and a repository never forgets them",
        "compact it: compress run, or keep it outside the repository",
    ),
    "L02": Code(
        "no line is longer than the limit (max-line)",
        "editors and review tools give up on megabyte lines",
        "compact it: compress run turns embedded pictures into placeholders",
    ),
    "G01": Code(
        "no summary of a summary beyond the limit (generations)",
        "each generation loses facts that the one before still had",
        "compact again from the original: compress restore",
    ),
    "D01": Code(
        "no file stands twice",
        "two copies drift apart, and tests of one say nothing of the other",
        "keep one of them",
    ),
    "D02": Code(
        "no conversation stands twice",
        "the same messages in another file, layout or format: tests of one say nothing of the other",
        "keep one of them",
    ),
    "V01": Code(
        "a compacted file is made from its source as it is now",
        "the source has changed since: what the compaction says is stale",
        "compact again: compress run",
    ),
    "V02": Code(
        "the original of a compacted file can be had",
        "without it nothing can be verified, and nothing restored",
        "keep the source beside it, or the archive above it (--archive)",
    ),
    "V03": Code(
        "a compacted file is as it was written",
        "it was edited by hand: what its report says is no longer true of it",
        "compact again: compress run",
    ),
}

#: Findings of the guards have the guard's own id behind this.
GUARD: Final = "V:"


def advice(code: str) -> str:
    """The next step for a finding of this code."""
    if code.startswith(GUARD):
        return "compact again from the original, or see what it lost: compress verify"
    return CODES[code].do if code in CODES else ""


def title(code: str) -> str:
    """The rule that a code stands for."""
    if code.startswith(GUARD):
        return f"the guard {code.removeprefix(GUARD)} holds between the original and the compaction"
    return CODES[code].title if code in CODES else code
