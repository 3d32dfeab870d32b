"""The command that loads tables: `load-table`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from triplestore.cli.completing import files
from triplestore.cli.options import edge, graph_of, location

if TYPE_CHECKING:
    from triplestore import Property


@click.command(name="load-table")
@location()
@click.argument("sources", nargs=-1, required=True, metavar="FILE...", shell_complete=files)
@click.option(
    "--subject",
    required=True,
    metavar="TEMPLATE",
    help="IRIs of the rows, such as http://example.org/person/{id}; names in braces are columns.",
)
@click.option(
    "-p",
    "--property",
    "properties",
    multiple=True,
    metavar="COLUMN=IRI",
    help="The property of a column. Behind it, after a space, may stand ^^DATATYPE, @LANGUAGE, or "
    "a template for values that are IRIs. May be repeated.",
)
@click.option("--type", "type_", metavar="IRI", help="A class that all rows belong to.")
@click.option("--graph", help="Load the triples into this named graph.")
@click.option("--replace-graph", help="Like --graph, but the former quads of the graph go.")
@click.option("--delimiter", help="What stands between the cells. Default: from the file's name.")
@click.option(
    "--null",
    "null_values",
    multiple=True,
    default=("",),
    help="Text of cells that have no value. May be repeated. Default: the empty one.",
)
@click.option("--quiet", is_flag=True, help="No summary on stderr.")
@edge
def load_table(
    location: Path,
    sources: tuple[str, ...],
    subject: str,
    properties: tuple[str, ...],
    type_: str | None,
    graph: str | None,
    replace_graph: str | None,
    delimiter: str | None,
    null_values: tuple[str, ...],
    quiet: bool,
) -> None:
    """Load tables (CSV, TSV, Parquet, Arrow) into a store: a subject for each row.

    The store is created if it does not exist, and its prefixes are known. Cells without a value
    give no triple. Several files, folders or globs are one table in pieces.

    \b
    Examples:
      triplestore load-table -l my.db people.csv --subject 'http://example.org/person/{id}' \\
        -p 'name=http://xmlns.com/foaf/0.1/name' \\
        -p 'employer=http://example.org/employer http://example.org/org/{employer}' \\
        -p 'motto=http://example.org/motto @en'
      triplestore load-table -l my.db 'parts/*.parquet' --subject '{iri}' -p label=rdfs:label
    """
    from triplestore.store import Store

    with Store(location) as store:
        change = store.load_table(
            list(sources),
            subject=subject,
            properties=dict(map(_property, properties)),
            type=type_,
            graph=graph_of(graph),
            replace_graph=graph_of(replace_graph),
            delimiter="\t" if delimiter == r"\t" else delimiter,
            null_values=null_values,
        )
        if not quiet:
            click.echo(f"{change} (the store has {len(store):,} quads)", err=True)


def _property(text: str) -> tuple[str, Property]:
    """A column and its property, from `COLUMN=IRI` and what may stand behind that."""
    from triplestore import Property

    column, equals, rest = text.partition("=")
    words = rest.split()
    if not equals or len(words) not in (1, 2):
        raise click.BadParameter(
            f"{text!r} is not COLUMN=IRI; use for example name=http://xmlns.com/foaf/0.1/name, "
            "'born=http://example.org/born ^^xsd:gYear' or 'motto=http://example.org/motto @en'"
        )
    if len(words) == 1:
        return column, Property(words[0])
    iri, more = words
    if more.startswith("^^"):
        return column, Property(iri, datatype=more[2:].removeprefix("<").removesuffix(">"))
    if more.startswith("@"):
        return column, Property(iri, lang=more[1:])
    return column, Property(iri, template=more)
