"""The papers' two ways to choose k of the explicit facts: `uniform` and `random_walk`.

Both give positions of facts. Always true: equal seeds give equal samples; a smaller sample is the
beginning of a larger one; no fact is chosen twice; k is at most the number of facts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench.inputs.random_numbers import I64, below, rolls

U32 = NDArray[np.uint32]

MAX_STALE = 100
"""Number of steps without a new fact after which a walk counts as a dead end."""

_BLOCK = 4096


def uniform(facts: int, size: int, seed: int = 0) -> I64:
    """`size` of `facts` facts, uniformly sampled: mostly unrelated ones.

    >>> uniform(100, 5, seed=1).tolist(), uniform(100, 3, seed=1).tolist()
    ([4, 10, 19, 27, 22], [4, 10, 19])
    """
    if size > facts:
        raise ValueError(f"a sample of {size} from {facts} facts")
    keys = rolls(f"uniform {seed}", facts)
    if size == 0:
        return np.empty(0, np.int64)
    chosen = np.argpartition(keys, size - 1)[:size] if size < facts else np.arange(facts)
    return chosen[np.argsort(keys[chosen], kind="stable")]


def random_walk(s: U32, o: U32, size: int, seed: int = 0) -> I64:
    """`size` facts on a walk from subjects to objects: mostly related ones.

    At a dead end the walk starts again at a fact of the uniform sample; a walk without a new fact
    for MAX_STALE steps is at a dead end (for example in a cycle).
    """
    if size > len(s):
        raise ValueError(f"a sample of {size} from {len(s)} facts")
    order = np.argsort(s, kind="stable")
    subjects, starts = np.unique(s[order], return_index=True)
    stops = np.append(starts[1:], len(s))
    place = np.searchsorted(subjects, o)
    place[place == len(subjects)] = 0
    # for each fact the facts that its object is the subject of: order[first:last]
    leads = subjects[place] == o if len(s) else np.empty(0, bool)
    first, last = np.where(leads, starts[place], 0), np.where(leads, stops[place], 0)
    return _walk(order, first, last, size, seed)


def _walk(order: I64, first: I64, last: I64, size: int, seed: int) -> I64:
    restarts = iter(uniform(len(order), len(order), seed).tolist())
    met: dict[int, None] = {}
    rolled: list[int] = []
    steps = stale = 0
    at = -1
    while len(met) < size:
        if at < 0 or first[at] == last[at] or stale == MAX_STALE:
            at, stale = next(fact for fact in restarts if fact not in met), 0
        else:
            if not rolled:
                rolled = below(1 << 32, f"walk {seed}", _BLOCK, steps).tolist()[::-1]
                steps += _BLOCK
            low, high = int(first[at]), int(last[at])
            at = int(order[low + (rolled.pop() * (high - low) >> 32)])
        stale = stale + 1 if at in met else 0
        met[at] = None
    return np.fromiter(met, np.int64, len(met))
