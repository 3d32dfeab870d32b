"""Tables: one frozen snapshot of all rows, as a stack of layers.

Start reading at `Tables`. A commit pushes a layer, which makes new `Tables`; readers of the old
ones are not affected.

Stack
    Layers are ordered from oldest to newest; the newest entry for a row wins. A pushed layer is
    combined with the topmost layer at once while both are small (`RELATIONS.combine_rows`), so that
    ten thousand commits of one row leave forty layers. Larger layers are merged in the background,
    as `plan_merge` proposes, until each layer has more than `RELATIONS.tier` times the rows of all
    layers above it. So a row is merged O(log n) times, and a stack has O(log n) layers.
Totals
    Each layer has the number of explicit and of inferred rows that it adds. Totals are sums of
    these over the layers: exact, without reading rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from triplestore.relations.changes import GRAPHS, Changes, TupleName
from triplestore.relations.layers.layer import Layer
from triplestore.relations.layers.merge_layers import merge_layers
from triplestore.relations.layers.table import Nets, add_nets
from triplestore.relations.packed_keys import I64, NO_IDS, U8, U32, Bools, distinct, high, low, pack
from triplestore.relations.pair_relation import PairRelation, inverse
from triplestore.relations.recent_facts import Fact, FactChange, RecentFacts
from triplestore.relations.status import EXPLICIT, HOLDS, INFERRED
from triplestore.relations.thresholds import RELATIONS
from triplestore.relations.views.closed import ClosedRelation, resolved
from triplestore.relations.views.named_graphs import GraphView, QuadRelation
from triplestore.relations.views.plain import PlainRelation
from triplestore.relations.views.wide import TupleRelation

SUBJECT, OBJECT = 0, 1

NO_SCHEMES: Mapping[int, Any] = MappingProxyType({})
"""The schemes of tables without inferred closures."""


class Tables:
    """A stack of layers, oldest first, as one immutable snapshot.

    >>> import numpy as np
    >>> from triplestore.relations import ChangedRows, Changes, Layer
    >>> before = Tables([Layer.build(Changes(facts=ChangedRows.of(([9, 9], [1, 2], [5, 5]))))])
    >>> removal = Changes(facts=ChangedRows.of(([9], [1], [5]), status=0, previous=EXPLICIT))
    >>> after = before.push(Layer.build(removal))
    >>> before.total(), after.total(), after.relation(9).by_second(5).tolist()
    (2, 1, [2])
    """

    __slots__ = (
        "__weakref__",
        "_apart",
        "_closed",
        "_layers",
        "_plan",
        "_recent",
        "_relations",
        "_sealed",
        "_upto",
        "schemes",
    )

    def __init__(
        self,
        layers: Sequence[Layer] = (),
        *,
        sealed: bool = False,
        apart: bool = False,
        schemes: Mapping[int, Any] = NO_SCHEMES,
    ) -> None:
        self._layers = tuple(layers)
        self._recent: RecentFacts | None = None
        self._upto = 0
        self._plan: tuple[tuple[int, int] | None] | None = None
        self._apart = apart
        self.schemes = schemes
        self._closed: dict[int, PairRelation] = {}
        for scheme in schemes.values():
            for name, pairs, turned in scheme.closures():
                closure = resolved(pairs, self._pairs_of)
                self._closed[name] = inverse(closure) if turned else closure
        self._sealed = sealed
        self._relations: dict[tuple[str, int], PlainRelation] = {}

    def __repr__(self) -> str:
        rows = ", ".join(str(layer.rows) for layer in self.layers)
        return f"<tables: {self.total()} facts; rows of layers: {rows}>"

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers, oldest first."""
        return self._layers if self._recent is None else self._settled()

    def _settled(self) -> tuple[Layer, ...]:
        """The layers, with one of the facts that were changed on top of `_recent.base`."""
        recent = self._recent
        if recent is not None:  # another thread may have done it just now
            pushed = recent.base.push(Layer.build(Changes(facts=recent.rows(self._upto))))
            self._sealed = pushed._sealed
            self._layers = pushed.layers
            self._recent = None
        return self._layers

    @property
    def rows(self) -> int:
        """The number of rows of all layers (a row counts once per layer that has it)."""
        return sum(layer.rows for layer in self.layers)

    @property
    def nbytes(self) -> int:
        """Size of all layers."""
        return sum(layer.nbytes for layer in self.layers)

    # -- relations ------------------------------------------------------------------------------

    def relation(self, name: int) -> PlainRelation:
        """The facts of the default graph with this predicate; empty if there are none."""
        relation = self._relations.get(("facts", name))
        if relation is None:
            relation = self.stored_relation(name)
            if name in self._closed:
                relation = ClosedRelation(relation, self._closed[name])
            self._relations["facts", name] = relation
        return relation

    def stored_relation(self, name: int) -> PlainRelation:
        """The facts with this predicate that are stored as rows; see `closed`."""
        relation = self._relations.get(("stored", name))
        if relation is None:
            relation = self._relations["stored", name] = self._make_relation(name)
        return relation

    def _pairs_of(self, name: int, stored: bool) -> PairRelation:
        """The pairs of a relation, or only those stored as rows."""
        closed = None if stored else self._closed.get(name)
        return self.stored_relation(name) if closed is None else closed

    @property
    def closed(self) -> Mapping[int, PairRelation]:
        """The closures of the predicates whose closure holds, by predicate."""
        return self._closed

    def _make_relation(self, name: int) -> PlainRelation:
        forward, backward = [], []
        sources = []
        explicit = inferred = 0
        for layer in self.layers:
            table = layer.facts
            place = table.place(name)
            if place < 0:
                continue
            forward.append(table.forward.run(place))
            backward.append(table.backward.run(place))
            nets = table.nets.of(place)
            explicit, inferred = explicit + nets[0], inferred + nets[1]
            sources.append((table, place))
        return PlainRelation(
            name, tuple(forward), tuple(backward), explicit, inferred, tuple(sources)
        )

    def names(self) -> U32:
        """The predicates of the facts that hold, increasing."""
        names = _names_with_rows([layer.facts.nets for layer in self.layers])
        more = [name for name, pairs in self._closed.items() if pairs.count()]
        return np.union1d(names, np.array(more, dtype=np.uint32)) if more else names

    def most_names(self) -> int:
        """The number of predicates, or a few more: some may have no rows left."""
        return sum([len(layer.facts.nets.names) for layer in self.layers]) + len(self._closed)

    def tuples(self, name: int, arity: int) -> TupleRelation:
        """A user-defined relation of 1, 3 or more columns; empty if there is none."""
        runs = [ly.tuples[name, arity] for ly in self.layers if (name, arity) in ly.tuples]
        return TupleRelation(name, arity, tuple(runs))

    def tuple_names(self) -> list[TupleName]:
        """The (name, arity) of all user-defined relations that have rows."""
        names = {name for layer in self.layers for name in layer.tuples if name != GRAPHS}
        return sorted(name for name in names if len(self.tuples(*name)))

    # -- named graphs ---------------------------------------------------------------------------

    def graphs(self) -> U32:
        """The named graphs that exist, including empty ones, increasing."""
        return self.tuples(*GRAPHS).distinct(0)

    def has_graph(self, graph: int) -> bool:
        """True if this named graph exists."""
        row = (np.array([graph], dtype=np.uint32),)
        return bool(self.tuples(*GRAPHS).contains(row)[0])

    def graph(self, graph: int) -> GraphView:
        """The triples of one named graph, by predicate."""
        return GraphView(self.layers, graph)

    def quads(self, name: int) -> QuadRelation:
        """The quads with this predicate: a relation of three columns (subject, object, graph)."""
        return QuadRelation(name, self.layers)

    def quad_names(self) -> U32:
        """The predicates of the quads that hold, increasing."""
        return _names_with_rows([layer.quads.nets for layer in self.layers])

    # -- totals ---------------------------------------------------------------------------------

    def total(self, where: int = HOLDS) -> int:
        """How many facts of the default graph hold with one of these statuses."""
        total = _total([layer.facts.nets.total() for layer in self.layers], where)
        if self._closed and where & INFERRED:
            for name in self._closed:
                total += self.relation(name).inferred - self.stored_relation(name).inferred
        return total

    def quad_total(self, where: int = HOLDS) -> int:
        """How many quads of named graphs hold with one of these statuses."""
        return _total([layer.quads.nets.total() for layer in self.layers], where)

    def relation_total(self, name: int, where: int = HOLDS) -> int:
        """How many facts with this predicate hold with one of these statuses."""
        return self.relation(name).count(where)

    # -- rows of any predicate ------------------------------------------------------------------

    def status_of_facts(self, p: U32, s: U32, o: U32) -> U8:
        """The statuses of facts with any predicates; 0 for those that do not hold."""
        status = np.zeros(len(p), dtype=np.uint8)
        if len(p) == 1:
            status[0] = self.relation(int(p[0])).status(int(s[0]), int(o[0]))
            return status
        keys = pack(s, o)
        for name, rows in _by_name(p):
            status[rows] = self.relation(name).status_of_keys(keys[rows])
        return status

    def stored_status_of_facts(self, p: U32, s: U32, o: U32) -> U8:
        """The statuses of facts that are stored as rows, on which changes are based."""
        if not self._closed:
            return self.status_of_facts(p, s, o)
        status = np.zeros(len(p), dtype=np.uint8)
        keys = pack(s, o)
        for name, rows in _by_name(p):
            status[rows] = self.stored_relation(name).status_of_keys(keys[rows])
        return status

    def status_of_quads(self, p: U32, s: U32, o: U32, g: U32) -> U8:
        """The statuses of quads of named graphs; 0 for those that do not hold."""
        status = np.zeros(len(p), dtype=np.uint8)
        for name, rows in _by_name(p):
            status[rows] = self.quads(name).status_of((s[rows], o[rows], g[rows]))
        return status

    def predicates_of(self, terms: U32, role: int = SUBJECT) -> tuple[I64, U32]:
        """Pairs (position in `terms`, predicate), sorted: the predicates of rows with these terms.

        They include every predicate of a fact or quad with the term in this role (`SUBJECT`,
        `OBJECT`); for some of them all rows may be removed.
        """
        if len(terms) == 1:
            found_names = self.predicates_of_one(int(terms[0]), role)
            return np.zeros(len(found_names), dtype=np.int64), found_names
        index: list[I64] = []
        names: list[U32] = []
        for layer in self.layers:
            sets = layer.subjects if role == SUBJECT else layer.objects
            found = sets.names_of(terms)
            if len(found[0]):
                index.append(found[0])
                names.append(found[1])
        for name, closed in self._closed.items():
            (places,) = (closed.match_counts(role, terms) > 0).nonzero()
            if len(places):
                index.append(places)
                names.append(np.full(len(places), name, dtype=np.uint32))
        if not index:
            return np.zeros(0, dtype=np.int64), NO_IDS
        if len(index) == 1:
            return index[0], names[0]
        pairs = np.sort(pack(np.concatenate(index).astype(np.uint32), np.concatenate(names)))
        pairs = distinct(pairs)
        return high(pairs).astype(np.int64), low(pairs)

    def predicates_of_one(self, term: int, role: int = SUBJECT) -> U32:
        """`predicates_of` for one term."""
        found = []
        for layer in self.layers:
            sets = layer.subjects if role == SUBJECT else layer.objects
            number = sets.set_of(term)
            if number >= 0:
                found.append(sets.predicates(number))
        for name, closed in self._closed.items():
            if closed.match_counts(role, np.array([term], dtype=np.uint32))[0]:
                found.append(np.array([name], dtype=np.uint32))
        if len(found) < 2:
            return found[0] if found else NO_IDS
        return distinct(np.sort(np.concatenate(found)))

    # -- few facts ------------------------------------------------------------------------------

    def status_of_fact(self, fact: Fact) -> int:
        """The status of one fact; 0 if it does not hold."""
        recent = self._recent
        if recent is None or self._upto < len(recent.changes):
            return self.relation(fact[0]).status(fact[1], fact[2])
        status = recent.known.get(fact)
        return recent.base.status_of_fact(fact) if status is None else status

    def with_facts(self, changes: Sequence[FactChange]) -> Tables:
        """These tables with a few changed facts, of which a layer is made when rows are read.

        Relations must not have closures (`schemes`).
        """
        assert not self.schemes
        recent = self._recent
        if recent is None or not self._upto == len(recent.changes) < RELATIONS.recent_facts:
            _ = self.layers
            recent = RecentFacts(self)
        made = Tables.__new__(Tables)
        made.schemes, made._closed, made._relations = NO_SCHEMES, {}, {}
        made._apart = made._sealed = False
        made._layers, made._plan = (), None
        made._recent, made._upto = recent, recent.add(changes)
        return made

    # -- the stack ------------------------------------------------------------------------------

    def push(self, layer: Layer, *, apart: bool = False) -> Tables:
        """These tables with one more layer on top.

        apart  do not combine layers before `combined` or the next push: for tables that are read
               once and then replaced
        """
        if layer.rows == 0:
            return self
        if self._apart:
            return self.combined().push(layer, apart=apart)
        open_ = bool(self.layers) and not self._sealed
        waits = open_ and self.layers[-1].rows + layer.rows <= RELATIONS.combine_rows
        pushed = Tables((*self.layers, layer), apart=waits, schemes=self.schemes)
        return pushed if apart else pushed.combined()

    def combined(self) -> Tables:
        """The same tables after combining the two topmost layers, if `push` deferred that."""
        if not self._apart:
            return self
        *rest, last, layer = self.layers
        both = merge_layers((last, layer), bottom=not rest)
        return Tables((*rest, both), schemes=self.schemes)

    def with_schemes(self, schemes: Mapping[int, Any]) -> Tables:
        """The same rows with other schemes."""
        if schemes.keys() == self.schemes.keys() and all(
            one is self.schemes[name] for name, one in schemes.items()
        ):
            return self
        kept = MappingProxyType(dict(schemes))
        return Tables(self.layers, sealed=self._sealed, apart=self._apart, schemes=kept)

    def sealed(self) -> Tables:
        """The same tables; their topmost layer is not combined with the next one pushed."""
        return Tables(self.combined().layers, sealed=True, schemes=self.schemes)

    def plan_merge(self) -> tuple[int, int] | None:
        """The layers [i, j) that should become one now, or None.

        The topmost layer is left out while pushes may still be combined with it, so that commits
        can go on during a merge: the layers [i, j) stay in place until `replace`.
        """
        recent = self._recent
        if recent is not None:  # what is not a layer yet is not merged
            return recent.base.plan_merge()
        if self._plan is None:
            self._plan = (self._plan_merge(),)
        return self._plan[0]

    def _plan_merge(self) -> tuple[int, int] | None:
        sizes = [layer.rows for layer in self.layers]
        if sizes and not self._sealed and sizes[-1] < RELATIONS.combine_rows:
            sizes.pop()
        stop = len(sizes)
        above = 0
        best = None
        for place in range(stop - 1, -1, -1):
            if place < stop - 1 and sizes[place] <= RELATIONS.tier * above:
                best = place
            above += sizes[place]
        return None if best is None else (best, stop)

    def replace(
        self, start: int, stop: int, layer: Layer, merged: Sequence[Layer] | None = None
    ) -> Tables:
        """These tables with layers [start, stop) replaced by the one they were merged into.

        `merged`, if given, are the layers that were merged; it is an error if others are there now.
        """
        old = self.layers[start:stop]
        if merged is not None and tuple(merged) != old:
            raise AssertionError("the layers that were merged are not in their place any more")
        new = (layer,) if layer.rows else ()
        sealed = self._sealed or stop == len(self.layers)
        layers = (*self.layers[:start], *new, *self.layers[stop:])
        return Tables(layers, sealed=sealed, schemes=self.schemes)

    def validate(self) -> None:
        """Check what is always true, layer by layer, and all totals (reads everything)."""
        for layer in self.layers:
            layer.validate()
        for name in {int(n) for layer in self.layers for n in layer.facts.forward.names}:
            relation = self.stored_relation(name)
            for where in (EXPLICIT, INFERRED):
                rows = sum(len(keys) for keys in relation.scan_keys(where))
                assert rows == relation.count(where), f"total of relation {name} is off"


def _names_with_rows(nets: Sequence[Nets]) -> U32:
    """The names whose nets over all layers are not 0."""
    if not nets:
        return NO_IDS
    names = distinct(np.sort(np.concatenate([part.names for part in nets])))
    both = add_nets(list(nets), names)
    held: Bools = (both.explicit + both.inferred) > 0
    return names if held.all() else names[held]


def _total(nets: Sequence[tuple[int, int]], where: int) -> int:
    explicit = sum(net[0] for net in nets) if where & EXPLICIT else 0
    return explicit + (sum(net[1] for net in nets) if where & INFERRED else 0)


def _by_name(names: U32) -> Iterator[tuple[int, slice | I64]]:
    """(name, positions) for each distinct name."""
    if len(names) == 0:
        return
    if (names[0] == names).all():
        yield int(names[0]), slice(None)
        return
    order = np.argsort(names, kind="stable")
    ordered = names[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    for start, rows in zip(starts.tolist(), np.split(order, starts[1:]), strict=True):
        yield int(ordered[start]), rows
