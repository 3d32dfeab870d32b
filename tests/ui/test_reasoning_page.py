"""The reasoning page in a browser: report, violations, rules, and the editor of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from server.conftest import served

from triplestore import Store
from ui.browser import Visitor
from ui.village import village


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served(village(), update=True) as client:
        yield f"http://localhost:{client.port}"


@pytest.fixture
def reasoning(visit: Callable[..., Visitor], address: str) -> Callable[..., Visitor]:
    """Opens a part of the page."""

    def start(part: str, base: str = address, **context: object) -> Visitor:
        visitor = visit(base=base, **context)
        visitor.open(f"reasoning/{part}")
        return visitor

    return start


def append(visitor: Visitor, text: str) -> None:
    """Put a text at the end of the editor."""
    visitor.page.locator(".cm-content", has_text="rule").click()
    visitor.page.keyboard.press("Control+End")
    visitor.page.keyboard.insert_text(text)


def test_report__regimes_counts_and_what_lies_outside(reasoning: Callable[..., Visitor]) -> None:
    visitor = reasoning("report")
    visitor.page.get_by_text("Inferred facts").wait_for()
    text = visitor.page.get_by_role("tabpanel").inner_text()
    assert "owl-rl" in text and "1 violation" in text
    visitor.shot("reasoning-report")
    visitor.page.get_by_role("link", name="See them with their proofs").click()
    visitor.page.locator(".violation-item").wait_for()


def test_report__of_a_store_without_rules_says_what_to_do(
    visit: Callable[..., Visitor],
) -> None:
    with served(Store()) as client:
        visitor = visit(base=f"http://localhost:{client.port}")
        visitor.open("reasoning/report")
        visitor.page.get_by_text("Nothing is inferred in this store").wait_for()
        visitor.open("ontology/class")
        visitor.page.get_by_text("The store has no classes").wait_for()


def test_violations__each_has_its_proof(reasoning: Callable[..., Visitor]) -> None:
    visitor = reasoning("violations")
    item = visitor.page.locator(".violation-item", has_text="is owned, but has no name")
    assert "Rex" in item.inner_text()
    item.get_by_role("button", name="why").click()
    dialog = visitor.page.get_by_role("dialog")
    dialog.get_by_role("treeitem").nth(1).wait_for()
    assert ":ownedBy" in dialog.inner_text() and "asserted" in dialog.inner_text()
    visitor.shot("violation-proof")


def test_rules__are_listed_by_id_filtered_and_counted(reasoning: Callable[..., Visitor]) -> None:
    visitor = reasoning("rules")
    friend = visitor.page.locator(".rule", has_text="friend")
    friend.wait_for()
    assert ":livesWith[?x, ?y]" in friend.inner_text()
    all_rules = visitor.page.locator(".rule").count()
    visitor.page.get_by_role("button", name="Count what each infers").click()
    friend.locator(".badge.inferred").wait_for()
    assert "1 inferred" in " ".join(friend.inner_text().split())
    visitor.page.get_by_role("searchbox").fill("friend")
    assert 1 <= visitor.page.locator(".rule").count() < all_rules
    visitor.page.get_by_role("searchbox").fill("no rule has this")
    visitor.page.get_by_text("No rule has this text").wait_for()


def test_editor__problems_appear_at_their_place_as_one_types(
    reasoning: Callable[..., Visitor],
) -> None:
    visitor = reasoning("editor")
    visitor.page.get_by_text("Nothing is wrong").wait_for()
    append(visitor, '\nrule "bad" :Happy[?z] :- :Dog[?x] .')
    visitor.page.locator(".problems li").wait_for()
    assert "?z in the head is not bound" in visitor.page.locator(".problems").inner_text()
    assert visitor.page.locator(".cm-lintRange-error").count() >= 1
    assert visitor.page.get_by_role("button", name="Dry run").is_disabled()
    visitor.shot("rules-problem")
    visitor.page.get_by_role("button", name="Back to the rules in force").click()
    visitor.page.get_by_text("Nothing is wrong").wait_for()


def test_editor__a_dry_run_shows_what_rules_do_and_changes_nothing(
    reasoning: Callable[..., Visitor],
) -> None:
    visitor = reasoning("editor")
    append(visitor, '\nrule "happy" :Happy[?x] :- :Dog[?x] .')
    visitor.page.get_by_text("Nothing is wrong").wait_for()
    visitor.page.get_by_role("button", name="Dry run").click()
    visitor.page.get_by_role("heading", name="What the rules would do").wait_for()
    happy = visitor.page.locator(".group", has_text=":Happy")
    assert "+4" in happy.inner_text() and "Rex" in happy.inner_text()
    visitor.shot("rules-dry-run")
    visitor.page.get_by_role("button", name="Discard").click()
    visitor.open("reasoning/rules")
    visitor.page.locator(".rule", has_text="friend").wait_for()
    assert visitor.page.locator(".rule", has_text="happy").count() == 0


def test_editor__rules_are_put_in_force_after_a_dry_run(visit: Callable[..., Visitor]) -> None:
    store = village()
    with served(store, update=True) as client:
        visitor = visit(base=f"http://localhost:{client.port}")
        visitor.open("reasoning/editor")
        append(visitor, '\nrule "happy" :Happy[?x] :- :Dog[?x] .')
        visitor.page.get_by_text("Nothing is wrong").wait_for()
        visitor.page.get_by_role("button", name="Dry run").click()
        visitor.page.get_by_role("button", name="Put in force").click()
        visitor.page.get_by_text("The rules are in force").wait_for()
        assert store.query("ASK { :rex a :Happy }")


def test_editor__without_updates_rules_are_only_read(visit: Callable[..., Visitor]) -> None:
    with served(village()) as client:
        visitor = visit(base=f"http://localhost:{client.port}")
        visitor.open("reasoning/editor")
        visitor.page.get_by_text("They cannot be changed here").wait_for()
        assert visitor.page.get_by_role("button", name="Dry run").count() == 0


@pytest.mark.usefixtures("axe")
@pytest.mark.parametrize("part", ["report", "violations", "rules", "editor"])
def test_parts__are_accessible_and_fit_a_phone(
    reasoning: Callable[..., Visitor], part: str
) -> None:
    phone = reasoning(part, viewport={"width": 390, "height": 844})
    phone.page.wait_for_load_state("networkidle")
    assert phone.accessibility() == []
    phone.shot(f"reasoning-{part}-390")
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
