"""What holds on every page: axe finds nothing, in light and dark, wide and narrow."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Route, expect

from ui.browser import BUNDLE, PHONE, REPOSITORY, Visit, Visitor

PAGES = {
    "query": {},
    "resource": {"term": "<http://city.example/harbour>"},
    "ontology": {},
    "reasoning": {},
    "change": {},
    "store": {},
}


@pytest.mark.usefixtures("axe")
@pytest.mark.parametrize("place", PAGES)
def test_accessibility__axe_finds_nothing(visitor: Visitor, place: str) -> None:
    visitor.open(place, **PAGES[place])
    visitor.page.wait_for_load_state("networkidle")
    visitor.shot(place)
    assert visitor.accessibility() == []
    visitor.page.emulate_media(color_scheme="dark")
    visitor.shot(f"{place}-dark")
    assert visitor.accessibility() == []


@pytest.mark.parametrize("place", PAGES)
def test_phone__the_page_fits_a_narrow_screen(visit: Visit, place: str) -> None:
    phone = visit(**PHONE)
    phone.open(place, **PAGES[place])
    phone.page.wait_for_load_state("networkidle")
    phone.shot(f"{place}-390")
    assert phone.fits()


@pytest.mark.usefixtures("axe")
def test_answers__of_a_query_are_accessible_in_every_view(visitor: Visitor) -> None:
    visitor.ask("SELECT * { ?s <http://city.example/lines> ?n } LIMIT 300")
    for view in ("Table", "Raw", "Chart", "Explain"):
        visitor.page.get_by_role("tab", name=view).click()
        visitor.page.wait_for_load_state("networkidle")
        assert visitor.accessibility() == [], view
    visitor.page.locator("h1").first.evaluate("() => document.activeElement.blur()")
    visitor.page.keyboard.press("?")
    visitor.page.get_by_text("Run the query", exact=True).wait_for()
    assert visitor.accessibility() == []


def test_search__slash_finds_a_term_by_its_label(visitor: Visitor) -> None:
    visitor.open("query")
    visitor.page.locator(".cm-content").wait_for()
    visitor.page.keyboard.press("/")
    visitor.page.keyboard.type("harb")
    chosen = visitor.page.locator(".search-list [role=option][aria-selected=true]")
    chosen.filter(has_text="Harbour").wait_for()  # after those of fewer letters
    visitor.shot("search")
    visitor.page.keyboard.press("Enter")
    visitor.page.wait_for_url("**/#/resource**")
    assert "harbour" in visitor.page.evaluate("decodeURIComponent(location.hash)")


def test_search__enter_before_the_terms_are_there_takes_one_of_the_whole_text(
    visitor: Visitor,
) -> None:
    visitor.open("query")
    field = visitor.page.get_by_role("combobox", name="Search terms")
    field.fill("bri")
    visitor.page.get_by_role("option").first.wait_for()
    field.fill("Market")
    visitor.page.keyboard.press("Enter")
    visitor.page.wait_for_url("**/#/resource**market**")
    field.fill("<http://city.example/harbour>")
    visitor.page.keyboard.press("Enter")
    visitor.page.wait_for_url("**/#/resource**harbour**")


def test_search__keeps_the_focus_while_a_page_loads(visitor: Visitor) -> None:
    visitor.open("query")
    part, held = "**/page/resource-*.css", list[Route]()
    visitor.page.route(part, lambda route: held.append(route))
    with visitor.page.expect_request(part):
        visitor.page.evaluate("location.hash = '#/resource?term=<http://city.example/market>'")
    field = visitor.page.get_by_role("combobox", name="Search terms")
    field.fill("harb")
    held[0].continue_()
    visitor.page.locator("h1", has_text="Market").wait_for()
    expect(field).to_be_focused()


def test_help__leads_to_the_licences_of_all_libraries(visitor: Visitor) -> None:
    visitor.open("query")
    visitor.page.get_by_role("button", name="Keyboard shortcuts").click()
    visitor.page.get_by_role("link", name="Licences").click()
    visitor.page.wait_for_url("**/page/licenses.txt")
    text = visitor.page.locator("pre").inner_text()
    named = json.loads((REPOSITORY / "ui" / "package.json").read_text())["dependencies"]
    for library, version in named.items():
        assert f"## {library} - {version} (" in text
    (graphs,) = (BUNDLE / "page").glob("cytoscape*.js")
    assert "Licensed under The MIT License" in graphs.read_text(), "notices within the code stay"


def test_theme__is_kept(visitor: Visitor) -> None:
    visitor.open("query")
    theme = visitor.page.get_by_role("button", name="Colours")
    theme.click()
    theme.click()
    dark = visitor.page.locator("html[data-theme=dark]")
    dark.wait_for()
    visitor.page.reload()
    dark.wait_for()
