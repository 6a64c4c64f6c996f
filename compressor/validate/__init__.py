"""`compress check`: what is wrong with transcripts, without compacting them and without a model.

One module per question: `_text` (bytes, JSON, encoding), the format's own `check` (pairs, chains, marks), `_schema`
(records against the format's JSON Schema), `_secrets`, `_origin` (a compacted file against its original) and
`_files` (limits, doubles, names). `codes` says what each code means; `_ignores` says which findings count.

    from compressor.validate import Terms, check_files

    for checked in check_files(["session.jsonl"], Terms()):
        for finding in checked.findings:
            print(finding.at.file, finding.at.line, finding.check, finding.message)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from compressor.validate.terms import Terms

if TYPE_CHECKING:
    from compressor.validate._files import Checked, check_files, check_source

__all__ = ["Checked", "Terms", "check_files", "check_source"]


def __getattr__(name: str) -> Any:
    # the command line asks for the terms alone to print its help
    if name in __all__:
        from compressor.validate import _files

        return getattr(_files, name)
    raise AttributeError(name)
