"""Updates that now and then derive everything anew, in the place of maintaining."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.maintenance import driver as driver_room
from triplestore.maintenance.rematerialise import rematerialise_all
from triplestore.maintenance.update import Closure, update


def often_derive_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let drivers derive everything anew in every other step."""
    rng = random.Random(5)

    def replaced(*args: Any, previous: Any = None, **options: Any) -> Closure:
        if rng.random() < 0.5:
            return rematerialise_all(*args[:5], **options)
        return update(*args, previous=previous, **options)

    monkeypatch.setattr(driver_room, "update", replaced)
