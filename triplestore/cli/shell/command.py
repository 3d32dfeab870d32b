"""The command `shell`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from triplestore.cli.options import EXIT_FAILED, edge
from triplestore.cli.querying import services

if TYPE_CHECKING:
    from triplestore.store import Store


@click.command()
@click.argument("store", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "-l",
    "--location",
    type=click.Path(file_okay=False, path_type=Path),
    help="Directory of the store; the same as the argument.",
)
@click.option(
    "-c", "--command", "commands", multiple=True, help="Run this and end. May be repeated."
)
@click.option("--read-only", is_flag=True, help="Open for reading: other processes may write.")
@click.option("--ascii", "plain", is_flag=True, help="Draw tables without box characters.")
@services
@edge
def shell(
    store: Path | None,
    location: Path | None,
    commands: tuple[str, ...],
    read_only: bool,
    plain: bool,
    services: tuple[str, ...],
) -> None:
    """Type queries, updates, rules and commands, with completion and a history.

    Without a directory the store is in memory. One that does not exist is created. While another
    process writes to the store, it is opened for reading. Statements can also come from standard
    input or --command; then the first error ends the shell with exit status 1.

    \b
    Examples:
      triplestore shell my.db
      triplestore shell my.db -c '.reason owl-rl' -c 'SELECT (COUNT(*) AS ?n) { ?s ?p ?o }'
      triplestore shell my.db < report.rq
    """
    from triplestore.cli.shell.commands import session_of
    from triplestore.cli.shell.session import Settings
    from triplestore.cli.shell.terminal import carry_out, converse

    if store is not None and location is not None and store != location:
        raise click.UsageError(f"give one store, not both {store} and {location}")
    place = store or location
    talks = not commands and sys.stdin.isatty()
    drawn = (sys.stdout.encoding or "").lower().startswith("utf")
    settings = Settings(plain=plain or not drawn, timer=talks, progress=sys.stderr.isatty())
    with _opened(place, read_only) as opened:
        opened.allow_service = services
        session = session_of(opened, click.echo, _width, settings)
        if not talks:
            if not carry_out(session, "\n".join(commands) if commands else sys.stdin.read()):
                sys.exit(EXIT_FAILED)
            return
        where = "a store in memory" if place is None else str(place)
        click.echo(f"{where}: {len(opened):,} quads. .help shows what can be typed.")
        converse(session, "triplestore" if place is None else place.resolve().name)


def _opened(place: Path | None, read_only: bool) -> Store:
    from triplestore.errors import LockedError
    from triplestore.store import Store

    if read_only:
        if place is None:
            raise click.UsageError("give the directory of the store that is to be read")
        return Store.read_only(place)
    is_new = place is not None and not place.exists()
    try:
        opened = Store(place)
    except LockedError as error:
        assert place is not None
        click.echo(f"opened for reading only: {error}", err=True)
        return Store.read_only(place)
    if is_new:
        click.echo(f"{place} is a new store", err=True)
    return opened


def _width() -> int:
    return shutil.get_terminal_size((120, 40)).columns
