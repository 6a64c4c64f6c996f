"""Runs by a provider's batch endpoint: requests are handed in today and answered within a day, for half the price.

    <archive>/batches/<name>/state.json          what the run was told, and where each batch of it stands
    <archive>/batches/<name>/requests/<key>.*    requests that have no answer yet, and those that will get none
    <archive>/answers/                           answers, from where any run takes them

A batch run is an ordinary run that finds no answers and writes its requests down; collecting puts the answers where
runs look for them and runs again, until nothing is missing (repairs are another round). So every step can be done
twice: killed at any point, the next `collect` goes on. A batch is announced on disk before it is handed in, and looked
for at the provider's before it is handed in again.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, closing, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from time import time
from typing import Any, Final

import orjson

from compressor import disk, inputs, jobs
from compressor.archive import hold
from compressor.asking import Usage
from compressor.errors import CompressError, ConfigError, LimitError, Location
from compressor.jobs import Orders, Outcome
from compressor.options import Options, Said, merge, settings, specs
from compressor.settings import Settings
from compressor.summarizers._answers import Answer, Kept
from compressor.summarizers._batches import Batches, Sent
from compressor.summarizers._providers import batches as endpoint
from compressor.summarizers._request import Request
from compressor.summarizers._spool import Spool

FOLDER: Final = "batches"
_STATE: Final = "state.json"


@dataclass(slots=True)
class Part:
    """One batch of a run. `id` is the provider's; "" until it is known that the batch was handed in."""

    name: str
    keys: list[str]
    since: float
    id: str = ""
    stage: str = "announced"


@dataclass(slots=True)
class State:
    """A batch run, as it stands on disk.

    Attributes:
        options: what the run was told, by name.
        cwd: where it was told so: names of files are meant from there.
        stage: `open`, `done` or `cancelled`.
    """

    name: str
    inputs: list[str]
    options: dict[str, Any]
    cwd: str
    created: float
    stage: str = "open"
    parts: list[Part] = field(default_factory=list)
    usage: dict[str, Any] = field(default_factory=dict)

    def waiting(self) -> set[str]:
        """Keys that are on their way."""
        return {key for p in self.parts if p.stage in {"announced", "sent"} for key in p.keys}


@dataclass(frozen=True, slots=True)
class Round:
    """What came of handing in or collecting: `outcomes` of files, and how many requests are still on their way."""

    state: State
    outcomes: Sequence[Outcome]
    waiting: int


