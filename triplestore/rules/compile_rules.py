"""Rules of a program are made families, for one dictionary.

Start reading at `compile_rules`. `families` defines a family.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from triplestore.datalog.program import (
    TYPE,
    Aggregate,
    Atom,
    Bind,
    Constant,
    Filter,
    Item,
    Not,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
)
from triplestore.datalog.slices import slice_of
from triplestore.datalog.stratify import Stratification
from triplestore.expressions.tree import Call, Expression, variables_of
from triplestore.relations.facts.fact_sets import ANY
from triplestore.relations.packed_keys import U32
from triplestore.rules.families import (
    LOWER,
    MIXED,
    OWN,
    CompiledAtom,
    Computation,
    ConstantTable,
    Family,
    IdsOf,
    Summary,
)
from triplestore.thread_limits import looking


def compile_rules(
    rules: Sequence[Rule],
    stratification: Stratification,
    ids_of: IdsOf,
    numbers: Sequence[int] | None = None,
    recursive: Container[int] | None = None,
) -> list[Family]:
    """The families of simple rules, in the order of their first rules.

    numbers    the numbers of the rules in `Family.rules`; by default their places
    recursive  the result of `recursive_rules`, if known
    """
    ids, levels = _constant_ids(rules, ids_of), _Levels(stratification)
    places = range(len(rules)) if numbers is None else numbers
    groups: dict[Any, _Group] = {}
    recursive = recursive_rules(stratification) if recursive is None else recursive
    for number, rule in looking(zip(places, rules, strict=True)):
        draft = _Draft(rule, levels, ids, id(rule) in recursive)
        group = groups.setdefault(draft.shape if draft.groupable else number, _Group(draft, [], []))
        group.rules.append(number)
        group.constants.append(draft.constants)
    return [_family(number, group) for number, group in enumerate(groups.values())]


class _Group(NamedTuple):
    """Rules of one shape: the first of them, their numbers and constants."""

    first: _Draft
    rules: list[int]
    constants: list[list[int]]


def recursive_rules(stratification: Stratification) -> set[int]:
    """The identities of the rule objects that are recursive."""
    found = set()
    for stratum in stratification:
        for rule, recursive in zip(stratum.rules, stratum.recursive, strict=True):
            if recursive:
                found.add(id(rule))
    return found


def _constant_ids(rules: Iterable[Rule], ids_of: IdsOf) -> dict[bytes, int]:
    keys: dict[bytes, None] = {TYPE.key: None}
    for rule in looking(rules):
        for item in (*rule.heads, *rule.body):
            for atom in (item,) if type(item) is TripleAtom else all_atoms((item,)):
                if isinstance(atom, TupleAtom):
                    keys[atom.name.key] = None
                for term in atom.terms:
                    if type(term) is Constant:
                        keys[term.key] = None
    listed = list(keys)
    return dict(zip(listed, ids_of(listed).tolist(), strict=True))


def all_atoms(items: Iterable[Item]) -> Iterator[Atom]:
    """The atoms of a body, with those in its negations and aggregates."""
    for item in items:
        if isinstance(item, TripleAtom | TupleAtom):
            yield item
        elif isinstance(item, Not | Aggregate):
            yield from all_atoms(item.body)


class _Levels:
    """The strata of atoms, cached by the name of their property or class: looking up slices took a
    third of the time of compiling."""

    __slots__ = ("_classes", "_properties", "_strata")

    def __init__(self, strata: Stratification) -> None:
        self._strata = strata
        self._properties: dict[bytes, int] = {}
        self._classes: dict[bytes, int] = {}

    def of(self, atom: Atom) -> int:
        """The stratum of an atom."""
        if type(atom) is not TripleAtom or type(atom.p) is not Constant:
            return self._strata.level_of(slice_of(atom))
        known, key = self._properties, atom.p.key
        if key == _TYPE_KEY:
            if type(atom.o) is not Constant:
                return self._strata.level_of(slice_of(atom))
            known, key = self._classes, atom.o.key
        level = known.get(key)
        if level is None:
            level = known[key] = self._strata.level_of(slice_of(atom))
        return level


_TYPE_KEY = TYPE.key


class _Draft:
    """A rule with ids for its constants, and its shape."""

    def __init__(self, rule: Rule, levels: _Levels, ids: dict[bytes, int], recursive: bool) -> None:
        self.numbers: dict[str, int] = {}  # of variables, by their names
        self.ids = ids
        self.levels = levels
        self.recursive = recursive
        head = rule.heads[0]
        self.stratum = levels.of(head)
        self.summary: Summary | None = None
        body = rule.body
        if len(body) == 1 and isinstance(body[0], Aggregate):
            aggregate = body[0]
            body = aggregate.body
        else:
            aggregate = None
        atoms = [item for item in body if type(item) is TripleAtom or isinstance(item, TupleAtom)]
        self.body = tuple([self._atom(atom) for atom in atoms])
        self.nots: tuple[CompiledAtom, ...] = ()
        self.computations: tuple[Computation, ...] = ()
        if len(self.body) < len(body):
            negated = [item for item in body if isinstance(item, Not)]
            self.nots = tuple([self._atom(one) for item in negated for one in all_atoms(item.body)])
            self.computations = tuple(self._computations(body))
            self.body = tuple(map(self._with_filters, self.body))
        if aggregate is not None:
            self.summary = self._summary(aggregate)
        self.head = self._atom(head)
        constants: list[int] = []
        shape = [self._shape(atom, constants) for atom in (self.head, *self.body, *self.nots)]
        self.constants = constants
        self.groupable = not self.computations and self.summary is None
        self.shape = (self.stratum, self.recursive, len(self.body), tuple(shape))

    def _term(self, term: Variable | Constant) -> int:
        if type(term) is Constant:
            return -self.ids[term.key]
        assert isinstance(term, Variable)
        return self.numbers.setdefault(term.name, len(self.numbers))

    def _atom(self, atom: Atom) -> CompiledAtom:
        own = self._own(atom)
        if type(atom) is not TripleAtom:
            assert isinstance(atom, TupleAtom)
            relation = (self.ids[atom.name.key], len(atom.args))
            return CompiledAtom(relation, tuple(map(self._term, atom.args)), own)
        s, o = atom.s, atom.o
        if type(atom.p) is not Constant:
            return CompiledAtom(ANY, (self._term(s), self._term(atom.p), self._term(o)), own)
        if atom.p.key == _TYPE_KEY:
            s, o = o, s  # classes first
        return CompiledAtom(self.ids[atom.p.key], (self._term(s), self._term(o)), own)

    def _own(self, atom: Atom) -> int:
        """The strata of the facts of an atom; a variable property or class may stand for any."""
        if self.levels.of(atom) != self.stratum:
            return LOWER
        if type(atom) is not TripleAtom:
            return OWN
        several = atom.p if atom.p != TYPE else atom.o
        return OWN if type(several) is Constant else MIXED

    def _computations(self, body: Iterable[Item]) -> Iterator[Computation]:
        for item in body:
            if isinstance(item, Filter | Bind):
                needs = [self._term(v) for v in dict.fromkeys(variables_of(item.expression))]
                target = self._term(item.variable) if isinstance(item, Bind) else -1
                yield Computation(item.expression, target, tuple(needs))

    def _with_filters(self, atom: CompiledAtom) -> CompiledAtom:
        """The atom with the properties that filters exclude, which need not be read."""
        if atom.relation != ANY:
            return atom
        variable = atom.terms[1]
        found = (excluded(one.expression) for one in self.computations if one.needs == (variable,))
        ids = [self.ids.get(constant.key) for constant in found if constant is not None]
        return atom._replace(besides=tuple(one for one in ids if one is not None))

    def _summary(self, aggregate: Aggregate) -> Summary:
        for result in aggregate.results:
            if result.argument is not None:
                for variable in variables_of(result.argument):
                    self._term(variable)
        groups = tuple(map(self._term, aggregate.groups))
        results = tuple(
            (result.function, result.argument, result.distinct, result.separator)
            for result in aggregate.results
        )
        targets = tuple(self._term(result.variable) for result in aggregate.results)
        return Summary(groups, targets, results)

    def _shape(self, atom: CompiledAtom, constants: list[int]) -> tuple[Any, ...]:
        """The atom without its constants, which are collected."""
        places = []
        for term in atom.terms:
            if term < 0:
                constants.append(-term)
                places.append(-1)
            else:
                places.append(term)
        return (atom.relation, atom.own, *places)


def excluded(expression: Expression) -> Constant | None:
    """The constant that a variable must differ from, by a filter.

    >>> from triplestore.datalog.text import read
    >>> rule = read("<x:q>[?s] :- [?s, ?p, ?o], FILTER(!SAMETERM(?p, <x:q>)) .").rules[0]
    >>> print(excluded(rule.body[1].expression))
    <x:q>
    """
    match expression:
        case Call("!", (Call("SAMETERM", (Variable(), Constant() as constant)),)):
            return constant
    return None


def _family(number: int, group: _Group) -> Family:
    first = group.first
    made = Family(
        number,
        first.stratum,
        first.recursive,
        first.head,
        first.body,
        first.nots,
        first.computations,
        tuple(first.numbers),
        group.rules,
        summary=first.summary,
    )
    if len(group.rules) > 1:
        _with_table(made, group.constants)
    return made


def _with_table(family: Family, constants: list[list[int]]) -> None:
    """Replace the constants in which the rules differ by variables. Equal columns are one
    variable."""
    columns = np.array(constants, dtype=np.uint32).T
    variables: dict[bytes, int] = {}
    kept: list[U32] = []
    terms: list[int] = []
    for column in columns:
        if (column == column[0]).all():
            terms.append(-int(column[0]))
            continue
        key = column.tobytes()
        if key not in variables:
            variables[key] = family.width + len(kept)
            kept.append(np.ascontiguousarray(column))
        terms.append(variables[key])
    rest = iter(terms)

    def change(atom: CompiledAtom) -> CompiledAtom:
        return atom._replace(terms=tuple(next(rest) if t < 0 else t for t in atom.terms))

    family.head = change(family.head)
    family.body = tuple(map(change, family.body))
    family.nots = tuple(map(change, family.nots))
    family.table = ConstantTable(tuple(variables.values()), tuple(kept))
    family.variables += ("",) * len(kept)
