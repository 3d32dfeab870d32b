"""Watched results equal those of a fresh validation after each of random commits."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from shacl import generated
from triplestore import Store
from triplestore.shacl.reports.report import ValidationReport


def identities(report: ValidationReport) -> Counter[tuple[object, ...]]:
    return Counter(row.identity for row in report.rows)


def follow(seed: int, commits: int) -> None:
    """Watch random shapes over a schedule of commits."""
    random = Random(seed)
    shapes = generated.shapes(random, 8, queries=True)
    choice = random.choice(({}, {}, {"facts": "explicit"}, {"use_default_graph_as_union": True}))
    store = Store()
    store.load(generated.triples(random, 25), "ttl")
    if random.random() < 0.6:
        store.reason(random.choice(("rdfs", "owl-rl")))
    watch = store.watch_shapes(shapes, **choice)
    known = identities(watch.report)
    graphs = (None, None, generated.ox.NamedNode(generated.BASE + "g"))
    for _ in range(commits):
        with store.transaction() as t:
            for _ in range(random.choice((1, 1, 1, 3, 8))):
                (quad,) = generated.quads(generated.PREFIXES + generated.triple(random))
                graph = random.choice(graphs)
                if graph is not None:
                    quad = generated.ox.Quad(quad.subject, quad.predicate, quad.object, graph)
                if random.random() < 0.45:
                    present = sorted(
                        t.quads_for_pattern(None, None, None, facts="explicit"), key=str
                    )
                    if present:
                        t.remove(random.choice(present))
                else:
                    t.add(quad)
            listed = t.diff()
        fresh = identities(store.validate(shapes, **choice))
        # Blank nodes of a text are the same each time that it is read.
        assert identities(watch.report) == fresh, seed
        added = Counter(each.row.identity for each in listed.results_added)
        removed = Counter(each.row.identity for each in listed.results_removed)
        assert known - removed + added == fresh, seed
        assert t.change.results_added == added.total()
        assert t.change.results_removed == removed.total()
        known = fresh


@pytest.mark.parametrize("seed", range(4))
def test_watched__are_those_of_a_fresh_validation(seed: int) -> None:
    follow(seed, 10)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 200))
def test_watched__are_those_of_a_fresh_validation_at_length(seed: int) -> None:
    follow(seed, 100)
