"""Transactions: what is written together, and published together or not at all.

Start reading at `Transaction`; what it shares with every writer is in `writing.py`. A load brings a
layer of its own. Reading inside of the transaction sees its own writes, and what follows from them;
nobody else sees anything before the commit.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np

from triplestore.closures.described import describe
from triplestore.errors import InconsistencyError, UsageError
from triplestore.reasoning.change import Change
from triplestore.reasoning.collector_pause import no_collection
from triplestore.reasoning.outcome import Step, joined
from triplestore.reasoning.program.in_force import Regimes
from triplestore.reasoning.reasoner import Reasoner
from triplestore.reasoning.stale import estimate
from triplestore.relations import Changes, bulk_layer
from triplestore.storage.closures import SCHEMES
from triplestore.storage.metadata import (
    FILES,
    GRAPH_FILES,
    HIDDEN,
    PROGRAM,
    REGIMES,
    STALE,
    STRICT,
    TUNING,
    file_count,
    graph_files,
    hidden_count,
)
from triplestore.store.arguments import TermLike, graph_key
from triplestore.store.query_options import UpdateOptions
from triplestore.store.replacing import replacement
from triplestore.store.single_writes import Writing
from triplestore.terms import term_of, to_ntriples
from triplestore.thread_limits import look

if TYPE_CHECKING:
    from types import TracebackType

    from pyoxigraph import RdfFormat

    from triplestore.loaders import Loaded, Problem
    from triplestore.maintenance.report import Report
    from triplestore.operators.context import Flag
    from triplestore.reasoning.closed_elsewhere import ClosedElsewhere
    from triplestore.reasoning.difference import Difference
    from triplestore.reasoning.program.ontology_graphs import Places
    from triplestore.reasoning.program.stored_rules import Rules, RulesLike
    from triplestore.reasoning.tuning import Tuning
    from triplestore.relations import Tables
    from triplestore.storage import Database
    from triplestore.terms import Dictionary
    from triplestore.text_limits import TextLimits

    PathLike = str | os.PathLike[str]


MOST_NAMED = 5
"""So many new violations are named when a strict store refuses a commit."""


class Transaction(Writing):
    """A series of writes that becomes one commit, or nothing; made by `Store.transaction()`.

    >>> from triplestore import Store, Quad, NamedNode
    >>> store = Store()
    >>> a, p = NamedNode("http://ex.org/a"), NamedNode("http://ex.org/p")
    >>> with store.transaction() as t:
    ...     _ = t.add(Quad(a, p, a))
    ...     len(t), len(store)
    (1, 0)
    >>> print(t.change, len(store))
    added 1 1
    """

    def __init__(
        self, database: Database, done: Callable[[], None], reasoner: Reasoner | None = None
    ) -> None:
        super().__init__(database, done, reasoner)
        self._skipped = 0
        self._problems: list[Problem] = []
        self.change = Change()
        """What the transaction did, once it is committed."""

    # -- files ----------------------------------------------------------------------------------

    def load(
        self,
        input: str | bytes | IO[bytes] | IO[str] | None = None,
        format: RdfFormat | str | None = None,
        *,
        path: PathLike | Iterable[PathLike] | None = None,
        base_iri: str | None = None,
        to_graph: TermLike | None = None,
        replace_graph: TermLike | None = None,
        named_graphs: str = "keep",
        lenient: bool = False,
        progress: bool = False,
        cancel: Callable[[], bool] | None = None,
        threads: int | None = None,
        max_line_bytes: int | None = None,
        max_term_bytes: int | None = None,
    ) -> Loaded:
        """Load a text, a stream or files; see `Store.load`."""
        from triplestore.loaders import find_sources, limits_of, load

        if to_graph is not None and replace_graph is not None:
            raise UsageError("give to_graph or replace_graph, not both")
        self._settle()
        self._closing.watch(progress, cancel)
        meta = self._before.meta.with_changes(self._meta)
        number = file_count(meta) + 1
        target = to_graph
        if replace_graph is not None:
            target = replace_graph
            count = 1 if path is None else len(find_sources(None, path, format))
            number = self._number_of_graph(replace_graph, meta, number, count)
        loaded = load(
            input,
            self._dictionary,
            format=format,
            path=path,
            base_iri=base_iri,
            to_graph=_graph_term(target),
            named_graphs=named_graphs,
            lenient=lenient,
            first_file_number=number,
            progress=progress,
            cancel=cancel,
            threads=threads,
            limits=limits_of(max_line_bytes, max_term_bytes),
        )
        self.take(loaded, "add" if replace_graph is None else "replace", replace_graph)
        return loaded

    def take(self, loaded: Loaded, mode: str = "add", graph: TermLike | None = None) -> None:
        """Take what was loaded for this transaction's dictionary, by `load` or elsewhere.

        mode  "add" its statements; "delete" them, and add nothing else of it; "replace" what
            `graph` holds by them
        """
        self._settle()
        if mode == "delete":
            away = np.zeros(len(loaded), np.bool_)
            self.change_rows(away, loaded.s, loaded.p, loaded.o, loaded.g)
            return
        loaded.add_terms(self._dictionary)
        if mode == "replace":
            self._replace_rows(loaded, graph)
        else:
            self._add_rows(loaded)
        files = file_count(self._before.meta.with_changes(self._meta))
        self._meta[FILES] = str(max(files, loaded.next_file_number - 1)).encode()
        self._bind(loaded.prefixes, over=False)
        self._skipped += loaded.bad
        self._problems.extend(loaded.problems)

    def reserve_files(self, count: int, replace_graph: TermLike | None, replaces: bool) -> int:
        """The first of so many file numbers that nobody else gets, for a load that takes long.

        Those of a graph that is replaced are the same each time, while they suffice.
        """
        meta = self._before.meta.with_changes(self._meta)
        number = file_count(meta) + 1
        if replaces:
            number = self._number_of_graph(replace_graph, meta, number, count)
        self._meta[FILES] = str(max(file_count(meta), number + count - 1)).encode()
        return number

    @property
    def dictionary(self) -> Dictionary:
        """The dictionary, with the terms that this transaction encoded."""
        return self._dictionary

    def keep(self, values: Mapping[str, bytes | None]) -> None:
        """Keep named values with the store (see `kept`), or with None remove them."""
        self._check_open()
        self._meta.update(values)

    @property
    def kept(self) -> Mapping[str, bytes]:
        """The named values as they are now."""
        return self._before.meta.with_changes(self._meta)

    def _number_of_graph(
        self, graph: TermLike, meta: Mapping[str, bytes], free: int, count: int
    ) -> int:
        """The first file number of a graph that is replaced: the same each time, while the numbers
        that were set aside for it suffice."""
        key = graph_key(graph)
        name = "" if key is None else to_ntriples(key).decode()
        numbers = graph_files(meta)
        if name not in numbers or numbers[name][1] < count:
            numbers[name] = (free, count)
            self._meta[GRAPH_FILES] = json.dumps(numbers, ensure_ascii=False).encode()
        return numbers[name][0]

    def _add_rows(self, loaded: Loaded) -> None:
        before = self._current()
        graphs = loaded.g if loaded.has_named else None
        layer = bulk_layer(loaded.p, loaded.s, loaded.o, graphs, below=before)
        added = layer.facts.nets.total()[0] + layer.quads.nets.total()[0]
        self._already_there += len(loaded) - added
        self._since.append(layer)
        self._tables = before.push(layer)

    def _replace_rows(self, loaded: Loaded, graph_name: TermLike) -> None:
        graph = self._encoded_graph(graph_name)
        if np.any(loaded.g != np.uint32(graph)):
            raise UsageError(
                "the input has quads of other graphs than the one to be replaced; load it "
                "without replace_graph, or graph by graph"
            )
        found = replacement(self._current(), graph, loaded.s, loaded.p, loaded.o)
        self._already_there += found.kept
        self._unread.append(found.changes)

    def _encoded_graph(self, graph_name: TermLike) -> int:
        key = graph_key(graph_name)
        return 0 if key is None else int(self._dictionary.encode_keys([key])[0])

    # -- SPARQL ---------------------------------------------------------------------------------

    def update(
        self,
        update: str,
        *,
        base_iri: str | None = None,
        prefixes: Mapping[str, str] | None = None,
        load_from: Iterable[str] = (),
        timeout: float | None = None,
        budget: int | None = None,
        cancel: Flag | None = None,
        limits: TextLimits | None = None,
    ) -> None:
        """Carry out a SPARQL update; see `Store.update`."""
        options = UpdateOptions(base_iri, prefixes, load_from, timeout, budget, cancel, limits)
        self.carry_out(update, options)

    def carry_out(self, update: str, options: UpdateOptions) -> None:
        """Carry out a SPARQL update with these options."""
        from triplestore.store.run_update import update as run

        run(self, update, options)

    # -- rules ----------------------------------------------------------------------------------

    def reason(
        self,
        *regimes: str,
        rules: RulesLike | None = None,
        ontology: Places | None = None,
        imports: Places = (),
        network: bool = False,
        scope: Any = None,
        trivial: bool | None = None,
        strict: bool | None = None,
        equality: str | None = None,
        tuning: Mapping[str, Any] | None = None,
        progress: bool = False,
        cancel: Callable[[], bool] | None = None,
    ) -> Report:
        """Apply rules, from now on; see `Store.reason`."""
        from triplestore.reasoning.commands import chosen

        if strict is not None:
            self._meta[STRICT] = b"1" if strict else None

        named = chosen(regimes, rules)
        closing = self._closing
        tuned = closing.tuning.changed(tuning or {})
        if named is None:
            if scope is not None:
                raise UsageError('reason("none") turns inference off; it has no scope')
            return self._apply(None, Regimes(), tuned, (), progress, cancel)
        wanted = closing.regimes.changed(named, trivial, equality)
        if ontology is not None:
            from triplestore.reasoning.program.ontology_graphs import load_ontologies

            wanted = load_ontologies(self, ontology, wanted, imports=imports, network=network)
        wanted = wanted.scoped(scope)
        if rules is None:
            return self._apply(closing.users, wanted, tuned, (), progress, cancel)
        return self._add_rules(rules, wanted, tuned, progress, cancel)

    def add_rules(self, rules: RulesLike, *, progress: bool = False) -> Report:
        """Apply these rules too, from now on."""
        closing = self._closing
        return self._add_rules(rules, closing.regimes, closing.tuning, progress, None)

    def remove_rules(self, rules: RulesLike, *, progress: bool = False) -> Report:
        """Apply these rules no more; what follows from them only is gone."""
        from triplestore.datalog.problems import raise_errors
        from triplestore.reasoning.program.stored_rules import Rules, given, not_in_force

        taken = given(rules, self._prefixes())
        raise_errors(taken.problems)
        closing = self._closing
        users = closing.users or Rules()
        warnings = not_in_force(users, taken)
        left = users.without(taken)
        return self._apply(left, closing.regimes, closing.tuning, warnings, progress, None)

    def _add_rules(
        self,
        rules: RulesLike,
        regimes: Regimes,
        tuning: Tuning,
        progress: bool,
        cancel: Callable[[], bool] | None,
    ) -> Report:
        from triplestore.reasoning.commands import known_names
        from triplestore.reasoning.program.stored_rules import Rules, given, require

        self._settle()
        known = known_names(self._current(), self._dictionary)
        with no_collection(), self._closing.budgeted(tuning):
            look("reading the rules")
            added = given(rules, self._prefixes())
            wanted = (self._closing.users or Rules()).with_added(added)
            warnings = require(wanted, added.problems, known)
        self._bind(added.declared, over=False)
        return self._apply(wanted, regimes, tuning, warnings, progress, cancel)

    def _apply(
        self,
        users: Rules | None,
        regimes: Regimes,
        tuning: Tuning,
        warnings: Iterable[Any],
        progress: bool,
        cancel: Callable[[], bool] | None,
    ) -> Report:
        """Put rules in force and infer; if that fails, those of before stay in force."""
        from triplestore.reasoning.commands import applied, report_of

        closing = self._closing
        was = closing.rules
        closing.figures = {}
        same = users is closing.users and regimes == closing.regimes
        pause = nullcontext() if same else no_collection()
        with pause, applied(closing, users or None, regimes, tuning, progress, cancel):
            self._infer()
        for name, value in (
            (PROGRAM, users.data if users else None),
            (REGIMES, regimes.to_bytes()),
            (TUNING, tuning.to_bytes()),
        ):
            if value == self._before.meta.get(name):
                self._meta.pop(name, None)
            else:
                self._meta[name] = value
        return report_of(closing, was, warnings)

    def infer_anew(self) -> None:
        """Infer everything from the beginning, under the rules in force."""
        closing = self._closing
        users, regimes, tuning = closing.users, closing.regimes, closing.tuning
        self._apply(None, Regimes(), tuning, (), False, None)
        self._apply(users, regimes, tuning, (), False, None)

    def stated(self) -> Tables:
        """The tables with everything that was written so far, perhaps without what follows."""
        self._settle()
        return self._current()

    @property
    def begun_at(self) -> int:
        """The commit that the transaction begins with."""
        return self._before.commit

    def take_closure(self, closed: ClosedElsewhere) -> None:
        """Take what follows from all that is stated now, as it was computed elsewhere.

        The rules that it was computed by are in force from then on.
        """
        tables = self.stated()
        self._tables = self._closing.adopt(closed, self._since, tables)
        self._since = []
        for name in (PROGRAM, REGIMES, TUNING):
            value = closed.meta.get(name)
            if value == self._before.meta.get(name):
                self._meta.pop(name, None)
            else:
                self._meta[name] = value

    def put_off_inference(self) -> None:
        """Commit without what follows, once all is written; the store is stale then (`stale`)."""
        if not self._closing.active:
            return
        if STRICT in self.kept:
            raise UsageError(
                "the store is strict: whether a commit adds violations is known only when what "
                "follows is inferred; it cannot be left for later"
            )
        self._settle()
        self.keep({STALE: estimate(self._current(), self._before.tables)})
        self._closing.put_off = True

    def diff(self) -> Difference:
        """What the transaction did so far, with all that follows: quads and new violations.

        >>> from triplestore import Store
        >>> store = Store()
        >>> prefix = "@prefix : <http://ex.org/> ."
        >>> _ = store.reason(rules=prefix + ":knows[?y, ?x] :- :knows[?x, ?y] .")
        >>> with store.transaction() as t:
        ...     _ = t.load(prefix + ":a :knows :b .", "ttl")
        ...     print(t.diff())
        added 1
          + <http://ex.org/a> <http://ex.org/knows> <http://ex.org/b> .
        inferred 1
          + <http://ex.org/b> <http://ex.org/knows> <http://ex.org/a> .
        """
        from triplestore.reasoning.difference import Difference, net_changes

        now = self._infer()
        steps = joined([*self._closing.steps, *self._since])
        net = net_changes(self._before.tables, now, steps, self._cleared)
        states = self._before.tables, now
        return Difference(self._dictionary, net, self._closing.listed(), states)

    @property
    def report(self) -> Report | None:
        """What bringing the closure up to date took, the last time; None if that was not done."""
        if self._open:
            self._infer()
        if not self._closing.runs:
            return None
        from triplestore.reasoning.commands import report_of

        return report_of(self._closing, self._closing.rules)

    # -- the end --------------------------------------------------------------------------------

    def commit(self) -> Change:
        """Publish everything, durably as the store promises; the transaction is over then."""
        try:
            self._settle()
            self.change = self._publish()
        except BaseException:
            self.rollback()
            raise
        self._open = False
        self._done()
        return self.change

    def _publish(self) -> Change:
        if self._closing.active:
            self._infer()
        steps = joined([*self._closing.steps, *self._since, *self._unread])
        counts = self._closing.counts(steps, self._cleared)
        asked_in_vain = self._already_there or self._not_stated or self._only_inferred
        if asked_in_vain or self._skipped or self._problems:
            counts = replace(
                counts,
                already_there=self._already_there,
                not_stated=self._not_stated,
                only_inferred=self._only_inferred,
                skipped=self._skipped,
                problems=tuple(self._problems),
            )
        self._refuse(counts)
        self._note_hidden()
        self._note_schemes()
        if not (counts or self._meta or any(map(_changes_relations, steps))):
            self._database.rollback()
            self._closing.end(None)
            return counts
        staged = None if self._unread else (self._before.tables, self._tables)
        state = self._database.commit(steps, meta=self._meta, cleared=self._cleared, staged=staged)
        self._closing.end(state)
        return replace(counts, commit=state.commit)

    def _refuse(self, counts: Change) -> None:
        """If the store is strict, no commit adds violations."""
        if not counts.new_violations or STRICT not in self._before.meta.with_changes(self._meta):
            return
        new = list(islice(self.diff().new_violations, MOST_NAMED))
        more = counts.new_violations - len(new)
        listed = "; ".join(map(str, new)) + (f"; and {more:,} more" if more > 0 else "")
        raise InconsistencyError(
            f"the store is strict, and this commit would add violations: {listed}"
        )

    def _note_hidden(self) -> None:
        if self._closing.hidden != hidden_count(self._before.meta):
            self._meta[HIDDEN] = (
                str(self._closing.hidden).encode() if self._closing.hidden else None
            )

    def _note_schemes(self) -> None:
        """Keep which closures are not written out."""
        described = describe(self._tables.schemes)
        if described != self._before.meta.get(SCHEMES):
            self._meta[SCHEMES] = described

    def rollback(self) -> None:
        """Forget everything; the transaction is over then."""
        if not self._open:
            return
        self._open = False
        self._closing.end(None)
        try:
            self._database.rollback()
        finally:
            self._done()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.rollback()
        elif self._open:
            self.commit()


def _changes_relations(step: Step) -> bool:
    """Whether rows of relations of rules come or go: violations are such, and no facts."""
    rows = step.tuples.values() if isinstance(step, Changes) else ()
    return any((each.status != each.previous).any() for each in rows)


def _graph_term(graph: TermLike | None) -> Any:
    key = None if graph is None else graph_key(graph)
    return None if key is None else term_of(key)
