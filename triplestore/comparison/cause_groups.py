"""Inferred changes by what causes them, the largest causes first.

Start reading at `GroupedCauses.listed`. A fact may have several causes; it counts for its *leading*
one, that to which most facts are due. So an axiom that types a thousand individuals leads, and the
triples of the individuals are what it acts together with. Everything is counted on columns; only
what is listed becomes text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from triplestore.comparison.blame_proofs import derivation_text
from triplestore.comparison.cause_texts import CauseTexts
from triplestore.comparison.findings import Cause, Consequence, Example, FoundViolation
from triplestore.comparison.sides.states import Compared
from triplestore.comparison.thresholds import COMPARISON
from triplestore.consequences.blame import AssertedCause, BlamedChanges
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
from triplestore.thread_limits import look


@data_class
class _Side:
    """The inferred changes of one direction, as columns.

    nodes      their numbers in the graph
    leading    the code of the leading cause of each, -1 if none is known (`_code`)
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
        self,
        states: Mapping[bool, ClosedState],
        blamed: BlamedChanges | None,
        named: CauseTexts,
    ) -> None:
        self._states, self._named = states, named
        self._blamed = blamed or BlamedChanges({})
        self._blames = self._blamed.blames
        sides = {came: self._side(came) for came in self._blames}
        weight = self._weights(sides)
        self._sides = {came: self._led(came, side, weight) for came, side in sides.items()}
        self.unexplained = self.inexact = 0
        for came, side in self._sides.items():
            exact = self._blames[came].exact[side.nodes]
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
                elif not _internal(state, name[0]):
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
        none = np.full(len(chosen), -1, np.int64)
        return _Side(chosen, none, kind[chosen], predicate[chosen], class_id[chosen])

    def _weights(self, sides: Mapping[bool, _Side]) -> Counter[int]:
        """How many changes are due to each cause."""
        found: Counter[int] = Counter()
        for came, side in sides.items():
            sets, sizes = np.unique(self._blames[came].causes[side.nodes], return_counts=True)
            for name, size in zip(sets.tolist(), sizes.tolist(), strict=True):
                for cause in self._blamed.of_set(came, name):
                    found[_code(cause)] += size
        return found

    def _led(self, came: bool, side: _Side, weight: Counter[int]) -> _Side:
        """A side with the leading causes: those to which most changes are due."""
        blame = self._blames[came]
        sets = blame.causes[side.nodes]
        best = np.full(len(blame.sets.members), -1, np.int64)
        for name in np.unique(sets).tolist():
            codes = map(_code, self._blamed.of_set(came, name))
            best[name] = max(codes, key=lambda code: (weight[code], -code), default=-1)
        return replace(side, leading=best[sets])

    # -- by cause ----------------------------------------------------------------------------------

    def listed(self) -> tuple[list[Consequence], tuple[int, int]]:
        """The largest causes with what follows from them; the number of others, and of theirs."""
        leading = [side.leading[side.leading >= 0] for side in self._sides.values()]
        every = np.concatenate(leading) if leading else np.zeros(0, np.int64)
        codes, sizes = np.unique(every, return_counts=True)
        found: list[tuple[int, tuple[int, ...]]] = []
        for came in self._sides:
            mine = np.flatnonzero((codes & 1) == (not came))
            for members in self._families(came, codes[mine] >> 1):
                its = mine[members]
                its = its[np.argsort(-sizes[its], kind="stable")]
                found.append((-int(sizes[its].sum()), tuple(codes[its].tolist())))
        found.sort()
        most = COMPARISON.shown_causes
        shown, rest = found[:most], found[most:]
        self._named.of(_cause(members[0]) for _, members in shown)  # places of all at once
        listed = [
            self._consequence(members, proofs=place < COMPARISON.shown_proofs)
            for place, (_, members) in enumerate(shown)
        ]
        left = sum(len(members) for _, members in rest)
        return listed, (left, -sum(size for size, _ in rest))

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

    def _consequence(self, codes: tuple[int, ...], proofs: bool) -> Consequence:
        look("listing causes")
        counts = {came: self._counted_side(came, codes) for came in (True, False)}
        others: set[int] = set()
        examples: list[Example] = []
        for came, side in self._sides.items():
            rows = np.flatnonzero(np.isin(side.leading, codes))
            for name in np.unique(self._blames[came].causes[side.nodes[rows]]).tolist():
                others.update(map(_code, self._blamed.of_set(came, name)))
            examples += self._examples(came, side.nodes[self._spread(side, rows)], proofs)
        first = _cause(codes[0])
        one, other = counts[True], counts[False]
        return Consequence(
            self._named.of([first])[first],
            one.facts,
            other.facts,
            one.types,
            other.types,
            one.violations,
            other.violations,
            len(codes) - 1,
            len(others.difference(codes)),
            _both(one.classes, other.classes),
            _both(one.properties, other.properties),
            tuple(examples[: COMPARISON.shown_examples]),
        )

    def _counted_side(self, came: bool, codes: tuple[int, ...]) -> _Counts:
        side = self._sides[came]
        rows = np.flatnonzero(np.isin(side.leading, codes))
        facts = rows[side.kind[rows] == 0]
        typed = side.class_id[facts] > 0
        return _Counts(
            len(facts),
            int(np.count_nonzero(typed)),
            len(rows) - len(facts),
            self._counted(side.class_id[facts[typed]], came),
            self._counted(side.predicate[facts[~typed]], came),
        )

    def _counted(self, names: U32, came: bool) -> dict[str, int]:
        each, sizes = np.unique(names, return_counts=True)
        order = np.argsort(-sizes, kind="stable")[: COMPARISON.shown_groups]
        dictionary = self._states[came].dictionary
        return {
            self._named.texts.term(dictionary.key(int(each[i]))): int(sizes[i])
            for i in order.tolist()
        }

    @staticmethod
    def _spread(side: _Side, rows: I64) -> I64:
        """The first fact of each of the first classes and properties; violations first."""
        keys = np.column_stack((-side.kind[rows], side.class_id[rows], side.predicate[rows]))
        _, first = np.unique(keys, axis=0, return_index=True)
        found: I64 = rows[first[: COMPARISON.shown_examples]]
        return found

    def _examples(self, came: bool, nodes: I64, proofs: bool) -> Iterator[Example]:
        blame = self._blames[came]
        for node in nodes.tolist():
            proof = ""
            if proofs and blame.derived.chosen[node] >= 0:
                proof = self._proof(came, node)
            yield Example(self._text_of(came, node), came, self._causes_of(came, node), proof)

    def _proof(self, came: bool, node: int) -> str:
        return derivation_text(self._states, self._blamed, came, node, self._named.texts)

    def _text_of(self, came: bool, node: int) -> str:
        state = self._states[came]
        place = self._blames[came].graph.nodes.place(node)
        relation, key = place
        if isinstance(relation, tuple) and relation[0] in state.violations.relations:
            violation = self._violation(came, relation, key)
            return f"violation {violation}"
        return self._named.texts.fact(state.closed.fact(place))

    def _causes_of(self, came: bool, node: int) -> tuple[Cause, ...]:
        causes = sorted(self._blamed.causes(came, node), key=_code)[:MAX_CAUSES]
        found = self._named.of(causes)
        return tuple(found[cause] for cause in causes)

    def everything(self) -> Iterator[Example]:
        """All inferred changes, with their causes and without proofs."""
        for came, side in self._sides.items():
            causes: set[AssertedCause] = set()
            for name in np.unique(self._blames[came].causes[side.nodes]).tolist():
                causes |= self._blamed.of_set(came, name)
            self._named.of(causes)
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
            blame = self._blames[came]
            for place, node in enumerate(side.nodes[rows].tolist()):
                relation, key = blame.graph.nodes.place(node)
                made = self._violation(came, relation, key)
                proof = ""
                if place < COMPARISON.shown_proofs:
                    proof = self._proof(came, node)
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


@data_class
class _Counts:
    """What follows from causes in one direction."""

    facts: int
    types: int
    violations: int
    classes: Mapping[str, int]
    properties: Mapping[str, int]


def _both(came: Mapping[str, int], went: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    names = dict.fromkeys((*came, *went))
    return {name: (came.get(name, 0), went.get(name, 0)) for name in names}


def _code(cause: AssertedCause) -> int:
    """A cause as one number: the last bit is set if it went."""
    return cause.leaf << 1 | (not cause.came)


def _cause(code: int) -> AssertedCause:
    return AssertedCause(not code & 1, code >> 1)


MAX_CAUSES = 100
"""Maximum number of causes of one fact that are listed."""


def _internal(state: ClosedState, name: int) -> bool:
    return state.dictionary.key(name).startswith(b"\x01x-triplestore:")


_VOCABULARIES = tuple(b"\x01" + name.encode() for name in (OWL, RDFS))


def _is_vocabulary(state: ClosedState, name: int) -> bool:
    """Whether triples with a property, or in a class, are axioms or the like."""
    return state.dictionary.key(name).startswith(_VOCABULARIES)
