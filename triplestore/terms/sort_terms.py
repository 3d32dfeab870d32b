"""Sorting terms by kind, then bytes: sample sort into buckets, multikey quicksort in each.

Start at `sorted_terms`. A bucket holds about 64k terms, so that it fits the cache, a kernel call
stays short and several threads sort buckets. The cost per term grows only with the logarithm of the
number of buckets, and a prefix shared by all terms is read once per pass.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from triplestore.terms.spans import I64, U8, U32, U64, copy_texts, offsets_of
from triplestore.terms.thresholds import TERMS

_MOST_BUCKETS = 1 << 14


def sorted_terms(texts: U8, offsets: U64, kinds: U8, terms: U32, threads: int = 1) -> U32:
    """The numbers `terms` in the order of kind, then bytes; the terms are distinct."""
    own = kinds[terms]
    parts = [terms[own == kind] for kind in np.flatnonzero(np.bincount(own))]
    if not parts:
        return terms.copy()
    with ThreadPoolExecutor(threads) as pool:
        return np.concatenate([_sorted_by_bytes(texts, offsets, part, pool) for part in parts])


def _sorted_by_bytes(texts: U8, offsets: U64, terms: U32, pool: ThreadPoolExecutor) -> U32:
    if len(terms) <= 2 * TERMS.bucket_terms:
        _sort_bucket(texts, offsets, terms)
        return terms
    buckets = min(len(terms) // TERMS.bucket_terms + 1, _MOST_BUCKETS)
    sample = np.random.default_rng(0).choice(terms, buckets * TERMS.sampled_terms)  # deterministic
    sample = np.unique(sample)
    _sort_bucket(texts, offsets, sample)
    splitters = np.ascontiguousarray(sample[TERMS.sampled_terms :: TERMS.sampled_terms])
    bucket_of = _classified(texts, offsets, terms, splitters, pool)
    order = terms[np.argsort(bucket_of, kind="stable")]
    ends = np.cumsum(np.bincount(bucket_of)).tolist()
    del bucket_of
    ranges = zip([0, *ends[:-1]], ends, strict=True)
    list(pool.map(lambda r: _sort_bucket(texts, offsets, order[r[0] : r[1]]), ranges))
    return order


def _classified(
    texts: U8, offsets: U64, terms: U32, splitters: U32, pool: ThreadPoolExecutor
) -> np.ndarray[tuple[int], np.dtype[np.uint16]]:
    from triplestore.kernels.terms.sort_terms import classify_terms

    out = np.empty(len(terms), np.uint16)

    def classify(lo: int) -> None:
        part = slice(lo, lo + TERMS.piece_rows // 4)
        classify_terms(texts, offsets, terms[part], splitters, out[part])

    list(pool.map(classify, range(0, len(terms), TERMS.piece_rows // 4)))
    return out


def _sort_bucket(texts: U8, offsets: U64, order: U32) -> None:
    """Sort some terms in place."""
    starts = offsets[order].astype(np.int64)
    lengths = offsets[order + np.int64(1)].astype(np.int64) - starts
    own = offsets_of(lengths)
    if len(order) < TERMS.gathered_terms or int(own[-1]) > TERMS.gathered_bytes:
        _sort(texts, offsets, order)
        return
    near = np.empty(int(own[-1]), np.uint8)
    copy_texts(texts, starts, lengths, near, own[:-1].astype(np.int64))
    places = np.arange(len(order), dtype=np.uint32)
    _sort(near, own, places)
    order[:] = order[places]


def _sort(texts: U8, offsets: U64, order: U32) -> None:
    from triplestore.kernels.terms.sort_terms import sort_groups

    words = np.empty(len(order), np.uint64)
    stack: I64 = np.zeros(3 * 3 * 32, np.int64)
    stack[:3] = 0, len(order), ~0
    top = 1 if len(order) > 1 else 0
    while top:
        top = sort_groups(texts, offsets, order, words, stack, top, TERMS.sort_steps)
