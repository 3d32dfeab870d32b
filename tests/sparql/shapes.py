"""The algebra as short text, so that a test can say what it expects on one line.

IRIs in the namespace `http://e/` are written `:name`, other terms as in N-Triples, numbers as such.
"""

from __future__ import annotations

from triplestore.expressions.tree import Call, Constant, Exists, Expression, Variable
from triplestore.sparql.algebra import nodes as a
from triplestore.terms.vocabulary import RDF, RDF_TYPE, XSD


def shape(node: object) -> str:
    """A pattern, path, query or operation.

    >>> shape(a.Join((a.UNIT, a.Values((), ()))))
    '(join (bgp) (values ()))'
    """
    if isinstance(node, a.Bgp):
        return _in("bgp", *(" ".join(map(term, triple)) + "." for triple in node.patterns))
    if isinstance(node, a.Path):
        return _in("path", term(node.subject), path(node.path), term(node.object))
    if isinstance(node, a.Join | a.Union):
        return _in(type(node).__name__.lower(), *map(shape, node.parts))
    if isinstance(node, a.LeftJoin):
        condition = [] if node.condition is None else [expression(node.condition)]
        return _in("leftjoin", shape(node.left), shape(node.right), *condition)
    if isinstance(node, a.Minus):
        return _in("minus", shape(node.left), shape(node.right))
    if isinstance(node, a.Filter):
        return _in("filter", expression(node.condition), shape(node.pattern))
    if isinstance(node, a.Extend):
        return _in("extend", term(node.variable), expression(node.expression), shape(node.pattern))
    if isinstance(node, a.Graph):
        return _in("graph", term(node.name), shape(node.pattern))
    if isinstance(node, a.Service):
        silent = ["silent"] if node.silent else []
        return _in("service", *silent, term(node.name), shape(node.pattern))
    if isinstance(node, a.Values):
        rows = ["(" + " ".join(map(_value, row)) + ")" for row in node.rows]
        return _in("values", "(" + " ".join(map(term, node.variables)) + ")", *rows)
    return _solutions(node)


def _solutions(node: object) -> str:
    if isinstance(node, a.Group):
        keys = " ".join(
            term(key.variable)
            if key.variable == key.expression
            else f"({term(key.variable)} {expression(key.expression)})"
            for key in node.keys
        )
        found = [f"({term(key.variable)} {aggregate(key.aggregate)})" for key in node.aggregates]
        return _in("group", f"({keys})", *found, shape(node.pattern))
    if isinstance(node, a.OrderBy):
        order = [
            f"(desc {expression(key.expression)})" if key.descending else expression(key.expression)
            for key in node.keys
        ]
        return _in("order", "(" + " ".join(order) + ")", shape(node.pattern))
    if isinstance(node, a.Project):
        names = "(" + " ".join(map(term, node.variables)) + ")"
        return _in("project", names, shape(node.pattern))
    if isinstance(node, a.Distinct | a.Reduced):
        return _in(type(node).__name__.lower(), shape(node.pattern))
    assert isinstance(node, a.Slice), node
    limit = "_" if node.limit is None else str(node.limit)
    return _in("slice", str(node.offset), limit, shape(node.pattern))


def aggregate(node: a.Aggregate) -> str:
    parts = [node.function]
    if node.distinct:
        parts.append("distinct")
    if node.separator is not None:
        parts.append(repr(node.separator))
    parts.append("*" if node.argument is None else expression(node.argument))
    return _in(*parts)


def expression(node: Expression) -> str:
    if isinstance(node, Call):
        name = term(Constant.iri(node.function)) if ":" in node.function else node.function
        return _in(name, *map(expression, node.arguments))
    if isinstance(node, Exists):
        return _in("notexists" if node.negated else "exists", shape(node.pattern))
    return term(node)


def path(node: a.PathExpression) -> str:
    if isinstance(node, Constant):
        return term(node)
    if isinstance(node, a.Sequence | a.Alternative):
        sign = "seq" if isinstance(node, a.Sequence) else "alt"
        return _in(sign, *map(path, node.parts))
    if isinstance(node, a.NegatedSet):
        return _in("not", *map(term, node.iris))
    names = {a.Inverse: "^", a.ZeroOrMore: "*", a.OneOrMore: "+", a.ZeroOrOne: "?"}
    return _in(names[type(node)], path(node.path))


def term(node: Variable | Constant) -> str:
    if isinstance(node, Variable):
        return node.name if ":" in node.name else f"?{node.name}"
    text = str(node)
    if text == f"<{RDF_TYPE}>":
        return "a"
    for datatype in ("integer", "decimal", "double", "boolean"):
        suffix = f"^^<{XSD}{datatype}>"
        if text.endswith(suffix):
            return text.removesuffix(suffix).strip('"')
    if text.startswith("<http://e/"):
        return ":" + text[len("<http://e/") : -1]
    return "rdf:" + text[len(RDF) + 1 : -1] if text.startswith("<" + RDF) else text


def _value(value: Constant | None) -> str:
    return "undef" if value is None else term(value)


def _in(*parts: str) -> str:
    return f"({' '.join(parts)})"
