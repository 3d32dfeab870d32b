"""A materialisation in plain Python sets, how it is made, and what all updates of it begin with.

Start at `Materialisation`; `Update` is the frame of every maintenance algorithm but counting.
What an algorithm does in one stratum is said by the drivers of production, over `steps`.
What is always true between updates: `held` is what follows from `explicit` (with the rows of
views), and the table has exactly these facts; counters and trace are those of this state, or None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from copy import copy
from dataclasses import dataclass

from tests.reference.facts import Fact, Order, Table
from tests.reference.matching import Changes, Instance, Matcher, Plan, Test, is_changed
from tests.reference.report import Phase, Report, without_views
from tests.reference.rules import Level, PlainRule, Ruleset, View
from triplestore.datalog.program import Program, Rule
from triplestore.datalog.stratify import Method
from triplestore.maintenance.seminaive import seminaive

Trace = dict[tuple[int, int], Counter[Fact]]
"""(stratum, iteration) -> how often each fact is derived there: the papers' N, empty ones too."""


@dataclass
class Counters:
    """How many rule instances derive each fact.

    nonrecursive  C_nr: of nonrecursive rules, and one more if the fact is explicit
    recursive     C_r: of recursive rules; None if it is not kept
    """

    nonrecursive: Counter[Fact]
    recursive: Counter[Fact] | None

    def pair(self, fact: Fact) -> tuple[int, int]:
        """(C_nr, C_r) of a fact."""
        return self.nonrecursive[fact], 0 if self.recursive is None else self.recursive[fact]


class Materialisation:
    """A program's closure, which maintenance algorithms change in place.

    method  how the program is stratified, see `datalog.stratify`
    plan    which atom of a body is matched next, see `matching`

    >>> from triplestore.datalog.text import read
    >>> a, b, p, c = (b"\\x01http://e/" + name for name in (b"a", b"b", b"p", b"A"))
    >>> a_type = b"\\x01http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
    >>> rules = read("PREFIX : <http://e/> :A[?y] :- :A[?x], :p[?x, ?y] .")
    >>> made = Materialisation(rules, [("t", a, p, b), ("t", a, a_type, c)])
    >>> made.facts - made.explicit == {("t", b, a_type, c)}
    True
    """

    def __init__(
        self,
        program: Program | Iterable[Rule],
        explicit: Iterable[Fact] = (),
        method: Method = "levels",
        plan: Plan = "smallest",
    ) -> None:
        self.rules = Ruleset(program, method)
        self.plan: Plan = plan
        self.explicit = set(explicit)
        self.table = Table()
        self.counters: Counters | None = None
        self.trace: Trace | None = None
        self.report = self._derive()
        self.held = set(self.table.facts)

    @property
    def facts(self) -> set[Fact]:
        """What holds, without the rows of views."""
        return without_views(self.held)

    def copy(self) -> Materialisation:
        """The same state, for another algorithm; counters and trace are copied as well."""
        made = copy(self)
        made.explicit, made.held = set(self.explicit), set(self.held)
        made.table = self.table.copy()
        if self.counters is not None:
            recursive = self.counters.recursive
            made.counters = Counters(
                Counter(self.counters.nonrecursive),
                None if recursive is None else Counter(recursive),
            )
        if self.trace is not None:
            made.trace = {at: Counter(counts) for at, counts in self.trace.items()}
        return made

    def _derive(self) -> Report:
        """Semi-naive evaluation: *Revisited*, algorithm 1."""
        made = _Derivation(self)
        for level in self.rules.levels:
            made.begin(level)
            seminaive(made)
        return made.report

    def count(self) -> Counters:
        """The counters of this state, computed from the start unless they are there."""
        if self.counters is None or self.counters.recursive is None:
            holds = self.held.__contains__
            made = Counters(Counter(without_views(self.explicit)), Counter())
            matcher = Matcher(self.table, plan=self.plan)
            for rule in self.rules.rules:
                found = matcher.instances([rule], holds, holds)
                counter = made.recursive if rule.recursive else made.nonrecursive
                assert counter is not None
                counter.update(instance.head for instance in found)
            self.counters = made
        return self.counters

    def instances(self) -> set[Instance]:
        """All rule instances that hold: the papers' inst[I]."""
        holds = self.held.__contains__
        return set(Matcher(self.table, plan=self.plan).instances(self.rules.rules, holds, holds))


class _Derivation:
    """The steps of `seminaive`, where nothing held before."""

    def __init__(self, state: Materialisation) -> None:
        self.state = state
        self.report = Report()
        self.matcher = Matcher(state.table, plan=state.plan)
        self.holds: Test = state.table.__contains__

    def begin(self, level: Level) -> None:
        """Begin a stratum."""
        self.level = level
        for view in level.views:
            for row in self.matcher.rows(view, self.holds):
                self.state.table.add(row)

    def begin_insertion(self, *again: set[Fact]) -> set[Fact]:
        """See `Steps.begin_insertion`."""
        rules = self.state.rules
        asserted = {f for f in self.state.explicit if rules.level_of(f) == self.level.number}
        return asserted | self._considered("derive lower", self.level.rules, None)

    def coming(self, facts: set[Fact]) -> set[Fact] | None:
        """See `Steps.coming`."""
        return facts - self.state.table.facts or None

    def add(self, facts: set[Fact]) -> set[Fact]:
        """See `Steps.add`."""
        for fact in facts:
            self.state.table.add(fact)
        return self._considered("derive", self.level.recursive, (facts, ()))

    def _considered(
        self, phase: Phase, rules: Iterable[PlainRule], changes: Changes | None
    ) -> set[Fact]:
        holds = self.holds
        return heads(considered(self.report, phase, self.matcher, rules, holds, holds, changes))


