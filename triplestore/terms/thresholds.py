"""Thresholds of terms: sizes at which another way of finding, copying or sorting is faster."""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class TermThresholds(Thresholds):
    """See `TERMS`."""

    # -- kernels --------------------------------------------------------------------------------

    cold_rows: int = 1 << 17
    """Minimum number of terms for kernels while numba is not loaded: loading takes 0.4 s."""

    warm_rows: int = 1 << 10
    """Minimum number of terms for kernels once numba is loaded."""

    warm_texts: int = 1 << 6
    """Minimum number of texts that kernels search once numba is loaded: REGEX over 100 texts takes
    0.45 instead of 0.65 ms, over 1,000 texts 0.45 instead of 2.7."""

    cold_texts: int = 1 << 13
    """Minimum number of texts for kernels while numba is not loaded: without, 3 us each."""

    piece_rows: int = 1 << 16
    """Maximum number of terms per call of a kernel: about ten milliseconds."""

    piece_bytes: int = 1 << 24
    """Maximum size of the texts per call of a kernel, unless one text is longer."""

    kernel_literals: int = 4096
    """Minimum number of typed literals whose values are computed by the kernel."""

    literal_rows: int = 1 << 16
    """Maximum number of literals per call of that kernel."""

    # -- without kernels ------------------------------------------------------------------------

    copied_rows: int = 1 << 12
    """Maximum number of texts that are copied by one call of numpy."""

    copied_bytes: int = 1 << 19
    """Maximum size of texts that are copied byte by byte; larger ones are copied one by one."""

    long_text: int = 1024
    """Maximum number of bytes that are hashed in a loop over words; numpy is faster for more."""

    hashed_words: int = 1 << 16
    """Number of words of a long text that are hashed at a time."""

    # -- the order of terms ---------------------------------------------------------------------

    most_stretches: int = 64
    """Maximum number of ranges of a segment in the order of their bytes that are noted."""

    compared_stretches: int = 12
    """Maximum number of ranges of a dictionary for which ids are compared with the first of each;
    a binary search for each id is faster with more."""

    # -- the dictionary -------------------------------------------------------------------------

    live_terms: int = 1 << 16
    """Maximum number of live terms before they are sealed into a segment in memory: batches loop
    over them."""

    sealed_batch: int = 1 << 11
    """Minimum number of new terms in a batch to seal them at once: a tenth of the cost of adding
    each."""

    encoded_keys: int = 1 << 16
    """Number of keys that are encoded at a time."""

    single_look_ups: int = 16
    """Maximum number of keys that are looked up, or ids that are decoded, one by one."""

    found_singly: int = 32
    """Maximum number of keys that are looked for one by one in a segment."""

    block_bytes: int = 1 << 15
    """Number of bytes of a segment's file that are verified to find one term: where they are all of
    the segment, it is searched by a kernel."""

    cached_text: int = 256
    """Maximum length of a key or text whose result is cached: the memory of a cache is bounded."""

    absent_keys: int = 1 << 10
    """Maximum number of remembered keys that no segment has: names that every commit asks for."""

    remembered_keys: int = 1 << 8
    """Maximum number of unknown keys of one question that are remembered."""

    collector_slots: int = 1 << 16
    """Initial number of slots of the table of a load."""

    # -- values ---------------------------------------------------------------------------------

    searched_keys: int = 16
    """Maximum number of keys of values that are searched one by one."""

    gathered_share: int = 16
    """Keys of values are laid out in order first if at least one in this many is searched."""

    # -- sorting --------------------------------------------------------------------------------

    bucket_terms: int = 1 << 16
    """Approximate number of terms of a bucket, which one thread sorts."""

    sampled_terms: int = 32
    """Number of sampled terms for each bucket."""

    sort_steps: int = 1 << 20
    """Maximum number of steps of one call of the kernel that sorts."""

    gathered_terms: int = 1 << 12
    """Minimum number of terms whose texts are copied together before they are sorted: a third is
    saved."""

    gathered_bytes: int = 1 << 25
    """Maximum size of texts that are copied together before they are sorted."""


TERMS = TermThresholds()
