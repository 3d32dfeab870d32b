"""The algebra of a query as an indented text, as golden files have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from triplestore.expressions.text.expression_printer import Namer, expression_text
from triplestore.expressions.tree import Exists, Expression
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.syntax.pattern_printer import indented, path_text


class _Names(Namer):
    def exists(self, exists: Exists) -> str:
        inner = "; ".join(" ".join(line.split()) for line in _lines(exists.pattern, self))
        return f"{'NOT ' if exists.negated else ''}EXISTS {{ {inner} }}"


def algebra_text(node: sparql.Node, prefixes: Mapping[str, str]) -> str:
    """One line for each node and triple, what a node is made of two columns further right."""
    return "\n".join(_lines(node, _Names(prefixes))) + "\n"


def _lines(node: sparql.Node, names: _Names) -> list[str]:
    inner = [line for child in sparql.children(node) for line in _lines(child, names)]
    if isinstance(node, sparql.Bgp):
        inner = [" ".join(map(names.term, triple)) for triple in node.patterns]
    if isinstance(node, sparql.Values):
        inner = [" ".join("UNDEF" if t is None else names.term(t) for t in r) for r in node.rows]
    return [_head(node, names), *indented(inner)]


def _head(node: Any, names: _Names) -> str:
    def text(*expressions: Expression) -> str:
        return " ".join(expression_text(expression, names) for expression in expressions)

    match node:
        case sparql.Bgp():
            return "triples"
        case sparql.Path(subject, path, object_):
            return f"path {text(subject)} {path_text(path, names)} {text(object_)}"
        case sparql.Filter(_, condition):
            return f"filter {text(condition)}"
        case sparql.Extend(_, variable, expression):
            return f"bind {text(expression)} as {variable}"
        case sparql.LeftJoin(_, _, condition, absent):
            head = "left join" if absent is None else f"left join, {absent} absent"
            return head if condition is None else f"{head}, if {text(condition)}"
        case sparql.Graph(name, _) | sparql.Service(name, _):
            return f"{type(node).__name__.lower()} {text(name)}"
        case sparql.Values(variables, _) | sparql.Project(_, variables):
            return f"{type(node).__name__.lower()} {text(*variables)}"
        case sparql.TextHits(literal, score, of, query, properties, language, enough):
            made = [
                text(query),
                *map(text, properties),
                *([f"lang:{language}"] if language else []),
            ]
            made += [] if enough is None else [f"until {enough} rows"]
            columns = [text(each) for each in (literal, score, of) if each is not None]
            return f"text search {' '.join(made)} as {' '.join(columns)}"
        case sparql.OrderBy(_, keys):
            return "order " + ", ".join(("desc " if k[1] else "") + text(k[0]) for k in keys)
        case sparql.Slice(_, offset, limit):
            return f"slice {offset} {'' if limit is None else limit}".rstrip()
        case sparql.Group(_, keys, aggregates):
            made = [f"{text(e)} as {v}" for v, e in keys]
            made += [
                f"{a.function} {text(*filter(None, [a.argument]))} as {v}" for v, a in aggregates
            ]
            return "group " + ", ".join(made)
        case _:
            return type(node).__name__.lower()
