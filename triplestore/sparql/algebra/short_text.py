"""Terms, paths and expressions as short text, for the operators of `explain`.

IRIs are shown by the part behind their last `#` or `/`. The text is for people; it cannot be parsed
as SPARQL.
"""

from __future__ import annotations

from triplestore.expressions.functions import OPERATORS
from triplestore.expressions.text.expression_printer import Namer
from triplestore.expressions.tree import Call, Constant, Exists, Expression, Variable
from triplestore.sparql.algebra.nodes import (
    Alternative,
    Inverse,
    NegatedSet,
    OneOrMore,
    PathExpression,
    Sequence,
    ZeroOrMore,
    ZeroOrOne,
)
from triplestore.terms.term_keys import IRI, cache_of_short

_LONGEST = 60
_DEEPEST = 20  # maximum depth of calls: deeper ones do not fit anyway
_NAMER = Namer()


def show_expression(expression: Expression) -> str:
    """An expression.

    >>> x = Variable("x")
    >>> show_expression(Call("&&", (Call("BOUND", (x,)), Call("!", (Call("=", (x, x)),)))))
    'BOUND(?x) && !(?x = ?x)'
    """
    text = _expression(expression, 0)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _expression(node: Expression, depth: int) -> str:
    if isinstance(node, Variable):
        return f"?{node.name}"
    if isinstance(node, Constant):
        return show_term(node)
    if isinstance(node, Exists):
        return "NOT EXISTS {...}" if node.negated else "EXISTS {...}"
    if depth > _DEEPEST:
        return "..."
    texts = [_expression(part, depth + 1) for part in node.arguments]
    parts = [_enclosed(text, part) for text, part in zip(texts, node.arguments, strict=True)]
    if node.function in ("IN", "NOT IN"):
        return f"{parts[0]} {node.function} ({', '.join(parts[1:])})"
    if node.function in ("!", "NEG", "POS"):
        return {"!": "!", "NEG": "-", "POS": "+"}[node.function] + parts[0]
    if node.function in OPERATORS:
        return f" {node.function} ".join(parts)
    name = _local(node.function) if ":" in node.function else node.function
    return f"{name}({', '.join(texts)})"


def _enclosed(text: str, node: Expression) -> str:
    infix = isinstance(node, Call) and node.function in OPERATORS and node.function != "!"
    return f"({text})" if infix else text


def show_term(term: Constant) -> str:
    """A constant, IRIs by their local names."""
    return _local_name(term.key) if term.kind == IRI else str(_NAMER.term(term))


@cache_of_short(1024)
def _local_name(key: bytes) -> str:
    return _local(key[1:].decode())


def _local(iri: str) -> str:
    return iri.rstrip("#/").replace("#", "/").rsplit("/", 1)[-1] or iri


def show_path(path: PathExpression | Variable) -> str:
    """A term, or a path.

    >>> p = Constant.iri("http://ex.org/p")
    >>> show_path(OneOrMore(Alternative((p, Inverse(p)))))
    '(p|^p)+'
    """
    match path:
        case Variable(name):
            return f"?{name}"
        case Constant():
            return show_term(path)
        case Inverse(inner):
            return f"^{_part(inner)}"
        case Sequence(parts):
            return "/".join(map(_part, parts))
        case Alternative(parts):
            return "|".join(map(_part, parts))
        case NegatedSet(iris):
            return f"!({'|'.join(map(show_term, iris))})"
        case ZeroOrMore(inner) | OneOrMore(inner) | ZeroOrOne(inner):
            sign = {ZeroOrMore: "*", OneOrMore: "+", ZeroOrOne: "?"}[type(path)]
            return _part(inner) + sign


def _part(path: PathExpression) -> str:
    text = show_path(path)
    return f"({text})" if isinstance(path, Sequence | Alternative) else text
