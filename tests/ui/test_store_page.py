"""The store page in a browser: numbers, load, inference that is stopped, and dumps."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from server.conftest import served

from triplestore import Store
from ui.browser import Visitor
from ui.village import village


@pytest.fixture
def store() -> Store:
    return village()


@pytest.fixture
def page(store: Store, visit: Callable[..., Visitor]) -> Iterator[Visitor]:
    """A person at the store page of a village of one's own."""
    with served(store, update=True) as client:
        visitor = visit(base=f"http://localhost:{client.port}")
        visitor.open("store")
        yield visitor


def figure(visitor: Visitor, name: str) -> str:
    return visitor.page.locator(".figure", has_text=name).locator("dd").inner_text()


def test_store__its_numbers_are_shown(page: Visitor, store: Store) -> None:
    assert figure(page, "Inferred") == f"{store.info().inferred:,}"
    assert figure(page, "Asserted") == f"{store.info().explicit:,}"
    text = page.page.locator("main").inner_text()
    assert "owl-rl" in text and "Default graph" in text and "Dictionary" in text
    page.page.get_by_role("link", name="1", exact=True).click()
    page.page.locator(".violation-item").wait_for()


def test_commits__the_last_ones_are_listed(page: Visitor, store: Store) -> None:
    store.update("INSERT DATA { <http://e/new> <http://e/p> 1, 2, 3 }")
    page.page.reload()
    lines = page.page.get_by_label("Latest commits", exact=True).locator(".line")
    lines.first.wait_for()
    first = lines.first.inner_text()
    assert first.startswith(f"{store.commit},") and "+3" in first
    page.shot("store-commits")


def test_load__a_file_is_loaded_as_a_job(page: Visitor, store: Store, tmp_path: Path) -> None:
    file = tmp_path / "more.nt"
    lines = (f"<http://e/s{n}> <http://e/p> <http://e/o{n}> .\n" for n in range(2_000))
    file.write_text("".join(lines))
    before = store.info().explicit
    page.page.get_by_label("File", exact=True).set_input_files(file)
    page.page.get_by_role("button", name="Load").click()
    job = page.page.locator(".job.good")
    job.wait_for()
    assert "2,000" in job.inner_text()
    page.shot("store-loaded")
    page.until(f"document.querySelector('.figure dd').innerText === '{before + 2_000:,}'")
    page.page.get_by_role("button", name="Dismiss").first.click()
    assert page.page.locator(".job").count() == 0


def test_load__a_broken_file_changes_nothing_and_says_where(
    page: Visitor, store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "broken.nt"
    file.write_text("<http://e/a> <http://e/b> <http://e/c> .\n<http://e/a> <http://e/b> .\n")
    before = store.commit
    page.page.get_by_label("File", exact=True).set_input_files(file)
    page.page.get_by_role("button", name="Load").click()
    job = page.page.locator(".job.bad")
    job.wait_for()
    assert "nothing has changed" in job.inner_text() and "line 2" in job.inner_text()
    assert store.commit == before


def test_inference__a_regime_is_put_in_force_and_all_turned_off(
    page: Visitor, store: Store
) -> None:
    page.page.get_by_label("SKOS: broader, narrower, schemes, and its constraints").check()
    page.page.get_by_role("button", name="Add and infer").click()
    page.page.locator(".job.good").wait_for()
    page.page.get_by_text("owl-rl, skos").nth(1).wait_for()
    page.page.get_by_role("button", name="Turn inference off").click()
    page.page.locator(".job.good").nth(1).wait_for()
    assert store.info().inferred == 0


def test_inference__a_running_one_can_be_stopped(
    page: Visitor, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()

    def endless(*names: str, cancel: Callable[[], bool], **options: object) -> None:
        begun.set()
        while not cancel():
            threading.Event().wait(0.01)
        raise RuntimeError("stopped")

    monkeypatch.setattr(store, "reason", endless)
    page.page.get_by_label("RDFS: subclasses, subproperties, domains, ranges").check()
    page.page.get_by_role("button", name="Add and infer").click()
    assert begun.wait(5)
    page.page.get_by_role("button", name="Stop").click()
    page.page.locator(".job.warn", has_text="stopped: nothing has changed").wait_for()
    page.shot("store-stopped")


def test_dump__is_a_file_of_the_chosen_format_and_facts(page: Visitor, tmp_path: Path) -> None:
    page.page.get_by_label("Format").last.select_option("nt")
    page.page.get_by_label("Inferred", exact=True).check(force=True)
    with page.page.expect_download() as waiting:
        page.page.get_by_role("link", name="Download").click()
    waiting.value.save_as(tmp_path / "dump.nt")
    text = (tmp_path / "dump.nt").read_text()
    rex = "<http://village.example/rex> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
    assert rex + "<http://village.example/Animal> ." in text
    assert rex + "<http://village.example/Dog> ." not in text


def test_store__without_updates_there_is_nothing_to_change(visit: Callable[..., Visitor]) -> None:
    with served(village()) as client:
        visitor = visit(base=f"http://localhost:{client.port}")
        visitor.open("store")
        visitor.page.get_by_role("heading", name="Dump").wait_for()
        for name in ("Load", "Infer"):
            assert visitor.page.get_by_role("heading", name=name, exact=True).count() == 0


@pytest.mark.usefixtures("axe")
def test_jobs__are_accessible(page: Visitor, tmp_path: Path) -> None:
    file = tmp_path / "broken.nt"
    file.write_text("nothing")
    page.page.get_by_label("File", exact=True).set_input_files(file)
    page.page.get_by_role("button", name="Load").click()
    page.page.locator(".job.bad").wait_for()
    assert page.accessibility() == []
