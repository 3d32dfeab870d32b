"""The endpoints and documents of the network that a store's queries and updates may read."""

from __future__ import annotations

from typing import TypeVar

from triplestore.network.services import NO_SERVICES, Services, ServicesLike, services_of

Made = TypeVar("Made", bound="Federating")


class Federating:
    """What reads, with a list of what it may ask over the network; by default nothing."""

    _services: Services = NO_SERVICES

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
        return self._services

    @allow_service.setter
    def allow_service(self, given: ServicesLike) -> None:
        self._services = services_of(given)
