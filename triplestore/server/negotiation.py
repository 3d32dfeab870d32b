"""The format of an answer, by the `Accept` header and the formats on offer.

Start at `chosen`. The rules are those of HTTP (RFC 9110, 12.5.1): the most specific range that
matches a media type gives its weight. Among the media types with the highest weight, the first one
on offer is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import pyoxigraph as ox

from triplestore.server.refusals import RefusedRequest

AnyFormat = TypeVar("AnyFormat")

_Results = ox.QueryResultsFormat
_Rdf = ox.RdfFormat

RESULTS: list[tuple[str, ox.QueryResultsFormat]] = [
    ("application/sparql-results+json", _Results.JSON),
    ("application/sparql-results+xml", _Results.XML),
    ("text/csv", _Results.CSV),
    ("text/tab-separated-values", _Results.TSV),
    ("application/json", _Results.JSON),
    ("application/xml", _Results.XML),
    ("text/xml", _Results.XML),
]
"""Media types of solutions and of answers of ASK."""

TRIPLES: list[tuple[str, ox.RdfFormat]] = [
    ("text/turtle", _Rdf.TURTLE),
    ("application/n-triples", _Rdf.N_TRIPLES),
    ("application/rdf+xml", _Rdf.RDF_XML),
    ("application/ld+json", _Rdf.JSON_LD),
    ("application/trig", _Rdf.TRIG),
    ("application/n-quads", _Rdf.N_QUADS),
    ("text/n3", _Rdf.N3),
    ("application/json", _Rdf.JSON_LD),
    ("application/xml", _Rdf.RDF_XML),
    ("text/xml", _Rdf.RDF_XML),
    ("text/plain", _Rdf.N_TRIPLES),
]
"""Media types of triples."""


TABLES: list[tuple[str, str]] = [
    ("application/vnd.apache.parquet", "parquet"),
    ("application/vnd.apache.arrow.stream", "arrows"),
    ("application/vnd.apache.arrow.file", "arrow"),
]
"""Media types of tables, for solutions and triples; they need pyarrow."""

QUADS: list[tuple[str, ox.RdfFormat]] = [
    ("application/n-quads", _Rdf.N_QUADS),
    ("application/trig", _Rdf.TRIG),
    ("application/ld+json", _Rdf.JSON_LD),
    ("application/json", _Rdf.JSON_LD),
]
"""Media types of triples of several graphs."""


class MediaRange(NamedTuple):
    """An accepted range of media types, such as `text/*`, and its weight."""

    kind: str
    subtype: str
    weight: float

    @property
    def precision(self) -> int:
        """0 for any type, 1 for a kind, 2 for one type."""
        return (self.kind != "*") + (self.subtype != "*")

    def matches(self, media_type: str) -> bool:
        """Whether a media type is in the range."""
        kind, _, subtype = media_type.partition("/")
        return self.kind in ("*", kind) and self.subtype in ("*", subtype)


def ranges(header: str) -> list[MediaRange]:
    """The ranges of an `Accept` header, without malformed ones.

    >>> ranges("text/csv, application/*;q=0.5, nonsense")
    [MediaRange(kind='text', subtype='csv', weight=1.0), \
MediaRange(kind='application', subtype='*', weight=0.5)]
    """
    found = []
    for part in header.split(","):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        kind, slash, subtype = name.partition("/")
        if slash and kind and subtype:
            found.append(MediaRange(kind, subtype, _weight(parameters)))
    return found


def _weight(parameters: Sequence[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return min(max(float(value), 0.0), 1.0)
            except ValueError:
                return 0.0
    return 1.0


def chosen(
    header: str | None, offers: Sequence[tuple[str, AnyFormat]]
) -> tuple[str, AnyFormat] | None:
    """The offer with the highest weight; None if the client accepts none of the offers.

    >>> chosen("text/*, application/json;q=0.1", RESULTS)
    ('text/csv', <QueryResultsFormat SPARQL Results in CSV>)
    >>> chosen("image/png", RESULTS)
    """
    accepted = ranges(header or "*/*")
    best: tuple[str, AnyFormat] | None = None
    most = 0.0
    for offer in offers:
        matching = [one for one in accepted if one.matches(offer[0])]
        weight = max(matching, key=lambda one: one.precision).weight if matching else 0.0
        if weight > most:
            best, most = offer, weight
    return best


def negotiated(
    accept: str | None, offers: Sequence[tuple[str, AnyFormat]]
) -> tuple[str, AnyFormat]:
    """The same, but raises a refusal if the client accepts none of the offers."""
    choice = chosen(accept, offers)
    if choice is None:
        known = ", ".join(media_type for media_type, _ in offers)
        raise RefusedRequest(406, f"accept one of these media types: {known}")
    return choice


def content_type(media_type: str) -> str:
    """The content type of a media type: texts get the charset UTF-8."""
    return f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type
