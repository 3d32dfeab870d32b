"""SPARQL updates in a transaction.

Start at `update`. The operations of a request run in their order. Always true: a WHERE sees all
facts that hold after the operations before it, inferred ones included; only asserted facts are
deleted, copied and moved; an operation that fails raises, so that nothing of the request is
committed, unless it is SILENT.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyoxigraph as ox

from triplestore.data_classes import data_class
from triplestore.errors import ParseError, TimeLimitError, UsageError
from triplestore.expressions.tree import Constant
from triplestore.network.services import Services, services_of
from triplestore.operators.context import Context, ContextLimits, running
from triplestore.sparql.algebra import updates
from triplestore.sparql.engine import AskedState
from triplestore.sparql.syntax.parser import parse_update
from triplestore.sparql.update import changed_rows
from triplestore.store.arguments import LoadOptions, facts_mask, quad_keys
from triplestore.store.run_query import text_search_of
from triplestore.store.thresholds import STORE
from triplestore.store.writes.documents import load_documents
from triplestore.store.writes.graph_writes import (
    add_graph,
    clear_graph,
    copy_graph,
    has_graph,
    named_graphs,
    remove_graph,
)
from triplestore.text_limits import DEFAULT
from triplestore.thread_limits import limited

if TYPE_CHECKING:
    from triplestore.store.arguments import UpdateOptions
    from triplestore.store.writes.writer import TransactionWriter

_DEFAULT = ox.DefaultGraph()


def update(writer: TransactionWriter, text: str, options: UpdateOptions) -> None:
    """Execute a request; see `Store.update`."""
    known = {**writer.prefixes(), **(options.prefixes or {})}
    timeout = options.timeout
    deadline = None if timeout is None else time.monotonic() + timeout
    services = services_of(options.allow_service)
    run = _UpdateRun(writer, options, services, deadline, options.base_iri)
    with running(run.context()):
        request = parse_update(text, prefixes=known, base=options.base_iri)
    run.base = request.base
    for operation in request.operations:
        run.operation(operation)


@data_class(frozen=False)
class _UpdateRun:
    writer: TransactionWriter
    options: UpdateOptions
    services: Services
    deadline: float | None
    base: str | None

    def context(self) -> Context:
        """The remaining limits of the request."""
        left = None if self.deadline is None else max(self.deadline - time.monotonic(), 0.0)
        options = self.options
        limits = options.limits or DEFAULT
        context = Context(options.budget, seconds=left, cancel=options.cancel, text=limits)
        context.check()
        return context

    def operation(self, operation: updates.Operation) -> None:
        """Execute one operation."""
        context = self.context()
        with running(context):
            self._carry_out(operation, context)

    def _carry_out(self, operation: updates.Operation, context: Context) -> None:
        if isinstance(operation, updates.InsertData):
            self.insert(operation.quads)
        elif isinstance(operation, updates.DeleteData):
            self.writer.write_all(False, operation.quads)
        elif isinstance(operation, updates.Modify):
            self.modify(operation, context)
        elif isinstance(operation, updates.Load):
            self.load(operation, context)
        else:
            try:
                self.graphs(operation)
            except UsageError:
                if not operation.silent:
                    raise

    # --- triples --------------------------------------------------------------------------------

    def insert(self, quads: tuple[ox.Quad, ...]) -> None:
        """Assert quads; each label is a new blank node, the same in the whole operation."""
        if len(quads) >= STORE.loaded_quads:
            document = ox.serialize(quads, format=ox.RdfFormat.N_QUADS)
            load_documents(self.writer, document, LoadOptions(format=ox.RdfFormat.N_QUADS))
            return
        nodes: dict[bytes, bytes] = {}

        def own(key: bytes) -> bytes:
            if key not in nodes:
                nodes[key] = b"\x02" + ox.BlankNode().value.encode()
            return nodes[key]

        keys: list[bytes] = []
        for quad in quads:
            s, p, o, g = quad_keys(quad)
            keys += (
                own(s) if s[0] == 2 else s,
                p,
                own(o) if o[0] == 2 else o,
                b"" if g is None else g,
            )
        known = dict.fromkeys(keys)
        known.pop(b"", None)
        ids = self.writer.encode(list(known))
        found = dict(zip(known, ids.tolist(), strict=True))
        found[b""] = 0
        rows = np.array([found[key] for key in keys], np.uint32).reshape(-1, 4)
        columns = [np.ascontiguousarray(column) for column in rows.T]
        self.writer.change_rows(np.ones(len(rows), np.bool_), *columns)

    def modify(self, operation: updates.Modify, context: Context) -> None:
        """DELETE and INSERT with a WHERE: deletions come first."""
        deleted, inserted = changed_rows(operation, self.asked(), context, self.base)
        add = np.repeat([False, True], [len(deleted.subject), len(inserted.subject)])
        columns = [np.concatenate(pair) for pair in zip(deleted, inserted, strict=True)]
        self.writer.change_rows(add, *columns)

    def asked(self) -> AskedState:
        """The state that a WHERE sees."""
        view = self.writer.view()
        return AskedState(
            view.dictionary,
            view.tables,
            facts_mask("all"),
            hidden=view.hidden > 0,
            services=self.services,
            text=text_search_of(view),
        )

    def load(self, operation: updates.Load, context: Context) -> None:
        """LOAD; SILENT ignores errors of documents, not limits of the request."""
        # Late: the libraries of HTTP.
        from triplestore.store.writes.fetching import fetch

        graph = None if operation.graph is None else operation.graph.term
        source = operation.source.key[1:].decode()
        try:
            document = fetch(source, self.services.with_entries(self.options.load_from))
            with limited(ContextLimits(context)):
                wanted = LoadOptions(
                    format=document.format, path=document.path, base_iri=source, to_graph=graph
                )
                load_documents(self.writer, document.data, wanted)
        except TimeLimitError:
            raise
        except (UsageError, ParseError, OSError):
            if not operation.silent:
                raise

    # --- graphs ---------------------------------------------------------------------------------

    def graphs(self, operation: Any) -> None:
        """An operation on whole graphs."""
        if isinstance(operation, updates.Create):
            self.create(operation.graph)
        elif isinstance(operation, updates.Clear):
            for graph in self.targets(operation.target):
                clear_graph(self.writer, graph)
        elif isinstance(operation, updates.Drop):
            for graph in self.targets(operation.target):
                remove_graph(self.writer, graph)
        else:
            self.copy(operation)

    def create(self, graph: Constant) -> None:
        """CREATE."""
        if has_graph(self.writer, graph.term):
            raise UsageError(f"graph {graph} exists already; CREATE SILENT would ignore that")
        add_graph(self.writer, graph.term)

    def targets(self, target: updates.GraphTarget) -> list[Any]:
        """The graphs that CLEAR and DROP name."""
        if isinstance(target, Constant):
            return [self.existing(target)]
        named = named_graphs(self.writer) if target != "DEFAULT" else []
        return named if target == "NAMED" else [_DEFAULT, *named]

    def existing(self, graph: Constant | None) -> Any:
        """A graph by its name, None being the default graph; it must exist."""
        if graph is None:
            return _DEFAULT
        if not has_graph(self.writer, graph.term):
            raise UsageError(f"graph {graph} does not exist; SILENT would ignore that")
        return graph.term

    def copy(self, operation: updates.Add | updates.Move | updates.Copy) -> None:
        """ADD, COPY, MOVE: they do nothing if a graph is also the target."""
        source = self.existing(operation.source)
        target = _DEFAULT if operation.target is None else operation.target.term
        if source == target:
            return
        if not isinstance(operation, updates.Add):
            remove_graph(self.writer, target)
        copy_graph(self.writer, source, target)
        if isinstance(operation, updates.Move):
            remove_graph(self.writer, source)
