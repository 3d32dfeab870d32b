"""Branches of a store: start at `Branching`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from triplestore.data_classes import data_class
from triplestore.errors import LockedError, LostPlaceError, MissingError
from triplestore.store.faces.remembering import Remembering

if TYPE_CHECKING:
    from triplestore.store.faces.branch import Branch
    from triplestore.versions.branch_journals import BranchJournals, KeptBranch


@data_class
class BranchInfo:
    """A named branch of a store.

    base     the commit of the store on which it is based
    time     when it was made, in seconds since 1970
    edits    how many facts, quads and graphs its commits changed, each time counted
    commits  how many commits it has
    behind   how many commits the store has made since
    """

    name: str
    base: int
    time: float
    edits: int
    commits: int
    behind: int


class Branching(Remembering):
    """A store of which branches can be made; see `Store`."""

    _open_branches: WeakValueDictionary[str, Branch] | None = None

    def branch(self, name: str | None = None, *, rebase: bool = False) -> Branch:
        """A private state on top of the last commit, to be written, queried and compared.

        With a name it is kept with the store, and the same name opens it again later, on the commit
        on which it was based. If the state of that commit is not kept any more (it is for some
        time, and longer with `keep_history`), that is a `LostPlaceError`; with `rebase` the branch
        is put on the last commit in any case.

        >>> from triplestore import Store
        >>> store = Store()
        >>> with store.branch() as one, store.branch() as other:
        ...     _ = one.load("<http://ex.org/a> <http://ex.org/p> 1 .", "ttl")
        ...     print(len(one), len(other), len(store))
        1 0 0
        """
        # Late: few runs need branches.
        from triplestore.store.faces.branch import Branch

        if name is None:
            return Branch(self, self._database.state)
        known = self._branches_here()
        if name in known:
            raise LockedError(f"the branch {name!r} is open already: close it, or use that one")
        journals = self._branch_journals()
        kept = journals.all().get(name)
        if kept is None:
            state = self._database.state
            made = Branch(self, state, journals.create(name, state.commit), self._forget_branch)
        else:
            made = self._reopened(kept, rebase)
        known[name] = made
        return made

    def _reopened(self, kept: KeptBranch, rebase: bool) -> Branch:
        # Late: few runs need branches.
        from triplestore.store.faces.branch import Branch

        now = self._database.state
        base = now if rebase else self._past_state(kept.head.base)
        if base is None:
            raise LostPlaceError(
                f"the branch {kept.head.name!r} is based on commit {kept.head.base}, whose state "
                f"is not kept any more, and the store is at commit {now.commit}: open it with "
                f"rebase=True to make its changes on that, or delete it",
                now.commit,
            )
        made = Branch(self, base, kept, self._forget_branch)
        made._make_on(base, list(kept.edits))
        return made

    def branches(self) -> list[BranchInfo]:
        """The named branches, by name.

        >>> from tempfile import TemporaryDirectory
        >>> from triplestore import Store
        >>> with TemporaryDirectory() as folder, Store(folder) as store:
        ...     with store.branch("try-1") as b:
        ...         _ = b.load("<http://ex.org/a> <http://ex.org/p> 1 .", "ttl")
        ...     [(each.name, each.base, each.edits) for each in store.branches()]
        [('try-1', 0, 1)]
        """
        if self._database.path is None:
            return []
        now = self._database.state.commit
        return [
            BranchInfo(
                kept.head.name,
                kept.head.base,
                kept.head.time,
                sum(len(edits.changes) for edits in kept.edits),
                len(kept.edits) - 1,
                now - kept.head.base,
            )
            for _, kept in sorted(self._branch_journals().all().items())
        ]

    def delete_branch(self, name: str) -> None:
        """Delete a named branch with everything in it."""
        open_one = self._branches_here().pop(name, None)
        if open_one is not None:
            open_one._end("it was deleted")
        kept = self._branch_journals().all().get(name)
        if kept is None:
            known = ", ".join(each.name for each in self.branches()) or "none"
            raise MissingError(f"the branch {name!r} does not exist; the store has: {known}")
        kept.remove()

    def _branch_journals(self) -> BranchJournals:
        # Late: few runs need branches.
        from triplestore.versions.branch_journals import BranchJournals

        return BranchJournals(self._database)

    def _branches_here(self) -> WeakValueDictionary[str, Branch]:
        if self._open_branches is None:
            self._open_branches = WeakValueDictionary()
        return self._open_branches

    def _close_beside(self) -> None:
        for branch in list(self._branches_here().values()):
            branch.close()
        super()._close_beside()

    def _forget_branch(self, branch: Branch) -> None:
        self._branches_here().pop(branch.name or "", None)
