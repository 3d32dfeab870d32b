"""An embedded RDF triple store with inference for Python.

The public names, and nothing else. Each is imported when it is first asked for, so that importing
the package costs nothing and `triplestore --help` does not wait for numpy.

>>> from triplestore import Store, Quad, NamedNode, Literal
>>> store = Store()
>>> print(store.add(Quad(NamedNode("http://ex.org/a"), NamedNode("http://ex.org/p"), Literal("x"))))
added 1
>>> len(store)
1
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from triplestore._version import VERSION as __version__

if TYPE_CHECKING:
    from pyoxigraph import (
        BaseDirection,
        BlankNode,
        DefaultGraph,
        Literal,
        NamedNode,
        Quad,
        RdfFormat,
        Triple,
    )

    from triplestore.change import Change
    from triplestore.errors import TripleStoreError
    from triplestore.snapshot import Snapshot
    from triplestore.store import Store
    from triplestore.transaction import Transaction

_HOMES = {
    "Store": "triplestore.store",
    "Snapshot": "triplestore.snapshot",
    "Transaction": "triplestore.transaction",
    "Change": "triplestore.change",
    "TripleStoreError": "triplestore.errors",
    "NamedNode": "pyoxigraph",
    "BlankNode": "pyoxigraph",
    "Literal": "pyoxigraph",
    "BaseDirection": "pyoxigraph",
    "Triple": "pyoxigraph",
    "Quad": "pyoxigraph",
    "DefaultGraph": "pyoxigraph",
    "RdfFormat": "pyoxigraph",
}

__all__ = [
    "BaseDirection",
    "BlankNode",
    "Change",
    "DefaultGraph",
    "Literal",
    "NamedNode",
    "Quad",
    "RdfFormat",
    "Snapshot",
    "Store",
    "Transaction",
    "Triple",
    "TripleStoreError",
    "__version__",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'triplestore' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
