"""One model under the terms of one run: answers at hand first, then limits, pace, the breaker, retries, and the bill.

All sessions of a run share a service, from as many threads as there are. A failure of one request is the failure of
one session; when the endpoint fails again and again, nobody waits for it any longer.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from compressor.asking import Journal, Terms
from compressor.errors import LimitError, SummarizeError
from compressor.summarizers._answers import Answer, Cassette, Kept, key_of
from compressor.summarizers._clients import Client
from compressor.summarizers._failures import BusyError, RefusedError
from compressor.summarizers._request import Request
from compressor.summarizers._spool import Spool
from compressor.threads import ordered

#: So many requests in a row must fail for good before the breaker opens, and for so many seconds it stays open.
_TRIPS: Final = 3
_OPEN: Final = 60.0
#: Longest wait between two tries that is not the endpoint's own wish.
_LONGEST_WAIT: Final = 30.0
#: Requests of one session that are on their way at once.
_AT_ONCE: Final = 4

#: Options that decide a request; no address, which may hold a password, gets on a cassette.
_DECIDE: Final = frozenset({"model", "context", "max_output", "temperature", "pieces", "bounded"})

# without a handler of its own, what stamina reports of retries would be printed
logging.getLogger("stamina").addHandler(logging.NullHandler())

_lock = threading.RLock()
_services: dict[Any, Service] = {}
_shared: dict[Any, _Shared] = {}
#: Services that are remembered: a long-lived process has many runs.
_MOST: Final = 64


def service(options: Mapping[str, Any], terms: Terms, make: Callable[[], Client]) -> Service:
    """The service of this model on these terms, made when it is first asked for."""
    said = tuple(sorted((k, repr(v)) for k, v in options.items()))
    with _lock:
        # here, and not where it is used: two threads that import packages which import each other meet half of them
        import stamina  # noqa: F401

        # archives may differ from file to file; the bill, the pace and the breaker are the run's
        shared = _remembered(_shared, (terms.run, said), lambda: _Shared(terms))
        return _remembered(_services, (terms, said), lambda: Service(options, terms, make, shared))


_Value = TypeVar("_Value")


def _remembered(known: dict[Any, _Value], key: Any, make: Callable[[], _Value]) -> _Value:
    found = known.get(key)
    if found is None:
        if len(known) >= _MOST:
            oldest = known.pop(next(iter(known)))
            if isinstance(oldest, _Shared):
                oldest.close()
        found = known[key] = make()
    return found


def close() -> None:
    """Close all connections and forget all runs."""
    with _lock:
        for shared in _shared.values():
            shared.close()
        _shared.clear()
        _services.clear()


@dataclass(slots=True)
class _Bill:
    """What the run has used, and what is on its way."""

    tokens: int = 0
    cost: float = 0.0
    closed: str = ""


class _Shared:
    """What all sessions of a run have in common."""

    def __init__(self, terms: Terms) -> None:
        self.lock = threading.RLock()
        self.places = threading.BoundedSemaphore(max(1, terms.concurrency))
        self.bill = _Bill()
        self.pace = Pace(terms.rpm, terms.tpm)
        self.breaker = Breaker()
        self.client: Client | None = None

    def close(self) -> None:
        """Close the connections; the next request opens them again."""
        client, self.client = self.client, None
        if client is not None:
            client.close()


class Service:
    """See the module's words."""

    def __init__(
        self, options: Mapping[str, Any], terms: Terms, make: Callable[[], Client], shared: _Shared | None = None
    ) -> None:
        self.terms = terms
        self.options = options
        self._model = str(options["model"])
        self._make = make
        self._shared = shared or _Shared(terms)
        self._kept = Kept(terms.answers) if terms.answers is not None else None
        self._cassette = Cassette(terms.cassette) if terms.cassette is not None else None
        self._heard: dict[str, Answer] = {}

    # -- asking

    def ask_all(self, requests: Sequence[Request], journal: Journal, until: float) -> list[Answer]:
        """The answers to some requests of one session, in order.

        Raises:
            SummarizeError: one has no answer.
            WaitError: some are answered later, or a limit of the run is reached.
        """
        missing = [r for r in requests if self.at_hand(r) is None]
        if missing and self.terms.mode == "plan":
            self._reckon(missing, journal)
        if missing and self.terms.spool is not None and self.terms.mode == "batch":
            Spool(self.terms.spool).put([(key_of(self._model, r), r) for r in missing])
        workers = min(len(missing), self.terms.concurrency, _AT_ONCE)

        def one(request: Request) -> Answer:
            return self._ask(request, journal, until)

        return list(ordered(one, requests, workers)) if workers > 1 else [one(r) for r in requests]

    def at_hand(self, request: Request) -> Answer | None:
        """The answer, if it was given before."""
        key = key_of(self._model, request)
        found = self._heard.get(key)
        if found is None and self._kept is not None:
            found = self._kept.get(key)
        return found

    def _ask(self, request: Request, journal: Journal, until: float) -> Answer:
        answer = self.at_hand(request)
        if answer is None:
            answer = self._fresh(request, journal, until)
        else:
            with self._shared.lock:
                journal.usage.stored += 1
        if self._cassette is not None:
            self._cassette.record({k: v for k, v in self.options.items() if k in _DECIDE}, request, answer)
        return answer

    def _fresh(self, request: Request, journal: Journal, until: float) -> Answer:
        with self._shared.places, self._reserved(request):
            self._shared.breaker.check()
            try:
                answer = self._with_retries(request, journal, until)
            except SummarizeError as error:
                self._shared.breaker.failed(error)
                raise
            self._shared.breaker.worked()
            self._book(answer, journal)
        key = key_of(self._model, request)
        # what says nothing may say something next time: it was paid for, but is not worth keeping
        if answer.text.strip() and answer.finish != "refusal":
            if self._kept is not None:
                self._kept.put(key, self._model, request, answer)
            else:
                self._heard[key] = answer
        return answer

    def _with_retries(self, request: Request, journal: Journal, until: float) -> Answer:
        import stamina

        options = self.options
        backoff = float(options.get("backoff", 1.0))
        tries = stamina.retry_context(
            on=lambda error: self._again(error, until),
            attempts=int(options.get("attempts", 5)),
            timeout=max(0.1, until - time.monotonic()),
            wait_initial=backoff,
            wait_max=_LONGEST_WAIT,
            wait_jitter=backoff,
        )
        for attempt in tries:
            with attempt:
                if attempt.num > 1:
                    with self._shared.lock:
                        journal.usage.retries += 1
                self._shared.pace.wait(request.tokens + request.max_output, until)
                left = min(float(options.get("timeout", 120.0)), until - time.monotonic())
                if left <= 0:
                    raise SummarizeError("the session's time with the model is used up", hint="raise --deadline")
                return self._sender().send(request, left)
        raise AssertionError("the last try either answers or raises")

    def _again(self, error: Exception, until: float) -> bool | float:
        """Whether, or after how many seconds, the same request is worth another try."""
        if not isinstance(error, BusyError):
            return False
        if error.after is None:
            return time.monotonic() < until
        self._shared.pace.hold(error.after)
        return error.after if time.monotonic() + error.after < until else False

    def _sender(self) -> Client:
        shared = self._shared
        with _lock:
            if shared.client is None:
                shared.client = self._make()
            return shared.client

    # -- the bill

    def _cost(self, given: int, written: int, cached: int = 0) -> float | None:
        price = self.terms.price
        return None if price is None else price.of(given, written, cached, batch=self.terms.batch)

    def _reckon(self, requests: Sequence[Request], journal: Journal) -> None:
        """Plan mode: what would be sent; then there is no answer."""
        given = sum(r.tokens for r in requests)
        written = sum(r.max_output for r in requests)
        if len(requests) > 1:  # they are joined by one more, which reads what they write
            given, written = given + written, written + requests[-1].max_output
        usage = journal.usage
        usage.planned += len(requests) + (len(requests) > 1)
        usage.given, usage.written = usage.given + given, usage.written + written
        cost = self._cost(given, written)
        usage.spend(cost)
        money = f"at most {cost:.4f}" if cost is not None else "price not known"
        raise SummarizeError(
            f"would send {usage.planned} requests: {given:,} tokens in, at most {written:,} out, {money}"
        )

    @contextmanager
    def _reserved(self, request: Request) -> Iterator[None]:
        """Inside the block, the most that the request may cost counts as spent."""
        tokens = request.tokens + request.max_output
        cost = self._cost(request.tokens, request.max_output) or 0.0
        terms, bill = self.terms, self._shared.bill
        with self._shared.lock:
            if terms.max_cost is not None and bill.cost + cost > terms.max_cost:
                bill.closed = f"--max-cost {terms.max_cost}"
            if terms.max_tokens is not None and bill.tokens + tokens > terms.max_tokens:
                bill.closed = f"--max-tokens {terms.max_tokens}"
            if bill.closed:
                raise LimitError(
                    f"left for another run: the next request might go over {bill.closed}",
                    hint="what is finished stays; raise the limit or run again",
                )
            bill.tokens += tokens
            bill.cost += cost
        try:
            yield
        finally:
            with self._shared.lock:
                bill.tokens -= tokens
                bill.cost -= cost

    def _book(self, answer: Answer, journal: Journal) -> None:
        cost = self._cost(answer.given, answer.written, answer.cached)
        with self._shared.lock:
            usage = journal.usage
            usage.requests += 1
            usage.given += answer.given
            usage.written += answer.written
            usage.cached += answer.cached
            usage.spend(cost)
            self._shared.bill.tokens += answer.given + answer.written
            self._shared.bill.cost += cost or 0.0


