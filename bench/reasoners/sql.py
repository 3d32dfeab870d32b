"""Clauses as SQL: one SELECT for a clause, and the statements that close a stratum.

Start at `closing`. A stratum that is not recursive is one INSERT for each relation. A recursive one
of a single relation whose clauses use that relation once each is one `WITH RECURSIVE` query; every
other one is iterated by the caller, semi-naively, with the rows of the last round in `NAME_delta`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.reasoners.program import Clause, Pattern, Relation


@dataclass(frozen=True, slots=True)
class Stratum:
    """How to close some relations that depend on each other.

    once     statements to run first, once
    derive   relation -> queries of one round, each with the relation whose delta it reads
    """

    once: tuple[str, ...]
    derive: dict[Relation, list[tuple[Relation, str]]]


def closing(defined: set[Relation], clauses: Sequence[Clause]) -> Stratum:
    """The statements for one stratum."""
    plain = [c for c in clauses if not _recursive_places(c, defined)]
    recursive = [c for c in clauses if _recursive_places(c, defined)]
    once = []
    for relation in sorted(defined):
        queries = [select(clause) for clause in plain if clause.head.relation == relation]
        if queries:
            once.append(insert_new(relation, queries))
    if not recursive:
        return Stratum(tuple(once), {})
    if len(defined) == 1 and all(len(_recursive_places(c, defined)) == 1 for c in recursive):
        return Stratum((*once, *_with_recursive(next(iter(defined)), recursive)), {})
    derive: dict[Relation, list[tuple[Relation, str]]] = {}
    for clause in recursive:
        for place in _recursive_places(clause, defined):
            changed = clause.body[place].relation
            query = select(clause, {place: f"{changed.name}_delta"})
            derive.setdefault(clause.head.relation, []).append((changed, query))
    return Stratum(tuple(once), derive)


def _recursive_places(clause: Clause, defined: set[Relation]) -> list[int]:
    return [i for i, pattern in enumerate(clause.body) if pattern.relation in defined]


def insert_new(relation: Relation, queries: Sequence[str]) -> str:
    """Insert the rows of some queries that are not in the relation."""
    return f"INSERT INTO {relation.name} {union(queries)} EXCEPT SELECT * FROM {relation.name}"


def union(queries: Sequence[str]) -> str:
    """All rows of some queries, each once."""
    return f"SELECT DISTINCT * FROM ({' UNION ALL '.join(queries)})"


def _with_recursive(relation: Relation, clauses: Sequence[Clause]) -> tuple[str, str]:
    name, columns = relation.name, ", ".join(column_names(relation))
    steps = [
        select(clause, {place: "closed"})
        for clause in clauses
        for place in _recursive_places(clause, {relation})
    ]
    return (
        f"CREATE OR REPLACE TEMP TABLE {name}_closed AS WITH RECURSIVE closed({columns}) AS "
        f"(SELECT * FROM {name} UNION ({' UNION ALL '.join(steps)})) SELECT * FROM closed",
        f"INSERT INTO {name} SELECT * FROM {name}_closed EXCEPT SELECT * FROM {name}",
    )


def column_names(relation: Relation) -> list[str]:
    """a0, a1, ..."""
    return [f"a{i}" for i in range(relation.arity)]


def select(clause: Clause, instead: dict[int, str] | None = None) -> str:
    """The heads of a clause's matches; `instead` names other tables for some places of its body.

    >>> edge, path = Relation("edge", 2), Relation("path", 2)
    >>> body = Pattern(path, ("x1", "x2")), Pattern(edge, ("x2", "x3"))
    >>> print(select(Clause(Pattern(path, ("x1", "x3")), body), {0: "path_delta"}))
    SELECT b0.a0, b1.a1 FROM path_delta b0, edge b1 WHERE b1.a0 = b0.a1
    """
    places: dict[str, str] = {}
    tables, conditions = [], []
    for i, pattern in enumerate(clause.body):
        tables.append(f"{(instead or {}).get(i, pattern.relation.name)} b{i}")
        conditions += _conditions(pattern, f"b{i}", places)
    for i, pattern in enumerate(clause.nots):
        found = " AND ".join(_conditions(pattern, f"n{i}", places))
        where = f" WHERE {found}" if found else ""
        conditions.append(f"NOT EXISTS (SELECT 1 FROM {pattern.relation.name} n{i}{where})")
    heads = [str(t) if isinstance(t, int) else places[t] for t in clause.head.terms]
    query = f"SELECT {', '.join(heads)}"
    if tables:
        query += f" FROM {', '.join(tables)}"
    return query + (f" WHERE {' AND '.join(conditions)}" if conditions else "")


def _conditions(pattern: Pattern, table: str, places: dict[str, str]) -> list[str]:
    """The equations of a pattern; new variables get their place."""
    found = []
    for i, term in enumerate(pattern.terms):
        place = f"{table}.a{i}"
        if isinstance(term, int):
            found.append(f"{place} = {term}")
        elif term in places:
            found.append(f"{place} = {places[term]}")
        else:
            places[term] = place
    return found
