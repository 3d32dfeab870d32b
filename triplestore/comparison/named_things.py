"""Classes and properties that are declared in one of two states only: start at `named_changes`."""

from __future__ import annotations

import numpy as np

from triplestore.relations import Changes
from triplestore.relations.packed_keys import U32
from triplestore.store.state_view import StateView
from triplestore.terms import IRI
from triplestore.terms.vocabulary import OWL, RDF, RDF_TYPE, RDFS

KINDS = {
    "classes": (f"{OWL}Class", f"{RDFS}Class"),
    "properties": (
        f"{OWL}ObjectProperty",
        f"{OWL}DatatypeProperty",
        f"{OWL}AnnotationProperty",
        f"{RDF}Property",
    ),
}
"""What things of each kind are declared to be."""


def named_changes(before: StateView, after: StateView, net: Changes) -> dict[str, int]:
    """Numbers of classes and properties with a name that are new, and that are removed."""
    found = {}
    type_id = _ids(after, (RDF_TYPE,))
    p, s, o = net.facts.columns
    for kind, declared in KINDS.items():
        classes = _ids(after, declared)
        touched = np.unique(s[np.isin(p, type_id) & np.isin(o, classes)])
        touched = touched[after.dictionary.kinds(touched) == IRI] if len(touched) else touched
        was, now = (_declared(view, type_id, classes, touched) for view in (before, after))
        found[f"new-{kind}"] = int(np.count_nonzero(now & ~was))
        found[f"removed-{kind}"] = int(np.count_nonzero(was & ~now))
    return found


def _ids(view: StateView, names: tuple[str, ...]) -> U32:
    found = view.dictionary.lookup_keys([b"\x01" + name.encode() for name in names])
    return found[found > 0]


def _declared(view: StateView, type_id: U32, classes: U32, subjects: U32) -> np.ndarray:
    held = np.zeros(len(subjects), np.bool_)
    for name in type_id.tolist():
        for one in classes.tolist():
            columns = (subjects, np.full(len(subjects), one, np.uint32))
            held |= view.tables.relation(name).status_of(columns) != 0
    return held
