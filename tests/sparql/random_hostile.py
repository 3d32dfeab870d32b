"""Random queries that are too large, too deep, or make something that grows: `random_hostile`."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.sparql.hostile import Hostile

_STRINGS = (
    "CONCAT({0}, {0})",
    "CONCAT({0}, STR({0}), {0})",
    'REPLACE({0}, "[a-z]", "xyxy")',
    'REPLACE({0}, "(.)", "$1$1$1")',
    "ENCODE_FOR_URI({0})",
    "UCASE(CONCAT({0}, {0}))",
    'STRAFTER(CONCAT("x", {0}), "x")',
    "SUBSTR(CONCAT({0}, {0}, {0}), 2)",
    'STRLANG(CONCAT({0}, {0}), "en")',
    "STR(IRI(CONCAT('http://e/', ENCODE_FOR_URI({0}))))",
)
_NUMBERS = ("{0} * {0}", "{0} * {0} + 1", "{0} / 3.7", "ROUND({0} * 1.5)", "STRLEN(STR({0})) * {0}")
_ENDS = (
    "SELECT * {{ {0} }}",
    "SELECT DISTINCT {1} {{ {0} }}",
    "SELECT {1} {{ {0} }} ORDER BY DESC({1})",
    "SELECT (GROUP_CONCAT({1}) AS ?g) {{ {0} }}",
    "SELECT {1} (COUNT(*) AS ?n) {{ {0} }} GROUP BY {1}",
    "SELECT (COUNT(DISTINCT {1}) AS ?n) (MAX({1}) AS ?m) {{ {0} }}",
    "ASK {{ {0} FILTER({1} = 0.5) }}",
    "CONSTRUCT {{ <a:b> <a:c> {1} }} {{ {0} }}",
)
_ITEMS = (
    ("SELECT * {{ {0} }}", "?a :p{1} ?b .", " "),
    ("SELECT * {{ {0} }}", "{{ ?a :p{1} ?b }}", " UNION "),
    ("SELECT * {{ {0} }}", "FILTER(?a != {1})", " "),
    ("SELECT * {{ ?a :v ?b FILTER({0}) }}", "?b = {1}", " || "),
    ("SELECT * {{ ?a :v ?b FILTER({0}) }}", "REGEX(STR(?b), '{1}')", " && "),
    ("SELECT * {{ ?a :v ?b FILTER(?b IN ({0})) }}", "{1}", ", "),
    ("SELECT * {{ VALUES ?a {{ {0} }} }}", "<http://e/{1}>", " "),
    ("SELECT * {{ ?a {0} ?b }}", ":p{1}", "/"),
    ("SELECT * {{ ?a ({0})* ?b }}", "(:p{1}|^:p)", "|"),
    ("SELECT {0} {{ ?a :v ?b }}", "(?b + {1} AS ?x{1})", " "),
    ("SELECT {0} {{ ?a :v ?b }}", "(SUM(?b * {1}) AS ?x{1})", " "),
    ("SELECT * {{ ?a :v ?b }} ORDER BY {0}", "(?b + {1})", " "),
    ("SELECT * {{ ?a :v ?b {0} }}", "OPTIONAL {{ ?a :p{1} ?c }}", " "),
    ("SELECT * {{ ?a :v ?b {0} }}", "FILTER NOT EXISTS {{ ?a :p{1} ?c{1} }}", " "),
    ("{0} SELECT * {{}}", "PREFIX p{1}: <http://e/{1}>", "\n"),
    ("CONSTRUCT {{ {0} }} {{ ?a :v ?b }}", "?a :p{1} ?b .", " "),
)
_BRACKETS = (
    "()",
    "{}",
    "[]",
    "<<()>>",
    '""',
    "''",
    "<>",
    "{ ?x ?y ?z",
    "NOT(",
    "!!",
    "--",
    "^(",
    "\\",
)
_AROUND_LONG = (
    "SELECT * {{ <http://e/{0}> ?p ?o }}",
    "SELECT * {{ :{0} ?p ?o }}",
    "ASK {{ ?{0} ?p ?o }}",
    'SELECT ("{0}" AS ?x) {{}}',
    "SELECT ({0} + 1 AS ?x) {{}}",
    "SELECT ({0}.{0}e5 AS ?x) {{}}",
    "ASK {{ ?x ?p '{0}'@{0} }}",
    "SELECT * {{}} LIMIT {0}",
    "ASK {{ _:{0} ?p ?x }}",
    "{0}",
)


def random_hostile(random: Random) -> Hostile:
    """A query that takes more than anybody has, and what it is asked of."""
    kind = random.choice((_growing, _growing, _many, _many, _products, _pattern, _brackets, _long))
    text = kind(random)
    return Hostile(lambda: text, "numbers")


def _size(random: Random, most: int) -> int:
    """A size of any order of magnitude."""
    return int(most ** random.random()) + 1


def _growing(random: Random) -> str:
    choices, start = random.choice(((_STRINGS, '"abc"'), (_NUMBERS, "7"), (_NUMBERS, "1.37")))
    parts = ["" if random.random() < 0.5 else "?s :t ?t . ?r :v ?v ."]
    parts.append(f"BIND({random.choice((start, start, 'STR(?t)', '?v'))} AS ?x0)")
    last = 0
    for last in range(1, _size(random, 60) + 1):
        inner = f"?x{last - 1}"
        for _ in range(random.choice((1, 1, 2, 4))):
            inner = random.choice(choices).format(inner)
        parts.append(f"BIND({inner} AS ?x{last})")
    return random.choice(_ENDS).format(" ".join(parts), f"?x{last}")


def _many(random: Random) -> str:
    around, item, between = random.choice(_ITEMS)
    count = _size(random, 300_000)
    same = random.random() < 0.3
    items = (item.format("", "" if same and "AS" not in item else i) for i in range(count))
    return around.format(between.join(items))


def _products(random: Random) -> str:
    count = random.randint(2, 5)
    parts = [f"?a{i} :{random.choice('pvdft')} ?b{i} ." for i in range(count)]
    ends = [f"?b{i}" for i in range(count)]
    make: list[Callable[[], str]] = [
        lambda: f"FILTER({random.choice(ends)} < {random.choice(ends)})",
        lambda: f"BIND(CONCAT(STR({random.choice(ends)}), STR({random.choice(ends)})) AS ?m)",
        lambda: f"FILTER EXISTS {{ ?e :v ?f FILTER(?f > {random.choice(ends)}) }}",
        lambda: f"MINUS {{ ?a0 :p {random.choice(ends)} }}",
        lambda: f"OPTIONAL {{ ?o :v ?w FILTER(?w = {random.choice(ends)}) }}",
        lambda: f"?a0 (:p|^:p)* {random.choice(ends)} .",
    ]
    if random.random() < 0.6:
        parts.append(random.choice(make)())
    return random.choice(_ENDS).format(" ".join(parts), random.choice(ends))


def _pattern(random: Random) -> str:
    made = random.choice("abx.")
    for _ in range(_size(random, 12)):
        made = random.choice(
            ("({0})*", "({0})+", "({0}|{0})", "({0}){{1,30}}", "{0}{0}", "({0})?{0}", "[{0}]+")
        ).format(made)
    text = random.choice(('"{}"'.format("ab" * _size(random, 500_000)), "STR(?t)", "?t"))
    call = random.choice(("REGEX({1}, '{0}$')", "STRLEN(REPLACE({1}, '{0}', '$1$1')) > 3"))
    return f"SELECT (COUNT(*) AS ?n) {{ ?s :t ?t FILTER({call.format(made[:20_000], text)}) }}"


def _brackets(random: Random) -> str:
    sign = random.choice(_BRACKETS)
    half, count = len(sign) // 2, _size(random, 200_000)
    inside = sign[:half] * count + random.choice(("1", "", "?x")) + sign[half:] * count
    return random.choice(("SELECT * {{ {0} }}", "SELECT ({0} AS ?x) {{}}", "{0}")).format(inside)


def _long(random: Random) -> str:
    count = _size(random, 5_000_000)
    unit = random.choice(("a", "7", "é", ".", "-", " ", "#", "%20", "\\u0041", "'", "<", "::"))
    around = random.choice(_AROUND_LONG)
    return around.format(unit * (count // len(unit)))
