"""Regimes of a store: how they are given, kept, combined and reported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyoxigraph import NamedNode, Quad

from triplestore import Store
from triplestore.errors import InconsistencyError, ProgramError, UsageError
from triplestore.proofs import Proof, WhyNot
from triplestore.reasoning.thresholds import REASONING

PREFIXES = """@prefix : <http://ex.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd:
<http://www.w3.org/2001/XMLSchema#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
"""
RDF_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
SUB_CLASS = NamedNode("http://www.w3.org/2000/01/rdf-schema#subClassOf")
SAME_AS = NamedNode("http://www.w3.org/2002/07/owl#sameAs")


def n(name: str) -> NamedNode:
    return NamedNode(f"http://ex.org/{name}")


def store_of(text: str, *regimes: str, **options: object) -> Store:
    store = Store()
    store.load(PREFIXES + text, "turtle")
    store.reason(*regimes, **options)
    return store


def is_a(store: Store, name: str, class_: str) -> bool:
    return Quad(n(name), RDF_TYPE, n(class_)) in store


# -- what is in force -----------------------------------------------------------------------------


def test_reason__regimes_add_up_and_none_ends_all() -> None:
    store = store_of(":C rdfs:subClassOf :D . :x a :C . :p a owl:SymmetricProperty . :a :p :b .")
    store.reason("rdfs")
    assert is_a(store, "x", "D") and Quad(n("b"), n("p"), n("a")) not in store
    report = store.reason("owl-rl")
    assert report.regimes == ("rdfs", "owl-rl")
    assert Quad(n("b"), n("p"), n("a")) in store
    store.reason("none")
    assert store.count("inferred") == 0 and len(store.program) == 0


def test_reason__keeps_users_rules_beside_regimes() -> None:
    store = store_of(":C rdfs:subClassOf :D . :x a :C .", "owl-rl")
    store.reason(rules="@prefix : <http://ex.org/> . :E[?x] :- :D[?x] .")
    assert is_a(store, "x", "E")
    store.remove(Quad(n("C"), SUB_CLASS, n("D")))
    assert not is_a(store, "x", "E")
    assert any(rule.source for rule in store.program.rules)


def test_reason__axioms_may_come_before_and_after() -> None:
    store = Store()
    store.reason("owl-rl")
    store.load(PREFIXES + ":x a :C .", "turtle")
    store.load(PREFIXES + ":C rdfs:subClassOf :D .", "turtle")
    assert is_a(store, "x", "D")


@pytest.mark.parametrize("names", [("rdfs", "swrl"), ("owl-horst", "swrl"), ("owl-rl", "swrl")])
def test_reason__swrl_takes_nothing_from_what_rules_conclude_about_axioms(
    names: tuple[str, ...],
) -> None:
    """A property below rdfs:subClassOf: axioms may be inferred, so all are read a second time."""
    axioms = ":below rdfs:subPropertyOf rdfs:subClassOf . :C :below :D . :D rdfs:subClassOf :E ."
    store = store_of(axioms + ":x a :C .", *names)
    assert Quad(n("C"), SUB_CLASS, n("D")) in store
    assert is_a(store, "x", "D") and is_a(store, "x", "E")


def test_reason__is_durable(tmp_path: Path) -> None:
    with Store(tmp_path / "db") as store:
        store.load(PREFIXES + ":C rdfs:subClassOf :D . :x a :C .", "turtle")
        store.reason("owl-rl")
    with Store.read_only(tmp_path / "db") as reader:
        assert is_a(reader, "x", "D")
        assert "by rule cax-sco" in str(reader.why("<http://ex.org/x> a <http://ex.org/D>"))
    with Store(tmp_path / "db") as store:
        store.add(Quad(n("y"), RDF_TYPE, n("C")))
        assert is_a(store, "y", "D")
        store.add(Quad(n("D"), SUB_CLASS, n("E")))
        assert is_a(store, "x", "E")
        store.optimize()
        store.remove(Quad(n("C"), SUB_CLASS, n("D")))
        assert not is_a(store, "x", "E")
        assert store.verify(closure=True) == []


def test_reason__in_a_transaction_sees_axioms_just_written() -> None:
    store = store_of(":x a :C .", "owl-rl")
    with store.transaction() as t:
        t.add(Quad(n("C"), SUB_CLASS, n("D")))
        assert Quad(n("x"), RDF_TYPE, n("D")) in t
        t.remove(Quad(n("C"), SUB_CLASS, n("D")))
        assert Quad(n("x"), RDF_TYPE, n("D")) not in t
        t.rollback()
    assert store.count("inferred") == 0


def test_reason__a_run_that_fails_leaves_everything_as_it_was() -> None:
    store = store_of(":C rdfs:subClassOf :D . :x a :C .", "owl-rl", tuning={"max_facts": 50})
    many = " ".join(f":y{i} a :C ." for i in range(100))
    with pytest.raises(Exception, match=r"fact"):
        store.load(PREFIXES + ":D rdfs:subClassOf :E . " + many, "turtle")
    assert is_a(store, "x", "D") and not is_a(store, "x", "E")
    store.add(Quad(n("z"), RDF_TYPE, n("C")))
    assert is_a(store, "z", "D")


def test_reason__refuses_unknown_regimes() -> None:
    with pytest.raises(UsageError, match="did you mean 'owl-rl'"):
        Store().reason("owl-r")


# -- axioms as premises ---------------------------------------------------------------------------


def test_axioms__do_not_support_themselves() -> None:
    """What makes :p transitive follows from a class that only a transitive :p gives it."""
    store = store_of(
        """:T rdfs:subClassOf owl:TransitiveProperty . :p a :T .
        :a :p :b . :b :p :c .""",
        "owl-rl",
    )
    assert Quad(n("a"), n("p"), n("c")) in store
    store.remove(Quad(n("p"), RDF_TYPE, n("T")))
    assert Quad(n("a"), n("p"), n("c")) not in store


def test_axioms__below_their_own_vocabulary_come_and_go() -> None:
    store = store_of(
        ":under rdfs:subPropertyOf rdfs:subClassOf . :C :under :D . :x a :C .", "owl-rl"
    )
    assert is_a(store, "x", "D")
    store.remove(Quad(n("C"), n("under"), n("D")))
    assert not is_a(store, "x", "D")


NESTED = """:s1 rdfs:subPropertyOf rdfs:subPropertyOf . :s2 :s1 rdfs:subPropertyOf .
:s3 :s2 rdfs:subPropertyOf . :s4 :s3 rdfs:subPropertyOf . :p :s4 :q . :a :p :b ."""


def test_turns__go_on_while_axioms_come() -> None:
    store = store_of(NESTED, "owl-rl")
    assert Quad(n("a"), n("q"), n("b")) in store


def test_turns__that_are_too_many_end_with_the_axioms_that_change(
    tune: Callable[..., None],
) -> None:
    tune(REASONING, max_turns=2)
    store = Store()
    store.load(PREFIXES + NESTED, "turtle")
    with pytest.raises(
        UsageError, match=r"did not reach a fixpoint: .* changed.* \+ <.*s3> <.*subPropertyOf>"
    ):
        store.reason("owl-rl")
    assert (store.count("inferred"), len(store), len(store.program)) == (0, 6, 0)


def test_equality__of_classes_and_of_individuals() -> None:
    store = store_of(":C rdfs:subClassOf :D . :x a :E . :a :p :x .", "owl-rl")
    store.add(Quad(n("E"), SAME_AS, n("C")))
    assert is_a(store, "x", "D")
    store.add(Quad(n("x"), SAME_AS, n("y")))
    assert is_a(store, "y", "D") and Quad(n("a"), n("p"), n("y")) in store
    store.remove(Quad(n("E"), SAME_AS, n("C")))
    assert not is_a(store, "y", "D")
    store.remove(Quad(n("x"), SAME_AS, n("y")))
    assert store.count("inferred") == 0


def test_negation__on_a_way_to_axioms_is_refused() -> None:
    rules = """@prefix : <http://ex.org/> .
        :T[?p] :- :q[?p, ?x], NOT :r[?p, ?x] ."""
    store = store_of(":p :q :x .", "owl-rl")
    store.reason(rules=rules)
    assert is_a(store, "p", "T")
    with pytest.raises(ProgramError, match="axioms may follow"):
        store.load(PREFIXES + ":T rdfs:subClassOf owl:TransitiveProperty .", "turtle")
    assert is_a(store, "p", "T") and len(store) == 2


def test_negation__of_relations_that_no_axiom_is_made_of_is_not_refused() -> None:
    """Rules of any property may make axioms, but never of relations of three columns and more."""
    rules = """@prefix : <http://ex.org/> .
        :w[?x, ?y, ?z] :- :v[?x, ?y, ?z], NOT :u[?x, ?y, ?z] . :v[:a, :b, :c] .
        [?y, ?p, ?x] :- [?x, ?p, ?y], :twoWay[?p, :Yes] ."""
    store = store_of(":p :twoWay :Yes . :y :p :x . :p rdfs:domain :D .", "rdfs")
    store.reason(rules=rules)
    assert list(store.tuples(n("w"), 3)) == [(n("a"), n("b"), n("c"))]
    assert Quad(n("x"), n("p"), n("y")) in store and is_a(store, "x", "D")


def test_trivial_triples__hold_and_are_not_listed_unless_asked_for() -> None:
    store = store_of(":C a owl:Class . :x a :C .", "owl-rl")
    thing = NamedNode("http://www.w3.org/2002/07/owl#Thing")
    class_ = NamedNode("http://www.w3.org/2002/07/owl#Class")
    trivial = [
        Quad(n("x"), SAME_AS, n("x")),
        Quad(n("C"), SUB_CLASS, n("C")),
        Quad(n("C"), SUB_CLASS, thing),
        Quad(n("x"), RDF_TYPE, thing),
        Quad(thing, RDF_TYPE, class_),
    ]
    assert [quad for quad in trivial if quad not in store] == []
    assert Quad(n("unknown"), SAME_AS, n("unknown")) not in store
    assert Quad(n("unknown"), RDF_TYPE, thing) not in store
    assert Quad(n("x"), SAME_AS, n("C")) not in store
    assert len(store) == 2
    with store.transaction() as t:
        assert trivial[0] in t
        t.rollback()
    store.reason(trivial=True)
    assert trivial[1] in list(store)
    store.reason("none")
    assert [quad for quad in trivial if quad in store] == []


def test_trivial_triples__have_a_reason() -> None:
    store = store_of(":C rdfs:subClassOf :D . :x a :C .", "owl-rl")
    for fact in (Quad(n("C"), SUB_CLASS, n("C")), Quad(n("x"), SAME_AS, n("x"))):
        proof = store.why(fact)
        assert isinstance(proof, Proof)
        assert "by rule trivial" in str(proof) and proof.height == 1
    assert isinstance(store.why(Quad(n("D"), SUB_CLASS, n("C"))), WhyNot)
    assert isinstance(store.why(Quad(n("y"), SAME_AS, n("y"))), WhyNot)
    stated = store_of(":C rdfs:subClassOf :C .", "owl-rl")
    assert "(asserted)" in str(stated.why(Quad(n("C"), SUB_CLASS, n("C"))))


# -- ontologies beside the data -------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "family.ttl").write_text(
        PREFIXES
        + """<http://ex.org/family> a owl:Ontology ; owl:imports <http://ex.org/base> ,
        <http://ex.org/missing> . :C rdfs:subClassOf :D ."""
    )
    base = "<http://ex.org/base> a owl:Ontology . :D rdfs:subClassOf :E ."
    (tmp_path / "base.ttl").write_text(PREFIXES + base)
    return tmp_path


