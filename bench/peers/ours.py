"""This project."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.peers.base import StoreHandle

if TYPE_CHECKING:
    from triplestore import Store


class OurHandle(StoreHandle):
    def __init__(self, store: Store) -> None:
        from triplestore import Quad

        self.store = store
        self.quad = Quad

    def load(self, path: Path, format: str) -> None:
        self.store.load(path=path, format=format)

    def close(self) -> None:
        self.store.close()


class OurPeer:
    name = "triplestore"
    packages = ("triplestore", "numpy", "numba")
    durable = True
    largest = 1_000_000_000

    def open(self, folder: Path | None, durability: str = "commit") -> OurHandle:
        from triplestore import Store

        return OurHandle(Store(folder, durability=durability))

    def warm_up(self) -> None:
        """Import numba and read the compiled kernels: both loads below go through all of them."""
        from bench.inputs import lubm

        with tempfile.TemporaryDirectory() as folder:
            for format in ("ntriples", "turtle"):
                path = Path(folder) / format
                lubm.write(path, 1, format=format, profile=lubm.Profile(departments=(3, 3)))
                handle = self.open(Path(folder) / f"{format}.store")
                handle.load(path, format)
                handle.close()