def considered(
    report: Report,
    phase: Phase,
    matcher: Matcher,
    rules: Iterable[PlainRule],
    positive: Test,
    negative: Test,
    changes: Changes | None = None,
    others: Changes | None = None,
) -> list[Instance]:
    """The instances that `Matcher.instances` gives, written down in a report.

    others  changes of which they must have one, too
    """
    fetched, matched = matcher.fetched, matcher.matched
    found = list(matcher.instances(rules, positive, negative, changes))
    if others is not None:
        found = [instance for instance in found if is_changed(instance, others)]
    report.instances.setdefault(phase, []).extend(found)
    report.fetched[phase] += matcher.fetched - fetched
    report.matched[phase] += matcher.matched - matched
    return found


def heads(instances: Iterable[Instance]) -> set[Fact]:
    """What instances derive."""
    return {instance.head for instance in instances}


class Update:
    """One update of a materialisation: the sets of the papers' algorithms while they run.

    deleted, added     D and A, over the strata done so far
    removed, asserted  E- and E+: explicit facts that go and come, made disjoint
    gone, came         D minus A and A minus D as this stratum began: changes of lower strata

    The tests `old`, `survives`, `either`, `now` are membership in I, I minus (D minus A), I and A
    together, and (I minus D) and A together, as D and A are when they are asked.
    """

    def __init__(
        self,
        state: Materialisation,
        deletions: Iterable[Fact],
        additions: Iterable[Fact],
        order: Order,
    ) -> None:
        self.state = state
        self.rules = state.rules
        self.order = order
        self.matcher = Matcher(state.table, order, state.plan)
        self.report = Report()
        self.deleted: set[Fact] = set()
        self.added: set[Fact] = set()
        self.asserted = set(additions)
        self.removed = (set(deletions) & state.explicit) - self.asserted
        self.asserted -= state.explicit
        self.gone: set[Fact] = set()
        self.came: set[Fact] = set()
        self.old: Test = state.held.__contains__

    def strata(self) -> Iterator[Level]:
        """The strata from 0 on; the views of each are made as it begins."""
        for level in self.rules.levels:
            for view in level.views:
                self._refresh(view)
            self.gone = self.deleted - self.added
            self.came = self.added - self.deleted
            yield level

    def _refresh(self, view: View) -> None:
        before = self.state.table.like((*view.pattern[:2], *[None] * len(view.variables)), {})
        old = {row for row in before if row[1] == view.number}
        new = self.matcher.rows(view, self.now)
        self.deleted |= old - new
        self.add(new - old)

    def add(self, facts: Collection[Fact]) -> None:
        """Put facts into A."""
        self.added.update(facts)
        for fact in facts:
            self.state.table.add(fact)

    def survives(self, fact: Fact) -> bool:
        """In I minus (D minus A)."""
        return fact in self.state.held and (fact not in self.deleted or fact in self.added)

    def either(self, fact: Fact) -> bool:
        """In I or in A."""
        return fact in self.state.held or fact in self.added

    def now(self, fact: Fact) -> bool:
        """In (I minus D) or in A."""
        return fact in self.added or (fact in self.state.held and fact not in self.deleted)

    def of(self, level: Level, facts: Iterable[Fact]) -> set[Fact]:
        """The facts of a stratum."""
        return {fact for fact in facts if self.rules.level_of(fact) == level.number}

    def stays_explicit(self, fact: Fact) -> bool:
        """In E minus E-."""
        return fact in self.state.explicit and fact not in self.removed

    def considered(
        self,
        phase: Phase,
        rules: Iterable[PlainRule],
        positive: Test,
        negative: Test,
        changes: Changes,
    ) -> list[Instance]:
        """The instances with changes, written down in the report."""
        return considered(self.report, phase, self.matcher, rules, positive, negative, changes)

    def backwards(
        self,
        phase: Phase,
        rules: Iterable[PlainRule],
        head: Fact,
        positive: Test,
        negative: Test,
    ) -> Iterator[Instance]:
        """The instances that derive a fact, each written down when it is reached."""
        report, matcher = self.report, self.matcher
        found = matcher.instances(rules, positive, negative, head=head)
        while True:
            fetched, matched = matcher.fetched, matcher.matched
            instance = next(found, None)
            report.fetched[phase] += matcher.fetched - fetched
            report.matched[phase] += matcher.matched - matched
            if instance is None:
                return
            report.instances.setdefault(phase, []).append(instance)
            yield instance

    def is_derived(self, phase: Phase, rules: Iterable[PlainRule], fact: Fact) -> bool:
        """Whether what survives derives a fact in one step; it looks for one instance only."""
        return any(True for _ in self.backwards(phase, rules, fact, self.survives, self.either))

    def finish(self) -> Report:
        """The new state: E and I are changed, counters and trace are whatever they are."""
        state, report = self.state, self.report
        state.explicit -= self.removed
        state.explicit |= self.asserted
        for fact in self.deleted - self.added:
            state.table.discard(fact)
        state.held -= self.deleted
        state.held |= self.added
        report.deleted = without_views(self.deleted)
        report.added = without_views(self.added)
        return report
