"""The parser of terms, the base of those of expressions, rules and queries.

Start at `TermParser`. Always true: violations of the grammar are reported and raise `Stop`;
the caller continues at a place that it knows. Other errors (an unknown prefix, an invalid language
tag) are reported, and parsing continues. Every problem has an offset, says what was expected, and
suggests a similar name if there is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from itertools import islice
from typing import NamedTuple

import pyoxigraph as ox

from triplestore.expressions.text.tokens import (
    AT,
    BAD,
    BLANK,
    DECIMAL,
    DOUBLE,
    INTEGER,
    IRI,
    OPERATOR,
    PREFIXED,
    STRING,
    VARIABLE,
    WORD,
    Tokens,
)
from triplestore.expressions.tree import Constant, Variable
from triplestore.operators.context import current
from triplestore.terms.term_keys import cache_of_short, key_of, to_ntriples
from triplestore.terms.vocabulary import (
    RDF_TYPE,
    XSD_BOOLEAN,
    XSD_DECIMAL,
    XSD_DOUBLE,
    XSD_INTEGER,
)

MOST_NESTED = 100
"""Maximum depth of nested parentheses: Python's stack is limited."""


_EVERY = 512  # tokens between two checks of the limits
MOST_PROBLEMS = 100
"""Maximum number of problems listed for a text."""

MOST_LETTERS = 100
"""Maximum length of a name that is compared with others for a hint. The time is quadratic: 1.5 ms
for another name of 120 letters; 5 million letters needed 230 MB."""

MOST_NAMES = 1000
"""Maximum number of names compared for a hint."""

_COMPARED = 20  # names between two checks of the limits


class SyntaxProblem(NamedTuple):
    """A problem at an offset of a text.

    code  `function` if a name or a number of arguments is wrong, which is checked again for rules
    """

    offset: int
    message: str
    code: str = "syntax"


class Stop(Exception):  # noqa: N818 - not an error for users: the problem was reported before
    """Parsing cannot continue from here."""


