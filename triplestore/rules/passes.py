"""The passes of rule compilation, in order: from a program to the input of `Compiled`.

Start reading at `PASSES`. Each pass takes a `Draft` and returns the next one; none changes its
input. The tuple is the whole list, and `Compiled` runs it once. Families (`compile_rules`) and the
tables of the slices that rules read (`strata`) are made when they are first needed, because a
program that is only compared or explained needs neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import TypeAlias

from triplestore.data_classes import data_class
from triplestore.datalog.program import Program
from triplestore.datalog.stratify import Method, Stratification, stratify
from triplestore.rules.families import IdsOf
from triplestore.rules.modules.module_groups import Owned, apart
from triplestore.rules.modules.recognise import ModuleGroup, find_groups
from triplestore.rules.simplify import SimpleProgram, simplify
from triplestore.rules.subclass_levels import find_blocks
from triplestore.rules.subclass_pairs import (
    Bottom,
    SubClasses,
    above_bottom,
    parted,
    without_bottom,
)


@data_class
class PassOptions:
    """Which passes do something.

    strata       how rules are put into strata (see `stratify`)
    hierarchies  whether consecutive strata of subclass rules become blocks
    modules      whether modules may own groups of recursive rules
    pairs        whether very many subclass rules are taken out of the program as pairs of ids
    """

    strata: Method = "levels"
    hierarchies: bool = True
    modules: bool = True
    pairs: bool = False


@data_class(eq=False)
class Draft:
    """The result of the passes so far.

    program         the remaining rules
    beside          subclass axioms as pairs of ids
    simple          the rules in simple form
    bottom          the subclass axioms below all rules
    stratification  the strata of the simple rules
    groups          recursive rules that modules may own
    owned           stratum -> the only group in it
    blocks          stratum -> the first stratum of its block of subclass rules
    """

    program: Program
    ids_of: IdsOf
    options: PassOptions
    beside: SubClasses | None = None
    simple: SimpleProgram = field(default_factory=lambda: SimpleProgram((), ()))
    bottom: Bottom | None = None
    stratification: Stratification = field(default_factory=lambda: stratify(()))
    groups: tuple[ModuleGroup, ...] = ()
    owned: Mapping[int, Owned] = field(default_factory=dict)
    blocks: Mapping[int, int] = field(default_factory=dict)


Pass: TypeAlias = Callable[[Draft], Draft]


def take_out_subclass_pairs(draft: Draft) -> Draft:
    """From a program with very many rules `D[?x] :- C[?x]` to one without, and pairs of ids."""
    if not draft.options.pairs:
        return draft
    program, beside = parted(draft.program, draft.ids_of)
    return replace(draft, program=program, beside=beside)


def simplify_rules(draft: Draft) -> Draft:
    """From a program to rules of one head, with helper relations for negations and aggregates."""
    return replace(draft, simple=simplify(draft.program))


def keep_pairs_at_bottom(draft: Draft) -> Draft:
    """From pairs to those that no other rule touches (the bottom); the others are rules again."""
    if draft.beside is None:
        return draft
    simple, bottom = without_bottom(draft.simple, draft.beside, draft.ids_of)
    return replace(draft, simple=simple, bottom=bottom)


def stratify_rules(draft: Draft) -> Draft:
    """From simple rules to strata, above one for the bottom if there is a bottom."""
    strata = stratify(draft.simple.rules, draft.options.strata)
    return replace(draft, stratification=strata if draft.bottom is None else above_bottom(strata))


def find_modules(draft: Draft) -> Draft:
    """From strata to their groups of recursive rules that are closures of a known kind."""
    if not draft.options.modules or not isinstance(draft.options.strata, str):
        return draft
    return replace(draft, groups=tuple(find_groups(draft.simple.rules, draft.stratification)))


def give_own_strata(draft: Draft) -> Draft:
    """From groups to strata in which each group has its own."""
    if not draft.groups:
        return draft
    strata, numbers = apart(draft.stratification, draft.groups)
    owned = {
        number: Owned.of(number, group, draft.ids_of)
        for number, group in zip(numbers, draft.groups, strict=True)
    }
    return replace(draft, stratification=strata, owned=owned)


def find_subclass_levels(draft: Draft) -> Draft:
    """From strata to blocks of consecutive strata with subclass rules only."""
    if not draft.options.hierarchies:
        return draft
    others = (one for one in draft.stratification if one.number not in draft.owned)
    return replace(draft, blocks=find_blocks(others))


PASSES: tuple[Pass, ...] = (
    take_out_subclass_pairs,
    simplify_rules,
    keep_pairs_at_bottom,
    stratify_rules,
    find_modules,
    give_own_strata,
    find_subclass_levels,
)
"""All passes, in the order in which they run."""


def run_passes(draft: Draft, passes: tuple[Pass, ...] = PASSES) -> Draft:
    """The result of the passes, one after the other.

    >>> from triplestore.datalog.text import read
    >>> from triplestore.terms import Dictionary
    >>> program = read("PREFIX : <http://e/> :p[?x, ?z] :- :p[?x, ?y], :p[?y, ?z] .")
    >>> made = run_passes(Draft(program, Dictionary().encode_keys, PassOptions()))
    >>> [group.structure.kind for group in made.groups], sorted(made.owned)
    (['transitive'], [1])
    """
    for one in passes:
        draft = one(draft)
    return draft
