"""Peers for reasoning: systems that compute the closure of rules or of an ontology.

Start at `base.Reasoner`, the interface of adapters, and `task.Task`, their input.
`bench/DESIGN.md` has the decisions.
"""

from __future__ import annotations

from bench.reasoners.base import Reasoner, Session, missing
from bench.reasoners.clingo_engine import Clingo
from bench.reasoners.duckdb_engine import Duckdb
from bench.reasoners.nemo import Nemo
from bench.reasoners.ours import OurReasoner
from bench.reasoners.owl import OWLRL, REASONABLE

OURS = OurReasoner("triplestore", arrays=False)
OURS_FROM_ARRAYS = OurReasoner("triplestore-arrays", arrays=True)

REASONERS: dict[str, Reasoner] = {
    reasoner.name: reasoner
    for reasoner in (
        OURS,
        OURS_FROM_ARRAYS,
        Nemo(),
        Duckdb(),
        Clingo(),
        REASONABLE,
        OWLRL,
    )
}

__all__ = ["OURS", "OURS_FROM_ARRAYS", "REASONERS", "Reasoner", "Session", "missing"]
