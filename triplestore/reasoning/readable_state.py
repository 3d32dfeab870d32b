"""What reports, proofs and look-ups need of a state: `store.state_view.StateView` is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from triplestore.reasoning.program.stored_rules import Rules
    from triplestore.relations import Tables
    from triplestore.terms import Dictionary


class ReadableState(Protocol):
    """One consistent state of a store; nothing of it changes while it is read."""

    @property
    def dictionary(self) -> Dictionary:
        """The dictionary that the ids of the tables belong to."""

    @property
    def tables(self) -> Tables:
        """The tables with all asserted and inferred facts."""

    @property
    def prefixes(self) -> Mapping[str, str]:
        """The known prefixes; name to IRI."""

    @property
    def regimes(self) -> tuple[str, ...]:
        """The names of the regimes in force."""

    def rules(self) -> Rules | None:
        """The rules in force; None if there are none."""
