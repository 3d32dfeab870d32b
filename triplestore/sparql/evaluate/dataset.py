"""The graphs that a query sees, as relations.

Start at `Dataset`. It has an active default graph (the store's own, one named graph, or the merge
of several), and the named graphs that GRAPH may reach. A pattern asks for the relation of its
predicate (two columns), for all facts (three, if the predicate is a variable), or for the quads.
Always true: relations are snapshots; the merge of several graphs has each triple once. A
merge is made relation by relation, when a pattern first reads it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol, cast
from weakref import ref

import numpy as np

from triplestore.data_classes import data_class
from triplestore.relations.layers.sorted_order import make_order
from triplestore.relations.packed_keys import NO_IDS, distinct, high, in_sorted, swap
from triplestore.relations.relation import by_name
from triplestore.relations.status import HOLDS
from triplestore.relations.views.equality import EQUALITY, equality_of
from triplestore.relations.views.plain import PlainRelation
from triplestore.relations.views.virtual import AllFacts
from triplestore.sparql.evaluate.all_quads import AllQuads
from triplestore.terms.term_keys import BLANK, IRI

if TYPE_CHECKING:
    from triplestore.relations import Tables
    from triplestore.relations.packed_keys import I64, U8, U32, U64
    from triplestore.relations.views.named_graphs import QuadRelation

_TRANSITIVE = ("transitive", "symmetric")  # of `closures.attached`; the latter are both

STORE_DEFAULT = 0
"""The id of the store's default graph."""


class GraphRelations(Protocol):
    """One graph: relations by predicate, and what `AllFacts` needs of tables."""

    def relation(self, name: int) -> PlainRelation:
        """The triples with this predicate."""

    def names(self) -> U32:
        """The predicates, increasing."""

    def total(self, where: int = HOLDS) -> int:
        """The number of triples, or an upper bound."""


@data_class(frozen=False)
class Dataset:
    """The graphs with which the patterns of a query are matched.

    default  the graphs whose merge is the default graph; 0 is that of the store
    named    the named graphs; None for all named graphs of the store
    where    statuses of the visible facts
    kinds    the kinds of terms, to hide facts that are not RDF triples; None if there are none

    >>> from triplestore.relations import ChangedRows, Changes, Layer, Tables
    >>> quads = ChangedRows.of(([9, 9], [1, 2], [5, 6], [70, 71]))
    >>> seen = Dataset(Tables([Layer.build(Changes(quads=quads))]), default=(70, 71))
    >>> len(seen.graph().relation(9)), seen.graphs().tolist()
    (2, [])
    """

    tables: Tables
    default: tuple[int, ...] = (STORE_DEFAULT,)
    named: tuple[int, ...] | None = None
    where: int = HOLDS
    kinds: Callable[[U32], U8] | None = None
    _graphs: dict[int | None, GraphRelations] = field(default_factory=dict)

    def graph(self, graph: int | None = None) -> GraphRelations:
        """One graph; None for the active default graph."""
        found = self._graphs.get(graph)
        if found is None:
            found = self._graphs[graph] = self._make(graph)
        return found

    @property
    def is_stored(self) -> bool:
        """True if all relations are those of the store, not copies made for this query."""
        return len(self.default) == 1 and self.kinds is None

    @property
    def is_store_alone(self) -> bool:
        """True if the active default graph is that of the store, as its tables have it."""
        return self.default == (STORE_DEFAULT,) and self.kinds is None

    def _make(self, graph: int | None) -> GraphRelations:
        if graph is None:
            if len(self.default) == 1:
                return self.graph(self.default[0])
            return self._merge()
        if graph == STORE_DEFAULT:
            if self.kinds is not None:
                return ShownTriples(self.tables, self.kinds, self.where)
            return self.tables
        return GraphTriples(self.tables, graph)

    def _merge(self) -> GraphRelations:
        """The merge of several graphs, with relations merged by the last query of these graphs."""
        global _last_merge
        asked = (self.default, self.where, self.kinds is not None)
        made = MergedTriples([self.graph(one) for one in self.default], self.where)
        last = _last_merge
        if last is not None and last[0]() is self.tables and last[1] == asked:
            made.share(last[2])
        else:
            _last_merge = (ref(self.tables, _forget), asked, made.relations)
        return made

    def facts(self, graph: int | None = None) -> AllFacts:
        """All triples of a graph as one relation of three columns."""
        return AllFacts(cast("Any", self.graph(graph)))

    def is_transitive(self, predicate: int, graph: int | None) -> bool:
        """True if the predicate's facts in a graph are known to be closed under transitivity."""
        whole = self.where == HOLDS and self.default == (STORE_DEFAULT,) and graph in (None, 0)
        equality = equality_of(self.tables)
        if equality is not None and predicate == equality.same_as:
            return False  # reflexive facts hold but are not listed
        return whole and any(
            predicate in scheme.ids and scheme.structure.kind in _TRANSITIVE
            for name, scheme in self.tables.schemes.items()
            if name != EQUALITY
        )

    def quads(self, predicate: int) -> QuadRelation:
        """The quads of all named graphs of the store: (subject, object, graph)."""
        return self.tables.quads(predicate)

    def every_quad(self) -> AllQuads:
        """All quads of named graphs as one relation of four columns."""
        return AllQuads(self.tables)

    def quad_names(self) -> U32:
        """The predicates that occur in named graphs."""
        return self.tables.quad_names()

    def graphs(self) -> U32:
        """The existing named graphs that the query may reach."""
        existing = self.tables.graphs()
        if self.named is None:
            return existing
        return np.intersect1d(existing, np.array(self.named, np.uint32))

    def reaches(self, graph: int) -> bool:
        """True if GRAPH may name this graph."""
        return self.named is None or graph in self.named


