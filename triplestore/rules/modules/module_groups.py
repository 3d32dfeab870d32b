"""Groups of a compiled program: the stratum that a module owns, and the ids of its relations.

Start reading at `Owned`. `apart` gives each group its own stratum. The rest of its stratum
neither needs the group nor is needed by it. The rest keeps the facts of the stratum that no rule
names, and the groups come right after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from triplestore.closures.attached import Structure
from triplestore.datalog.program import TYPE, Atom, Constant, TupleAtom
from triplestore.datalog.slices import Slice, slice_of
from triplestore.datalog.stratify import Stratification, Stratum
from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.relations.packed_keys import columns_of, key_of
from triplestore.rules.modules.recognise import ModuleGroup

if TYPE_CHECKING:
    from triplestore.relations.facts.body_views import Setting
    from triplestore.relations.packed_keys import Keys
    from triplestore.rules.families import IdsOf


class Guard(NamedTuple):
    """A ground atom and its fact."""

    atom: Atom
    relation: RelationKey
    key: Keys

    def holds(self, setting: Setting) -> bool:
        """Whether the fact holds in a setting."""
        if isinstance(self.relation, tuple):
            columns = columns_of(self.key, self.relation[1])
            return bool(setting.view(self.relation).contains(columns)[0])
        return bool(setting.pairs(self.relation).contains_keys(self.key)[0])


class Owned(NamedTuple):
    """A group with its own stratum.

    relations  ids of its properties, in the order of `group.relations`
    rules      numbers of its recursive rules
    letters    other properties that its chains go through
    """

    number: int
    group: ModuleGroup
    relations: tuple[int, ...]
    rules: frozenset[int]
    guards: tuple[Guard, ...]
    letters: dict[bytes, int]

    @classmethod
    def of(cls, number: int, group: ModuleGroup, ids_of: IdsOf) -> Owned:
        """The group with ids of one dictionary."""
        relations = tuple(ids_of(group.relations).tolist())
        atoms = dict.fromkeys(guard for shape in group.shapes for guard in shape.guards)
        guards = tuple(_guard(atom, ids_of) for atom in atoms)
        rules = frozenset(shape.rule for shape in group.shapes)
        steps = {step.relation for shape in group.shapes for step in shape.steps}
        names = sorted(steps - set(group.relations))
        letters = dict(zip(names, ids_of(names).tolist(), strict=True)) if names else {}
        return cls(number, group, relations, rules, guards, letters)

    @property
    def anchor(self) -> int:
        """The property by which the scheme of the group is found."""
        return self.relations[0]

    def structure(self, setting: Setting) -> Structure | None:
        """The closure of the rules whose guards hold; None if it is of no known kind."""
        held = {guard.atom for guard in self.guards if guard.holds(setting)}
        return self.group.active(held)


def _guard(atom: Atom, ids_of: IdsOf) -> Guard:
    keys = [term.key for term in atom.terms if isinstance(term, Constant)]
    if isinstance(atom, TupleAtom):
        name, *ids = ids_of([atom.name.key, *keys]).tolist()
        return Guard(atom, (name, len(ids)), _key(ids))
    s, p, o = ids_of(keys).tolist()
    return Guard(atom, p, _key([o, s] if atom.p == TYPE else [s, o]))


def _key(ids: Sequence[int]) -> Keys:
    return key_of([np.array([i], dtype=np.uint32) for i in ids])


# -- own strata ------------------------------------------------------------------------------------


def apart(
    strata: Stratification, groups: Sequence[ModuleGroup]
) -> tuple[Stratification, list[int]]:
    """The strata with one more for each group; and the numbers of these.

    Groups come in the order of their strata, as `find_groups` returns them.
    """
    made: list[Stratum] = []
    numbers: list[int] = []
    renumbered = {0: 0}
    moved: dict[Slice, int] = {}
    by_stratum: dict[int, list[ModuleGroup]] = {}
    for group in groups:
        by_stratum.setdefault(group.stratum, []).append(group)
    for stratum in strata:
        here = by_stratum.get(stratum.number, [])
        first = len(made) + 1
        renumbered[stratum.number] = first
        grouped = {Slice("property", name) for group in here for name in group.relations}
        heads = [slice_of(rule.heads[0]) for rule in stratum.rules]
        rest_of_it = bool(set(heads) - grouped) or not here
        own: dict[Slice, int] = {}
        for number, group in enumerate(here, first + rest_of_it):
            own.update({Slice("property", name): number for name in group.relations})
            numbers.append(number)
        of_rule = [own.get(head, first) for head in heads]
        made += [
            _part(stratum, number, [i for i, other in enumerate(of_rule) if other == number])
            for number in range(first, first + len(here) + rest_of_it)
        ]
        moved.update(own)
    levels = {slice_: renumbered[level] for slice_, level in strata.levels.items()}
    levels.update(moved)
    result = replace(
        strata,
        strata=tuple(made),
        levels=levels,
        any_property=renumbered[strata.any_property],
        any_class=renumbered[strata.any_class],
    )
    return result, numbers


def _part(stratum: Stratum, number: int, places: Sequence[int]) -> Stratum:
    return Stratum(
        number,
        tuple(stratum.rules[i] for i in places),
        tuple(stratum.recursive[i] for i in places),
        tuple(stratum.cyclic[i] for i in places),
        tuple(stratum.components[i] for i in places),
    )
