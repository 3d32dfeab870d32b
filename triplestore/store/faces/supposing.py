"""What would follow from a change: start at `WhatIf`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

from pyoxigraph import DefaultGraph, NamedNode

from triplestore.errors import UsageError
from triplestore.store.arguments import GraphLike, LoadOptions, QuadLike, graph_key, quad_keys
from triplestore.store.readable import ReadableStore
from triplestore.terms import term_of, to_ntriples

if TYPE_CHECKING:
    from triplestore.store.writes.writer import TransactionWriter
    from triplestore.versions.consequences import Consequences
    from triplestore.versions.one_dictionary import Line

DocumentLike: TypeAlias = "str | bytes | PathLike[str]"
"""A document of RDF: its text in Turtle, or a file."""


class WhatIf(ReadableStore):
    """A state of which one can ask what would follow from a change."""

    @abstractmethod
    def _line(self) -> Line:
        """The state, and where it comes from."""

    def what_if(
        self,
        *,
        remove_graphs: Iterable[GraphLike | str] = (),
        without: Iterable[QuadLike | str] = (),
        add: Iterable[QuadLike] | DocumentLike = (),
    ) -> Consequences:
        """What would come and go if some sources and facts were taken away, and others added.

        Nothing is changed, and the writer is not kept waiting. `remove_graphs` are named graphs (or
        their IRIs), `without` asserted quads, also as texts (`":a :p :b"`), and `add` quads, a text
        in Turtle or the path of a file. The answer is exact: conclusions that another proof holds
        up survive. It has `inferred_removed` and `inferred_added`, `new_violations` and
        `ended_violations`, `survivors` (how many conclusions stay), and prints as text.

        >>> from triplestore import Store
        >>> store = Store()
        >>> prefix = "@prefix : <http://ex.org/> . "
        >>> _ = store.load(prefix + ":tom a :Cat . :kit a :Cat, :Pet .", "ttl")
        >>> _ = store.reason(rules=prefix + ":Animal[?x] :- :Cat[?x] . :Animal[?x] :- :Pet[?x] .")
        >>> found = store.what_if(without=[":tom a :Cat", ":kit a :Cat"])
        >>> print(found)
        removed 2
          - <http://ex.org/kit> ... <http://ex.org/Cat> .
          - <http://ex.org/tom> ... <http://ex.org/Cat> .
        no longer inferred 1
          - <http://ex.org/tom> ... <http://ex.org/Animal> .
        >>> found.survivors
        1
        """
        # Late: few runs ask for it.
        from triplestore.store.writes.supposed_writes import supposed

        def write(writer: TransactionWriter) -> None:
            _remove_graphs(writer, remove_graphs, self)
            _remove_facts(writer, without, self)
            _add(writer, add)

        return supposed(self._line(), write)


def line_of(readable: ReadableStore) -> Line:
    """The state of a store, snapshot or branch."""
    if not isinstance(readable, WhatIf):
        raise UsageError(
            f"a {type(readable).__name__} cannot be compared with: give a store, a snapshot, a "
            f"past commit or a branch"
        )
    return readable._line()


def _remove_graphs(
    writer: TransactionWriter, graphs: Iterable[GraphLike | str], state: ReadableStore
) -> None:
    # Late: few runs need it.
    from triplestore.store.writes.graph_writes import clear_graph, remove_graph

    for graph in (graphs,) if isinstance(graphs, str) else graphs:
        name = NamedNode(graph) if isinstance(graph, str) else graph
        key = graph_key(name)
        if key is None:
            clear_graph(writer, name)
            continue
        if not state.contains_named_graph(name):
            raise UsageError(
                f"the store has no graph {to_ntriples(key).decode()}: named_graphs() lists all"
            )
        remove_graph(writer, name)


def _remove_facts(
    writer: TransactionWriter, facts: Iterable[QuadLike | str], state: ReadableStore
) -> None:
    for fact in (facts,) if isinstance(facts, str) else facts:
        quad = _quad_of(fact, state)
        s, p, o, graph = quad
        if next(state.quads_for_pattern(s, p, o, graph, facts="explicit"), None) is None:
            raise UsageError(
                f"{s} {p} {o} is not asserted, so it cannot be taken away; if it is inferred, "
                f"why() says what from"
            )
        writer.write(False, quad)


def _quad_of(fact: QuadLike | str, state: ReadableStore) -> tuple[Any, Any, Any, Any]:
    graph = None
    if isinstance(fact, str):
        # Late: it needs all of `proofs`.
        from triplestore.store.explain import triple_of_text

        s, p, o = triple_of_text(fact, state.prefixes)
    else:
        s, p, o, graph = quad_keys(fact)
    return term_of(s), term_of(p), term_of(o), DefaultGraph() if graph is None else term_of(graph)


def _add(writer: TransactionWriter, add: Iterable[QuadLike] | DocumentLike) -> None:
    # Late: few runs need it.
    from triplestore.store.writes.documents import load_documents

    if isinstance(add, PathLike):
        load_documents(writer, None, LoadOptions(path=add))
    elif isinstance(add, str | bytes):
        load_documents(writer, add, LoadOptions(format="ttl"))
    else:
        writer.write_all(True, add)
