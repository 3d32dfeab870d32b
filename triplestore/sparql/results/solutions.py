"""Results of queries: solutions of SELECT, triples of CONSTRUCT and DESCRIBE.

Start at `Solutions`. Rows are computed on demand as columns of ids, block by block; terms are made
on access. Always true: blocks that were read are kept, so that a result can be read again,
counted and converted to columns at any time, at 4 bytes per value. A result that ended with an
error does so each time, so that a part of the rows is never taken for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast

import numpy as np
import pyoxigraph as ox

from triplestore.errors import TripleStoreError
from triplestore.expressions.query_terms import QueryTerms
from triplestore.operators.context import Context, running
from triplestore.operators.frame import Frame
from triplestore.operators.operator import Operator
from triplestore.sparql.results.decode import terms_of
from triplestore.sparql.results.explanation import Explanation, explanation, plan_tree
from triplestore.sparql.results.text_table import text_table

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from triplestore.expressions.query_terms import U32
    from triplestore.sparql.cache.kept_plans import PlanLoan
    from triplestore.sparql.results.formats import FormatLike, Output
    from triplestore.terms import Term

WriteResult: TypeAlias = Callable[..., bytes | None]
"""Writes (result, output, format, *, prefixes) as a document; provided by the store."""

_FIRST_ROWS = 64
_MOST_ROWS = 8192
SHOWN_ROWS = 100
"""Maximum number of rows that are printed."""

COUNTED_ROWS = 10_000_000
"""Maximum number of rows that are computed to say in a notebook how many there are."""


_SHORT_NAMES = 1000  # maximum length of all names of variables whose class is cached


class Solution(tuple["Term | None", ...]):
    """One solution: its values by place, by name or by variable; None if unbound.

    Unknown names raise `KeyError` and places behind the last one `IndexError`, because None (as in
    pyoxigraph) would hide a misspelling.

    >>> row = solution_class(("x", "y"))((ox.Literal("a"), None))
    >>> row["x"].value, row[1], len(row)
    ('a', None, 2)
    """

    # A tuple, made by Python itself, with the names in its class: half of the time of an object
    # with two slots, and a third if all values are read.
    __slots__ = ()

    _names: ClassVar[tuple[str, ...]] = ()

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, int):
            return tuple.__getitem__(self, key)
        name = key.value if isinstance(key, ox.Variable) else key
        try:
            return tuple.__getitem__(self, self._names.index(name))
        except ValueError:
            raise KeyError(f"no variable ?{name}; the variables are {self._listed()}") from None

    def get(self, name: str | ox.Variable, default: Any = None) -> Any:
        """The value of a variable; `default` if it is unbound, or if there is no such variable.

        >>> row = solution_class(("x", "y"))((ox.Literal("a"), None))
        >>> row.get("x").value, row.get("y", "nothing"), row.get("z")
        ('a', 'nothing', None)
        """
        text = name.value if isinstance(name, ox.Variable) else name
        if text not in self._names:
            return default
        value = tuple.__getitem__(self, self._names.index(text))
        return default if value is None else value

    def _listed(self) -> str:
        return ", ".join(f"?{name}" for name in self._names) or "none"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Solution):
            return NotImplemented
        return self._names == other._names and tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self)

    def __repr__(self) -> str:
        pairs = zip(self._names, self, strict=True)
        return f"<solution {' '.join(f'?{name}={value}' for name, value in pairs)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _solution, (self._names, tuple(self))

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables."""
        return self._names

    def as_dict(self) -> dict[str, Term]:
        """The bound variables, and their values."""
        pairs = zip(self._names, self, strict=True)
        return {name: value for name, value in pairs if value is not None}


def solution_class(names: tuple[str, ...]) -> type[Solution]:
    """The class of solutions with these variables."""
    return _known_class(names) if sum(map(len, names)) <= _SHORT_NAMES else _new_class(names)


def _new_class(names: tuple[str, ...]) -> type[Solution]:
    return type("Solution", (Solution,), {"__slots__": (), "_names": names})


_known_class = lru_cache(256)(_new_class)


def _solution(names: tuple[str, ...], values: tuple[Term | None, ...]) -> Solution:
    """A solution that was pickled or copied."""
    return solution_class(names)(values)


