"""Shapes graphs as callers give them, and what is validated: start at `validated`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

import numpy as np
from pyoxigraph import BlankNode, DefaultGraph, NamedNode

from triplestore.errors import UsageError
from triplestore.loaders.rdflib_graphs import is_rdflib_graph
from triplestore.operators.context import Context
from triplestore.shacl.data_choice import DataChoice
from triplestore.shacl.reading.collect import collect_graph
from triplestore.shacl.reading.read_shapes import read_shapes
from triplestore.shacl.reading.shapes_graph import ShapesGraph, shapes_graph
from triplestore.shacl.reports.report import ValidationReport
from triplestore.shacl.reports.rows import ListedRows
from triplestore.shacl.reports.severities import rank_of
from triplestore.shacl.validate import validate
from triplestore.shacl.watching.stored_watches import StoredWatch, bytes_of, watches_of
from triplestore.storage import Database
from triplestore.store.arguments import (
    DEFAULTS,
    LoadOptions,
    QueryOptions,
    facts_mask,
    graph_key,
)
from triplestore.store.faces.shapes_causes import explainer
from triplestore.store.querying import Querying
from triplestore.store.run_query import asked_state, default_budget
from triplestore.store.state_view import StateView
from triplestore.store.writes.documents import load_documents
from triplestore.store.writes.writer import TransactionWriter
from triplestore.terms.term_keys import IRI, key_of
from triplestore.terms.vocabulary import OWL_ONTOLOGY, RDF_TYPE

if TYPE_CHECKING:
    from pyoxigraph import RdfFormat

    from triplestore.operators.context import Flag
    from triplestore.shacl.watching.watcher import Watcher
    from triplestore.storage import State
    from triplestore.store.arguments import GraphLike, PathLike, TermLike
    from triplestore.store.faces.validating import ShapesLike


class QueryChoice(NamedTuple):
    """The data that are validated, and the limits; see `Validating.validate`."""

    facts: str = "all"
    use_default_graph_as_union: bool = False
    default_graph: GraphLike | Iterable[GraphLike] | None = None
    named_graphs: Iterable[GraphLike] | None = None
    timeout: float | None = None
    budget: int | None = None
    cancel: Flag | None = None

    def data(self) -> DataChoice:
        """The data, as keys of terms."""
        default: tuple[bytes | None, ...] = (None,)
        if self.default_graph is not None:
            default = tuple(map(graph_key, _graphs(self.default_graph)))
        named = None
        if self.named_graphs is not None:
            keys = map(graph_key, self.named_graphs)
            named = tuple(key for key in keys if key is not None)
        where = facts_mask(self.facts)
        return DataChoice(where, self.use_default_graph_as_union, default, named)

    def context(self) -> Context:
        """The limits."""
        budget = default_budget() if self.budget is None else self.budget
        return Context(budget, seconds=self.timeout, cancel=self.cancel)


def _graphs(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list | tuple | set | frozenset) else [given]


def validated(
    view: StateView,
    shapes: ShapesLike | None,
    choice: QueryChoice,
    imports: Mapping[str, ShapesLike] | Iterable[PathLike] = (),
    format: RdfFormat | str | None = None,
    iri: str | None = None,
    nodes: Iterable[TermLike] | None = None,
    only: Iterable[TermLike] | None = None,
) -> ValidationReport:
    """The report of shapes over a state."""
    graph = read_sources(view, shapes, imports, format, iri)
    made, data = read_shapes(graph), choice.data()
    if only is not None:
        made = made.only({key_of(node) for node in only})
    focus = None if nodes is None else tuple(map(key_of, nodes))
    explain = explainer(view, made, data)
    return validate(
        data.asked(view),
        made,
        choice.context(),
        explain=explain,
        commit=view.commit,
        nodes=focus,
    )


def watched_bytes(
    view: StateView,
    kept: bytes | None,
    name: str,
    shapes: ShapesLike | None,
    choice: QueryChoice,
    given: tuple[Any, RdfFormat | str | None, str | None],
    strict: str | None,
) -> bytes | None:
    """The watched shapes of a store, of which one is added or replaced.

    given  imports, format and IRI of the shapes graph
    """
    graph = read_sources(view, shapes, *given)
    read_shapes(graph)  # its errors are raised now
    refuse = None if strict is None else rank_of(strict)
    others = [each for each in watches_of(kept) if each.name != name]
    return bytes_of([*others, StoredWatch(name, graph, choice.data(), refuse)])


def watched_report(watcher: Watcher, state: State, name: str) -> ValidationReport | None:
    """The results of watched shapes in a committed state; None if there are none of this name."""
    found = watcher.rows_at(state, name)
    if found is None:
        return None
    watched, rows = found
    view = StateView.of(state)
    explain = explainer(view, watched.shapes, watched.choice)
    return ValidationReport(ListedRows(rows), view.prefixes, explain, commit=state.commit)


def read_sources(
    view: StateView,
    shapes: ShapesLike | None,
    imports: Mapping[str, ShapesLike] | Iterable[PathLike] = (),
    format: RdfFormat | str | None = None,
    iri: str | None = None,
) -> ShapesGraph:
    """The shapes graph that a caller gives, with all that it imports."""
    return _Sources(view, imports, format).read(shapes, iri)


class _Sources:
    """Shapes graphs from wherever they are.

    view     the state whose graphs may be shapes graphs
    imports  what is imported, by IRI, or files in which it may be
    """

    def __init__(
        self,
        view: StateView,
        imports: Mapping[str, ShapesLike] | Iterable[PathLike],
        format: RdfFormat | str | None,
    ) -> None:
        self._view = view
        self._format = format
        self._by_iri: dict[str, Any] = dict(imports) if isinstance(imports, Mapping) else {}
        self._files = (
            [] if isinstance(imports, Mapping) else [Path(each) for each in _listed(imports)]
        )
        self._documents = 0
        self._from_file = False  # a text, perhaps of a client, must not have files read
        self._named: dict[str, ShapesGraph] | None = None

    def read(self, shapes: ShapesLike | None, iri: str | None) -> ShapesGraph:
        """The shapes graph of a source."""
        if iri is None and isinstance(shapes, NamedNode):
            iri = shapes.value
        name = key_of(NamedNode(iri or "urn:x-triplestore:shapes"))
        return collect_graph(self._parts(shapes), self._find, name)

    def _parts(self, source: Any) -> Iterable[ShapesGraph]:
        if source is None:
            return [shapes_graph(asked_state(self._view, _UNION))]
        if isinstance(source, NamedNode | BlankNode | DefaultGraph):
            return [self._graph(source)]
        if isinstance(source, Querying):
            return [shapes_graph(asked_state(source._view(), _UNION), self._label())]
        if isinstance(source, str | os.PathLike) or is_rdflib_graph(source):
            return [self._document(source)]
        try:
            items = list(source)
        except TypeError:
            raise UsageError(f"shapes cannot be read from {source!r}: see Store.validate") from None
        if any(type(item).__name__ in ("Quad", "Triple", "tuple") for item in items):
            return [self._quads(items)]
        return [part for item in items for part in self._parts(item)]

    def _label(self) -> str:
        self._documents += 1
        return f"shapes{self._documents}x"

    def _graph(self, name: NamedNode | BlankNode | DefaultGraph) -> ShapesGraph:
        asked = asked_state(self._view, DEFAULTS._replace(default_graph=[name]))
        exists = isinstance(name, DefaultGraph) or any(
            self._view.tables.has_graph(graph) for graph in asked.default
        )
        if not exists:
            raise UsageError(f"the store has no graph {name}, from which shapes are to be read")
        return shapes_graph(asked)

    def _document(self, source: Any) -> ShapesGraph:
        if isinstance(source, os.PathLike):
            path = Path(source)
            self._from_file = True
            view = _loaded(path=path, format=self._format, base_iri=path.resolve().as_uri())
        elif isinstance(source, str):
            view = _loaded(source, format=self._format or "turtle")
        else:  # blank nodes of rdflib keep their labels
            return shapes_graph(asked_state(_loaded(source), _UNION))
        return shapes_graph(asked_state(view, _UNION), self._label())

    def _quads(self, quads: list[Any]) -> ShapesGraph:
        view = _written(lambda writer: writer.write_all(True, quads))
        return shapes_graph(asked_state(view, _UNION))

    # -- imports ----------------------------------------------------------------------------------

    def _find(self, key: bytes) -> ShapesGraph | None:
        """What an imported IRI stands for."""
        iri = key[1:].decode()
        if key[0] != IRI:
            return None
        if iri in self._by_iri:
            graph = ShapesGraph()
            for part in self._parts(self._by_iri[iri]):
                graph.include(part)
            return graph
        found = self._in_files().get(iri)
        if found is not None:
            return found
        graph_id = int(self._view.dictionary.lookup_keys([key])[0])
        if graph_id and self._view.tables.has_graph(graph_id):
            return self._graph(NamedNode(iri))
        parts = urlsplit(iri)
        path = Path(unquote(parts.path))
        if self._from_file and parts.scheme == "file" and path.is_file():
            return self._document(path)
        return None

    def _in_files(self) -> dict[str, ShapesGraph]:
        """The given files, by the IRIs of the ontologies in them, and by their own."""
        if self._named is None:
            self._named = {}
            for path in self._files:
                view = _loaded(path=path, base_iri=path.resolve().as_uri())
                graph = shapes_graph(asked_state(view, _UNION), self._label())
                for iri in (path.resolve().as_uri(), *_ontologies(view)):
                    self._named[iri] = graph
        return self._named


_UNION = QueryOptions(use_default_graph_as_union=True)


def _ontologies(view: StateView) -> Iterator[str]:
    """The IRIs of the ontologies in a document."""
    name, kind = view.dictionary.lookup_keys(
        [key_of(NamedNode(i)) for i in (RDF_TYPE, OWL_ONTOLOGY)]
    )
    if name and kind:
        _, (heads,) = view.tables.relation(int(name)).probe((1,), (np.array([kind], np.uint32),))
        yield from (key[1:].decode() for key in map(view.dictionary.key, heads.tolist()))


def _listed(paths: Any) -> list[Any]:
    return [paths] if isinstance(paths, str | os.PathLike) else list(paths)


def _loaded(source: Any = None, **options: Any) -> StateView:
    """A document in memory."""
    return _written(lambda writer: load_documents(writer, source, LoadOptions(**options)))


def _written(write: Callable[[TransactionWriter], object]) -> StateView:
    database = Database.open(None)
    with ExitStack() as turn:
        turn.enter_context(database.writing())
        with TransactionWriter(database, lambda: None) as writer:
            write(writer)
    return StateView.of(database.state)
