"""What a commit hands to those who follow a store: the states around it, and its steps."""

from __future__ import annotations

from collections.abc import Sequence

from triplestore.data_classes import data_class
from triplestore.reasoning.outcome import Change, WriteStep
from triplestore.relations import Layer
from triplestore.storage import State


@data_class
class Published:
    """A published commit.

    before, after  the states around it; several commits lie between the states of a store that
                   follows another process
    steps          what leads from one to the other; None if that is not known
    cleared        whether everything was removed before the steps
    change         the counts of the commit; None if they are not known
    """

    before: State
    after: State
    steps: Sequence[WriteStep] | None
    cleared: bool = False
    change: Change | None = None

    @property
    def rows(self) -> int:
        """About how many rows it changed."""
        if self.steps is None:
            return 0
        return sum(s.rows if isinstance(s, Layer) else len(s) for s in self.steps)


@data_class
class RecentCommit:
    """A commit of the recent past: its number, when it was published, and its counts.

    time    seconds since 1970
    change  None for commits of another process, which may be several at once
    """

    commit: int
    time: float
    change: Change | None
