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
        CanonicalizationAlgorithm,
        Dataset,
        DefaultGraph,
        Literal,
        NamedNode,
        Quad,
        QuadParser,
        QueryResultsFormat,
        RdfFormat,
        Triple,
        Variable,
        parse,
        parse_query_results,
        serialize,
    )

    from triplestore.datalog.program import Program
    from triplestore.errors import (
        LostPlaceError,
        ServiceError,
        ShapesViolationError,
        TripleStoreError,
    )
    from triplestore.live.events import RowChanges
    from triplestore.live.feed import ChangeFeed, QuadChanges
    from triplestore.live.subscription import Subscription
    from triplestore.loaders.tabular.mapping import Property
    from triplestore.maintenance.report import Report
    from triplestore.network.services import Services
    from triplestore.proofs.audit import Audit
    from triplestore.proofs.proof import Proof, WhyNot
    from triplestore.reasoning.difference import Difference
    from triplestore.reasoning.outcome import Change
    from triplestore.reasoning.program.stored_rules import check_rules
    from triplestore.reasoning.reports.run_report import RegimeReport
    from triplestore.reasoning.violations import Inconsistencies, Violation
    from triplestore.shacl.causes import Cause
    from triplestore.shacl.reports.report import ValidationReport
    from triplestore.shacl.reports.result import ValidationResult
    from triplestore.sparql.results.explanation import Explanation
    from triplestore.sparql.results.solutions import Solution, Solutions, Triples
    from triplestore.sparql.results.solutions import Solution as QuerySolution
    from triplestore.sparql.results.solutions import Solutions as QuerySolutions
    from triplestore.sparql.results.solutions import Triples as QueryTriples
    from triplestore.store.arguments import GraphLike, QuadLike, TermLike
    from triplestore.store.faces.branch import Branch
    from triplestore.store.faces.branching import BranchInfo
    from triplestore.store.info import Info
    from triplestore.store.run_query import Prepared
    from triplestore.store.snapshot import Snapshot
    from triplestore.store.store import Store
    from triplestore.store.transaction import Transaction
    from triplestore.terms.term_keys import Term
    from triplestore.text_limits import TextLimits
    from triplestore.versions.consequences import Consequences
    from triplestore.versions.history_log import CommitInfo

    QueryBoolean = bool

# Where each name is: the module, and the name there if it is another one.
_HOMES: dict[str, str | tuple[str, str]] = {
    "Audit": "triplestore.proofs.audit",
    "Branch": "triplestore.store.faces.branch",
    "BranchInfo": "triplestore.store.faces.branching",
    "Change": "triplestore.reasoning.outcome",
    "CommitInfo": "triplestore.versions.history_log",
    "Consequences": "triplestore.versions.consequences",
    "Difference": "triplestore.reasoning.difference",
    "Explanation": "triplestore.sparql.results.explanation",
    "GraphLike": "triplestore.store.arguments",
    "Inconsistencies": "triplestore.reasoning.violations",
    "Info": "triplestore.store.info",
    "Prepared": "triplestore.store.run_query",
    "Program": "triplestore.datalog.program",
    "Proof": "triplestore.proofs.proof",
    "QuadLike": "triplestore.store.arguments",
    "RegimeReport": "triplestore.reasoning.reports.run_report",
    "Report": "triplestore.maintenance.report",
    "ServiceError": "triplestore.errors",
    "Services": "triplestore.network.services",
    "Snapshot": "triplestore.store.snapshot",
    "Solution": "triplestore.sparql.results.solutions",
    "Solutions": "triplestore.sparql.results.solutions",
    "Store": "triplestore.store.store",
    "Term": "triplestore.terms.term_keys",
    "TermLike": "triplestore.store.arguments",
    "TextLimits": "triplestore.text_limits",
    "Transaction": "triplestore.store.transaction",
    "TripleStoreError": "triplestore.errors",
    "Triples": "triplestore.sparql.results.solutions",
    "Violation": "triplestore.reasoning.violations",
    "WhyNot": "triplestore.proofs.proof",
    "Subscription": "triplestore.live.subscription",
    "RowChanges": "triplestore.live.events",
    "QuadChanges": "triplestore.live.feed",
    "ChangeFeed": "triplestore.live.feed",
    "LostPlaceError": "triplestore.errors",
    "check_rules": "triplestore.reasoning.program.stored_rules",
    "Property": "triplestore.loaders.tabular.mapping",
    "Cause": "triplestore.shacl.causes",
    "ShapesViolationError": "triplestore.errors",
    "ValidationReport": "triplestore.shacl.reports.report",
    "ValidationResult": "triplestore.shacl.reports.result",
    # Code for pyoxigraph that imports this package instead finds its names.
    "BaseDirection": "pyoxigraph",
    "BlankNode": "pyoxigraph",
    "CanonicalizationAlgorithm": "pyoxigraph",
    "Dataset": "pyoxigraph",
    "DefaultGraph": "pyoxigraph",
    "Literal": "pyoxigraph",
    "NamedNode": "pyoxigraph",
    "Quad": "pyoxigraph",
    "QuadParser": "pyoxigraph",
    "QueryResultsFormat": "pyoxigraph",
    "RdfFormat": "pyoxigraph",
    "Triple": "pyoxigraph",
    "Variable": "pyoxigraph",
    "parse": "pyoxigraph",
    "parse_query_results": "pyoxigraph",
    "serialize": "pyoxigraph",
    "QueryBoolean": ("builtins", "bool"),
    "QuerySolution": ("triplestore.sparql.results.solutions", "Solution"),
    "QuerySolutions": ("triplestore.sparql.results.solutions", "Solutions"),
    "QueryTriples": ("triplestore.sparql.results.solutions", "Triples"),
}

__all__ = [
    "Audit",
    "BaseDirection",
    "BlankNode",
    "Branch",
    "BranchInfo",
    "CanonicalizationAlgorithm",
    "Cause",
    "Change",
    "ChangeFeed",
    "CommitInfo",
    "Consequences",
    "Dataset",
    "DefaultGraph",
    "Difference",
    "Explanation",
    "GraphLike",
    "Inconsistencies",
    "Info",
    "Literal",
    "LostPlaceError",
    "NamedNode",
    "Prepared",
    "Program",
    "Proof",
    "Property",
    "Quad",
    "QuadChanges",
    "QuadLike",
    "QuadParser",
    "QueryBoolean",
    "QueryResultsFormat",
    "QuerySolution",
    "QuerySolutions",
    "QueryTriples",
    "RdfFormat",
    "RegimeReport",
    "Report",
    "RowChanges",
    "ServiceError",
    "Services",
    "ShapesViolationError",
    "Snapshot",
    "Solution",
    "Solutions",
    "Store",
    "Subscription",
    "Term",
    "TermLike",
    "TextLimits",
    "Transaction",
    "Triple",
    "TripleStoreError",
    "Triples",
    "ValidationReport",
    "ValidationResult",
    "Variable",
    "Violation",
    "WhyNot",
    "__version__",
    "check_rules",
    "parse",
    "parse_query_results",
    "serialize",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'triplestore' has no attribute {name!r}")
    module, own = (home, name) if isinstance(home, str) else home
    value = getattr(import_module(module), own)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
