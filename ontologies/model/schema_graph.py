"""Triples with indexes: what a reader of axioms reads.

Start at `SchemaGraph`. Costs about a microsecond per triple; indexes are made when first asked for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from triplestore.ontologies.model.expressions import Triple
from triplestore.ontologies.model.vocabulary import TYPE
from triplestore.terms import Term
from triplestore.thread_limits import looking


class SchemaGraph:
    """A set of triples, in the order they came, by predicate, by subject and by class.

    triples  of anything that gives subject, predicate and object when iterated over: tuples,
             triples and quads of pyoxigraph; repetitions do not count

    >>> from pyoxigraph import NamedNode
    >>> from triplestore.ontologies.model.vocabulary import SUB_CLASS_OF
    >>> a, b = NamedNode("http://example.org/A"), NamedNode("http://example.org/B")
    >>> graph = SchemaGraph([(a, SUB_CLASS_OF, b), (a, SUB_CLASS_OF, b)])
    >>> len(graph), len(graph.having(SUB_CLASS_OF)), (b, SUB_CLASS_OF, a) in graph
    (1, 1, False)
    """

    __slots__ = ("_about", "_by_subject", "_having", "_triples", "_typed")

    def __init__(self, triples: Iterable[Any]) -> None:
        self._triples: dict[Triple, None] = dict.fromkeys(
            triple if type(triple) is tuple and len(triple) == 3 else tuple(triple)[:3]
            for triple in looking(triples)
        )
        self._having: defaultdict[Term, list[Triple]] = defaultdict(list)
        for triple in self._triples:
            self._having[triple[1]].append(triple)
        self._having.default_factory = None
        self._about: dict[Term, Mapping[Term, Sequence[Triple]]] = {}
        self._typed: Mapping[Term, Sequence[Triple]] | None = None
        self._by_subject: Mapping[Term, Sequence[Triple]] | None = None

    def having(self, predicate: Term) -> Sequence[Triple]:
        """The triples with a predicate."""
        return self._having.get(predicate, ())

    def typed(self, cls: Term) -> Sequence[Triple]:
        """The triples `x rdf:type cls`."""
        if self._typed is None:
            self._typed = _grouped(self.having(TYPE), 2)
        return self._typed.get(cls, ())

    def classes(self) -> Iterable[Term]:
        """The objects of rdf:type, each once."""
        self.typed(TYPE)
        assert self._typed is not None
        return self._typed.keys()

    def predicates(self) -> Iterable[Term]:
        """The predicates, each once."""
        return self._having.keys()

    def index(self, predicate: Term) -> Mapping[Term, Sequence[Triple]]:
        """Subject -> its triples with a predicate."""
        found = self._about.get(predicate)
        if found is None:
            found = self._about[predicate] = _grouped(self.having(predicate), 0)
        return found

    def about(self, subject: Term) -> Sequence[Triple]:
        """The triples with a subject."""
        if self._by_subject is None:
            self._by_subject = _grouped(self._triples, 0)
        return self._by_subject.get(subject, ())

    def __contains__(self, triple: object) -> bool:
        return triple in self._triples

    def __iter__(self) -> Iterator[Triple]:
        return iter(self._triples)

    def __len__(self) -> int:
        return len(self._triples)


def _grouped(triples: Iterable[Triple], place: int) -> dict[Term, list[Triple]]:
    """The triples by their subject (place 0) or object (2)."""
    groups: dict[Term, list[Triple]] = {}
    for triple in looking(triples):
        group = groups.get(triple[place])
        if group is None:
            groups[triple[place]] = [triple]
        else:
            group.append(triple)
    return groups
