"""Strata of a program, and its recursive rules.

Start at `stratify`. The slice of a fact (see `slices`) determines its stratum, the head that of a
rule. Always true of a `Stratification`:

* all facts of one slice, and all rules that infer them, are in one stratum;
* a rule only uses facts of its own stratum and lower ones; facts that it negates or aggregates are
  in lower ones;
* slices without rules are in stratum 0 (unless a given assignment says otherwise);
* a rule is *recursive* if it positively uses facts of its own stratum, as the papers define it, and
  *cyclic* if these depend on the rule itself. By levels these differ only if rules with a variable
  property or class put slices into the same stratum.

Costs about 5 us per rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby, pairwise
from typing import Literal, TypeAlias

from triplestore.data_classes import data_class
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


@data_class
class Stratum:
    """The rules whose heads are in one stratum, each with one head.

    number      from 1 on
    recursive   for each rule: whether it uses facts of this stratum
    cyclic      for each rule: whether it uses facts that depend on it
    components  for each rule: its component of the dependency graph; rules never depend on rules
                with a higher number
    """

    number: int
    rules: tuple[Rule, ...]
    recursive: tuple[bool, ...]
    cyclic: tuple[bool, ...]
    components: tuple[int, ...]

    @property
    def recursive_rules(self) -> tuple[Rule, ...]:
        """The rules that use facts of this stratum."""
        return tuple(r for r, is_so in zip(self.rules, self.recursive, strict=True) if is_so)

    def __len__(self) -> int:
        return len(self.rules)


@data_class
class Stratification:
    """The strata of a program, from the first on; some may have no rules.

    levels  slice -> its stratum, for the slices of the program
    """

    strata: tuple[Stratum, ...]
    levels: Mapping[Slice, int]
    any_property: int
    any_class: int
    _assigned: Callable[[Slice], int] | None = None

    def level_of(self, of: Slice) -> int:
        """The stratum of the facts of any slice, even if no rule uses it.

        `any` and `any class` have the highest stratum of all their slices.
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
    """The strata of a program; raises `ProgramError`, with the cycles, if there are none.

    method  "levels": each rule one stratum above the facts it uses, unless these depend on the
            rule: the granular stratification of the papers. "one": as few strata as negation and
            aggregates allow. Or the stratum of each slice (a function, or a mapping with default
            0), which is checked.

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
    """One problem for each component of rules that cannot be stratified."""
    graph = DependencyGraph([part for rule in _rules(program) for part in rule.split()])
    needs = graph.with_equal_levels()
    return _cycles(graph, needs, components(needs), prefixes)


def _rules(program: Program | Iterable[Rule]) -> Iterable[Rule]:
    return program.rules if isinstance(program, Program) else program


# --- levels --------------------------------------------------------------------------------------


def _levels(
    graph: DependencyGraph, needs: list[list[int]], component: list[int], *, granular: bool
) -> list[int]:
    """The stratum of each node: of slices, and the lowest possible one of rules.

    Components come after their dependencies, so one pass over them is enough.
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
            # a node for all slices also counts as the rules of its component
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
    """The given stratum of each node; a node for several slices has the highest of theirs."""
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
    """The problems of given strata."""
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
                f"the head is in stratum {own}, but it needs {graph.slice_at(node)}, in stratum "
                f"{level[node]}"
            )
            problems.append(_problem("strata", message, "use a higher stratum for the head", rule))
        if own < 1:
            problems.append(_problem("strata", "the head is in stratum 0", "use at least 1", rule))
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
    """One problem for each component with a negation: the shortest cycle through one."""
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
    """The problem of a cycle: a rule, a slice that it negates, its needs, ..., and the rule."""
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
    remedy = "split one of these rules, so that the negated facts are complete before"
    return _problem("unstratifiable", message, remedy, first)


def _sign(rule: Rule) -> str:
    """The word for a dependency through a negation or an aggregate, in a message."""
    return "NOT " if any(isinstance(item, Not) for item in rule.body) else "all of "


def _named(of: Slice, namer: Namer) -> str:
    return namer.term(Constant(of.name)) if of.name else str(of)


def _problem(code: str, message: str, remedy: str, rule: Rule) -> Problem:
    source = rule.source
    name = rule.name or show(rule)
    if source is None:
        return Problem(code, message, remedy, rule=name)
    return Problem(code, message, remedy, source.file, source.line, source.column, name)
