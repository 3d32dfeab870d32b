"""Families: rules of a stratum that differ in constants only, as they are matched.

Start reading at `Family`. Rules with the same properties in the same places and the same variables,
which differ in classes and individuals only, are one family. Its constants are variables that are
bound by one more body item: a table of the constants with one row per rule. So ten thousand
subclass axioms are one join with ten thousand rows. A rule without others like it keeps its
constants. `compile_rules` makes families of rules.

Terms of compiled atoms are integers: a variable v is v >= 0, the constant with id c is -c.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triplestore.data_classes import data_class
from triplestore.expressions.tree import Expression
from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.relations.facts.sorted_arrays import match
from triplestore.relations.packed_keys import I64, U32, U64, Keys, key_of, pack

if TYPE_CHECKING:
    from triplestore.rules.body_plans import BodyPlan, KernelShape, Turned

IdsOf: TypeAlias = Callable[[Sequence[bytes]], U32]
"""The ids of term keys."""

OWN, LOWER, MIXED = 1, 0, 2
"""Whether the facts of an atom belong to the rule's stratum, to lower strata, or to both."""


class CompiledAtom(NamedTuple):
    """An atom whose terms are in the order of the stored relation.

    besides  ids of properties that filters exclude, if the property is a variable
    """

    relation: RelationKey
    terms: tuple[int, ...]
    own: int = LOWER
    besides: tuple[int, ...] = ()

    @property
    def variables(self) -> list[int]:
        """The variables, each once."""
        return list(dict.fromkeys(term for term in self.terms if term >= 0))


class Computation(NamedTuple):
    """A FILTER (target -1) or a BIND of a variable."""

    expression: Expression
    target: int
    needs: tuple[int, ...]


class Summary(NamedTuple):
    """The groups of an aggregate rule, and its results as (function, argument, distinct,
    separator)."""

    groups: tuple[int, ...]
    targets: tuple[int, ...]
    results: tuple[tuple[str, Expression | None, bool, str | None], ...]


class ConstantTable(NamedTuple):
    """The constants of a family: variables for them, and a column of ids for each variable."""

    variables: tuple[int, ...]
    columns: tuple[U32, ...]


class TableIndex:
    """The constants of a family by some of their columns, to be looked up.

    By one column: the rows as pairs (value, number of the row), which are looked up like relations.
    By several: sorted keys, and the number of the row of each.
    """

    def __init__(self, columns: list[U32]) -> None:
        self.alone = len(columns) == 1
        numbers = np.arange(len(columns[0]), dtype=np.uint32)
        if self.alone:
            self.keys: Keys = np.sort(pack(columns[0], numbers))
        else:
            keys = key_of(columns)
            self.order = np.argsort(keys, kind="stable")
            self.keys = keys[self.order]

    def match(self, values: list[U32]) -> tuple[I64, NDArray[np.integer[Any]]]:
        """(number of the value, row of the table) for all equal pairs."""
        if self.alone:
            return match(values[0], self.keys)
        wanted = key_of(values)
        lo = self.keys.searchsorted(wanted)
        sizes = self.keys.searchsorted(wanted, side="right") - lo
        index = np.repeat(np.arange(len(wanted)), sizes)
        rows = np.arange(len(index)) + np.repeat(lo - (np.cumsum(sizes) - sizes), sizes)
        return index, self.order[rows]


@data_class(frozen=False)
class KnownOfFamily:
    """The caches of a family; each is filled by one function.

    Nothing here must be kept: plans depend on the sizes of relations when they were made, all else
    on the family only.

    plans          item to begin with -> plan (`body_plans.plan_for`)
    turned         item -> whether to begin elsewhere (`smallest_first.turn`)
    kernel_shapes  item -> how a kernel does the family, None if it cannot (`kernel_shape`)
    not_merged     steps after which merging rows did not pay (`existence.merged`)
    indexes        columns of the table of constants -> its rows by these (`join_table`)
    slices         variable of the table -> its constants as first ids of keys (`slices_of`)
    rule_numbers   the rows of the table as sorted keys, and the rule of each (`rules_of`)
    """

    plans: dict[int, BodyPlan] = field(default_factory=dict)
    turned: dict[int, Turned] = field(default_factory=dict)
    kernel_shapes: dict[int, KernelShape | None] = field(default_factory=dict)
    not_merged: set[tuple[int, tuple[int, ...], int]] = field(default_factory=set)
    indexes: dict[tuple[int, ...], TableIndex] = field(default_factory=dict)
    slices: dict[int, U64] = field(default_factory=dict)
    rule_numbers: tuple[Keys, I64] | None = None


@data_class(frozen=False, eq=False)
class Family:
    """Rules of one shape.

    head       the relation and terms of the conclusions; the body binds its variables
    body       the positive atoms
    nots       negated atoms, whose variables the body binds
    variables  name of each variable, for expressions; those of the table come last, without names
    table      the constants in which the rules differ, if there are several rules
    rules      numbers of the rules, one for each row of the table
    """

    number: int
    stratum: int
    recursive: bool
    head: CompiledAtom
    body: tuple[CompiledAtom, ...]
    nots: tuple[CompiledAtom, ...]
    computations: tuple[Computation, ...]
    variables: tuple[str, ...]
    rules: list[int]
    table: ConstantTable | None = None
    summary: Summary | None = None
    known: KnownOfFamily = field(default_factory=KnownOfFamily)

    @property
    def width(self) -> int:
        """The number of variables."""
        return len(self.variables)

    def __repr__(self) -> str:
        kind = "recursive" if self.recursive else "nonrecursive"
        return f"<family {self.number}: {len(self.rules)} {kind} rules of stratum {self.stratum}>"
