"""Causes with their text, file and line: start at `CauseTexts`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyoxigraph as ox

from triplestore.comparison.findings import Cause
from triplestore.comparison.locations import Location, Places
from triplestore.comparison.sides.quad_rows import QuadRows, within
from triplestore.comparison.sides.states import BASE, Compared
from triplestore.comparison.term_texts import FactTexts
from triplestore.consequences.blame import AssertedCause, BlamedChanges
from triplestore.consequences.closed_state import ClosedState
from triplestore.datalog.program import Constant, Constraint, Rule, TripleAtom
from triplestore.proofs.closed_facts import Place
from triplestore.reasoning.visible import quads_of
from triplestore.relations.lookup import QuadColumns
from triplestore.relations.packed_keys import key_of

_Row = tuple[int, int, int, int]
"""Subject, predicate, object and graph."""


class CauseTexts:
    """Makes causes of the leaves of blames, and knows where their files have them.

    texts  how facts are written
    """

    def __init__(
        self,
        compared: Compared,
        states: Mapping[bool, ClosedState],
        blamed: BlamedChanges | None,
        texts: FactTexts,
    ) -> None:
        self._compared, self._states = compared, states
        self._blames = {} if blamed is None else blamed.blames
        self.texts = texts
        self._known: dict[AssertedCause, Cause] = {}
        self._places: dict[tuple[bool, str], Places] = {}

    def of(self, causes: Iterable[AssertedCause]) -> dict[AssertedCause, Cause]:
        """Causes as they are reported."""
        wanted = list(causes)
        for came in (True, False):
            self._make(came, [one.leaf for one in wanted if one.came == came])
        return {cause: self._known[cause] for cause in wanted}

    def _make(self, came: bool, leaves: Sequence[int]) -> None:
        missing = [leaf for leaf in leaves if AssertedCause(came, leaf) not in self._known]
        if not missing:
            return
        graph, state = self._blames[came].graph, self._states[came]
        facts = [leaf for leaf in missing if leaf < len(graph.nodes)]
        for leaf in missing:
            if leaf >= len(graph.nodes):
                rule = graph.new_rules[leaf - len(graph.nodes)]
                self._known[AssertedCause(came, leaf)] = self._of_rule(rule, came)
        rows = [self._row(state, graph.nodes.place(leaf)) for leaf in facts]
        located = self._located(came, rows)
        for leaf, row in zip(facts, rows, strict=True):
            fact = self.texts.fact(state.closed.fact(graph.nodes.place(leaf)))
            made = self._cause(fact, came, located.get(row))
            self._known[AssertedCause(came, leaf)] = made

    def _of_rule(self, rule: Rule | Constraint, came: bool) -> Cause:
        place = rule.source
        file, line = (place.file, place.line) if place else (None, None)
        return Cause(self.texts.rule(rule), came, "rule", file, line)

    @staticmethod
    def _cause(text: str, came: bool, place: Location | None) -> Cause:
        if place is None:
            return Cause(text, came)
        return Cause(text, came, "triple", place.file, place.line)

    def _row(self, state: ClosedState, place: Place) -> _Row:
        """The quad that asserts a fact; it may be in a named graph of a scope."""
        fact = state.closed.fact(place)
        if not isinstance(fact, TripleAtom):
            return (0, 0, 0, 0)
        keys = [term.key for term in fact.terms if isinstance(term, Constant)]
        s, p, o = state.closed.terms.encode_keys(keys).tolist()
        graph = 0 if state.closed.is_stated(fact) else self._graph_of(s, p, o)
        return (s, p, o, graph)

    def _graph_of(self, s: int, p: int, o: int) -> int:
        """A graph in which a quad changed."""
        if not len(self._compared.net.quads):
            return 0
        ps, ss, os, graphs = self._compared.net.quads.columns
        at = np.flatnonzero((ps == p) & (ss == s) & (os == o))
        return int(graphs[at[0]]) if len(at) else 0

    def of_rows(self, rows: Sequence[tuple[bool, _Row]]) -> list[Cause]:
        """Asserted changes as causes, whether or not anything follows from them."""
        found = []
        located: dict[bool, dict[_Row, Location]] = {}
        for came in (True, False):
            located[came] = self._located(came, [row for its, row in rows if its == came])
        terms = self._compared.after.dictionary
        for came, row in rows:
            s, p, o = (Constant(terms.key(int(i))) for i in row[:3])
            text = self.texts.fact(TripleAtom(s, p, o))
            if row[3]:
                text += f" in {self.texts.term(terms.key(int(row[3])))}"
            found.append(self._cause(text, came, located[came].get(row)))
        return found

    def _located(self, came: bool, rows: Sequence[_Row]) -> dict[_Row, Location]:
        """Where the files of a side assert quads."""
        files = self._compared.new if came else self._compared.old
        found: dict[_Row, Location] = {}
        if not files or not rows:
            return found
        keys = key_of(tuple(np.array(rows, np.uint32).T))
        for file, known in files.values():
            inside = [row for row, here in zip(rows, _in(keys, known), strict=True) if here]
            fresh = [row for row in inside if row not in found]
            quads = {self._quad(row): row for row in fresh}
            places = self._places.get((came, file.name))
            if places is None:
                places = self._places[came, file.name] = Places(file, f"{BASE}{file.name}")
            for quad, place in places.of(quads).items():
                found[quads[quad]] = place
        return found

    def _quad(self, row: _Row) -> ox.Quad:
        dictionary = self._compared.after.dictionary
        columns = QuadColumns(*(np.array([i], np.uint32) for i in row))
        return next(quads_of(dictionary, iter([columns])))


def _in(keys: QuadRows, known: QuadRows) -> list[bool]:
    found: list[bool] = within(keys, known).tolist()
    return found
