"""Axioms as premises: where an axiom may depend on a rule made from it, the rule's body has it.

Start reading at `with_premises`. An axiom is a set of triples, and a program is made from the
axioms that hold. As long as rules cannot conclude such a triple, removing the axiom changes the
program and its consequences exactly. But rules may conclude triples of axioms - a class of
properties below owl:TransitiveProperty, a property below rdfs:subClassOf, owl:sameAs between
properties - and then an axiom could support itself. So a triple of an axiom stands in the body of
each rule that is made from it, if it is of a slice (a property, or a class) on which the rule's own
head has an influence. All other bodies stay small.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

from triplestore.datalog.program import Rule, TripleAtom
from triplestore.datalog.slices import ANY, ANY_CLASS, DependencyGraph, Slice, components, slice_of
from triplestore.ontologies.model.vocabulary import (
    SCHEMA_CLASSES,
    SCHEMA_PREDICATES,
    SWRL_CLASSES,
    SWRL_PREDICATES,
)
from triplestore.terms import key_of
from triplestore.thread_limits import looking


def with_premises(
    rules: Sequence[Rule],
    schema: Sequence[Rule] = (),
    fixed: Iterable[Rule] = (),
    users: Iterable[Rule] = (),
) -> list[Rule]:
    """The rules, with those triples of their axioms as premises that may depend on the rules.

    schema  rules that state what follows from axioms whatever the data are; they come first in
            the result
    fixed   rules about the vocabulary itself
    users   rules of users

    >>> from triplestore.datalog.text import read
    >>> from triplestore.datalog.program import Constant, TripleAtom
    >>> program = read("PREFIX : <http://e/> :b[?x] :- :a[?x] .")
    >>> sub = Constant.iri("http://www.w3.org/2000/01/rdf-schema#subClassOf")
    >>> a, b = Constant.iri("http://e/a"), Constant.iri("http://e/b")
    >>> rule = replace(program.rules[0], axioms=(TripleAtom(a, sub, b),))
    >>> loop = read("rdfs:subClassOf[?x, ?y] :- <http://e/b>[?x], <http://e/b>[?y] .").rules
    >>> alone, among = with_premises([rule]), with_premises([rule], users=loop)
    >>> len(alone[0].body), len(among[0].body)
    (1, 2)
    """
    about = [part for rule in fixed for part in rule.split()]
    own = [part for rule in users for part in rule.split()]
    read = _Slices()
    # An axiom about n things has n² facts of one relation, which have the same premises.
    alike: dict[Hashable, list[Rule]] = {}
    for rule in looking((*schema, *rules)):
        key = id(rule) if rule.body else (slice_of(rule.heads[0]), id(rule.axioms))
        alike.setdefault(key, []).append(rule)
    first = [some[0] for some in alike.values()]
    graph = DependencyGraph([*first, *about, *own], (read.of(rule.axioms) for rule in first))
    near = _near(first, graph, components(graph.with_equal_levels()), read)
    chosen = _Chosen()
    groups = zip(alike.values(), near, strict=True)
    all_rules = ((rule, among) for some, among in groups for rule in some)
    return [_completed(rule, chosen.of(rule.axioms, among)) for rule, among in looking(all_rules)]


def _near(
    rules: Sequence[Rule], graph: DependencyGraph, component: Sequence[int], read: _Slices
) -> Iterator[set[Slice]]:
    """For each rule the slices of its axioms that are of the component of its head.

    graph  with a node for each slice of these triples, the last ones of what a rule needs
    """
    for number, rule in enumerate(rules):
        among = read.of(rule.axioms)
        place = component[graph.first_rule + number]
        nodes = graph.positives[number][-len(among) :] if among else []
        pairs = zip(among.values(), nodes, strict=True)
        yield {slice_ for slice_, node in pairs if component[node] == place}


def _completed(rule: Rule, premises: Sequence[TripleAtom]) -> Rule:
    """The rule with these triples of its axioms as premises."""
    if not premises:
        return rule
    body = set(rule.body)
    needed = [atom for atom in premises if atom not in body]
    return replace(rule, body=(*rule.body, *needed)) if needed else rule


class _Chosen:
    """The triples of axioms that are of some slices; rules of one axiom share them.

    An axiom about a list of n things gives n rules that have all 2n triples of the list.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, frozenset[Slice]], list[TripleAtom]] = {}

    def of(self, axioms: tuple[TripleAtom, ...], near: set[Slice]) -> Sequence[TripleAtom]:
        """These triples; `axioms` must live as long as this object, as those of rules do."""
        if not near:
            return ()
        key = id(axioms), frozenset(near)
        known = self._known.get(key)
        if known is None:
            known = [atom for atom in looking(axioms) if slice_of(atom) in near]
            self._known[key] = known
        return known


