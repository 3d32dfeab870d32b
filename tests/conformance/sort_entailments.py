"""Sorts the positive entailments of the OWL 2 RL test cases by whether tables 4 to 9 derive them.

    python -m tests.conformance.sort_entailments [FOLDER OF SHARED DATA]

writes `owl2_entailments.tsv` anew: `required` are those that the oracle derives; `not required` the
others, each with the reason, which stands here. What the W3C asks of an implementation of the rules
is theorem PR1 of the profiles: to derive the assertions that follow, of named classes and
properties; the oracle is those rules and nothing else.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from tests.conformance.entailment import entails
from tests.conformance.owl2 import OwlCase, read_cases
from tests.ontologies.oracle import close

TABLE = Path(__file__).with_name("owl2_entailments.tsv")
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"

CLASS = (
    "a class expression that the premise does not have; PR1 is about assertions of named classes"
)
DIFFERENT = "concludes owl:differentFrom, which no rule does; PR1 asks for no inequalities"
SCHEMA = "concludes an axiom; PR1 asks for assertions only, and no scm- rule makes this one"
DATATYPE = "concludes a range from what values datatypes have; PR1 asks for assertions only"
REASONS = {
    "DisjointClasses-001": CLASS,
    "DisjointClasses-003": CLASS,
    "New-Feature-ObjectQCR-002": CLASS,
    "WebOnt-I5.5-005": "asks for a list and a union of it that the premise does not have",
    "Disjoint_Props_via_Disjoint_Domains": SCHEMA,
    "Disjoint_Props_via_Disjoint_Ranges": SCHEMA,
    "New-Feature-ObjectPropertyChain-BJP-002": SCHEMA,
    "chain2trans1": SCHEMA,
    "New-Feature-DisjointDataProperties-002": DIFFERENT,
    "New-Feature-DisjointObjectProperties-001": DIFFERENT,
    "New-Feature-DisjointObjectProperties-002": DIFFERENT,
    "WebOnt-differentFrom-001": DIFFERENT,
    "owl2-rl-rules-fp-differentFrom": DIFFERENT,
    "owl2-rl-rules-ifp-differentFrom": DIFFERENT,
    "WebOnt-I5.8-006": DATATYPE,
    "WebOnt-I5.8-008": DATATYPE,
    "WebOnt-I5.8-009": DATATYPE,
    "New-Feature-ReflexiveProperty-001": "reflexive properties are outside OWL 2 RL",
    "WebOnt-I4.6-005-Direct": "direct semantics, which does not see annotations; the rules do",
    "WebOnt-equivalentClass-008-Direct": "direct semantics, which does not see annotations",
}


def sort(cases: list[OwlCase]) -> list[tuple[str, str, str]]:
    """(name, status, reason) of each positive entailment."""
    rows = []
    for case in cases:
        if "PositiveEntailmentTest" in case.types:
            derived = entails(close(case.facts("premise")).graph, case.facts("conclusion"))
            reason = "derived by tables 4 to 9" if derived else REASONS[case.name]
            rows.append((case.name, "required" if derived else "not required", reason))
    return rows


def read_table() -> list[tuple[str, str, str]]:
    """The rows as they are written down."""
    with TABLE.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t"))
    return [(name, status, reason) for name, status, reason in rows[1:]]


def write_table(rows: list[tuple[str, str, str]]) -> None:
    """Write the rows down."""
    with TABLE.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, delimiter="\t", lineterminator="\n")
        writer.writerow(["case", "status", "reason"])
        writer.writerows(rows)


if __name__ == "__main__":
    write_table(sort(read_cases(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)))
