"""pyoxigraph: Oxigraph's store on RocksDB."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.peers.base import Lookup

if TYPE_CHECKING:
    import pyoxigraph


class OxigraphHandle:
    def __init__(self, store: pyoxigraph.Store) -> None:
        import pyoxigraph

        self.store = store
        self.formats = {
            "ntriples": pyoxigraph.RdfFormat.N_TRIPLES,
            "turtle": pyoxigraph.RdfFormat.TURTLE,
        }
        self.quad = pyoxigraph.Quad

    def load(self, path: Path, format: str) -> None:
        # The fast way in: it writes sorted files directly, without a transaction.
        self.store.bulk_load(path=str(path), format=self.formats[format])
        self.store.flush()

    def count(self) -> int:
        return len(self.store)

    def add(self, subject: Any, predicate: Any, object: Any) -> None:
        self.store.add(self.quad(subject, predicate, object))

    def look_up(self, pattern: Lookup) -> int:
        return sum(1 for _ in self.store.quads_for_pattern(*pattern))

    def close(self) -> None:
        del self.store


class Oxigraph:
    name = "pyoxigraph"
    packages = ("pyoxigraph",)
    durable = True
    largest = 100_000_000

    def open(self, folder: Path | None, durability: str = "commit") -> OxigraphHandle:
        import pyoxigraph

        return OxigraphHandle(pyoxigraph.Store(None if folder is None else str(folder)))

    def warm_up(self) -> None:
        pass
