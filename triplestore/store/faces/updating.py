"""SPARQL updates of a store, each as one commit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from triplestore.store.arguments import UpdateOptions
from triplestore.store.faces.federating import Federating

if TYPE_CHECKING:
    from triplestore.network.services import ServicesLike
    from triplestore.operators.context import Flag
    from triplestore.reasoning.outcome import Change
    from triplestore.store.writes.writer import TransactionWriter
    from triplestore.text_limits import TextLimits


class Updating(Federating):
    """What a request of SPARQL Update changes."""

    @abstractmethod
    def _change(self, write: Callable[[TransactionWriter], object]) -> Change:
        """What a function writes, as one commit."""

    def update(
        self,
        update: str,
        *,
        base_iri: str | None = None,
        prefixes: Mapping[str, str] | None = None,
        load_from: Iterable[str] = (),
        timeout: float | None = None,
        budget: int | None = None,
        cancel: Flag | None = None,
        limits: TextLimits | None = None,
        allow_service: ServicesLike | None = None,
    ) -> Change:
        """Run a SPARQL update: all of its operations as one commit, or nothing.

        Each WHERE sees all facts that hold after the operations before it, inferred ones included.
        Only asserted facts can be deleted, copied and moved: a fact that is also inferred still
        holds afterwards, and the change counts it. Prefixes of loaded files are known. LOAD reads
        IRIs that begin with one of `load_from`, such as `["file:///data/", "https://example.org/"]`,
        and, like SERVICE, those of `allow_service` (see `Querying.query`).
        `timeout` (seconds), `budget` (bytes) and `cancel` limit the whole update; `limits` limits
        the size of its text and of a document that LOAD fetches (1 GB).

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.load("@prefix : <http://ex.org/> . :ada :sees :bob . :bob :sees :cy .", "ttl")
        >>> print(store.update("DELETE { ?x :sees ?y } INSERT { ?y :by ?x } WHERE { ?x :sees ?y }"))
        added 2, removed 2
        """
        # Late: many stores are only read, or written without SPARQL.
        from triplestore.store.writes.run_update import update as carry_out

        services = self._services if allow_service is None else allow_service
        options = UpdateOptions(
            base_iri, prefixes, load_from, timeout, budget, cancel, limits, services
        )
        return self._change(lambda writer: carry_out(writer, update, options))
