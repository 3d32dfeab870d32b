"""One browser and one served store for all tests of the page, and visitors for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette", reason="the extra `server` is not installed")
pytest.importorskip("playwright", reason="playwright is not installed (extra `dev`)")

from playwright.sync_api import expect, sync_playwright
from server.conftest import served

from triplestore import Store
from ui.browser import AXE, Visit, Visitor, absent, build, chromium, visiting
from ui.village import village

if TYPE_CHECKING:
    from playwright.sync_api import Browser

expect.set_options(timeout=10_000)  # as long as a `Visitor` waits
STOPS = 5_000
DATA = """@prefix : <http://city.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Stop a rdfs:Class ; rdfs:label "stop"@en .
:Station a rdfs:Class ; rdfs:subClassOf :Stop ; rdfs:label "station"@en .
:serves a <http://www.w3.org/1999/02/22-rdf-syntax-ns#Property> ; rdfs:label "serves"@en .
:lines rdfs:label "number of lines"@en .
:harbour a :Station ; rdfs:label "Harbour"@en ; :lines 3 ; :opened "1911-05-01"^^xsd:date .
:market a :Station ; rdfs:label "Market"@en ; :lines 2 ; rdfs:seeAlso <javascript:alert(1)> .
:bridge a :Stop ; rdfs:label "<img src=x onerror=alert(1)>"@en ; :lines 1 .
:u1 :serves :harbour, :market . :u2 :serves :harbour, :bridge .
:market rdfs:comment "A long text that does not fit into a cell of the table and is shown whole \
in a dialog when a person asks for it, with all of its words." .
"""


def city() -> Store:
    """A small city under RDFS, and thousands of stops for long tables."""
    store = Store()
    more = "".join(f":stop{n} a :Stop ; :lines {n} .\n" for n in range(STOPS))
    store.load(DATA + more, "ttl")
    store.reason("rdfs")
    return store


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests with the browser run in one process, and share it."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Ends with the last test of this folder: its event loop would be in the way of others."""
    build()
    if reason := absent():
        pytest.skip(f"tests in a browser are skipped: {reason}")
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=chromium())
        yield made
        made.close()


@pytest.fixture
def axe() -> None:
    """For tests that look at accessibility with axe-core."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: `make ui` does that")


@contextmanager
def _hosted(store: Store, **settings: Any) -> Iterator[str]:
    with served(store, **settings) as client:
        yield f"http://localhost:{client.port}"


@pytest.fixture(scope="package")
def address() -> Iterator[str]:
    """Where the city is served, with updates allowed."""
    with _hosted(city(), update=True) as address:
        yield address


@pytest.fixture(scope="package")
def village_address() -> Iterator[str]:
    """Where a village is served that no test changes."""
    with _hosted(village(), update=True) as address:
        yield address


@pytest.fixture
def host() -> Iterator[Callable[..., str]]:
    """Serves stores of one test: `visit(base=host(store, update=True))`."""
    with ExitStack() as stack:
        yield lambda store, **settings: stack.enter_context(_hosted(store, **settings))


@pytest.fixture
def store() -> Store:
    """A village of one test."""
    return village()


@pytest.fixture
def visit(browser: Browser, address: str, host: Callable[..., str]) -> Iterator[Visit]:
    """Opens pages: `visit()`, `visit(**PHONE)`, `visit(base=another_server)`.

    It uses `host` so that visitors leave before their server ends.
    """
    with ExitStack() as stack:

        def start(base: str = address, **context: Any) -> Visitor:
            return stack.enter_context(visiting(browser, base, **context))

        yield start


@pytest.fixture
def visitor(visit: Visit) -> Visitor:
    """A person at a screen of 1280 by 800."""
    return visit()
