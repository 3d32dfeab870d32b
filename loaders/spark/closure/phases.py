"""The order in which the rules of a program are evaluated on Spark.

Start reading at `phases_of`. The store's strata are as fine as possible, for maintenance: a
hierarchy of twenty levels of classes has twenty strata. Here each would cost jobs, so a *phase*
joins as many strata as possible: it ends only before a relation that must be complete because it is
negated, aggregated, or closed as a graph. The counted rules (`nonrecursive`) are those of the
store, which continues with the counters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

from triplestore.data_classes import data_class
from triplestore.datalog.program import Aggregate, Not, Rule
from triplestore.datalog.slices import slice_of
from triplestore.datalog.stratify import Stratification
from triplestore.loaders.spark.closure.groups import GRAPHS
from triplestore.loaders.spark.closure.shapes import atoms_of
from triplestore.rules.compiled_program import Compiled, recursive_numbers
from triplestore.rules.modules.module_groups import Owned


@data_class(frozen=False)
class Phase:
    """Rules that are evaluated together until nothing is new, then closures of graphs.

    rules   numbers of the rules
    groups  groups whose relations are closed at the end
    """

    rules: list[int] = field(default_factory=list)
    groups: list[Owned] = field(default_factory=list)


def phases_of(compiled: Compiled) -> list[Phase]:
    """The phases of a program, in order.

    >>> from triplestore.datalog.text import read
    >>> from triplestore.terms import Dictionary
    >>> program = read('''@prefix : <http://e/> . :b[?x] :- :a[?x] . :c[?x] :- :b[?x] .
    ...     :p[?x, ?z] :- :p[?x, ?y], :p[?y, ?z] . :d[?x] :- :c[?x], NOT :p[?x, ?x] .''')
    >>> compiled = Compiled(program, Dictionary().encode_keys)
    >>> [(phase.rules, len(phase.groups)) for phase in phases_of(compiled)]
    [([0, 1], 1), ([3], 0)]
    """
    strata = compiled.stratification
    groups = {n: one for n, one in compiled.modules.items() if _is_graph(one)}
    owned = {number for one in groups.values() for number in one.rules}
    of_level = _phases_by_level(compiled, groups)
    found = [Phase() for _ in range(max(of_level.values(), default=0) + 1)]
    for number, rule in enumerate(compiled.rules):
        if rule.body and number not in owned:
            found[of_level[strata.level_of(slice_of(rule.heads[0]))]].rules.append(number)
    for level, one in groups.items():
        found[of_level[level]].groups.append(one)
    return [phase for phase in found if phase.rules or phase.groups]


def nonrecursive(compiled: Compiled) -> list[int]:
    """The numbers of the rules whose instances the store counts."""
    recursive = recursive_numbers(compiled)
    return [number for number in range(len(compiled.rules)) if number not in recursive]


def _is_graph(group: Owned) -> bool:
    """Whether a group is closed as a graph."""
    return group.group.structure.kind in GRAPHS


def _phases_by_level(compiled: Compiled, groups: dict[int, Owned]) -> dict[int, int]:
    strata = compiled.stratification
    by_level: dict[int, list[Rule]] = {}
    for rule in compiled.rules:
        by_level.setdefault(strata.level_of(slice_of(rule.heads[0])), []).append(rule)
    phase: dict[int, int] = {}
    for level in sorted(by_level):
        after = 0
        for rule in by_level[level]:
            for used, complete in _used(rule, strata, phase):
                if used != level:
                    after = max(after, phase.get(used, 0) + (complete or used in groups))
        phase[level] = after
    return phase


def _used(rule: Rule, strata: Stratification, lower: Iterable[int]) -> Iterator[tuple[int, bool]]:
    """The levels that a rule uses, and whether they must be complete.

    lower  all lower levels; an atom of any slice uses each of them
    """
    for item in rule.body:
        complete = isinstance(item, Not | Aggregate)
        for atom in atoms_of([item]):
            used = slice_of(atom)
            yield strata.level_of(used), complete
            if used.kind in ("any", "any class"):
                yield from ((level, complete) for level in lower)
