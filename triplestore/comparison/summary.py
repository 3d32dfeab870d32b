"""From two states to what a report says: start at `summary`."""

from __future__ import annotations

import numpy as np

from triplestore.comparison.cause_groups import GroupedCauses
from triplestore.comparison.cause_texts import CauseTexts
from triplestore.comparison.findings import METRICS, Cause
from triplestore.comparison.found import Found
from triplestore.comparison.named_things import named_changes
from triplestore.comparison.shape_hook import ShapeResults, changed_results
from triplestore.comparison.sides.states import Compared
from triplestore.comparison.term_texts import FactTexts
from triplestore.comparison.thresholds import COMPARISON
from triplestore.consequences.blame import BlamedChanges, blame
from triplestore.consequences.closed_state import ClosedState
from triplestore.errors import BudgetError
from triplestore.reasoning.visible import is_triple
from triplestore.relations import EXPLICIT, ChangedRows
from triplestore.relations.views.equality import equality_of
from triplestore.terms.vocabulary import RDF_TYPE, RDFS
from triplestore.thread_limits import look

NO_PROOFS_OF_EQUALS = (
    'one side rewrites equals (equality="rewrite"): causes are not looked for; compare with '
    'equality="rules" for them'
)


def summary(
    compared: Compared,
    old: str,
    new: str,
    *,
    shapes: ShapeResults | None = None,
    everything: bool = False,
) -> Found:
    """All that reports say about two states."""
    before, after = compared.before, compared.after
    dictionary = after.dictionary
    states = {
        True: ClosedState(after.tables, dictionary, after.rules()),
        False: ClosedState(before.tables, dictionary, before.rules()),
    }
    prefixes = {**before.prefixes, **after.prefixes}
    texts = FactTexts(prefixes)
    look("counting changes")
    metrics = _counted(compared)
    metrics |= named_changes(before, after, compared.net)
    results = changed_results(shapes, before, after)
    metrics["shapes"] = sum(came for came, _ in results)
    metrics["resolved-shapes"] = len(results) - metrics["shapes"]
    notes: list[str] = []
    blamed: BlamedChanges | None = None
    if any(equality_of(view.tables) is not None for view in (before, after)):
        notes.append(NO_PROOFS_OF_EQUALS)
    else:
        try:
            blamed = blame(states, compared.net)
        except BudgetError as error:
            notes.append(f"causes are not known: {error}")
    named = CauseTexts(compared, states, blamed, texts)
    grouped = GroupedCauses(states, blamed, named)
    violations = grouped.violations()
    metrics["violations"], metrics["resolved"] = grouped.violation_counts(compared)
    listed, left_out = grouped.listed()
    return Found(
        old,
        new,
        metrics,
        tuple(listed),
        left_out,
        grouped.unexplained,
        grouped.inexact,
        tuple(violations),
        tuple(_asserted(compared, named)),
        tuple(results),
        tuple(notes),
        tuple(grouped.everything()) if everything else None,
        prefixes,
    )


def _counted(compared: Compared) -> dict[str, int]:
    """Numbers of asserted and inferred changes."""
    found = dict.fromkeys(METRICS[: METRICS.index("violations")], 0)
    view = compared.after
    ids = view.dictionary.lookup_keys(
        [b"\x01" + RDF_TYPE.encode(), b"\x01" + f"{RDFS}subClassOf".encode()]
    ).tolist()
    for rows in (compared.net.facts, compared.net.quads):
        if not len(rows):
            continue
        p, s, *_ = rows.columns
        shown = is_triple(view.dictionary, s, p)
        was, now = rows.previous, rows.status
        found["added"] += int(np.count_nonzero(shown & (now == EXPLICIT) & (was != EXPLICIT)))
        found["removed"] += int(np.count_nonzero(shown & (was == EXPLICIT) & (now != EXPLICIT)))
        came = shown & (was == 0) & (now != 0) & (now != EXPLICIT)
        went = shown & (was != 0) & (now == 0) & (was != EXPLICIT)
        for mask, end in ((came, ""), (went, "-removed")):
            found[f"inferred{end}"] += int(np.count_nonzero(mask))
            for name, predicate in zip(("types", "subclasses"), ids, strict=True):
                if predicate:
                    found[f"{name}{end}"] += int(np.count_nonzero(mask & (p == predicate)))
    return found


def _asserted(compared: Compared, named: CauseTexts) -> list[Cause]:
    """The first asserted changes."""
    chosen = []
    most = COMPARISON.shown_changes
    for rows in (compared.net.facts, compared.net.quads):
        for came in (True, False):
            moved = _moved(rows, came)
            p, s, o, *graph = (column[moved[:most]] for column in rows.columns)
            graphs = graph[0] if graph else np.zeros(len(p), np.uint32)
            chosen += [(came, row) for row in zip(s, p, o, graphs, strict=True)]
    return named.of_rows(chosen[: 2 * most])


def _moved(rows: ChangedRows, came: bool) -> np.ndarray:
    was, now = rows.previous == EXPLICIT, rows.status == EXPLICIT
    return np.flatnonzero(now & ~was if came else was & ~now)
