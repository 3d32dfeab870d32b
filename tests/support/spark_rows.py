"""Rows of keys from N-Quads text, for tests of the stages after parsing."""

from __future__ import annotations

import pyoxigraph as ox

from triplestore.terms import key_of

Row = tuple[bytes, bytes, bytes, bytes | None]


def rows_of(text: str) -> list[Row]:
    """The statements of an N-Quads text as keys, in their order, repetitions included."""
    rows = []
    for quad in ox.parse(text, format=ox.RdfFormat.N_QUADS):
        graph = quad.graph_name
        name = None if isinstance(graph, ox.DefaultGraph) else key_of(graph)
        rows.append((key_of(quad.subject), key_of(quad.predicate), key_of(quad.object), name))
    return rows


def some_rows(count: int = 120) -> list[Row]:
    """Rows with terms of all kinds, some in named graphs, some twice."""
    lines = []
    for i in range(count):
        subject = f"<http://ex.org/s{i % 31}>" if i % 5 else f"_:n{i % 7}"
        value = (
            f"<http://ex.org/s{(i * 7) % 31}>",
            f'"{i % 13}"^^<http://www.w3.org/2001/XMLSchema#integer>',
            f'"plain {i % 11}"',
            f'"gr\u00fc\u00df {i % 3}"@de-at',
            f"_:n{i % 7}",
        )[i % 5]
        graph = ("", "", f"<http://ex.org/g{i % 2}>")[i % 3]
        lines.append(f"{subject} <http://ex.org/p{i % 4}> {value} {graph} .")
    return rows_of("\n".join([*lines, *lines[: count // 4]]))
