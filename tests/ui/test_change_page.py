"""The change page in a browser: preview, commit, discard, files, and changes of others."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from triplestore import Store
from ui.browser import PHONE, Visit, Visitor

ADD = 'INSERT DATA { :fido a :Puppy ; rdfs:label "Fido"@en ; :ownedBy :ann }'


@pytest.fixture
def page(store: Store, visit: Visit, host: Callable[..., str]) -> Visitor:
    """A person at the change page of a village of one's own."""
    visitor = visit(base=host(store, update=True))
    visitor.open("change")
    return visitor


def preview(visitor: Visitor) -> None:
    visitor.page.get_by_role("button", name="Preview").click()
    visitor.page.get_by_role("heading", name="Preview").wait_for()


def test_preview__shows_consequences_by_class_and_property(page: Visitor, store: Store) -> None:
    before = len(store)
    page.write(ADD)
    preview(page)
    puppy = page.page.locator(".group", has_text="puppy")
    animal = page.page.locator(".group", has_text="animal")
    expect(puppy).to_contain_text("+1")
    expect(animal).to_contain_text("Fido")
    expect(animal).to_contain_text("inferred")
    expect(page.page.locator(".figure", has_text="New violations")).to_contain_text("1")
    violations = page.page.locator(".preview-violations")
    expect(violations).to_contain_text("is owned, but has no name")
    page.shot("change-preview")
    assert len(store) == before


def test_preview__a_new_violation_has_its_proof_before_anything_is_written(
    page: Visitor, store: Store
) -> None:
    before = store.commit
    page.write(ADD)
    preview(page)
    page.page.locator(".preview-violations").get_by_role("button", name="why").click()
    dialog = page.page.get_by_role("dialog")
    dialog.get_by_role("treeitem").nth(1).wait_for()
    expect(dialog).to_contain_text("Fido")
    expect(dialog).to_contain_text(":ownedBy")
    page.shot("change-why")
    assert store.commit == before


def test_commit__writes_what_the_preview_showed(page: Visitor, store: Store) -> None:
    page.write(ADD + " ; DELETE DATA { :rex :ownedBy :ann }")
    preview(page)
    page.page.get_by_role("heading", name="Resolved violations").wait_for()
    page.page.get_by_role("button", name="Commit with 1 new violation").click()
    page.page.get_by_text("Committed:").wait_for()
    assert store.query("ASK { :fido a :Animal }")
    assert not store.query("ASK { :rex :ownedBy :ann }")
    expect(page.page.get_by_role("heading", name="Preview")).to_have_count(0)
    expect(page.page.locator(".cm-content")).not_to_contain_text(":fido")


def test_discard__forgets_the_preview_and_writes_nothing(page: Visitor, store: Store) -> None:
    before = store.commit
    page.write(ADD)
    preview(page)
    page.page.get_by_role("button", name="Discard").click()
    page.page.get_by_role("heading", name="Preview").wait_for(state="detached")
    expect(page.page.locator(".cm-content")).to_contain_text(":fido")
    assert store.commit == before and not store.query("ASK { :fido a :Puppy }")


def test_preview__ctrl_enter_right_after_typing_is_of_the_whole_text(page: Visitor) -> None:
    for number in range(5):
        page.write(f"INSERT DATA {{ :fido{number} a :Puppy }}")
        page.page.keyboard.press("Control+Enter")
        page.page.locator(".example", has_text=f":fido{number}").first.wait_for()


def test_preview__an_edit_forgets_it(page: Visitor) -> None:
    page.write(ADD)
    preview(page)
    page.page.locator(".cm-content").click()
    page.page.keyboard.press("End")
    page.page.keyboard.insert_text(" ")
    page.page.get_by_role("heading", name="Preview").wait_for(state="detached")
    expect(page.page.get_by_role("button", name="Commit")).to_have_count(0)


def test_commit__after_a_change_of_others_asks_for_a_new_preview(
    page: Visitor, store: Store
) -> None:
    page.write("INSERT DATA { :fido :livesWith :mimi }")
    preview(page)
    store.update("INSERT DATA { :rex :livesWith :mimi }")
    page.page.get_by_role("button", name="Commit").click()
    expect(page.page.get_by_role("alert")).to_contain_text("has changed since the preview")
    assert not store.query("ASK { :fido :livesWith :mimi }")
    page.page.get_by_role("button", name="Preview again").click()
    page.page.get_by_role("button", name="Commit").click()
    page.page.get_by_text("Committed:").wait_for()
    assert store.query("ASK { :fido :livesWith :mimi }")


