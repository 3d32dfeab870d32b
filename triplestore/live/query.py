"""How the rows of a query change with a commit: start at `LiveQuery.changed`.

The rows that a changed fact can change are asked for in the states before and after the commit, by
the values that they share with the fact (see `reads.py`), and compared. All other rows are the same
in both. Nothing of an answer is kept, except where a LIMIT leaves a choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TypeAlias

import numpy as np

from triplestore.data_classes import data_class
from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.tree import Variable
from triplestore.live.branches import Branch, branches_of
from triplestore.live.fact_changes import FactChanges
from triplestore.live.kept_rows import KeptRows, with_ids_of
from triplestore.live.path_nodes import nodes_before_path, nodes_of_graph
from triplestore.live.reading import Plans, StateReader, column_of, distinct_keys, packed
from triplestore.live.reads import Read
from triplestore.live.row_difference import difference
from triplestore.live.thresholds import LIVE
from triplestore.live.triggers import OBJECT, PREDICATE, SUBJECT, Trigger
from triplestore.operators.context import Context
from triplestore.operators.frame import Frame
from triplestore.relations import ChangedRows
from triplestore.relations.packed_keys import U64, in_sorted
from triplestore.sparql.algebra.nodes import Node, Select
from triplestore.sparql.engine import AskedState, dataset_of

Ask: TypeAlias = Callable[..., AskedState]
"""The part of a state that the query sees."""


@data_class
class RowDifference:
    """Rows that went and came, and the terms of their ids."""

    removed: Frame
    added: Frame
    terms: QueryTerms

    def __bool__(self) -> bool:
        return bool(self.removed.rows or self.added.rows)


@data_class(frozen=False)
class _Seeds:
    """Values of some variables in the rows to compare: of the old rows and of the new ones."""

    old: list[U64] = field(default_factory=list)
    new: list[U64] = field(default_factory=list)


Known: TypeAlias = tuple[str, ...]


class LiveQuery:
    """A query whose rows are followed.

    names     its variables
    query     its algebra
    budget    maximum number of bytes that one evaluation may take; None for no limit
    """

    def __init__(self, query: Select, budget: int | None) -> None:
        self.query = query
        self.budget = budget
        self.names = tuple(variable.name for variable in query.variables)
        self.branches = branches_of(query)
        self.triggers: list[Trigger] = []
        self._plans = Plans()
        self._kept: KeptRows | None = None

    @property
    def graphs(self) -> bool:
        """Whether it depends on which named graphs there are."""
        return any(branch.graphs for branch in self.branches)

    def listen(self, asked: AskedState) -> list[Trigger]:
        """The triggers of its reads."""
        dataset = dataset_of(self.query, asked)
        own = dataset.default == (0,)
        found = []
        for at, branch in enumerate(self.branches):
            if not own:  # a fact of several graphs is one fact
                branch.reads = [r if r.graph is not None else r.loosely() for r in branch.reads]
            for number, read in enumerate(branch.reads):
                named = [True] if read.graph is not None else [False] if own else [False, True]
                found += [
                    Trigger.of((self, at), number, read, each, asked.dictionary) for each in named
                ]
        self.triggers = found
        return found

    # -- evaluation -------------------------------------------------------------------------------

    def rows(self, asked: AskedState) -> tuple[Frame, QueryTerms]:
        """All rows, as of now."""
        reader = self._reader(asked, self._context())
        parts = [_all_rows(reader, branch, self.names) for branch in self.branches]
        columns = [np.concatenate([part[name] for part in parts]) for name in self.names]
        rows = Frame(self.names, columns, sum(part.rows for part in parts))
        return rows, self._plans.terms_of_rows()

    def _columns(self, branch: Branch) -> tuple[str, ...]:
        """The variables of the query, and those by whose values rows are found."""
        others = {name for known in branch.known for name in known}
        return (*self.names, *sorted(others.difference(self.names)))

    def begin(self, asked: AskedState) -> None:
        """Make plans, and remember the rows as of now if they must be remembered."""
        for branch in self.branches:
            for lift in (lift for read in branch.reads for lift in read.lifts):
                self._plan(asked, lift.pattern, lift.names, lift.known, False)
            for known in set(branch.known) if branch.triple is None else ():
                self._plan(asked, branch.node, self._columns(branch), known, True)
        if self.branches[0].sliced and self._kept is None:
            self._kept = KeptRows(*self.rows(asked))

    def _plan(
        self, asked: AskedState, node: Node, names: tuple[str, ...], known: Known, bag: bool
    ) -> None:
        """Make a plan, before any other has made terms."""
        self._reader(asked, self._context()).plan(node, names, known, bag)

    def current(self, asked: AskedState) -> tuple[Frame, QueryTerms]:
        """All rows, as the subscribers know them."""
        return self.rows(asked) if self._kept is None else (self._kept.rows, self._kept.terms)

    def between(self, before: AskedState, after: AskedState) -> RowDifference:
        """How the rows of two states differ, whatever lies between them."""
        old, old_terms = self.rows(before)
        new, terms = self.current(after)
        if terms is not old_terms:
            old = with_ids_of(old, old_terms, terms)
        removed, added = difference([old], [new], distinct=self.branches[0].distinct)
        return RowDifference(removed, added, terms)

    def changed(
        self,
        before: AskedState,
        after: AskedState,
        changes: FactChanges,
        hits: Sequence[Trigger],
    ) -> RowDifference:
        """How the rows changed with a commit.

        hits  the triggers that may be concerned
        """
        context = self._context()
        old, new = self._reader(before, context), self._reader(after, context)
        if self._kept is not None:
            return self._against_kept(new)
        gone: list[Frame] = []
        come: list[Frame] = []
        for at, branch in enumerate(self.branches):
            own = [trigger for trigger in hits if trigger.owner[1] == at]
            if not own and not (branch.graphs and changes.graphs):
                continue
            found = self._of_branch(branch, own, old, new, changes)
            gone.append(found[0])
            come.append(found[1])
        none = [Frame(self.names, [np.zeros(0, np.uint32)] * len(self.names), 0)]
        distinct = self.branches[0].distinct
        removed, added = difference(gone or none, come or none, distinct=distinct)
        return RowDifference(removed, added, self._plans.terms_of_rows())

    def _against_kept(self, new: StateReader) -> RowDifference:
        assert self._kept is not None
        rows = _all_rows(new, self.branches[0], self.names)
        terms = self._plans.terms_of_rows()
        before, now = self._kept.replace(rows, terms)
        removed, added = difference([before], [now])
        return RowDifference(removed, added, terms)

    def _of_branch(
        self,
        branch: Branch,
        hits: Sequence[Trigger],
        old: StateReader,
        new: StateReader,
        changes: FactChanges,
    ) -> tuple[Frame, Frame]:
        """Old and new rows of a branch; all other rows are the same."""
        seeds: dict[Known, _Seeds] = {}
        whole = branch.graphs and changes.graphs
        if branch.triple is not None and old.is_plain and new.is_plain and not whole:
            return _of_triple(hits[0], changes, old.dataset.where, self.names)
        for trigger in hits:
            facts = _seen_facts(trigger, changes, old.dataset.where)
            if facts is None:
                continue
            known = branch.known[trigger.number]
            if not known:
                whole = True
                break
            _add_seeds(seeds.setdefault(known, _Seeds()), trigger, facts, known, old, new)
        if whole:
            return _all_rows(old, branch, self.names), _all_rows(new, branch, self.names)
        names = self._columns(branch)
        old_keys = {known: distinct_keys(found.old) for known, found in seeds.items()}
        new_keys = {known: distinct_keys(found.new) for known, found in seeds.items()}
        return (
            _rows_with(old, branch, names, old_keys, self.names),
            _rows_with(new, branch, names, new_keys, self.names),
        )

    def _context(self) -> Context:
        return Context(self.budget, seconds=LIVE.query_seconds)

    def _reader(self, asked: AskedState, context: Context) -> StateReader:
        return StateReader(self.query, asked, self._plans, context)


def _all_rows(reader: StateReader, branch: Branch, names: tuple[str, ...]) -> Frame:
    return reader.rows(branch.node, names)


def _rows_with(
    reader: StateReader,
    branch: Branch,
    names: tuple[str, ...],
    keys: dict[Known, U64],
    shown: tuple[str, ...],
) -> Frame:
    """The rows with any of some values of variables, each once for all that it has."""
    parts = []
    done: list[tuple[Known, U64]] = []
    for known, own in keys.items():
        if len(own) == 0:
            continue
        found = reader.rows(branch.node, names, known, own)
        for earlier, others in done:
            again = in_sorted(packed([found[name] for name in earlier]), others)
            if again.any():
                found = found.where(~again)
        parts.append(found)
        done.append((known, own))
    columns = [
        np.concatenate([part[name] for part in parts] or [np.zeros(0, np.uint32)]) for name in shown
    ]
    return Frame(shown, columns, sum(part.rows for part in parts))


def _seen_facts(trigger: Trigger, changes: FactChanges, where: int) -> ChangedRows | None:
    """The changed facts that a trigger reads; None if there are none."""
    rows = changes.of(trigger.ids.get(PREDICATE, 0), trigger.named)
    if rows is None:
        return None
    rows = trigger.matched(rows)
    mask = ((rows.status & np.uint8(where)) != 0) != ((rows.previous & np.uint8(where)) != 0)
    rows = rows if mask.all() else rows.take(mask)
    return rows if len(rows) else None


def _of_triple(
    trigger: Trigger, changes: FactChanges, where: int, names: tuple[str, ...]
) -> tuple[Frame, Frame]:
    """The rows of one triple pattern that went and came: the facts themselves."""
    facts = _seen_facts(trigger, changes, where)
    if facts is None:
        none = Frame(names, [np.zeros(0, np.uint32)] * len(names), 0)
        return none, none
    came = (facts.status & np.uint8(where)) != 0
    columns = []
    for name in names:
        place = _place(trigger.read, name)
        columns.append(np.zeros(len(facts), np.uint32) if place is None else facts.columns[place])
    rows = Frame(names, columns, len(facts))
    return rows.where(~came), rows.where(came)


def _add_seeds(
    seeds: _Seeds,
    trigger: Trigger,
    facts: ChangedRows,
    known: Known,
    old: StateReader,
    new: StateReader,
) -> None:
    """Add the values that rows changed by some facts have."""
    read = trigger.read
    if read.path is not None:
        near = nodes_of_graph if read.nodes else nodes_before_path
        sides = [near(read, facts, old, new)] * 2
    else:  # a fact that went is read in the old state only, one that came in the new one
        keys = _values(read, facts, read.lifts[0].known if read.lifts else known)
        came = (facts.status & np.uint8(old.dataset.where)) != 0
        sides = [keys[~came], keys[came]]
        if not read.lifts and not (read.exact and set(known) == read.names):
            sides = [keys, keys]
    for lift in read.lifts:
        found = [
            reader.rows(lift.pattern, lift.names, lift.known, distinct_keys([side]), bag=False)
            for reader, side in zip((old, new), sides, strict=True)
            if len(side)
        ]
        columns = [[column_of(rows, name) for name in lift.names] for rows in found]
        keys = distinct_keys([packed(each) for each in columns])
        sides = [keys, keys]
    seeds.old.append(sides[0])
    seeds.new.append(sides[1])


def _values(read: Read, facts: ChangedRows, names: Known) -> U64:
    """The values of variables of a triple pattern in the facts that match it."""
    places = [_place(read, name) for name in names]
    return packed([facts.columns[place] for place in places if place is not None])


def _place(read: Read, name: str) -> int | None:
    """The column of changed facts that has the value of a variable."""
    s, p, o = read.pattern
    for term, place in ((s, SUBJECT), (o, OBJECT), (p, PREDICATE)):
        if isinstance(term, Variable) and term.name == name:
            return place
    return None
