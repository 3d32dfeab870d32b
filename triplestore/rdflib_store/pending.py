"""Changes that are committed together: start at `Pending`.

rdflib adds triples one by one; a commit for each would take most of the time. Always true: changes
are made in their order, in one commit; the changes of a failed commit are dropped.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triplestore.store import Store, Transaction

ADD = "add"
REMOVE = "remove"
GRAPH = "graph"
BIND = "bind"


def _make_changes(transaction: Transaction, kind: str, what: list[Any]) -> None:
    """Make changes of one kind."""
    if kind == ADD:
        transaction.extend(what)
    elif kind == REMOVE:
        transaction.remove_all(what)
    elif kind == GRAPH:
        for graph in what:
            transaction.add_graph(graph)
    else:
        for prefix, namespace in what:
            transaction.bind(prefix, namespace)


class Pending:
    """Uncommitted changes, in order.

    >>> from triplestore import NamedNode, Quad, Store
    >>> a, store, pending = NamedNode("http://ex.org/a"), Store(), Pending()
    >>> pending.note(ADD, Quad(a, a, a))
    >>> len(store), pending.commit(store), len(store)
    (0, None, 1)
    """

    def __init__(self) -> None:
        self._changes: list[tuple[str, Any]] = []

    def __len__(self) -> int:
        return len(self._changes)

    def note(self, kind: str, what: Any) -> None:
        """Add a change: a quad to add or remove, a graph to make, a prefix and its namespace."""
        self._changes.append((kind, what))

    def commit(self, store: Store) -> None:
        """Commit all changes."""
        changes, self._changes = self._changes, []
        if not changes:
            return
        with store.transaction() as transaction:
            for kind, run in groupby(changes, key=itemgetter(0)):
                _make_changes(transaction, kind, [what for _, what in run])

    def forget(self) -> None:
        """Drop all changes."""
        self._changes = []
