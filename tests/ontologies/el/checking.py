"""A store under `owl-el` beside the oracle."""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import NamedNode, Quad

from tests.ontologies.el.oracle import BOTTOM, TOP, Axiom, Completion
from tests.ontologies.el.random_el import E, RandomEL, Writer, name
from triplestore import Store
from triplestore.terms.vocabulary import (
    OWL,
    OWL_NOTHING,
    RDF_TYPE,
    RDFS_SUB_CLASS_OF,
    RDFS_SUB_PROPERTY_OF,
)

TYPE, SUB = NamedNode(RDF_TYPE), NamedNode(RDFS_SUB_CLASS_OF)


def declared(maker: RandomEL) -> list[Quad]:
    """Declarations of classes, and axioms that say nothing of roles."""
    found = [Quad(name(one), TYPE, NamedNode(OWL + "Class")) for one in maker.classes]
    below = NamedNode(RDFS_SUB_PROPERTY_OF)
    return [*found, *(Quad(name(one), below, name(one)) for one in maker.roles)]


def pairs(store: Store, predicate: NamedNode) -> set[tuple[str, str]]:
    """Pairs of names of the tests' namespace."""
    found = store.quads_for_pattern(None, predicate, None, None)
    named = [
        (quad.subject.value, quad.object.value)
        for quad in found
        if isinstance(quad.subject, NamedNode) and isinstance(quad.object, NamedNode)
    ]
    return {
        (one.removeprefix(E), other.removeprefix(E))
        for one, other in named
        if one.startswith(E) and (other.startswith(E) or other == OWL_NOTHING)
    }


def assert_agrees(store: Store, axioms: list[Axiom], classes: Iterable[str], about: object) -> None:
    """What the store shows is what the oracle says."""
    oracle = Completion(axioms, classes)
    if BOTTOM in oracle.labels[TOP,]:
        assert store.violations(), about
        return
    below, bad = pairs(store, SUB), oracle.unsatisfiable()
    assert {one for one, other in below if other == OWL_NOTHING} == bad, about
    shown = {(a, b) for a, b in below if a not in bad and a != b and b != OWL_NOTHING}
    assert shown == oracle.subsumptions(), (about, axioms)
    impossible = oracle.impossible()
    types = {(a, c) for a, c in pairs(store, TYPE) if a not in impossible and c != OWL_NOTHING}
    assert types == oracle.types(), (about, axioms)


def follow(seed: int, *, most: int | None = None) -> None:
    """A random ontology: half of it at once, the rest axiom by axiom, then all away again."""
    maker, writer = RandomEL(seed), Writer()
    axioms = maker.ontology()[:most]
    quads = {a: [Quad(*triple) for triple in writer.triples(a)] for a in axioms}
    store, half = Store(), len(axioms) // 2
    store.extend(declared(maker))
    held = axioms[:half]
    store.extend([quad for axiom in held for quad in quads[axiom]])
    store.reason("owl-el")
    assert_agrees(store, held, maker.classes, (seed, "at first"))
    for axiom in axioms[half:]:
        held.append(axiom)
        store.extend(quads[axiom])
        assert_agrees(store, held, maker.classes, (seed, "added", axiom))
    for axiom in maker.random.sample(axioms, len(axioms)):
        held.remove(axiom)
        with store.transaction() as transaction:
            for quad in quads[axiom]:
                transaction.remove(quad)
        assert_agrees(store, held, maker.classes, (seed, "removed", axiom))
    store.reason("none")
    written = {quad for axiom in axioms for quad in quads[axiom]}
    assert set(store) == set(declared(maker)) - written
