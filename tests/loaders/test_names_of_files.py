"""A `Path` is loaded as a file; a text that is the name of one is refused with advice."""

from __future__ import annotations

from pathlib import Path, PurePath

import pytest

from triplestore import Store
from triplestore.errors import UsageError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "m.ttl").write_text("<x:a> <x:b> <x:c> .")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_path__is_loaded_as_a_file(folder: Path) -> None:
    store = Store()
    assert store.load(folder / "m.ttl").added == 1
    assert store.bulk_load(PurePath("m.ttl")).already_there == 1
    assert store.load(folder).already_there == 1
    assert store.load(Path("*.ttl")).already_there == 1
    with store.transaction() as transaction:
        assert len(transaction.load(Path("m.ttl"), "turtle")) == 1
    with pytest.raises(UsageError, match="give either"):
        store.load(Path("m.ttl"), path="m.ttl")


@pytest.mark.parametrize("form", [None, "turtle"])
def test_text__that_names_a_file_is_refused_with_advice(folder: Path, form: str | None) -> None:
    for name in ("m.ttl", str(folder / "m.ttl"), str(folder)):
        with pytest.raises(UsageError, match="is the name of a file, not a document") as caught:
            Store().load(name, form)
        assert f"load(path={name!r}), or load(Path({name!r}))" in str(caught.value)


def test_text__that_looks_like_a_name_is_told_from_a_document_without_format() -> None:
    with pytest.raises(UsageError, match="looks like the name of a file that does not exist"):
        Store().load("nowhere.nt.gz")
    for text in ("", " ", "<x:a> <x:b> <x:c.ttl> .", "<x:a> <x:b>\n<x:c> .", "\0.ttl"):
        with pytest.raises(UsageError, match="needs a format"):
            Store().load(text if text != "\0.ttl" else "\0")


def test_text__that_is_a_document_is_loaded(folder: Path) -> None:
    (folder / "#").write_text("a file with a strange name")
    store = Store()
    assert store.load("<x:a> <x:b> <x:m.ttl> .", "turtle").added == 1
    assert store.load("", "turtle").added == 0
    assert store.load("{}", "jsonld").added == 0
