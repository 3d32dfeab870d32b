"""The commands about the past of a store: `log` and `show`."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from triplestore.cli.options import edge, location, open_to_read, open_to_write
from triplestore.cli.querying import size

if TYPE_CHECKING:
    from triplestore.live.feed import QuadChanges


@click.command()
@location()
@click.option("-n", "--limit", type=click.IntRange(1), help="Maximum number of commits.")
@click.option(
    "--keep", type=click.Choice(["all", "none"]), help="From now on, keep everything; or nothing."
)
@click.option("--keep-commits", type=click.IntRange(0), help="Number of last commits to keep.")
@click.option("--keep-days", type=click.FloatRange(0), help="Keep the commits of the last days.")
@click.option("--keep-size", type=size, help="Keep at most this size of them, such as 512MB.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text")
@edge
def log(
    location: Path,
    limit: int | None,
    keep: str | None,
    keep_commits: int | None,
    keep_days: float | None,
    keep_size: int | None,
    style: str,
) -> None:
    """List the commits of which the store keeps the changes, newest first; or say which it keeps.

    A store keeps none unless it is told to.

    \b
    Examples:
      triplestore log -l my.db --keep-commits 1000 --keep-days 30
      triplestore log -l my.db -n 10
      triplestore log -l my.db --keep none
    """
    if keep is not None or (keep_commits, keep_days, keep_size) != (None, None, None):
        age = None if keep_days is None else timedelta(days=keep_days)
        with open_to_write(location) as store:
            store.keep_history(commits=keep_commits, age=age, size=keep_size, off=keep == "none")
        return
    with open_to_read(location) as store:
        found = store.log(limit)
    if style == "json":
        click.echo(json.dumps([each.as_dict() for each in found], indent=2))
        return
    for each in found:
        click.echo(str(each))
    if not found:
        click.echo("no history is kept; --keep all begins one", err=True)


@click.command()
@location()
@click.argument("commit", type=click.IntRange(1))
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text")
@edge
def show(location: Path, commit: int, style: str) -> None:
    """Show what a commit of the history changed, asserted and inferred.

    \b
    Examples:
      triplestore show -l my.db 17
      triplestore show -l my.db 17 --format json
    """
    with open_to_read(location) as store:
        found = [each for each in store.log() if each.commit == commit]
        with store.changes(since=commit - 1) as feed:
            changes = feed.next(timeout=0)
        if changes is not None and changes.commit != commit:
            changes = None  # it changed no facts
        if style == "json":
            said = found[0].as_dict() if found else {"commit": commit}
            click.echo(json.dumps({**said, **_lists(changes)}, indent=2))
            return
        for each in found:
            click.echo(str(each))
        for sign, quads in (
            () if changes is None else (("-", changes.removed), ("+", changes.added))
        ):
            for quad, inferred in quads:
                click.echo(f"{sign} {quad} .{' # inferred' if inferred else ''}")


def _lists(changes: QuadChanges | None) -> dict[str, list[dict[str, object]]]:
    if changes is None:
        return {"quads_removed": [], "quads_added": []}
    return {
        name: [{"quad": str(quad), "inferred": inferred} for quad, inferred in quads]
        for name, quads in (("quads_removed", changes.removed), ("quads_added", changes.added))
    }
