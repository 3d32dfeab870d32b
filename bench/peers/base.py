"""The interface of adapters."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

# A triple pattern of pyoxigraph terms, None where anything matches.
Lookup = tuple[Any, Any, Any]


class Handle(Protocol):
    """An open store."""

    def load(self, path: Path, format: str) -> None:
        """Load a file (`ntriples` or `turtle`), and return when it is safe on disk."""

    def count(self) -> int:
        """The number of triples."""

    def add(self, subject: Any, predicate: Any, object: Any) -> None:
        """Add one triple of pyoxigraph terms, and commit it."""

    def look_up(self, pattern: Lookup) -> int:
        """Fetch all matches of a pattern; return their number."""

    def close(self) -> None:
        """Release everything."""


class StoreHandle:
    """The methods of stores with the interface of pyoxigraph: `store`, and its class `quad`."""

    store: Any
    quad: Any

    def count(self) -> int:
        return len(self.store)

    def add(self, subject: Any, predicate: Any, object: Any) -> None:
        self.store.add(self.quad(subject, predicate, object))

    def look_up(self, pattern: Lookup) -> int:
        return sum(1 for _ in self.store.quads_for_pattern(*pattern))


class Peer(Protocol):
    """A system that can open stores."""

    @property
    def name(self) -> str: ...

    @property
    def packages(self) -> tuple[str, ...]:
        """The distributions whose versions go into the report."""

    @property
    def durable(self) -> bool:
        """Whether it keeps its data on disk."""

    @property
    def largest(self) -> int:
        """Maximum number of triples that load in reasonable time."""

    def open(self, folder: Path | None, durability: str = "commit") -> Handle:
        """Open a store in a folder (made if it is missing), or in memory."""

    def warm_up(self) -> None:
        """Do the work of a first use in a process, beyond imports."""
