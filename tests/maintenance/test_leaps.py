"""Transitive rules that others go through: followed in one step, exactly as rule by rule.

The rules themselves are the oracle: the same program with modules (and so leaps) turned off.
"""

from __future__ import annotations

import random

import pytest
from support.fuzzing import each_seed

from triplestore import NamedNode, Quad, Store

EX = "http://example.org/"
BELOW, SAME, PARENT = (NamedNode(EX + name) for name in ("below", "same", "parent"))
NODES = [NamedNode(f"{EX}n{number}") for number in range(9)]
CLOSED = NamedNode(EX + "Closed")
TOP, BOTTOM = NamedNode(EX + "top"), NamedNode(EX + "bottom")

TRANSITIVE = ":below[?a, ?c] :- :below[?a, ?b], :below[?b, ?c]"
FILTERS = [
    "",
    "FILTER(!SAMETERM(?a, ?c))",
    "FILTER(!SAMETERM(?c, ?a) && !SAMETERM(?a, :bottom) && !SAMETERM(?c, :top))",
    "FILTER(!SAMETERM(?a, :bottom)), FILTER(!SAMETERM(:top, ?c) && !SAMETERM(?a, :n3))",
    "FILTER(!SAMETERM(?a, ?c)), FILTER(!SAMETERM(?b, :n1))",  # a middle node: no leap
]
AROUND = """
:same[?a, ?b] :- :below[?a, ?b], :below[?b, ?a], FILTER(!SAMETERM(?a, ?b)) .
:below[?a, ?b], :below[?b, ?a] :- :same[?a, ?b] .
:below[?x, ?y] :- :parent[?x, ?a], :below[?a, ?b], :parent[?y, ?b], FILTER(!SAMETERM(?x, ?y)) .
"""


def program(rule_filter: str) -> str:
    transitive = f"{TRANSITIVE}{', ' if rule_filter else ''}{rule_filter} ."
    return f"@prefix : <{EX}> .\n{transitive}\n{AROUND}"


def some_quads(rng: random.Random, size: int) -> list[Quad]:
    ends = [*NODES, TOP, BOTTOM]
    made = []
    for _ in range(size):
        kind = BELOW if rng.random() < 0.7 else rng.choice((SAME, PARENT))
        made.append(Quad(rng.choice(ends), kind, rng.choice(ends)))
    return made


def facts(store: Store) -> set[tuple[str, str]]:
    return {
        (str(quad), facts)
        for facts in ("explicit", "inferred")
        for quad in store.quads_for_pattern(None, None, None, facts=facts)
    }


def changed(stores: list[Store], added: list[Quad], removed: list[Quad]) -> None:
    for store in stores:
        with store.transaction() as transaction:
            for quad in removed:
                transaction.remove(quad)
            for quad in added:
                transaction.add(quad)


@pytest.mark.parametrize("rule_filter", FILTERS)
@each_seed(range(12))
def test_leaps__find_what_the_rules_find(rule_filter: str, seed: int) -> None:
    rng = random.Random(seed * len(FILTERS) + FILTERS.index(rule_filter))
    leaping, plain = Store(), Store()
    held: list[Quad] = some_quads(rng, rng.choice((4, 12, 20)))
    changed([leaping, plain], held, [])
    leaping.reason(rules=program(rule_filter))
    plain.reason(rules=program(rule_filter), tuning={"modules": "off"})
    assert facts(leaping) == facts(plain)
    for _ in range(5):
        removed = rng.sample(held, min(len(held), rng.randrange(4)))
        added = some_quads(rng, rng.randrange(5))
        changed([leaping, plain], added, removed)
        held = [quad for quad in [*held, *added] if quad not in set(removed) - set(added)]
        assert facts(leaping) == facts(plain)
    assert leaping.audit()


def chain(length: int) -> str:
    links = (f"<{EX}n{i}> <{EX}below> <{EX}n{i + 1}> ." for i in range(length))
    return "\n".join(links)


def test_leaps__are_taken_and_bring_each_pair_once() -> None:
    store = Store()
    store.load(chain(60), format="nt")
    report = store.reason(rules=program(FILTERS[1]))
    pairs = 60 * 61 // 2
    assert store.count("inferred") == pairs - 60
    derivations = [stratum.instances for stratum in report.strata]
    assert sum(found.get("leaps", 0) for found in derivations) == pairs - 60
    # The rule by itself would consider an instance for each node between two others.
    assert sum(found.get("insertion", 0) for found in derivations) < 60 * 60


def test_leaps__a_middle_node_that_is_filtered_is_left_to_the_rules() -> None:
    store = Store()
    store.load(chain(5), format="nt")
    report = store.reason(rules=program(FILTERS[-1]))
    assert not any("leaps" in stratum.instances for stratum in report.strata)
    assert Quad(NODES[0], BELOW, NODES[2]) not in store
    assert Quad(NODES[2], BELOW, NODES[5]) in store


