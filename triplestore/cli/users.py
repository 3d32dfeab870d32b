"""The commands that change a file of users for `serve`: `users add`, `token`, `remove`, `list`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from triplestore.cli.options import P, R, edge
from triplestore.cli.serving import INSTALL
from triplestore.errors import UsageError

if TYPE_CHECKING:
    from triplestore.server.access import UserRecord, Users


@click.group()
def users() -> None:
    """Change the file of users for `serve --users`.

    The file holds hashes of passwords and tokens only. A running server sees a change within a
    second.

    \b
    Examples:
      triplestore users add ada --role write -f users.toml
      triplestore users token ada --name laptop -f users.toml
      triplestore serve -l my.db --users users.toml
    """


def _file(function: Callable[P, R]) -> Callable[P, R]:
    """The option that names the file of users."""
    return click.option(
        "-f",
        "--file",
        required=True,
        type=click.Path(dir_okay=False, path_type=Path),
        help="File of users.",
    )(function)


@users.command()
@click.argument("name")
@_file
@click.option(
    "--role",
    type=click.Choice(["read", "write", "admin"]),
    default="read",
    show_default=True,
    help="What the user may do; each role includes those before it.",
)
@click.option(
    "--store", "stores", multiple=True, metavar="NAME", help="Only this store. May be repeated."
)
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@click.option("--no-password", is_flag=True, help="A user with tokens only.")
@edge
def add(
    name: str,
    file: Path,
    role: str,
    stores: tuple[str, ...],
    password_stdin: bool,
    no_password: bool,
) -> None:
    """Add a user, or give one a new password and role; tokens stay."""
    _needs_server()
    from triplestore.server.access import UserRecord
    from triplestore.server.access.passwords import password_hash
    from triplestore.server.access.users_file import check_name, write_users

    check_name(name)
    known = _read(file, may_be_new=True)
    kept = None if no_password else password_hash(_asked_password(password_stdin))
    before = known.named(name)
    tokens = {} if before is None else before.tokens
    write_users(file, known.changed(UserRecord(name, role, kept, tokens, stores)))
    click.echo(f"{name} has the role {role}", err=True)


def _asked_password(from_stdin: bool) -> str:
    if from_stdin:
        password = sys.stdin.readline().rstrip("\n")
    else:
        password = str(click.prompt("Password", hide_input=True, confirmation_prompt=True))
    if len(password) < 8:
        raise UsageError("a password needs at least 8 characters")
    return password


@users.command()
@click.argument("name")
@_file
@click.option("--name", "label", default="token", show_default=True, help="A name for the token.")
@edge
def token(name: str, file: Path, label: str) -> None:
    """Make a token for a program, and print it; it cannot be shown again."""
    _needs_server()
    from triplestore.server.access.passwords import new_token, token_hash
    from triplestore.server.access.users_file import write_users

    known = _read(file)
    record = _named(known, name)
    if label in record.tokens:
        raise UsageError(f"{name} has a token {label!r}: remove it first, or choose another name")
    made = new_token()
    tokens = {**record.tokens, label: token_hash(made)}
    write_users(file, known.changed(replace(record, tokens=tokens)))
    click.echo(made)


@users.command()
@click.argument("name")
@_file
@click.option("--token", "label", help="Remove only the token with this name.")
@edge
def remove(name: str, file: Path, label: str | None) -> None:
    """Remove a user, or one token."""
    _needs_server()
    from triplestore.server.access.users_file import write_users

    known = _read(file)
    record = _named(known, name)
    if label is None:
        write_users(file, known.without(name))
        return
    if label not in record.tokens:
        raise UsageError(f"{name} has no token {label!r}")
    tokens = {key: kept for key, kept in record.tokens.items() if key != label}
    write_users(file, known.changed(replace(record, tokens=tokens)))


@users.command(name="list")
@_file
@edge
def list_(file: Path) -> None:
    """List the users, their roles, stores and names of tokens."""
    _needs_server()
    for record in _read(file).records.values():
        ways = ["password"] if record.password else []
        ways += [f"token {label}" for label in record.tokens]
        where = f" of {', '.join(record.stores)}" if record.stores else ""
        click.echo(f"{record.name}\t{record.role}{where}\t{', '.join(ways)}")


def _needs_server() -> None:
    try:
        import triplestore.server.access  # noqa: F401
    except ModuleNotFoundError as error:
        raise click.ClickException(f"{INSTALL} ({error})") from None


def _read(file: Path, may_be_new: bool = False) -> Users:
    from triplestore.server.access import Users, read_users

    return Users({}) if may_be_new and not file.exists() else read_users(file)


def _named(known: Users, name: str) -> UserRecord:
    record = known.named(name)
    if record is None:
        raise UsageError(f"user {name!r} does not exist; add one with `triplestore users add`")
    return record
