"""Triple terms with variables in the atoms of rules, as BINDs and FILTERs.

Start at `with_parts` (bodies) and `made_by` (heads). The parser reads `<<( ?s ?p ?o )>>` as a new
variable. In a body its parts are computed: `BIND(SUBJECT(?t) AS ?s)`, or, where ?s has a value from
elsewhere, `FILTER(SAMETERM(SUBJECT(?t), ?s))`. In a head it is made:
`BIND(TRIPLE(?s, ?p, ?o) AS ?t)`. So rules have no terms of their own for this: proofs, strata and
updates know BIND and FILTER.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from triplestore.datalog.items import (
    Aggregate,
    Bind,
    Filter,
    Item,
    Not,
    Term,
    TripleAtom,
    TupleAtom,
)
from triplestore.expressions.tree import Call, Variable

Parts: TypeAlias = tuple[Term, Term, Term]
Terms: TypeAlias = Mapping[Variable, Parts]
"""The variables that stand for triple terms, and their parts."""

_FUNCTIONS = ("SUBJECT", "PREDICATE", "OBJECT")


def with_parts(
    body: tuple[Item, ...], terms: Terms, known: Iterable[Variable] = ()
) -> tuple[Item, ...]:
    """A body with the parts of its triple terms behind the atoms that have them.

    known  the variables that the body around it binds

    >>> t, s, o = Variable("t"), Variable("s"), Variable("o")
    >>> p = Variable("p")
    >>> for item in with_parts((TripleAtom(s, p, t),), {t: (s, p, o)}):
    ...     print(item)
    [?s, ?p, ?t]
    FILTER(SAMETERM(SUBJECT(?t), ?s))
    FILTER(SAMETERM(PREDICATE(?t), ?p))
    BIND(OBJECT(?t) AS ?o)
    """
    if not terms:
        return body
    bound = {*known, *_bound_by(body)}
    made: list[Item] = []
    for item in body:
        if isinstance(item, Not):
            item = replace(item, body=with_parts(item.body, terms, bound))
        elif isinstance(item, Aggregate):
            item = replace(item, body=with_parts(item.body, terms))
        made.append(item)
        if isinstance(item, TripleAtom | TupleAtom):
            for term in item.terms:
                if isinstance(term, Variable) and term in terms:
                    made += _parts_of(term, terms, bound)
    return tuple(made)


def _bound_by(body: Iterable[Item]) -> set[Variable]:
    bound: set[Variable] = set()
    for item in body:
        if isinstance(item, TripleAtom | TupleAtom):
            bound.update(term for term in item.terms if isinstance(term, Variable))
        elif isinstance(item, Bind):
            bound.add(item.variable)
        elif isinstance(item, Aggregate):
            bound.update(item.groups)
            bound.update(result.variable for result in item.results)
    return bound


def _parts_of(term: Variable, terms: Terms, bound: set[Variable]) -> list[Item]:
    made: list[Item] = []
    for function, part in zip(_FUNCTIONS, terms[term], strict=True):
        value = Call(function, (term,))
        if not isinstance(part, Variable) or part in bound:
            made.append(Filter(Call("SAMETERM", (value, part))))
            continue
        bound.add(part)
        made.append(Bind(value, part))
        if part in terms:
            made += _parts_of(part, terms, bound)
    return made


def made_by(terms: Terms) -> list[Bind]:
    """The BINDs that make the triple terms of heads, inner ones first.

    >>> t, x = Variable("t"), Variable("x")
    >>> print(*made_by({t: (x, x, x)}))
    BIND(TRIPLE(?x, ?x, ?x) AS ?t)
    """
    return [Bind(Call("TRIPLE", parts), term) for term, parts in terms.items()]