def test_leaps__a_rule_that_comes_later_follows_what_was_there() -> None:
    store = Store()
    store.load(chain(4), format="nt")
    store.reason(rules=f"@prefix : <{EX}> .{AROUND}")
    assert store.count("inferred") == 0
    store.reason(rules=program(FILTERS[1]))
    assert Quad(NODES[0], BELOW, NODES[4]) in store
    assert store.audit()


def test_leaps__a_long_chain_that_one_edge_closes() -> None:
    """The new pairs are many though the edge is one: it leaps; and back, when it goes."""
    store = Store()
    store.load(chain(60), format="nt")
    middle = Quad(NamedNode(f"{EX}n30"), BELOW, NamedNode(f"{EX}n31"))
    store.reason(rules=program(FILTERS[1]))
    whole = store.count("inferred")
    store.remove(middle)
    assert store.count("inferred") == 30 * 31 // 2 + 29 * 30 // 2 - 59
    store.add(middle)
    assert store.count("inferred") == whole
    assert store.audit()


def test_leaps__stay_within_the_budget() -> None:
    from triplestore.errors import BudgetError

    store = Store()
    store.load(chain(400), format="nt")
    with pytest.raises(BudgetError, match="max_bytes"):
        store.reason(rules=program(FILTERS[1]), tuning={"max_bytes": 100_000})
    assert store.count("inferred") == 0


ASKED = [
    ":below[?a, ?b], :Closed[:below], :below[?b, ?c]",
    ":kind[:below, :closed], :below[?a, ?b], :below[?b, ?c], FILTER(!SAMETERM(?a, ?c))",
    ":below[?a, ?b], :below[?b, ?c], :Closed[:below], :kind[:below, :closed]",
    ":below[?a, ?b], :below[?b, ?c], :below[:n1, :n2]",
    ":below[?a, ?b], :below[?b, ?c], [:below, :kind, :closed], :t[:n1, :n2, :n3]",
]
"""Bodies of a transitive rule that asks for facts without variables."""
WHICH = """
:Closed[:below] :- :same[:n1, ?x] .
:kind[:below, :closed] :- :same[:n2, ?x], :below[?x, ?y] .
:t[?x, ?y, ?z] :- :below[?x, ?y], :below[?y, ?z] .
:same[?x, ?y] :- :below[?x, ?y], :Closed[?x] .
"""


@pytest.mark.parametrize("body", ASKED)
@each_seed(range(8))
def test_leaps__of_rules_that_ask_for_facts_that_come_and_go(body: str, seed: int) -> None:
    rng = random.Random(seed * len(ASKED) + ASKED.index(body))
    text = f"@prefix : <{EX}> .\n:below[?a, ?c] :- {body} .\n{AROUND}{WHICH}"
    below = NamedNode(EX + "below")
    switches = [
        Quad(below, NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"), CLOSED),
        Quad(below, NamedNode(EX + "kind"), NamedNode(EX + "closed")),
    ]
    leaping, plain = Store(), Store()
    held: list[Quad] = some_quads(rng, rng.choice((8, 16))) + rng.sample(switches, rng.randrange(3))
    changed([leaping, plain], held, [])
    leaping.reason(rules=text)
    plain.reason(rules=text, tuning={"modules": "off"})
    assert facts(leaping) == facts(plain)
    for _ in range(6):
        removed = rng.sample(held, min(len(held), rng.randrange(3)))
        added = some_quads(rng, rng.randrange(3)) + rng.sample(switches, rng.randrange(3))
        changed([leaping, plain], added, removed)
        held = [quad for quad in [*held, *added] if quad not in set(removed) - set(added)]
        assert facts(leaping) == facts(plain)
        assert leaping.audit()


def test_leaps__a_clique_under_a_premise_is_found_without_its_instances() -> None:
    axioms = ":Closed[:below] :- :kind[:below, :closed] . :below[?y, ?x] :- :below[?x, ?y] ."
    rule = ":below[?a, ?c] :- :below[?a, ?b], :below[?b, ?c], :Closed[:below] ."
    store = Store()
    size = 400
    ends = [NamedNode(f"{EX}i{n}") for n in range(size)]
    store.extend(Quad(ends[n], BELOW, ends[n + 1]) for n in range(size - 1))
    # :kind depends on :below, so that no module owns the closure
    again = ":kind[:below, :closed] :- :below[?x, ?x], :Closed[:below] ."
    store.reason(rules=f"@prefix : <{EX}> .\n{axioms}\n{rule}\n{again}")
    assert store.count("inferred") == size - 1
    with store.transaction() as transaction:
        transaction.add(Quad(BELOW, NamedNode(EX + "kind"), NamedNode(EX + "closed")))
        report = transaction.report
    assert len(store) == size * size + 2
    assert report.derivations["leaps"] > 0
    assert sum(report.derivations.values()) < size**3 / 20  # by the rule 2 n³
