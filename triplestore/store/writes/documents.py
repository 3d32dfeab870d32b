"""Documents and tables read into a transaction: start at `load_documents` and `load_table`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from triplestore import loaders
from triplestore.errors import UsageError
from triplestore.loaders.rdflib_graphs import is_rdflib_graph, load_rdflib
from triplestore.storage.metadata import file_count
from triplestore.store.arguments import GraphLike, LoadOptions, graph_key
from triplestore.store.writes.graph_writes import number_of_graph
from triplestore.store.writes.writer import TransactionWriter
from triplestore.terms import term_of

if TYPE_CHECKING:
    from triplestore.loaders import Loaded
    from triplestore.loaders.tabular import TableOptions


def load_documents(writer: TransactionWriter, input: Any, options: LoadOptions) -> Loaded:
    """Load a text, a stream, files or a graph of rdflib; see `Store.load`."""
    graph, replaced = options.to_graph, options.replace_graph
    if graph is not None and replaced is not None:
        raise UsageError("give to_graph or replace_graph, not both")
    writer.prepare_load(options.progress, options.cancel)
    to_graph = _graph_term(graph if replaced is None else replaced)
    if is_rdflib_graph(input) and options.path is None:
        loaded = load_rdflib(
            input,
            writer.dictionary,
            to_graph=to_graph,
            named_graphs=options.named_graphs,
            cancel=options.cancel,
        )
    else:
        loaded = loaders.load(
            input,
            writer.dictionary,
            format=options.format,
            path=options.path,
            base_iri=options.base_iri,
            to_graph=to_graph,
            named_graphs=options.named_graphs,
            lenient=options.lenient,
            first_file_number=_first_file_number(writer, options),
            progress=options.progress,
            cancel=options.cancel,
            threads=options.threads,
            limits=loaders.limits_of(options.max_line_bytes, options.max_term_bytes),
        )
    return _taken(writer, loaded, replaced)


def load_table(
    writer: TransactionWriter, source: Any, options: TableOptions, replaced: GraphLike | None
) -> Loaded:
    """Load a table; see `Store.load_table`."""
    # Late: few stores are filled from tables.
    from triplestore.loaders.tabular import load_table

    if replaced is not None:
        if options.graph is not None:
            raise UsageError("give graph or replace_graph, not both")
        options = replace(options, graph=_graph_term(replaced))
    writer.prepare_load(False, options.cancel)
    options = replace(options, prefixes={**writer.prefixes(), **options.prefixes})
    return _taken(writer, load_table(source, writer.dictionary, options), replaced)


def _taken(writer: TransactionWriter, loaded: Loaded, replaced: GraphLike | None) -> Loaded:
    writer.take_loaded(loaded, "add" if replaced is None else "replace", replaced)
    return loaded


def _first_file_number(writer: TransactionWriter, options: LoadOptions) -> int:
    """The number of the first file, which labels its blank nodes."""
    number = file_count(writer.kept) + 1
    if options.replace_graph is None:
        return number
    path = options.path
    count = 1 if path is None else len(loaders.find_sources(None, path, options.format))
    return number_of_graph(writer, options.replace_graph, number, count)


def _graph_term(graph: GraphLike | None) -> Any:
    key = None if graph is None else graph_key(graph)
    return None if key is None else term_of(key)
