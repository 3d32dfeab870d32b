"""Ontologies without instances, whose rules are made when they are asked for.

The oracle is the program itself: of each rule that was not made, an atom is watched for.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random

import pytest
from pyoxigraph import BlankNode, Quad

from tests.ontologies.in_store import listed
from tests.ontologies.oracle import Fact, Term, term
from tests.ontologies.twins import Twins
from triplestore import Store
from triplestore.datalog.program import TYPE, Atom, Constant, Constraint, Program, Rule, TupleAtom
from triplestore.reasoning.program import in_force, rules_on_demand
from triplestore.reasoning.program.in_force import make_program
from triplestore.reasoning.program.rules_on_demand import RulesOnDemand
from triplestore.reasoning.program.settings import Regimes
from triplestore.reasoning.program.sleeping_axioms import SleepingAxioms, find_sleeping_axioms
from triplestore.relations.packed_keys import in_sorted
from triplestore.rules.compile_rules import all_atoms

PREFIXES = """@prefix : <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix owl: <http://www.w3.org/2002/07/owl#> .
    @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . """
NAMES = PREFIXES.replace("@prefix", "PREFIX").replace(" .", "")
PLAIN = ":A rdfs:subClassOf :B ; rdfs:label 'a' . :p rdfs:domain :A ; a owl:ObjectProperty . "


def store_of(text: str) -> Store:
    store = Store()
    store.load(PREFIXES + text, format="turtle")
    store.reason("owl-rl")
    return store


def rules_in(store: Store) -> in_force.InForce:
    rules = store._view().rules()
    assert isinstance(rules, in_force.InForce)
    return rules


def on_demand(store: Store) -> bool:
    return isinstance(rules_in(store), RulesOnDemand)


def are_made(store: Store) -> bool:
    return "whole" in vars(rules_in(store))


# -- which ontologies -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more",
    [
        ":A owl:disjointWith 'b' .",
        ":A owl:equivalentClass [ owl:intersectionOf ( :B [ owl:unionOf ( :C :D ) ] ) ] .",
        ":p rdfs:range xsd:integer . :A rdfs:subClassOf owl:Thing , xsd:string .",
        ":A owl:disjointWith :B , owl:Nothing . :p a owl:TransitiveProperty .",
        ":A rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom owl:Thing ] .",
        ":x :other :y . [] a owl:Axiom ; owl:annotatedProperty rdfs:subClassOf .",
        ":q owl:propertyChainAxiom ( :p :p ) ; owl:inverseOf :p . :A owl:hasKey ( :p ) .",
    ],
)
def test_on_demand__ontology_without_instances__its_rules_are_not_made(more: str) -> None:
    with store_of(PLAIN + more) as store:
        assert on_demand(store) and not are_made(store)
        assert store.verify(closure=True) == []


@pytest.mark.parametrize(
    "more",
    [
        ":x a :A .",
        ":x :p :y .",
        ":x a owl:Nothing .",
        ":x owl:sameAs :y .",
        ":x owl:differentFrom :x .",
        "owl:Thing rdfs:subClassOf :A .",
        ":A owl:equivalentClass owl:Thing .",
        "xsd:integer rdfs:subClassOf :A .",
        ":A owl:intersectionOf ( ) .",
        ":A owl:unionOf ( :B owl:Thing ) .",
        ":A owl:unionOf ( :B 'b' ) .",
        ":A owl:unionOf ( :B xsd:integer ) .",
        ":A owl:complementOf owl:Thing .",
        ":A owl:oneOf ( :x ) .",
        ":A owl:intersectionOf :l . :l rdf:first :B .",
        ":A owl:intersectionOf :l . :l rdf:first :B ; rdf:rest :l .",
        ":A owl:intersectionOf :l . :l rdf:first :B , :C ; rdf:rest rdf:nil .",
        ":A owl:intersectionOf :l . :l rdf:first :B ; rdf:rest rdf:nil , ( :C ) .",
        "[] a owl:AllDisjointClasses ; owl:members ( :A :B :C ) .",
        ":q rdfs:subPropertyOf rdfs:subClassOf .",
        ":q rdfs:subPropertyOf rdf:type .",
        ":M rdfs:subClassOf owl:TransitiveProperty .",
        "owl:Class rdfs:subClassOf :M .",
        "rdfs:label rdfs:domain :M .",
    ],
)
def test_on_demand__anything_else__all_rules_are_made_at_once(more: str) -> None:
    with store_of(PLAIN + more) as store:
        assert not on_demand(store)


def test_on_demand__few_axioms_among_data__all_rules_are_made_at_once() -> None:
    """Else the rules to be made would keep all of these facts in memory."""
    data = "".join(f":x{number} :other :y . " for number in range(500))
    with store_of(PLAIN + data) as store:
        assert not on_demand(store)


def test_on_demand__without_any_type__and_empty() -> None:
    for text in ("", ":A rdfs:subClassOf :B . :B rdfs:subClassOf :C ."):
        with store_of(text) as store:
            assert on_demand(store)
            store.update(NAMES + "INSERT DATA { :x a :A . :A rdfs:subClassOf :B }")
            assert store.query(NAMES + "ASK { :x a :B }")


def test_on_demand__other_regimes_and_options__all_rules_are_made_at_once() -> None:
    reasoned: dict[str, Callable[[Store], object]] = {
        "rdfs": lambda store: store.reason("rdfs"),
        "swrl": lambda store: store.reason("owl-rl", "swrl"),
        "rewrite": lambda store: store.reason("owl-rl", equality="rewrite"),
        "trivial": lambda store: store.reason("owl-rl", trivial=True),
        "scope": lambda store: store.reason("owl-rl", scope="union"),
        "rules": lambda store: store.reason("owl-rl", rules=":a[?x] :- :b[?x] ."),
    }
    for name, reason in reasoned.items():
        with Store() as store:
            store.load(PREFIXES + PLAIN, format="turtle")
            reason(store)
            assert not on_demand(store), name


# -- when they are made ---------------------------------------------------------------------------


def test_on_demand__commits_and_queries__make_no_rules() -> None:
    with store_of(PLAIN + ":B rdfs:subClassOf :C .") as store:
        store.update(NAMES + 'INSERT DATA { :A rdfs:comment "some" . :x :unknown :y }')
        store.update(NAMES + "INSERT DATA { :C rdfs:subClassOf :D . :E owl:unionOf ( :F :G ) }")
        store.update(NAMES + "DELETE DATA { :B rdfs:subClassOf :C }")
        assert store.query(NAMES + "ASK { :C rdfs:subClassOf :D . :F rdfs:subClassOf :E }")
        assert not store.query(NAMES + "ASK { :A rdfs:subClassOf :C }")
        assert on_demand(store) and not are_made(store)
        kept = store._reasoner.find(rules_in(store), store._view().dictionary)
        assert kept is not None  # and need not be compiled for the next commit


def test_on_demand__program__is_of_the_axioms_that_hold_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with store_of(PLAIN) as store, Store() as other:
        store.update(NAMES + "INSERT DATA { :B rdfs:subClassOf :C . :q rdfs:subPropertyOf :p }")
        assert on_demand(store)
        monkeypatch.setattr(rules_on_demand, "find_sleeping_axioms", lambda *_: None)
        other.extend(store.quads_for_pattern(None, None, None, facts="explicit"))
        other.reason("owl-rl")
        assert store.program == other.program
        assert store.info().rules == other.info().rules == len(store.program.rules)


def test_on_demand__report__says_the_same_when_it_is_looked_at_later() -> None:
    text = (
        PLAIN + ":A rdfs:subClassOf [ owl:onProperty :p ; owl:hasSelf true ] . :B rdfs:range 'b' ."
    )
    with Store() as one, Store() as other:
        for store in (one, other):
            store.load(PREFIXES + text, format="turtle")
        late = one.reason("owl-rl")
        with other.transaction() as transaction:
            early = transaction.reason("owl-rl")
        one.update(NAMES + "INSERT DATA { :x a :A . :A rdfs:subClassOf :C , :D }")
    said = [{**report.as_dict(), "seconds": 0, "strata": ()} for report in (late, early)]
    assert said[0] == said[1]
    assert said[0]["outside_count"] == 1 and said[0]["problems"]
    assert str(late).splitlines()[0] == str(early).splitlines()[0]


def test_on_demand__report_of_a_call_that_changes_nothing__is_complete() -> None:
    with store_of(PLAIN) as store:
        report = store.reason("owl-rl")
        assert report.rules == len(store.program.rules) and report.inferred_added == 0
        assert "rules by id" in str(report) and report.as_dict()["strata"] == ()


def test_on_demand__report__can_be_copied_and_compared() -> None:
    with store_of(PLAIN) as store:
        report = store.reason("owl-rl")
        assert pickle.loads(pickle.dumps(report)).as_dict() == report.as_dict()
        assert report == store.reason("owl-rl")


def test_on_demand__transaction_given_up__its_report_is_complete() -> None:
    with Store() as store:
        with store.transaction() as transaction:
            transaction.load(PREFIXES + PLAIN, format="turtle")
            report = transaction.reason("owl-rl")
            transaction.rollback()
        store.load(PREFIXES + ":x :y :z .", format="turtle")  # its terms have these ids now
        assert report.as_dict()["rules_by_id"] == {"cax-sco": 1, "prp-dom": 1}


ILL_TYPED = NAMES + "INSERT DATA { :B :note 'y'^^xsd:integer }"


def test_on_demand__literals_of_later_commits__are_not_in_earlier_rules() -> None:
    with Store() as store:
        store.load(PREFIXES + PLAIN, format="turtle")
        report, snapshot = store.reason("owl-rl"), store.snapshot()
        with store_of(PLAIN) as other:
            rules = other.program
        store.update(ILL_TYPED)
        assert snapshot.program == rules
        assert report.rules == len(rules.rules) and report.constraints == len(rules.constraints)
        assert len(store.program.rules) == len(rules.rules) + 1


def test_on_demand__literals_of_a_trial__are_not_in_rules_made_meanwhile() -> None:
    with store_of(PLAIN) as store, store_of(PLAIN) as other:
        with store.trial() as trial:
            trial.update(ILL_TYPED)
            assert store.program == other.program
            assert [one.constraint for one in trial.violations()] == ["dt-not-type"]
        store.update(NAMES + "INSERT DATA { :x :other :y , :z . :x a :A }")  # with the same ids
        assert store.program == other.program
        assert store.violations() == [] and store.verify(closure=True) == []


def test_on_demand__literal_of_a_compared_property__meets_its_other_spelling() -> None:
    with store_of(PLAIN + ":u a owl:InverseFunctionalProperty .") as store:
        assert on_demand(store)
        store.update(NAMES + "INSERT DATA { :x :u 1 . :y :u '01'^^xsd:integer }")
        assert store.query(NAMES + "ASK { :x owl:sameAs :y }")
        assert store.verify(closure=True) == []


def test_on_demand__ill_typed_literals__are_found() -> None:
    with store_of(PLAIN + ":A :note 'x'^^xsd:integer .") as store:
        assert on_demand(store)
        assert [one.constraint for one in store.violations()] == ["dt-not-type"]
        store.update(NAMES + "INSERT DATA { :B :note 'y'^^xsd:integer }")
        assert len(list(store.violations())) == 2


# -- at random ------------------------------------------------------------------------------------

CLASSES = [term(f"ex:{name}") for name in ("A", "B", "C", "D", "E", "F", "G")]
PROPERTIES = [term(f"ex:{name}") for name in ("p", "q", "r", "s")]
ODD = [
    term(name)
    for name in (
        *("owl:Thing", "owl:Nothing", "rdfs:Resource", "xsd:integer", "rdfs:Literal", "rdf:nil"),
        *("owl:Class", "rdfs:label", "rdf:type", "rdfs:subClassOf", "owl:FunctionalProperty"),
        *("owl:topObjectProperty", "rdfs:Datatype", "'x'"),
    )
]
OF_CLASSES = ["rdfs:subClassOf", "rdfs:subClassOf", "owl:equivalentClass", "owl:disjointWith"]
OF_CLASSES += ["owl:complementOf"]
OF_PROPERTIES = ["rdfs:subPropertyOf", "owl:equivalentProperty", "owl:inverseOf"]
OF_PROPERTIES += ["owl:propertyDisjointWith"]
KINDS = ["Transitive", "Functional", "InverseFunctional", "Asymmetric", "Symmetric", "Irreflexive"]
LISTS = ["intersectionOf", "unionOf", "intersectionOf", "unionOf", "hasKey", "propertyChainAxiom"]
LISTS += ["disjointUnionOf"]
FILLERS = ["someValuesFrom", "allValuesFrom", "hasValue", "onClass", "complementOf"]


class Axioms:
    """Random axioms of an ontology without instances; some parts are odd, or missing."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.odd = self.random.choice([0.0, 0.0, 0.01, 0.05])
        self.nodes = [BlankNode(f"n{i}") for i in range(4)]

    def name(self, names: list[Term]) -> Term:
        if self.random.random() < self.odd:
            return self.random.choice([*ODD, *CLASSES, *PROPERTIES])
        return self.random.choice(names)

    def class_(self) -> Term:
        return self.name([*CLASSES, *self.nodes])

    def facts(self) -> list[Fact]:
        pieces = [self.pair, self.pair, self.typed, self.range, self.filled, self.listed, self.said]
        found = [f for _ in range(self.random.randint(3, 14)) for f in self.random.choice(pieces)()]
        found = [fact for fact in found if self.random.random() > self.odd]
        return [fact for fact in found if not str(fact[0]).startswith('"')]

    def pair(self) -> list[Fact]:
        if self.random.random() < 0.6:
            return [(self.class_(), term(self.random.choice(OF_CLASSES)), self.class_())]
        word = term(self.random.choice(OF_PROPERTIES))
        return [(self.name([*PROPERTIES, self.nodes[3]]), word, self.name(PROPERTIES))]

    def typed(self) -> list[Fact]:
        kind = f"owl:{self.random.choice(KINDS)}Property"
        return [(self.name(PROPERTIES), term("rdf:type"), term(kind))]

    def range(self) -> list[Fact]:
        word = self.random.choice(["rdfs:domain", "rdfs:range"])
        class_ = self.name([*CLASSES, *self.nodes, term("xsd:integer"), term("owl:Thing")])
        return [(self.name(PROPERTIES), term(word), class_)]

    def filled(self) -> list[Fact]:
        node, word = self.class_(), self.random.choice(FILLERS)
        found = [(node, term("owl:onProperty"), self.name(PROPERTIES))]
        found.append((node, term(f"owl:{word}"), self.class_()))
        if word == "onClass":
            one = term("'1'^^xsd:nonNegativeInteger")
            found.append((node, term("owl:maxQualifiedCardinality"), one))
        return found

    def listed(self) -> list[Fact]:
        word = self.random.choice(LISTS)
        names = PROPERTIES if word in ("hasKey", "propertyChainAxiom") else [*CLASSES, *self.nodes]
        members = [self.name(names) for _ in range(self.random.randint(1, 3))]
        cells: list[Term] = [BlankNode() for _ in members]
        found = [(self.class_(), term(f"owl:{word}"), cells[0])]
        ends = [*cells[1:], term("rdf:nil")]
        for cell, member, rest in zip(cells, members, ends, strict=True):
            found += [(cell, term("rdf:first"), member), (cell, term("rdf:rest"), rest)]
        if self.random.random() < self.odd * 3:
            cells += [term("rdf:nil")]
            found.append((cells[0], term("rdf:rest"), self.random.choice(cells)))
        return found

    def said(self) -> list[Fact]:
        """Facts that are not axioms; few of them are about instances."""
        one, other = term("ex:x"), term("ex:y")
        if self.random.random() < self.odd:
            return [(one, self.name([*PROPERTIES, term("owl:sameAs")]), other)]
        if self.random.random() < self.odd:
            return [(one, term("rdf:type"), self.class_())]
        kind = self.random.choice(["owl:Class", "rdfs:Datatype", "owl:Restriction"])
        return [
            (self.random.choice(CLASSES), term("rdfs:label"), term("'x'")),
            (self.class_(), term("rdf:type"), term(kind)),
            (one, term("ex:other"), other),
        ]


