"""Search for terms by label or IRI: start at `search_terms`.

The index (`search_index.py`) is made when something is first searched after a commit. All work is
done on columns of ids; terms and labels are decoded for what is shown only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from pyoxigraph import Literal

from triplestore.browse.index.folded_texts import fold
from triplestore.browse.index.label_texts import begin_with
from triplestore.browse.index.search_index import SearchIndex, index_of
from triplestore.browse.index.term_usage import CLASS, CONCEPT, INDIVIDUAL, PROPERTY, ids_of
from triplestore.browse.index.word_index import PREFIXES
from triplestore.browse.term_data import USUAL_PREFIXES, TermData
from triplestore.errors import UsageError
from triplestore.expressions.text.term_parser import nearest
from triplestore.relations import OBJECT
from triplestore.relations.packed_keys import NO_KEYS, U8, U32, U64, high, low
from triplestore.store.readable import view_of
from triplestore.store.transaction import Transaction
from triplestore.terms.vocabulary import RDF_TYPE

if TYPE_CHECKING:
    from triplestore.store.readable import ReadableStore
    from triplestore.store.state_view import StateView

KINDS = {"class": CLASS, "property": PROPERTY, "concept": CONCEPT, "individual": INDIVIDUAL}
"""The kinds of terms; a term is shown as the first one that it is."""

_AN_IRI = re.compile(r"<?([A-Za-z][A-Za-z0-9+.-]*:[^\s<>]*)>?")
_ANY_KIND = CLASS | PROPERTY | CONCEPT | INDIVIDUAL
_MOST_USES = (1 << 29) - 1  # terms with more uses are ranked as equal
_TEXTS_OF_ONE = 4  # a term often has no more labels and names than that


def search_terms(
    store: ReadableStore,
    text: str,
    kinds: str | Iterable[str] = "any",
    limit: int = 20,
    *,
    language: str = "en",
) -> list[dict[str, Any]]:
    """The terms whose label or IRI matches a text, the best matches first.

    Each word of the text must begin a word of one label (`rdfs:label`, `skos:prefLabel`,
    `skos:altLabel`, `schema:name`, `dcterms:title`, `foaf:name` and others) or of the last part of
    the IRI, where `fullName` has two words. Case and accents do not matter. Equal texts come first,
    then those that begin with the text, that have its words whole, and then all others; of equal
    matches those that most triples use come first. An IRI or a prefixed name finds itself, and what
    it begins. An empty text finds what is used most.

    `kinds` is one or several of `class`, `property`, `individual`, `concept` and `any`. Each result
    has `term`, `label` (if there is one), `short`, `kind` and `count`: the members of a class, the
    triples of a property, or the uses of another term; `match` is the label that matched if it is
    another one.

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.load('''@prefix ex: <http://ex.org/> .
    ...     @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    ...     ex:Person rdfs:label "Human being"@en . ex:ada a ex:Person .''', "ttl")
    >>> for found in search_terms(store, "human"):
    ...     print(found["short"], found["label"], found["kind"], found["count"])
    ex:Person Human being class 1
    >>> [found["short"] for found in search_terms(store, "per", "class")]
    ['ex:Person']
    """
    wanted = kind_bits(kinds)
    view = view_of(store)
    index = index_of(view, keep=not isinstance(store, Transaction))
    keys = _found(view, index, text, wanted, max(0, limit))
    return _shown(view, index, keys, language)


def kind_bits(kinds: str | Iterable[str]) -> int:
    """The bits of some kinds by name.

    >>> kind_bits(["class", "property"]) == CLASS | PROPERTY
    True
    """
    bits = 0
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        if kind == "any":
            bits |= _ANY_KIND
        elif kind in KINDS:
            bits |= KINDS[kind]
        else:
            near = nearest(str(kind), [*KINDS, "any"])
            hint = f" (did you mean {near!r}?)" if near else ""
            raise UsageError(f"kind {kind!r} is not one of {', '.join([*KINDS, 'any'])}{hint}")
    return bits


def kind_name(bits: int) -> str:
    """The kind to show of a term with these bits.

    >>> kind_name(INDIVIDUAL | CONCEPT)
    'concept'
    """
    return next((name for name, bit in KINDS.items() if bits & bit), "individual")


def _found(view: StateView, index: SearchIndex, text: str, wanted: int, limit: int) -> U64:
    """The best terms, each with the label that matched, as keys; 0 for a name that matched."""
    namespace, local = _as_name(view, text)
    words = fold(local).split()
    if words:
        keys, quality = index.find(words)
    elif text.strip() and namespace is None:
        return NO_KEYS
    else:
        keys = index.named()
        quality = np.full(len(keys), PREFIXES, dtype=np.uint8)
    fits = index.usage.kinds[high(keys)] & wanted != 0
    if namespace is not None:
        fits &= low(keys) == 0
        (open_,) = fits.nonzero()
        fits[open_] = begin_with(view.dictionary, high(keys[open_]), namespace.encode())
    found = _best(index, keys[fits], quality[fits], limit)
    exact = _exact(view, index, text, wanted)
    if exact:
        first = np.array([exact], dtype=np.uint64) << np.uint64(32)
        found = np.concatenate((first, found[high(found) != exact]))[:limit]
    return found


def _best(index: SearchIndex, keys: U64, quality: U8, limit: int) -> U64:
    """The best of different terms: by quality, then by use, then by id of the term."""
    terms = high(keys)
    uses = np.minimum(index.usage.uses[terms], _MOST_USES).astype(np.uint64)
    ranks = quality.astype(np.uint64) << np.uint64(61)
    ranks |= (np.uint64(_MOST_USES) - uses) << np.uint64(32)
    ranks |= terms
    some = np.arange(len(ranks))
    size = _TEXTS_OF_ONE * limit
    while True:
        if size < len(ranks):
            most = np.partition(ranks, size)[size]
            (some,) = (ranks <= most).nonzero()
        else:
            some = np.arange(len(ranks))
        order = some[np.lexsort((keys[some], ranks[some]))]
        _, first = np.unique(terms[order], return_index=True)
        if len(first) >= limit or len(some) == len(ranks):
            best: U64 = keys[order[np.sort(first)[:limit]]]
            return best
        size = _TEXTS_OF_ONE * len(some)


def _as_name(view: StateView, text: str) -> tuple[str | None, str]:
    """The namespace and the rest of an IRI or a prefixed name; (None, text) of other texts."""
    text = text.strip()
    prefix, colon, local = text.partition(":")
    known = {**USUAL_PREFIXES, **view.prefixes}
    if colon and prefix in known and not local.startswith("//"):
        return known[prefix], local
    match = _AN_IRI.fullmatch(text)
    if match is not None and ("//" in text or text.startswith("<")):
        iri = match[1]
        end = max(iri.rfind("/"), iri.rfind("#"), iri.rfind(":")) + 1
        return iri[:end], iri[end:]
    return None, text


def _exact(view: StateView, index: SearchIndex, text: str, wanted: int) -> int:
    """The id of the term that an IRI or a prefixed name names; 0 without one."""
    namespace, local = _as_name(view, text)
    if namespace is None:
        return 0
    (found,) = ids_of(view.dictionary, [namespace + local])
    known = 0 < found < len(index.usage.kinds)
    return found if known and index.usage.kinds[found] & wanted else 0


def _shown(view: StateView, index: SearchIndex, keys: U64, language: str) -> list[dict[str, Any]]:
    ids = high(keys)
    shown = []
    for term, count, bits, matched in zip(
        TermData(view, language).ids(ids),
        counts_of(view, ids, index),
        index.usage.kinds[ids].tolist(),
        low(keys).tolist(),
        strict=True,
    ):
        label = term.get("label")
        found = {"term": term, "short": term["short"], "kind": kind_name(bits), "count": count}
        if label is not None:
            found["label"] = label
        by = view.dictionary.term(matched) if matched else None
        if isinstance(by, Literal) and by.value != label:
            found["match"] = by.value
        shown.append(found)
    return shown


def counts_of(view: StateView, ids: U32, index: SearchIndex) -> list[int]:
    """For each term the members of the class, the triples of the property, or the uses."""
    counts = []
    (type_id,) = ids_of(view.dictionary, (RDF_TYPE,))
    for term in ids.tolist():
        bits = index.usage.kinds[term]
        if bits & CLASS:
            one = np.array([term], dtype=np.uint32)
            members = view.tables.relation(type_id).match_counts(1, one)[0] if type_id else 0
            quads = view.tables.quads(type_id).probe((OBJECT,), (one,))[0] if type_id else ()
            counts.append(int(members) + len(quads))
        elif bits & PROPERTY:
            relations: Sequence[Any] = (view.tables.relation(term), view.tables.quads(term))
            counts.append(sum(relation.count() for relation in relations))
        else:
            counts.append(int(index.usage.uses[term]))
    return counts
