"""Random hostile rules and ontologies under random limits: each run ends, near its limits, with the
closure or with a clear error after which the store is as it was and goes on."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
from support.fuzzing import seeds

from tests.reasoning.limits.hostile import PREFIXES, a_list, chain, names, nested, star
from triplestore import Store
from triplestore.errors import BudgetError, CancelledError, ProgramError, TimeLimitError
from triplestore.kernels.jit import starting

LIMITED = (BudgetError, TimeLimitError, CancelledError)
OVERSHOOT = 1.5
"""Seconds of the processor past a limit that are let pass: other work runs beside the tests."""

GROWING = (
    "?y + 1",
    "?y * 3",
    'CONCAT(STR(?y), "x")',
    "CONCAT(STR(?y), STR(?x))",
    'IRI(CONCAT("http://ex.org/", STRUUID()))',
    'IRI(CONCAT("http://ex.org/", MD5(STR(?y))))',
    'REPLACE(STR(?y), "e", "ee")',
    "STRLEN(STR(?y)) + ?y",
)


def random_rules(rng: random.Random) -> str:
    """Some rules, of which each may be without an end, or make very much."""
    return "\n".join(random_rule(rng, number) for number in range(rng.randrange(1, 5)))


def random_rule(rng: random.Random, number: int) -> str:
    p, q, r = (rng.choice(names(3, "p")) for _ in "pqr")
    shapes = [
        f"{p}[?x, ?m] :- {q}[?x, ?y], BIND({rng.choice(GROWING)} AS ?m)",
        f"{p}[?m, ?x] :- {q}[?x, ?y], BIND({rng.choice(GROWING)} AS ?m)",
        f"{p}[?x, ?z] :- {q}[?x, ?y], {r}[?y, ?z]",
        f"{p}[?x, ?y] :- {q}[?x, ?z], {r}[?w, ?y]",
        f"{p}[?x, ?y] :- {q}[?z, ?x], {r}[?z, ?y], FILTER(STRLEN(CONCAT(STR(?x), STR(?y))) > 9)",
        f"{p}[?x, ?y] :- "
        + ", ".join(f"{q}[?a{i}, ?b{i}]" for i in range(rng.randrange(2, 40)))
        + f", {r}[?x, ?y]",
        f"owl:sameAs[?y, ?z] :- {q}[?x, ?y], {r}[?x, ?z]",
        f"rdfs:subClassOf[?x, ?y] :- {q}[?x, ?y]",
        f"{p}[?x, ?n] :- AGGREGATE({q}[?x, ?y] ON ?x BIND COUNT(?y) AS ?n)",
    ]
    return f'rule "r{number}" {rng.choice(shapes)} .'


def random_data(rng: random.Random) -> str:
    """Facts and axioms of which some are large."""
    size = rng.choice([3, 30, 300, 3000])
    p, q = (rng.choice(names(3, "p")) for _ in "pq")
    parts = [
        chain(size, p),
        star(size, q),
        "".join(f":n{rng.randrange(size)} {p} :n{rng.randrange(size)} .\n" for _ in range(size)),
        f':a {p} "x" . :b {q} 1 .\n',
        f"{p} a owl:TransitiveProperty , owl:SymmetricProperty .\n",
        f"{p} a owl:FunctionalProperty . {q} rdfs:subPropertyOf {p} .\n",
        chain(size, "rdfs:subClassOf", "c") + ":n0 a :c0 .\n",
        chain(size, "owl:sameAs"),
        ":C owl:unionOf _:l0 .\n" + a_list(names(size)),
        ":C owl:intersectionOf _:l0 . :n0 a :c0 .\n" + a_list(names(size)),
        "_:d a owl:AllDifferent ; owl:members _:l0 .\n" + a_list(names(size, "n")),
        f"{q} owl:propertyChainAxiom _:l0 .\n" + a_list([p] * min(size, 300)),
        nested(min(size, 300)),
    ]
    return "".join(rng.sample(parts, rng.randrange(1, 4)))


def random_limits(rng: random.Random) -> dict[str, Any]:
    tuning = {
        "max_seconds": rng.choice([0.02, 0.1, 0.5]),
        "max_facts": rng.choice([None, 10, 1000, 100_000]),
        "max_bytes": rng.choice([None, 100_000, 10_000_000, 100_000_000]),
        "max_terms": rng.choice([None, 10, 1000]),
        "modules": rng.choice(["auto", "off"]),
        "schemes": rng.choice(["auto", "plain", "compressed"]),
        "strategy": rng.choice(["auto", "dred_c", "counting"]),
    }
    return {name: value for name, value in tuning.items() if value is not None}


@pytest.mark.fuzz
def test_hostile_rules__end_near_their_limits_and_leave_the_store_as_it_was() -> None:
    for seed in seeds(6):
        rng = random.Random(seed)
        store = Store()
        store.load(PREFIXES + random_data(rng), "turtle")
        if rng.random() < 0.4:  # something is in force already
            store.reason(rules=PREFIXES + ":k[?x, ?y] :- :p0[?y, ?x] .")
        run(store, rng)


def worked() -> float:
    """Seconds that the processor worked, but for kernels: compiling them cannot be stopped, comes
    once a machine, and takes 7 s of the first seed where nothing is cached."""
    return time.process_time() - starting()[1]


def run(store: Store, rng: random.Random) -> None:
    """One attempt, and what must be true after it."""
    before = store.commit, len(store), store.count("inferred"), store.digest()
    tuning = random_limits(rng)
    regime = rng.choice(["", "rdfs", "owl-rl", "owl-rl"])
    patience = rng.choice([None, None, rng.randrange(60)])
    asked = [0]

    def cancel() -> bool:
        asked[0] += 1
        return patience is not None and asked[0] > patience

    started = worked()
    try:
        store.reason(
            *([regime] if regime else []),
            rules=PREFIXES + random_rules(rng) if not regime or rng.random() < 0.7 else None,
            equality=rng.choice(["rules", "rewrite"]) if regime else None,
            tuning=tuning,
            cancel=cancel,
        )
        ended = True
    except (*LIMITED, ProgramError):
        ended = False
    spent = worked() - started
    assert spent < tuning["max_seconds"] + OVERSHOOT, (spent, tuning)
    if not ended:
        assert (store.commit, len(store), store.count("inferred"), store.digest()) == before
        store.load(PREFIXES + ":new :p0 :newer . :newer :p0 :newest .", "turtle")
    assert store.audit(), "what is inferred is what follows"
