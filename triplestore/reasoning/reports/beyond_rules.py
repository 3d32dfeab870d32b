"""Why a class is not inferred to be below another: axioms on the way that have no rule.

Start reading at `axioms_beyond`. The search goes upwards from the class in question, along all
axioms as if each had a rule. If it arrives, the axioms on the way that are outside of the regimes
are probably what is missing. This is a guess by the shape of expressions, and never claims that
something follows.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from triplestore.datalog.program import TYPE, Atom, Constant, TripleAtom
from triplestore.ontologies.model import axioms as a
from triplestore.ontologies.model import expressions as e
from triplestore.ontologies.translate.draft import EVERYTHING, base_of, class_of
from triplestore.reasoning.program.in_force import InForce
from triplestore.terms.vocabulary import RDFS_SUB_CLASS_OF

if TYPE_CHECKING:
    from triplestore.reasoning.readable_state import ReadableState

_BELOW = Constant.iri(RDFS_SUB_CLASS_OF)
_HAVING = b"\x00"
"""Before the key of a property: the class of what has a value of it."""

_ClassEdges = defaultdict[bytes, list[tuple[bytes, object]]]
"""Class -> the classes above it, each with the axiom that says so."""


def axioms_beyond(view: ReadableState, rules: object, fact: Atom) -> list[str]:
    """The axioms outside of the regimes on the way to a type or a superclass, with the reasons."""
    if not isinstance(rules, InForce) or rules.translation is None or rules.ontology is None:
        return []
    outside = rules.translation.outside
    if not outside or not isinstance(fact, TripleAtom) or fact.p not in (_BELOW, TYPE):
        return []
    if not isinstance(fact.s, Constant) or not isinstance(fact.o, Constant):
        return []
    above = _ClassesAbove(view, rules)
    first = above.types(fact.s.key) if fact.p == TYPE else [fact.s.key]
    used = {id(axiom) for axiom in above.way(first, fact.o.key)}
    return list(dict.fromkeys(str(one) for one in outside if id(one.axiom) in used))


class _ClassesAbove:
    """The classes above a class, by axioms and by what is inferred."""

    def __init__(self, view: ReadableState, rules: InForce) -> None:
        assert rules.ontology is not None
        self._tables, self._dictionary = view.tables, view.dictionary
        self._type_id, self._below = view.dictionary.lookup_keys([TYPE.key, _BELOW.key]).tolist()
        self._edges: _ClassEdges = defaultdict(list)
        for axiom in rules.ontology.axioms:
            for below, above in _sides(axiom):
                tops = [*_points(above)]
                for one in _points(below):
                    self._edges[one] += [(other, axiom) for other in tops]

    def types(self, key: bytes) -> list[bytes]:
        """The classes that something is in."""
        (number,) = self._dictionary.lookup_keys([key]).tolist()
        if not (number and self._type_id):
            return []
        found = self._tables.relation(self._type_id).by_first(number).tolist()
        return [self._dictionary.key(one) for one in found]

    def way(self, first: list[bytes], last: bytes) -> list[object]:
        """The axioms of a shortest way up; empty if it does not exist."""
        came: dict[bytes, tuple[bytes, object] | None] = dict.fromkeys(first)
        waiting = deque(first)
        while waiting and last not in came:
            at = waiting.popleft()
            for other, axiom in self._over(at):
                if other not in came:
                    came[other] = at, axiom
                    waiting.append(other)
        found: list[object] = []
        step = came.get(last)
        while step is not None:
            found.append(step[1])
            step = came[step[0]]
        return found

    def _over(self, key: bytes) -> Iterator[tuple[bytes, object]]:
        if not key.startswith(_HAVING) and self._below:
            (number,) = self._dictionary.lookup_keys([key]).tolist()
            for other in self._tables.relation(self._below).by_first(number).tolist():
                yield self._dictionary.key(other), None
        yield from self._edges[key]


def _sides(axiom: Any) -> Iterator[tuple[Any, Any]]:
    """What an axiom says to be below what; a property stands for what has a value of it."""
    match axiom:
        case a.SubClassOf(sub, sup):
            yield sub, sup
        case a.EquivalentClasses(left, right):
            yield left, right
            yield right, left
        case a.DisjointUnion(union, operands):
            for operand in operands:
                yield operand, union
                yield union, operand
        case a.PropertyDomain(property, domain):
            yield _HasValue(property), domain
        case a.SubPropertyOf(sub, sup):
            yield _HasValue(sub), _HasValue(sup)


class _HasValue(NamedTuple):
    """The class of what has a value of a property."""

    property: Any


def _points(expression: Any) -> Iterator[bytes]:
    """The keys of the classes that an expression is about: of a union all, of a restriction that of
    what has a value. What says nothing of a value, as a complement, is about none."""
    stack = [expression]
    while stack:
        one = stack.pop()
        match one:
            case e.IntersectionOf(operands) | e.UnionOf(operands):
                stack += operands
            case (
                _HasValue(property)
                | e.SomeValuesFrom(property, _)
                | e.HasValue(property, _)
                | e.HasSelf(property)
                | e.MinCardinality(_, property, _)
                | e.ExactCardinality(_, property, _)
            ):
                turned = b"\x01" if isinstance(property, e.InverseOf) else b""
                yield _HAVING + turned + base_of(property).key
            case e.Expression():
                pass
            case _:
                if class_of(one) not in EVERYTHING:
                    yield class_of(one).key
