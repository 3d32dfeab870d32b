"""Axioms as premises: where an axiom may depend on a rule made from it, the rule's body has it.

Start reading at `with_premises`. An axiom is a set of triples, and a program is made from the
axioms that hold. As long as nothing that the rules conclude can be such a triple, taking the axiom
back changes the program and with it what follows, exactly. But rules may conclude triples of
axioms - a class of properties below owl:TransitiveProperty, a property below rdfs:subClassOf,
owl:sameAs between properties - and then an axiom could be what keeps itself alive. So a triple of
an axiom stands in the body of each rule that is made from it, if it is of a slice (a property, or
a class) on which the rule's own head has an influence. All other bodies stay small.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from triplestore.datalog.program import Rule
from triplestore.datalog.slices import Graph, Slice, components, slice_of


def with_premises(rules: Sequence[Rule], others: Iterable[Rule] = ()) -> list[Rule]:
    """The rules with those triples of their axioms in their bodies that they may have a part in.

    others  rules in force beside these, of users for example

    >>> from triplestore.datalog.text import read
    >>> program = read("PREFIX : <http://e/> :b[?x] :- :a[?x] .")
    >>> from triplestore.datalog.program import Constant, TripleAtom
    >>> sub = Constant.iri("http://www.w3.org/2000/01/rdf-schema#subClassOf")
    >>> a, b = Constant.iri("http://e/a"), Constant.iri("http://e/b")
    >>> rule = replace(program.rules[0], axioms=(TripleAtom(a, sub, b),))
    >>> loop = read("rdfs:subClassOf[?x, ?y] :- <http://e/b>[?x], <http://e/b>[?y] .").rules
    >>> len(with_premises([rule])[0].body), len(with_premises([rule], loop)[0].body)
    (1, 2)
    """
    listed = [part for rule in others for part in rule.split()]
    if not _may_reach_axioms(rules, listed):
        return list(rules)
    whole = [replace(rule, body=(*rule.body, *rule.axioms)) for rule in rules]
    graph = Graph([*whole, *listed])
    component = components(graph.with_equal_levels())
    made = []
    for number, rule in enumerate(rules):
        own = component[graph.first_rule + number]
        nodes = graph.positives[number][-len(rule.axioms) :] if rule.axioms else ()
        needed = [
            atom
            for atom, node in zip(rule.axioms, nodes, strict=True)
            if component[node] == own and atom not in rule.body
        ]
        made.append(replace(rule, body=(*rule.body, *needed)) if needed else rule)
    return made


def _may_reach_axioms(rules: Sequence[Rule], others: Sequence[Rule]) -> bool:
    """Whether any rule concludes something that is of a slice of some axiom."""
    premises: set[Slice] = set()
    for rule in rules:
        premises.update(map(slice_of, rule.axioms))
    kinds = {"any", "any class"}
    for rule in (*rules, *others):
        head = slice_of(rule.heads[0])
        if head in premises or head.kind in kinds:
            return True
    return False
