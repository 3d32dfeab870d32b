"""A program compiled for the tables of one dictionary.

Start reading at `Compiled`. Its constructor runs the passes (see `passes`). Families by stratum,
the stratum of each fact, and signatures are made when they are first needed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any

from triplestore.datalog.program import TYPE, Constraint, Program, Rule
from triplestore.datalog.rules import signature
from triplestore.datalog.stratify import Method, Stratification
from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.relations.packed_keys import NO_IDS, NO_KEYS, U64
from triplestore.rules.compile_rules import compile_rules, recursive_rules
from triplestore.rules.families import Family, IdsOf
from triplestore.rules.passes import Draft, PassOptions, run_passes
from triplestore.rules.simplify import SimpleProgram
from triplestore.rules.strata import Levels, Strata
from triplestore.rules.subclass_levels import Hierarchy
from triplestore.rules.subclass_pairs import BOTTOM, Bottom, SubClasses


class Compiled:
    """A program, ready to be evaluated on the tables of one dictionary.

    program         the given program
    simple          its simple form, which is evaluated
    stratification  of the simple form
    costs           measured costs of strata, for strategies that choose by them
    modules         stratum -> the group of rules that a module owns
    blocks          stratum -> the first stratum of its block of subclass rules
    bottom          subclass axioms that were given `beside` the program instead of as rules, or
                    were taken out of it (`pairs`): with 40,000 of them, a change of one costs a
                    fifth of what it costs as a rule
    """

    def __init__(
        self,
        program: Program,
        ids_of: IdsOf,
        strata: Method = "levels",
        *,
        hierarchies: bool = True,
        modules: bool = True,
        beside: SubClasses | None = None,
        pairs: bool = False,
    ) -> None:
        options = PassOptions(strata, hierarchies, modules, pairs)
        made = run_passes(Draft(program, ids_of, options, beside))
        self.program = program
        self.ids_of = ids_of
        self.simple: SimpleProgram = made.simple
        self.bottom: Bottom | None = made.bottom
        self.stratification: Stratification = made.stratification
        self.modules = made.owned
        self.blocks = made.blocks
        self.type_id = int(ids_of([TYPE.key])[0])
        self.method = strata
        self.with_modules = modules
        self.anchors = frozenset(owned.anchor for owned in self.modules.values())
        self.costs: dict[int, Any] = {}
        self._recursion: dict[int, frozenset[Hashable]] = {}

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules in simple form; families refer to them by their places here."""
        return self.simple.rules

    @property
    def origins(self) -> tuple[Rule | Constraint, ...]:
        """For each simple rule, the rule or constraint from which it was made."""
        return self.simple.origins

    @cached_property
    def strata(self) -> Strata:
        """All rules, by stratum."""
        keys = NO_KEYS if self.bottom is None else self.bottom.keys
        return self._strata_of(range(len(self.rules))).and_bottom(keys)

    def strata_of(self, numbers: Iterable[int], blocks: bool = True) -> Strata:
        """Some of the rules, by stratum; without the bottom.

        blocks  whether rules of a block make a hierarchy, or families like others
        """
        chosen = set(numbers)
        if blocks and 2 * len(chosen) > len(self.rules):
            return self._strata_without(set(range(len(self.rules))) - chosen)
        return self._strata_of(sorted(chosen), blocks)

    def strata_of_bottom(self, keys: U64) -> Strata:
        """Some axioms of the bottom, as families like others."""
        rules = [] if self.bottom is None else self.bottom.rules(keys)
        families = compile_rules(rules, self.stratification, self.ids_of)
        return Strata(families, self.type_id)

    def _strata_of(self, numbers: Sequence[int], blocks: bool = True) -> Strata:
        """Some of the rules, compiled."""
        plain = numbers
        copied: dict[int, list[int]] = {}
        if blocks and self.blocks:
            of = self._block_numbers()
            plain = [i for i in numbers if i not in of]
            for i in numbers:
                if i in of:
                    copied.setdefault(of[i], []).append(i)
        hierarchies = {n: self._hierarchy(n, members) for n, members in copied.items()}
        return Strata(self._families(plain), self.type_id, hierarchies)

    def _families(self, numbers: Sequence[int]) -> list[Family]:
        rules = [self.rules[i] for i in numbers]
        return compile_rules(rules, self.stratification, self.ids_of, numbers, self._recursive)

    @cached_property
    def _recursive(self) -> set[int]:
        """The identities of the rules that are recursive."""
        return recursive_rules(self.stratification)

    def _hierarchy(self, number: int, members: Sequence[int]) -> Hierarchy:
        return Hierarchy.of(number, [(i, self.rules[i]) for i in members], self.ids_of)

    def _strata_without(self, numbers: set[int]) -> Strata:
        """All rules except a few. Families and hierarchies without these are shared."""
        families: list[Family] = []
        for family in self.strata.families:
            if numbers.isdisjoint(family.rules):
                families.append(family)
                continue
            for made in self._families([i for i in family.rules if i not in numbers]):
                made.number = (
                    family.number
                )  # the remaining rules have one shape, so this is one family
                families.append(made)
        hierarchies = {}
        for number, known in self.strata.hierarchies.items():
            if self.bottom is not None and number == BOTTOM:
                continue
            if numbers.isdisjoint(known.rules):
                hierarchies[number] = known
            elif left := [i for i in known.rules if i not in numbers]:
                hierarchies[number] = self._hierarchy(number, left)
        return Strata(families, self.type_id, hierarchies)

    def _block_numbers(self) -> dict[int, int]:
        """Number of a rule -> its block, for those that are in one."""
        blocks = {
            id(rule): self.blocks[stratum.number]
            for stratum in self.stratification
            if stratum.number in self.blocks
            for rule in stratum.rules
        }
        return {i: blocks[id(rule)] for i, rule in enumerate(self.rules) if id(rule) in blocks}

    def recursion(self, number: int) -> frozenset[Hashable]:
        """The signatures of the recursive rules of a stratum."""
        found = self._recursion.get(number)
        if found is None:
            families = self.strata[number].recursive if number in self.strata else ()
            rules = [self.rules[i] for family in families for i in family.rules]
            found = self._recursion[number] = frozenset(map(signature, rules))
        return found

    @cached_property
    def signatures(self) -> dict[Hashable, int]:
        """Signature of each simple rule -> its number; programs are compared by these."""
        return {signature(rule): i for i, rule in enumerate(self.rules)}

    @cached_property
    def levels(self) -> Levels:
        """The stratum of each fact."""
        bottom = NO_IDS if self.bottom is None else self.bottom.heads
        return Levels(self.stratification, self.ids_of, self.type_id, self.blocks, bottom)

    @cached_property
    def helpers(self) -> frozenset[RelationKey]:
        """The internal relations."""
        names = list(self.simple.helpers)
        ids = self.ids_of([key for key, _ in names]).tolist()
        return frozenset((i, arity) for i, (_, arity) in zip(ids, names, strict=True))

    @cached_property
    def violations(self) -> dict[int, Constraint]:
        """Id of an internal relation -> the constraint whose violations it lists."""
        keys = list(self.simple.violations)
        ids = self.ids_of(keys).tolist()
        return {i: self.simple.violations[key] for i, key in zip(ids, keys, strict=True)}


def recursive_numbers(compiled: Compiled) -> set[int]:
    """The numbers of the recursive rules."""
    recursive = recursive_rules(compiled.stratification)
    return {i for i, rule in enumerate(compiled.rules) if id(rule) in recursive}
