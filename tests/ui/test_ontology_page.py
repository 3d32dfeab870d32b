"""The ontology page in a browser: trees that unfold, search, long lists, and keys."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from ui.browser import PHONE, Visit, Visitor
from ui.village import MANY, term

KINDS = 4 * MANY


@pytest.fixture
def trees(visit: Visit, village_address: str) -> Visit:
    """Opens a tree of the village."""

    def start(kind: str = "class", name: str | None = None, **context: object) -> Visitor:
        visitor = visit(base=village_address, **context)
        visitor.open(f"ontology/{kind}", **({"term": term(name)} if name else {}))
        visitor.page.get_by_role("treeitem").first.wait_for()
        return visitor

    return start


def unfold(visitor: Visitor, name: str) -> None:
    visitor.page.get_by_role("treeitem", name=name).locator(".twist").click()


def test_tree__unfolds_with_counts_of_asserted_and_inferred_members(
    trees: Visit,
) -> None:
    visitor = trees()
    animal = visitor.page.get_by_role("treeitem", name="animal")
    expect(animal).to_contain_text("6 inferred")
    unfold(visitor, "animal")
    dog = visitor.page.get_by_role("treeitem", name="dog")
    expect(dog).to_contain_text("2 asserted")
    expect(dog).to_have_attribute("aria-level", "2")
    names = visitor.page.locator(".vtree-name").all_inner_texts()
    assert names[:3] == ["animal", "cat", "dog"]
    unfold(visitor, "animal")
    dog.wait_for(state="detached")


def test_tree__a_chosen_class_is_shown_beside_it(trees: Visit) -> None:
    visitor = trees()
    visitor.page.get_by_role("treeitem", name="animal").click()
    visitor.page.get_by_role("heading", name="animal").wait_for()
    pointing = visitor.page.get_by_role("region", name="Facts that point to it")
    expect(pointing).to_contain_text("Rex")
    visitor.page.get_by_role("link", name="Open its page").click()
    visitor.page.locator("h1", has_text="animal").wait_for()


def test_tree__a_class_of_the_address_is_unfolded_to(trees: Visit) -> None:
    visitor = trees(name="Puppy")
    puppy = visitor.page.get_by_role("treeitem", name="puppy")
    expect(puppy).to_have_attribute("aria-level", "3")
    expect(visitor.page.locator(".vtree-row[aria-selected=true]")).to_contain_text("puppy")
    visitor.shot("ontology-village")


def test_tree__search_goes_to_a_class(trees: Visit) -> None:
    visitor = trees()
    visitor.page.get_by_role("combobox", name="Search classes").fill("pupp")
    visitor.page.get_by_role("option", name="puppy").wait_for()
    visitor.page.keyboard.press("Enter")
    visitor.page.get_by_role("heading", name="puppy").wait_for()
    visitor.page.get_by_role("treeitem", name="puppy").wait_for()


def test_tree__long_lists_are_loaded_as_one_scrolls_and_drawn_in_part(
    trees: Visit,
) -> None:
    visitor = trees()
    unfold(visitor, ":Kind")
    visitor.page.get_by_role("treeitem", name=":Kind0000").wait_for()
    assert visitor.page.get_by_role("treeitem").count() < 100
    tree = visitor.page.get_by_role("tree")
    below = visitor.page.get_by_role("treeitem", name=f":Kind{KINDS - 1:04}")
    down = "(element) => element.scrollTo(0, element.scrollHeight)"
    visitor.repeat(lambda: tree.evaluate(down), below)
    expect(below).to_have_attribute("aria-posinset", str(KINDS))
    assert visitor.page.get_by_role("treeitem").count() < 100


def test_tree__a_far_sibling_is_found_by_its_address(trees: Visit) -> None:
    visitor = trees(name=f"Kind{KINDS - 5:04}")
    far = visitor.page.get_by_role("treeitem", name=f":Kind{KINDS - 5:04}")
    expect(far).to_have_attribute("aria-level", "2")


def test_tree__keys_move_unfold_and_choose(trees: Visit) -> None:
    visitor = trees()
    tree = visitor.page.get_by_role("tree")
    tree.focus()
    press = visitor.page.keyboard.press
    press("Home")
    press("ArrowRight")  # the first class is "animal" or another; unfold what is there
    press("a")
    active = visitor.page.locator(".vtree-row[aria-selected=true]")
    expect(active).to_contain_text(re.compile("^animal"))
    if active.get_attribute("aria-expanded") == "false":
        press("ArrowRight")
    visitor.page.get_by_role("treeitem", name="cat 2").wait_for()
    press("ArrowRight")
    expect(active).to_contain_text(re.compile("^cat"))
    expect(tree).to_have_attribute("aria-activedescendant", str(active.get_attribute("id")))
    press("ArrowLeft")
    expect(active).to_contain_text(re.compile("^animal"))
    press("ArrowDown")
    press("Enter")
    visitor.page.get_by_role("heading", name="cat").wait_for()


def test_properties__are_a_tree_of_their_own(trees: Visit) -> None:
    visitor = trees()
    visitor.page.get_by_label("Properties", exact=True).check(force=True)
    unfold(visitor, "is an ancestor of")
    visitor.page.get_by_role("treeitem", name="is a parent of").wait_for()


def test_concepts__are_below_their_scheme(trees: Visit) -> None:
    visitor = trees("concept", "canines")
    expect(visitor.page.locator(".vtree-name")).to_have_text(["Pets", "mammals", "canines"])


@pytest.mark.usefixtures("axe")
def test_trees__are_accessible_and_fit_a_phone(trees: Visit) -> None:
    phone = trees(name="Puppy", color_scheme="dark", **PHONE)
    phone.page.get_by_role("treeitem", name="puppy").wait_for()
    phone.page.get_by_role("heading", name="puppy").wait_for()
    assert phone.accessibility() == []
    phone.shot("ontology-390-dark")
    assert phone.fits()
