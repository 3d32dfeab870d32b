"""Stale closures: something was committed, and inference was left for later.

Only a bulk import does this, on request. What is always true of a store with the value `STALE`: the
asserted facts are right, and the inferred facts are those of an earlier commit, so queries are
refused. Opening the store for writing brings the closure up to date first (`Store._setup`); opening
it for reading raises an error with an estimate of that work (`refuse_if_stale`).

The closure is then computed from the beginning: what changed since it was right is not known any
more, because layers were merged meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from triplestore.errors import StaleError
from triplestore.relations import EXPLICIT, INFERRED, Tables
from triplestore.storage.metadata import STALE
from triplestore.storage.state import value_of

SECONDS_PER_FACT = 2e-6
"""Time per asserted or inferred fact of a first closure, measured for LUBM under OWL 2 RL."""


def estimate(tables: Tables, before: Tables) -> bytes:
    """What bringing these tables up to date is thought to take, in the form that is kept.

    before  the tables as of the last time that the closure was right: as many facts are thought
        to follow from a fact now as then, and one if there was none
    """
    stated, known = tables.total(EXPLICIT), before.total(EXPLICIT)
    ratio = before.total(INFERRED) / known if known else 1.0
    follow = int(stated * ratio)
    seconds = round((stated + follow) * SECONDS_PER_FACT, 1)
    return json.dumps({"facts": follow, "seconds": seconds}).encode()


def refuse_if_stale(meta: Mapping[str, bytes]) -> None:
    """Raise if the inferred facts are not up to date.

    >>> refuse_if_stale({})
    >>> refuse_if_stale({"stale": b'{"facts": 5000000, "seconds": 12}'})
    Traceback (most recent call last):
    triplestore.errors.StaleError: ... some 5,000,000 facts, 12 s ...
    """
    work = value_of(meta, STALE, _work, None)
    if work is not None:
        raise StaleError(
            f"the inferred facts are not up to date, because an import left inference for later "
            f"(to do: {work}): open the store for writing once, or run `triplestore reason`"
        )


def _work(value: bytes) -> str | None:
    kept = json.loads(value)
    return f"some {int(kept['facts']):,} facts, {float(kept['seconds']):,g} s of work"
