"""A store for rdflib: start at `TripleStore`."""

from __future__ import annotations

import os
import shutil
import threading
import weakref
from collections.abc import Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyoxigraph as ox
import rdflib.store
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID, Graph
from rdflib.term import Identifier, Node, URIRef

from triplestore.errors import UsageError
from triplestore.network.services import ServicesLike
from triplestore.rdflib_store import queries
from triplestore.rdflib_store.names import RdflibGraphNames
from triplestore.rdflib_store.namespaces import Namespaces, usual_prefixes
from triplestore.rdflib_store.pending import ADD, BIND, GRAPH, REMOVE, Pending
from triplestore.rdflib_store.terms import Decoder, to_term
from triplestore.store import ReadableStore, Store

RdflibTriple = tuple[Node, Node, Node]
RdflibPattern = tuple[Node | None, Node | None, Node | None]

MAX_PENDING = 10_000
"""Maximum number of uncommitted changes."""


class TripleStore(rdflib.store.Store):
    """Keeps the graphs of rdflib in one of our stores: in memory, or, once opened, in a directory.

    `rdflib.Graph(store="triplestore")` makes one, as does `TripleStore(store)` from an existing
    store. Changes are committed together: before anything is read, by `commit()` and `close()`, and
    after ten thousand changes. Reading gives all facts, inferred ones included; only asserted facts
    can be removed. LOAD reads IRIs that begin with an entry of `load_from`, such as
    `["file:///data/"]`: with `Graph(store="triplestore")`, set `graph.store.load_from`. SERVICE
    asks the endpoints of `allow_service` (see `triplestore.Services`), which LOAD may read, too; by
    default those of the store.

    >>> from rdflib import Graph, RDF, URIRef
    >>> graph = Graph(TripleStore())
    >>> _ = graph.add((URIRef("http://ex.org/a"), RDF.type, URIRef("http://ex.org/C")))
    >>> len(graph), [str(row.x) for row in graph.query("SELECT ?x { ?x a ?c }")]
    (1, ['http://ex.org/a'])
    """

    context_aware = True
    formula_aware = True  # N3 documents can be read, but not formulas
    graph_aware = True
    transaction_aware = False

    def __init__(
        self,
        configuration: str | os.PathLike[str] | Store | None = None,
        identifier: Any = None,
        *,
        load_from: Iterable[str] = (),
        allow_service: ServicesLike | None = None,
    ) -> None:
        super().__init__(None, identifier)
        self._lock = threading.RLock()
        self._pending = Pending()
        self._names = RdflibGraphNames()
        self._decoder = Decoder()
        self._missing: Path | None = None
        # Commits pending changes when the process ends, or the store is garbage-collected.
        self._at_end: weakref.finalize[..., Any] | None = None
        self.load_from = tuple(load_from)
        self.allow_service = allow_service
        self._use(configuration if isinstance(configuration, Store) else Store())
        if configuration is not None and not isinstance(configuration, Store):
            self.open(configuration, create=True)

    def _use(self, store: Store) -> None:
        if self._at_end is not None:
            self._at_end.detach()
        self._at_end = weakref.finalize(self, self._pending.commit, store)
        self._store = store
        self._namespaces = Namespaces(store.prefixes)

    @property
    def store(self) -> Store:
        """The store, after a commit of pending changes."""
        self.commit()
        return self._store

    # -- opening and closing --------------------------------------------------------------------

    def open(self, configuration: Any, create: bool = False) -> int:
        """Use the store in a directory; with `create` it is made if it does not exist.

        Without `create`, the result for a directory without a store is `NO_STORE`. Until `open`
        succeeds, reading and writing are refused, because changes would be lost.
        """
        path = Path(configuration)
        if self._missing is None and len(self.store):
            raise UsageError("triples in memory would be lost: open a store before adding to it")
        if not create and (not path.exists() or (path.is_dir() and not any(path.iterdir()))):
            self._missing = path
            return int(rdflib.store.NO_STORE)
        self._missing = None
        opened, bound = Store(path), list(self._namespaces)
        self._store.close()
        self._use(opened)
        for prefix, namespace in bound:
            self.bind(prefix, namespace, override=False)
        return int(rdflib.store.VALID_STORE)

    def _require_store(self) -> None:
        """Refuse to work in memory after `open` found no store: changes would be lost."""
        if self._missing is not None:
            raise UsageError(
                f"{self._missing} is not a store, so changes would be lost: make a store with "
                f"open({str(self._missing)!r}, create=True)"
            )

    def close(self, commit_pending_transaction: bool = False) -> None:
        """Commit pending changes, and close the directory."""
        if self._missing is None:
            self.commit()
        self._store.close()

    def destroy(self, configuration: str) -> None:
        """Delete a store and its directory; raise if the directory is not a store."""
        with Store.read_only(configuration):
            pass
        shutil.rmtree(configuration)

    def commit(self) -> None:
        """Commit pending changes."""
        self._require_store()
        with self._lock:
            self._pending.commit(self._store)

    def rollback(self) -> None:
        """Drop pending changes; changes that were committed for a read remain."""
        with self._lock:
            self._pending.forget()

    def _note(self, kind: str, what: Any) -> None:
        self._require_store()
        with self._lock:
            self._pending.note(kind, what)
            if len(self._pending) >= MAX_PENDING:
                self.commit()

    # -- writing --------------------------------------------------------------------------------

    def add(self, triple: RdflibTriple, context: Any, quoted: bool = False) -> None:
        """Add a triple to a graph."""
        if quoted:
            raise UsageError(
                "a formula of N3 cannot be stored, because RDF has no term for it: remove it, or "
                "use named graphs"
            )
        super().add(triple, context, quoted)
        graph = self._names.graph(context)
        subject, predicate, object = map(to_term, triple)
        try:
            self._note(ADD, ox.Quad(subject, predicate, object, graph))
        except TypeError:
            raise UsageError(f"not an RDF triple: {triple}") from None

    def addN(self, quads: Iterable[Any]) -> None:  # noqa: N802 - rdflib's name
        """Add triples to graphs."""
        for s, p, o, context in quads:
            self.add((s, p, o), context)

    def remove(self, triple: RdflibPattern, context: Any = None) -> None:
        """Remove the triples of a pattern, from one graph or from all."""
        super().remove(triple, context)
        graph = None if context is None else self._names.graph(context)
        terms = _terms_of(triple)
        if terms is None:
            return
        if graph is not None and None not in terms:
            self._note(REMOVE, ox.Quad(*terms, graph))
            return
        store = self.store
        with store.transaction() as transaction:
            if terms == (None, None, None) and graph is not None:
                if transaction.contains_named_graph(graph):
                    transaction.clear_graph(graph)
                return
            found = transaction.quads_for_pattern(*terms, graph, facts="explicit")
            transaction.remove_all(list(found))

    # -- reading --------------------------------------------------------------------------------

    def triples(self, triple_pattern: RdflibPattern, context: Any = None) -> Iterator[Any]:
        """The triples of a pattern, each once, with the graphs that contain it."""
        terms = _terms_of(triple_pattern)
        if terms is None:
            return
        graph = None if context is None else self._names.graph(context)
        store = self.store.snapshot()
        blocks = store.rows_for_pattern(*terms, graph)
        several = any(store.named_graphs())
        if several and graph is None:
            yield from self._merged(store, list(blocks))
            return
        only = [self._graph(ox.DefaultGraph())]
        for rows in blocks:
            columns = [self._decoder.terms(store, column) for column in rows[:3]]
            for triple in zip(*columns, strict=True):
                yield triple, self._having(store, triple) if several else iter(only)

    def _having(self, store: ReadableStore, triple: RdflibPattern) -> Iterator[Graph]:
        """All graphs that contain a triple, looked up on demand."""
        terms = _terms_of(triple)
        if terms is not None:
            for quad in store.quads_for_pattern(*terms):
                yield self._graph(quad.graph_name)

    def _merged(self, store: ReadableStore, blocks: list[Any]) -> Iterator[Any]:
        """The triples of several graphs, each once, with all graphs that contain it."""
        if not blocks:
            return
        s, p, o, g = (np.concatenate(columns) for columns in zip(*blocks, strict=True))
        order = np.lexsort((g, o, p, s))
        s, p, o, g = s[order], p[order], o[order], g[order]
        new = np.ones(len(s), np.bool_)
        new[1:] = (s[1:] != s[:-1]) | (p[1:] != p[:-1]) | (o[1:] != o[:-1])
        starts = np.flatnonzero(new)
        stops = np.append(starts[1:], len(s)).tolist()
        graphs = {number: self._graph(_graph_of(store, number)) for number in set(g.tolist())}
        names = g.tolist()
        columns = [self._decoder.terms(store, column[starts]) for column in (s, p, o)]
        for *triple, start, stop in zip(*columns, starts.tolist(), stops, strict=True):
            yield tuple(triple), iter([graphs[number] for number in names[start:stop]])

    def __len__(self, context: Any = None) -> int:
        graph = None if context is None else self._names.graph(context)
        store = self.store
        if graph is None and not any(store.named_graphs()):
            return store.count()
        if graph is None:
            found = store.query(
                "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", use_default_graph_as_union=True
            )
            (row,) = cast(Any, found)
            return int(row["n"].value)
        return sum(rows.size for rows in store.rows_for_pattern(graph_name=graph))

    def contexts(self, triple: RdflibPattern | None = None) -> Generator[Graph, None, None]:
        """All graphs, or those that contain a triple."""
        store = self.store
        default = ox.DefaultGraph()
        if triple is None or triple == (None, None, None):
            if next(store.quads_for_pattern(None, None, None, default), None) is not None:
                yield self._graph(default)
            yield from map(self._graph, store.named_graphs())
            return
        yield from self._having(store, triple)

    def _graph(self, graph: Any) -> Graph:
        return Graph(store=self, identifier=self._names.name(graph))

    # -- graphs ---------------------------------------------------------------------------------

    def add_graph(self, graph: Graph) -> None:
        """Make a graph, which may be empty."""
        self._names.is_dataset()
        made = self._names.graph(graph)
        if not isinstance(made, ox.DefaultGraph):
            self._note(GRAPH, made)

    def remove_graph(self, graph: Graph) -> None:
        """Remove a graph and all its triples."""
        if graph.identifier == DATASET_DEFAULT_GRAPH_ID != self._names.default_if_known:
            return  # rdflib's N-Quads parser removes its own default graph
        found = self._names.graph(graph)
        if isinstance(found, ox.DefaultGraph):
            self.remove((None, None, None), graph)
        elif self.store.contains_named_graph(found):
            self._store.remove_graph(found)

    # -- prefixes -------------------------------------------------------------------------------

    def bind(self, prefix: str, namespace: URIRef, override: bool = True) -> None:
        """Bind a prefix; prefixes that rdflib binds everywhere are not stored."""
        namespace = URIRef(str(namespace))
        if self._namespaces.bind(prefix, namespace, override) and not _is_usual(prefix, namespace):
            self._note(BIND, (prefix, str(namespace)))

    def prefix(self, namespace: URIRef) -> str | None:
        """The prefix of a namespace."""
        return self._namespaces.prefix(namespace)

    def namespace(self, prefix: str) -> URIRef | None:
        """The namespace of a prefix."""
        return self._namespaces.namespace(prefix)

    def namespaces(self) -> Iterator[tuple[str, URIRef]]:
        """All prefixes and their namespaces."""
        return iter(self._namespaces)

    # -- SPARQL ---------------------------------------------------------------------------------

    def query(
        self,
        query: Any,
        initNs: Mapping[str, Any],  # noqa: N803 - rdflib's names
        initBindings: Mapping[Any, Identifier],  # noqa: N803
        queryGraph: Any,  # noqa: N803
        **_: Any,
    ) -> Any:
        """The result of a query, evaluated by our engine."""
        graph = self._asked(queryGraph)
        with queries.without_service(query):
            return queries.query(self.store, query, initNs, initBindings, graph, self.allow_service)

    def update(
        self,
        update: Any,
        initNs: Mapping[str, Any],  # noqa: N803
        initBindings: Mapping[Any, Identifier],  # noqa: N803
        queryGraph: Any,  # noqa: N803
        **_: Any,
    ) -> None:
        """Run an update of the default graph; rdflib runs updates of other graphs."""
        graph = self._asked(queryGraph)
        with queries.without_service(update):
            queries.update(
                self.store, update, initNs, initBindings, graph, self.load_from, self.allow_service
            )

    def _asked(self, name: Any) -> Any:
        return name if name == queries.UNION else self._names.graph(name)


def _terms_of(pattern: RdflibPattern) -> tuple[Any, Any, Any] | None:
    """The terms of a pattern; None if no RDF triple can match it."""
    try:
        s, p, o = (None if term is None else to_term(term) for term in pattern)
    except UsageError:
        return None
    if isinstance(s, ox.Literal) or not isinstance(p, ox.NamedNode | None):
        return None
    return s, p, o


def _graph_of(store: ReadableStore, number: int) -> Any:
    if not number:
        return ox.DefaultGraph()
    (term,) = store.terms(np.array([number], np.uint32))
    return term


def _is_usual(prefix: str, namespace: URIRef) -> bool:
    """Whether a prefix is one of every new graph of rdflib."""
    return usual_prefixes().get(prefix) == str(namespace)
