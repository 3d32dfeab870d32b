"""The command that gives agents access to a store: `mcp`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from triplestore.cli.options import edge, location, open_to_read
from triplestore.cli.querying import size
from triplestore.errors import install

INSTALL_MCP = f"the MCP server needs the package mcp: {install('mcp')}"


@click.command()
@location()
@click.option(
    "--http",
    "port",
    type=click.IntRange(1, 65535),
    metavar="PORT",
    help="Answer HTTP requests at this port of localhost instead of standard input.",
)
@click.option("--allow-update", is_flag=True, help="Offer a tool that changes the store.")
@click.option(
    "--timeout-s",
    type=click.FloatRange(0, min_open=True),
    default=30,
    show_default=True,
    help="Maximum number of seconds of one call.",
)
@click.option(
    "--max-memory",
    type=size,
    help="Maximum memory of one query. Default: an eighth of the machine's.",
)
@click.option(
    "--max-rows",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Maximum number of rows of one answer.",
)
@edge
def mcp(
    location: Path,
    port: int | None,
    allow_update: bool,
    timeout_s: float,
    max_memory: int | None,
    max_rows: int,
) -> None:
    """Give agents access to a store, over the Model Context Protocol.

    Agents get tools to describe and search the store, to ask SPARQL queries, to explain what holds,
    and to preview what an update would imply. The store is opened for reading and shows each commit
    of other processes, unless --allow-update is given.

    \b
    Examples:
      triplestore mcp -l my.db
      triplestore mcp -l my.db --allow-update --timeout-s 10
      triplestore mcp -l my.db --http 8765
    """
    try:
        from triplestore.mcp_server import AgentSettings, serve_http, serve_stdio
    except ModuleNotFoundError as error:
        raise click.ClickException(f"{INSTALL_MCP} ({error})") from None
    from triplestore.store import Store

    settings = AgentSettings(update=allow_update, seconds=timeout_s, rows=max_rows)
    if max_memory is not None:
        settings = replace(settings, memory=max_memory)
    with Store(location) if allow_update else open_to_read(location) as store:
        if port is None:
            serve_stdio(store, settings)
        else:
            click.echo(f"{location} is served at http://localhost:{port}/mcp", err=True)
            serve_http(store, settings, port=port)
