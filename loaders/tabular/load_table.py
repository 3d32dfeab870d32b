"""A table as rows of ids: one subject for each row, one triple for each value.

Start at `load_table`. Work is done a column at a time, in batches of rows: nothing passes through
a loop of Python but the distinct values of odd types. Nothing changes before the caller commits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from collections.abc import Mapping as MappingOf
from dataclasses import field, replace
from typing import Any

import numpy as np
from pyoxigraph import NamedNode

from triplestore.data_classes import data_class
from triplestore.errors import CancelledError, needs_extra
from triplestore.loaders.report import FileReport, Loaded
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.spans import U32, spans_of_keys, worth_kernels
from triplestore.terms.term_keys import key_of
from triplestore.terms.vocabulary import RDF_TYPE
from triplestore.thread_limits import look

from ..numbering import FewTerms, ManyTerms, Numbering
from .column_terms import TermColumns
from .csv_files import CsvOptions
from .mapping import ColumnMapping, Mapping, Property, checked_iri
from .sources import Table, tables_of


@data_class(kw_only=True)
class TableOptions:
    """The keywords of `Store.load_table`."""

    subject: str
    properties: MappingOf[str, str | Property]
    type: str | None = None
    graph: Any = None
    delimiter: str | None = None
    null_values: Collection[str] = ("",)
    encoding: str = "utf-8"
    prefixes: MappingOf[str, str] = field(default_factory=dict)
    cancel: Callable[[], bool] | None = None


def load_table(source: Any, dictionary: Dictionary, options: TableOptions) -> Loaded:
    """The triples of a table, which the caller then commits or drops; see `Store.load_table`.

    >>> options = TableOptions(subject="http://e.org/{id}", properties={"age": "http://e.org/age"})
    >>> loaded = load_table({"id": [1, 2], "age": [39, None]}, Dictionary(), options)
    >>> len(loaded), [key.decode()[1:] for key in loaded.new_keys][-1]
    (1, '39"^^<http://www.w3.org/2001/XMLSchema#integer>')
    """
    try:
        import pyarrow  # noqa: F401 - so that its absence is told here, once
    except ImportError as error:
        raise needs_extra("load_table", error, "arrow") from None
    began = time.monotonic()
    mapping = Mapping.of(options.subject, options.properties, options.type, options.prefixes)
    csv = CsvOptions(options.delimiter, options.null_values, options.encoding)
    tables = tables_of(source, mapping, csv)
    load = _Load(mapping, dictionary, options)
    for table in tables:
        load.read(table)
    loaded = load.loaded()
    loaded.seconds = time.monotonic() - began
    return loaded


class _Load:
    """One load: the rows so far, in the numbers of their terms."""

    def __init__(self, mapping: Mapping, dictionary: Dictionary, options: TableOptions) -> None:
        self._mapping = mapping
        self._dictionary = dictionary
        self._options = options
        self._numbering: Numbering | None = None
        self._files: list[FileReport] = []
        self._chunks: list[tuple[U32, int, U32]] = []
        self._constants: dict[str, int] = {}
        self._graph = _graph_key(options)

    def read(self, table: Table) -> None:
        """Take the rows of a table."""
        if self._numbering is None:
            self._begin(table)
        assert self._numbering is not None
        columns = [
            replace(column, datatype=table.datatypes[column.column])
            if not column.as_written and column.column in table.datatypes
            else column
            for column in self._mapping.columns
        ]
        terms = TermColumns(self._numbering, table.name)
        report = FileReport(table.name, len(self._files) + 1)
        for batch in table.batches:
            self._check()
            report.statements += self._batch(batch, columns, terms)
        self._files.append(report)

    def _begin(self, table: Table) -> None:
        cells = None if table.rows is None else table.rows * len(self._mapping.needed)
        few = cells is not None and not worth_kernels(cells)
        self._numbering = FewTerms(self._dictionary) if few else ManyTerms(self._dictionary)

    def _check(self) -> None:
        if self._options.cancel is not None and self._options.cancel():
            raise CancelledError("the load was cancelled; nothing was loaded")
        look("loading a table")

    def _batch(
        self, batch: MappingOf[str, Any], columns: list[ColumnMapping], terms: TermColumns
    ) -> int:
        """Take the triples of some rows; returns their number."""
        before = len(self._chunks)
        subjects = terms.subjects(self._mapping.subject, batch)
        if self._mapping.type is not None:
            kept = subjects[subjects != 0]
            classes = np.full(len(kept), self._constant(self._mapping.type, terms), np.uint32)
            self._chunks.append((kept, self._constant(RDF_TYPE, terms), classes))
        for column in columns:
            objects, rows = terms.objects(column, batch)
            owners = subjects if rows is None else subjects[rows]
            kept = (owners != 0) & (objects != 0)
            predicate = self._constant(column.iri, terms)
            self._chunks.append((owners[kept], predicate, objects[kept]))
        return sum(len(chunk[0]) for chunk in self._chunks[before:])

    def _constant(self, iri: str, terms: TermColumns) -> int:
        if iri not in self._constants:
            self._constants[iri] = terms.constant(iri)
        return self._constants[iri]

    def loaded(self) -> Loaded:
        """All rows in final ids."""
        numbering = self._numbering or FewTerms(self._dictionary)
        named = 0
        if self._graph is not None:
            named = int(numbering.add(spans_of_keys([self._graph]))[0])
        ids, segment, new_keys = numbering.seal()
        count = sum(len(chunk[0]) for chunk in self._chunks)
        s, p, o, g = (np.zeros(count, np.uint32) for _ in range(4))
        at = 0
        for subjects, predicate, objects in self._chunks:
            part = slice(at, at + len(subjects))
            np.take(ids, subjects, out=s[part])
            np.take(ids, objects, out=o[part])
            p[part] = ids[predicate]
            at = part.stop
        if named:
            g[:] = ids[named]
        return Loaded(s, p, o, g, bool(named), segment, new_keys, files=self._files)


def _graph_key(options: TableOptions) -> bytes | None:
    """The key of the graph for all triples: its IRI, or a term."""
    graph = options.graph
    if type(graph) is str:  # terms of rdflib are texts too
        graph = NamedNode(checked_iri(graph, "graph", options.prefixes))
    return None if graph is None else key_of(graph)
