"""The command about prefixes: `prefix`."""

from __future__ import annotations

from pathlib import Path

import click

from triplestore.cli.options import edge, location, open_to_read


@click.command()
@location()
@click.argument("name", required=False)
@click.argument("iri", required=False)
@click.option("--remove", "removed", multiple=True, metavar="NAME", help="Remove a prefix.")
@edge
def prefix(location: Path, name: str | None, iri: str | None, removed: tuple[str, ...]) -> None:
    """List the prefixes of a store, or add, change and remove some.

    Queries, updates, rules and dumps know them. With a name only, its IRI is printed.

    \b
    Examples:
      triplestore prefix -l my.db
      triplestore prefix -l my.db ex http://example.org/
      triplestore prefix -l my.db : http://example.org/
      triplestore prefix -l my.db --remove ex
    """
    from triplestore.store import Store

    wanted = None if name is None else _name(name)
    if wanted is None and iri is not None:
        raise click.UsageError("give a name before the IRI")
    with open_to_read(location) as store:  # refuses a mistyped path and creates nothing
        known = dict(store.prefixes)
    if iri is None and not removed:
        _list(known, wanted)
        return
    if iri is not None:
        _check_iri(iri)
    with Store(location) as store, store.transaction() as transaction:
        for one in map(_name, removed):
            if one not in known:
                raise click.UsageError(f"{location} does not have the prefix {one}:")
            transaction.unbind(one)
        if wanted is not None and iri is not None:
            transaction.bind(wanted, iri)


def _list(known: dict[str, str], wanted: str | None) -> None:
    if wanted is None:
        for name, namespace in sorted(known.items()):
            click.echo(f"{name}: <{namespace}>")
    elif wanted in known:
        click.echo(known[wanted])
    else:
        raise click.UsageError(f"the store does not have the prefix {wanted}:")


def _name(given: str) -> str:
    """The name of a prefix, with or without its colon."""
    name = given.removesuffix(":")
    if ":" in name or any(letter.isspace() for letter in name):
        raise click.BadParameter(f"{given!r} is not the name of a prefix; use for example ex")
    return name


def _check_iri(iri: str) -> None:
    from pyoxigraph import NamedNode

    try:
        NamedNode(iri)
    except ValueError as error:
        raise click.BadParameter(f"{iri!r} is not an absolute IRI: {error}") from None
