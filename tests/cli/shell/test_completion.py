"""What Tab offers."""

from __future__ import annotations

from pathlib import Path

import pytest

from triplestore import Store
from triplestore.cli.shell.commands import session_of
from triplestore.cli.shell.completion import candidates
from triplestore.cli.shell.session import Session

DATA = """
@prefix : <http://ex.org/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
:ada a :Person ; :parent :bob ; :partner :cy ; foaf:name "Ada" ; <http://other/p> 1 .
"""


@pytest.fixture
def session() -> Session:
    store = Store()
    store.load(DATA, "turtle")
    return session_of(store, lambda line: None)


def test_names__of_properties_and_classes(session: Session) -> None:
    assert candidates(session, "", "SELECT * { ?x :par") == [":parent", ":partner"]
    assert candidates(session, "", "SELECT * { ?x foaf:") == ["foaf:name"]
    assert candidates(session, "", "SELECT * { ?x a :") == [":Person"]
    assert candidates(session, "SELECT * {", "  ?x a :P") == [":Person"]
    assert candidates(session, "", "SELECT * { ?x ") == [
        ":Person",
        ":parent",
        ":partner",
        "foaf:name",
    ]
    assert candidates(session, "", ":a[?x] :- :Per") == [":Person"]
    assert candidates(session, "", ".why :ada :par") == [":parent", ":partner"]


def test_names__are_those_of_the_newest_commit(session: Session) -> None:
    session.run("INSERT DATA { :x :parish :y }")
    assert ":parish" in candidates(session, "", "ASK { ?x :par")


def test_prefixes_and_keywords(session: Session) -> None:
    assert candidates(session, "", "SELECT * { ?x fo") == ["foaf:"]
    assert candidates(session, "PREFIX new: <http://n/>", "SELECT * { ?x ne") == ["new:"]
    assert candidates(session, "", "SEL") == ["SELECT "]
    assert candidates(session, "", "sel") == ["select "]
    assert candidates(session, "SELECT * {}", "OR") == ["ORDER BY "]


def test_variables__that_are_there_already(session: Session) -> None:
    assert candidates(session, "SELECT ?name ?number {", "?n") == ["?name", "?number"]
    assert candidates(session, "", "SELECT ?x { ?x :parent ?y FILTER(?") == ["?x", "?y"]


def test_commands__and_what_comes_behind(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("data/a.ttl").write_text("")
    Path("dump.nt").write_text("")
    assert candidates(session, "", ".pr") == [".prefixes ", ".properties "]
    assert candidates(session, "", ".load d") == ["data/", "dump.nt"]
    assert candidates(session, "", ".load data/") == ["data/a.ttl"]
    assert candidates(session, "", ".load nowhere/x") == []
    assert candidates(session, "", ".reason owl") == ["owl-el ", "owl-horst ", "owl-rl "]
    assert candidates(session, "", ".facts ") == ["all", "explicit", "inferred"]
    assert candidates(session, "", ".help .cl") == ["classes"]
    assert candidates(session, "", ".quit x") == []
