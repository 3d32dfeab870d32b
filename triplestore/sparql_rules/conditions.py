"""Expressions of one branch of a pattern, in which it is known what is bound.

Start at `simplified`. Always true: the result has the same value, or the same error, for every
solution of the branch; an expression that is an error for all of them is `ERROR`.
"""

from __future__ import annotations

from collections.abc import Callable

import pyoxigraph as ox

from triplestore.expressions.tree import Call, Constant, Exists, Expression, Variable
from triplestore.sparql_rules.refusals import RefusedError

TRUE, FALSE = Constant.of(ox.Literal(True)), Constant.of(ox.Literal(False))
ERROR = Call("/", (Constant.of(ox.Literal(1)), Constant.of(ox.Literal(0))))
"""An expression without a value."""

MOST_PARTS = 2000
"""Maximum size of an expression after computed variables in it are replaced."""

_LAZY = frozenset({"&&", "||", "COALESCE", "IF", "IN", "NOT IN"})
"""What may have a value although an argument has none."""


def simplified(expression: Expression, value_of: Callable[[str], Expression | None]) -> Expression:
    """An expression with the values of computed variables, without tests of what is bound.

    value_of  the variable itself if it is bound, the expression that computes it, or None if it is
              not bound

    >>> x = Variable("x")
    >>> simplified(Call("!", (Call("BOUND", (x,)),)), lambda name: None) == TRUE
    True
    >>> simplified(Call("+", (x, x)), lambda name: None) == ERROR
    True
    """
    return _Simplifier(value_of).of(expression)


class _Simplifier:
    def __init__(self, value_of: Callable[[str], Expression | None]) -> None:
        self._value_of = value_of
        self._parts = 0

    def of(self, expression: Expression) -> Expression:
        """An expression, simplified from its parts on."""
        if isinstance(expression, Variable):
            found = self._value_of(expression.name)
            if found is not None and found != expression:
                self._count(size_of(found))
            return ERROR if found is None else found
        if isinstance(expression, Exists):
            raise RefusedError(
                "EXISTS",
                "EXISTS within an expression",
                "write it as a FILTER of its own, or as several rules",
            )
        if isinstance(expression, Call):
            self._count(1)
            if expression.function == "BOUND":
                return self._bound(expression.arguments[0])
            return _folded(expression.function, tuple(map(self.of, expression.arguments)))
        return expression

    def _bound(self, argument: Expression) -> Expression:
        if not isinstance(argument, Variable):
            return TRUE
        found = self._value_of(argument.name)
        if found is None:
            return FALSE
        return TRUE if isinstance(found, Variable | Constant) else has_value(found)

    def _count(self, size: int) -> None:
        self._parts += size
        if self._parts > MOST_PARTS:
            raise RefusedError(
                "BIND",
                f"an expression of more than {MOST_PARTS:,} parts after its BINDs are put in",
                "compute its parts by rules of their own",
            )


def uses_lazily(expression: Expression, names: frozenset[str], lazily: bool = False) -> bool:
    """Whether an expression may have a value although one of some variables has none."""
    if isinstance(expression, Variable):
        return lazily and expression.name in names
    if isinstance(expression, Call):
        lazily = lazily or expression.function in (_LAZY | {"BOUND"})
        return any(uses_lazily(part, names, lazily) for part in expression.arguments)
    return False


def has_value(expression: Expression) -> Expression:
    """Whether an expression has a value, as an expression that always has one."""
    return Call("COALESCE", (Call("SAMETERM", (expression, expression)), FALSE))


def size_of(expression: Expression) -> int:
    """The number of parts of an expression."""
    if isinstance(expression, Call):
        return 1 + sum(map(size_of, expression.arguments))
    return 1


def replaced(expression: Expression, old: Expression, new: Expression) -> Expression:
    """An expression in which a part is replaced wherever it occurs."""
    if expression == old:
        return new
    if isinstance(expression, Call):
        parts = tuple(replaced(part, old, new) for part in expression.arguments)
        return Call(expression.function, parts)
    return expression


def _folded(function: str, parts: tuple[Expression, ...]) -> Expression:
    if function not in _LAZY:
        if ERROR in parts:
            return ERROR
        if function == "!" and parts[0] in (TRUE, FALSE):
            return FALSE if parts[0] == TRUE else TRUE
        return Call(function, parts)
    if function in ("&&", "||"):
        ends, passes = (FALSE, TRUE) if function == "&&" else (TRUE, FALSE)
        if ends in parts:
            return ends
        left = tuple(dict.fromkeys(part for part in parts if part != passes))
        if not left:
            return passes
        if len(left) == 1 and (left[0] == ERROR or len(parts) == 1):
            return left[0]
        # `&&` of one part still takes its effective boolean value.
        return Call(function, left) if len(left) > 1 else Call(function, (left[0], passes))
    if function == "COALESCE":
        left = tuple(part for part in parts if part != ERROR)
        if not left:
            return ERROR
        return left[0] if isinstance(left[0], Variable | Constant) else Call(function, left)
    if function == "IF":
        if parts[0] == ERROR:
            return ERROR
        if parts[0] in (TRUE, FALSE):
            return parts[1] if parts[0] == TRUE else parts[2]
    return ERROR if parts[0] == ERROR else Call(function, parts)
