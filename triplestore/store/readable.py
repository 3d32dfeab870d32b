"""What can be read of a store, a snapshot or a transaction.

Start reading at `ReadableStore`. These three differ only in the tables that they read: see `_view`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from os import PathLike
from types import MappingProxyType
from typing import IO, TYPE_CHECKING

import numpy as np

from triplestore.datalog.program import Program
from triplestore.loaders import dump
from triplestore.reasoning.progress import ProgressLine
from triplestore.reasoning.reason_arguments import known_names
from triplestore.reasoning.violations import inconsistencies, violation_relations, violations
from triplestore.reasoning.visible import is_triple, quads_of, quads_of_few
from triplestore.relations import INFERRED
from triplestore.relations.lookup import ANY_GRAPH, QuadColumns, few_facts
from triplestore.relations.relation import BLOCK
from triplestore.relations.views.equality import equality_of
from triplestore.rules.simplify import is_helper
from triplestore.store.arguments import (
    GraphLike,
    QuadLike,
    TermLike,
    facts_mask,
    graph_key,
    quad_keys,
)
from triplestore.store.faces.classifying import Classifying
from triplestore.store.faces.validating import Validating
from triplestore.terms import key_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyoxigraph import Quad, RdfFormat

    from triplestore.datalog.program import Program
    from triplestore.proofs import Proof, WhyNot
    from triplestore.proofs.audit import Audit
    from triplestore.reasoning.violations import Inconsistencies, Violation
    from triplestore.store.explain import FactLike
    from triplestore.store.state_view import StateView
    from triplestore.terms import Term

MAX_OF_EACH = 20
"""Maximum number of violations of each constraint that `inconsistencies` lists."""


class ReadableStore(Validating, Classifying):
    """Look-ups, counts, iteration and dumps over one consistent state."""

    # -- quads ----------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.count()

    def __bool__(self) -> bool:
        return self.count() > 0

    def count(self, facts: str = "all") -> int:
        """The exact number of quads, known without counting."""
        view, where = self._view(), facts_mask(facts)
        hidden = view.hidden if where & INFERRED else 0
        return view.tables.total(where) + view.tables.quad_total(where) - hidden

    def __iter__(self) -> Iterator[Quad]:
        return self.quads_for_pattern(None, None, None)

    def __contains__(self, quad: QuadLike) -> bool:
        view = self._view()
        s, p, o, graph = quad_keys(quad)
        ids = view.dictionary.lookup_keys([s, p, o] if graph is None else [s, p, o, graph])
        if graph is None and view.regimes:
            # Late: it needs `ontologies` or `maintenance`, and few runs ask for it.
            from triplestore.reasoning.trivial_facts import holds_anyway

            if holds_anyway(view, s, p, o):
                return True
        if not ids.all():
            return False
        columns = [ids[place : place + 1] for place in range(len(ids))]
        if graph is None:
            return bool(view.tables.status_of_facts(columns[1], columns[0], columns[2])[0])
        status = view.tables.status_of_quads(columns[1], columns[0], columns[2], columns[3])
        return bool(status[0])

    def quads_for_pattern(
        self,
        subject: TermLike | None,
        predicate: TermLike | None,
        object: TermLike | None,
        graph_name: GraphLike | None = None,
        *,
        facts: str = "all",
    ) -> Iterator[Quad]:
        """The quads with these terms; None matches any term, or any graph.

        They are read lazily, from the state at the time of the call.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.load("@prefix : <http://ex.org/> . :a :p :b, :c .", "ttl")
        >>> from pyoxigraph import NamedNode
        >>> for quad in store.quads_for_pattern(NamedNode("http://ex.org/a"), None, None):
        ...     print(quad.object)
        <http://ex.org/b>
        <http://ex.org/c>
        """
        view = self._view()
        pattern = view.pattern(subject, predicate, object, graph_name)
        if pattern is None:
            return iter(())
        s, p, o, g = pattern
        where = facts_mask(facts)
        default = g == 0 or (g == ANY_GRAPH and not view.tables.quad_total())
        if default and not p and (s == 0) != (o == 0) and not view.hidden:
            few = few_facts(view.tables, s, o, where)
            if few is not None:
                return iter(quads_of_few(view.dictionary, s, o, few))
        return quads_of(view.dictionary, view.match(pattern, where))

    # -- columns of ids -------------------------------------------------------------------------

    def rows_for_pattern(
        self,
        subject: TermLike | None = None,
        predicate: TermLike | None = None,
        object: TermLike | None = None,
        graph_name: GraphLike | None = None,
        *,
        facts: str = "all",
        block_rows: int = BLOCK,
    ) -> Iterator[QuadColumns]:
        """Like `quads_for_pattern`, but as blocks of columns of ids, which is much faster.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.load("@prefix : <http://ex.org/> . :a :p :b, :c .", "ttl")
        >>> [rows.size for rows in store.rows_for_pattern()]
        [2]
        """
        view = self._view()
        pattern = view.pattern(subject, predicate, object, graph_name)
        if pattern is None:
            return iter(())
        return view.match(pattern, facts_mask(facts), block_rows)

    def lookup_ids(self, terms: Iterable[TermLike]) -> NDArray[np.uint32]:
        """The ids of terms; 0 for unknown terms."""
        return self._view().dictionary.lookup_keys([key_of(term) for term in terms])

    def terms(self, ids: NDArray[np.uint32]) -> list[Term]:
        """The terms of ids."""
        return self._view().dictionary.terms(ids)

    def objects_of(
        self, subjects: NDArray[np.uint32], predicate: TermLike, *, facts: str = "all"
    ) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """The objects of many subjects at once, in the default graph.

        Returns (index, objects): objects[k] belongs to subjects[index[k]].
        """
        return self._probe(subjects, predicate, 0, facts)

    def subjects_of(
        self, objects: NDArray[np.uint32], predicate: TermLike, *, facts: str = "all"
    ) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """The subjects of many objects at once, in the default graph; see `objects_of`."""
        return self._probe(objects, predicate, 1, facts)

    def _probe(
        self, ids: NDArray[np.uint32], predicate: TermLike, column: int, facts: str
    ) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        view = self._view()
        name = int(view.dictionary.lookup_keys([key_of(predicate)])[0])
        wanted = np.ascontiguousarray(ids, dtype=np.uint32)
        index, (found,) = view.tables.relation(name).probe((column,), (wanted,), facts_mask(facts))
        if view.hidden:
            subjects = found if column else wanted[index]
            fine = is_triple(view.dictionary, subjects, np.full(len(found), name, np.uint32))
            index, found = index[fine], found[fine]
        return index, found

    # -- rules ----------------------------------------------------------------------------------

    @property
    def program(self) -> Program:
        """The rules in force; they print as text that `reason` can read.

        >>> from triplestore import Store
        >>> store = Store()
        >>> text = "@prefix : <http://ex.org/> . :knows[?y, ?x] :- :knows[?x, ?y] ."
        >>> _ = store.reason(rules=text)
        >>> print(store.program, end="")
        @prefix : <http://ex.org/> .
        <BLANKLINE>
        :knows[?y, ?x] :- :knows[?x, ?y] .
        """
        rules = self._view().rules()
        return Program() if rules is None else rules.program

    def known_names(self) -> list[bytes] | None:
        """The keys of the properties and classes in the facts; None if there are too many."""
        view = self._view()
        return known_names(view.tables, view.dictionary)

    def describe_rules(self, *what: str) -> str:
        """The rules as text: any of `program`, `strata`, `modules`, `families`, `plans`; or all.

        Strata are evaluated one after the other; a module computes the closure of its relations at
        once; the rules of a family are evaluated together; plans list the order in which the items
        of a body are matched, starting from each item that may change.
        """
        # Late: it needs `ontologies` or `maintenance`, and few runs ask for it.
        from triplestore.reasoning.reports.describe import describe

        return describe(self._view(), what)

    def violations(self, limit: int | None = None) -> list[Violation]:
        """The matches of constraints and the members of owl:Nothing, at most `limit` of them.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.load("@prefix : <http://ex.org/> . :a :parent :a .", "ttl")
        >>> _ = store.reason(rules='constraint "loop" "is its own parent" :- :parent[?x, ?x] .')
        >>> print(store.violations()[0])
        loop: is its own parent: ?x = <http://ex.org/a>
        """
        view = self._view()
        where = violation_relations(view.rules(), view.dictionary)
        return list(islice(violations(view.tables, where, view.dictionary), limit))

    def facts_by_rule(self) -> dict[str, int]:
        """Name of a rule -> number of facts that it concludes; evaluates all rules once.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.load('''@prefix : <http://ex.org/> .
        ...     @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        ...     :Cat rdfs:subClassOf :Animal . :tom a :Cat . :kit a :Cat .''', "ttl")
        >>> _ = store.reason("owl-rl")
        >>> store.facts_by_rule()
        {'cax-sco': 2}
        """
        # Late: it needs `ontologies` or `maintenance`, and few runs ask for it.
        from triplestore.reasoning.reports.facts_by_rule import facts_by_rule

        return facts_by_rule(self._view())

    @property
    def inconsistencies(self) -> Inconsistencies:
        """The violations counted by rule, with some examples of each; `why` explains one.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.load('''@prefix : <http://ex.org/> .
        ...     @prefix owl: <http://www.w3.org/2002/07/owl#> .
        ...     :loves a owl:IrreflexiveProperty . :narcissus :loves :narcissus .''', "ttl")
        >>> _ = store.reason("owl-rl")
        >>> print(store.inconsistencies)
        prp-irp         1
          <http://ex.org/loves> is irreflexive: ?x = <http://ex.org/narcissus>
        """
        view = self._view()
        where = violation_relations(view.rules(), view.dictionary)
        found = inconsistencies(view.tables, where, view.dictionary, MAX_OF_EACH)
        return replace(found, prefixes=view.prefixes)

    def why(
        self,
        fact: FactLike,
        *,
        alternatives: int = 0,
        members: int = 5,
        seconds: float = 5.0,
    ) -> Proof | WhyNot:
        """The smallest proof of a fact from asserted facts, or why the fact does not hold.

        A fact is a quad of the default graph, a triple, a tuple of terms, one of `violations()`, or
        a text: `:ada :parent :bob` as in Turtle, or `:parent[:ada, :bob]` as in rules. The answer
        prints as text, is true if the fact holds, and has `json()`; a proof also has `dot()` and
        `mermaid()`. `alternatives` is the maximum number of proofs with another last step, and
        `members` the maximum number of matches of an aggregate that are listed. A search that takes
        longer than `seconds` returns a proof that may not be the smallest, or gives up.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.load("@prefix : <http://ex.org/> . :ada :parent :bob .", "ttl")
        >>> _ = store.reason(rules="rule 'base' :ancestor[?x, ?y] :- :parent[?x, ?y] .")
        >>> print(store.why(":ada :ancestor :bob"))
        :ancestor[:ada, :bob]
        │  by rule base (input:1:1)
        │  :ancestor[?x, ?y] :- :parent[?x, ?y] .
        │  ?x = :ada, ?y = :bob
        └─ :parent[:ada, :bob]  (asserted)
        >>> print(store.why(":bob :ancestor :ada"))
        :ancestor[:bob, :ada] does not hold: it is not asserted, and the rule that could ...
        <BLANKLINE>
        by rule base (input:1:1)
        :ancestor[?x, ?y] :- :parent[?x, ?y] .
        with ?x = :bob, ?y = :ada
        └─ no match: :parent[:bob, :ada]
        """
        # Late: it needs all of `proofs`.
        from triplestore.store.explain import explain

        return explain(self._view(), fact, alternatives, members, seconds)

    def audit(self, *, thorough: bool = False, progress: bool = False) -> Audit:
        """Checks whether exactly the right facts are inferred, with the right counters.

        The closure is computed again in memory from the asserted facts, and compared; nothing is
        changed. `thorough` checks every rule instance instead, with an independent implementation.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.reason(rules="@prefix : <http://ex.org/> . :A[:a] . :B[?x] :- :A[?x] .")
        >>> print(store.audit())
        0 explicit and 2 inferred facts: the closure is exact
        """
        # Late: it needs all of `proofs`.
        from triplestore.store.explain import audited

        line = ProgressLine() if progress else None
        try:
            return audited(self._view(), thorough, line)
        finally:
            if line is not None:
                line.close()

    def tuples(
        self, name: TermLike, arity: int | None = None, *, facts: str = "all"
    ) -> Iterator[tuple[Term, ...]]:
        """The rows of a relation with three or more columns, which only rules can fill.

        `arity`, the number of columns, is needed only if several relations have this name.

        >>> from triplestore import NamedNode, Store
        >>> store = Store()
        >>> _ = store.reason(rules='@prefix : <http://ex.org/> . :flight[:LHR, :CDG, "09:30"] .')
        >>> for row in store.tuples(NamedNode("http://ex.org/flight")):
        ...     print(*row)
        <http://ex.org/LHR> <http://ex.org/CDG> "09:30"
        """
        view, where, key = self._view(), facts_mask(facts), key_of(name)
        equality = equality_of(view.tables)
        classes = None if equality is None else equality.classes
        wanted = 0 if is_helper(key) else int(view.dictionary.lookup_keys([key])[0])
        for known, columns in view.tables.tuple_names():
            if wanted and known == wanted and arity in (None, columns):
                for block in view.tables.tuples(known, columns).scan(where):
                    rows = block if classes is None else classes.expand_rows(block)
                    yield from zip(*(view.dictionary.terms(column) for column in rows), strict=True)

    # -- graphs and prefixes --------------------------------------------------------------------

    def named_graphs(self) -> Iterator[Term]:
        """The named graphs that exist, including empty ones."""
        view = self._view()
        return iter(view.dictionary.terms(view.tables.graphs()))

    def contains_named_graph(self, graph_name: GraphLike) -> bool:
        """True if this named graph exists; the default graph always does."""
        view = self._view()
        key = graph_key(graph_name)
        if key is None:
            return True
        graph = int(view.dictionary.lookup_keys([key])[0])
        return graph != 0 and view.tables.has_graph(graph)

    @property
    def prefixes(self) -> Mapping[str, str]:
        """The prefixes of loaded files and those that were bound; name to IRI."""
        return MappingProxyType(self._view().prefixes)

    # -- dump -----------------------------------------------------------------------------------

    def dump(
        self,
        output: IO[bytes] | str | PathLike[str] | None = None,
        format: RdfFormat | str | None = None,
        *,
        from_graph: GraphLike | None = None,
        prefixes: Mapping[str, str] | None = None,
        base_iri: str | None = None,
        facts: str = "explicit",
    ) -> bytes | None:
        """Write quads to a file or stream, or return them as bytes.

        The format is one of pyoxigraph's or its name; without it, it is derived from the file's
        name, as is the compression. Asserted quads are written unless `facts` says otherwise.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.load("<http://ex.org/a> <http://ex.org/p> 'b'@EN .", "ttl")
        >>> store.dump(format="nt")
        b'<http://ex.org/a> <http://ex.org/p> "b"@en .\\n'
        """
        view = self._view()
        where = facts_mask(facts)
        pattern = view.pattern(None, None, None, from_graph)
        blocks = iter(()) if pattern is None else view.match(pattern, where)
        return dump(
            blocks,
            view.dictionary,
            output,
            format,
            one_graph=from_graph is not None,
            prefixes=view.prefixes if prefixes is None else prefixes,
            base_iri=base_iri,
        )


def view_of(store: ReadableStore) -> StateView:
    """The state that a store, snapshot or transaction shows now, for modules of this project."""
    return store._view()
