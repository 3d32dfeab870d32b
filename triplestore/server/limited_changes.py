"""Changes that keep the limits of a request: start at `limited_change`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from triplestore.browse.change_request import ChangeLimits, kept_within
from triplestore.server.answer_output import AnswerOutput
from triplestore.server.settings import Settings

if TYPE_CHECKING:
    from triplestore.store import Store, Transaction


@contextmanager
def limited_change(store: Store, settings: Settings, output: AnswerOutput) -> Iterator[Transaction]:
    """A transaction of a request.

    Its limits include waiting for another writer, and all inference.
    """
    with store.transaction(wait=turn_seconds(settings, output)) as transaction:
        limits = ChangeLimits(settings.seconds, settings.memory, output.stop, began=output.began)
        with kept_within(transaction, limits):
            yield transaction


def turn_seconds(settings: Settings, output: AnswerOutput) -> float:
    """Seconds that a change waits for another writer.

    A load may take long, and changes that wait for it take the places of queries.
    """
    return min(settings.wait, output.seconds_left)
