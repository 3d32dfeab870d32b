"""Strata: against a slow oracle on random programs, and of real hierarchies."""

from __future__ import annotations

import random
from itertools import pairwise, product
from pathlib import Path

import pyoxigraph as ox
import pytest
from support.fuzzing import each_seed

from triplestore.datalog.program import (
    TYPE,
    Aggregate,
    Atom,
    Constant,
    Item,
    Not,
    Program,
    Result,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
    atoms_in,
)
from triplestore.datalog.slices import Slice, components, slice_of
from triplestore.datalog.stratify import Stratification, cycle_problems, stratify
from triplestore.datalog.text import read
from triplestore.errors import ProgramError
from triplestore.terms.vocabulary import OWL, RDF, RDF_TYPE, RDFS

PREFIX = "@prefix : <http://e/> .\n"
X, Y, P = map(Variable, "xyp")


def iri(name: str) -> Constant:
    return Constant.iri("http://e/" + name)


# --- the oracle ----------------------------------------------------------------------------------


def overlap(one: Slice, other: Slice) -> bool:
    """Whether two slices have facts in common."""
    if one == other:
        return True
    for this, that in ((one, other), (other, one)):
        if this.kind == "any" and that.kind != "tuple":
            return True
        if this.kind == "any class" and that.kind == "class":
            return True
    return False


class Oracle:
    """Everything about strata by definition, in cubic time."""

    def __init__(self, rules: list[Rule]) -> None:
        self.rules = rules
        self.heads = [slice_of(rule.heads[0]) for rule in rules]
        self.bodies = [
            [(slice_of(atom), positive) for atom, positive in atoms_in(rule.body)] for rule in rules
        ]
        n = range(len(rules))
        self.needs = [[self._uses(r, q) for q in n] for r in n]
        self.reaches = self._closed(self.needs)
        # All that can derive a fact are of one stratum.
        together = [[overlap(self.heads[r], self.heads[q]) for q in n] for r in n]
        bound = [[self.needs[r][q] or together[r][q] for q in n] for r in n]
        reaches = self._closed(bound)
        self.knot = [[reaches[r][q] and reaches[q][r] for q in n] for r in n]

    def _uses(self, rule: int, other: int) -> bool:
        return any(overlap(used, self.heads[other]) for used, _ in self.bodies[rule])

    @staticmethod
    def _closed(edges: list[list[bool]]) -> list[list[bool]]:
        closed = [list(row) for row in edges]
        n = range(len(edges))
        for k, i, j in product(n, n, n):
            closed[i][j] = closed[i][j] or (closed[i][k] and closed[k][j])
        return closed

    def is_stratifiable(self) -> bool:
        return not any(
            self.knot[r][q] and overlap(used, self.heads[q])
            for r, body in enumerate(self.bodies)
            for used, positive in body
            if not positive
            for q in range(len(self.rules))
        )

    def levels(self, granular: bool) -> list[int]:
        """The stratum of each rule, by raising them until all is as it must be."""
        n = range(len(self.rules))
        level = [1] * len(self.rules)
        changed = True
        while changed:
            changed = False
            for r, q in product(n, n):
                least = level[q] if self.knot[r][q] else 0
                for used, positive in self.bodies[r]:
                    if overlap(used, self.heads[q]):
                        step = (granular and not self.knot[r][q]) or not positive
                        least = max(least, level[q] + step)
                if overlap(self.heads[r], self.heads[q]):
                    least = max(least, level[q])
                if level[r] < least:
                    level[r], changed = least, True
        return level

    def level_of(self, of: Slice, level: list[int]) -> int:
        own = (level[q] for q, head in enumerate(self.heads) if overlap(of, head))
        return max(own, default=0)


def random_rules(source: random.Random) -> list[Rule]:
    wild = source.random() < 0.4
    negation = source.choice([0.0, 0.1, 0.3])

    def atom(head: bool) -> Atom:
        way = source.random()
        if wild and way < (0.05 if head else 0.1):
            return source.choice([TripleAtom(X, P, Y), TripleAtom(X, TYPE, P)])
        if way < 0.15:
            return TupleAtom(iri(f"r{source.randint(0, 1)}"), (X, Y, P))
        if way < 0.5:
            return TripleAtom(X, TYPE, iri(f"C{source.randint(0, 4)}"))
        return TripleAtom(X, iri(f"p{source.randint(0, 5)}"), Y)

    def item() -> Item:
        if source.random() >= negation:
            return atom(False)
        if source.random() < 0.5:
            return Not((atom(False),))
        return Aggregate((atom(False), atom(False)), (), (Result("count", None, Y),))

    return [
        Rule((atom(True),), tuple(item() for _ in range(source.randint(0, 3))))
        for _ in range(source.randint(0, 9))
    ]


