"""Violations: the matches of constraints, and the members of owl:Nothing.

Start reading at `violations`. The engine keeps the matches of a constraint as rows of a helper
relation, with a column for each variable. So they are maintained like other facts; here they get
their names and terms back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from triplestore.data_classes import data_class
from triplestore.datalog.program import Program, bound_by
from triplestore.reasoning.equality.violations import ViolatingRows
from triplestore.relations import Changes, Tables
from triplestore.relations.packed_keys import NO_IDS, U32, Columns
from triplestore.rules.simplify import simplify
from triplestore.terms import key_of, to_ntriples
from triplestore.terms.vocabulary import OWL, RDF_TYPE
from triplestore.thread_limits import look

if TYPE_CHECKING:
    from triplestore.datalog.program import Constraint, TripleAtom
    from triplestore.reasoning.program.stored_rules import Rules
    from triplestore.terms import Dictionary, Term

NOTHING = "owl:Nothing"
"""The id of the constraint for members of owl:Nothing."""

_TYPE, NOTHING_KEY = b"\x01" + RDF_TYPE.encode(), b"\x01" + OWL.encode() + b"Nothing"


@data_class
class Violation:
    """One match of a constraint, or one member of owl:Nothing.

    >>> from triplestore import NamedNode
    >>> values = {"x": NamedNode("http://ex.org/a")}
    >>> print(Violation("no-loop", "an ancestor of itself", values))
    no-loop: an ancestor of itself: ?x = <http://ex.org/a>
    """

    constraint: str
    """The id of the constraint, or `owl:Nothing`."""
    message: str = ""
    values: Mapping[str, Term] = field(default_factory=dict)
    """The term of each variable of the constraint; of owl:Nothing, the member as `x`."""
    axioms: tuple[TripleAtom, ...] = ()
    """The triples of the axiom that the constraint was made from; where it is for all axioms of a
    kind, these are among the values."""
    relation: bytes = field(default=b"", compare=False, repr=False)
    """The key of the helper relation that lists it; constraints may be equal in all else."""

    def as_dict(self) -> dict[str, Any]:
        """The same, fit for JSON."""
        return {
            "rule": self.constraint,
            "message": self.message,
            "values": {name: _text(term) for name, term in self.values.items()},
            "axioms": [str(axiom) for axiom in self.axioms],
        }

    def __str__(self) -> str:
        shown = ", ".join(f"?{name} = {_text(term)}" for name, term in self.values.items())
        return ": ".join(part for part in (self.constraint, self.message, shown) if part)

    def __hash__(self) -> int:
        return hash((self.constraint, self.message, tuple(self.values.items())))


def _text(term: Term) -> str:
    return to_ntriples(key_of(term)).decode()


@data_class(repr=False)
class Inconsistencies:
    """All violations counted by the ids of their constraints, and some of each; prints well.

    >>> print(Inconsistencies({"S14": 2}, (Violation("S14", "two labels"),)))
    S14             2
      two labels
      and 1 more
    >>> bool(Inconsistencies()), len(Inconsistencies({"S14": 2}))
    (False, 2)
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    listed: tuple[Violation, ...] = ()
    prefixes: Mapping[str, str] = field(default_factory=dict, compare=False)
    """What notebooks shorten IRIs by."""

    def __len__(self) -> int:
        return sum(self.counts.values())

    def __iter__(self) -> Iterator[Violation]:
        return iter(self.listed)

    def __str__(self) -> str:
        lines = []
        for name, count in sorted(self.counts.items()):
            lines.append(f"{name:<15} {count:,}")
            shown = [one for one in self.listed if one.constraint == name]
            lines += [f"  {str(one).removeprefix(name + ': ')}" for one in shown]
            if count > len(shown):
                lines.append(f"  and {count - len(shown):,} more")
        return "\n".join(lines) if lines else "no inconsistencies"

    def __repr__(self) -> str:
        counts = ", ".join(f"{name} {count:,}" for name, count in sorted(self.counts.items()))
        return f"<inconsistencies: {counts or 'none'}>"

    def _repr_html_(self) -> str:
        # Late: only notebooks ask for it.
        from triplestore.reasoning.reports.changes_html import inconsistencies_html

        return inconsistencies_html(self, self.prefixes)


