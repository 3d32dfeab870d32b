"""The papers' maintenance algorithms, one fact at a time, in plain Python.

    made = Materialisation(program, facts)
    report = dred(made, deletions, additions)      # or counting, bf, fbf, dred_c, bf_c, fbf_c
    made.facts, report.count("rederive")

The algorithms are the drivers of `triplestore/maintenance`, run over sets (`steps`). That is slow
(some ten thousand instances a second) and exact: each considers the rule instances that its
pseudo-code considers, and its `Report` has them all, by phase. `facts` says how facts are
written, `report` what the phases are; `DESIGN.md` has the choices.
"""

from tests.reference.algorithms import bf, bf_c, dred, dred_c, fbf, fbf_c
from tests.reference.counting import counting, trace
from tests.reference.facts import Fact, by_predicate
from tests.reference.matching import Instance
from tests.reference.report import ADDITION, INSERTION, OVERDELETION, PROVING, REMOVAL, Report
from tests.reference.search import after, always, deeper_than, never
from tests.reference.state import Materialisation

__all__ = [
    "ADDITION",
    "INSERTION",
    "OVERDELETION",
    "PROVING",
    "REMOVAL",
    "Fact",
    "Instance",
    "Materialisation",
    "Report",
    "after",
    "always",
    "bf",
    "bf_c",
    "by_predicate",
    "counting",
    "deeper_than",
    "dred",
    "dred_c",
    "fbf",
    "fbf_c",
    "never",
    "trace",
]
