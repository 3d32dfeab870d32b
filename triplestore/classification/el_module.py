"""The axioms that can take part in a proof that one class is below another.

Start reading at `module_of`. Every proof of `A ⊑ B` under `owl-el` speaks of A, of what is above
it, and of the fillers of existentials among these, and so on. So the axioms whose left side is one
of these are enough, with the axioms about their roles. The cost is proportional to what is found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from pyoxigraph import Triple

from triplestore.classification.el_proof import SAYS, Said
from triplestore.datalog.program import TYPE
from triplestore.ontologies.translate.owl_el import HELPER, SAID, relation
from triplestore.terms.term_keys import BLANK, IRI
from triplestore.terms.vocabulary import OWL, RDF, RDFS
from triplestore.thread_limits import look

if TYPE_CHECKING:
    from triplestore.reasoning.readable_state import ReadableState

_ABOUT_CLASSES = ("subClassOf", "equivalentClass", "disjointWith")
_BY_OBJECT = (OWL + "equivalentClass", OWL + "disjointWith")
_ALWAYS = (
    RDFS + "subPropertyOf",
    RDFS + "domain",
    RDFS + "range",
    OWL + "equivalentProperty",
    OWL + "propertyChainAxiom",
    OWL + "members",
    OWL + "disjointUnionOf",
)
_KINDS = (OWL + "TransitiveProperty", OWL + "ReflexiveProperty")


class Module:
    """Axioms and the triples of each.

    axioms  those that may matter, as their main triples
    """

    def __init__(self, view: ReadableState, axioms: Iterable[Said]) -> None:
        self._tables, self._dictionary = view.tables, view.dictionary
        (number,) = view.dictionary.lookup_keys([SAID.key]).tolist()
        self._said = view.tables.tuples(number, 3)
        self.axioms = tuple(dict.fromkeys(axioms))
        self._known: dict[Said, frozenset[Triple]] = {}

    def triples(self, axiom: Said) -> frozenset[Triple]:
        """The triples of an axiom, with those of the expressions in it."""
        found = self._known.get(axiom)
        if found is None:
            found = self._known[axiom] = frozenset(self._triples(axiom))
        return found

    def _triples(self, axiom: Said) -> Iterator[Triple]:
        ids = self._dictionary.lookup_keys([axiom.s, axiom.p, axiom.o]).tolist()
        yield self._triple(*ids)
        waiting = [one for one in (ids[0], ids[2]) if self._dictionary.key(one)[0] == BLANK]
        seen = set(waiting)
        while waiting:
            node = waiting.pop()
            _, (names, objects) = self._said.probe([1], [np.array([node], np.uint32)])
            for name, value in zip(names.tolist(), objects.tolist(), strict=True):
                word = self._dictionary.key(name)[1:].decode()
                if word in SAYS and word not in _EXPRESSIONS and name != ids[1]:
                    continue  # another axiom about the node
                yield self._triple(node, name, value)
                if value not in seen and self._dictionary.key(value)[0] == BLANK:
                    seen.add(value)
                    waiting.append(value)

    def _triple(self, s: int, p: int, o: int) -> Triple:
        terms: list[Any] = [self._dictionary.term(one) for one in (s, p, o)]
        return Triple(*terms)


_EXPRESSIONS = frozenset((OWL + "intersectionOf", OWL + "unionOf", OWL + "members", RDF + "type"))
"""Properties of axioms that are also parts of expressions."""


def module_of(view: ReadableState, subject: bytes, *, individual: bool) -> Module:
    """The axioms that can take part in a proof about a class or an individual."""
    finder = _Finder(view)
    return Module(view, finder.axioms(finder.reach(subject, individual)))


class _Finder:
    """Looks up what is above and inside."""

    def __init__(self, view: ReadableState) -> None:
        self._tables, self._dictionary = view.tables, view.dictionary
        self._words: dict[bytes, int] = {}

    def _id(self, key: bytes) -> int:
        if key not in self._words:
            (self._words[key],) = self._dictionary.lookup_keys([key]).tolist()
        return self._words[key]

    def _pairs(self, name: bytes, term: int, *, second: bool = False) -> list[int]:
        number = self._id(name)
        if not (number and term):
            return []
        found = self._tables.relation(number)
        rows: list[int] = (found.by_second(term) if second else found.by_first(term)).tolist()
        return rows

    def _rows(
        self, name: bytes, arity: int, places: list[int], values: list[int]
    ) -> list[list[int]]:
        number = self._id(name)
        if not number or 0 in values:
            return []
        columns = [np.array([value], dtype=np.uint32) for value in values]
        _, free = self._tables.tuples(number, arity).probe(places, columns)
        return [column.tolist() for column in free]

    def reach(self, subject: bytes, individual: bool) -> list[int]:
        """The symbols that a proof can speak of."""
        start = [self._id(subject)]
        if individual:
            start = self._pairs(relation("nominal").key, start[0])
        start.append(self._id(b"\x01" + OWL.encode() + b"Thing"))
        seen = dict.fromkeys(one for one in start if one)
        for symbol in (waiting := list(seen)):
            look()
            for one in self._next(symbol):
                if one not in seen:
                    seen[one] = None
                    waiting.append(one)
        return waiting

    def _next(self, symbol: int) -> Iterator[int]:
        yield from self._pairs(relation("below").key, symbol)
        for name in ("ends", "path"):
            rows = self._rows(f"\x01{HELPER}{name}".encode(), 3, [0], [symbol])
            yield from rows[1] if rows else ()

    def axioms(self, symbols: list[int]) -> Iterator[Said]:
        """The axioms whose left side has one of these symbols, and all about roles."""
        for symbol in symbols:
            look()
            for node in dict.fromkeys(
                (symbol, *self._pairs(relation("symbol").key, symbol, second=True))
            ):
                yield from self._of_node(node)
            for one in self._pairs(relation("nominal").key, symbol, second=True):
                yield from self._of_individual(one)
        for name in _ALWAYS:
            rows = self._rows(SAID.key, 3, [0], [self._id(b"\x01" + name.encode())])
            for s, o in zip(*rows, strict=True) if rows else ():
                yield self._said(b"\x01" + name.encode(), s, o)
        for kind in _KINDS:
            key = b"\x01" + kind.encode()
            rows = self._rows(SAID.key, 3, [0, 2], [self._id(TYPE.key), self._id(key)])
            for s in rows[0] if rows else ():
                yield self._said(TYPE.key, s, self._id(key))

    def _of_node(self, node: int) -> Iterator[Said]:
        rows = self._rows(SAID.key, 3, [1], [node])
        for name, value in zip(*rows, strict=True) if rows else ():
            key = self._dictionary.key(name)
            named = self._dictionary.key(node)[0] == IRI
            word = key[1:].decode()
            if word in SAYS and key != TYPE.key and (named or word not in _EXPRESSIONS):
                yield self._said(key, node, value)
        for word in _BY_OBJECT:
            key = b"\x01" + word.encode()
            rows = self._rows(SAID.key, 3, [0, 2], [self._id(key), node])
            for subject in rows[0] if rows else ():
                yield self._said(key, subject, node)

    def _of_individual(self, one: int) -> Iterator[Said]:
        for value in self._pairs(TYPE.key, one):
            if self._is_asserted(self._id(TYPE.key), one, value):
                yield self._said(TYPE.key, one, value)
        rows = self._rows(
            f"\x01{HELPER}step".encode(),
            3,
            [0],
            self._pairs(relation("nominal").key, one)[:1] or [0],
        )
        for role in dict.fromkeys(rows[0]) if rows else ():
            for value in self._pairs(self._dictionary.key(role), one):
                if self._is_asserted(role, one, value):
                    yield self._said(self._dictionary.key(role), one, value)

    def _is_asserted(self, p: int, s: int, o: int) -> bool:
        return bool(self._tables.relation(p).status(s, o) & 1)

    def _said(self, p: bytes, s: int, o: int) -> Said:
        return Said(p, self._dictionary.key(s), self._dictionary.key(o))