def test_ontology__is_a_graph_of_its_own_and_counts(files: Path) -> None:
    store = store_of(":x a :C .")
    report = store.reason("owl-rl", ontology=files / "family.ttl", imports=files)
    assert is_a(store, "x", "D") and is_a(store, "x", "E")
    graphs = {graph.value for graph in store.named_graphs()}
    assert graphs == {"http://ex.org/family", "http://ex.org/base"}
    assert len(report.unresolved) == 1 and "http://ex.org/missing" in report.unresolved[0]


def test_ontology__given_again_does_nothing_and_changed_is_a_difference(files: Path) -> None:
    store = store_of(":x a :C .")
    file = files / "family.ttl"
    store.reason("owl-rl", ontology=file, imports=files)
    commit = store.commit
    store.reason("owl-rl", ontology=file, imports=files)
    assert store.commit == commit
    file.write_text(file.read_text().replace(":C rdfs:subClassOf :D", ":C rdfs:subClassOf :F"))
    store.reason("owl-rl", ontology=file, imports=files)
    assert is_a(store, "x", "F") and not is_a(store, "x", "D") and not is_a(store, "x", "E")
    store.remove_graph(NamedNode("http://ex.org/family"))
    assert not is_a(store, "x", "F")


# -- inconsistencies ------------------------------------------------------------------------------


