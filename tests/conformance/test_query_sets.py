"""Queries that people asked of Wikidata (WDBench's selection of its log), by the thousand.

All are parsed and planned. Some are answered on a made graph of their own words, and pyoxigraph
must count the same.
"""

from __future__ import annotations

import random
import re
from collections import Counter

import pyoxigraph as ox
import pytest

from tests.conformance.sparql_evaluation import ROOT
from triplestore import Store

FOLDER = ROOT.parents[1] / "sparql-query-sets" / "wdbench"
NO_SETS = f"no queries at {FOLDER}: set TRIPLESTORE_DATA to the folder with sparql-query-sets"
KINDS = ["c2rpqs", "multiple_bgps", "opts", "paths", "single_bgps"]

PROPERTY = re.compile(r"<http://www\.wikidata\.org/prop/direct/[^>]*>")
ENTITY = re.compile(r"<http://www\.wikidata\.org/entity/[^>]*>")

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=NO_SETS)


def patterns(kind: str) -> list[str]:
    lines = (FOLDER / f"{kind}.txt").read_text().splitlines()
    return [line.partition(",")[2] for line in lines if line.strip()]


def counted(pattern: str) -> str:
    return f"SELECT (COUNT(*) AS ?n) WHERE {{ SELECT * WHERE {{ {pattern} }} }}"


def graph_for(asked: list[str], rng: random.Random) -> bytes:
    """Triples of the words of some patterns, a few entities in most of them."""
    properties = Counter(word for pattern in asked for word in PROPERTY.findall(pattern))
    entities = sorted({word for pattern in asked for word in ENTITY.findall(pattern)})
    often = rng.sample(entities, min(40, len(entities)))
    weights = [count**0.5 for count in properties.values()]

    def entity() -> str:
        return rng.choice(often if rng.random() < 0.8 else entities)

    lines = {
        f"{entity()} {rng.choices(list(properties), weights)[0]} {entity()} ." for _ in range(1500)
    }
    return "\n".join(sorted(lines)).encode()


@pytest.mark.parametrize("kind", KINDS)
def test_queries__all_can_be_planned_and_find_nothing_in_an_unrelated_graph(kind: str) -> None:
    store = Store()
    store.load("<http://example.org/a> <http://example.org/p> 1 .", format="turtle")
    found = patterns(kind)
    assert len(found) >= 280
    answers = 0
    for pattern in found:
        answers += len(list(store.query(f"SELECT * WHERE {{ {pattern} }}")))
    # Only a path of no steps leads somewhere in this graph: from each node to itself.
    assert (answers > 0) is (kind == "paths")


@pytest.mark.parametrize(
    "size", [40, pytest.param(1000, marks=pytest.mark.long)], ids=["short", "long"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_queries__have_as_many_answers_as_pyoxigraph_finds(kind: str, size: int) -> None:
    # pyoxigraph gives a pair once where several alternatives of a path match it; the
    # recommendation says as often as they do (18.4).
    rng = random.Random(size)
    found = [pattern for pattern in patterns(kind) if "|" not in pattern]
    asked = rng.sample(found, min(size, len(found)))
    data = graph_for(asked, rng)
    store, other = Store(), ox.Store()
    store.load(data, format="nt")
    other.load(data, format=ox.RdfFormat.N_TRIPLES)
    answered = 0
    for pattern in asked:
        (ours,), (theirs,) = store.query(counted(pattern)), other.query(counted(pattern))
        assert ours["n"] == theirs["n"], pattern
        answered += ours["n"] != ox.Literal(0)
    assert answered >= len(asked) // 20
