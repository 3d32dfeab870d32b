"""Scope: which named graphs are used for reasoning, beside the default graph.

Start reading at `scope_step` and `scope_rules`. Each fact that the graphs of the scope assert is
kept once as a row of an internal relation (property, subject, object), for rdf:type (type, class,
member). One rule for each property and each class concludes the fact from its row. So a fact of the
scope holds in the default graph as long as at least one of the graphs asserts it. Counters, proofs
and audits treat it like any other fact, and the named graphs do not change. The cost of a commit is
proportional to what it changes.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from pyoxigraph import BlankNode, DefaultGraph, NamedNode

from triplestore.datalog.program import (
    TYPE,
    Atom,
    Constant,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
)
from triplestore.errors import UsageError
from triplestore.relations import EXPLICIT, HOLDS, OBJECT, SUBJECT, ChangedRows, Changes, Layer
from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.relations.layers.quad_runs import extra_of
from triplestore.relations.packed_keys import (
    NO_IDS,
    NO_KEYS,
    U32,
    U64,
    Bools,
    Keys,
    columns_of,
    distinct,
    high,
    in_sorted,
    key_of,
    low,
    pack,
    start_of_runs,
)
from triplestore.relations.views.equality import TOLD, TOLD_KEY, KeysByName

if TYPE_CHECKING:
    from triplestore.reasoning.asserted_changes import AssertedChanges
    from triplestore.reasoning.outcome import WriteStep
    from triplestore.reasoning.program.settings import Regimes
    from triplestore.relations import Tables
    from triplestore.relations.changes import TupleName
    from triplestore.terms import Dictionary

DEFAULT, UNION = "default", "union"
"""The default graph alone; the default graph and all named graphs."""

Scope: TypeAlias = "str | tuple[str, ...]"
"""`DEFAULT`, `UNION`, or the IRIs of the graphs that are used beside the default graph."""

STATED = Constant(TOLD_KEY)
"""The relation of what graphs of the scope assert."""

RULE = "scope"
"""The name of the rules that conclude it."""

ARITY = TOLD
_NO_ROWS = key_of((NO_IDS,) * ARITY)


def scope_of(given: Any) -> Scope:
    """A scope as a caller says it.

    >>> scope_of("union"), scope_of([NamedNode("http://e/g"), "http://e/f"])
    ('union', ('http://e/f', 'http://e/g'))
    """
    if isinstance(given, str):
        if given in (DEFAULT, UNION):
            return given
        raise UsageError(
            f'scope is "{DEFAULT}", "{UNION}" or a list of the IRIs of graphs, not {given!r}; '
            "one graph is a list of one"
        )
    if not isinstance(given, Iterable) or isinstance(given, bytes):
        raise UsageError(f'scope is "{DEFAULT}", "{UNION}" or a list of graphs, not {given!r}')
    names = {_name_of(graph) for graph in given} - {""}
    return tuple(sorted(names)) or DEFAULT


def _name_of(graph: Any) -> str:
    if isinstance(graph, DefaultGraph):
        return ""  # always there
    name = graph.value if isinstance(graph, NamedNode) else graph
    if isinstance(name, str) and ":" in name:
        return name
    what = "a blank node" if isinstance(graph, BlankNode) else repr(graph)
    raise UsageError(f'a graph in scope= is named by its whole IRI, not {what}; or say "{UNION}"')


class ScopeStep(NamedTuple):
    """What a run changes of the relation: the step that says so, and the rows, sorted."""

    name: TupleName
    changes: Changes
    plus: Keys
    minus: Keys

    def on(self, tables: Tables) -> Tables:
        """Tables with the change."""
        return tables.push(Layer.build(self.changes))

    def stated(self, stated: AssertedChanges) -> AssertedChanges:
        """What was asserted, with the change; it is not a step of what was asserted."""
        plus = {**stated.plus, self.name: self.plus} if len(self.plus) else stated.plus
        minus = {**stated.minus, self.name: self.minus} if len(self.minus) else stated.minus
        return stated._replace(tables=self.on(stated.tables), plus=plus, minus=minus)


def scope_step(
    closed: Tables,
    tables: Tables,
    since: Sequence[WriteStep],
    before: Regimes,
    now: Regimes,
    dictionary: Dictionary,
) -> ScopeStep | None:
    """What the relation has to become; None if it is right.

    closed  tables in which it is right for the regimes `before`
    tables  those to which these steps lead from there
    """
    if now.scope == DEFAULT and before.scope == DEFAULT:
        return None
    name, type_id = _ids(dictionary, encode=True)
    relation = closed.tuples(name, ARITY)
    inside = GraphsInScope(now, dictionary)
    if (now.scope, now.graphs) == (before.scope, before.graphs):
        rows = _touched(since, inside, type_id)
        stated = _are_stated(rows, tables, inside, type_id)
        known = relation.status_of(columns_of(rows, ARITY)) != 0
        plus, minus = rows[stated & ~known], rows[known & ~stated]
    else:
        wanted, had = _all_stated(tables, inside, type_id), relation.keys()
        plus, minus = wanted[~in_sorted(wanted, had)], had[~in_sorted(had, wanted)]
    if not (len(plus) or len(minus)):
        return None
    parts = [_changed(plus, EXPLICIT, 0), _changed(minus, 0, EXPLICIT)]
    changes = Changes(tuples={(name, ARITY): ChangedRows.concat(parts)})
    return ScopeStep((name, ARITY), changes, plus, minus)


def batch_name(dictionary: Dictionary) -> TupleName:
    """The relation as the engine knows it."""
    return _ids(dictionary)[0], ARITY


class GraphsInScope:
    """Which named graphs are in scope; those of ontologies always are, and are left out here."""

    def __init__(self, regimes: Regimes, dictionary: Dictionary) -> None:
        own = dictionary.lookup_keys(regimes.graphs) if regimes.graphs else NO_IDS
        self._own = sorted_distinct(own)
        self._chosen: U32 | None = None
        if regimes.scope != UNION:
            names = () if regimes.scope == DEFAULT else regimes.scope
            found = dictionary.lookup_keys([b"\x01" + name.encode() for name in names])
            self._chosen = np.setdiff1d(found[found != 0], self._own)

    def __call__(self, graphs: U32) -> Bools:
        """Whether each of these does, which may be gone since."""
        if self._chosen is None:
            return ~in_sorted(graphs, self._own)
        return in_sorted(graphs, self._chosen)


def out_of_scope(regimes: Regimes, tables: Tables, dictionary: Dictionary) -> tuple[int, int]:
    """How many quads, in how many named graphs, are not used; the scope has few graphs."""
    if regimes.scope == UNION or not tables.quad_total():
        return 0, 0
    own = dictionary.lookup_keys(regimes.graphs) if regimes.graphs else NO_IDS
    graphs = tables.graphs()
    inside = graphs[GraphsInScope(regimes, dictionary)(graphs) | np.isin(graphs, own)]
    counted = sum(tables.graph(graph).count() for graph in inside.tolist())
    return tables.quad_total() - counted, len(graphs) - len(inside)


def stated_elsewhere(tables: Tables, dictionary: Dictionary) -> int:
    """How many facts of the default graph are asserted by graphs of the scope, and not by it.

    Linear in what they state.
    """
    relation, type_id = _ids(dictionary)
    if not relation:
        return 0
    rows, count = tables.tuples(relation, ARITY).keys(), 0
    for name, s, o in _by_property(rows, type_id):
        status = tables.stored_relation(name).status_of_keys(pack(s, o))
        count += int(np.count_nonzero((status & np.uint8(EXPLICIT)) == 0))
    return count


# -- rules ----------------------------------------------------------------------------------------


def scope_rules(tables: Tables, dictionary: Dictionary) -> list[Rule]:
    """The rules that conclude the facts that graphs of the scope assert."""
    properties, classes = _named(_rows(tables, dictionary), _ids(dictionary)[1])
    key = dictionary.key
    found = [_property_rule(key(name)) for name in properties.tolist()]
    return found + [_class_rule(key(name)) for name in classes.tolist()]


def needs_rules(steps: Iterable[WriteStep], known: Container[Atom], dictionary: Dictionary) -> bool:
    """Whether steps added properties or classes that have no rule yet.

    known  the heads of the rules that there are
    """
    name = batch_name(dictionary)
    small = [step for step in steps if isinstance(step, Changes)]
    changed = [step.tuples[name] for step in small if name in step.tuples]
    come = [rows.take(rows.status != 0) for rows in changed]
    if not any(map(len, come)):
        return False
    properties, classes = _named(
        np.concatenate([key_of(rows.columns) for rows in come]), _ids(dictionary)[1]
    )
    wanted = [_property_rule(dictionary.key(one)) for one in properties.tolist()]
    wanted += [_class_rule(dictionary.key(one)) for one in classes.tolist()]
    return any(rule.heads[0] not in known for rule in wanted)


def _named(rows: Keys, type_id: int) -> tuple[U32, U32]:
    """The properties other than rdf:type, and the classes, in some rows."""
    name, first, _ = columns_of(rows, ARITY)
    is_type = name == type_id
    return sorted_distinct(name[~is_type]), sorted_distinct(first[is_type])


_X, _Y = Variable("x"), Variable("y")


@lru_cache(maxsize=1 << 16)
def _property_rule(key: bytes) -> Rule:
    name = Constant(key)
    head: Atom = TripleAtom(_X, name, _Y)
    return Rule((head,), (TupleAtom(STATED, (name, _X, _Y)),), RULE)


@lru_cache(maxsize=1 << 16)
def _class_rule(key: bytes) -> Rule:
    class_ = Constant(key)
    head: Atom = TripleAtom(_X, TYPE, class_)
    return Rule((head,), (TupleAtom(STATED, (TYPE, class_, _X)),), RULE)


def rule_of(predicate: bytes, object_: bytes) -> Rule:
    """The rule that concludes such a fact."""
    return _class_rule(object_) if predicate == TYPE.key else _property_rule(predicate)


def is_of_scope(rule: object) -> bool:
    """Whether a rule concludes what a graph of the scope asserts."""
    return isinstance(rule, Rule) and rule.name == RULE and is_row(rule.body[0])


def is_row(item: object) -> bool:
    """Whether an item of a rule reads what graphs of the scope assert."""
    return isinstance(item, TupleAtom) and item.name == STATED


# -- axioms ---------------------------------------------------------------------------------------


class ScopeGraph:
    """All that graphs of the scope assert, with the methods of a graph."""

    def __init__(self, tables: Tables, dictionary: Dictionary) -> None:
        self._name, self._type_id = _ids(dictionary)
        self._tuples = tables.tuples(self._name, ARITY)

    def relation(self, name: int) -> _ScopeRelation:
        """The facts of one property."""
        if not name or not len(self._tuples):
            return _ScopeRelation(NO_KEYS)
        _, (first, second) = self._tuples.probe([0], [np.array([name], np.uint32)])
        if name == self._type_id:
            first, second = second, first
        return _ScopeRelation(np.sort(pack(first, second)))


class _ScopeRelation:
    """Sorted pairs that are all asserted."""

    def __init__(self, keys: U64) -> None:
        self._keys = keys

    def scan_keys(self, where: int = HOLDS) -> list[U64]:
        """The pairs."""
        return [self._keys] if where & EXPLICIT else []

    def by_second(self, second: int, where: int = HOLDS) -> U32:
        """The first ids of pairs with this second one."""
        return high(self._keys[low(self._keys) == second]) if where & EXPLICIT else NO_IDS


# -- rows -----------------------------------------------------------------------------------------


def _ids(dictionary: Dictionary, *, encode: bool = False) -> tuple[int, int]:
    """The ids of the relation and of rdf:type."""
    keys = [STATED.key, TYPE.key]
    name, type_id = (dictionary.encode_keys if encode else dictionary.lookup_keys)(keys).tolist()
    return name, type_id


def _rows(tables: Tables, dictionary: Dictionary) -> Keys:
    name = _ids(dictionary)[0]
    return tables.tuples(name, ARITY).keys() if name else _NO_ROWS


def _changed(rows: Keys, status: int, previous: int) -> ChangedRows:
    return ChangedRows.of(columns_of(rows, ARITY), status, previous)


def _rows_of(name: int, s: U32, o: U32, type_id: int) -> Keys:
    first, second = (o, s) if name == type_id else (s, o)
    return key_of((np.full(len(s), name, np.uint32), first, second))


def _united(parts: list[Keys]) -> Keys:
    if not parts:
        return _NO_ROWS
    whole: Keys = np.concatenate(parts)
    whole.sort()
    return distinct(whole)


def _all_stated(tables: Tables, inside: GraphsInScope, type_id: int) -> Keys:
    """The rows of all that these graphs assert."""
    parts = []
    for name in tables.quad_names().tolist():
        for s, o, g in tables.quads(name).scan():
            here = inside(g)
            if here.any():
                parts.append(_rows_of(name, s[here], o[here], type_id))
    return _united(parts)


def _touched(steps: Iterable[WriteStep], inside: GraphsInScope, type_id: int) -> Keys:
    """The rows of all that some steps change in these graphs."""
    parts = []
    for step in steps:
        for name, s, o, g in _quads_of(step):
            here = inside(g)
            if here.any():
                parts.append(_rows_of(name, s[here], o[here], type_id))
    return _united(parts)


def _quads_of(step: WriteStep) -> Iterator[tuple[int, U32, U32, U32]]:
    """The quads of a step, property by property."""
    if isinstance(step, Layer):
        order = step.quads.forward
        for place, name in enumerate(order.names.tolist()):
            run = order.run(place)
            keys = run.keys[run.lo : run.hi]
            yield name, high(keys), low(keys), extra_of(order)[run.lo : run.hi]
        return
    p, s, o, g = step.quads.columns
    for name in sorted_distinct(p).tolist():
        mine = p == name
        yield name, s[mine], o[mine], g[mine]


def _are_stated(rows: Keys, tables: Tables, inside: GraphsInScope, type_id: int) -> Bools:
    """Which of the rows at least one of these graphs asserts."""
    found = []
    for name, s, o in _by_property(rows, type_id):
        index, (g,) = tables.quads(name).probe((SUBJECT, OBJECT), (s, o))
        here: Bools = np.zeros(len(s), dtype=np.bool_)
        here[index[inside(g)]] = True
        found.append(here)
    return np.concatenate([np.zeros(0, dtype=np.bool_), *found])


def facts_of_rows(rows: Keys, type_id: int) -> KeysByName:
    """The facts that sorted rows of the relation say, property by property."""
    return {name: np.sort(pack(s, o)) for name, s, o in _by_property(rows, type_id)}


def _by_property(rows: Keys, type_id: int) -> Iterator[tuple[int, U32, U32]]:
    """Property, subjects and objects of sorted rows."""
    names, first, second = columns_of(rows, ARITY)
    starts = start_of_runs(names)
    for lo, hi in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        name = int(names[lo])
        s, o = first[lo:hi], second[lo:hi]
        if name == type_id:
            s, o = o, s
        yield name, s, o
