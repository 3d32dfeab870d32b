"""Strata of a program, and which of its rules are recursive.

Start at `stratify`. Facts are put into strata by their slices (see `slices`), rules by their heads.
What is always true of a `Stratification`:

* all facts of one slice, and all rules that derive them, are of one stratum;
* what a rule uses is of its stratum or a lower one, what it negates or aggregates of a lower one;
* slices that no rule derives are of stratum 0 (unless a given assignment says otherwise);
* a rule is *recursive* if something it uses positively is of its stratum, as the papers define it,
  and *cyclic* if that depends on the rule itself. By levels these differ only where rules with a
  variable property or class force slices together.

Costs about 5 us a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Literal, TypeAlias

from triplestore.datalog.problems import Problem, raise_errors
from triplestore.datalog.program import Not, Program, Rule
from triplestore.datalog.slices import (
    READ_ANY,
    READ_CLASS,
    WRITE_ANY,
    WRITE_CLASS,
    DependencyGraph,
    Slice,
    components,
    shortest_path,
    slice_of,
)
from triplestore.datalog.text import show
from triplestore.expressions.text.expression_printer import Namer
from triplestore.expressions.tree import Constant
from triplestore.thread_limits import looking

Method: TypeAlias = Literal["levels", "one"] | Mapping[Slice, int] | Callable[[Slice], int]


@dataclass(frozen=True, slots=True)
class Stratum:
    """The rules whose heads are of one stratum, each with one head.

    number      from 1 on
    recursive   for each rule: something it uses is of this stratum
    cyclic      for each rule: something it uses depends on the rule itself
    components  for each rule: its component of the dependency graph; a rule of a lower number never
                needs one of a higher
    """

    number: int
    rules: tuple[Rule, ...]
    recursive: tuple[bool, ...]
    cyclic: tuple[bool, ...]
    components: tuple[int, ...]

    @property
    def recursive_rules(self) -> tuple[Rule, ...]:
        """The rules that use something of this stratum."""
        return tuple(r for r, is_so in zip(self.rules, self.recursive, strict=True) if is_so)

    @property
    def nonrecursive_rules(self) -> tuple[Rule, ...]:
        """The rules that use lower strata only."""
        return tuple(r for r, is_so in zip(self.rules, self.recursive, strict=True) if not is_so)

    def __len__(self) -> int:
        return len(self.rules)


@dataclass(frozen=True, slots=True)
class Stratification:
    """The strata of a program, from the first on; some may have no rules.

    levels  slice -> its stratum, for the slices that the program names
    """

    strata: tuple[Stratum, ...]
    levels: Mapping[Slice, int]
    any_property: int
    any_class: int
    _assigned: Callable[[Slice], int] | None = None

    def level_of(self, of: Slice) -> int:
        """The stratum that facts of a slice belong to, also of one that no rule names.

        `any` and `any class` have the stratum of the last of all the slices they stand for.
        """
        known = self.levels.get(of)
        if known is not None:
            return known
        if self._assigned is not None:
            return self._assigned(of)
        if of.kind == "tuple":
            return 0
        return self.any_property if of.kind == "property" else self.any_class

    def __len__(self) -> int:
        return len(self.strata)

    def __iter__(self) -> Iterator[Stratum]:
        return iter(self.strata)

    def describe(self, prefixes: Mapping[str, str] | None = None, most: int = 20) -> str:
        """The strata as text: counts, and the rules (at most `most` of each stratum)."""
        lines = []
        for stratum in self.strata:
            recursive = sum(stratum.recursive)
            lines.append(f"stratum {stratum.number}: {len(stratum)} rules, {recursive} recursive")
            rows = list(zip(stratum.rules, stratum.recursive, stratum.cyclic, strict=True))
            for rule, is_recursive, is_cyclic in rows[:most]:
                mark = "*" if is_cyclic else "+" if is_recursive else " "
                lines.append(f"  {mark} {show(rule, prefixes)}")
            if len(rows) > most:
                lines.append(f"    and {len(rows) - most} more")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()


def stratify(program: Program | Iterable[Rule], method: Method = "levels") -> Stratification:
    """The strata of a program; `ProgramError`, with the cycles, where there are none.

    method  "levels": each rule one stratum above what it uses, unless they depend on each other:
            the granular stratification of the papers. "one": as few strata as negation and
            aggregates allow. Or the stratum of each slice (a mapping, 0 where it says nothing, or
            a function), which is checked.

    >>> from triplestore.datalog.text import read
    >>> rules = '''@prefix : <http://e/> . :B[?x] :- :A[?x], NOT :C[?x] . :C[?x] :- :D[?x] .
    ...     :B[?y] :- :B[?x], :p[?x, ?y] .'''
    >>> [(len(stratum), stratum.recursive) for stratum in stratify(read(rules))]
    [(1, (False,)), (2, (False, True))]
    """
    rules = [part for rule in looking(_rules(program)) for part in rule.split()]
    graph = DependencyGraph(rules)
    true = components(graph.needs)
    merged_needs = graph.with_equal_levels()
    merged = true if merged_needs is graph.needs else components(merged_needs)
    raise_errors(_cycles(graph, merged_needs, merged))
    if isinstance(method, str):
        if method not in ("levels", "one"):
            raise AssertionError(f"no method of stratification: {method!r}")
        levels = _levels(graph, merged_needs, merged, granular=method == "levels")
        return _build(graph, levels, true, None)
    assigned = method if callable(method) else _assignment(method)
    levels = _assigned_levels(graph, assigned)
    raise_errors(_breaches(graph, levels))
    return _build(graph, levels, true, assigned)


def cycle_problems(
    program: Program | Iterable[Rule], prefixes: Mapping[str, str] | None = None
) -> list[Problem]:
    """One problem for each knot of rules that negation or aggregates make unstratifiable."""
    graph = DependencyGraph([part for rule in _rules(program) for part in rule.split()])
    needs = graph.with_equal_levels()
    return _cycles(graph, needs, components(needs), prefixes)


def _rules(program: Program | Iterable[Rule]) -> Iterable[Rule]:
    return program.rules if isinstance(program, Program) else program


# --- levels --------------------------------------------------------------------------------------


def _levels(
    graph: DependencyGraph, needs: list[list[int]], component: list[int], *, granular: bool
) -> list[int]:
    """The stratum of each node: those of slices and, for now, where a rule could be at the least.

    Components come after what they need, so that one pass over them is enough.
    """
    first = graph.first_rule
    above = set() if granular else set(graph.nots)
    level = [0] * len(needs)
    order = sorted(range(len(needs)), key=component.__getitem__)
    for own, nodes in groupby(order, component.__getitem__):
        members = list(nodes)
        has_rules = max(members) >= first  # rules have the greatest numbers
        least = int(has_rules)
        for node in members:
            # a node that stands for all slices reads for the rules of its component
            reads = node >= first or (has_rules and node in (READ_ANY, READ_CLASS))
            for other in needs[node]:
                if component[other] != own:
                    reached = level[other]
                    if reads and (granular or (other, node) in above):
                        reached += 1
                    if reached > least:
                        least = reached
        for node in members:
            level[node] = least
    return level


def _assignment(given: Mapping[Slice, int]) -> Callable[[Slice], int]:
    return lambda of: given.get(of, 0)


def _assigned_levels(graph: DependencyGraph, assigned: Callable[[Slice], int]) -> list[int]:
    """The stratum of each node as given; what stands for several slices has that of the last."""
    level = [0] * graph.first_rule
    for slice_, node in graph.nodes:
        level[node] = assigned(slice_)
        if slice_.kind == "class":
            level[READ_CLASS] = max(level[READ_CLASS], level[node])
        if slice_.kind != "tuple":
            level[READ_ANY] = max(level[READ_ANY], level[node])
    level[WRITE_ANY], level[WRITE_CLASS] = level[READ_ANY], level[READ_CLASS]
    return level + [level[head] for head in graph.heads]


def _breaches(graph: DependencyGraph, level: list[int]) -> list[Problem]:
    """Where given strata are not what strata must be."""
    problems = []
    negated: dict[int, list[int]] = {}
    for node, rule_node in graph.nots:
        negated.setdefault(rule_node - graph.first_rule, []).append(node)
    for i, rule in enumerate(graph.rules):
        own = level[graph.heads[i]]
        high = [node for node in graph.positives[i] if level[node] > own]
        high += [node for node in negated.get(i, ()) if level[node] >= own]
        for node in high:
            message = (
                f"the head is of stratum {own}, but it needs {graph.slice_at(node)}, of stratum "
                f"{level[node]}"
            )
            problems.append(_problem("strata", message, "give the head a higher one", rule))
        if own < 1:
            problems.append(_problem("strata", "the head is of stratum 0", "begin with 1", rule))
    return problems


def _build(
    graph: DependencyGraph,
    level: list[int],
    component: list[int],
    assigned: Callable[[Slice], int] | None,
) -> Stratification:
    count = max((level[head] for head in graph.heads), default=0)
    indexes: list[list[int]] = [[] for _ in range(count)]
    recursive: list[bool] = []
    cyclic: list[bool] = []
    own = component[graph.first_rule :]
    for i, head in enumerate(looking(graph.heads)):
        number = level[head]
        indexes[number - 1].append(i)
        positives = graph.positives[i]
        recursive.append(number in [level[node] for node in positives])
        cyclic.append(own[i] in [component[node] for node in positives])
    strata = tuple(
        Stratum(
            number,
            tuple([graph.rules[i] for i in members]),
            tuple([recursive[i] for i in members]),
            tuple([cyclic[i] for i in members]),
            tuple([own[i] for i in members]),
        )
        for number, members in enumerate(indexes, 1)
    )
    levels = {slice_: level[node] for slice_, node in graph.nodes}
    levels[Slice("any")], levels[Slice("any class")] = level[READ_ANY], level[READ_CLASS]
    return Stratification(tuple(strata), levels, level[WRITE_ANY], level[WRITE_CLASS], assigned)


# --- cycles --------------------------------------------------------------------------------------


def _cycles(
    graph: DependencyGraph,
    needs: list[list[int]],
    component: list[int],
    prefixes: Mapping[str, str] | None = None,
) -> list[Problem]:
    """One problem for each component with a negation inside: the shortest cycle through one."""
    bad: dict[int, list[tuple[int, int]]] = {}
    for node, rule in graph.nots:
        if component[node] == component[rule]:
            bad.setdefault(component[rule], []).append((node, rule))
    if not bad:
        return []
    members: dict[int, list[int]] = {number: [] for number in bad}
    for node, number in enumerate(component):
        if number in bad:
            members[number].append(node)
    namer = Namer(prefixes)
    return [
        _cycle_problem(graph, namer, min(_paths(needs, edges, members[number]), key=len))
        for number, edges in bad.items()
    ]


_MOST_TRIED = 20


def _paths(
    needs: list[list[int]], edges: list[tuple[int, int]], members: list[int]
) -> Iterator[list[int]]:
    for node, rule in edges[:_MOST_TRIED]:
        yield [rule, *shortest_path(needs, node, rule, members)]


def _cycle_problem(graph: DependencyGraph, namer: Namer, path: list[int]) -> Problem:
    """`path` is a rule, what it negates, what that needs, ..., and the rule again."""
    steps: list[str] = []
    rules = [node for node in path if node >= graph.first_rule]
    for rule, used in pairwise(path):
        if rule >= graph.first_rule:
            source = graph.rules[rule - graph.first_rule]
            head = slice_of(source.heads[0])
            sign = "" if steps else _sign(source)
            place = f" ({source.source or source.name})" if source.source or source.name else ""
            needed = _named(graph.slice_at(used), namer)
            steps.append(f"{_named(head, namer)} needs {sign}{needed}{place}")
        elif used < graph.first_rule:
            one, other = graph.slice_at(rule), graph.slice_at(used)
            if one != other:
                steps.append(f"{_named(one, namer)} may be {_named(other, namer)}")
    first = graph.rules[rules[0] - graph.first_rule]
    message = f"negation or aggregation in a cycle: {', '.join(steps)}"
    remedy = "take one of these rules apart, so that what is negated is complete before"
    return _problem("unstratifiable", message, remedy, first)


def _sign(rule: Rule) -> str:
    """How a rule needs what must be complete before, in a message."""
    return "NOT " if any(isinstance(item, Not) for item in rule.body) else "all of "


def _named(of: Slice, namer: Namer) -> str:
    return namer.term(Constant(of.name)) if of.name else str(of)


def _problem(code: str, message: str, remedy: str, rule: Rule) -> Problem:
    source = rule.source
    name = rule.name or show(rule)
    if source is None:
        return Problem(code, message, remedy, rule=name)
    return Problem(code, message, remedy, source.file, source.line, source.column, name)
