"""Reporters: ways to show a run.

A reporter is one module of this folder:

    def write(document, stream, options) -> None

`document` is the report as `schemas/report.schema.json` describes it, and all that a reporter sees: a saved
report can be shown again. `stream` is a text stream; `options` are the reporter's own.
"""
