"""The reasoning page in a browser: report, violations, rules, and the editor of rules."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from triplestore import Store
from ui.browser import PHONE, Visit, Visitor


@pytest.fixture
def reasoning(visit: Visit, village_address: str) -> Visit:
    """Opens a part of the page."""

    def start(part: str, base: str = village_address, **context: object) -> Visitor:
        visitor = visit(base=base, **context)
        visitor.open(f"reasoning/{part}")
        return visitor

    return start


def append(visitor: Visitor, text: str) -> None:
    """Put a text at the end of the editor."""
    visitor.page.locator(".cm-content", has_text="rule").click()
    visitor.page.keyboard.press("Control+End")
    visitor.page.keyboard.insert_text(text)


def test_report__regimes_counts_and_what_lies_outside(reasoning: Visit) -> None:
    visitor = reasoning("report")
    panel = visitor.page.get_by_role("tabpanel")
    panel.get_by_text("Inferred facts").wait_for()
    expect(panel).to_contain_text("owl-rl")
    expect(panel).to_contain_text("1 violation")
    visitor.shot("reasoning-report")
    visitor.page.get_by_role("link", name="See them with their proofs").click()
    visitor.page.locator(".violation-item").wait_for()


def test_report__of_a_store_without_rules_says_what_to_do(
    reasoning: Visit, host: Callable[..., str]
) -> None:
    visitor = reasoning("report", host(Store()))
    visitor.page.get_by_text("Nothing is inferred in this store").wait_for()
    visitor.open("ontology/class")
    visitor.page.get_by_text("The store has no classes").wait_for()


def test_violations__each_has_its_proof(reasoning: Visit) -> None:
    visitor = reasoning("violations")
    item = visitor.page.locator(".violation-item", has_text="is owned, but has no name")
    expect(item).to_contain_text("Rex")
    item.get_by_role("button", name="why").click()
    dialog = visitor.page.get_by_role("dialog")
    dialog.get_by_role("treeitem").nth(1).wait_for()
    expect(dialog).to_contain_text(":ownedBy")
    expect(dialog).to_contain_text("asserted")
    visitor.shot("violation-proof")


def test_rules__are_listed_by_id_filtered_and_counted(reasoning: Visit) -> None:
    visitor = reasoning("rules")
    friend = visitor.page.locator(".rule", has_text="friend")
    expect(friend).to_contain_text(":livesWith[?x, ?y]")
    others = visitor.page.locator(".rule").filter(has_not_text="friend")
    others.first.wait_for()
    visitor.page.get_by_role("button", name="Count what each infers").click()
    expect(friend.locator(".badge.inferred")).to_contain_text("1 inferred")
    visitor.page.get_by_role("searchbox").fill("friend")
    expect(others).to_have_count(0)
    friend.wait_for()
    visitor.page.get_by_role("searchbox").fill("no rule has this")
    visitor.page.get_by_text("No rule has this text").wait_for()


def test_editor__problems_appear_at_their_place_as_one_types(
    reasoning: Visit,
) -> None:
    visitor = reasoning("editor")
    visitor.page.get_by_text("Nothing is wrong").wait_for()
    append(visitor, '\nrule "bad" :Happy[?z] :- :Dog[?x] .')
    visitor.page.locator(".problems", has_text="?z in the head is not bound").wait_for()
    visitor.page.locator(".cm-lintRange-error").first.wait_for()
    expect(visitor.page.get_by_role("button", name="Dry run")).to_be_disabled()
    visitor.shot("rules-problem")
    visitor.page.get_by_role("button", name="Back to the rules in force").click()
    visitor.page.get_by_text("Nothing is wrong").wait_for()


def test_editor__a_dry_run_shows_what_rules_do_and_changes_nothing(
    reasoning: Visit,
) -> None:
    visitor = reasoning("editor")
    append(visitor, '\nrule "happy" :Happy[?x] :- :Dog[?x] .')
    visitor.page.get_by_text("Nothing is wrong").wait_for()
    visitor.page.get_by_role("button", name="Dry run").click()
    visitor.page.get_by_role("heading", name="What the rules would do").wait_for()
    happy = visitor.page.locator(".group", has_text=":Happy")
    expect(happy).to_contain_text("+4")
    expect(happy).to_contain_text("Rex")
    visitor.shot("rules-dry-run")
    visitor.page.get_by_role("button", name="Discard").click()
    visitor.open("reasoning/rules")
    visitor.page.locator(".rule", has_text="friend").wait_for()
    expect(visitor.page.locator(".rule", has_text="happy")).to_have_count(0)


def test_editor__rules_are_put_in_force_after_a_dry_run(
    reasoning: Visit, store: Store, host: Callable[..., str]
) -> None:
    visitor = reasoning("editor", host(store, update=True))
    append(visitor, '\nrule "happy" :Happy[?x] :- :Dog[?x] .')
    visitor.page.get_by_text("Nothing is wrong").wait_for()
    visitor.page.get_by_role("button", name="Dry run").click()
    visitor.page.get_by_role("button", name="Put in force").click()
    visitor.page.get_by_text("The rules are in force").wait_for()
    assert store.query("ASK { :rex a :Happy }")


def test_editor__without_updates_rules_are_only_read(
    reasoning: Visit, store: Store, host: Callable[..., str]
) -> None:
    visitor = reasoning("editor", host(store))
    visitor.page.get_by_text("They cannot be changed here").wait_for()
    expect(visitor.page.get_by_role("button", name="Dry run")).to_have_count(0)


@pytest.mark.usefixtures("axe")
@pytest.mark.parametrize("part", ["report", "violations", "rules", "editor"])
def test_parts__are_accessible_and_fit_a_phone(reasoning: Visit, part: str) -> None:
    phone = reasoning(part, **PHONE)
    phone.page.wait_for_load_state("networkidle")
    assert phone.accessibility() == []
    phone.shot(f"reasoning-{part}-390")
    assert phone.fits()
