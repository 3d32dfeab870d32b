"""A store that rewrites equals answers as one that replaces them by rules, after every update."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from pyoxigraph import NamedNode, Quad
from support.fuzzing import each_seed

from tests.ontologies.random_ontologies import (
    EQUALITY,
    EVERYTHING,
    META,
    VALUES,
    Kind,
    make_pool,
    schedule,
)
from tests.reasoning.equal_stores import (
    LONG,
    MODES,
    PREFIXES,
    assert_alike,
    bag,
    classes_of,
    pair_of,
)
from triplestore import Store
from triplestore.errors import ProgramError, UsageError
from triplestore.relations.views.equality import equality_of

SEEDS = [pytest.param(n, marks=LONG if n >= 1 else ()) for n in range(60)]


@pytest.mark.parametrize("kind", [EQUALITY, VALUES, EVERYTHING, META], ids=lambda kind: kind.name)
@pytest.mark.parametrize("seed", SEEDS)
def test_rewriting__along_random_schedules_equals_rules(kind: Kind, seed: int) -> None:
    random = Random(seed)
    pool = make_pool(random, kind, random.choice((15, 30, 45)))
    stores = (Store(), Store())
    for store, mode in zip(stores, MODES, strict=True):
        store.reason("owl-rl", equality=mode)
    for removed, added in schedule(random, pool, 6):
        done = []
        for store in stores:
            with store.transaction() as t:
                for fact in removed:
                    t.remove(Quad(*fact))
                for fact in added:
                    t.add(Quad(*fact))
            done.append(t.change)
        assert_alike(*stores)
        if kind is EQUALITY:  # others have types in classes without a name
            assert done[0] == done[1]


def changes() -> Iterator[tuple[str, str]]:
    """Data, and what is deleted of it, one way in which a class is split for each."""
    chain = ":a owl:sameAs :b . :b owl:sameAs :c . :c owl:sameAs :d . :a :p :x . :y :p :d ."
    yield chain, ":b owl:sameAs :c"
    yield chain, ":a :p :x"
    functional = ":f a owl:FunctionalProperty . :x :f :u , :v . :v :p :w . :w :p :u ."
    yield functional, ":x :f :u"
    yield functional, ":f a owl:FunctionalProperty"
    below = ":g rdfs:subPropertyOf :f . :f a owl:InverseFunctionalProperty . "
    below += ":a :g :k . :b :f :k . :c :g :k ; :p :a ."
    yield below, ":g rdfs:subPropertyOf :f"
    yield below, ":a :g :k"
    yield below, ":b :f :k"
    # each of two equalities follows from the other one, and from one fact beside them
    around = ":f a owl:FunctionalProperty . :x :f :u . :y :f :v . :g a owl:FunctionalProperty . "
    around += ":u :g :x . :v :g :y . :h a owl:FunctionalProperty . :z :h :x , :y . :u :p :o ."
    yield around, ":z :h :x"
    # a merged class or property is left to rules, whatever else is merged
    yield ":C owl:sameAs :D . :C rdfs:subClassOf :E . :a a :D ; owl:sameAs :b .", ":C owl:sameAs :D"
    yield ":p owl:sameAs :q . :a :p :b . :b owl:sameAs :c .", ":p owl:sameAs :q"
    # an individual becomes a property, and is none again
    yield ":a owl:sameAs :b . :a :p :x . :x :b :y .", ":x :b :y"


@pytest.mark.parametrize(("data", "gone"), [*changes()])
def test_rewriting__splits_what_a_deletion_takes_apart(data: str, gone: str) -> None:
    stores = pair_of(data)
    assert_alike(*stores)
    text = PREFIXES.replace("@prefix", "PREFIX").replace(" .", "")
    for word in ("DELETE", "INSERT", "DELETE"):
        for store in stores:
            store.update(f"{text} {word} DATA {{ {gone} }}")
        assert_alike(*stores)


def test_rewriting__stores_facts_of_representatives_once() -> None:
    chain = " . ".join(f":i{n} owl:sameAs :i{n + 1}" for n in range(99)) + " . :i50 :p :x , :y ."
    store = pair_of(chain)[1]
    assert classes_of(store) == 1
    tables = store._view().tables.with_schemes({})
    assert tables.total() == 99 + 2 + 2  # what is stated, and two facts of the representative
    assert len(store) == 100 * 99 + 2 * 100
    assert store.count("explicit") == 101


def test_rewriting__the_representative_is_an_iri_and_the_least() -> None:
    store = pair_of("_:b owl:sameAs :z . :z owl:sameAs :m . :m owl:sameAs _:a .")[1]
    equality = equality_of(store._view().tables)
    assert equality is not None
    (rep,) = equality.classes.reps.tolist()
    assert store._view().dictionary.term(rep) == NamedNode("http://ex.org/m")


def test_rewriting__is_durable(tmp_path: Path) -> None:
    data = ":f a owl:FunctionalProperty . :x :f :a , :b , :c . :c :p :o . :o owl:sameAs :q ."
    rules, _ = pair_of(data)
    path = f"{tmp_path}/store"
    with Store(path) as store:
        store.load(PREFIXES + data, "turtle")
        store.reason("owl-rl", equality="rewrite")
    with Store(path) as store:
        assert classes_of(store) == 2
        assert_alike(rules, store)
        for each in (rules, store):
            each.update("PREFIX : <http://ex.org/> DELETE DATA { :x :f :b }")
        assert_alike(rules, store)
        store.optimize()
        assert_alike(rules, store)
    with Store(path) as store:
        assert_alike(rules, store)
        for each in (rules, store):
            each.update("PREFIX : <http://ex.org/> INSERT DATA { :x :f :b }")
        assert_alike(rules, store)


def test_rewriting__modes_change_into_each_other() -> None:
    data = ":a owl:sameAs :b . :b owl:sameAs :c . :a :p :o . :s :q :c . :C owl:sameAs :D ."
    rules, store = pair_of(data)
    for mode, classes in (("rules", 0), ("rewrite", 2), ("rules", 0)):
        store.reason(equality=mode)
        assert classes_of(store) == classes
        assert_alike(rules, store)
    store.reason(equality="rewrite")
    for each in (rules, store):
        each.reason("none")
    assert_alike(rules, store)
    assert classes_of(store) == 0


def test_rewriting__a_way_that_does_not_exist() -> None:
    with pytest.raises(UsageError, match=r'say "rules" or "rewrite"'):
        Store().reason("owl-rl", equality="magic")


@pytest.mark.parametrize("axiom", [":same owl:equivalentProperty", "owl:sameAs rdfs:subPropertyOf"])
def test_same_as__of_a_thing_with_itself_is_a_premise_only_with_trivial_facts(axiom: str) -> None:
    objects = (axiom, "owl:sameAs" if axiom.startswith(":same") else ":same")
    data = " ".join(objects) + " . :a owl:sameAs :b . :c :p :d . :e owl:sameAs :e ."
    stores = pair_of(data)
    assert_alike(*stores)
    pairs = {f"<http://ex.org/{s}> <http://ex.org/{o}>" for s, o in ("aa", "ab", "ba", "bb", "ee")}
    query = "SELECT ?x ?y { ?x <http://ex.org/same> ?y }"
    for store in stores:
        assert {f"{x} {y}" for x, y in store.query(query)} == pairs
    stores[0].reason(trivial=True)
    found = {f"{x} {y}" for x, y in stores[0].query(query)}
    assert found > pairs
    assert "<http://ex.org/c> <http://ex.org/c>" in found


NEGATION = (
    PREFIXES
    + """
