"""The shapes graph as a named graph of the data, for queries that read it.

Start at `with_shapes_graph`.
"""

from __future__ import annotations

import numpy as np

from triplestore.relations import bulk_layer
from triplestore.shacl.model import ShapeSet
from triplestore.sparql.engine import AskedState


def with_shapes_graph(asked: AskedState, shapes: ShapeSet) -> AskedState:
    """A state in which `$shapesGraph` names the shapes graph, if a query asks for it.

    The dictionary is copied, so nothing that others read is changed.
    """
    graph = shapes.graph
    if graph is None:
        return asked
    dictionary = asked.dictionary.copy()
    keys = [
        key
        for s, of_subject in graph.triples.items()
        for p, objects in of_subject.items()
        for o in objects
        for key in (s, p, o)
    ]
    name = int(dictionary.encode_keys([shapes.name])[0])
    if not keys or asked.tables.has_graph(name):
        return asked
    s, p, o = dictionary.encode_keys(keys).reshape(-1, 3).T
    graphs = np.full(len(s), name, np.uint32)
    p, s, o = (np.ascontiguousarray(column) for column in (p, s, o))
    layer = bulk_layer(p, s, o, graphs)
    named = None if asked.named is None else (*asked.named, name)
    tables = asked.tables.push(layer)
    return asked._replace(dictionary=dictionary, tables=tables, named=named, plans=None)