class _Slices:
    """Of the triples of axioms, one of each slice, with its slice; rules of one axiom share them.

    An axiom about n things gives n² rules that have 2n triples, of three slices.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, dict[TripleAtom, Slice]]] = {}

    def of(self, axioms: tuple[TripleAtom, ...]) -> dict[TripleAtom, Slice]:
        """An atom for each slice."""
        known = self._known.get(id(axioms))
        if known is None:
            found = {slice_of(atom): atom for atom in reversed(axioms)}
            known = axioms, {atom: slice_ for slice_, atom in found.items()}
            self._known[id(axioms)] = known  # with the axioms, so that no others get their place
        return known[1]


def may_reach_axioms(rules: Sequence[Rule], fixed: Sequence[Rule], users: Sequence[Rule]) -> bool:
    """Whether a rule made from an axiom, or a user's rule, may conclude what axioms depend on."""
    wanted = slices_into_axioms(fixed, users)
    anything = {ANY, ANY_CLASS}
    if wanted & anything or any(slice_of(rule.heads[0]) in anything for rule in fixed):
        return True
    wanted |= anything
    return any(slice_of(rule.heads[0]) in wanted for rule in (*rules, *users))


def slices_into_axioms(fixed: Sequence[Rule], users: Sequence[Rule]) -> set[Slice]:
    """What axioms depend on: triples of the vocabulary, and by rules of one head others."""
    wanted = set(SCHEMA_SLICES)
    while True:
        more = {
            slice_of(atom)
            for rule in (*fixed, *users)
            if slice_of(rule.heads[0]) in wanted
            for atom in rule.atoms
        } - wanted
        if not more:
            return wanted
        wanted |= more


def negations_into_axioms(
    rules: Iterable[Rule], fixed: Iterable[Rule], users: Iterable[Rule]
) -> list[Rule]:
    """Users' rules that negate or aggregate, and lead to triples of axioms.

    More facts would make fewer axioms, and fewer axioms fewer facts: there may be no fixpoint.

    >>> from triplestore.datalog.text import read
    >>> rule = "rdfs:subClassOf[?x, ?y] :- <http://e/p>[?x, ?y], NOT <http://e/q>[?x, ?y] ."
    >>> len(negations_into_axioms((), (), read(rule).rules))
    1
    """
    own = [part for rule in users for part in rule.split()]
    suspects = [rule for rule in own if rule.nots or rule.aggregates]
    if not suspects:
        return []
    leading: dict[Slice, set[Slice]] = {}
    about = [part for rule in fixed for part in rule.split()]
    for rule in (*about, *rules, *own):
        head = slice_of(rule.heads[0])
        leading.setdefault(head, set()).update(map(slice_of, rule.atoms))
    wanted, waiting = set(SCHEMA_SLICES), list(SCHEMA_SLICES)
    while waiting:
        slice_ = waiting.pop()
        found = set(leading.get(slice_, ()))
        if slice_.kind in ("property", "class"):
            found |= leading.get(ANY, set())
        if slice_.kind == "class":
            found |= leading.get(ANY_CLASS, set())
        waiting += found - wanted
        wanted |= found
    # What is read of any property may be a fact of each, and what is read of any class one of each;
    # relations of three columns and more are none of these.
    kinds = {"property", "class"} if ANY in wanted else {"class"} if ANY_CLASS in wanted else set()
    wanted |= {ANY, ANY_CLASS}
    return [
        rule
        for rule in suspects
        if (head := slice_of(rule.heads[0])) in wanted or head.kind in kinds
    ]


SCHEMA_SLICES = frozenset(
    [Slice("property", key_of(node)) for node in SCHEMA_PREDICATES | SWRL_PREDICATES]
    + [Slice("class", key_of(node)) for node in SCHEMA_CLASSES | SWRL_CLASSES]
)
"""Where the triples of axioms are."""
