"""Random programs, facts and schedules of updates, the same for the same seed.

Start at `random_case`: a program, explicit facts, and steps that add and remove facts, rules and
constraints. All programs of a case pass `datalog.check` without errors, and their closures are
finite: expressions make few new terms. `features.ALL` says how likely each feature is, and
`ALL.without(...)` switches some off.

Names: classes A-C, properties p-r, relations v/3 and w/4, terms a-c and small integers. Classes and
properties are also described by facts (`sub(p, q)`, `A(p)`), so that rules with a variable
property or class find something to bind it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from tests.maintenance.features import ALL, Features, bound_variables, found_in, variables_of
from tests.maintenance.naive import Fact
from tests.maintenance.notation import TYPE_KEY, key
from triplestore.datalog.check import check
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
    Term,
    TripleAtom,
    TupleAtom,
    Variable,
)
from triplestore.expressions.text.expression_parser import parse_expression
from triplestore.expressions.tree import Expression


class UpdateStep(NamedTuple):
    """One update. What is both deleted and added is there afterwards.

    Facts to add may hold already, facts to delete may be absent or only inferred.
    """

    additions: frozenset[Fact]
    deletions: frozenset[Fact]
    added: Program = Program()
    removed: Program = Program()


class Case(NamedTuple):
    """A program with explicit facts, and updates to them."""

    seed: int
    program: Program
    facts: frozenset[Fact]
    steps: tuple[UpdateStep, ...]

    def states(self) -> Iterator[tuple[Program, frozenset[Fact]]]:
        """The program and the explicit facts: at first, and after each step."""
        program, facts = self.program, self.facts
        yield program, facts
        for step in self.steps:
            program = program - step.removed + step.added
            facts = (facts - step.deletions) | step.additions
            yield program, facts


def random_case(
    seed: int, features: Features = ALL, steps: int = 4, made_by: type[Maker] | None = None
) -> Case:
    """A program of 2 to 8 clauses, with 5 to 30 facts and some steps."""
    maker = (made_by or Maker)(random.Random(seed), features)
    rng = maker.rng
    changes = features.rule_changes > 0
    pool = maker.clauses(rng.randint(2, 8) + (rng.randint(1, 3) if changes else 0))
    start = rng.sample(pool, max(2, len(pool) - rng.randint(1, 3))) if changes else pool
    program = program_of(start)
    facts = maker.facts(rng.choice((5, 10, 20, 30, 30)))
    made = []
    current, held = program, set(facts)
    for _ in range(steps):
        step = maker.step(current, held, pool)
        current = current - step.removed + step.added
        held = (held - step.deletions) | step.additions
        made.append(step)
    return Case(seed, program, frozenset(facts), tuple(made))


def random_program(seed: int, features: Features = ALL, clauses: int | None = None) -> Program:
    """A program alone."""
    maker = Maker(random.Random(seed), features)
    return program_of(maker.clauses(clauses or maker.rng.randint(2, 8)))


def is_accepted(program: Program) -> bool:
    """Whether a program has no errors; warnings do not count."""
    return all(problem.warning for problem in check(program))


def program_of(clauses: list[Rule | Constraint]) -> Program:
    rules = [one for one in clauses if isinstance(one, Rule)]
    return Program(rules, [one for one in clauses if isinstance(one, Constraint)])


# --- the vocabulary ------------------------------------------------------------------------------

CLASSES = [Constant(key(name)) for name in "ABC"]
PROPERTIES = [Constant(key(name)) for name in "pqr"]
SUB = Constant(key("sub"))
RELATIONS = [(Constant(key("v")), 3), (Constant(key("w")), 4)]
PEOPLE = [key(name) for name in "abc"]
NUMBERS = [key(str(number)) for number in range(1, 4)]

OUTER = [Variable(name) for name in ("x", "y", "z", "u", "n")]
LOCAL = [Variable(name) for name in ("k", "l", "m")]

CONDITIONS = (
    "?1 = ?2",
    "?1 != ?2",
    "?1 < ?2",
    "?1 >= ?2",
    "?1 < 3",
    "?1 > 1",
    "ISIRI(?1)",
    "!ISIRI(?1)",
    "?1 IN (<http://e/a>, <http://e/b>, 2)",
    "?1 + 1 > ?2 || ?1 = <http://e/c>",
    "STRLEN(STR(?1)) > 3 && ?1 != <http://e/d>",
)
# Whatever they are applied to, and however often, they make few different terms.
VALUES = (
    "IF(?1 < 4, ?1 + 1, 1)",
    "STRLEN(STR(?1))",
    "ISIRI(?1)",
    "IF(?1 = ?2, ?1, ?2)",
    "COALESCE(?1 * 0, ?1)",
    "<http://e/e>",
    "4",
)
AGGREGATES = ("count", "count", "sum", "min", "max", "avg", "sample")


@cache
def expression(template: str, one: Variable, other: Variable) -> Expression:
    return parse_expression(template.replace("?1", str(one)).replace("?2", str(other)))


class Maker:
    """Random clauses, facts and steps, drawn from one generator of numbers."""

    def __init__(self, rng: random.Random, features: Features) -> None:
        self.rng = rng
        self.features = features
        self.off = {name for name, likely in vars(features).items() if not likely}
        self.choose_names(few=True)

    def choose_names(self, few: bool) -> None:
        """Names for this case: few, so that atoms find facts.

        Atoms of higher ranks are concluded from lower ones, so that negation stratifies; what that
        does not ensure is left to `check`.
        """
        rng, features = self.rng, self.features
        self.classes = rng.sample(CLASSES, rng.randint(1, 3) if few else 3)
        self.properties = rng.sample(PROPERTIES, rng.randint(1, 3) if few else 3)
        self.relations = rng.sample(RELATIONS, rng.randint(1, 2) if few else 2)
        if self.chance(2 * (features.variable_property + features.variable_class)):
            self.properties.append(SUB)
        names = [*CLASSES, *PROPERTIES, SUB, *[name for name, _ in RELATIONS]]
        self.ranks = {name: rng.choice((0, 1, 1, 2, 2, 3)) for name in names}

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    # clauses

    def clauses(self, count: int) -> list[Rule | Constraint]:
        """Some clauses that are a program without errors together, and so in any selection."""
        made: list[Rule | Constraint] = []
        tries = 0
        while len(made) < count:
            tries += 1
            if tries % 50 == 0:  # what is switched off may leave nothing for these names
                made = []
                self.choose_names(few=False)
            clause = self.clause()
            program = program_of([*made, clause])
            if len(program) == len(made) or not is_accepted(program):
                continue  # it is there already, or does not fit the others
            if not self.off & found_in(program):
                made.append(clause)
        return made

    def clause(self) -> Rule | Constraint:
        features = self.features
        if self.chance(features.constraints):
            return Constraint(f"c{self.rng.randint(0, 99)}", "not so", self.body(4))
        if self.chance(features.bodiless):
            return Rule((self.atom(self.slice(0, 3), [], fresh=False),))
        if self.chance(features.shapes):
            return self.shaped()
        head = self.slice(1, 3, head=True)
        body = self.body(self.rank(head))
        bound = bound_variables(body)
        heads = [self.head(head, bound)]
        if self.chance(features.several_heads):
            heads.append(self.head(self.slice(self.rank(head), 3, head=True), bound))
        return Rule(tuple(heads), body)

    def shaped(self) -> Rule:
        """One of the usual rules, about random classes and properties."""
        x, y, z = OUTER[:3]
        p, q, r = (self.rng.choice(self.properties) for _ in range(3))
        a, b = (self.rng.choice(self.classes) for _ in range(2))
        head, *body = self.rng.choice(
            (
                (TripleAtom(x, p, z), TripleAtom(x, p, y), TripleAtom(y, p, z)),
                (TripleAtom(x, p, z), TripleAtom(x, q, y), TripleAtom(y, r, z)),
                (TripleAtom(y, p, x), TripleAtom(x, p, y)),
                (TripleAtom(y, p, x), TripleAtom(x, q, y)),
                (TripleAtom(x, p, y), TripleAtom(x, q, y)),
                (TripleAtom(y, TYPE, a), TripleAtom(x, TYPE, a), TripleAtom(x, p, y)),
                (TripleAtom(x, TYPE, a), TripleAtom(x, p, y)),
                (TripleAtom(x, TYPE, a), TripleAtom(x, TYPE, b)),
            )
        )
        return Rule((head,), tuple(body))

    def body(self, rank: int) -> tuple[Item, ...]:
        features = self.features
        items: list[Item] = []
        bound: list[Variable] = []
        for _ in range(self.rng.choice((1, 1, 2, 2, 2, 3))):
            least = rank if self.chance(features.recursion) else 0
            together = not self.chance(features.cartesian)
            atom = self.atom(self.slice(least, rank), bound, together=together)
            items.append(atom)
            bound += [one for one in variables_of(atom) if one not in bound]
        if self.chance(features.aggregates):
            items.append(self.aggregate(rank - 1, bound))
            if self.chance(0.3) and len(items) > 1:
                del items[0]  # also where nothing else binds the groups
            bound = bound_variables(items)
        if bound and self.chance(features.binds):
            free = [one for one in OUTER if one not in bound]
            if free:
                items.append(Bind(self.expression(VALUES, bound), self.rng.choice(free)))
                bound = bound_variables(items)
        items += self.tests(rank, bound)
        if self.chance(0.2):
            self.rng.shuffle(items)
        return tuple(items)

    def tests(self, rank: int, bound: list[Variable]) -> Iterator[Item]:
        """Filters and negations."""
        features = self.features
        if bound and self.chance(features.filters):
            yield Filter(self.expression(CONDITIONS, bound))
        if rank > 0:
            for _ in range(2):
                if bound and self.chance(features.negation):
                    yield Not((self.atom(self.slice(0, rank - 1), bound, fresh=False),))
                if self.chance(features.negation_body):
                    yield self.negation(rank - 1, bound)
            if bound and self.chance(features.negation_guard):
                atom = self.atom(self.slice(0, rank - 1), LOCAL[:1])
                two = self.rng.choice(LOCAL), self.rng.choice(bound)
                template = self.rng.choice([one for one in CONDITIONS if "?2" in one])
                yield Not((atom, Filter(expression(template, *two))))

    def negation(self, rank: int, bound: list[Variable]) -> Not:
        """An aggregate of a body with its own variables."""
        shared = self.rng.sample(bound, min(len(bound), self.rng.randint(0, 2)))
        items, _ = self.inner(rank, shared + LOCAL)
        return Not(items)

    def aggregate(self, rank: int, bound: list[Variable]) -> Aggregate:
        """An aggregate over a body with its own variables, grouped by some variables outside, or
        new ones."""
        free = [one for one in OUTER if one not in bound]
        shared = self.rng.sample(bound, min(len(bound), self.rng.randint(0, 2))) + free[:1]
        items, inner = self.inner(max(rank, 0), shared + LOCAL)
        groups = [one for one in inner if one in OUTER]  # other than those it cannot use a name
        results = []
        names = [one for one in OUTER if one not in bound and one not in inner]
        for name in names[: 2 if self.chance(0.2) else 1]:
            function = self.rng.choice(AGGREGATES)
            argument = self.rng.choice(inner) if inner else Constant(NUMBERS[0])
            if function == "count" and self.chance(0.3):
                results.append(Result(function, None, name))
            else:
                results.append(Result(function, argument, name, self.chance(0.3)))
        return Aggregate(items, tuple(groups), tuple(results))

    def inner(
        self, rank: int, variables: list[Variable]
    ) -> tuple[tuple[Item, ...], list[Variable]]:
        """A body without negations, and what it binds."""
        items: list[Item] = []
        bound: list[Variable] = []
        for _ in range(self.rng.choice((1, 1, 2))):
            atom = self.atom(self.slice(0, rank), variables, fresh=False)
            items.append(atom)
            bound += [one for one in variables_of(atom) if one not in bound]
        if bound and self.chance(self.features.filters):
            items.append(Filter(self.expression(CONDITIONS, bound)))
        return tuple(items), bound

    def expression(self, templates: tuple[str, ...], bound: list[Variable]) -> Expression:
        one, other = self.rng.choice(bound), self.rng.choice(bound)
        return expression(self.rng.choice(templates), one, other)

    # atoms

    def slice(self, least: int, most: int, head: bool = False) -> Constant | str:
        """A class, a property, a relation, or "any", "any class" for atoms with a variable."""
        features = self.features
        if most >= 2 and self.chance(features.variable_property * (1.5 if head else 1)):
            return "any"
        if most >= 2 and self.chance(features.variable_class * (1.5 if head else 1)):
            return "any class"
        kinds = self.rng.choices(
            (self.classes, self.properties, [name for name, _ in self.relations]),
            (features.classes, 1 - features.classes - features.tuples, features.tuples),
        )[0]
        fitting = [name for name in kinds if least <= self.ranks[name] <= most]
        return self.rng.choice(
            fitting or [one for one in kinds if self.ranks[one] <= most] or kinds
        )

    def rank(self, of: Constant | str) -> int:
        return 3 if isinstance(of, str) else self.ranks[of]

    def atom(
        self,
        of: Constant | str,
        variables: list[Variable],
        fresh: bool = True,
        together: bool = True,
    ) -> Atom:
        """An atom of a slice.

        fresh     it may have other variables beside these
        together  it has one of these (if there are any)
        """
        rng = self.rng
        new = [one for one in OUTER if one not in variables] if fresh else []
        old = variables if together or not new else []
        places = arity_of(of)
        terms: list[Term] = []
        for _ in range(places):
            pool = new if new and (not old or self.chance(0.5)) else old
            used = [one for one in terms if isinstance(one, Variable)]
            if not pool or self.chance(self.features.constants):
                terms.append(self.constant())
            elif used and self.chance(self.features.repeated):
                terms.append(rng.choice(used))
            else:
                terms.append(rng.choice([one for one in pool if one not in used] or pool))
        if together and old and not any(one in old for one in terms):
            terms[rng.randrange(places)] = rng.choice(old)
        return self.with_terms(of, terms)

    def head(self, of: Constant | str, bound: list[Variable]) -> Atom:
        return self.atom(of, bound, fresh=False)

    def with_terms(self, of: Constant | str, terms: list[Term]) -> Atom:
        if of == "any":
            if isinstance(terms[1], Constant):
                terms[1] = self.rng.choice(PROPERTIES)
            return TripleAtom(*terms)
        if of == "any class":
            if isinstance(terms[1], Constant):
                terms[1] = self.rng.choice(CLASSES)
            return TripleAtom(terms[0], TYPE, terms[1])
        if of in CLASSES:
            return TripleAtom(terms[0], TYPE, of)
        if len(terms) == 2:
            return TripleAtom(terms[0], of, terms[1])
        return TupleAtom(of, tuple(terms))

    def constant(self) -> Constant:
        if self.chance(self.features.literals / 2):
            return Constant(self.rng.choice(NUMBERS))
        return Constant(self.rng.choice(PEOPLE))

    # facts and steps

    def facts(self, count: int) -> set[Fact]:
        return {self.fact() for _ in range(count)}

    def fact(self) -> Fact:
        """A triple of RDF or a row; sometimes one about a class or a property."""
        rng, features = self.rng, self.features
        if self.chance(features.variable_property + features.variable_class):
            described = [one.key for one in rng.sample(CLASSES + PROPERTIES, 2)]
            if self.chance(0.5):
                return ("t", described[0], SUB.key, described[1])
            return ("t", described[0], TYPE_KEY, rng.choice(CLASSES).key)
        kind = rng.random()
        if kind < features.tuples:
            name, columns = rng.choice(self.relations)
            return ("r", name.key, *[self.object() for _ in range(columns)])
        subject = rng.choice(PEOPLE)
        if kind < features.tuples + features.classes:
            return ("t", subject, TYPE_KEY, rng.choice(self.classes).key)
        return ("t", subject, rng.choice(self.properties).key, self.object())

    def object(self) -> bytes:
        return self.rng.choice(NUMBERS if self.chance(self.features.literals) else PEOPLE)

    def step(self, program: Program, held: set[Fact], pool: list[Rule | Constraint]) -> UpdateStep:
        """A change of some facts, of many, or of none; and sometimes of the program."""
        rng = self.rng
        many = rng.choice((0, 1, 1, 1, 2, 2, 4, 8, len(held)))
        deletions = set(rng.sample(sorted(held), min(many, len(held))))
        deletions |= self.facts(rng.choice((0, 0, 1)))
        additions = self.facts(rng.choice((0, 1, 1, 2, 5, 10)))
        if deletions and self.chance(0.2):
            additions.add(rng.choice(sorted(deletions)))
        facts = frozenset(additions), frozenset(deletions)
        if not self.chance(self.features.rule_changes):
            return UpdateStep(*facts)
        inside = [one for one in pool if one in program]
        outside = [one for one in pool if one not in program]
        removed = rng.sample(inside, min(len(inside), rng.choice((0, 1, 1, 2))))
        added = rng.sample(outside, min(len(outside), rng.choice((0, 1, 1, 2))))
        return UpdateStep(*facts, program_of(added), program_of(removed))


def arity_of(of: Constant | str) -> int:
    if isinstance(of, str):
        return 3 if of == "any" else 2
    return 1 if of in CLASSES else dict(RELATIONS).get(of, 2)
