"""The databases that are open in this process."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triplestore.storage.database import Database
    from triplestore.terms import Dictionary

OPEN: weakref.WeakSet[Database] = weakref.WeakSet()


def database_of(dictionary: Dictionary) -> Database | None:
    """The database whose last commit has its terms in this dictionary, if it is open.

    >>> from triplestore.storage import Database
    >>> with Database.open(None) as database:
    ...     database_of(database.dictionary) is database
    True
    """
    for database in list(OPEN):
        if database.state.dictionary is dictionary:
            return database
    return None
