"""Bounds of the ontology of a store and of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from triplestore import Store
from triplestore.errors import UsageError

PREFIXES = """@prefix : <http://ex.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
UNION = ":A rdfs:subClassOf [ owl:unionOf (:B :C) ] . :D rdfs:subClassOf :E ."


def test_bound__of_what_a_store_states() -> None:
    store = Store()
    store.load(PREFIXES + UNION, "turtle")
    lower, upper = store.bound("lower"), store.bound("upper")
    rules = [[rule.name for rule in bound.program.rules] for bound in (lower, upper)]
    assert rules[0] == ["scm-uni", "scm-uni", "cax-sco"]
    assert set(rules[1]) - set(rules[0]) >= {"U union, cax-sco"}
    assert (len(lower.outside), len(upper.outside)) == (1, 1)
    store.load(PREFIXES + ":a a :A .", "turtle")
    store.reason(rules=upper.program)
    assert store.query("ASK { :a a :B , :C }")


def test_bound__of_files_and_what_they_import(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(PREFIXES + "<http://ex.org/a> owl:imports <http://ex.org/b> .")
    (tmp_path / "b.ttl").write_text(PREFIXES + "<http://ex.org/b> a owl:Ontology . " + UNION)
    store = Store()
    bound = store.bound("upper", tmp_path / "a.ttl", imports=tmp_path)
    assert "U union, cax-sco" in [rule.name for rule in bound.program.rules]
    assert len(store) == 0


def test_bound__of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="lower"):
        Store().bound("middle")
    with pytest.raises(UsageError, match="name one that exists"):
        Store().bound("lower", tmp_path / "none.ttl")
