"""What is in a store, in a form that fits in a model's context: start at `describe_store`.

The most used classes and properties come first; how many more there are is said, and
`search_terms` finds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from pyoxigraph import Literal, NamedNode

from triplestore.browse.index.term_usage import ids_of
from triplestore.browse.labels import values_of
from triplestore.browse.member_counts import Counted, class_counts, is_system, property_counts
from triplestore.browse.shapes import Shapes
from triplestore.browse.term_data import USUAL_PREFIXES, TermData
from triplestore.browse.thresholds import BROWSE
from triplestore.relations import EXPLICIT, INFERRED, OBJECT, SUBJECT
from triplestore.relations.packed_keys import U32
from triplestore.store.readable import view_of
from triplestore.terms import key_of
from triplestore.terms.term_keys import IRI
from triplestore.terms.vocabulary import (
    RDFS_COMMENT,
    RDFS_DOMAIN,
    RDFS_RANGE,
    RDFS_SUB_CLASS_OF,
    RDFS_SUB_PROPERTY_OF,
    SKOS_DEFINITION,
)
from triplestore.thread_limits import look

if TYPE_CHECKING:
    from triplestore.store.arguments import TermLike
    from triplestore.store.readable import ReadableStore
    from triplestore.store.state_view import StateView

_DOMAINS = (RDFS_DOMAIN, "http://schema.org/domainIncludes", "https://schema.org/domainIncludes")
_RANGES = (RDFS_RANGE, "http://schema.org/rangeIncludes", "https://schema.org/rangeIncludes")
_COMMENTS = (RDFS_COMMENT, SKOS_DEFINITION)


class _Term(int):
    """The id of a term, which becomes an object at the end, all of one answer at once."""


def describe_store(
    store: ReadableStore,
    *,
    classes: int = 30,
    properties: int = 40,
    shape: int = 8,
    examples: int = 2,
    about: Iterable[TermLike] | None = None,
    language: str = "en",
) -> dict[str, Any]:
    """What a store has: prefixes, graphs, classes and properties with counts and shapes.

    `classes`, `properties`, `shape` (properties of a class) and `examples` say how many are listed
    at most, those with the most members or triples first, then classes with the most subclasses;
    `total` counts all. Terms of RDF, RDFS, OWL and XSD are listed in `vocabulary` only. With
    `about`, only these classes and properties are described. Shares and ends of properties are
    those of a sample, all other numbers are exact.

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.load('''@prefix ex: <http://ex.org/> .
    ...     ex:ada a ex:Person ; ex:knows ex:bob . ex:bob a ex:Person .''', "ttl")
    >>> found = describe_store(store)
    >>> [person] = found["classes"]["items"]
    >>> person["term"]["short"], person["asserted"], person["inferred"]
    ('ex:Person', 2, 0)
    >>> [knows] = person["properties"]
    >>> knows["property"]["short"], knows["share"], [end["short"] for end in knows["values"]]
    ('ex:knows', 0.5, ['ex:Person'])
    """
    view = view_of(store)
    all_classes = class_counts(view.tables, view.dictionary)
    all_properties = property_counts(view.tables, view.dictionary)
    shapes = Shapes(view.tables, view.dictionary, all_classes)
    asked = None if about is None else _asked(view, about)
    shown_classes, own_classes = _chosen(view, all_classes, asked, classes)
    shown_properties, own_properties = _chosen(view, all_properties, asked, properties)
    found: dict[str, Any] = {
        "quads": _totals(view),
        "graphs": _graphs(view),
        "regimes": list(view.regimes),
        "prefixes": {**USUAL_PREFIXES, **view.prefixes},
        "classes": {
            "total": own_classes,
            "items": [
                {
                    **_counted(row),
                    "subclasses": row[3],
                    **_class(view, shapes, row[0], shape, examples),
                }
                for row in _rows(shown_classes)
            ],
        },
        "properties": {
            "total": own_properties,
            "items": [
                {
                    **_counted(row),
                    "axioms": row[3],
                    **_property(view, shapes, row[0], examples),
                }
                for row in _rows(shown_properties)
            ],
        },
    }
    if asked is None:
        found["vocabulary"] = _vocabulary(view, all_classes, all_properties)
    return _with_terms(view, found, language)


# --- parts ---------------------------------------------------------------------------------------


def _totals(view: StateView) -> dict[str, int]:
    tables = view.tables
    return {
        "asserted": tables.total(EXPLICIT) + tables.quad_total(EXPLICIT),
        "inferred": tables.total(INFERRED) + tables.quad_total(INFERRED) - view.hidden,
    }


def _graphs(view: StateView) -> dict[str, Any]:
    """The largest of the named graphs, and how many there are."""
    graphs = view.tables.graphs()
    listed = graphs[: BROWSE.counted_graphs].tolist()
    sized = sorted(((view.tables.graph(g).count(), g) for g in listed), key=lambda x: (-x[0], x[1]))
    items = [{"name": _Term(g), "count": count} for count, g in sized[: BROWSE.shown_graphs]]
    return {"total": len(graphs), "default": view.tables.total() - view.hidden, "items": items}


def _class(
    view: StateView, shapes: Shapes, class_id: int, shape: int, examples: int
) -> dict[str, Any]:
    look("describing a class")
    members = shapes.members(class_id)
    named = members[view.dictionary.kinds(members) == IRI]
    return {
        **_about(view, class_id, "superclasses", RDFS_SUB_CLASS_OF),
        "properties": _shape(shapes, members, SUBJECT, shape),
        "inverse": _shape(shapes, members, OBJECT, shape // 2),
        "examples": _terms(named[:examples]),
    }


def _shape(shapes: Shapes, members: U32, role: int, most: int) -> list[dict[str, Any]]:
    found = shapes.properties(members, role, most)
    return [
        {**item, "property": _Term(item["property"]), "values": _ends(item["values"])}
        for item in found
    ]


def _property(view: StateView, shapes: Shapes, name: int, examples: int) -> dict[str, Any]:
    look("describing a property")
    subjects, objects = shapes.ends_of(name)
    rows = zip(subjects[:examples].tolist(), objects[:examples].tolist(), strict=True)
    return {
        **_about(view, name, "superproperties", RDFS_SUB_PROPERTY_OF),
        "domain": _stated(view, name, _DOMAINS),
        "range": _stated(view, name, _RANGES),
        "subjects": _ends(shapes.what(subjects)),
        "objects": _ends(shapes.what(objects)),
        "examples": [[_Term(s), _Term(o)] for s, o in rows],
    }


def _about(view: StateView, term: int, above: str, property: str) -> dict[str, Any]:
    """A term with its comment and what is asserted to be above it."""
    found: dict[str, Any] = {"term": _Term(term)}
    comments = _values(view, term, _COMMENTS)
    texts = [view.dictionary.term(comment) for comment in comments.tolist()[:20]]
    english = [t.value for t in texts if isinstance(t, Literal) and t.language in ("en", None)]
    if english:
        text = " ".join(english[0].split())
        most = BROWSE.shown_comment
        found["comment"] = text if len(text) <= most else text[: most - 1] + "…"
    (name,) = ids_of(view.dictionary, (property,))
    if name:
        higher = view.tables.relation(name).by_first(term, EXPLICIT)
        named = higher[(view.dictionary.kinds(higher) == IRI) & (higher != term)]
        found[above] = _terms(named[: BROWSE.shown_above])
    return found


def _stated(view: StateView, name: int, properties: Sequence[str]) -> list[_Term]:
    """The domains or ranges that are asserted."""
    found = _values(view, name, properties, EXPLICIT)
    return _terms(found[view.dictionary.kinds(found) == IRI][: BROWSE.shown_above])


def _values(
    view: StateView, subject: int, properties: Sequence[str], where: int = EXPLICIT | INFERRED
) -> U32:
    one = np.array([subject], dtype=np.uint32)
    found = [np.zeros(0, dtype=np.uint32)]
    for name in ids_of(view.dictionary, properties):
        if name and where == EXPLICIT:
            found.append(view.tables.relation(name).by_first(subject, EXPLICIT))
        elif name:
            found.append(values_of(view, name, one)[1])
    return np.concatenate(found)


def _vocabulary(view: StateView, *counted: Counted) -> list[dict[str, Any]]:
    """The terms of RDF, RDFS, OWL and XSD that are in use."""
    found = []
    for counts in counted:
        used = counts.asserted + counts.inferred > 0
        system = counts.where(used & is_system(view.dictionary, counts.ids))
        found += [_counted(row) for row in _rows(system, BROWSE.shown_vocabulary)]
    return found


# --- which ---------------------------------------------------------------------------------------


def _asked(view: StateView, about: Iterable[TermLike]) -> U32:
    return view.dictionary.lookup_keys([key_of(term) for term in about])


def _chosen(view: StateView, counts: Counted, asked: U32 | None, most: int) -> tuple[Counted, int]:
    """What is listed, and how many there are of its kind."""
    if asked is not None:
        found = counts.where(np.isin(counts.ids, asked))
    else:
        found = counts.where(~is_system(view.dictionary, counts.ids))
    return found.first(max(0, most)), len(found.ids)


def _rows(counts: Counted, most: int | None = None) -> list[tuple[int, int, int, int]]:
    ids, asserted, inferred, below = (column[:most].tolist() for column in counts)
    return list(zip(ids, asserted, inferred, below, strict=True))


def _counted(row: tuple[int, int, int, int]) -> dict[str, Any]:
    return {"term": _Term(row[0]), "asserted": row[1], "inferred": row[2]}


def _terms(ids: U32) -> list[_Term]:
    return [_Term(term_id) for term_id in ids.tolist()]


def _ends(found: list[int | str]) -> list[Any]:
    """Classes and datatypes as terms."""
    return [_Term(end) if isinstance(end, int) else NamedNode(end) for end in found]


def _with_terms(view: StateView, data: dict[str, Any], language: str) -> dict[str, Any]:
    """The same data with an object in the place of each id."""
    ids: set[int] = set()

    def gather(item: Any) -> None:
        if isinstance(item, _Term):
            ids.add(int(item))
        elif isinstance(item, dict):
            for value in item.values():
                gather(value)
        elif isinstance(item, list):
            for value in item:
                gather(value)

    gather(data)
    listed = sorted(ids)
    objects = TermData(view, language)
    made = dict(zip(listed, objects.ids(np.array(listed, dtype=np.uint32)), strict=True))

    def replaced(item: Any) -> Any:
        if isinstance(item, _Term):
            return made[int(item)]
        if isinstance(item, NamedNode):
            return objects.term(item)
        if isinstance(item, dict):
            return {key: replaced(value) for key, value in item.items()}
        if isinstance(item, list):
            return [replaced(value) for value in item]
        return item

    found: dict[str, Any] = replaced(data)
    return found
