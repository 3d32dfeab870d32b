"""Expressions and terms as text that is parsed to the same.

Start at `Namer`, which writes terms with prefixes, and `expression_text`. Always true:
parsing the text returns exactly the printed expression; parentheses are only used where needed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from triplestore.expressions.tree import Call, Constant, Exists, Expression, Variable
from triplestore.terms.term_keys import BLANK, IRI, STRING, TRIPLE, TYPED, to_ntriples
from triplestore.terms.triples.split_triples import parts_of
from triplestore.terms.vocabulary import XSD

_SIMPLE_LOCAL = re.compile(r"[A-Za-z_0-9](?:[\w\-]|\.(?=[\w\-]))*", re.ASCII)
_WORTH = re.compile(r"[#/:]")
_SHORT_NUMBERS = {
    XSD + "integer": re.compile(r"[+-]?[0-9]+"),
    XSD + "decimal": re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    XSD + "double": re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]+"),
    XSD + "boolean": re.compile(r"true|false"),
}


class Namer:
    """Writes terms, IRIs as prefixed names where possible.

    >>> namer = Namer({"ex": "http://example.org/"})
    >>> namer.term(Constant.iri("http://example.org/a")), namer.term(Constant.iri("http://b"))
    ('ex:a', '<http://b>')
    """

    def __init__(self, prefixes: Mapping[str, str] | None = None) -> None:
        self.prefixes: dict[str, str] = {}
        for prefix, namespace in (prefixes or {}).items():
            self.prefixes.setdefault(namespace, prefix)
        self.used: set[str] = set()
        self._known: dict[bytes, str] = {}

    def term(self, term: Variable | Constant) -> str:
        """A variable or a constant."""
        if isinstance(term, Variable):
            return f"?{term.name}"
        known = self._known.get(term.key)
        if known is None:
            known = self._known[term.key] = self._constant(term)
        return known

    def exists(self, exists: Exists) -> str:
        """An EXISTS; only the namer of queries writes it, because rules have no EXISTS."""
        raise AssertionError("only the printer of queries writes EXISTS")

    def iri(self, iri: str) -> str:
        """An IRI."""
        return self.term(Constant.iri(iri))

    def _constant(self, constant: Constant) -> str:
        if constant.kind == IRI:
            return self._iri(constant.key[1:].decode())
        if constant.kind in (BLANK, STRING):
            return str(constant)
        if constant.kind == TYPED:
            lexical, _, rest = constant.key[1:].decode().rpartition('"^^<')
            datatype = rest[:-1]
            short = _SHORT_NUMBERS.get(datatype)
            if short is not None and short.fullmatch(lexical):
                return lexical
            text = to_ntriples(b"\x03" + lexical.encode()).decode()
            return f"{text}^^{self._iri(datatype)}"
        if constant.kind == TRIPLE:
            parts = (self.term(Constant(part)) for part in parts_of(constant.key))
            return f"<<( {' '.join(parts)} )>>"
        return str(constant)

    def _iri(self, iri: str) -> str:
        for found in reversed(list(_WORTH.finditer(iri))):
            prefix = self.prefixes.get(iri[: found.end()])
            local = iri[found.end() :]
            if prefix is not None and (not local or _SIMPLE_LOCAL.fullmatch(local)):
                self.used.add(prefix)
                return f"{prefix}:{local}"
        return str(Constant.iri(iri))


# The precedence of operators; a part with lower precedence is put in parentheses.
_STRENGTH = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(("=", "!=", "<", ">", "<=", ">=", "IN", "NOT IN"), 3),
    **dict.fromkeys("+-", 4),
    **dict.fromkeys("*/", 5),
    **dict.fromkeys(("!", "NEG", "POS"), 6),
}
_COMPARED = 3
_UNARY = 6
_SIGNS = {"!": "!", "NEG": "-", "POS": "+"}


def expression_text(expression: Expression, namer: Namer) -> str:
    """The text of an expression.

    >>> one = Constant(b'\\x051"^^<http://www.w3.org/2001/XMLSchema#integer>')
    >>> sum_ = Call("+", (Variable("x"), one))
    >>> expression_text(Call("*", (sum_, Call("NEG", (sum_,)))), Namer())
    '(?x + 1) * -(?x + 1)'
    """
    return _text(expression, namer, 0)


def _text(node: Expression, namer: Namer, least: int) -> str:
    if isinstance(node, Variable | Constant):
        return namer.term(node)
    if isinstance(node, Exists):
        return namer.exists(node)
    strength = _STRENGTH.get(node.function)
    if strength is None:
        return f"{_function(node, namer)}({_list(node.arguments, namer)})"
    text = _operation(node, strength, namer)
    return f"({text})" if strength < least else text


def _operation(node: Call, strength: int, namer: Namer) -> str:
    sign, parts = node.function, node.arguments
    if strength == _UNARY:
        inner = _text(parts[0], namer, _UNARY if sign == "!" else _UNARY + 1)
        # `-5` would be read as one number, and `--5` as something else
        number = sign != "!" and isinstance(parts[0], Constant)
        return f"{_SIGNS[sign]}({inner})" if number else f"{_SIGNS[sign]}{inner}"
    if sign in ("IN", "NOT IN"):
        left = _text(parts[0], namer, strength + 1)
        return f"{left} {sign} ({_list(parts[1:], namer)})"
    # Chains of || and && are one call; other operators are left-associative.
    leaning = sign in ("||", "&&") or strength == _COMPARED
    first = _text(parts[0], namer, strength + 1 if leaning else strength)
    return f" {sign} ".join([first, *(_text(part, namer, strength + 1) for part in parts[1:])])


def _function(node: Call, namer: Namer) -> str:
    return namer.iri(node.function) if ":" in node.function else node.function


def _list(parts: tuple[Expression, ...], namer: Namer) -> str:
    return ", ".join(_text(part, namer, 0) for part in parts)
