"""The input of a reasoner: a folder with rules, and the same integers in files for all reasoners.

Start at `make_task` and `Task`. In the folder:

    rules.dlog     the program, in this project's syntax
    NAME.csv       the rows of relation NAME, integers with commas between them
    columns.npy    all rows once more, as columns s, p, o of a graph
    facts.lp       all rows once more, as facts of logic programs (for clingo, which reads no CSV)
    data.ttl, ontology.ttl   the same as N-Triples, for peers that know OWL (not in every task)
    task.json      the description of the task

rdf:type gets the first number, then the program's constants in their order, then all other terms.
Always true: a task is complete or does not exist; a task of an existing name is not made again.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.reasoners.program import (
    TRIPLES,
    TYPE_NUMBER,
    TYPES,
    Clause,
    Layout,
    Relation,
    class_relation,
    number_constants,
    property_relation,
    relations_of,
    translate,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from triplestore.datalog.program import Program

    U32 = NDArray[np.uint32]


PLACES = ("subject", "predicate", "object")


@dataclass(frozen=True)
class Columns:
    """Statements as columns of numbers, each once, and the numbers of the program's constants."""

    s: U32
    p: U32
    o: U32
    numbers: Mapping[bytes, int]


@dataclass(frozen=True)
class Task:
    """A folder made by `make_task`; cheap to open; files are read when needed.

    rows      relation -> its number of rows, for relations with data
    terms     the greatest number of a term
    rdf       whether it has data.ttl and ontology.ttl
    """

    folder: Path
    name: str
    layout: Layout
    rows: Mapping[Relation, int]
    terms: int = 0
    rdf: bool = False

    @classmethod
    def open(cls, folder: Path | str) -> Task:
        """The task in a folder."""
        folder = Path(folder)
        kept: dict[str, Any] = json.loads((folder / "task.json").read_text())
        rows = {Relation(name, arity): count for name, arity, count in kept["rows"]}
        return cls(folder, kept["name"], kept["layout"], rows, kept["terms"], kept["rdf"])

    @property
    def facts(self) -> int:
        """The number of rows of all relations."""
        return sum(self.rows.values())

    def rules(self) -> str:
        """The program's text."""
        return (self.folder / "rules.dlog").read_text()

    def program(self) -> Program:
        """The program."""
        from triplestore.datalog.text import read

        return read(self.rules())

    def clauses(self) -> list[Clause]:
        """The program over integers."""
        program = self.program()
        return translate(program, number_constants(program), self.layout)

    def relations(self, clauses: list[Clause]) -> list[Relation]:
        """All relations: those with data, and those that only rules have."""
        return list(dict.fromkeys([*self.rows, *relations_of(clauses)]))

    def csv(self, relation: Relation) -> Path:
        """The rows of a relation."""
        return self.folder / f"{relation.name}.csv"


def is_made(folder: Path) -> bool:
    """Whether a folder has the files of a task."""
    return (folder / "task.json").exists() and (folder / "columns.npy").exists()