def test_inconsistencies__have_rule_axiom_and_causes_and_go_with_them() -> None:
    store = store_of(
        """:p a owl:IrreflexiveProperty . :a :p :a . :C owl:disjointWith :D .
        :x a :C , :D . :y a :C , :D .""",
        "owl-rl",
    )
    found = store.inconsistencies
    assert found.counts == {"prp-irp": 1, "cax-dw": 2}
    (irreflexive,) = [one for one in found if one.constraint == "prp-irp"]
    assert [str(axiom.o) for axiom in irreflexive.axioms] == [
        "<http://www.w3.org/2002/07/owl#IrreflexiveProperty>"
    ]
    assert ":p[:a, :a]" in str(store.why(irreflexive))
    store.remove(Quad(n("C"), NamedNode("http://www.w3.org/2002/07/owl#disjointWith"), n("D")))
    assert store.inconsistencies.counts == {"prp-irp": 1}


def test_strict__refuses_what_adds_violations() -> None:
    store = store_of(":p a owl:IrreflexiveProperty .", "owl-rl", strict=True)
    with pytest.raises(InconsistencyError, match="prp-irp"):
        store.add(Quad(n("a"), n("p"), n("a")))
    assert len(store) == 1
    store.add(Quad(n("a"), n("p"), n("b")))
    store.reason(strict=False)
    store.add(Quad(n("a"), n("p"), n("a")))
    assert len(store.violations()) == 1