def test_preview__a_change_of_nothing_cannot_be_committed(page: Visitor) -> None:
    page.write("INSERT DATA { :rex a :Dog }")
    preview(page)
    page.page.get_by_text("This changes nothing").first.wait_for()
    expect(page.page.get_by_role("button", name="Commit")).to_have_count(0)


def test_preview__a_strict_store_offers_no_commit_of_violations(
    visit: Visit, host: Callable[..., str]
) -> None:
    store = Store()
    rules = '@prefix : <http://village.example/> . constraint "no" "is both" :- :A[?x], :B[?x] .'
    store.reason(rules=rules, strict=True)
    visitor = visit(base=host(store, update=True))
    visitor.open("change")
    visitor.write("INSERT DATA { :x a :A, :B }")
    preview(visitor)
    visitor.page.get_by_text("This store is strict").wait_for()
    expect(visitor.page.get_by_role("button", name="Commit")).to_have_count(0)


def test_preview__errors_are_shown_at_their_place(page: Visitor) -> None:
    page.write("INSERT DATA {\n  :rex a }")
    page.page.get_by_role("button", name="Preview").click()
    expect(page.page.get_by_role("alert")).to_contain_text("line 2")
    page.page.locator(".cm-lintRange-error").first.wait_for()


def test_files__are_previewed_and_committed(page: Visitor, store: Store, tmp_path: Path) -> None:
    file = tmp_path / "more.ttl"
    file.write_text("@prefix : <http://village.example/> . :fido a :Puppy .")
    page.page.get_by_label("Files", exact=True).check(force=True)
    page.page.locator("input[type=file]").set_input_files(file)
    expect(page.page.get_by_label("Format of more.ttl")).to_have_value("ttl")
    page.page.get_by_label("Graph of more.ttl").fill("http://village.example/news")
    preview(page)
    page.shot("change-files")
    page.page.get_by_role("button", name="Commit").click()
    page.page.get_by_text("Committed:").wait_for()
    assert store.query("ASK { GRAPH :news { :fido a :Puppy } }")
    expect(page.page.locator(".file")).to_have_count(0)


def test_files__can_be_dropped_also_packed(page: Visitor, tmp_path: Path) -> None:
    page.page.get_by_label("Files", exact=True).check(force=True)
    packed = gzip.compress(b"<http://village.example/fido> a <http://village.example/Puppy> .")
    given = page.page.evaluate_handle(
        """(bytes) => {
            const dropped = new DataTransfer();
            dropped.items.add(new File([new Uint8Array(bytes)], "more.ttl.gz"));
            return dropped;
        }""",
        list(packed),
    )
    page.page.dispatch_event(".drop", "drop", {"dataTransfer": given})
    page.page.locator(".file", has_text="more.ttl.gz").wait_for()
    preview(page)
    expect(page.page.locator(".group", has_text="puppy")).to_contain_text(":fido")


def test_files__a_broken_one_changes_nothing_and_says_where(
    page: Visitor, store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "broken.dat"
    file.write_text("<http://e/a> <http://e/b> .\n")
    page.page.get_by_label("Files", exact=True).check(force=True)
    page.page.locator("input[type=file]").set_input_files(file)
    expect(page.page.get_by_role("button", name="Preview")).to_be_disabled()
    page.page.get_by_label("Format of broken.dat").select_option("nt")
    page.page.get_by_role("button", name="Preview").click()
    page.page.get_by_role("alert").wait_for()
    page.page.get_by_role("button", name="Leave out broken.dat").click()
    expect(page.page.locator(".file")).to_have_count(0)


def test_change__is_not_offered_without_updates(visit: Visit, host: Callable[..., str]) -> None:
    visitor = visit(base=host(Store()))
    visitor.open("change")
    visitor.page.get_by_text("This store cannot be changed here").wait_for()
    expect(visitor.page.get_by_role("button", name="Preview")).to_have_count(0)


@pytest.mark.usefixtures("axe")
def test_preview__is_accessible_and_fits_a_phone(
    store: Store, visit: Visit, host: Callable[..., str]
) -> None:
    phone = visit(base=host(store, update=True), **PHONE)
    phone.open("change")
    phone.write(ADD)
    preview(phone)
    assert phone.accessibility() == []
    phone.shot("change-preview-390")
    assert phone.fits()
    phone.page.emulate_media(color_scheme="dark")
    assert phone.accessibility() == []
