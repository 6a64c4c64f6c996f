"""Clients: one request out, one answer or one sorted failure back. The SDKs do the talking; they never retry.

A client has `send(request, seconds) -> Answer` and `body(request)`, what would be sent. Redirects are not followed: a
request goes where the user said, or nowhere. Answers are read in slices, so that one without an end costs neither
the memory nor more than the time that was given.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, Final, Protocol

import orjson

from compressor.errors import SummarizeError
from compressor.summarizers._answers import Answer
from compressor.summarizers._failures import RefusedError, busy, told
from compressor.summarizers._request import Request

#: An answer of more bytes than this is no brief.
_LARGEST: Final = 4_000_000
_TOOL: Final = "write_brief"
#: Statuses at which the same request may succeed later.
_PASSING: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


class Client(Protocol):
    """Sends requests of one model to one endpoint."""

    def send(self, request: Request, seconds: float, /) -> Answer: ...

    def close(self) -> None: ...


class OpenAI:
    """Chat completions, of OpenAI and everybody who speaks the same."""

    def __init__(self, options: Mapping[str, Any], key: str, variable: str) -> None:
        import openai

        self.sdk = openai
        self.key, self.variable = key, variable
        self.options = options
        self.base_url: str | None = options.get("base_url")
        http = openai.DefaultHttpxClient(follow_redirects=False)
        self.client = openai.OpenAI(api_key=key, base_url=self.base_url, max_retries=0, http_client=http)
        self._plain = False
        self._limit = "max_tokens" if self.base_url else "max_completion_tokens"

    def body(self, request: Request) -> dict[str, Any]:
        """The body of a chat completion."""
        messages = [{"role": "system", "content": request.system}]
        messages += [{"role": t.role, "content": t.text} for t in request.turns]
        body: dict[str, Any] = {"model": self.options["model"], "messages": messages, self._limit: request.max_output}
        if not self._plain:
            shape = {"name": "brief", "strict": True, "schema": dict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": shape}
        if "temperature" in self.options:
            body["temperature"] = self.options["temperature"]
        return body

    def send(self, request: Request, seconds: float) -> Answer:
        """Ask; an endpoint that does not know structured output is asked without it."""
        until = time.monotonic() + seconds
        for _ in range(3):
            try:
                return self._send(request, until)
            except self.sdk.BadRequestError as error:
                if not self._humbler(str(error.body or error)):
                    raise self._sorted(error) from None
            except Exception as error:
                if not is_theirs(error, self.sdk.OpenAIError):
                    raise
                raise self._sorted(error) from None
        raise SummarizeError("the endpoint takes none of our requests (400)", hint="try another model or client")

    def _send(self, request: Request, until: float) -> Answer:
        left = max(0.1, until - time.monotonic())
        create = self.client.chat.completions.with_streaming_response.create
        with create(**self.body(request), timeout=left) as response:
            return without_key(of_chat(_json(_read(response.iter_bytes(), until))), self.key)

    def close(self) -> None:
        """Close the connections."""
        self.client.close()

    def _humbler(self, said: str) -> bool:
        """Leave out what the endpoint has just said it does not know; False: nothing to leave out."""
        if "max_completion_tokens" in said and self._limit == "max_tokens":
            self._limit = "max_completion_tokens"
        elif "max_tokens" in said and self._limit == "max_completion_tokens":
            self._limit = "max_tokens"
        elif not self._plain and any(w in said for w in ("response_format", "json_schema", "schema", "strict")):
            self._plain = True
        else:
            return False
        return True

    def _sorted(self, error: Exception) -> SummarizeError:
        return sort_out(error, self.sdk, self.key, self.variable, self.options)


class Anthropic:
    """Messages of Anthropic, natively: the instructions and the data are marked for its prompt cache."""

    def __init__(self, options: Mapping[str, Any], key: str, variable: str) -> None:
        import anthropic

        self.sdk = anthropic
        self.key, self.variable = key, variable
        self.options = options
        http = anthropic.DefaultHttpxClient(follow_redirects=False)
        self.client = anthropic.Anthropic(
            api_key=key, base_url=options.get("base_url"), max_retries=0, http_client=http
        )

    def body(self, request: Request) -> dict[str, Any]:
        """The body of a message; the shape of the answer is that of a tool which must be called."""
        kept = {"cache_control": {"type": "ephemeral"}}
        messages = []
        for number, turn in enumerate(request.turns):
            blocks: list[dict[str, Any]] = [{"type": "text", "text": b} for b in turn.blocks]
            if not number:
                blocks[0] |= kept
            messages.append({"role": turn.role, "content": blocks})
        body = {
            "model": self.options["model"],
            "max_tokens": request.max_output,
            "system": [{"type": "text", "text": request.system, **kept}],
            "messages": messages,
            "tools": [{"name": _TOOL, "description": "Hand in the brief.", "input_schema": dict(request.schema)}],
            "tool_choice": {"type": "tool", "name": _TOOL},
        }
        if "temperature" in self.options:
            body["temperature"] = self.options["temperature"]
        return body

    def send(self, request: Request, seconds: float) -> Answer:
        """Ask."""
        until = time.monotonic() + seconds
        create = self.client.messages.with_streaming_response.create
        try:
            with create(**self.body(request), timeout=seconds) as response:
                return without_key(of_message(_json(_read(response.iter_bytes(), until))), self.key)
        except Exception as error:
            if not is_theirs(error, self.sdk.AnthropicError):
                raise
            raise sort_out(error, self.sdk, self.key, self.variable, self.options) from None

    def close(self) -> None:
        """Close the connections."""
        self.client.close()


class Llm:
    """Whatever the `llm` package has a plug-in for. It keeps its own keys and settings."""

    def __init__(self, options: Mapping[str, Any], _key: str, _variable: str) -> None:
        import llm

        self._llm = llm
        self.options = options
        self._model = llm.get_model(options["model"])

    def send(self, request: Request, _seconds: float) -> Answer:
        """Ask; this package has no time limits of its own."""
        said: dict[str, Any] = {}
        if self._model.supports_schema:
            said["schema"] = dict(request.schema)
        text = "\n\n".join(t.text if t.role == "user" else f"Your last answer:\n{t.text}" for t in request.turns)
        try:
            response = self._model.prompt(text, system=request.system, stream=False, **said)
            words, usage = response.text(), response.usage()
        except self._llm.NeedsKeyException as error:
            raise RefusedError(
                f"llm: {told(error, '')}", hint=f"set it with `llm keys set {self._model.needs_key or 'NAME'}`"
            ) from None
        except self._llm.ModelError as error:
            raise SummarizeError(f"llm: {told(error, '')}", hint="see the model's own plug-in for llm") from None
        except (ConnectionError, TimeoutError) as error:
            raise busy(f"llm: {told(error, '')}") from None
        except Exception as error:
            # plug-ins raise what their own libraries raise; whether it may pass nobody can tell
            raise busy(f"llm: {type(error).__name__}: {told(error, '')}") from error
        return Answer(words, "stop", int(usage.input or 0), int(usage.output or 0))

    def close(self) -> None:
        """The package keeps no connections."""


def is_theirs(error: Exception, kind: type[Exception]) -> bool:
    """Whether it comes from an SDK, or from the HTTP library below it (answers are read past the SDK)."""
    return isinstance(error, kind) or type(error).__module__.startswith(("httpx", "httpcore"))


def sort_out(error: Any, sdk: Any, key: str, variable: str, options: Mapping[str, Any]) -> SummarizeError:
    """What an SDK's exception means for us: one table for both, they are made alike."""
    if isinstance(error, sdk.APITimeoutError) or "Timeout" in type(error).__name__:
        return busy("the endpoint did not answer in time")
    if isinstance(error, sdk.APIStatusError):
        return _by_status(error, key, variable, options)
    if isinstance(error, sdk.APIConnectionError) or type(error).__module__.startswith(("httpx", "httpcore")):
        return busy(f"no connection to {_place(options)}, or it broke: {told(error.__cause__ or error, key)}")
    return SummarizeError(f"the endpoint's answer makes no sense: {told(error, key)}", hint="check --base-url")


