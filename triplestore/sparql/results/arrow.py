"""Solutions as columns of Arrow, decoded in bulk.

Start at `arrow_table`. A column of IRIs only or plain strings only is one copy of their bytes; a
column of literals with one numeric or temporal datatype gets a type of Arrow; any other is made
term by term, each distinct term once. Always true: an unbound value is null.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyoxigraph as ox

from triplestore.errors import needs_extra
from triplestore.expressions.library.strings import lexical_form
from triplestore.expressions.query_terms import QueryTerms
from triplestore.operators.context import current
from triplestore.operators.row_keys import distinct_ids
from triplestore.sparql.results.arrow_exact import EXACT_TYPES, exact_column
from triplestore.sparql.results.decode import terms_of
from triplestore.sparql.thresholds import SPARQL
from triplestore.terms.dictionary import FIRST_QUERY_ID
from triplestore.terms.spans import copy_texts, offsets_of
from triplestore.terms.term_keys import BLANK, IRI, LANG, STRING, TYPED, to_ntriples
from triplestore.terms.values.value_keys import DATATYPES, EXACT, Class
from triplestore.terms.vocabulary import XSD

if TYPE_CHECKING:
    from triplestore.expressions.query_terms import U32

_PLAIN = (IRI, STRING)  # terms that consist of their text
_LARGEST = float(1 << 53)
_INTEGER_NAMES = (
    "integer long int short byte nonNegativeInteger positiveInteger nonPositiveInteger "
    "negativeInteger unsignedLong unsignedInt unsignedShort unsignedByte"
)
_INTEGERS = frozenset(XSD + name for name in _INTEGER_NAMES.split(" "))
_FLOATS = frozenset((XSD + "double", XSD + "float"))
_INTEGER = XSD + "integer"
_OWN_TYPES = _INTEGERS | _FLOATS | {XSD + "boolean"}
_SMALL = re.compile("[+-]?[0-9]{1,15}")


def arrow_table(
    names: Sequence[str],
    ids: Callable[[str], U32],
    terms: QueryTerms,
    typed: bool,
    languages: bool = False,
) -> Any:
    """A table of pyarrow with a column for each name.

    languages  whether a column with texts in languages is followed by one of their tags
    """
    try:
        import pyarrow as pa
    except ImportError as error:
        raise needs_extra("A table of Arrow", error, "arrow") from None

    make = _typed if typed else _exact
    columns = {}
    for name in names:
        found = ids(name)
        columns[name] = make(found, terms)
        if languages:
            tags = _tags(found, terms)
            if tags is not None:
                columns[_free(f"{name}_language", names)] = tags
    return pa.table(columns)


def _tags(ids: U32, terms: QueryTerms) -> Any:
    """The language tags of a column; None if there are none."""
    import pyarrow as pa

    distinct, places = distinct_ids(ids)
    tags = [
        key.rpartition(b'"@')[2].decode() if key is not None and key[0] == LANG else None
        for key in terms.keys(distinct)
    ]
    if not any(tags):
        return None
    return pa.array(tags, pa.large_string()).take(pa.array(places))


def _free(name: str, names: Sequence[str]) -> str:
    """A name that no variable has."""
    while name in names:
        name += "_"
    return name


def _exact(ids: U32, terms: QueryTerms) -> Any:
    """Terms as in N-Triples."""
    return _each(ids, terms, lambda key: to_ntriples(key).decode())


def _each(ids: U32, terms: QueryTerms, text: Callable[[bytes], str]) -> Any:
    """A column of texts, each distinct one made once."""
    import pyarrow as pa

    distinct, places = distinct_ids(ids)
    texts = [None if key is None else text(key) for key in terms.keys(distinct)]
    return pa.array(texts, pa.large_string()).take(pa.array(places))


def _typed(ids: U32, terms: QueryTerms) -> Any:
    if len(ids) <= SPARQL.terms_one_by_one:
        return _few(ids, terms)
    texts, last = None, int(ids.max())
    if last >= FIRST_QUERY_ID:
        kinds = terms.kinds(ids)
        if STRING in kinds and set(np.bincount(kinds).nonzero()[0].tolist()) <= {0, STRING}:
            buf, starts, lengths, _ = terms.spans(ids)
            offsets = offsets_of(lengths)
            current().need(int(offsets[-1]))
            near = np.empty(int(offsets[-1]), np.uint8)
            copy_texts(buf, starts, lengths, near, offsets[:-1].astype(np.int64))
            return _texts(near, offsets.astype(np.int64), kinds == 0)
    elif last and terms.key(last)[0] in _PLAIN:  # most likely all are
        texts = terms.dictionary.text(ids)
        kinds = texts[2]
    else:
        kinds = terms.dictionary.kinds(ids)
    missing = kinds == 0
    alone = set(np.bincount(kinds).nonzero()[0].tolist()) - {0}
    if texts is not None and len(alone) == 1:
        return _texts(texts[0], texts[1], missing)
    if alone == {TYPED}:
        found = _values(ids, missing, terms)
        if found is None:
            found = _exact_values(ids, terms)
        if found is not None:
            return found
    return _each(ids, terms, _shown)


def _few(ids: U32, terms: QueryTerms) -> Any:
    """A column of few rows, term by term, which is cheaper than in bulk."""
    import pyarrow as pa

    made = terms_of(ids, terms)
    types = {*map(type, made)} - {type(None)}
    if types == {ox.Literal}:
        found = _few_values(made, ids, terms)
        if found is not None:
            return found
    if ox.Triple in types:
        return _each(ids, terms, _shown)
    return pa.array([None if term is None else _text_of(term) for term in made], pa.large_string())


def _few_values(made: Sequence[Any], ids: U32, terms: QueryTerms) -> Any:
    """`_values` of few literals, most of which have a datatype that stays text."""
    import pyarrow as pa

    datatypes = {term.datatype.value for term in made if term is not None}
    if len(datatypes) != 1 or not datatypes <= _OWN_TYPES | EXACT_TYPES:
        return None
    if datatypes <= EXACT_TYPES:
        return _exact_values(ids, terms)
    if datatypes == {_INTEGER}:
        texts = [None if term is None else term.value for term in made]
        if all(text is None or _SMALL.fullmatch(text) for text in texts):
            numbers = [None if text is None else int(text) for text in texts]
            return pa.array(numbers, pa.int64())
    return _values(ids, ids == 0, terms)


def _exact_values(ids: U32, terms: QueryTerms) -> Any:
    """A column of decimals, dates or times, if all terms have one such datatype."""
    import pyarrow as pa

    distinct, places = distinct_ids(ids)
    keys = terms.keys(distinct)
    datatypes = {key.rpartition(b'"^^<')[2] for key in keys if key is not None}
    if len(datatypes) != 1:
        return None
    datatype = datatypes.pop().decode()[:-1]
    found = exact_column(datatype, [None if key is None else lexical_form(key) for key in keys])
    return None if found is None else found.take(pa.array(places))


def _text_of(term: Any) -> str:
    return f"_:{term.value}" if isinstance(term, ox.BlankNode) else str(term.value)


def _shown(key: bytes) -> str:
    if key[0] == BLANK:
        return "_:" + key[1:].decode()
    return key[1:].decode() if key[0] == IRI else _lexical(key)


def _lexical(key: bytes) -> str:
    return to_ntriples(key).decode() if key[0] > TYPED else lexical_form(key)


def _texts(buf: Any, offsets: Any, missing: Any) -> Any:
    """A column of the terms' bytes."""
    import pyarrow as pa

    bits = None
    if missing.any():
        bits = pa.py_buffer(np.packbits(~missing, bitorder="little"))
    buffers = [bits, pa.py_buffer(offsets), pa.py_buffer(buf)]
    return pa.Array.from_buffers(pa.large_string(), len(missing), buffers)


def _values(ids: U32, missing: Any, terms: QueryTerms) -> Any:
    """A column of numbers, booleans or times, if all terms have one such datatype."""
    import pyarrow as pa

    values = terms.values(ids)
    marks = np.bincount(values.marks[~missing]).nonzero()[0].tolist()
    if len({mark & ~EXACT for mark in marks}) != 1 or not all(mark & EXACT for mark in marks):
        return None
    form = marks[0] & 0x3F
    datatype = DATATYPES[form] if form < len(DATATYPES) else ""
    if datatype in _INTEGERS:
        doubles = np.where(missing, 0.0, values.doubles)
        if np.abs(doubles).max(initial=0.0) > _LARGEST:
            return None
        return pa.array(doubles.astype(np.int64), pa.int64(), mask=missing)
    if datatype in _FLOATS:
        return pa.array(values.doubles, pa.float64(), mask=missing)
    kind = int(values.classes[~missing][0])
    if kind == Class.BOOLEAN:
        truths = _each(ids, terms, lexical_form).to_pylist()
        return pa.array([None if t is None else t in ("true", "1") for t in truths], pa.bool_())
    return None
