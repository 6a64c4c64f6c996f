"""Briefs of the fixtures, kept beside the tests. Rewrite them with `python -m tests.summarizers.golden`, then read the diff."""

from __future__ import annotations

from pathlib import Path

from compressor import tokens
from compressor.brief import Task
from compressor.briefs import render
from compressor.language import language
from compressor.model import Layer
from compressor.plugins import load
from compressor.reading import read

FIXTURES = Path(__file__).parents[2] / "fixtures"
FOLDER = Path(__file__).parent / "golden"
NAMES = (
    "claude-code/refactor-billing.jsonl",
    "claude-code/zh-deploy.jsonl",
    "codex/payments-cli.jsonl",
    "openai-chat/support-desk.jsonl",
    "openai-chat/zh-support.jsonl",
    "anthropic/ops-runbook.json",
)
BUDGET = 2_000


def golden(name: str) -> Path:
    """Where the brief of a fixture is kept."""
    return FOLDER / (name.replace("/", "-").rsplit(".", 1)[0] + ".md")


def write(name: str) -> str:
    """The brief of a fixture of which everything leaves."""
    session = read(FIXTURES / name).sessions[0]
    tag = language(session)
    everything = frozenset(range(len(session.messages)))
    layers = (Layer.NOTE,) * len(session.parts)
    task = Task(session, layers, everything, frozenset(), (), BUDGET, tag, tokens.count)
    return render(load("summarizers", "extractive").summarize(task, {}), tag, session)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for fixture in NAMES:
        golden(fixture).write_text(write(fixture), "utf-8")
