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
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triplestore._version import VERSION as __version__  # noqa: N811 - its usual name

_HERE = Path(__file__).parent
if not (_HERE / "loaders").is_dir():
    # A plain checkout: `loaders` and `ontologies` lie beside this folder until they are installed.
    __path__.append(str(_HERE.parent))

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

    from triplestore.datalog.program import Program
    from triplestore.errors import TripleStoreError
    from triplestore.loaders.tabular.mapping import Property
    from triplestore.proofs.absence import WhyNot
    from triplestore.proofs.proof import Proof
    from triplestore.reasoning.outcome import Change
    from triplestore.reasoning.program.stored_rules import check_rules
    from triplestore.reasoning.violations import Violation
    from triplestore.store.snapshot import Snapshot
    from triplestore.store.store import Store
    from triplestore.store.transaction import Transaction
    from triplestore.text_limits import TextLimits

_HOMES = {
    "Store": "triplestore.store.store",
    "Snapshot": "triplestore.store.snapshot",
    "Transaction": "triplestore.store.transaction",
    "Change": "triplestore.reasoning.outcome",
    "Violation": "triplestore.reasoning.violations",
    "Program": "triplestore.datalog.program",
    "Proof": "triplestore.proofs.proof",
    "WhyNot": "triplestore.proofs.absence",
    "TextLimits": "triplestore.text_limits",
    "check_rules": "triplestore.reasoning.program.stored_rules",
    "TripleStoreError": "triplestore.errors",
    "Property": "triplestore.loaders.tabular.mapping",
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
    "Program",
    "Proof",
    "Property",
    "Quad",
    "RdfFormat",
    "Snapshot",
    "Store",
    "TextLimits",
    "Transaction",
    "Triple",
    "TripleStoreError",
    "Violation",
    "WhyNot",
    "__version__",
    "check_rules",
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
