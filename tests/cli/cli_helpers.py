"""Helpers for tests of the command line."""

from __future__ import annotations

from click.testing import CliRunner, Result

from triplestore.cli import main


def run(*arguments: object, stdin: str | bytes | None = None) -> Result:
    """The result of a command."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)
