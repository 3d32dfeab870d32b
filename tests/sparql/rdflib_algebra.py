"""rdflib's algebra and ours in one normal form, so that they can be compared.

In it joins are flat, and their triples and paths one sorted list; the order of what is selected is
not seen (rdflib has none for `*`); blank nodes and other hidden variables are `_`; a variable and
SAMPLE of it are the same, because rdflib puts SAMPLE around every variable of a query with groups;
what stands for an aggregate is the aggregate itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rdflib import RDF, BNode, Literal, URIRef, Variable
from rdflib.paths import (
    InvPath,
    MulPath,
    NegatedPath,
    Path,
    SequencePath,
)
from rdflib.plugins.sparql.algebra import translateQuery
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.plugins.sparql.parserutils import CompValue

from sparql import shapes
from triplestore.expressions import tree
from triplestore.sparql.algebra import nodes as a

Form = Any
"""Nested tuples of strings."""


# --- ours ----------------------------------------------------------------------------------------


def of_ours(query: a.Query) -> Form:
    """The normal form of our algebra."""
    return (type(query).__name__.lower(), _node(query.pattern, {}))


def _node(node: a.Node, known: dict[str, Form]) -> Form:
    if isinstance(node, a.Bgp | a.Path | a.Join):
        return _join([_part(part, known) for part in _parts(node)])
    if isinstance(node, a.Union):
        return ("union", *(_node(part, known) for part in node.parts))
    if isinstance(node, a.LeftJoin):
        condition = None if node.condition is None else _expression(node.condition, known)
        return ("leftjoin", _node(node.left, known), _node(node.right, known), condition)
    if isinstance(node, a.Minus):
        return ("minus", _node(node.left, known), _node(node.right, known))
    if isinstance(node, a.Values):
        rows = tuple(
            tuple(sorted((str(n), _term(v)) for n, v in zip(node.variables, row, strict=True) if v))
            for row in node.rows
        )
        return ("values", rows)
    if isinstance(node, a.Group):
        for key in node.aggregates:
            known[str(key.variable)] = _aggregate(key.aggregate, known)
        inner = _node(node.pattern, known)
        keys = [_expression(key.expression, known) for key in node.keys]
        for at, key in enumerate(node.keys):
            if key.variable != key.expression and not a.is_hidden(key.variable):
                inner = ("extend", str(key.variable), keys[at], inner)
                keys[at] = str(key.variable)
        return ("group", tuple(keys), inner)
    inner = _node(node.pattern, known)
    if isinstance(node, a.Filter):
        return ("filter", _expression(node.condition, known), inner)
    if isinstance(node, a.Extend):
        return ("extend", str(node.variable), _expression(node.expression, known), inner)
    if isinstance(node, a.Graph):
        return ("graph", _term(node.name), inner)
    if isinstance(node, a.OrderBy):
        keys = tuple((key.descending, _expression(key.expression, known)) for key in node.keys)
        return ("order", keys, inner)
    if isinstance(node, a.Project):
        return ("project", tuple(sorted(map(str, node.variables))), inner)
    if isinstance(node, a.Distinct | a.Reduced):
        return (type(node).__name__.lower(), inner)
    assert isinstance(node, a.Slice), node
    return ("slice", node.offset, node.limit, inner)


def _parts(node: a.Node) -> tuple[a.Node, ...]:
    return node.parts if isinstance(node, a.Join) else (node,)


def _part(node: a.Node, known: dict[str, Form]) -> Form:
    if isinstance(node, a.Bgp):
        triples = (("triple", _term(s), _term(p), _term(o)) for s, p, o in node.patterns)
        return ("join", *triples)
    if isinstance(node, a.Path):
        path = shapes.path(node.path)
        return ("join", ("triple", _term(node.subject), path, _term(node.object)))
    return _node(node, known)


def _join(parts: list[Form]) -> Form:
    """One flat join, in any order."""
    flat: list[Form] = []
    for part in parts:
        flat += part[1:] if part[0] == "join" else (part,)
    return (
        flat[0] if len(flat) == 1 and flat[0][0] != "triple" else ("join", *sorted(flat, key=str))
    )


def _term(term: a.TermOrVariable) -> str:
    if isinstance(term, tree.Variable) and a.is_hidden(term):
        return "_"
    return _number(shapes.term(term))


def _number(text: str) -> str:
    """A number as its value, because rdflib changes how it is written."""
    try:
        return str(float(text))
    except ValueError:
        return text


def _signed(sign: str, inner: Form) -> Form:
    """`-5` is one number to us, and a sign and a number to rdflib."""
    if sign != "!" and isinstance(inner, str) and inner[0].isdigit():
        return f"-{inner}" if sign == "NEG" else inner
    return (sign, inner)


def _expression(node: tree.Expression, known: Mapping[str, Form]) -> Form:
    if isinstance(node, tree.Variable):
        return known.get(str(node), str(node))
    if isinstance(node, tree.Constant):
        return _term(node)
    if isinstance(node, tree.Exists):
        return ("notexists" if node.negated else "exists", _node(node.pattern, dict(known)))
    parts = [_expression(part, known) for part in node.arguments]
    if node.function in ("&&", "||"):
        return _chain(node.function, parts)
    if node.function in ("NEG", "POS"):
        return _signed(node.function, parts[0])
    return (node.function, *parts)


def _chain(sign: str, parts: list[Form]) -> Form:
    flat: list[Form] = []
    for part in parts:
        flat += part[1:] if part[0] == sign else (part,)
    return (sign, *flat)


def _aggregate(node: a.Aggregate, known: Mapping[str, Form]) -> Form:
    argument = "*" if node.argument is None else _expression(node.argument, known)
    if node.function == "sample" and isinstance(node.argument, tree.Variable):
        return argument
    separator = node.separator
    if node.function == "group_concat" and separator is None:
        separator = " "
    return (node.function, node.distinct, separator, argument)


# --- rdflib's ------------------------------------------------------------------------------------


def of_rdflib(text: str, base: str | None = None) -> Form:
    """The normal form of rdflib's algebra for a query."""
    query = translateQuery(parseQuery(text), base=base).algebra
    word = query.name.removesuffix("Query").lower()
    pattern = query.p
    if word != "select":  # of the other forms rdflib projects, too
        while pattern.name in ("Distinct", "Project"):
            pattern = pattern.p
    return (word, _of_node(pattern, {}))


