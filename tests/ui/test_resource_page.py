"""The resource page in a browser: facts, paging, why, why not, and terms that mean harm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import Locator, expect

from triplestore import Store
from triplestore.browse import proof_data
from triplestore.browse.thresholds import BROWSE
from ui.browser import PHONE, Visit, Visitor
from ui.village import MANY, term


@pytest.fixture
def look(visit: Visit, village_address: str) -> Visit:
    """Opens the page of a resource of the village."""

    def start(name: str, **context: object) -> Visitor:
        visitor = visit(base=village_address, **context)
        visitor.open("resource", term=term(name))
        visitor.page.locator(".property").first.wait_for()
        return visitor

    return start


def property_of(visitor: Visitor, name: str) -> Locator:
    """The values of a property."""
    return visitor.page.locator(".property", has_text=name).first


def test_resource__its_facts_are_shown_both_ways_and_inferred_ones_marked(
    look: Visit,
) -> None:
    visitor = look("bello")
    expect(visitor.page.locator("h1")).to_have_text("Bello")
    inferred, asserted = ".chip.inferred", ".chip:not(.inferred)"
    for name, kind in (("animal", inferred), (":FriendOfCats", inferred), ("dog", asserted)):
        expect(visitor.page.locator(".chip", has_text=name)).to_have_count(1)
        expect(visitor.page.locator(kind, has_text=name)).to_have_count(1)
    expect(property_of(visitor, "is a parent of")).to_contain_text("Waldi")
    pointing = visitor.page.get_by_role("region", name="Facts that point to it")
    expect(pointing).to_contain_text("Rex")
    visitor.shot("resource-village")


def test_resource__names_can_be_shown_instead_of_labels(look: Visit) -> None:
    visitor = look("bello")
    visitor.page.get_by_label("Names", exact=True).check(force=True)
    expect(property_of(visitor, ":parentOf")).to_contain_text(":waldi")


def test_resource__labels_are_in_the_language_of_the_browser(
    visit: Visit, host: Callable[..., str]
) -> None:
    store = Store()
    labels = "rdfs:label 'Hund'@de, 'dog'@en, 'chien'@fr"
    prefix = "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>"
    store.update(f"{prefix} INSERT DATA {{ {term('rex')} {labels} }}")
    base = host(store)
    for locale, wanted in (("de-AT", "Hund"), ("fr", "chien"), ("en-US", "dog")):
        visitor = visit(base=base, locale=locale)
        visitor.open("resource", term=term("rex"))
        visitor.page.locator("h1", has_text=wanted).wait_for()


def test_resource__its_equals_are_listed(look: Visit) -> None:
    equals = look("waldi").page.get_by_role("region", name="Equal to it")
    expect(equals).to_contain_text(":wally")


def test_resource__more_values_come_page_by_page(look: Visit) -> None:
    visitor = look("Sheep")
    members = visitor.page.locator(".property", has_text="type of").locator(".value")
    expect(members).to_have_count(8)
    visitor.page.get_by_role("button", name="Show 100 more").click()
    for shown in (108, 208, MANY):
        expect(members).to_have_count(shown)
        if shown < MANY:
            visitor.page.get_by_role("button", name="more").click()


def test_resource__an_unknown_one_says_so(visit: Visit, village_address: str) -> None:
    visitor = visit(base=village_address)
    visitor.open("resource", term="<http://nowhere.example/x>")
    visitor.page.get_by_text("The store has no facts about it").wait_for()
    visitor.open("resource", term="not a term")
    visitor.page.get_by_role("alert").wait_for()


def test_resource__harmful_terms_stay_text(look: Visit) -> None:
    visitor = look("tom")
    expect(visitor.page.locator("h1")).to_have_text("<img src=x onerror=alert(1)>")
    expect(property_of(visitor, ":says")).to_contain_text("<b>bold</b>")
    assert visitor.page.locator("main img, main b, main script").count() == 0
    targets = visitor.page.locator("a").evaluate_all("all => all.map((a) => a.href)")
    assert not [target for target in targets if target.startswith("javascript:")]
    visitor.page.get_by_role("link", name="javascript:alert(1)").first.click()
    visitor.page.wait_for_url("**term=%3Cjavascript**")
    visitor.page.locator("h1", has_text="javascript:alert(1)").wait_for()
    assert visitor.page.locator("a[href^='javascript']").count() == 0


def test_why__a_proof_unfolds_as_tree_graph_and_text(look: Visit) -> None:
    visitor = look("rex")
    values = visitor.page.locator(".property", has_text="is an ancestor of").first
    waldi = values.locator(".value", has_text="Waldi").first
    waldi.get_by_role("button", name="why").click()
    dialog = visitor.page.get_by_role("dialog")
    for text in ("asserted", "Bello", "by the axiom"):
        expect(dialog).to_contain_text(text)
    dialog.locator(".rule-badge").first.click()
    expect(dialog.locator(".rule-details")).to_contain_text(":-")
    visitor.shot("why-tree")
    lines = dialog.get_by_role("treeitem")
    assert lines.count() > 1
    lines.first.press("ArrowLeft")
    expect(lines).to_have_count(1)
    dialog.get_by_label("Graph", exact=True).check(force=True)
    dialog.locator("canvas").first.wait_for()
    visitor.page.wait_for_timeout(200)
    visitor.shot("why-graph")
    dialog.get_by_label("Text", exact=True).check(force=True)
    expect(dialog.locator("pre")).to_contain_text("by rule")
    visitor.page.keyboard.press("Escape")
    dialog.wait_for(state="detached")


def test_why__what_the_server_cut_off_is_asked_for_when_it_unfolds(
    visit: Visit, host: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof_data, "BROWSE", replace(BROWSE, proof_depth=4))
    chain, length = Store(), 14
    steps = "".join(f":n{n} :next :n{n + 1} .\n" for n in range(length))
    chain.load(f"@prefix : <http://chain.example/> .\n:n0 a :Reached .\n{steps}", "ttl")
    chain.reason(
        rules="@prefix : <http://chain.example/> . :Reached[?y] :- :Reached[?x], :next[?x, ?y] ."
    )
    visitor = visit(base=host(chain))
    visitor.open("resource", term=f"<http://chain.example/n{length}>")
    visitor.page.locator(".why-button").first.click()
    dialog = visitor.page.get_by_role("dialog")
    dialog.get_by_role("treeitem").first.wait_for()
    folded = dialog.locator("[role=treeitem][aria-expanded=false]")
    ground = dialog.locator(".proof-line", has_text=":n0 a :Reached")
    visitor.repeat(lambda: folded.count() and folded.first.press("ArrowRight"), ground)
    expect(ground).to_contain_text("asserted")


def test_why__a_link_in_a_proof_closes_it_and_goes_there(look: Visit) -> None:
    visitor = look("bello")
    friend = visitor.page.locator(".value", has_text=":FriendOfCats")
    friend.get_by_role("button", name="why").click()
    visitor.page.get_by_role("dialog").get_by_role("link", name="Mimi").first.click()
    visitor.page.locator("h1", has_text="Mimi").wait_for()
    expect(visitor.page.get_by_role("dialog")).to_have_count(0)


def test_why_not__the_nearest_rule_and_what_is_missing(look: Visit) -> None:
    visitor = look("rex")
    form = visitor.page.get_by_role("region", name="Why not?")
    form.get_by_label("Object").fill(":FriendOf")
    visitor.page.get_by_role("option", name="FriendOfCats").first.wait_for()
    visitor.page.keyboard.press("ArrowDown")
    visitor.page.keyboard.press("Enter")
    expect(form.get_by_label("Object")).to_have_value(":FriendOfCats")
    visitor.page.keyboard.press("Enter")
    expect(form).to_contain_text("does not hold")
    badge = visitor.page.locator(".rule-badge", has_text="friend")
    friend = form.locator(".attempt", has=badge)
    expect(friend.locator(".condition.missing")).to_contain_text(":livesWith")
    expect(friend.locator(".condition.met").first).to_contain_text("dog")
    visitor.shot("why-not")


def test_why_not__of_a_fact_that_holds_is_its_proof(look: Visit) -> None:
    form = look("rex").page.get_by_role("region", name="Why not?")
    form.get_by_label("Object").fill(":Animal")
    form.get_by_role("button", name="Why not?").click()
    form.get_by_text("It holds.").wait_for()
    form.get_by_role("treeitem").first.wait_for()


def test_why_not__what_is_not_a_term_is_refused_with_advice(look: Visit) -> None:
    form = look("rex").page.get_by_role("region", name="Why not?")
    form.get_by_label("Property").fill("no such:thing")
    form.get_by_label("Object").fill(":Animal")
    form.get_by_role("button", name="Why not?").click()
    expect(form.get_by_role("alert")).to_contain_text("is not a term")


@pytest.mark.usefixtures("axe")
def test_accessibility__of_proofs_and_why_not(look: Visit) -> None:
    visitor = look("rex", color_scheme="dark")
    form = visitor.page.get_by_role("region", name="Why not?")
    form.get_by_label("Object").fill(":FriendOfCats")
    form.get_by_role("button", name="Why not?").click()
    form.locator(".attempt").first.wait_for()
    assert visitor.accessibility() == []
    visitor.page.locator(".why-button").first.click()
    visitor.page.get_by_role("dialog").locator(".rule-badge").first.click()
    assert visitor.accessibility() == []


def test_phone__proofs_fit_a_narrow_screen(look: Visit) -> None:
    phone = look("rex", **PHONE)
    phone.page.locator(".why-button").first.tap()
    phone.page.get_by_role("dialog").get_by_role("treeitem").first.wait_for()
    phone.shot("why-390")
    assert phone.fits()
