"""Violations as plain data: start at `violation_data`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triplestore.datalog.program import Constant, TripleAtom

if TYPE_CHECKING:
    from triplestore.browse.term_data import TermData
    from triplestore.reasoning.violations import Violation


def violation_data(violation: Violation, data: TermData) -> dict[str, Any]:
    """A violation: its constraint, its message, the terms of its variables, and its axioms.

    >>> from triplestore import NamedNode, Store
    >>> from triplestore.browse.term_data import TermData
    >>> from triplestore.reasoning.violations import Violation
    >>> from triplestore.store.readable import view_of
    >>> found = Violation("loop", "is its own parent", {"x": NamedNode("http://e/a")})
    >>> violation_data(found, TermData(view_of(Store())))["bindings"]["x"]["value"]
    'http://e/a'
    """
    terms = data.terms(list(violation.values.values()))
    return {
        "constraint": violation.constraint,
        "message": violation.message,
        "bindings": dict(zip(violation.values, terms, strict=True)),
        "axioms": [_axiom(axiom, data) for axiom in violation.axioms],
        "text": str(violation),
    }


def _axiom(axiom: TripleAtom, data: TermData) -> list[dict[str, Any]]:
    return data.terms([each.term for each in axiom.terms if isinstance(each, Constant)])
