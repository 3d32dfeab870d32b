"""Shared parts of the commands: options, exit statuses, and the output of errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

if TYPE_CHECKING:
    from triplestore.store import Store

P = ParamSpec("P")
R = TypeVar("R")

EXIT_FAILED = 1
EXIT_SKIPPED = 3
EXIT_INTERRUPTED = 130


class _StoreOption(click.Option):
    """The option that names the store: the message without it shows how to say it."""

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        try:
            return super().process_value(ctx, value)
        except click.MissingParameter:
            message = f"which store? Name its directory: triplestore {ctx.info_name} -l my.db"
            raise click.UsageError(message, ctx) from None


def location(required: bool = True) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """The option that names the store's directory."""
    return click.option(
        "-l",
        "--location",
        cls=_StoreOption,
        required=required,
        type=click.Path(file_okay=False, path_type=Path),
        help="Directory of the store.",
    )


def say_left_out(count: int) -> None:
    """Say on stderr how many malformed statements were left out."""
    statements = "statement was" if count == 1 else "statements were"
    click.echo(f"triplestore: {count:,} malformed {statements} left out", err=True)


def facts_option(function: Callable[P, R]) -> Callable[P, R]:
    """The option that chooses between asserted and inferred quads."""
    return click.option(
        "--facts",
        type=click.Choice(["all", "explicit", "inferred"]),
        default="explicit",
        show_default=True,
        help="Which quads: asserted (explicit), inferred, or both.",
    )(function)


def edge(function: Callable[P, R]) -> Callable[P, R]:
    """Turn the package's errors into one line on stderr and an exit status."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        from triplestore.errors import TripleStoreError

        try:
            return function(*args, **kwargs)
        except TripleStoreError as error:
            click.echo(f"triplestore: {error}", err=True)
            sys.exit(EXIT_FAILED)
        except BrokenPipeError:
            # The reader of our output has ended (`... | head`).
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(EXIT_FAILED)
        except OSError as error:
            click.echo(f"triplestore: {error}", err=True)
            sys.exit(EXIT_FAILED)
        except KeyboardInterrupt:
            click.echo("triplestore: interrupted; nothing was changed", err=True)
            sys.exit(EXIT_INTERRUPTED)

    return run


def open_to_read(location: Path) -> Store:
    """Open a store for reading, without a lock; creates nothing."""
    from triplestore.store import Store

    return Store.read_only(location)


def open_to_write(location: Path) -> Store:
    """Open an existing store; a mistyped path creates nothing."""
    from triplestore.store import Store

    with open_to_read(location):
        pass
    return Store(location)


def graph_of(name: str | None) -> Any:
    """A graph given on the command line: an IRI, `_:label`, or `default`."""
    from pyoxigraph import BlankNode, DefaultGraph, NamedNode

    if name is None:
        return None
    if name == "default":
        return DefaultGraph()
    if name.startswith("_:"):
        return BlankNode(name[2:])
    try:
        return NamedNode(name.removeprefix("<").removesuffix(">"))
    except ValueError as error:
        raise click.BadParameter(f"{name!r} is not an IRI: {error}") from None