_last_merge: tuple[ref[Tables], tuple[Any, ...], dict[int, PlainRelation]] | None = None
"""The last merge. Merging a relation costs a sort: queries of a server whose default graph is the
union of all graphs share one merge. It is replaced as a whole, so threads need no lock. It holds
copies only, not tables, because the files of tables stay mapped as long as these are referenced."""


def _forget(tables: ref[Tables]) -> None:
    """Drop the merge when its tables are deleted: no query can use it any more."""
    global _last_merge
    if _last_merge is not None and _last_merge[0] is tables:
        _last_merge = None


class _Seen(ABC):
    """Triples that differ from the stored ones: relations are made when first read."""

    layers: tuple[Any, ...] = ()

    def __init__(self) -> None:
        self._relations: dict[int, PlainRelation] = {}

    def relation(self, name: int) -> PlainRelation:
        """The triples with this predicate."""
        found = self._relations.get(name)
        if found is None:
            found = self._relations[name] = self._made(name)
        return found

    @abstractmethod
    def _made(self, name: int) -> PlainRelation:
        """The triples with this predicate, computed."""

    @abstractmethod
    def names(self) -> U32:
        """The predicates, increasing."""

    def most_names(self) -> int:
        """The number of predicates."""
        return len(self.names())

    @abstractmethod
    def predicates_of(self, terms: U32, role: int = 0) -> tuple[I64, U32]:
        """Where a look-up may find rows; see `Tables.predicates_of`."""

    def predicates_of_one(self, term: int, role: int = 0) -> U32:
        """The same for one term."""
        return self.predicates_of(np.array([term], np.uint32), role)[1]

    def status_of_facts(self, p: U32, s: U32, o: U32) -> U8:
        """The statuses of triples; 0 for those that do not hold."""
        status = np.zeros(len(p), np.uint8)
        for name, rows in by_name(np.arange(len(p)), p):
            status[rows] = self.relation(name).status_of((s[rows], o[rows]))
        return status


class GraphTriples(_Seen):
    """The triples of one named graph."""

    def __init__(self, tables: Tables, graph: int) -> None:
        super().__init__()
        self._tables = tables
        self._view = tables.graph(graph)
        self._names: U32 | None = None

    def _made(self, name: int) -> PlainRelation:
        return self._view.relation(name)

    def names(self) -> U32:
        """The predicates, increasing."""
        if self._names is None:
            self._names = self._view.names()
        return self._names

    def total(self, where: int = HOLDS) -> int:
        """The number of triples."""
        return self._view.count(where)

    def predicates_of(self, terms: U32, role: int = 0) -> tuple[I64, U32]:
        """Where a look-up may find rows; see `Tables.predicates_of`."""
        return self._tables.predicates_of(terms, role)


