"""Which format a client gets."""

from __future__ import annotations

import pytest

from triplestore.server.negotiation import RESULTS, TRIPLES, chosen, content_type

JSON = "application/sparql-results+json"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, JSON),
        ("", JSON),
        ("*/*", JSON),
        ("text/csv", "text/csv"),
        ("TEXT/CSV", "text/csv"),
        ("application/json", "application/json"),
        ("text/*", "text/csv"),
        ("text/csv;q=0.2, text/xml;q=0.3", "text/xml"),
        ("text/csv;q=0, */*", JSON),
        ("text/*;q=0.9, text/csv;q=0.1", "text/tab-separated-values"),
        ("*/*;q=0.1, application/sparql-results+xml", "application/sparql-results+xml"),
        (f"{JSON};q=0, */*;q=0", None),
        ("image/png", None),
        ("text/csv;q=nonsense", None),
        ("nonsense", None),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "application/xml"),
    ],
)
def test_chosen__what_is_wanted_most(header: str | None, expected: str | None) -> None:
    found = chosen(header, RESULTS)
    assert (found and found[0]) == expected


def test_chosen__triples() -> None:
    both = chosen("application/rdf+xml;q=0.5, text/turtle;q=0.5", TRIPLES)
    assert both is not None
    assert both[0] == "text/turtle"
    assert chosen(JSON, TRIPLES) is None


def test_content_type__of_texts_says_the_encoding() -> None:
    assert content_type("text/turtle") == "text/turtle; charset=utf-8"
    assert content_type(JSON) == JSON
