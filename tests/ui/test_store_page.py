"""The store page in a browser: numbers, load, inference that is stopped, and dumps."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from triplestore import Store
from ui.browser import Visit, Visitor


@pytest.fixture
def page(store: Store, visit: Visit, host: Callable[..., str]) -> Visitor:
    """A person at the store page of a village of one's own."""
    visitor = visit(base=host(store, update=True))
    visitor.open("store")
    return visitor


def figure(visitor: Visitor, name: str) -> Locator:
    return visitor.page.locator(".figure", has_text=name).locator("dd")


def load(visitor: Visitor, file: Path) -> None:
    visitor.page.get_by_label("File", exact=True).set_input_files(file)
    visitor.page.get_by_role("button", name="Load").click()


def test_store__its_numbers_are_shown(page: Visitor, store: Store) -> None:
    expect(figure(page, "Inferred")).to_have_text(f"{store.info().inferred:,}")
    expect(figure(page, "Asserted")).to_have_text(f"{store.info().explicit:,}")
    for text in ("owl-rl", "Default graph", "Dictionary"):
        expect(page.page.locator("main")).to_contain_text(text)
    page.page.get_by_role("link", name="1", exact=True).click()
    page.page.locator(".violation-item").wait_for()


def test_commits__the_last_ones_are_listed(page: Visitor, store: Store) -> None:
    store.update("INSERT DATA { <http://e/new> <http://e/p> 1, 2, 3 }")
    page.page.reload()
    lines = page.page.get_by_label("Latest commits", exact=True).locator(".line")
    expect(lines.first).to_have_text(re.compile(rf"^{store.commit},.*\+3"))
    page.shot("store-commits")


def test_load__a_file_is_loaded_as_a_job(page: Visitor, store: Store, tmp_path: Path) -> None:
    file = tmp_path / "more.nt"
    lines = (f"<http://e/s{n}> <http://e/p> <http://e/o{n}> .\n" for n in range(2_000))
    file.write_text("".join(lines))
    before = store.info().explicit
    load(page, file)
    expect(page.page.locator(".job.good")).to_contain_text("2,000")
    page.shot("store-loaded")
    expect(figure(page, "Asserted")).to_have_text(f"{before + 2_000:,}")
    page.page.get_by_role("button", name="Dismiss").first.click()
    expect(page.page.locator(".job")).to_have_count(0)


def test_load__a_broken_file_changes_nothing_and_says_where(
    page: Visitor, store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "broken.nt"
    file.write_text("<http://e/a> <http://e/b> <http://e/c> .\n<http://e/a> <http://e/b> .\n")
    before = store.commit
    load(page, file)
    expect(page.page.locator(".job.bad")).to_contain_text("nothing has changed")
    expect(page.page.locator(".job.bad")).to_contain_text("line 2")
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
    assert begun.wait(20)
    page.page.get_by_role("button", name="Stop").click()
    page.page.locator(".job.warn", has_text="stopped: nothing has changed").wait_for()
    page.shot("store-stopped")


def test_dump__is_a_file_of_the_chosen_format_and_facts(page: Visitor, tmp_path: Path) -> None:
    page.page.get_by_label("Format").last.select_option("nt")
    page.page.get_by_label("Inferred", exact=True).check(force=True)
    link = page.page.get_by_role("link", name="Download")
    expect(link).to_have_attribute("href", re.compile("format=nt.*facts=inferred"))
    with page.page.expect_download() as waiting:
        link.click()
    waiting.value.save_as(tmp_path / "dump.nt")
    text = (tmp_path / "dump.nt").read_text()
    rex = "<http://village.example/rex> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
    assert rex + "<http://village.example/Animal> ." in text
    assert rex + "<http://village.example/Dog> ." not in text


def test_store__without_updates_there_is_nothing_to_change(
    store: Store, visit: Visit, host: Callable[..., str]
) -> None:
    visitor = visit(base=host(store))
    visitor.open("store")
    visitor.page.get_by_role("heading", name="Dump").wait_for()
    for name in ("Load", "Infer"):
        expect(visitor.page.get_by_role("heading", name=name, exact=True)).to_have_count(0)


@pytest.mark.usefixtures("axe")
def test_jobs__are_accessible(page: Visitor, tmp_path: Path) -> None:
    file = tmp_path / "broken.nt"
    file.write_text("nothing")
    load(page, file)
    page.page.locator(".job.bad").wait_for()
    assert page.accessibility() == []
