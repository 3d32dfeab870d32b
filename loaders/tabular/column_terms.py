"""Values of columns as numbered terms. Start at `TermColumns`.

A column becomes the numbers of its terms, 0 for null. Values that repeat are made into terms once:
dictionaries of Arrow are used as they are, other columns are encoded as such a dictionary if that
paid off in the first batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triplestore.errors import UsageError
from triplestore.terms.guards.document_limits import USUAL
from triplestore.terms.spans import U32, with_hashes
from triplestore.terms.term_keys import IRI, LANG, STRING, TYPED
from triplestore.terms.vocabulary import XSD_STRING

from ..numbering import Numbering
from .iris import filled, first_bad_iri
from .lexical import joined, lexical, text_buffers
from .mapping import ColumnMapping, Template

_REPEATS = 2
"""Minimum mean number of times that a value stands in the first batch of a column that is encoded
as a dictionary."""


class TermColumns:
    """Makes terms of the columns of one table, batch after batch."""

    def __init__(self, numbering: Numbering, table: str) -> None:
        self._numbering = numbering
        self._table = table
        self._repeating: dict[str, bool] = {}

    def constant(self, iri: str) -> int:
        """The number of an IRI."""
        import pyarrow as pa

        return int(self._numbers(pa.array([iri], pa.large_string()), IRI)[0])

    def subjects(self, template: Template, columns: Mapping[str, Any]) -> U32:
        """The subject of each row."""
        return self._iris(template, columns, template.names[0], None)

    def objects(self, column: ColumnMapping, columns: Mapping[str, Any]) -> tuple[U32, Any]:
        """The objects of a column, and their rows: None if there is one for each row."""
        import pyarrow as pa
        import pyarrow.compute as pc

        values = columns[column.column]
        if _is_list(values.type):
            rows = pc.list_parent_indices(values)
            inner = {**columns, column.column: pc.list_flatten(values)}
            if column.template is not None:
                others = set(column.template.names) - {column.column}
                inner |= {name: columns[name].take(rows) for name in others}
            numbers, deeper = self.objects(column, inner)
            if deeper is not None:
                raise UsageError(f"column {column.column!r} has lists of lists: flatten them")
            return numbers, np.asarray(rows)
        if pa.types.is_null(values.type):
            return np.zeros(len(values), np.uint32), None
        if column.template is not None:
            return self._iris(column.template, columns, column.column, column.column), None
        key = f"{column.column} {column.iri}"
        return self._distinct(key, values, lambda some: self._literals(some, column)), None

    # -- terms of distinct values ---------------------------------------------------------------

    def _iris(
        self, template: Template, columns: Mapping[str, Any], shown: str, own: str | None
    ) -> U32:
        names = dict.fromkeys(template.names)
        if len(names) == 1:
            (name,) = names
            values = columns[name]
            key = f"{own} {template.fixed} {name}"
            return self._distinct(
                key, values, lambda some: self._filled(template, {name: some}, shown)
            )
        texts = {name: _decoded(columns[name]) for name in names}
        return self._filled(template, texts, shown)

    def _filled(self, template: Template, values: Mapping[str, Any], shown: str) -> U32:
        texts = {name: _text(some, name) for name, some in values.items()}
        iris = filled(template, texts)
        if template.check and (found := first_bad_iri(iris)) is not None:
            place, why = found
            raise UsageError(
                f"{self._table}, column {shown!r}: {iris[place].as_py()!r} is not an absolute IRI "
                f"({why}); for values that are not IRIs give a template such as "
                f"'http://example.org/{{{shown}}}'"
            )
        return self._numbers(iris, IRI)

    def _literals(self, values: Any, column: ColumnMapping) -> U32:
        import pyarrow as pa

        name = column.column
        if pa.types.is_struct(values.type):
            return self._structs(values, column)
        texts, datatype = lexical(values, name)
        if column.lang is not None:
            return self._numbers(joined(texts, f'"@{column.lang}'), LANG)
        datatype = column.datatype or datatype
        if datatype == XSD_STRING:
            return self._numbers(texts, STRING)
        return self._numbers(joined(texts, f'"^^<{datatype}>'), TYPED)

    def _structs(self, values: Any, column: ColumnMapping) -> U32:
        """Structs as in SPARQL's JSON results."""
        texts, kinds = struct_terms(values, column.column)
        iris = texts.filter(_mask(kinds == IRI))
        if (found := first_bad_iri(iris)) is not None:
            place, why = found
            raise UsageError(
                f"{self._table}, column {column.column!r}: {iris[place].as_py()!r} is not an "
                f"absolute IRI ({why})"
            )
        return self._numbers(texts, kinds)

    def _distinct(self, key: str, values: Any, make: Callable[[Any], U32]) -> U32:
        """The numbers of values, made for each different one where values repeat."""
        import pyarrow as pa

        if not pa.types.is_dictionary(values.type):
            if pa.types.is_nested(values.type) or self._repeating.get(key) is False:
                return make(values)
            values = values.dictionary_encode()
            if len(values):
                often = len(values) >= _REPEATS * len(values.dictionary)
                self._repeating.setdefault(key, often)
        places = values.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        valid = values.indices.is_valid().to_numpy(zero_copy_only=False)
        used = np.zeros(len(values.dictionary), np.bool_)
        used[places[valid]] = True
        numbers = np.zeros(len(used) + 1, np.uint32)
        if used.any():
            some = values.dictionary if used.all() else values.dictionary.filter(_mask(used))
            numbers[:-1][used] = make(some)
        places[~valid] = len(used)
        found: U32 = numbers[places]
        return found

    def _numbers(self, texts: Any, kinds: int | NDArray[np.uint8]) -> U32:
        """The numbers of terms with these texts, 0 where they are null."""
        import pyarrow as pa

        valid = texts.is_valid().to_numpy(zero_copy_only=False)
        numbers = np.zeros(len(texts), np.uint32)
        all_kinds = np.full(len(texts), kinds, np.uint8) if isinstance(kinds, int) else kinds
        some = texts if valid.all() else texts.drop_null()
        if len(some) == 0:
            return numbers
        offsets, data = text_buffers(some.cast(pa.large_string()))
        lengths = np.diff(offsets)
        longest = int(lengths.argmax())
        begin, length = int(offsets[longest]), int(lengths[longest])
        USUAL.check_term(length, data[begin : begin + 60].tobytes(), self._table)
        buf = data if len(data) else np.zeros(1, np.uint8)
        spans = with_hashes(
            buf, offsets[:-1].copy(), lengths, np.ascontiguousarray(all_kinds[valid])
        )
        numbers[valid] = self._numbering.add(spans)
        return numbers


