"""Leaps of one stratum in one update: the difference of closures in place of a rule's instances.

Start reading at `Leaps`. For a transitive relation p that other recursive rules go through, two
closures are kept beside the tables (`Ground`): that of the edges that come *from outside*, stated
or derived by rules that are not recursive, which is sure to hold while these do; and that of
*every* edge, with those that other recursive rules derive. What is always true between updates:

* every fact of p that comes from outside is an edge of both, if anything is concluded from it;
* every other edge is derived by a recursive rule other than the transitive one;
* p is the second closure, but for what the rule's filter leaves out.

Insertion adds edges, and brings what the closure gained. Deletion is DRed^c with leaps (the papers'
DRed^c-MOD): a fact of p that has lost a derivation, and is not in the first closure any more, is
taken away, and with it every pair that has a path through it and is not in the first closure
either. An edge that recursion derived may hold itself up, so it counts for nothing here. What is
left is certain: an edge none of whose derivations was touched has one that does not need what was
taken away. So the closure of the edges that are left says which pairs come back, exactly, before
the other rules are asked, backwards, what else does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from triplestore.closures.attached import LEAP, Attached, Ground, Structure, leap_key
from triplestore.closures.pairs_through import pairs_through
from triplestore.closures.scheme import PairStream
from triplestore.closures.transitive.transitive_closure import TransitiveClosure
from triplestore.maintenance.modules.external_facts import all_external, is_external
from triplestore.maintenance.modules.leaps import Leap, leaps_of
from triplestore.maintenance.thresholds import MAINTENANCE
from triplestore.maintenance.update_state import Work, united
from triplestore.relations.facts.fact_sets import Batch, RelationKey
from triplestore.relations.facts.sorted_arrays import sorted_distinct, unite, without
from triplestore.relations.packed_keys import NO_KEYS, U64, Bools, high, in_sorted, low
from triplestore.rules.families import Family

Derives: TypeAlias = Callable[[RelationKey, U64, frozenset[Family]], Bools]
"""Which facts of a relation recursive rules derived before the update, other than some."""


class _Leaping:
    """A transitive rule at work.

    sure, every  as in `Ground`, as they are now
    only         whether before the update all edges came from outside
    lost         edges that came from outside and do not any more
    fell         what the first closure lost by that, until it was taken away
    touched      facts that lost a derivation and do not come from outside: not edges any more
    doubted      those of them that are not sure to hold
    outside      facts that come from outside, and may be no edges yet
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
        """Some edges come from outside no more."""
        self.lost = edges
        self.sure, difference = self.sure.changed(edges, NO_KEYS, work.budget)
        self.fell = difference.lost if self.only else None

    def doubt(self, keys: U64, work: Work) -> U64:
        """What is to be taken away with facts that lost a derivation and come not from outside."""
        leap = self.leap
        self.touched = unite(self.touched, keys)
        keys = without(keys[~leap.follows(self.sure, keys)], self.doubted)
        self.doubted = unite(self.doubted, keys)
        edges, found, made = leap.edges(keys), [keys], 0
        if self.only:  # what the first closure lost is all that is not sure
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
        """Only the edges are left whose derivations were not touched."""
        gone = unite(self.lost, self.touched)
        gone = gone[in_sorted(gone, self.every.edges)]
        if len(gone) == 0:
            return
        if len(self.every.edges) - len(gone) == len(self.sure.edges):
            self.every = self.sure
        else:
            self.every, _ = self.every.changed(gone, NO_KEYS, work.budget)

    def add(self, edges: U64, work: Work) -> PairStream | None:
        """More edges, and those that come from outside; returned is what the closure gained."""
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

    kept, fresh  its recursive rules that held before, and those that are new
    """

    def __init__(
        self, work: Work, number: int, kept: Sequence[Family], fresh: Sequence[Family]
    ) -> None:
        self._work = work
        self._number = number
        self._kept = leaps_of(work, kept)
        self._fresh = leaps_of(work, fresh)
        both = self._kept.keys() & self._fresh.keys()
        for relation in both:  # a rule with another filter: let the rules find out
            del self._kept[relation], self._fresh[relation]
        self._at: dict[int, _Leaping] = {}

    def any(self) -> bool:
        """Whether there are such rules."""
        return bool(self._kept or self._fresh)

    def has_kept(self) -> bool:
        """Whether there are some that held before, and ask for no facts: deletion follows these."""
        return any(not leap.asked for leap in self._kept.values())

    @property
    def families(self) -> frozenset[Family]:
        """The rules that are followed by closures, and never fired."""
        return frozenset(one.leap.family for one in self._at.values())

    # -- deletion --------------------------------------------------------------------------------

    def begin(self, derives: Derives) -> None:
        """Find the closures as they were before the update, of the rules that held before."""
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
        outside = unite(all_external(work, relation), work.counts.changed(relation)[0])
        kept = is_external(work, relation, outside)
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
        """The first closures without the edges that come from outside no more."""
        for relation, one in self._at.items():
            keys = touched.get(relation, NO_KEYS)
            keys = keys[in_sorted(keys, one.sure.edges)]
            keys = keys[~is_external(self._work, relation, keys)]
            if len(keys):
                one.take_back(keys, self._work)

    def doubt(self, heads: Batch) -> Batch:
        """The facts to be taken away, of those that lost a derivation, and for these: without what
        comes from outside, is sure to hold, or is gone already."""
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
        """What was taken away, and follows by these rules alone from edges that are left, stays
        after all."""
        gone = self._work.gone
        for relation, one in self._at.items():
            one.leave(self._work)
            dropped = gone.keys_of(relation)
            gone.discard(relation, dropped[one.leap.follows(one.every, dropped)])

    # -- insertion -------------------------------------------------------------------------------

    def gain(self, touched: Batch) -> None:
        """Facts that may come from outside now; the counters are right."""
        for relation, one in self._at.items():
            keys = touched.get(relation, NO_KEYS)
            one.outside = keys[is_external(self._work, relation, keys)]

    def follow(self, delta: Batch, first: bool) -> tuple[Batch, frozenset[Family]]:
        """Bring all that follows from some facts by transitive rules; returned are the facts with
        these, and the rules that need not be fired on them.

        delta  facts that hold now and did not before
        first  whether nothing was followed yet, so that new rules may conclude from older facts
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
            for leap in ready:  # what one brings another one may ask for
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
        """The closures that belong to a new rule."""
        work, held = self._work, self._held(leap.relation)
        outside = held[is_external(work, leap.relation, held)]
        sure = TransitiveClosure.build(leap.edges(outside), work.budget)
        if len(outside) == len(held):
            return _Leaping(leap, sure, sure)
        return _Leaping(leap, sure, TransitiveClosure.build(leap.edges(held), work.budget))

    def _held(self, relation: int) -> U64:
        return sorted_distinct(self._work.new().pairs(relation).keys())

    def _pays(self, leap: Leap, delta: Batch) -> bool:
        """Whether the rule would consider more instances than there are edges to leap over."""
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
        """The conclusions among some pairs, without those known to hold."""
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