def unwatched(
    clauses: Iterable[Rule | Constraint], known: Program, asleep: SleepingAxioms, store: Store
) -> list[Rule | Constraint]:
    """Those that have no atom of a property or class that is watched for, and none of a relation
    that only such clauses conclude."""
    dictionary = store._view().dictionary
    heads = [head for rule in known.rules for head in rule.heads]
    rows = {head.name for head in heads if isinstance(head, TupleAtom)}

    def is_watched(atom: Atom) -> bool:
        if isinstance(atom, TupleAtom):
            return atom.name not in rows
        name = atom.o if atom.p == TYPE else atom.p
        if not isinstance(name, Constant):
            return False
        keys = asleep.classes if atom.p == TYPE else asleep.properties
        ids = dictionary.lookup_keys([name.key])
        return name.key in keys or bool(in_sorted(ids, asleep.names).any())

    return [clause for clause in clauses if not any(map(is_watched, all_atoms(clause.body)))]


def check(seed: int, patch: pytest.MonkeyPatch) -> bool:
    """Whether the rules of random axioms were not made; all is as if they had been."""
    facts = [Quad(*fact) for fact in Axioms(seed).facts()]
    with Store() as one, Store() as other:
        one.extend(facts)
        other.extend(facts)
        one_before = one._view()
        one.reason("owl-rl")
        with patch.context() as context:
            context.setattr(rules_on_demand, "find_sleeping_axioms", lambda *_: None)
            context.setattr(in_force, "find_sleeping", lambda *_: None)
            other.reason("owl-rl")
        assert listed(one) == listed(other), seed
        rules = rules_in(one)
        if not isinstance(rules, RulesOnDemand):
            return False
        assert not are_made(one), seed
        known, state = rules.known.program, one._view()
        regimes = Regimes(("owl-rl",))
        for tables in (one_before.tables, state.tables):
            asleep = find_sleeping_axioms(regimes, tables, state.dictionary)
            assert asleep is not None
            whole = make_program(regimes, None, tables, state.dictionary).program
            left = whole - known
            assert unwatched((*left.rules, *left.constraints), known, asleep, one) == [], seed
            assert not len(known - whole), seed
        assert one.program == other.program, seed
        assert sorted(map(str, one.violations())) == sorted(map(str, other.violations())), seed
    return True


