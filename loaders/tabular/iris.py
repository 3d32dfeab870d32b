"""Templates of IRIs filled with the values of columns. Start at `filled`.

All that IRIs do not allow is percent-encoded as Java's URLEncoder does it (a space is `%20`), so
that imports by way of Spark give the same IRIs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyoxigraph as ox

from .lexical import joined, text_array, text_buffers
from .mapping import Template

_KEPT = np.zeros(256, np.bool_)
_KEPT[
    np.frombuffer(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-*_", np.uint8)
] = True
_HEX = np.frombuffer(b"0123456789ABCDEF", np.uint8)
_PERCENT = np.uint8(ord("%"))
_ENCODED = r"[^a-zA-Z0-9.*_-]"
_PATH = r"[A-Za-z0-9._~!$&'()*+,;=:@/-]*"
#: IRIs that need no closer look: most do not, and Python looks at the others one by one.
_SIMPLE = rf"^([a-z]+://[A-Za-z0-9.-]+(/{_PATH})?|urn:{_PATH})(\?{_PATH})?(#{_PATH})?$"


def filled(template: Template, texts: Mapping[str, Any]) -> Any:
    """The IRIs that a template gives, null where a value is null."""
    if template.whole:
        return texts[template.names[0]]
    parts: list[Any] = []
    for fixed, name in zip(template.fixed, template.names, strict=False):
        parts += [fixed, percent_encoded(texts[name])]
    return joined(*parts, template.fixed[-1])


def percent_encoded(texts: Any) -> Any:
    """Texts with all but letters, digits and `.-*_` percent-encoded.

    >>> import pyarrow as pa
    >>> percent_encoded(pa.array(["a b", None, "ü"], pa.large_string())).to_pylist()
    ['a%20b', None, '%C3%BC']
    """
    offsets, data = text_buffers(texts)
    odd = ~_KEPT[data]
    if not odd.any():
        return texts
    ends = np.cumsum(1 + 2 * odd.view(np.uint8), dtype=np.int64)
    written = np.empty(int(ends[-1]), np.uint8)
    places, codes = ends[odd], data[odd]
    written[ends[~odd] - 1] = data[~odd]
    written[places - 3] = _PERCENT
    written[places - 2] = _HEX[codes >> 4]
    written[places - 1] = _HEX[codes & 15]
    return text_array(np.concatenate([np.zeros(1, np.int64), ends])[offsets], written, texts)


def first_bad_iri(texts: Any) -> tuple[int, str] | None:
    """The place of the first text that is not an absolute IRI, and why; nulls are skipped.

    >>> import pyarrow as pa
    >>> first_bad_iri(pa.array(["http://e.org/a", "b"], pa.large_string()))
    (1, 'No scheme found in an absolute IRI')
    """
    import pyarrow.compute as pc

    simple = pc.fill_null(pc.match_substring_regex(texts, _SIMPLE), True)
    if pc.all(simple, min_count=0).as_py():
        return None
    for place in np.flatnonzero(~simple.to_numpy(zero_copy_only=False)).tolist():
        try:
            ox.NamedNode(texts[place].as_py())
        except ValueError as error:
            return place, str(error)
    return None
