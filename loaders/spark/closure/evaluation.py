"""Evaluation of a program on Spark: from asserted facts to the closure, with status and counters.

Start reading at `evaluate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np

from triplestore.data_classes import data_class
from triplestore.datalog.program import TYPE, Program
from triplestore.loaders.spark.closure.equality import KEPT_APART, Expanded, expanded, has_equality
from triplestore.loaders.spark.closure.expressions import Expressions
from triplestore.loaders.spark.closure.facts import Facts, Frame, local_frame, union
from triplestore.loaders.spark.closure.graphs import Graphs
from triplestore.loaders.spark.closure.groups import close_group, is_empty, structure_in_force
from triplestore.loaders.spark.closure.joins import Joiner
from triplestore.loaders.spark.closure.naming import Naming
from triplestore.loaders.spark.closure.options import Options
from triplestore.loaders.spark.closure.phases import Phase, nonrecursive, phases_of
from triplestore.loaders.spark.closure.rounds import Progress, Rounds
from triplestore.loaders.spark.closure.shapes import (
    TRIPLE,
    Shape,
    atoms_of,
    constants_of,
    facts_of,
    flat_terms,
    shapes_of,
)
from triplestore.reasoning.violations import NOTHING
from triplestore.relations.status import EXPLICIT, INFERRED
from triplestore.rules.compiled_program import Compiled
from triplestore.terms.vocabulary import OWL

_NOTHING = b"\x01" + OWL.encode() + b"Nothing"


@data_class(frozen=False)
class Evaluated:
    """A program and its closure."""

    compiled: Compiled
    ids: dict[bytes, int]
    naming: Naming
    facts: Facts
    rounds: Rounds
    others: list[Facts] = field(default_factory=list)

    def release(self) -> None:
        """Release the frames of this evaluation."""
        for facts in (self.facts, *self.others):
            facts.close()

    def counted(self) -> Frame:
        """All facts with `status` and `count`, the number of nonrecursive instances."""
        numbers = nonrecursive(self.compiled)
        rules = [(number, self.compiled.rules[number]) for number in numbers]
        asserted = facts_of((rule for _, rule in rules), self.ids)
        counts = self.rounds.instances(shapes_of(rules, self.ids), asserted)
        columns = self.facts.columns
        found = self.facts.every().join(self.facts.beside(counts), columns, "left")
        status = f"IF(r = 0, {EXPLICIT}, {INFERRED}) AS status"
        return self.facts.gathered(
            found.selectExpr(*columns, status, "coalesce(count, 0L) AS count")
        )

    def violations(self) -> dict[str, int]:
        """Number of violations of each constraint, by its id; also of members of owl:Nothing."""
        found: dict[str, int] = {}
        known = self.facts.known
        constraints = self.compiled.simple.violations.values()
        if not any(constraint.id == "cls-nothing2" for constraint in constraints):
            members = known.classes.get(self.naming.known_ids([_NOTHING])[_NOTHING], 0)
            found |= {NOTHING: members} if members else {}
        for key, constraint in self.compiled.simple.violations.items():
            number = self.ids.get(key, -1)
            count = sum(n for (k, c), n in known.relations.items() if c == number and k > 2)
            if count:
                found[constraint.id] = found.get(constraint.id, 0) + count
        return found


def evaluate(
    program: Program,
    asserted: Frame,
    naming: Naming,
    work: str,
    options: Options,
    progress: Progress | None = None,
    more: Sequence[tuple[int, ...]] = (),
    before: Frame | None = None,
) -> Evaluated:
    """The closure of asserted triples (s, p, o; distinct) under a program.

    more    facts known to follow, as (arity, name, arguments); they save rounds
    before  triples known to follow
    """
    compiled = Compiled(program, _numbers())
    rules = compiled.rules
    ids = naming.ids_of([TYPE.key, *constants_of(rules), *compiled.simple.violations])
    ids = {**{key: i for key, i in naming.known_ids(KEPT_APART).items() if i}, **ids}
    spark = naming.spark
    width = max([TRIPLE, *(_arity(rule) for rule in rules)])
    parts = int(spark.conf.get("spark.sql.shuffle.partitions"))
    facts = Facts(spark, work, width, ids[TYPE.key], parts, options)
    joiner = Joiner(facts, Expressions(naming, facts), options.broadcast_rows)
    rounds = Rounds(facts, joiner, options, progress)
    evaluated = Evaluated(compiled, ids, naming, facts, rounds)
    graphs = Graphs(spark, work, options.driver_edges)
    given = [*facts_of(rules, ids), *more]
    begun = asserted if before is None else asserted.unionAll(before).dropDuplicates()
    known = _by_representatives(evaluated, begun, given, graphs, work, options)
    facts.start(facts.flat_triples(asserted))
    also = [] if before is None else [facts.flat_triples(before)]
    also += [] if known is None else [facts.flat_triples(known.triples)]
    if given or also:
        facts.add(union([facts.flat_rows(given), *also]))
    begun_at = facts.now
    for phase in phases_of(compiled):
        # Rules are settled for the facts of the beginning only.
        _run(phase, evaluated, graphs, known if facts.now == begun_at else None)
    return evaluated


def _by_representatives(
    evaluated: Evaluated,
    asserted: Frame,
    given: Sequence[tuple[int, ...]],
    graphs: Graphs,
    work: str,
    options: Options,
) -> Expanded | None:
    """The facts found by rewriting equals, if there are rules of equality.

    given  inferred facts known before
    """
    rules, naming = evaluated.compiled.rules, evaluated.naming
    if not options.representatives or not has_equality(rules):
        return None

    def follow(program: Program, rows: Frame, place: str) -> Frame:
        made = evaluate(program, rows, naming, place, options)
        evaluated.others.append(made.facts)
        return made.facts.every().where("k = 2").selectExpr("c1 AS s", "c0 AS p", "c2 AS o")

    rows = [row for row in given if row[0] == TRIPLE]
    if rows:
        more = local_frame(naming.spark, ["k", "p", "s", "o"], rows).select("s", "p", "o")
        asserted = asserted.unionAll(more).dropDuplicates()
    return expanded(rules, asserted, naming, graphs, work, follow)


def _run(phase: Phase, evaluated: Evaluated, graphs: Graphs, known: Expanded | None) -> None:
    facts, naming = evaluated.facts, evaluated.naming
    shapes = _shapes(evaluated, phase.rules)
    first = None
    if known is not None and not known.settled.isdisjoint(phase.rules):
        left = [number for number in phase.rules if number not in known.settled]
        copies = shapes_of([(-1, rule) for rule in known.first], evaluated.ids)
        first = [*_shapes(evaluated, left), *copies]
    evaluated.rounds.close(shapes, first)
    for owned in phase.groups:
        if is_empty(owned, facts, naming):
            continue
        structure = structure_in_force(owned, facts, naming)
        if structure is None:
            evaluated.rounds.close(_shapes(evaluated, sorted(owned.rules)))
        else:
            facts.add(close_group(structure, facts, naming, graphs))


def _shapes(evaluated: Evaluated, numbers: Sequence[int]) -> list[Shape]:
    rules = evaluated.compiled.rules
    return shapes_of(((number, rules[number]) for number in numbers), evaluated.ids)


def _arity(rule: Any) -> int:
    return max(len(flat_terms(atom)) - 1 for atom in atoms_of((*rule.heads, *rule.body)))


def _numbers() -> Any:
    """A function from keys to numbers, which the engine's compiler needs instead of ids."""
    known: dict[bytes, int] = {}

    def ids_of(keys: Sequence[bytes]) -> Any:
        return np.array([known.setdefault(key, len(known) + 1) for key in keys], np.uint32)

    return ids_of
