"""Why a result holds: start at `CauseFinder.cause`.

A result rests on facts: that its node is a focus node, that a path leads from it to the value, and
what the constraint compares. Each has a proof from asserted facts; axioms from which its rules were
made have proofs as well. What a node lacks has no facts: the message says it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyoxigraph as ox

from triplestore.data_classes import data_class
from triplestore.datalog.program import Atom, TripleAtom
from triplestore.expressions.tree import Call, Constant, Variable
from triplestore.operators.context import Context, running
from triplestore.proofs import Proof
from triplestore.shacl import model
from triplestore.shacl.evaluate.data_graph import DataGraph
from triplestore.shacl.evaluate.validation import Validation
from triplestore.shacl.model import Shape, ShapeSet
from triplestore.shacl.vocabulary import SUB_CLASS_OF, TYPE, Key
from triplestore.shacl.witness_paths import Facts, facts_of_path
from triplestore.sparql.algebra.nodes import PathExpression, ZeroOrMore
from triplestore.terms.term_keys import LANG, term_of

if TYPE_CHECKING:
    from triplestore.shacl.reports.rows import ResultRow
    from triplestore.sparql.engine import AskedState

Prove = Callable[[ox.Triple], object]
"""The smallest proof of a fact; anything else if it is not known."""

_MAX_OUTER = 100
"""Maximum number of nodes from which a focus node of an inner shape is looked for."""


@data_class
class Cause:
    """The facts behind a result, and the asserted triples that they follow from.

    message  what is wrong
    facts    that the node is a focus node, has the value, and what it is compared with
    triples  asserted: the smallest proofs of these facts begin with them
    proofs   of the facts that are inferred
    """

    message: str
    facts: tuple[ox.Triple, ...]
    triples: tuple[ox.Triple, ...]
    proofs: tuple[Proof, ...]

    def __str__(self) -> str:
        lines = [self.message, "because"]
        inferred = {_triple(proof.fact): proof for proof in self.proofs}
        for fact in self.facts:
            proof = inferred.get(fact)
            text = f"{fact}  (asserted)" if proof is None else str(proof)
            lines += [f"  {line}" for line in text.splitlines()]
        return "\n".join(lines)


class CauseFinder:
    """Finds the causes of the results of some shapes in one state.

    prove  gives the proof of a fact
    """

    def __init__(self, asked: AskedState, shapes: ShapeSet, prove: Prove) -> None:
        self._data = DataGraph(asked, Context())
        self._run = Validation(self._data, shapes)
        self._shapes = shapes
        self._prove = prove

    def cause(self, row: ResultRow, message: str) -> Cause:
        """The cause of a result."""
        with running(self._data.context):
            found = dict.fromkeys(self._facts(row))
            facts = [self._triple(fact) for fact in found]
        triples: dict[ox.Triple, None] = {}
        proofs = [proof for fact in facts if (proof := self._asserted(fact, triples)) is not None]
        ordered = sorted(triples, key=str)
        return Cause(message, tuple(facts), tuple(ordered), tuple(proofs))

    def _triple(self, fact: tuple[int, int, int]) -> ox.Triple:
        s, p, o = (term_of(self._data.terms.key(each)) for each in fact)
        assert isinstance(s, ox.NamedNode | ox.BlankNode)
        assert isinstance(p, ox.NamedNode)
        return ox.Triple(s, p, o)

    def _asserted(self, fact: ox.Triple, found: dict[ox.Triple, None]) -> Proof | None:
        """Note the asserted triples behind a fact; its proof, if it is inferred."""
        first: Proof | None = None
        waiting, seen = [fact], {fact}
        while waiting:
            one = waiting.pop()
            proof = self._prove(one)
            if not isinstance(proof, Proof) or proof.stated:
                found[one] = None  # asserted, or a fact of a named graph
                continue
            first = first or proof
            for step in proof:
                if step.rule is None:
                    found[_triple(step.fact)] = None
                    continue
                axioms = [_triple(axiom) for axiom in step.rule.axioms]
                waiting += [axiom for axiom in axioms if axiom not in seen]
                seen.update(axioms)
        return first

    # -- facts ------------------------------------------------------------------------------------

    def _facts(self, row: ResultRow) -> Iterator[tuple[int, int, int]]:
        focus = self._data.id(row.focus)
        yield from self._of_focus(row.shape, focus, frozenset()) or ()
        if row.path is not None and row.value is not None:
            yield from facts_of_path(self._data, row.path, focus, self._data.id(row.value)) or ()
        yield from self._compared(row, focus)

    def _of_focus(self, shape: Shape, node: int, above: frozenset[Key]) -> Facts | None:
        """The facts that make a node a focus node of a shape; None if it is not one."""
        for target in shape.targets:
            found = self._of_target(target, node)
            if found is not None:
                return found
        for outer in self._shapes.shapes.values():
            if outer.node in above or not _contains(outer, shape):
                continue
            if outer.path is None:
                found = self._of_focus(outer, node, above | {shape.node})
                if found is not None:
                    return found
                continue
            starts = self._data.reaching(outer.path, np.array([node], np.uint32))
            for start in starts[:_MAX_OUTER].tolist():
                before = self._of_focus(outer, start, above | {shape.node})
                if before is not None:
                    return before + (facts_of_path(self._data, outer.path, start, node) or [])
        return None

    def _of_target(self, target: model.Target, node: int) -> Facts | None:
        data = self._data
        nodes = np.array([node], np.uint32)
        if not data.are_targets(nodes, target)[0]:
            return None
        match target:
            case model.TargetClass(of):
                return self._of_instance(node, of)
            case model.TargetSubjects(predicate):
                value = int(data.relation_pairs(predicate, nodes)[1][0])
                return [(node, data.id(predicate), value)]
            case model.TargetObjects(predicate):
                subject = int(data.reaching(Constant(predicate), nodes)[0])
                return [(subject, data.id(predicate), node)]
            case _:
                return []

    def _of_instance(self, node: int, of: Key) -> Facts:
        """The type of a node, and the sub-classes between it and a class."""
        data = self._data
        _, kinds = data.relation_pairs(TYPE, np.array([node], np.uint32))
        wanted, name = data.id(of), data.id(TYPE)
        if wanted in kinds.tolist():
            return [(node, name, wanted)]
        above: PathExpression = ZeroOrMore(Constant(SUB_CLASS_OF))
        for kind in np.intersect1d(kinds, data.sub_classes(of)).tolist():
            chain = facts_of_path(data, above, kind, wanted)
            if chain is not None:
                return [(node, name, kind), *chain]
        return []

    def _compared(self, row: ResultRow, focus: int) -> Iterator[tuple[int, int, int]]:
        """The other facts that a constraint looks at."""
        test, data = row.constraint, self._data
        counted = isinstance(test, model.CountTest | model.Qualified) and not test.at_least
        if row.path is not None and (counted or isinstance(test, model.UniqueLang)):
            values = data.values(row.path, np.array([focus], np.uint32))[1]
            if isinstance(test, model.UniqueLang):
                values = values[data.terms.kinds(values) == LANG]
            elif isinstance(test, model.Qualified):
                values = values[self._run.conforming(test.shape, values)][: test.number + 1]
            elif isinstance(test, model.CountTest):
                values = values[: test.number + 1]
            for value in values.tolist():
                yield from facts_of_path(data, row.path, focus, value) or ()
        if isinstance(test, model.PairTest) and row.value is not None:
            name, value = data.id(test.predicate), data.id(row.value)
            others = data.relation_pairs(test.predicate, np.array([focus], np.uint32))[1]
            if test.kind in ("equals", "disjoint"):
                if value in others.tolist():
                    yield focus, name, value
                return
            sign = Call("<" if test.kind == "lessThan" else "<=", (_VALUE, _OTHER))
            fine = data.pairs_meet(sign, np.full(len(others), value, np.uint32), others)
            for other in others[~fine][:1].tolist():
                yield focus, name, other


_VALUE, _OTHER = Variable("value"), Variable("other")


def _contains(outer: Shape, inner: Shape) -> bool:
    return any(
        isinstance(each, model.PropertyOf) and each.shape == inner.node
        for each in outer.constraints
    )


def _triple(atom: Atom) -> ox.Triple:
    assert isinstance(atom, TripleAtom)
    s, p, o = (term.term for term in atom.terms if isinstance(term, Constant))
    assert isinstance(s, ox.NamedNode | ox.BlankNode)
    assert isinstance(p, ox.NamedNode)
    return ox.Triple(s, p, o)
