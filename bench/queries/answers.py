"""What of an answer can be compared between systems.

Start at `answer_of`. Rows are compared as a bag. Where a text leaves something open, only the rest
counts: of a LIMIT that cuts rows off, the columns that order them; of SAMPLE and of MIN and MAX of
blank nodes nothing. Systems whose terms come as plain values are compared by their numbers.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Any, TypedDict

from bench.queries.measuring import NUMERIC

LIMIT = re.compile(r"LIMIT\s+(\d+)\s*$")
ORDER = re.compile(r"ORDER BY (.*)")
OPEN = re.compile(r"SAMPLE\(\?\w+\) AS \?(\w+)")


class Answer(TypedDict):
    """Numbers of rows and numeric cells, and digests that do not depend on the order of rows."""

    rows: int
    digest: str
    numbers: str


def answer_of(
    text: str, names: Sequence[str], rows: Iterable[Sequence[Any]], terms: bool = True
) -> Answer:
    """The answer of a text, with columns of these names; `terms`: cells are RDF terms.

    >>> one, other = [("a", 1.0), ("b", 2.0)], [("b", 2.0), ("a", 1.0)]
    >>> answer_of("", ["x", "y"], one) == answer_of("", ["x", "y"], other)
    True
    >>> answer_of("", ["x", "y"], one) == answer_of("", ["x", "y"], other[:1])
    False
    """
    found = list(rows)
    limit = LIMIT.search(text)
    wanted = [name for name in names if name not in OPEN.findall(text)]
    if limit and len(found) >= int(limit[1]):
        order = ORDER.search(text)
        wanted = [name for name in names if order and f"?{name}" in order[1]]
    places = [place for place, name in enumerate(names) if name in wanted]
    every, numbers = 0, 0
    for row in found:
        cells = [_normal(row[place]) for place in sorted(places, key=names.__getitem__)]
        every += _hash("\x1f".join(cells))
        numbers += _hash("\x1f".join(cell for cell in cells if cell[:1] == "#"))
    digest = f"{every % 2**64:016x}" if terms else ""
    return {"rows": len(found), "digest": digest, "numbers": f"{numbers % 2**64:016x}"}


def same(one: Answer, other: Answer) -> bool:
    """Whether two answers are equal, as far as both systems show."""
    if one["digest"] and other["digest"]:
        return one["digest"] == other["digest"] and one["rows"] == other["rows"]
    return one["numbers"] == other["numbers"] and one["rows"] == other["rows"]


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def _normal(term: Any) -> str:
    """Numbers by value; blank nodes are equal, because systems choose their labels."""
    if term is None or type(term).__name__ == "BlankNode":
        return "-"
    if isinstance(term, (int, float)) and not isinstance(term, bool):
        return f"#{float(term):.9g}"
    datatype = getattr(getattr(term, "datatype", None), "value", "")
    if datatype.rpartition("#")[2] in NUMERIC:
        return f"#{float(term.value):.9g}"
    return str(term)