class Run:
    """One batch run."""

    def __init__(self, folder: Path, state: State) -> None:
        self.folder = folder
        self.state = state
        self._spool = Spool(folder / "requests")
        self._kept = Kept(folder.parent.parent / "answers")

    # -- on disk

    @classmethod
    def new(cls, archive: Path, named: Sequence[str], options: Options) -> Run:
        """A run that has been told what to do and has done nothing yet."""
        name = uuid.uuid4().hex[:12]
        state = State(name, list(named), _said(options), os.getcwd(), time())  # noqa: PTH109 - a plain string
        run = cls(archive / FOLDER / name, state)
        disk.make_folder(run.folder / "requests")
        run._save()
        return run

    @classmethod
    def all(cls, archive: Path) -> list[Run]:
        """The runs of an archive, oldest first.

        Raises:
            CompressError: a state is damaged.
        """
        found = [cls(p.parent, _load(p)) for p in (archive / FOLDER).glob(f"*/{_STATE}")]
        return sorted(found, key=lambda r: (r.state.created, r.state.name))

    def _save(self) -> None:
        disk.publish(self.folder / _STATE, orjson.dumps(asdict(self.state), option=orjson.OPT_INDENT_2), "batch")

    # -- steps

    def go(self) -> Round:
        """Run with the answers that are there; hand in what is missing.

        Raises:
            LimitError: the requests might cost more than is allowed; nothing was handed in.
        """
        with hold(self.folder / "lock", wait=0.0, purpose="batch"), chdir(self.state.cwd):
            return self._go()

    def _go(self) -> Round:
        options = _options(self.state.options)
        told = self._told(options)
        outcomes = list(jobs.run(inputs.plan(self.state.inputs, options), Orders(told)))
        self._hand_in(told)
        if not self.state.waiting() and self.state.stage == "open":
            self.state.stage = "done"
            self._save()
        return Round(self.state, outcomes, len(self.state.waiting()))

    def _told(self, options: Options) -> Settings:
        told = settings(options)
        terms = replace(told.terms, mode="batch", spool=self._spool.folder)
        return replace(told, archive=self.folder.parent.parent, terms=terms)

    def _hand_in(self, told: Settings) -> None:
        elsewhere = {k for r in Run.all(self.folder.parent.parent) for k in r.state.waiting()}
        fresh = [(k, r) for k, r in self._spool.requests() if k not in elsewhere]
        if not fresh:
            return
        _check_limits(told, [r for _, r in fresh])
        with closing(endpoint(told.summarizer_options)) as provider:
            for items in _portions(provider, fresh):
                number = len(self.state.parts)
                part = Part(f"{self.state.name}-{number}", [k for k, _ in items], time())
                self.state.parts.append(part)
                self._save()
                part.id, part.stage = provider.hand_in(_sent(part), items), "sent"
                self._save()

    def collect(self) -> Round:
        """Fetch what is answered; when nothing is on its way any longer, run again.

        Collecting twice changes nothing.
        """
        with hold(self.folder / "lock", wait=0.0, purpose="batch"), chdir(self.state.cwd):
            if self.state.stage != "open":
                return Round(self.state, (), 0)
            told = self._told(_options(self.state.options))
            self._fetch_all(told)
            if self.state.waiting():
                return Round(self.state, (), len(self.state.waiting()))
            return self._go()

    def _fetch_all(self, told: Settings) -> None:
        known = frozenset(p.id for p in self.state.parts if p.id)
        requests = dict(self._spool.requests())
        unfetched = [p for p in self.state.parts if p.stage in {"announced", "sent"}]
        if not unfetched:
            return
        with closing(endpoint(told.summarizer_options)) as provider:
            for part in unfetched:
                if part.stage == "announced":
                    self._take_up(part, provider, known, requests)
                standing = provider.look(part.id) if part.stage == "sent" else "running"
                if standing == "running":
                    continue
                if standing == "ended":
                    self._fetch(part, provider.answers(part.id), requests, told)
                self._nothing_for(part, "the batch ended without it" if standing == "ended" else "the batch failed")
                part.stage = "fetched"
                self._save()

    def _take_up(self, part: Part, provider: Batches, known: frozenset[str], requests: Mapping[str, Request]) -> None:
        """We were killed while this one was handed in: it is there, or it is handed in now."""
        found, certain = provider.find(_sent(part), known)
        if not certain:
            return  # one that may be it still runs; handing in another would pay twice
        part.id = found or provider.hand_in(_sent(part), [(k, requests[k]) for k in part.keys if k in requests])
        part.stage = "sent"
        self._save()

    def _fetch(
        self, part: Part, answers: Iterator[tuple[str, Answer | str]], requests: Mapping[str, Request], told: Settings
    ) -> None:
        wanted = set(part.keys)
        model = str(told.summarizer_options["model"])
        usage = Usage(**self.state.usage) if self.state.usage else Usage()
        price = told.terms.price
        for key, answer in answers:
            request = requests.get(key)
            if key not in wanted or request is None:
                continue  # not ours, or taken in by a run that was killed behind it
            if isinstance(answer, str) or answer.finish == "refusal" or not answer.text.strip():
                self._spool.failed(key, answer if isinstance(answer, str) else "the answer is empty or a refusal")
            else:
                self._kept.put(key, model, request, answer)
                _book(usage, answer)
                if price is not None:
                    usage.spend(price.of(answer.given, answer.written, answer.cached, batch=True))
            self._spool.done(key)
        self.state.usage = asdict(usage)

    def _nothing_for(self, part: Part, reason: str) -> None:
        left = {key for key, _ in self._spool.requests()}
        for key in part.keys:
            if key in left:
                self._spool.failed(key, reason)
                self._spool.done(key)

    def discard(self) -> None:
        """Forget a run of which nothing was handed in."""
        _remove(self.folder)

    def cancel(self) -> int:
        """Stop what is on its way; how many requests that is. What was answered stays; no file is touched."""
        with hold(self.folder / "lock", wait=0.0, purpose="batch"), chdir(self.state.cwd):
            stopped = self.state.waiting()
            if self.state.stage == "open":
                self._stop()
            return len(stopped)

    def _stop(self) -> None:
        known = frozenset(p.id for p in self.state.parts if p.id)
        with closing(endpoint(settings(_options(self.state.options)).summarizer_options)) as provider:
            for part in self.state.parts:
                if part.stage == "announced":
                    part.id, _ = provider.find(_sent(part), known)
                if part.stage in {"announced", "sent"}:
                    if part.id:
                        provider.cancel(part.id)
                    part.stage = "cancelled"
                    self._save()
        self.state.stage = "cancelled"
        self._save()


