"""Make click options from `compressor.options`, so that nothing is spelled twice."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from compressor import options
from compressor.options import Options, Said, Spec, spelled

F = TypeVar("F", bound=Callable[..., Any])

#: For commands that read one transcript.
READING = ("format", "map", "encoding")
#: For commands that also need rules.
RULES = ("preset", "rules", *READING)


def take(*names: str) -> Callable[[F], F]:
    """Give a command these options (none named: all), and `--config`; it gets them as one `Options`."""
    chosen = names or tuple(options.specs())

    def decorate(function: F) -> F:
        wrapped: Any = _gather(function)
        for name in reversed(chosen):
            wrapped = option(name, options.specs()[name], getattr(Options(), name))(wrapped)
        help_text = "Configuration file; otherwise compress.yaml or [tool.compress] here or above."
        config = click.option("--config", metavar="FILE", shell_complete=_complete_files, help=help_text)
        result: F = config(wrapped)
        return result

    return decorate


def _gather(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(config: str | None, **values: Any) -> Any:
        said = {n: values.pop(n) for n in list(values) if n in options.specs()}
        return function(options=gather(config, said), **values)

    call.__doc__ = function.__doc__
    call.__name__ = function.__name__
    return call


def gather(config: str | None, said: dict[str, Any]) -> Options:
    """Options from the command line, the environment and the configuration file, in this order."""
    from compressor import config as config_file

    path = Path(config) if config else config_file.find(Path.cwd())
    # what was not given is None, False or (); the next source decides
    given = Said({n: v for n, v in said.items() if v is not None and v is not False and v != ()})
    return options.merge(
        given, options.from_environment(os.environ), config_file.load(path) if path is not None else Said({})
    )


def option(name: str, spec: Spec, default: Any) -> Callable[[Any], Any]:
    """One click option; `default` is only shown: what was not said is left to the next source."""
    flags = [f"--{spelled(name)}", *([spec.short] if spec.short else []), name]
    if spec.kind == "flag":
        return click.option(*flags, is_flag=True, help=spec.help)
    return click.option(
        *flags,
        type=str,
        multiple=spec.many,
        metavar=_metavar(spec),
        help=_help(spec, default),
        shell_complete=_completer(spec),
    )


def _metavar(spec: Spec) -> str:
    if spec.metavar:
        return spec.metavar
    if spec.choices:
        return "|".join(spec.choices)
    return {"path": "PATH", "count": "N", "number": "N", "pairs": "KEY=VALUE", "name": "NAME"}.get(spec.kind, "TEXT")


def _help(spec: Spec, default: Any) -> str:
    shown = f"  [default: {default}]" if isinstance(default, (str, int)) and default else ""
    return f"{spec.help}{'  (repeatable)' if spec.many else ''}{shown}"


def _completer(spec: Spec) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    if spec.kind == "path":
        return _complete_files

    def complete(_ctx: click.Context, _param: click.Parameter, begin: str) -> list[CompletionItem]:
        from compressor import plugins

        names = plugins.names(spec.group) if spec.group else spec.choices
        return [CompletionItem(n) for n in names if n.startswith(begin)]

    return complete


def _complete_files(_ctx: click.Context, _param: click.Parameter, begin: str) -> list[CompletionItem]:
    return [CompletionItem(begin, type="file")]
