"""A pytest plugin for rdflib's own tests: graphs without a named store are over ours."""

from __future__ import annotations

from typing import Any

import rdflib.plugin
import rdflib.store

from triplestore.rdflib_store import TripleStore


class OurStore(TripleStore):
    """Our store, with permission to load the files of the tests."""

    def __init__(self, configuration: Any = None, identifier: Any = None) -> None:
        super().__init__(configuration, identifier, load_from=["file:", "http://localhost"])


for name in ("default", "Memory"):
    rdflib.plugin.register(name, rdflib.store.Store, __name__, "OurStore")
