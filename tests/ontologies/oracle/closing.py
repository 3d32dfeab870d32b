"""The closure of a graph under rules, and what of it a store lists.

Everything here is naive on purpose: facts are taken one after the other and joined with those
before them; rules over lists are tried again whenever nothing else is left to do.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from pyoxigraph import BlankNode, Literal, NamedNode

from . import owl_rl
from .graph import Graph
from .owl_rl import Violation, differ
from .patterns import Matcher, Rule, instance
from .values import DATATYPES, belongs, datatypes_of, identity, is_ill_typed
from .vocabulary import NOTHING, SAME_AS, THING, TYPE, Fact, Term, term, terms

RESOURCE = term("rdfs:Resource")
SUB_CLASS = term("rdfs:subClassOf")
REFLEXIVE = terms(
    """owl:sameAs rdfs:subClassOf rdfs:subPropertyOf owl:equivalentClass owl:equivalentProperty"""
)
# A blank node is an anonymous class expression if it has the list that one of these asks for, or
# one of those, or a property and what is asked of its values.
LISTS = terms("owl:intersectionOf owl:unionOf owl:oneOf")
ON_PROPERTY = terms("owl:onProperty owl:onProperties")
OF_VALUES = terms(
    """owl:someValuesFrom owl:allValuesFrom owl:hasValue owl:hasSelf owl:minCardinality
    owl:maxCardinality owl:cardinality owl:minQualifiedCardinality owl:maxQualifiedCardinality
    owl:qualifiedCardinality"""
)


# Rules that put a term in the place of another one. Where both are one value, there is nothing to
# say: a store does not list a fact again for each form in which a literal occurs somewhere.
REPLACEMENT = ("eq-rep-s", "eq-rep-p", "eq-rep-o")


@dataclass(frozen=True)
class RuleSet:
    """Rules of one ontology language.

    patterns   rules without lists
    lists      rules over the whole graph by their ids
    axiomatic  what holds in every graph, by the rule that says so
    literals   True if literals belong to datatypes (dt-*)
    datatypes  the datatypes that literals are said to belong to
    reflexive  True if `C rdfs:subClassOf C` and the like are concluded where the rules say so, and
               are premises of other rules then
    equal_to_itself    True if `x owl:sameAs x` (eq-ref) is a premise of rules about properties and
               classes, too, where nobody stated it
    literals_replaced  True if a literal gets what holds of things that are the same as it, and
               the other way round (eq-rep-s, eq-rep-o)
    """

    patterns: list[Rule]
    lists: dict[str, Callable[[Graph], Iterator[Fact | Violation]]] = field(default_factory=dict)
    axiomatic: dict[str, list[Fact]] = field(default_factory=dict)
    literals: bool = False
    datatypes: frozenset[Term] = DATATYPES
    reflexive: bool = True
    equal_to_itself: bool = True
    literals_replaced: bool = True


OWL_RL = RuleSet(owl_rl.PATTERNS, owl_rl.LIST_RULES, owl_rl.AXIOMATIC, literals=True)


class Closure:
    """What follows from some facts: `graph`, all of it; `rules`, by which rule; `violations`."""

    def __init__(self, explicit: Iterable[Fact], ruleset: RuleSet = OWL_RL) -> None:
        self.explicit = dict.fromkeys(explicit)
        self.graph = Graph()
        self.rules: dict[Fact, str] = {}
        self.violations: dict[Violation, None] = {}
        self._ruleset = ruleset
        self._waiting: deque[Fact] = deque()
        self._literals: set[Literal] = set()
        self._run()

    def __contains__(self, fact: Fact) -> bool:
        """True if the fact holds, maybe with another literal of the same value."""
        return self.graph.holds(fact)

    @property
    def inconsistent(self) -> set[str]:
        """The ids of the rules that noticed an inconsistency."""
        return {violation.rule for violation in self.violations}

    def visible(self) -> set[Fact]:
        """What a store lists: asserted facts, and others that are RDF and not trivial."""
        always = _holds_always(self._ruleset)
        return {
            fact
            for fact in self.graph
            if fact in self.explicit
            or (is_rdf(fact) and fact not in always and not self._is_trivial(fact))
        }

    def per_rule(self) -> Counter[str]:
        """How many facts each rule was the first to conclude."""
        return Counter(self.rules.values())

    def _run(self) -> None:
        matcher = Matcher(self._ruleset.patterns)
        self.rules.update(dict.fromkeys(self.explicit, ""))
        self._waiting.extend(self.explicit)
        for name, facts in self._ruleset.axiomatic.items():
            self._conclude(name, facts)
        while self._waiting:
            while self._waiting:
                self._take(self._waiting.popleft(), matcher)
            for name, rule in self._ruleset.lists.items():
                self._conclude(name, list(rule(self.graph)))

    def _take(self, fact: Fact, matcher: Matcher) -> None:
        self.graph.add(fact)
        for rule, binding in matcher.instances(self.graph, fact):
            if not self._applies(rule, [instance(atom, binding) for atom in rule.body]):
                continue
            if rule.heads:
                self._conclude(rule.name, [instance(head, binding) for head in rule.heads])
            else:
                about = tuple(binding[name] for name in sorted(binding))
                self.violations[Violation(rule.name, about)] = None
        if self._ruleset.literals:
            self._take_literals(fact)

    def _applies(self, rule: Rule, premises: list[Fact]) -> bool:
        """Whether an instance of a rule counts, where the rule set leaves some out."""
        if rule.name in REPLACEMENT:
            if _are_one(premises[0]):
                return False
            s, _, o = premises[0]
            literal = isinstance(s, Literal) or isinstance(o, Literal)
            return self._ruleset.literals_replaced or not literal or rule.name == "eq-rep-p"
        if self._ruleset.equal_to_itself or rule.name.startswith(("eq-", "dt-")):
            return True
        return not any(
            s == o and p == SAME_AS and (s, p, o) not in self.explicit for s, p, o in premises
        )

    def _conclude(self, rule: str, facts: Iterable[Fact | Violation]) -> None:
        for fact in facts:
            if isinstance(fact, Violation):
                self.violations[fact] = None
            elif fact not in self.rules and (self._ruleset.reflexive or not is_reflexive(fact)):
                self.rules[fact] = rule
                self._waiting.append(fact)

    def _take_literals(self, fact: Fact) -> None:
        """dt-type2, dt-not-type, and dt-diff where eq-diff1 asks for it.

        It is the only rule that does, so that it need not be said of all pairs of literals that
        they differ. dt-eq is in how facts are matched.
        """
        s, p, o = fact
        for one in fact:
            if isinstance(one, Literal) and one not in self._literals:
                self._literals.add(one)
                self._conclude("dt-type2", self._types_of(one))
                if is_ill_typed(one):
                    self._conclude("dt-not-type", [Violation("dt-not-type", (one, one.datatype))])
        if isinstance(s, Literal) and p == TYPE and o in DATATYPES and belongs(s, o) is False:
            self._conclude("dt-not-type", [Violation("dt-not-type", (s, o))])
        if p == SAME_AS and differ(s, o):
            self._conclude("dt-diff", [Violation("dt-diff", (s, o))])

    def _types_of(self, literal: Literal) -> list[Fact | Violation]:
        known = self._ruleset.datatypes
        return [(literal, TYPE, one) for one in datatypes_of(literal) if one in known]

    def _is_trivial(self, fact: Fact) -> bool:
        s, p, o = fact
        if s == o and p in REFLEXIVE:
            return True
        if p == SUB_CLASS:
            return o in (THING, RESOURCE) or s == NOTHING
        return p == TYPE and (o in (THING, RESOURCE) or self._is_expression(o))

    def _is_expression(self, node: Term) -> bool:
        """True for an anonymous class expression; what is only half made is none."""

        def has(words: list[Term]) -> bool:
            return any(self.graph.match(node, word, None) for word in words)

        if not isinstance(node, BlankNode):
            return False
        heads = (head for word in LISTS for head in self.graph.objects(node, word))
        return (
            has([term("owl:complementOf")])
            or (has(ON_PROPERTY) and has(OF_VALUES))
            or any(True for head in heads for _ in self.graph.lists(head))
        )


_ALWAYS: dict[frozenset[Fact], frozenset[Fact]] = {}


def _holds_always(ruleset: RuleSet) -> frozenset[Fact]:
    """What follows from the axiomatic triples alone."""
    axiomatic = frozenset(fact for facts in ruleset.axiomatic.values() for fact in facts)
    if axiomatic not in _ALWAYS:
        _ALWAYS[axiomatic] = frozenset(Closure([], ruleset).graph)
    return _ALWAYS[axiomatic]


def is_reflexive(fact: Fact) -> bool:
    """Says of a class or a property that it is below itself, or equivalent to itself."""
    return fact[0] == fact[2] and fact[1] in REFLEXIVE and fact[1] != SAME_AS


def _are_one(fact: Fact) -> bool:
    return identity(fact[0]) == identity(fact[2])


def is_rdf(fact: Fact) -> bool:
    """True if no literal stands where RDF allows none, and the predicate is an IRI."""
    return not isinstance(fact[0], Literal) and isinstance(fact[1], NamedNode)
