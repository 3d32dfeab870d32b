"""Terms of rdflib as those of pyoxigraph, and back: start at `to_term` and `from_term`.

What is always true: lexical forms stay as they are, so that a literal that comes back is equal to
the one that went in; only xsd:string is lost, because RDF 1.1 says that it is a plain literal.
"""

from __future__ import annotations

from typing import Any

import pyoxigraph as ox
from rdflib.term import BNode, Identifier, Literal, Node, URIRef

from triplestore.errors import UsageError
from triplestore.terms import key_of, term_of
from triplestore.terms.vocabulary import XSD_STRING


def to_term(term: Node) -> Any:
    """The term of pyoxigraph; what is none of RDF is refused.

    >>> to_term(Literal("01", datatype=URIRef("http://ex.org/d")))
    <Literal value=01 datatype=<NamedNode value=http://ex.org/d>>
    """
    return term_of(key_of(term))


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
