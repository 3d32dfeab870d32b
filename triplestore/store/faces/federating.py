"""The endpoints and documents of the network that a store's queries and updates may read."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from triplestore.network.services import Services, ServicesLike

Made = TypeVar("Made", bound="Federating")


class Federating:
    """What reads, with a list of what it may ask over the network; by default nothing."""

    _services: Services | None = None

    def _passing_on(self, made: Made) -> Made:
        """A snapshot or a transaction with the same list."""
        made._services = self._services
        return made

    @property
    def allow_service(self) -> Services:
        """The endpoints that SERVICE may ask, and the limits of their answers.

        It can be set to a list of IRIs (see `Services`), for this object and for the snapshots and
        transactions that it makes afterwards; it is not stored. LOAD may read the same places.

        >>> from triplestore import Store
        >>> store = Store()
        >>> store.allow_service = ["https://query.wikidata.org/sparql"]
        >>> store.allow_service.allows("https://query.wikidata.org/sparql")
        True
        """
        # Late: few stores are asked for it.
        from triplestore.network.services import services_of

        return services_of(self._services)

    @allow_service.setter
    def allow_service(self, given: ServicesLike) -> None:
        from triplestore.network.services import services_of

        self._services = services_of(given)