class ResultRows:
    """Blocks of ids of a running plan, read on demand, and kept."""

    def __init__(self, plan: Operator, context: Context, loan: PlanLoan | None = None) -> None:
        self.plan = plan
        self._loan = loan
        self._context = context
        self._stream: Iterator[Frame] | None = plan.stream(context)
        self._blocks: list[Frame] = []
        self._failure: Callable[[], BaseException] | None = None

    def blocks(self) -> Iterator[Frame]:
        """All blocks; those already read come first."""
        place = 0
        while True:
            if place < len(self._blocks):
                yield self._blocks[place]
                place += 1
            elif not self._read():
                return

    def _read(self) -> bool:
        """Read one more block; False at the end, and the same error again after one."""
        if self._failure is not None:
            raise self._failure()
        if self._stream is None:
            return False
        try:
            with running(self._context):
                block = next(self._stream, None)
            self._context.charge(0 if block is None else block.nbytes)
        except BaseException as error:
            self._stream, self._failure = None, _again(error)
            raise
        if block is None:
            self._stream = None
            if self._loan is not None:
                self._loan.finished = True
            return False
        self._blocks.append(block)
        return True

    def run(self) -> None:
        """Read all blocks, unless that was tried and failed: for what the operators counted."""
        if self._failure is None:
            self.read_all()

    def read_all(self) -> list[Frame]:
        """All blocks."""
        while self._read():
            pass
        return self._blocks


def _again(error: BaseException) -> Callable[[], BaseException]:
    """Makes the error for a result that is read again after an error: it has a part of the rows.

    The error itself is not kept: it holds the frames that it passed.
    """
    if isinstance(error, TripleStoreError):
        return partial(type(error), str(error))
    why = f"{type(error).__name__}: {error}".removesuffix(": ")
    return partial(
        TripleStoreError, f"not all solutions were computed ({why}): ask the query again"
    )


