"""More hostile queries: as long as a text may be, and results as large as the budget lets them be.

Most of these went over a limit once. Start at `EVERY`, the whole list.
"""

from __future__ import annotations

from tests.sparql.hostile import HOSTILE, Hostile, Text

_PARTS = 99_000
"""A little less than a text may have."""

_PAIR = "?a :v ?b . ?c :v ?d"


def _many(start: str, part: str, times: int, between: str = " ", end: str = " }") -> Text:
    """A text of many parts, in each of which `{0}` is its number."""
    return lambda: start + between.join(part.replace("{0}", str(i)) for i in range(times)) + end


MORE: dict[str, Hostile] = {
    # --- texts that are as long as they may be
    "path of 99,000 |": Hostile(_many("SELECT * { ?a ", ":p{0}", _PARTS, "|", " ?b }"), "numbers"),
    "closure of 99,000 |": Hostile(
        _many("SELECT * { ?a (", ":p", _PARTS, "|", ")+ ?b }"), "numbers"
    ),
    "closure of 33,000 different |": Hostile(
        _many("SELECT * { ?a (", ":p/:p{0}?", 33_000, "|", ")+ ?b }"), "numbers"
    ),
    "closure of 90,000 /": Hostile(
        _many("SELECT * { ?a (", ":p", 90_000, "/", ")+ ?b }"), "numbers"
    ),
    "33,000 steps that may be left out": Hostile(
        _many("SELECT * { ?a ", ":p?", 33_000, "/", " ?b }"), "numbers"
    ),
    "negated set of 99,000": Hostile(
        _many("SELECT * { ?a !(", ":p{0}", _PARTS, "|", ") ?b }"), "numbers"
    ),
    "99,000 objects": Hostile(_many("SELECT * { ?x :p ", "[]", _PARTS, ", "), "numbers"),
    "90,000 filters over a union": Hostile(
        _many("SELECT * { { ?a :v ?b } UNION { ?a :d ?b } ", "FILTER(?b != {0})", 90_000), "numbers"
    ),
    "90,000 filters over a sub-query": Hostile(
        _many("SELECT * { { SELECT DISTINCT * { ?a :v ?b } } ", "FILTER(?b != {0})", 90_000),
        "numbers",
    ),
    "90,000 conditions of an optional": Hostile(
        _many(
            "SELECT * { ?a :v ?b OPTIONAL { ?a :d ?c FILTER(", "?c != {0}", 90_000, " && ", ")}}"
        ),
        "numbers",
    ),
    "15,000 unions that are joined": Hostile(
        _many("SELECT * { ", "{ ?a :p ?b{0} } UNION { ?a :v ?b{0} }", 15_000), "numbers"
    ),
    "30,000 equal variables": Hostile(
        _many("SELECT * { ", "?a{0} :v ?b FILTER(?a{0} = ?a)", 30_000), "numbers"
    ),
    "90,000 order keys": Hostile(
        _many("SELECT * { ?a :v ?b } ORDER BY ", "(?b + {0})", 90_000, end=""), "numbers"
    ),
    "20,000 conditions on texts": Hostile(
        _many("SELECT * { ?a :t ?t FILTER(", "CONTAINS(?t, 'x{0}y')", 20_000, " || ", ") }"),
        "numbers",
    ),
    # --- rows, up to the budget
    "order by chance": Hostile(lambda: f"SELECT * {{ {_PAIR} }} ORDER BY RAND()", "numbers"),
    "count distinct rows": Hostile(
        lambda: f"SELECT (COUNT(DISTINCT *) AS ?n) {{ {_PAIR} }}", "numbers"
    ),
    "sample of pairs": Hostile(
        lambda: f"SELECT ?b ?d (SAMPLE(?a) AS ?n) {{ {_PAIR} }} GROUP BY ?b ?d", "numbers"
    ),
    "sums of pairs": Hostile(
        lambda: (
            "SELECT ?b ?d (SUM(?f) AS ?n) (AVG(?f) AS ?m) (MIN(?f) AS ?k) "
            f"{{ {_PAIR} . ?a :f ?f }} GROUP BY ?b ?d"
        ),
        "numbers",
    ),
    "group_concat of each": Hostile(
        lambda: "SELECT ?a (GROUP_CONCAT(?u) AS ?l) { ?a :t ?t . ?c :t ?u } GROUP BY ?a", "numbers"
    ),
    "minus in minus": Hostile(
        lambda: (
            f"SELECT (COUNT(*) AS ?n) {{ {_PAIR} MINUS {{ ?a :p ?e . ?c :p ?f "
            "MINUS { ?e :p ?a } } }"
        ),
        "numbers",
    ),
    "construct of a product": Hostile(lambda: f"CONSTRUCT {{ ?a :x ?c }} {{ {_PAIR} }}", "numbers"),
    "construct of new nodes": Hostile(
        lambda: f"CONSTRUCT {{ [] :x [ :y ?a ] }} {{ {_PAIR} }}", "numbers"
    ),
    "paths that meet": Hostile(
        lambda: "SELECT (COUNT(*) AS ?n) { ?a ((:p/:p)*/(^:p/^:p/^:p)*)* ?b }", "numbers"
    ),
    "pairs of paths in order": Hostile(
        lambda: "SELECT ?a ?b { ?a :p* ?b } ORDER BY ?b ?a", "numbers"
    ),
    "least of big strings": Hostile(
        lambda: "SELECT (MIN(CONCAT(?t, ?u)) AS ?m) { ?s :t ?t . ?r :t ?u }", "texts"
    ),
    "parts of a big string": Hostile(
        lambda: "SELECT ?x { ?s :t ?t . ?z :big ?b BIND(SUBSTR(?b, STRLEN(?t)) AS ?x) }", "texts"
    ),
    "names of big strings": Hostile(
        lambda: (
            "SELECT ?x { ?s :t ?t . ?r :t ?u "
            "BIND(IRI(CONCAT('a:', ENCODE_FOR_URI(?t), ENCODE_FOR_URI(?u))) AS ?x) }"
        ),
        "texts",
    ),
}
"""Name -> what is asked."""

EVERY = {**HOSTILE, **MORE}
"""The whole list."""
