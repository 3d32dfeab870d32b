"""Edits of a branch made anew in a transaction: start at `make_edits`.

The edits are applied to the state that the transaction begins with, which may be a later one than
that of the branch: rows one by one, rules and prefixes as what the branch added and removed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from triplestore.reasoning.program.settings import ReasonSettings, Regimes
from triplestore.reasoning.program.stored_rules import GivenRules, Rules, rules_of
from triplestore.relations import EXPLICIT, Changes
from triplestore.storage.metadata import (
    GRAPH_FILES,
    PREFIXES,
    PROGRAM,
    REGIMES,
    STRICT,
    TUNING,
    graph_files,
    prefixes_of,
)
from triplestore.store.writes.combine_writes import new_graphs
from triplestore.store.writes.graph_writes import remove_graph

if TYPE_CHECKING:
    from triplestore.relations.packed_keys import U8, Bools
    from triplestore.store.writes.writer import TransactionWriter
    from triplestore.versions.keyed_changes import KeyedChanges


def make_edits(writer: TransactionWriter, edits: KeyedChanges, base: Mapping[str, bytes]) -> None:
    """Make edits anew; `base` has the named values of the state that they were made on."""
    ids = np.zeros(1, np.uint32)
    if edits.keys:
        ids = writer.encode(edits.keys)
    changes = edits.under(lambda keys: ids)
    _change_rows(writer, changes)
    _make_values(writer, edits.meta, base)
    wanted = _settings(writer, edits.meta, base)
    if wanted is not None:
        writer.apply(wanted)


def _change_rows(writer: TransactionWriter, changes: Changes) -> None:
    graphs = changes.graphs
    gone = graphs.columns[0][graphs.status == 0]
    for graph in writer.dictionary.terms(gone):
        remove_graph(writer, graph)
    p, s, o = changes.facts.columns
    none = np.zeros(len(p), np.uint32)
    writer.change_rows(_adds(changes.facts.status), s, p, o, none)
    p, s, o, g = changes.quads.columns
    still = ~np.isin(g, gone)
    rows = (s[still], p[still], o[still], g[still])
    writer.change_rows(_adds(changes.quads.status[still]), *rows)
    come = graphs.columns[0][graphs.status != 0]
    if len(come):
        writer.stage(Changes(graphs=new_graphs(writer.stated_tables(), come)))


def _adds(status: U8) -> Bools:
    adds: Bools = (status & np.uint8(EXPLICIT)) != 0
    return adds


def _make_values(
    writer: TransactionWriter, changed: Mapping[str, bytes | None], base: Mapping[str, bytes]
) -> None:
    if PREFIXES in changed:
        before, ours = prefixes_of(base), prefixes_of(_one(PREFIXES, changed))
        writer.bind({name: iri for name, iri in ours.items() if before.get(name) != iri})
        for name in before.keys() - ours.keys():
            writer.unbind(name)
    if GRAPH_FILES in changed:
        numbers = {**graph_files(writer.kept), **graph_files(_one(GRAPH_FILES, changed))}
        writer.keep({GRAPH_FILES: json.dumps(numbers, ensure_ascii=False).encode()})
    if STRICT in changed:
        writer.keep({STRICT: changed[STRICT]})


def _settings(
    writer: TransactionWriter, changed: Mapping[str, bytes | None], base: Mapping[str, bytes]
) -> ReasonSettings | None:
    """The settings of the transaction with those that the branch changed; None if it did not."""
    wanted = writer.settings
    if PROGRAM in changed:
        ours = rules_of(_one(PROGRAM, changed))
        users = _merged_rules(rules_of(base), ours, wanted.users or Rules())
        wanted = replace(wanted, users=users or None)
    if REGIMES in changed:
        ours_regimes = Regimes.of(_one(REGIMES, changed))
        regimes = _merged_regimes(Regimes.of(base), ours_regimes, wanted.regimes)
        wanted = replace(wanted, regimes=regimes)
    if TUNING in changed:
        wanted = replace(wanted, tuning=ReasonSettings.of(_one(TUNING, changed)).tuning)
    return None if wanted is writer.settings else wanted


def _merged_rules(base: Rules, ours: Rules, theirs: Rules) -> Rules:
    """Their rules with those added and without those removed between the base and ours."""
    if theirs == base:
        return ours
    gone, come = base.program - ours.program, ours.program - base.program
    left = theirs.without(GivenRules(gone, {}, {}, ()))
    return left.with_added(GivenRules(come, {}, {}, ())) if len(come) else left


def _merged_regimes(base: Regimes, ours: Regimes, theirs: Regimes) -> Regimes:
    if theirs == base:
        return ours
    kept = [name for name in theirs.names if name in ours.names or name not in base.names]
    names = tuple(dict.fromkeys([*kept, *(n for n in ours.names if n not in base.names)]))
    return replace(ours, names=names)


def _one(name: str, changed: Mapping[str, bytes | None]) -> Mapping[str, bytes]:
    value = changed[name]
    return {} if value is None else {name: value}
