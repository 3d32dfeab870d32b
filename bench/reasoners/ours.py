"""This project, with the same integers as all peers; the only file that uses its internals.

Integers are used as ids: a dictionary made before gives the program's constants their numbers of
the task (1, 2, 3, ...), and all other numbers generated terms. Rows are committed as one layer, as
by a bulk load.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.reasoners.program import (
    TYPE_NUMBER,
    number_constants,
    tuple_relation,
)
from bench.reasoners.task import Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from triplestore import Store
    from triplestore.datalog.program import Program

    U32 = NDArray[np.uint32]


WARMING = """@prefix : <http://example.org/> .
:D[?x] :- :C[?x] .
:E[?y] :- :q[?x, ?y] .
:F[?x] :- :D[?x], :q[?x, ?y], :E[?y] .
:q[?x, ?y] :- :p[?x, ?y] .
:r[?y, ?x] :- :q[?x, ?y] .
:G[?x] :- :s[?x, ?y] .
:H[?x] :- :G[?x] .
:G[?x] :- :q[?x, ?y], :H[?y] .
:r[?x, ?z] :- :r[?x, ?y], :r[?y, ?z] .
:t[?x, ?z] :- :q[?x, ?y], :s[?y, ?z] .
:E[?x] :- :u[?x, ?y] .
:w[?x, ?z] :- :q[?x, ?y], :p[?y, ?z], :q[?z, ?x] .
"""


def store_of_terms(program: Program, terms: int) -> Store:
    """An empty store in memory with this many numbered terms, the program's constants first."""
    from triplestore import Store
    from triplestore.terms import TermSegment

    store = Store()
    database: Any = store._database
    keys = list(number_constants(program))
    keys += [b"\x01http://example.org/i%d" % number for number in range(len(keys) + 1, terms + 1)]
    with database.writing():
        database.commit(segment=TermSegment.from_keys(1, keys), meta={"bench": b""})
    return store


def state_csv(store: Store, task: Task) -> None:
    """Assert all rows of a task, read from the files that peers read."""
    from bench.inputs.csv_integers import read_integers
    from triplestore.relations.layers.bulk import bulk_of_relations

    database: Any = store._database
    if task.layout == "triples":
        (relation,) = task.rows
        state_columns(store, *read_integers(task.csv(relation), 3))
        return
    with database.writing():
        database.commit([bulk_of_relations(relations_of_csv(task))])


def state_columns(store: Store, s: U32, p: U32, o: U32) -> None:
    """Assert some rows of integers."""
    from triplestore.relations import bulk_layer

    database: Any = store._database
    with database.writing():
        database.commit([bulk_layer(p, s, o)])


def relations_of_csv(task: Task) -> dict[int, list[tuple[U32, U32 | int]]]:
    """All rows of a task by predicate, read from the files that peers read."""
    from bench.inputs.csv_integers import read_all

    tables = read_all([(task.csv(relation), relation.arity) for relation in task.rows])
    found: dict[int, list[tuple[U32, U32 | int]]] = {}
    for relation, columns in zip(task.rows, tables, strict=True):
        if relation.arity == 1:
            piece: tuple[U32, U32 | int] = (columns[0], int(relation.name[1:]))
            found.setdefault(TYPE_NUMBER, []).append(piece)
        else:
            number = TYPE_NUMBER if relation.name == "type" else int(relation.name[1:])
            found.setdefault(number, []).append((columns[0], columns[1]))
    return found


def columns_of_arrays(task: Task) -> tuple[U32, U32, U32]:
    """All rows of a task, read from arrays."""
    import numpy as np

    s, p, o = np.load(task.folder / "columns.npy")
    return s, p, o


