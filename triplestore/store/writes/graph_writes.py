"""Writes of whole graphs in a transaction: they are added, cleared, removed, copied and replaced.

Each function takes the transaction's writer; a graph is given by its name, and None is the default
graph. Nothing is inferred for them. `replacement` writes only the difference of a graph: reloading
an unchanged file is a no-op.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from triplestore.relations import EXPLICIT, ChangedRows, Changes, Tables, bulk_layer
from triplestore.relations.lookup import match
from triplestore.relations.packed_keys import U8, U32, U64, high, low
from triplestore.relations.views.plain import PlainRelation
from triplestore.storage.metadata import FILES, GRAPH_FILES, file_count, graph_files
from triplestore.store.arguments import GraphLike, graph_key
from triplestore.store.writes.combine_writes import new_graphs
from triplestore.terms import to_ntriples

if TYPE_CHECKING:
    from triplestore.store.writes.writer import TransactionWriter
    from triplestore.terms import Dictionary, Term


def add_graph(writer: TransactionWriter, graph_name: GraphLike) -> None:
    """Make a named graph exist, also without quads."""
    tables = writer.stated_tables()
    graph = encoded_graph(writer.dictionary, graph_name)
    if graph:
        writer.stage(Changes(graphs=new_graphs(tables, np.array([graph], np.uint32))))


def clear_graph(writer: TransactionWriter, graph_name: GraphLike) -> None:
    """Remove everything that is asserted in a graph; the graph stays."""
    tables, graph = writer.stated_tables(), _graph_id(writer, graph_name)
    if graph is None:
        return
    for rows in list(match(tables, graph=graph, where=EXPLICIT)):
        columns = (rows.predicate, rows.subject, rows.object)
        if graph:
            changed = ChangedRows.of((*columns, rows.graph), 0, EXPLICIT)
            writer.stage(Changes(quads=changed))
        else:
            writer.stage(Changes(facts=ChangedRows.of(columns, 0, EXPLICIT)))


def remove_graph(writer: TransactionWriter, graph_name: GraphLike) -> None:
    """Remove everything asserted in a graph, and the graph; the default graph stays."""
    clear_graph(writer, graph_name)
    tables, graph = writer.stated_tables(), _graph_id(writer, graph_name)
    if graph and tables.has_graph(graph):
        gone = ChangedRows.of((np.array([graph], np.uint32),), 0, EXPLICIT)
        writer.stage(Changes(graphs=gone))


def named_graphs(writer: TransactionWriter) -> list[Term]:
    """The named graphs that exist now."""
    return writer.dictionary.terms(writer.stated_tables().graphs())


def has_graph(writer: TransactionWriter, graph_name: GraphLike) -> bool:
    """True if this named graph exists now; the default graph always does."""
    tables, graph = writer.stated_tables(), _graph_id(writer, graph_name)
    return graph == 0 or (graph is not None and tables.has_graph(graph))


def copy_graph(
    writer: TransactionWriter, source: GraphLike | None, target: GraphLike | None
) -> None:
    """Assert in one graph what is asserted in another."""
    tables, from_graph = writer.stated_tables(), _graph_id(writer, source)
    to_graph = encoded_graph(writer.dictionary, target)
    if from_graph is None:
        return
    for rows in list(match(tables, graph=from_graph, where=EXPLICIT)):
        add = np.ones(rows.size, np.bool_)
        graphs = np.full(rows.size, to_graph, np.uint32)
        writer.change_rows(add, rows.subject, rows.predicate, rows.object, graphs)


def _graph_id(writer: TransactionWriter, graph_name: GraphLike | None) -> int | None:
    """The id of a graph, 0 for the default graph, None for an unknown graph."""
    key = graph_key(graph_name)
    return 0 if key is None else writer.dictionary.lookup_key(key) or None


def encoded_graph(dictionary: Dictionary, graph_name: GraphLike | None) -> int:
    """The id of a graph, 0 for the default graph; an unknown name gets an id."""
    key = graph_key(graph_name)
    return 0 if key is None else int(dictionary.encode_keys([key])[0])


# -- replacing -----------------------------------------------------------------------------------


class Replacement(NamedTuple):
    """The changes that give a graph its new contents, and how many quads stay."""

    changes: Changes
    kept: int


def replacement(tables: Tables, graph: int, s: U32, p: U32, o: U32) -> Replacement:
    """The changes after which exactly these triples are asserted in a graph (0: the default)."""
    column = np.full(len(s), graph, dtype=np.uint32)
    new = Tables([bulk_layer(p, s, o, column)])
    names = np.union1d(_names(tables, graph), _names(new, graph)).tolist()
    parts: list[ChangedRows] = []
    kept = 0
    for name in names:
        before, after = _relation(tables, graph, name), _relation(new, graph, name)
        old_keys, new_keys = before.keys(where=EXPLICIT), after.keys()
        gone = np.setdiff1d(old_keys, new_keys, assume_unique=True)
        come = np.setdiff1d(new_keys, old_keys, assume_unique=True)
        kept += len(new_keys) - len(come)
        if len(gone):
            parts.append(_changed(name, graph, gone, 0, np.full(len(gone), EXPLICIT, np.uint8)))
        if len(come):
            parts.append(_changed(name, graph, come, EXPLICIT, before.status_of_keys(come)))
    rows = ChangedRows.concat(parts) if parts else None
    if graph == 0:
        return Replacement(Changes() if rows is None else Changes(facts=rows), kept)
    graphs = new_graphs(tables, np.array([graph], dtype=np.uint32))
    changes = Changes(graphs=graphs) if rows is None else Changes(quads=rows, graphs=graphs)
    return Replacement(changes, kept)


def _changed(name: int, graph: int, keys: U64, status: int, before: U8) -> ChangedRows:
    columns = [np.full(len(keys), name, dtype=np.uint32), high(keys), low(keys)]
    if graph:
        columns.append(np.full(len(keys), graph, dtype=np.uint32))
    return ChangedRows.of(columns, status, before)


def _names(tables: Tables, graph: int) -> U32:
    return tables.graph(graph).names() if graph else tables.names()


def _relation(tables: Tables, graph: int, name: int) -> PlainRelation:
    return tables.graph(graph).relation(name) if graph else tables.stored_relation(name)


def reserve_file_numbers(
    writer: TransactionWriter, count: int, replace_graph: GraphLike | None, replaces: bool
) -> int:
    """The first of `count` file numbers that no other load gets, for a load that takes long.

    Those of a graph that is replaced are the same each time, while they suffice.
    """
    known = file_count(writer.kept)
    number = known + 1
    if replaces:
        number = number_of_graph(writer, replace_graph, number, count)
    writer.keep({FILES: str(max(known, number + count - 1)).encode()})
    return number


def number_of_graph(
    writer: TransactionWriter, graph: GraphLike | None, free: int, count: int
) -> int:
    """The first file number of a graph that is replaced: the same each time, while the numbers
    that were reserved for it suffice.

    free  the number to use otherwise
    """
    key = graph_key(graph)
    name = "" if key is None else to_ntriples(key).decode()
    numbers = graph_files(writer.kept)
    if name not in numbers or numbers[name][1] < count:
        numbers[name] = (free, count)
        writer.keep({GRAPH_FILES: json.dumps(numbers, ensure_ascii=False).encode()})
    return numbers[name][0]
