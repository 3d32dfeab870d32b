"""The commands about changes: `diff` compares two states, `retract` ends a conclusion."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from triplestore.cli import completing
from triplestore.cli.options import (
    EXIT_FAILED,
    edge,
    graph_of,
    location,
    open_to_read,
    open_to_write,
)

if TYPE_CHECKING:
    from triplestore.reasoning.violations import Violation
    from triplestore.store import Store

STYLES = ("text", "markdown", "json", "sarif", "html")


@click.command()
@click.argument("old", shell_complete=completing.files)
@click.argument("new", required=False, shell_complete=completing.files)
@click.option(
    "--reason",
    "regimes",
    multiple=True,
    metavar="REGIME",
    help="Regime for files: rdfs, owl-rl, owl-horst, skos or swrl. May be repeated.",
    shell_complete=completing.one_of(completing.REGIMES),
)
@click.option(
    "--rules",
    "rules",
    multiple=True,
    metavar="FILE",
    help="File of rules; each side may have its own version. May be repeated.",
    shell_complete=completing.files,
)
@click.option(
    "--scope",
    type=click.Choice(["default", "union"]),
    default="default",
    help="Whether named graphs of files are used for reasoning. Default: they are not.",
)
@click.option("--only", multiple=True, metavar="PATH", help="Compare only this file or folder.")
@click.option(
    "-C",
    "folder",
    type=click.Path(file_okay=False, exists=True),
    default=".",
    help="Folder to work in, for revisions and relative paths.",
)
@click.option(
    "--cache",
    type=click.Path(file_okay=False),
    help="Folder where closures are kept by content, for the next run. Default: the user's cache.",
)
@click.option("--no-cache", is_flag=True, help="Keep nothing.")
@click.option("--advance", is_flag=True, help="Keep the closure of the new side as well.")
@click.option(
    "--format",
    "style",
    type=click.Choice(STYLES),
    default="text",
    show_default=True,
    help="Format of the report on stdout.",
)
@click.option(
    "--report",
    "reports",
    multiple=True,
    metavar="FILE",
    help="Also write a report: .txt, .md, .json, .sarif or .html. May be repeated.",
)
@click.option(
    "--fail-on",
    metavar="CONDITION",
    help="Exit status 1 if this holds, for example 'violations>0 or inferred>500'.",
)
@click.option("--budget", metavar="LIMITS", help="Limits of inference, for example 2GB,10min.")
@click.option("--all", "everything", is_flag=True, help="List every inferred change in JSON.")
@edge
def diff(
    old: str,
    new: str | None,
    regimes: tuple[str, ...],
    rules: tuple[str, ...],
    scope: str,
    only: tuple[str, ...],
    folder: str,
    cache: str | None,
    no_cache: bool,
    advance: bool,
    style: str,
    reports: tuple[str, ...],
    fail_on: str | None,
    budget: str | None,
    everything: bool,
) -> None:
    """Say what lies between two states: asserted and inferred changes, violations, and causes.

    A side is a store, a file, a folder of files, or a revision of git; OLD alone may be a range of
    revisions. Files of revisions are read from git, and the working tree is not touched. Every
    inferred change is attributed to the asserted changes that cause it, with file and line. Only
    the difference is computed, from a closure of OLD that the cache keeps.

    \b
    Examples:
      triplestore diff main..HEAD --reason owl-rl --only ontology
      triplestore diff old.ttl new.ttl --reason rdfs --format markdown
      triplestore diff before.db after.db --fail-on 'violations>0 or removed-classes>0'
    """
    from triplestore.comparison import diff as compare
    from triplestore.comparison.fail_conditions import fails
    from triplestore.comparison.findings import METRICS

    styles = [_style_of(name) for name in reports]
    if fail_on is not None:
        fails(fail_on, dict.fromkeys(METRICS, 0))  # a mistake is told before the work
    found = compare(
        old,
        new,
        reason=regimes,
        rules=rules,
        scope=scope,
        cache=None if no_cache else cache or _default_cache(),
        advance=advance,
        only=only,
        folder=folder,
        budget=budget,
        everything=everything,
    )
    click.echo(found.report(style))
    for name, of in zip(reports, styles, strict=True):
        Path(name).write_text(found.report(of) + "\n", encoding="utf-8")
    if fail_on is not None and fails(fail_on, found.metrics):
        click.echo(f"triplestore: the condition holds: {fail_on}", err=True)
        sys.exit(EXIT_FAILED)


def _default_cache() -> str:
    from triplestore.private_folder import private_folder

    return os.fspath(private_folder("closures"))


_ENDINGS = {
    ".txt": "text",
    ".md": "markdown",
    ".json": "json",
    ".sarif": "sarif",
    ".html": "html",
}


def _style_of(name: str) -> str:
    try:
        return _ENDINGS[Path(name).suffix.lower()]
    except KeyError:
        endings = ", ".join(_ENDINGS)
        raise click.BadParameter(f"{name!r} must end in one of {endings}") from None


@click.command()
@location()
@click.argument("fact")
@click.option(
    "--protect-graph",
    "graphs",
    multiple=True,
    metavar="GRAPH",
    help="IRI of a graph whose quads stay, or `default`. May be repeated.",
)
@click.option(
    "--protect-property",
    "properties",
    multiple=True,
    metavar="IRI",
    help="Property whose triples stay. May be repeated.",
)
@click.option("--apply", type=click.IntRange(1), help="Make the removal of this number.")
@click.option("--most", type=click.IntRange(1), default=10, show_default=True)
@click.option(
    "--largest",
    type=click.IntRange(1),
    default=4,
    show_default=True,
    help="Maximum number of quads of one removal.",
)
@click.option("--trials", type=click.IntRange(1), default=200, show_default=True)
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text")
@edge
def retract(
    location: Path,
    fact: str,
    graphs: tuple[str, ...],
    properties: tuple[str, ...],
    apply: int | None,
    most: int,
    largest: int,
    trials: int,
    style: str,
) -> None:
    """Say which asserted quads, axioms included, to remove to end a conclusion, and at what cost.

    The fact is written as for `why`; `violation:1` is the first violation that `check` lists. Each
    removal is minimal, and its side effects are exact: it was tried and rolled back. Nothing is
    changed without --apply.

    \b
    Examples:
      triplestore retract -l my.db ':tom a :Dog'
      triplestore retract -l my.db violation:1 --protect-graph http://example.org/ontology
      triplestore retract -l my.db ':tom a :Dog' --apply 1
    """
    with (open_to_read if apply is None else open_to_write)(location) as store:
        answer = store.retract(
            _violation_or(store, fact),
            protect_graphs=[graph_of(name) for name in graphs],
            protect_properties=[name.strip("<>") for name in properties],
            apply=None if apply is None else apply - 1,
            most=most,
            largest=largest,
            trials=trials,
        )
    click.echo(json.dumps(answer.as_dict(), indent=2) if style == "json" else str(answer))
    if answer.applied is not None:
        click.echo(f"removed: {answer.applied.effects}", err=True)
    if not answer:
        sys.exit(EXIT_FAILED)


def _violation_or(store: Store, fact: str) -> Violation | str:
    name, _, number = fact.partition(":")
    if name != "violation" or not number.isdigit():
        return fact
    listed = store.violations(int(number))
    if not 0 < int(number) <= len(listed):
        raise click.UsageError(f"there are only {len(listed)} violations")
    return listed[-1]
