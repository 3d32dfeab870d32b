"""Recursive rules that a module may own, found by their shape, whatever their names.

Start reading at `find_groups`. Properties that depend on each other are a *group* if all rules that
make them depend on each other are chains. `structure_of` finds what these chains compute. It may be
one relation that is transitive, or symmetric and transitive, where each property of the group is
that relation or its inverse (so inverse pairs share one, and properties that are below each other).
Or it is several relations that are regular languages over others.

Always true of a group: its other rules, and all guards, read lower strata only, and no rule of its
own stratum reads it. So its external facts are complete before it is closed, and nothing waits for
parts of it: it can have its own stratum (see `apart`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from triplestore.closures.attached import CHAINS, SYMMETRIC, TRANSITIVE, UNION, Structure
from triplestore.closures.chains.regular_rules import regular_system
from triplestore.datalog.program import Atom, Rule
from triplestore.datalog.slices import Slice, slice_of
from triplestore.datalog.stratify import Stratification, Stratum
from triplestore.rules.compile_rules import all_atoms
from triplestore.rules.modules.chain_shapes import ChainShape, ChainStep, shape_of, system_of


class ModuleGroup(NamedTuple):
    """Properties that depend on each other, and the chains by which they do.

    structure  the closure of the chains if all guards hold
    """

    stratum: int
    shapes: tuple[ChainShape, ...]
    structure: Structure

    @property
    def relations(self) -> tuple[bytes, ...]:
        """The properties."""
        return self.structure.relations

    def active(self, guards: set[Atom]) -> Structure | None:
        """The closure of the chains whose guards are all among these; None if unknown."""
        shapes = [shape for shape in self.shapes if guards.issuperset(shape.guards)]
        if len(shapes) == len(self.shapes):
            return self.structure
        return structure_of(self.relations, shapes)


def find_groups(rules: Sequence[Rule], strata: Stratification) -> list[ModuleGroup]:
    """The groups of a simple program that modules may own, by strata.

    >>> from triplestore.datalog.stratify import stratify
    >>> from triplestore.datalog.text import read
    >>> rules = read('''PREFIX : <http://e/> :p[?x, ?z] :- :p[?x, ?y], :p[?y, ?z] .
    ...     :q[?y, ?x] :- :p[?x, ?y] . :p[?y, ?x] :- :q[?x, ?y] .''').rules
    >>> [group.structure.turned for group in find_groups(rules, stratify(rules))]
    [(False, True)]
    """
    numbers: dict[int, int] | None = None
    found: list[ModuleGroup] = []
    for stratum in strata:
        if not any(stratum.cyclic):
            continue
        if numbers is None:
            numbers = {id(rule): number for number, rule in enumerate(rules)}
        around: _Around | None = None
        for members in _knots(stratum):
            group = _group(stratum, members, numbers)
            if group is None:
                continue
            around = around or _Around(strata, stratum)
            if around.leaves_alone(group, set(members)):
                found.append(group)
    return _with_unions(found, rules, strata) if found else found


def _with_unions(
    groups: list[ModuleGroup], rules: Sequence[Rule], strata: Stratification
) -> list[ModuleGroup]:
    """The groups, with the properties that take all pairs of a group or of such a property.

    Their rows would be as many as those of closures that are not written out.
    """
    closed = {relation for group in groups for relation in group.relations}
    numbers = {id(rule): number for number, rule in enumerate(rules)}
    found = list(groups)
    for stratum in strata:
        around: _Around | None = None
        for name, places in _copied(stratum, numbers, closed).items():
            around = around or _Around(strata, stratum)
            shapes = tuple(places.values())
            group = ModuleGroup(stratum.number, shapes, union_structure(name, shapes))
            if around.leaves_alone(group, set()) and not around.recursive(name):
                found.append(group)
                closed.add(name)
    return sorted(found, key=lambda group: group.stratum)


def _copied(
    stratum: Stratum, numbers: dict[int, int], closed: set[bytes]
) -> dict[bytes, dict[int, ChainShape]]:
    """The properties of a stratum that take all pairs of closed ones, with the copying rules by
    place."""
    found: dict[bytes, dict[int, ChainShape]] = {}
    for place, (rule, cyclic) in enumerate(zip(stratum.rules, stratum.cyclic, strict=True)):
        if cyclic or len(rule.body) != 1:
            continue
        shape = shape_of(rule, numbers[id(rule)])
        if shape is not None:
            found.setdefault(shape.head, {})[place] = shape
    return {
        name: shapes
        for name, shapes in found.items()
        if any(shape.steps[0].relation in closed for shape in shapes.values())
    }


def union_structure(name: bytes, shapes: Sequence[ChainShape]) -> Structure:
    """The union of the properties that some rules copy into one."""
    steps = sorted({(shape.steps[0].relation, shape.steps[0].turned) for shape in shapes})
    return Structure(UNION, (name,), (False,), tuple((name, (step,)) for step in steps))


def _knots(stratum: Stratum) -> list[list[int]]:
    """The places of rules that depend on themselves, by component."""
    by_component: dict[int, list[int]] = {}
    for place, (cyclic, number) in enumerate(zip(stratum.cyclic, stratum.components, strict=True)):
        if cyclic:
            by_component.setdefault(number, []).append(place)
    return list(by_component.values())


def _group(stratum: Stratum, members: list[int], numbers: dict[int, int]) -> ModuleGroup | None:
    shapes: list[ChainShape] = []
    for place in members:
        rule = stratum.rules[place]
        shape = shape_of(rule, numbers[id(rule)])
        if shape is None:
            return None
        shapes.append(shape)
    relations = tuple(sorted({shape.head for shape in shapes}))
    structure = structure_of(relations, shapes)
    return None if structure is None else ModuleGroup(stratum.number, tuple(shapes), structure)


class _Around:
    """The rules that write and read each slice in one stratum, found once for all groups."""

    def __init__(self, strata: Stratification, stratum: Stratum) -> None:
        self._strata, self._stratum = strata, stratum
        self._heads: dict[Slice, list[int]] = {}
        self._users: dict[Slice, list[int]] = {}
        for place, rule in enumerate(stratum.rules):
            self._heads.setdefault(slice_of(rule.heads[0]), []).append(place)
            for used in {slice_of(atom) for atom in all_atoms(rule.body)}:
                self._users.setdefault(used, []).append(place)
        recursive = stratum.recursive
        self._knotted = any(head.kind == "any" for head in self._heads) or any(
            used.kind == "any" and any(recursive[place] for place in places)
            for used, places in self._users.items()
        )

    def recursive(self, relation: bytes) -> bool:
        """Whether a rule that concludes facts of a property is recursive."""
        places = self._heads.get(Slice("property", relation), ())
        return any(self._stratum.recursive[place] for place in places)

    def leaves_alone(self, group: ModuleGroup, members: set[int]) -> bool:
        """Whether the rest of the stratum neither needs the group nor is needed by it."""
        if self._knotted:
            return False
        own = {Slice("property", relation) for relation in group.relations}
        steps = {Slice("property", s.relation) for shape in group.shapes for s in shape.steps}
        if any(self._strata.level_of(one) >= self._stratum.number for one in steps - own):
            return False
        for relation in own:
            if not members.issuperset(self._users.get(relation, ())):
                return False
            others = set(self._heads[relation]) - members
            if any(self._stratum.recursive[place] for place in others):
                return False
        guards = {slice_of(guard) for shape in group.shapes for guard in shape.guards}
        return not any(guard in own or guard in self._heads for guard in guards)


# -- the closures of chains --------------------------------------------------------------------


def structure_of(relations: Sequence[bytes], shapes: Sequence[ChainShape]) -> Structure | None:
    """The closure of chains over properties that depend on each other; None if unknown."""
    return _one_closure(relations, shapes) or _chains(relations, shapes)


def _chains(relations: Sequence[bytes], shapes: Sequence[ChainShape]) -> Structure | None:
    """The chains as a regular system, if they are one and are more than copies."""
    if all(len(shape.steps) == 1 for shape in shapes):
        return None
    chains = tuple(
        sorted((shape.head, tuple((s.relation, s.turned) for s in shape.steps)) for shape in shapes)
    )
    names = tuple(relations)
    structure = Structure(CHAINS, names, (False,) * len(names), chains)
    return None if regular_system(system_of(structure)) is None else structure


def _one_closure(relations: Sequence[bytes], shapes: Sequence[ChainShape]) -> Structure | None:
    """One relation and its inverse, which is transitive, or symmetric and transitive."""
    own = set(relations)
    copies: list[tuple[bytes, ChainStep]] = []
    joins: list[ChainShape] = []
    for shape in shapes:
        if any(step.relation not in own for step in shape.steps):
            return None
        if len(shape.steps) == 1:
            copies.append((shape.head, shape.steps[0]))
        elif len(shape.steps) == 2:
            joins.append(shape)
        else:
            return None
    if not joins or not _all_equal(relations, copies):
        return None
    turned, symmetric = _orientation(relations, copies)
    if symmetric:
        return Structure(SYMMETRIC, tuple(relations), (False,) * len(relations))
    for shape in joins:
        ways = {turned[shape.head], *(turned[s.relation] != s.turned for s in shape.steps)}
        if len(ways) > 1:
            return None
    return Structure(TRANSITIVE, tuple(relations), tuple(turned[name] for name in relations))


def _all_equal(relations: Sequence[bytes], copies: Sequence[tuple[bytes, ChainStep]]) -> bool:
    """Whether copies lead from each property to each other one."""
    forward = [(step.relation, head) for head, step in copies]
    for edges in (forward, [(head, source) for source, head in forward]):
        reached, open_ = {relations[0]}, [relations[0]]
        while open_:
            at = open_.pop()
            for one, other in edges:
                if one == at and other not in reached:
                    reached.add(other)
                    open_.append(other)
        if len(reached) < len(relations):
            return False
    return True


def _orientation(
    relations: Sequence[bytes], copies: Sequence[tuple[bytes, ChainStep]]
) -> tuple[dict[bytes, bool], bool]:
    """Whether each property is the inverse of the first; and whether one is both, so that all are
    symmetric."""
    turned, symmetric = {relations[0]: False}, False
    links = [(head, step.relation, step.turned) for head, step in copies]
    links += [(other, one, way) for one, other, way in links]
    open_ = [relations[0]]
    while open_:
        at = open_.pop()
        for one, other, way in links:
            if one != at:
                continue
            expected = turned[at] != way
            if other not in turned:
                turned[other] = expected
                open_.append(other)
            elif turned[other] != expected:
                symmetric = True
    return turned, symmetric
