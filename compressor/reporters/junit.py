"""JUnit XML: one test case a file, failed where it has errors; warnings and notes are its output."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, TextIO
from xml.sax.saxutils import escape, quoteattr

from compressor.reporters._findings import Shown, each, paths
from compressor.reporters._text import printable

#: What XML 1.0 cannot hold, whatever is written around it.
_NO_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def write(document: Mapping[str, Any], stream: TextIO, options: Mapping[str, Any]) -> None:
    """Write one test suite."""
    by_file: defaultdict[str, list[Shown]] = defaultdict(list)
    for f in each(document):
        by_file[f.file].append(f)
    names = list(dict.fromkeys((*paths(document), *by_file)))
    failed = sum(any(f.level == "error" for f in by_file[n]) for n in names)
    stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    name = quoteattr(str(document["tool"]))
    stream.write(f'<testsuites><testsuite name={name} tests="{len(names)}" failures="{failed}">\n')
    stream.writelines(_case(n, by_file[n]) for n in names)
    stream.write("</testsuite></testsuites>\n")


def _case(file: str, found: Sequence[Shown]) -> str:
    head = f"<testcase classname={_attribute('transcripts')} name={_attribute(file)}"
    if not found:
        return f"{head}/>\n"
    errors = [f for f in found if f.level == "error"]
    others = [f for f in found if f.level != "error"]
    body = ""
    if errors:
        first = _attribute(errors[0].message)
        body += f"<failure type={_attribute(errors[0].code)} message={first}>{_lines(errors)}</failure>"
    if others:
        body += f"<system-out>{_lines(others)}</system-out>"
    return f"{head}>{body}</testcase>\n"


def _lines(found: Sequence[Shown]) -> str:
    return escape(_clean("\n".join(f"{f.file}:{f.line}: {f.level} {f.code}: {f.message}" for f in found)))


def _attribute(text: str) -> str:
    return quoteattr(printable(_clean(text)))


def _clean(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)
