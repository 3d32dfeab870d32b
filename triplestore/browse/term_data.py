"""Terms as plain data for JSON, with labels and short names: start at `TermData`.

A term is an object as in SPARQL's JSON results (`type`, `value`, `xml:lang`, `datatype`), with
`short`, its name with a prefix or a shortened IRI, and `label`, if the store has one for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyoxigraph as ox

from triplestore.browse.labels import label_ids
from triplestore.errors import UsageError
from triplestore.expressions.text.expression_printer import Namer
from triplestore.expressions.tree import Constant
from triplestore.relations.packed_keys import U32
from triplestore.terms import FIRST_QUERY_ID, IRI, key_of
from triplestore.terms.vocabulary import OWL, RDF, RDFS, SKOS, XSD
from triplestore.thread_limits import needs

if TYPE_CHECKING:
    from triplestore.store.state_view import StateView
    from triplestore.terms import Term

JsonTerm: TypeAlias = dict[str, Any]
"""A term as plain data."""

USUAL_PREFIXES = {"rdf": RDF, "rdfs": RDFS, "owl": OWL, "xsd": XSD, "skos": SKOS}
COPIES = 4
"""How many times a text is in memory until an answer is sent, about."""
MAX_SHORT = 80
"""Maximum number of characters of a short name; longer ones are cut."""


def plain_term(term: Term) -> JsonTerm:
    """A term as in SPARQL's JSON results.

    >>> plain_term(ox.Literal("chat", language="fr"))
    {'type': 'literal', 'value': 'chat', 'xml:lang': 'fr'}
    >>> plain_term(ox.NamedNode("http://e/a"))
    {'type': 'uri', 'value': 'http://e/a'}
    """
    if isinstance(term, ox.NamedNode):
        return {"type": "uri", "value": term.value}
    if isinstance(term, ox.BlankNode):
        return {"type": "bnode", "value": term.value}
    if isinstance(term, ox.Triple):
        names = ("subject", "predicate", "object")
        parts = (term.subject, term.predicate, term.object)
        return {
            "type": "triple",
            "value": {name: plain_term(part) for name, part in zip(names, parts, strict=True)},
        }
    made: JsonTerm = {"type": "literal", "value": term.value}
    if term.language:
        made["xml:lang"] = term.language
    elif term.datatype.value != f"{XSD}string":
        made["datatype"] = term.datatype.value
    return made


def term_of_text(text: str, prefixes: Mapping[str, str] | None = None) -> Term:
    """A term written as in N-Triples, or as in Turtle with these prefixes.

    >>> term_of_text('"chat"@fr').value, term_of_text("e:a", {"e": "http://e/"}).value
    ('chat', 'http://e/a')
    """
    text = text.strip()
    name, colon, _ = text.partition(":")
    known = {**USUAL_PREFIXES, **(prefixes or {})}
    declared = f"@prefix {name}: <{known[name]}> .\n" if colon and name in known else ""
    try:
        triples = [*ox.parse(f"{declared}<x:s> <x:p> {text} .", format=ox.RdfFormat.TURTLE)]
    except (SyntaxError, ValueError) as error:
        raise UsageError(
            f"{text!r} is not a term: write it as in N-Triples (<http://example.org/a>, _:b, "
            '"text"@en), or with a known prefix'
        ) from error
    if len(triples) != 1 or triples[0].subject != ox.NamedNode("x:s"):
        raise UsageError(f"{text!r} is not one term")
    found: Term = triples[0].object
    return found


class TermData:
    """Turns terms and ids of one state into plain data, all of one call at once.

    >>> from triplestore import Store
    >>> from triplestore.store.readable import view_of
    >>> store = Store()
    >>> _ = store.load('''@prefix e: <http://e/> .
    ...     e:a <http://www.w3.org/2000/01/rdf-schema#label> "An A" .''', "ttl")
    >>> TermData(view_of(store)).terms([ox.NamedNode("http://e/a")])
    [{'type': 'uri', 'value': 'http://e/a', 'short': 'e:a', 'label': 'An A'}]
    """

    def __init__(self, view: StateView, language: str = "en") -> None:
        self._view = view
        self._language = language
        self._namer = Namer({**USUAL_PREFIXES, **view.prefixes})

    def ids(self, ids: U32) -> list[JsonTerm]:
        """The terms of ids; raises if their texts take more memory than this thread may use."""
        dictionary = self._view.dictionary
        needs(COPIES * int(dictionary.lengths(ids).sum()))
        return self._made(dictionary.terms(ids), ids)

    def id(self, term_id: int) -> JsonTerm:
        """The term of one id."""
        return self.ids(np.array([term_id], np.uint32))[0]

    def terms(self, terms: Sequence[Term]) -> list[JsonTerm]:
        """Terms, whether the store knows them or not."""
        named = [key_of(term) for term in terms]
        return self._made(terms, self._view.dictionary.lookup_keys(named))

    def term(self, term: Term) -> JsonTerm:
        """One term."""
        return self.terms([term])[0]

    def rows(self, rows: Iterable[Sequence[Term | None]]) -> list[list[JsonTerm | None]]:
        """Rows of terms; equal terms share one object."""
        listed = [tuple(row) for row in rows]
        distinct = dict.fromkeys(term for row in listed for term in row if term is not None)
        made = dict(zip(distinct, self.terms(list(distinct)), strict=True))
        return [[None if term is None else made[term] for term in row] for row in listed]

    def short(self, term: Term) -> str:
        """A term as a short text: with a prefix, or its end."""
        text = self._namer.term(Constant.of(term))
        if isinstance(term, ox.NamedNode) and text.startswith("<"):
            return short_iri(term.value)
        return text if len(text) <= MAX_SHORT else text[: MAX_SHORT - 1] + "…"

    def _made(self, terms: Sequence[Term], ids: U32) -> list[JsonTerm]:
        made = [{**plain_term(term), "short": self.short(term)} for term in terms]
        known = np.where(ids < FIRST_QUERY_ID, ids, 0).astype(np.uint32)
        known[self._view.dictionary.kinds(known) > IRI + 1] = 0  # literals have no labels
        labels = label_ids(self._view, known, self._language)
        (having,) = labels.nonzero()
        texts = self._view.dictionary.terms(labels[having])
        for place, text in zip(having.tolist(), texts, strict=True):
            made[place]["label"] = text.value
        return made


def short_iri(iri: str) -> str:
    """The end of an IRI, from its last `/` or `#` on; all of a short one.

    >>> short_iri("http://example.org/ontology/Person"), short_iri("urn:a")
    ('…/Person', 'urn:a')
    """
    body = iri.rstrip("/#")
    at = max(body.rfind("/"), body.rfind("#"))
    text = iri if at < 0 or body[:at].endswith((":", ":/")) else "…" + iri[at:]
    return text if len(text) <= MAX_SHORT else "…" + text[-MAX_SHORT + 1 :]
