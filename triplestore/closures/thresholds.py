"""Thresholds of closures: sizes at which another way of looking up or updating is faster."""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class ClosureThresholds(Thresholds):
    """See `CLOSURES`."""

    kernel_rows: int = 512
    """Minimum number of rows for kernels, so that small updates never import numba."""

    kernel_steps: int = 1 << 21
    """Maximum number of steps per call of a kernel: some milliseconds."""

    kernel_edges: int = 1 << 20
    """Maximum number of edges per call of the kernel of union-find: some milliseconds."""

    probed_pairs: int = 1 << 18
    """Maximum number of pairs that are looked up per call of a kernel."""

    looked_up_pairs: int = 1 << 20
    """Approximate number of pairs of several parts of a union that are looked up at a time."""

    # -- graphs ---------------------------------------------------------------------------------

    dense_span: int = 8
    """Maximum number of entries, per edge or node, of a table of all ids."""

    slice_entries: int = 512
    """Minimum number of entries per edited place to copy slices of an array."""

    single_changes: int = 16
    """Maximum number of changes of lists that are made one by one."""

    searched_nodes: int = 16
    """Maximum number of nodes of a chain that are searched in any state; for more, those in the
    wanted state are collected first."""

    useful_share: float = 0.5
    """Useless edges of a product graph are left out if fewer than this share of all are useful."""

    # -- transitive closures --------------------------------------------------------------------

    walked_edges: int = 8
    """Maximum number of edges walked backwards, per edge of the graph, before rows of predecessors
    are made."""

    edited_share: int = 64
    """Lists of predecessors are edited if at most one edge in this many changes; else they are
    rebuilt."""

    spare_labels: int = 1024
    """Maximum number of unused labels and nodes in small closures."""

    sorted_pairs: int = 1 << 22
    """Maximum number of changed pairs that are sorted to stream them with their second ids in
    front; for more, rows of predecessors are made."""

    counted_share: int = 8
    """All pairs are counted, not the changed rows, if at least one label in this many changed."""

    listed_labels: int = 64
    """Minimum number of labels per changed label to look up the nodes of changed labels one by
    one."""

    idle_words: int = 1 << 16
    """Maximum number of unused words between the rows of a version, in addition to their size."""

    # -- symmetric and transitive closures ------------------------------------------------------

    edited_edges: int = 1 << 12
    """Minimum number of changed edges before they are merged with the large array of edges."""

    edited_roots: int = 8
    """The same in addition, as a multiple of the square root of the number of edges."""

    layer_ratio: int = 16
    """Maximum ratio of the nodes of two neighbouring layers of groups that are merged."""


CLOSURES = ClosureThresholds()
