"""The commands that look after a store: `info`, `verify`, `backup`, `optimize`; `completion`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from triplestore.cli.options import EXIT_FAILED, edge, location, open_to_read, open_to_write


@click.command()
@location()
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text")
@click.option(
    "--digest",
    "with_digest",
    is_flag=True,
    help="Add a digest, which is equal for stores with equal facts.",
)
@edge
def info(location: Path, style: str, with_digest: bool) -> None:
    """Show what is in a store and what it costs in memory and on disk.

    With --digest also 32 digits that are equal for equal facts. It distinguishes asserted and
    inferred facts, and does not depend on order, ids, files or labels of blank nodes. It reads the
    whole store.

    \b
    Examples:
      triplestore info -l my.db
      triplestore info -l my.db --format json
      triplestore info -l my.db --digest
    """
    with open_to_read(location) as store:
        facts = store.info()
        digests = {"digest": store.digest()} if with_digest else {}
    if style == "json":
        click.echo(json.dumps({**facts.as_dict(), **digests}, indent=2))
        return
    click.echo(str(facts))
    for name, value in digests.items():
        click.echo(f"{name:<16} {value}")


@click.command()
@location()
@click.option("--closure", is_flag=True, help="Also check that the inferred facts are exact.")
@click.option("--thorough", is_flag=True, help="The same, by checking every rule instance.")
@click.option("--quiet", is_flag=True, help="No progress on stderr.")
@edge
def verify(location: Path, closure: bool, thorough: bool, quiet: bool) -> None:
    """Check every file of a store: structure and checksums. Exit status 1 if anything is wrong.

    With --closure all inferences are computed again in memory from the asserted facts and compared
    with those in the store: each must have a proof, and none may be missing.

    \b
    Examples:
      triplestore verify -l my.db
      triplestore verify -l my.db --closure
    """
    with open_to_read(location) as store:
        problems = store.verify(progress=not quiet)
        if (closure or thorough) and not problems:
            audit = store.audit(thorough=thorough, progress=not quiet)
            problems = audit.problems()
            if not problems:
                click.echo(str(audit))
    for problem in problems:
        click.echo(problem)
    if problems:
        many = "problem" if len(problems) == 1 else "problems"
        click.echo(f"triplestore: {len(problems):,} {many} in {location}", err=True)
        sys.exit(EXIT_FAILED)
    click.echo(f"{location}: OK")


@click.command()
@location()
@click.option(
    "-d",
    "--destination",
    required=True,
    type=click.Path(path_type=Path),
    help="Directory to create; it must not exist, or be empty.",
)
@edge
def backup(location: Path, destination: Path) -> None:
    """Make a consistent copy of a store, even while another process writes to it.

    \b
    Example:
      triplestore backup -l my.db -d backups/my-monday.db
    """
    with open_to_read(location) as store:
        store.backup(destination)
    click.echo(f"{destination}: copied", err=True)


@click.command()
@location()
@edge
def optimize(location: Path) -> None:
    """Merge the files of a store and drop unused terms.

    \b
    Example:
      triplestore optimize -l my.db
    """
    with open_to_write(location) as store:
        store.optimize()
        click.echo(str(store.info()), err=True)


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    Examples:
      triplestore completion bash >> ~/.bashrc
      triplestore completion fish > ~/.config/fish/completions/triplestore.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    main = click.get_current_context().find_root().command
    click.echo(kind(main, {}, "triplestore", "_TRIPLESTORE_COMPLETE").source())
