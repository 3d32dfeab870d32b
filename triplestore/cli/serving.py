"""The command that serves stores over HTTP: `serve`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from triplestore.cli.browsers import open_browser
from triplestore.cli.options import edge, location, open_to_read
from triplestore.cli.querying import size
from triplestore.errors import install

if TYPE_CHECKING:
    from triplestore.server import Settings
    from triplestore.store import Store

INSTALL = f"serving needs starlette and uvicorn: {install('server')}"

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@location(required=False)
@click.option(
    "--store",
    "stores",
    multiple=True,
    metavar="NAME=PATH",
    help="Serve the store at PATH under /NAME. May be repeated, instead of -l.",
)
@click.option(
    "--bind",
    default="localhost:7878",
    show_default=True,
    help="Host and port to listen on; port 0 takes any that is free.",
)
@click.option("--allow-update", is_flag=True, help="Allow updates.")
@click.option(
    "--users",
    type=_FILE,
    help="File of users who may log in, made by `triplestore users`. Needed if other machines "
    "reach the address.",
)
@click.option("--no-login", is_flag=True, help="Let everyone in who reaches the address.")
@click.option("--tls-cert", type=_FILE, help="Certificate and its chain (PEM), to serve HTTPS.")
@click.option(
    "--tls-key", type=_FILE, help="Key of the certificate, if it is in a file of its own."
)
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
@click.option(
    "--max-queries-per-client",
    type=click.IntRange(0),
    default=100,
    show_default=True,
    help="Maximum number of queries of one user or address that run or wait; 0 for no limit.",
)
@click.option(
    "--max-rate",
    type=click.FloatRange(0),
    default=0,
    help="Maximum number of queries per second of one user or address. Default: no limit.",
)
@click.option("--max-body", type=size, default="256MB", show_default=True, help="Largest request.")
@click.option(
    "--allow-service",
    "services",
    multiple=True,
    metavar="URL",
    help="An endpoint that SERVICE may ask and LOAD may read, or with / at its end all below it. "
    "May be repeated.",
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
@click.option(
    "--access-log", metavar="FILE", help="Write a line per request; `-` for standard error."
)
@click.option(
    "--log-format",
    type=click.Choice(["common", "json"]),
    default="common",
    show_default=True,
    help="Format of the access log.",
)
@click.option("--ui", "browser", is_flag=True, help="Open the page in the browser.")
@edge
def serve(
    location: Path | None,
    stores: tuple[str, ...],
    bind: str,
    allow_update: bool,
    users: Path | None,
    no_login: bool,
    tls_cert: Path | None,
    tls_key: Path | None,
    timeout_s: float,
    max_memory: int | None,
    max_queries: int,
    max_queries_per_client: int,
    max_rate: float,
    max_body: int,
    services: tuple[str, ...],
    union_default_graph: bool,
    allowed_hosts: tuple[str, ...],
    cors: bool,
    access_log: str | None,
    log_format: str,
    browser: bool,
) -> None:
    """Answer SPARQL queries over HTTP, until Ctrl-C or SIGTERM.

    The store is opened for reading and shows each commit of other processes, unless --allow-update
    is given. On this machine no login is needed; if other machines reach the address, give --users.

    \b
    Examples:
      triplestore serve -l my.db
      curl localhost:7878/query --data-urlencode 'query=SELECT * { ?s ?p ?o } LIMIT 10'
      triplestore serve --store museum=museum.db --store city=city.db
      triplestore serve -l my.db --bind 0.0.0.0:443 --users users.toml --tls-cert cert.pem
      triplestore serve -l my.db --allowed-host data.example.org
    """
    try:
        from triplestore.server import Settings
        from triplestore.server import serve as run
    except ModuleNotFoundError as error:
        raise click.ClickException(f"{INSTALL} ({error})") from None
    if users is not None and no_login:
        raise click.UsageError("give --users or --no-login, not both")
    host, port = _host_and_port(bind)
    settings = Settings(
        update=allow_update,
        seconds=timeout_s,
        threads=max_queries,
        per_client=max_queries_per_client,
        rate=max_rate,
        body=max_body,
        union=union_default_graph,
        allow_service=services,
        cors=cors,
        allowed=frozenset(map(str.lower, allowed_hosts)),
        users=users,
        tls_cert=tls_cert,
        tls_key=tls_key,
        access_log=access_log,
        log_format=log_format,
    )
    if max_memory is not None:
        settings = replace(settings, memory=max_memory)
    with _opened(_paths(location, stores), settings) as opened:
        names = ", ".join(map(str, _paths(location, stores).values()))
        verb = "is" if len(opened) == 1 else "are"

        def announce(address: str) -> None:
            click.echo(f"{names} {verb} served at {address}", err=True)
            if browser:
                open_browser(address)

        run(
            opened if location is None else opened[""],
            settings,
            host=host,
            port=port,
            announce=announce,
            login=not no_login,
        )


def _paths(location: Path | None, stores: tuple[str, ...]) -> dict[str, Path]:
    """The directories to serve by name; the name of a lone store is empty."""
    if (location is None) == (not stores):
        raise click.UsageError(
            "give -l PATH for one store, or --store NAME=PATH for each of several"
        )
    if location is not None:
        return {"": location}
    found: dict[str, Path] = {}
    for given in stores:
        name, equals, path = given.partition("=")
        if not equals or not path:
            raise click.BadParameter(f"{given!r} is not NAME=PATH", param_hint="--store")
        if name in found:
            raise click.BadParameter(f"{name!r} is given twice", param_hint="--store")
        found[name] = Path(path)
    return found


@contextmanager
def _opened(paths: Mapping[str, Path], settings: Settings) -> Iterator[dict[str, Store]]:
    from triplestore.store import Store

    with ExitStack() as stack:
        opened = {}
        for name, path in paths.items():
            store = Store(path) if settings.update else open_to_read(path)
            opened[name] = stack.enter_context(store)
        yield opened


def _host_and_port(bind: str) -> tuple[str, int]:
    host, colon, port = bind.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not port.isdigit() or int(port) > 65535:
        raise click.BadParameter(f"{bind!r} is not a host and port; use for example localhost:7878")
    return host, int(port)