# -- SKOS -----------------------------------------------------------------------------------------


def test_skos__extensions_of_ones_own_are_under_its_rules() -> None:
    store = store_of(
        """:broaderGeneric rdfs:subPropertyOf skos:broader . :a :broaderGeneric :b .
        :b skos:broader :c .""",
        "skos",
    )
    core = "http://www.w3.org/2004/02/skos/core#"
    assert Quad(n("a"), NamedNode(core + "broaderTransitive"), n("c")) in store
    assert Quad(n("b"), NamedNode(core + "narrower"), n("a")) in store
    assert Quad(n("a"), NamedNode(core + "broader"), n("c")) not in store
    assert is_a_concept(store, "c")


def is_a_concept(store: Store, name: str) -> bool:
    concept = NamedNode("http://www.w3.org/2004/02/skos/core#Concept")
    return Quad(n(name), RDF_TYPE, concept) in store


def test_skos__exact_match_is_not_the_same() -> None:
    store = store_of(":a skos:exactMatch :b . :a :p 1 .", "skos", "owl-rl")
    assert next(store.quads_for_pattern(None, SAME_AS, None), None) is None
    assert next(store.quads_for_pattern(n("b"), n("p"), None), None) is None


# -- reports --------------------------------------------------------------------------------------


def warnings_of(text: str) -> set[str]:
    store = Store()
    store.load(PREFIXES + text, "turtle")
    return {warning.code for warning in store.reason("owl-rl").warnings}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (":x a :C .", "no-axioms"),
        ("<https://ex.org/x> a <https://ex.org/C> . :C rdfs:subClassOf :D .", "http-https"),
        (":x a :Whale . :Dog rdfs:subClassOf :Animal .", "strangers"),
        (
            ":x a :Persn . :y a :Dog . :Dog rdfs:subClassOf :E . :Person rdfs:subClassOf :E .",
            "misspelt",
        ),
        (":p rdfs:range :C . :x :p 'text' .", "literal-in-class"),
    ],
)
def test_report__says_why_little_may_follow(text: str, code: str) -> None:
    assert code in warnings_of(text)


def test_report__of_what_is_right_warns_of_nothing() -> None:
    assert (
        warnings_of(":C rdfs:subClassOf :D . :x a :C . :p rdfs:range xsd:integer . :x :p 5 .")
        == set()
    )


def test_report__lists_axioms_used_and_outside() -> None:
    store = store_of(
        """:C rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :D ] .
        :D rdfs:subClassOf :E . :x a :C ."""
    )
    report = store.reason("owl-rl")
    assert report.axioms == 2 and report.outside_count == 1
    assert "someValuesFrom" in report.outside[0]
    assert report.rules_by_id["cax-sco"] >= 1
    assert "outside" in str(report)


