"""Backward evaluation: which facts does some rule still derive."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from triplestore.engine.families import Family
from triplestore.engine.maintain import StratumUpdate
from triplestore.engine.sets.keys import Batch


def derivable(update: StratumUpdate, goals: Batch, families: Sequence[Family], phase: str) -> Batch:
    """The goals that some instance over what survives concludes.

    One instance for each is counted, as the papers do; the rows fetched tell what was looked at.
    """
    work = update.work
    survivors, union = work.survivors(), work.union()
    allowed = {id(family) for family in families}
    found: Batch = {}
    for name, keys in goals.items():
        proved = np.zeros(len(keys), dtype=np.bool_)
        for family in update.kept.concluded(name):
            if id(family) not in allowed:
                continue
            open_ = np.flatnonzero(~proved)
            if len(open_) == 0:
                break
            rows, n = work.run.backward(family, keys[open_], name, survivors, union, phase)
            number = rows[family.width]
            if n and number is not None:
                proved[open_[number]] = True
        work.run.instances[phase] += int(np.count_nonzero(proved))
        if proved.any():
            found[name] = keys[proved]
    return found
