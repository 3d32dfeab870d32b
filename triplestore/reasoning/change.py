"""What a writing call did: the `Change` that every one of them returns."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triplestore.loaders import Problem


@dataclass(frozen=True, slots=True)
class Change:
    """Counts of what a commit did to the quads of a store; prints as one line.

    Explicit quads are those that were stated; inferred ones hold without having been stated. Rows
    of relations of three columns or more, which only rules make, count like quads.

    >>> print(Change(added=2, already_there=1))
    added 2, already there 1
    >>> print(Change(not_stated=3, only_inferred=1))
    not stated 3 (1 of them inferred)
    >>> print(Change())
    nothing changed
    >>> bool(Change(already_there=3))
    False
    """

    added: int = 0
    """Quads that are stated now and were not before."""
    removed: int = 0
    """Quads that were stated before and are not now."""
    already_there: int = 0
    """Quads that were asked to be added and were stated already."""
    not_stated: int = 0
    """Quads that were asked to be removed and were not stated."""
    only_inferred: int = 0
    """Those of them that hold all the same, because they follow from others, and go on to."""
    still_entailed: int = 0
    """Removed quads that still hold, because they follow from others."""
    inferred_added: int = 0
    """Quads that follow now and did not hold before."""
    inferred_removed: int = 0
    """Quads that followed before and do not hold now."""
    new_violations: int = 0
    """Violations of constraints that were not there before."""
    graphs_added: int = 0
    """Named graphs that exist now and did not before."""
    graphs_removed: int = 0
    """Named graphs that existed before and do not now."""
    skipped: int = 0
    """Malformed statements that a lenient load left out."""
    problems: tuple[Problem, ...] = field(default=(), compare=False)
    """The first of the malformed statements that a lenient load left out."""
    commit: int = field(default=0, compare=False)
    """The number of the commit that published the change; 0 if there was nothing to commit."""

    def __bool__(self) -> bool:
        return any(
            (
                self.added,
                self.removed,
                self.inferred_added,
                self.inferred_removed,
                self.graphs_added,
                self.graphs_removed,
            )
        )

    def __str__(self) -> str:
        parts = [
            f"{item.name.replace('_', ' ')} {value:,}"
            for item in fields(self)
            if item.name not in _NO_PARTS and (value := getattr(self, item.name))
        ]
        if self.only_inferred:
            place = next(i for i, part in enumerate(parts) if part.startswith("not stated"))
            parts[place] += f" ({self.only_inferred:,} of them inferred)"
        return ", ".join(parts) or "nothing changed"


_NO_PARTS = ("problems", "commit", "only_inferred")