class TermParser:
    """Reads terms from tokens.

    tokens    the tokens of the text; `at` is the number of the next one
    prefixes  prefix -> namespace; declarations add to it
    problems  the problems found so far
    """

    def __init__(self, tokens: Tokens, prefixes: Mapping[str, str] | None = None) -> None:
        self.tokens = tokens
        self.kinds = tokens.kinds
        self.texts = tokens.texts
        self.at = 0
        self.prefixes = dict(prefixes or {})
        self.base: str | None = None
        self.problems: list[SyntaxProblem] = []
        self._names: dict[str, Constant] = {}
        self._unknown: set[str] = set()
        self.depth = 0
        self._next_look = _EVERY
        self._parts = 0

    # --- limits ---------------------------------------------------------------------------------

    def look_at_limits(self) -> None:
        """Check the limits from time to time; called for everything that may occur many times."""
        if self.at >= self._next_look:
            self._next_look = self.at + _EVERY
            current().check()

    def count_part(self) -> None:
        """Count one more part of a pattern or a SELECT, whose number is limited."""
        self._parts += 1
        most = current().text.parts
        if self._parts > most:
            self.report(
                f"more than {most:,} parts (triple patterns, steps of paths, groups, filters, keys,"
                " expressions of SELECT): use VALUES or IN for long lists, or raise the limits"
            )
            raise Stop

    # --- tokens ---------------------------------------------------------------------------------

    def is_operator(self, text: str) -> bool:
        """True if the next token is this operator or bracket."""
        return self.texts[self.at] == text and self.kinds[self.at] == OPERATOR

    def is_word(self, word: str) -> bool:
        """True if the next token is this keyword (given in capitals)."""
        return self.kinds[self.at] == WORD and self.texts[self.at].upper() == word

    def take(self, text: str) -> bool:
        """Skip an operator or bracket if it is the next token."""
        if self.is_operator(text):
            self.at += 1
            return True
        return False

    def take_word(self, word: str) -> bool:
        """Skip a keyword if it is the next token."""
        if self.is_word(word):
            self.at += 1
            return True
        return False

    def expect(self, text: str, where: str) -> None:
        """Skip an operator or bracket, which must come next."""
        if not self.take(text):
            self.fail(f"'{text}' {where}")

    def expect_word(self, word: str, where: str) -> None:
        """Skip a keyword, which must come next."""
        if not self.take_word(word):
            self.fail(f"{word} {where}", known=[word])

    def report(self, message: str, at: int | None = None, code: str = "syntax") -> None:
        """Note a problem at a token, and continue."""
        at = self.at if at is None else at
        self.problems.append(SyntaxProblem(self.tokens.start(at), message, code))
        if len(self.problems) >= MOST_PROBLEMS:
            raise Stop

    def fail(self, expected: str, known: Iterable[str] = (), hint: str = "") -> Stop:
        """Note what was expected instead of the next token, and raise `Stop`.

        known  words; a similar one is suggested
        hint   what to do if no known cause applies
        """
        found = self.tokens.describe(self.at)
        message = f"expected {expected}, found {found}"
        text = self.texts[self.at]
        long = self._long_string()
        if long is not None:
            self.report(
                f"the string that begins with {self.texts[long][0] * 3} is not closed", long
            )
            raise Stop
        if self.kinds[self.at] == BAD and text[:1] in "\"'":
            message = f"the string that begins with {found} is not closed on this line"
        elif text == "<" and self._begins_a_word():
            message += f"; an IRI ends with '>' and cannot contain any of {_NOT_IN_IRIS}"
        elif self.kinds[self.at] == BAD and text[0] == "<":
            message = f"{found} is not an IRI: it cannot contain any of {_NOT_IN_IRIS}"
        elif self.kinds[self.at] in (WORD, PREFIXED):
            message += did_you_mean(text.upper(), known) or hint
        else:
            message += hint
        self.report(message)
        raise Stop

    def _long_string(self) -> int | None:
        """The token before or here that is two of three opening quotes; None if there is none."""
        for at in (self.at - 1, self.at):
            if at >= 0 and self.texts[at] in ("''", '""'):
                start = self.tokens.starts[at]
                if self.tokens.text[start : start + 3] == self.texts[at][0] * 3:
                    return at
        return None

    def _begins_a_word(self) -> bool:
        """True if a letter directly follows the next token, as in `<http://a b>`."""
        after = self.tokens.starts[self.at] + 1
        return self.tokens.text[after : after + 1].isalpha()

    # --- terms ----------------------------------------------------------------------------------

    def variable(self, where: str) -> Variable:
        """A variable, which must come next."""
        if self.kinds[self.at] != VARIABLE:
            self.fail(f"a variable {where}")
        self.at += 1
        return Variable(self.texts[self.at - 1])

    def is_iri(self) -> bool:
        """True if the next token is an IRI or a prefixed name."""
        return self.kinds[self.at] in (PREFIXED, IRI)

    def iri(self) -> Constant:
        """The IRI of the next token, in full or as a prefixed name."""
        self.look_at_limits()
        text, kind = self.texts[self.at], self.kinds[self.at]
        known = self._names.get(text) if kind == PREFIXED else None
        if known is None:
            iri = self._full_name(text) if kind == PREFIXED else self._resolved(text)
            known = Constant(b"\x01" + iri.encode())
            if kind == PREFIXED:
                self._names[text] = known
        self.at += 1
        return known

    def _full_name(self, text: str) -> str:
        prefix, _, local = text.partition(":")
        namespace = self.prefixes.get(prefix)
        if namespace is None:
            self.report(
                f"unknown prefix '{prefix}:'{did_you_mean(prefix, self._declared(), ':')}; "
                f"declare it: {self.declaration(prefix)}"
            )
            self._unknown.add(prefix)
            self.prefixes[prefix] = namespace = f"unknown:{prefix}:"
        return namespace + (_ESCAPED.sub(r"\1", local) if "\\" in local else local)

    def declaration(self, prefix: str) -> str:
        """The declaration of a missing prefix, for messages."""
        return f"@prefix {prefix}: <...> ."

    def _declared(self) -> list[str]:
        return [prefix for prefix in self.prefixes if prefix not in self._unknown]

    def _resolved(self, text: str) -> str:
        try:
            iri = unescape(text) if "\\" in text else text
        except ValueError as error:
            self.report(f"{error} in an IRI")
            return text
        try:
            return valid_iri(iri)
        except ValueError as error:
            try:
                return against_base(iri, self.base)
            except ValueError:
                hint = "" if self.base else ": declare a BASE for relative IRIs"
                self.report(f"<{iri}> {RELATIVE} ({error}){hint}")
        return iri

    def set_base(self, iri: str) -> None:
        """Set the base of relative IRIs from here on."""
        self.base = iri

    def take_declaration(self) -> bool:
        """Skip PREFIX or BASE with its declaration, if it comes next."""
        word = self.texts[self.at].upper()
        if word == "PREFIX":
            self.at += 1
            self._take_prefix()
        elif word == "BASE":
            self.at += 1
            if self.kinds[self.at] != IRI:
                self.fail("an IRI in <> after BASE")
            self.set_base(iri_of(self.iri()))
        else:
            return False
        return True

    def _take_prefix(self) -> None:
        text = self.texts[self.at]
        if self.kinds[self.at] != PREFIXED or text.index(":") != len(text) - 1:
            self.fail("a prefix and ':' after PREFIX")
        self.at += 1
        if self.kinds[self.at] != IRI:
            self.fail(f"an IRI in <> for the prefix {text}")
        self.declare(text[:-1], iri_of(self.iri()))

    def declare(self, prefix: str, namespace: str) -> None:
        """Set the namespace of a prefix from here on."""
        self.prefixes[prefix] = namespace
        self._unknown.discard(prefix)
        self._names.clear()

    def constant(self, where: str) -> Constant:
        """An IRI, blank node, literal or triple term, which must come next."""
        self.look_at_limits()
        kind = self.kinds[self.at]
        if kind in (PREFIXED, IRI):
            return self.iri()
        if kind == STRING:
            return self._string()
        if kind in _NUMBERS:
            return self._number("")
        if kind == BLANK:
            self.at += 1
            return Constant(b"\x02" + self.texts[self.at - 1].encode())
        if kind == OPERATOR:
            sign = self.texts[self.at]
            if sign in ("+", "-") and self.number_follows():
                self.at += 1
                return self._number(sign)
            if sign == "<<(":
                return self._triple_term()
        if kind == WORD and self.texts[self.at].lower() in ("true", "false"):
            self.at += 1
            return typed(self.texts[self.at - 1].lower(), XSD_BOOLEAN)
        self.fail(f"a constant {where}")
        raise AssertionError

    def number_follows(self) -> bool:
        """True if a number directly follows the next token, which is a sign."""
        at = self.at + 1
        adjacent = self.tokens.starts[at] == self.tokens.starts[self.at] + 1
        return adjacent and self.kinds[at] in _NUMBERS

    def _number(self, sign: str) -> Constant:
        self.at += 1
        return typed(sign + self.texts[self.at - 1], _NUMBERS[self.kinds[self.at - 1]])

    def _string(self) -> Constant:
        at = self.at
        lexical = self._string_text()
        if self.kinds[self.at] == AT:
            tag = self.texts[self.at]
            self.at += 1
            try:
                language, _, direction = tag.partition("--")
                ways = {"": None, "ltr": ox.BaseDirection.LTR, "rtl": ox.BaseDirection.RTL}
                return Constant.of(
                    ox.Literal(lexical, language=language, direction=ways[direction])
                )
            except (ValueError, KeyError):
                self.report(f"'@{tag}' is not a language tag", at + 1)
        elif self.take("^^"):
            if not self.is_iri():
                self.fail("the IRI of a datatype after '^^'")
            datatype = self.iri()
            try:
                return Constant.of(ox.Literal(lexical, datatype=ox.NamedNode(iri_of(datatype))))
            except ValueError as error:
                self.report(f"literals cannot have this datatype: {error}", self.at - 1)
        return Constant(b"\x03" + lexical.encode())

    def _string_text(self) -> str:
        text = self.texts[self.at]
        quotes = 3 if text[:3] in ('"""', "'''") and len(text) >= 6 else 1
        self.at += 1
        lexical = text[quotes:-quotes]
        if "\\" not in lexical:
            return lexical
        try:
            return unescape(lexical)
        except ValueError as error:
            self.report(f"{error} in a string", self.at - 1)
            return lexical

    def string(self, where: str) -> str:
        """A string without tag or datatype, which must come next."""
        if self.kinds[self.at] != STRING:
            self.fail(f"a string {where}")
        return self._string_text()

    def _triple_term(self) -> Constant:
        start = self.at
        self.at += 1
        self.enter()
        subject = self.constant("as subject of a triple term")
        parts = [subject, self.verb_of_term(), self.constant("as object of a triple term")]
        self.leave()
        self.expect(")>>", "at the end of a triple term")
        subject, predicate, _ = parts
        if subject.kind not in (1, 2) or predicate.kind != 1:
            self.report(
                "a triple term consists of an IRI or blank node, an IRI, and any term", start
            )
        inner = b" ".join(to_ntriples(part.key) for part in parts)
        return Constant(b"\x06<<( " + inner + b" )>>")

    def verb_of_term(self) -> Constant:
        """The predicate of a triple term."""
        if self.kinds[self.at] == WORD and self.texts[self.at] == "a":
            self.at += 1
            return Constant.iri(RDF_TYPE)
        return self.constant("as predicate of a triple term")

    def enter(self) -> None:
        """Enter a nested level; `leave` returns from it."""
        self.depth += 1
        if self.depth > MOST_NESTED:
            self.report(f"nested more than {MOST_NESTED} deep: use BIND for parts of it")
            raise Stop

    def leave(self) -> None:
        """Return from a nested level."""
        self.depth -= 1


