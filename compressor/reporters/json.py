"""The report document itself, indented."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TextIO


def write(document: Mapping[str, Any], stream: TextIO, options: Mapping[str, Any]) -> None:
    """Write the document as JSON; text that is no Unicode goes out escaped."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(document, indent=2)
    stream.write(text + "\n")
