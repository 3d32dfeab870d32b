"""Inferred changes by what causes them, the largest causes first.

Start reading at `GroupedCauses.listed`. A fact may have several causes; it counts for its *leading*
one, that to which most facts are due. So an axiom that types a thousand individuals leads, and the
triples of the individuals are what it acts together with. Everything is counted on columns; only
what is listed becomes text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from triplestore.comparison.blame_proofs import derivation_text
from triplestore.comparison.cause_texts import CauseTexts
from triplestore.comparison.findings import Cause, Consequence, Example, FoundViolation
from triplestore.comparison.sides.states import Compared
from triplestore.comparison.thresholds import COMPARISON
from triplestore.consequences.blame import Blame
from triplestore.consequences.closed_state import ClosedState
from triplestore.data_classes import data_class
from triplestore.proofs.closed_facts import keys_of
from triplestore.reasoning.violations import (
    NOTHING,
    count_new_between,
    variables_of,
    violations_between,
)
from triplestore.reasoning.visible import is_triple
from triplestore.relations.packed_keys import I64, U32, columns_of, high, low
from triplestore.terms import key_of
from triplestore.terms.vocabulary import OWL, RDFS


@data_class
class _Side:
    """The inferred changes of one direction, as columns.

    nodes      their numbers in the graph
    leading    the leading cause of each, -1 if none is known
    kind       0 for facts, 1 for violations
    predicate, class_id  of facts; class_id is 0 but for types
    """

    nodes: I64
    leading: I64
    kind: I64
    predicate: U32
    class_id: U32


class GroupedCauses:
    """The changes of both directions by their leading causes.

    unexplained, inexact  how many changes have no known cause, or perhaps not all of them
    """

    def __init__(
        self, states: Mapping[bool, ClosedState], blames: Mapping[bool, Blame], named: CauseTexts
    ) -> None:
        self._states, self._blames, self._named = states, blames, named
        self._sides = {came: self._side(came) for came in blames}
        self.unexplained = self.inexact = 0
        for came, side in self._sides.items():
            exact = blames[came].exact[side.nodes]
            self.unexplained += int(np.count_nonzero(side.leading < 0))
            self.inexact += int(np.count_nonzero(~exact & (side.leading >= 0)))

    def _side(self, came: bool) -> _Side:
        blame, state = self._blames[came], self._states[came]
        graph, type_id = blame.graph, state.closed.type_id
        size = len(graph.nodes)
        kind = np.full(size, -1, np.int64)
        predicate, class_id = np.zeros(size, np.uint32), np.zeros(size, np.uint32)
        violations = state.violations.relations
        for name, known in graph.nodes.relations.items():
            place = slice(known.first, known.first + len(known.keys))
            if isinstance(name, tuple):
                if name[0] in violations:
                    kind[place] = 1
                elif not state.closed.is_helper(name) and not _internal(state, name[0]):
                    kind[place], predicate[place] = 0, name[0]
                continue
            first, second = high(known.keys), low(known.keys)
            subject = second if name == type_id else first
            names = np.full(len(known.keys), name, np.uint32)
            predicate[place] = name
            kind[place] = np.where(is_triple(state.dictionary, subject, names), 0, -1)
            if name == type_id:
                class_id[place] = first
                if state.violations.nothing:
                    kind[place] = np.where(first == state.violations.nothing, 1, kind[place])
        chosen = np.flatnonzero((kind >= 0) & ~graph.nodes.leaf)
        leading = _leading(blame, chosen)
        return _Side(chosen, leading, kind[chosen], predicate[chosen], class_id[chosen])

    # -- by cause ----------------------------------------------------------------------------------

    def listed(self) -> tuple[list[Consequence], tuple[int, int]]:
        """The largest causes with what follows from them; the number of others, and of theirs."""
        found: list[tuple[int, bool, tuple[int, ...]]] = []
        for came, side in self._sides.items():
            leaves, sizes = np.unique(side.leading[side.leading >= 0], return_counts=True)
            for members in self._families(came, leaves):
                its = members[np.argsort(-sizes[members], kind="stable")]
                found.append((-int(sizes[its].sum()), not came, tuple(leaves[its].tolist())))
        found.sort()
        most = COMPARISON.shown_causes
        shown, rest = found[:most], found[most:]
        for came in self._sides:  # texts and places of all at once
            self._named.of(came, [leaves[0] for _, went, leaves in shown if went != came])
        listed = [
            self._consequence(not went, leaves, proofs=place < COMPARISON.shown_proofs)
            for place, (_, went, leaves) in enumerate(shown)
        ]
        left = sum(len(leaves) for _, _, leaves in rest)
        return listed, (left, -sum(size for size, _, _ in rest))

    def _families(self, came: bool, leaves: I64) -> list[I64]:
        """The causes that are listed as one, as places in `leaves`: all triples with the same
        property or class, if they are several and no axioms."""
        graph, state = self._blames[came].graph, self._states[came]
        keys = np.full(len(leaves), -1, np.int64)
        for name, known in graph.nodes.relations.items():
            lo, hi = leaves.searchsorted([known.first, known.first + len(known.keys)])
            if lo == hi or isinstance(name, tuple) or _is_vocabulary(state, name):
                continue
            keys[lo:hi] = name
            if name == state.closed.type_id:
                classes = high(known.keys[leaves[lo:hi] - known.first])
                fine = {int(c): not _is_vocabulary(state, int(c)) for c in np.unique(classes)}
                merged = np.array([fine[c] for c in classes.tolist()])
                keys[lo:hi] = np.where(merged, classes.astype(np.int64) << np.int64(32), -1)
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.concatenate(([True], keys[order][1:] != keys[order][:-1])))
        found: list[I64] = []
        for part in np.split(order, starts[1:]) if len(order) else ():
            if keys[part[0]] >= 0 and len(part) >= COMPARISON.merged_causes:
                found.append(part)
            else:
                found += np.split(part, len(part))
        return found

    def _consequence(self, came: bool, leaves: tuple[int, ...], proofs: bool) -> Consequence:
        side, blame = self._sides[came], self._blames[came]
        rows = np.flatnonzero(np.isin(side.leading, leaves))
        facts = rows[side.kind[rows] == 0]
        violations = len(rows) - len(facts)
        types = int(np.count_nonzero(side.class_id[facts]))
        others: set[int] = set()
        for name in np.unique(blame.causes[side.nodes[rows]]).tolist():
            others |= blame.sets.members[name]
        both = (len(facts), 0) if came else (0, len(facts))
        return Consequence(
            self._named.of(came, leaves[:1])[leaves[0]],
            *both,
            *((types, 0) if came else (0, types)),
            *((violations, 0) if came else (0, violations)),
            len(leaves) - 1,
            len(others.difference(leaves)),
            self._counted(side.class_id[facts[side.class_id[facts] > 0]], came),
            self._counted(side.predicate[facts[side.class_id[facts] == 0]], came),
            tuple(self._examples(came, side.nodes[self._spread(side, rows)], proofs)),
        )

    def _counted(self, names: U32, came: bool) -> dict[str, tuple[int, int]]:
        each, sizes = np.unique(names, return_counts=True)
        order = np.argsort(-sizes, kind="stable")[: COMPARISON.shown_groups]
        dictionary = self._states[came].dictionary
        texts = [self._named.texts.term(dictionary.key(int(each[i]))) for i in order.tolist()]
        counts = [(int(sizes[i]), 0) if came else (0, int(sizes[i])) for i in order.tolist()]
        return dict(zip(texts, counts, strict=True))

    @staticmethod
    def _spread(side: _Side, rows: I64) -> I64:
        """The first fact of each of the first classes and properties; violations first."""
        keys = np.column_stack((-side.kind[rows], side.class_id[rows], side.predicate[rows]))
        _, first = np.unique(keys, axis=0, return_index=True)
        found: I64 = rows[first[: COMPARISON.shown_examples]]
        return found

    def _examples(self, came: bool, nodes: I64, proofs: bool) -> Iterator[Example]:
        blame, state = self._blames[came], self._states[came]
        for node in nodes.tolist():
            proof = ""
            if proofs and blame.derived.chosen[node] >= 0:
                proof = derivation_text(state, blame, node, self._named.texts, came)
            yield Example(self._text_of(came, node), came, self._causes_of(came, node), proof)

    def _text_of(self, came: bool, node: int) -> str:
        state = self._states[came]
        place = self._blames[came].graph.nodes.place(node)
        relation, key = place
        if isinstance(relation, tuple) and relation[0] in state.violations.relations:
            violation = self._violation(came, relation, key)
            return f"violation {violation}"
        return self._named.texts.fact(state.closed.fact(place))

    def _causes_of(self, came: bool, node: int) -> tuple[Cause, ...]:
        blame = self._blames[came]
        members = sorted(blame.sets.members[int(blame.causes[node])])
        found = self._named.of(came, members[:MAX_CAUSES])
        return tuple(found[leaf] for leaf in members[:MAX_CAUSES])

    def everything(self) -> Iterator[Example]:
        """All inferred changes, with their causes and without proofs."""
        for came, side in self._sides.items():
            members: set[int] = set()
            for name in np.unique(self._blames[came].causes[side.nodes]).tolist():
                members |= self._blames[came].sets.members[name]
            self._named.of(came, sorted(members))
            yield from self._examples(came, side.nodes, proofs=False)

    # -- violations --------------------------------------------------------------------------------

    def violation_counts(self, compared: Compared) -> tuple[int, int]:
        """How many violations came, and how many went."""
        tables = {True: compared.after.tables, False: compared.before.tables}
        came, went = (
            count_new_between(tables[not new], tables[new], self._states[new].violations)
            for new in (True, False)
        )
        return came, went

    def violations(self) -> list[FoundViolation]:
        """The first violations that came, and the first that went."""
        if not self._sides:
            return self._unblamed()
        found = []
        for came, side in self._sides.items():
            rows = np.flatnonzero(side.kind == 1)[: COMPARISON.shown_violations]
            state, blame = self._states[came], self._blames[came]
            for place, node in enumerate(side.nodes[rows].tolist()):
                relation, key = blame.graph.nodes.place(node)
                made = self._violation(came, relation, key)
                proof = ""
                if place < COMPARISON.shown_proofs:
                    proof = derivation_text(state, blame, node, self._named.texts, came)
                causes = self._causes_of(came, node)
                found.append(
                    FoundViolation(made.rule, made.message, made.values, came, causes, proof)
                )
        return found

    def _violation(self, came: bool, relation: object, key: int | bytes) -> FoundViolation:
        state, texts = self._states[came], self._named.texts
        name = relation[0] if isinstance(relation, tuple) else relation
        constraint = state.violations.relations.get(name) if isinstance(name, int) else None
        if constraint is None or not isinstance(relation, tuple):
            assert isinstance(key, int)
            member = texts.term(state.dictionary.key(key & 0xFFFFFFFF))
            return FoundViolation(NOTHING, "", {"x": member}, came)
        names = variables_of(constraint)
        columns = columns_of(keys_of(relation, [key]), relation[1])
        values = [texts.term(state.closed.terms.key(int(column[0]))) for column in columns]
        shown = dict(zip(names, values[len(values) - len(names) :], strict=True))
        return FoundViolation(constraint.id, constraint.message, shown, came)

    def _unblamed(self) -> list[FoundViolation]:
        found = []
        for came in (True, False):
            full, base = self._states[came], self._states[not came]
            listed = violations_between(base.tables, full.tables, full.violations, full.dictionary)
            for _, one in zip(range(COMPARISON.shown_violations), listed, strict=False):
                values = {n: self._named.texts.term(key_of(v)) for n, v in one.values.items()}
                found.append(FoundViolation(one.constraint, one.message, values, came))
        return found


MAX_CAUSES = 100
"""Maximum number of causes of one fact that are listed."""


def _internal(state: ClosedState, name: int) -> bool:
    return state.dictionary.key(name).startswith(b"\x01x-triplestore:")


_VOCABULARIES = tuple(b"\x01" + name.encode() for name in (OWL, RDFS))


def _is_vocabulary(state: ClosedState, name: int) -> bool:
    """Whether triples with a property, or in a class, are axioms or the like."""
    return state.dictionary.key(name).startswith(_VOCABULARIES)


def _leading(blame: Blame, nodes: I64) -> I64:
    """Of each node the cause to which most of the nodes are due; -1 without a cause."""
    sets = blame.causes[nodes]
    each, sizes = np.unique(sets, return_counts=True)
    members = [blame.sets.members[name] for name in each.tolist()]
    weight = np.zeros(blame.graph.size, np.int64)
    for its, size in zip(members, sizes.tolist(), strict=True):
        for leaf in its:
            weight[leaf] += size
    best = np.full(len(blame.sets.members), -1, np.int64)
    for name, its in zip(each.tolist(), members, strict=True):
        if its:
            best[name] = max(its, key=lambda leaf: (weight[leaf], -leaf))
    found: I64 = best[sets]
    return found
