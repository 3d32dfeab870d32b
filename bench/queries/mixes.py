"""The mixes of queries.

Start at `mix`. A query has one text or several, which differ in their constants. Reports have the
mean over the texts, so a single constant does not decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.harness import MeasurementError
from bench.queries import lubm, publications, shop

LUBM, PUBLICATIONS, SHOP = "lubm", "publications", "shop"


@dataclass(frozen=True)
class Mix:
    """Queries by name, each with its texts."""

    name: str
    queries: Mapping[str, Sequence[str]]


def mix(name: str, size: int = 1) -> Mix:
    """The queries of a mix over data of some size.

    >>> len(mix("lubm").queries)
    14
    """
    if name == LUBM:
        return Mix(name, {name: [text] for name, text in lubm.queries().items()})
    if name == PUBLICATIONS:
        return Mix(name, publications.queries(size))
    if name == SHOP:
        return Mix(name, shop.queries(size))
    raise MeasurementError(f"{name} is not a mix; give one of: {LUBM}, {PUBLICATIONS}, {SHOP}")


def lines(name: str, size: int) -> Iterator[str]:
    """The data of a generated mix, as lines of N-Triples."""
    return {PUBLICATIONS: publications.lines, SHOP: shop.lines}[name](size)
