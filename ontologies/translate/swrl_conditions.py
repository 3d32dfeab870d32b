"""SWRL's built-ins as expressions of rules: which are known, and why others are not.

Start at `condition`, which makes a filter or a BIND of one. `TESTS` and `VALUES` have all that are
supported, `UNSUPPORTED` the others of section 8 of the SWRL submission, each with a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from triplestore.datalog.functions import MANY, SWRL_FUNCTIONS, SWRLB
from triplestore.datalog.program import Bind, Call, Expression, Filter, Item, Term, Variable
from triplestore.ontologies.model.expressions import Node
from triplestore.terms.vocabulary import XSD_STRING


class UnknownError(Exception):
    """An unsupported part of a rule; the message says which and why."""


class Builtin(NamedTuple):
    """A built-in as an expression, with its minimum and maximum number of arguments.

    One that computes a value does not get its first argument, which is the result.
    """

    make: Callable[..., Expression]
    least: int
    most: int


def _call(function: str) -> Callable[..., Expression]:
    return lambda *terms: Call(function, terms)


def _folded(function: str) -> Callable[..., Expression]:
    def make(first: Expression, *others: Expression) -> Expression:
        for other in others:
            first = Call(function, (first, other))
        return first

    return make


def _joined(*terms: Expression) -> Expression:
    return Call("CONCAT", tuple(Call(XSD_STRING, (term,)) for term in terms))


def _in_small_letters(function: str) -> Callable[..., Expression]:
    return lambda *terms: Call(function, tuple(Call("LCASE", (term,)) for term in terms))


TESTS: dict[str, Builtin] = {
    "equal": Builtin(_call("="), 2, 2),
    "notEqual": Builtin(_call("!="), 2, 2),
    "lessThan": Builtin(_call("<"), 2, 2),
    "lessThanOrEqual": Builtin(_call("<="), 2, 2),
    "greaterThan": Builtin(_call(">"), 2, 2),
    "greaterThanOrEqual": Builtin(_call(">="), 2, 2),
    "contains": Builtin(_call("CONTAINS"), 2, 2),
    "startsWith": Builtin(_call("STRSTARTS"), 2, 2),
    "endsWith": Builtin(_call("STRENDS"), 2, 2),
    "matches": Builtin(_call("REGEX"), 2, 3),
    "stringEqualIgnoreCase": Builtin(_in_small_letters("="), 2, 2),
    "containsIgnoreCase": Builtin(_in_small_letters("CONTAINS"), 2, 2),
}
"""Those that are true or not."""

VALUES: dict[str, Builtin] = {
    "add": Builtin(_folded("+"), 2, MANY),
    "multiply": Builtin(_folded("*"), 2, MANY),
    "subtract": Builtin(_call("-"), 2, 2),
    "divide": Builtin(_call("/"), 2, 2),
    "unaryMinus": Builtin(_call("NEG"), 1, 1),
    "unaryPlus": Builtin(_call("POS"), 1, 1),
    "abs": Builtin(_call("ABS"), 1, 1),
    "ceiling": Builtin(_call("CEIL"), 1, 1),
    "floor": Builtin(_call("FLOOR"), 1, 1),
    "round": Builtin(_call("ROUND"), 1, 1),
    "stringConcat": Builtin(_joined, 1, MANY),
    "substring": Builtin(_call("SUBSTR"), 2, 3),
    "stringLength": Builtin(_call("STRLEN"), 1, 1),
    "upperCase": Builtin(_call("UCASE"), 1, 1),
    "lowerCase": Builtin(_call("LCASE"), 1, 1),
    "replace": Builtin(_call("REPLACE"), 3, 4),
    "substringBefore": Builtin(_call("STRBEFORE"), 2, 2),
    "substringAfter": Builtin(_call("STRAFTER"), 2, 2),
    **{
        name.removeprefix(SWRLB): Builtin(_call(name), one.least, one.most)
        for name, one in SWRL_FUNCTIONS.items()
    },
}
"""Those whose first argument is what the others give."""

_LISTS = "listConcat listIntersection listSubtraction member length first rest sublist empty"
UNSUPPORTED: dict[str, str] = {
    "tokenize": "it gives several values, and a function of rules one; state the parts as values "
    "of a property",
    **dict.fromkeys(
        _LISTS.split(),
        "rules have no lists as values; state the members as values of a property",
    ),
}
"""The built-ins of the submission that are not supported, and why."""


def name_of(builtin: Node) -> str:
    """The name of a built-in without SWRL's namespace."""
    return builtin.value.removeprefix(SWRLB)


def binds(name: str, terms: Sequence[Term], free: Collection[Variable]) -> Variable | None:
    """The variable that a built-in can give a value to, if it is the only free one."""
    if len(free) != 1 or sum(term in free for term in terms) != 1:
        return None
    if name == "equal" and len(terms) == 2:
        return next(iter(free))
    return next(iter(free)) if name in VALUES and terms[0] in free else None


def condition(builtin: Node, terms: Sequence[Term], to: Variable | None = None) -> Item:
    """A filter that is true where a built-in is; or a BIND of the variable it gives a value to.

    >>> from pyoxigraph import NamedNode
    >>> add = NamedNode(SWRLB + "add")
    >>> x, y, z = Variable("x"), Variable("y"), Variable("z")
    >>> condition(add, [x, y, z], x).variable
    Variable(name='x')
    """
    name = name_of(builtin)
    reason = UNSUPPORTED.get(name)
    known = TESTS.get(name) or VALUES.get(name)
    if reason is not None or known is None:
        raise UnknownError(
            f"the built-in {name} {f'is not supported: {reason}' if reason else _NO}"
        )
    result = name in VALUES
    if not known.least <= len(terms) - result <= known.most:
        raise UnknownError(f"the built-in {name} {_arguments(known, result)}, not {len(terms)}")
    if name == "equal" and to is not None:
        return Bind(terms[1] if terms[0] == to else terms[0], to)
    value = known.make(*terms[result:])
    if to is not None:
        return Bind(value, to)
    return Filter(Call("=", (terms[0], value)) if result else value)


_NO = "is not one of SWRL's; a rule of your own may say the same"


def _arguments(builtin: Builtin, result: bool) -> str:
    least, most = builtin.least + result, builtin.most + result
    if builtin.most == MANY:
        return f"takes {least} arguments or more"
    return f"takes {least} arguments" if least == most else f"takes {least} to {most} arguments"
