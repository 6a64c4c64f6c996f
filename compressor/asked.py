"""From what the user says to who is asked for the brief, and on which terms; mistakes are told before any file is touched."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from compressor import plugins
from compressor.asking import DEADLINE, Price, Terms
from compressor.errors import ConfigError

if TYPE_CHECKING:
    from compressor.options import Options
    from compressor.rules import Preset

#: Requests at once, if the summarizer waits for a model and nothing is said.
CONCURRENCY: Final = 4
_GGUF: Final = ".gguf"


def summarizer(options: Options, preset: Preset) -> tuple[str, dict[str, Any]]:
    """The name of the summarizer and its options: the preset's, overruled by what is said for this run.

    Raises:
        ConfigError: a model for a summarizer that asks none.
    """
    name = options.summarizer or preset.summarizer
    if options.model and not options.summarizer and "model" not in _known(name):
        # naming a model is enough
        name = "local" if options.model.endswith(_GGUF) else "llm"
    said = {**(preset.summarizer_options if name == preset.summarizer else {}), **options.summarizer_option}
    for key, value in (("model", options.model), ("base_url", options.base_url)):
        if not value:
            continue
        if key not in _known(name):
            hint = "--summarizer llm asks a model" if key == "model" else "--summarizer llm asks an endpoint"
            raise ConfigError(f"{key.replace('_', '-')}: the summarizer {name} has none", hint=hint)
        said[key] = value
    return name, said


def _known(name: str) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = plugins.load("summarizers", name).OPTIONS.get("properties", {})
    return properties


def waits(name: str) -> bool:
    """Whether a summarizer spends its time waiting for a model."""
    return bool(getattr(plugins.load("summarizers", name), "WAITS", False))


def terms(options: Options, name: str, said: Mapping[str, Any]) -> Terms:
    """The terms of one run.

    Raises:
        ConfigError: the summarizer cannot work, or a limit means nothing for it.
    """
    _check(name, said)
    asks = waits(name)
    price = _price(options, name, said) if asks else None
    if options.max_cost is not None and asks and price is None:
        raise ConfigError(
            f'max-cost: no price is known for "{said.get("model", "")}"',
            hint="write it into a table of your own (--prices FILE), or set --max-tokens",
        )
    if options.batch and name != "llm":
        raise ConfigError(f"batch: the summarizer {name} has none", hint="--summarizer llm --model NAME --batch")
    made = Terms(
        mode="plan" if options.dry_run else "live",
        run=uuid.uuid4().hex,
        cassette=options.cassette,
        price=price,
        max_cost=options.max_cost,
        max_tokens=options.max_tokens,
        deadline=options.deadline or DEADLINE,
        concurrency=options.concurrency or (CONCURRENCY if asks else 1),
        rpm=float(options.rpm or 0),
        tpm=float(options.tpm or 0),
        batch=options.batch,
    )
    check = getattr(plugins.load("summarizers", name), "ready", None)
    if check is not None:
        check(said, made)
    return made


def _price(options: Options, name: str, said: Mapping[str, Any]) -> Price | None:
    from compressor import prices

    if name == "local":
        return Price(str(said.get("model", "")), 0.0, 0.0, 0.0)
    model = str(said.get("model", ""))
    address = str(said.get("base_url") or "")
    host = urlsplit(address).hostname or ""
    if not address:
        host = "api.anthropic.com" if model.startswith("claude") else "api.openai.com"
    return prices.price(model, host, options.prices)


def _check(name: str, said: Mapping[str, Any]) -> None:
    from compressor import schemacheck
    from compressor.yamlfile import Document

    schema = plugins.load("summarizers", name).OPTIONS
    try:
        schemacheck.check(Document("", "", dict(said)), schema, (), f"summarizer {name}")
    except ConfigError as error:
        raise ConfigError(f"summarizer-option: {error.message}", hint=error.hint) from error
