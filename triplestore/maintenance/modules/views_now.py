"""Relations that are not written out, as they are during an update.

Start reading at `closed_now`.
"""

from __future__ import annotations

from triplestore.closures.union_view import UnionOf, UnionView
from triplestore.maintenance.update_state import Work
from triplestore.relations.facts.sorted_arrays import sorted_distinct, unite
from triplestore.relations.pair_relation import PairRelation, SortedRelation, inverse


def closed_now(work: Work, relation: int) -> PairRelation | None:
    """The pairs of a relation whose stratum is done, if they are not written out."""
    for made in work.schemes_after().values():
        if not made.compressed or relation not in made.ids:
            continue
        if made.structure.is_union:
            if work.counts.stored is None:
                return None  # a stratum on its own does not know the rows of others
            return view_now(work, made.union)
        turned = made.structure.turned[made.ids.index(relation)]
        return inverse(made.closure) if turned else made.closure
    return None


def view_now(work: Work, union: UnionOf) -> UnionView:
    """A union whose stratum is done, as it is now, from its parts as they are kept."""
    keys = unite(work.all_supported(union.own), work.counts.changed(union.own)[0])
    for sets in (work.plus, work.minus):
        keys = unite(keys, sets.keys_of(union.own))
    parts: list[PairRelation] = [SortedRelation(keys[work.supported(union.own, keys)])]
    new = work.new()
    for name, turned in union.parts:
        closed = closed_now(work, name)
        if closed is None:
            closed = SortedRelation(sorted_distinct(new.pairs(name).keys()))
        parts.append(inverse(closed) if turned else closed)
    return UnionView(parts)
