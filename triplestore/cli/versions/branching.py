"""The commands about what would be: `branch` and `what-if`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from triplestore.cli import completing
from triplestore.cli.options import edge, graph_of, location, open_to_read, open_to_write

if TYPE_CHECKING:
    from triplestore.store import Store, Transaction
    from triplestore.store.faces.branch import Branch
    from triplestore.versions.consequences import Consequences


@click.command()
@location()
@click.argument("name", required=False)
@click.option(
    "-f",
    "--file",
    "files",
    multiple=True,
    help="File to load into the branch. May be repeated.",
    shell_complete=completing.files,
)
@click.option("--graph", "to_graph", help="Load triples into this named graph.")
@click.option("--update", "updates", multiple=True, help="SPARQL update of the branch.")
@click.option("--rules", "rules_files", multiple=True, metavar="FILE", help="Rules to add to it.")
@click.option("--regime", "regimes", multiple=True, help="Regime to put in force in it.")
@click.option("-q", "--query", help="Query the branch.")
@click.option("--diff", is_flag=True, help="Compare it with the store: the default.")
@click.option("--rebase", is_flag=True, help="Make its changes anew on the last commit first.")
@click.option("--commit", is_flag=True, help="Publish it as one commit of the store.")
@click.option("--message", help="What is kept with the commit, if the store keeps its history.")
@click.option("--author", help="The same.")
@click.option("--delete", is_flag=True, help="Delete it.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text")
@edge
def branch(
    location: Path,
    name: str | None,
    query: str | None,
    diff: bool,
    rebase: bool,
    commit: bool,
    message: str | None,
    author: str | None,
    delete: bool,
    style: str,
    **writes: Any,
) -> None:
    """List the branches of a store; or make, change, query, compare or commit one.

    A branch is a private state on top of a commit, kept with the store under its name. Nothing of
    it is seen in the store before --commit. That is refused if the store changed what the branch
    changed too; --rebase has the branch's changes made on the last commit in any case.

    \b
    Examples:
      triplestore branch -l my.db
      triplestore branch -l my.db try-1 -f more.ttl --update 'DELETE DATA { :a :p :b }'
      triplestore branch -l my.db try-1 -q 'SELECT ?x { ?x a :Person }'
      triplestore branch -l my.db try-1 --commit --message 'More persons'
      triplestore branch -l my.db try-1 --delete
    """
    if name is None:
        with open_to_read(location) as store:
            _list(store, style)
        return
    with open_to_write(location) as store:
        if delete:
            store.delete_branch(name)
            return
        with store.branch(name, rebase=rebase) as opened:
            if any(writes.values()):
                with opened.transaction() as transaction:
                    _write(transaction, **writes)
            if query is not None:
                _print_answer(opened, query)
            if commit:
                change = opened.commit(rebase=rebase, message=message, author=author)
                click.echo(str(change), err=True)
            elif diff or query is None:
                _print_difference(opened.diff(), style)


def _list(store: Store, style: str) -> None:
    found = store.branches()
    if style == "json":
        click.echo(json.dumps([asdict(each) for each in found], indent=2))
        return
    for each in found:
        behind = f", {each.behind:,} commits behind" if each.behind else ""
        click.echo(f"{each.name}  on commit {each.base}{behind}: {each.edits:,} changes")
    if not found:
        click.echo("no branches", err=True)


def _write(
    transaction: Transaction,
    files: tuple[str, ...],
    to_graph: str | None,
    updates: tuple[str, ...],
    rules_files: tuple[str, ...],
    regimes: tuple[str, ...],
) -> None:
    if files:
        transaction.load(path=list(files), to_graph=graph_of(to_graph))
    for update in updates:
        transaction.update(update)
    if rules_files or regimes:
        transaction.reason(*regimes, rules=[Path(file) for file in rules_files] or None)


def _print_answer(opened: Branch, query: str) -> None:
    from triplestore.store.answers import for_people

    click.echo(for_people(opened.query(query), opened.prefixes))


def _print_difference(found: Consequences, style: str) -> None:
    click.echo(json.dumps(found.as_dict(), indent=2) if style == "json" else str(found))


@click.command("what-if")
@location()
@click.option("--remove-graph", "graphs", multiple=True, help="Without this named graph.")
@click.option(
    "--without", "facts", multiple=True, help="Without this asserted fact, such as ':a :p :b'."
)
@click.option(
    "--add",
    type=click.Path(path_type=Path, exists=True),
    help="With the triples of this file.",
    shell_complete=completing.files,
)
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text")
@edge
def what_if(
    location: Path, graphs: tuple[str, ...], facts: tuple[str, ...], add: Path | None, style: str
) -> None:
    """Show what would follow if some facts or sources were taken away, or others added.

    The store is not changed. The answer is exact: what another proof holds up survives.

    \b
    Examples:
      triplestore what-if -l my.db --remove-graph http://example.org/source-3
      triplestore what-if -l my.db --without ':tom a :Cat' --format json
      triplestore what-if -l my.db --add proposal.ttl
    """
    with open_to_read(location) as store:
        found = store.what_if(
            remove_graphs=[graph_of(graph) for graph in graphs],
            without=facts,
            add=add if add is not None else (),
        )
        _print_difference(found, style)
        if style == "text":
            click.echo(f"{found.survivors:,} inferred quads survive", err=True)
