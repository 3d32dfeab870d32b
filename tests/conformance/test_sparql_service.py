"""The W3C's suite of SERVICE: the endpoints of each test are stores that this machine serves."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

pytest.importorskip("starlette", reason="the extra `server` is not installed")

from tests.conformance.sparql_evaluation import (
    MF,
    NO_SUITES,
    QT,
    ROOT,
    evaluations,
    expected,
    items,
    local_path,
    objects,
    read_manifest,
    same_rows,
)
from tests.support.endpoints import resolver, served_endpoint
from triplestore import Services, Store

MANIFEST = ROOT / "sparql11" / "service" / "manifest.ttl"
TESTS = list(evaluations(MANIFEST, ROOT)) if MANIFEST.is_file() else []


def endpoints_of(name: str) -> dict[str, Store]:
    """The stores of a test by the addresses of their endpoints."""
    manifest = read_manifest(MANIFEST)
    found = {}
    (listing,) = objects(manifest, None, MF + "entries")
    for node in items(manifest, listing):
        if not name.endswith("/" + node.value.rpartition("#")[2]):
            continue
        (action,) = objects(manifest, node, MF + "action")
        for service in objects(manifest, action, QT + "serviceData"):
            (address,) = objects(manifest, service, QT + "endpoint")
            store = found[address.value] = Store()
            for path in objects(manifest, service, QT + "data"):
                store.load(path=local_path(path))
    return found


@pytest.mark.skipif(not TESTS, reason=NO_SUITES)
def test_manifest__is_read() -> None:
    assert len(TESTS) == 7
    assert sum(len(endpoints_of(test.name)) for test in TESTS) == 9


@pytest.mark.parametrize("number", range(7))
@pytest.mark.skipif(not TESTS, reason=NO_SUITES)
def test_w3c_service(number: int) -> None:
    test = TESTS[number]
    places: dict[str, str] = {}
    # `invalid.endpoint.org` of the suite is allowed as well, and does not exist.
    services = Services(["http:"], private=True, resolve=resolver(places), seconds=20)
    with ExitStack() as stack:
        for address, store in endpoints_of(test.name).items():
            host = address.split("/")[2]
            places[host] = stack.enter_context(served_endpoint(store, allow_service=services))
        local = Store()
        for path in test.data:
            local.load(path=path)
        found = local.query(test.query.read_text(), allow_service=services)
        rows = [solution.as_dict() for solution in found]
        wanted = expected(test.result).rows
        assert same_rows(rows, wanted), f"{rows}\n\nexpected\n{wanted}"
