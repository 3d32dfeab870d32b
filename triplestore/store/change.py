"""What a writing call did: the `Change` that every one of them returns."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triplestore.loaders import Problem


@dataclass(frozen=True, slots=True)
class Change:
    """Counts of what a commit did to the quads of a store; prints as one line.

    Explicit quads are those that were stated; inferred ones hold without having been stated.

    >>> print(Change(added=2, already_there=1))
    added 2, already there 1
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
    still_entailed: int = 0
    """Removed quads that still hold, because they follow from others."""
    inferred_added: int = 0
    """Quads that follow now and did not before."""
    inferred_removed: int = 0
    """Quads that followed before and do not now."""
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
            if item.name not in ("problems", "commit") and (value := getattr(self, item.name))
        ]
        return ", ".join(parts) or "nothing changed"
