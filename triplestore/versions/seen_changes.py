"""How two states of one store differ, as users see it: start at `seen_changes`.

Always true of the result: a row is listed at most once, with its status in both states, and these
differ.
"""

from __future__ import annotations

from triplestore.live.fact_changes import FactChanges
from triplestore.live.published import Published
from triplestore.reasoning.difference import net_between
from triplestore.relations import ChangedRows, Changes
from triplestore.storage import State


def seen_changes(before: State, after: State) -> Changes:
    """The facts, quads, graphs and rows of relations in which two states differ.

    Ids of terms must mean the same in both. Only layers that the two do not share are read.
    """
    net = net_between(before.tables, after.tables)
    facts = net.facts
    if before.tables.closed or after.tables.closed:  # rows do not say all
        facts = FactChanges(Published(before, after, None)).facts
    return Changes(
        moved(facts),
        moved(net.quads),
        moved(net.graphs),
        {name: rows for name, all_rows in net.tuples.items() if len(rows := moved(all_rows))},
    )


def moved(rows: ChangedRows) -> ChangedRows:
    """The rows whose status is another than before."""
    changed = rows.status != rows.previous
    return rows if changed.all() else rows.take(changed)
