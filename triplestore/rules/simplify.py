"""Programs in simple form, which is evaluated.

Start at `simplify`. It makes ordinary rules, and helper relations in the place of nested bodies:

    :a[?x] :- :b[?x], NOT :p[?x, ?y] .            :a[?x] :- :b[?x], NOT h[h, h, ?x] .
                                                  h[h, h, ?x] :- :p[?x, ?y] .

Always true of the result:

    - A rule has one head. Its body has atoms, `Not`s of one atom whose variables the rest of the
      body binds, filters and binds; or it is one `Aggregate` of such a body and nothing else, and
      then the head's columns are its groups and results.
    - It means the same as the program on all relations that are not helpers, and it has strata
      exactly if the program has.
    - A helper's name depends only on the meaning of the helper. So it is the same in every process,
      and the same negation in two rules has one helper.

A rule that is simple is passed through as the same object, in a third of a microsecond; others cost
some 50 us for each helper.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from types import MappingProxyType
from typing import Literal

from triplestore.data_classes import data_class
from triplestore.datalog.check_clause import problem_at
from triplestore.datalog.guard import guard
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
    Rule,
    Source,
    TripleAtom,
    TupleAtom,
    Variable,
    bound_by,
)
from triplestore.datalog.rules import signature
from triplestore.datalog.slices import DependencyGraph, components
from triplestore.datalog.text import show
from triplestore.expressions.tree import variables_of
from triplestore.thread_limits import looking

_HELPERS = "x-triplestore:"
_COLUMNS = 3  # minimum number of columns of a TupleAtom


@data_class
class SimpleProgram:
    """A program in simple form.

    rules       in the order of the program; a helper rule comes before the first that needs it
    origins     for each rule its rule of the program; for a helper's rule the rule or constraint
                that first needed it
    helpers     (name key, number of columns) of each helper relation -> its meaning; with those
                that a translation of axioms made by name
    violations  name key of a helper relation -> the constraint whose violations its rows are
    """

    rules: tuple[Rule, ...]
    origins: tuple[Rule | Constraint, ...]
    helpers: Mapping[tuple[bytes, int], str] = field(default_factory=dict)
    violations: Mapping[bytes, Constraint] = field(default_factory=dict)


def simplify(program: Program) -> SimpleProgram:
    """The program in simple form; it should have no errors (see `check`).

    `ProgramError` if a variable of a negation's filter is bound outside only, and there only by
    atoms that depend on the rule's head: then no relation that is complete before can replace the
    negation.

    >>> from triplestore.datalog.text import read
    >>> simple = simplify(read("PREFIX : <http://e/> :a[?x] :- :b[?x], NOT :p[?x, ?y] ."))
    >>> for rule in simple.rules:
    ...     print(show(rule, {"": "http://e/", "h": "x-triplestore:not/"}))
    h:9e4d039230bdc4e5[h:9e4d039230bdc4e5, h:9e4d039230bdc4e5, ?x] :- :p[?x, ?y] .
    :a[?x] :- :b[?x], NOT h:9e4d039230bdc4e5[h:9e4d039230bdc4e5, h:9e4d039230bdc4e5, ?x] .
    """
    made = _Simplifier(program)
    for rule in looking(program.rules):
        made.add_rule(rule)
    for constraint in looking(program.constraints):
        made.add_constraint(constraint)
    return made.finish()


def is_helper(name: bytes) -> bool:
    """Whether a relation with this name key is a helper made here, for any program."""
    return name.startswith(_HELPER_KEY)


_HELPER_KEY = Constant.iri(_HELPERS).key
_REASONED_KEYS = (_HELPER_KEY + b"classes/", _HELPER_KEY + b"el/")
_MADE_KEYS = tuple(_HELPER_KEY + kind for kind in (b"not/", b"aggregate/", b"constraint/"))


def is_given(name: bytes) -> bool:
    """Whether a relation is a helper whose rows are given, so that a proof gives no reasons for
    them.

    Members of classes without a name have reasons, like types, and so has the normal form of
    axioms.
    """
    return is_helper(name) and not name.startswith(_REASONED_KEYS)


def _is_internal(name: bytes) -> bool:
    """Whether a relation is a helper that a rule of the program makes by its name."""
    return is_helper(name) and not name.startswith(_MADE_KEYS)


class _Simplifier:
    """The simple rules of a program while they are made.

    `origin` is the current rule or constraint, `heads` the number of heads before.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.rules: list[Rule] = []
        self.origins: list[Rule | Constraint] = []
        self.helpers: dict[tuple[bytes, int], str] = {}
        self.violations: dict[bytes, Constraint] = {}
        self.problems: list[Problem] = []
        self.prefixes = tuple(program.prefixes.items())
        self.heads = 0
        self.origin: Rule | Constraint

    def add_rule(self, rule: Rule) -> None:
        self.origin = rule
        for head in rule.heads:
            if isinstance(head, TupleAtom) and _is_internal(head.name.key):
                key = head.name.key, len(head.args)
                if key not in self.helpers:  # there may be very many rules with one name
                    self.helpers[key] = show(head)
        if len(rule.heads) == 1 and _is_plain(rule.body):
            self._add(rule)
            self.heads += 1
            return
        for part in rule.split():
            self._add(self._simple(part))
            self.heads += 1

    def add_constraint(self, constraint: Constraint) -> None:
        self.origin = constraint
        if _is_plain(constraint.body):
            row, rule = _of_constraint(constraint, constraint.source)
            key = row.name.key, len(row.args)
            if key not in self.helpers:
                self.helpers[key] = _shown(constraint, self.prefixes)
                self._add(rule)
        else:
            columns = _columns_of(constraint)
            body = self._body(constraint.body)
            about, extra = show(constraint, self.program.prefixes), _named(constraint)
            row = self._helper("constraint", columns, body, about, extra)
        self.violations[row.name.key] = constraint

    def finish(self) -> SimpleProgram:
        raise_errors(self.problems)
        pairs = list(zip(self.rules, self.origins, strict=True))
        if self.heads > len(self.program.rules):  # rules differ, but their parts may be equal
            unique: dict[Hashable, tuple[Rule, Rule | Constraint]] = {}
            for pair in pairs:
                unique.setdefault(signature(pair[0]), pair)
            pairs = list(unique.values())
        return SimpleProgram(
            tuple([rule for rule, _ in pairs]),
            tuple([origin for _, origin in pairs]),
            MappingProxyType(self.helpers),
            MappingProxyType(self.violations),
        )

    def _add(self, rule: Rule) -> None:
        self.rules.append(rule)
        self.origins.append(self.origin)

    # bodies

    def _simple(self, rule: Rule) -> Rule:
        """A rule of one head in simple form; the same object if it is simple."""
        body: tuple[Item, ...]
        if len(rule.body) == 1 and _is_row_of(rule.heads[0], rule.body[0]):
            body = (self._aggregate(rule.body[0]),)
        else:
            body = self._body(rule.body, rule)
        return rule if body == rule.body else replace(rule, body=body)

    def _body(self, items: Sequence[Item], rule: Rule | None = None) -> tuple[Item, ...]:
        """A body with helpers for its aggregates and negations.

        rule  the rule of the program that has this body, if any: see `_guard`
        """
        body = [self._lifted(item) if isinstance(item, Aggregate) else item for item in items]
        return tuple(
            self._not(item, body, rule, index) if isinstance(item, Not) else item
            for index, item in enumerate(body)
        )

    def _aggregate(self, item: Item) -> Aggregate:
        assert isinstance(item, Aggregate)
        body = self._body(item.body)
        return item if body == item.body else replace(item, body=body)

    def _lifted(self, item: Aggregate) -> Atom:
        columns = [*item.groups, *(result.variable for result in item.results)]
        about = show(item, self.program.prefixes)
        return self._helper("aggregate", columns, (self._aggregate(item),), about)

    def _not(self, item: Not, around: Sequence[Item], rule: Rule | None, index: int) -> Not:
        """A negation of one atom that means the same as `item` in the body `around` it."""
        outer = set(bound_by(around))
        variables = dict.fromkeys(_seen_in(item))
        shared = [variable for variable in variables if variable in outer]
        if len(shared) == len(variables) and _is_atom(item.body):
            return Not(item.body) if item.exists else item
        own = set(bound_by(item.body))
        missing = [variable for variable in shared if variable not in own]
        further = self._guard(missing, item, around, rule, index) if missing else []
        about = show(item, self.program.prefixes)
        return Not((self._helper("not", shared, self._body([*item.body, *further]), about),))

    # guards

    def _guard(
        self,
        missing: Sequence[Variable],
        item: Not,
        around: Sequence[Item],
        rule: Rule | None,
        index: int,
    ) -> list[Item]:
        """Items around a negation that bind the variables of its filters which its own atoms do not
        bind.

        They must not depend on the head of the rule, or the helper would depend on it as well. In
        the body of an aggregate, a negation or a constraint nothing can, if the program has strata.
        """
        banned = self._recursive_atoms(rule) if rule is not None else ()
        found, failed = guard(missing, set(bound_by(item.body)), around, banned)
        for variable in failed:
            atom = next((atom for atom in banned if variable in atom.terms), None)
            if atom is not None:
                self._refuse(variable, atom, index)
        return found

    def _recursive_atoms(self, rule: Rule) -> Sequence[Atom]:
        """The positive atoms of a rule that depend on its head."""
        graph, component = self._graph
        own = component[graph.first_rule + self.heads]
        nodes = zip(rule.atoms, graph.positives[self.heads], strict=True)
        return [atom for atom, node in nodes if component[node] == own]

    @cached_property
    def _graph(self) -> tuple[DependencyGraph, list[int]]:
        graph = DependencyGraph([part for rule in self.program.rules for part in rule.split()])
        return graph, components(graph.with_equal_levels())

    def _refuse(self, variable: Variable, atom: Atom, index: int) -> None:
        prefixes = self.program.prefixes
        self.problems.append(
            problem_at(
                self.origin,
                "unstratifiable",
                f"the negation compares {variable}, which only recursion binds: "
                f"{show(atom, prefixes)} depends on the head",
                f"bind {variable} inside the negation, or beside it by what does not",
                "body",
                index,
                variable.name,
                prefixes=prefixes,
            )
        )

    # helpers

    def _helper(
        self,
        kind: Literal["not", "aggregate", "constraint"],
        columns: Sequence[Variable],
        body: tuple[Item, ...],
        about: str,
        extra: str = "",
    ) -> TupleAtom:
        """The atom of a helper relation with these columns, whose rule is made at first use."""
        row = _helper_row(kind, columns, body, extra)
        key = row.name.key, len(row.args)
        if key not in self.helpers:
            self.helpers[key] = about
            self._add(Rule((row,), body, source=self.origin.source))
        return row


