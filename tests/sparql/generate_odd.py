"""Random queries with all functions, aggregates and modifiers, over literals of every odd kind.

Beside `generate`, whose queries pyoxigraph can judge: here two ways of our own to answer are
compared, so that nothing must be left out.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pyoxigraph as ox

from tests.sparql.generate import EX, GRAPHS, KNOWS, NODES, PREDICATES, VARIABLES, XSD, Queries

_TEXTS = ["", "a", "b", "ab", "é", "e\u0301", "\U0001f600", "a\0b", "\uffff", "ß", "a\nb", 'a"b']
_TYPED = {
    "integer": "0 1 01 -7 +1 -0 9007199254740993 99999999999999999999 9223372036854775808 x",
    "decimal": "1.0 1.50 0.1 0.10 -0.0 1.0000000000000000001 123456789.123456789 5.",
    "double": "1 1.0e0 NaN INF -INF -0 1e308 0.1",
    "float": "1 0.1 NaN 16777217",
    "boolean": "true false 1 x",
    "dateTime": "2020-01-01T00:00:00 2020-01-01T00:00:00Z 2019-12-31T24:00:00Z 2020-02-30T00:00:00Z"
    " 2020-01-01T05:30:00+05:30 -0001-12-31T23:59:59.999Z 12020-01-01T00:00:00-14:00",
    "date": "2020-01-01 2020-01-01Z 2020-01-01+14:00 -0044-03-15",
    "duration": "P1Y P365D P1M P30D",
    "token": "a",
    "anyURI": "a",
    "byte": "30 300",
}
LITERALS = [
    *(ox.Literal(text) for text in _TEXTS),
    *(ox.Literal(text, language=tag) for text in _TEXTS[:5] for tag in ("en", "de", "en-us")),
    *(
        ox.Literal(text, datatype=ox.NamedNode(XSD + name))
        for name, texts in _TYPED.items()
        for text in texts.split()
    ),
    ox.Literal("a", datatype=ox.NamedNode(EX + "datatype")),
    ox.Literal("a", language="ar", direction=ox.BaseDirection.RTL),
]
_BLANKS = [ox.BlankNode(f"n{number}") for number in range(4)]
_TRIPLES = [ox.Triple(NODES[0], PREDICATES[0], o) for o in (LITERALS[1], NODES[1])]


def odd_data(rng: random.Random) -> list[ox.Quad]:
    """Quads with odd literals; some have many alike ones."""
    many = [ox.NamedNode(f"{EX}m{number}") for number in range(rng.choice([1, 5, 60]))]
    alike = [ox.Literal(f"w{rng.randint(-50, 50)} {i}") for i in range(rng.choice([0, 0, 90]))]
    pool = [*rng.choice([LITERALS, rng.sample(LITERALS, 12)]), *alike]
    quads = []
    for _ in range(rng.choice([0, 5, 40, 100, 300])):
        subject = rng.choice(rng.choice([NODES, many, _BLANKS]))
        kinds = [pool, pool, pool, NODES, many, _BLANKS]
        object_ = rng.choice(rng.choice(kinds) if rng.random() < 0.97 else _TRIPLES)
        graph = rng.choice(GRAPHS) if rng.random() < 0.15 else ox.DefaultGraph()
        quads.append(ox.Quad(subject, rng.choice(PREDICATES), object_, graph))
    return quads + [ox.Quad(NODES[0], KNOWS, term) for term in (*NODES, *pool)]


@dataclass(slots=True)
class OddQueries(Queries):
    """Makes queries as text."""

    literals: list[ox.Literal] = field(default_factory=lambda: LITERALS)

    def term(self) -> str:
        """A constant; literals are of the data."""
        return str(self.rng.choice(self.literals)) if self.rng.random() < 0.8 else self.node()

    def query(self) -> str:
        """A query of some form; with ORDER BY all that is shown is a key."""
        rng = self.rng
        pattern = self.simple() if rng.random() < 0.6 else self.group(rng.randint(0, self.depth))
        kind, shown = rng.random(), rng.choice(VARIABLES)
        if kind < 0.4:
            keys = rng.choice(["", shown, f"{shown} ?w", f"({self.expression()} AS ?k)"])
            names = "?k" if "?k" in keys else keys
            made = " ".join(f"({self.aggregate()} AS ?a{i})" for i in range(rng.randint(1, 3)))
            having = f" HAVING ({self.aggregate()} > 1)" if rng.random() < 0.2 else ""
            grouping = f" GROUP BY {keys}" if keys else ""
            return f"SELECT {names} {made} {pattern}{grouping}{having}"
        if kind < 0.7:
            key = f"{rng.choice(['ASC', 'DESC'])}({rng.choice([shown, self.expression()])})"
            tail = rng.choice(["", " LIMIT 1", " LIMIT 20", " LIMIT 3 OFFSET 2"])
            head = f"SELECT {shown} ({self.expression()} AS ?e)"
            return f"{head} {pattern} ORDER BY {key} {shown} ?e{tail}"
        if kind < 0.9:
            return f"SELECT {shown} ({self.expression()} AS ?e) {pattern}"
        return Queries.query(self)

    def simple(self) -> str:
        """A few triple patterns with an OPTIONAL, a filter, ..."""
        parts = [self.triples()]
        for part in (f"OPTIONAL {{ {self.triple()} }}", f"FILTER({self.condition()})"):
            parts += [part] if self.rng.random() < 0.4 else []
        return "{ " + " ".join(parts) + " }"

    def aggregate(self) -> str:
        """An aggregate of a variable or of an expression."""
        rng = self.rng
        name = rng.choice(["COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"])
        which = rng.choice(["", "", "DISTINCT "])
        return f"{name}({which}{rng.choice([rng.choice(VARIABLES), self.expression()])})"

    # --- expressions ----------------------------------------------------------------------------

    def condition(self) -> str:
        """Something with a truth value."""
        return self._condition(self.rng.randint(0, 2))

    def expression(self) -> str:
        """Something with a value."""
        make = self.rng.choice([self._number, self._text, self._condition])
        return make(self.rng.randint(0, 2))

    def _number(self, depth: int) -> str:
        rng = self.rng
        if depth == 0:
            return rng.choice([*VARIABLES, "2", "-1", "0.5", "1e0"])
        one, other = self._number(depth - 1), self._number(depth - 1)
        names = [
            "ABS",
            "CEIL",
            "FLOOR",
            "ROUND",
            "YEAR",
            "MONTH",
            "DAY",
            "HOURS",
            "MINUTES",
            "SECONDS",
            "-",
        ]
        casts = [f"<{XSD}{name}>({one})" for name in ("integer", "decimal", "double", "float")]
        calls = [f"({one} {sign} {other})" for sign in "+-*/"]
        calls += [f"{name}({one})" for name in names] + [f"STRLEN({self._text(depth - 1)})"]
        return rng.choice([*calls, *casts])

    def _text(self, depth: int) -> str:
        rng = self.rng
        if depth == 0:
            return rng.choice([rng.choice(VARIABLES), f"STR({rng.choice(VARIABLES)})", self.term()])
        one, other = self._text(depth - 1), self._text(depth - 1)
        calls = [
            f"{name}({one})" for name in ["UCASE", "LCASE", "STR", "LANG", "DATATYPE", "MD5", "TZ"]
        ]
        calls += [f"{name}({one}, {other})" for name in ("STRBEFORE", "STRAFTER", "CONCAT")]
        calls += [f"SUBSTR({one}, {rng.randint(-1, 3)}, {rng.randint(-1, 3)})", f"IRI({one})"]
        calls += [f'STRLANG({one}, "en")', f"STRDT({one}, <{XSD}integer>)"]
        calls += [f"IF({self._condition(0)}, {one}, {other})", f"COALESCE({one}, {other})"]
        return rng.choice([*calls, f'REPLACE({one}, "[ab]", "<$0>")'])

    def _condition(self, depth: int) -> str:
        rng = self.rng
        make = rng.choice([self._number, self._text])
        one, other = make(depth), make(depth)
        sign = rng.choice(["=", "!=", "<", ">", "<=", ">="])
        calls = [f"{one} {sign} {other}", f"{one} {sign} {self.term()}", f"ISNUMERIC({one})"]
        calls += [f"{one} IN ({self.term()}, {other}, 1)", f"{one} NOT IN ({self.term()})"]
        calls += [f"{name}({one}, {other})" for name in ("CONTAINS", "STRSTARTS", "STRENDS")]
        pattern = rng.choice(["^a", "b$", "a.b", f"^{EX}[a-c]", "[aeiou]", "^$", "w1", "É"])
        calls += [f'REGEX({one}, "{pattern}"{flags})' for flags in ("", ', "i"', ', "q"')]
        calls += [f'STRSTARTS(STR({rng.choice(VARIABLES)}), "{rng.choice(["a", "w", EX])}")']
        if depth:
            parts = self._condition(depth - 1), self._condition(depth - 1)
            calls += [f"({parts[0]} {word} {parts[1]})" for word in ("||", "&&")]
            calls += [f"!({parts[0]})"] * 2
        return rng.choice(calls)
