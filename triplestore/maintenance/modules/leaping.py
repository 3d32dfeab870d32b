"""Leaps of one stratum in one update: the difference of closures in place of a rule's instances.

Start reading at `Leaps`. For a transitive relation p that other recursive rules go through, two
closures are kept beside the tables (`Ground`). The first is that of the *external* edges, which are
asserted or derived by nonrecursive rules, and hold independently of recursion. The second is that
of *every* edge, with those that other recursive rules derive. Always true between updates:

* Every external fact of p is an edge of both, if anything is concluded from it.
* Every other edge is derived by a recursive rule other than the transitive one.
* p is the second closure without the pairs that the rule's filter excludes.

Insertion adds edges, and the facts that the closure gains. Deletion is DRed^c-Mod. A fact of p is
deleted if it has lost a derivation and is no longer in the first closure; so is every pair that has
a path through it and is not in the first closure. An edge that recursion derived may support
itself, so it does not count here. The edges that are left are certain: if no derivation of an edge
was touched, it has one that needs no deleted fact. So the closure of these edges says exactly which
pairs come back. Then the other rules are evaluated backward, for the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from triplestore.closures.attached import LEAP, Attached, Ground, Structure, leap_key
from triplestore.closures.pairs_through import pairs_through
from triplestore.closures.scheme import PairStream
from triplestore.closures.transitive.transitive_closure import TransitiveClosure
from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.maintenance.update_state import Work, united
from triplestore.relations.facts.fact_sets import Batch, RelationKey
from triplestore.relations.facts.sorted_arrays import sorted_distinct, unite, without
from triplestore.relations.packed_keys import NO_IDS, NO_KEYS, U32, U64, Bools, high, in_sorted, low
from triplestore.rules.families import Family
from triplestore.rules.leap_rules import find_leap_rules
from triplestore.rules.strata import CompiledStratum

Derives: TypeAlias = Callable[[RelationKey, U64, frozenset[Family]], Bools]
"""Which facts of a relation recursive rules derived before the update, except some of the rules."""


class Leap(NamedTuple):
    """A transitive rule, as `LeapRule`, with ids for the keys of its filter."""

    family: Family
    relation: int
    loops: bool
    subjects: U32
    objects: U32
    asked: tuple[tuple[int, U64], ...]

    def is_open(self, work: Work) -> bool:
        """Whether all facts that it requires hold."""
        view = work.new()
        return all(
            view.pairs(name).contains((high(key), low(key))).all() for name, key in self.asked
        )

    def opens(self, delta: Batch) -> bool:
        """Whether a fact that it requires is among these facts."""
        return any(in_sorted(key, delta.get(name, NO_KEYS)).any() for name, key in self.asked)

    def concluded(self, keys: U64) -> Bools:
        """Which pairs pass its filter."""
        first, second = high(keys), low(keys)
        kept: Bools = np.ones(len(keys), dtype=np.bool_)
        if not self.loops:
            kept &= first != second
        for node in self.subjects.tolist():
            kept &= first != node
        for node in self.objects.tolist():
            kept &= second != node
        return kept

    def edges(self, keys: U64) -> U64:
        """The pairs through which it may conclude others."""
        if not (len(keys) and len(self.subjects) and len(self.objects)):
            return keys
        barred = np.isin(high(keys), self.subjects) & np.isin(low(keys), self.objects)
        return keys[~barred]

    def follows(self, closure: TransitiveClosure, keys: U64) -> Bools:
        """Which pairs it concludes from the edges of a closure."""
        found = closure.contains_keys(keys)
        if not self.is_plain():
            found &= self.concluded(keys)
        return found

    def conclusions(self, blocks: Iterable[U64]) -> Iterator[U64]:
        """The pairs of some blocks that pass its filter."""
        for keys in blocks:
            yield keys if self.is_plain() else keys[self.concluded(keys)]

    def is_plain(self) -> bool:
        """Whether it has no filter."""
        return self.loops and not len(self.subjects) and not len(self.objects)


def leaps_of(work: Work, stratum: CompiledStratum) -> dict[int, Leap]:
    """The transitive rules of a stratum that others go through, by relation."""
    if stratum.leap_rules is None:
        stratum.leap_rules = find_leap_rules(stratum, work.type_id)
    found: dict[int, Leap] = {}
    for name, rule in stratum.leap_rules.items():
        family, relation, loops, subjects, objects, asked = rule
        if work.terms is not None or not (subjects or objects):
            ends = _ids(subjects, work), _ids(objects, work)
            found[name] = Leap(family, relation, loops, *ends, asked)
    return found


def _ids(keys: Sequence[bytes], work: Work) -> U32:
    """The ids of terms. Terms that the dictionary does not have are in no fact."""
    return work.terms.encode_keys(keys) if keys and work.terms is not None else NO_IDS


class _Leaping:
    """The state of a transitive rule.

    sure, every  the current closures, as in `Ground`
    only         whether all edges were external before the update
    lost         edges that are no longer external
    fell         what the first closure lost by that, until it is deleted
    touched      facts that lost a derivation and are not external: no longer edges
    doubted      touched facts that are not sure to hold
    outside      external facts that may not be edges yet
    """

    __slots__ = ("doubted", "every", "fell", "leap", "lost", "only", "outside", "sure", "touched")

    def __init__(self, leap: Leap, sure: TransitiveClosure, every: TransitiveClosure) -> None:
        self.leap = leap
        self.sure = sure
        self.every = every
        self.only = every is sure
        self.lost: U64 = NO_KEYS
        self.fell: PairStream | None = None
        self.touched: U64 = NO_KEYS
        self.doubted: U64 = NO_KEYS
        self.outside: U64 = NO_KEYS

    def take_back(self, edges: U64, work: Work) -> None:
        """Remove edges that are no longer external."""
        self.lost = edges
        self.sure, difference = self.sure.changed(edges, NO_KEYS, work.budget)
        self.fell = difference.lost if self.only else None

    def doubt(self, keys: U64, work: Work) -> U64:
        """The facts to be deleted together with facts that lost a derivation and are not
        external."""
        leap = self.leap
        self.touched = unite(self.touched, keys)
        keys = without(keys[~leap.follows(self.sure, keys)], self.doubted)
        self.doubted = unite(self.doubted, keys)
        edges, found, made = leap.edges(keys), [keys], 0
        if self.only:  # everything that is not sure was lost by the first closure
            edges = NO_KEYS
            found += leap.conclusions(self.fell.blocks() if self.fell is not None else ())
            self.fell = None
        for pairs in pairs_through(self.every, edges, work.budget):
            doubtful = pairs[~leap.follows(self.sure, pairs)]
            found.append(doubtful[leap.concluded(doubtful)])
            made += len(found[-1])
            work.budget.check(made)
        return found[0] if len(found) == 1 else sorted_distinct(np.concatenate(found))

    def leave(self, work: Work) -> None:
        """Keep only the edges whose derivations were not touched."""
        gone = unite(self.lost, self.touched)
        gone = gone[in_sorted(gone, self.every.edges)]
        if len(gone) == 0:
            return
        if len(self.every.edges) - len(gone) == len(self.sure.edges):
            self.every = self.sure
        else:
            self.every, _ = self.every.changed(gone, NO_KEYS, work.budget)

    def add(self, edges: U64, work: Work) -> PairStream | None:
        """Add edges, and external edges; returns what the closure gained."""
        same = self.every is self.sure
        outside = without(self.leap.edges(self.outside), self.sure.edges)
        self.outside = NO_KEYS
        edges = without(unite(outside, self.leap.edges(edges)), self.every.edges)
        if len(outside):
            self.sure, difference = self.sure.changed(NO_KEYS, outside, work.budget)
            if same and len(outside) == len(edges):
                self.every = self.sure
                return difference.gained
        if len(edges) == 0:
            return None
        self.every, difference = self.every.changed(NO_KEYS, edges, work.budget)
        return difference.gained


class Leaps:
    """The transitive rules of one stratum that others go through.

    kept, fresh  by relation: the rules that held before, and the new ones
    """

    def __init__(
        self, work: Work, number: int, kept: dict[int, Leap], fresh: dict[int, Leap]
    ) -> None:
        self._work = work
        self._number = number
        # A relation in both has a rule with another filter now, so its rules are fired one by one.
        self._kept = {name: leap for name, leap in kept.items() if name not in fresh}
        self._fresh = {name: leap for name, leap in fresh.items() if name not in kept}
        self._at: dict[int, _Leaping] = {}

    def has_kept(self) -> bool:
        """Whether deletion follows some rules: those that held before and require no other
        facts."""
        return any(not leap.asked for leap in self._kept.values())

    @property
    def families(self) -> frozenset[Family]:
        """The families that closures follow, and that are never fired."""
        return frozenset(one.leap.family for one in self._at.values())

    # -- deletion --------------------------------------------------------------------------------

    def begin(self, derives: Derives) -> None:
        """Find the closures before the update, of the rules that held before."""
        work = self._work
        rules = work.compiled.recursion(self._number)
        kept = {relation: leap for relation, leap in self._kept.items() if not leap.asked}
        families = frozenset(leap.family for leap in kept.values())
        for relation, leap in kept.items():
            known = work.schemes.get(leap_key(relation))
            if known is not None and known.ground.rules == rules:
                self._at[relation] = _Leaping(leap, known.ground.sure, known.ground.every)
            else:
                self._at[relation] = self._found(leap, derives, families)

    def _found(self, leap: Leap, derives: Derives, families: frozenset[Family]) -> _Leaping:
        """The closures of a relation, from its facts before the update."""
        work, relation = self._work, leap.relation
        outside = unite(work.all_supported(relation), work.counts.changed(relation)[0])
        kept = work.supported(relation, outside)
        if relation in work.minus:
            kept |= work.minus.contains(relation, outside)
        outside = outside[kept]
        sure = TransitiveClosure.build(leap.edges(outside), work.budget)
        rest = [NO_KEYS]
        for keys in work.stored.pairs(relation).blocks():
            keys = without(keys, outside)
            rest.append(keys[~leap.follows(sure, keys)])
        others = np.concatenate(rest)
        if len(others):
            others = leap.edges(others[derives(relation, others, families)])
        if len(others) == 0:
            return _Leaping(leap, sure, sure)
        return _Leaping(leap, sure, TransitiveClosure.build(unite(sure.edges, others), work.budget))

    def take_back(self, touched: Batch) -> None:
        """Remove edges that are no longer external from the first closures."""
        for relation, one in self._at.items():
            keys = touched.get(relation, NO_KEYS)
            keys = keys[in_sorted(keys, one.sure.edges)]
            keys = keys[~self._work.supported(relation, keys)]
            if len(keys):
                one.take_back(keys, self._work)

    def doubt(self, heads: Batch) -> Batch:
        """The facts to be deleted for facts that lost a derivation; without external facts, facts
        that are sure to hold, and facts that are gone already."""
        work, found = self._work, Batch()
        for name, keys in heads.items():
            keys = keys[~work.supported(name, keys)]
            if isinstance(name, int) and name in self._at:
                keys = self._at[name].doubt(keys, work)
            if name in work.gone:
                keys = keys[~work.gone.contains(name, keys)]
            if len(keys):
                found[name] = keys
        return found

    def keep(self) -> None:
        """Keep deleted facts that follow by these rules alone from the edges that are left."""
        gone = self._work.gone
        for relation, one in self._at.items():
            one.leave(self._work)
            dropped = gone.keys_of(relation)
            gone.discard(relation, dropped[one.leap.follows(one.every, dropped)])

    # -- insertion -------------------------------------------------------------------------------

    def gain(self, touched: Batch) -> None:
        """Note facts that may be external now; the counters are right."""
        for relation, one in self._at.items():
            keys = touched.get(relation, NO_KEYS)
            one.outside = keys[self._work.supported(relation, keys)]

    def follow(self, delta: Batch, first: bool) -> tuple[Batch, frozenset[Family]]:
        """Add all consequences of some facts by transitive rules; returns the facts with these, and
        the rules that need not be fired on them.

        delta  new facts
        first  whether this is the first step, so that new rules may conclude from older facts
        """
        done = {one.leap.family for one in self._at.values()}
        brought: Batch = {
            relation: self._missing(one.leap, one.add(delta.get(relation, NO_KEYS), self._work))
            for relation, one in self._at.items()
        }
        for relation, leap in self._fresh.items():
            if first and not leap.asked:
                one = self._begun(leap)
                brought[relation] = self._missing(leap, one.every, self._held(relation))
                self._at[relation] = one
                done.add(leap.family)
        delta = united(delta, self._work.bring(brought))
        return self._others(delta, first, done), frozenset(done)

    def _others(self, delta: Batch, first: bool, done: set[Family]) -> Batch:
        """The same for rules whose closures are not kept: closed over all facts, if that pays."""
        work = self._work
        waiting = {**self._kept, **self._fresh}
        waiting = {relation: one for relation, one in waiting.items() if relation not in self._at}
        while ready := [one for one in waiting.values() if one.is_open(work)]:
            for leap in ready:  # the conclusions of one may be required by another
                del waiting[leap.relation]
                if (first and leap.relation in self._fresh) or self._pays(leap, delta):
                    held = self._held(leap.relation)
                    closure = TransitiveClosure.build(leap.edges(held), work.budget)
                    missing: Batch = {leap.relation: self._missing(leap, closure, held)}
                    delta = united(delta, work.bring(missing))
                    done.add(leap.family)
        done.update(leap.family for leap in waiting.values())
        return delta

    def _begun(self, leap: Leap) -> _Leaping:
        """The closures of a new rule."""
        work, held = self._work, self._held(leap.relation)
        outside = held[work.supported(leap.relation, held)]
        sure = TransitiveClosure.build(leap.edges(outside), work.budget)
        if len(outside) == len(held):
            return _Leaping(leap, sure, sure)
        return _Leaping(leap, sure, TransitiveClosure.build(leap.edges(held), work.budget))

    def _held(self, relation: int) -> U64:
        return sorted_distinct(self._work.new().pairs(relation).keys())

    def _pays(self, leap: Leap, delta: Batch) -> bool:
        """Whether the rule would consider more instances than the closure has edges."""
        new = delta.get(leap.relation, NO_KEYS)
        if leap.opens(delta) or len(new) > MAINTENANCE.few_new_edges:
            return True
        if len(new) == 0:
            return False
        view = self._work.new().pairs(leap.relation)
        before, after = (
            np.bincount(view.match(place, values)[0], minlength=len(new)) + 1
            for place, values in ((1, high(new)), (0, low(new)))
        )
        return float((before * after).sum()) * MAINTENANCE.leap_instance_edges > view.estimate(())

    def _missing(self, leap: Leap, pairs: PairStream | None, held: U64 = NO_KEYS) -> U64:
        """The conclusions among some pairs that are not known to hold."""
        if pairs is None:
            return NO_KEYS
        self._work.budget.check(pairs.count())
        blocks = (without(keys, held) for keys in pairs.blocks())
        found = np.concatenate([NO_KEYS, *leap.conclusions(blocks)])
        self._work.run.instances["leaps"] += len(found)
        return found

    def end(self) -> None:
        """Keep the closures for the next update."""
        work = self._work
        owned = {name for owned in work.compiled.modules.values() for name in owned.relations}
        rules = work.compiled.recursion(self._number)
        for relation, one in self._at.items():
            if relation not in owned:
                ground = Ground(one.sure, one.every, rules)
                made = Attached(Structure(LEAP, (), ()), (relation,), ground, False)
                work.made_schemes[leap_key(relation)] = made