_NOT_IN_IRIS = '<"{}|^`\\ or a space'
_NUMBERS = {INTEGER: XSD_INTEGER, DECIMAL: XSD_DECIMAL, DOUBLE: XSD_DOUBLE}
_ESCAPED = re.compile(r"\\(.)")
_UNESCAPED = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_SHORT = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}


def did_you_mean(name: str, known: Iterable[str], after: str = "") -> str:
    """` (did you mean X?)` if a known name is similar; else "".

    >>> did_you_mean("STRLENGTH", ["STRLEN", "STR"])
    ' (did you mean STRLEN?)'
    >>> did_you_mean("POW", ["NOW"])
    ''
    """
    near = nearest(name, islice(known, MOST_NAMES), 0.6 if len(name) > 3 else 0.75)
    return "" if near is None else f" (did you mean {near}{after}?)"


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The most similar of some names, if it is similar enough (1: the same) and not too long."""
    if len(name) > MOST_LETTERS:
        return None
    others, near = iter(known), list[str]()
    while some := list(islice(others, _COMPARED)):
        current().check()
        near += get_close_matches(name, some, n=1, cutoff=cutoff)
    found = get_close_matches(name, near, n=1, cutoff=cutoff)
    return found[0] if found else None


def iri_of(constant: Constant) -> str:
    """The IRI of a constant, which must be an IRI."""
    return constant.key[1:].decode()


def typed(lexical: str, datatype: str) -> Constant:
    """The constant for a literal of a datatype other than xsd:string."""
    return Constant(b"\x05" + lexical.encode() + b'"^^<' + datatype.encode() + b">")


def unescape(text: str) -> str:
    """A string or an IRI with its escapes replaced."""
    return _UNESCAPED.sub(_unescaped, text)


def _unescaped(match: re.Match[str]) -> str:
    what = match[1]
    if what[0] in "uU" and len(what) > 1:
        code = int(what[1:], 16)
        if code > 0x10FFFF or 0xD800 <= code < 0xE000:
            raise ValueError(f"'\\{what}' is not a character")
        return chr(code)
    if what not in _SHORT:
        raise ValueError(f"'\\{what}' is not an escape")
    return _SHORT[what]


@cache_of_short(1 << 14)
def valid_iri(iri: str) -> str:
    """The IRI; ValueError if it is not absolute."""
    return ox.NamedNode(iri).value


RELATIVE = "is not an absolute IRI"
"""Part of the message about a relative IRI without a base."""


def against_base(iri: str, base: str | None) -> str:
    """A relative IRI resolved against a base; ValueError without a base, or if it is invalid."""
    if base is None:
        raise ValueError("no base is declared")
    try:
        (quad,) = ox.parse(f"<{iri}> <x:> <x:> .", format=ox.RdfFormat.TURTLE, base_iri=base)
    except SyntaxError as error:
        raise ValueError(str(error)) from error
    return key_of(quad.subject)[1:].decode()
