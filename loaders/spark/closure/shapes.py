"""Simple rules as rows of numbers: rules that differ only in constants are one `Shape`.

Start reading at `shapes_of`. A fact is (arity, name, arguments): the triple `s p o` is
(2, p, s, o), and the row `r(a, b, c)` is (3, r, a, b, c). So a property is a constant like any
other, and ten thousand rules over ten thousand properties are one shape with ten thousand rows. The
families of `rules.families` keep properties apart, as tables do, and would be as many plans.

Always true: the atoms of a shape have *slots*. The first `width` slots are constants, one for each
place of a constant, and `constants` has their ids, a row for each rule; the other slots are
variables. `rules` has the numbers of the rules.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from triplestore.data_classes import data_class
from triplestore.datalog.program import (
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
from triplestore.expressions.tree import Expression, substitute, variables_of

TRIPLE = 2
"""The arity of triples."""


class FlatAtom(NamedTuple):
    """An atom: the slot of its name, then those of its arguments."""

    arity: int
    slots: tuple[int, ...]


class Computation(NamedTuple):
    """A FILTER (target -1) or a BIND of a slot; variables are named `v` and their slot."""

    expression: Expression
    target: int
    needs: tuple[int, ...]


class Summary(NamedTuple):
    """The groups and results of an aggregate rule.

    results  (slot, function, argument, distinct, separator)
    """

    groups: tuple[int, ...]
    results: tuple[tuple[int, str, Expression | None, bool, str | None], ...]


class Form(NamedTuple):
    """Rules without their constants."""

    width: int
    head: FlatAtom
    body: tuple[FlatAtom, ...]
    nots: tuple[FlatAtom, ...]
    computations: tuple[Computation, ...]
    summary: Summary | None


@data_class
class Shape:
    """Rules of one form.

    constants  a row for each rule, a column for each constant slot
    rules      the numbers of the rules, one for each row
    """

    form: Form
    constants: NDArray[np.int64]
    rules: NDArray[np.int64]

    def only(self, chosen: NDArray[np.bool_]) -> Shape:
        """Some of the rules."""
        return Shape(self.form, self.constants[chosen], self.rules[chosen])

    def names(self, slot: int) -> NDArray[np.int64]:
        """The ids in a constant slot, a row for each rule."""
        found: NDArray[np.int64] = self.constants[:, slot]
        return found

    def __len__(self) -> int:
        return len(self.rules)


def shapes_of(rules: Iterable[tuple[int, Rule]], ids: Mapping[bytes, int]) -> list[Shape]:
    """The shapes of simple rules, given with their numbers; rules without a body are omitted.

    ids  ids of all constants in atoms

    >>> from triplestore.datalog.text import read
    >>> rules = read("@prefix : <http://e/> . :b[?x] :- :a[?x] . :c[?y] :- :b[?y] .").rules
    >>> ids = {key: number for number, key in enumerate(constants_of(rules), 1)}
    >>> [(shape.form.body, shape.constants.tolist()) for shape in shapes_of(enumerate(rules), ids)]
    [((FlatAtom(arity=2, slots=(2, 4, 3)),), [[1, 2, 1, 3], [1, 4, 1, 2]])]
    """
    found: dict[Hashable, tuple[Form, list[list[int]], list[int]]] = {}
    for number, rule in rules:
        if not rule.body:
            continue
        form, constants = _Drafted(rule, ids).form()
        key = form if form.summary is None else number  # each aggregate rule is one shape
        _, rows, numbers = found.setdefault(key, (form, [], []))
        rows.append(constants)
        numbers.append(number)
    return [
        Shape(
            form,
            np.array(rows, np.int64).reshape(len(rows), form.width),
            np.array(numbers, np.int64),
        )
        for form, rows, numbers in found.values()
    ]


def facts_of(rules: Iterable[Rule], ids: Mapping[bytes, int]) -> list[tuple[int, ...]]:
    """The facts of rules without a body: (arity, name, arguments)."""
    found = []
    for rule in rules:
        if not rule.body:
            keys = [term.key for term in flat_terms(rule.heads[0]) if isinstance(term, Constant)]
            found.append((len(keys) - 1, *[ids[key] for key in keys]))
    return found


def constants_of(rules: Iterable[Rule]) -> list[bytes]:
    """The keys of all constants in atoms, in the order of their first occurrence."""
    keys: dict[bytes, None] = {}
    for rule in rules:
        for atom in atoms_of((*rule.heads, *rule.body)):
            for term in flat_terms(atom):
                if isinstance(term, Constant):
                    keys[term.key] = None
    return list(keys)


def atoms_of(items: Iterable[Item]) -> Iterator[Atom]:
    """All atoms, including those under a negation or an aggregate."""
    for item in items:
        if isinstance(item, TripleAtom | TupleAtom):
            yield item
        elif isinstance(item, Not | Aggregate):
            yield from atoms_of(item.body)


def flat_terms(atom: Atom) -> tuple[Variable | Constant, ...]:
    """The name of an atom and its arguments."""
    if isinstance(atom, TupleAtom):
        return (atom.name, *atom.args)
    return (atom.p, atom.s, atom.o)


class _Drafted:
    """One rule; variables are numbered from 0 up, constants from -1 down until all are known."""

    def __init__(self, rule: Rule, ids: Mapping[bytes, int]) -> None:
        self._ids = ids
        self._variables: dict[Variable, int] = {}
        self.constants: list[int] = []
        body = rule.body
        summary = None
        if len(body) == 1 and isinstance(body[0], Aggregate):
            summary = body[0]
            body = summary.body
        self._head = self._terms(rule.heads[0])
        self._body = [
            self._terms(item) for item in body if isinstance(item, TripleAtom | TupleAtom)
        ]
        nots = (atom for item in body if isinstance(item, Not) for atom in atoms_of(item.body))
        self._nots = [self._terms(atom) for atom in nots]
        self._computed = [item for item in body if isinstance(item, Filter | Bind)]
        self._summary = summary

    def _terms(self, atom: Atom) -> list[int]:
        return [self._term(term) for term in flat_terms(atom)]

    def _term(self, term: Variable | Constant) -> int:
        if isinstance(term, Constant):
            self.constants.append(self._ids[term.key])
            return -len(self.constants)
        return self._variables.setdefault(term, len(self._variables))

    def form(self) -> tuple[Form, list[int]]:
        """The form of the rule, and its constants."""
        width = len(self.constants)

        def flat(terms: Sequence[int]) -> FlatAtom:
            slots = tuple(-term - 1 if term < 0 else width + term for term in terms)
            return FlatAtom(len(terms) - 1, slots)

        computations = []
        for item in self._computed:
            expression, needs = self._renamed(item.expression, width)
            target = width + self._term(item.variable) if isinstance(item, Bind) else -1
            computations.append(Computation(expression, target, needs))
        form = Form(
            width,
            flat(self._head),
            tuple(map(flat, self._body)),
            tuple(map(flat, self._nots)),
            tuple(computations),
            self._summarised(width),
        )
        return form, self.constants

    def _summarised(self, width: int) -> Summary | None:
        if self._summary is None:
            return None
        results = []
        for one in self._summary.results:
            argument = None if one.argument is None else self._renamed(one.argument, width)[0]
            slot = width + self._term(one.variable)
            results.append((slot, one.function, argument, one.distinct, one.separator))
        named = dict.fromkeys(self._summary.groups)  # a variable may occur twice
        groups = tuple(width + self._term(one) for one in named)
        return Summary(groups, tuple(results))

    def _renamed(self, expression: Expression, width: int) -> tuple[Expression, tuple[int, ...]]:
        slots = {one: width + self._term(one) for one in variables_of(expression)}
        by = {one: Variable(f"v{slot}") for one, slot in slots.items()}
        return substitute(expression, by), tuple(dict.fromkeys(slots.values()))
