"""What is wrong with a program that has no errors of syntax: everything at once.

Start at `check`; `require` raises what it finds. Looked for are

    unsafe-variable     a variable that nothing binds, in a head, filter, BIND or negation
    rebound             BIND or AGGREGATE gives a variable a value that has one already
    scope               a name that is local to a negation or aggregate and also used outside
    nested              what cannot stand inside a negation or an aggregate
    function            one that does not exist, or with a wrong number of arguments
    non-deterministic   RAND, NOW, BNODE, ...: a closure must be the same each time
    arity               a relation used with different numbers of columns
    unstratifiable      negation or aggregation in a cycle
    generalised         (warning) a head that is no triple of RDF
    endless             (warning) recursion that makes new values in each round
    unknown-name        (warning) a relation that nothing defines, and that has a near name

What is always true: a program without errors can be stratified and evaluated; each problem has the
place in the file, if the program was read from one. Costs about 10 us a rule, and stratification.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches

from triplestore.datalog.problems import Problem, raise_errors
from triplestore.datalog.program import (
    TYPE,
    Aggregate,
    Atom,
    Bind,
    Constant,
    Constraint,
    Filter,
    Item,
    Not,
    Program,
    Result,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
    atoms_in,
    variables_in,
)
from triplestore.datalog.slices import Graph, Slice, components, slice_of
from triplestore.datalog.stratify import cycle_problems
from triplestore.datalog.text import parse, show
from triplestore.datalog.text.locate import Section, locate
from triplestore.expr.functions import (
    AGGREGATES,
    CASTS,
    FUNCTIONS,
    OPERATORS,
    is_deterministic,
)
from triplestore.expr.parser import did_you_mean
from triplestore.expr.tree import Exists, Expression, calls_of, variables_of
from triplestore.terms.model import BLANK, IRI, KIND_NAMES


def check(program: Program, known: Collection[bytes] | None = None) -> list[Problem]:
    """Everything that is wrong with a program, in the order of its rules.

    known  keys of the properties and classes that the data has, so that names which neither the
           data nor a rule has are warned about; without it only very near names are

    >>> from triplestore.datalog.text import read
    >>> for problem in check(read("PREFIX : <http://e/> :p[?who, ?y] :- :q[?whom, ?y] .")):
    ...     print(problem)
    input:1:25: error: ?who in the head is not bound by the body, which binds ?whom, ?y (did you
    mean ?whom?); use it in an atom of the body
    """
    problems: list[Problem] = []
    for rule in program.rules:
        problems += _RuleCheck(rule, program.prefixes).problems()
    for constraint in program.constraints:
        problems += _RuleCheck(constraint, program.prefixes).problems()
    problems += _arity_problems(program)
    problems += cycle_problems(program, program.prefixes)
    problems += _endless_problems(program)
    problems += _name_problems(program, known)
    return problems


def check_text(
    text: str,
    *,
    file: str | None = None,
    prefixes: Mapping[str, str] | None = None,
    known: Collection[bytes] | None = None,
) -> list[Problem]:
    """Everything that is wrong with a text, of its syntax and its meaning, by line."""
    program, problems = parse(text, file=file, prefixes=prefixes)
    found = problems + check(program, known)
    return sorted(found, key=lambda problem: (problem.line or 0, problem.column or 0))


def require(program: Program, known: Collection[bytes] | None = None) -> list[Problem]:
    """Raise `ProgramError` with all problems if an error is among them; else the warnings."""
    problems = check(program, known)
    raise_errors(problems)
    return problems


# --- one rule ------------------------------------------------------------------------------------


class _RuleCheck:
    """The problems of one rule or constraint."""

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

    # what binds

    def _bound(self) -> set[Variable]:
        """The variables that have values: of atoms and aggregates, and of BINDs of such ones."""
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
            self._add("head", "a rule without a head concludes nothing", "give it one", ("head", 0))
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
                    "takes part in rules, but is no triple of RDF and is not listed",
                    "exchange subject and object if that was meant",
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
                f"take another name, and FILTER({bind.variable} = ...) if they shall be equal",
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
            self._add("function", "EXISTS is for queries", "use NOT or an atom", at)
        for call in calls_of(expression):
            self._function(call.function, len(call.arguments), at)

    def _function(self, name: str, given: int, at: tuple[Section, int]) -> None:
        function = FUNCTIONS.get(name) or OPERATORS.get(name)
        if function is None and name not in CASTS:
            near = did_you_mean(name, [*FUNCTIONS, *CASTS])
            self._add("function", f"there is no function {name}{near}", "", at)
        elif function is not None and not function.least <= given <= function.most:
            self._add("function", f"{name} does not take {given} arguments", "", at)
        elif not is_deterministic(name):
            self._add(
                "non-deterministic",
                f"{name} gives another value each time, so the closure would not be one",
                "compute such values before they are stored",
                at,
            )

    def _not(self, item: Not, at: tuple[Section, int]) -> None:
        for variable in item.exists:
            if variable in self.bound:
                self._add(
                    "scope",
                    f"NOT EXISTS {variable} makes it local, but it is bound outside",
                    "take another name inside, or leave it out of EXISTS",
                    at,
                    variable.name,
                )
        inner = self._inner(item.body, self.bound, "a negation", (Not, Aggregate), at)
        if not any(isinstance(part, TripleAtom | TupleAtom) for part in item.body):
            remedy = "use FILTER(!...) where nothing else is meant"
            self._add("nested", "a negation needs an atom inside", remedy, at)
        for variable in item.exists:
            if variable not in inner:
                self._add(
                    "scope",
                    f"NOT EXISTS {variable}: it does not occur inside",
                    "leave it out",
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
                    "take another name",
                    at,
                    variable.name,
                )
        local = dict.fromkeys(v for part in item.body for v in variables_in(part))
        for variable in local:
            if variable not in item.groups and variable not in own and variable in elsewhere:
                self._add(
                    "scope",
                    f"{variable} is local to the aggregate, but is also bound outside",
                    f"add {variable} after ON to group by it, or take another name inside",
                    at,
                    variable.name,
                )
        for result in item.results:
            self._result(result, inner, at)

    def _result(self, result: Result, inner: set[Variable], at: tuple[Section, int]) -> None:
        if result.function not in AGGREGATES:
            self._add("function", f"there is no aggregate {result.function}", "", at)
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
        """Check the body of a negation or an aggregate; the variables bound there or outside."""
        inner = {v for part in body for v in _gives(part) if not isinstance(part, Bind)}
        bound = _with_binds(body, outer | inner)
        for part in body:
            if isinstance(part, refused):
                kind = "negation" if isinstance(part, Not) else "aggregate"
                remedy = "make it a rule of its own and use its head here"
                self._add("nested", f"there is no {kind} inside {where}", remedy, at)
            elif isinstance(part, Filter):
                self._expression(part.expression, bound, f"in a FILTER of {where}", at)
            elif isinstance(part, Bind):
                self._bind(part, body, bound, at)
                if part.variable in outer:
                    self._add(
                        "rebound",
                        f"BIND inside {where} gives {part.variable} a value, which has one outside",
                        "take another name and compare them by FILTER",
                        at,
                        part.variable.name,
                    )
            elif isinstance(part, Not):
                self._inner(part.body, bound, "a negation", (Not, Aggregate), at)
        return bound


def _gives(item: Item) -> Iterator[Variable]:
    """The variables that an item gives values."""
    if isinstance(item, TripleAtom | TupleAtom):
        yield from (term for term in item.terms if isinstance(term, Variable))
    elif isinstance(item, Bind):
        yield item.variable
    elif isinstance(item, Aggregate):
        yield from item.groups
        yield from (result.variable for result in item.results)


def _with_binds(body: Iterable[Item], bound: set[Variable]) -> set[Variable]:
    """What is bound when every BIND was used whose expression's variables are."""
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
    """A problem of a part of a rule, with its place if the rule was read from a text."""
    rule = (clause.name if isinstance(clause, Rule) else clause.id) or show(clause, prefixes)
    source = clause.source
    if source is None:
        return Problem(code, message, remedy, rule=rule, warning=warning)
    place = locate(source, section, index, name)
    return Problem(code, message, remedy, source.file, place.line, place.column, rule, warning)


