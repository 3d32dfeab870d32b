"""Watched shapes as bytes that a store keeps: start at `bytes_of` and `watches_of`.

The shapes graph is kept as N-Triples, as it was when it was given, so that a store that is opened
again needs none of the files.
"""

from __future__ import annotations

import json
from typing import NamedTuple

import pyoxigraph as ox

from triplestore.errors import FormatError
from triplestore.shacl.data_choice import DataChoice
from triplestore.shacl.reading.shapes_graph import ShapesGraph
from triplestore.shacl.vocabulary import Key
from triplestore.terms.term_keys import key_of, to_ntriples


class StoredWatch(NamedTuple):
    """One call of `watch_shapes`.

    refuse  the rank of the least severity of new results for which a commit is refused, or None
    """

    name: str
    graph: ShapesGraph
    choice: DataChoice
    refuse: int | None


def bytes_of(watches: list[StoredWatch]) -> bytes | None:
    """What a store keeps; None if there is nothing to keep."""
    made = [
        {
            "name": each.name,
            "graph": _text(each.graph),
            "iri": each.graph.name.decode(),
            "choice": each.choice.to_json(),
            "refuse": each.refuse,
            "missing": sorted(key.decode() for key in each.graph.imports),
        }
        for each in watches
    ]
    return json.dumps(made).encode() if made else None


def watches_of(kept: bytes | None) -> list[StoredWatch]:
    """What such bytes say."""
    if kept is None:
        return []
    try:
        return [
            StoredWatch(
                each["name"],
                _graph(each["graph"], each["iri"].encode(), {k.encode() for k in each["missing"]}),
                DataChoice.from_json(each["choice"]),
                each["refuse"],
            )
            for each in json.loads(kept)
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(f"the watched shapes of the store cannot be read: {error}") from error


def _text(graph: ShapesGraph) -> str:
    lines = [
        b" ".join((to_ntriples(s), to_ntriples(p), to_ntriples(o), b"."))
        for s, of_subject in graph.triples.items()
        for p, objects in of_subject.items()
        for o in objects
    ]
    return b"\n".join(lines).decode()


def _graph(text: str, name: Key, missing: set[Key]) -> ShapesGraph:
    graph = ShapesGraph(name=name, imports=missing)
    for quad in ox.parse(text, format=ox.RdfFormat.N_TRIPLES, lenient=True):
        graph.add(key_of(quad.subject), key_of(quad.predicate), key_of(quad.object))
    return graph
