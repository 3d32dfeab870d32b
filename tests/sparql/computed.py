"""Queries over computed terms, and their answers worked out row by row.

`Table.case` makes a query and its bag of answers. Each expression is evaluated by the scalar
functions, one row at a time; what the query does with the results (groups, DISTINCT, joins, ...) is
done with plain lists of terms. Few different values and many rows, so that different rows often
have the same result.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.expressions.random_expressions import AWKWARD, COMMON, NAMES, Maker, typed
from triplestore.expressions.aggregates import total
from triplestore.expressions.compare_terms import order_key, truth
from triplestore.expressions.evaluate_scalar import compile_scalar
from triplestore.expressions.functions import AGGREGATES
from triplestore.expressions.library.numbers import (
    INTEGER,
    ExpressionError,
    Number,
    divide,
    key_of_number,
    maybe_number,
)
from triplestore.expressions.library.strings import lexical_form, string
from triplestore.expressions.text.expression_printer import Namer, expression_text
from triplestore.expressions.tree import Call, Constant, Expression, Variable
from triplestore.terms.term_keys import BLANK, to_ntriples

Key: TypeAlias = bytes | None
Row: TypeAlias = tuple[Key, ...]
Bag: TypeAlias = Counter[Row]

PREFIX = "PREFIX : <http://e/> "
ALIKE = [b"\x03bob", b"\x03Bob", b"\x03BOB", b'\x04Bob"@en', b'\x04bob"@de', b"\x03 1", b"\x031"]
ALIKE += [typed("1", "integer"), typed("01", "integer"), typed("1.0", "decimal")]
ALIKE += [typed("1", "double"), b"\x01http://e/bob"]
FOLDING = ["LCASE", "UCASE", "STR", "LANG", "DATATYPE", "MD5", "STRLEN", "ISIRI", "IRI"]
FOLDING += [f"http://www.w3.org/2001/XMLSchema#{name}" for name in ("integer", "string", "boolean")]
"""Functions that have one result for many arguments."""


def written(key: Key) -> str:
    """A term as a query has it."""
    return "UNDEF" if key is None else to_ntriples(key).decode()


def integer(number: int) -> bytes:
    """The key of an integer."""
    return typed(str(number), "integer")


def is_true(key: Key) -> bool:
    """Whether a FILTER of this value lets through."""
    try:
        return key is not None and truth(key)
    except ExpressionError:
        return False


def place(key: Key) -> tuple[object, ...]:
    """Where a term stands in an order; terms of one value are not told apart."""
    return (-1,) if key is None else order_key(key)


def summed(function: str, keys: list[Key], distinct: bool, separator: str | None) -> Key:
    """An aggregate of the values of a group."""
    known = [key for key in keys if key is not None]
    if distinct:
        known = list(dict.fromkeys(known))
    if function == "count":
        return integer(len(known))
    if function in ("sum", "avg", "min", "max") and None in keys:
        return None
    if function in ("sum", "avg"):
        numbers = [number for key in known if (number := maybe_number(key)) is not None]
        if len(numbers) < len(known):
            return None
        try:
            sum_ = total(numbers)
            if function == "sum" or not numbers:
                return key_of_number(sum_)
            return key_of_number(divide(sum_, Number(INTEGER, len(numbers))))
        except ExpressionError:
            return None
    if function == "group_concat":
        try:
            return string((separator or " ").join(map(lexical_form, sorted(known))))
        except ExpressionError:
            return None
    if not known:
        return None
    if function == "sample":
        return min(known)
    values = {order_key(key) for key in known}
    wanted = max(values) if function == "max" else min(values)
    return min(key for key in known if order_key(key) == wanted)


class _Maker(Maker):
    """Makes what can be written in a query."""

    def term(self) -> bytes:
        """A term without the relative IRI <x> and without an explicit xsd:string."""
        while b"<x>" in (made := super().term()) or b"#string>" in made:
            pass
        return made


@dataclass
class Table:
    """Rows of some terms, in a store or in the query; each has its number."""

    rng: random.Random
    rows: list[list[Key]] = field(init=False)

    def __post_init__(self) -> None:
        rng = self.rng
        self.maker = _Maker(rng, awkward=True)
        some = [self.maker.term() for _ in range(6)]
        pool = [rng.choice(rng.choice([ALIKE, ALIKE, COMMON, AWKWARD, some])) for _ in range(8)]
        self.pool: list[Key] = [key for key in pool if key[0] != BLANK] or [ALIKE[0]]
        empty = rng.choice([0.0, 0.0, 0.2])
        self.rows = [
            [None if rng.random() < empty else rng.choice(self.pool) for _ in NAMES]
            for _ in range(rng.choice([1, 3, 7, 20, 50]))
        ]

    def data(self) -> str:
        """The rows as an INSERT DATA, and values of `:v` that some of them have."""
        triples = []
        for number, row in enumerate(self.rows):
            triples.append(f":r{number} :row {number}")
            known = ((n, key) for n, key in zip(NAMES, row, strict=True) if key is not None)
            triples += [f":r{number} :{name} {written(key)}" for name, key in known]
        triples += [f":s{number} :v {written(key)}" for number, key in enumerate(self.stored)]
        return f"{PREFIX} INSERT DATA {{ {' . '.join(triples)} }}"

    @property
    def stored(self) -> list[Key]:
        """Terms of the data that computed ones may be joined with."""
        return [*self.pool, b"\x03bob", b"\x03", integer(1), integer(3), typed("true", "boolean")]

    # --- expressions ----------------------------------------------------------------------------

    def expression(self) -> Expression:
        """An expression, mostly one that has the same result for many rows."""
        rng = self.rng
        if rng.random() < 0.6:
            return self.maker.any(rng.randint(1, 3))
        inner: Expression = Variable(rng.choice(NAMES))
        if rng.random() < 0.3:
            inner = Call("STR", (self.maker.any(1),))
        return Call(rng.choice(FOLDING), (inner,))

    def values(self, expression: Expression) -> list[Key]:
        """The value of an expression in each row."""
        scalar = compile_scalar(expression, {name: i for i, name in enumerate(NAMES)})
        made: list[Key] = []
        for row in self.rows:
            try:
                made.append(scalar(row))
            except ExpressionError:
                made.append(None)
        return made

    # --- queries --------------------------------------------------------------------------------

    def pattern(self, number: str = "?i") -> str:
        """The pattern of the rows."""
        if self.rng.random() < 0.5:
            rows = " ".join(
                f"({i} {' '.join(map(written, row))})" for i, row in enumerate(self.rows)
            )
            return f"VALUES ({number} {' '.join('?' + name for name in NAMES)}) {{ {rows} }}"
        optional = " ".join(f"OPTIONAL {{ ?r :{name} ?{name} }}" for name in NAMES)
        return f"?r :row {number} {optional}"

    def numbers(self) -> list[Key]:
        """The number of each row."""
        return [integer(number) for number in range(len(self.rows))]

    def case(self) -> tuple[str, Bag]:
        """A query and its answers."""
        kinds: list[Callable[[], tuple[str, Iterable[Row]]]] = [
            *[self.grouped] * 4,
            *[self.distinct] * 2,
            self.filtered,
            self.having,
            self.union,
            self.matched,
            self.looked_up,
            self.nested,
            self.counted_rows,
            *[self.joined] * 3,
        ]
        text, answers = self.rng.choice(kinds)()
        return PREFIX + text, Counter(answers)

    def aggregate(self) -> tuple[str, Callable[[list[int]], Key]]:
        """An aggregate as text, and what it is of some rows."""
        rng = self.rng
        function = rng.choice(AGGREGATES)
        expression = self.expression()
        distinct = rng.random() < 0.7
        separator = rng.choice([None, ", "]) if function == "group_concat" else None
        values = self.values(expression)
        inner = f"{'DISTINCT ' if distinct else ''}{text_of(expression)}"
        inner += f" ; SEPARATOR = '{separator}'" if separator else ""

        def result(rows: list[int]) -> Key:
            return summed(function, [values[row] for row in rows], distinct, separator)

        return f"{function.upper()}({inner})", result

    def groups(self, keys: list[Row]) -> dict[Row, list[int]]:
        """The rows of each key."""
        found: dict[Row, list[int]] = {}
        for row, key in enumerate(keys):
            found.setdefault(key, []).append(row)
        return found

    def grouped(self) -> tuple[str, Iterable[Row]]:
        """GROUP BY computed keys, or variables, or nothing, with aggregates."""
        made = [self.aggregate() for _ in range(self.rng.randint(1, 3))]
        results = " ".join(f"({text} AS ?r{i})" for i, (text, _) in enumerate(made))
        keys = [self.expression() for _ in range(self.rng.choice([0, 1, 1, 2]))]
        values = list(zip(*map(self.values, keys), strict=True)) or [()] * len(self.rows)
        groups = self.groups(values)
        by = " ".join(f"({text_of(key)} AS ?k{i})" for i, key in enumerate(keys))
        names = " ".join(f"?k{i}" for i in range(len(keys)))
        text = f"SELECT {names} {results} {{ {self.pattern()} }} {'GROUP BY' if keys else ''} {by}"
        answers = ((*key, *(f(rows) for _, f in made)) for key, rows in groups.items())
        return text, answers

    def having(self) -> tuple[str, Iterable[Row]]:
        """Groups chosen by an aggregate of a computed value."""
        key = self.rng.choice(NAMES)
        expression = self.expression()
        values = self.values(expression)
        groups = self.groups([(row[NAMES.index(key)],) for row in self.rows])
        limit = self.rng.randint(1, 3)
        text = (
            f"SELECT ?{key} {{ {self.pattern()} }} GROUP BY ?{key} "
            f"HAVING (COUNT(DISTINCT {text_of(expression)}) >= {limit})"
        )
        chosen = [
            k for k, rows in groups.items() if len({values[r] for r in rows} - {None}) >= limit
        ]
        return text, chosen

    def nested(self) -> tuple[str, Iterable[Row]]:
        """An aggregate of the results of aggregates."""
        key, (inner, result) = self.expression(), self.aggregate()
        groups = self.groups([(value,) for value in self.values(key)])
        function, distinct = self.rng.choice(AGGREGATES), self.rng.random() < 0.7
        results = [result(rows) for rows in groups.values()]
        outer = f"{function.upper()}({'DISTINCT ' if distinct else ''}?n)"
        text = (
            f"SELECT ({outer} AS ?m) {{ SELECT ({inner} AS ?n) {{ {self.pattern()} }} "
            f"GROUP BY ({text_of(key)} AS ?k) }}"
        )
        return text, [(summed(function, results, distinct, None),)]

    def distinct(self) -> tuple[str, Iterable[Row]]:
        """SELECT DISTINCT of computed values."""
        made = [self.expression() for _ in range(self.rng.randint(1, 2))]
        selected = " ".join(f"({text_of(one)} AS ?x{i})" for i, one in enumerate(made))
        rows = set(zip(*map(self.values, made), strict=True))
        return f"SELECT DISTINCT {selected} {{ {self.pattern()} }}", rows

    def counted_rows(self) -> tuple[str, Iterable[Row]]:
        """COUNT(DISTINCT *) of computed values."""
        made = [self.expression() for _ in range(self.rng.randint(1, 2))]
        selected = " ".join(f"({text_of(one)} AS ?x{i})" for i, one in enumerate(made))
        rows = set(zip(*map(self.values, made), strict=True))
        text = (
            f"SELECT (COUNT(DISTINCT *) AS ?n) {{ SELECT {selected} {{ {self.pattern()} [] :row 0 "
            "} }"
        )
        return text, [(integer(len(rows)),)]

    def filtered(self) -> tuple[str, Iterable[Row]]:
        """FILTER by an expression, or by two that are equal, the same, or one of several."""
        test: Expression = self.maker.boolean(2)
        if self.rng.random() < 0.6:
            one, other = self.expression(), self.expression()
            name = self.rng.choice(["=", "!=", "SAMETERM", "IN", "NOT IN"])
            constants = [Constant(k) for k in self.rng.sample(self.pool, 1) if k is not None]
            more = tuple(constants) if "IN" in name else ()
            test = Call(name, (one, other, *more))
        chosen = [
            (number,)
            for number, value in zip(self.numbers(), self.values(test), strict=True)
            if is_true(value)
        ]
        return f"SELECT ?i {{ {self.pattern()} FILTER({text_of(test)}) }}", chosen

    def union(self) -> tuple[str, Iterable[Row]]:
        """Distinct values of two patterns."""
        one, other = self.expression(), self.expression()
        parts = [f"{{ {self.pattern()} BIND({text_of(e)} AS ?x) }}" for e in (one, other)]
        rows = {(value,) for e in (one, other) for value in self.values(e)}
        return f"SELECT DISTINCT ?x {{ {' UNION '.join(parts)} }}", rows

    def matched(self) -> tuple[str, Iterable[Row]]:
        """Computed values joined with a table of constants."""
        expression = self.expression()
        values = self.values(expression)
        wanted = list(dict.fromkeys([*self.rng.sample(values, 1), *self.stored]))
        wanted = [key for key in wanted if key is not None]
        table = f"VALUES ?x {{ {' '.join(map(written, wanted))} }}"
        bound = f"{self.pattern()} BIND({text_of(expression)} AS ?x)"
        text = f"SELECT ?i ?x {{ {{ {bound} }} {table} }}"
        return text, self.pairs(values, wanted, self.numbers())

    def looked_up(self) -> tuple[str, Iterable[Row]]:
        """Computed values joined with stored ones."""
        expression = self.expression()
        values = self.values(expression)
        text = f"SELECT ?i ?x {{ {self.pattern()} BIND({text_of(expression)} AS ?x) ?s :v ?x }}"
        return text, self.pairs(values, self.stored, self.numbers())

    def pairs(self, values: list[Key], others: list[Key], numbers: list[Key]) -> list[Row]:
        """The joined rows of some values with others, each with the number of the first."""
        return [
            (number, other if value is None else value)
            for number, value in zip(numbers, values, strict=True)
            for other in others
            if value is None or value == other
        ]

    def ordered(self) -> tuple[str, list[Key]]:
        """ORDER BY a computed value, and the values in an order that is right."""
        expression, descending = self.expression(), self.rng.random() < 0.5
        values = sorted(self.values(expression), key=place, reverse=descending)
        text = (
            f"{PREFIX} SELECT ?x {{ {self.pattern()} BIND({text_of(expression)} AS ?x) }} "
            f"ORDER BY {'DESC' if descending else 'ASC'}(?x)"
        )
        return text, values

    def inserted(self) -> tuple[str, set[Row]]:
        """An INSERT of computed values, and the triples it makes."""
        expression = self.expression()
        values = self.values(expression)
        text = (
            f"{PREFIX} INSERT {{ ?s :got ?x . :all :got ?x }} WHERE "
            f"{{ {self.pattern()} BIND({text_of(expression)} AS ?x) BIND(IRI(STR(:r)) AS ?s) }}"
        )
        names = (b"\x01http://e/r", b"\x01http://e/all")
        return text, {(name, value) for name in names for value in values if value is not None}

    def rule(self) -> tuple[str, set[Row]]:
        """A rule that counts and adds up computed values in groups, and what it concludes."""
        function, key = self.rng.choice(AGGREGATES), self.expression()
        argument, distinct = self.expression(), self.rng.random() < 0.7
        rows = [number for number, row in enumerate(self.rows) if None not in row]
        keys, values = self.values(key), self.values(argument)
        groups: dict[Key, list[Key]] = {}
        for row in rows:
            if keys[row] is not None:
                groups.setdefault(keys[row], []).append(values[row])
        body = ", ".join(f":{name}[?r, ?{name}]" for name in NAMES)
        text = (
            f"@prefix : <http://e/> . :got[:all, ?n] :- AGGREGATE(:row[?r, ?i], {body}, "
            f"BIND({text_of(key)} AS ?k) ON ?k "
            f"BIND {function}({'DISTINCT ' if distinct else ''}{text_of(argument)}) AS ?n) ."
        )
        results = {summed(function, group, distinct, None) for group in groups.values()} - {None}
        return text, {(b"\x01http://e/all", result) for result in results}

    def joined(self) -> tuple[str, Iterable[Row]]:
        """Two patterns with a computed value in common: all kinds of joins."""
        one, other = self.expression(), self.expression()
        left, right = self.values(one), self.values(other)
        first = f"{{ {self.pattern()} BIND({text_of(one)} AS ?x) }}"
        second = f"{{ SELECT ?j ?x {{ {self.pattern('?j')} BIND({text_of(other)} AS ?x) }} }}"
        how = self.rng.choice(["", "", "OPTIONAL", "MINUS", "EXISTS", "NOT EXISTS"])
        if how.endswith("EXISTS"):
            left = [value for value in left if value is not None]  # what is unbound is not put in
            first = f"{first} FILTER(BOUND(?x))"
        numbers = [
            number
            for number, value in zip(self.numbers(), self.values(one), strict=True)
            if value is not None or not how.endswith("EXISTS")
        ]
        rows: list[Row] = []
        for number, value in zip(numbers, left, strict=True):
            found = [
                (number, b, other if value is None else value)
                for b, other in zip(self.numbers(), right, strict=True)
                if value is None or other is None or value == other
            ]
            if how == "":
                rows += found
            elif how == "OPTIONAL":
                rows += found or [(number, None, value)]
            elif how == "MINUS":
                if value is None or value not in right:
                    rows.append((number, None, value))
            elif (how == "EXISTS") == bool(found):
                rows.append((number, None, value))
        if how.endswith("EXISTS"):
            second = f"FILTER {how} {{ {second} }}"
        elif how:
            second = f"{how} {second}"
        return f"SELECT ?i ?j ?x {{ {first} {second} }}", rows


def text_of(expression: Expression) -> str:
    """An expression as a query has it."""
    text = expression_text(expression, Namer())
    return text if isinstance(expression, Variable | Constant) else f"({text})"