# --- the whole program ---------------------------------------------------------------------------


def _clauses(program: Program) -> Iterator[Rule | Constraint]:
    yield from program.rules
    yield from program.constraints


def _atoms_of(clause: Rule | Constraint) -> Iterator[tuple[Atom, Section, int]]:
    if isinstance(clause, Rule):
        for index, head in enumerate(clause.heads):
            yield head, "head", index
    for index, item in enumerate(clause.body):
        for atom, _ in atoms_in((item,)):
            yield atom, "body", index


def _arity_problems(program: Program) -> Iterator[Problem]:
    """Relations of several numbers of columns: a class and a property may share a name."""
    arity: dict[bytes, tuple[int, Rule | Constraint]] = {}
    if not any(
        isinstance(atom, TupleAtom)
        for clause in _clauses(program)
        for atom, *_ in _atoms_of(clause)
    ):
        return
    for clause in _clauses(program):
        for atom, section, index in _atoms_of(clause):
            if isinstance(atom, TripleAtom):
                name, given = _name_of(atom), 2 if atom.p != TYPE else 1
            else:
                name, given = atom.name.key, len(atom.args)
            if name is None:
                continue
            first, where = arity.setdefault(name, (given, clause))
            if first == given or max(first, given) <= 2:
                continue
            shown = show(Constant(name), program.prefixes)
            place = f" at {where.source}" if where.source else ""
            yield problem_at(
                clause,
                "arity",
                f"{shown} has {given} columns here, but {first}{place}",
                "give one of them another name",
                section,
                index,
                prefixes=program.prefixes,
            )


