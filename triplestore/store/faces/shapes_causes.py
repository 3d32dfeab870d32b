"""The causes of results in one state of a store: start at `explainer`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from triplestore.errors import UsageError

if TYPE_CHECKING:
    from triplestore.shacl.causes import Cause, CauseFinder
    from triplestore.shacl.data_choice import DataChoice
    from triplestore.shacl.model import ShapeSet
    from triplestore.shacl.reports.result import ValidationResult
    from triplestore.store.state_view import StateView

SECONDS = 5.0
"""Maximum time of the search for the smallest proof of one fact."""


def explainer(
    view: StateView, shapes: ShapeSet, choice: DataChoice
) -> Callable[[ValidationResult], Cause]:
    """A function that finds the cause of a result."""
    made: list[CauseFinder] = []
    dictionary, size = view.dictionary, view.dictionary.size
    last = dictionary.key(size) if size else b""

    def explain(result: ValidationResult) -> Cause:
        # Late: they need all of `proofs`, and few results are explained.
        from triplestore.shacl.causes import CauseFinder
        from triplestore.store.explain import explain as prove

        if size and not (dictionary.size >= size and dictionary.key(size) == last):
            raise UsageError(
                "the transaction was rolled back: ask for the cause of its results before that"
            )
        if not made:
            asked = choice.asked(view)
            made.append(CauseFinder(asked, shapes, lambda fact: prove(view, fact, 0, 5, SECONDS)))
        return made[0].cause(result.row, str(result))

    return explain
