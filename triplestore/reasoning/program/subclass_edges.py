"""Sub-class axioms between names that stand beside a program, and programs with these.

Start reading at `SubclassEdges`. There may be very many of these axioms, and a rule object for each
costs as much as everything else together. So they stay pairs of ids until a caller asks for the
rules. What is always true: no other rule may conclude such an axiom, so they never are premises.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from triplestore.data_classes import data_class
from triplestore.datalog.program import Program, Rule
from triplestore.datalog.rules import signature
from triplestore.ontologies.translate.owl_rl import sub_class_rule
from triplestore.relations.facts.sorted_arrays import without
from triplestore.relations.packed_keys import NO_KEYS, U64, Bools, distinct, high, in_sorted, pack
from triplestore.rules.subclass_pairs import SubClasses
from triplestore.rules.subclass_rules import copied_class, names_of

if TYPE_CHECKING:
    from triplestore.terms import Dictionary


class SubclassEdges:
    """Sub-class axioms between names.

    keys  packed pairs of ids (class, class above it), sorted
    name  the id of their rules
    """

    def __init__(self, dictionary: Dictionary, keys: U64, name: str) -> None:
        self.dictionary = dictionary
        self.keys = keys
        self.name = name

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def beside(self) -> SubClasses:
        """As a program is compiled with them."""
        return SubClasses(self.keys, self.rule_of)

    def rule_of(self, one: int, other: int) -> Rule:
        """The rule of a pair of ids."""
        rule = sub_class_rule(self.dictionary.key(one), self.dictionary.key(other))
        return rule if rule.name == self.name else replace(rule, name=self.name)

    def among(self, rules: list[Rule]) -> Bools:
        """Which of some rules say the same as one of these axioms."""
        found = np.zeros(len(rules), dtype=np.bool_)
        places = [i for i, rule in enumerate(rules) if is_sub_class_rule(rule)]
        if places:
            names = [name for i in places for name in names_of(rules[i])]
            ids = self.dictionary.lookup_keys(names)
            pairs = pack(np.ascontiguousarray(ids[::2]), np.ascontiguousarray(ids[1::2]))
            found[places] = in_sorted(pairs, self.keys)
        return found

    def lower_classes(self) -> list[bytes]:
        """The keys of the classes that are below another."""
        return [self.dictionary.key(number) for number in distinct(high(self.keys)).tolist()]

    def without(self, other: SubclassEdges | None) -> list[Rule]:
        """The rules of the axioms that are not among others."""
        if other is not None and other.dictionary is not self.dictionary:
            known = {signature(rule) for rule in other.beside.rules()}
            return [rule for rule in self.beside.rules() if signature(rule) not in known]
        return self.beside.rules(without(self.keys, NO_KEYS if other is None else other.keys))


def is_sub_class_rule(rule: Rule) -> bool:
    """Whether a rule is `D[?x] :- C[?x]` and nothing else."""
    return len(rule.heads) == 1 and copied_class(rule)


@data_class(slots=False, eq=False)
class WholeProgram:
    """A program with the axioms beside it; comparisons and differences are of both together.

    >>> from triplestore.datalog.text import read
    >>> one = read("PREFIX : <http://e/> :a[?x] :- :b[?x] .")
    >>> both = read("PREFIX : <http://e/> :a[?x] :- :b[?x] . :a[?x] :- :c[?x] .")
    >>> whole, part = WholeProgram(both), WholeProgram(one)
    >>> len(whole), len(whole - part), part == whole
    (2, 1, False)
    """

    program: Program
    edges: SubclassEdges | None = None

    def __len__(self) -> int:
        return len(self.program) + self._more

    @property
    def rule_count(self) -> int:
        """How many rules there are."""
        return len(self.program.rules) + self._more

    @cached_property
    def _more(self) -> int:
        """How many axioms are not also rules of the program."""
        if self.edges is None:
            return 0
        return len(self.edges) - int(self.edges.among(list(self.program.rules)).sum())

    @cached_property
    def together(self) -> Program:
        """All of it as a program; a rule for each axiom is made for that."""
        if self.edges is None:
            return self.program
        return self.program + Program(self.edges.beside.rules())

    def count_beyond(self, other: WholeProgram) -> int:
        """How many rules and constraints this one has and the other does not: the size of the
        difference, without a rule for each axiom."""
        if self.program is other.program and self.edges is other.edges:
            return 0
        one, known = self.edges, other.edges
        if one is None or (known is not None and known.dictionary is not one.dictionary):
            return len(self - other)
        found = self.program - other.program
        more = SubclassEdges(
            one.dictionary, one.keys if known is None else without(one.keys, known.keys), one.name
        )
        count = len(found) + len(more) - int(more.among(list(other.program.rules)).sum())
        said = more.among(list(found.rules))
        if known is not None:
            said |= known.among(list(found.rules))
        return count - int(said.sum())

    def __sub__(self, other: WholeProgram) -> Program:
        """The rules and constraints of this one that the other does not have."""
        found = self.program - other.program
        if other.edges is not None and found.rules:
            rules = list(found.rules)
            known = other.edges.among(rules)
            found = found - Program(rule for rule, one in zip(rules, known, strict=True) if one)
        if self.edges is None:
            return found
        more = self.edges.without(other.edges)
        return found + Program(rule for rule in more if rule not in other.program)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WholeProgram):
            return NotImplemented
        return not self.count_beyond(other) and not other.count_beyond(self)

    def __hash__(self) -> int:
        return hash(len(self))
