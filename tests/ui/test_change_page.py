"""The change page in a browser: preview, commit, discard, files, and changes of others."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from server.conftest import served

from triplestore import Store
from ui.browser import Visitor
from ui.village import village

ADD = 'INSERT DATA { :fido a :Puppy ; rdfs:label "Fido"@en ; :ownedBy :ann }'


@pytest.fixture
def store() -> Store:
    return village()


@pytest.fixture
def page(store: Store, visit: Callable[..., Visitor]) -> Iterator[Visitor]:
    """A person at the change page of a village of one's own."""
    with served(store, update=True) as client:
        visitor = visit(base=f"http://localhost:{client.port}")
        visitor.open("change")
        yield visitor


def write(visitor: Visitor, text: str) -> None:
    visitor.page.locator(".cm-content").click()
    visitor.page.keyboard.press("Control+A")
    visitor.page.keyboard.insert_text(text)


def preview(visitor: Visitor) -> None:
    visitor.page.get_by_role("button", name="Preview").click()
    visitor.page.get_by_role("heading", name="Preview").wait_for()


def test_preview__shows_consequences_by_class_and_property(page: Visitor, store: Store) -> None:
    before = len(store)
    write(page, ADD)
    preview(page)
    puppy = page.page.locator(".group", has_text="puppy")
    animal = page.page.locator(".group", has_text="animal")
    assert "+1" in puppy.inner_text()
    assert "Fido" in animal.inner_text() and "inferred" in animal.inner_text()
    figures = page.page.locator(".figure", has_text="New violations")
    assert "1" in figures.inner_text()
    assert "is owned, but has no name" in page.page.locator(".preview-violations").inner_text()
    page.shot("change-preview")
    assert len(store) == before


def test_preview__a_new_violation_has_its_proof_before_anything_is_written(
    page: Visitor, store: Store
) -> None:
    before = store.commit
    write(page, ADD)
    preview(page)
    page.page.locator(".preview-violations").get_by_role("button", name="why").click()
    dialog = page.page.get_by_role("dialog")
    dialog.get_by_role("treeitem").nth(1).wait_for()
    assert "Fido" in dialog.inner_text() and ":ownedBy" in dialog.inner_text()
    page.shot("change-why")
    assert store.commit == before


def test_commit__writes_what_the_preview_showed(page: Visitor, store: Store) -> None:
    write(page, ADD + " ; DELETE DATA { :rex :ownedBy :ann }")
    preview(page)
    assert "Resolved violations" in page.page.locator(".preview").inner_text()
    page.page.get_by_role("button", name="Commit with 1 new violation").click()
    page.page.get_by_text("Committed:").wait_for()
    assert store.query("ASK { :fido a :Animal }")
    assert not store.query("ASK { :rex :ownedBy :ann }")
    assert page.page.get_by_role("heading", name="Preview").count() == 0
    assert page.page.locator(".cm-content").inner_text().strip() != ADD


def test_discard__forgets_the_preview_and_writes_nothing(page: Visitor, store: Store) -> None:
    before = store.commit
    write(page, ADD)
    preview(page)
    page.page.get_by_role("button", name="Discard").click()
    page.page.get_by_role("heading", name="Preview").wait_for(state="detached")
    assert ":fido" in page.page.locator(".cm-content").inner_text()
    assert store.commit == before and not store.query("ASK { :fido a :Puppy }")


def test_preview__ctrl_enter_right_after_typing_is_of_the_whole_text(page: Visitor) -> None:
    for number in range(5):
        write(page, f"INSERT DATA {{ :fido{number} a :Puppy }}")
        page.page.keyboard.press("Control+Enter")
        page.page.locator(".example", has_text=f":fido{number}").first.wait_for()


def test_preview__an_edit_forgets_it(page: Visitor) -> None:
    write(page, ADD)
    preview(page)
    page.page.locator(".cm-content").click()
    page.page.keyboard.press("End")
    page.page.keyboard.insert_text(" ")
    page.page.get_by_role("heading", name="Preview").wait_for(state="detached")
    assert page.page.get_by_role("button", name="Commit").count() == 0