def check_against_oracle(source: random.Random) -> bool:
    rules = list(Program(random_rules(source)).rules)
    oracle = Oracle(rules)
    if not oracle.is_stratifiable():
        with pytest.raises(ProgramError, match="in a cycle"):
            stratify(rules)
        assert cycle_problems(rules)
        return False
    for method, granular in (("levels", True), ("one", False)):
        found = stratify(rules, method)  # type: ignore[arg-type]
        wanted = oracle.levels(granular)
        assert [s.number for s in found] == list(range(1, max(wanted, default=0) + 1))
        place = {id(rule): stratum.number for stratum in found for rule in stratum.rules}
        assert [place[id(rule)] for rule in rules] == wanted
        check_flags(found, oracle, wanted)
    return True


def check_flags(found: Stratification, oracle: Oracle, level: list[int]) -> None:
    number = {id(rule): i for i, rule in enumerate(oracle.rules)}
    for stratum in found:
        rows = zip(stratum.rules, stratum.recursive, stratum.cyclic, strict=True)
        for rule, recursive, cyclic in rows:
            r = number[id(rule)]
            positives = [used for used, positive in oracle.bodies[r] if positive]
            assert recursive == any(oracle.level_of(u, level) == level[r] for u in positives)
            assert cyclic == any(
                overlap(used, head) and (q == r or oracle.reaches[q][r])
                for used in positives
                for q, head in enumerate(oracle.heads)
            )
    for used in {u for body in oracle.bodies for u, _ in body} | {
        Slice("property", b"\x01http://e/new"),
        Slice("class", b"\x01http://e/new"),
        Slice("tuple", b"\x01http://e/new", 3),
        Slice("any"),
        Slice("any class"),
    }:
        assert found.level_of(used) == oracle.level_of(used, level), used
    order = {
        id(rule): component
        for stratum in found
        for rule, component in zip(stratum.rules, stratum.components, strict=True)
    }
    for r, q in product(range(len(oracle.rules)), repeat=2):
        if oracle.reaches[r][q]:
            one, other = order[id(oracle.rules[r])], order[id(oracle.rules[q])]
            assert one >= other
            assert (one == other) == oracle.reaches[q][r] or r == q


@each_seed(range(20))
def test_stratify__is_what_the_definitions_say(seed: int) -> None:
    source = random.Random(seed)
    assert {check_against_oracle(source) for _ in range(40)} == {True, False}


@pytest.mark.long
@each_seed(range(100, 200))
def test_stratify__is_what_the_definitions_say_long(seed: int) -> None:
    source = random.Random(seed)
    assert {check_against_oracle(source) for _ in range(300)} == {True, False}


@each_seed(range(10))
def test_components__are_those_of_mutual_reachability(seed: int) -> None:
    source = random.Random(seed)
    for _ in range(50):
        n = source.randint(0, 9)
        needs = [[source.randrange(n) for _ in range(source.randint(0, 2))] for _ in range(n)]
        found = components(needs)
        reaches = Oracle._closed([[j in needs[i] or i == j for j in range(n)] for i in range(n)])
        for i, j in product(range(n), repeat=2):
            assert (found[i] == found[j]) == (reaches[i][j] and reaches[j][i])
            assert not reaches[i][j] or found[i] >= found[j]


# --- given strata --------------------------------------------------------------------------------

RUNNING = PREFIX + (
    ":T[?x, ?y] :- :R[?x, ?y], NOT :A[?x] . :T[?x, ?y] :- :S[?x, ?y], :A[?x] .\n"
    ":B[?y] :- :T[?x, ?y], :B[?x] ."
)


def test_given_strata__are_taken() -> None:
    given = {slice_of(atom): 1 for rule in read(RUNNING) for atom, _ in atoms_in(rule.body)}
    given[Slice("property", iri("T").key)] = 2
    given[Slice("class", iri("B").key)] = 3
    found = stratify(read(RUNNING), given)
    assert [len(stratum) for stratum in found] == [0, 2, 1]
    assert [stratum.recursive for stratum in found] == [(), (False, False), (True,)]
    assert found.level_of(Slice("class", iri("A").key)) == 1
    assert found.level_of(Slice("class", iri("other").key)) == 0


