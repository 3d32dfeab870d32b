"""Likely mistakes in a query: unbound variables, and properties and classes without facts.

Start at `advice`. It is computed when a query is explained, not when it runs, and may read the
names of all properties and classes. Always true: a query with advice is valid.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from triplestore.expressions.text.term_parser import nearest
from triplestore.expressions.tree import Constant, Variable
from triplestore.operators.joins.hash_join import JoinOperator
from triplestore.operators.operator import Operator
from triplestore.sparql.algebra.nodes import (
    Bgp,
    Graph,
    Node,
    Query,
    Select,
    Service,
    is_hidden,
    walk,
)
from triplestore.sparql.algebra.short_text import show_term
from triplestore.sparql.algebra.variables import Variables, exists_in, expressions_of, names_in
from triplestore.sparql.evaluate.dataset import Dataset
from triplestore.terms import Dictionary
from triplestore.terms.term_keys import IRI
from triplestore.terms.vocabulary import RDF

_TYPE = b"\x01" + f"{RDF}type".encode()
_MOST_NAMES = 20_000
"""Maximum number of properties or classes that are compared by name."""


def advice(query: Query, plan: Operator, dataset: Dataset, dictionary: Dictionary) -> list[str]:
    """The likely mistakes, one sentence each."""
    found = [
        *_unbound(query),
        *_products(plan),
        *_unknown(query.pattern, dataset, dictionary),
    ]
    return list(dict.fromkeys(found))


# --- variables -----------------------------------------------------------------------------------


def _unbound(query: Query) -> Iterator[str]:
    """Variables that are used but bound nowhere."""
    seen = Variables()
    nodes = list(_everywhere(query.pattern))
    bound: set[str] = set()
    for node in nodes:
        # A projection and the keys of groups name variables without binding any.
        if type(node).__name__ not in ("Project", "Group"):
            bound |= seen.in_scope(node)
        else:
            bound |= {key.variable.name for key in getattr(node, "aggregates", ())}
    for node in nodes:
        for expression in expressions_of(node):
            for name in sorted(names_in(expression, seen) - bound):
                yield _is_unbound(name, "an expression uses it", bound)
    if isinstance(query, Select):
        for variable in query.variables:
            if variable.name not in bound:
                yield _is_unbound(variable.name, "it is selected", bound)


def _is_unbound(name: str, but: str, bound: set[str]) -> str:
    near = nearest(name, sorted(n for n in bound if not is_hidden(Variable(n))))
    hint = f"; did you mean ?{near}?" if near else ""
    return f"?{name} is never bound, but {but}{hint}"


def _everywhere(node: Node) -> Iterator[Node]:
    """All nodes, those in EXISTS included."""
    for inner in walk(node):
        yield inner
        for expression in expressions_of(inner):
            for exists in exists_in(expression):
                yield from _everywhere(exists.pattern)


# --- joins ---------------------------------------------------------------------------------------


def _products(plan: Operator) -> Iterator[str]:
    """Joins of parts that have no variable in common."""
    for node in plan.nodes():
        if isinstance(node, JoinOperator) and not node.on and node.how == "inner":
            left, right = node.left, node.right
            if left.estimate > 1 and right.estimate > 1:
                yield (
                    f"{_names(left)} and {_names(right)} have no variable in common: about "
                    f"{left.estimate:,.0f} rows are combined with about {right.estimate:,.0f} each"
                )


def _names(operator: Operator) -> str:
    shown = [f"?{n}" for n in operator.names if n[0] != " " and not is_hidden(Variable(n))]
    return "the part with " + ", ".join(shown) if shown else "a part without variables"


# --- properties and classes ----------------------------------------------------------------------


def _unknown(pattern: Node, dataset: Dataset, dictionary: Dictionary) -> Iterator[str]:
    """Properties without triples, and classes without instances."""
    named = any(isinstance(node, Graph) for node in _everywhere(pattern))
    type_id = int(dictionary.lookup_keys([_TYPE])[0])
    elsewhere = _of_services(pattern)
    for node in _everywhere(pattern):
        if id(node) in elsewhere:
            continue
        for triple in node.patterns if isinstance(node, Bgp) else ():
            predicate, object_ = triple.predicate, triple.object
            if isinstance(predicate, Variable):
                continue
            term_id = int(dictionary.lookup_keys([predicate.key])[0])
            if not term_id or not _has_rows(term_id, dataset, named):
                yield _is_unknown("property", predicate, _properties(dataset, named), dictionary)
            elif term_id == type_id and isinstance(object_, Constant) and not named:
                classes = dataset.graph().relation(type_id)
                class_id = int(dictionary.lookup_keys([object_.key])[0])
                if not class_id or len(classes.by_second(class_id, dataset.where)) == 0:
                    known = classes.distinct(1, dataset.where)
                    yield _is_unknown("class", object_, known, dictionary)


def _of_services(pattern: Node) -> set[int]:
    """The addresses of patterns that other endpoints answer: their names are not known here."""
    services = [node for node in _everywhere(pattern) if isinstance(node, Service)]
    return {id(node) for service in services for node in _everywhere(service)}


def _has_rows(predicate: int, dataset: Dataset, named: bool) -> bool:
    if dataset.graph().relation(predicate).count(dataset.where):
        return True
    return named and dataset.quads(predicate).count(dataset.where) > 0


def _properties(dataset: Dataset, named: bool) -> np.ndarray:
    names = dataset.graph().names()
    return np.union1d(names, dataset.quad_names()) if named else names


def _is_unknown(what: str, term: Constant, known: np.ndarray, dictionary: Dictionary) -> str:
    texts = [
        key[1:].decode()
        for term_id in known[:_MOST_NAMES].tolist()
        if (key := dictionary.key(term_id))[0] == IRI
    ]
    own = term.key[1:].decode()
    near = nearest(own, texts, cutoff=0.8)
    if near is None:  # the same local name in another namespace, perhaps in other case
        local = show_term(term).lower()
        alike = (iri for iri in texts if show_term(Constant.iri(iri)).lower() == local)
        near = next(alike, None)
    hint = f"; did you mean <{near}>?" if near else ""
    has = "no triple has the property" if what == "property" else "no resource has the class"
    return f"{has} <{own}>{hint}"
