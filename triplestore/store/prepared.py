"""Queries that are run often, each time with other values for their variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triplestore.store.arguments import TermLike

if TYPE_CHECKING:
    from triplestore.sparql.engine import Result
    from triplestore.store.readable import Reading


@dataclass(frozen=True)
class Prepared:
    """A parsed query; each call evaluates it on the current state.

    Start reading at `Reading.prepare`, which makes them.
    """

    asked: Reading
    text: str
    options: Mapping[str, Any]

    def __call__(
        self, substitutions: Mapping[Any, TermLike] | None = None, **values: TermLike
    ) -> Result:
        """The result, with these variables bound: by name, or as a mapping for other names."""
        given = {**(substitutions or {}), **values}
        return self.asked.query(self.text, substitutions=given, **self.options)

    def __str__(self) -> str:
        return self.text
