"""`compress formats`: what can be read."""

from __future__ import annotations

import click

from compressor.cli._options import take
from compressor.cli._print import columns, write_json
from compressor.options import Options


@click.command(short_help="List what can be read.")
@take("json")
def command(options: Options) -> None:
    """List the formats that are recognised by their content, in the order in which they are tried."""
    from compressor import plugins
    from compressor.reading import ordered

    found = [(name, str(plugins.load("formats", name).TITLE)) for name in ordered()]
    if options.json:
        write_json({"formats": [{"name": name, "title": title} for name, title in found]})
        return
    columns(found)