:Lonely[?x] :- :Person[?x], NOT :knows[?x, ?y] .
:friends[?x, ?n] :- :Person[?x], AGGREGATE(:knows[?x, ?y] ON ?x BIND COUNT(?y) AS ?n) .
"""
)


def test_negation__about_representatives() -> None:
    store = Store()
    data = ":a owl:sameAs :b . :b :knows :c . :c owl:sameAs :d . :a :knows :d ."
    store.load(PREFIXES + data + ":a a :Person . :c a :Person .", "turtle")
    store.reason("owl-rl", equality="rewrite", rules=NEGATION)
    found = store.query("SELECT ?x { ?x a :Lonely } ORDER BY ?x")
    assert [str(row[0]) for row in found] == [f"<http://ex.org/{x}>" for x in "cd"]
    found = store.query("SELECT ?x ?n { ?x :friends ?n } ORDER BY ?x")
    assert [(str(x)[-2], n.value) for x, n in found] == [("a", "1"), ("b", "1")]
    store.update("DELETE DATA { :a owl:sameAs :b }")  # :b knows :c still, and :a knows :d
    store.update("DELETE DATA { :a :knows :d }")
    found = store.query("SELECT ?x { ?x a :Lonely } ORDER BY ?x")
    assert [str(row[0]) for row in found] == [f"<http://ex.org/{x}>" for x in "acd"]


def test_negation__on_a_way_to_equality_is_refused_with_its_cycle() -> None:
    rules = (
        PREFIXES
        + """
    :Lonely[?x] :- :Person[?x], NOT :knows[?x, ?y] .
    :hermit[?x, :hut] :- :Lonely[?x] .
    """
    )
    store = Store()
    store.load(PREFIXES + ":hermit a owl:InverseFunctionalProperty .", "turtle")
    store.reason("owl-rl", equality="rewrite", rules=rules)
    before = bag(store)
    with pytest.raises(ProgramError) as refused:
        store.load(PREFIXES + ":a a :Person ; owl:sameAs :b . :c a :Person .", "turtle")
    steps = ["knows", "Lonely", "hermit", "owl:sameAs"]
    places = [str(refused.value).rindex(step) for step in steps]
    assert places == sorted(places)
    assert bag(store) == before


OF_NAMES = {
    "least text": "AGGREGATE(:p[?x, ?y] ON ?x BIND MIN(STR(?y)) AS ?v)",
    "lengths": "AGGREGATE(:p[?x, ?y] ON ?x BIND SUM(STRLEN(STR(?y))) AS ?v)",
    "comparisons": "AGGREGATE(:p[?x, ?y], :p[?x, ?z] ON ?x BIND COUNT(?y = ?z) AS ?v)",
}


@pytest.mark.parametrize("name", OF_NAMES)
def test_aggregates__of_what_a_name_looks_like_are_refused_beside_equality(name: str) -> None:
    """Rules cannot answer them either: equality changes all facts that they aggregate."""
    rules = f"{PREFIXES} :r[?x, ?v] :- {OF_NAMES[name]} ."
    messages = []
    for mode in MODES:
        store = Store()
        store.load(PREFIXES + ":g :p :a , :m .", "turtle")
        store.reason("owl-rl", equality=mode, rules=rules)
        before = bag(store)
        with pytest.raises(ProgramError, match="negation or aggregation in a cycle") as refused:
            store.load(PREFIXES + ":a owl:sameAs :b .", "turtle")
        assert bag(store) == before
        messages.append(str(refused.value))
    assert messages[0] == messages[1]


def test_aggregates__of_values_see_each_individual_once() -> None:
    rules = ":r[?x, ?v] :- AGGREGATE(:p[?x, ?y], :age[?y, ?n] ON ?x BIND SUM(?n + 1) AS ?v) ."
    store = Store()
    store.load(PREFIXES + ":g :p :a , :b . :a owl:sameAs :b ; :age 3 .", "turtle")
    store.reason("owl-rl", equality="rewrite", rules=PREFIXES + rules)
    assert [row[0].value for row in store.query("SELECT ?v { :g :r ?v }")] == ["4"]


def test_violations__all_that_rules_list() -> None:
    stores = pair_of(
        """:a owl:sameAs :b , :c . :a owl:differentFrom :b . :x a :C , :D ; owl:sameAs :y .
        :C owl:disjointWith :D . :p a owl:AsymmetricProperty . :a :p :x . :y :p :c ."""
    )
    assert classes_of(stores[1]) == 2
    assert_alike(*stores)
    found = stores[1].inconsistencies
    assert found.counts == {"eq-diff1": 9, "cax-dw": 2, "prp-asyp": 12}
    assert len(found.listed) == 9 + 2 + 12
    stores[1].update(text := "PREFIX : <http://ex.org/> DELETE DATA { :x a :D }")
    stores[0].update(text)
    assert_alike(*stores)


def test_violations__new_ones_are_those_that_come_with_a_merge() -> None:
    stores = pair_of(":a owl:sameAs :b ; owl:differentFrom :b . :C owl:disjointWith :D . :x a :C .")
    for store in stores:
        with store.transaction() as t:
            t.load(PREFIXES + ":y a :D . :b owl:sameAs :c . :x owl:sameAs :y .", "turtle")
            new = {str(one) for one in t.diff().new_violations}
            assert len(new) == 5 + 2, new  # (a, c), (b, c), and back; c; x and y
        assert t.change.new_violations == 7


def test_violations__of_a_large_class_are_counted_and_listed_in_pieces() -> None:
    chain = " . ".join(f":i{n} owl:sameAs :i{n + 1}" for n in range(1999))
    store = Store()
    store.load(PREFIXES + chain + " . :i7 owl:differentFrom :i8 . :i9 owl:sameAs :i9 .", "turtle")
    store.reason("owl-rl", equality="rewrite")
    found = store.inconsistencies
    assert found.counts == {"eq-diff1": 2000 * 1999 + 1 + 2000}
    assert len(found.listed) == 20


def test_violations__a_constraint_that_tells_names_apart_leaves_equality_to_rules() -> None:
    rules = """constraint "one" "two employers" :- :employs[?x, ?z], :employs[?y, ?z],
    FILTER(!SAMETERM(?x, ?y)) ."""
    stores = (Store(), Store())
    for store, mode in zip(stores, MODES, strict=True):
        store.load(PREFIXES + ":a owl:sameAs :b . :a :employs :c .", "turtle")
        store.reason("owl-rl", equality=mode, rules=PREFIXES + rules)
    assert classes_of(stores[1]) == 0
    assert_alike(*stores)
    assert len(stores[1].inconsistencies) == 2


def test_rewriting__beside_other_regimes() -> None:
    stores = (Store(), Store())
    data = """:a owl:sameAs :b . :a :p :x . :C rdfs:subClassOf :D . :D rdfs:subClassOf :E .
    :b a :C .     :p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :r ."""
    for store, mode in zip(stores, MODES, strict=True):
        store.load(PREFIXES + data, "turtle")
        store.reason("owl-rl", "skos", "rdfs", "swrl", equality=mode)
    assert classes_of(stores[1]) == 1
    assert_alike(*stores)


@each_seed(range(8))
def test_diff__of_rows_of_relations_is_of_all_members(seed: int) -> None:
    random, t = Random(seed), NamedNode("http://ex.org/t")
    things = [NamedNode(f"http://ex.org/n{n}") for n in range(4)]
    p, same = NamedNode("http://ex.org/p"), NamedNode("http://www.w3.org/2002/07/owl#sameAs")
    pool = [Quad(random.choice(things), p, random.choice(things)) for _ in range(6)]
    pool += [Quad(things[n], same, things[n + 1]) for n in range(3)]
    store = Store()
    rules = PREFIXES + ":t[?x, ?y, ?z] :- :p[?x, ?y], :p[?y, ?z] ."
    store.reason("owl-rl", rules=rules, equality="rewrite")
    for _ in range(6):
        before = set(store.tuples(t))
        with store.transaction() as transaction:
            for quad in random.sample(pool, 3):
                (transaction.add if random.random() < 0.6 else transaction.remove)(quad)
            diff = transaction.diff()
        now = set(store.tuples(t))
        assert sorted(map(str, diff.rows_added)) == sorted(str((t, *row)) for row in now - before)
        assert sorted(map(str, diff.rows_removed)) == sorted(str((t, *row)) for row in before - now)


def test_tuples__of_all_members() -> None:
    store = Store()
    store.load(PREFIXES + ":a owl:sameAs :b . :a :p :x .", "turtle")
    store.reason("owl-rl", equality="rewrite", rules=PREFIXES + ":t[?x, ?y, :k] :- :p[?x, ?y] .")
    found = {tuple(map(str, row)) for row in store.tuples(NamedNode("http://ex.org/t"))}
    assert {row[0] for row in found} == {"<http://ex.org/a>", "<http://ex.org/b>"}
    assert len(found) == 2


NAMES = """:a owl:sameAs :b . :a :p :x . :x :way :x . :k1 owl:sameAs :kind . :x :k :k1 .
:kind owl:sameAs <http://www.w3.org/2001/XMLSchema#integer> . :a :n 7 , "1"^^:kind .
:x :t <<( :b :p :x )>> . """


@pytest.mark.parametrize(
    "rule",
    [
        ":r[?x, ?y] :- :p[?x, ?z], :p[?y, ?z], FILTER(!SAMETERM(?x, ?y)) .",
        ":r[?x, ?n] :- :p[?x, ?z], BIND(STR(?x) AS ?n) .",
        ":r[?x, ?x] :- [?x, ?q, ?x] .",
        "[?x, ?q, ?y] :- :p[?x, ?y], :way[?q, ?z] .",
        ":r[?x, ?d] :- :n[?x, ?n], BIND(DATATYPE(?n) AS ?d) .",
        ":r[?x, ?d] :- :n[?x, ?n], BIND(STRDT('1', ?x) AS ?d) .",
        ":r[?x, ?s] :- :t[?x, ?t], BIND(SUBJECT(?t) AS ?s) .",
        ":r[?x, ?k] :- :k[?x, ?k], :n[?y, ?n], FILTER(<x-triplestore:in-datatype>(?n, ?k)) .",
        ":r[?x, ?y] :- :n[?x, ?z], :n[?y, ?z], FILTER(!<x-triplestore:same-value>(?x, ?y)) .",
    ],
)
def test_rules_that_look_at_names__leave_equality_to_rules(rule: str) -> None:
    stores = (Store(), Store())
    for store, mode in zip(stores, MODES, strict=True):
        store.load(PREFIXES + NAMES, "turtle")
        store.reason("owl-rl", equality=mode, rules=PREFIXES + rule)
    assert classes_of(stores[1]) == 0
    assert_alike(*stores)


@pytest.mark.parametrize(
    "items",
    [
        "BIND(UCASE(?n) AS ?r)",
        "BIND(MD5(?n) AS ?r)",
        "BIND(CONCAT('x', ?n) AS ?r)",
        "BIND(<http://www.w3.org/2001/XMLSchema#double>(?n) AS ?r)",
        "FILTER(DATATYPE(?n) = :kind), BIND(LANG(?n) AS ?r)",
        "FILTER(HASLANG(?n)), BIND(STRLANG(LCASE(?n), 'de') AS ?r)",
        "FILTER(<x-triplestore:same-value>(?n, 7)), BIND(?n + 1 AS ?r)",
    ],
)
def test_rules_that_look_at_values_only__leave_equality_to_rewriting(items: str) -> None:
    stores = (Store(), Store())
    rule = f":r[?x, ?r] :- :n[?x, ?n], {items} ."
    for store, mode in zip(stores, MODES, strict=True):
        store.load(PREFIXES + NAMES + ':a :n :b , "abc"@en , "x" .', "turtle")
        store.reason("owl-rl", equality=mode, rules=PREFIXES + rule)
    assert classes_of(stores[1]) > 0
    assert_alike(*stores)


def test_rewriting__after_a_scope_with_other_graphs() -> None:
    stores = (Store(), Store())
    for store, mode in zip(stores, MODES, strict=True):
        store.load(PREFIXES + ":a owl:sameAs :b . :a :p :x .", "turtle")
        store.load(PREFIXES + ":b :p :y .", "turtle", to_graph=NamedNode("http://ex.org/g"))
        store.reason("owl-rl", scope="union")
        store.reason("owl-rl", scope="default", equality=mode)
    assert classes_of(stores[1]) == 1
    assert_alike(*stores)


def test_rewriting__of_what_an_ontology_file_names_is_left_to_rules(tmp_path: Path) -> None:
    file = tmp_path / "o.ttl"
    file.write_text(PREFIXES + ":p a owl:FunctionalProperty . :a owl:sameAs :b . :C a owl:Class .")
    stores = (Store(), Store())
    for store, mode in zip(stores, MODES, strict=True):
        store.load(PREFIXES + ":x :p :c , :d . :a :q :e . :c :q :b .", "turtle")
        store.reason("owl-rl", ontology=str(file), equality=mode)
    assert classes_of(stores[1]) == 1
    assert_alike(*stores)
    for gone in (":x :p :c", ":c :q :b"):
        for store in stores:
            store.update(f"PREFIX : <http://ex.org/> DELETE DATA {{ {gone} }}")
        assert_alike(*stores)


def test_rewriting__is_seen_by_readers_of_another_process(tmp_path: Path) -> None:
    path = str(tmp_path / "store")
    with Store(path) as store:
        store.reason("owl-rl", equality="rewrite")
        reader = Store.read_only(path)
        store.load(PREFIXES + ":a owl:sameAs :b . :a :p :x .", "turtle")
        reader.refresh()
        assert bag(reader) == bag(store)
        store.update("PREFIX : <http://ex.org/> DELETE DATA { :a :p :x }")
        reader.refresh()
        assert bag(reader) == bag(store)


def test_rules__are_counted_and_described_for_representatives() -> None:
    _, store = pair_of(":a owl:sameAs :b . :t a owl:TransitiveProperty . :a :t :c . :c :t :b .")
    assert store.facts_by_rule()["prp-trp"] == 4
    assert "written out" in store.describe_rules("modules")


@pytest.mark.parametrize("schemes", ["plain", "compressed"])
def test_rewriting__beside_closures_that_are_not_written_out(schemes: str) -> None:
    data = """:t a owl:TransitiveProperty ; owl:inverseOf :u ; rdfs:subPropertyOf :v .
    :s a owl:TransitiveProperty , owl:SymmetricProperty .
    :a owl:sameAs :b . :c :t :d . :d :t :e . :k :s :l . :l :s :m ."""
    stores = (Store(), Store())
    for store, mode in zip(stores, MODES, strict=True):
        store.load(PREFIXES + data, "turtle")
        store.reason("owl-rl", equality=mode, tuning={"schemes": schemes})
    for word, fact in (
        ("INSERT", ":e :t :b"),  # the first one of :u and :v with a member, which are not written
        ("INSERT", ":a :t :f . :a :s :k"),
        ("INSERT", ":d owl:sameAs :b"),
        ("DELETE", ":d :t :e"),
        ("DELETE", ":a owl:sameAs :b"),
    ):
        done = [
            store.update(
                f"PREFIX : <http://ex.org/> PREFIX owl: <http://www.w3.org/2002/07/owl#> "
                f"{word} DATA {{ {fact} }}"
            )
            for store in stores
        ]
        assert done[0] == done[1]
        assert_alike(*stores)


def test_rewriting__after_a_transaction_that_failed(tmp_path: Path) -> None:
    stores = (Store(tmp_path / "one"), Store(tmp_path / "two"))
    rule = PREFIXES + ":q[?x, :named] :- :p[?x, ?y] ."
    for store, mode in zip(stores, MODES, strict=True):
        with pytest.raises(ZeroDivisionError), store.transaction() as t:
            t.load(PREFIXES + ":m owl:sameAs :o . :m :p :k .", "turtle")
            t.reason("owl-rl", equality=mode, rules=rule)
            raise ZeroDivisionError
        assert len(store) == 0
        store.load(PREFIXES + ":z owl:sameAs :y . :z :p :k .", "turtle")
        store.reason("owl-rl", equality=mode, rules=rule)
        store.load(PREFIXES + ":named owl:sameAs :other .", "turtle")
    assert_alike(*stores)
    assert classes_of(stores[1]) == 1
    for store in stores:
        store.close()
