"""Write the table of codes into docs/check.md from the codes themselves; `--check` says whether it is up to date."""

from __future__ import annotations

import sys
from pathlib import Path

from compressor.validate.codes import CODES

PAGE = Path(__file__).with_name("check.md")
BEGIN, END = "<!-- codes -->\n", "<!-- end of codes -->\n"


def table() -> str:
    """One row a code."""
    rows = [f"| {code} | {c.title} | {c.why} | {c.do} | {c.fix or 'no'} |" for code, c in CODES.items()]
    head = "| code | the rule | where it is broken | what to do | `--fix` |\n|---|---|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def main(arguments: list[str]) -> int:
    """The page, written or compared."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    new = f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}"
    if "--check" in arguments:
        print("docs/check.md is up to date" if new == text else "docs/check.md differs: run docs/make_check.py")
        return int(new != text)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