def _name_of(atom: TripleAtom) -> bytes | None:
    """The key of the property or class an atom is about, if it is a constant."""
    name = atom.o if atom.p == TYPE else atom.p
    return name.key if isinstance(name, Constant) else None


def _endless_problems(program: Program) -> Iterator[Problem]:
    """Rules that use what they conclude, and conclude what a BIND computed."""
    suspects = [rule for rule in program.rules if any(isinstance(i, Bind) for i in rule.body)]
    if not suspects:
        return
    rules = [part for rule in program.rules for part in rule.split()]
    graph = Graph(rules)
    component = components(graph.needs)
    for i, rule in enumerate(rules):
        made = _made(rule)
        used = made.intersection(rule.heads[0].terms)
        own = component[graph.first_rule + i]
        if used and any(component[node] == own for node in graph.positives[i]):
            variable = min(str(term) for term in used)
            yield problem_at(
                rule,
                "endless",
                f"the head has {variable}, which BIND computes, and the rule uses what it "
                "concludes: each round may make new values, without end",
                "bound it by a FILTER; every closure has a budget in facts, bytes and seconds",
                "head",
                0,
                variable[1:],
                warning=True,
                prefixes=program.prefixes,
            )


def _made(rule: Rule) -> set[Variable]:
    """Variables whose value a BIND computes from other values."""
    return {
        bind.variable for bind in rule.binds if any(True for _ in variables_of(bind.expression))
    }


_MOST_NAMES = 3000
_NEAR = 0.85


def _name_problems(program: Program, known: Collection[bytes] | None) -> Iterator[Problem]:
    """Names in bodies that no rule and no data define, where a defined one is near."""
    defined: dict[Slice, None] = {}
    for rule in program.rules:
        defined.update((slice_of(head), None) for head in rule.heads)
    if any(not of.name for of in defined) or len(defined) > _MOST_NAMES:
        return
    uses: dict[Slice, list[tuple[Rule | Constraint, int]]] = {}
    for clause in _clauses(program):
        for index, item in enumerate(clause.body):
            for atom, _ in atoms_in((item,)):
                uses.setdefault(slice_of(atom), []).append((clause, index))
    if len(uses) > _MOST_NAMES:
        return
    taken = {of.name for of in defined} | set(known or ())
    names = sorted(_text(name) for name in taken)
    for of, places in uses.items():
        if not of.name or of.name[0] != IRI or of.name in taken:
            continue
        if known is None and len(places) > 1:
            continue
        near = get_close_matches(_text(of.name), names, n=1, cutoff=_NEAR)
        if near and _is_typo(_text(of.name), near[0], known is None):
            clause, index = places[0]
            shown = show(Constant(of.name), program.prefixes)
            other = show(Constant.iri(near[0]), program.prefixes)
            nobody = "no rule" if known is None else "no rule and no fact"
            yield problem_at(
                clause,
                "unknown-name",
                f"{nobody} has {shown} (did you mean {other}?)",
                "",
                "body",
                index,
                warning=True,
                prefixes=program.prefixes,
            )


def _text(key: bytes) -> str:
    return key[1:].decode()


def _is_typo(name: str, near: str, strict: bool) -> bool:
    """Whether two IRIs differ in their last part only, by letters rather than by a number."""
    head, last = _split(name)
    other_head, other_last = _split(near)
    if head != other_head or min(len(last), len(other_last)) < 4:
        return False
    if last.translate(_NO_DIGITS) == other_last.translate(_NO_DIGITS):
        return False
    return bool(get_close_matches(last, [other_last], cutoff=0.85 if strict else 0.7))


def _split(iri: str) -> tuple[str, str]:
    end = max(iri.rfind(sign) for sign in "#/:") + 1
    return iri[:end], iri[end:]


_NO_DIGITS = str.maketrans("", "", "0123456789")
