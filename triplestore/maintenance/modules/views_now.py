"""Relations that are not written out, as they are in the middle of an update.

Start reading at `closed_now`.
"""

from __future__ import annotations

from typing import cast

from triplestore.closures.scheme import Readable
from triplestore.closures.unions.union_of import UnionOf
from triplestore.closures.unions.union_rows import Inverse, Rows
from triplestore.closures.unions.union_view import UnionView
from triplestore.maintenance.modules.external_facts import all_external, is_external
from triplestore.maintenance.update_state import Work
from triplestore.relations.facts.sorted_arrays import sorted_distinct, unite
from triplestore.relations.views.closed import Closed


def closed_now(work: Work, relation: int) -> Closed | None:
    """The pairs of a relation whose stratum is done, if these are not written out."""
    for made in work.schemes_after().values():
        if not made.compressed or relation not in made.ids:
            continue
        if made.structure.is_union:
            if work.counts.stored is None:
                return None  # a stratum by itself: it does not know the rows of others
            return Closed(view_now(work, made.union), False)
        turned = made.structure.turned[made.ids.index(relation)]
        return Closed(made.closure, turned)
    return None


def view_now(work: Work, union: UnionOf) -> UnionView:
    """A union whose stratum is done, as it is now, by what its parts are kept as."""
    keys = unite(all_external(work, union.own), work.counts.changed(union.own)[0])
    for sets in (work.plus, work.minus):
        keys = unite(keys, sets.keys_of(union.own))
    parts: list[Readable] = [Rows(keys[is_external(work, union.own, keys)])]
    new = work.new()
    for name, around in union.parts:
        turned, closed = around, closed_now(work, name)
        if closed is None:
            found: Readable = Rows(sorted_distinct(new.pairs(name).keys()))
        else:
            found = cast("Readable", closed.pairs)  # a scheme, or a view made here
            turned = turned != closed.turned
        parts.append(Inverse(found) if turned else found)
    return UnionView(parts)
