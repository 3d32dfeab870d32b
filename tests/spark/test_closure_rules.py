"""The program of a closure on Spark, and which of its rules mean the same for representatives.

Nothing here needs Spark: a list of keys stands for the terms of the data.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.maintenance.notation import program
from triplestore import Store
from triplestore.datalog.program import Rule
from triplestore.loaders.spark.closure.axioms import Axioms
from triplestore.loaders.spark.closure.equality import (
    SAME_AS,
    has_equality,
    is_safe,
    settled_among,
)
from triplestore.loaders.spark.closure.programs import Given, Programs
from triplestore.ontologies.translate.schema_rules import EQUALITY, OWL_RL, vocabulary_rules
from triplestore.relations import EXPLICIT
from triplestore.rules.simplify import simplify
from triplestore.storage.metadata import FILES

PREFIXES = """@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""


class Listed:
    """Terms by their places in a list, as `Naming` gives them by jobs."""

    def __init__(self, keys: Iterable[bytes]) -> None:
        self.keys = list(keys)

    def keys_of(self, ids: Iterable[int]) -> dict[int, bytes]:
        return {number: self.keys[number - 1] for number in ids}

    def ids_of(self, keys: Iterable[bytes]) -> dict[bytes, int]:
        wanted = list(keys)
        self.keys += [key for key in dict.fromkeys(wanted) if key not in self.keys]
        return {key: self.keys.index(key) + 1 for key in wanted}


def listed(store: Store) -> Listed:
    dictionary = store._database.state.dictionary
    return Listed(dictionary.key(number) for number in range(1, dictionary.size + 1))


def axioms_of(store: Store, naming: Listed) -> Axioms:
    """All triples of a store as axioms."""
    state = store._database.state
    stated, inferred = set(), set()
    for name in state.tables.names().tolist():
        relation = state.tables.relation(name)
        for s, o in relation.scan():
            status = relation.status_of((s, o)).tolist()
            for one, other, said in zip(s.tolist(), o.tolist(), status, strict=True):
                keys = [state.dictionary.key(number) for number in (one, name, other)]
                triple = tuple(naming.ids_of(keys)[key] for key in keys)
                (stated if said == EXPLICIT else inferred).add(triple)
    return Axioms(frozenset(stated), frozenset(inferred))


def programs(store: Store, *reason: str, **told: Any) -> tuple[Programs, Listed]:
    naming = listed(store)
    made = Programs(naming, axioms_of(store, naming), (), Given({FILES: b"1"}), reason, **told)
    return made, naming


def test_programs__keep_what_a_store_keeps() -> None:
    store = Store()
    store.load(PREFIXES + ":C rdfs:subClassOf :D . :p a owl:TransitiveProperty .", "turtle")
    made, _ = programs(store, "owl-rl")
    store.reason("owl-rl")
    meta = store._database.state.meta
    assert made.meta["regimes"] == meta["regimes"]
    assert not made.next(axioms_of(store, listed(store))), "the axioms are those that there were"


def test_programs__begin_with_what_follows_from_axioms() -> None:
    store = Store()
    store.load(PREFIXES + ":C rdfs:subClassOf :D . :D rdfs:subClassOf :E .", "turtle")
    made, naming = programs(store, "rdfs")
    key = b"\x01http://www.w3.org/2000/01/rdf-schema#subClassOf"
    names = naming.ids_of([key, b"\x01http://e/C", b"\x01http://e/E"]).values()
    assert (2, *names) in made.seeds()


def test_programs__do_not_begin_so_where_more_facts_may_take_some_away() -> None:
    store = Store()
    store.load(PREFIXES + ":C rdfs:subClassOf :D . :D rdfs:subClassOf :E .", "turtle")
    rules = ":f[?x] :- :g[?x], NOT :h[?x] ."
    made, _ = programs(store, "rdfs", rules=f"@prefix : <http://e/> . {rules}")
    assert made.seeds() == []


