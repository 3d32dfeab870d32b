"""SWRL rules from their triples.

Start at `SwrlReader.read`. As with lists, what is said in several ways is read in each (up to a
maximum; more is a problem), and incomplete parts are reported with their triples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product
from typing import Any

from pyoxigraph import BlankNode, NamedNode

from triplestore.ontologies.model import swrl
from triplestore.ontologies.model import vocabulary as v
from triplestore.ontologies.model.expressions import Triple
from triplestore.ontologies.model.lists import ListReader
from triplestore.ontologies.model.schema_graph import SchemaGraph
from triplestore.ontologies.model.swrl import SwrlAtom, SwrlRule, SwrlVariable
from triplestore.ontologies.thresholds import ONTOLOGIES
from triplestore.terms import Term

from .annotations import Annotations
from .expressions import ExpressionReader
from .plans import read_list
from .problems import Problems, show

CLASS, PROPERTY, NODE, ARGUMENT, ARGUMENTS = "class", "property", "node", "argument", "arguments"
ONE, TWO = (v.SWRL_ARGUMENT_1, ARGUMENT), (v.SWRL_ARGUMENT_2, ARGUMENT)

# Class of the atom -> what to make of which predicates, and what stands there.
ATOMS: dict[NamedNode, tuple[type[Any], tuple[tuple[NamedNode, str], ...]]] = {
    v.SWRL_CLASS_ATOM: (swrl.ClassAtom, ((v.SWRL_CLASS_PREDICATE, CLASS), ONE)),
    v.SWRL_DATA_RANGE_ATOM: (swrl.DataRangeAtom, ((v.SWRL_DATA_RANGE, CLASS), ONE)),
    v.SWRL_INDIVIDUAL_PROPERTY_ATOM: (
        swrl.IndividualPropertyAtom,
        ((v.SWRL_PROPERTY_PREDICATE, PROPERTY), ONE, TWO),
    ),
    v.SWRL_DATAVALUED_PROPERTY_ATOM: (
        swrl.DatavaluedPropertyAtom,
        ((v.SWRL_PROPERTY_PREDICATE, PROPERTY), ONE, TWO),
    ),
    v.SWRL_SAME_ATOM: (swrl.SameIndividualAtom, (ONE, TWO)),
    v.SWRL_DIFFERENT_ATOM: (swrl.DifferentIndividualsAtom, (ONE, TWO)),
    v.SWRL_BUILTIN_ATOM: (
        swrl.BuiltinAtom,
        ((v.SWRL_BUILTIN_PREDICATE, NODE), (v.SWRL_ARGUMENTS, ARGUMENTS)),
    ),
}


class SwrlReader:
    """Reads the rules of a graph."""

    def __init__(
        self,
        graph: SchemaGraph,
        lists: ListReader,
        expressions: ExpressionReader,
        annotations: Annotations,
        problems: Problems,
    ) -> None:
        self._graph = graph
        self._lists = lists
        self._expressions = expressions
        self._annotations = annotations
        self._problems = problems
        self._atoms: dict[Term, tuple[SwrlAtom, ...]] = {}
        self._variables: dict[Term, SwrlVariable] = {
            triple[0]: SwrlVariable(triple[0], node=triple[0], own=(triple,))
            for triple in graph.typed(v.SWRL_VARIABLE)
            if isinstance(triple[0], NamedNode | BlankNode)
        }

    def read(self) -> tuple[SwrlRule, ...]:
        """All rules."""
        return tuple(rule for typed in self._graph.typed(v.SWRL_IMP) for rule in self._rules(typed))

    def _rules(self, typed: Triple) -> Iterator[SwrlRule]:
        node = typed[0]
        bodies = self._graph.index(v.SWRL_BODY).get(node, ())
        heads = self._graph.index(v.SWRL_HEAD).get(node, ())
        if not bodies or not heads:
            self._problems.report(
                "rule-half",
                f"the rule {show(node)} has no {'swrl:head' if bodies else 'swrl:body'}",
                (typed, *bodies, *heads),
                "give it a list of atoms there; it was not read",
            )
        readings = product(self._sides(bodies), self._sides(heads))
        for (body, body_own), (head, head_own) in self._few(readings, node, (typed,)):
            yield SwrlRule(
                body, head,
                own=(typed, *body_own, *head_own), annotations=self._annotations.at(node),
            )  # fmt: skip

    def _sides(
        self, triples: Sequence[Triple]
    ) -> list[tuple[tuple[SwrlAtom, ...], tuple[Triple, ...]]]:
        """The ways to read the lists of atoms at the end of some triples."""
        found = []
        for triple in triples:
            for reading in read_list(self._lists, triple, self._problems):
                atoms = [self._readings(item, triple) for item in reading.items]
                own = (triple, *reading.triples)
                found += [(side, own) for side in self._few(product(*atoms), triple[0], own)]
        return found

    def _few(self, readings: Iterator[Any], node: Term, triples: tuple[Triple, ...]) -> list[Any]:
        """The first readings of a rule; it is reported if there are too many."""
        few = list(islice(readings, ONTOLOGIES.list_readings + 1))
        if len(few) > ONTOLOGIES.list_readings:
            message = (
                f"the rule {show(node)} can be read in more than {ONTOLOGIES.list_readings} ways"
            )
            remedy = "the others were left out; say each thing once"
            self._problems.report("rule-ambiguous", message, triples, remedy)
        return few[: ONTOLOGIES.list_readings]

    def _readings(self, node: Term, user: Triple) -> tuple[SwrlAtom, ...]:
        """The ways to read an atom: one, or none if it is incomplete."""
        known = self._atoms.get(node)
        if known is None:
            known = self._atoms[node] = tuple(self._made(node))
            if not known:
                triples = tuple(
                    triple
                    for triple in self._graph.about(node)
                    if triple[1] in v.SWRL_PREDICATES or triple[1] == v.TYPE
                )
                self._problems.report(
                    "atom-half",
                    f"{show(node)} stands where an atom of a rule is expected, and is none",
                    (user, *triples),
                    "give it a type such as swrl:ClassAtom and all its parts; "
                    "the rule was not read",
                )
        return known

    def _made(self, node: Term) -> Iterator[SwrlAtom]:
        for typed in self._graph.index(v.TYPE).get(node, ()):
            if not isinstance(typed[2], NamedNode) or typed[2] not in ATOMS:
                continue
            make, parts = ATOMS[typed[2]]
            ways = [self._parts(predicate, node, READERS[kind]) for predicate, kind in parts]
            for way in self._few(product(*ways), node, (typed,)):
                own = (typed, *(triple for _, triples in way for triple in triples))
                yield make(*(part for part, _ in way), node=node, own=own)

    def _parts(
        self, predicate: NamedNode, node: Term, read: Reader
    ) -> list[tuple[Any, tuple[Triple, ...]]]:
        """What stands at a predicate of an atom, in each way, with the triples that say so."""
        found = []
        for triple in self._graph.index(predicate).get(node, ()):
            found += [(part, (triple, *more)) for part, more in read(self, triple)]
        return found

    def _class(self, triple: Triple) -> Iterator[tuple[Any, tuple[Triple, ...]]]:
        if isinstance(triple[2], NamedNode | BlankNode):
            yield self._expressions.class_of(triple[2]), ()

    def _property(self, triple: Triple) -> Iterator[tuple[Any, tuple[Triple, ...]]]:
        if isinstance(triple[2], NamedNode | BlankNode):
            yield self._expressions.property_of(triple[2]), ()

    def _node(self, triple: Triple) -> Iterator[tuple[Any, tuple[Triple, ...]]]:
        if isinstance(triple[2], NamedNode | BlankNode):
            yield triple[2], ()

    def _argument(self, triple: Triple) -> Iterator[tuple[Any, tuple[Triple, ...]]]:
        yield self._variables.get(triple[2], triple[2]), ()

    def _arguments(self, triple: Triple) -> Iterator[tuple[Any, tuple[Triple, ...]]]:
        for reading in read_list(self._lists, triple, self._problems):
            items = tuple(self._variables.get(item, item) for item in reading.items)
            yield items, reading.triples


Reader = Callable[[SwrlReader, Triple], Iterator[tuple[Any, tuple[Triple, ...]]]]
READERS: dict[str, Reader] = {
    CLASS: SwrlReader._class,
    PROPERTY: SwrlReader._property,
    NODE: SwrlReader._node,
    ARGUMENT: SwrlReader._argument,
    ARGUMENTS: SwrlReader._arguments,
}
