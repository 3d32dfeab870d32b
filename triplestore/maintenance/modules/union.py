"""Unions as views: pairs of closures that are not written out are not copied upwards either.

The union scheme of the storage paper (algorithm 3), with deletions. Start reading at `UnionModule`.
If the property is a view, the rules that copy other properties into it are not evaluated. Its pairs
are those of its parts and its own rows, which are asserted or derived by other rules. Only its own
rows have counts. Changes of the union are found from the changes of its parts: a pair that a part
lost is gone if no other part has it.

If a view saves nothing (the parts are rows, or few), the property has rows like any other, by all
its rules, with all their counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from triplestore.closures.attached import Attached, Schemes
from triplestore.closures.described import parts_of
from triplestore.closures.union_view import UnionOf, merged
from triplestore.maintenance.dred_c import DRedC
from triplestore.maintenance.modules.protocol import Module, StratumOutcome
from triplestore.maintenance.steps.stratum import StratumUpdate
from triplestore.maintenance.steps.stratum_state import Task
from triplestore.maintenance.update_state import Work, united
from triplestore.relations.facts.body_views import PairView
from triplestore.relations.facts.difference_set import DifferenceSet, PairLookup
from triplestore.relations.facts.fact_sets import KeySet
from triplestore.relations.facts.sorted_arrays import sorted_distinct, unite
from triplestore.relations.facts.stored_facts import StoredPairs, unsupported_keys
from triplestore.relations.packed_keys import I64, NO_KEYS, U32, U64, Bools, pack, swap
from triplestore.relations.thresholds import RELATIONS
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.modules.chain_shapes import shape_of
from triplestore.rules.modules.module_groups import Owned
from triplestore.rules.strata import CompiledStratum, Strata
from triplestore.rules.thresholds import RULES


class UnionPart(NamedTuple):
    """A property that belongs to a union."""

    name: int
    turned: bool


class UnionModule(Module):
    """A property that other properties are copied into."""

    def __init__(self, owned: Owned) -> None:
        self.owned = self.at = owned

    def update(self, work: Work, task: Task) -> StratumOutcome:
        """See `Module.update`."""
        return close_union(self.owned, work, task)

    def is_kept_otherwise(self, work: Work) -> bool:
        """See `Module.is_kept_otherwise`."""
        known = work.schemes.get(self.owned.anchor)
        mode = work.choice.mode_of(self.owned.group.relations)
        return mode == ("compressed" if known is None else "plain")


def close_union(owned: Owned, work: Work, task: Task) -> StratumOutcome:
    """Bring the stratum of a union up to date."""
    name = owned.anchor
    known = work.schemes.get(name)
    if known is not None and not known.structure.is_union:
        known = None
    parts = _parts(owned)
    viewed = _is_viewed(owned, work, parts, known is not None)
    if not viewed and known is None:
        work.made_schemes[name] = None
        if task.fewer:  # nothing looked for what the removed rules derived
            task.lost_rec.put(name, unsupported_keys(work.stored, name))
        update = StratumUpdate(work, task)
        DRedC().run(update)
        return "rules", "a union of few pairs, or of rows", update.outcome()
    rest = Task(task.number, _rest(owned, task.kept, work), None, task.minus, task.plus, task.lost)
    if task.fresh is not None:
        rest.fresh = _rest(owned, task.fresh, work)
    rest.lost_rec = task.lost_rec
    if known is None:
        _count_copies(owned, work, task.kept, work.old(), -1)
    update = StratumUpdate(work, rest)
    touched = united(update.touched(), update.gained()).get(name, NO_KEYS)
    if viewed and known is not None and known.structure == owned.group.structure:
        pairs, gone, added = _changed(work, name, parts, known.union, touched)
        why = "parts changed"
    else:
        pairs, gone, added = _compared(work, name, parts, touched)
        why = "all parts"
    if viewed:
        union = UnionOf(name, tuple((part.name, part.turned) for part in parts), pairs)
        work.made_schemes[name] = Attached(owned.group.structure, (name,), union, True)
    else:
        work.made_schemes[name] = None
        why = "written out"
        for stratum in (task.kept, task.fresh):
            if stratum is not None:
                _count_copies(owned, work, stratum, work.new(), 1)
        work.budget.check(pairs)
    for sets, facts in ((work.gone, gone), (work.added, added)):
        if len(facts):
            sets.put(name, facts)
    work.rounds += 1
    return "union", why, ({name: gone} if len(gone) else {}, {name: added} if len(added) else {})


def _parts(owned: Owned) -> list[UnionPart]:
    return [
        UnionPart(owned.letters[key], turned) for key, turned in parts_of(owned.group.structure)
    ]


def _is_viewed(owned: Owned, work: Work, parts: Sequence[UnionPart], before: bool) -> bool:
    """Whether to keep the union as a view: if `schemes` says so, or parts that are not written out
    have many pairs, or all pairs as rows would exceed the budget."""
    mode = work.choice.mode_of(owned.group.relations)
    if mode != "auto":
        return mode == "compressed"
    sizes = {part.name: _size(work, part.name) for part in parts}
    _, closed = work.closed_relations()
    hidden = sum(size for name, size in sizes.items() if name in closed)
    most = work.budget.bytes
    if most is not None and sum(sizes.values()) * RULES.row_bytes > most:
        return True
    return hidden >= (RULES.still_compressed if before else RULES.compressed_pairs)


def _size(work: Work, name: int) -> int:
    """The number of facts of a property that hold now."""
    added, gone = work.added.get(name, ()), work.gone.get(name, ())
    return len(work.stored.pairs(name)) + len(added) - len(gone)


def _rest(owned: Owned, stratum: CompiledStratum, work: Work) -> CompiledStratum:
    """A stratum without the copying rules."""
    if stratum.plain is None:
        families = [one for one in stratum.families if not owned.rules.issuperset(one.rules)]
        made = Strata(families, work.type_id).get(stratum.number)
        stratum.plain = made or CompiledStratum(stratum.number)
    return stratum.plain


def _count_copies(
    owned: Owned, work: Work, stratum: CompiledStratum, setting: Any, sign: int
) -> None:
    """Count the conclusions of the copying rules: they are evaluated from now on, or no longer."""
    for family in stratum.nonrecursive:
        if not owned.rules.issuperset(family.rules):
            continue
        (atom,) = family.body
        assert isinstance(atom.relation, int)
        turned = atom.terms != family.head.terms
        for keys in setting.pairs(atom.relation).blocks():
            found = np.sort(swap(keys) if turned else keys)
            work.counts.change(owned.anchor, found, np.full(len(found), sign, dtype=np.int64))


class _After:
    """The union after the update, for look-ups."""

    def __init__(self, work: Work, parts: Sequence[UnionPart], own: PairView) -> None:
        new = work.new()
        self.views = [(own, False), *((new.pairs(part.name), part.turned) for part in parts)]

    def contains_keys(self, keys: U64) -> Bools:
        """Which of these pairs there are."""
        found = np.zeros(len(keys), dtype=np.bool_)
        for view, turned in self.views:
            (left,) = (~found).nonzero()
            some = keys[left]
            found[left] = view.contains_keys(swap(some) if turned else some)
        return found

    def match(self, place: int, values: U32) -> tuple[I64, U32]:
        """The pairs with these ids in one place: (number of the value, id in the other place)."""
        found = [view.match(1 - place if turned else place, values) for view, turned in self.views]
        index = np.concatenate([one[0] for one in found]).astype(np.uint32)
        rows = sorted_distinct(pack(index, np.concatenate([one[1] for one in found])))
        return (rows >> np.uint64(32)).astype(np.int64), rows.astype(np.uint32)


def _changed(
    work: Work, name: int, parts: Sequence[UnionPart], known: UnionOf, touched: U64
) -> tuple[int, KeySet | DifferenceSet, KeySet | DifferenceSet]:
    """The number of pairs now, and which are gone and new, from the changes."""
    before, after = work.was_supported(name, touched), work.supported(name, touched)
    less, more = touched[before & ~after], touched[after & ~before]
    rows = work.stored.rows(name)
    now = _After(work, parts, PairView(rows, [KeySet(more)], [KeySet(less)]))
    old = work.stored.pairs(name)
    gone = _remaining([_facts(work.gone, part) for part in parts], less, old, now)
    added = _remaining([_facts(work.added, part) for part in parts], more, now, old)
    work.run.instances["union"] += len(gone) + len(added)
    return len(old) + len(added) - len(gone), gone, added


def _facts(sets: Any, part: UnionPart) -> KeySet | DifferenceSet:
    found: KeySet | DifferenceSet = sets.get(part.name, KeySet())
    return KeySet(np.sort(swap(found.keys()))) if part.turned and len(found) else found


def _remaining(
    changes: Sequence[KeySet | DifferenceSet], own: U64, these: PairLookup, others: PairLookup
) -> KeySet | DifferenceSet:
    """The pairs among some changes that the others do not have."""

    def stream() -> Iterator[U64]:
        blocks = [_blocks(change) for change in changes if len(change)]
        for keys in merged([*blocks, iter((own,) if len(own) else ())]):
            left = keys[~others.contains_keys(keys)]
            if len(left):
                yield left

    return _set(stream, these, others, sum(map(len, changes)) + len(own))


def _blocks(change: KeySet | DifferenceSet) -> Iterator[U64]:
    return change.blocks() if isinstance(change, DifferenceSet) else iter((change.keys(),))


def _set(stream: Any, these: PairLookup, others: PairLookup, most: int) -> KeySet | DifferenceSet:
    """The pairs of a stream; written out, unless they may be very many."""
    if most <= RELATIONS.written_pairs:
        blocks = list(stream())
        return KeySet(np.concatenate(blocks) if blocks else NO_KEYS)
    count = sum(map(len, stream()))
    return DifferenceSet(these, others, count, stream)


def _compared(
    work: Work, name: int, parts: Sequence[UnionPart], touched: U64
) -> tuple[int, KeySet | DifferenceSet, KeySet | DifferenceSet]:
    """The same from all pairs before and now."""
    keys = unite(work.all_supported(name), touched)
    keys = unite(keys, work.counts.changed(name)[0])
    own = keys[work.supported(name, keys)]
    now = _After(work, parts, PairView(None, [KeySet(own)], []))
    old = work.stored.pairs(name)

    def lost() -> Iterator[U64]:
        for keys in _all_blocks(old):
            left = keys[~now.contains_keys(keys)]
            if len(left):
                yield left

    def found() -> Iterator[U64]:
        streams = [_all_of(work, part) for part in parts]
        for keys in merged([*streams, iter((own,) if len(own) else ())]):
            left = keys[~old.contains_keys(keys)]
            if len(left):
                yield left

    most = len(old) + len(own) + sum(_size(work, part.name) for part in parts)
    gone = _set(lost, old, now, most)
    added: KeySet | DifferenceSet
    if most <= RELATIONS.written_pairs:
        added = _set(found, now, old, most)
    else:  # counted without listing the largest part
        count = _count(work, parts, own, now) - (len(old) - len(gone))
        added = DifferenceSet(now, old, count, found)
    work.run.instances["union"] += len(gone) + len(added)
    return len(old) + len(added) - len(gone), gone, added


def _count(work: Work, parts: Sequence[UnionPart], own: U64, now: _After) -> int:
    """The number of pairs of a union: those of its largest part, and those that others add."""
    sizes = [_size(work, part.name) for part in parts]
    largest = sizes.index(max(sizes))
    view, turned = now.views[1 + largest]
    rest = [_all_of(work, part) for place, part in enumerate(parts) if place != largest]
    count = sizes[largest]
    for keys in merged([*rest, iter((own,) if len(own) else ())]):
        inside = view.contains_keys(swap(keys) if turned else keys)
        count += len(keys) - int(np.count_nonzero(inside))
    return count


def _all_blocks(pairs: StoredPairs) -> Iterator[U64]:
    return (keys for keys in pairs.blocks() if len(keys))


def _all_of(work: Work, part: UnionPart) -> Iterator[U64]:
    """All pairs of a part now, sorted, in the direction of the union."""
    stored = work.stored.pairs(part.name)
    gone, added = work.gone.get(part.name), work.added.get(part.name)
    order = int(part.turned)

    def kept() -> Iterator[U64]:
        blocks = stored.closed.blocks(swapped=part.turned) if hasattr(stored, "closed") else None
        for keys in iter((stored.array(order),)) if blocks is None else blocks:
            left = keys
            if gone is not None and len(keys):
                left = keys[~gone.contains(swap(keys) if part.turned else keys)]
            if len(left):
                yield left

    fresh = KeySet() if added is None else _facts(work.added, part)
    return merged([kept(), _blocks(fresh) if len(fresh) else iter(())])


# -- rules that are not counted --------------------------------------------------------------------


def viewed_rules(schemes: Schemes, program: Compiled) -> set[int]:
    """The numbers of the rules of a program that copy parts into properties which are views by
    these schemes. Such rules are not counted, whether the program owns them or not."""
    copies = {
        (one.structure.relations[0], name, turned)
        for one in schemes.values()
        if one.structure.is_union
        for name, turned in parts_of(one.structure)
    }
    found: set[int] = set()
    for number, rule in enumerate(program.rules if copies else ()):
        shape = shape_of(rule, number) if len(rule.body) == 1 else None
        if shape is not None and (shape.head, *shape.steps[0]) in copies:
            found.add(number)
    return found


def owned_views(schemes: Schemes, program: Compiled) -> set[int]:
    """The numbers of the rules that a program owns as unions which are views."""
    unions = {anchor for anchor, one in schemes.items() if one.structure.is_union}
    return {
        number
        for owned in program.modules.values()
        if owned.group.structure.is_union and owned.anchor in unions
        for number in owned.rules
    }