def _by_status(error: Any, key: str, variable: str, options: Mapping[str, Any]) -> SummarizeError:
    status = int(error.status_code)
    if status in {401, 403}:
        # what the endpoint says here may quote parts of the key
        return RefusedError(f"the endpoint refuses the key ({status})", hint=f"check {variable}")
    if status == 404:
        where = _place(options)
        return RefusedError(
            f'{where} knows no model "{options["model"]}", or is no such endpoint (404)',
            hint="check --model and --base-url (most end in /v1)",
        )
    if 300 <= status < 400:
        return RefusedError(f"the endpoint sends us elsewhere ({status})", hint="name the new address with --base-url")
    said = told(said_in(error.body), key)
    if status in _PASSING and "insufficient_quota" not in str(error.body):
        return busy(f"the endpoint is busy or broken ({status}): {said}", _after(error.response.headers))
    if status in {402, 429}:
        return RefusedError(f"the account is used up ({status}): {said}", hint="see its billing page")
    return SummarizeError(f"the endpoint refuses the request ({status}): {said}", hint="try another model")


def said_in(body: Any) -> str:
    """The message in an error's body, in the shapes that endpoints use."""
    inner = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(inner, dict):
        inner = inner.get("message", inner)
    return str(inner or "no reason given")


def _place(options: Mapping[str, Any]) -> str:
    from urllib.parse import urlsplit

    # an address may carry a password
    return urlsplit(str(options.get("base_url") or "")).hostname or "the endpoint"


