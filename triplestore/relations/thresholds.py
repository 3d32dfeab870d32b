"""Thresholds of relations: sizes at which another way of reading, merging or sorting is faster."""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class RelationThresholds(Thresholds):
    """See `RELATIONS`."""

    # -- kernels --------------------------------------------------------------------------------

    cold_rows: int = 512
    """Minimum number of rows for the kernels of sets while numba is not loaded."""

    warm_rows: int = 32
    """Minimum number of rows for the kernels of sets once numba is loaded: a call costs half a
    microsecond."""

    kernel_rows: int = 1 << 16
    """Minimum number of rows for the kernels that sort and merge layers, given the cost of loading
    them."""

    piece_rows: int = 1 << 20
    """Maximum number of rows per call of a kernel: some milliseconds, so that Ctrl-C and other
    threads do not wait."""

    # -- sorted arrays --------------------------------------------------------------------------

    dense_rows: int = 1 << 12
    """Minimum number of rows for a table with a flag or a counter per id."""

    dense_span: int = 8
    """Maximum number of ids in a table per row that is counted or looked up."""

    table_ids: int = 1 << 14
    """Minimum number of unsorted ids for a table of where each first id begins: 5 ns per id instead
    of 60."""

    table_keys: int = 16
    """Maximum number of keys per id that is looked up in such a table."""

    inserted_share: int = 8
    """Minimum ratio of many wide keys to few for which the few are inserted, not sorted with the
    others."""

    checked_rows: int = 1 << 16
    """Minimum number of rows of a join for which free memory is checked."""

    crossed_rows: int = 1 << 16
    """Number of rows whose ranges are written at a time when ranges are intersected."""

    crossed_room: int = 1 << 18
    """Initial number of values for which such an intersection has room."""

    summed_positions: int = 1 << 16
    """Minimum number of positions that are listed by summing up steps: `np.repeat` would keep other
    threads waiting."""

    # -- sets of an update ----------------------------------------------------------------------

    run_keys: int = 1 << 13
    """Minimum number of keys of a run that is not merged at once: merging shorter ones costs less
    than searching one more run."""

    wide_run_keys: int = 1 << 11
    """The same for rows of three or more columns, which are merged more slowly."""

    written_pairs: int = 1 << 21
    """Maximum number of pairs of a closure, or of a difference of closures, that are written out;
    more are streamed."""

    united_keys: int = 1 << 16
    """Maximum number of left-out keys that are merged into one array per call."""

    range_ids: int = 256
    """Minimum number of ids beside one first id for which the range of that id is searched
    first."""

    count_pieces: int = 6
    """Maximum number of pieces of changed counts before they are merged."""

    block_rows: int = 1 << 14
    """Minimum number of rows with counts to look for blocks of one first id."""

    rows_per_block: int = 256
    """Minimum average number of rows of such blocks."""

    # -- stored relations -----------------------------------------------------------------------

    look_up_rows: int = 512
    """Number of rows that can be copied in the time of one look-up by a relation's own methods."""

    skipped_rows: int = 1 << 10
    """Minimum number of rows per id to list the ids of a column by searching for the next one."""

    sorted_look_ups: int = 64
    """Minimum number of look-ups that are sorted first: a third of the time."""

    probed_ids: int = 128
    """Maximum number of ids that are looked up with as few calls of numpy as possible."""

    # -- layers ---------------------------------------------------------------------------------

    combine_rows: int = 256
    """Maximum number of rows of a pushed layer and the topmost layer to combine them at once."""

    recent_facts: int = 1 << 10
    """Number of facts that were changed one by one before a layer is made of them, also if nothing
    is read."""

    tier: int = 3
    """Merges are proposed until each layer has more than this many times the rows of all layers
    above it."""

    merged_at_once: int = 1 << 10
    """Maximum number of rows merged by one call of a kernel without a pause."""

    sort_batch_rows: int = 1 << 17
    """Approximate number of rows per batch of ranges; threads sort batches in turn."""

    kept_sets_rows: int = 4096
    """Minimum number of rows of a layer whose file holds its characteristic sets; smaller layers
    compute them."""

    both_sets_rows: int = 1 << 24
    """Maximum number of rows to make the characteristic sets of the two roles at the same time."""


RELATIONS = RelationThresholds()
