"""Columns of Arrow as the texts of literals. Start at `lexical`.

    type                              datatype
    string                            xsd:string
    boolean                           xsd:boolean
    integers                          xsd:integer
    decimal                           xsd:decimal
    float16 and float32, float64      xsd:float, xsd:double
    date                              xsd:date
    time                              xsd:time
    timestamp                         xsd:dateTime, in UTC if the type has a time zone
    duration                          xsd:dayTimeDuration
    binary                            xsd:hexBinary

Everything is done by kernels of Arrow or numpy on whole columns. A value of null stays null.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

from triplestore.errors import UsageError
from triplestore.terms.vocabulary import XSD

_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_HEX = np.frombuffer(b"0123456789ABCDEF", np.uint8)


def lexical(values: Any, column: str) -> tuple[Any, str]:
    """The texts of an array's values, as `large_string`, and the IRI of their datatype."""
    import pyarrow as pa

    types, kind = pa.types, values.type
    if is_text(kind):
        return _checked(values, column), XSD + "string"
    if types.is_boolean(kind):
        return values.cast(pa.large_string()), XSD + "boolean"
    if types.is_integer(kind):
        return values.cast(pa.large_string()), XSD + "integer"
    if types.is_decimal(kind):
        return _decimals(values), XSD + "decimal"
    if types.is_floating(kind):
        return _floats(values), XSD + ("double" if types.is_float64(kind) else "float")
    if types.is_date(kind):
        return values.cast(pa.date32()).cast(pa.large_string()), XSD + "date"
    if types.is_time(kind):
        return _trimmed(values.cast(pa.large_string())), XSD + "time"
    if types.is_timestamp(kind):
        return _timestamps(values), XSD + "dateTime"
    if types.is_duration(kind):
        return _durations(values), XSD + "dayTimeDuration"
    if is_bytes(kind):
        return _hex(values), XSD + "hexBinary"
    raise UsageError(
        f"column {column!r} has the type {kind}, which is not a term: give strings, booleans, "
        "numbers, dates, times, timestamps, durations, bytes, lists of these, or structs with the "
        "fields value, type, datatype and lang"
    )


def _checked(values: Any, column: str) -> Any:
    """Strings that are UTF-8: files may hold others."""
    import pyarrow as pa

    try:
        values.validate(full=True)
    except pa.ArrowInvalid as error:
        raise UsageError(f"column {column!r} is not text in UTF-8: {error}") from None
    return values.cast(pa.large_string())


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of strings."""
    import pyarrow as pa

    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def is_bytes(kind: Any) -> bool:
    """Whether an Arrow type is one of bytes."""
    import pyarrow as pa

    types = pa.types
    return bool(
        types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_fixed_size_binary(kind)
        or types.is_binary_view(kind)
    )


def _floats(values: Any) -> Any:
    """`inf` and `nan` are written `INF` and `NaN` in XSD."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = values.cast(pa.large_string())
    if pc.all(pc.is_finite(values), min_count=0).as_py():
        return texts
    return pc.replace_substring(pc.replace_substring(texts, "inf", "INF"), "nan", "NaN")


def _decimals(values: Any) -> Any:
    """Without an exponent, which XSD forbids and Arrow writes for small values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = values.cast(pa.large_string())
    odd = pc.fill_null(pc.match_substring(texts, "E"), False)
    if not pc.any(odd).as_py():
        return texts
    plain = [format(Decimal(text), "f") for text in texts.filter(odd).to_pylist()]
    return pc.replace_with_mask(texts, odd, pa.array(plain, pa.large_string()))


def _timestamps(values: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    zone = "" if values.type.tz is None else "Z"
    local = values.cast(pa.timestamp(values.type.unit, "UTC" if zone else None))
    texts = local.cast(pa.timestamp(values.type.unit)).cast(pa.large_string())
    dated = _trimmed(pc.replace_substring(texts, " ", "T", max_replacements=1))
    return joined(dated, zone) if zone else dated


def _trimmed(texts: Any) -> Any:
    """Without zeros at the end of the fraction of a second, as XSD's canonical form has it."""
    import pyarrow.compute as pc

    fraction = pc.fill_null(pc.match_substring(texts, "."), False)
    if not pc.any(fraction).as_py():
        return texts
    return pc.if_else(fraction, pc.utf8_rtrim(pc.utf8_rtrim(texts, "0"), "."), texts)


def _durations(values: Any) -> Any:
    """Seconds, as in `PT90.5S` and `-PT3S`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    counts = values.cast(pa.int64())
    digits = _DIGITS[values.type.unit]
    scaled = counts.cast(pa.decimal128(19, 0))
    part = pa.scalar(Decimal(10) ** -digits, pa.decimal128(digits + 1, digits))
    texts = _trimmed(_decimals(pc.abs(pc.multiply(scaled, part))))
    sign = pc.if_else(pc.less(counts, 0), "-PT", "PT").cast(pa.large_string())
    return joined(sign, texts, "S")


def _hex(values: Any) -> Any:
    import pyarrow as pa

    whole = values.cast(pa.large_binary())
    offsets, data = text_buffers(whole)
    written = np.empty(2 * len(data), np.uint8)
    written[::2], written[1::2] = _HEX[data >> 4], _HEX[data & 15]
    return text_array(2 * offsets, written, whole)


def joined(*parts: Any) -> Any:
    """Texts one after the other, arrays and constants; null where a part is null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = [
        pa.scalar(part, pa.large_string()) if isinstance(part, str) else part for part in parts
    ]
    return pc.binary_join_element_wise(*texts, pa.scalar("", pa.large_string()))


def text_buffers(texts: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The offsets and bytes of an array of large strings: offsets from 0 on, all bytes used."""
    _, raw, data = texts.buffers()
    if raw is None or len(texts) == 0:
        return np.zeros(1, np.int64), np.zeros(0, np.uint8)
    offsets = np.frombuffer(raw, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    whole = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return offsets - offsets[0], whole[offsets[0] : offsets[-1]]


def text_array(offsets: Any, data: Any, like: Any) -> Any:
    """An array of large strings, null where `like` is."""
    import pyarrow as pa

    valid = None
    if like.null_count:
        bits = np.packbits(like.is_valid().to_numpy(zero_copy_only=False), bitorder="little")
        valid = pa.py_buffer(bits)
    buffers = [valid, pa.py_buffer(np.ascontiguousarray(offsets, np.int64)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(like), buffers)