def inconsistencies(
    tables: Tables, where: ViolationRelations, dictionary: Dictionary, most: int
) -> Inconsistencies:
    """All violations counted, and at most `most` of each constraint's id."""
    counts: dict[str, int] = {}
    listed: list[Violation] = []
    for name, constraint in where.relations.items():
        count = members_of(tables, name, constraint).count()
        if not count:
            continue
        room = most - min(most, counts.get(constraint.id, 0))
        counts[constraint.id] = counts.get(constraint.id, 0) + count
        if room:
            only = where._replace(relations={name: constraint}, nothing=0)
            listed += islice(violations(tables, only, dictionary), room)
    if where.type_id and where.nothing:
        count = len(tables.relation(where.type_id).by_second(where.nothing))
        if count:
            counts[NOTHING] = count
            only = where._replace(relations={})
            listed += islice(violations(tables, only, dictionary), most)
    return Inconsistencies(counts, tuple(listed))


class ViolationRelations(NamedTuple):
    """Where the violations of a program are.

    relations  id of a helper relation -> its constraint
    nothing    the id of owl:Nothing, or 0 if there is none, or a constraint about its members
    """

    relations: Mapping[int, Constraint]
    type_id: int
    nothing: int


def violation_relations(rules: Rules | None, dictionary: Dictionary) -> ViolationRelations:
    """Where the violations of these rules are, for a reader: nothing is compiled or encoded."""
    type_id, nothing = dictionary.lookup_keys([_TYPE, NOTHING_KEY]).tolist()
    if rules is None or not rules.constraint_count:
        return ViolationRelations({}, type_id, nothing)
    named = _constraints_of(rules)
    if _has_own(named.values()):
        nothing = 0
    ids = dictionary.lookup_keys(list(named)).tolist()
    found = {i: constraint for i, constraint in zip(ids, named.values(), strict=True) if i}
    return ViolationRelations(found, type_id, nothing)


def compiled_violation_relations(
    relations: Mapping[int, Constraint], dictionary: Dictionary
) -> ViolationRelations:
    """The same for a writer, who has compiled the rules."""
    type_id, nothing = dictionary.lookup_keys([_TYPE, NOTHING_KEY]).tolist()
    return ViolationRelations(relations, type_id, 0 if _has_own(relations.values()) else nothing)


def _has_own(constraints: Iterable[Constraint]) -> bool:
    """Whether a constraint already lists the members of owl:Nothing."""
    return any(constraint.id == "cls-nothing2" for constraint in constraints)


_CONSTRAINTS: WeakKeyDictionary[Rules, Mapping[bytes, Constraint]] = WeakKeyDictionary()
"""Rules may know a dictionary, which must not be kept longer than its store."""


def _constraints_of(rules: Rules) -> Mapping[bytes, Constraint]:
    """Names of the helper relations that list violations; they depend on the constraints only."""
    found = _CONSTRAINTS.get(rules)
    if found is None:
        found = _CONSTRAINTS[rules] = simplify(Program((), rules.constraints)).violations
    return found


def violations(
    tables: Tables, where: ViolationRelations, dictionary: Dictionary
) -> Iterator[Violation]:
    """All violations."""
    for name, constraint in _with_rows(tables, where):
        for columns in members_of(tables, name, constraint).scan():
            yield from _of_rows(name, constraint, columns, dictionary)
    if where.type_id and where.nothing:
        members = tables.relation(where.type_id).by_second(where.nothing)
        for member in dictionary.terms(members):
            yield Violation(NOTHING, values={"x": member})


def count_violations(tables: Tables, where: ViolationRelations) -> int:
    """How many there are."""
    found = _with_rows(tables, where)
    count = sum(members_of(tables, name, constraint).count() for name, constraint in found)
    if where.type_id and where.nothing:
        count += len(tables.relation(where.type_id).by_second(where.nothing))
    return count


