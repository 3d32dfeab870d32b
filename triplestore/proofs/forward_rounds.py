"""Forwards from asserted facts: the facts that follow, round by round.

Start reading at `rounds`. All rules of all strata fire on the facts of the last round, so the round
of a fact is the height of its least proof. Negations and aggregates are looked up in the snapshot,
which is right if that is closed. If it is not closed, some of its facts are never found, or others
are: `audit` reports these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from triplestore.datalog.program import TripleAtom, TupleAtom
from triplestore.datalog.slices import Slice, slice_of
from triplestore.evaluate.binding_frames import Bindings
from triplestore.evaluate.conclusions import Heads, conclude
from triplestore.evaluate.evaluation import Around
from triplestore.maintenance.steps.regrouping import summarise_whole
from triplestore.proofs.closed_facts import NO_STRATA, Closed
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.fact_sets import ANY, Batch, FactSet, RelationKey, new_set, set_of
from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.relations.packed_keys import Keys
from triplestore.rules.body_plans import WHOLE, plan_for
from triplestore.rules.compile_rules import compile_rules
from triplestore.rules.families import Family
from triplestore.rules.simplify import is_given

Check = Callable[[int], None]


def rounds(
    closed: Closed, numbers: Iterable[int], given: FactSet, check: Check | None = None
) -> Iterator[Batch]:
    """Conclusions of some simple rules from asserted facts, without these; by least height from 1.

    given  facts that are taken to be stated, besides those that are
    check  called with the number of facts of each round before it is used
    """
    stated = closed.stored.explicit()
    listed = sorted(numbers)
    rules = [closed.written.rules[number] for number in listed]
    families = compile_rules(rules, NO_STRATA, closed.terms.encode_keys, listed)
    derived = FactSet()
    heads = _first(closed, families, Setting(stored=stated, plus=[given]))
    while heads:
        fresh: Batch = {}
        for name, keys in heads.taken().items():
            keys = sorted_distinct(keys)
            new = ~stated.of(name).contains_keys(keys) & ~derived.contains(name, keys)
            new &= ~given.contains(name, keys)
            if new.any():
                fresh[name] = keys[new]
        if not fresh:
            return
        if check is not None:
            check(sum(map(len, fresh.values())))
        for name, keys in fresh.items():
            derived.add(name, keys)
        yield fresh
        heads = _next(closed, families, Setting(stated, plus=[given, derived]), fresh)


def _first(closed: Closed, families: list[Family], setting: Setting) -> Heads:
    """The conclusions of all rules from the given facts."""
    heads = Heads()
    work = closed.work()
    for family in families:
        if family.summary is not None:
            summarise_whole(work, family, work.old(), heads, "audit")
            continue
        start: Bindings = [None] * (family.width + 1)
        plan = plan_for(family, WHOLE, setting)
        rows, n = closed.run.follow(family, plan, start, 1, setting, "", closed.all)
        conclude(family, rows, n, closed.type_id, heads)
    return heads


def _next(closed: Closed, families: list[Family], after: Setting, fresh: Batch) -> Heads:
    """The conclusions of all rules that use a fact of the last round."""
    heads = Heads()
    around = Around(after.without(set_of(fresh)), after, closed.all, closed.all)
    for family in families:
        if family.summary is not None:
            continue
        for item, atom in enumerate(family.body):
            if atom.relation in fresh or (
                atom.relation == ANY and any(isinstance(name, int) for name in fresh)
            ):
                rows, n = closed.run.changed(family, item, fresh, around, "rounds")
                conclude(family, rows, n, closed.type_id, heads)
    return heads


def rules_behind(closed: Closed, of: Slice) -> tuple[set[int], FactSet]:
    """The rules that proofs of a slice's facts may use, and the facts of helpers they look at."""
    numbers: set[int] = set()
    helpers: dict[RelationKey, Keys] = {}
    seen, stack = {of}, [of]
    while stack:
        for number in closed.written.concluding(stack.pop()):
            if number in numbers:
                continue
            numbers.add(number)
            for item in closed.written.rules[number].body:
                if not isinstance(item, TripleAtom | TupleAtom):
                    continue
                used = slice_of(item)
                if used.kind == "tuple" and is_given(used.name):
                    relation = closed.relation_named(used)
                    helpers[relation] = closed.stored.tuples(relation).keys()
                elif used not in seen:
                    seen.add(used)
                    stack.append(used)
    return numbers, FactSet({name: new_set(name, keys) for name, keys in helpers.items()})


class Heights:
    """The heights of facts that came in rounds."""

    def __init__(self) -> None:
        self.derived = FactSet()
        self.batches: list[Batch] = []
        self._known: dict[RelationKey, tuple[Keys, np.ndarray]] = {}

    def add(self, fresh: Batch) -> None:
        """Add one round."""
        self.batches.append(fresh)
        for name, keys in fresh.items():
            self.derived.add(name, keys)
            self._known.pop(name, None)

    def of(self, relation: RelationKey, keys: Keys) -> np.ndarray:
        """The height of each fact; 0 for those that came in no round."""
        if relation not in self._known:
            parts = [(i, b[relation]) for i, b in enumerate(self.batches, 1) if relation in b]
            if not parts:
                return np.zeros(len(keys), dtype=np.int64)
            every = np.concatenate([part for _, part in parts])
            heights = np.repeat([i for i, _ in parts], [len(part) for _, part in parts])
            order = np.argsort(every)
            self._known[relation] = every[order], heights[order]
        known, heights = self._known[relation]
        at = np.minimum(known.searchsorted(keys), len(known) - 1)
        found: np.ndarray = np.where(known[at] == keys, heights[at], 0)
        return found

    def forget(self, height: int) -> None:
        """Drop the facts of one round from `derived`."""
        for name, keys in self.batches[height - 1].items():
            self.derived.discard(name, keys)
