"""Rule instances that conclude some facts, as columns.

Start reading at `concluding`: for goals of one slice, the instances of all rules that may conclude
them over the facts that hold. An instance is its rule and the facts that its positive atoms match;
what an aggregate counts, what is absent and what is computed follow from these.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from triplestore.data_classes import data_class
from triplestore.evaluate.binding_frames import Bindings
from triplestore.evaluate.conclusions import Heads
from triplestore.maintenance.steps.regrouping import summarise
from triplestore.proofs.body_matching import Matching, Sees
from triplestore.proofs.closed_facts import Closed, Concluding, Place
from triplestore.relations import EXPLICIT
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.fact_sets import ANY, RelationKey
from triplestore.relations.packed_keys import I64, U8, U32, Bools, Columns, Keys, key_of, low, pack
from triplestore.rules.families import CompiledAtom, Family


@data_class(frozen=False)
class Premise:
    """What one atom matched in each instance: keys of a relation, or of several by `names`."""

    relation: RelationKey
    keys: Keys
    status: U8
    names: U32 | None = None

    def by_name(self) -> Iterator[tuple[int, I64]]:
        """The properties with their rows, where there are several."""
        assert self.names is not None
        for name in np.unique(self.names).tolist():
            yield name, np.flatnonzero(self.names == name)

    def take(self, rows: I64) -> Premise:
        """The same for some of the instances."""
        names = None if self.names is None else self.names[rows]
        return Premise(self.relation, self.keys[rows], self.status[rows], names)


@data_class(frozen=False)
class Instances:
    """Instances of one family: the number of the goal, the simple rule, and the premises."""

    goal: I64
    rule: I64
    premises: list[Premise]

    def __len__(self) -> int:
        return len(self.goal)

    def take(self, rows: I64) -> Instances:
        """Some of them."""
        premises = [premise.take(rows) for premise in self.premises]
        return Instances(self.goal[rows], self.rule[rows], premises)

    def without(self, place: Place) -> Instances:
        """Those that do not need a fact."""
        relation, key = place
        uses = np.zeros(len(self), dtype=np.bool_)
        for premise in self.premises:
            if premise.names is not None and isinstance(relation, int):
                uses |= (premise.names == relation) & (premise.keys == key)
            elif premise.relation == relation:
                uses |= premise.keys == key
        return self.take(np.flatnonzero(~uses)) if uses.any() else self

    def first_of_goals(self) -> I64:
        """The place of one instance of each goal: that with the fewest premises that are not
        stated, then the first by rule and premises."""
        if len(self) < 2:
            return np.arange(len(self))
        columns: list[np.ndarray] = [self.goal, self._open(), self.rule]
        for premise in self.premises:
            columns += [premise.keys] if premise.names is None else [premise.names, premise.keys]
        order = np.lexsort(columns[::-1])
        goals = self.goal[order]
        found: I64 = order[np.concatenate(([True], goals[1:] != goals[:-1]))]
        return found

    def _open(self) -> I64:
        count = np.zeros(len(self), dtype=np.int64)
        for premise in self.premises:
            count += premise.status != EXPLICIT
        return count

    def direct(self) -> Bools:
        """Those all of whose premises are stated."""
        found: Bools = self._open() == 0
        return found


def concluding(
    closed: Closed, rules: Concluding, relation: RelationKey, goals: Keys, sees: Setting
) -> Iterator[Instances]:
    """The instances of some rules that conclude goals, family by family.

    sees  what atoms are matched with: all facts, or stated ones only (aggregates are seen anyway)
    """
    if len(rules.copied):
        yield _copies(closed, rules, goals)
    for family in rules.families:
        if family.summary is not None:
            yield _aggregates(closed, family, relation, goals)
        else:
            yield _plain(closed, family, relation, goals, each(closed, family, sees))


def linear(
    closed: Closed, rules: Concluding, relation: RelationKey, goals: Keys
) -> Iterator[Instances]:
    """Those with at most one premise that is not stated; some may come twice."""
    if len(rules.copied):
        yield _copies(closed, rules, goals)
    for family in rules.families:
        if family.summary is not None:
            yield _aggregates(closed, family, relation, goals)
            continue
        for pivot in range(max(1, len(family.body))):
            yield _plain(closed, family, relation, goals, all_at(closed, family, pivot))


def _copies(closed: Closed, rules: Concluding, goals: Keys) -> Instances:
    """The instances of `C[?x] :- D[?x]` for all such D at once."""
    members = low(goals)
    bodies, count = rules.copied, len(members)
    keys = pack(np.repeat(bodies, count), np.tile(members, len(bodies)))
    status = closed.status(closed.type_id, keys)
    held = status.nonzero()[0]
    premise = Premise(closed.type_id, keys[held], status[held])
    return Instances(held % count, rules.numbers[held // count], [premise])


def all_at(closed: Closed, family: Family, pivot: int) -> Sees:
    """All facts for one atom, stated ones for the others."""
    stated = each(closed, family, closed.stated)
    return lambda item: closed.all if item == pivot else stated(item)


def each(closed: Closed, family: Family, setting: Setting) -> Sees:
    """A setting for the atoms of a family; all facts of internal relations are seen."""
    if setting is closed.all:
        return lambda item: setting
    helpers = [closed.is_helper(atom.relation) for atom in family.body]
    return lambda item: closed.all if helpers[item] else setting


def _plain(
    closed: Closed, family: Family, relation: RelationKey, goals: Keys, sees: Sees
) -> Instances:
    matching = Matching.of_goals(closed, family, relation, goals, sees)
    rows, n = matching.finish()
    if n == 0:
        return Instances(_NONE, _NONE, [])
    numbers = rows[family.width]
    assert numbers is not None
    premises = [
        premise_of(closed, atom, rows, n)
        for atom in family.body
        if not closed.is_helper(atom.relation)
    ]
    return Instances(numbers.astype(np.int64), rules_of(family, rows, n), premises)


_NONE: I64 = np.zeros(0, dtype=np.int64)


def premise_of(closed: Closed, atom: CompiledAtom, rows: Bindings, n: int) -> Premise:
    """The facts that an atom matches in the rows of a frame."""
    columns = columns_in(atom, rows, n)
    if atom.relation != ANY:
        keys = key_of(columns)
        return Premise(atom.relation, keys, closed.status(atom.relation, keys))
    s, p, o = columns
    typed = p == closed.type_id
    keys = pack(np.where(typed, o, s), np.where(typed, s, o))
    found = Premise(ANY, keys, np.zeros(n, dtype=np.uint8), p)
    for name, mine in found.by_name():
        found.status[mine] = closed.status(name, keys[mine])
    return found


def columns_in(atom: CompiledAtom, rows: Bindings, n: int) -> Columns:
    """The values of the terms of an atom."""
    found = []
    for term in atom.terms:
        column = np.full(n, -term, dtype=np.uint32) if term < 0 else rows[term]
        assert column is not None
        found.append(column)
    return tuple(found)


def rules_of(family: Family, rows: Bindings, n: int) -> I64:
    """The number of the rule of each row."""
    if family.table is None:
        return np.full(n, family.rules[0], dtype=np.int64)
    known = family.known.rule_numbers
    if known is None:
        keys = key_of(family.table.columns)
        order = np.argsort(keys, kind="stable")
        numbers = np.array(family.rules, dtype=np.int64)
        known = family.known.rule_numbers = keys[order], numbers[order]
    columns = [column for v in family.table.variables if (column := rows[v]) is not None]
    found: I64 = known[1][known[0].searchsorted(key_of(columns))]
    return found


def _aggregates(closed: Closed, family: Family, relation: RelationKey, goals: Keys) -> Instances:
    """The goals that an aggregate rule concludes; they have no premises, but members."""
    rows, concluded = summarised_goals(closed, family, relation, goals)
    numbers = rows[family.width]
    if numbers is None:
        return Instances(_NONE, _NONE, [])
    hit = numbers[concluded].astype(np.int64)
    return Instances(hit, np.full(len(hit), family.rules[0], dtype=np.int64), [])


def summarised_goals(
    closed: Closed, family: Family, relation: RelationKey, goals: Keys
) -> tuple[Bindings, Bools]:
    """Goals as rows of an aggregate rule, and which of them it concludes."""
    summary = family.summary
    assert summary is not None
    rows, n = closed.run.goals(family, relation, goals)
    numbers = rows[family.width]
    if n == 0 or numbers is None:
        return rows, np.zeros(0, dtype=np.bool_)
    groups = [column for v in summary.groups if (column := rows[v]) is not None]
    wanted = np.unique(key_of(groups)) if groups else np.zeros(1, dtype=np.uint32)
    heads = Heads()
    work = closed.work()
    summarise(work, family, wanted, work.old(), heads)
    return rows, np.isin(goals[numbers], heads.taken().get(relation, goals[:0]))