def struct_terms(values: Any, column: str) -> tuple[Any, NDArray[np.uint8]]:
    """The texts and kinds of terms given as structs of value, type, datatype and lang."""
    import pyarrow as pa
    import pyarrow.compute as pc

    fields = [field.name for field in values.type]
    if "value" not in fields:
        raise UsageError(
            f"column {column!r} is a struct without the field `value`; it has {', '.join(fields)}"
        )
    parts = dict(zip(fields, values.flatten(), strict=True))
    nothing = pa.nulls(len(values), pa.large_string())
    text = _text(parts["value"], column)
    kind, datatype, lang = (
        _text(parts[name], column) if name in parts else nothing
        for name in ("type", "datatype", "lang")
    )
    kind = pc.fill_null(kind, "literal")
    iri = pc.is_in(kind, pa.array(["uri", "iri"], pa.large_string()))
    if pc.any(pc.equal(kind, "bnode"), min_count=0).as_py():
        raise UsageError(
            f"column {column!r} has blank nodes, whose labels mean nothing outside of the results "
            "that they come from: give IRIs, or load RDF with load()"
        )
    datatype = pc.if_else(pc.equal(datatype, XSD_STRING), None, datatype)
    tagged = pc.and_(pc.invert(iri), pc.is_valid(lang))
    typed = pc.and_(pc.invert(pc.or_(iri, tagged)), pc.is_valid(datatype))
    texts = pc.if_else(tagged, joined(text, '"@', pc.utf8_lower(lang)), text)
    texts = pc.if_else(typed, joined(text, '"^^<', datatype, ">"), texts)
    kinds = np.full(len(values), STRING, np.uint8)
    for mask, which in ((iri, IRI), (tagged, LANG), (typed, TYPED)):
        kinds[mask.to_numpy(zero_copy_only=False)] = which
    return texts, kinds


def _text(values: Any, column: str) -> Any:
    """The texts of values, whatever their type."""
    import pyarrow as pa

    return (
        pa.nulls(len(values), pa.large_string())
        if pa.types.is_null(values.type)
        else lexical(values, column)[0]
    )


def _decoded(values: Any) -> Any:
    import pyarrow as pa

    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _mask(some: NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.array(some)
