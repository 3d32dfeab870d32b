"""The obvious transitive closure: sets of pairs, computed from scratch each time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tests.closures.reading import Pair, check_readable


def closure(edges: Iterable[Pair]) -> set[Pair]:
    """All pairs with a path of one or more edges."""
    after: dict[int, list[int]] = {}
    for a, b in edges:
        after.setdefault(a, []).append(b)
    pairs: set[Pair] = set()
    for start in after:
        todo, seen = [start], set()
        while todo:
            for b in after.get(todo.pop(), ()):
                if b not in seen:
                    seen.add(b)
                    todo.append(b)
        pairs |= {(start, b) for b in seen}
    return pairs


def keys(pairs: Iterable[Pair]) -> Any:
    """Packed keys in increasing order."""
    return np.array(sorted(a << 32 | b for a, b in pairs), dtype=np.uint64)


def pairs(keys: Any) -> list[Pair]:
    """The pairs of packed keys."""
    return [(key >> 32, key & 0xFFFFFFFF) for key in keys.tolist()]


def streamed(relation: Any, size: int = 1 << 20) -> set[Pair]:
    """All pairs of a relation from both its streams, which must be in order and agree."""
    found = [pair for block in relation.blocks(size) for pair in pairs(block)]
    turned = [pair for block in relation.blocks(size, swapped=True) for pair in pairs(block)]
    assert found == sorted(set(found)), "not increasing"
    assert turned == sorted(set(turned)), "not increasing when swapped"
    assert {(b, a) for a, b in turned} == set(found)
    assert relation.count() == len(found)
    return set(found)


def check(relation: Any, expected: set[Pair], ids: list[int]) -> None:
    """Everything that can be asked of a relation, against the expected pairs."""
    check_readable(relation, expected, [*ids[::-1], ids[0] ^ 1, 2**32 - 2])