class Solutions:
    """The solutions of a SELECT, in order.

    Iterate over it, take its length, print it, or convert it to columns: `to_arrow()`,
    `to_pandas()`, `to_polars()`. Iterating begins at once, while the rest is still computed.
    """

    def __init__(
        self,
        variables: tuple[str, ...],
        rows: ResultRows,
        terms: QueryTerms,
        prefixes: dict[str, str],
        write: WriteResult,
        advise: Callable[[], list[str]] = list,
    ) -> None:
        self._advise = advise
        self._write = write
        self.variables = variables
        self._rows = rows
        self._terms = terms
        self._prefixes = prefixes
        self._iterator: Iterator[Solution] | None = None

    def __iter__(self) -> Iterator[Solution]:
        return self._solutions()

    def __next__(self) -> Solution:
        if self._iterator is None:
            self._iterator = self._solutions()
        return next(self._iterator)

    def __len__(self) -> int:
        return sum(block.rows for block in self._rows.read_all())

    def __bool__(self) -> bool:
        return any(block.rows for block in self._rows.blocks())

    def _solutions(self) -> Iterator[Solution]:
        return map(solution_class(self.variables), self.tuples())

    def tuples(self) -> Iterator[tuple[Term | None, ...]]:
        """The solutions as plain tuples, in the order of the variables."""
        size = _FIRST_ROWS
        for block in self._rows.blocks():
            start = 0
            while start < block.rows:
                stop = min(start + size, block.rows)
                columns = [self._decoded(block, name, start, stop) for name in self.variables]
                if columns:
                    yield from zip(*columns, strict=True)
                else:
                    yield from [()] * (stop - start)
                start, size = stop, min(size * 4, _MOST_ROWS)

    def page(self, start: int, size: int) -> list[tuple[Term | None, ...]]:
        """The solutions `start` to `start + size`; those before them are computed, not decoded."""
        rows: list[tuple[Term | None, ...]] = []
        for block in self._rows.blocks():
            lo, hi = min(start, block.rows), min(start + size - len(rows), block.rows)
            if lo < hi:
                columns = [self._decoded(block, name, lo, hi) for name in self.variables]
                rows += zip(*columns, strict=True) if columns else [()] * (hi - lo)
            start = max(start - block.rows, 0)
            if len(rows) >= size:
                break
        return rows

    def _decoded(self, block: Frame, name: str, start: int, stop: int) -> list[Term | None]:
        if name not in block.names:
            return [None] * (stop - start)
        return terms_of(block[name][start:stop], self._terms)

    def ids(self, name: str) -> U32:
        """The ids of a column; those from 0xF0000000 on belong to the query, not to the store."""
        parts = []
        for block in self._rows.read_all():
            has = name in block.names
            parts.append(block[name] if has else np.zeros(block.rows, np.uint32))
        return np.concatenate(parts) if parts else np.zeros(0, np.uint32)

    def id_columns(self, most: int) -> list[U32] | None:
        """The columns of ids of all solutions; None if there are more than `most`."""
        parts: list[list[U32]] = [[] for _ in self.variables]
        for block in self._rows.blocks():
            most -= block.rows
            if most < 0:
                return None
            for name, part in zip(self.variables, parts, strict=True):
                has = name in block.names
                part.append(block[name] if has else np.zeros(block.rows, np.uint32))
        return [np.concatenate(part) if part else np.zeros(0, np.uint32) for part in parts]

    def keys(self, name: str) -> list[bytes | None]:
        """The terms of a column as the keys of `terms.term_keys`."""
        return self._terms.keys(self.ids(name))

    def explain(self) -> Explanation:
        """The plan as a tree: estimated and actual rows, time and memory of each operator.

        Likely mistakes come first, one per line. After an error it shows what was done until then.
        """
        self._rows.run()
        return explanation(self._rows.plan, self.advice(), self._terms)

    def explain_json(self, *, run: bool = True) -> dict[str, Any]:
        """The same as a tree of dicts; the topmost one also has the warnings.

        Without `run`, the plan is not run (further): rows and times are those so far.
        """
        if run:
            self._rows.run()
        return {**plan_tree(self._rows.plan, self._terms), "warnings": self.advice()}

    def advice(self) -> list[str]:
        """Likely mistakes: unbound variables, properties and classes without facts, products."""
        return self._advise()

    # --- as columns -----------------------------------------------------------------------------

    def to_arrow(self, *, typed: bool = True, languages: bool = False) -> pyarrow.Table:
        """The solutions as a table of pyarrow.

        A column of integers, decimals, doubles, booleans, dates or times (`xsd:dateTime`; all with
        time zones, in UTC, or none) has that type, if all its values have one datatype and fit; any
        other column has texts: IRIs and lexical forms. With `languages=True`, a column with texts
        in languages is followed by a column of the tags, `<name>_language`. With `typed=False` all
        columns have terms as in N-Triples, so that nothing is lost.
        """
        from triplestore.sparql.results.arrow import arrow_table

        return arrow_table(self.variables, self.ids, self._terms, typed, languages)

    def to_pandas(self, *, typed: bool = True, languages: bool = False) -> pandas.DataFrame:
        """The solutions as a DataFrame of pandas; see `to_arrow`."""
        return self.to_arrow(typed=typed, languages=languages).to_pandas()

    def to_polars(self, *, typed: bool = True, languages: bool = False) -> polars.DataFrame:
        """The solutions as a DataFrame of polars; see `to_arrow`."""
        import polars

        made = polars.from_arrow(self.to_arrow(typed=typed, languages=languages))
        return cast("polars.DataFrame", made)

    # --- as documents ---------------------------------------------------------------------------

    def serialize(
        self, output: Output | None = None, format: FormatLike | None = None
    ) -> bytes | None:
        """The solutions as JSON, XML, CSV, TSV, Parquet or Arrow: as bytes, or to a path or a file.

        `format` is one of pyoxigraph's, or a name; for a path the ending determines format and
        compression, and the file is written completely or not at all. Blocks are written as they
        are computed.
        """
        return self._write(self, output, format)

    def document(self, form: ox.QueryResultsFormat) -> Iterator[bytes]:
        """The solutions in a format, in pieces that are made on demand."""
        from triplestore.sparql.results.write import write_frames

        return write_frames(self.variables, self._rows.blocks(), self._terms, form)

    # --- for people -----------------------------------------------------------------------------

    def __str__(self) -> str:
        rows: list[tuple[Term | None, ...]] = []
        for row in self.tuples():
            if len(rows) == SHOWN_ROWS:
                break
            rows.append(row)
        return text_table(self.variables, rows, len(self), self._prefixes)

    def __repr__(self) -> str:
        names = " ".join(f"?{name}" for name in self.variables)
        return f"<solutions {names}>"

    def _repr_html_(self) -> str:
        # Late: only notebooks ask for it.
        from triplestore.notebook.parts import output
        from triplestore.notebook.terms import solutions_table

        total = 0
        for block in self._rows.blocks():
            total += block.rows
            if total > COUNTED_ROWS:
                break
        more = total > COUNTED_ROWS
        total = min(total, COUNTED_ROWS)
        table = solutions_table(self.variables, self.tuples(), total, self._prefixes, more)
        return output(table)


