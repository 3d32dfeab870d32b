"""Terms of rdflib to terms of pyoxigraph, and back: start at `to_term` and `from_term`.

Always true: lexical forms are kept, so a stored literal is read back as an equal one; only
xsd:string is lost, because it is a plain literal in RDF 1.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyoxigraph as ox
from numpy.typing import NDArray
from rdflib.term import BNode, Identifier, Literal, Node, URIRef

from triplestore.errors import UsageError
from triplestore.expressions.text.term_parser import against_base
from triplestore.terms import key_of, term_of
from triplestore.terms.term_keys import IRI
from triplestore.terms.vocabulary import XSD_STRING

if TYPE_CHECKING:
    from triplestore.store import ReadableStore

_MAX_KNOWN = 1 << 17


def to_term(term: Node) -> Any:
    """The term of pyoxigraph. Relative IRIs are kept; other invalid terms are refused.

    >>> to_term(Literal("01", datatype=URIRef("http://ex.org/d")))
    <Literal value=01 datatype=<NamedNode value=http://ex.org/d>>
    >>> to_term(URIRef("pizza"))
    <NamedNode value=pizza>
    """
    try:
        return term_of(key_of(term))
    except UsageError:
        if isinstance(term, URIRef) and _is_relative(str(term)):
            return term_of(bytes([IRI]) + term.encode())
        raise


def _is_relative(text: str) -> bool:
    """Whether a text is a relative IRI."""
    try:
        against_base(text, "http://x/")
    except ValueError:
        return False
    return True


def from_term(term: Any) -> Identifier:
    """The term of rdflib.

    >>> from_term(ox.Literal("chat", language="fr"))
    rdflib.term.Literal('chat', lang='fr')
    >>> from_term(ox.Literal("007", datatype=ox.NamedNode("http://www.w3.org/2001/XMLSchema#byte")))
    rdflib.term.Literal('007', datatype=rdflib.term.URIRef('http://www.w3.org/2001/XMLSchema#byte'))
    """
    if isinstance(term, ox.NamedNode):
        return URIRef(term.value)
    if isinstance(term, ox.BlankNode):
        return BNode(term.value)
    if not isinstance(term, ox.Literal) or term.direction is not None:
        raise UsageError(f"rdflib has no term for {term}")
    if term.language is not None:
        return Literal(term.value, lang=term.language)
    datatype = term.datatype.value
    if datatype == XSD_STRING:
        return Literal(term.value)
    return Literal(term.value, datatype=URIRef(datatype), normalize=False)


class Decoder:
    """Turns columns of ids into terms of rdflib, which are slow to make and therefore cached."""

    def __init__(self) -> None:
        self._known: dict[int, Identifier] = {}
        self._dictionary: object = None

    def terms(self, store: ReadableStore, ids: NDArray[np.uint32]) -> list[Identifier]:
        """The terms of a column."""
        dictionary = store._view().dictionary
        if dictionary is not self._dictionary or len(self._known) > _MAX_KNOWN:
            # The ids of a dictionary do not change.
            self._known, self._dictionary = {}, dictionary
        known = self._known
        one_value = ids.strides == (0,) and len(ids) > 0
        listed = ids[:1].tolist() if one_value else ids.tolist()
        missing = [number for number in dict.fromkeys(listed) if number not in known]
        if missing:
            made = store.terms(np.array(missing, np.uint32))
            known.update(zip(missing, map(from_term, made), strict=True))
        found = [known[number] for number in listed]
        return found * len(ids) if one_value else found
