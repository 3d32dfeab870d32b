"""The work of `Store.retract`: trials without some facts, and their side effects.

Start reading at `retract`. A fact stands for all quads that assert it where reasoning sees them: in
the default graph, in graphs of the scope, and in those of ontologies.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from pyoxigraph import NamedNode, Quad

from triplestore.consequences.closed_state import ClosedState
from triplestore.consequences.hitting_sets import minimal_repairs
from triplestore.consequences.reasons import depends_on_absence, reason_of
from triplestore.consequences.repairs import Repair, Repairs
from triplestore.data_classes import data_class
from triplestore.datalog.items import atom_text
from triplestore.datalog.program import (
    TYPE,
    WELL_KNOWN,
    Atom,
    Constant,
    Program,
    TripleAtom,
)
from triplestore.errors import ConflictError, UsageError
from triplestore.expressions.text.expression_printer import Namer
from triplestore.proofs import Proof
from triplestore.reasoning.program.graph_scope import GraphsInScope
from triplestore.reasoning.program.settings import Regimes
from triplestore.reasoning.violations import (
    Violation,
    count_new_between,
    violation_relations,
)
from triplestore.reasoning.visible import quads_of
from triplestore.relations import EXPLICIT
from triplestore.relations.lookup import ANY_GRAPH, QuadColumns
from triplestore.store.arguments import graph_key
from triplestore.store.explain import FactLike, atoms_meant, proof_of
from triplestore.store.readable import view_of
from triplestore.store.transaction import Transaction, writer_of
from triplestore.terms import key_of

if TYPE_CHECKING:
    from triplestore.reasoning.difference import Difference
    from triplestore.store.arguments import GraphLike, TermLike
    from triplestore.store.faces.retracting import Retracting
    from triplestore.store.state_view import StateView

_MEMBERS = 1000
"""Maximum number of members of an aggregate that count as reasons."""

MAX_EXAMPLES = 5
"""Maximum number of lost triples that a repair lists."""


@data_class
class RetractOptions:
    """The keywords of `Store.retract`."""

    protect_graphs: tuple[GraphLike, ...] = ()
    protect_properties: tuple[TermLike | str, ...] = ()
    apply: int | None = None
    most: int = 10
    largest: int = 4
    trials: int = 200
    seconds: float = 5.0


def retract(store: Retracting, fact: FactLike, options: RetractOptions) -> Repairs:
    """See `Store.retract`."""
    search = _Search(store, fact, options)
    sets = minimal_repairs(
        search.attempt,
        search.may_go,
        trials=options.trials,
        most=options.most,
        largest=options.largest,
    )
    found = sorted(
        (search.measured[one] for one in sets.found),
        key=lambda one: (
            one.side_effects,
            len(one.quads),
            -one.resolved_violations,
            str(one),
        ),
    )
    reasons = []
    if sets.cut:
        reasons.append(
            f"the search was limited to {options.most} removals of at most {options.largest} quads "
            f"in {options.trials} trials"
        )
    if depends_on_absence(search.program):
        reasons.append("rules with negations or aggregates may have other reasons")
    applied = None
    if options.apply is not None:
        applied = _applied(store, found, options.apply, search)
    return Repairs(
        search.text,
        tuple(found),
        bool(reasons),
        "; ".join(reasons),
        len(search.protected),
        applied,
        search.prefixes,
    )


def _applied(store: Retracting, found: list[Repair], place: int, search: _Search) -> Repair:
    if not -len(found) <= place < len(found):
        raise UsageError(f"apply={place} is not one of the {len(found)} removals that were found")
    chosen = found[place]
    with store.transaction() as transaction:
        if writer_of(transaction).begun_at != search.commit:
            raise ConflictError(
                "the store has changed since the removals were measured; nothing was removed, so "
                "call retract again"
            )
        transaction.remove_all(chosen.quads)
    return chosen


class _Search:
    """Tries removals in transactions that are rolled back.

    measured   the repair that each set of facts is
    protected  asserted facts that were met and must stay
    """

    def __init__(self, store: Retracting, fact: FactLike, options: RetractOptions) -> None:
        self._store, self._options = store, options
        self._fact = fact
        self.measured: dict[frozenset[Atom], Repair] = {}
        self.protected: set[Atom] = set()
        self._graphs = {graph_key(graph) for graph in options.protect_graphs}
        self._properties = set(map(_property_key, options.protect_properties))
        self._quads: dict[Atom, tuple[Quad, ...]] = {}
        self.commit = -1
        with store.trial() as transaction:
            self._begin(transaction)

    def _begin(self, transaction: Transaction) -> None:
        view = view_of(transaction)
        self.commit = writer_of(transaction).begun_at
        self._regimes = writer_of(transaction).settings.regimes
        rules = view.rules()
        self.program = rules.program if rules is not None else Program()
        meant = atoms_meant(view, self._fact)
        self.prefixes = {**WELL_KNOWN, **self.program.prefixes, **view.prefixes}
        self.text = _text_of(self._fact, meant[0], Namer(self.prefixes))
        atom = next((one for one in meant if proof_of(view, one, 0, self._options.seconds)), None)
        if atom is None:
            raise UsageError(f"{self.text} does not hold, so there is nothing to retract")
        self._atom = atom

    def attempt(self, gone: frozenset[Atom]) -> frozenset[Atom] | None:
        """A reason for the fact that is left without some facts; None if it does not hold."""
        with self._store.trial() as transaction:
            before = view_of(transaction) if gone else None
            if writer_of(transaction).begun_at != self.commit:
                raise ConflictError("the store was changed during the search; call retract again")
            for fact in gone:
                transaction.remove_all(self._quads[fact])
            view = view_of(transaction)
            proof = proof_of(view, self._atom, _MEMBERS, self._options.seconds)
            if proof is not None:
                return self._reason(view, proof)
            assert before is not None
            self.measured[gone] = self._measure(gone, before, view, transaction.diff())
        return None

    def _reason(self, view: StateView, proof: Proof) -> frozenset[Atom]:
        seconds = self._options.seconds
        return reason_of(
            proof,
            ClosedState(view.tables, view.dictionary, view.rules()),
            lambda fact: proof_of(view, fact, _MEMBERS, seconds),
            lambda fact: bool(self._asserting(view, fact)),
        )

    def _asserting(self, view: StateView, fact: Atom) -> tuple[Quad, ...]:
        """The quads that assert a fact for reasoning."""
        found = tuple(_quads_of(view, self._regimes, fact))
        if found:
            self._quads.setdefault(fact, found)
        return found

    def may_go(self, fact: Atom) -> bool:
        """Whether a fact is not protected."""
        quads = self._quads[fact]
        protected = any(
            graph_key(quad.graph_name) in self._graphs or key_of(quad.predicate) in self._properties
            for quad in quads
        )
        if protected:
            self.protected.add(fact)
        return not protected

    def _measure(
        self, gone: frozenset[Atom], before: StateView, after: StateView, change: Difference
    ) -> Repair:
        lost = (change.removed, change.inferred_removed)
        loses = sum(map(len, lost)) - len(change.still_entailed)
        dictionary = after.dictionary
        was = violation_relations(before.rules(), dictionary)
        now = violation_relations(after.rules(), dictionary)
        quads = tuple(sorted((q for fact in gone for q in self._quads[fact]), key=str))
        return Repair(
            quads,
            loses,
            len(change.inferred_added),
            count_new_between(after.tables, before.tables, was),
            count_new_between(before.tables, after.tables, now),
            tuple(islice(change.inferred_removed, MAX_EXAMPLES)),
        )


def _quads_of(view: StateView, regimes: Regimes, fact: Atom) -> list[Quad]:
    """The asserted quads of a fact in the graphs that reasoning sees."""
    if not isinstance(fact, TripleAtom):
        return []
    keys = [term.key for term in fact.terms if isinstance(term, Constant)]
    s, p, o = view.dictionary.lookup_keys(keys).tolist()
    if not (s and p and o):
        return []
    own = view.dictionary.lookup_keys(regimes.graphs) if regimes.graphs else np.zeros(0, np.uint32)
    inside = GraphsInScope(regimes, view.dictionary)
    parts = []
    for rows in view.match((s, p, o, ANY_GRAPH), EXPLICIT):
        graphs = rows.graph
        seen = (graphs == 0) | inside(graphs) & (graphs > 0) | np.isin(graphs, own)
        parts.append(QuadColumns(*(column[seen] for column in rows)))
    return list(quads_of(view.dictionary, iter(parts)))


def _property_key(given: TermLike | str) -> bytes:
    if isinstance(given, str) and not hasattr(given, "n3"):
        return key_of(NamedNode(given))
    return key_of(given)


def _text_of(fact: FactLike, atom: Atom, namer: Namer) -> str:
    if isinstance(fact, Violation):
        named = ((name, namer.term(Constant(key_of(term)))) for name, term in fact.values.items())
        shown = ", ".join(f"?{name} = {text}" for name, text in named)
        parts = ("violation " + fact.constraint, fact.message, shown)
        return ": ".join(part for part in parts if part)
    if isinstance(atom, TripleAtom):
        verb = "a" if atom.p == TYPE else namer.term(atom.p)
        return f"{namer.term(atom.s)} {verb} {namer.term(atom.o)}"
    return atom_text(atom, namer)
