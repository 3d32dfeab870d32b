"""What a transaction does to the results of watched shapes: start at `followed_shapes`.

A store without watched shapes pays one look-up of a name in its named values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from triplestore.storage.metadata import SHAPES
from triplestore.store.faces.shapes_causes import explainer

if TYPE_CHECKING:
    from triplestore.reasoning.difference import Difference
    from triplestore.reasoning.outcome import Change, WriteStep
    from triplestore.shacl.watching.watcher import ResultChanges, Watcher
    from triplestore.storage import State
    from triplestore.store.state_view import StateView

WatcherOf = Callable[[], "Watcher"]


class FollowedShapes:
    """The results that come and go with one transaction."""

    def __init__(self, watcher: Watcher, changes: ResultChanges) -> None:
        self._watcher = watcher
        self._changes = changes

    def counted(self, change: Change) -> Change:
        """The counts of a commit with those of results; raises if it is refused."""
        self._changes.refuse()
        added, removed = len(self._changes.added), len(self._changes.removed)
        return replace(change, results_added=added, results_removed=removed)

    def shown_in(self, difference: Difference) -> Difference:
        """The difference with the results that come and go."""
        difference.results_added = self._changes.added
        difference.results_removed = self._changes.removed
        difference.results_refused = self._changes.refused()
        return difference

    def publish(self, state: State) -> None:
        """The transaction was committed."""
        self._watcher.publish(self._changes, state)


def followed_shapes(
    before: State,
    view: Callable[[], StateView],
    steps: Sequence[WriteStep],
    cleared: bool,
    watcher: WatcherOf | None,
) -> FollowedShapes | None:
    """What a transaction does to the results of watched shapes; None if there are none."""
    if SHAPES not in before.meta:
        return None
    if watcher is None:
        # Late: few stores watch shapes.
        from triplestore.shacl.watching.watcher import Watcher

        watcher = Watcher
    found, now = watcher(), view()
    changes = found.changed(
        before, now, steps, cleared, lambda each: explainer(now, each.shapes, each.choice)
    )
    return FollowedShapes(found, changes)
