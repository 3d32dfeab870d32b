"""The command that validates data by shapes of SHACL: `validate`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from triplestore.cli.options import EXIT_FAILED, edge, location, open_to_read

if TYPE_CHECKING:
    from triplestore.store import Store

FORMATS = ("text", "turtle", "nt", "json", "html", "sarif", "junit")
SEVERITIES = ("violation", "warning", "info", "never")


@click.command()
@location(required=False)
@click.option(
    "-f",
    "--file",
    "files",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="Validate this file instead of a store; may be repeated.",
)
@click.option(
    "-s",
    "--shapes",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="File of shapes; may be repeated. By default the shapes are those in the data.",
)
@click.option(
    "--import",
    "imports",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="File in which a graph that the shapes import may be; may be repeated.",
)
@click.option(
    "--facts",
    type=click.Choice(["all", "explicit", "inferred"]),
    default="all",
    show_default=True,
    help="Which facts are validated.",
)
@click.option(
    "--reason",
    "regimes",
    multiple=True,
    help="Infer by this regime first, such as rdfs or owl-rl; nothing is written. May be repeated.",
)
@click.option("--union", is_flag=True, help="Validate the merge of all graphs.")
@click.option("--format", "style", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option(
    "--fail-on",
    type=click.Choice(SEVERITIES),
    default="violation",
    show_default=True,
    help="The exit status is 1 if there are results of this severity or a graver one.",
)
@edge
def validate(
    location: Path | None,
    files: tuple[Path, ...],
    shapes: tuple[Path, ...],
    imports: tuple[Path, ...],
    facts: str,
    regimes: tuple[str, ...],
    union: bool,
    style: str,
    fail_on: str,
) -> None:
    """Validate a store, or files, by shapes of SHACL.

    The report goes to stdout. Warnings do not fail unless --fail-on says so.

    \b
    Examples:
      triplestore validate -l my.db -s shapes.ttl
      triplestore validate -f data.ttl -s shapes.ttl --reason rdfs --fail-on warning
      triplestore validate -l my.db -s shapes.ttl --format sarif > results.sarif
    """
    if (location is None) == (not files):
        raise click.UsageError("give either a store (-l my.db) or files (-f data.ttl)")
    with _opened(location, files) as store, store.trial() as t:
        if regimes:
            t.reason(*regimes)
        report = t.validate(
            list(shapes) or None, facts=facts, imports=imports, use_default_graph_as_union=union
        )
        click.echo(report.serialize(style))
        failed = fail_on != "never" and report.has(fail_on)
    if failed:
        raise click.exceptions.Exit(EXIT_FAILED)


def _opened(location: Path | None, files: tuple[Path, ...]) -> AbstractContextManager[Store]:
    if location is not None:
        return open_to_read(location)
    # Late: help and completion need no store.
    from triplestore.store import Store

    store = Store()
    store.load(path=list(files))
    return store