class OurSession:
    def __init__(self, task: Task, arrays: bool) -> None:
        self.task = task
        self.text = task.rules()
        self.arrays = arrays
        self.program: Any = None
        self.store: Any = store_of_terms(task.program(), task.terms)

    def parse(self) -> None:
        from triplestore.datalog.text import read

        self.program = read(self.text)

    def load(self) -> None:
        if self.arrays:
            state_columns(self.store, *columns_of_arrays(self.task))
        else:
            state_csv(self.store, self.task)

    def reason(self) -> None:
        self.store.reason(rules=self.program)

    def inside(self) -> Mapping[str, float]:
        return {}

    def count(self) -> int:
        return len(self.store) + sum(len(rows) for rows in self.user_relations().values())

    def user_relations(self) -> dict[str, set[tuple[int, ...]]]:
        """Rows of relations with three columns or more, by name; the engine's own are left out."""
        tables, known = self.store._database.state.tables, number_constants(self.program).values()
        return {
            tuple_relation(name, arity).name: {
                row
                for columns in tables.tuples(name, arity).scan()
                for row in zip(*(column.tolist() for column in columns), strict=True)
            }
            for name, arity in tables.tuple_names()
            if name in known
        }

    def contents(self) -> set[tuple[Any, ...]]:
        found: set[tuple[Any, ...]] = {
            (name, *row) for name, rows in self.user_relations().items() for row in rows
        }
        for rows in self.store.rows_for_pattern():
            triples = zip(
                rows.subject.tolist(), rows.predicate.tolist(), rows.object.tolist(), strict=True
            )
            found.update(_as_row(*triple, self.task.layout) for triple in triples)
        return found


def _as_row(s: int, p: int, o: int, layout: str) -> tuple[Any, ...]:
    if layout == "triples":
        return ("t", s, p, o)
    if p != TYPE_NUMBER:
        return (f"p{p}", s, o)
    return ("type", s, o) if layout == "typed" else (f"c{o}", s)


def _read_some() -> None:
    """Read some integers from a file, so that the kernel for that is loaded."""
    from tempfile import TemporaryDirectory

    from bench.inputs.csv_integers import read_integers

    with TemporaryDirectory() as folder:
        path = Path(folder) / "some.csv"
        path.write_text("1,2")
        read_integers(path, 2)


class OurReasoner:
    packages = ("triplestore", "numpy", "numba")
    modules = ("triplestore",)
    rdf = False

    def __init__(self, name: str, arrays: bool) -> None:
        self.name = name
        self.arrays = arrays

    def refuses(self, task: Task) -> str | None:
        from triplestore import Store

        return None if hasattr(Store, "reason") else "this version does not reason"

    def start(self) -> None:
        """Import numba and read the compiled kernels, by a closure that goes through them."""
        import numpy as np

        from triplestore.datalog.text import read

        program = read(WARMING)
        numbers = {key.rpartition(b"/")[2]: n for key, n in number_constants(program).items()}
        store: Any = store_of_terms(program, 110_000)
        _read_some()
        s = np.arange(100, 100_100, dtype=np.uint32)
        p = np.full(len(s), numbers[b"p"], np.uint32)
        types = np.full(len(s), TYPE_NUMBER, np.uint32)
        members = np.full(len(s), numbers[b"C"], np.uint32)
        # A closure of some depth, to load the kernels that flat data do not need.
        steps = np.arange(100, 1_100, dtype=np.uint32)
        deeper = np.full(len(steps), numbers[b"r"], np.uint32)
        few = s[:5_000]
        wide = np.full(len(few), numbers[b"s"], np.uint32)
        # Few conclusions, which are not counted by class, beside many, which are.
        last = np.full(5, numbers[b"u"], np.uint32)
        columns = (
            (s, s, steps, steps[:500], few, few[:5]),
            (p, types, deeper, deeper[:500], wide, last),
            (
                s ^ np.uint32(1),
                members,
                steps + np.uint32(1),
                steps[500:] + np.uint32(10),
                few,
                few[:5],
            ),
        )
        state_columns(store, *map(np.concatenate, columns))
        store.reason(rules=program)
        store.close()

    def open(self, task: Task) -> OurSession:
        return OurSession(task, self.arrays)
