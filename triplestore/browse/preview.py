"""What a change would do, before it is made: start at `preview_update` and `preview_change`.

The change is made in a transaction with all that follows from it, compared with the committed
state, and rolled back. Readers are not blocked; other writers wait. Rows stay columns of ids; only
examples are decoded, before the transaction ends, because its new terms go with it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pyoxigraph as ox

from triplestore.browse.change_request import NO_LIMITS, ChangeLimits, ChangeRequest
from triplestore.browse.proof_data import why_data
from triplestore.browse.term_data import JsonTerm, TermData
from triplestore.browse.thresholds import BROWSE
from triplestore.browse.violation_data import violation_data
from triplestore.reasoning.violations import (
    count_new_between,
    violation_relations,
    violations_between,
)
from triplestore.relations.lookup import QuadColumns
from triplestore.relations.packed_keys import I64, U32
from triplestore.storage.metadata import STRICT
from triplestore.store.readable import view_of
from triplestore.store.transaction import writer_of
from triplestore.terms.vocabulary import RDF_TYPE

if TYPE_CHECKING:
    from triplestore.reasoning.difference import Difference, QuadsChanged
    from triplestore.store import Store, Transaction
    from triplestore.store.state_view import StateView

PROOF_SECONDS = 3.0
"""Maximum number of seconds for each proof in a preview."""

KINDS = ("added", "removed", "inferred_added", "inferred_removed")
"""The kinds of changes of quads, as in `Transaction.diff()`."""


def preview_update(
    store: Store, text: str, prefixes: Mapping[str, str] | None = None, **options: Any
) -> dict[str, Any]:
    """What a SPARQL update would do; `options` are those of `preview_change`.

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.reason(rules="@prefix : <http://e/> . :knows[?y, ?x] :- :knows[?x, ?y] .")
    >>> found = preview_update(store, "INSERT DATA { :a :knows :b }")
    >>> found["added"], found["inferred_added"], len(store)
    (1, 1, 0)
    >>> [(group["kind"], group["term"]["short"]) for group in found["groups"]]
    [('property', ':knows')]
    """
    return preview_change(store, ChangeRequest(update=text, prefixes=prefixes), **options)


def preview_change(
    store: Store,
    request: ChangeRequest,
    *,
    limits: ChangeLimits = NO_LIMITS,
    language: str = "en",
    proofs: int = 0,
) -> dict[str, Any]:
    """What a change would do: counts, groups by class and property with examples, violations.

    The quads of rdf:type are grouped by class, all others by property. `commit` is the commit that
    the preview has seen, for `commit_change`; `results` are those of watched shapes; `refused` says
    that a strict store, or strict shapes, would refuse the change. `proofs`, at most that many,
    explain new violations, and then the first inferred triples of the groups.
    """
    started = time.perf_counter()
    with store.trial(wait=limits.wait) as transaction:
        before = view_of(store.snapshot())
        request.make(transaction, limits)
        made = _described(before, transaction, language)
        made["proofs"] = list(_proofs(transaction, before, proofs)) if proofs else []
        made["commit"] = writer_of(transaction).begun_at
    return {**made, "seconds": time.perf_counter() - started}


def _described(before: StateView, transaction: Transaction, language: str) -> dict[str, Any]:
    after, difference = view_of(transaction), transaction.diff()
    data = TermData(after, language)
    made: dict[str, Any] = {kind: len(_quads(difference, kind)) for kind in KINDS}
    made["still_entailed"] = len(difference.still_entailed)
    made["rows_added"] = len(difference.rows_added)
    made["rows_removed"] = len(difference.rows_removed)
    groups = _Groups(after, difference, data)
    made["groups"] = groups.listed()
    made["more_groups"] = max(0, len(groups) - BROWSE.shown_groups)
    made["violations"] = found = _violations(before, after, data)
    is_strict = STRICT in writer_of(transaction).kept
    made["results"] = {
        "added": len(difference.results_added),
        "removed": len(difference.results_removed),
        "examples": list(map(str, islice(difference.results_added, BROWSE.shown_groups))),
    }
    refused = is_strict and found["new_count"] > 0
    made["refused"] = refused or len(difference.results_refused) > 0
    return made


def _quads(difference: Difference, kind: str) -> QuadsChanged:
    found: QuadsChanged = getattr(difference, kind)
    return found


# -- groups ---------------------------------------------------------------------------------------


class _Groups:
    """The changed quads by class or property.

    counts    (is a class, id) -> the number of changes of each kind
    """

    def __init__(self, view: StateView, difference: Difference, data: TermData) -> None:
        self._data = data
        self._dictionary = view.dictionary
        key = b"\x01" + RDF_TYPE.encode()
        self._type = int(view.dictionary.lookup_key(key))
        self.counts: dict[tuple[bool, int], list[int]] = {}
        self._rows: dict[tuple[bool, int], list[tuple[int, QuadColumns]]] = {}
        for place, kind in enumerate(KINDS):
            for part in _quads(difference, kind).columns:
                self._count(place, part)

    def __len__(self) -> int:
        return len(self.counts)

    def _count(self, kind: int, rows: QuadColumns) -> None:
        is_type = rows.predicate == self._type
        names = np.where(is_type, rows.object, rows.predicate)
        keys = (is_type.astype(np.uint64) << np.uint64(32)) | names
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        ends = np.append(starts[1:], len(ordered))
        heads = ordered[starts].tolist() if len(ordered) else []
        for head, lo, hi in zip(heads, starts.tolist(), ends.tolist(), strict=False):
            group = bool(head >> 32), int(head & 0xFFFFFFFF)
            self.counts.setdefault(group, [0] * len(KINDS))[kind] += hi - lo
            first = _taken(rows, order[lo : min(hi, lo + BROWSE.shown_examples)])
            self._rows.setdefault(group, []).append((kind, first))

    def listed(self) -> list[dict[str, Any]]:
        """The groups with most changes, classes first."""
        chosen = sorted(self.counts, key=lambda group: (not group[0], -sum(self.counts[group])))
        chosen = chosen[: BROWSE.shown_groups]
        terms = self._data.ids(np.array([name for _, name in chosen], np.uint32))
        return [
            {
                "kind": "class" if group[0] else "property",
                "term": term,
                **dict(zip(KINDS, self.counts[group], strict=True)),
                "examples": self._examples(group),
            }
            for group, term in zip(chosen, terms, strict=True)
        ]

    def inferred_examples(self, most: int) -> Iterator[ox.Triple]:
        """An inferred triple of each of the groups with most changes."""
        kind = KINDS.index("inferred_added")
        chosen = [group for group in self.counts if self.counts[group][kind]]
        chosen.sort(key=lambda group: (not group[0], -self.counts[group][kind]))
        for group in chosen[:most]:
            rows = next(rows for of, rows in self._rows[group] if of == kind)
            terms = self._dictionary.terms(np.concatenate([column[:1] for column in rows[:3]]))
            if isinstance(terms[0], (ox.NamedNode, ox.BlankNode)):
                yield ox.Triple(*terms)

    def _examples(self, group: tuple[bool, int]) -> dict[str, list[list[JsonTerm]]]:
        found: dict[str, list[list[JsonTerm]]] = {}
        for kind, rows in self._rows[group]:
            listed = found.setdefault(KINDS[kind], [])
            room = BROWSE.shown_examples - len(listed)
            columns = (column[:room] for column in rows[:3])
            listed += map(list, zip(*map(self._data.ids, columns), strict=True))
        return found


def _taken(rows: QuadColumns, places: I64) -> QuadColumns:
    columns: Sequence[U32] = [np.ascontiguousarray(column[places]) for column in rows]
    return QuadColumns(*columns)


# -- violations -----------------------------------------------------------------------------------


def _violations(before: StateView, after: StateView, data: TermData) -> dict[str, Any]:
    """The violations that come and those that go."""
    was = violation_relations(before.rules(), after.dictionary)
    now = violation_relations(after.rules(), after.dictionary)
    new = violations_between(before.tables, after.tables, now, after.dictionary)
    resolved = violations_between(after.tables, before.tables, was, after.dictionary)
    return {
        "new": list(_first(new, data)),
        "resolved": list(_first(resolved, data)),
        "new_count": count_new_between(before.tables, after.tables, now),
        "resolved_count": count_new_between(after.tables, before.tables, was),
    }


def _proofs(transaction: Transaction, before: StateView, most: int) -> Iterator[dict[str, Any]]:
    """Proofs of at most `most` new violations, then of at most `most` inferred triples."""
    after, difference = view_of(transaction), transaction.diff()
    where = violation_relations(after.rules(), after.dictionary)
    new = violations_between(before.tables, after.tables, where, after.dictionary)
    for violation in islice(new, most):
        yield why_data(transaction, violation, seconds=PROOF_SECONDS)
    groups = _Groups(after, difference, TermData(after))
    for triple in groups.inferred_examples(most):
        yield why_data(transaction, triple, seconds=PROOF_SECONDS)


def _first(found: Iterator[Any], data: TermData) -> Iterator[dict[str, Any]]:
    for violation in islice(found, BROWSE.shown_violations):
        yield violation_data(violation, data)
