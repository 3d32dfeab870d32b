"""SWRL rules in a store: what they infer, with built-ins, and what is left out."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from triplestore import Store

PREFIXES = """@prefix : <http://ex.org/> . @prefix swrl: <http://www.w3.org/2003/11/swrl#> .
@prefix swrlb: <http://www.w3.org/2003/11/swrlb#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:x a swrl:Variable . :y a swrl:Variable . :n a swrl:Variable . :m a swrl:Variable .
"""
AGE = """[ a swrl:DatavaluedPropertyAtom ; swrl:propertyPredicate :age ; swrl:argument1 :x ;
    swrl:argument2 :n ]"""
ADULT = "[ a swrl:ClassAtom ; swrl:classPredicate :Adult ; swrl:argument1 :x ]"
NEXT = """[ a swrl:DatavaluedPropertyAtom ; swrl:propertyPredicate :next ; swrl:argument1 :x ;
    swrl:argument2 :m ]"""


def builtin(name: str, arguments: str) -> str:
    return f"[ a swrl:BuiltinAtom ; swrl:builtin swrlb:{name} ; swrl:arguments ({arguments}) ]"


def store_of(body: str, head: str, data: str) -> Store:
    store = Store()
    store.reason("swrl")
    rule = f"[] a swrl:Imp ; swrl:body ({body}) ; swrl:head ({head}) ."
    store.load(PREFIXES + rule + data, "turtle")
    return store


def n(name: str) -> NamedNode:
    return NamedNode(f"http://ex.org/{name}")


def inferred(store: Store) -> set[tuple[str, str, str]]:
    return {
        (q.subject.value[14:], q.predicate.value.rpartition("/")[2].rpartition("#")[2], q.object.value.removeprefix("http://ex.org/"))
        for q in store.quads_for_pattern(None, None, None, facts="inferred")
    }  # fmt: skip


@pytest.mark.parametrize(
    ("test", "adults"),
    [
        (builtin("greaterThan", ":n 18"), {"joe"}),
        (builtin("lessThanOrEqual", ":n 18"), {"tim"}),
        (builtin("equal", ":n 3.0"), {"tim"}),
        (builtin("notEqual", ":n 3"), {"joe"}),
        (builtin("add", ":n 10 10"), {"joe"}),
    ],
)
def test_builtins__test_values(test: str, adults: set[str]) -> None:
    store = store_of(AGE + test, ADULT, ":joe :age 20 . :tim :age 3 .")
    assert inferred(store) == {(who, "type", "Adult") for who in adults}


@pytest.mark.parametrize(
    ("made", "value"),
    [
        (builtin("add", ":m :n 1"), "21"),
        (builtin("multiply", ":m :n :n 2"), "800"),
        (builtin("subtract", ":m :n 1"), "19"),
        (builtin("unaryMinus", ":m :n"), "-20"),
    ],
)
def test_builtins__make_values(made: str, value: str) -> None:
    store = store_of(made + AGE, NEXT, ":joe :age 20 .")
    assert inferred(store) == {("joe", "next", value)}


def test_rules__go_with_their_triples() -> None:
    store = store_of(AGE, ADULT, ":joe :age 20 .")
    assert inferred(store) == {("joe", "type", "Adult")}
    head = NamedNode("http://www.w3.org/2003/11/swrl#classPredicate")
    (quad,) = store.quads_for_pattern(None, head, None)
    store.remove(quad)
    assert inferred(store) == set()
    store.add(quad)
    store.remove(Quad(n("joe"), n("age"), Literal(20)))
    assert inferred(store) == set()


def test_rules__without_a_head_are_constraints() -> None:
    store = store_of(AGE + builtin("lessThan", ":n 0"), "", ":joe :age -1 . :tim :age 3 .")
    (violation,) = store.violations()
    assert violation.constraint == "swrl" and violation.values["x"] == n("joe")


def test_same__holds_of_each_thing_itself() -> None:
    same = "[ a swrl:SameIndividualAtom ; swrl:argument1 :x ; swrl:argument2 :y ]"
    knows = """[ a swrl:IndividualPropertyAtom ; swrl:propertyPredicate :knows ;
        swrl:argument1 :x ; swrl:argument2 :y ]"""
    store = store_of(knows + same, ADULT, ":joe :knows :joe . :tim :knows :joe .")
    assert inferred(store) == {("joe", "type", "Adult")}


def test_rules__with_unknown_builtins_are_listed() -> None:
    store = store_of(AGE + builtin("tokenize", ":m :n 1"), NEXT, ":joe :age 20 .")
    assert inferred(store) == set()
    assert any("tokenize" in line for line in store.reason("swrl").outside)


# -- literals by value ----------------------------------------------------------------------------


def value_atom(who: str, value: str, property: str = ":age") -> str:
    return f"""[ a swrl:DatavaluedPropertyAtom ; swrl:propertyPredicate {property} ;
        swrl:argument1 {who} ; swrl:argument2 {value} ]"""


def individuals(kind: str, one: str, other: str, predicate: str = "") -> str:
    said = f"swrl:propertyPredicate {predicate} ;" if predicate else ""
    return f"[ a swrl:{kind} ; {said} swrl:argument1 {one} ; swrl:argument2 {other} ]"


@pytest.mark.parametrize("value", ["18", "18.0", "'018'^^xsd:int", "'+18'^^xsd:short"])
@pytest.mark.parametrize("kind", ["DatavaluedPropertyAtom", "IndividualPropertyAtom"])
def test_data_atoms__match_a_literal_by_value(kind: str, value: str) -> None:
    atom = value_atom(":x", "18").replace("DatavaluedPropertyAtom", kind)
    store = store_of(atom, ADULT, f":joe :age {value} . :tim :age 19 . :ann :age '18' .")
    assert inferred(store) == {("joe", "type", "Adult")}


def test_data_atoms__join_literals_by_value() -> None:
    """Also where a spelling comes later, or goes."""
    knows = individuals("IndividualPropertyAtom", ":x", ":y", ":peer")
    store = store_of(
        value_atom(":x", ":n") + value_atom(":y", ":n", ":years"),
        knows,
        ":joe :age 20 . :tim :years 20 . :ann :years '20.0'^^xsd:decimal . :bob :years '20' .",
    )
    assert inferred(store) == {("joe", "peer", "tim"), ("joe", "peer", "ann")}
    store.load(PREFIXES + ":eve :age '020'^^xsd:byte . :zoe :years 20.5 .", "turtle")
    both = {(who, "peer", other) for who in ("joe", "eve") for other in ("tim", "ann")}
    assert inferred(store) == both
    store.remove(Quad(n("joe"), n("age"), Literal(20)))
    assert inferred(store) == {one for one in both if one[0] == "eve"}
    assert store.audit().ok


@pytest.mark.parametrize(
    ("range_", "inside"),
    [
        ("xsd:integer", {"1", "5", "10"}),
        ("[ a rdfs:Datatype ; owl:oneOf (1 'a') ]", {"1", "a"}),
        ("[ a rdfs:Datatype ; owl:unionOf (xsd:string xsd:boolean) ]", {"a", "true"}),
        ("[ a rdfs:Datatype ; owl:datatypeComplementOf xsd:decimal ]", {"a", "true"}),
        (
            "[ a rdfs:Datatype ; owl:onDatatype xsd:decimal ; owl:withRestrictions ("
            "[ xsd:minExclusive 1 ] [ xsd:maxInclusive 5 ]) ]",
            {"2.5", "5"},
        ),
        (
            "[ a rdfs:Datatype ; owl:onDatatype xsd:string ; owl:withRestrictions ("
            "[ xsd:pattern '[a-c]' ] [ xsd:maxLength 1 ]) ]",
            {"a"},
        ),
    ],
)
def test_data_ranges__are_conditions(range_: str, inside: set[str]) -> None:
    atom = f"[ a swrl:DataRangeAtom ; swrl:dataRange {range_} ; swrl:argument1 :n ]"
    rdfs = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    store = Store()
    store.reason("swrl")
    rule = (
        f"[] a swrl:Imp ; swrl:body ({AGE} {atom}) ; swrl:head ({value_atom(':x', ':n', ':in')})."
    )
    data = ":a :age 1 . :b :age 5 . :c :age 10 . :d :age 2.5 . :e :age 'a' . :f :age true ."
    store.load(PREFIXES + rdfs + rule + data, "turtle")
    assert {value for _, _, value in inferred(store)} == inside
    assert store.reason("swrl").outside == ()


# -- equality -------------------------------------------------------------------------------------

PEER = individuals("IndividualPropertyAtom", ":x", ":y", ":peer")


@pytest.mark.parametrize(
    "said",
    [
        ":a owl:differentFrom :b .",
        ":b owl:differentFrom :a .",
        "[] a owl:AllDifferent ; owl:members (:a :b) .",
        "[] a owl:AllDifferent ; owl:distinctMembers (:b :a) .",
    ],
)
@pytest.mark.parametrize("regimes", [("swrl",), ("swrl", "owl-rl"), ("swrl", "owl-horst")])
def test_different__holds_either_way_round(said: str, regimes: tuple[str, ...]) -> None:
    different = individuals("DifferentIndividualsAtom", ":x", ":y")
    store = store_of(different, PEER, said)
    store.reason(*regimes)
    found = {one for one in inferred(store) if one[1] == "peer"}
    assert found == {("a", "peer", "b"), ("b", "peer", "a")}
    assert store.audit().ok


@pytest.mark.parametrize("mode", ["rules", "rewrite"])
def test_same__in_a_head_makes_one_of_two(mode: str) -> None:
    same = individuals("SameIndividualAtom", ":x", ":y")
    knows = individuals("IndividualPropertyAtom", ":x", ":y", ":knows")
    store = Store()
    store.reason("swrl", equality=mode)
    rule = f"[] a swrl:Imp ; swrl:body ({knows}) ; swrl:head ({same}) ."
    store.load(PREFIXES + rule + ":a :knows :b . :b :age 7 . :c owl:sameAs :b .", "turtle")
    assert all(Quad(n(who), n("age"), Literal(7)) in store for who in "abc")
    store.load(PREFIXES + ":a owl:differentFrom :c .", "turtle")
    assert {violation.constraint for violation in store.violations()} == {"eq-diff1"}
    store.remove(Quad(n("a"), n("knows"), n("b")))
    assert Quad(n("a"), n("age"), Literal(7)) not in store
    assert store.violations() == []


def test_different__in_a_head_is_checked() -> None:
    different = individuals("DifferentIndividualsAtom", ":x", ":y")
    store = store_of(PEER, different, ":a :peer :b . :b owl:sameAs :a .")
    assert "eq-diff1" in {violation.constraint for violation in store.violations()}


# -- class expressions ----------------------------------------------------------------------------


def class_atom(described: str) -> str:
    return f"[ a swrl:ClassAtom ; swrl:classPredicate {described} ; swrl:argument1 :x ]"


SOME = "[ a owl:Restriction ; owl:onProperty :age ; owl:someValuesFrom xsd:integer ]"
ALL = "[ a owl:Restriction ; owl:onProperty :age ; owl:allValuesFrom xsd:integer ]"


@pytest.mark.parametrize(
    ("body", "head", "regimes", "reason"),
    [
        (SOME, ":Adult", ("swrl",), 'class expressions also need the regime "owl-rl"'),
        (ALL, ":Adult", ("swrl", "owl-rl"), "OWL 2 RL has no allValuesFrom on the left"),
        (":Adult", SOME, ("swrl", "owl-rl"), "OWL 2 RL has no someValuesFrom on the right"),
        (":Adult", ":Old", ("owl-rl",), 'SWRL rules also need the regime "swrl"'),
    ],
)
def test_class_atoms__without_rules_are_reported(
    body: str, head: str, regimes: tuple[str, ...], reason: str
) -> None:
    store = Store()
    rule = f"[] a swrl:Imp ; swrl:body ({class_atom(body)}) ; swrl:head ({class_atom(head)}) ."
    store.load(PREFIXES + rule + ":joe :age 3 .", "turtle")
    (line,) = store.reason(*regimes).outside
    assert reason in line and "SwrlRule" in line


def test_class_atoms__with_expressions_of_owl_rl() -> None:
    store = store_of(class_atom(SOME), ADULT, ":joe :age 3 . :tim :age 'x' .")
    store.reason("owl-rl")
    assert {one for one in inferred(store) if one[2] == "Adult"} == {("joe", "type", "Adult")}
