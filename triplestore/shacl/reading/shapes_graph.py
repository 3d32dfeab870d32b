"""The triples of a shapes graph, by subject: start at `shapes_graph`.

A shapes graph may be part of a large graph of data. So only what describes shapes is taken from
it: the subjects of predicates of SHACL and the blank nodes and lists below them, looked up as
columns of ids. Always true: `ShapesGraph` holds keys of terms and depends on no dictionary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

import numpy as np

from triplestore.data_classes import data_class
from triplestore.errors import ShapesError
from triplestore.relations.packed_keys import U32
from triplestore.shacl.vocabulary import (
    FIRST,
    IMPORTS,
    NIL,
    OF_RESULTS,
    REST,
    SH,
    SUB_CLASS_OF,
    TRUTHS,
    TYPE,
    Key,
    sh,
)
from triplestore.sparql.engine import AskedState
from triplestore.sparql.evaluate.dataset import Dataset
from triplestore.terms.term_keys import BLANK, IRI, to_ntriples

_LISTS = ("in", "and", "or", "xone", "languageIn", "ignoredProperties")
_SHAPES = ("node", "not", "property", "qualifiedValueShape", "filterShape", "condition")
_FOLLOWED = frozenset([REST, *map(sh, (*_LISTS, *_SHAPES))])
"""Predicates whose objects are looked at even if they are IRIs: lists and shapes."""


@data_class(frozen=False)
class ShapesGraph:
    """Triples by subject and predicate.

    name     the IRI of the graph, for `$shapesGraph`; empty if it has none
    imports  the graphs that it imports by `owl:imports`
    """

    triples: dict[Key, dict[Key, list[Key]]] = field(default_factory=dict)
    name: Key = b""
    imports: set[Key] = field(default_factory=set)

    def add(self, s: Key, p: Key, o: Key) -> None:
        """Add one triple."""
        found = self.triples.setdefault(s, {}).setdefault(p, [])
        if o not in found:
            found.append(o)

    def include(self, other: ShapesGraph) -> None:
        """Add all triples of another graph."""
        for s, of_subject in other.triples.items():
            for p, objects in of_subject.items():
                for o in objects:
                    self.add(s, p, o)
        self.imports |= other.imports

    def objects(self, s: Key, p: Key) -> list[Key]:
        """The objects of a subject and predicate."""
        return self.triples.get(s, {}).get(p, [])

    def one(self, s: Key, p: Key) -> Key | None:
        """The only object; None if there is none, and an error if there are several."""
        found = self.objects(s, p)
        if len(found) > 1:
            raise ShapesError(
                f"{shown(s)} has {len(found)} values of {shown(p)}, where only one is allowed"
            )
        return found[0] if found else None

    def is_true(self, s: Key, p: Key) -> bool:
        """Whether a boolean value is true."""
        return self.one(s, p) in TRUTHS

    def with_predicate(self, p: Key) -> Iterator[tuple[Key, list[Key]]]:
        """The subjects of a predicate, and its objects."""
        for s, of_subject in self.triples.items():
            if p in of_subject:
                yield s, of_subject[p]

    def instances(self, *classes: Key) -> Iterator[Key]:
        """The instances of classes, or of their sub-classes in this graph."""
        wanted = self.sub_classes(classes)
        for s, of_subject in self.triples.items():
            if not wanted.isdisjoint(of_subject.get(TYPE, ())):
                yield s

    def sub_classes(self, classes: Iterable[Key]) -> set[Key]:
        """Classes and all of their sub-classes in this graph."""
        found, stack = set(classes), list(classes)
        below = dict(self.with_predicate(SUB_CLASS_OF))
        while stack:
            one = stack.pop()
            new = [s for s, objects in below.items() if one in objects and s not in found]
            found.update(new)
            stack += new
        return found

    def members(self, node: Key) -> list[Key]:
        """The members of a list."""
        found: list[Key] = []
        seen = set()
        while node != NIL:
            if node in seen:
                raise ShapesError(f"the list {shown(node)} contains itself")
            seen.add(node)
            first, rest = self.objects(node, FIRST), self.objects(node, REST)
            if len(first) != 1 or len(rest) != 1:
                raise ShapesError(
                    f"{shown(node)} is not a list: it needs one rdf:first and rdf:rest"
                )
            found.append(first[0])
            node = rest[0]
        return found

    def is_list(self, node: Key) -> bool:
        """Whether a node is a list."""
        return node == NIL or REST in self.triples.get(node, {})


def in_order(keys: Iterable[Key]) -> list[Key]:
    """Terms in a fixed order: blank nodes of a document as they stand there.

    >>> in_order([b"\\x02f1b10", b"\\x02f1b9", b"\\x01http://a"])
    [b'\\x01http://a', b'\\x02f1b9', b'\\x02f1b10']
    """
    return sorted(keys, key=lambda key: (key[0], len(key) if key[0] == BLANK else 0, key))


def shown(key: Key) -> str:
    """A term as N-Triples, with the prefix of SHACL.

    >>> shown(sh("path"))
    'sh:path'
    """
    text = to_ntriples(key).decode()
    return f"sh:{text[len(SH) + 1 : -1]}" if text.startswith(f"<{SH}") else text


def shapes_graph(asked: AskedState, label: str = "") -> ShapesGraph:
    """What the default graph of a state says about shapes.

    label  put before the labels of blank nodes, so that they are not those of another store
    """
    return _Extraction(asked, label.encode()).graph


class _Extraction:
    """The way from the subjects of predicates of SHACL to all that describes shapes."""

    def __init__(self, asked: AskedState, label: bytes) -> None:
        kinds = asked.dictionary.kinds if asked.hidden else None
        self._dictionary = asked.dictionary
        self._dataset = Dataset(asked.tables, asked.default, asked.named, asked.where, kinds)
        self.graph = ShapesGraph()
        self._label = label
        self._keys: dict[int, Key] = {}
        self._seen: set[int] = set()
        frontier = self._described()
        while len(frontier):
            frontier = self._take(frontier)
        self._take_relation(SUB_CLASS_OF, self._classes())
        self._take_imports()

    def _key(self, term: int) -> Key:
        found = self._keys.get(term)
        if found is None:
            found = self._dictionary.key(term)
            if found[0] == BLANK and self._label:
                found = found[:1] + self._label + found[1:]
            self._keys[term] = found
        return found

    def _described(self) -> U32:
        """The subjects of predicates of SHACL, except those of reports."""
        graph = self._dataset.graph()
        prefix = b"\x01" + SH.encode()
        names = [n for n in graph.names().tolist() if self._key(n).startswith(prefix)]
        found = [
            graph.relation(n).distinct(0, self._dataset.where)
            for n in names
            if self._key(n) not in OF_RESULTS
        ]
        return np.unique(np.concatenate(found)) if found else np.zeros(0, np.uint32)

    def _take(self, subjects: U32) -> U32:
        """Add the triples of some subjects; the nodes below them that were not seen before."""
        self._seen.update(subjects.tolist())
        index, (predicates, objects) = self._dataset.facts().probe(
            (0,), (subjects,), self._dataset.where
        )
        below: set[int] = set()
        kinds = self._dictionary.kinds(objects).tolist()
        rows = zip(
            subjects[index].tolist(), predicates.tolist(), objects.tolist(), kinds, strict=True
        )
        for s, p, o, kind in rows:
            name = self._key(p)
            self.graph.add(self._key(s), name, self._key(o))
            if kind == BLANK or (kind == IRI and name in _FOLLOWED):
                below.add(o)
        return np.array(sorted(below - self._seen), np.uint32)

    def _classes(self) -> U32:
        """The classes of shapes, and of shapes that are classes."""
        keys = [sh("NodeShape"), sh("PropertyShape"), sh("ConstraintComponent")]
        keys += [o for _, objects in self.graph.with_predicate(TYPE) for o in objects]
        found = self._dictionary.lookup_keys(list(dict.fromkeys(keys)))
        return np.unique(found[found > 0])

    def _take_relation(self, predicate: Key, subjects: U32) -> None:
        """Add the triples of a predicate that lead from some subjects on."""
        name = int(self._dictionary.lookup_keys([predicate])[0])
        seen: set[int] = set()
        while name and len(subjects):
            seen.update(subjects.tolist())
            relation = self._dataset.graph().relation(name)
            index, (objects,) = relation.probe((0,), (subjects,), self._dataset.where)
            for s, o in zip(subjects[index].tolist(), objects.tolist(), strict=True):
                self.graph.add(self._key(s), predicate, self._key(o))
            subjects = np.array(sorted(set(objects.tolist()) - seen), np.uint32)

    def _take_imports(self) -> None:
        name = int(self._dictionary.lookup_keys([IMPORTS])[0])
        if name:
            found = self._dataset.graph().relation(name).distinct(1, self._dataset.where)
            self.graph.imports = {self._key(o) for o in found.tolist()}