class Pace:
    """Requests and tokens per minute, shared by all threads: each takes the next free moment."""

    def __init__(self, rpm: float, tpm: float) -> None:
        self._rpm, self._tpm = rpm, tpm
        self._next = 0.0
        self._held = 0.0
        self._lock = threading.Lock()

    def hold(self, seconds: float) -> None:
        """Nobody asks for so long: the endpoint wants it so."""
        with self._lock:
            self._held = max(self._held, time.monotonic() + seconds)

    def wait(self, tokens: int, until: float) -> None:
        """Wait for our moment.

        Raises:
            SummarizeError: it comes too late.
        """
        with self._lock:
            now = time.monotonic()
            at = max(now, self._next, self._held)
            if at >= until:
                raise SummarizeError(
                    "the session's time with the model ends before its turn comes", hint="raise --deadline or the rates"
                )
            step = max(60.0 / self._rpm if self._rpm else 0.0, 60.0 * tokens / self._tpm if self._tpm else 0.0)
            if step:
                self._next = at + step
        if at > now:
            time.sleep(at - now)


class Breaker:
    """Opens when the endpoint fails again and again, or says that no request can succeed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._in_a_row = 0
        self._until = 0.0
        self._refused: SummarizeError | None = None
        self._last = ""

    def check(self) -> None:
        """Let one through.

        Raises:
            SummarizeError: it is open.
        """
        with self._lock:
            if self._refused is not None:
                raise RefusedError(self._refused.message, hint=self._refused.hint)
            if time.monotonic() < self._until:
                raise SummarizeError(
                    f"not asked: the endpoint has failed {self._in_a_row} times in a row ({self._last})",
                    hint="run again when it works",
                )

    def failed(self, error: SummarizeError) -> None:
        """Count a failure that retries did not mend."""
        with self._lock:
            if isinstance(error, RefusedError):
                self._refused = error
            elif isinstance(error, BusyError):
                self._in_a_row += 1
                self._last = error.message
                if self._in_a_row >= _TRIPS:
                    self._until = time.monotonic() + _OPEN

    def worked(self) -> None:
        """An answer came."""
        with self._lock:
            self._in_a_row = 0
            self._until = 0.0
