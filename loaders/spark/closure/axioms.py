"""The triples with axioms, selected from the data on Spark.

Start reading at `Axioms.of`. The driver needs only the input of `ontologies`: triples whose
predicate or class is of a vocabulary, whether expressions have asserted members, whether two terms
are the same, and literals whose values axioms compare. All other triples stay on Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from triplestore.datalog.program import TYPE
from triplestore.errors import BudgetError
from triplestore.loaders.spark.closure.facts import Frame
from triplestore.loaders.spark.closure.naming import Naming
from triplestore.loaders.spark.jobs.workers import mapped
from triplestore.ontologies.model import vocabulary as names
from triplestore.reasoning.program.literals import MAX_ILL_TYPED, ill_typed
from triplestore.reasoning.program.outdated_rules import is_member
from triplestore.terms import Dictionary, key_of

MAX_AXIOMS = 5_000_000
"""Maximum number of triples of axioms on the driver."""

PREDICATES = sorted(key_of(node) for node in names.SCHEMA_PREDICATES | names.SWRL_PREDICATES)
CLASSES = sorted(key_of(node) for node in names.SCHEMA_CLASSES | names.SWRL_CLASSES)
SAME_AS = key_of(names.SAME_AS)

Triple = tuple[int, int, int]


class Axioms(NamedTuple):
    """Triples with axioms, as ids: asserted ones and inferred ones."""

    asserted: frozenset[Triple]
    inferred: frozenset[Triple]

    @classmethod
    def of(cls, rows: Frame, naming: Naming, valued: Iterable[bytes] = ()) -> Axioms:
        """The axioms among rows (s, p, o, asserted).

        valued  keys of properties whose literals are compared by value
        """
        taken = _Taking(rows, naming)
        found = [*taken.vocabulary(), *taken.equals(), *taken.members(), *taken.containers()]
        found += taken.literals(valued)
        if len(found) > MAX_AXIOMS:
            raise BudgetError(
                f"the data have more than {MAX_AXIOMS:,} triples of axioms, the driver's maximum"
            )
        asserted = frozenset((s, p, o) for s, p, o, is_asserted in found if is_asserted)
        inferred = frozenset((s, p, o) for s, p, o, is_asserted in found if not is_asserted)
        return cls(asserted, inferred - asserted)

    @property
    def ids(self) -> set[int]:
        """The ids of all terms."""
        return {number for triple in (*self.asserted, *self.inferred) for number in triple}


class _Taking:
    """Selects triples from rows."""

    def __init__(self, rows: Frame, naming: Naming) -> None:
        self._rows, self._naming = rows, naming
        ids = naming.known_ids([*PREDICATES, *CLASSES, SAME_AS, TYPE.key])
        self._type, self._same_as = ids[TYPE.key], ids[SAME_AS]
        predicates = [str(ids[key]) for key in PREDICATES if ids[key]]
        classes = [str(ids[key]) for key in CLASSES if ids[key]]
        tests = [f"p IN ({', '.join(predicates)})"] if predicates else []
        if classes:
            tests.append(f"(p = {self._type} AND o IN ({', '.join(classes)}))")
        self._test = " OR ".join(tests) or "false"

    def _schema(self) -> Frame:
        return self._rows.where(self._test)

    def _collect(self, rows: Frame) -> list[tuple[int, int, int, bool]]:
        limited = rows.select("s", "p", "o", "asserted").limit(MAX_AXIOMS + 1)
        return [(int(s), int(p), int(o), bool(asserted)) for s, p, o, asserted in limited.collect()]

    def vocabulary(self) -> list[tuple[int, int, int, bool]]:
        """The triples of a vocabulary."""
        return self._collect(self._schema())

    def equals(self) -> list[tuple[int, int, int, bool]]:
        """The equals of terms of axioms, and one pair of equal terms, if any."""
        if not self._same_as:
            return []
        pairs = self._rows.where(f"p = {self._same_as} AND s <> o")
        schema = self._schema()
        ends = schema.selectExpr("s AS i").unionAll(schema.selectExpr("o AS i"))
        ends = ends.unionAll(schema.selectExpr("p AS i")).dropDuplicates()
        found: list[tuple[int, int, int, bool]] = []
        things = self._naming.frame.where("substr(key, 1, 1) IN (X'01', X'02')").selectExpr(
            "id AS i"
        )
        for end in ("s", "o"):
            found += self._collect(pairs.join(ends, pairs[end] == ends["i"], "left_semi"))
            found += self._collect(
                pairs.join(things, pairs[end] == things["i"], "left_semi").limit(1)
            )
        return found

    def members(self) -> list[tuple[int, int, int, bool]]:
        """One asserted member of each class that an axiom names."""
        if not self._type:
            return []
        classes = self._schema().selectExpr("s AS i").dropDuplicates()
        types = self._rows.where(f"p = {self._type} AND asserted")
        held = types.join(classes, types["o"] == classes["i"], "left_semi").groupBy("o")
        return self._collect(
            held.agg({"s": "min"})
            .toDF("o", "s")
            .selectExpr("s", f"{self._type}L AS p", "o", "true AS asserted")
        )

    def containers(self) -> list[tuple[int, int, int, bool]]:
        """One triple of each property rdf:_1, rdf:_2 and so on."""
        prefix = key_of(names.TYPE)[: -len(b"type")] + b"_"
        like = f"substr(key, 1, {len(prefix)}) = X'{prefix.hex()}'"
        numbered = self._naming.frame.where(like).collect()
        ids = [str(number) for number, key in numbered if is_member(bytes(key))]
        if not ids:
            return []
        rows = self._rows.where(f"p IN ({', '.join(ids)})").groupBy("p")
        first = rows.agg({"s": "min", "o": "min", "asserted": "max"})
        picked = first.toDF("p", *[column.split("(")[1][:-1] for column in first.columns[1:]])
        return self._collect(picked)

    def literals(self, valued: Iterable[bytes]) -> list[tuple[int, int, int, bool]]:
        """One triple of each literal of properties of which values are compared."""
        ids = [str(i) for i in self._naming.known_ids(valued).values() if i]
        if not ids:
            return []
        kinds = "substr(key, 1, 1) IN (X'03', X'04', X'05')"
        literals = self._naming.frame.where(kinds).selectExpr("id AS i")
        rows = self._rows.where(f"p IN ({', '.join(ids)})")
        held = rows.join(literals, rows["o"] == literals["i"], "left_semi").groupBy("p", "o")
        picked = held.agg({"s": "min", "asserted": "max"})
        picked = picked.toDF("p", "o", *[c.split("(")[1][:-1] for c in picked.columns[2:]])
        return self._collect(picked)


def ill_typed_keys(naming: Naming) -> list[bytes]:
    """The first ill-typed literals by id, at most as many as are reported."""
    typed = naming.frame.where("substr(key, 1, 1) = X'05'")
    found = mapped(typed, ill_typed_of, typed.schema)
    return [bytes(key) for _, key in found.orderBy("id").limit(MAX_ILL_TYPED).collect()]


def ill_typed_of(batches: Iterable[Any]) -> Iterator[Any]:
    """The rows (id, key) of Arrow batches whose keys are ill-typed literals."""
    import pyarrow as pa

    for batch in batches:
        dictionary = Dictionary()
        dictionary.encode_keys(batch.column("key").to_pylist())
        wrong = set(ill_typed(dictionary))
        if wrong:
            seen = [key in wrong for key in batch.column("key").to_pylist()]
            yield batch.filter(pa.array(seen))
