"""Parts of rules, and the draft that collects rules while axioms are translated.

Start reading at `RuleDraft`. What is always true of what it collects: each rule and constraint has
as its name the id of the public rule that it is a case of, and as `axioms` the triples of its
axiom; a rule is safe (a variable that nothing binds ranges over all resources); a class that
contains everything is in no body and in no head.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from triplestore.data_classes import data_class
from triplestore.datalog.functions import SAME_VALUE
from triplestore.datalog.program import (
    TYPE,
    Atom,
    Call,
    Constant,
    Constraint,
    Expression,
    Filter,
    Item,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
    bound_by,
    variables_of,
)
from triplestore.ontologies.model.expressions import (
    ClassExpression,
    InverseOf,
    PropertyExpression,
    Triple,
)
from triplestore.ontologies.model.expressions import Expression as OwlExpression
from triplestore.ontologies.translate.datatypes import are_apart, is_datatype, outside_of, within
from triplestore.terms import LANG, STRING, TYPED, Term
from triplestore.terms.vocabulary import (
    OWL_EQUIVALENT_CLASS,
    OWL_EQUIVALENT_PROPERTY,
    OWL_NOTHING,
    OWL_SAME_AS,
    OWL_THING,
    RDFS_RESOURCE,
    RDFS_SUB_CLASS_OF,
    RDFS_SUB_PROPERTY_OF,
)
from triplestore.thread_limits import look, looking

X, Y, Z = (Variable(name) for name in "xyz")
"""The variables of most rules."""

EVERYTHING = frozenset((Constant.iri(OWL_THING), Constant.iri(RDFS_RESOURCE)))
"""Classes that everything is in."""


NOTHING = Constant.iri(OWL_NOTHING)
SAME_AS = Constant.iri(OWL_SAME_AS)

REFLEXIVE = frozenset(
    Constant.iri(name)
    for name in (
        OWL_SAME_AS,
        RDFS_SUB_CLASS_OF,
        RDFS_SUB_PROPERTY_OF,
        OWL_EQUIVALENT_CLASS,
        OWL_EQUIVALENT_PROPERTY,
    )
)
"""Properties that relate everything to itself, which is not listed."""

VARIANT = Constant.iri("x-triplestore:literals/variant")
"""The relation of literals with the same value and another spelling: (one, one, other)."""

PAIRS = "x-triplestore:pairs/"
"""Names of relations that list the pairs of n-ary axioms: (a name for the axiom, one, other)."""


@lru_cache(maxsize=1 << 18)
def constant(term: Term) -> Constant:
    """A term as rules have it."""
    return Constant.of(term)


def triple(facts: Triple) -> TripleAtom:
    """A triple as an atom."""
    s, p, o = facts
    return TripleAtom(constant(s), constant(p), constant(o))


def class_of(expression: ClassExpression) -> Constant:
    """The class that stands for an expression: itself, or its node."""
    if isinstance(expression, OwlExpression):
        if expression.node is None:
            raise ValueError(f"an expression without a node has no class: {expression}")
        return constant(expression.node)
    return constant(expression)


def related(
    property: PropertyExpression, one: Variable | Constant, other: Variable | Constant
) -> TripleAtom:
    """`property(one, other)`, whichever way round the property is meant.

    >>> from pyoxigraph import NamedNode
    >>> print(related(InverseOf(NamedNode("http://e/p")), X, Y))
    <http://e/p>[?y, ?x]
    """
    while isinstance(property, InverseOf):
        property, one, other = property.property, other, one
    return TripleAtom(one, constant(property), other)


def base_of(property: PropertyExpression) -> Constant:
    """The property that an expression is about, whichever way round."""
    while isinstance(property, InverseOf):
        property = property.property
    return constant(property)


def is_in(expression: ClassExpression, member: Variable | Constant) -> tuple[Item, ...]:
    """What a body says for "`member` is in the class"; nothing, if everything is."""
    class_ = class_of(expression)
    if class_ in EVERYTHING:
        return ()
    if is_datatype(class_):
        return (Filter(within(member, class_)),)
    return (TripleAtom(member, TYPE, class_),)


def is_everything(expression: ClassExpression) -> bool:
    """Whether it is owl:Thing or rdfs:Resource."""
    return class_of(expression) in EVERYTHING


def is_nothing(expression: ClassExpression) -> bool:
    """Whether it is owl:Nothing."""
    return class_of(expression) == NOTHING


def same(one: Variable, other: Variable) -> TripleAtom:
    """The two are the same thing."""
    return TripleAtom(one, SAME_AS, other)


def different(one: Variable, other: Variable) -> Filter:
    """The two are not the same term."""
    return Filter(Call("!", (Call("SAMETERM", (one, other)),)))


def variant(one: Variable, other: Variable) -> TupleAtom:
    """The two are literals of one value, and not the same term."""
    return TupleAtom(VARIANT, (one, one, other))


def is_literal(term: Variable | Constant) -> bool:
    """Whether it is a literal for certain."""
    return isinstance(term, Constant) and term.kind in (STRING, LANG, TYPED)


def equal_to(variable: Variable, value: Constant) -> tuple[Item, ...]:
    """The variable is the same as a literal, in the sense of XSD: "01" is 1 for an integer."""
    return (Filter(Call(SAME_VALUE, (variable, value))),)


def not_a_literal(term: Variable | Constant) -> Expression:
    """It is an IRI or a blank node."""
    return Call("!", (Call("ISLITERAL", (term,)),))


@data_class
class Outside:
    """An axiom, or a part of one, that a translation has no rule for.

    >>> print(Outside("HasSelf(<http://e/p>)", "OWL 2 RL has no self restrictions"))
    HasSelf(<http://e/p>): OWL 2 RL has no self restrictions
    """

    axiom: object
    reason: str

    def __str__(self) -> str:
        return f"{self.axiom}: {self.reason}"


class DraftPart(NamedTuple):
    """What a draft collected of one axiom; the same object each time, with the same rules."""

    rules: tuple[Rule, ...] = ()
    schema: tuple[Rule, ...] = ()
    simple: tuple[Rule, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    outside: tuple[Outside, ...] = ()
    kept: frozenset[Constant] = frozenset()
    valued: frozenset[Constant] = frozenset()
    datatypes: frozenset[Constant] = frozenset()

    def size(self) -> int:
        """Roughly the number of objects that it holds."""
        parts = (*self.rules, *self.schema, *self.simple, *self.constraints)
        return 1 + len(self.outside) + sum(4 + len(part.body) for part in parts)


@data_class(frozen=False)
class RuleDraft:
    """The rules, constraints and left-out axioms of a translation while it is made.

    schema  facts of the vocabulary that follow from axioms alone
    simple  rules between classes with names, of which there may be very many
    kept    classes that stand for expressions and must not be unfolded
    valued  properties whose values are compared: if these are literals, by their values
    datatypes  those that something is concluded to be in
    """

    rules: list[Rule] = field(default_factory=list)
    schema: list[Rule] = field(default_factory=list)
    simple: list[Rule] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)
    outside: list[Outside] = field(default_factory=list)
    kept: set[Constant] = field(default_factory=set)
    valued: set[Constant] = field(default_factory=set)
    datatypes: set[Constant] = field(default_factory=set)
    _last: tuple[object, tuple[TripleAtom, ...]] = ((), ())

    def _triples(self, axioms: Iterable[Triple]) -> tuple[TripleAtom, ...]:
        """Triples as atoms; the same object for the latest ones, so that the n² rules of an axiom
        about n things share them."""
        if self._last[0] is not axioms:
            self._last = axioms, tuple(map(triple, looking(axioms)))
        return self._last[1]

    def part(self) -> DraftPart:
        """The draft as it is now."""
        return DraftPart(
            tuple(self.rules),
            tuple(self.schema),
            tuple(self.simple),
            tuple(self.constraints),
            tuple(self.outside),
            frozenset(self.kept),
            frozenset(self.valued),
            frozenset(self.datatypes),
        )

    def take(self, part: DraftPart) -> None:
        """Add what another draft collected."""
        rules, schema, simple, constraints, outside, kept, valued, datatypes = part
        self.rules += rules
        self.schema += schema
        self.simple += simple
        self.constraints += constraints
        self.outside += outside
        self.kept |= kept
        self.valued |= valued
        self.datatypes |= datatypes

    def rule(
        self, name: str, head: Atom, body: Iterable[Item], axioms: Iterable[Triple] = ()
    ) -> None:
        """A rule; unbound variables of the head and of filters range over all resources."""
        look()
        made = self._triples(axioms)
        whole = list(body)
        if isinstance(head, TripleAtom) and head.p in REFLEXIVE:
            one, other = head.s, head.o
            if isinstance(one, Variable) and isinstance(other, Variable):
                whole.append(different(one, other))  # nothing trivial
        for items in bindings(tuple(dict.fromkeys(whole)), _variables(head)):
            if head not in items:
                self.rules.append(Rule((head,), items, name, axioms=made))

    def member(
        self,
        name: str,
        expression: ClassExpression,
        member: Variable | Constant,
        body: Iterable[Item],
        axioms: Iterable[Triple] = (),
    ) -> None:
        """A rule that puts something in a class.

        Of a datatype that is known: literals are in it or not, whatever a rule says, so for them
        it is a constraint, and a rule for all others.
        """
        class_ = class_of(expression)
        items = tuple(body)
        if class_ in EVERYTHING:
            return
        if is_datatype(class_):
            self.datatypes.add(class_)
            wrong = Filter(outside_of(member, class_))
            message = f"{_value(member, items)} is not in {class_}"
            self.constraint("dt-not-type", message, (*items, wrong), axioms)
            items = (*items, Filter(not_a_literal(member)))
        self.rule(name, TripleAtom(member, TYPE, class_), items, axioms)

    def constraint(
        self, name: str, message: str, body: Iterable[Item], axioms: Iterable[Triple] = ()
    ) -> None:
        """A constraint."""
        made = self._triples(axioms)
        for items in bindings(tuple(body), ()):
            self.constraints.append(Constraint(name, message, items, axioms=made))

    def clashes(self) -> None:
        """Constraints: nothing is in two datatypes that have no value in common."""
        for one, other in combinations(sorted(self.datatypes, key=str), 2):
            if are_apart(one, other):
                message = f"in {one} and {other}, which have no value in common"
                body = [TripleAtom(X, TYPE, datatype) for datatype in (one, other)]
                self.constraint("dt-not-type", message, body)

    def schema_rule(self, name: str, head: TripleAtom, axioms: Iterable[Triple]) -> None:
        """A triple that follows from an axiom, whatever the data are; nothing trivial."""
        look()
        if (head.s == head.o and head.p in REFLEXIVE) or head.s == NOTHING or head.o in EVERYTHING:
            return
        self.schema.append(Rule((head,), (), name, axioms=self._triples(axioms)))

    def pair(self, name: str, one: Constant, other: Constant, axioms: Sequence[Triple]) -> None:
        """Two of the members of an n-ary axiom, which a constraint of this name reads."""
        about = constant(axioms[0][0]) if axioms else one
        row = TupleAtom(Constant.iri(PAIRS + name), (about, one, other))
        self.schema.append(Rule((row,), (), name, axioms=self._triples(axioms)))

    def keep(self, *expressions: ClassExpression) -> None:
        """Keep these classes: rules that do not name them look at their members."""
        self.kept.update(map(class_of, expressions))

    def leave(self, axiom: object, reason: str) -> None:
        """Note that an axiom, or a part of one, has no rule."""
        self.outside.append(Outside(axiom, reason))


def _value(member: Variable | Constant, body: Iterable[Item]) -> str:
    """The name of a literal in a message: by its property, if a body names one."""
    for item in body:
        if isinstance(item, TripleAtom) and item.o == member and item.p != TYPE:
            return f"the value of {item.p}"
    return "the value"


def bindings(body: tuple[Item, ...], needed: Sequence[Variable]) -> list[tuple[Item, ...]]:
    """The bodies that together bind what is needed: the body itself, if it does.

    A variable that nothing binds is every term that is the subject or the object of a fact.

    >>> [len(items) for items in bindings((), (X,))]
    [1, 1]
    """
    bound = set(bound_by(body))
    wanted = [*needed, *_of_filters(body)]
    free = list(dict.fromkeys(variable for variable in wanted if variable not in bound))
    bodies = [body]
    for variable in free:
        p, other = Variable(f"{variable.name}_property"), Variable(f"{variable.name}_other")
        atoms = TripleAtom(variable, p, other), TripleAtom(other, p, variable)
        bodies = [(atom, *items) for items in bodies for atom in atoms]
    return bodies


def _of_filters(body: Iterable[Item]) -> list[Variable]:
    return [
        variable
        for item in body
        if isinstance(item, Filter)
        for variable in variables_of(item.expression)
    ]


def _variables(atom: Atom) -> list[Variable]:
    return [term for term in atom.terms if isinstance(term, Variable)]
