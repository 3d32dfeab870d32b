"""Groups of a compiled program: which stratum a module owns, and the ids of what it speaks of.

Start reading at `Owned`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from triplestore.closures.attached import Structure
from triplestore.datalog.program import TYPE, Atom, Constant, TupleAtom
from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.relations.packed_keys import columns_of, key_of
from triplestore.rules.modules.recognise import ModuleGroup

if TYPE_CHECKING:
    from triplestore.relations.facts.body_views import Setting
    from triplestore.relations.packed_keys import Keys
    from triplestore.rules.families import IdsOf


class Guard(NamedTuple):
    """A ground atom, and the fact it stands for."""

    atom: Atom
    relation: RelationKey
    key: Keys

    def holds(self, setting: Setting) -> bool:
        """Whether the fact is seen in a setting."""
        if isinstance(self.relation, tuple):
            columns = columns_of(self.key, self.relation[1])
            return bool(setting.view(self.relation).contains(columns)[0])
        return bool(setting.pairs(self.relation).contains_keys(self.key)[0])


class Owned(NamedTuple):
    """A group with the stratum that it has to itself.

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
        """The group as it is in one dictionary."""
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
        """The property by which the scheme of the group is known."""
        return self.relations[0]

    def structure(self, setting: Setting) -> Structure | None:
        """The closure that the rules whose guards hold compute; None if it is of no known kind."""
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
