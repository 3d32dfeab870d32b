"""The ends of paths that a changed fact may connect or part.

Start at `nodes_before_path`: a path between two nodes can only have come or gone if the first one
leads to a changed fact, by any steps that the path may take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from triplestore.expressions.tree import Constant, Variable
from triplestore.live.reads import Read, steps_in
from triplestore.operators.context import running
from triplestore.relations.packed_keys import U32, U64
from triplestore.sparql.evaluate.steps import Nodes
from triplestore.sparql.plan.path_plans import make_step

if TYPE_CHECKING:
    from triplestore.live.reading import StateReader
    from triplestore.relations import ChangedRows


def nodes_before_path(read: Read, facts: ChangedRows, old: StateReader, new: StateReader) -> U64:
    """The nodes at one end of a path from which a changed fact can be reached.

    That end is the subject if it is a variable, else the object.
    """
    assert read.path is not None
    backward = isinstance(read.path.subject, Variable)
    ends = _ends(facts)
    found = [ends]
    for reader in (old, new):
        with running(reader.context):
            found.append(_reached(read, reader, ends, backward))
    return _as_keys(np.unique(np.concatenate(found)))


def _reached(read: Read, reader: StateReader, ends: U32, backward: bool) -> U32:
    def look_up(constant: Constant) -> int:
        return reader.terms.encode_key(constant.key)

    assert read.path is not None
    steps = steps_in(read.path.path)
    step = make_step(steps, reader.dataset, _graph_of(read, reader), look_up)
    return step.expand(ends, backward, reader.context)[1]


def nodes_of_graph(read: Read, facts: ChangedRows, old: StateReader, new: StateReader) -> U64:
    """The nodes that came to a graph with some facts, or went with them."""
    ends = _ends(facts)
    held = []
    for reader in (old, new):
        with running(reader.context):
            every = reader.dataset.facts(_graph_of(read, reader))
            held.append(Nodes(every, reader.dataset.where).contain(ends))
    return _as_keys(ends[held[0] != held[1]])


def _as_keys(ids: U32) -> U64:
    return ids.astype(np.uint64)


def _ends(facts: ChangedRows) -> U32:
    return np.unique(np.concatenate(facts.columns[1:3]))


def _graph_of(read: Read, reader: StateReader) -> int | None:
    return None if read.graph is None else _id_of(reader, read.graph)


def _id_of(reader: StateReader, term: Constant | Variable) -> int:
    assert isinstance(term, Constant), "paths in GRAPH ?g are asked graph by graph"
    return reader.terms.encode_key(term.key)
