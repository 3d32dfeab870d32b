"""Imports of the data that are not in the store: the meaning of an ontology may depend on them.

Start reading at `missing_imports`. Loading a document does not follow imports, since data may come
from untrusted sources. So a report names the missing ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triplestore.relations import EXPLICIT
from triplestore.terms.vocabulary import OWL, OWL_IMPORTS, RDF_TYPE

if TYPE_CHECKING:
    from triplestore.relations import Tables
    from triplestore.terms import Dictionary

_NAMES = (OWL_IMPORTS, f"{OWL}versionIRI", RDF_TYPE, f"{OWL}Ontology")
_KEYS = [b"\x01" + name.encode() for name in _NAMES]


def missing_imports(tables: Tables, dictionary: Dictionary) -> list[str]:
    """The IRIs of imported ontologies that are not in the store, in order.

    An ontology is there if it is asserted to be one, by its name or that of its version, or if a
    named graph has its name. An IRI is the same with and without `#` at its end.
    """
    imports, version, type_id, ontology = dictionary.lookup_keys(_KEYS).tolist()
    pairs = _stated(tables, imports)
    known = {s for s, _ in pairs} | {o for _, o in _stated(tables, version)}
    if not pairs:
        return []
    known |= {s for s, _ in _stated(tables, type_id, ontology)} if ontology else set()
    known |= {*tables.graphs().tolist()}
    names = {_plain(dictionary.key(one)) for one in known}
    found = sorted(dictionary.key(one) for one in {o for _, o in pairs})
    return [key[1:].decode() for key in found if _plain(key) not in names]


def _plain(key: bytes) -> bytes:
    return key[1:].removesuffix(b"#")


def _stated(tables: Tables, name: int, second: int | None = None) -> list[tuple[int, int]]:
    """The asserted pairs of a property, of all graphs; if it is given, with this second term."""
    if not name:
        return []
    order = 0 if second is None else 1
    found: list[tuple[int, int]] = []
    for relation in (tables.relation(name), tables.quads(name)):
        for one, other, *_ in relation.scan(EXPLICIT, order=order, first=second):
            found += zip(one.tolist(), other.tolist(), strict=True)
    return found