def test_programs__axioms_that_follow_from_data_make_another_one() -> None:
    store = Store()
    store.load(PREFIXES + ":T rdfs:subClassOf owl:TransitiveProperty . :p a :T .", "turtle")
    naming = listed(store)
    known = axioms_of(store, naming)
    some = {one for one in known.asserted if naming.keys[one[2] - 1] != b"\x01http://e/T"}
    stated = Axioms(frozenset(some), frozenset())
    made = Programs(naming, stated, (), Given(), ("owl-rl",), ontology=None)
    rules = len(made.program.rules)
    store.reason("owl-rl")
    assert made.next(axioms_of(store, naming))
    assert made.grew
    assert len(made.program.rules) > rules


@pytest.mark.parametrize("more", [0, 20_000])  # so many that their terms are kept as columns
def test_programs__ontology_files_are_graphs_named_after_the_datas_files(
    tmp_path: Path, more: int
) -> None:
    file = tmp_path / "o.ttl"
    axioms = "".join(f":C{n} rdfs:subClassOf :D .\n" for n in range(more))
    file.write_text(PREFIXES + "<http://e/o> a owl:Ontology . [] rdfs:subClassOf :D .\n" + axioms)
    store = Store()
    store.load(PREFIXES + ":x :p :y .", "turtle")
    made, naming = programs(store, "owl-rl", ontology=file)
    quads = made.quads()
    assert {naming.keys[g - 1] for *_, g in quads} == {b"\x01http://e/o"}
    blank = {key for key in naming.keys if key[0] == 2}
    store.reason("owl-rl", ontology=file)
    assert blank == {key for key in listed(store).keys if key[0] == 2}
    assert made.meta["files"] == store._database.state.meta["files"]


# -- equality -------------------------------------------------------------------------------------

EQUALS = "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"


def rule(text: str) -> Rule:
    (made,) = program(EQUALS + text).rules
    return made


@pytest.mark.parametrize(
    "text",
    [
        ":q[?x, ?z] :- :p[?x, ?y], :p[?y, ?z] .",
        ":D[?x] :- :C[?x], :p[?x, :a] .",
        "owl:sameAs[?y, ?z] :- :p[?x, ?y], :p[?x, ?z] .",
        "owl:sameAs[?y, ?z] :- :p[?x, ?y], :p[?x, ?z], FILTER(!SAMETERM(?y, ?z)) .",
    ],
)
def test_equality__these_mean_the_same_for_representatives(text: str) -> None:
    assert is_safe(rule(text))


@pytest.mark.parametrize(
    "text",
    [
        ":q[?y, ?z] :- :p[?x, ?y], :p[?x, ?z], FILTER(!SAMETERM(?y, ?z)) .",
        "owl:sameAs[?y, ?z] :- :p[?x, ?y], :p[?x, ?z], FILTER(SAMETERM(?y, ?z)) .",
        ":q[?x, ?y] :- :p[?x, ?y], FILTER(?y > 1) .",
        ":q[?x, ?n] :- :p[?x, ?y], BIND(STR(?y) AS ?n) .",
        ":q[?x, ?y] :- :p[?x, ?y], NOT :r[?x, ?y] .",
        ":q[?x, ?p] :- [?x, ?p, ?y] .",
        ":q[?x, ?y] :- owl:sameAs[?x, ?y] .",
        "owl:equivalentClass[?x, ?y] :- :p[?x, ?y] .",
        ":q[:a, :b] .",
    ],
)
def test_equality__these_may_mean_something_else(text: str) -> None:
    assert not is_safe(rule(text))


def test_equality__is_found_by_its_rules() -> None:
    rules = simplify(vocabulary_rules(EQUALITY)).rules
    assert has_equality(rules)
    assert not has_equality(rules[1:])
    assert not has_equality(simplify(vocabulary_rules(OWL_RL)).rules)


def test_equality__what_copies_is_settled_but_what_speaks_of_classes_is_not() -> None:
    rules = simplify(vocabulary_rules(EQUALITY)).rules
    settled = settled_among(rules, ())
    names = {str(rules[number].heads[0]) for number in range(len(rules)) if number not in settled}
    assert len(settled) == 5
    assert names
    assert not any(SAME_AS[1:].decode() in name for name in names)
