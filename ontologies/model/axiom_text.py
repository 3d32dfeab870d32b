"""Axioms and expressions as text, close to OWL's functional syntax.

Start at `text`. It is for people and reports and cannot be read back. Nesting may be deep; very
long text (shared expressions can be written out without end) is cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass

from pyoxigraph import Literal, NamedNode

from triplestore.terms.vocabulary import OWL, RDF, RDFS, XSD, XSD_STRING

WELL_KNOWN: dict[str, str] = {"owl": OWL, "rdf": RDF, "rdfs": RDFS, "xsd": XSD}


MOST_WORDS = 10_000


def content(thing: object) -> tuple[object, ...]:
    """What an expression or axiom says: the values of its positional fields.

    >>> from triplestore.ontologies.model.expressions import MaxCardinality
    >>> content(MaxCardinality(1, NamedNode("http://example.org/p")))
    (1, <NamedNode value=http://example.org/p>, None)
    """
    names: tuple[str, ...] = getattr(type(thing), "__match_args__", ())
    return tuple([getattr(thing, name) for name in names])


def text(thing: object, prefixes: Mapping[str, str] | None = None, most: int = MOST_WORDS) -> str:
    """An axiom, expression or term, its IRIs shortened by `prefixes` (prefix -> namespace).

    After `most` words, brackets and spaces it ends with three dots.

    >>> from triplestore.ontologies.model.axioms import SubClassOf
    >>> from triplestore.ontologies.model.expressions import OneOf
    >>> from triplestore.terms.vocabulary import OWL_THING
    >>> a = NamedNode("http://example.org/a")
    >>> text(SubClassOf(OneOf((a,)), NamedNode(OWL_THING)), {"ex": "http://example.org/"})
    'SubClassOf(OneOf(ex:a) owl:Thing)'
    """
    names = {**WELL_KNOWN, **(prefixes or {})}
    words: list[str] = []
    stack: list[object] = [thing]
    while stack:
        item = stack.pop()
        if len(words) >= most:
            words.append(" ...")
            break
        if isinstance(item, _Word):
            words.append(item)
        elif is_dataclass(item):
            stack.extend(reversed(_parts(item)))
        else:
            words.append(_term(item, names))
    return "".join(words)


class _Word(str):
    """Finished text."""

    __slots__ = ()


def _parts(thing: object) -> list[object]:
    """The name of an axiom or expression and what it says, with the brackets between."""
    said = [part for part in content(thing) if part is not None and part != ()]
    parts: list[object] = [_Word(type(thing).__name__ + "(")]
    if len(said) == 1 and type(said[0]) is tuple:
        parts += _spaced(said[0])
    else:
        for index, part in enumerate(said):
            if index:
                parts.append(_Word(" "))
            if type(part) is tuple:
                parts += [_Word("("), *_spaced(part), _Word(")")]
            else:
                parts.append(part)
    return [*parts, _Word(")")]


def _spaced(items: tuple[object, ...]) -> list[object]:
    """The items with spaces between them."""
    return [part for item in items for part in (_Word(" "), item)][1:]


def _term(term: object, names: Mapping[str, str]) -> str:
    """A term, shortened where a namespace fits and what is left looks like a local name."""
    if isinstance(term, NamedNode):
        iri = term.value
        for prefix, namespace in names.items():
            local = iri[len(namespace) :]
            if local and iri.startswith(namespace) and f"_{local}".replace("-", "_").isidentifier():
                return f"{prefix}:{local}"
        return str(term)
    if isinstance(term, Literal) and term.language is None and term.datatype.value != XSD_STRING:
        lexical = str(Literal(term.value))
        return f"{lexical}^^{_term(term.datatype, names)}"
    return str(term)
