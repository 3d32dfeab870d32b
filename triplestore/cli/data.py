"""The commands that read and write RDF: `load`, `dump`, `convert`."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from triplestore.cli import completing
from triplestore.cli.options import (
    EXIT_SKIPPED,
    edge,
    facts_option,
    graph_of,
    location,
    open_to_read,
    say_left_out,
)

if TYPE_CHECKING:
    from triplestore.store import Store

MAX_SHOWN = 5
"""Maximum number of missing imports that are listed."""


@click.command()
@location()
@click.option(
    "-f",
    "--file",
    "files",
    multiple=True,
    help="File, directory or glob to load; `-` is standard input. May be repeated.",
    shell_complete=completing.files,
)
@click.argument("more_files", nargs=-1, shell_complete=completing.files)
@click.option(
    "--format",
    "format_name",
    help="Format of the input (nt, nq, ttl, trig, rdf, jsonld, n3, or a media type). "
    "Default: from the file's name. Needed for standard input.",
    shell_complete=completing.one_of(completing.RDF_FORMATS),
)
@click.option("--base", "base_iri", help="Base IRI of relative IRIs.")
@click.option("--graph", "to_graph", help="Load triples into this named graph.")
@click.option(
    "--replace-graph",
    help="Like --graph, but the former quads of the graph are removed in the same commit; "
    "reloading an unchanged file is a no-op.",
)
@click.option("--fail-on-named-graphs", is_flag=True, help="Refuse quads of named graphs.")
@click.option("--lenient", is_flag=True, help="Skip malformed statements; exit status 3.")
@click.option(
    "--durability",
    type=click.Choice(["commit", "group", "flush"]),
    default="commit",
    show_default=True,
    help="What a commit waits for.",
)
@click.option(
    "--max-line",
    type=click.IntRange(1),
    help="Maximum bytes of a line of N-Triples or N-Quads. [128 MB]",
)
@click.option("--max-term", type=click.IntRange(1), help="Maximum bytes of a term. [64 MB]")
@click.option("--quiet", is_flag=True, help="No progress on stderr.")
@edge
def load(
    location: Path,
    files: tuple[str, ...],
    more_files: tuple[str, ...],
    format_name: str | None,
    base_iri: str | None,
    to_graph: str | None,
    replace_graph: str | None,
    fail_on_named_graphs: bool,
    lenient: bool,
    durability: str,
    max_line: int | None,
    max_term: int | None,
    quiet: bool,
) -> None:
    """Load RDF files into a store, all of them or none.

    The store is created if it does not exist. Files may be compressed (.gz .bz2 .xz .zst).

    \b
    Examples:
      triplestore load -l my.db -f data.nt.gz
      triplestore load -l my.db -f 'dump/*.ttl' --graph http://example.org/g
      curl -s http://example.org/data.ttl | triplestore load -l my.db --format ttl
    """
    from triplestore.store import Store

    names = [*files, *more_files] or ["-"]
    with Store(location, durability=durability) as store:
        change = store.load(
            path=names,
            format=format_name,
            base_iri=base_iri,
            to_graph=graph_of(to_graph),
            replace_graph=graph_of(replace_graph),
            named_graphs="refuse" if fail_on_named_graphs else "keep",
            lenient=lenient,
            progress=not quiet,
            max_line_bytes=max_line,
            max_term_bytes=max_term,
        )
        if not quiet:
            click.echo(f"{change} (the store has {len(store):,} quads)", err=True)
            _list_missing_imports(store)
    if change.skipped:
        for problem in change.problems:
            click.echo(f"left out: {problem}", err=True)
        say_left_out(change.skipped)
        sys.exit(EXIT_SKIPPED)


def _list_missing_imports(store: Store) -> None:
    """List the imports of the data that are not in the store; loading does not follow imports."""
    from triplestore.reasoning.reports.missing_imports import missing_imports

    view = store._view()
    found = missing_imports(view.tables, view.dictionary)
    if found:
        more = f" and {len(found) - MAX_SHOWN:,} more" if len(found) > MAX_SHOWN else ""
        shown = ", ".join(found[:MAX_SHOWN]) + more
        click.echo(f"imported by the data, but not in the store: {shown}", err=True)
        click.echo("load these too, or see `triplestore reason --ontology --imports`", err=True)


@click.command()
@location()
@click.argument("argument", metavar="[FILE]", required=False, shell_complete=completing.files)
@click.option(
    "-f",
    "--file",
    "file",
    help="The same: file to write; its name gives format and compression.",
    shell_complete=completing.files,
)
@click.option(
    "--format",
    "format_name",
    help="Format of the output. Needed for standard output.",
    shell_complete=completing.one_of(completing.RDF_FORMATS),
)
@click.option("--graph", "from_graph", help="Only this graph: an IRI, or `default`.")
@click.option(
    "--relation",
    metavar="NAME",
    help="Instead of quads, the rows of a relation with three or more columns, which only rules "
    "fill; the terms are separated by tabs.",
)
@facts_option
@edge
def dump(
    location: Path,
    argument: str | None,
    file: str | None,
    format_name: str | None,
    from_graph: str | None,
    relation: str | None,
    facts: str,
) -> None:
    """Write the quads of a store to a file or to standard output.

    \b
    Examples:
      triplestore dump -l my.db backup.nq.gz
      triplestore dump -l my.db --format ttl --graph default
      triplestore dump -l my.db --relation :score > score.tsv
    """
    if argument is not None and file is not None:
        raise click.UsageError("give the file once: as an argument or with --file")
    file = file or argument
    with open_to_read(location) as store:
        if relation is not None:
            if file or format_name or from_graph:
                raise click.UsageError(
                    "--relation writes rows to standard output: give no --file, --format or --graph"
                )
            _dump_relation(store, relation)
            return
        if file is None and format_name is None:
            raise click.UsageError("--format is needed when writing to standard output")
        graph = graph_of(from_graph)
        _check_graph(store, graph)
        store.dump(
            file if file is not None else sys.stdout.buffer,
            format_name,
            from_graph=graph,
            facts=facts,
        )
        sys.stdout.flush()


def _check_graph(store: Store, graph: Any) -> None:
    """Refuse a graph that does not exist: an empty dump would hide a mistyped name."""
    if graph is None or store.contains_named_graph(graph):
        return
    names = sorted(map(str, store.named_graphs()))
    near = get_close_matches(str(graph), names, 1)
    shown = ", ".join(names[:MAX_SHOWN]) + (", ..." if len(names) > MAX_SHOWN else "")
    there = f"did you mean {near[0]}?" if near else f"there are: {shown or 'none'}"
    raise click.UsageError(f"{store.path} does not have the graph {graph}; {there}")


def _dump_relation(store: Store, relation: str) -> None:
    """Print all rows; they are always inferred."""
    from triplestore.store.explain import name_of_text

    row = None
    for row in store.tuples(name_of_text(relation, store.prefixes)):
        click.echo("\t".join(map(str, row)))
    if row is None:
        click.echo(f"no rows: no rule concludes {relation} with three or more columns", err=True)


@click.command()
@click.option(
    "--from-file",
    help="File to read. Default: standard input.",
    shell_complete=completing.files,
)
@click.option(
    "--from-format",
    help="Its format. Default: from its name.",
    shell_complete=completing.one_of(completing.RDF_FORMATS),
)
@click.option("--from-base", help="Base IRI of relative IRIs.")
@click.option("--from-graph", help="Only the triples of this graph: an IRI, or `default`.")
@click.option("--from-default-graph", is_flag=True, help="Only the triples of the default graph.")
@click.option(
    "--to-file",
    help="File to write. Default: standard output.",
    shell_complete=completing.files,
)
@click.option(
    "--to-format",
    help="Its format. Default: from its name.",
    shell_complete=completing.one_of(completing.RDF_FORMATS),
)
@click.option("--to-base", help="Base IRI to write relative IRIs against.")
@click.option("--to-graph", help="Write the triples of the default graph into this graph.")
@click.option("--lenient", is_flag=True, help="Skip malformed statements; exit status 3.")
@edge
def convert(
    from_file: str | None,
    from_format: str | None,
    from_base: str | None,
    from_graph: str | None,
    from_default_graph: bool,
    to_file: str | None,
    to_format: str | None,
    to_base: str | None,
    to_graph: str | None,
    lenient: bool,
) -> None:
    """Rewrite an RDF file in another format, as a stream.

    \b
    Examples:
      triplestore convert --from-file data.rdf --to-file data.ttl
      triplestore convert --from-format ttl --to-format nt < data.ttl
    """
    from triplestore.store import convert_file

    skipped = convert_file(
        from_file or sys.stdin.buffer,
        to_file or sys.stdout.buffer,
        from_format=from_format,
        to_format=to_format,
        base_iri=from_base,
        from_graph=graph_of("default" if from_default_graph else from_graph),
        to_graph=graph_of(to_graph),
        to_base=to_base,
        lenient=lenient,
    )
    sys.stdout.flush()
    if skipped:
        say_left_out(skipped)
        sys.exit(EXIT_SKIPPED)