def test_commit__after_a_change_of_others_asks_for_a_new_preview(
    page: Visitor, store: Store
) -> None:
    write(page, "INSERT DATA { :fido :livesWith :mimi }")
    preview(page)
    store.update("INSERT DATA { :rex :livesWith :mimi }")
    page.page.get_by_role("button", name="Commit").click()
    page.page.get_by_role("alert").wait_for()
    assert "has changed since the preview" in page.page.get_by_role("alert").inner_text()
    assert not store.query("ASK { :fido :livesWith :mimi }")
    page.page.get_by_role("button", name="Preview again").click()
    page.page.get_by_role("button", name="Commit").click()
    page.page.get_by_text("Committed:").wait_for()
    assert store.query("ASK { :fido :livesWith :mimi }")


def test_preview__a_change_of_nothing_cannot_be_committed(page: Visitor) -> None:
    write(page, "INSERT DATA { :rex a :Dog }")
    preview(page)
    page.page.get_by_text("This changes nothing").first.wait_for()
    assert page.page.get_by_role("button", name="Commit").count() == 0


def test_preview__a_strict_store_offers_no_commit_of_violations(
    visit: Callable[..., Visitor],
) -> None:
    store = Store()
    rules = '@prefix : <http://village.example/> . constraint "no" "is both" :- :A[?x], :B[?x] .'
    store.reason(rules=rules, strict=True)
    with served(store, update=True) as client:
        visitor = visit(base=f"http://localhost:{client.port}")
        visitor.open("change")
        write(visitor, "INSERT DATA { :x a :A, :B }")
        preview(visitor)
        visitor.page.get_by_text("This store is strict").wait_for()
        assert visitor.page.get_by_role("button", name="Commit").count() == 0


def test_preview__errors_are_shown_at_their_place(page: Visitor) -> None:
    write(page, "INSERT DATA {\n  :rex a }")
    page.page.get_by_role("button", name="Preview").click()
    page.page.get_by_role("alert").wait_for()
    assert "line 2" in page.page.get_by_role("alert").inner_text()
    page.page.locator(".cm-lintRange-error").first.wait_for()


def test_files__are_previewed_and_committed(page: Visitor, store: Store, tmp_path: Path) -> None:
    file = tmp_path / "more.ttl"
    file.write_text("@prefix : <http://village.example/> . :fido a :Puppy .")
    page.page.get_by_label("Files", exact=True).check(force=True)
    page.page.locator("input[type=file]").set_input_files(file)
    assert page.page.get_by_label("Format of more.ttl").input_value() == "ttl"
    page.page.get_by_label("Graph of more.ttl").fill("http://village.example/news")
    preview(page)
    page.shot("change-files")
    page.page.get_by_role("button", name="Commit").click()
    page.page.get_by_text("Committed:").wait_for()
    assert store.query("ASK { GRAPH :news { :fido a :Puppy } }")
    assert page.page.locator(".file").count() == 0


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
    assert ":fido" in page.page.locator(".group", has_text="puppy").inner_text()


def test_files__a_broken_one_changes_nothing_and_says_where(
    page: Visitor, store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "broken.dat"
    file.write_text("<http://e/a> <http://e/b> .\n")
    page.page.get_by_label("Files", exact=True).check(force=True)
    page.page.locator("input[type=file]").set_input_files(file)
    assert page.page.get_by_role("button", name="Preview").is_disabled()
    page.page.get_by_label("Format of broken.dat").select_option("nt")
    page.page.get_by_role("button", name="Preview").click()
    page.page.get_by_role("alert").wait_for()
    page.page.get_by_role("button", name="Leave out broken.dat").click()
    assert page.page.locator(".file").count() == 0


def test_change__is_not_offered_without_updates(visit: Callable[..., Visitor]) -> None:
    with served(Store()) as client:
        visitor = visit(base=f"http://localhost:{client.port}")
        visitor.open("change")
        visitor.page.get_by_text("This store cannot be changed here").wait_for()
        assert visitor.page.get_by_role("button", name="Preview").count() == 0


@pytest.mark.usefixtures("axe")
def test_preview__is_accessible_and_fits_a_phone(
    store: Store, visit: Callable[..., Visitor]
) -> None:
    with served(store, update=True) as client:
        phone = visit(
            base=f"http://localhost:{client.port}", viewport={"width": 390, "height": 844}
        )
        phone.open("change")
        write(phone, ADD)
        preview(phone)
        assert phone.accessibility() == []
        phone.shot("change-preview-390")
        assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
        phone.page.emulate_media(color_scheme="dark")
        assert phone.accessibility() == []
