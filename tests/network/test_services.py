"""Which IRIs a list allows, and which addresses are private."""

from __future__ import annotations

import pytest

from triplestore import Services
from triplestore.errors import UsageError
from triplestore.network.services import is_private, services_of


@pytest.mark.parametrize(
    ("entry", "iri", "allowed"),
    [
        ("https://ex.org/sparql", "https://ex.org/sparql", True),
        ("https://ex.org/sparql", "https://EX.org:443/sparql", True),
        ("https://ex.org/sparql", "https://ex.org/sparql?graph=a", True),
        ("https://ex.org/sparql", "https://ex.org/sparql/more", True),
        ("https://ex.org/sparql", "https://ex.org/sparql2", False),
        ("https://ex.org/sparql", "http://ex.org/sparql", False),
        ("https://ex.org/sparql", "https://ex.org:8443/sparql", False),
        ("https://ex.org/sparql*", "https://ex.org/sparql2", True),
        ("https://ex.org/a/", "https://ex.org/a/b", True),
        ("https://ex.org/a/", "https://ex.org/a", False),
        ("https://ex.org/a/", "https://ex.org/a/../b", False),
        ("https://ex.org/a/", "https://ex.org/a/%2e%2e/b", False),
        ("https://ex.org/a/", "https://ex.org/a/..%5Cb", False),
        ("https://ex.org", "https://ex.org/any", True),
        ("https://ex.org", "https://ex.org.evil.com/", False),
        ("https://ex.org*", "https://ex.org.evil.com/", False),
        ("https://ex.org", "https://ex.org@evil.com/", False),
        ("https://ex.org", "https://user:word@ex.org/", False),
        ("https://ex.org", "https://ex.org:port/", False),
        ("https:", "https://any.org/", True),
        ("https:", "http://any.org/", False),
        ("file:///data/", "file:///data/a.ttl", True),
        ("file:///data/", "file:///etc/passwd", False),
        ("file:///data", "file:///database", False),
        ("file:", "file:///data/a.ttl", True),
    ],
)
def test_list__allows_what_an_entry_covers(entry: str, iri: str, allowed: bool) -> None:
    assert Services([entry]).allows(iri) is allowed


def test_list__is_empty_by_default() -> None:
    assert not Services().allows("https://ex.org/")
    assert services_of(None).allow == ()


@pytest.mark.parametrize(
    ("address", "private"),
    [
        ("127.0.0.1", True),
        ("10.1.2.3", True),
        ("172.16.0.1", True),
        ("192.168.0.1", True),
        ("169.254.169.254", True),
        ("100.64.0.1", True),
        ("0.0.0.0", True),
        ("224.0.0.1", True),
        ("::1", True),
        ("fe80::1%eth0", True),
        ("fd00::1", True),
        ("::ffff:127.0.0.1", True),
        ("2002:7f00:1::", True),
        ("64:ff9b::7f00:1", True),
        ("8.8.8.8", False),
        ("2606:4700::1111", False),
        ("64:ff9b::808:808", False),
    ],
)
def test_private__knows_addresses(address: str, private: bool) -> None:
    assert is_private(address) is private


def test_private__is_allowed_by_the_entry_that_names_the_address() -> None:
    for entry in ("http://127.0.0.1:80/", "http://localhost/", "http://[::1]/"):
        assert Services([entry]).allows_private(entry)
    assert not Services(["http://ex.org/"]).allows_private("http://ex.org/")
    assert not Services(["http://ex.org/", "http://localhost/"]).allows_private("http://ex.org/")
    assert Services(["http://ex.org/"], private=True).allows_private("http://ex.org/")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"allow": "https://ex.org/"}, "must be a list"),
        ({"allow": ["ex.org"]}, "not an absolute IRI"),
        ({"rows": 0}, "rows must be more than 0"),
        ({"seconds": -1}, "seconds must be more than 0"),
        ({"redirects": -1}, "redirects must be at least 0"),
    ],
)
def test_services__say_what_is_wrong(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Services(**arguments)