def _after(headers: Mapping[str, str]) -> float | None:
    """Seconds that `Retry-After` asks for, said in seconds or as a date."""
    said = headers.get("retry-after", "")
    try:
        return max(0.0, float(said))
    except ValueError:
        pass
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _read(slices: Iterator[bytes], until: float) -> bytes:
    found, size = [], 0
    for part in slices:
        found.append(part)
        size += len(part)
        if size > _LARGEST:
            raise SummarizeError("the answer has no end", hint="try another model")
        if time.monotonic() > until:
            raise busy("the endpoint did not finish its answer in time")
    return b"".join(found)


def _json(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        # a proxy's page, or half an answer: the connection broke where it looked whole
        raise busy("the endpoint's answer is not JSON") from None


def without_key(answer: Answer, key: str) -> Answer:
    """The answer, unless the endpoint has put our key into it: answers are kept, and keys are not.

    Raises:
        SummarizeError: it has.
    """
    if len(key) >= 8 and key in answer.text:
        raise SummarizeError("the endpoint answers with the key", hint="do not trust it; change the key")
    return answer


def of_chat(value: Any) -> Answer:
    """The answer in a chat completion.

    Raises:
        SummarizeError: it is none.
    """
    try:
        choice = value["choices"][0]
        message = choice["message"]
        usage = value.get("usage") or {}
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        counts = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0), int(cached)
        finish = choice.get("finish_reason")
        if message.get("refusal") or finish == "content_filter":
            return Answer(str(message.get("refusal") or ""), "refusal", *counts)
        content = message.get("content")
        text = content if isinstance(content, str) else ""
        return Answer(text, "length" if finish == "length" else "stop", *counts)
    except (LookupError, TypeError, AttributeError, ValueError):
        raise SummarizeError(
            f"the endpoint's answer is no chat completion: {told(value, '')}", hint="check --base-url"
        ) from None


def of_message(value: Any) -> Answer:
    """The answer in a message of Anthropic's.

    Raises:
        SummarizeError: it is none.
    """
    try:
        usage = value.get("usage") or {}
        cached = int(usage.get("cache_read_input_tokens") or 0)
        fresh = int(usage.get("input_tokens") or 0) + int(usage.get("cache_creation_input_tokens") or 0)
        counts = fresh + cached, int(usage.get("output_tokens") or 0), cached
        reason = value.get("stop_reason")
        tools = [b["input"] for b in value["content"] if b.get("type") == "tool_use"]
        texts = [b["text"] for b in value["content"] if b.get("type") == "text"]
        text = orjson.dumps(tools[0]).decode() if tools else "\n".join(texts)
        finish = {"max_tokens": "length", "refusal": "refusal"}.get(str(reason), "stop")
        return Answer(text, finish, *counts)
    except (LookupError, TypeError, AttributeError, ValueError):
        raise SummarizeError(
            f"the endpoint's answer is no message: {told(value, '')}", hint="check --base-url"
        ) from None
