"""The problems of one rule by itself: unbound variables, and misplaced items.

Start at `clause_problems`. Always true: variables are bound by atoms, by aggregates, and by
BINDs whose expressions have only bound variables, regardless of their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from triplestore.datalog.problems import Problem
from triplestore.datalog.program import (
    Aggregate,
    Bind,
    Constant,
    Constraint,
    Filter,
    Item,
    Not,
    Result,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
    variables_in,
)
from triplestore.datalog.text import show
from triplestore.datalog.text.locate import Section, locate
from triplestore.expressions.functions import (
    AGGREGATES,
    CASTS,
    FUNCTIONS,
    OPERATORS,
    is_deterministic,
)
from triplestore.expressions.text.term_parser import did_you_mean
from triplestore.expressions.tree import Exists, Expression, calls_of, variables_of
from triplestore.terms.term_keys import BLANK, IRI, KIND_NAMES


def clause_problems(clause: Rule | Constraint, prefixes: Mapping[str, str]) -> list[Problem]:
    """The problems of one rule or constraint, independent of the others."""
    return [] if _is_plain(clause) else _Check(clause, prefixes).problems()


def _is_plain(clause: Rule | Constraint) -> bool:
    """Whether there are only atoms of triples without problems: a quick check."""
    bound = set()
    for item in clause.body:
        if type(item) is not TripleAtom:
            return False
        bound.update([term.name for term in (item.s, item.p, item.o) if type(term) is Variable])
    if not isinstance(clause, Rule):
        return True
    for head in clause.heads:
        if type(head) is not TripleAtom:
            return False
        for term, kinds in ((head.s, (IRI, BLANK)), (head.p, (IRI,)), (head.o, KIND_NAMES)):
            if term.name not in bound if isinstance(term, Variable) else term.kind not in kinds:
                return False
    return len(clause.heads) > 0


def problem_at(
    clause: Rule | Constraint,
    code: str,
    message: str,
    remedy: str,
    section: Section,
    index: int,
    name: str = "",
    warning: bool = False,
    prefixes: Mapping[str, str] | None = None,
) -> Problem:
    """A problem of a part of a rule, with its place if the rule has a text."""
    rule = (clause.name if isinstance(clause, Rule) else clause.id) or show(clause, prefixes)
    source = clause.source
    if source is None:
        return Problem(code, message, remedy, rule=rule, warning=warning)
    place = locate(source, section, index, name)
    return Problem(code, message, remedy, source.file, place.line, place.column, rule, warning)


class _Check:
    """The problems of one rule or constraint, as they are found."""

    def __init__(self, clause: Rule | Constraint, prefixes: Mapping[str, str]) -> None:
        self.clause = clause
        self.prefixes = prefixes
        self.found: list[Problem] = []
        self.bound = self._bound()

    def problems(self) -> list[Problem]:
        if isinstance(self.clause, Rule):
            self._heads(self.clause)
        for index, item in enumerate(self.clause.body):
            self._item(item, index)
        return self.found

    def _add(
        self,
        code: str,
        message: str,
        remedy: str,
        at: tuple[Section, int],
        name: str = "",
        warning: bool = False,
    ) -> None:
        self.found.append(
            problem_at(self.clause, code, message, remedy, *at, name, warning, self.prefixes)
        )

    # bound variables

    def _bound(self) -> set[Variable]:
        """The bound variables: of atoms, aggregates, and BINDs with bound variables."""
        body = self.clause.body
        bound: set[Variable] = set()
        for item in body:
            if isinstance(item, TripleAtom | TupleAtom):
                bound.update(term for term in item.terms if isinstance(term, Variable))
            elif isinstance(item, Aggregate):
                bound.update(item.groups)
                bound.update(result.variable for result in item.results)
        return _with_binds(body, bound)

    # heads

    def _heads(self, rule: Rule) -> None:
        if not rule.heads:
            self._add("head", "a rule without a head concludes nothing", "add one", ("head", 0))
        for index, head in enumerate(rule.heads):
            at: tuple[Section, int] = ("head", index)
            for term in dict.fromkeys(head.terms):
                if isinstance(term, Variable) and term not in self.bound:
                    self._unsafe(term, "in the head", "use it in an atom of the body", at)
            if isinstance(head, TripleAtom):
                self._generalised(head, at)

    def _generalised(self, head: TripleAtom, at: tuple[Section, int]) -> None:
        places = (("subject", head.s, (IRI, BLANK)), ("predicate", head.p, (IRI,)))
        for name, term, allowed in places:
            if isinstance(term, Constant) and term.kind not in allowed:
                what = KIND_NAMES[term.kind]
                self._add(
                    "generalised",
                    f"the {name} of a head is a {what}: {show(term, self.prefixes)}; such a fact "
                    "is used by rules, but is not an RDF triple and is not listed",
                    "perhaps subject and object are swapped",
                    at,
                    warning=True,
                )

    def _unsafe(self, variable: Variable, where: str, remedy: str, at: tuple[Section, int]) -> None:
        names = sorted(str(one) for one in self.bound)
        binds = f", which binds {', '.join(names)}" if names else ", which binds nothing"
        near = did_you_mean(str(variable), names)
        self._add(
            "unsafe-variable",
            f"{variable} {where} is not bound by the body{binds}{near}",
            remedy,
            at,
            variable.name,
        )

    # body items

    def _item(self, item: Item, index: int) -> None:
        at: tuple[Section, int] = ("body", index)
        if isinstance(item, Filter):
            self._expression(item.expression, self.bound, "in FILTER", at)
        elif isinstance(item, Bind):
            self._bind(item, self.clause.body, self.bound, at)
        elif isinstance(item, Not):
            self._not(item, at)
        elif isinstance(item, Aggregate):
            self._aggregate(item, at)

    def _bind(
        self, bind: Bind, body: tuple[Item, ...], bound: set[Variable], at: tuple[Section, int]
    ) -> None:
        self._expression(bind.expression, bound, "in BIND", at)
        others = [item for item in body if item is not bind and bind.variable in _gives(item)]
        if others:
            self._add(
                "rebound",
                f"BIND gives {bind.variable} a value, but it has one from {_short(others[0])}",
                f"use another name, and FILTER({bind.variable} = ...) if they must be equal",
                at,
                bind.variable.name,
            )

    def _expression(
        self, expression: Expression, bound: set[Variable], where: str, at: tuple[Section, int]
    ) -> None:
        for variable in dict.fromkeys(variables_of(expression)):
            if variable not in bound:
                self._unsafe(variable, where, "use it in an atom beside it", at)
        if isinstance(expression, Exists):
            self._add("function", "EXISTS is only allowed in queries", "use NOT or an atom", at)
        for call in calls_of(expression):
            self._function(call.function, len(call.arguments), at)

    def _function(self, name: str, given: int, at: tuple[Section, int]) -> None:
        function = FUNCTIONS.get(name) or OPERATORS.get(name)
        if function is None and name not in CASTS:
            near = did_you_mean(name, [*FUNCTIONS, *CASTS])
            self._add("function", f"unknown function {name}{near}", "", at)
        elif function is not None and not function.least <= given <= function.most:
            self._add("function", f"{name} does not take {given} arguments", "", at)
        elif not is_deterministic(name):
            self._add(
                "non-deterministic",
                f"{name} returns another value each time, but a closure must be reproducible",
                "compute such values before you store them",
                at,
            )

    def _not(self, item: Not, at: tuple[Section, int]) -> None:
        for variable in item.exists:
            if variable in self.bound:
                self._add(
                    "scope",
                    f"NOT EXISTS {variable} makes it local, but it is bound outside",
                    "use another name inside, or remove it from EXISTS",
                    at,
                    variable.name,
                )
        inner = self._inner(item.body, self.bound, "a negation", (Not, Aggregate), at)
        if not any(isinstance(part, TripleAtom | TupleAtom) for part in item.body):
            remedy = "use FILTER(!...) to negate a condition"
            self._add("nested", "a negation needs an atom inside", remedy, at)
        for variable in item.exists:
            if variable not in inner:
                self._add(
                    "scope",
                    f"NOT EXISTS {variable}: it does not occur inside",
                    "remove it",
                    at,
                    variable.name,
                    warning=True,
                )

    def _aggregate(self, item: Aggregate, at: tuple[Section, int]) -> None:
        inner = self._inner(item.body, set(), "an aggregate", (Aggregate,), at)
        for variable in item.groups:
            if variable not in inner:
                self._unsafe(variable, "after ON", "use it in an atom of the aggregate", at)
        own = {result.variable for result in item.results}
        results = [result.variable for result in item.results]
        elsewhere = self._given_elsewhere(item)
        for variable in dict.fromkeys(results):
            if variable in inner or variable in elsewhere or results.count(variable) > 1:
                self._add(
                    "rebound",
                    f"the result {variable} of an aggregate has another value already",
                    f"use another name, and FILTER({variable} = ...) if they must be equal",
                    at,
                    variable.name,
                )
        local = dict.fromkeys(v for part in item.body for v in variables_in(part))
        for variable in local:
            if variable not in item.groups and variable not in own and variable in elsewhere:
                self._add(
                    "scope",
                    f"{variable} is local to the aggregate, but is also bound outside",
                    f"add {variable} after ON to group by it, or use another name inside",
                    at,
                    variable.name,
                )
        for result in item.results:
            self._result(result, inner, at)

    def _result(self, result: Result, inner: set[Variable], at: tuple[Section, int]) -> None:
        if result.function not in AGGREGATES:
            self._add("function", f"unknown aggregate {result.function}", "", at)
        if result.argument is not None:
            self._expression(result.argument, inner, f"in {result.function}", at)

    def _given_elsewhere(self, item: Aggregate) -> set[Variable]:
        found = {v for other in self.clause.body if other is not item for v in _gives(other)}
        return found

    def _inner(
        self,
        body: tuple[Item, ...],
        outer: set[Variable],
        where: str,
        refused: tuple[type, ...],
        at: tuple[Section, int],
    ) -> set[Variable]:
        """Check the body of a negation or an aggregate; return all variables bound in it."""
        inner = {v for part in body for v in _gives(part) if not isinstance(part, Bind)}
        bound = _with_binds(body, outer | inner)
        for part in body:
            if isinstance(part, refused):
                kind = "negation" if isinstance(part, Not) else "aggregate"
                remedy = "make it a separate rule and use its head here"
                self._add("nested", f"{kind} is not allowed inside {where}", remedy, at)
            elif isinstance(part, Filter):
                self._expression(part.expression, bound, f"in a FILTER of {where}", at)
            elif isinstance(part, Bind):
                self._bind(part, body, bound, at)
                if part.variable in outer:
                    self._add(
                        "rebound",
                        f"BIND inside {where} binds {part.variable}, which is also bound outside",
                        "use another name and compare them by FILTER",
                        at,
                        part.variable.name,
                    )
            elif isinstance(part, Not):
                self._inner(part.body, bound, "a negation", (Not, Aggregate), at)
        return bound


def _gives(item: Item) -> Iterator[Variable]:
    """The variables that an item binds."""
    if isinstance(item, TripleAtom | TupleAtom):
        yield from (term for term in item.terms if isinstance(term, Variable))
    elif isinstance(item, Bind):
        yield item.variable
    elif isinstance(item, Aggregate):
        yield from item.groups
        yield from (result.variable for result in item.results)


def _with_binds(body: Iterable[Item], bound: set[Variable]) -> set[Variable]:
    """The bound variables after all BINDs whose variables are bound."""
    bound = set(bound)
    waiting = [item for item in body if isinstance(item, Bind)]
    while True:
        ready = [bind for bind in waiting if bound.issuperset(variables_of(bind.expression))]
        if not ready:
            return bound
        bound.update(bind.variable for bind in ready)
        waiting = [bind for bind in waiting if bind not in ready]


def _short(item: Item) -> str:
    return "an aggregate" if isinstance(item, Aggregate) else show(item)
