"""Many random programs closed by one job: each with its own names, so that they are independent.

Start at `together`, then `closed_on_spark`. A round of Spark costs the same for one program as for
twenty, and what is compared is each program's closure, as the oracle computes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from tests.maintenance.naive import Fact, counts, naive
from tests.maintenance.notation import NAMESPACE
from triplestore.datalog.program import (
    Aggregate,
    Bind,
    Constant,
    Constraint,
    Filter,
    Item,
    Not,
    Program,
    Rule,
    TupleAtom,
)
from triplestore.expressions.tree import Call, Expression
from triplestore.loaders.spark.closure.evaluation import Evaluated, evaluate
from triplestore.loaders.spark.closure.facts import from_arrow
from triplestore.loaders.spark.closure.naming import Naming
from triplestore.loaders.spark.closure.options import Options
from triplestore.loaders.spark.session import settings
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.simplify import is_helper
from triplestore.terms import Dictionary

SMALL_JOBS = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
}
"""Settings for quick jobs on a few rows: no compiled Java, no adaptive planning."""


def small_jobs(spark: Any) -> AbstractContextManager[Any]:
    """The session with these settings."""
    return settings(spark, SMALL_JOBS)


def all_shuffled(spark: Any) -> AbstractContextManager[Any]:
    """A session in which Spark broadcasts nothing automatically."""
    return settings(spark, {"spark.sql.autoBroadcastJoinThreshold": "-1"})


Counted = dict[Fact, tuple[bool, int]]
"""Facts with status (asserted or not) and counters."""


class Wanted(NamedTuple):
    """The results of the oracle."""

    facts: Counted
    violations: dict[str, int]


def together(cases: Iterable[tuple[Program, Iterable[Fact]]]) -> tuple[Program, set[Fact], Wanted]:
    """Several programs and their facts as one, and its closure."""
    rules: list[Rule] = []
    constraints: list[Constraint] = []
    triples: set[Fact] = set()
    wanted: Counted = {}
    violations: dict[str, int] = {}
    for number, (program, facts) in enumerate(cases):
        apart = Apart(number)
        own, stated = apart.program(program), {apart.fact(fact) for fact in facts}
        rows = [row_rule(fact) for fact in sorted(stated) if fact[0] == "r"]
        own = Program([*own.rules, *rows], own.constraints)
        stated = {fact for fact in stated if fact[0] == "t"}
        one = wanted_of(own, stated)
        wanted.update(one.facts)
        violations.update(one.violations)
        rules += own.rules
        constraints += own.constraints
        triples |= stated
    return Program(rules, constraints), triples, Wanted(wanted, violations)


def wanted_of(program: Program, stated: set[Fact]) -> Wanted:
    """The closure of a program, by the oracle."""
    found = naive(program, stated)
    compiled = Compiled(program, Dictionary().encode_keys)
    by_rule = counts(compiled.rules, stated, compiled.stratification).nonrecursive
    violations: dict[str, int] = {}
    for one in found.violations:
        violations[one.id] = violations.get(one.id, 0) + 1
    return Wanted({fact: (fact in stated, by_rule[fact]) for fact in found.facts}, violations)


def row_rule(fact: Fact) -> Rule:
    """The rule that states a row of a relation, which no store states otherwise."""
    _, name, *arguments = fact
    return Rule((TupleAtom(Constant(name), tuple(map(Constant, arguments))),))


class Apart:
    """Gives the names of one program their own namespace."""

    def __init__(self, number: int) -> None:
        self._from, self._to = NAMESPACE.encode(), f"{NAMESPACE}{number}/".encode()
        self._number = number

    def key(self, key: bytes) -> bytes:
        return key[:1] + key[1:].replace(self._from, self._to) if key[0] == 1 else key

    def fact(self, fact: Fact) -> Fact:
        return (fact[0], *map(self.key, fact[1:]))

    def program(self, program: Program) -> Program:
        rules = [
            replace(one, heads=self.items(one.heads), body=self.items(one.body))
            for one in program.rules
        ]
        constraints = [
            replace(one, id=f"{self._number}-{one.id}", body=self.items(one.body))
            for one in program.constraints
        ]
        return Program(rules, constraints)

    def items(self, items: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(map(self.item, items))

    def item(self, item: Item) -> Item:
        if isinstance(item, Filter | Bind):
            return replace(item, expression=self.expression(item.expression))
        if isinstance(item, Not | Aggregate):
            return replace(item, body=self.items(item.body))
        made = item.map(self.term)
        return replace(made, name=self.term(made.name)) if isinstance(made, TupleAtom) else made

    def term(self, term: Any) -> Any:
        return Constant(self.key(term.key)) if isinstance(term, Constant) else term

    def expression(self, expression: Expression) -> Expression:
        if isinstance(expression, Call):
            return Call(expression.function, tuple(map(self.expression, expression.arguments)))
        return self.term(expression)


class OnSpark(NamedTuple):
    """A closure as Spark computed it, with the keys of terms."""

    evaluated: Evaluated
    facts: Counted


def closed_on_spark(
    spark: Any, program: Program, stated: Iterable[Fact], work: Path, options: Options
) -> OnSpark:
    """The closure of triples, computed on Spark."""
    facts = sorted(stated)
    keys = sorted({key for fact in facts for key in fact[1:]})
    ids = {key: number for number, key in enumerate(keys, 1)}
    table = pa.table(
        {"id": pa.array(ids.values(), pa.int64()), "key": pa.array(ids.keys(), pa.binary())}
    )
    columns = [pa.array([ids[fact[i]] for fact in facts], pa.int64()) for i in (1, 2, 3)]
    triples = from_arrow(spark, pa.table(columns, ["s", "p", "o"]))
    naming = Naming(spark, from_arrow(spark, table), str(work), 10_000, options.held_rows)
    evaluated = evaluate(program, triples, naming, str(work), options)
    rows = evaluated.counted().collect()
    evaluated.release()
    key = naming.keys_of({value for row in rows for value in row[1:-2] if value})
    found: Counted = {}
    for k, *values, status, count in rows:
        terms = [key[value] for value in values[: k + 1]]
        fact = ("t", terms[1], terms[0], terms[2]) if k == 2 else ("r", *terms)
        found[fact] = (status == 1, count)
    return OnSpark(evaluated, found)


def assert_equal(found: OnSpark, wanted: Wanted) -> None:
    """Facts, status, counters and violations equal those of the oracle."""
    facts = {fact: said for fact, said in found.facts.items() if not is_made(fact)}
    assert wanted.facts.keys() - facts.keys() == set(), "facts are missing"
    assert facts.keys() - wanted.facts.keys() == set(), "facts do not follow"
    wrong = {fact: (said, wanted.facts[fact]) for fact, said in facts.items()}
    assert {fact: pair for fact, pair in wrong.items() if pair[0] != pair[1]} == {}
    assert found.evaluated.violations() == wanted.violations


def is_made(fact: Fact) -> bool:
    """Whether a fact is of a relation that the compiler made."""
    return fact[0] == "r" and is_helper(fact[1])
