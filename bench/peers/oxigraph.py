"""pyoxigraph: Oxigraph's store on RocksDB."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bench.peers.base import StoreHandle

if TYPE_CHECKING:
    import pyoxigraph


class OxigraphHandle(StoreHandle):
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
