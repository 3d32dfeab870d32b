"""CONSTRUCT rules conclude what repeating the queries concludes, also after changes."""

from __future__ import annotations

import random

import pytest

from tests.sparql_rules.random_constructs import PREFIX, Constructs, repeated
from triplestore import Store, check_rules
from triplestore.errors import TripleStoreError


def _accepted(made: Constructs, layer: int, count: int) -> list[str]:
    """Rules that are not refused; what is refused is reported, never concluded wrongly."""
    found: list[str] = []
    while len(found) < count:
        rule = made.rule(layer)
        problems = [one for one in check_rules(PREFIX + rule) if not one.warning]
        if all(one.code in ("construct", "unstratifiable") for one in problems):
            found += [rule] * (not problems)
            continue
        raise AssertionError(f"{rule}\n{problems[0]}")
    return found


def _compare(seed: int, changes: int = 2) -> int:
    """The number of inferred triples that were compared."""
    made = Constructs(seed)
    layers = [_accepted(made, 1, 2), _accepted(made, 2, 2)]
    quads = made.data()
    wanted = repeated(quads, layers)
    if wanted is None:
        return 0
    store = Store()
    store.extend(quads)
    text = PREFIX + " ;\n".join(layers[0] + layers[1])
    try:
        store.reason(rules=text)
    except TripleStoreError as error:
        if "stratif" in str(error) or "negat" in str(error):
            return 0
        raise
    _require_equal(store, wanted, seed, text)
    compared = len(wanted) - len(quads)
    chosen = random.Random(seed)
    for _ in range(changes):
        gone = chosen.sample(quads, 4)
        new = [quad for quad in made.data(5) if quad not in quads]
        quads = [quad for quad in quads if quad not in gone] + new
        with store.transaction() as t:
            t.remove_all(gone)
            t.extend(new)
        wanted = repeated(quads, layers)
        if wanted is None:
            break
        _require_equal(store, wanted, seed, text)
        compared += len(wanted) - len(quads)
    return compared


def _require_equal(store: Store, wanted: set[object], seed: int, text: str) -> None:
    found = {quad.triple for quad in store}
    missing, extra = wanted - found, found - wanted
    assert not missing, f"seed {seed}: missing {sorted(map(str, missing))[:3]}\n{text}"
    assert not extra, f"seed {seed}: not concluded {sorted(map(str, extra))[:3]}\n{text}"


def test_rules__conclude_what_repetition_concludes() -> None:
    assert sum(_compare(seed) for seed in range(40)) > 400


@pytest.mark.long
def test_rules_long__conclude_what_repetition_concludes() -> None:
    assert sum(_compare(seed) for seed in range(1000, 6000)) > 10_000