def _helper_row(
    kind: str, columns: Sequence[Variable], body: tuple[Item, ...], extra: str
) -> TupleAtom:
    """The atom of a helper relation, whose name is a hash of its body up to names of variables."""
    nameless = Rule((_row(Constant.iri(_HELPERS), columns),), body)
    text = f"{extra}\0{show(nameless.canonical())}"
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return _row(Constant.iri(f"{_HELPERS}{kind}/{digest}"), columns)


@lru_cache(maxsize=1 << 16)
def _of_constraint(constraint: Constraint, source: Source | None) -> tuple[TupleAtom, Rule]:
    """The helper relation of a constraint with a plain body, and its rule.

    A program of axioms changes by a few constraints, and has many. `source` is not part of
    equality.
    """
    columns = _columns_of(constraint)
    row = _helper_row("constraint", columns, constraint.body, _named(constraint))
    return row, Rule((row,), constraint.body, source=source)


@lru_cache(maxsize=1 << 16)
def _shown(constraint: Constraint, prefixes: tuple[tuple[str, str], ...]) -> str:
    return show(constraint, dict(prefixes))


def _columns_of(constraint: Constraint) -> list[Variable]:
    return sorted(set(bound_by(constraint.body)), key=lambda variable: variable.name)


def _named(constraint: Constraint) -> str:
    """The message is part of the name: it may change without the body, and must be reported."""
    return f"{constraint.id}\0{constraint.message}"


