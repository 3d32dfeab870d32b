"""`store.retract`: how a conclusion can be ended, with what that costs.

Start reading at `Retracting.retract`. The search is in `consequences.hitting_sets`; here are the
trials that it asks for: transactions in which facts are removed, and which are rolled back.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from triplestore.store.readable import ReadableStore

if TYPE_CHECKING:
    from triplestore.consequences.repairs import Repairs
    from triplestore.store.arguments import GraphLike, TermLike
    from triplestore.store.explain import FactLike
    from triplestore.store.transaction import Transaction


class Retracting(ReadableStore):
    """A store in which conclusions can be taken back."""

    @abstractmethod
    def transaction(self, *, wait: float | None = None) -> AbstractContextManager[Transaction]:
        """See `Store.transaction`."""

    @abstractmethod
    def trial(self, *, wait: float | None = None) -> AbstractContextManager[Transaction]:
        """See `Store.trial`."""

    def retract(
        self,
        fact: FactLike,
        *,
        protect_graphs: Iterable[GraphLike] = (),
        protect_properties: Iterable[TermLike | str] = (),
        apply: int | None = None,
        most: int = 10,
        largest: int = 4,
        trials: int = 200,
        seconds: float = 5.0,
    ) -> Repairs:
        """The minimal sets of asserted quads whose removal ends a fact or a violation.

        Axioms are asserted quads like others. The best comes first: that with the fewest side
        effects, then the smallest. The side effects are exact: each set was removed in a
        transaction that was rolled back. `fact` is one as for `why`, or one of `violations()`.
        Quads in `protect_graphs` (`DefaultGraph()` is one) and those with a property in
        `protect_properties` stay. `apply=0` removes the first set, in one commit.

        At most `most` sets of at most `largest` quads are looked for, in at most `trials` trials;
        `more` of the answer says whether others may exist. `seconds` limits each search for a
        proof.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.load("@prefix : <http://e/> . :ada :parent :bob .", "ttl")
        >>> rule = "@prefix : <http://e/> . :child[?y, ?x] :- :parent[?x, ?y] ."
        >>> _ = store.reason(rules=rule)
        >>> repairs = store.retract(":bob :child :ada", apply=0)
        >>> repairs.applied.loses, len(store)
        (2, 0)
        """
        # Late: it needs all of `proofs`.
        from triplestore.store.faces.retraction import RetractOptions, retract

        options = RetractOptions(
            tuple(protect_graphs),
            tuple(protect_properties),
            apply,
            most,
            largest,
            trials,
            seconds,
        )
        return retract(self, fact, options)
