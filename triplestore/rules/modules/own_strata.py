"""Groups as strata of their own, so that a module has its stratum to itself.

Start reading at `apart`. What else was in the stratum neither needs the group nor is needed by it;
it keeps the facts of the stratum that no rule names, and the groups come right after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from triplestore.datalog.slices import Slice, slice_of
from triplestore.datalog.stratify import Stratification, Stratum
from triplestore.rules.modules.recognise import ModuleGroup


def apart(
    strata: Stratification, groups: Sequence[ModuleGroup]
) -> tuple[Stratification, list[int]]:
    """The same strata with one more for each group; and the numbers of these.

    Groups come in the order of their strata, as `find_groups` gives them.
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