def test_facts_by_rule__counts_what_each_concludes() -> None:
    store = store_of(
        """:C rdfs:subClassOf :D . :D rdfs:subClassOf :E . :x a :C . :y a :D .
        :p a owl:SymmetricProperty . :a :p :b .""",
        "owl-rl",
    )
    assert store.facts_by_rule() == {"cax-sco": 3, "prp-symp": 2, "scm-sco": 1}


# -- datatypes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("regime", ["rdfs", "owl-rl", "owl-horst"])
@pytest.mark.parametrize(
    ("text", "clash"),
    [
        (":p rdfs:range xsd:integer , xsd:string . :a :p :b .", True),
        (":p rdfs:range xsd:integer , xsd:decimal . :a :p :b .", False),
        (":p rdfs:range xsd:float , xsd:double . :a :p _:b .", True),
        (":p rdfs:range xsd:token , rdfs:Literal , rdf:PlainLiteral . :a :p _:b .", False),
        (":p rdfs:range rdf:XMLLiteral . :a :p '<b/>'^^rdf:XMLLiteral .", False),
        (":p rdfs:range rdf:XMLLiteral , xsd:string . :a :p '<b/>'^^rdf:XMLLiteral .", True),
        (":p rdfs:range xsd:date . :q rdfs:range xsd:dateTime . :a :p _:b . :c :q _:b .", True),
        (":p rdfs:range xsd:byte . :a :p 300 .", True),
        (":p rdfs:range xsd:byte . :a :p '30'^^xsd:double .", True),
        (":p rdfs:range xsd:byte . :a :p 30.0 .", False),
        (":a :p '<b>'^^rdf:XMLLiteral .", True),
        (":a :p '<b>x</b> y'^^rdf:XMLLiteral .", False),
        (":a :p '</x><x>'^^rdf:XMLLiteral .", True),
        (":a :p '<!DOCTYPE x><x/>'^^rdf:XMLLiteral .", True),
        (":a :p '&unknown;'^^rdf:XMLLiteral .", True),
        (":a :p 'one'^^xsd:integer .", True),
    ],
)
def test_datatypes__that_clash_are_inconsistent(text: str, clash: bool, regime: str) -> None:
    prefix = "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n"
    store = Store()
    store.load(PREFIXES + prefix + text, "turtle")
    store.reason(regime)
    assert bool(store.violations()) == clash
    for violation in store.violations():
        assert violation.constraint == "dt-not-type" and store.why(violation)


def test_equals__are_looked_at_pair_by_pair() -> None:
    """Of n equals there are n² facts; eq-rep-s over owl:sameAs looked at n³."""
    count = 120
    store = Store()
    pairs = " ".join(f":hub owl:sameAs :n{i} ." for i in range(1, count))
    store.load(f"{PREFIXES}{pairs} :hub :p :x . :x :q :hub .", "turtle")
    report = store.reason("owl-rl")
    assert len(store) == count * (count - 1) + 2 * count
    assert report.rows_fetched < 40 * count * count


@pytest.mark.parametrize("strategy", ["dred", "dred_c", "bf", "fbf_c", "rematerialise"])
def test_rule_without_one_property__follows_changes_of_all_others(strategy: str) -> None:
    prefix = "PREFIX : <http://ex.org/> "
    rule = f"""{prefix} [?t, ?p, ?o] :- :same[?s, ?t], [?s, ?p, ?o],
        FILTER(!SAMETERM(?p, :same)), FILTER(!SAMETERM(?p, :never)) ."""
    facts = [":a :same :b", ":b :same :c", ":a :p :x", ":a :never :x", ":c :same :a", ":b :q :y"]
    store = Store()
    store.reason(rules=rule, tuning={"strategy": strategy})
    for held in (facts, facts[2:], facts, facts[:2] + facts[3:], facts[:4], facts):
        gone = " . ".join(fact for fact in facts if fact not in held)
        with store.transaction() as transaction:
            transaction.load(PREFIXES + " . ".join([*held, ""]), "turtle")
            transaction.update(f"{prefix} DELETE DATA {{ {gone} }}")
        fresh = store_of(" . ".join([*held, ""]), rules=rule.replace("!SAMETERM(?p, :", "?p != (:"))
        assert set(map(str, store)) == set(map(str, fresh)), held
