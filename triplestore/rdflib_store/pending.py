"""Changes that wait to be committed together: start at `Pending`.

rdflib adds triples one by one; a commit for each would take most of the time. What is always true:
changes are carried out in the order in which they were noted, all of them in one commit; those of a
commit that fails are forgotten.
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


def _carry_out(transaction: Transaction, kind: str, what: list[Any]) -> None:
    """Carry out changes of one kind."""
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
    """Changes in their order.

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
        """Note a change: a quad to add or remove, a graph to make, a prefix and its namespace."""
        self._changes.append((kind, what))

    def commit(self, store: Store) -> None:
        """Carry everything out."""
        changes, self._changes = self._changes, []
        if not changes:
            return
        with store.transaction() as transaction:
            for kind, run in groupby(changes, key=itemgetter(0)):
                _carry_out(transaction, kind, [what for _, what in run])

    def forget(self) -> None:
        """Carry nothing out."""
        self._changes = []
