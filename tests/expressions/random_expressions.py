"""Random terms and expressions, for comparing two ways to evaluate them."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.terms.literals import Literals
from triplestore.expressions.functions import CASTS
from triplestore.expressions.library.times import DURATIONS
from triplestore.expressions.tree import Call, Constant, Expression, Variable
from triplestore.terms.term_keys import BLANK
from triplestore.terms.vocabulary import XSD

NAMES = ("a", "b", "c")


def typed(lexical: str, name: str) -> bytes:
    return f'\x05{lexical}"^^<{XSD}{name}>'.encode()


# Literals as pyoxigraph writes them, so that it can be compared with.
COMMON = [
    *(typed(str(n), "integer") for n in (-3, 0, 1, 2, 7, 1000000)),
    *(typed(t, "decimal") for t in ("0.1", "1.5", "2", "-2.5", "3.25")),
    *(typed(t, "double") for t in ("0.1", "1.5", "2", "-2.5", "64")),
    *(typed(t, "float") for t in ("0.1", "1.5", "-2.5")),
    *(b"\x03" + t for t in (b"", b"a", b"abc", b"2", b"1.5", b"B", "é".encode(), b"http://e/x")),
    *(b"\x04" + t for t in (b'abc"@en', b'abc"@de', b'b"@en', b'x"@en-us')),
    *(typed(t, "dateTime") for t in ("2020-02-29T12:30:15.5Z", "2019-12-31T23:59:59+05:00")),
    *(typed(t, "dateTime") for t in ("2020-02-29T12:30:15", "2021-01-01T00:00:00")),
    *(typed(t, "date") for t in ("2020-02-29", "2020-02-29Z", "2020-03-01")),
    typed("10:00:00", "time"),
    typed("P1Y2M", "yearMonthDuration"),
    typed("P1DT2H", "dayTimeDuration"),
    b"\x01http://e/x",
    b"\x01http://e/y",
    b"\x02b1",
    b'\x05a"^^<http://e/type>',
    b'\x05b"^^<http://e/type>',
]

# And others, on which implementations differ.
AWKWARD = [
    typed("true", "boolean"),
    typed("0", "boolean"),
    typed("maybe", "boolean"),
    typed("x", "integer"),
    typed("300", "byte"),
    typed("007", "int"),
    typed("9007199254740993", "integer"),
    typed("9007199254740992", "integer"),
    typed("99999999999999999999999999", "integer"),
    typed("100000000000000000000", "integer"),
    typed("-100000000000000000000", "integer"),
    typed("0.1000000000000000000000000001", "decimal"),
    typed("1.50", "decimal"),
    typed("NaN", "double"),
    typed("INF", "double"),
    typed("-0", "double"),
    typed("NaN", "float"),
    typed("16777217", "integer"),
    typed("16777216", "float"),
    typed("a", "token"),
    typed("00ff", "hexBinary"),
    typed("00FF", "hexBinary"),
    typed("P1M", "duration"),
    typed("P30D", "duration"),
    typed("2020-02-29T24:00:00Z", "dateTime"),
    b'\x04"@en',
    b'\x04a"@ar--rtl',
    b"\x06<<( <http://e/x> <http://e/y> <http://e/x> )>>",
    b'\x06<<( <http://e/x> <http://e/y> "1"^^<http://www.w3.org/2001/XMLSchema#integer> )>>',
    b'\x06<<( <http://e/x> <http://e/y> "1"^^<http://www.w3.org/2001/XMLSchema#byte> )>>',
]


# Only functions that pyoxigraph has: it is the judge of what is made of these lists.
STRING_FUNCTIONS = ["UCASE", "LCASE", "SUBSTR", "CONCAT", "STRBEFORE", "STRAFTER", "LANG"]
STRING_FUNCTIONS += ["ENCODE_FOR_URI", "REPLACE", "MD5"]
TESTS = ["=", "!=", "<", ">", "<=", ">=", "=", "<", "||", "&&", "!", "IN", "SAMETERM", "ISIRI"]
TESTS += ["ISBLANK", "ISLITERAL", "ISNUMERIC", "CONTAINS", "STRSTARTS", "REGEX", "LANGMATCHES"]


# What the functions that are in none of these lists take: s a string, n a number, t any term,
# or a text of which an argument is chosen.
RARE: dict[str, tuple[str, ...]] = {
    "SUBSTR": ("s", "1 2 -1 1.5", "n"),
    "STRENDS": ("s", "s"),
    "REGEX": ("s", "a b. ^$ [A-C]", "i s m x q"),
    "REPLACE": ("s", "a b. (.)", "$0 z $1", "i s q"),
    "STRLANG": ("s", "en EN de"),
    "STRLANGDIR": ("s", "en ar", "ltr rtl"),
    **dict.fromkeys(("STRLEN", "SHA1", "SHA256", "SHA384", "SHA512"), ("s",)),
    **dict.fromkeys(("LANGDIR", "HASLANG", "HASLANGDIR", "ISTRIPLE", "POS"), ("t",)),
    **dict.fromkeys(("SUBJECT", "PREDICATE", "OBJECT", "ISNUMERIC", "ISIRI"), ("t",)),
    **dict.fromkeys(("MINUTES", "TIMEZONE", "TZ", "YEAR", "SECONDS"), ("t",)),
    "TRIPLE": ("t", "t", "t"),
    "LANGMATCHES": ("s", "* en de-*"),
    "NOT IN": ("t", "t", "t"),
}


@dataclass
class Maker:
    """Makes terms and expressions from one source of random numbers.

    awkward  also what other implementations see differently
    """

    random: random.Random
    awkward: bool = False

    def term(self) -> bytes:
        if self.awkward and self.random.random() < 0.2:
            return b"\x05" + Literals(self.random).typed()
        return self.random.choice(COMMON + AWKWARD if self.awkward else COMMON)

    def row(self) -> list[bytes | None]:
        return [None if self.random.random() < 0.1 else self.term() for _ in NAMES]

    def any(self, depth: int) -> Expression:
        """An expression of any type."""
        if depth <= 0:
            return self.leaf()
        makers = [self.number, self.string, self.boolean, self.number, self.other]
        if self.awkward:
            makers += [self.rare, self.rare]
        return self.random.choice(makers)(depth)

    def leaf(self) -> Expression:
        if self.random.random() < 0.75:
            return Variable(self.random.choice(NAMES))
        key = self.term()
        return Constant(key if key[0] != BLANK else b"\x01http://e/x")

    def number(self, depth: int) -> Expression:
        if depth <= 0:
            return self.leaf()
        name = self.random.choice(["+", "-", "*", "/", "NEG", "ABS", "CEIL", "FLOOR", "ROUND"])
        parts = 2 if name in "+-*/" else 1
        if self.random.random() < 0.2:
            name = self.random.choice(["STRLEN", "YEAR", "MONTH", "DAY", "HOURS", "SECONDS"])
            parts = 1
        return Call(name, tuple(self.number(depth - 1) for _ in range(parts)))

    def string(self, depth: int) -> Expression:
        if depth <= 0:
            return self.leaf()
        name = self.random.choice(STRING_FUNCTIONS)
        if name == "SUBSTR":
            return Call(name, (self.string(depth - 1), Constant(typed("2", "integer"))))
        if name == "REPLACE":
            by = (Constant(b"\x03[ab]"), Constant(b"\x03<$0>"))
            return Call(name, (self.string(depth - 1), *by))
        if name == "CONCAT":
            return Call(
                name, tuple(self.string(depth - 1) for _ in range(self.random.randint(0, 3)))
            )
        parts = 2 if name in ("STRBEFORE", "STRAFTER") else 1
        return Call(name, tuple(self.string(depth - 1) for _ in range(parts)))

    def boolean(self, depth: int) -> Expression:
        if depth <= 0:
            return Call("BOUND", (Variable(self.random.choice(NAMES)),))
        name = self.random.choice(TESTS)
        if name in ("||", "&&"):
            count = self.random.randint(2, 3)
            return Call(name, tuple(self.condition(depth - 1) for _ in range(count)))
        if name == "!":
            return Call(name, (self.condition(depth - 1),))
        if name == "IN":
            name = self.random.choice(["IN", "NOT IN"])
            return Call(
                name, tuple(self.value(depth - 1) for _ in range(self.random.randint(2, 4)))
            )
        if name == "REGEX":
            return Call(name, (self.string(depth - 1), Constant(b"\x03^[aB]")))
        if name.startswith("IS"):
            return Call(name, (self.value(depth - 1),))
        if name in ("<", ">", "<=", ">=") and not self.awkward:
            # for pyoxigraph, what has no order is still not less than itself
            return Call(name, (self.number(max(depth - 1, 1)), self.number(max(depth - 1, 1))))
        make = self.string if name in ("CONTAINS", "STRSTARTS", "LANGMATCHES") else self.value
        return Call(name, (make(depth - 1), make(depth - 1)))

    def condition(self, depth: int) -> Expression:
        """Something whose truth is asked for."""
        return self.any(depth) if self.awkward else self.boolean(depth)

    def value(self, depth: int) -> Expression:
        """What is compared."""
        if self.awkward:
            return self.any(depth)
        return self.random.choice([self.number, self.string, self.number])(depth)

    def rare(self, depth: int) -> Expression:
        """A function that other implementations see differently, or lack."""
        name = self.random.choice(sorted(RARE))
        if name == "NOT IN" and self.random.random() < 0.3:
            return Call(self.random.choice(["IN", "NOT IN"]), (self.any(depth - 1),))
        return Call(name, tuple(self._argument(kind, depth - 1) for kind in RARE[name]))

    def _argument(self, kind: str, depth: int) -> Expression:
        make = {"s": self.string, "n": self.number, "t": self.any}.get(kind)
        if make is not None:
            return make(depth)
        word = self.random.choice(kind.split(" "))
        is_number = word.lstrip("-")[0].isdigit()
        if is_number:
            return Constant(typed(word, "decimal" if "." in word else "integer"))
        return Constant(b"\x03" + word.encode())

    def other(self, depth: int) -> Expression:
        name = self.random.choice(["IF", "COALESCE", "DATATYPE", "STR", "IRI", "STRDT", "cast"])
        if name == "IF":
            parts = (self.condition(depth - 1), self.any(depth - 1), self.any(depth - 1))
            return Call(name, parts)
        if name == "COALESCE":
            count = self.random.randint(1, 3)
            return Call(name, tuple(self.any(depth - 1) for _ in range(count)))
        if name == "STRDT":
            return Call(name, (self.leaf(), Constant.iri("http://e/type")))
        if name == "cast":
            casts = CASTS.keys() if self.awkward else CASTS.keys() - DURATIONS
            return Call(self.random.choice(sorted(casts)), (self.leaf(),))
        return Call(name, (self.leaf(),))