def test_given_strata__may_be_one_for_all() -> None:
    program = read(PREFIX + ":B[?x] :- :A[?x] . :C[?x] :- :B[?x] .")
    (stratum,) = stratify(program, lambda of: 1)
    assert stratum.recursive == (True, True)  # as the papers define it: of the same stratum
    assert stratum.cyclic == (False, False)
    assert stratum.recursive_rules == program.rules


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"T": 1, "B": 2, "A": 1}, "needs class <http://e/A>, in stratum 1"),
        ({"T": 3, "B": 2, "A": 1}, "needs property <http://e/T>, in stratum 3"),
        ({"T": 0, "B": 1}, "use at least 1"),
    ],
)
def test_given_strata__are_checked(given: dict[str, int], message: str) -> None:
    kinds = {"T": "property", "A": "class", "B": "class"}
    slices = {Slice(kinds[n], iri(n).key): s for n, s in given.items()}  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match=message):
        stratify(read(RUNNING), slices)


# --- what is said --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (":win[?x] :- :move[?x, ?y], NOT :win[?y] .", ":win needs NOT :win (input:2:1)"),
        (
            ":A[?x] :- :Z[?x], NOT :B[?x] .\n:B[?x] :- :C[?x] .\n:C[?x] :- :A[?x], :Z[?x] .",
            ":A needs NOT :B (input:2:1), :B needs :C (input:3:1), :C needs :A (input:4:1)",
        ),
        (  # the shorter of two cycles
            ":A[?x] :- :Z[?x], NOT :B[?x], NOT :C[?x] .\n:B[?x] :- :C[?x] .\n:C[?x] :- :A[?x] .",
            ":A needs NOT :C (input:2:1), :C needs :A (input:4:1)",
        ),
        (
            ":Q[?x] :- :E[?x], NOT :p[?x, ?x] .\n[?x, ?p, ?y] :- :Q[?p], :r[?x, ?y] .",
            ":Q needs NOT :p (input:2:1), :p may be any property or class, "
            "any property or class needs :Q (input:3:1)",
        ),
    ],
)
def test_cycles__are_printed(text: str, message: str) -> None:
    (problem,) = cycle_problems(read(PREFIX + text), {"": "http://e/"})
    assert message in problem.message
    assert problem.code == "unstratifiable" and not problem.warning
    with pytest.raises(ProgramError):
        stratify(read(PREFIX + text))


def test_cycles__that_are_apart_are_all_reported() -> None:
    text = ":A[?x] :- :Z[?x], NOT :A[?x] .\n:B[?x] :- :Z[?x], NOT :B[?x] .\n:C[?x] :- :A[?x] ."
    assert len(cycle_problems(read(PREFIX + text))) == 2


def test_strata__can_be_printed() -> None:
    text = stratify(read(RUNNING)).describe({"": "http://e/"})
    assert text.splitlines() == [
        "stratum 1: 2 rules, 0 recursive",
        "    :T[?x, ?y] :- :R[?x, ?y], NOT :A[?x] .",
        "    :T[?x, ?y] :- :S[?x, ?y], :A[?x] .",
        "stratum 2: 1 rules, 1 recursive",
        "  * :B[?y] :- :T[?x, ?y], :B[?x] .",
    ]
    assert "and 1 more" in stratify(read(RUNNING)).describe(most=1)


def test_several_heads__are_stratified_apart() -> None:
    found = stratify(read(PREFIX + ":A[?x], :B[?x] :- :C[?x] . :B[?x] :- :A[?x] ."))
    assert [[len(rule.heads) for rule in stratum.rules] for stratum in found] == [[1], [1, 1]]


# --- real ones -----------------------------------------------------------------------------------


