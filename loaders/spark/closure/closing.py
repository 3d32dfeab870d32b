"""The closure of a data set on Spark; the result is that of `load` and `reason` in a store.

Start reading at `close`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from triplestore.errors import UsageError
from triplestore.loaders.spark.closure.axioms import Axioms, ill_typed_keys
from triplestore.loaders.spark.closure.evaluation import Evaluated, evaluate
from triplestore.loaders.spark.closure.facts import Frame, local_frame, to_arrow
from triplestore.loaders.spark.closure.local_closure import closed_here
from triplestore.loaders.spark.closure.naming import Naming
from triplestore.loaders.spark.closure.options import Options
from triplestore.loaders.spark.closure.programs import Given, Programs
from triplestore.loaders.spark.closure.rounds import Progress
from triplestore.relations import ChangedRows
from triplestore.storage.metadata import FILES, HIDDEN, PREFIXES, REGIMES, bytes_of_prefixes

MAX_TURNS = 200
"""Maximum number of turns that find new axioms."""

TupleName = tuple[int, int]


@dataclass
class SparkClosure:
    """All facts of the default graph, and the other parts of a store with a closure.

    facts     s, p, o, status, count: asserted and inferred, each once
    rows      the same for relations of rules: k (arity), c0 (name), c1, ..., status, count
    quads     the statements of ontology files, in their graphs: s, p, o, g
    new_keys  keys of new terms, numbered after the terms of the data in this order
    meta      the program, the regimes and so on, as in a store after `Store.reason`
    counts    number of violations of each constraint, by its id
    figures   rounds, turns, rules, facts
    """

    facts: Frame
    rows: Frame
    quads: Frame
    new_keys: Sequence[bytes]
    meta: Mapping[str, bytes]
    counts: Mapping[str, int]
    figures: Mapping[str, int]
    _evaluated: Evaluated | None = field(default=None, repr=False)

    @cached_property
    def tuples(self) -> dict[TupleName, ChangedRows]:
        """The rows of relations of rules, on the driver."""
        listed = to_arrow(self.rows)
        k, c0, *columns, status, count = (
            listed.column(name).to_numpy().astype(np.int64) for name in listed.column_names
        )
        made = {}
        for arity, name in np.unique(np.stack([k, c0], axis=1), axis=0).tolist():
            some = (k == arity) & (c0 == name)
            own = [column[some] for column in columns[:arity]]
            order = np.lexsort(own[::-1])
            marks = status[some][order].astype(np.uint8), 0, count[some][order]
            made[name, arity] = ChangedRows.of([column[order] for column in own], *marks)
        return made

    def release(self) -> None:
        """Release the frames."""
        if self._evaluated is not None:
            self._evaluated.release()


def close(
    spark: Any,
    *,
    triples: Frame,
    terms: Frame,
    reason: Sequence[str] = (),
    rules: Any = None,
    ontology: Any = None,
    work: str,
    files: int = 0,
    prefixes: Mapping[str, str] | None = None,
    given: Given | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
    **told: Any,
) -> SparkClosure:
    """The closure of triples under regimes and rules, asserted facts included.

    triples   s, p, o and optionally g, as ids; distinct. Triples of named graphs (g) are ignored
    terms     id, key
    reason    names of regimes; `rules`, `ontology` and other options are those of `Store.reason`
    work      a directory (or URI) that all nodes see, for the tables of rounds
    files     number of files of the data; ontology files get the next numbers, for blank nodes
    prefixes  prefixes of the data, for rules in text
    given     rules in force, instead of `files` and `prefixes`
    progress  called after each round
    """
    options = options or Options()
    if told.get("scope") not in (None, "default"):
        raise UsageError("a closure on Spark has the default graph only: leave scope out")
    if "g" in triples.columns:
        triples = triples.where("g IS NULL")
    asserted = triples.select("s", "p", "o")
    if given is None:
        kept = {FILES: str(files).encode()} if files else {}
        if prefixes:
            kept[PREFIXES] = bytes_of_prefixes(prefixes)
        given = Given(kept)
    told = {**told, "rules": rules, "ontology": ontology}
    here = closed_here(spark, asserted, terms, given, reason, told, options)
    if here is not None:
        return SparkClosure(**{**here._asdict(), "quads": _quads(spark, here.quads)})
    naming = Naming(spark, terms, work, options.most_terms, options.held_rows)
    programs = _programs(asserted, naming, given, reason, told)
    regimes = bool(reason) or REGIMES in given.kept
    before: Evaluated | None = None
    for turn in range(1, MAX_TURNS + 1):
        place = f"{work.rstrip('/')}/turn-{turn}"
        known = None
        if before is not None and programs.grew:
            known = _triples(before).select("s", "p", "o")
        evaluated = evaluate(
            programs.program, asserted, naming, place, options, progress, programs.seeds(), known
        )
        if before is not None:
            before.release()
        if not programs.next(_axioms(_triples(evaluated), naming, programs.valued, regimes)):
            return _closure(spark, evaluated, programs, turn, place)
        before = evaluated
    raise UsageError("the axioms did not reach a fixpoint: each turn made new ones")


def _triples(evaluated: Evaluated) -> Frame:
    """The triples known so far, and whether they are asserted."""
    every = evaluated.facts.every().where("k = 2")
    return every.selectExpr("c1 AS s", "c0 AS p", "c2 AS o", "r = 0 AS asserted")


def _axioms(rows: Frame, naming: Naming, valued: Sequence[bytes], regimes: bool) -> Axioms:
    if not regimes:
        return Axioms(frozenset(), frozenset())
    return Axioms.of(rows, naming, valued)


def _programs(
    asserted: Frame,
    naming: Naming,
    given: Given,
    reason: Sequence[str],
    told: dict[str, Any],
) -> Programs:
    """The program of the asserted axioms, and of the literals that it needs."""
    regimes = bool(reason) or REGIMES in given.kept
    rows = asserted.selectExpr("s", "p", "o", "true AS asserted")
    made = Programs(naming, _axioms(rows, naming, (), regimes), (), given, reason, **told)
    ill = ill_typed_keys(naming) if made.looks_at_literals else []
    if not (ill or made.valued):
        return made
    axioms = _axioms(rows, naming, made.valued, regimes)
    return Programs(naming, axioms, ill, given, reason, **told)


def _closure(
    spark: Any, evaluated: Evaluated, programs: Programs, turn: int, place: str
) -> SparkClosure:
    counted = evaluated.counted()
    path = f"{place}/closed"
    counted.write.mode("overwrite").parquet(path)
    counted = spark.read.parquet(path)
    columns = evaluated.facts.columns
    facts = counted.where("k = 2").selectExpr("c1 AS s", "c0 AS p", "c2 AS o", "status", "count")
    meta = dict(programs.meta)
    hidden = _hidden(facts, evaluated.naming)
    if hidden:
        meta[HIDDEN] = str(hidden).encode()
    return SparkClosure(
        facts,
        counted.where("k > 2").select(*columns, "status", "count"),
        _quads(spark, programs.quads()),
        list(evaluated.naming.new),
        meta,
        evaluated.violations(),
        {
            "rounds": evaluated.rounds.count,
            "turns": turn,
            "rules": len(programs.program.rules),
            "facts": evaluated.facts.known.total,
        },
        evaluated,
    )


def _quads(spark: Any, rows: Sequence[Sequence[int]]) -> Frame:
    return local_frame(spark, ["s", "p", "o", "g"], rows)


def _hidden(facts: Frame, naming: Naming) -> int:
    """Number of facts that are not RDF triples (literal as subject, non-IRI as predicate)."""
    kind = "substr(key, 1, 1)"
    odd = naming.frame.where(f"{kind} NOT IN (X'01', X'02')").selectExpr("id AS s")
    named = facts.select("p").dropDuplicates()
    terms = naming.frame.where(f"{kind} <> X'01'").selectExpr("id AS p")
    names = [str(row[0]) for row in named.join(terms, "p").collect()]
    found = facts.join(odd, "s", "left_semi")
    if not names:
        return int(found.count())
    wrong = f"p IN ({', '.join(names)})"
    return int(found.where(f"NOT {wrong}").count() + facts.where(wrong).count())
