"""A plain-Python model of the tables: dicts from rows to (status, count), and random commits."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from hypothesis import strategies as st

from triplestore.checked_columns import Column
from triplestore.relations import (
    EXPLICIT,
    GRAPHS,
    INFERRED,
    ChangedRows,
    Changes,
    Layer,
    Tables,
    merge_layers,
)

Row = tuple[int, ...]
Rows = dict[Row, tuple[int, int]]

# Few ids make rows meet; large ones use all 32 bits.
PREDICATES = [1, 2, 0xFFFFFFFF]
TERMS = [1, 2, 3, 4, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]
NAMED = [5, 6, 0xFFFFFFFE]

terms = st.sampled_from(TERMS)
facts = st.tuples(st.sampled_from(PREDICATES), terms, terms)
quads = st.tuples(st.sampled_from(PREDICATES), terms, terms, st.sampled_from(NAMED))
words = st.tuples(st.sampled_from([0, EXPLICIT, INFERRED]), st.integers(0, 3))
# The same triple in several graphs, and the same rows in several commits.
few_quads = st.tuples(
    st.sampled_from([1, 2]), *[st.sampled_from([1, 0xFFFFFFFF])] * 2, st.sampled_from(NAMED)
)
tuple_names = [(7, 1), (7, 3), (8, 4)]


@st.composite
def commits(draw: st.DrawFn) -> dict[str, dict[Row, tuple[int, int]]]:
    """What one commit says: by kind, for some rows, the new status and count."""
    commit = {
        "facts": draw(st.dictionaries(facts, words, max_size=12)),
        "quads": draw(st.dictionaries(st.one_of(quads, few_quads), words, max_size=10)),
        "graphs": draw(st.dictionaries(st.tuples(st.sampled_from(NAMED)), words, max_size=2)),
    }
    for name, arity in tuple_names:
        rows = st.dictionaries(st.tuples(*[terms] * arity), words, max_size=4)
        commit[f"{name}/{arity}"] = draw(rows)
    return commit


class Model:
    """All rows that hold, by kind."""

    def __init__(self) -> None:
        self.kinds: dict[str, Rows] = {}

    def rows(self, kind: str, where: int = 3) -> set[Row]:
        held = self.kinds.get(kind, {})
        return {row for row, (status, _) in held.items() if status & where}

    def status(self, kind: str, row: Row) -> int:
        return self.kinds.get(kind, {}).get(row, (0, 0))[0]

    def count(self, kind: str, row: Row) -> int:
        return self.kinds.get(kind, {}).get(row, (0, 0))[1]

    def changes(self, commit: dict[str, dict[Row, tuple[int, int]]], counted: bool) -> Changes:
        """The commit as `Changes`, with the statuses that rows have in this model."""
        made = {
            kind: self._changed(kind, words, counted) for kind, words in commit.items() if words
        }
        tuples = {}
        for kind in list(made):
            if "/" in kind:
                name, arity = kind.split("/")
                tuples[int(name), int(arity)] = made.pop(kind)
        return Changes(**made, tuples=tuples)

    def _changed(self, kind: str, words: Rows, counted: bool) -> ChangedRows:
        rows = list(words)
        columns = np.array(rows, dtype=np.uint32).reshape(len(rows), -1).T
        return ChangedRows.of(
            list(columns),
            np.array([words[row][0] for row in rows], dtype=np.uint8),
            np.array([self.status(kind, row) for row in rows], dtype=np.uint8),
            np.array([words[row][1] for row in rows], dtype=np.uint32) if counted else None,
        )

    def apply(self, commit: dict[str, dict[Row, tuple[int, int]]], counted: bool) -> None:
        for kind, words in commit.items():
            held = self.kinds.setdefault(kind, {})
            for row, (status, count) in words.items():
                held.pop(row, None)
                if status:
                    held[row] = status, count if counted else 0


class FakeGuard:
    """Says that bytes must be verified, and remembers which were."""

    block = 64

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def verify(self, start: int, stop: int) -> None:
        if start >= stop:  # nothing to verify, as for the guard of a file
            return
        self.seen.update(range(start // self.block, (stop - 1) // self.block + 1))

    def verified(self, start: int, stop: int) -> bool:
        return set(range(start // self.block, (stop - 1) // self.block + 1)) <= self.seen

    def verify_at(self, offsets: np.ndarray) -> None:
        self.seen.update((offsets // self.block).tolist())

    def go_on(self) -> None:
        """Nothing beyond what is asked for."""


def reopened(layer: Layer) -> Layer:
    """The layer after a way through its sections, with columns as they come from a file."""
    sections = {name: np.frombuffer(a.tobytes(), a.dtype) for name, a in layer.sections().items()}

    def get(name: str) -> Column:
        return Column(sections[name], FakeGuard(), sections[name][::4096].copy())

    again = Layer.from_sections(get, json.loads(json.dumps(layer.meta)))
    assert again.rows == layer.rows
    return again


def array(values: Any) -> np.ndarray:
    return np.array(list(values), dtype=np.uint32)


def table_rows(tables: Tables, kind: str, where: int = 3) -> list[Row]:
    """All rows of one kind, by scanning."""
    if kind == "facts":
        return [
            (int(name), *row)
            for name in tables.names()
            for row in scanned(tables.relation(int(name)), where)
        ]
    if kind == "quads":
        return [
            (int(name), *row)
            for name in tables.quad_names()
            for row in scanned(tables.quads(int(name)), where)
        ]
    name = GRAPHS if kind == "graphs" else tuple(int(part) for part in kind.split("/"))
    return scanned(tables.tuples(*name), where)


def scanned(relation: Any, where: int = 3, **options: Any) -> list[Row]:
    rows: list[Row] = []
    for block in relation.scan(where, **options):
        rows += zip(*(column.tolist() for column in block), strict=True)
    return rows


def merge_all(tables: Tables) -> Tables:
    return Tables([merge_layers(tables.layers, bottom=True)] if tables.layers else [])
