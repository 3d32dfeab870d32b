"""Real ontologies: named subsumptions and unsatisfiable classes are those that ELK computes."""

from __future__ import annotations

import gzip

import pytest
from support.data_folders import data_folder

from tests.ontologies.el.checking import SUB
from triplestore import NamedNode, Quad, Store
from triplestore.terms.vocabulary import OWL_NOTHING, OWL_THING

FOLDER = data_folder() / "owl-el"
BOTTOM = "BOTTOM"
"""How the published taxonomies name the superclass of unsatisfiable classes."""

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="no owl-el: set TRIPLESTORE_DATA to the folder with it"
)


def published(name: str) -> tuple[set[tuple[str, str]], set[str]]:
    """All pairs of a published taxonomy, and its unsatisfiable classes."""
    above: dict[str, set[str]] = {}
    with gzip.open(FOLDER / f"{name}.elk.tsv.gz", "rt") as file:
        for line in file:
            sub, sup = line.split()
            above.setdefault(sub, set()).add(sup)
    pairs = {(sub, sup) for sub in above for sup in _reached(sub, above) if sub != sup}
    bad = {sub for sub, sup in pairs if sup == BOTTOM}
    return {p for p in pairs if p[0] not in bad and p[1] != OWL_THING}, bad


def _reached(sub: str, above: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [sub]
    while waiting:
        for sup in above.get(waiting.pop(), ()):
            if sup not in found:
                found.add(sup)
                waiting.append(sup)
    return found


def classified(name: str) -> Store:
    store = Store()
    store.load(path=str(FOLDER / f"{name}.owl.gz"))
    store.reason("owl-el")
    return store


def shown(store: Store) -> tuple[set[tuple[str, str]], set[str]]:
    quads = store.quads_for_pattern(None, SUB, None, None)
    pairs = {
        (quad.subject.value, quad.object.value)
        for quad in quads
        if isinstance(quad.subject, NamedNode) and isinstance(quad.object, NamedNode)
    }
    bad = {sub for sub, sup in pairs if sup == OWL_NOTHING}
    return {p for p in pairs if p[0] not in bad}, bad


def check(name: str) -> None:
    pairs, bad = published(name)
    found, unsatisfiable = shown(classified(name))
    assert unsatisfiable == bad
    assert found - pairs == set()
    assert pairs - found == set()


@pytest.mark.parametrize("name", ["pato", "galen"])
def test_owl_el__is_what_elk_computes(name: str) -> None:
    check(name)


@pytest.mark.long
@pytest.mark.parametrize("name", ["po", "so", "fbbt", "uberon"])
def test_owl_el__is_what_elk_computes_of_larger_ontologies(name: str) -> None:
    check(name)


def test_unsatisfiable_classes__are_violations() -> None:
    store = Store()
    store.load(path=str(FOLDER / "pato.owl.gz"))
    store.reason("owl-el")
    assert not store.violations()
    above = {q.object for q in store.quads_for_pattern(None, SUB, None, None)}
    one, other = sorted((c for c in above if isinstance(c, NamedNode)), key=str)[:2]
    store.add(Quad(one, NamedNode("http://www.w3.org/2002/07/owl#disjointWith"), one))
    assert store.violations()
    assert Quad(one, SUB, NamedNode(OWL_NOTHING)) in store
    assert other != one
