"""Helpers for tests of the loaders: loading by either path, and results to compare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pyoxigraph as ox

from triplestore.loaders import Loaded, load
from triplestore.loaders.scope import IN_TRIPLE
from triplestore.loaders.thresholds import LOADING
from triplestore.terms.dictionary import Dictionary

NT, NQ = ox.RdfFormat.N_TRIPLES, ox.RdfFormat.N_QUADS


@contextmanager
def path_taken(large: bool, block_bytes: int = LOADING.block_bytes) -> Iterator[None]:
    """All loads inside go through the kernel, or all through pyoxigraph alone."""
    most = -1 if large else 1 << 30
    with LOADING.changed(small_cold=most, small_warm=most, block_bytes=block_bytes):
        yield


def loaded(
    data: Any, *, large: bool, block_bytes: int = LOADING.block_bytes, **options: Any
) -> tuple[Loaded, Dictionary]:
    """A load into a new dictionary, to which the new terms were added."""
    dictionary = Dictionary()
    with path_taken(large, block_bytes):
        result = load(data, dictionary, **options)
    result.add_terms(dictionary)
    return result, dictionary


def quads_of(result: Loaded, dictionary: Dictionary) -> list[ox.Quad]:
    """The rows of a load as quads."""
    default = ox.DefaultGraph()
    columns = (column.tolist() for column in (result.s, result.p, result.o, result.g))
    return [
        ox.Quad(*(dictionary.term(i) for i in (s, p, o)), dictionary.term(g) if g else default)
        for s, p, o, g in zip(*columns, strict=True)
    ]


def lines_of(result: Loaded, dictionary: Dictionary) -> list[str]:
    """The rows of a load as sorted lines."""
    return sorted(str(quad) for quad in quads_of(result, dictionary))


def scoped(quads: Iterable[ox.Quad], scope: str = "f1x") -> list[str]:
    """Sorted lines of quads with every label as the file of this scope has it."""

    def replaced(match: Any) -> bytes:
        label = match.group(1)
        return match.group() if label is None else b"_:" + scope.encode() + label

    lines = (str(quad).encode() for quad in quads)
    return sorted(IN_TRIPLE.sub(replaced, line).decode() for line in lines)


def canonical(quads: Iterable[ox.Quad]) -> list[str]:
    """Sorted lines in which blank nodes are named by their place in the dataset."""
    dataset = ox.Dataset(quads)
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return sorted(str(quad) for quad in dataset)
