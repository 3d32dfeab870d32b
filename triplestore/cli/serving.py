"""The commands that serve a store over HTTP: `serve`, and `ui` for a person with a browser."""

from __future__ import annotations

import webbrowser
from dataclasses import replace
from pathlib import Path
from threading import Thread

import click

from triplestore.cli.options import edge, location, open_to_read
from triplestore.cli.querying import size
from triplestore.errors import install

INSTALL = f"serving needs starlette and uvicorn: {install('server')}"


@click.command()
@location()
@click.option(
    "--bind",
    default="localhost:7878",
    show_default=True,
    help="Host and port to listen on; port 0 takes any that is free.",
)
@click.option("--allow-update", is_flag=True, help="Allow updates.")
@click.option(
    "--timeout-s",
    type=click.FloatRange(0, min_open=True),
    default=60,
    show_default=True,
    help="Maximum number of seconds of one query.",
)
@click.option(
    "--max-memory",
    type=size,
    help="Maximum memory of one query. Default: an eighth of the machine's.",
)
@click.option(
    "--max-queries",
    type=click.IntRange(1),
    default=4,
    show_default=True,
    help="Maximum number of concurrent queries.",
)
@click.option("--union-default-graph", is_flag=True, help="Queries see the union of all graphs.")
@click.option(
    "--allowed-host",
    "allowed_hosts",
    multiple=True,
    metavar="NAME",
    help="A name under which clients may address the server, such as that of a proxy in front of "
    "it; `*` for any name. May be repeated.",
)
@click.option("--cors", is_flag=True, help="Allow requests from pages of any site.")
@click.option("--ui", "browser", is_flag=True, help="Open the page in the browser.")
@edge
def serve(
    location: Path,
    bind: str,
    allow_update: bool,
    timeout_s: float,
    max_memory: int | None,
    max_queries: int,
    union_default_graph: bool,
    allowed_hosts: tuple[str, ...],
    cors: bool,
    browser: bool,
) -> None:
    """Answer SPARQL queries over HTTP, until Ctrl-C or SIGTERM.

    The store is opened for reading and shows each commit of other processes, unless --allow-update
    is given. There is no password: every client that reaches the address may send queries.

    \b
    Examples:
      triplestore serve -l my.db
      curl localhost:7878/query --data-urlencode 'query=SELECT * { ?s ?p ?o } LIMIT 10'
      triplestore serve -l my.db --bind 0.0.0.0:80 --max-memory 2GB --timeout-s 10
      triplestore serve -l my.db --allowed-host data.example.org
    """
    try:
        from triplestore.server import Settings
        from triplestore.server import serve as run
    except ModuleNotFoundError as error:
        raise click.ClickException(f"{INSTALL} ({error})") from None
    from triplestore.store import Store

    def announce(address: str) -> None:
        click.echo(f"{location} is served at {address}", err=True)
        if browser:
            open_browser(address)

    host, port = _host_and_port(bind)
    settings = Settings(
        update=allow_update,
        seconds=timeout_s,
        threads=max_queries,
        union=union_default_graph,
        cors=cors,
        allowed=frozenset(map(str.lower, allowed_hosts)),
    )
    if max_memory is not None:
        settings = replace(settings, memory=max_memory)
    with Store(location) if allow_update else open_to_read(location) as store:
        run(store, settings, host=host, port=port, announce=announce)


@click.command()
@click.argument("location", type=click.Path(file_okay=False, path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Default: any that is free.")
@click.option("--allow-update", is_flag=True, help="Allow changes of the store.")
@click.option("--no-browser", is_flag=True, help="Only say the address.")
@click.pass_context
def ui(
    context: click.Context, location: Path, port: int, allow_update: bool, no_browser: bool
) -> None:
    """Open a store's page in the browser: query, browse, see why facts hold, and change.

    The page is served on this machine only, until Ctrl-C. `serve` has more options.

    \b
    Examples:
      triplestore ui my.db
      triplestore ui my.db --allow-update
    """
    context.invoke(
        serve,
        location=location,
        bind=f"localhost:{port}",
        allow_update=allow_update,
        browser=not no_browser,
    )


def open_browser(address: str) -> None:
    """Show a page in the person's browser, from a thread: some browsers make the caller wait."""
    from triplestore.server.page.static import is_built

    if not is_built():
        click.echo(
            "triplestore: this installation has no page for browsers, only plain text "
            "(`make ui` builds it)",
            err=True,
        )
    Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def _host_and_port(bind: str) -> tuple[str, int]:
    host, colon, port = bind.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not port.isdigit() or int(port) > 65535:
        raise click.BadParameter(f"{bind!r} is not a host and port; use for example localhost:7878")
    return host, int(port)
