"""Names of RDF, RDFS, OWL, XSD and SKOS, and terms written as in Turtle.

>>> term("owl:Thing").value
'http://www.w3.org/2002/07/owl#Thing'
>>> [str(t) for t in triple("ex:a ex:age '1'^^xsd:int")][2]
'"1"^^<http://www.w3.org/2001/XMLSchema#int>'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode

Term: TypeAlias = NamedNode | BlankNode | Literal
Fact: TypeAlias = tuple[Term, Term, Term]  # generalised: a literal may stand anywhere

PREFIXES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "skosxl": "http://www.w3.org/2008/05/skos-xl#",
    "ex": "http://example.org/",
}
TURTLE_PREFIXES = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in PREFIXES.items())

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<iri><[^>]*>)
      | _:(?P<blank>\w+)
      | (?P<quote>["'])(?P<text>.*?)(?P=quote)(?:@(?P<tag>[\w-]+)|\^\^(?P<type>[\w:]+))?
      | (?P<number>[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w:])
      | (?P<flag>true|false)(?![\w:])
      | (?P<name>[\w-]*:[\w.-]*\w|a)
      | (?P<end>\.)
    )""",
    re.VERBOSE,
)


@cache
def term(text: str) -> Term:
    """The term that a Turtle token stands for."""
    match = _TOKEN.fullmatch(text)
    if match is None:
        raise ValueError(f"no term: {text!r}")
    return _term(match)


def terms(text: str) -> list[Term]:
    """The terms of tokens with spaces between them."""
    return list(_terms(text))


def triple(text: str) -> Fact:
    """The triple of three tokens."""
    (found,) = triples(text)
    return found


def triples(text: str) -> list[Fact]:
    """The triples of a text such as `ex:a a ex:C . "x" a xsd:string .`, literals anywhere."""
    found = terms(text)
    if len(found) % 3:
        raise ValueError(f"not a number of triples: {text!r}")
    return [(found[i], found[i + 1], found[i + 2]) for i in range(0, len(found), 3)]


def _terms(text: str) -> Iterator[Term]:
    place, text = 0, text.rstrip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise ValueError(f"cannot read {text[place : place + 40]!r}")
        place = match.end()
        if match["end"] is None:
            yield _term(match)


def _term(match: re.Match[str]) -> Term:
    if match["iri"]:
        return NamedNode(match["iri"][1:-1])
    if match["blank"]:
        return BlankNode(match["blank"])
    if match["quote"]:
        if match["tag"]:
            return Literal(match["text"], language=match["tag"])
        return Literal(match["text"], datatype=term(match["type"] or "xsd:string"))
    if match["flag"]:
        return Literal(match["flag"], datatype=term("xsd:boolean"))
    if match["number"]:
        number = match["number"]
        kind = "double" if "e" in number.lower() else "decimal" if "." in number else "integer"
        return Literal(number, datatype=term(f"xsd:{kind}"))
    if match["name"] == "a":
        return term("rdf:type")
    prefix, _, local = match["name"].partition(":")
    return NamedNode(PREFIXES[prefix] + local)


TYPE = term("rdf:type")
FIRST = term("rdf:first")
REST = term("rdf:rest")
NIL = term("rdf:nil")
SAME_AS = term("owl:sameAs")
THING = term("owl:Thing")
NOTHING = term("owl:Nothing")
