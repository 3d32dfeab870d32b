"""Branches: private states on top of a commit. Start at `Branch`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Self

from triplestore.errors import ConflictError, UsageError
from triplestore.reasoning.outcome import Change
from triplestore.storage import State
from triplestore.store.arguments import QuadLike
from triplestore.store.faces.supposing import WhatIf, line_of
from triplestore.store.snapshot import Snapshot
from triplestore.store.state_view import StateView
from triplestore.store.writes.adopt_branch import adopt_branch, has_not_moved
from triplestore.store.writes.edit_writes import make_edits
from triplestore.store.writes.writing_calls import WritingCalls
from triplestore.versions.branch_journals import committed_values
from triplestore.versions.conflicts import conflicts_of
from triplestore.versions.consequences import Consequences, consequences_of
from triplestore.versions.edits import edits_between
from triplestore.versions.one_dictionary import Line
from triplestore.versions.private_state import merge_own_layers, own_layers, private_database

if TYPE_CHECKING:
    from triplestore.live.published import Published
    from triplestore.store.readable import ReadableStore
    from triplestore.store.writes.writer import TransactionWriter
    from triplestore.terms import Dictionary
    from triplestore.versions.branch_journals import KeptBranch
    from triplestore.versions.keyed_changes import KeyedChanges


class Branch(WritingCalls, WhatIf):
    """A private state on top of a commit of a store; made by `Store.branch()`.

    It is read and written like a store, and infers like one. The store and other branches see
    nothing of it before `commit()`, and it sees nothing of them. It costs what it differs in.

    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.load("@prefix : <http://ex.org/> . :tom a :Cat .", "ttl")
    >>> with store.branch() as b:
    ...     _ = b.update("PREFIX : <http://ex.org/> INSERT DATA { :kit a :Cat }")
    ...     print(len(b), len(store))
    ...     _ = b.commit()
    2 1
    >>> len(store)
    2
    """

    def __init__(
        self,
        origin: WritingCalls,
        base: State,
        kept: KeptBranch | None = None,
        forget: Callable[[Branch], None] = lambda branch: None,
    ) -> None:
        """`forget` is called at its end."""
        self._origin = origin
        self._services = origin.allow_service
        self._kept = kept
        self._forget = forget
        self._ended: str | None = None
        self._begin_with(base)

    def _begin_with(self, base: State) -> None:
        database = private_database(base, self._origin._database)
        self._base, self._begun, self._database = base, database.state, database
        self._reasoner = self._origin._reasoner.lend(base, database.dictionary)
        self._seen = None
        self._silent = False

    def __repr__(self) -> str:
        name = "" if self.name is None else f" {self.name!r}"
        return f"<branch{name} on commit {self.base}: {len(self):,} quads>"

    @property
    def name(self) -> str | None:
        """Its name, if it is kept on disk."""
        return None if self._kept is None else self._kept.head.name

    @property
    def base(self) -> int:
        """The commit of the store on which it is based."""
        return self._base.commit

    @property
    def is_stale(self) -> bool:
        """Whether the store has moved since; `rebase()` puts the branch on its newest commit."""
        return not has_not_moved(self._origin, self._base)

    def snapshot(self) -> Snapshot:
        """The branch as it is now, unaffected by later writes."""
        return self._passing_on(Snapshot(self._database.state))

    def diff(self, other: ReadableStore | None = None) -> Consequences:
        """What the branch has that another state has not, and the other way round.

        other  the store (by default), a snapshot or a past commit of it, or another branch

        >>> from triplestore import Store
        >>> store = Store()
        >>> prefix = "@prefix : <http://ex.org/> ."
        >>> _ = store.load(prefix + ":tom a :Cat .", "ttl")
        >>> with store.branch() as b:
        ...     _ = b.load(prefix + ":kit a :Cat .", "ttl")
        ...     b.diff(store)
        <difference: added 1>
        """
        return consequences_of(line_of(other or self._origin), self._line())

    def _line(self) -> Line:
        return Line(self._base, self._database.state, (self._database, self._reasoner))

    # -- the end --------------------------------------------------------------------------------

    def commit(
        self, *, rebase: bool = False, message: str | None = None, author: str | None = None
    ) -> Change:
        """Publish the branch as one commit of the store; it is over then.

        If the store has not moved, it takes what the branch inferred. Otherwise the asserted
        changes are made anew on its present state, and what follows is inferred there. That is
        refused with a `ConflictError` that names the reasons, and the branch stays as it is, if the
        store changed facts that the branch changed too, or the rules; with `rebase`, the branch
        has the last word. `message` and `author` are kept with the commit if the store keeps its
        history.

        >>> from triplestore import Store, errors
        >>> store = Store()
        >>> _ = store.load('@prefix : <http://ex.org/> . :tom :is "young" .', "ttl")
        >>> with store.branch() as b:
        ...     _ = b.update('DELETE { ?x :is "young" } INSERT { ?x :is "old" } WHERE { ?x ?p ?o }')
        ...     _ = store.update('DELETE WHERE { ?x :is "young" }')
        ...     try:
        ...         b.commit()
        ...     except errors.ConflictError as error:
        ...         print(error)
        ...     print(b.commit(rebase=True))
        the branch cannot be committed: the fact <http://ex.org/tom> <http://ex.org/is> "young" was
        removed, since commit 1, on which it is based; look at diff(), and say commit(rebase=True)
        to make its changes on the present state of the store
        added 1, not stated 1
        """
        with self._database.alone:
            self._require_open()
            writer = self._origin._begin()
            try:
                writer.say({"message": message, "author": author})
                change = self._commit(writer, rebase)
            except BaseException:
                writer.rollback()
                raise
            self._end("it was committed")
            if self._kept is not None:
                self._kept.remove()
        return change

    def _commit(self, writer: TransactionWriter, rebase: bool) -> Change:
        if self._kept is not None:
            writer.keep(committed_values(writer.kept, self._kept.head.id))
        if has_not_moved(self._origin, self._base):
            return adopt_branch(self._origin, writer, self._base, self._database.state)
        edits = self._edits()
        if not rebase:
            self._refuse(edits)
        make_edits(writer, edits, self._base.meta)
        return writer.commit()

    def _refuse(self, edits: KeyedChanges) -> None:
        found = conflicts_of(edits, self._base, self._origin._database.state)
        if found:
            raise ConflictError(
                f"the branch cannot be committed: {'; '.join(found)}, since commit {self.base}, on "
                f"which it is based; look at diff(), and say commit(rebase=True) to make its "
                f"changes on the present state of the store"
            )

    def rebase(self) -> None:
        """Put the branch on the newest commit of the store: its asserted changes are made anew.

        >>> from triplestore import Store
        >>> store = Store()
        >>> with store.branch() as b:
        ...     _ = store.load("<http://ex.org/a> <http://ex.org/p> 1 .", "ttl")
        ...     before = len(b)
        ...     b.rebase()
        ...     print(before, len(b))
        0 1
        """
        with self._database.alone:
            self._require_open()
            self._make_on(self._origin._database.state, [self._edits()])

    def _make_on(self, base: State, edits: list[KeyedChanges]) -> None:
        """Begin again with a state, on which these edits are made."""
        said, before = self._base.meta, (self._base, self._begun, self._database, self._reasoner)
        self._begin_with(base)
        self._silent = True
        try:
            for each in edits:
                with self._begin() as writer:
                    make_edits(writer, each, said)
                said = self._database.state.meta
            if self._kept is not None and base.commit != self._kept.head.base:
                self._kept.rebased(base.commit, self._edits())
        except BaseException:
            self._base, self._begun, self._database, self._reasoner = before
            raise
        finally:
            self._silent = False
            self._seen = None

    def _edits(self) -> KeyedChanges:
        return edits_between(self._begun, self._database.state)

    def close(self) -> None:
        """End it: what was not committed is discarded, unless the branch has a name."""
        self._end("it was closed")

    def _end(self, why: str) -> None:
        if self._ended is None:
            self._ended = why
            if self._kept is not None:
                self._kept.close()
                self._forget(self)

    def _require_open(self) -> None:
        if self._ended is not None:
            raise UsageError(f"the branch has ended: {self._ended}; make another one")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- what reading and writing need ------------------------------------------------------------

    def _view(self) -> StateView:
        state, seen = self._database.state, self._seen
        if seen is None or seen[0] is not state:
            self._seen = seen = (state, StateView.of(state))
        return seen[1]

    def _begin(self, turn: AbstractContextManager[Dictionary] | None = None) -> TransactionWriter:
        self._require_open()
        return super()._begin(turn)

    def _write(self, add: bool, quads: Iterable[QuadLike]) -> Change:
        return self._change(lambda writer: writer.write_all(add, quads))

    def _note(self, published: Published) -> None:
        if self._kept is not None and not self._silent:
            try:
                self._kept.append(edits_between(published.before, published.after))
            except BaseException as error:
                self._database.fail(error)
                raise
        merge_own_layers(self._database, own_layers(self._begun, published.after))
