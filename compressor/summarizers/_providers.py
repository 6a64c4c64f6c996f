"""Which client speaks to which endpoint, and from which variable its key comes.

A key goes to the hosts of the provider that it belongs to. To any other host goes `COMPRESS_API_KEY`, which the user
has set for that purpose, or none where the host is this machine.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from compressor.errors import ConfigError
from compressor.summarizers._batches import AnthropicBatches, Batches, OpenAIBatches
from compressor.summarizers._clients import Anthropic, Client, Llm, OpenAI

OWN: Final = "COMPRESS_API_KEY"
#: Variables of the hosts that end so.
_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "api.openai.com": ("OPENAI_API_KEY",),
    "api.anthropic.com": ("ANTHROPIC_API_KEY",),
    "openrouter.ai": ("OPENROUTER_API_KEY",),
    "api.deepseek.com": ("DEEPSEEK_API_KEY",),
    "aliyuncs.com": ("DASHSCOPE_API_KEY",),
    "generativelanguage.googleapis.com": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "api.mistral.ai": ("MISTRAL_API_KEY",),
    "api.groq.com": ("GROQ_API_KEY",),
    "api.together.xyz": ("TOGETHER_API_KEY",),
    "api.x.ai": ("XAI_API_KEY",),
    "api.moonshot.cn": ("MOONSHOT_API_KEY",),
    "api.moonshot.ai": ("MOONSHOT_API_KEY",),
}
_HOME: Final = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1", "host.docker.internal"})
_MAKERS: Final[Mapping[str, Callable[[Mapping[str, Any], str, str], Client]]] = {
    "openai": OpenAI,
    "anthropic": Anthropic,
    "llm": Llm,
}


def client_name(options: Mapping[str, Any]) -> str:
    """`openai`, `anthropic` or `llm`: as the user says, else by the model's name and the address."""
    said = options.get("client")
    if said:
        return str(said)
    host = urlsplit(str(options.get("base_url") or "")).hostname or ""
    if host == "api.anthropic.com":
        return "anthropic"
    return "anthropic" if not host and str(options.get("model", "")).startswith("claude") else "openai"


def make(options: Mapping[str, Any]) -> Client:
    """The client of these options.

    Raises:
        ConfigError: its package or key is missing, or its name is wrong.
    """
    name = client_name(options)
    return _MAKERS[name](options, *key_of(options, name))


def check(options: Mapping[str, Any], *, sending: bool) -> None:
    """What can be known before anything is sent.

    Args:
        sending: a plan needs no key.

    Raises:
        ConfigError: it says what to install or to set.
    """
    if not options.get("model"):
        raise ConfigError("no model named", hint="--model NAME, COMPRESS_MODEL, or `model` in compress.yaml")
    name = client_name(options)
    for package in (name, "stamina"):
        need(package, name)
    if name == "llm":
        _check_llm(options)
        return
    address = options.get("base_url")
    if address is not None and (urlsplit(address).scheme not in {"http", "https"} or not urlsplit(address).hostname):
        raise ConfigError(f'base-url: "{address}" is no address', hint="such as http://localhost:11434/v1")
    if sending:
        key_of(options, name)


def need(package: str, extra: str) -> None:
    """A package that an extra of ours brings.

    Raises:
        ConfigError: it is not installed.
    """
    if importlib.util.find_spec(package) is None:
        raise ConfigError(
            f'the package "{package}" is not installed', hint=f"pip install 'transcript-compressor[{extra}]'"
        )


def key_of(options: Mapping[str, Any], client: str) -> tuple[str, str]:
    """The key, and the variable that it stands in.

    Raises:
        ConfigError: it is not set.
    """
    if client == "llm":
        return "", ""
    host = urlsplit(str(options.get("base_url") or _HOME[client])).hostname or ""
    variables = next((v for end, v in _KEYS.items() if host == end or host.endswith("." + end)), ())
    for variable in (OWN, *variables):
        key = os.environ.get(variable, "").strip()
        if key:
            return key, variable
    if host in _LOOPBACK or host.startswith("127."):
        return "none", OWN
    wanted = variables[0] if variables else OWN
    raise ConfigError(f'no key for "{host}"', hint=f"set the environment variable {wanted}")


def _check_llm(options: Mapping[str, Any]) -> None:
    import llm

    try:
        llm.get_model(options["model"])
    except llm.UnknownModelError:
        raise ConfigError(
            f'the llm package knows no model "{options["model"]}"',
            hint="see `llm models`; `llm install llm-…` adds the plug-in of a provider",
        ) from None
    except ImportError as error:
        raise ConfigError(
            f"a plug-in of the llm package cannot be loaded: {error}", hint="repair or uninstall it with `llm install`"
        ) from None


def batches(options: Mapping[str, Any]) -> Batches:
    """The batch endpoint of these options.

    Raises:
        ConfigError: the provider has none that we know.
    """
    client = make(options)
    if isinstance(client, Anthropic):
        return AnthropicBatches(client)
    if isinstance(client, OpenAI):
        return OpenAIBatches(client)
    raise ConfigError("batch: the llm package has no batches", hint="--summarizer-option client=openai or anthropic")