def _of_node(node: CompValue, known: dict[str, Form]) -> Form:
    name = node.name
    if name == "BGP":
        return _join([("join", *_of_triple(*triple)) for triple in node.triples])
    if name == "Join":
        return _join([_of_node(node.p1, known), _of_node(node.p2, known)])
    if name == "Union":
        parts = [_of_node(node.p1, known), _of_node(node.p2, known)]
        return _chain("union", parts)
    if name == "LeftJoin":
        true = node.expr is None or getattr(node.expr, "name", "") == "TrueFilter"
        condition = None if true else _of_expression(node.expr, known)
        return ("leftjoin", _of_node(node.p1, known), _of_node(node.p2, known), condition)
    if name == "Minus":
        return ("minus", _of_node(node.p1, known), _of_node(node.p2, known))
    if name == "ToMultiSet":
        return _of_node(node.p, known)
    if name == "values":
        rows = tuple(
            tuple(sorted((f"?{n}", _of_term(v)) for n, v in row.items() if v != "UNDEF"))
            for row in node.res
        )
        return ("values", rows)
    return _of_rest(node, known)


def _of_rest(node: CompValue, known: dict[str, Form]) -> Form:
    name = node.name
    if name == "AggregateJoin":
        inner = _of_node(node.p, known)
        for found in node.A:
            known[f"?{found.res}"] = _of_aggregate(found, known)
        return inner
    if name == "Group":
        keys = tuple(_of_expression(key, known) for key in node.expr or ())
        return ("group", keys, _of_node(node.p, known))
    inner = _of_node(node.p, known)
    if name == "Filter":
        return ("filter", _of_expression(node.expr, known), inner)
    if name == "Extend":
        value = _of_expression(node.expr, known)
        return inner if value == f"?{node.var}" else ("extend", f"?{node.var}", value, inner)
    if name == "Graph":
        return ("graph", _of_term(node.term), inner)
    if name == "OrderBy":
        keys = tuple((key.order == "DESC", _of_expression(key.expr, known)) for key in node.expr)
        return ("order", keys, inner)
    if name == "Project":
        return ("project", tuple(sorted({f"?{v}" for v in node.PV})), inner)
    if name in ("Distinct", "Reduced"):
        return (name.lower(), inner)
    assert name == "Slice", name
    if not node.start and node.length is None:
        return inner
    return ("slice", node.start or 0, node.length, inner)


