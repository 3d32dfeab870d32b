"""What readers see of one state: start at `StateView`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from triplestore.data_classes import data_class
from triplestore.reasoning.program.settings import Regimes
from triplestore.reasoning.reasoner import rules_of_state
from triplestore.reasoning.stale import refuse_if_stale
from triplestore.reasoning.visible import shown
from triplestore.relations import Tables
from triplestore.relations.lookup import ANY_GRAPH, QuadColumns, match
from triplestore.relations.relation import BLOCK
from triplestore.sparql.cache.kept_plans import StatePlans
from triplestore.storage.metadata import (
    PROGRAM,
    REGIMES,
    TEXT_INDEX,
    hidden_count,
    prefixes_of,
)
from triplestore.store.arguments import GraphLike, TermLike, graph_key
from triplestore.terms import Dictionary, key_of

if TYPE_CHECKING:
    from triplestore.reasoning.program.stored_rules import Rules
    from triplestore.storage import State
    from triplestore.text_search.settings import TextSettings


@data_class
class StateView:
    """Everything that reading needs: frozen tables, and the dictionary their ids belong to."""

    dictionary: Dictionary
    tables: Tables
    prefixes: Mapping[str, str]
    rules: Callable[[], Rules | None] = lambda: None
    """The rules in force."""
    hidden: int = 0
    """Number of facts that hold but are not triples of RDF; they are not shown."""
    regimes: tuple[str, ...] = ()
    """The names of the regimes in force."""
    commit: int = 0
    """The number of its commit; 0 for what is not committed."""
    text: TextSettings | None = None
    """The settings of the text index; None if there is none."""
    term_count: int | None = None
    """The number of its terms; None for all of the dictionary."""
    plans: StatePlans = field(default_factory=StatePlans, init=False, compare=False, repr=False)
    """Plans of queries on this state."""

    @classmethod
    def of(cls, state: State) -> StateView:
        """Everything that reading a committed state needs; raises if its closure is stale."""
        meta = state.meta
        refuse_if_stale(meta)
        return cls(
            state.dictionary,
            state.tables,
            prefixes_of(meta),
            lambda: rules_in(state),
            hidden_count(meta),
            regimes_in(meta),
            state.commit,
            text_settings_in(meta),
            state.term_count,
        )

    def pattern(
        self,
        s: TermLike | None,
        p: TermLike | None,
        o: TermLike | None,
        graph_name: GraphLike | None,
    ) -> tuple[int, int, int, int] | None:
        """The ids of a pattern; None if one of its terms is unknown, so that nothing matches."""
        keys = [key_of(term) for term in (s, p, o) if term is not None]
        graph = graph_key(graph_name)
        if graph is not None:
            keys.append(graph)
        found = self.dictionary.lookup_keys(keys).tolist() if keys else []
        if 0 in found:
            return None
        ids = iter(found)
        spo = [0 if term is None else next(ids) for term in (s, p, o)]
        g = ANY_GRAPH if graph_name is None else 0 if graph is None else next(ids)
        return spo[0], spo[1], spo[2], g

    def match(
        self, pattern: tuple[int, int, int, int], where: int, block_rows: int = BLOCK
    ) -> Iterator[QuadColumns]:
        """The rows of a pattern that can be shown."""
        blocks = match(self.tables, *pattern, where=where, block_rows=block_rows)
        return shown(self.dictionary, blocks) if self.hidden else blocks


def text_settings_in(meta: Mapping[str, bytes]) -> TextSettings | None:
    """The settings of a store's text index; None if it has none."""
    if TEXT_INDEX not in meta:
        return None
    # Late: few stores have a text index.
    from triplestore.text_search.settings import settings_of

    return settings_of(meta)


def regimes_in(meta: Mapping[str, bytes]) -> tuple[str, ...]:
    """The names of the regimes that a store keeps."""
    if REGIMES not in meta:
        return ()
    return Regimes.of(meta).names


def rules_in(state: State) -> Rules | None:
    """The rules in force in a state; None if there are none."""
    if PROGRAM not in state.meta and REGIMES not in state.meta:
        return None
    return rules_of_state(state)
