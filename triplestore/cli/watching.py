"""The command `watch`: rows of a query that come and go while others write."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from triplestore.cli.options import edge, location, open_to_read

if TYPE_CHECKING:
    from triplestore.live.events import RowChanges


@click.command()
@location()
@click.argument("query", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each commit, in a line.")
@click.option("--no-initial", is_flag=True, help="Leave out the rows that are there at first.")
@click.option("--since", type=click.IntRange(0), help="Begin with what changed since a commit.")
@click.option(
    "--every",
    type=click.FloatRange(0.01),
    default=0.25,
    show_default=True,
    help="Seconds between two looks at the store.",
)
@click.option("--seconds", type=click.FloatRange(0), help="Stop after this time.")
@click.option(
    "--facts",
    type=click.Choice(["all", "explicit", "inferred"]),
    default="all",
    show_default=True,
    help="Which facts it sees: asserted (explicit), inferred, or both.",
)
@edge
def watch(
    location: Path,
    query: str | None,
    as_json: bool,
    no_initial: bool,
    since: int | None,
    every: float,
    seconds: float | None,
    facts: str,
) -> None:
    """Print the rows of a SELECT, and then those that come (+) and go (-) with each commit.

    Other processes may write to the store meanwhile. Ctrl-C ends it. Without a query, it is read
    from standard input.

    \b
    Examples:
      triplestore watch -l my.db 'SELECT ?x { ?x a :Person }'
      triplestore watch -l my.db --json 'SELECT * { ?x :price ?p }' | ./notify
    """
    text = sys.stdin.read() if query is None else query
    end = None if seconds is None else time.monotonic() + seconds
    initial = not no_initial and since is None
    with (
        open_to_read(location) as store,
        store.subscribe(text, since=since, initial=initial, facts=facts) as rows,
    ):
        try:
            while True:
                changes = rows.next(every)
                if changes is not None:
                    _show(changes, as_json)
                    continue
                store.refresh()
                if end is not None and time.monotonic() > end:
                    return
        except KeyboardInterrupt:
            return


def _show(changes: RowChanges, as_json: bool) -> None:
    if as_json:
        click.echo(changes.json)
        return
    click.echo(f"commit {changes.commit}")
    for sign, part in (("-", changes.removed), ("+", changes.added)):
        for row in part:
            terms = ("" if term is None else str(term) for term in row)
            click.echo(f"{sign} {' '.join(terms)}".rstrip())
