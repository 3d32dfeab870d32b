"""Queries that would take for ever or fill the memory: the list that limits are tried on.

Start at `HOSTILE`: by name, a function that makes the text, and the name of the data it is put to.
`hostile_run` runs one of them in a separate process and measures it. What must hold: every
query ends with an answer or an error of the library, within its time and its memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from triplestore import Store

Text = Callable[[], str]


class Hostile(NamedTuple):
    """A query, the data it is asked of, and why it does not end within its limits, if so."""

    text: Text
    data: str = "nothing"
    why: str = ""


def _nothing() -> Store:
    return Store()


_XSD = "http://www.w3.org/2001/XMLSchema#"


def _numbers() -> Store:
    """20,000 things, each with an integer, a decimal, a double and a text."""
    store = Store()
    lines = []
    for i in range(20_000):
        node = f"<http://e/{i}>"
        lines.append(f"{node} <http://e/p> <http://e/{i * 7 % 20_000}> .")
        lines.append(f'{node} <http://e/v> "{i * 31 % 9973}"^^<{_XSD}integer> .')
        lines.append(f'{node} <http://e/d> "{i * 31 % 9973}.{i % 89 + 10}"^^<{_XSD}decimal> .')
        lines.append(f'{node} <http://e/f> "{i * 31 % 9973}.5E0"^^<{_XSD}double> .')
        lines.append(f'{node} <http://e/t> "text number {i} and more" .')
    store.load("\n".join(lines), "nt")
    store.bind("", "http://e/")
    return store


def _texts() -> Store:
    """200 texts of 100,000 characters, and one of 4,000,000."""
    store = Store()
    lines = [f'<http://e/{i}> <http://e/t> "{i} {"some words " * 9_000}" .' for i in range(200)]
    lines.append(f'<http://e/big> <http://e/big> "{"a" * 4_000_000}b" .')
    lines.append(f'<http://e/big> <http://e/words> "{"ab cd " * 700_000}" .')
    lines.append('<http://e/big> <http://e/short> "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaX" .')
    store.load("\n".join(lines), "nt")
    store.bind("", "http://e/")
    return store


DATA: dict[str, Callable[[], Store]] = {
    "nothing": _nothing,
    "numbers": _numbers,
    "texts": _texts,
}


def _doubled(times: int, end: str = "SELECT (STRLEN(?x{n}) AS ?l)") -> Text:
    binds = " ".join(f"BIND(CONCAT(?x{i}, ?x{i}) AS ?x{i + 1})" for i in range(times))
    return lambda: f'{end.format(n=times)} {{ BIND("0123456789" AS ?x0) {binds} }}'


def _nested(inner: str, outer: str, times: int) -> Text:
    def text() -> str:
        made = inner
        for _ in range(times):
            made = outer.format(made)
        return f"SELECT (STRLEN({made}) AS ?l) {{}}"

    return text


_BIG = "?s :big ?big ."
_THREE = "?a :v ?b . ?c :v ?d . ?e :v ?f"

HOSTILE: dict[str, Hostile] = {
    # --- regular expressions
    "regex (a+)+$": Hostile(
        lambda: 'SELECT * { ?s :short ?t FILTER REGEX(?t, "(a+)+$") }', "texts"
    ),
    "regex (a|aa)*b": Hostile(
        lambda: f'SELECT * {{ {_BIG} FILTER REGEX(?big, "^(a|aa)*c$") }}', "texts"
    ),
    "regex back-reference": Hostile(
        lambda: 'SELECT * { ?s :short ?t FILTER REGEX(?t, "^(a+)+\\\\1+$") }', "texts"
    ),
    "regex many states": Hostile(
        lambda: f'SELECT * {{ {_BIG} FILTER REGEX(?big, "(a?){{500}}[ab]{{500}}c") }}', "texts"
    ),
    "regex nested counts": Hostile(
        lambda: f'SELECT * {{ {_BIG} FILTER REGEX(?big, "((a{{1,30}}){{1,30}}){{1,30}}c") }}',
        "texts",
    ),
    "regex of every text": Hostile(
        lambda: 'SELECT * { ?s :t ?t . ?r :t ?u FILTER REGEX(?t, CONCAT(SUBSTR(?u, 1, 3), "x$")) }',
        "texts",
    ),
    "regex long pattern": Hostile(
        lambda: f'SELECT * {{ {_BIG} FILTER REGEX(?big, "{"(a|b)?" * 30_000}") }}', "texts"
    ),
    "regex deep pattern": Hostile(
        lambda: f'SELECT * {{ {_BIG} FILTER REGEX(?big, "{"(" * 30_000}a{")" * 30_000}") }}',
        "texts",
    ),
    "replace each letter": Hostile(
        lambda: f'SELECT (STRLEN(REPLACE(?big, "a", "{"b" * 1000}")) AS ?l) {{ {_BIG} }}', "texts"
    ),
    "replace words": Hostile(
        lambda: (
            'SELECT (STRLEN(REPLACE(?w, "([a-z]+) ", "$1$1$1$1$1$1$1$1 ")) AS ?l) { ?s :words ?w }'
        ),
        "texts",
    ),
    "replace (a*)*b": Hostile(
        lambda: f'SELECT (STRLEN(REPLACE(?big, "(a*)*c", "x")) AS ?l) {{ {_BIG} }}', "texts"
    ),
    "replace nested": Hostile(
        _nested('"a"', 'REPLACE({}, "a", "aaaaaaaaaaaaaaaa")', 12),
    ),
    # --- strings that grow
    "concat doubled": Hostile(_doubled(40)),
    "concat doubled and kept": Hostile(_doubled(25, "SELECT *")),
    "concat nested": Hostile(
        lambda: (
            f'SELECT (STRLEN(CONCAT(?x,?x,?x,?x,?x,?x,?x,?x)) AS ?l) {{ BIND("{"a" * 200_000}" '
            "AS ?z) BIND(CONCAT(?z,?z,?z,?z,?z,?z,?z,?z) AS ?y) "
            "BIND(CONCAT(?y,?y,?y,?y,?y,?y,?y,?y) AS ?x) }"
        )
    ),
    "concat for each row": Hostile(
        lambda: "SELECT (STRLEN(CONCAT(?t, ?u)) AS ?l) { ?s :t ?t . ?r :t ?u }", "texts"
    ),
    "concat bound for each row": Hostile(
        lambda: "SELECT ?x { ?s :t ?t . ?r :t ?u BIND(CONCAT(?t, ?u) AS ?x) }", "texts"
    ),
    "distinct of big strings": Hostile(
        lambda: "SELECT DISTINCT ?x { ?s :t ?t . ?r :t ?u BIND(CONCAT(?t, ?u) AS ?x) }", "texts"
    ),
    "order by big strings": Hostile(
        lambda: "SELECT ?t { ?s :t ?t . ?r :t ?u } ORDER BY CONCAT(?t, ?u)", "texts"
    ),
    "order by big stored strings": Hostile(
        lambda: "SELECT ?t { ?s :t ?t } ORDER BY DESC(?t)", "texts"
    ),
    "group by big strings": Hostile(
        lambda: (
            "SELECT ?x (COUNT(*) AS ?n) { ?s :t ?t . ?r :t ?u } GROUP BY (CONCAT(?t, ?u) AS ?x)"
        ),
        "texts",
    ),
    "encode for uri": Hostile(_nested('"%"', "ENCODE_FOR_URI({0})", 40)),
    "encode big for uri": Hostile(
        lambda: (
            "SELECT (STRLEN(ENCODE_FOR_URI(ENCODE_FOR_URI(ENCODE_FOR_URI(ENCODE_FOR_URI(?t)))))"
            " AS ?l) { ?s :words ?t }"
        ),
        "texts",
    ),
    "encode bound for each row": Hostile(
        lambda: "SELECT ?x { ?s :t ?t . BIND(ENCODE_FOR_URI(?t) AS ?x) }", "texts"
    ),
    "group_concat": Hostile(
        lambda: "SELECT (STRLEN(GROUP_CONCAT(?t)) AS ?l) { ?s :t ?t . ?r :t ?u }", "texts"
    ),
    "group_concat of the same": Hostile(
        lambda: f'SELECT (STRLEN(GROUP_CONCAT("{"a" * 10_000}")) AS ?l) {{ ?a :v ?b . ?c :p ?c }}',
        "numbers",
    ),
    "group_concat separator": Hostile(
        lambda: (
            f'SELECT (STRLEN(GROUP_CONCAT(?t; SEPARATOR="{"-" * 100_000}")) AS ?l) {{ ?s :t ?t }}'
        ),
        "numbers",
    ),
    "strafter for each row": Hostile(
        lambda: "SELECT ?x { ?s :t ?t . ?r :t ?u BIND(STRAFTER(?t, SUBSTR(?u, 1, 1)) AS ?x) }",
        "texts",
    ),
    "upper for each row": Hostile(
        lambda: "SELECT ?x { ?s :t ?t . ?a :big ?c BIND(UCASE(CONCAT(?t, ?c)) AS ?x) }", "texts"
    ),
    "hashes of big strings": Hostile(
        lambda: "SELECT (SUM(STRLEN(SHA512(CONCAT(?t, ?u)))) AS ?x) { ?s :t ?t . ?r :t ?u }",
        "texts",
    ),
    "strdt doubled": Hostile(
        lambda: (
            "SELECT * { "
            + " ".join(
                f"BIND(TRIPLE(<a:b>, <a:b>, ?x{i}) AS ?x{i + 1})" for i in range(1, 50)
            ).replace("<a:b>, ?x1)", "<a:b>, <a:c>)")
            + " }"
        )
    ),
    "uuids": Hostile(lambda: "SELECT ?u { ?a :v ?b . ?c :v ?d BIND(STRUUID() AS ?u) }", "numbers"),
    "made terms": Hostile(
        lambda: "SELECT ?x { ?a :v ?b . ?c :v ?d BIND(IRI(CONCAT(STR(?a), STR(?c))) AS ?x) }",
        "numbers",
    ),
    # --- numbers
    "number of ten million digits": Hostile(lambda: f"SELECT ({'7' * 10_000_000} + 1 AS ?n) {{}}"),
    "decimal of ten million digits": Hostile(
        lambda: f"SELECT (0.{'7' * 10_000_000} * 2 AS ?n) {{}}"
    ),
    "double of a million digits": Hostile(lambda: f"SELECT ({'7' * 1_000_000}.0E0 * 2 AS ?n) {{}}"),
    "cast of a million digits": Hostile(
        lambda: f'SELECT (<{_XSD}integer>("{"7" * 1_000_000}") AS ?n) {{}}'
    ),
    "limit of a million digits": Hostile(lambda: f"SELECT * {{}} LIMIT {'7' * 1_000_000}"),
    "date of a million digits": Hostile(
        lambda: f'SELECT (YEAR("{"7" * 1_000_000}-01-01T00:00:00"^^<{_XSD}dateTime>) AS ?n) {{}}'
    ),
    "powers": Hostile(
        lambda: (
            "SELECT * { BIND(7 AS ?x0) "
            + " ".join(f"BIND(?x{i} * ?x{i} AS ?x{i + 1})" for i in range(60))
            + " }"
        )
    ),
    "division of decimals": Hostile(
        lambda: "SELECT (SUM(?x / ?y) AS ?n) { ?a :d ?x . ?c :d ?y }", "numbers"
    ),
    "division of decimals, one by one": Hostile(
        lambda: "SELECT (?x / ?y AS ?n) { ?a :d ?x . ?c :d ?y }", "numbers"
    ),
    "average of groups": Hostile(
        lambda: "SELECT ?a ?c (AVG(?x / 7) AS ?n) { ?a :d ?x . ?c :d ?y } GROUP BY ?a ?c", "numbers"
    ),
    # --- rows
    "order by products": Hostile(
        lambda: f"SELECT * {{ {_THREE} }} ORDER BY (?b * ?d) ?f", "numbers"
    ),
    "order by a pair": Hostile(
        lambda: "SELECT ?a ?d { ?a :v ?b . ?c :v ?d } ORDER BY ?d DESC(?b) LIMIT 10", "numbers"
    ),
    "distinct pairs": Hostile(
        lambda: "SELECT (COUNT(*) AS ?n) { SELECT DISTINCT ?b ?d { ?a :v ?b . ?c :v ?d } }",
        "numbers",
    ),
    "group by pairs": Hostile(
        lambda: "SELECT ?b ?d (COUNT(*) AS ?n) { ?a :v ?b . ?c :v ?d } GROUP BY ?b ?d", "numbers"
    ),
    "count distinct": Hostile(
        lambda: "SELECT (COUNT(DISTINCT ?x) AS ?n) { ?a :v ?b . ?c :d ?d BIND(?b * ?d AS ?x) }",
        "numbers",
    ),
    "join by inequality": Hostile(
        lambda: "SELECT (COUNT(*) AS ?n) { ?a :v ?b . ?c :v ?d FILTER(?b < ?d) }", "numbers"
    ),
    "minus": Hostile(
        lambda: "SELECT (COUNT(*) AS ?n) { ?a :v ?b . ?c :v ?d MINUS { ?a :p ?c } }", "numbers"
    ),
    "paths": Hostile(
        lambda: "SELECT (COUNT(*) AS ?n) { ?a (:p|^:p)* ?b . ?b (:p/:p|^:p)+ ?c }", "numbers"
    ),
    "union of everything": Hostile(
        lambda: (
            "SELECT (COUNT(*) AS ?n) { { ?a ?b ?c } UNION { ?c ?b ?a } { ?a ?x ?y } UNION "
            "{ ?y ?x ?a } { ?y ?u ?v } UNION { ?v ?u ?y } }"
        ),
        "numbers",
    ),
    "exists by substitution": Hostile(
        lambda: (
            "SELECT * { ?a :v ?b . ?c :v ?d FILTER EXISTS { ?e :v ?f OPTIONAL { ?e :d ?g "
            "FILTER(?g = ?b) } FILTER(?f = ?d + 1) } FILTER(?b = 7 && ?d = 8) }"
        ),
        "numbers",
    ),
    # --- texts of queries
    "values of a million rows": Hostile(
        lambda: f"SELECT * {{ VALUES ?x {{ {' '.join(map(str, range(1_000_000)))} }} }}"
    ),
    "values of a million equal rows": Hostile(
        lambda: f"SELECT * {{ VALUES (?x ?y) {{ {'(1 2) ' * 1_000_000} }} }}"
    ),
    "in of 300,000": Hostile(
        lambda: f"SELECT * {{ ?a :v ?b FILTER(?b IN ({', '.join(map(str, range(300_000)))})) }}",
        "numbers",
    ),
    "20,000 patterns": Hostile(
        lambda: "SELECT * { " + " ".join(f"?x{i} :p ?x{i + 1} ." for i in range(20_000)) + " }",
        "numbers",
    ),
    "20,000 patterns of one variable": Hostile(
        lambda: "SELECT * { " + " ".join(f"?x :p ?x{i + 1} ." for i in range(20_000)) + " }",
        "numbers",
    ),
    "20,000 unconnected patterns": Hostile(
        lambda: "SELECT * { " + " ".join(f"?y{i} :p ?x{i} ." for i in range(20_000)) + " }",
        "numbers",
    ),
    "2,000 patterns": Hostile(
        lambda: "SELECT * { " + " ".join(f"?x{i} :p ?x{i + 1} ." for i in range(2_000)) + " }",
        "numbers",
    ),
    "path of 100,000 |": Hostile(
        lambda: f"SELECT * {{ ?a {'|'.join(f':p{i}' for i in range(100_000))} ?b }}", "numbers"
    ),
    "path of 100,000 /": Hostile(
        lambda: f"SELECT * {{ ?a {'/'.join([':p'] * 100_000)} ?b }}", "numbers"
    ),
    "closure of 100,000 |": Hostile(
        lambda: f"SELECT * {{ ?a ({'|'.join([':p'] * 100_000)})+ ?b }}", "numbers"
    ),
    "negated set of 100,000": Hostile(
        lambda: f"SELECT * {{ ?a !({'|'.join(f':p{i}' for i in range(100_000))}) ?b }}", "numbers"
    ),
    "100,000 ||": Hostile(
        lambda: (
            "SELECT * { ?a :v ?b FILTER(" + " || ".join(f"?b = {i}" for i in range(100_000)) + ") }"
        ),
        "numbers",
    ),
    "100,000 &&": Hostile(
        lambda: (
            "SELECT * { ?a :v ?b FILTER("
            + " && ".join(f"?b != {i}" for i in range(100_000))
            + ") }"
        ),
        "numbers",
    ),
    "100,000 +": Hostile(
        lambda: f"SELECT * {{ ?a :v ?b FILTER(?b {'+ 1 ' * 100_000}= 7) }}", "numbers"
    ),
    "100,000 filters": Hostile(
        lambda: (
            "SELECT * { ?a :v ?b " + " ".join(f"FILTER(?b != {i})" for i in range(100_000)) + " }"
        ),
        "numbers",
    ),
    "30,000 unions": Hostile(
        lambda: "SELECT * { " + " UNION ".join(f"{{ ?a :p{i} ?b }}" for i in range(30_000)) + " }",
        "numbers",
    ),
    "30,000 unions of what is there": Hostile(
        lambda: "SELECT * { " + " UNION ".join(["{ ?a :p ?b }"] * 30_000) + " }", "numbers"
    ),
    "30,000 optionals": Hostile(
        lambda: "SELECT * { " + "OPTIONAL { ?a :p ?b } " * 30_000 + "}", "numbers"
    ),
    "30,000 binds": Hostile(
        lambda: "SELECT * { " + " ".join(f"BIND({i} AS ?x{i})" for i in range(30_000)) + " }"
    ),
    "100,000 expressions in SELECT": Hostile(
        lambda: "SELECT " + " ".join(f"({i} AS ?x{i})" for i in range(100_000)) + " {}"
    ),
    "100,000 aggregates": Hostile(
        lambda: (
            "SELECT "
            + " ".join(f"(SUM(?b + {i}) AS ?x{i})" for i in range(100_000))
            + " { ?a :v ?b }"
        ),
        "numbers",
    ),
    "100,000 variables": Hostile(
        lambda: "SELECT " + " ".join(f"?x{i}" for i in range(100_000)) + " { ?a :v ?b }", "numbers"
    ),
    "10,000 variables with values": Hostile(
        lambda: (
            "SELECT * { VALUES ("
            + " ".join(f"?x{i}" for i in range(10_000))
            + ") { "
            + f"({'UNDEF ' * 10_000}) " * 20
            + "} }"
        )
    ),
    "an iri of 10 MB": Hostile(lambda: f"SELECT * {{ <http://e/{'a' * 10_000_000}> ?p ?o }}"),
    "a name of 10 MB": Hostile(lambda: f"SELECT * {{ :{'a' * 10_000_000} ?p ?o }}", "numbers"),
    "a variable of 10 MB": Hostile(lambda: f"SELECT * {{ ?{'a' * 10_000_000} ?p ?o }}"),
    "a string of 10 MB": Hostile(lambda: f'SELECT ("{"a" * 10_000_000}" AS ?s) {{}}'),
    "a comment of 100 MB": Hostile(lambda: f"#{'a' * 100_000_000}\nSELECT * {{}}"),
    "300,000 prefixes": Hostile(
        lambda: "".join(f"PREFIX p{i}: <http://e/{i}/>\n" for i in range(300_000)) + "SELECT * {}"
    ),
    "300,000 unknown prefixes": Hostile(
        lambda: "SELECT * { " + " ".join(f"?s p{i}:x ?o ." for i in range(300_000)) + " }"
    ),
    "300,000 unknown functions": Hostile(
        lambda: "SELECT * { " + " ".join(f"BIND(FUNC{i}() AS ?x)" for i in range(300_000)) + " }"
    ),
    "100,000 parentheses": Hostile(lambda: f"SELECT ({'(' * 100_000}1{')' * 100_000} AS ?x) {{}}"),
    "100,000 groups": Hostile(lambda: f"SELECT * {'{' * 100_000}{'}' * 100_000}"),
    "a million tokens of nothing": Hostile(lambda: "SELECT * { " + ". " * 1_000_000 + "}"),
    "quotes without end": Hostile(lambda: "SELECT * { " + '"""a \'b ' * 500_000 + "}"),
    "a list of 200,000": Hostile(lambda: f"SELECT * {{ ?x :p ({'1 ' * 200_000}) }}", "numbers"),
    "100,000 sub-queries": Hostile(
        lambda: "SELECT * { " + "{ SELECT ?a { ?a :p ?b } } " * 20_000 + "}", "numbers"
    ),
    "20,000 exists": Hostile(
        lambda: (
            "SELECT * { ?a :v ?b "
            + " ".join(f"FILTER EXISTS {{ ?a :p ?c{i} }}" for i in range(20_000))
            + " }"
        ),
        "numbers",
    ),
    "100,000 order keys": Hostile(
        lambda: "SELECT * { ?a :v ?b } ORDER BY " + " ".join(["?b"] * 100_000), "numbers"
    ),
    "100,000 group keys": Hostile(
        lambda: (
            "SELECT (1 AS ?x) { ?a :v ?b } GROUP BY "
            + " ".join(f"(?b + {i} AS ?g{i})" for i in range(100_000))
        ),
        "numbers",
    ),
    "construct of 100,000 triples": Hostile(
        lambda: (
            "CONSTRUCT { " + " ".join(f"?a :p{i} ?b ." for i in range(100_000)) + " } { ?a :v ?b }"
        ),
        "numbers",
    ),
    "describe of everything": Hostile(lambda: "DESCRIBE ?a ?c { ?a :v ?b . ?c :v ?d }", "numbers"),
}
"""Name -> what is asked."""
