"""What a store keeps in memory between commits: parsed and compiled rules, and tables.

Start reading at `Reasoner`. Compiling costs about 20 us a rule. It is done at the first write that
needs it, and the result is kept; a commit that changes no rules finds it by the identity of two
objects. What is always true: kept rules were compiled for the dictionary that they are kept with,
and all their ids are committed. (A transaction that fails removes the terms that it encoded, and
other terms get their ids; `optimize` gives the store a new dictionary.) Tables beside the closure
(see `side_tables`) are right for one commit with one dictionary.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from triplestore.reasoning.collector_pause import no_collection
from triplestore.reasoning.program.in_force import InForce
from triplestore.reasoning.program.literals import Literals
from triplestore.reasoning.program.rules_on_demand import program_of
from triplestore.reasoning.program.settings import ReasonSettings
from triplestore.reasoning.program.stored_rules import remember
from triplestore.storage import State
from triplestore.storage.metadata import PROGRAM, STALE, hidden_count
from triplestore.thread_limits import looking

if TYPE_CHECKING:
    from triplestore.expressions.query_terms import QueryTerms
    from triplestore.reasoning.program.stored_rules import Rules
    from triplestore.reasoning.side_tables import KeptTables
    from triplestore.relations.packed_keys import U32
    from triplestore.rules.compiled_program import Compiled
    from triplestore.storage.state import Meta
    from triplestore.terms import Dictionary


class Reasoner:
    """The compiled rules of a store as of its last commit."""

    def __init__(self) -> None:
        self._known: tuple[Rules, Dictionary, Compiled] | None = None
        self._ids: dict[bytes, int] = {}
        self._read: tuple[Meta, ReasonSettings, int] | None = None
        self._tables: tuple[int, Dictionary, KeptTables] | None = None

    def settings_of(self, meta: Meta) -> tuple[ReasonSettings, int]:
        """The settings that a state keeps, and its number of hidden facts; read once for each
        `Meta`."""
        read = self._read
        if read is None or read[0] is not meta:
            self._read = read = (meta, ReasonSettings.of(meta), hidden_count(meta))
        return read[1], read[2]

    def note(self, meta: Meta, settings: ReasonSettings, hidden: int) -> None:
        """Note the settings of a state that was just committed."""
        read, users = self._read, settings.users
        if read is not None and read[0] is meta:
            return
        if users is not None and meta.get(PROGRAM) == users.data:
            self._read = (meta, replace(settings, users=remember(users)), hidden)

    def compiling(self, state: State) -> RuleCompiler:
        """The compiler for one transaction on this state."""
        return RuleCompiler(self, state)

    def find(self, rules: Rules, dictionary: Dictionary) -> Compiled | None:
        """The compiled form of these rules for this dictionary, if it is kept."""
        known = self._known
        if known is None or known[1] is not dictionary:
            return None
        return known[2] if known[0] is rules or known[0] == rules else None

    def keep(
        self, rules: Rules, dictionary: Dictionary, compiled: Compiled, ids: dict[bytes, int]
    ) -> None:
        """Keep this compiled form instead of the last one; all its ids are committed."""
        self._known, self._ids = (rules, dictionary, compiled), ids

    def known_ids(self, dictionary: Dictionary) -> dict[bytes, int]:
        """The ids of the constants in what is kept, if it is for this dictionary."""
        known = self._known
        return self._ids if known is not None and known[1] is dictionary else {}

    def tables_of(self, state: State) -> KeptTables | None:
        """The tables beside the closure of a state, if there are any."""
        known = self._tables
        if known is None or known[0] != state.commit or known[1] is not state.dictionary:
            return None
        return known[2]

    def keep_tables(self, tables: KeptTables, state: State) -> None:
        """Keep the tables of this state instead of the last ones."""
        if any(table is not None for table in tables):
            self._tables = (state.commit, state.dictionary, tables)

    def lend(self, base: State, dictionary: Dictionary) -> Reasoner:
        """A reasoner for a branch: it has what is compiled, if it is right for the base.

        dictionary  that of the branch, which begins as a copy of the one of the base
        """
        made, known, ids = Reasoner(), self._known, self._ids
        if known is None or known[1] is not base.dictionary:
            return made
        rules, _, compiled = known
        if max(ids.values(), default=0) <= base.term_count:
            twin = copy(compiled)
            twin.ids_of = ConstantIds(dictionary, ids)
            made.keep(rules, dictionary, twin, ids.copy())
        return made

    def drop_tables(self) -> None:
        """Keep no tables."""
        self._tables = None

    def drop(self) -> None:
        """Drop everything with ids: the dictionary was replaced, or the store is closed."""
        self._tables = self._known = None
        self._ids = {}

    @property
    def table_bytes(self) -> int:
        """The size of these tables; 0 while a commit changes them."""
        known = self._tables
        try:
            return 0 if known is None else known[2].nbytes
        except RuntimeError:  # another thread commits just now
            return 0


class RuleCompiler:
    """The compiled rules of one transaction, with constants encoded in it.

    committed_terms  number of terms of the dictionary that are committed
    """

    def __init__(self, reasoner: Reasoner, state: State) -> None:
        self._reasoner = reasoner
        self._dictionary = state.dictionary
        self.committed_terms = state.term_count
        self._made: list[tuple[Rules, Compiled, ConstantIds]] = []

    def compiled(self, rules: Rules, *, modules: bool = True) -> Compiled:
        """The compiled form of rules.

        modules  whether groups of rules that compute a closure are owned by modules
        """
        found = self._reasoner.find(rules, self._dictionary)
        if found is not None and found.with_modules == modules:
            return found
        for known, compiled, _ in self._made:
            if known is rules and compiled.with_modules == modules:
                return compiled
        with no_collection():
            ids = ConstantIds(self._dictionary, self._reasoner.known_ids(self._dictionary))
            compiled = compile_rules(rules, ids, modules=modules)
        self._made.append((rules, compiled, ids))
        return compiled

    def share(self, rules: Rules, other: Rules) -> None:
        """Let other rules have the compiled form of these, which is theirs too."""
        found = [(compiled, ids) for known, compiled, ids in self._made if known is rules]
        kept = self._reasoner.find(rules, self._dictionary)
        if kept is not None:
            known_ids = self._reasoner.known_ids(self._dictionary)
            found.append((kept, ConstantIds(self._dictionary, known_ids)))
        self._made += [(other, compiled, ids) for compiled, ids in found]

    def end(self, rules: Rules, committed: bool) -> None:
        """Keep what was compiled for the rules in force, if its ids are committed."""
        for known, compiled, ids in self._made:
            if known is rules and (committed or ids.last <= self.committed_terms):
                self._reasoner.keep(rules, self._dictionary, compiled, ids.known)


def compile_to_read(rules: Rules, dictionary: Dictionary) -> tuple[Compiled, QueryTerms]:
    """Rules compiled for a reader, with ids of their own for unknown constants.

    The families of all rules are made as families, also those of class hierarchies.
    """
    # Late: most stores have no rules.
    from triplestore.expressions.query_terms import QueryTerms
    from triplestore.rules.compiled_program import Compiled

    terms = QueryTerms(dictionary)
    return Compiled(rules.program, terms.encode_keys, hierarchies=False), terms


class ConstantIds:
    """The ids of a program's constants, encoded; each is looked up once.

    known  key -> id, to begin with of ids that are committed
    last   the greatest id that was looked up
    """

    def __init__(self, dictionary: Dictionary, known: dict[bytes, int]) -> None:
        self._dictionary = dictionary
        self.known = known.copy()
        self.last = 0

    def __call__(self, keys: Sequence[bytes]) -> U32:
        """The ids of keys."""
        known = self.known
        new = list(dict.fromkeys([key for key in looking(keys) if key not in known]))
        if new:
            found = self._dictionary.encode_keys(new)
            self.last = max(self.last, int(found.max()))
            known.update(zip(new, found.tolist(), strict=True))
        return np.array([known[key] for key in looking(keys)], dtype=np.uint32)


def compile_rules(rules: Rules, ids: ConstantIds, *, modules: bool = True) -> Compiled:
    """Rules compiled completely, with their constants encoded."""
    # Late: most stores have no rules.
    from triplestore.rules.compiled_program import Compiled

    if isinstance(rules, InForce):  # its sub-class axioms are pairs already, where they may be
        whole = rules.compiled
        beside = None if whole.edges is None else whole.edges.beside
        compiled = Compiled(whole.program, ids, modules=modules, beside=beside)
    else:
        compiled = Compiled(rules.program, ids, modules=modules, pairs=True)
    # Made when they are first asked for; that must not be in a later transaction.
    _ = compiled.strata, compiled.levels, compiled.helpers, compiled.violations
    return compiled


# -- by state -------------------------------------------------------------------------------------

MAX_REMEMBERED = 8
"""Maximum number of states of a dictionary whose rules are remembered."""


def rules_of_state(state: State) -> Rules | None:
    """All rules in force in a state: kept ones, and those made of its axioms."""
    return rules_for(state, ReasonSettings.of(state.meta))


def rules_for(state: State, settings: ReasonSettings) -> Rules | None:
    """The same for a state whose settings are known."""
    users, regimes = settings.users, settings.regimes
    if not regimes.infer:
        return users
    known: InForce | None = state.dictionary.remembered.get(state.commit)
    if known is not None:
        return known
    tables, dictionary = state.tables, state.dictionary
    literals = None
    if regimes.look_at_literals and STALE not in state.meta:
        literals = Literals.of_closure(tables, dictionary, state.term_count)
    made = program_of(regimes, users, tables, dictionary, literals=literals)
    return remember_rules(state, made)


def remember_rules(state: State, rules: InForce) -> InForce:
    """Let `rules_of_state` find these rules, which are in force in a state.

    They are kept by the dictionary whose ids they have, and only as long as it. Kept elsewhere,
    they would keep the dictionary and its files after its store was closed or optimized.
    """
    remembered = state.dictionary.remembered
    for oldest in list(remembered)[: 1 - MAX_REMEMBERED]:
        remembered.pop(oldest, None)
    remembered[state.commit] = rules
    return rules
