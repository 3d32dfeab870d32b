"""What a store did since a branch began that the branch relies on: start at `conflicts_of`.

A branch relies on the facts and graphs that it changed being as they were, and on the rules that
gave it its inferences. Other changes of the store are no conflict: the changes of the branch are
made anew beside them, and what follows is inferred anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from triplestore.reasoning.program.in_force import same_axioms
from triplestore.reasoning.reasoner import rules_of_state
from triplestore.relations import EXPLICIT, GRAPHS, ChangedRows, Changes, Tables
from triplestore.relations.lookup import match
from triplestore.relations.packed_keys import U8, Bools
from triplestore.storage import State
from triplestore.storage.metadata import PREFIXES, PROGRAM, REGIMES, prefixes_of
from triplestore.terms import to_ntriples
from triplestore.versions.edits import RULE_NAMES, changed_values
from triplestore.versions.keyed_changes import KeyedChanges
from triplestore.versions.thresholds import VERSIONS

_RULES = frozenset([PROGRAM, REGIMES])
_EXPLICIT = np.uint8(EXPLICIT)


def conflicts_of(edits: KeyedChanges, base: State, now: State) -> list[str]:
    """The reasons why edits of a branch cannot simply be made on a later state, as sentences.

    base  the state that the branch began with, with any dictionary
    """
    changes = edits.under(now.dictionary.lookup_keys)
    found = [*_of_rules(edits, base, now), *_of_prefixes(edits.meta, base, now)]
    for what, own, rows, status in (
        ("the fact", edits.changes.facts, changes.facts, _facts_in(now.tables, changes)),
        ("the quad", edits.changes.quads, changes.quads, _quads_in(now.tables, changes)),
        ("the graph", edits.changes.graphs, changes.graphs, _graphs_in(now.tables, changes)),
    ):
        found += _of_rows(what, own, rows, status & _EXPLICIT, edits)
    return found + list(_of_removed_graphs(edits, changes, now.tables))


def _of_rules(edits: KeyedChanges, base: State, now: State) -> Iterator[str]:
    """The rules were changed, in words or by axioms, and the branch inferred by them."""
    changed = changed_values(base.meta, now.meta, RULE_NAMES)
    if changed.keys() & _RULES:
        own = bool(edits.meta.keys() & _RULES)
        inferred = not _RULES.isdisjoint(base.meta)
        if own or (inferred and len(edits.changes)):
            yield "the rules of the store were changed"
    elif len(edits.changes) and not same_axioms(rules_of_state(base), rules_of_state(now)):
        yield "the axioms were changed from which the store makes its rules"
    for name in sorted((changed.keys() & edits.meta.keys()) - _RULES):
        yield f"the setting {name!r} was changed"


def _of_prefixes(changed: Mapping[str, bytes | None], base: State, now: State) -> Iterator[str]:
    if PREFIXES not in changed:
        return
    before, theirs = prefixes_of(base.meta), prefixes_of(now.meta)
    ours = prefixes_of({PREFIXES: changed[PREFIXES] or b"{}"})
    for name in sorted(before.keys() | ours.keys() | theirs.keys()):
        known = before.get(name)
        if len({known, ours.get(name), theirs.get(name)}) == 3 or (
            known not in (ours.get(name), theirs.get(name)) and ours.get(name) != theirs.get(name)
        ):
            yield f"the prefix {name}: was bound to something else"


def _facts_in(tables: Tables, changes: Changes) -> U8:
    p, s, o = changes.facts.columns
    return tables.status_of_facts(p, s, o)


def _quads_in(tables: Tables, changes: Changes) -> U8:
    p, s, o, g = changes.quads.columns
    return tables.status_of_quads(p, s, o, g)


def _graphs_in(tables: Tables, changes: Changes) -> U8:
    return tables.tuples(*GRAPHS).status_of(changes.graphs.columns)


def _of_rows(
    what: str, own: ChangedRows, rows: ChangedRows, status: U8, edits: KeyedChanges
) -> Iterator[str]:
    """The rows that are not as they were."""
    known: Bools = np.ones(len(rows), np.bool_)
    for column in rows.columns:
        known &= column != 0
    now = np.where(known, status, np.uint8(0))  # what has an unknown term does not hold
    (moved,) = np.nonzero(now != (rows.previous & _EXPLICIT))
    for place in moved[: VERSIONS.listed_conflicts].tolist():
        row = [int(column[place]) for column in own.columns]
        order = (1, 0, 2, 3) if len(row) > 2 else (0,)
        text = " ".join(_text(edits, row[i]) for i in order[: len(row)])
        yield f"{what} {text} was {'added' if now[place] else 'removed'}"
    if len(moved) > VERSIONS.listed_conflicts:
        yield f"and {len(moved) - VERSIONS.listed_conflicts:,} more"


def _of_removed_graphs(edits: KeyedChanges, changes: Changes, tables: Tables) -> Iterator[str]:
    """Graphs that the branch removed with all that was in them, and that have more now."""
    gone = (changes.graphs.status == 0) & (changes.graphs.columns[0] != 0)
    own = edits.changes.graphs.columns[0]
    for place in np.flatnonzero(gone).tolist():
        graph = int(changes.graphs.columns[0][place])
        of_graph = changes.quads.take(changes.quads.columns[3] == np.uint32(graph))
        if quads_of_graph(tables, graph) > int(np.count_nonzero(of_graph.status == 0)):
            yield f"quads were added to the graph {_text(edits, int(own[place]))}"


def quads_of_graph(tables: Tables, graph: int) -> int:
    """How many quads are asserted in a named graph."""
    return sum(rows.size for rows in match(tables, graph=graph, where=EXPLICIT))


def _text(edits: KeyedChanges, own_id: int) -> str:
    return to_ntriples(edits.keys[own_id - 1]).decode()
