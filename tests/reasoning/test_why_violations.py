"""The proof of each violation: that of its own constraint, with its own terms, and no other.

The oracle fills the body of a constraint with the violation's values. The facts of that are to be
the premises of the proof, and each of them proved from what is stated.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from support.fuzzing import seeds

from tests.ontologies.oracle import Fact, term
from tests.ontologies.random_ontologies import (
    CLASSES,
    DATA_PROPERTIES,
    INDIVIDUALS,
    KINDS,
    LITERALS,
    PROPERTIES,
    SUB_CLASS,
    Kind,
    Maker,
    Piece,
    all_disjoint,
    class_axiom,
    equal,
    make_pool,
    negative,
)
from tests.reasoning.equal_stores import MODES, PREFIXES, is_stated
from triplestore import Literal, NamedNode, Proof, Quad, Store, Violation, WhyNot
from triplestore.datalog.program import (
    Atom,
    Constant,
    Constraint,
    Filter,
    TripleAtom,
    Variable,
    variables_of,
)
from triplestore.errors import BudgetError, ParseError
from triplestore.proofs.origins import fill
from triplestore.proofs.steps import ProofStep
from triplestore.reasoning.violations import NOTHING
from triplestore.terms import Term, key_of

XSD = "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
ALIKE = """@prefix ex: <http://example.org/> .
    constraint "c" "alike" :- ex:p[?x, ?y], ex:q[?y, ?x] .
    constraint "c" "alike" :- ex:p[?y, ?x], ex:q[?y, ?x] .
    constraint "c" "alike" :- ex:p[?x, ?y], NOT ex:q[?x, ?y] .
    constraint "c" "alike" :- ex:r[?x, ?y], NOT EXISTS ?z IN (ex:p[?y, ?z], ex:q[?z, ?y]) .
    constraint "c" "alike" :- ex:r[?y, ?x], ex:C[?x] .
    constraint "c" "alike" :- ex:C[?x], ex:D[?y], FILTER(?x != ?y) .
    constraint "c" "alike" :- ex:s[?x, ?o], AGGREGATE(ex:p[?x, ?z] ON ?x BIND count(?z) AS ?y) .
    constraint "c" :- ex:p[?x, ?y] .
    constraint "c" "one" :- ex:p[?x, ?x] .
    constraint "c" "one" :- ex:q[?x, ?x] .
    ex:Wrong[?x] :- ex:E[?x] . ex:p[?y, ?x] :- ex:s[?x, ?y] .
    owl:Nothing[?x] :- ex:F[?x], ex:p[?x, ?y] ."""


def check_violation(store: Store, violation: Violation) -> Atom:
    """Whether the proof is that of this very violation; gives what it proves."""
    proof = store.why(violation)
    assert isinstance(proof, Proof), f"{violation}\n{proof}"
    last = proof.last
    if violation.constraint == NOTHING:
        assert isinstance(proof.fact, TripleAtom)
        assert proof.fact.s.key == key_of(violation.values["x"])
    else:
        assert isinstance(last.rule, Constraint)
        assert (last.rule.id, last.rule.message) == (violation.constraint, violation.message)
        assert last.rule.axioms == violation.axioms
        _check_premises(last, violation)
        assert f"inconsistency {violation.constraint}" in str(proof)
    for step in proof:
        assert all(proof.steps[premise].height < step.height for premise in step.premises)
        if step.stated:
            assert is_stated(store, step.fact), step.fact
    return proof.fact


def _check_premises(last: ProofStep, violation: Violation) -> None:
    """The premises are the atoms of the constraint with the values of the violation."""
    own = {name: key_of(term) for name, term in violation.values.items()}
    assert {variable.name: value.key for variable, value in (last.values or {}).items()} == own
    assert isinstance(last.rule, Constraint)
    given = {Variable(name): Constant(key) for name, key in own.items()}
    atoms = [fill(item, given) for item in last.rule.body if isinstance(item, TripleAtom)]
    assert [one for one in last.premises if isinstance(one, TripleAtom)] == atoms


def check_all(store: Store) -> int:
    """Check every violation; each has a proof of its own."""
    found = store.violations()
    try:
        proved = [check_violation(store, violation) for violation in found]
    except BudgetError as error:  # a search that is too long says so
        assert "raise the limits" in str(error)
        return 0
    assert len(set(proved)) == len(found), "two violations with one proof"
    return len(found)


# -- examples -------------------------------------------------------------------------------------

TWO_RANGES = ":p rdfs:range xsd:string . :q rdfs:range xsd:string . :a :p 1 . :b :q 2 ."


@pytest.mark.parametrize("mode", MODES)
def test_why_violation__two_ranges_of_one_datatype(mode: str) -> None:
    store = Store()
    store.load(PREFIXES + XSD + TWO_RANGES, "turtle")
    store.reason("owl-rl", equality=mode)
    assert check_all(store) == 2
    for violation in store.violations():
        name = "p" if str(violation.values["x"]).endswith("a>") else "q"
        assert f"<http://ex.org/{name}>" in violation.message, "it names the property"


def test_why_violation__the_same_in_two_constraints() -> None:
    """Where the values do not tell two violations apart either, each still has its own proof."""
    store = Store()
    store.load(PREFIXES + ":a :p :b . :b :p :a .", "turtle")
    store.reason(
        rules="""@prefix : <http://ex.org/> . constraint "c" :- :p[?x, ?y] .
        constraint "c" :- :p[?x, ?y], FILTER(?x != ?y) ."""
    )
    assert len(set(map(str, store.violations()))) == 2
    assert check_all(store) == 4


def test_why_violation__of_equals_in_their_own_terms() -> None:
    store = Store()
    store.load(
        PREFIXES + ":p a owl:AsymmetricProperty . :a :p :b . :b :p :c . :c owl:sameAs :a .",
        "turtle",
    )
    store.reason("owl-rl", equality="rewrite")
    assert check_all(store) > 2


def test_why_violation__that_is_gone() -> None:
    store = Store()
    store.load(PREFIXES + ":p a owl:IrreflexiveProperty . :a :p :a .", "turtle")
    store.reason("owl-rl")
    (violation,) = store.violations()
    store.update("DELETE DATA { <http://ex.org/a> <http://ex.org/p> <http://ex.org/a> }")
    answer = store.why(violation)
    assert isinstance(answer, WhyNot) and not answer
    assert "no match: " in str(answer) and "constraint prp-irp" in str(answer)
    assert answer.as_dict()["attempts"]


def test_why_violation__made_from_its_text() -> None:
    """One that was kept as JSON has no relation any more: the one that holds is proved."""
    store = Store()
    store.load(PREFIXES + XSD + TWO_RANGES.replace(":b", ":a"), "turtle")
    store.reason("owl-rl")
    for found in store.violations():
        again = Violation(found.constraint, found.message, found.values, found.axioms)
        assert again == found
        assert check_violation(store, again) == check_violation(store, found)


# -- random ontologies ----------------------------------------------------------------------------


def data_range(maker: Maker) -> list[Fact]:
    """Ranges and restrictions that say the same of several properties, and values outside."""
    p = maker.pick([*PROPERTIES, *DATA_PROPERTIES])
    datatype = maker.pick([term("xsd:integer"), term("xsd:string"), term("xsd:token")])
    value = (maker.pick(INDIVIDUALS), p, maker.pick(LITERALS))
    if maker.random.random() < 0.5:
        return [(p, term("rdfs:range"), datatype), value]
    node = maker.fresh()
    return [
        (node, term("owl:onProperty"), p),
        (node, term("owl:allValuesFrom"), datatype),
        (maker.pick(CLASSES), SUB_CLASS, node),
        value,
    ]


def with_constraints(kind: Kind) -> Kind:
    """The same with more of what leads to violations."""
    more: tuple[Piece, ...] = (data_range, all_disjoint, negative, equal, class_axiom)
    return replace(kind, pieces=kind.pieces + more * 2)


@pytest.mark.fuzz
@pytest.mark.parametrize("mode", MODES)
def test_why_violation__random_ontologies(mode: str) -> None:
    checked = 0
    for seed in seeds(3):
        random = Random(seed)
        kind = with_constraints(KINDS[seed % len(KINDS)])
        store = Store()
        store.extend(Quad(*fact) for fact in make_pool(random, kind, random.choice((15, 25, 40))))
        store.reason("owl-rl", rules=ALIKE if seed % 3 else None, equality=mode)
        checked += check_all(store)
    assert checked


# -- vocabularies of the wild ---------------------------------------------------------------------

SHORT = (
    "owl-real/wine/food.owl",
    "owl-real/ssn/ontology/extensions/ssn-system.ttl",
    "owl-real/brick-buildings/TAPS(v1.1).ttl",
    "owl-real/schemaorg",
)
LONG = ("owl-real", "owl2bench", "skos", "uobm", "owl2-testcases/rl-cases", "owl-el", "lubm")
FORMATS = (".ttl", ".owl", ".rdf", ".nt", ".n3")


def documents(place: Path) -> Iterable[Path]:
    for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
        if file.name.removesuffix(".gz").endswith(FORMATS) and file.stat().st_size < 10_000_000:
            yield file


def broken(store: Store, random: Random, most: int) -> list[Quad]:
    """Facts that break constraints of a vocabulary: their bodies with new terms for variables."""
    rules = store._view().rules()
    constraints = [] if rules is None else [*rules.program.constraints]
    facts: list[Quad] = []
    for number, constraint in enumerate(random.sample(constraints, min(len(constraints), most))):
        literals = {str(variable) for variable in _literals(constraint)}
        for atom in constraint.body:
            if not isinstance(atom, TripleAtom):
                continue
            terms: list[Term] = []
            for one in atom.terms:
                if isinstance(one, Constant):
                    terms.append(one.term)
                elif str(one) in literals:
                    terms.append(Literal("wrong", datatype=NamedNode("http://ex.org/none")))
                else:
                    terms.append(NamedNode(f"http://ex.org/{number}/{str(one)[1:]}"))
            if isinstance(terms[0], NamedNode):
                facts.append(Quad(*terms))
    return facts


def _literals(constraint: Constraint) -> Iterable[Variable]:
    for item in constraint.body:
        if isinstance(item, Filter) and "ISLITERAL" in str(item):
            yield from variables_of(item.expression)


@pytest.mark.parametrize(
    "folder", [*SHORT, *(pytest.param(folder, marks=pytest.mark.long) for folder in LONG)]
)
def test_why_violation__real_vocabularies(shared_data: Path, folder: str) -> None:
    """As they are, and with data that break some of their constraints."""
    checked, most = 0, 30 if folder in SHORT else 400
    for file in documents(shared_data / folder):
        store = Store()
        try:
            store.load(path=file, base_iri="http://ex.org/base")
        except ParseError:
            continue  # several are not well-formed
        store.reason("owl-rl")
        checked += check_all(store)
        store.extend(broken(store, Random(file.name), most))
        checked += check_all(store)
    assert checked
