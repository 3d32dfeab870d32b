"""Transactions: what is written together, and published together or not at all.

Start reading at `Transaction`, the class that users see; a `TransactionWriter` does the work.
Reading in the transaction sees its own writes and the facts inferred from them; other readers see
nothing before the commit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

from triplestore.reasoning.outcome import Change
from triplestore.store.arguments import (
    GraphLike,
    LoadOptions,
    PathLike,
    QuadLike,
    ReasonOptions,
    UpdateOptions,
)
from triplestore.store.readable import ReadableStore
from triplestore.store.state_view import StateView
from triplestore.store.writes.documents import load_documents, load_table
from triplestore.store.writes.graph_writes import add_graph, clear_graph, remove_graph
from triplestore.store.writes.rule_changes import add_rules, reason, remove_rules
from triplestore.store.writes.writer import TransactionWriter

if TYPE_CHECKING:
    from types import TracebackType

    from pyoxigraph import DefaultGraph, NamedNode, RdfFormat

    from triplestore.loaders import Loaded
    from triplestore.loaders.rdflib_graphs import RdflibGraph
    from triplestore.loaders.sources import InputLike
    from triplestore.loaders.tabular import Property
    from triplestore.maintenance.report import Report
    from triplestore.network.services import ServicesLike
    from triplestore.operators.context import Flag
    from triplestore.reasoning.difference import Difference
    from triplestore.reasoning.program.ontology_graphs import Places
    from triplestore.reasoning.program.stored_rules import RulesLike
    from triplestore.text_limits import TextLimits


class Transaction(ReadableStore):
    """A series of writes that becomes one commit, or nothing; made by `Store.transaction()`.

    >>> from triplestore import Store, Quad, NamedNode
    >>> store = Store()
    >>> a, p = NamedNode("http://ex.org/a"), NamedNode("http://ex.org/p")
    >>> with store.transaction() as t:
    ...     _ = t.add(Quad(a, p, a))
    ...     len(t), len(store)
    (1, 0)
    >>> print(t.change, len(store))
    added 1 1
    """

    def __init__(self, writer: TransactionWriter) -> None:
        self._writer = writer

    def _view(self) -> StateView:
        return self._writer.view()

    @property
    def change(self) -> Change:
        """What the transaction did, once it is committed."""
        return self._writer.change

    # -- quads and graphs -----------------------------------------------------------------------

    def add(self, quad: QuadLike) -> None:
        """Assert a quad."""
        self._writer.write(True, quad)

    def remove(self, quad: QuadLike) -> None:
        """Remove an asserted quad; nothing happens if it was not asserted."""
        self._writer.write(False, quad)

    def extend(self, quads: Iterable[QuadLike]) -> None:
        """Assert many quads."""
        self._writer.write_all(True, quads)

    def remove_all(self, quads: Iterable[QuadLike]) -> None:
        """Remove many asserted quads."""
        self._writer.write_all(False, quads)

    def add_graph(self, graph_name: GraphLike) -> None:
        """Make a named graph exist, also without quads."""
        add_graph(self._writer, graph_name)

    def clear_graph(self, graph_name: GraphLike) -> None:
        """Remove everything that is asserted in a graph; the graph stays."""
        clear_graph(self._writer, graph_name)

    def remove_graph(self, graph_name: GraphLike) -> None:
        """Remove everything asserted in a graph, and the graph; the default graph stays."""
        remove_graph(self._writer, graph_name)

    def clear(self) -> None:
        """Remove all quads and graphs; prefixes and rules stay."""
        self._writer.clear()

    def bind(self, prefix: str, iri: str) -> None:
        """Name an IRI by a prefix, for dumps, queries and rules."""
        self._writer.bind({prefix: iri})

    def unbind(self, prefix: str) -> None:
        """Forget a prefix; nothing happens if it is not known."""
        self._writer.unbind(prefix)

    # -- files and SPARQL -----------------------------------------------------------------------

    def load(
        self,
        input: InputLike | RdflibGraph | None = None,
        format: RdfFormat | str | None = None,
        *,
        path: PathLike | Iterable[PathLike] | None = None,
        base_iri: str | None = None,
        to_graph: GraphLike | None = None,
        replace_graph: GraphLike | None = None,
        named_graphs: str = "keep",
        lenient: bool = False,
        progress: bool = False,
        cancel: Callable[[], bool] | None = None,
        threads: int | None = None,
        max_line_bytes: int | None = None,
        max_term_bytes: int | None = None,
    ) -> Loaded:
        """Load a text, a stream or files; see `Store.load`."""
        options = LoadOptions(
            format=format,
            path=path,
            base_iri=base_iri,
            to_graph=to_graph,
            replace_graph=replace_graph,
            named_graphs=named_graphs,
            lenient=lenient,
            progress=progress,
            cancel=cancel,
            threads=threads,
            max_line_bytes=max_line_bytes,
            max_term_bytes=max_term_bytes,
        )
        return load_documents(self._writer, input, options)

    def load_table(
        self,
        source: Any,
        *,
        subject: str,
        properties: Mapping[str, str | Property],
        type: str | None = None,
        graph: str | GraphLike | None = None,
        replace_graph: GraphLike | None = None,
        prefixes: Mapping[str, str] | None = None,
        delimiter: str | None = None,
        null_values: Collection[str] = ("",),
        encoding: str = "utf-8",
        cancel: Callable[[], bool] | None = None,
    ) -> Loaded:
        """Load a flat table; see `Store.load_table`."""
        # Late: few stores are filled from tables.
        from triplestore.loaders.tabular import TableOptions

        options = TableOptions(
            subject=subject,
            properties=properties,
            type=type,
            graph=graph,
            delimiter=delimiter,
            null_values=null_values,
            encoding=encoding,
            prefixes=prefixes or {},
            cancel=cancel,
        )
        return load_table(self._writer, source, options, replace_graph)

    def update(
        self,
        update: str,
        *,
        base_iri: str | None = None,
        prefixes: Mapping[str, str] | None = None,
        load_from: Iterable[str] = (),
        timeout: float | None = None,
        budget: int | None = None,
        cancel: Flag | None = None,
        limits: TextLimits | None = None,
        allow_service: ServicesLike | None = None,
    ) -> None:
        """Run a SPARQL update; see `Store.update`."""
        # Late: many stores are only read, or written without SPARQL.
        from triplestore.store.writes.run_update import update as carry_out

        services = self._services if allow_service is None else allow_service
        options = UpdateOptions(
            base_iri, prefixes, load_from, timeout, budget, cancel, limits, services
        )
        carry_out(self._writer, update, options)

    # -- rules ----------------------------------------------------------------------------------

    def reason(
        self,
        *regimes: str,
        rules: RulesLike | None = None,
        ontology: Places | None = None,
        imports: Places = (),
        network: bool = False,
        scope: str | Iterable[str | NamedNode | DefaultGraph] | None = None,
        trivial: bool | None = None,
        strict: bool | None = None,
        equality: str | None = None,
        tuning: Mapping[str, Any] | None = None,
        progress: bool = False,
        cancel: Callable[[], bool] | None = None,
    ) -> Report:
        """Put rules and regimes in force; see `Store.reason`."""
        options = ReasonOptions(
            regimes=regimes,
            rules=rules,
            ontology=ontology,
            imports=imports,
            network=network,
            scope=scope,
            trivial=trivial,
            strict=strict,
            equality=equality,
            tuning=tuning,
            progress=progress,
            cancel=cancel,
        )
        return reason(self._writer, options).completed()

    def add_rules(self, rules: RulesLike, *, progress: bool = False) -> Report:
        """Add rules to those in force; see `Store.add_rules`."""
        return add_rules(self._writer, rules, self._writer.settings, progress).completed()

    def remove_rules(self, rules: RulesLike, *, progress: bool = False) -> Report:
        """Remove rules from those in force; see `Store.remove_rules`."""
        return remove_rules(self._writer, rules, progress).completed()

    def diff(self) -> Difference:
        """What the transaction did so far: asserted and inferred quads, and new violations.

        >>> from triplestore import Store
        >>> store = Store()
        >>> prefix = "@prefix : <http://ex.org/> ."
        >>> _ = store.reason(rules=prefix + ":knows[?y, ?x] :- :knows[?x, ?y] .")
        >>> with store.transaction() as t:
        ...     _ = t.load(prefix + ":a :knows :b .", "ttl")
        ...     print(t.diff())
        added 1
          + <http://ex.org/a> <http://ex.org/knows> <http://ex.org/b> .
        inferred 1
          + <http://ex.org/b> <http://ex.org/knows> <http://ex.org/a> .
        """
        return self._writer.diff()

    @property
    def report(self) -> Report | None:
        """The report of the last time that facts were inferred; None if that was not needed."""
        return self._writer.report()

    # -- the end --------------------------------------------------------------------------------

    def commit(self) -> Change:
        """Publish everything, durably as the store promises; the transaction is over then."""
        return self._writer.commit()

    def rollback(self) -> None:
        """Discard everything; the transaction is over then."""
        self._writer.rollback()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.__exit__(kind, error, trace)


def writer_of(transaction: Transaction) -> TransactionWriter:
    """The inside of a transaction, for modules of this project."""
    return transaction._writer
