"""Rules in the form in which they are matched: patterns of facts, computations, and views.

Start at `Ruleset`, which is made of a program. A body is a list of positive and negative patterns,
BINDs and FILTERs. An aggregate, or a negation of more than one atom or with local variables, stands
there as a pattern too, of a *view*: a relation that is computed from lower strata before its
stratum is begun. So all algorithms know facts and patterns only.

What is always true: a rule has one head and is there once; what a rule needs of views and negations
is of lower strata.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.reference.facts import Fact, Pattern, slice_of_fact
from triplestore.datalog.program import (
    Aggregate,
    Atom,
    Bind,
    Constant,
    Filter,
    Item,
    Not,
    Program,
    Result,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
    bound_by,
    variables_in,
)
from triplestore.datalog.rules import signature
from triplestore.datalog.slices import Slice
from triplestore.datalog.stratify import Method, Stratification, stratify
from triplestore.errors import UsageError


@dataclass(frozen=True, slots=True)
class Body:
    """What must hold: patterns that match, patterns and bodies that do not, and computations."""

    positive: tuple[Pattern, ...] = ()
    negative: tuple[Pattern, ...] = ()
    binds: tuple[Bind, ...] = ()
    filters: tuple[Filter, ...] = ()
    nots: tuple[Body, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The rows of an aggregate, or of what a negated body shares with its rule.

    number     which view it is; its rows are ("v", number, *values)
    body       what is matched
    variables  whose values a row has: groups and results, or the shared variables
    results    of an aggregate
    """

    number: int
    body: Body
    variables: tuple[Variable, ...]
    groups: tuple[Variable, ...] = ()
    results: tuple[Result, ...] = ()

    @property
    def pattern(self) -> Pattern:
        """The atom that stands for the view in its rule."""
        return ("v", self.number, *self.variables)


@dataclass(frozen=True, slots=True, eq=False)
class PlainRule:
    """A rule as patterns.

    number     its place among the rules; instances name it by this
    recursive  as the stratification says: something it uses is of its own stratum
    """

    number: int
    head: Pattern
    body: Body
    recursive: bool
    source: Rule

    def __str__(self) -> str:
        return str(self.source)


@dataclass(frozen=True, slots=True)
class Level:
    """A stratum: its rules, and the views they read, which are complete when it begins.

    In the papers every instance of a recursive rule has a premise of the rule's own stratum. Here
    an atom with a variable property or class matches facts of several strata, so an instance may
    have premises of lower strata only; it is still one of a recursive rule.
    """

    number: int
    rules: tuple[PlainRule, ...] = ()
    views: tuple[View, ...] = ()

    @property
    def recursive(self) -> list[PlainRule]:
        """The rules that use what the stratum derives."""
        return [rule for rule in self.rules if rule.recursive]

    @property
    def nonrecursive(self) -> list[PlainRule]:
        """The rules that use lower strata only."""
        return [rule for rule in self.rules if not rule.recursive]


class Ruleset:
    """The strata of a program, from 0 (facts that no rule derives) on.

    >>> from triplestore.datalog.text import read
    >>> rules = Ruleset(read("PREFIX : <http://e/> :A[?y] :- :A[?x], :p[?x, ?y] ."))
    >>> [len(level.rules) for level in rules.levels]
    [0, 1]
    """

    def __init__(self, program: Program | Iterable[Rule], method: Method = "levels") -> None:
        self.strata: Stratification = stratify(program, method)
        self.rules: list[PlainRule] = []
        self.levels = [Level(0)]
        self._level_of: dict[Slice, int] = {}
        self._views = 0
        known = set()
        for stratum in self.strata:
            views: list[View] = []
            made = []
            for rule, recursive in zip(stratum.rules, stratum.recursive, strict=True):
                if signature(rule) not in known:
                    known.add(signature(rule))
                    made.append(self._plain(rule, recursive, views))
            self.levels.append(Level(stratum.number, tuple(made), tuple(views)))

    def level_of(self, fact: Fact) -> int:
        """The stratum of a fact; views come before them all."""
        if fact[0] == "v":
            return -1
        of = slice_of_fact(fact)
        level = self._level_of.get(of)
        if level is None:
            level = self._level_of[of] = self.strata.level_of(of)
        return level

    def _plain(self, rule: Rule, recursive: bool, views: list[View]) -> PlainRule:
        bound = set(bound_by(rule.body))
        positive, negative = [], []
        for item in rule.body:
            if isinstance(item, TripleAtom | TupleAtom):
                positive.append(pattern_of(item))
            elif isinstance(item, Aggregate):
                results = [result.variable for result in item.results]
                view = self._view(item.body, (*item.groups, *results), item.groups, item.results)
                views.append(view)
                positive.append(view.pattern)
            elif isinstance(item, Not):
                atom = item.body[0]
                if (
                    len(item.body) == 1
                    and isinstance(atom, TripleAtom | TupleAtom)
                    and bound.issuperset(variables_in(atom))
                ):
                    negative.append(pattern_of(atom))
                else:
                    views.append(self._view(item.body, _shared(item, bound)))
                    negative.append(views[-1].pattern)
        binds, filters = rule.binds, rule.filters
        body = Body(tuple(positive), tuple(negative), binds, filters)
        made = PlainRule(len(self.rules), pattern_of(rule.heads[0]), body, recursive, rule)
        self.rules.append(made)
        return made

    def _view(
        self,
        items: tuple[Item, ...],
        variables: tuple[Variable, ...],
        groups: tuple[Variable, ...] = (),
        results: tuple[Result, ...] = (),
    ) -> View:
        self._views += 1
        return View(self._views, body_of(items), variables, groups, results)


def _shared(item: Not, bound: set[Variable]) -> tuple[Variable, ...]:
    """The variables a negated body has in common with the rule; all of them it must bind."""
    inner = dict.fromkeys(variable for part in item.body for variable in variables_in(part))
    shared = tuple(variable for variable in inner if variable in bound)
    own = set(bound_by(item.body))
    for variable in shared:
        if variable not in own:
            raise UsageError(
                f"the atoms of {item} do not bind {variable}, so its rows cannot be listed; "
                "bring the program into simple form first"
            )
    return shared


def body_of(items: Iterable[Item]) -> Body:
    """A body without aggregates, as patterns; its negations are bodies."""
    items = tuple(items)
    return Body(
        tuple(pattern_of(item) for item in items if isinstance(item, TripleAtom | TupleAtom)),
        (),
        tuple(item for item in items if isinstance(item, Bind)),
        tuple(item for item in items if isinstance(item, Filter)),
        tuple(body_of(item.body) for item in items if isinstance(item, Not)),
    )


def pattern_of(atom: Atom) -> Pattern:
    """An atom in the form of a fact."""
    if isinstance(atom, TripleAtom):
        return ("t", *_terms(atom.terms))
    return ("r", *_terms((atom.name, *atom.args)))


def _terms(terms: Iterable[Variable | Constant]) -> Iterator[Variable | bytes]:
    return (term.key if isinstance(term, Constant) else term for term in terms)
