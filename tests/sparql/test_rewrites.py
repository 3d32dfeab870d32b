"""Each pass of the rewrites: what it makes of a query, told as text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from triplestore.sparql.algebra.nodes import Node, walk
from triplestore.sparql.rewrites import expand_paths, push_filters, use_equalities
from triplestore.sparql.syntax.parser import parse_query

Pass = Callable[[Node], Node]


def pattern(text: str) -> Node:
    return parse_query(f"ASK {text}", prefixes={"": "http://ex.org/"}).pattern


CASES: list[tuple[str, Pass, str, str]] = [
    ("inverse", expand_paths, "{ ?x ^:p ?y }", "{ ?y :p ?x }"),
    ("alternative", expand_paths, "{ ?x :p|:q ?y }", "{ { ?x :p ?y } UNION { ?x :q ?y } }"),
    ("closure of an inverse", expand_paths, "{ ?x ^(:p+) ?y }", "{ ?y :p+ ?x }"),
    (
        "a filter goes into both parts of a union",
        push_filters,
        "{ { ?x :p ?y } UNION { ?x :q ?y } FILTER(?y > 1) }",
        "{ { ?x :p ?y FILTER(?y > 1) } UNION { ?x :q ?y FILTER(?y > 1) } }",
    ),
    (
        "a filter on what is surely there goes below OPTIONAL",
        push_filters,
        "{ ?x :p ?y OPTIONAL { ?x :q ?z } FILTER(?y > 1) }",
        "{ { ?x :p ?y FILTER(?y > 1) } OPTIONAL { ?x :q ?z } }",
    ),
    (
        "a filter on what may be missing stays above OPTIONAL",
        push_filters,
        "{ ?x :p ?y OPTIONAL { ?x :q ?z } FILTER(?z > 1) }",
        "{ ?x :p ?y OPTIONAL { ?x :q ?z } FILTER(?z > 1) }",
    ),
    (
        "a filter goes below BIND, but not if it looks at its variable",
        push_filters,
        "{ ?x :p ?y BIND(?y + 1 AS ?z) FILTER(?y > 1) FILTER(?z > 2) }",
        "{ { ?x :p ?y FILTER(?y > 1) } BIND(?y + 1 AS ?z) FILTER(?z > 2) }",
    ),
    (
        "a filter goes into the left side of MINUS",
        push_filters,
        "{ ?x :p ?y MINUS { ?x :q ?z } FILTER(?y > 1) }",
        "{ { ?x :p ?y FILTER(?y > 1) } MINUS { ?x :q ?z } }",
    ),
    (
        "a filter with a random number stays",
        push_filters,
        "{ { ?x :p ?y } UNION { ?x :q ?y } FILTER(?y > RAND()) }",
        "{ { ?x :p ?y } UNION { ?x :q ?y } FILTER(?y > RAND()) }",
    ),
    (
        "the IRI that a variable equals is looked up",
        use_equalities,
        "{ ?x :p ?y FILTER(?y = :a) }",
        "{ ?x :p ?y VALUES ?y { :a } }",
    ),
    (
        "IRIs of a list are looked up, each once",
        use_equalities,
        "{ ?x :p ?y FILTER(?y IN (:a, :b, :a)) }",
        "{ ?x :p ?y VALUES ?y { :a :b } }",
    ),
    (
        "a literal is compared, not looked up",
        use_equalities,
        "{ ?x :p ?y FILTER(?y = 1) }",
        "{ ?x :p ?y FILTER(?y = 1) }",
    ),
    (
        "what may be unbound is not looked up",
        use_equalities,
        "{ { ?x :p ?y OPTIONAL { ?x :q ?z } } FILTER(?z = :a) }",
        "{ { ?x :p ?y OPTIONAL { ?x :q ?z } } FILTER(?z = :a) }",
    ),
]


@pytest.mark.parametrize(("name", "change", "before", "after"), CASES, ids=[c[0] for c in CASES])
def test_rewrites__before_and_after(name: str, change: Pass, before: str, after: str) -> None:
    assert change(pattern(before)) == pattern(after)


def test_expand_paths__a_sequence_is_one_group_of_triple_patterns() -> None:
    made = expand_paths(pattern("{ ?x :a ?y . ?x (:p|^:q)/:r ?z . ?z :b ?y }"))
    kinds = [type(node).__name__ for node in walk(made)]
    assert kinds == ["Join", "Bgp", "Union", "Bgp", "Bgp"]


def test_push_filters__a_filter_of_exists_may_look_outside() -> None:
    # ?a is of the solution that is asked about: moving the filter into the union changes nothing,
    # but would make it a filter that cannot be a condition of the join.
    inner = "{ { ?x :p ?y } UNION { ?x :q ?y } FILTER(?y = ?a) }"
    assert push_filters(pattern(inner)) == pattern(inner)