def test_on_demand__random_axioms__each_rule_that_was_not_made_is_watched_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = [check(seed, monkeypatch) for seed in range(40)]
    assert any(found) and not all(found)


@pytest.mark.long
def test_on_demand__random_axioms__each_rule_that_was_not_made_is_watched_for__long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for seed in range(1000, 3000):
        check(seed, monkeypatch)


def instances(random: Random) -> list[Fact]:
    """A few facts about individuals."""
    named = [term(f"ex:{name}") for name in "xyz"]
    found = [(random.choice(named), term("rdf:type"), random.choice(CLASSES)) for _ in range(3)]
    found += [(random.choice(named), random.choice(PROPERTIES), random.choice(named)) for _ in "ab"]
    found.append((random.choice(named), random.choice(PROPERTIES), term("'1'^^xsd:int")))
    found.append((random.choice(named), random.choice(PROPERTIES), term("'01'^^xsd:int")))
    return found


def check_changes(seed: int, path: Path, patch: pytest.MonkeyPatch, steps: int) -> int:
    """Axioms and instances come and go; how many states had rules that were not made."""
    random, axioms = Random(seed), Axioms(seed)
    said = list(dict.fromkeys([*axioms.facts(), *axioms.facts()]))
    pool = list(dict.fromkeys([*said, *instances(random)]))
    twins, unmade = Twins(path, patch), 0
    held = {fact for fact in said if random.random() < 0.7}
    twins.step([], sorted(held, key=pool.index), regime=True)
    for step in range(steps):
        changed = random.sample(said, min(len(said), random.choice((1, 1, 2, 3))))
        about = [fact for fact in pool if fact not in said and fact in held]
        if about and random.random() < 0.5:
            changed = about
        elif not about and random.random() < 0.25:
            changed = random.sample([fact for fact in pool if fact not in said], 1)
        gone = [fact for fact in changed if fact in held]
        come = [fact for fact in changed if fact not in held]
        twins.step(gone, come, regime=False)
        held ^= set(changed)
        if random.random() < 0.15:
            twins.reopen()
        elif random.random() < 0.1:
            twins.one.optimize()
        rules = rules_in(twins.one)
        unmade += isinstance(rules, RulesOnDemand) and not are_made(twins.one)
        assert listed(twins.one) == listed(twins.other), f"seed {seed}, step {step}"
        if random.random() < 0.3:  # else the rules stay as they are, unmade
            twins.compare(random, f"seed {seed}, step {step}")
    twins.compare(random, f"seed {seed}, at the end")
    with Store() as anew:
        anew.extend(Quad(*fact) for fact in held)
        anew.reason("owl-rl")
        assert listed(anew) == listed(twins.one), seed
    twins.one.close()
    twins.other.close()
    return unmade


def test_on_demand__random_changes__as_if_all_rules_were_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (
        sum(check_changes(seed, tmp_path / str(seed), monkeypatch, 8) for seed in (500, 501, 502))
        > 5
    )


@pytest.mark.long
def test_on_demand__random_changes__as_if_all_rules_were_made__long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(1000, 1300):
        check_changes(seed, tmp_path / str(seed), monkeypatch, steps=20)
