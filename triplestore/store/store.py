"""The store: one face over dictionary, tables, loaders and storage, in the shape of pyoxigraph's.

Start reading at `Store`. Reading (from `reading.py`) shows the last commit; every writing call is a
transaction of its own and returns a `Change`; `transaction()` makes one of several. There is one
writer at a time: another thread waits, another process is told who writes.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NoReturn, Self

from triplestore.errors import UsageError, WrongTypeError
from triplestore.reasoning.change import Change
from triplestore.reasoning.reasoner import Reasoner
from triplestore.storage import Database, State
from triplestore.storage.metadata import STALE, hidden_count
from triplestore.store.arguments import QuadLike, TermLike
from triplestore.store.info import Info, describe
from triplestore.store.query_options import UpdateOptions
from triplestore.store.readable import Reading, View
from triplestore.store.snapshot import Snapshot
from triplestore.store.transaction import Transaction

if TYPE_CHECKING:
    from pyoxigraph import RdfFormat

    from triplestore.maintenance.report import Report
    from triplestore.ontologies.bounds import Bound
    from triplestore.operators.context import Flag
    from triplestore.reasoning.program.ontology_graphs import Places
    from triplestore.reasoning.program.stored_rules import RulesLike
    from triplestore.text_limits import TextLimits

    PathLike = str | os.PathLike[str]

Durability = Literal["commit", "group", "flush"]


class Store(Reading):
    """RDF quads in a directory, or in memory.

    `durability` says what a commit waits for: "commit", that it is on disk; "group", that it is
    handed to the operating system and will be on disk within some hundredths of a second (a power
    failure may lose those); "flush", only that it is handed over (a power failure may lose what
    came after the last `flush`, checkpoint or close). A killed process loses nothing in any.

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
            raise UsageError(f'durability is "commit", "group" or "flush", not {durability!r}')
        self._setup(Database.open(_path(path), durability=durability))

    @classmethod
    def read_only(cls, path: PathLike) -> Self:
        """Open a store for reading only: takes no lock and changes nothing, also beside a writer.

        It shows the last commit as of now; `refresh()` goes on to the newest one.
        """
        store = cls.__new__(cls)
        store._setup(Database.open(_path(path), read_only=True))
        return store

    def _setup(self, database: Database) -> None:
        self._database = database
        self._writer: int | None = None  # the thread that has a transaction open
        self._reasoner = Reasoner()
        self._seen: tuple[State, View] | None = None
        try:
            if STALE in database.state.meta and not database.read_only:
                with self._begin() as transaction:
                    transaction.infer_anew()
                    transaction.keep({STALE: None})
            state = database.state
            # Replaced as one, so that no lock is needed.
            self._seen = (state, View.of(state))
        except BaseException:
            database.close()
            raise

    def __repr__(self) -> str:
        place = self._database.path or "in memory"
        return f"<store {place}: {len(self):,} quads>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """A store is one thing with a state: neither `copy` nor `pickle` make another of it."""
        raise WrongTypeError(
            "a store is neither copied nor pickled: use backup(path) or snapshot(), or open its "
            "directory with read_only(path) in the other process"
        )

    def __str__(self) -> str:
        return "\n".join(f"{quad} ." for quad in self)

    def _view(self) -> View:
        state = self._database.state
        seen = self._seen
        if seen is None or seen[0] is not state:
            self._seen = seen = (state, View.of(state))
        return seen[1]

    @property
    def path(self) -> Path | None:
        """The directory; None for a store in memory."""
        return self._database.path

    @property
    def commit(self) -> int:
        """The number of the last commit; 0 for a new store."""
        return self._database.state.commit

    def snapshot(self) -> Snapshot:
        """The store as it is now, whatever is written afterwards."""
        return Snapshot(self._database.state)

    # -- writing --------------------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Writes that are published together, when the block ends, or not at all, if it raises.

        >>> store = Store()
        >>> try:
        ...     with store.transaction() as t:
        ...         t.load("<http://ex.org/a> <http://ex.org/p> 1 .", "ttl") and None
        ...         raise RuntimeError("changed my mind")
        ... except RuntimeError:
        ...     len(store)
        0
        """
        with self._begin() as transaction:
            yield transaction

    def _begin(self) -> Transaction:
        me = threading.get_ident()
        if self._writer == me:
            raise UsageError(
                "this thread has a transaction open: write through it, or end it first "
                "(a call on the store would wait for it for ever)"
            )
        turn = self._database.writing()
        turn.__enter__()
        self._writer = me

        def end() -> None:
            seen = self._seen
            if seen is not None and seen[0] is not self._database.state:
                self._seen = None  # nobody reads it again; and its closures may be large
            self._writer = None
            turn.__exit__(None, None, None)

        try:
            return Transaction(self._database, end, self._reasoner)
        except BaseException:
            end()
            raise

    def add(self, quad: QuadLike) -> Change:
        """State a quad."""
        with self._begin() as transaction:
            transaction.add(quad)
        return transaction.change

    def extend(self, quads: Iterable[QuadLike]) -> Change:
        """State many quads, in one commit."""
        with self._begin() as transaction:
            transaction.extend(quads)
        return transaction.change

    def bulk_extend(self, quads: Iterable[QuadLike]) -> Change:
        """State many quads, in one commit (the same as `extend`)."""
        return self.extend(quads)

    def remove(self, quad: QuadLike) -> Change:
        """Take a stated quad back."""
        with self._begin() as transaction:
            transaction.remove(quad)
        return transaction.change

    def remove_all(self, quads: Iterable[QuadLike]) -> Change:
        """Take many stated quads back, in one commit."""
        with self._begin() as transaction:
            transaction.remove_all(quads)
        return transaction.change

    def add_graph(self, graph_name: TermLike) -> Change:
        """Make a named graph exist, also without quads."""
        with self._begin() as transaction:
            transaction.add_graph(graph_name)
        return transaction.change

    def clear_graph(self, graph_name: TermLike) -> Change:
        """Take back everything that is stated in a graph; the graph stays."""
        with self._begin() as transaction:
            transaction.clear_graph(graph_name)
        return transaction.change

    def remove_graph(self, graph_name: TermLike) -> Change:
        """Take back everything that is stated in a graph, and the graph."""
        with self._begin() as transaction:
            transaction.remove_graph(graph_name)
        return transaction.change

    def clear(self) -> Change:
        """Take back all quads and graphs; prefixes and rules stay."""
        with self._begin() as transaction:
            transaction.clear()
        return transaction.change

    def bind(self, prefix: str, iri: str) -> Change:
        """Name an IRI by a prefix, for dumps, queries and rules."""
        with self._begin() as transaction:
            transaction.bind(prefix, iri)
        return transaction.change

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
    ) -> Change:
        """Load a text, a stream, or files (paths, directories, globs): all of it, or nothing.

        The format is one of pyoxigraph's or its name (`"turtle"`, `"nt"`, ...); for files it comes
        from their names, and so does the compression (gzip, bzip2, xz, zstd). Blank nodes belong
        to the file that brings them. With `to_graph` triples go to that graph; with
        `replace_graph` they take the place of what it holds, and loading a file again is no change.
        Quads of named graphs stay in them, or are an error with `named_graphs="refuse"`.
        Malformed input raises a `ParseError` with file, line and column, unless `lenient`: then
        the good statements are loaded, and the change counts the bad ones and lists the first.
        `progress` shows a bar on stderr; `cancel` is asked some twenty times a second whether to
        stop, with a `CancelledError` and nothing loaded. `max_line_bytes` (128 MB) bounds a line of
        N-Triples and N-Quads, `max_term_bytes` (64 MB) a term: what is longer is a `ParseError`.

        >>> store = Store()
        >>> print(store.load('@prefix : <http://ex.org/> . :a :p "x", "y" .', "turtle"))
        added 2
        >>> store.prefixes
        mappingproxy({'': 'http://ex.org/'})
        """
        with self._begin() as transaction:
            transaction.load(
                input,
                format,
                path=path,
                base_iri=base_iri,
                to_graph=to_graph,
                replace_graph=replace_graph,
                named_graphs=named_graphs,
                lenient=lenient,
                progress=progress,
                cancel=cancel,
                threads=threads,
                max_line_bytes=max_line_bytes,
                max_term_bytes=max_term_bytes,
            )
        return transaction.change

    def bulk_load(self, *args: Any, **kwargs: Any) -> Change:
        """The same as `load`, which is as fast and keeps its promise of all or nothing."""
        return self.load(*args, **kwargs)

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
    ) -> Change:
        """Carry out a SPARQL update: all operations of it, as one commit, or nothing.

        Each WHERE sees all that holds after the operations before it, what follows included. Only
        what is stated can be deleted, copied and moved: what follows from other facts still holds
        afterwards, and the change counts it. Prefixes of loaded files are known. LOAD reads what
        begins with one of `load_from`, such as `["file:///data/", "https://example.org/"]`.
        `timeout` (seconds) and `budget` (bytes) limit all of it, as does `cancel`, and `limits` the
        size of its text and of a document that LOAD fetches (1 GB).

        >>> store = Store()
        >>> _ = store.load("@prefix : <http://ex.org/> . :ada :sees :bob . :bob :sees :cy .", "ttl")
        >>> print(store.update("DELETE { ?x :sees ?y } INSERT { ?y :by ?x } WHERE { ?x :sees ?y }"))
        added 2, removed 2
        """
        options = UpdateOptions(base_iri, prefixes, load_from, timeout, budget, cancel, limits)
        with self._begin() as transaction:
            transaction.carry_out(update, options)
        return transaction.change

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
        """Apply rules to the default graph, from now on: each later commit keeps the closure exact.

        `regimes` name languages whose axioms are found in the data and made rules of: `"owl-rl"`,
        `"rdfs"`, `"owl-horst"`, `"skos"`, `"swrl"`; they add up. `ontology` are files of axioms
        beside the data: each becomes a named graph and counts as if it were stated, a file that
        is given again is read if it changed. What they import is looked for among them and in
        `imports` (files, folders, OASIS catalogues), and on the network only if `network` is set.
        `scope` says which named graphs take part beside the default graph: `"default"` (none),
        `"union"` (all), or a list of their IRIs; what they state then holds in the default graph,
        too, which queries see as the merge of all of it with what follows.
        With `trivial=True` triples that hold whatever the data are (`C rdfs:subClassOf C`,
        `x owl:sameAs x`) are inferred, too, and what follows from these. With `strict=True` commits
        that add violations are refused. `equality="rewrite"` lets one individual stand for all that
        owl:sameAs makes the same as it while rules are applied, instead of replacing each by each
        (`"rules"`, the default): so n equals take room for n, and answers are the same.
        `rules` are a text, the path of a file, a `Program`, or several of these. They are added to
        those in force, and the same call again does nothing; those that a file had when it was
        given before, and has no more, are taken out. `reason("none")` turns inference off.
        `tuning` says how: `strategy`, and what one commit may take at most as `max_facts`,
        `max_bytes` (memory; by default half of what there is), `max_seconds` and `max_terms` (new
        terms, which have a limit by default); None sets one back. What is not named stays as it
        was. The error of a limit names the rule at work.
        With `recursive_counters=True` the strategies `dred_c` and `fbf_c` go by a table in memory,
        made by one evaluation whenever it is not there, instead of looking for derivations; with
        `traces=True` what `counting` keeps in memory is kept while another strategy is in use.
        `progress` shows on stderr what is going on; `cancel` is asked whether to stop.
        Rules and tuning are kept with the store. If anything fails, nothing has changed.

        >>> store = Store()
        >>> _ = store.load('@prefix : <http://ex.org/> . :a :parent :b . :b :parent :c .', "ttl")
        >>> report = store.reason(rules='''
        ...     :ancestor[?x, ?y] :- :parent[?x, ?y] .
        ...     :ancestor[?x, ?z] :- :ancestor[?x, ?y], :parent[?y, ?z] .
        ... ''')
        >>> report.rules, report.inferred, len(store), store.count("explicit")
        (2, 3, 5, 2)
        >>> print(store.load('@prefix : <http://ex.org/> . :c :parent :d .', "ttl"))
        added 1, inferred added 3
        """
        with self._begin() as transaction:
            report = transaction.reason(
                *regimes,
                rules=rules,
                ontology=ontology,
                imports=imports,
                network=network,
                scope=scope,
                trivial=trivial,
                strict=strict,
                equality=equality,
                tuning=tuning,
                progress=progress,
                cancel=cancel,
            )
        return report

    def bound(
        self, which: str, ontology: Places = (), *, imports: Places = (), network: bool = False
    ) -> Bound:
        """The program below ("lower") or above ("upper") the ontology, for experiments.

        Made of the axioms that are stated in the store and of those in files; both may be in
        OWL 2 DL. What follows from the lower one is entailed, what does not follow from the upper
        one is not; that is all that the upper one says. The result has the `program`, which can be
        given to `reason`, and in `outside` what was left out or replaced.

        >>> store = Store()
        >>> _ = store.load('@prefix : <http://ex.org/> . @prefix rdfs: '
        ...     '<http://www.w3.org/2000/01/rdf-schema#> . :Cat rdfs:subClassOf :Animal .', "ttl")
        >>> print(store.bound("lower").program)
        rule "cax-sco" <http://ex.org/Animal>[?x] :- <http://ex.org/Cat>[?x] .
        """
        from triplestore.reasoning.reports.bounds import bound_of

        return bound_of(self._database.state, which, ontology, imports=imports, network=network)

    def add_rules(self, rules: RulesLike, *, progress: bool = False) -> Report:
        """Apply these rules too, from now on: `reason(rules=...)`."""
        with self._begin() as transaction:
            report = transaction.add_rules(rules, progress=progress)
        return report

    def remove_rules(self, rules: RulesLike, *, progress: bool = False) -> Report:
        """Apply these rules no more; what follows from them only is gone."""
        with self._begin() as transaction:
            report = transaction.remove_rules(rules, progress=progress)
        return report

    # -- the directory --------------------------------------------------------------------------

    def flush(self) -> None:
        """Wait until everything committed is on disk."""
        self._database.flush()

    def refresh(self) -> bool:
        """Of a store opened for reading: go on to the newest commit; True if there was one."""
        before = self._database.state
        after = self._database.refresh()
        if after.dictionary is not before.dictionary:
            self._let_go(before)
        return after.commit != before.commit

    def optimize(self) -> None:
        """Merge everything into as few files as possible and drop terms that nothing uses."""
        before = self._database.state
        self._database.optimize()
        self._let_go(before)
        del before
        gc.collect()  # terms refer to each other in a circle; until then their files stay mapped

    def backup(self, target_directory: PathLike) -> None:
        """Make a consistent copy in a new directory, also while there is writing going on."""
        self._database.backup(Path(target_directory))

    def verify(self, *, closure: bool = False, progress: bool = False) -> list[str]:
        """Check structure and checksums of every file, and that numbers known without counting are
        those of the rows; the problems found, in words.

        With `closure` also, if there are none, that what is inferred is what follows (`audit`).
        """
        from triplestore.reasoning.program.in_force import unreadable_values
        from triplestore.reasoning.reports.check_counts import wrong_counts

        problems = self._database.verify(progress=progress)
        problems += unreadable_values(self._database.state.meta)
        if not problems:
            state = self._database.state
            problems = wrong_counts(state.tables, state.dictionary, hidden_count(state.meta))
        if closure and not problems:
            problems = self.audit(progress=progress).problems()
        return problems

    def info(self) -> Info:
        """What is in the store, and what it costs in memory and on disk; prints well."""
        return describe(self._database, self._reasoner.table_bytes)

    def digest(self, facts: str = "all") -> str:
        """32 digits that are the same for the same facts, wherever and however they came together.

        Ids, order, files and the labels of blank nodes do not show in it; every triple, its graph
        and whether it is stated or inferred do. `facts="explicit"` leaves out what is inferred.
        Blank nodes are told apart by what surrounds them, as far as that reaches.

        >>> from triplestore import Store
        >>> one, other = Store(), Store()
        >>> _ = one.load("_:a <http://ex.org/p> 1 . _:a <http://ex.org/q> 2 .", "ttl")
        >>> _ = other.load("[ <http://ex.org/q> 2 ; <http://ex.org/p> 1 ] .", "ttl")
        >>> one.digest() == other.digest()
        True
        """
        from triplestore.store.digest import digest

        return digest(self._view(), facts)

    def close(self) -> None:
        """Make everything durable and let go of the directory; the store is of no use after it."""
        self._let_go(self._database.state)
        self._database.close()

    def _let_go(self, state: State) -> None:
        """Keep nothing that is about a state whose ids are not in use any more: its files would
        stay mapped."""
        self._seen = None
        self._reasoner.drop()
        state.dictionary.remembered.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _path(path: PathLike | None) -> Path | None:
    return None if path is None else Path(path)


__all__ = ["State", "Store"]