class Triples:
    """The triples of a CONSTRUCT or a DESCRIBE, each once."""

    def __init__(
        self,
        columns: Callable[[], list[U32]],
        terms: QueryTerms,
        write: WriteResult,
        prefixes: dict[str, str] | None = None,
        plan: Operator | None = None,
        advise: Callable[[], list[str]] = list,
        loan: PlanLoan | None = None,
    ) -> None:
        self._make = columns
        self._loan = loan
        self._write = write
        self._plan = plan
        self._advise = advise
        self._prefixes = prefixes or {}
        self._columns: list[U32] | None = None
        self._terms = terms
        self._iterator: Iterator[ox.Triple] | None = None

    def ids(self) -> list[U32]:
        """Subjects, predicates and objects as columns of ids."""
        if self._columns is None:
            self._columns = self._make()
            if self._loan is not None:
                self._loan.finished = True
        return self._columns

    def explain(self) -> Explanation:
        """The plan of the solutions from which the triples are made; see `Solutions.explain`."""
        self.ids()
        return explanation(self._plan, self._advise(), self._terms)

    def explain_json(self, *, run: bool = True) -> dict[str, Any]:
        """The same as a tree of dicts; see `Solutions.explain_json`."""
        if run:
            self.ids()
        tree = {} if self._plan is None else plan_tree(self._plan, self._terms)
        return {**tree, "warnings": self._advise()}

    def page(self, start: int, size: int) -> list[ox.Triple]:
        """The triples `start` to `start + size`; only these are decoded."""
        part = [terms_of(column[start : start + size], self._terms) for column in self.ids()]
        return list(map(ox.Triple, *part))

    def __len__(self) -> int:
        return len(self.ids()[0])

    def __bool__(self) -> bool:
        return len(self) > 0

    def __iter__(self) -> Iterator[ox.Triple]:
        columns = self.ids()
        start, size = 0, _FIRST_ROWS
        while start < len(columns[0]):
            part = [terms_of(column[start : start + size], self._terms) for column in columns]
            yield from map(ox.Triple, *part)
            start, size = start + size, min(size * 4, _MOST_ROWS)

    def __next__(self) -> ox.Triple:
        if self._iterator is None:
            self._iterator = iter(self)
        return next(self._iterator)

    def serialize(
        self, output: Output | None = None, format: ox.RdfFormat | str | None = None
    ) -> bytes | None:
        """The triples in a syntax of RDF; see `Solutions.serialize`."""
        return self._write(self, output, format, prefixes=self._prefixes)

    def advice(self) -> list[str]:
        """Likely mistakes in the query; see `Solutions.advice`."""
        return self._advise()

    def to_networkx(self, *, literals: str = "nodes") -> Any:
        """The triples as a `MultiDiGraph` of networkx (the extra `networkx`).

        Nodes are terms and have a `label`; the key of an edge is its predicate. Literals are nodes
        too, or lists of values among the `"attributes"` of their subjects, or `"drop"`ped.
        """
        from triplestore.sparql.results.networkx_graph import networkx_graph

        return networkx_graph(self, self._prefixes, literals)

    def __str__(self) -> str:
        return "\n".join(f"{triple} ." for triple in self)

    def __repr__(self) -> str:
        return f"<{len(self):,} triples>"

    def _repr_html_(self) -> str:
        # Late: only notebooks ask for it.
        from triplestore.notebook.parts import output
        from triplestore.notebook.terms import quads_table

        return output(quads_table(self, len(self), self._prefixes, "triple"))
