"""Thresholds of maintenance: what `auto` chooses by, when budgets look, when kernels are used."""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.terms.guards.document_limits import USUAL
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class MaintenanceThresholds(Thresholds):
    """Numbers that choose between two ways to the same closure, or that end one."""

    # -- `auto`: expected times, in seconds -------------------------------------------------------

    family_seconds: float = 40e-6
    """Time of one evaluation of one family."""
    row_seconds: float = 30e-9
    """Time for each row that rematerialising reads, before there is a measurement."""
    compared_seconds: float = 50e-9
    """Time for each row that held before and is not derived again."""
    comparing_seconds: float = 20e-9
    """Time for each row by which rematerialising takes longer than the first closure, because it
    compares (LUBM-10: 2 to 12 ns where facts are in one run, 15 to 50 ns after updates)."""
    assumed_rounds: int = 20
    """Rounds of a recursive stratum, before there is a measurement."""
    assumed_instances: int = 2
    """Instances for each row of a recursive stratum, before there is a measurement."""
    newest_weight: float = 0.3
    """Weight of the last measurement beside those before it."""

    # -- `auto`: limits of a trial ----------------------------------------------------------------

    least_seconds: float = 2e-3
    """Minimum time limit of a trial: it is not worth stopping a shorter one."""
    allowed: float = 0.95
    """Maximum time of another strategy, as a part of the expected time of rematerialising."""
    deleting: float = 0.22
    """Maximum time of overdeletion, as a part of the time that is allowed."""
    rederiving: float = 0.5
    """Maximum time of overdeletion with rederivation, as a part of the time that is allowed: facts
    that were deleted in vain must be inserted again, which takes as long as both."""
    dropping: float = 0.3
    """Maximum number of facts that overdeletion may delete, as a part of all rows."""
    probing: float = 0.15
    """Maximum time of a search for proofs about which nothing is known, as a part of the time that
    is allowed, until it is hopeful."""
    probing_pays: float = 0.25
    """Maximum ratio of `least_seconds` to the allowed time for which a search can save anything."""
    hopeful: int = 16
    """A search goes on if it has proved one in this many facts that it looked at. Where most facts
    have several derivations this shows after few rounds (9 to 14 of 100 after the eighth); on
    chains it never does."""
    trying_again: float = 0.7
    """Maximum time of a strategy that is tried again, as a part of the best known time."""
    doubt: float = 0.7
    """Factor by which a high cost shrinks each time it is used without a new measurement."""
    again: int = 32
    """Number of updates of a size after which a strategy that was not the best is tried again."""
    many_changes: int = 100
    """Minimum number of changes that are many: a failed update of this size is not an exception."""
    no_exception: int = 4
    """Number of failures that one failed update of many changes counts for."""
    misjudged: float = 1.5
    """Where rematerialising took this many times as long as expected, the trial says nothing."""
    most_deleted: float = 0.45
    """Minimum part of the explicit facts whose deletion makes rematerialising the best choice."""

    # -- budgets ----------------------------------------------------------------------------------

    fact_bytes: int = 16
    """Minimum size of a new fact: a row in two orders."""
    look_interval: float = 0.008
    """Seconds between two looks at memory: a look costs up to 50 us."""
    least_bytes: int = 32 << 20
    """Growth below this is ignored: a module that is imported takes as much."""
    few_bytes: int = 1 << 20
    """Maximum size that is allocated without a look at memory."""
    timed_join_rows: int = 1 << 21
    """Maximum number of rows that a join makes at once under a time limit: some 50 ms."""
    join_row_bytes: int = 64
    """Size of a row of a join until it is a conclusion, copies included."""
    most_terms: int = 1_000_000
    """Maximum number of terms that rules make without `max_terms`, unless `times_terms` allows
    more."""
    times_terms: int = 10
    """Maximum number of terms that rules make without `max_terms`, as a multiple of the terms that
    are there."""
    term_copies: int = 4
    """Copies of a new term: it is noted, stored, and stored again when many become a segment."""
    most_steps: int = 50_000
    """Maximum number of times that one stratum makes new terms from new terms, without
    `max_terms`."""
    longest_terms: int = USUAL.term
    """Maximum mean length of the terms of one such step, without `max_terms`: the length that a
    document may hold. Texts that double at each step reach it at once, but reach the budget of
    memory after minutes."""

    # -- many rounds in one kernel call -----------------------------------------------------------

    rounds_before_kernel: int = 8
    """Number of rounds after which it is checked whether a kernel can do the next ones."""
    kernel_round_facts: int = 1 << 10
    """Maximum number of facts of a round that is left to the kernel: larger rounds gain nothing."""
    kernel_rounds: int = 1 << 12
    """Maximum number of rounds of one call; budgets are checked after each call."""
    kernel_room: int = 1 << 14
    """Maximum number of facts of one call, and of conclusions of one round: a power of two."""

    # -- deletion, search and rows ----------------------------------------------------------------

    few_new_edges: int = 1 << 12
    """Maximum number of new facts for which it is estimated whether building a closure pays."""
    leap_instance_edges: int = 8
    """Cost of an instance of a transitive rule, in edges of a closure that is built."""
    many_goals: int = 1 << 12
    """Minimum number of goals of a backward search that are first compared with small atoms."""
    short_run: int = 2048
    """Minimum length of a sorted run of facts: joining shorter ones costs less than one more run
    to look through."""
    source_rows: int = 1 << 20
    """Maximum number of rows that a source of a backward search makes at once."""
    cursor_instances: int = 1 << 14
    """Maximum number of instances that one call of the backward kernel returns."""
    cursor_looks: int = 128
    """Maximum number of rows that the backward kernel reads for each instance that is wanted."""
    cursor_layers: int = 14
    """Maximum number of orders of layers that the backward kernel reads in place."""
    unverified_rows: int = 1 << 16
    """Maximum number of rows of a relation in a file that are verified before they are read."""
    few_classes: int = 32
    """Maximum number of classes whose members are looked up one by one when rematerialising."""
    count_rows: int = 8
    """Cost of looking up a count, in rows that are read one after the other."""
    hierarchy_rows: int = 1 << 20
    """Maximum number of rows that one call of the kernel for class hierarchies makes, unless one
    member has more."""
    large_layer: int = 1 << 12
    """Minimum number of rows of a layer that is made without sorting all rows again."""
    few_moves: int = 16
    """Maximum number of changed rows that are counted one by one, in a fifth of the time."""


MAINTENANCE = MaintenanceThresholds()
"""The thresholds in use."""
