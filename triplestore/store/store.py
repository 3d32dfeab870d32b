"""The store: one interface to dictionary, tables, loaders and storage, like that of pyoxigraph.

Start reading at `Store`. Reading (see `readable.py`) shows the last commit; every writing call (see
`writes/writing_calls.py`) is a transaction of its own. There is one writer at a time: another
thread waits, another process gets an error that names the writer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NoReturn, Self
from weakref import WeakSet

from triplestore.errors import UsageError, WrongTypeError
from triplestore.reasoning.reasoner import Reasoner
from triplestore.storage import Database
from triplestore.storage.metadata import STALE
from triplestore.store.arguments import PathLike
from triplestore.store.faces.branching import Branching
from triplestore.store.faces.retracting import Retracting
from triplestore.store.faces.supposing import WhatIf
from triplestore.store.snapshot import Snapshot
from triplestore.store.state_view import StateView
from triplestore.store.writes.few_writes import FewWrites

if TYPE_CHECKING:
    from triplestore.live.published import Published
    from triplestore.versions.one_dictionary import Line

Durability = Literal["commit", "group", "flush"]


class Store(Branching, WhatIf, FewWrites, Retracting):
    """RDF quads in a directory, or in memory.

    `durability` says what a commit waits for: "commit", until it is on disk; "group", until the
    operating system has it, and it will be on disk within some hundredths of a second (a power
    failure may lose these); "flush", only until the operating system has it (a power failure may
    lose everything after the last `flush`, checkpoint or close). A killed process never loses a
    commit.

    >>> from triplestore import Store, Quad, NamedNode
    >>> a, p = NamedNode("http://ex.org/a"), NamedNode("http://ex.org/p")
    >>> store = Store()
    >>> print(store.add(Quad(a, p, a)))
    added 1
    >>> Quad(a, p, a) in store, len(store)
    (True, 1)
    """

    def __init__(
        self, path: PathLike | None = None, *, durability: Durability | str = "commit"
    ) -> None:
        if durability not in ("commit", "group", "flush"):
            raise UsageError(f'durability must be "commit", "group" or "flush", not {durability!r}')
        self._setup(Database.open(path, durability=durability))

    @classmethod
    def read_only(cls, path: PathLike) -> Self:
        """Open a store for reading only: takes no lock and changes nothing, even beside a writer.

        It shows the last commit as of now; `refresh()` moves on to the newest one.
        """
        store = cls.__new__(cls)
        store._setup(Database.open(path, read_only=True))
        return store

    def _setup(self, database: Database) -> None:
        self._database = database
        self._reasoner = Reasoner()
        self._seen = None
        self._snapshots: WeakSet[Snapshot] = WeakSet()
        try:
            if STALE in database.state.meta and not database.read_only:
                with self._begin() as writer:
                    writer.infer_anew()
                    writer.keep({STALE: None})
            state = database.state
            # Replaced as one, so that no lock is needed.
            self._seen = (state, StateView.of(state))
            self._watch_history()
        except BaseException:
            database.close()
            raise

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse `copy` and `pickle`: a store has a state that must not be duplicated."""
        raise WrongTypeError(
            "a store cannot be copied or pickled: use backup(path) or snapshot(), or open its "
            "directory with read_only(path) in the other process"
        )

    def __str__(self) -> str:
        return "\n".join(f"{quad} ." for quad in self)

    def snapshot(self) -> Snapshot:
        """The store as it is now, unaffected by later writes."""
        made = self._passing_on(Snapshot(self._database.state))
        self._snapshots.add(made)
        return made

    def _note(self, published: Published) -> None:
        self._note_history(published)
        super()._note(published)

    def _line(self) -> Line:
        # Late: few runs compare states.
        from triplestore.versions.one_dictionary import Line

        return Line.of(self._database.state, (self._database, self._reasoner))

    @property
    def open_snapshots(self) -> int:
        """How many snapshots of the store are still held.

        >>> store = Store()
        >>> held = store.snapshot()
        >>> store.open_snapshots
        1
        """
        return len(self._snapshots)
