"""Reads the W3C test manifests: which tests there are, and what each expects.

A manifest is Turtle; an entry names its action (the input), maybe its result, and its type.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyoxigraph as ox

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
RDFT = "http://www.w3.org/ns/rdftest#"

# Where the W3C publishes each suite: the base IRI that relative IRIs of its files resolve against.
PUBLISHED = "https://w3c.github.io/rdf-tests/rdf/"


@dataclass(frozen=True, slots=True)
class Entry:
    """One test of a manifest."""

    name: str
    kind: str  # the local name of its type, such as TestTurtleEval
    action: Path
    result: Path | None
    base: str  # the IRI of the action, as published

    @property
    def positive(self) -> bool:
        return "Negative" not in self.kind


def read_manifest(path: Path, root: Path) -> Iterator[Entry]:
    """The tests that one manifest lists, in its order."""
    store = ox.Store()
    base = path.resolve().as_uri()
    store.load(path=str(path), format=ox.RdfFormat.TURTLE, base_iri=base)
    for listing in store.quads_for_pattern(None, ox.NamedNode(MF + "entries"), None):
        for node in _items(store, listing.object):
            yield _entry(store, node, root)


def _entry(store: ox.Store, node: ox.NamedNode, root: Path) -> Entry:
    kind = _value(store, node, RDF + "type").value.removeprefix(RDFT)
    action = _path(_value(store, node, MF + "action"))
    result = next(iter(store.quads_for_pattern(node, ox.NamedNode(MF + "result"), None)), None)
    return Entry(
        name=f"{action.parent.relative_to(root)}/{unquote(urlsplit(node.value).fragment)}",
        kind=kind,
        action=action,
        result=None if result is None else _path(result.object),
        base=PUBLISHED + action.relative_to(root).as_posix(),
    )


def _value(store: ox.Store, node: ox.NamedNode, predicate: str) -> ox.NamedNode:
    return next(iter(store.quads_for_pattern(node, ox.NamedNode(predicate), None))).object


def _items(store: ox.Store, node: ox.NamedNode | ox.BlankNode) -> Iterator[ox.NamedNode]:
    while node.value != RDF + "nil":
        yield _value(store, node, RDF + "first")
        node = _value(store, node, RDF + "rest")


def _path(node: ox.NamedNode) -> Path:
    return Path(unquote(urlsplit(node.value).path))
