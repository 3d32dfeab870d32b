"""Logins in a browser: the dialog that opens by itself, roles, and logging out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect
from server.conftest import CHEAP

from triplestore import Store
from triplestore.server.access.passwords import password_hash
from triplestore.server.access.users_file import UserRecord, Users, write_users
from ui.browser import PHONE, Visit, Visitor
from ui.village import term


@pytest.fixture
def guarded(store: Store, host: Callable[..., str], tmp_path: Path) -> str:
    """Where a village is served to two users; passwords are their names and `-secret`."""
    users = Users({})
    for name, role in (("rita", "read"), ("wim", "write")):
        users = users.changed(UserRecord(name, role, password_hash(f"{name}-secret", CHEAP), {}))
    write_users(tmp_path / "users.toml", users)
    return host(store, update=True, users=tmp_path / "users.toml")


def log_in(visitor: Visitor, name: str, password: str | None = None) -> None:
    dialog = visitor.page.get_by_role("dialog")
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_label("Password").fill(password or f"{name}-secret")
    dialog.get_by_role("button", name="Log in").click()


def test_login__is_asked_for_and_then_the_page_shows_the_store(guarded: str, visit: Visit) -> None:
    visitor = visit(base=guarded)
    visitor.open("resource", term=term("rex"))
    visitor.page.get_by_role("dialog").get_by_label("Name").wait_for()
    visitor.shot("login")
    assert "Rex" not in visitor.page.locator("body").inner_text()
    log_in(visitor, "rita", "wrong")
    visitor.page.get_by_role("dialog").get_by_role("alert").wait_for()
    log_in(visitor, "rita")
    visitor.page.locator("h1", has_text="Rex").wait_for()
    expect(visitor.page.locator("header").first).to_contain_text("rita")


def test_login__a_reader_is_not_offered_changes_and_a_writer_is(guarded: str, visit: Visit) -> None:
    visitor = visit(base=guarded)
    visitor.open("change")
    log_in(visitor, "rita")
    visitor.page.get_by_text("Your role is to read").wait_for()
    visitor.page.get_by_role("button", name="Log out").click()
    visitor.page.get_by_role("dialog").get_by_label("Name").wait_for()
    log_in(visitor, "wim")
    visitor.page.get_by_role("button", name="Preview").wait_for()


def test_login__an_ended_session_asks_again_and_the_page_goes_on(
    guarded: str, visit: Visit
) -> None:
    visitor = visit(base=guarded)
    visitor.open("ontology/class")
    log_in(visitor, "wim")
    visitor.page.get_by_role("treeitem", name="animal").wait_for()
    visitor.page.context.clear_cookies()
    visitor.page.get_by_role("treeitem", name="animal").click()
    visitor.page.get_by_role("dialog").get_by_label("Name").wait_for()
    log_in(visitor, "wim")
    visitor.page.get_by_role("heading", name="animal").wait_for()


@pytest.mark.usefixtures("axe")
def test_login__the_dialog_is_accessible(guarded: str, visit: Visit) -> None:
    visitor = visit(base=guarded, **PHONE)
    visitor.open("store")
    visitor.page.get_by_role("dialog").get_by_label("Name").wait_for()
    assert visitor.accessibility() == []
