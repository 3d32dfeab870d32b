"""Queries and updates as text that is parsed to the same algebra.

Start at `write`. Always true: for algebra made by the parser, `parse_query(write(query)) ==
query`, and the same for updates; used prefixes are declared. Rewritten algebra may have no text:
`explain` shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyoxigraph as ox

from triplestore.expressions.tree import Constant
from triplestore.operators.deep_calls import when_large
from triplestore.sparql.algebra.nodes import (
    Ask,
    Construct,
    DatasetClause,
    Describe,
    QuadPattern,
    Query,
    Select,
    TermOrVariable,
    TriplePattern,
)
from triplestore.sparql.algebra.updates import (
    Add,
    Clear,
    Copy,
    Create,
    DeleteData,
    Drop,
    InsertData,
    Load,
    Modify,
    Move,
    Operation,
    Update,
)
from triplestore.sparql.syntax.pattern_printer import Writer, indented
from triplestore.sparql.syntax.reified_triples import without_computed


def write(what: Query | Update, prefixes: Mapping[str, str] | None = None) -> str:
    """The text of a query or an update; `prefixes` replace those of the original text.

    >>> from triplestore.sparql.syntax.parser import parse_query
    >>> print(write(parse_query("PREFIX : <http://e/> SELECT * { ?x :p/:q ?y FILTER(?y>1) }")))
    PREFIX : <http://e/>
    SELECT ?x ?y
    WHERE {
      ?x :p _:b0 .
      _:b0 :q ?y .
      FILTER (?y > 1)
    }
    """
    writer = Writer(what.prefixes if prefixes is None else prefixes)
    if isinstance(what, Update):
        sizes = [one.size for one in what.operations if isinstance(one, Modify)]
        lines = when_large(max(sizes, default=0), _update, what, writer)
    else:
        lines = when_large(what.size, _query, what, writer)
    head = [f"PREFIX {name}: <{namespace}>" for name, namespace in writer.used_prefixes()]
    if what.base is not None:
        head.insert(0, f"BASE {Constant.iri(what.base)}")
    return "\n".join(head + lines)


# --- queries -------------------------------------------------------------------------------------


def _query(query: Query, writer: Writer) -> list[str]:
    dataset = _dataset("FROM", query.dataset, writer)
    if isinstance(query, Select):
        return writer.select(query.pattern, dataset)
    where, modifiers = writer.where(query.pattern)
    if isinstance(query, Ask):
        head = ["ASK"]
    elif isinstance(query, Construct):
        head = ["CONSTRUCT {", *indented(_triples(query.template, writer)), "}"]
    else:
        assert isinstance(query, Describe)
        head = ["DESCRIBE " + (" ".join(map(writer.term, query.targets)) or "*")]
    return [*head, *dataset, *where, *modifiers]


def _dataset(word: str, dataset: DatasetClause | None, writer: Writer) -> list[str]:
    if dataset is None:
        return []
    lines = [f"{word} {writer.term(graph)}" for graph in dataset.default]
    return lines + [f"{word} NAMED {writer.term(graph)}" for graph in dataset.named]


def _triples(triples: Iterable[TriplePattern], writer: Writer) -> list[str]:
    return [writer.triple(*triple) for triple in triples]


# --- updates -------------------------------------------------------------------------------------


def _update(update: Update, writer: Writer) -> list[str]:
    lines: list[str] = []
    for operation in update.operations:
        if lines:
            lines[-1] += " ;"
        lines += _operation(operation, writer)
    return lines


def _operation(operation: Operation, writer: Writer) -> list[str]:
    if isinstance(operation, InsertData | DeleteData):
        word = "INSERT" if isinstance(operation, InsertData) else "DELETE"
        return _template(f"{word} DATA", [_pattern(quad) for quad in operation.quads], writer)
    if isinstance(operation, Modify):
        return _modify(operation, writer)
    word = type(operation).__name__.upper() + (" SILENT" if operation.silent else "")
    if isinstance(operation, Load):
        into = f" INTO GRAPH {writer.term(operation.graph)}" if operation.graph else ""
        return [f"{word} {writer.term(operation.source)}{into}"]
    if isinstance(operation, Create):
        return [f"{word} GRAPH {writer.term(operation.graph)}"]
    if isinstance(operation, Clear | Drop):
        target = operation.target
        return [
            f"{word} " + (target if isinstance(target, str) else f"GRAPH {writer.term(target)}")
        ]
    assert isinstance(operation, Add | Move | Copy)
    ends = (operation.source, operation.target)
    names = ("DEFAULT" if end is None else f"GRAPH {writer.term(end)}" for end in ends)
    return [f"{word} {' TO '.join(names)}"]


def _modify(operation: Modify, writer: Writer) -> list[str]:
    lines = [f"WITH {writer.term(operation.graph)}"] if operation.graph else []
    if operation.delete:
        lines += _template("DELETE", operation.delete, writer, operation.graph)
    if operation.insert or not operation.delete:
        lines += _template("INSERT", operation.insert, writer, operation.graph)
    lines += _dataset("USING", operation.dataset, writer)
    return lines + writer.group("WHERE", without_computed(operation.pattern))


def _template(
    word: str, quads: Sequence[QuadPattern], writer: Writer, default: Constant | None = None
) -> list[str]:
    lines: list[str] = []
    at = 0
    while at < len(quads):
        graph = quads[at].graph
        end = at
        while end < len(quads) and quads[end].graph == graph:
            end += 1
        triples = [writer.triple(*quad[:3]) for quad in quads[at:end]]
        if graph is None or graph == default:
            lines += triples
        else:
            lines += [f"GRAPH {writer.term(graph)} {{", *indented(triples), "}"]
        at = end
    return [f"{word} {{", *indented(lines), "}"]


def _pattern(quad: ox.Quad) -> QuadPattern:
    graph = quad.graph_name
    name: TermOrVariable | None = None
    if not isinstance(graph, ox.DefaultGraph):
        name = Constant.of(graph)
    subject, predicate, object_ = map(Constant.of, quad.triple)
    return QuadPattern(subject, predicate, object_, name)