def make_task(
    folder: Path,
    name: str,
    rules: str,
    columns: Columns,
    layout: Layout = "split",
    *,
    data: Path | None = None,
    ontology: Path | None = None,
) -> Task:
    """Write a task's files unless they exist; tasks are identified by the name of their folder."""
    if not is_made(folder):
        shutil.rmtree(folder, ignore_errors=True)
        unfinished = folder.with_name(folder.name + ".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        _write(unfinished, name, rules, columns, layout, data, ontology)
        unfinished.rename(folder)
    return Task.open(folder)


def _write(
    folder: Path,
    name: str,
    rules: str,
    columns: Columns,
    layout: Layout,
    data: Path | None,
    ontology: Path | None,
) -> None:
    import numpy as np

    (folder / "rules.dlog").write_text(rules)
    np.save(folder / "columns.npy", np.stack([columns.s, columns.p, columns.o]))
    rows = []
    with (folder / "facts.lp").open("w") as facts:
        for relation, table in tables_of(columns, layout):
            rows.append((*relation, len(table)))
            np.savetxt(folder / f"{relation.name}.csv", table, fmt="%d", delimiter=",")
            np.savetxt(facts, table, fmt=f"{relation.name}({','.join(['%d'] * relation.arity)}).")
    rdf = data is not None and ontology is not None
    if data is not None and ontology is not None:
        (folder / "data.ttl").symlink_to(data.resolve())
        _as_ntriples(ontology, folder / "ontology.ttl")
    terms = max([len(columns.numbers), *(int(c.max()) for c in (columns.s, columns.o) if len(c))])
    about = {"name": name, "layout": layout, "rows": rows, "terms": terms, "rdf": rdf}
    (folder / "task.json").write_text(json.dumps(about, indent=1))


def _as_ntriples(source: Path, target: Path) -> None:
    from pyoxigraph import RdfFormat, parse, serialize

    ending = source.suffix.lstrip(".")
    known = RdfFormat.RDF_XML if ending == "owl" else RdfFormat.from_extension(ending)
    axioms = (quad.triple for quad in parse(path=str(source), format=known))
    target.write_bytes(serialize(axioms, format=RdfFormat.N_TRIPLES) or b"")


def tables_of(columns: Columns, layout: Layout) -> Iterator[tuple[Relation, U32]]:
    """The relations of statements in a layout, each with its sorted rows."""
    import numpy as np

    s, p, o = columns.s, columns.p, columns.o
    if layout == "triples":
        order = np.lexsort((o, s, p))
        yield TRIPLES, np.column_stack((s[order], p[order], o[order]))
        return
    order = np.lexsort((o, s, p))
    s, p, o = s[order], p[order], o[order]
    for number, start, stop in _runs(p):
        members, classes = s[start:stop], o[start:stop]
        if number != TYPE_NUMBER:
            yield property_relation(number), np.column_stack((members, classes))
        elif layout == "typed":
            yield TYPES, np.column_stack((members, classes))
        else:
            order = np.lexsort((members, classes))
            members, classes = members[order], classes[order]
            for one, first, last in _runs(classes):
                yield class_relation(one), members[first:last, None]


def _runs(column: U32) -> Iterator[tuple[int, int, int]]:
    """Each value of a sorted column with the places where it begins and ends."""
    import numpy as np

    values, starts, counts = np.unique(column, return_index=True, return_counts=True)
    yield from zip(values.tolist(), starts.tolist(), (starts + counts).tolist(), strict=True)


def columns_of_file(path: Path, format: str, program: Program) -> Columns:
    """The statements of an RDF file as numbers, for a program."""
    from triplestore import Store

    store = Store()
    store.load(path=path, format=format)
    return columns_of_store(store, program)


def columns_of_store(store: Any, program: Program) -> Columns:
    """The statements of a store as numbers: rdf:type and the program's constants first."""
    import numpy as np

    from triplestore.terms.term_keys import term_of

    blocks = list(store.rows_for_pattern())
    if not blocks:
        nothing = np.empty(0, np.uint32)
        return Columns(nothing, nothing, nothing, number_constants(program))
    old = [np.concatenate([getattr(rows, name) for rows in blocks]) for name in PLACES]
    numbers = number_constants(program)
    known = store.lookup_ids([term_of(key) for key in numbers])
    size = max(int(column.max()) for column in old) + 1
    new = np.zeros(max(size, int(known.max()) + 1), np.uint32)
    present = known != 0
    new[known[present]] = np.fromiter(numbers.values(), np.uint32)[present]
    rest = np.flatnonzero(new[1:] == 0) + 1
    new[rest] = np.arange(len(numbers) + 1, len(numbers) + 1 + len(rest), dtype=np.uint32)
    s, p, o = (new[column] for column in old)
    return Columns(s, p, o, numbers)
