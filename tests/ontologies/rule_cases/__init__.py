"""One small example or more for each rule of OWL 2 RL/RDF, as data for whoever implements them.

`CASES` is all of them, table by table as the W3C has the rules. In each case, deleting any triple
of the premise takes all conclusions away (or the inconsistency), but for the triples of `spare`.
What is said of a case is checked against the oracle in `test_oracle.py`.

    >>> len({case.rule for case in CASES}), CASES[0].rule
    (78, 'eq-ref')
"""

from __future__ import annotations

from tests.ontologies.rule_cases import (
    class_axioms,
    classes,
    datatypes,
    equality,
    properties,
    schema,
)
from tests.ontologies.rule_cases.case import RuleCase, read_cases

ROOMS = (equality, properties, classes, class_axioms, datatypes, schema)
"""Tables 4 to 9, in their order."""

CASES = [case for room in ROOMS for case in read_cases(room.TABLE)]

__all__ = ["CASES", "RuleCase", "read_cases"]