_PLAIN = frozenset((TripleAtom, TupleAtom, Filter, Bind))


def _is_plain(body: Iterable[Item]) -> bool:
    """Whether the parts of a body do not depend on each other."""
    for item in body:  # noqa: SIM110 - a loop takes half as long as all(...)
        if type(item) not in _PLAIN:
            return False
    return True


def _is_atom(body: tuple[Item, ...]) -> bool:
    return len(body) == 1 and isinstance(body[0], TripleAtom | TupleAtom)


def _is_row_of(head: Atom, item: Item) -> bool:
    """Whether the columns of a head are the groups and results of an aggregate."""
    if not isinstance(item, Aggregate):
        return False
    columns: tuple[object, ...]
    if isinstance(head, TupleAtom):
        columns = tuple(
            arg for arg in head.args if arg != head.name
        )  # the head of a helper is padded
    elif isinstance(head.p, Variable) or (head.p == TYPE and isinstance(head.o, Variable)):
        return False
    else:
        columns = (head.s,) if head.p == TYPE else (head.s, head.o)
    return columns == (*item.groups, *(result.variable for result in item.results))


def _seen_in(item: Item) -> Iterator[Variable]:
    """The variables of an item, except those that only an aggregate inside it sees."""
    if isinstance(item, Not):
        for part in item.body:
            yield from _seen_in(part)
    elif isinstance(item, Filter | Bind):
        yield from variables_of(item.expression)
    yield from bound_by((item,))


def _row(name: Constant, columns: Sequence[Variable]) -> TupleAtom:
    """The atom of a relation with these columns, padded in front to the minimum number of
    columns."""
    return TupleAtom(name, (name,) * (_COLUMNS - len(columns)) + tuple(columns))
