"""The plan of a text search: start at `plan_text_hits`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from triplestore.errors import UsageError
from triplestore.expressions.tree import Constant, Expression, Variable
from triplestore.relations.packed_keys import U32, Bools
from triplestore.relations.tables import OBJECT
from triplestore.sparql.algebra.nodes import Bgp, Extend, Node, TermOrVariable, TextHits, Values
from triplestore.sparql.evaluate.text_hits import (
    Enough,
    SubstringLeaf,
    TextColumns,
    TextHitsLeaf,
    TextSearch,
)
from triplestore.sparql.plan.join_order import Item
from triplestore.sparql.plan.planned import Planned, PlannedPart, Wanted, Where
from triplestore.sparql.plan.planner import Planner
from triplestore.sparql.plan.required_texts import is_about_texts, required_texts
from triplestore.sparql.thresholds import SPARQL
from triplestore.terms.dictionary import FIRST_QUERY_ID
from triplestore.terms.term_keys import STRING

_SHOWN = 5


def plan_text_hits(
    planner: Planner, node: TextHits, wanted: Wanted, beside: Sequence[Node] = ()
) -> Planned:
    """The literals that match; joined with facts they give what a query sees of them.

    beside  the patterns that it is joined with: VALUES and BIND there may give the query string
    """
    if planner.text is None:
        raise UsageError(
            "text:query needs a text index, which this store does not have: make one with "
            "index_text(), or on the command line with `triplestore index-text`"
        )
    search = planner.text()
    properties = _properties(planner, node, search)
    names = wanted.names
    score = node.score
    if score is not None and names is not None and score.name not in names:
        score = None
    columns = TextColumns(
        node.literal.name,
        None if score is None else score.name,
        None if node.property is None or properties is None else node.property.name,
        node.query.name if isinstance(node.query, Variable) else None,
    )
    texts = [(_text_of(each), planner.look_up(each)) for each in _queries(node.query, beside)]
    terms = planner.scope.terms
    enough = None
    if node.enough is not None and len(texts) == 1:
        enough = _enough(planner, node, properties, wanted.graph, beside)
    made = TextHitsLeaf(search, texts, node.language, columns, properties or (), terms, enough)
    return Planned(made)


def _enough(
    planner: Planner,
    node: TextHits,
    properties: list[int] | None,
    graph: Where,
    beside: Sequence[Node],
) -> Enough | None:
    """When to stop, if the hits are joined with the facts of one property and nothing else."""
    dataset = planner.dataset
    if len(beside) != 2 or isinstance(graph, str) or node.enough is None:
        return None
    (other,) = [part for part in beside if part is not node]
    if not isinstance(other, Bgp) or len(other.patterns) != 1:
        return None
    subject, predicate, object_ = other.patterns[0]
    if not isinstance(subject, Variable) or object_ != node.literal or subject == object_:
        return None
    ids = properties
    if isinstance(predicate, Constant):
        ids = [planner.look_up(predicate)]
    facts = dataset.graph(graph)

    def used(literals: U32) -> Bools:
        names = ids
        if names is None:
            names = np.unique(dataset.tables.predicates_of(literals, OBJECT)[1]).tolist()
        found = np.zeros(len(literals), np.bool_)
        for name in names:
            found |= facts.relation(name).semijoin(1, literals, dataset.where)
        return found

    return Enough(node.enough, used)


def _queries(query: TermOrVariable, beside: Sequence[Node]) -> list[Constant]:
    """The query strings: the one that is written, or those that a variable may be."""
    if isinstance(query, Constant):
        return [query]
    found: dict[Constant, None] = {}
    for node in beside:
        if isinstance(node, Values) and query in node.variables:
            place = node.variables.index(query)
            column = [row[place] for row in node.rows]
            if None not in column:
                return list(dict.fromkeys(each for each in column if each is not None))
        while isinstance(node, Extend):
            if node.variable == query and isinstance(node.expression, Constant):
                found[node.expression] = None
            node = node.pattern
    if found:
        return list(found)
    raise UsageError(
        f"the query string {query} of text:query has no value when the index is asked: write the "
        "string itself, or give it by VALUES or BIND beside text:query, or by `substitutions`"
    )


def _text_of(query: Constant) -> str:
    if query.key[0] != STRING:
        raise UsageError(f"the query string of text:query must be a plain string, not {query}")
    return query.key[1:].decode()


def _properties(planner: Planner, node: TextHits, search: TextSearch) -> list[int] | None:
    """The ids of the properties that are meant; None for all that there are."""
    known = search.properties
    meant: tuple[Constant, ...] = node.properties
    if known is not None:
        for each in meant:
            if each.key[1:].decode() not in known:
                shown = ", ".join(f"<{iri}>" for iri in known[:_SHOWN])
                more = ", ..." if len(known) > _SHOWN else ""
                raise UsageError(f"{each} is not in the text index, which has {shown}{more}")
        meant = meant or tuple(map(Constant.iri, known))
    if not meant:
        return None
    ids = [planner.look_up(each) for each in meant]
    return [term_id for term_id in dict.fromkeys(ids) if term_id < FIRST_QUERY_ID]


def text_candidates(
    planner: Planner, condition: Expression, parts: Sequence[Node], items: Sequence[Item]
) -> PlannedPart | None:
    """The literals that may pass a filter, by the index; None if reading all is less work.

    parts, items  what is joined: triple patterns have the literals as objects
    """
    if planner.text is None or not is_about_texts(condition):
        return None
    try:
        search = planner.text()
    except ImportError:  # without the library, filters read all
        return None
    if not search.finds_substrings:
        return None
    planner.slots.fits = False  # other texts may be better found in another way
    required = required_texts(condition)
    if required is None:
        return None
    name, texts = required
    size = min((item.size for item in items if name in item.names), default=0.0)
    if size < SPARQL.searched_rows or not _is_indexed(name, search, parts):
        return None
    expected = search.count_containing(texts)
    if expected * SPARQL.lookup_cost > size:
        return None
    return PlannedPart(Planned(SubstringLeaf(search, name, texts, expected)))


def _is_indexed(name: str, search: TextSearch, parts: Sequence[Node]) -> bool:
    """Whether all strings that a variable may be are in the index."""
    known = search.properties
    for part in parts:
        for _, predicate, object_ in part.patterns if isinstance(part, Bgp) else ():
            if object_ == Variable(name) and (
                known is None
                or (isinstance(predicate, Constant) and predicate.key[1:].decode() in known)
            ):
                return True
    return False