def lubm_rules(path: Path, *, necessary: bool) -> list[Rule]:
    """The instance rules of LUBM's ontology, by a translation of just what it has.

    necessary  also the rules from a defined class to the classes of its definition
    """
    graph = ox.Store()
    graph.load(path=str(path / "lubm" / "univ-bench.owl"), format=ox.RdfFormat.RDF_XML)

    def pairs(predicate: str) -> list[tuple[ox.NamedNode, ox.NamedNode]]:
        quads = graph.quads_for_pattern(None, ox.NamedNode(predicate), None)
        return [(quad.subject, quad.object) for quad in quads]

    def one(node: object, predicate: str) -> object:
        (quad,) = graph.quads_for_pattern(node, ox.NamedNode(predicate), None)
        return quad.object

    rules = []

    def add(head: Atom, *body: Atom) -> None:
        rules.append(Rule((head,), body))

    def members(node: object, subject: Variable) -> list[list[Atom]]:
        """The atoms that say that something is of a class, as a list of alternatives of them."""
        if isinstance(node, ox.NamedNode):
            return [[TripleAtom(subject, TYPE, Constant.of(node))]]
        quads = list(graph.quads_for_pattern(node, ox.NamedNode(OWL + "onProperty"), None))
        if quads:
            value = one(node, OWL + "someValuesFrom")
            return [
                [TripleAtom(subject, Constant.of(quads[0].object), Y), *atoms]
                for atoms in members(value, Y)
            ]
        return [[]]

    for sub, super_ in pairs(RDFS + "subClassOf"):
        if isinstance(super_, ox.NamedNode):
            add(TripleAtom(X, TYPE, Constant.of(super_)), *members(sub, X)[0])
    for class_, node in pairs(OWL + "equivalentClass"):
        atoms: list[Atom] = []
        list_ = one(node, OWL + "intersectionOf")
        while list_ != ox.NamedNode(RDF + "nil"):
            item = one(list_, RDF + "first")
            atoms += members(item, X)[0]
            if isinstance(item, ox.NamedNode) and necessary:
                of_class = TripleAtom(X, TYPE, Constant.of(class_))
                add(TripleAtom(X, TYPE, Constant.of(item)), of_class)
            list_ = one(list_, RDF + "rest")
        add(TripleAtom(X, TYPE, Constant.of(class_)), *atoms)
    for sub, super_ in pairs(RDFS + "subPropertyOf"):
        add(TripleAtom(X, Constant.of(super_), Y), TripleAtom(X, Constant.of(sub), Y))
    for property_, class_ in pairs(RDFS + "domain"):
        add(TripleAtom(X, TYPE, Constant.of(class_)), TripleAtom(X, Constant.of(property_), Y))
    for property_, class_ in pairs(RDFS + "range"):
        add(TripleAtom(Y, TYPE, Constant.of(class_)), TripleAtom(X, Constant.of(property_), Y))
    for property_, other in pairs(OWL + "inverseOf"):
        for one_, two in ((property_, other), (other, property_)):
            add(TripleAtom(X, Constant.of(one_), Y), TripleAtom(Y, Constant.of(two), X))
    for property_, kind in pairs(RDF_TYPE):
        if kind == ox.NamedNode(OWL + "TransitiveProperty"):
            p = Constant.of(property_)
            add(TripleAtom(X, p, P), TripleAtom(X, p, Y), TripleAtom(Y, p, P))
    return rules


@pytest.mark.parametrize(("necessary", "count", "recursive"), [(False, 93, 5), (True, 99, 21)])
def test_lubm__has_few_recursive_rules(
    shared_data: Path, necessary: bool, count: int, recursive: int
) -> None:
    found = stratify(Program(lubm_rules(shared_data, necessary=necessary)))
    assert sum(map(len, found)) == count
    assert sum(sum(stratum.recursive) for stratum in found) == recursive
    assert all(stratum.recursive == stratum.cyclic for stratum in found)
    transitive = [
        rule for stratum in found for rule in stratum.recursive_rules if len(rule.body) == 2
    ]
    assert any("subOrganizationOf" in str(rule.heads[0]) for rule in transitive)


def subclass(sub: Constant, super_: Constant) -> Rule:
    return Rule((TripleAtom(X, TYPE, super_),), (TripleAtom(X, TYPE, sub),))


def test_hierarchies__of_40000_classes_and_10000_levels() -> None:
    source = random.Random(1)
    classes = [iri(f"C{i}") for i in range(40_000)]
    rules = [
        Rule(
            (TripleAtom(X, TYPE, classes[source.randrange(i)]),), (TripleAtom(X, TYPE, classes[i]),)
        )
        for i in range(1, 40_000)
    ]
    found = stratify(rules)
    assert sum(map(len, found)) == 39_999
    assert not any(any(stratum.recursive) for stratum in found)
    level = {rule.heads[0].o: s.number for s in found for rule in s.rules}  # type: ignore[union-attr]
    for rule in rules:
        head, body = rule.heads[0], rule.atoms[0]
        assert isinstance(head, TripleAtom) and isinstance(body, TripleAtom)
        assert level[head.o] > level.get(body.o, 0)  # type: ignore[arg-type]
    chain = [subclass(a, b) for a, b in pairwise(classes[:10_001])]
    assert [len(stratum) for stratum in stratify(chain)] == [1] * 10_000
    assert [len(stratum) for stratum in stratify(chain, "one")] == [10_000]
    ring = [
        *chain,
        Rule((TripleAtom(X, TYPE, classes[0]),), (TripleAtom(X, TYPE, classes[10_000]),)),
    ]
    (only,) = stratify(ring)
    assert all(only.recursive) and all(only.cyclic) and len(set(only.components)) == 1