def _book(usage: Usage, answer: Answer) -> None:
    usage.requests += 1
    usage.given += answer.given
    usage.written += answer.written
    usage.cached += answer.cached


def _sent(part: Part) -> Sent:
    return Sent(part.name, frozenset(part.keys), part.since)


def _portions(provider: Batches, items: Sequence[tuple[str, Request]]) -> Iterator[list[tuple[str, Request]]]:
    """Portions that one batch may hold."""
    most, largest = provider.MOST
    portion: list[tuple[str, Request]] = []
    size = 0
    for item in items:
        length = len(orjson.dumps(provider.body(item[1]))) + 200
        if portion and (len(portion) == most or size + length > largest):
            yield portion
            portion, size = [], 0
        portion.append(item)
        size += length
    if portion:
        yield portion


def _check_limits(told: Settings, requests: Sequence[Request]) -> None:
    terms = told.terms
    given, written = sum(r.tokens for r in requests), sum(r.max_output for r in requests)
    cost = terms.price.of(given, written, batch=True) if terms.price is not None else 0.0
    over = ""
    if terms.max_cost is not None and cost > terms.max_cost:
        over = f"the batch might cost {cost:.4f}, --max-cost is {terms.max_cost}"
    elif terms.max_tokens is not None and given + written > terms.max_tokens:
        over = f"the batch might use {given + written:,} tokens, --max-tokens is {terms.max_tokens:,}"
    if over:
        raise LimitError(over, hint="raise the limit, or name fewer sessions; nothing was handed in")


def _said(options: Options) -> dict[str, Any]:
    """Options as JSON: what differs from the defaults."""
    plain = Options()
    out: dict[str, Any] = {}
    for name in specs():
        value = getattr(options, name)
        if value == getattr(plain, name) or name == "batch":
            continue
        if isinstance(value, tuple):
            out[name] = [str(v) if isinstance(v, Path) else v for v in value]
        else:
            out[name] = str(value) if isinstance(value, Path) else dict(value) if isinstance(value, Mapping) else value
    return out


def _options(said: Mapping[str, Any]) -> Options:
    return replace(merge(Said(dict(said))), batch=True)


def _load(path: Path) -> State:
    try:
        value = orjson.loads(path.read_bytes())
        parts = [Part(**p) for p in value.pop("parts")]
        return State(parts=parts, **value)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise CompressError(f"the state of a batch is damaged: {error}", at=Location(str(path))) from None


def archive_for(named: Sequence[str], options: Options) -> Path:
    """Where a batch run keeps its state: in the run's archive.

    Raises:
        ConfigError: the result would go to standard output.
    """
    archive = inputs.archive_of(named, options)
    if archive is not None:
        return archive
    for work in inputs.plan(named, options):
        if isinstance(work, inputs.Job) and work.output is not None:
            return work.output.parent / inputs.ARCHIVE_NAME
    raise ConfigError("a batch run has no place for its state", hint="name one with --archive, and an output with -o")


def submit(named: Sequence[str], options: Options) -> Round:
    """Begin a batch run.

    Raises:
        ConfigError: the options do not fit; nothing was touched.
        LimitError: it might cost too much; nothing was handed in.
    """
    settings(options)
    archive = archive_for(named, options)
    run = Run.new(archive.absolute(), named, options)
    try:
        return run.go()
    except LimitError:
        run.discard()
        raise


def find(archive: Path, names: Sequence[str]) -> list[Run]:
    """The runs of these names (or the beginnings of them); none named: those that are open.

    Raises:
        ConfigError: no such run.
    """
    runs = Run.all(archive.absolute())
    if not names:
        return [r for r in runs if r.state.stage == "open"]
    out = []
    for name in names:
        found = [r for r in runs if r.state.name.startswith(name)]
        if len(found) != 1:
            known = ", ".join(r.state.name for r in runs) or "none"
            raise ConfigError(f'no batch run "{name}" in {archive}', hint=f"known: {known}")
        out += found
    return out


def _remove(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        with suppress(OSError):
            path.rmdir() if path.is_dir() else path.unlink()
    with suppress(OSError):
        folder.rmdir()
