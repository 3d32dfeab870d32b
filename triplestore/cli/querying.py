"""The commands about SPARQL: `query` and `update`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from triplestore.cli import completing
from triplestore.cli.options import P, R, edge, graph_of, location, open_to_read

if TYPE_CHECKING:
    from triplestore.store import ReadableStore
    from triplestore.store.answers import Result

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def size(value: str) -> int:
    """A number of bytes: `300000`, `512MB`, `2G`; units are powers of 1024."""
    text = value.strip().lower().removesuffix("b").removesuffix("i")
    unit = text[-1:] if text[-1:].isalpha() else ""
    try:
        return int(float(text.removesuffix(unit)) * _UNITS[unit])
    except (KeyError, ValueError, OverflowError):
        message = f"{value!r} is not a valid size; use for example 300000, 512MB or 2G"
        raise click.BadParameter(message) from None


def services(function: Callable[P, R]) -> Callable[P, R]:
    """Add the option that allows endpoints."""
    return click.option(
        "--allow-service",
        "services",
        multiple=True,
        metavar="URL",
        help="An endpoint that SERVICE may ask, or with / at its end all below it. May be "
        "repeated.",
    )(function)


def limits(function: Callable[P, R]) -> Callable[P, R]:
    """Add the options that limit a query or update."""
    for option in (
        click.option("--max-memory", type=size, help="Maximum memory, such as 512MB."),
        click.option("--timeout-s", type=click.FloatRange(0), help="Maximum number of seconds."),
    ):
        function = option(function)
    return function


@click.command()
@location()
@click.argument("argument", metavar="[QUERY]", required=False)
@click.option("-q", "--query", "text", help="The same. Default: read from standard input.")
@click.option(
    "--query-file", type=click.Path(dir_okay=False, path_type=Path), help="File of the query."
)
@click.option("--query-base", "base_iri", help="Base IRI of relative IRIs in the query.")
@click.option(
    "-o",
    "--results-file",
    help="File to write; its name gives format and compression.",
    shell_complete=completing.files,
)
@click.option(
    "--results-format",
    help="json, xml, csv or tsv; parquet or arrow (IPC); for triples a format of RDF (nt, ttl, "
    "rdf, jsonld, ...); or a media type. Default: the first 100 rows as a table, triples as "
    "Turtle.",
    shell_complete=completing.one_of(completing.RESULT_FORMATS, completing.RDF_FORMATS),
)
@click.option("--explain", is_flag=True, help="Show on stderr how it was evaluated.")
@click.option(
    "--explain-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write that to a file; as JSON if its name ends with .json.",
)
@limits
@services
@click.option("--union-default-graph", is_flag=True, help="Query the union of all graphs.")
@click.option("--default-graph", "default_graphs", multiple=True, help="Query this graph.")
@click.option("--named-graph", "named_graphs", multiple=True, help="GRAPH reaches this graph only.")
@click.option(
    "--facts",
    type=click.Choice(["all", "explicit", "inferred"]),
    default="all",
    show_default=True,
    help="Which facts it sees: asserted (explicit), inferred, or both.",
)
@click.option("--at", type=click.IntRange(0), help="The state after this commit; see `log`.")
@edge
def query(
    location: Path,
    argument: str | None,
    text: str | None,
    query_file: Path | None,
    base_iri: str | None,
    results_file: str | None,
    results_format: str | None,
    explain: bool,
    explain_file: Path | None,
    timeout_s: float | None,
    max_memory: int | None,
    services: tuple[str, ...],
    union_default_graph: bool,
    default_graphs: tuple[str, ...],
    named_graphs: tuple[str, ...],
    facts: str,
    at: int | None,
) -> None:
    """Run a SPARQL query on a store. The prefixes of loaded files are known.

    Results are written while the rest is still being computed.

    \b
    Examples:
      triplestore query -l my.db 'SELECT ?x { ?x a :Person } LIMIT 10'
      triplestore query -l my.db --query-file report.rq -o report.csv
      triplestore query -l my.db 'SELECT * { ?s ?p ?o }' -o all.parquet
      triplestore query -l my.db 'DESCRIBE :ada' --results-format ttl
      triplestore query -l my.db --query-file slow.rq --explain --timeout-s 60
    """
    asked = _text_of(argument, text, query_file, "query")
    with open_to_read(location) as opened:
        store = opened if at is None else opened.at(at)
        result = store.query(
            asked,
            facts=facts,
            base_iri=base_iri,
            use_default_graph_as_union=union_default_graph,
            default_graph=[graph_of(name) for name in default_graphs] or None,
            named_graphs=[graph_of(name) for name in named_graphs] or None,
            timeout=timeout_s,
            budget=max_memory,
            allow_service=services,
        )
        _write(result, store, results_file, results_format)
        if explain or explain_file is not None:
            _explain(result, explain, explain_file)


def _write(result: Result, store: ReadableStore, file: str | None, format_name: str | None) -> None:
    from triplestore.store.answers import for_people, write_answer

    if file is None and format_name is None:
        click.echo(for_people(result, store.prefixes))
        _remark(result, store)
        return
    output = sys.stdout.buffer if file is None else file
    write_answer(result, output, format_name, prefixes=store.prefixes)
    sys.stdout.flush()


def _remark(result: Result, store: ReadableStore) -> None:
    """How many rows there are; and what is probably wrong with a query that found none."""
    from triplestore.store.terminal import advice_of, counted

    if isinstance(result, bool):
        return
    click.echo(counted(result), err=True)
    if not result:
        for line in advice_of(result, store.prefixes):
            click.echo(f"hint: {line}", err=True)


def _explain(result: Result, show: bool, file: Path | None) -> None:
    from triplestore.store.answers import explained

    if show:
        click.echo(explained(result), err=True)
    if file is not None:
        file.write_text(explained(result, as_json=file.suffix == ".json") + "\n", "utf-8")


@click.command()
@location()
@click.argument("argument", metavar="[UPDATE]", required=False)
@click.option("-u", "--update", "text", help="The same. Default: read from standard input.")
@click.option(
    "--update-file", type=click.Path(dir_okay=False, path_type=Path), help="File of the update."
)
@click.option("--update-base", "base_iri", help="Base IRI of relative IRIs in the update.")
@click.option(
    "--load-from",
    multiple=True,
    help="Prefix of IRIs that LOAD may read, such as file:///data/. May be repeated. "
    "Default: none.",
)
@limits
@services
@click.option("--quiet", is_flag=True, help="No summary on stderr.")
@edge
def update(
    location: Path,
    argument: str | None,
    text: str | None,
    update_file: Path | None,
    base_iri: str | None,
    load_from: tuple[str, ...],
    timeout_s: float | None,
    max_memory: int | None,
    services: tuple[str, ...],
    quiet: bool,
) -> None:
    """Run a SPARQL update: all of its operations in one commit, or nothing.

    The store is created if it does not exist. Each operation sees all facts that hold after the
    operations before it, inferred ones included; only asserted facts can be deleted.

    \b
    Examples:
      triplestore update -l my.db 'DELETE DATA { :bob :parent :cy }'
      triplestore update -l my.db --update-file changes.ru
      triplestore update -l my.db 'LOAD <file:///data/a.ttl>' --load-from file:///data/
    """
    from triplestore.store import Store

    wanted = _text_of(argument, text, update_file, "update")
    with Store(location) as store:
        change = store.update(
            wanted,
            base_iri=base_iri,
            load_from=load_from,
            timeout=timeout_s,
            budget=max_memory,
            allow_service=services,
        )
    if not quiet:
        click.echo(str(change), err=True)


def _text_of(argument: str | None, option: str | None, file: Path | None, name: str) -> str:
    """The text, from an argument, an option, a file or standard input."""
    if sum(given is not None for given in (argument, option, file)) > 1:
        raise click.UsageError(
            f"give the {name} itself, --{name} or --{name}-file, only one of them"
        )
    text = option if argument is None else argument
    if text is not None:
        return text
    if file is not None:
        try:
            return file.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise click.ClickException(f"{file} is not UTF-8 text: {error}") from None
    return sys.stdin.read()