def _of_triple(subject: Any, verb: Any, object_: Any) -> list[Form]:
    """A triple, or the triples and paths that a path is."""
    if isinstance(verb, SequencePath):
        ends = [subject, *(BNode() for _ in verb.args[1:]), object_]
        return [
            form
            for at, part in enumerate(verb.args)
            for form in _of_triple(ends[at], part, ends[at + 1])
        ]
    if isinstance(verb, InvPath):
        return _of_triple(object_, verb.arg, subject)
    middle = _of_path(verb) if isinstance(verb, Path) else _of_term(verb)
    return [("triple", _of_term(subject), middle, _of_term(object_))]


def _of_path(path: Any) -> str:
    if isinstance(path, URIRef):
        return _of_term(path)
    if isinstance(path, MulPath):
        return f"({path.mod} {_of_path(path.path)})"
    if isinstance(path, InvPath):
        inner = path.arg
        return _of_path(inner.arg) if isinstance(inner, InvPath) else f"(^ {_of_path(inner)})"
    if isinstance(path, NegatedPath):
        return f"(not {' '.join(map(_of_term, path.args))})"
    sign = "seq" if isinstance(path, SequencePath) else "alt"
    parts = [_of_path(part) for part in path.args]
    flat = [p[5:-1] if p.startswith(f"({sign} ") else p for p in parts]
    return f"({sign} {' '.join(flat)})"


def _of_term(term: Any) -> str:
    if isinstance(term, BNode):
        return "_"
    if isinstance(term, Variable):
        return f"?{term}"
    assert isinstance(term, URIRef | Literal), term
    return _number(shapes.term(tree.Constant.of(term)))


_BINARY = {"AdditiveExpression", "MultiplicativeExpression"}
_ARGUMENTS = (
    "arg",
    "arg1",
    "arg2",
    "arg3",
    "text",
    "pattern",
    "replacement",
    "start",
    "length",
    "flags",
)


def _of_expression(node: Any, known: Mapping[str, Form]) -> Form:
    if not isinstance(node, CompValue):
        name = _of_term(node)
        return known.get(name, name)
    name = node.name
    if name == "RelationalExpression":
        left = _of_expression(node.expr, known)
        if node.op in ("IN", "NOT IN"):
            return (node.op, left, *(_of_expression(part, known) for part in _list(node.other)))
        return (node.op, left, _of_expression(node.other, known))
    if name in _BINARY:
        found = _of_expression(node.expr, known)
        for sign, part in zip(node.op, node.other, strict=True):
            found = (sign, found, _of_expression(part, known))
        return found
    if name in ("ConditionalAndExpression", "ConditionalOrExpression"):
        parts = [_of_expression(part, known) for part in (node.expr, *node.other)]
        return _chain("&&" if "And" in name else "||", parts)
    if name.startswith("Unary"):
        sign = {"UnaryNot": "!", "UnaryMinus": "NEG", "UnaryPlus": "POS"}[name]
        return _signed(sign, _of_expression(node.expr, known))
    return _of_call(node, known)


def _of_call(node: CompValue, known: Mapping[str, Form]) -> Form:
    name = node.name
    if name == "Function":
        parts = [_of_expression(part, known) for part in _list(node.expr)]
        return (str(node.iri), *parts)
    name = name.removeprefix("Builtin_").upper()
    if name in ("EXISTS", "NOTEXISTS"):
        return (name.lower(), _of_node(node.graph, dict(known)))
    found = [dict.get(node, key) for key in _ARGUMENTS]
    parts = [part for one in found if one is not None for part in _list(one)]
    name = {"URI": "IRI", "ISURI": "ISIRI"}.get(name, name)
    return (name, *(_of_expression(part, known) for part in parts))


def _of_aggregate(node: CompValue, known: Mapping[str, Form]) -> Form:
    function = node.name.removeprefix("Aggregate_").lower()
    function = {"groupconcat": "group_concat"}.get(function, function)
    argument = "*" if node.vars == "*" else _of_expression(node.vars, known)
    if function == "sample":
        if isinstance(node.vars, Variable):
            return argument
        return (function, bool(node.distinct), None, argument)
    separator = None
    if function == "group_concat":
        given = dict.get(node, "separator")
        separator = " " if given is None else str(given)
    return (function, bool(node.distinct), separator, argument)


def _list(found: Any) -> list[Any]:
    parts = list(found) if isinstance(found, list | tuple) else [found]
    return [] if parts == [RDF.nil] or parts == [None] else parts
