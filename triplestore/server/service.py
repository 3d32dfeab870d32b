"""What the endpoints of one store share: start at `StoreService`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from triplestore.data_classes import data_class
from triplestore.server.access.control import AccessControl
from triplestore.server.running import Runner
from triplestore.server.settings import Settings

if TYPE_CHECKING:
    from triplestore.store import Store


@data_class
class StoreService:
    """A store, the threads of the server, and the settings.

    name    the name under which the store is served; None if it is the only one, at /
    names   the names of all stores that have one
    """

    store: Store
    runner: Runner
    settings: Settings
    control: AccessControl
    name: str | None = None
    names: Sequence[str] = ()
