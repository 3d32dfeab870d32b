"""Search as plain loops over quads and texts: what `search_terms` must find, in the same order."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

import pyoxigraph as ox

from triplestore import Store
from triplestore.terms.vocabulary import (
    OWL_CLASS,
    OWL_OBJECT_PROPERTY,
    RDF_TYPE,
    RDFS_LABEL,
    RDFS_SUB_CLASS_OF,
    SKOS_ALT_LABEL,
    SKOS_BROADER,
    SKOS_CONCEPT,
    SKOS_PREF_LABEL,
)

LABELS = {RDFS_LABEL, SKOS_PREF_LABEL, SKOS_ALT_LABEL, "http://xmlns.com/foaf/0.1/name"}
HUMP = re.compile(
    r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[a-z])"
)


def plain_fold(text: str) -> str:
    """A text in lower case, without accents and punctuation; the length may change."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    letters = [letter for letter in decomposed if not unicodedata.combining(letter)]
    return "".join(x if x.isalnum() else " " for x in "".join(letters).casefold())


def texts_of(text: str, is_name: bool) -> tuple[str, set[int]]:
    """The folded text, and where words begin."""
    if not is_name:
        folded = plain_fold(text)
        return folded, {match.start() for match in re.finditer(r"\w+", folded)}
    folded, starts = "", set()
    for part in HUMP.split(text):
        starts.add(len(folded))
        folded += plain_fold(part)
    starts |= {match.start() for match in re.finditer(r"\w+", folded)}
    return folded, {start for start in starts if start < len(folded) and folded[start] != " "}


def quality_of(text: str, starts: set[int], words: list[str]) -> int | None:
    """How well a folded text matches; None if it does not."""
    whole = True
    for word in words:
        ends = [
            text[start + len(word) : start + len(word) + 1]
            for start in starts
            if text.startswith(word, start)
        ]
        if not ends:
            return None
        whole &= any(end in ("", " ") for end in ends)
    phrase = " ".join(words)
    begins = text.startswith(phrase, min(starts))
    if begins and text[min(starts) :].rstrip() == phrase:
        return 0
    if whole:
        return 1 if begins else 2
    return 3 if begins else 4


def plain_search(store: Store, text: str, kind: str = "any", limit: int = 20) -> list[str]:
    """The IRIs that a search finds."""
    quads = list(store)
    uses: Counter[str] = Counter()
    labels: dict[str, set[str]] = {}
    kinds: dict[str, set[str]] = {}
    for quad in quads:
        s, p, o = quad.subject, quad.predicate.value, quad.object
        for term in (s, quad.predicate, o, quad.graph_name):
            if isinstance(term, ox.NamedNode):
                uses[term.value] += 1
        is_iri = isinstance(o, ox.NamedNode)
        if p in LABELS and isinstance(o, ox.Literal) and isinstance(s, ox.NamedNode):
            labels.setdefault(s.value, set()).add(o.value)
        kinds.setdefault(p, set()).add("property")
        if p == RDF_TYPE and is_iri:
            kinds.setdefault(o.value, set()).add("class")
            for name, of in (
                (OWL_CLASS, "class"),
                (OWL_OBJECT_PROPERTY, "property"),
                (SKOS_CONCEPT, "concept"),
            ):
                if o.value == name:
                    kinds.setdefault(s.value, set()).add(of)
        for name, of in ((RDFS_SUB_CLASS_OF, "class"), (SKOS_BROADER, "concept")):
            if p == name:
                for end in (s, o):
                    kinds.setdefault(end.value, set()).add(of)
    words = plain_fold(text).split()
    found = []
    for iri in uses:
        own = kinds.get(iri, set())
        if not own & {"class", "property"}:
            own = own | {"individual"}
        if kind != "any" and kind not in own:
            continue
        texts = [(re.split(r"[/#:](?=.)", iri)[-1], True)]
        texts += [(label, False) for label in labels.get(iri, ())]
        qualities = [
            quality
            for each, is_name in texts
            if (made := texts_of(each, is_name))[1]
            and (quality := quality_of(*made, words)) is not None
        ]
        if qualities:
            (term_id,) = store.lookup_ids([ox.NamedNode(iri)]).tolist()
            found.append((min(qualities), -uses[iri], term_id, iri))
    return [iri for *_, iri in sorted(found)[:limit]]
