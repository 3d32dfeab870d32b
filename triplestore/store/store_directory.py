"""The directory of a store: what it shows now, and its upkeep. Start at `StoreDirectory`."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING, Self

from triplestore.live.published import Published
from triplestore.reasoning.program.in_force import unreadable_values
from triplestore.reasoning.reasoner import Reasoner
from triplestore.storage import Database, State
from triplestore.storage.metadata import hidden_count
from triplestore.store.arguments import PathLike
from triplestore.store.following import FollowedStore
from triplestore.store.info import Info, describe
from triplestore.store.state_view import StateView

if TYPE_CHECKING:
    from triplestore.ontologies.bounds import Bound
    from triplestore.reasoning.program.ontology_graphs import Places


class StoreDirectory(FollowedStore):
    """An open store without its writes; see `Store`."""

    _database: Database
    _reasoner: Reasoner
    _seen: tuple[State, StateView] | None

    def __repr__(self) -> str:
        place = self._database.path or "in memory"
        return f"<store {place}: {len(self):,} quads>"

    def _repr_html_(self) -> str:
        # Late: only notebooks ask for it.
        from triplestore.store.store_html import reading_html

        return reading_html(self, self._view(), f"store {self._database.path or 'in memory'}")

    def _view(self) -> StateView:
        state = self._database.state
        seen = self._seen
        if seen is None or seen[0] is not state:
            self._seen = seen = (state, StateView.of(state))
        return seen[1]

    @property
    def path(self) -> Path | None:
        """The directory; None for a store in memory."""
        return self._database.path

    @property
    def commit(self) -> int:
        """The number of the last commit; 0 for a new store."""
        return self._database.state.commit

    def flush(self) -> None:
        """Wait until all commits are on disk."""
        self._database.flush()

    def refresh(self) -> bool:
        """Move a store opened for reading to the newest commit; True if there is a newer one."""
        before = self._database.state
        after = self._database.refresh()
        if after.commit != before.commit:
            self._note(Published(before, after, None))
        if after.dictionary is not before.dictionary:
            self._let_go(before)
        return after.commit != before.commit

    def optimize(self) -> None:
        """Merge everything into as few files as possible and drop unused terms."""
        before = self._database.state
        self._database.optimize()
        self._note_moved()
        self._let_go(before)
        del before
        gc.collect()  # terms refer to each other in a circle; until then their files stay mapped

    def backup(self, target_directory: PathLike) -> None:
        """Make a consistent copy in a new directory, even while the store is written to."""
        self._database.backup(Path(target_directory))
        self._copy_beside(Path(target_directory))

    def verify(self, *, closure: bool = False, progress: bool = False) -> list[str]:
        """The problems found in structure, checksums and kept counts of all files, in words.

        With `closure`, if there are none, also those that `audit` finds in the inferred facts.
        """
        # Late: it needs `ontologies` or `maintenance`, and few runs ask for it.
        from triplestore.reasoning.reports.check_counts import wrong_counts

        problems = self._database.verify(progress=progress)
        problems += unreadable_values(self._database.state.meta)
        if not problems:
            state = self._database.state
            problems = wrong_counts(state.tables, state.dictionary, hidden_count(state.meta))
            problems += self._beside_problems()
        if closure and not problems:
            problems = self.audit(progress=progress).problems()
        return problems

    def info(self) -> Info:
        """What is in the store, and its size in memory and on disk; prints as a table."""
        return describe(self._database, self._reasoner.table_bytes)

    def digest(self, facts: str = "all") -> str:
        """32 hexadecimal digits that are equal for stores with equal facts.

        They depend on every triple, its graph, and whether it is asserted or inferred; not on ids,
        order, files or labels of blank nodes. `facts="explicit"` leaves out inferred facts. Blank
        nodes are distinguished by the facts around them, as far as that is possible.

        >>> from triplestore import Store
        >>> one, other = Store(), Store()
        >>> _ = one.load("_:a <http://ex.org/p> 1 . _:a <http://ex.org/q> 2 .", "ttl")
        >>> _ = other.load("[ <http://ex.org/q> 2 ; <http://ex.org/p> 1 ] .", "ttl")
        >>> one.digest() == other.digest()
        True
        """
        # Late: few runs need it.
        from triplestore.store.digest import digest

        return digest(self._view(), facts)

    def bound(
        self, which: str, ontology: Places = (), *, imports: Places = (), network: bool = False
    ) -> Bound:
        """The lower or upper bound ("lower", "upper") of an ontology as a program, for experiments.

        It is made of the axioms that are asserted in the store and of those in files; both may be
        in OWL 2 DL. Every fact inferred by the lower bound is entailed; every fact that the upper
        bound does not infer is not entailed. The result has the `program`, which can be passed to
        `reason`, and in `outside` the axioms that were left out or replaced.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.load('@prefix : <http://ex.org/> . @prefix rdfs: '
        ...     '<http://www.w3.org/2000/01/rdf-schema#> . :Cat rdfs:subClassOf :Animal .', "ttl")
        >>> print(store.bound("lower").program)
        rule "cax-sco" <http://ex.org/Animal>[?x] :- <http://ex.org/Cat>[?x] .
        """
        # Late: it needs `ontologies` or `maintenance`, and few runs ask for it.
        from triplestore.reasoning.reports.bounds import bound_of

        return bound_of(self._database.state, which, ontology, imports=imports, network=network)

    def close(self) -> None:
        """Make everything durable and release the directory; the store is closed then."""
        self._end_following()
        self._let_go(self._database.state)
        self._database.close()
        self._close_beside()

    def _beside_problems(self) -> list[str]:
        """What is wrong with files that are kept beside the store."""
        return []

    def _copy_beside(self, target: Path) -> None:
        """Copy what is kept beside the store to a copy of it."""

    def _close_beside(self) -> None:
        """Close the files that are kept beside the store."""

    def _let_go(self, state: State) -> None:
        """Drop everything about a state whose ids are no longer in use, so that its files are
        unmapped."""
        self._seen = None
        self._reasoner.drop()
        state.dictionary.remembered.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
