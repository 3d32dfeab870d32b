"""A shapes graph and all that it imports: start at `collect_graph`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from triplestore.shacl.reading.shapes_graph import ShapesGraph
from triplestore.shacl.vocabulary import Key

Find = Callable[[Key], ShapesGraph | None]
"""The graph of an IRI that is imported; None if it cannot be found."""


def collect_graph(parts: Iterable[ShapesGraph], find: Find, name: Key = b"") -> ShapesGraph:
    """What some graphs, and all that they import, say about shapes.

    The imports that were not found remain in `imports`.
    """
    graph = ShapesGraph(name=name)
    for part in parts:
        graph.include(part)
    done: set[Key] = set()
    missing: set[Key] = set()
    while waiting := graph.imports - done:
        for iri in sorted(waiting):
            done.add(iri)
            found = find(iri)
            if found is None:
                missing.add(iri)
            else:
                graph.include(found)
    graph.imports = missing
    return graph