class ShownTriples(_Seen):
    """The RDF triples of a graph that also has other facts (with a literal as subject)."""

    def __init__(self, tables: Tables, kinds: Callable[[U32], U8], where: int) -> None:
        super().__init__()
        self._tables = tables
        self._kinds = kinds
        self._where = where

    def _made(self, name: int) -> PlainRelation:
        relation = self._tables.relation(name)
        subjects = relation.distinct(0, self._where)
        kinds = self._kinds(subjects)
        odd = subjects[(kinds != IRI) & (kinds != BLANK)]
        if len(odd) == 0:
            return relation
        keys = relation.keys(where=self._where)
        return relation_of_keys(name, keys[~in_sorted(high(keys), odd)])

    def names(self) -> U32:
        """The predicates, increasing."""
        names = self._tables.names()
        shown: U32 = names[self._kinds(names) == IRI]
        return shown

    def total(self, where: int = HOLDS) -> int:
        """How many triples there are at most."""
        return self._tables.total(where)

    def predicates_of(self, terms: U32, role: int = 0) -> tuple[I64, U32]:
        """Where a look-up may find rows; see `Tables.predicates_of`."""
        index, names = self._tables.predicates_of(terms, role)
        fine = self._kinds(names) == IRI
        return index[fine], names[fine]


class MergedTriples(_Seen):
    """The merge of several graphs: each triple once."""

    def __init__(self, parts: Sequence[GraphRelations], where: int) -> None:
        super().__init__()
        self._parts = parts
        self._where = where

    @property
    def relations(self) -> dict[int, PlainRelation]:
        """The relations merged so far."""
        return self._relations

    def share(self, relations: dict[int, PlainRelation]) -> None:
        """Use these, and add to them."""
        self._relations = relations

    def _made(self, name: int) -> PlainRelation:
        keys = [part.relation(name).keys(where=self._where) for part in self._parts]
        return relation_of_keys(name, _merged(keys))

    def names(self) -> U32:
        """The predicates, increasing."""
        names = [part.names() for part in self._parts]
        return distinct(np.sort(np.concatenate(names))) if names else NO_IDS

    def total(self, where: int = HOLDS) -> int:
        """How many triples there are at most."""
        return sum(part.total(where) for part in self._parts)

    def predicates_of(self, terms: U32, role: int = 0) -> tuple[I64, U32]:
        """Where a look-up may find rows; see `Tables.predicates_of`."""
        pairs = [cast("Any", part).predicates_of(terms, role) for part in self._parts]
        if not pairs:
            return np.zeros(0, np.int64), NO_IDS
        keys = [index.astype(np.uint64) << np.uint64(32) | names for index, names in pairs]
        both = _merged(keys)
        return (both >> np.uint64(32)).astype(np.int64), both.astype(np.uint32)


def relation_of_keys(name: int, keys: U64) -> PlainRelation:
    """A relation of sorted distinct packed rows, which pass every filter of statuses.

    >>> made = relation_of_keys(9, np.array([1 << 32 | 5, 2 << 32 | 4], np.uint64))
    >>> made.by_second(5).tolist(), len(made)
    ([1], 2)
    """
    if len(keys) == 0:
        return PlainRelation(name, (), (), 0, 0)
    names = np.zeros(len(keys), np.uint32)
    forward = make_order(names, keys, uniform=HOLDS).run(0)
    backward = make_order(names, np.sort(swap(keys)), uniform=HOLDS).run(0)
    return _Counted(name, (forward,), (backward,), len(keys), 0)


class _Counted(PlainRelation):
    """A relation of one run, whose distinct ids are counted when first needed."""

    __slots__ = ("_distinct",)

    def distinct_estimate(self, column: int) -> int:
        """The number of distinct ids in this column."""
        known: dict[int, int] | None = getattr(self, "_distinct", None)
        if known is None:
            known = {}
            self._distinct: dict[int, int] = known
        if column not in known:
            heads = self.keys(column) >> np.uint64(32)
            known[column] = int(np.count_nonzero(heads[1:] != heads[:-1])) + 1
        return known[column]

    def count(self, where: int = HOLDS) -> int:
        """The number of rows: all pass."""
        return len(self)


def _merged(keys: Iterable[U64]) -> U64:
    together = np.concatenate([np.zeros(0, np.uint64), *keys])
    together.sort()
    merged: U64 = distinct(together)
    return merged
