"""Writes that are only supposed: start at `supposed`."""

from __future__ import annotations

from collections.abc import Callable

from triplestore.reasoning.reasoner import Reasoner
from triplestore.storage.metadata import STRICT
from triplestore.store.writes.writer import TransactionWriter
from triplestore.versions.consequences import Consequences, consequences_of
from triplestore.versions.one_dictionary import Line
from triplestore.versions.private_state import private_database


def supposed(line: Line, write: Callable[[TransactionWriter], object]) -> Consequences:
    """What follows if something is written to a state, privately."""
    owner, reasoner = line.owner or (None, Reasoner())
    database = private_database(line.now, owner)
    before = database.state
    lent = reasoner.lend(line.now, database.dictionary)
    with TransactionWriter(database, lambda: None, lent) as writer:
        if STRICT in before.meta:  # violations are part of the answer
            writer.keep({STRICT: None})
        write(writer)
    return consequences_of(Line(before, before), Line(before, database.state))
