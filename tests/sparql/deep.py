"""Queries that are deep or long: nested brackets, and chains of everything that can be chained."""

from __future__ import annotations

from collections.abc import Iterator


def nested(depth: int, opening: str, inner: str, closing: str) -> str:
    """The text inside `depth` pairs of brackets; `#` in the opening one becomes its number."""
    openings = (opening.replace("#", str(number)) for number in range(depth))
    return "".join(openings) + inner + closing * depth


def chain(length: int, part: str, between: str = " ") -> str:
    """`length` copies of the part; `#` is the number of the copy, and `##` the next number."""
    parts = (part.replace("##", str(n + 1)).replace("#", str(n)) for n in range(length))
    return between.join(parts)


def of_depth(n: int) -> Iterator[tuple[str, str]]:
    """Names and texts of queries with brackets `n` deep."""
    for name, path in (
        ("inverse", nested(n, "^(", ":p", ")")),
        ("closures", nested(n, "(", ":p", ")*")),
        ("sequences", nested(n, "(:p/", ":p", ")")),
    ):
        yield f"path of {name}", f"ASK {{ :b {path} ?y }}"
    for name, expression in (
        ("parentheses", nested(n, "(", "1", ")")),
        ("not", nested(n, "!", "true", "")),
        ("functions", nested(n, "STR(", "?n", ")")),
        ("choices", nested(n, "IF(?n = 1, 2, ", "1", ")")),
        ("or", nested(n, "(?n = 1 || ", "?n = 2", ")")),
        ("triples", nested(n, "TRIPLE(:a, :b, ", "1", ")")),
    ):
        yield name, f"SELECT ?x {{ ?s :n ?n BIND({expression} AS ?x) }} ORDER BY ({expression})"
        yield f"filter of {name}", f"ASK {{ ?s :n ?n FILTER({expression}) }}"
    yield "count", f"SELECT (COUNT({nested(n, 'STR(', '?x', ')')}) AS ?c) {{ ?x :p ?y }}"
    for name, opening, closing in (
        ("groups", "{ ?x :p ?y# ", "}"),
        ("filtered groups", "{ ?x :p ?y# FILTER(?y# != :c) ", "}"),
        ("optional", "OPTIONAL { ?x :n ?y# ", "}"),
        ("minus", "MINUS { ?x :q ?y# ", "}"),
        ("union", "{ ?x :p ?y# } UNION { ", "}"),
        ("graphs", "GRAPH ?g# { ?x :p ?y# ", "}"),
        ("exists", "FILTER EXISTS { ?x :p ?y# ", "}"),
        ("not exists", "FILTER NOT EXISTS { ?x :p ?y# ", "}"),
        ("not exists that look outside", "FILTER NOT EXISTS { ?x :p ?y# BIND(?y AS ?z#) ", "}"),
        ("exists that look outside", "FILTER EXISTS { ?x :p ?y# BIND(?y AS ?z#) ", "}"),
    ):
        yield name, f"SELECT * {{ ?x :p ?y {nested(n, opening, '', closing)} }} LIMIT 3"
    asked = nested(n // 2, "FILTER(EXISTS { ?x :p ?y# ", "", "} || false)")
    yield "exists in expressions", f"ASK {{ ?x :p ?y {asked} }}"
    select = nested(n // 2, "{ SELECT DISTINCT ?x { ", "?x :p ?y", "} LIMIT 10 }")
    yield "sub-queries", f"ASK {{ {select} }}"
    yield "blank nodes", f"ASK {{ ?x :p {nested(n, '[ :p ', ':a', ' ]')} }}"
    yield "lists", f"ASK {{ ?x :p {nested(n, '(', '?y', ')')} }}"


def algebra_of_depth(n: int) -> Iterator[tuple[str, str]]:
    """Names and texts of queries that are flat as texts, and whose algebra is `n` deep."""
    for name, part in (
        ("optional", "OPTIONAL { ?x :n ?y# }"),
        ("optional with filters", "OPTIONAL { ?x :n ?y# FILTER(?y# != ?x) }"),
        ("minus", "MINUS { ?x :q ?y# }"),
        ("bind", "BIND(STR(?x) AS ?y#)"),
    ):
        yield f"{name} rows", f"SELECT * {{ ?x :p ?y {chain(n, part)} FILTER(?x != :c) }}"
    yield (
        "bind, one of the other",
        f"SELECT * {{ BIND(1 AS ?y0) {chain(n, 'BIND(?y#+1 AS ?y##)')} }}",
    )
    yield "select", f"SELECT {chain(n, '(STR(?x) AS ?y#)')} {{ ?x :p ?y }}"
    yield "select, one of the other", f"SELECT (1 AS ?y0) {chain(n, '(?y#+1 AS ?y##)')} {{ }}"
    yield "aggregates", f"SELECT {chain(n, '(SUM(?y+#) AS ?z#)')} {{ ?x :n ?y }}"
    for sign in "+-*":
        yield f"chain of {sign}", f"SELECT * {{ ?x :n ?y BIND({chain(n, '?y', sign)} AS ?z) }}"


def of_length(n: int) -> Iterator[tuple[str, str]]:
    """Names and texts of queries with `n` parts that are all at one level."""
    yield "path of steps", f"SELECT * {{ :b {chain(n, ':p', '/')} ?y }} LIMIT 3"
    yield "path of alternatives", f"SELECT * {{ :b {chain(n, ':p#', '|')} ?y }}"
    yield "closure of steps", f"ASK {{ :b ({chain(n, ':p', '/')})+ ?y }}"
    yield "set of properties", f"ASK {{ :b !({chain(n, ':p#', '|')}) ?y }}"
    yield "chained patterns", f"SELECT * {{ {chain(n, '?x# :p ?x## .')} }} LIMIT 3"
    yield "chained patterns, any", f"ASK {{ {chain(n, '?x# :p ?x## .')} }}"
    yield "filters", f"ASK {{ ?x :p ?y {chain(n, 'FILTER(?x != :x#)')} }}"
    yield "exists", f"ASK {{ ?x :p ?y {chain(n, 'FILTER EXISTS { ?x :p ?z# }')} }}"
    yield "not exists", f"ASK {{ ?x :p ?y {chain(n, 'FILTER NOT EXISTS { ?x :q ?z# }')} }}"
    yield "unions", f"SELECT * {{ {chain(n, '{ ?x :p ?y }', ' UNION ')} }}"
    for sign, before in ((" || ", ""), (" && ", "NOT "), (", ", "NOT "), (", ", "")):
        some = chain(n, f"{before}EXISTS {{ ?x :q ?z# }}", sign)
        condition = some if sign != ", " else f"true NOT IN ({some})"
        yield f"expression of {before}exists,{sign}", f"ASK {{ ?x :p ?y FILTER({condition}) }}"
    one = "FILTER NOT EXISTS { ?x :q ?z# BIND(?y AS ?w#) }"
    yield "exists that look outside", f"ASK {{ ?x :p ?y {chain(n, one)} }}"
    for sign in ("||", "&&"):
        yield sign, f"ASK {{ ?x :n ?y FILTER({chain(n, '?y != #', f' {sign} ')}) }}"
    yield "in", f"ASK {{ ?x :n ?y FILTER(?y IN ({chain(n, '#', ',')})) }}"
    yield "concat", f"SELECT * {{ ?x :n ?y BIND(CONCAT({chain(n, 'STR(?y)', ',')}) AS ?z) }}"
    yield "coalesce", f"SELECT * {{ ?x :n ?y BIND(COALESCE({chain(n, '?y', ',')}) AS ?z) }}"
    yield "list", f"ASK {{ ?x :p ({chain(n, '?y')}) }}"
    yield "order", f"SELECT * {{ ?x :p ?y }} ORDER BY {chain(n, '?x')}"
    yield "template", f"CONSTRUCT {{ {chain(n, '?x :p ?z# .')} }} {{ ?x :p ?y }}"
