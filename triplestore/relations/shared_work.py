"""Large arrays of keys sorted, split and looked up in several threads (`kernels/parallel`).

Start reading at `parts`: one part for an array that is not large, so that small updates do what
they would do without threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.kernels.parallel import each, shares, thread_count
from triplestore.relations.packed_keys import I64, Keys
from triplestore.relations.thresholds import RELATIONS

_SAMPLES = 64
"""Number of keys of each sorted part that say where to split the whole."""


def parts(size: int) -> list[slice]:
    """Positions 0 .. size - 1 in pieces for threads, each for one call of a kernel."""
    number = max(1, -(-size // RELATIONS.piece_rows))
    if size >= RELATIONS.shared_rows and (threads := thread_count()) > 1:
        number = max(4 * threads, number)
    return shares(size, number)


def in_parts(function: Callable[[slice], object], size: int) -> None:
    """Call a function with `parts(size)`, in several threads if these are many rows.

    >>> in_parts(print, 3)
    slice(0, 3, None)
    """
    if size < RELATIONS.shared_rows:
        function(slice(0, size))
    else:
        each(function, parts(size))


def joined(columns: Sequence[Sequence[NDArray[Any]]]) -> list[NDArray[Any]]:
    """The parts of each column one after the other; a single part is not copied.

    >>> [column.tolist() for column in joined([[np.array([1]), np.array([2, 3])]])]
    [[1, 2, 3]]
    """
    made, copies = [], list[tuple[NDArray[Any], NDArray[Any]]]()
    for arrays in columns:
        if len(arrays) == 1:
            made.append(arrays[0])
            continue
        column = np.empty(sum(map(len, arrays)), dtype=arrays[0].dtype)
        made.append(column)
        at = 0
        for array in arrays:
            to = column[at : at + len(array)]
            copies += ((to[piece], array[piece]) for piece in parts(len(array)))
            at += len(array)

    def copy(one: tuple[NDArray[Any], NDArray[Any]]) -> None:
        one[0][:] = one[1]

    if sum(map(len, made)) < RELATIONS.shared_rows:
        for one in copies:
            copy(one)
    else:
        each(copy, copies)
    return made


def sorted_keys(keys: Keys) -> Keys:
    """A sorted copy.

    >>> sorted_keys(np.array([3, 1, 2], np.uint64)).tolist()
    [1, 2, 3]
    """
    if len(keys) < RELATIONS.shared_rows or keys.dtype != np.uint64:
        return np.sort(keys)
    threads = thread_count()
    if threads == 1:
        return np.sort(keys)
    runs, made = np.empty_like(keys), np.empty_like(keys)
    places = shares(len(keys), threads)

    def sort(place: slice) -> None:
        runs[place] = keys[place]
        runs[place].sort()

    def merge(ranges: tuple[slice, ...]) -> None:
        *one_of_each, to = ranges
        at = to.start
        for run, some in zip(ordered, one_of_each, strict=True):
            size = some.stop - some.start
            made[at : at + size] = run[some]
            at += size
        made[to].sort(kind="stable")  # a few runs: numpy merges them

    each(sort, places)
    ordered = [runs[place] for place in places]
    each(merge, split_at_equal_keys(ordered, shares(len(keys), 2 * threads)))
    return made


def split_at_equal_keys(
    arrays: Sequence[Keys], wanted: Sequence[slice]
) -> Iterator[tuple[slice, ...]]:
    """Ranges of several sorted arrays such that equal keys are in one range, in the order of the
    keys: a slice of each array, and the places that they take together.

    wanted  approximate places

    >>> one, other = np.array([1, 2, 5, 6], np.uint64), np.array([2, 3, 7], np.uint64)
    >>> for ranges in split_at_equal_keys((one, other), [slice(0, 3), slice(3, 7)]):
    ...     [(some.start, some.stop) for some in ranges]
    [(0, 2), (0, 1), (0, 3)]
    [(2, 4), (1, 3), (3, 7)]
    """
    size = sum(map(len, arrays))
    cuts = np.zeros((len(wanted) + 1, len(arrays)), dtype=np.int64)
    cuts[-1] = [len(array) for array in arrays]
    if len(wanted) > 1:
        seen = np.sort(np.concatenate([_sample(array, size, len(wanted)) for array in arrays]))
        at = [len(seen) * place.start // size for place in wanted[1:]]
        for number, array in enumerate(arrays):
            cuts[1:-1, number] = array.searchsorted(seen[at])
    places: I64 = cuts.sum(axis=1)
    for lo, hi, start, stop in zip(cuts, cuts[1:], places, places[1:], strict=False):
        yield (
            *(slice(int(a), int(b)) for a, b in zip(lo, hi, strict=True)),
            slice(int(start), int(stop)),
        )


def _sample(array: Keys, size: int, number: int) -> Keys:
    """Some keys of a sorted array, as many as its share of all keys."""
    return array[:: max(1, size // (_SAMPLES * number))]
