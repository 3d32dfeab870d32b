"""Expressions as data: those of FILTER, BIND and the arguments of aggregates.

Start at `Expression`: a variable, a constant, or a call; operators are calls. Functions have their
SPARQL names in capitals (`STRLEN`, `IF`, `ISIRI`), operators their signs (`|| && = != < > <= >= + -
* / !`, `IN`, `NOT IN`, and `NEG`, `POS` for the signs of one number), casts and extension functions
their IRI. `||` and `&&` have at least two operands.

Always true: nodes are frozen and compare by structure; a constant is a term key (see
`terms.term_keys`), so an expression depends on no dictionary.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from triplestore.data_classes import data_class
from triplestore.terms.term_keys import Term, key_of, term_of, to_ntriples


@data_class
class Variable:
    """A variable, by its name without the `?`.

    >>> print(Variable("x"))
    ?x
    """

    name: str

    def __str__(self) -> str:
        return f"?{self.name}"


@data_class
class Constant:
    """An RDF term, as its dictionary key.

    >>> Constant.iri("http://example.org/a")
    Constant(<http://example.org/a>)
    """

    key: bytes

    @classmethod
    def of(cls, term: Any) -> Constant:
        """The constant for a term of pyoxigraph or rdflib."""
        return cls(key_of(term))

    @classmethod
    def iri(cls, iri: str) -> Constant:
        """The constant for an IRI."""
        return cls(b"\x01" + iri.encode())

    @property
    def kind(self) -> int:
        """The kind of term: `terms.term_keys.IRI`, `BLANK`, `STRING`, ..."""
        return self.key[0]

    @property
    def term(self) -> Term:
        """The term of pyoxigraph."""
        return term_of(self.key)

    def __str__(self) -> str:
        return to_ntriples(self.key).decode()

    def __repr__(self) -> str:
        return f"Constant({self})"


@data_class
class Call:
    """A function or operator applied to arguments."""

    function: str
    arguments: tuple[Expression, ...] = ()

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(str, self.arguments))})"


@data_class
class Exists:
    """EXISTS or NOT EXISTS of a query: `pattern` is the pattern in `{...}` as its parser made it.

    Rules have no EXISTS; the caller provides its evaluation (see `evaluate_columns.Scope`).
    """

    pattern: Any
    negated: bool = False


Expression: TypeAlias = Variable | Constant | Call | Exists


MANY = 1000
"""Maximum number of arguments of a call that are visited without a check of the limits."""


def look() -> None:
    """Raise if the time of this thread is over: long lists of arguments are visited often."""
    from triplestore.operators.context import (
        current,
    )  # it imports all operators: only where needed

    current().check()


def variables_of(expression: Expression) -> Iterator[Variable]:
    """The variables of an expression from left to right, each as often as it occurs.

    >>> [str(v) for v in variables_of(Call("+", (Variable("x"), Variable("y"))))]
    ['?x', '?y']
    """
    stack: list[Expression] = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, Variable):
            yield node
        elif isinstance(node, Call):
            if len(node.arguments) > MANY:
                look()
            stack.extend(reversed(node.arguments))


def calls_of(expression: Expression) -> Iterator[Call]:
    """All calls in an expression, outer ones first."""
    stack: list[Expression] = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, Call):
            if len(node.arguments) > MANY:
                look()
            yield node
            stack.extend(reversed(node.arguments))


def constants_of(expression: Expression) -> Iterator[Constant]:
    """All constants in an expression from left to right."""
    stack: list[Expression] = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, Constant):
            yield node
        elif isinstance(node, Call):
            if len(node.arguments) > MANY:
                look()
            stack.extend(reversed(node.arguments))


def depth_of(expression: Expression) -> int:
    """The maximum depth of nested calls."""
    deepest = 0
    stack = [(expression, 1)]
    while stack:
        node, depth = stack.pop()
        if isinstance(node, Call):
            if len(node.arguments) > MANY:
                look()
            deepest = max(deepest, depth)
            stack += [(part, depth + 1) for part in node.arguments]
    return deepest


def has_exists(expression: Expression) -> bool:
    """True if an expression contains an EXISTS."""
    stack: list[Expression] = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, Exists):
            return True
        if isinstance(node, Call):
            if len(node.arguments) > MANY:
                look()
            stack.extend(node.arguments)
    return False


def substitute(expression: Expression, by: Mapping[Variable, Expression]) -> Expression:
    """The expression with these variables replaced.

    >>> print(substitute(Call("STR", (Variable("x"),)), {Variable("x"): Variable("y")}))
    STR(?y)
    """
    if isinstance(expression, Variable):
        return by.get(expression, expression)
    if isinstance(expression, Call):
        return Call(
            expression.function, tuple(substitute(part, by) for part in expression.arguments)
        )
    return expression