def new_violations(
    net: Changes, where: ViolationRelations, dictionary: Dictionary
) -> Iterator[Violation]:
    """The violations that a net change adds."""
    for (name, _), rows in net.tuples.items():
        constraint = where.relations.get(name)
        if constraint is not None:
            new = rows.take((rows.status != 0) & (rows.previous == 0))
            yield from _of_rows(name, constraint, new.columns, dictionary)
    for member in dictionary.terms(_new_members(net, where)):
        yield Violation(NOTHING, values={"x": member})


def violations_between(
    before: Tables, after: Tables, where: ViolationRelations, dictionary: Dictionary
) -> Iterator[Violation]:
    """The same for two states of the tables."""
    for name, constraint in _with_rows(after, where):
        now, was = (members_of(tables, name, constraint) for tables in (after, before))
        for columns in now.since(was):
            yield from _of_rows(name, constraint, columns, dictionary)
    for member in dictionary.terms(_members_between(before, after, where)):
        yield Violation(NOTHING, values={"x": member})


def count_new(net: Changes, where: ViolationRelations) -> int:
    """How many violations of a net change were not there before."""
    count = len(_new_members(net, where))
    for (name, _), rows in net.tuples.items():
        if name in where.relations:
            count += int(np.count_nonzero((rows.status != 0) & (rows.previous == 0)))
    return count


def count_new_between(before: Tables, after: Tables, where: ViolationRelations) -> int:
    """The same for two states of the tables, by comparing all violations."""
    count = 0
    for name, constraint in _with_rows(after, where):
        now, was = (members_of(tables, name, constraint) for tables in (after, before))
        count += sum(len(columns[0]) for columns in now.since(was))
    return count + len(_members_between(before, after, where))


def _members_between(before: Tables, after: Tables, where: ViolationRelations) -> U32:
    """The members of owl:Nothing that were not there before."""
    if not (where.type_id and where.nothing):
        return NO_IDS
    states = (tables.relation(where.type_id) for tables in (after, before))
    now, was = (relation.by_second(where.nothing) for relation in states)
    return np.setdiff1d(now, was, assume_unique=True)


def _new_members(net: Changes, where: ViolationRelations) -> np.ndarray:
    if not where.nothing:
        return NO_IDS
    rows = net.facts
    p, s, o = rows.columns
    new = (p == where.type_id) & (o == where.nothing) & (rows.status != 0) & (rows.previous == 0)
    members: np.ndarray = s[new]
    return members


def _with_rows(tables: Tables, where: ViolationRelations) -> list[tuple[int, Constraint]]:
    """The violated constraints with their helper relations: usually few of many."""
    present = {name for name, _ in tables.tuple_names()}
    return [one for one in where.relations.items() if one[0] in present]


def variables_of(constraint: Constraint) -> list[str]:
    """The variables of a constraint in the order of the columns of its helper relation."""
    return sorted({variable.name for variable in bound_by(constraint.body)})


def arity_of(constraint: Constraint) -> int:
    """The number of columns of its helper relation, at least three."""
    return max(3, len(variables_of(constraint)))


def members_of(tables: Tables, name: int, constraint: Constraint) -> ViolatingRows:
    """The matches of a constraint, also for all members of a class of equals."""
    return ViolatingRows(tables, name, arity_of(constraint), constraint, variables_of(constraint))


def _of_rows(
    relation: int, constraint: Constraint, columns: Columns, dictionary: Dictionary
) -> Iterator[Violation]:
    look("reading violations")
    names, key = variables_of(constraint), dictionary.key(relation)
    chosen = columns[len(columns) - len(names) :]
    terms = [dictionary.terms(column) for column in chosen]
    for row in range(len(columns[0])):
        values = {name: column[row] for name, column in zip(names, terms, strict=True)}
        yield Violation(constraint.id, constraint.message, values, constraint.axioms, key)
