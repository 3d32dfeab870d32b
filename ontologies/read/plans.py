"""The constructors of OWL's expressions, node by node, before their parts are known.

Start at `Planner.plans`. Types are not required: `owl:onProperty` with `owl:someValuesFrom` is a
restriction whether or not it says so, as the W3C rules have it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from pyoxigraph import BlankNode, Literal, NamedNode

from triplestore.ontologies.model import expressions as ex
from triplestore.ontologies.model import vocabulary as v
from triplestore.ontologies.model.expressions import Expression, Facet, Node, Triple
from triplestore.ontologies.model.lists import ListReader, ListReading
from triplestore.ontologies.model.schema_graph import SchemaGraph
from triplestore.terms import Term
from triplestore.terms.vocabulary import XSD, XSD_BOOLEAN, XSD_STRING

from .problems import Problems, show


class Role(Enum):
    """What stands in a place of an expression."""

    CLASS = "class"
    CLASSES = "classes"
    PROPERTY = "property"
    PROPERTIES = "properties"
    ANY = "any"


class Plan(NamedTuple):
    """An expression to be: what to make, of what, and the triples that say so."""

    make: type[Expression]
    roles: tuple[Role, ...]
    arguments: tuple[object, ...]
    own: tuple[Triple, ...]


LISTED: tuple[tuple[NamedNode, type[Expression], Role], ...] = (
    (v.INTERSECTION_OF, ex.IntersectionOf, Role.CLASSES),
    (v.UNION_OF, ex.UnionOf, Role.CLASSES),
    (v.ONE_OF, ex.OneOf, Role.ANY),
)
COMPLEMENTS: tuple[tuple[NamedNode, type[Expression]], ...] = (
    (v.COMPLEMENT_OF, ex.ComplementOf),
    (v.DATATYPE_COMPLEMENT_OF, ex.DatatypeComplementOf),
)
VALUES: tuple[tuple[NamedNode, type[Expression], type[Expression] | None, Role], ...] = (
    (v.SOME_VALUES_FROM, ex.SomeValuesFrom, ex.NarySomeValuesFrom, Role.CLASS),
    (v.ALL_VALUES_FROM, ex.AllValuesFrom, ex.NaryAllValuesFrom, Role.CLASS),
    (v.HAS_VALUE, ex.HasValue, None, Role.ANY),
)
NUMBERS: tuple[tuple[NamedNode, NamedNode, type[Expression]], ...] = (
    (v.MIN_CARDINALITY, v.MIN_QUALIFIED_CARDINALITY, ex.MinCardinality),
    (v.MAX_CARDINALITY, v.MAX_QUALIFIED_CARDINALITY, ex.MaxCardinality),
    (v.CARDINALITY, v.QUALIFIED_CARDINALITY, ex.ExactCardinality),
)


class Planner:
    """Finds the constructors of a graph.

    >>> a, node = NamedNode("http://example.org/A"), BlankNode("n")
    >>> graph = SchemaGraph([(node, v.COMPLEMENT_OF, a)])
    >>> plan = Planner(graph, ListReader(graph), Problems()).plans()[node][0]
    >>> plan.make.__name__, plan.arguments
    ('ComplementOf', (<NamedNode value=http://example.org/A>,))
    """

    def __init__(self, graph: SchemaGraph, lists: ListReader, problems: Problems) -> None:
        self._graph = graph
        self._lists = lists
        self._problems = problems
        self._plans: dict[Node, list[Plan]] = {}
        self._on: Mapping[Term, Sequence[Triple]] = graph.index(v.ON_PROPERTY)
        self._on_several: Mapping[Term, Sequence[Triple]] = graph.index(v.ON_PROPERTIES)
        self._filled: set[Term] = set()

    def plans(self) -> dict[Node, list[Plan]]:
        """Node -> the plans of its constructors."""
        self._plan_listed()
        self._plan_complements()
        self._plan_values()
        self._plan_self()
        self._plan_numbers()
        self._plan_datatypes()
        self._plan_inverses()
        self._report_halves()
        return self._plans

    def _plan_listed(self) -> None:
        for predicate, make, role in LISTED:
            for triple in self._graph.having(predicate):
                for reading in read_list(self._lists, triple, self._problems):
                    self._add(make, (role,), (reading.items,), (triple, *reading.triples))

    def _plan_complements(self) -> None:
        for predicate, make in COMPLEMENTS:
            for triple in self._graph.having(predicate):
                self._add(make, (Role.CLASS,), (triple[2],), (triple,))

    def _plan_values(self) -> None:
        for predicate, make, make_nary, role in VALUES:
            for triple in self._graph.having(predicate):
                self._filled.add(triple[0])
                for on in self._on.get(triple[0], ()):
                    self._add(make, (Role.PROPERTY, role), (on[2], triple[2]), (triple, on))
                if make_nary is None:
                    continue
                for on in self._on_several.get(triple[0], ()):
                    for reading in read_list(self._lists, on, self._problems):
                        own = (triple, on, *reading.triples)
                        arguments = (reading.items, triple[2])
                        self._add(make_nary, (Role.PROPERTIES, role), arguments, own)

    def _plan_self(self) -> None:
        for triple in self._graph.having(v.HAS_SELF):
            self._filled.add(triple[0])
            restricted = self._on.get(triple[0], ())
            if not self._is_true(triple, restricted):
                continue
            for on in restricted:
                self._add(ex.HasSelf, (Role.PROPERTY,), (on[2],), (triple, on))

    def _is_true(self, triple: Triple, restricted: Sequence[Triple]) -> bool:
        value = triple[2]
        if isinstance(value, Literal) and value.value in ("true", "1"):
            if value.datatype.value == XSD_BOOLEAN:
                return True
            remedy = "it was taken for true; write true"
            self._report("not-true", f"{show(value)} is not the value true", (triple,), remedy)
            return True
        remedy = "write true, or leave the restriction out; it was not read"
        message = f"owl:hasSelf is {show(value)} and must be true"
        self._report("not-true", message, (triple, *restricted), remedy)
        return False

    def _plan_numbers(self) -> None:
        fillers = [self._graph.index(v.ON_CLASS), self._graph.index(v.ON_DATA_RANGE)]
        roles = (Role.ANY, Role.PROPERTY, Role.CLASS)
        for plain, qualified, make in NUMBERS:
            for triple in self._graph.having(plain):
                self._filled.add(triple[0])
                number = self._number(triple)
                if number is not None:
                    for on in self._on.get(triple[0], ()):
                        self._add(make, roles, (number, on[2], None), (triple, on))
            for triple in self._graph.having(qualified):
                self._filled.add(triple[0])
                found = [filler for index in fillers for filler in index.get(triple[0], ())]
                if not found:
                    self._report(
                        "cardinality-without-filler",
                        f"{show(triple[1])} of {show(triple[0])} does not say of what",
                        (triple, *self._on.get(triple[0], ())),
                        "add owl:onClass or owl:onDataRange; it was not read",
                    )
                number = self._number(triple)
                if number is not None:
                    for on in self._on.get(triple[0], ()):
                        for filler in found:
                            arguments = (number, on[2], filler[2])
                            self._add(make, roles, arguments, (triple, on, filler))

    def _number(self, triple: Triple) -> int | None:
        """The number of a cardinality, reported if there is none."""
        value = triple[2]
        text = value.value.strip() if isinstance(value, Literal) else ""
        if not isinstance(value, Literal) or not _is_whole(text, value.datatype.value):
            message = f"{show(triple[1])} of {show(triple[0])} is {show(value)}"
            remedy = "write a number such as 1 (not negative); it was not read"
            triples = (triple, *self._on.get(triple[0], ()))
            self._report("cardinality-no-number", message, triples, remedy)
            return None
        if value.datatype.value == XSD_STRING:
            message = f"{show(triple[1])} of {show(triple[0])} is {show(value)}, a string"
            remedy = "it was taken for a number; give it the type xsd:nonNegativeInteger"
            self._report("cardinality-string", message, (triple,), remedy)
        return int(text.partition(".")[0])

    def _plan_datatypes(self) -> None:
        restrictions = self._graph.index(v.WITH_RESTRICTIONS)
        facets = [self._graph.index(facet) for facet in sorted(v.FACETS, key=str)]
        facets = [index for index in facets if index]
        for triple in self._graph.having(v.ON_DATATYPE):
            self._filled.add(triple[0])
            found = restrictions.get(triple[0], ())
            if not found:
                remedy = "add owl:withRestrictions with a list of facets; it was not read"
                message = f"{show(triple[0])} restricts a datatype by nothing"
                self._report("datatype-without-facets", message, (triple,), remedy)
            for with_ in found:
                for reading in read_list(self._lists, with_, self._problems):
                    made = [self._facets(node, facets, (triple, with_)) for node in reading.items]
                    if all(made):
                        bounds = tuple(facet for several in made for facet in several)
                        own = (triple, with_, *reading.triples)
                        self._add(
                            ex.DatatypeRestriction, (Role.CLASS, Role.ANY), (triple[2], bounds), own
                        )

    def _facets(
        self, node: Term, facets: list[Mapping[Term, Sequence[Triple]]], users: tuple[Triple, ...]
    ) -> list[Facet]:
        """The facets at one node of the list of a datatype restriction."""
        triples = [triple for index in facets for triple in index.get(node, ())]
        made = [
            Facet(facet, value, node=node, own=((node, facet, value),))
            for node, facet, value in triples
            if isinstance(value, Literal)
            and isinstance(facet, NamedNode)
            and isinstance(node, NamedNode | BlankNode)
        ]
        if len(made) < len(triples) or not made:
            message = f"{show(node)} in a list of facets has no known facet"
            remedy = "give it one such as xsd:minInclusive, with a literal; it was not read"
            self._report("facet-missing", message, (*users, *triples), remedy)
            return []
        return made

    def _plan_inverses(self) -> None:
        for triple in self._graph.having(v.INVERSE_OF):
            if type(triple[0]) is BlankNode:
                self._add(ex.InverseOf, (Role.PROPERTY,), (triple[2],), (triple,))

    def _report_halves(self) -> None:
        """Report restrictions of which a part is missing."""
        half = "restriction-without-property"
        for predicate in sorted(v.FILLERS, key=str):
            for triple in self._graph.having(predicate):
                if triple[0] not in self._on and triple[0] not in self._on_several:
                    message = f"{show(triple[0])} has {show(predicate)}, but no owl:onProperty"
                    remedy = "add owl:onProperty with the property; it was not read"
                    self._report(half, message, (triple,), remedy)
        for index in (self._on, self._on_several):
            for node, triples in index.items():
                if node not in self._filled:
                    message = f"the restriction {show(node)} does not say what it restricts to"
                    remedy = "add owl:someValuesFrom, owl:hasValue ...; it was not read"
                    self._report("restriction-without-filler", message, tuple(triples), remedy)
        for triple in self._graph.typed(v.RESTRICTION):
            known = triple[0] in self._filled or triple[0] in self._on
            if not known and triple[0] not in self._on_several:
                message = f"{show(triple[0])} is a restriction without a property and a filler"
                remedy = "add owl:onProperty and a filler, or remove the type"
                self._report("restriction-empty", message, (triple,), remedy)

    def _report(self, code: str, message: str, triples: tuple[Triple, ...], remedy: str) -> None:
        self._problems.report(code, message, triples, remedy)

    def _add(
        self,
        make: type[Expression],
        roles: tuple[Role, ...],
        arguments: tuple[object, ...],
        own: tuple[Triple, ...],
    ) -> None:
        """Note a plan for the subject of its first triple, if its parts fit."""
        node = own[0][0]
        self._problems.used.update(own)
        for role, argument in zip(roles, arguments, strict=True):
            if role is Role.ANY or argument is None:
                continue
            for term in argument if isinstance(argument, tuple) else (argument,):
                if not isinstance(term, NamedNode | BlankNode):
                    report_no_node(term, own, self._problems)
                    return
        if isinstance(node, NamedNode | BlankNode):
            self._plans.setdefault(node, []).append(Plan(make, roles, arguments, own))


def read_list(lists: ListReader, triple: Triple, problems: Problems) -> Sequence[ListReading]:
    """The readings of the list that is the object of a triple; it is reported if there is none."""
    readings = lists.read(triple[2])
    if not readings:
        message = f"the {show(triple[1])} of {show(triple[0])} is not a complete list"
        problems.report("broken-list", message, (triple,), "complete the list; it was not read")
    return readings


def report_no_node(term: object, triples: tuple[Triple, ...], problems: Problems) -> None:
    """Report a term that cannot be a class or property."""
    problems.report(
        "no-class-or-property",
        f"{show(term)} stands where a class or property is expected",
        triples,
        "put an IRI or an expression there; it was not read",
    )


INTEGERS = ("integer", "long", "int", "short", "byte")
UNSIGNED = ("unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte")
NUMBER_TYPES = frozenset(
    XSD + name
    for name in (*INTEGERS, *UNSIGNED, "nonNegativeInteger", "positiveInteger", "decimal", "string")
)


def _is_whole(text: str, datatype: str) -> bool:
    """Whether a lexical form of a datatype is a whole number that is not negative."""
    whole, _, fraction = text.removeprefix("+").partition(".")
    is_whole = whole.isascii() and whole.isdigit() and not fraction.strip("0")
    return is_whole and datatype in NUMBER_TYPES
