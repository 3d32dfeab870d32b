"""The resource page in a browser: facts, paging, why, why not, and terms that mean harm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from server.conftest import served

from triplestore import Store
from triplestore.browse import proof_data
from triplestore.browse.thresholds import BROWSE
from ui.browser import Visitor
from ui.village import MANY, term, village


@pytest.fixture(scope="module")
def store() -> Store:
    return village()


@pytest.fixture(scope="module")
def address(store: Store) -> Iterator[str]:
    with served(store) as client:
        yield f"http://localhost:{client.port}"


@pytest.fixture
def look(visit: Callable[..., Visitor], address: str) -> Callable[..., Visitor]:
    """Opens the page of a resource of the village."""

    def start(name: str, **context: object) -> Visitor:
        visitor = visit(base=address, **context)
        visitor.open("resource", term=term(name))
        visitor.page.locator(".property").first.wait_for()
        return visitor

    return start


def property_of(visitor: Visitor, name: str) -> str:
    """The text of the values of a property."""
    return visitor.page.locator(".property", has_text=name).first.inner_text()


def test_resource__its_facts_are_shown_both_ways_and_inferred_ones_marked(
    look: Callable[..., Visitor],
) -> None:
    visitor = look("bello")
    assert visitor.page.locator("h1").inner_text() == "Bello"
    chips = visitor.page.locator(".chip")
    assert sorted(chips.all_inner_texts())[-1].startswith("dog")
    inferred = [
        text.split()[0] for text in visitor.page.locator(".chip.inferred").all_inner_texts()
    ]
    assert {"animal", ":FriendOfCats"} <= set(inferred) and "dog" not in inferred
    assert "Waldi" in property_of(visitor, "is a parent of")
    pointing = visitor.page.get_by_role("region", name="Facts that point to it")
    assert "Rex" in pointing.inner_text()
    visitor.shot("resource-village")


def test_resource__names_can_be_shown_instead_of_labels(look: Callable[..., Visitor]) -> None:
    visitor = look("bello")
    visitor.page.get_by_label("Names", exact=True).check(force=True)
    visitor.page.locator(".property", has_text=":parentOf").first.wait_for()
    assert ":waldi" in property_of(visitor, ":parentOf")


def test_resource__labels_are_in_the_language_of_the_browser(visit: Callable[..., Visitor]) -> None:
    store = Store()
    labels = "rdfs:label 'Hund'@de, 'dog'@en, 'chien'@fr"
    prefix = "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>"
    store.update(f"{prefix} INSERT DATA {{ {term('rex')} {labels} }}")
    with served(store) as client:
        for locale, wanted in (("de-AT", "Hund"), ("fr", "chien"), ("en-US", "dog")):
            visitor = visit(base=f"http://localhost:{client.port}", locale=locale)
            visitor.open("resource", term=term("rex"))
            visitor.page.locator("h1", has_text=wanted).wait_for()


def test_resource__its_equals_are_listed(look: Callable[..., Visitor]) -> None:
    equals = look("waldi").page.get_by_role("region", name="Equal to it")
    assert ":wally" in equals.inner_text()


def test_resource__more_values_come_page_by_page(look: Callable[..., Visitor]) -> None:
    visitor = look("Sheep")
    members = visitor.page.locator(".property", has_text="type of").locator(".value")
    assert members.count() == 8
    visitor.page.get_by_role("button", name="Show 100 more").click()
    visitor.until("document.querySelectorAll('.value').length > 100")
    assert members.count() == 108
    for _ in range(2):
        visitor.page.get_by_role("button", name="more").click()
        visitor.page.wait_for_timeout(150)
    assert members.count() == MANY


def test_resource__an_unknown_one_says_so(visit: Callable[..., Visitor], address: str) -> None:
    visitor = visit(base=address)
    visitor.open("resource", term="<http://nowhere.example/x>")
    visitor.page.get_by_text("The store has no facts about it").wait_for()
    visitor.open("resource", term="not a term")
    visitor.page.get_by_role("alert").wait_for()


def test_resource__harmful_terms_stay_text(look: Callable[..., Visitor]) -> None:
    visitor = look("tom")
    assert visitor.page.locator("h1").inner_text() == "<img src=x onerror=alert(1)>"
    assert "<b>bold</b>" in property_of(visitor, ":says")
    assert visitor.page.locator("main img, main b, main script").count() == 0
    targets = visitor.page.locator("a").evaluate_all("all => all.map((a) => a.href)")
    assert not [target for target in targets if target.startswith("javascript:")]
    visitor.page.get_by_role("link", name="javascript:alert(1)").first.click()
    visitor.page.wait_for_url("**term=%3Cjavascript**")
    visitor.page.locator("h1", has_text="javascript:alert(1)").wait_for()
    assert visitor.page.locator("a[href^='javascript']").count() == 0


def test_why__a_proof_unfolds_as_tree_graph_and_text(look: Callable[..., Visitor]) -> None:
    visitor = look("rex")
    values = visitor.page.locator(".property", has_text="is an ancestor of").first
    waldi = values.locator(".value", has_text="Waldi").first
    waldi.get_by_role("button", name="why").click()
    dialog = visitor.page.get_by_role("dialog")
    dialog.get_by_role("treeitem").first.wait_for()
    text = dialog.inner_text()
    assert "asserted" in text and "Bello" in text and "by the axiom" in text
    dialog.locator(".rule-badge").first.click()
    dialog.locator(".rule-details").wait_for()
    assert ":-" in dialog.locator(".rule-details").inner_text()
    visitor.shot("why-tree")
    root = dialog.get_by_role("treeitem").first
    count = dialog.get_by_role("treeitem").count()
    root.press("ArrowLeft")
    assert dialog.get_by_role("treeitem").count() < count
    dialog.get_by_label("Graph", exact=True).check(force=True)
    dialog.locator("canvas").first.wait_for()
    visitor.page.wait_for_timeout(200)
    visitor.shot("why-graph")
    dialog.get_by_label("Text", exact=True).check(force=True)
    assert "by rule" in dialog.locator("pre").inner_text()
    visitor.page.keyboard.press("Escape")
    dialog.wait_for(state="detached")


def test_why__what_the_server_cut_off_is_asked_for_when_it_unfolds(
    visit: Callable[..., Visitor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof_data, "BROWSE", replace(BROWSE, proof_depth=4))
    chain, length = Store(), 14
    steps = "".join(f":n{n} :next :n{n + 1} .\n" for n in range(length))
    chain.load(f"@prefix : <http://chain.example/> .\n:n0 a :Reached .\n{steps}", "ttl")
    chain.reason(
        rules="@prefix : <http://chain.example/> . :Reached[?y] :- :Reached[?x], :next[?x, ?y] ."
    )
    with served(chain) as client:
        visitor = visit(base=f"http://localhost:{client.port}")
        visitor.open("resource", term=f"<http://chain.example/n{length}>")
        visitor.page.locator(".why-button").first.click()
        dialog = visitor.page.get_by_role("dialog")
        dialog.get_by_role("treeitem").first.wait_for()
        folded = dialog.locator("[role=treeitem][aria-expanded=false]")
        ground = dialog.locator(".proof-line", has_text=":n0 a :Reached")
        for _ in range(length):
            if ground.count() or not folded.count():
                break
            folded.first.focus()
            visitor.page.keyboard.press("ArrowRight")
            visitor.page.wait_for_timeout(40)
        assert "asserted" in ground.inner_text()


def test_why__a_link_in_a_proof_closes_it_and_goes_there(look: Callable[..., Visitor]) -> None:
    visitor = look("bello")
    friend = visitor.page.locator(".value", has_text=":FriendOfCats")
    friend.get_by_role("button", name="why").click()
    visitor.page.get_by_role("dialog").get_by_role("link", name="Mimi").first.click()
    visitor.page.locator("h1", has_text="Mimi").wait_for()
    assert visitor.page.get_by_role("dialog").count() == 0


def test_why_not__the_nearest_rule_and_what_is_missing(look: Callable[..., Visitor]) -> None:
    visitor = look("rex")
    form = visitor.page.get_by_role("region", name="Why not?")
    form.get_by_label("Object").fill(":FriendOf")
    visitor.page.get_by_role("option", name="FriendOfCats").first.wait_for()
    visitor.page.keyboard.press("ArrowDown")
    visitor.page.keyboard.press("Enter")
    assert form.get_by_label("Object").input_value() == ":FriendOfCats"
    visitor.page.keyboard.press("Enter")
    form.locator(".attempt").first.wait_for()
    assert "does not hold" in form.inner_text()
    badge = visitor.page.locator(".rule-badge", has_text="friend")
    friend = form.locator(".attempt", has=badge)
    assert ":livesWith" in friend.locator(".condition.missing").inner_text()
    assert "dog" in friend.locator(".condition.met").first.inner_text()
    visitor.shot("why-not")


def test_why_not__of_a_fact_that_holds_is_its_proof(look: Callable[..., Visitor]) -> None:
    form = look("rex").page.get_by_role("region", name="Why not?")
    form.get_by_label("Object").fill(":Animal")
    form.get_by_role("button", name="Why not?").click()
    form.get_by_text("It holds.").wait_for()
    assert form.get_by_role("treeitem").count() >= 1


def test_why_not__what_is_not_a_term_is_refused_with_advice(look: Callable[..., Visitor]) -> None:
    form = look("rex").page.get_by_role("region", name="Why not?")
    form.get_by_label("Property").fill("no such:thing")
    form.get_by_label("Object").fill(":Animal")
    form.get_by_role("button", name="Why not?").click()
    assert "is not a term" in form.get_by_role("alert").inner_text()


@pytest.mark.usefixtures("axe")
def test_accessibility__of_proofs_and_why_not(look: Callable[..., Visitor]) -> None:
    visitor = look("rex", color_scheme="dark")
    form = visitor.page.get_by_role("region", name="Why not?")
    form.get_by_label("Object").fill(":FriendOfCats")
    form.get_by_role("button", name="Why not?").click()
    form.locator(".attempt").first.wait_for()
    assert visitor.accessibility() == []
    visitor.page.locator(".why-button").first.click()
    visitor.page.get_by_role("dialog").locator(".rule-badge").first.click()
    assert visitor.accessibility() == []


def test_phone__proofs_fit_a_narrow_screen(look: Callable[..., Visitor]) -> None:
    phone = look("rex", viewport={"width": 390, "height": 844}, has_touch=True)
    phone.page.locator(".why-button").first.tap()
    phone.page.get_by_role("dialog").get_by_role("treeitem").first.wait_for()
    phone.shot("why-390")
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
