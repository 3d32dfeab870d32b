"""Rewrite one document in another format, as a stream and without a store.

Start at `convert`. The flags follow `oxigraph convert`.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from typing import IO, Any, BinaryIO, cast

import pyoxigraph as ox

from triplestore.errors import UsageError

from .documents import OpenedSource
from .formats import LINE_FORMATS
from .judge import judged
from .oxi import QuadText
from .report import BadStatement, ReadOptions
from .sources import DocumentSource, find_sources
from .writers import output_format, write_document

GraphName = ox.NamedNode | ox.BlankNode | ox.DefaultGraph

_LINES = 1 << 12


def convert(
    source: str | os.PathLike[str] | IO[bytes],
    target: str | os.PathLike[str] | IO[bytes] | None = None,
    *,
    from_format: ox.RdfFormat | str | None = None,
    to_format: ox.RdfFormat | str | None = None,
    base_iri: str | None = None,
    from_graph: GraphName | None = None,
    to_graph: GraphName | None = None,
    to_base: str | None = None,
    lenient: bool = False,
    report: Callable[[BadStatement], None] = lambda problem: None,
) -> int:
    """Rewrite a file or stream in another format; returns the number of bad statements left out.

    from_graph : write the statements of this graph only, as those of the default graph
    to_graph : the graph for statements of the default graph
    """
    (given,) = _one_source(source, from_format)
    form, compression = output_format(target, to_format)
    skipped = 0

    def noted(problem: BadStatement) -> None:
        nonlocal skipped
        skipped += 1
        report(problem)

    def write(stream: BinaryIO) -> None:
        reading = ReadOptions(base_iri=base_iri, lenient=lenient)
        quads, prefixes = _opened(given, reading, noted)
        chosen = _chosen(quads, from_graph, to_graph, form)
        _serialize(chosen, stream, form, prefixes, to_base)

    write_document(target, compression, write)
    return skipped


def _one_source(source: Any, form: ox.RdfFormat | str | None) -> list[DocumentSource]:
    if isinstance(source, str | os.PathLike):
        found = find_sources(None, source, form)
    else:
        found = find_sources(source, None, form)
    if len(found) != 1:
        raise UsageError(f"{source} names {len(found)} documents; convert takes one")
    return found


def _opened(
    source: DocumentSource, reading: ReadOptions, noted: Callable[[BadStatement], None]
) -> tuple[Iterator[ox.Quad], dict[str, str]]:
    """The statements of a source, and the prefixes known when the first one was read."""
    given = OpenedSource(source, -1)
    given.open()
    if reading.lenient and source.format in LINE_FORMATS:
        return _judged_lines(given, source, noted), {}
    text = QuadText(given.stream(), source, reading, note=noted)
    quads = text.quads()
    first = list(itertools.islice(quads, 1))
    prefixes = text.prefixes
    return itertools.chain(first, quads), prefixes


def _judged_lines(
    given: OpenedSource, source: DocumentSource, noted: Callable[[BadStatement], None]
) -> Iterator[ox.Quad]:
    """The good lines, as a lenient load takes them."""
    stream = given.stream()
    line = 1
    while lines := list(itertools.islice(stream, _LINES)):
        good, faults = judged([text.rstrip(b"\r\n") for text in lines], source.format, True)
        for fault in faults:
            noted(
                BadStatement(
                    source.name, line + fault.index, fault.column, fault.message, fault.text
                )
            )
        yield from ox.parse(good, ox.RdfFormat.N_QUADS)
        line += len(lines)


def _chosen(
    quads: Iterator[ox.Quad],
    from_graph: GraphName | None,
    to_graph: GraphName | None,
    form: ox.RdfFormat,
) -> Iterator[Any]:
    default = ox.DefaultGraph()
    target = default if to_graph is None else to_graph
    for quad in quads:
        graph = quad.graph_name
        if from_graph is not None:
            if graph != from_graph:
                continue
            graph = default
        if graph == default:
            graph = target
        if form.supports_datasets:
            yield ox.Quad(quad.subject, quad.predicate, quad.object, graph)
        elif graph != default:
            raise UsageError(
                f"{form.name} has no named graphs, but there is a statement in {graph}: choose a "
                "graph (from_graph), or write N-Quads, TriG or JSON-LD"
            )
        else:
            yield quad.triple


def _serialize(
    statements: Iterator[Any],
    stream: BinaryIO,
    form: ox.RdfFormat,
    prefixes: dict[str, str],
    base_iri: str | None,
) -> None:
    ox.serialize(statements, cast(Any, stream), form, prefixes=prefixes or None, base_iri=base_iri)
