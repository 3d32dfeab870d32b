"""The store: one interface to dictionary, tables, loaders and storage, like that of pyoxigraph.

Start reading at `Store`. Reading (see `readable.py`) shows the last commit; every writing call is
a transaction of its own and returns a `Change`; `transaction()` combines several. There is one
writer at a time: another thread waits, another process gets an error that names the writer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self
from weakref import WeakSet

from triplestore.errors import UsageError, WrongTypeError
from triplestore.reasoning.outcome import Change
from triplestore.reasoning.reasoner import Reasoner
from triplestore.storage import Database, State
from triplestore.storage.metadata import STALE
from triplestore.store.arguments import (
    GraphLike,
    LoadOptions,
    PathLike,
    QuadLike,
    ReasonOptions,
    UpdateOptions,
)
from triplestore.store.snapshot import Snapshot
from triplestore.store.state_view import StateView
from triplestore.store.transaction import Transaction
from triplestore.store.writes.documents import load_documents, load_table
from triplestore.store.writes.few_writes import FewWrites
from triplestore.store.writes.graph_writes import add_graph, clear_graph, remove_graph
from triplestore.store.writes.rule_changes import add_rules, reason, remove_rules
from triplestore.store.writes.writer import TransactionWriter

if TYPE_CHECKING:
    from pyoxigraph import DefaultGraph, NamedNode, RdfFormat

    from triplestore.loaders.rdflib_graphs import RdflibGraph
    from triplestore.loaders.sources import InputLike
    from triplestore.loaders.tabular import Property
    from triplestore.maintenance.report import Report
    from triplestore.operators.context import Flag
    from triplestore.reasoning.program.ontology_graphs import Places
    from triplestore.reasoning.program.stored_rules import RulesLike
    from triplestore.terms import Dictionary
    from triplestore.text_limits import TextLimits

Durability = Literal["commit", "group", "flush"]


class Store(FewWrites):
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
        self._writer: int | None = None  # the thread that has a transaction open
        self._reasoner = Reasoner()
        self._seen: tuple[State, StateView] | None = None
        self._snapshots: WeakSet[Snapshot] = WeakSet()
        try:
            if STALE in database.state.meta and not database.read_only:
                with self._begin() as writer:
                    writer.infer_anew()
                    writer.keep({STALE: None})
            state = database.state
            # Replaced as one, so that no lock is needed.
            self._seen = (state, StateView.of(state))
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
        made = Snapshot(self._database.state)
        self._snapshots.add(made)
        return made

    @property
    def open_snapshots(self) -> int:
        """How many snapshots of the store are still held.

        >>> store = Store()
        >>> held = store.snapshot()
        >>> store.open_snapshots
        1
        """
        return len(self._snapshots)

    # -- writing --------------------------------------------------------------------------------

    @contextmanager
    def transaction(self, *, wait: float | None = None) -> Iterator[Transaction]:
        """A block of writes, published together when it ends, or not at all if it raises.

        If another thread writes for more than `wait` seconds, a `LockedError` is raised; by default
        this one waits as long as it takes.

        >>> store = Store()
        >>> try:
        ...     with store.transaction() as t:
        ...         t.load("<http://ex.org/a> <http://ex.org/p> 1 .", "ttl") and None
        ...         raise RuntimeError("changed my mind")
        ... except RuntimeError:
        ...     len(store)
        0
        """
        with self._begin(self._database.writing(-1 if wait is None else wait)) as writer:
            yield Transaction(writer)

    @contextmanager
    def trial(self, *, wait: float | None = None) -> Iterator[Transaction]:
        """A transaction that is always rolled back; also on a store opened for reading.

        `wait` is that of `transaction`.

        >>> store = Store()
        >>> with store.trial() as t:
        ...     _ = t.load("<http://ex.org/a> <http://ex.org/p> 1 .", "ttl")
        ...     len(t), len(store)
        (1, 0)
        """
        with self._begin(self._database.trying(-1 if wait is None else wait)) as writer:
            writer.is_trial = True
            try:
                yield Transaction(writer)
            finally:
                writer.rollback()

    def _begin(self, turn: AbstractContextManager[Dictionary] | None = None) -> TransactionWriter:
        me = threading.get_ident()
        if self._writer == me:
            raise UsageError(
                "this thread has a transaction open: write through it, or end it first "
                "(a call on the store would wait for it forever)"
            )
        turn = turn or self._database.writing()
        turn.__enter__()
        self._writer = me

        def end() -> None:
            seen = self._seen
            if seen is not None and seen[0] is not self._database.state:
                self._seen = None  # it is not read again, and its closures may be large
            self._writer = None
            turn.__exit__(None, None, None)

        try:
            return TransactionWriter(self._database, end, self._reasoner, self._note)
        except BaseException:
            end()
            raise

    def _change(self, write: Callable[[TransactionWriter], object]) -> Change:
        """Write in a transaction of its own."""
        with self._begin() as writer:
            write(writer)
        return writer.change

    def add(self, quad: QuadLike) -> Change:
        """Assert a quad."""
        return self._write(True, (quad,))

    def extend(self, quads: Iterable[QuadLike]) -> Change:
        """Assert many quads, in one commit."""
        return self._write(True, quads)

    def bulk_extend(self, quads: Iterable[QuadLike]) -> Change:
        """Assert many quads, in one commit (the same as `extend`)."""
        return self.extend(quads)

    def remove(self, quad: QuadLike) -> Change:
        """Remove an asserted quad; nothing happens if it was not asserted."""
        return self._write(False, (quad,))

    def remove_all(self, quads: Iterable[QuadLike]) -> Change:
        """Remove many asserted quads, in one commit."""
        return self._write(False, quads)

    def add_graph(self, graph_name: GraphLike) -> Change:
        """Make a named graph exist, also without quads."""
        return self._change(lambda writer: add_graph(writer, graph_name))

    def clear_graph(self, graph_name: GraphLike) -> Change:
        """Remove everything that is asserted in a graph; the graph stays."""
        return self._change(lambda writer: clear_graph(writer, graph_name))

    def remove_graph(self, graph_name: GraphLike) -> Change:
        """Remove everything that is asserted in a graph, and the graph."""
        return self._change(lambda writer: remove_graph(writer, graph_name))

    def clear(self) -> Change:
        """Remove all quads and graphs; prefixes and rules stay."""
        return self._change(lambda writer: writer.clear())

    def bind(self, prefix: str, iri: str) -> Change:
        """Name an IRI by a prefix, for dumps, queries and rules."""
        return self._change(lambda writer: writer.bind({prefix: iri}))

    def unbind(self, prefix: str) -> Change:
        """Forget a prefix; nothing happens if it is not known.

        >>> store = Store()
        >>> _ = store.bind("ex", "http://example.org/")
        >>> _ = store.unbind("ex")
        >>> dict(store.prefixes)
        {}
        """
        return self._change(lambda writer: writer.unbind(prefix))

    def load(
        self,
        input: InputLike | RdflibGraph | None = None,
        format: RdfFormat | str | None = None,
        *,
        path: PathLike | Iterable[PathLike] | None = None,
        base_iri: str | None = None,
        to_graph: GraphLike | None = None,
        replace_graph: GraphLike | None = None,
        named_graphs: str = "keep",
        lenient: bool = False,
        progress: bool = False,
        cancel: Callable[[], bool] | None = None,
        threads: int | None = None,
        max_line_bytes: int | None = None,
        max_term_bytes: int | None = None,
    ) -> Change:
        """Load a text, a stream, or files (paths, directories, globs): all of it, or nothing.

        A text is a document itself; a file is given as a `Path`, or by `path`.

        The format is one of pyoxigraph's or its name (`"turtle"`, `"nt"`, ...); for files it is
        derived from their names, as is the compression (gzip, bzip2, xz, zstd). Blank nodes are
        local to their file. With `to_graph` triples go to that graph; with `replace_graph` they
        replace its contents, and reloading an unchanged file is a no-op. Quads of named graphs
        stay in them, or are an error with `named_graphs="refuse"`. A graph or dataset of rdflib is
        loaded as it is; its blank nodes keep their labels.
        Malformed input raises a `ParseError` with file, line and column, unless `lenient`: then
        the valid statements are loaded, and the change counts the malformed ones and lists the
        first. `progress` shows a bar on stderr; `cancel` is called about twenty times a second: if
        it returns true, the load raises a `CancelledError` and nothing is loaded. `max_line_bytes`
        (128 MB) limits a line of N-Triples and N-Quads, `max_term_bytes` (64 MB) a term; longer
        ones raise a `ParseError`.

        >>> store = Store()
        >>> print(store.load('@prefix : <http://ex.org/> . :a :p "x", "y" .', "turtle"))
        added 2
        >>> store.prefixes
        mappingproxy({'': 'http://ex.org/'})
        """
        options = LoadOptions(
            format=format,
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
        return self._change(lambda writer: load_documents(writer, input, options))

    bulk_load = load
    """The name that pyoxigraph has for it; `load` is as fast."""

    def load_table(
        self,
        source: Any,
        *,
        subject: str,
        properties: Mapping[str, str | Property],
        type: str | None = None,
        graph: str | GraphLike | None = None,
        replace_graph: GraphLike | None = None,
        prefixes: Mapping[str, str] | None = None,
        delimiter: str | None = None,
        null_values: Collection[str] = ("",),
        encoding: str = "utf-8",
        cancel: Callable[[], bool] | None = None,
    ) -> Change:
        """Load a flat table: for each row one subject, for each value one triple.

        source : a DataFrame of pandas or polars, a table of Arrow or of a library that speaks
            Arrow's protocol, a dict of columns; or the path of a CSV, TSV, Parquet or Arrow file,
            a folder or glob of these, or a list of paths
        subject : a template of IRIs such as `http://example.org/person/{id}`; names in braces stand
            for the values of columns, with all that IRIs do not allow percent-encoded. `{id}` alone
            takes the column's value as a whole IRI. A row in which one of them is null has no
            triples.
        properties : for each column the IRI of a property, or a `Property`
        type : a class that all subjects belong to
        graph, replace_graph : a graph for all triples; its former quads stay, or are replaced
        prefixes : for these IRIs, beside those of the store
        delimiter, null_values, encoding : of text files; without a delimiter, the file's name says

        A null gives no triple, and a list one for each element. Types of columns become datatypes:
        numbers, booleans, dates, times, bytes; structs are terms as in SPARQL's JSON results. Cells
        of text files are read as Turtle reads them, where all of a column are written so: `42` is
        an xsd:integer, `1.5` an xsd:decimal, and `007` stays a string. `Property` says otherwise.

        >>> from triplestore import Property
        >>> people = {"id": [1, 2], "name": ["Ada", "Bob"], "boss": [None, 1]}
        >>> store = Store()
        >>> _ = store.bind("", "http://example.org/")
        >>> print(store.load_table(people, subject=":person/{id}", type=":Person", properties={
        ...     "name": ":name",
        ...     "boss": Property(":boss", template=":person/{boss}"),
        ... }))
        added 5
        >>> print(store.query("SELECT ?name { ?x :boss [ :name 'Ada' ] ; :name ?name }"))
        ?name
        -----
        "Bob"
        """
        # Late: few stores are filled from tables.
        from triplestore.loaders.tabular import TableOptions

        options = TableOptions(
            subject=subject,
            properties=properties,
            type=type,
            graph=graph,
            delimiter=delimiter,
            null_values=null_values,
            encoding=encoding,
            prefixes=prefixes or {},
            cancel=cancel,
        )
        return self._change(lambda writer: load_table(writer, source, options, replace_graph))

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
        """Run a SPARQL update: all of its operations as one commit, or nothing.

        Each WHERE sees all facts that hold after the operations before it, inferred ones included.
        Only asserted facts can be deleted, copied and moved: a fact that is also inferred still
        holds afterwards, and the change counts it. Prefixes of loaded files are known. LOAD reads
        IRIs that begin with one of `load_from`, such as `["file:///data/", "https://example.org/"]`.
        `timeout` (seconds), `budget` (bytes) and `cancel` limit the whole update; `limits` limits
        the size of its text and of a document that LOAD fetches (1 GB).

        >>> store = Store()
        >>> _ = store.load("@prefix : <http://ex.org/> . :ada :sees :bob . :bob :sees :cy .", "ttl")
        >>> print(store.update("DELETE { ?x :sees ?y } INSERT { ?y :by ?x } WHERE { ?x :sees ?y }"))
        added 2, removed 2
        """
        # Late: many stores are only read, or written without SPARQL.
        from triplestore.store.writes.run_update import update as carry_out

        options = UpdateOptions(base_iri, prefixes, load_from, timeout, budget, cancel, limits)
        return self._change(lambda writer: carry_out(writer, update, options))

    # -- rules ----------------------------------------------------------------------------------

    def reason(
        self,
        *regimes: str,
        rules: RulesLike | None = None,
        ontology: Places | None = None,
        imports: Places = (),
        network: bool = False,
        scope: str | Iterable[str | NamedNode | DefaultGraph] | None = None,
        trivial: bool | None = None,
        strict: bool | None = None,
        equality: str | None = None,
        tuning: Mapping[str, Any] | None = None,
        progress: bool = False,
        cancel: Callable[[], bool] | None = None,
    ) -> Report:
        """Apply rules to the default graph; every later commit keeps the inferences exact.

        `regimes` are ontology languages whose axioms are found in the data and turned into rules:
        `"owl-rl"`, `"owl-el"`, `"rdfs"`, `"owl-horst"`, `"skos"`, `"swrl"`; they can be combined.
        `ontology` names files of axioms beside the data: each becomes a named graph that counts as
        asserted, and is read again if it changed. Imported ontologies are searched among these
        files and in `imports` (files, folders, OASIS catalogues), and on the network only if
        `network` is set.
        `scope` says which named graphs take part beside the default graph: `"default"` (none),
        `"union"` (all), or a list of their IRIs; their quads then hold in the default graph too.
        With `trivial=True`, triples that hold for any data (`C rdfs:subClassOf C`,
        `x owl:sameAs x`) are inferred too. With `strict=True`, commits that add violations are
        refused. `equality="rewrite"` applies rules to one representative of all individuals that
        are owl:sameAs each other, instead of to each of them (`"rules"`, the default): linear
        instead of quadratic memory, and the same answers.
        `rules` are a text, the path of a file, a `Program`, or several of these. They are added to
        those in force; repeating a call is a no-op. Rules that were removed from a file since it
        was last given are removed. `reason("none")` turns inference off.
        `tuning` sets the `strategy`, and limits for one commit: `max_facts`, `max_bytes` (memory;
        by default half of the memory available), `max_seconds` and `max_terms` (new terms; limited
        by default). None resets a value, and values that are not named stay as they were. The
        error of a limit names the rule that was being evaluated.
        With `recursive_counters=True` the strategies `dred_c` and `fbf_c` use a table in memory
        instead of searching for derivations; it is computed when it is missing. With `traces=True`
        the memory of `counting` is kept while another strategy is in use.
        `progress` shows progress on stderr; `cancel` is called to ask whether to stop. Rules and
        tuning are stored with the data. If anything fails, nothing is changed.

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
        options = ReasonOptions(
            regimes=regimes,
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
        with self._begin() as writer:
            report = reason(writer, options)
        return report

    def add_rules(self, rules: RulesLike, *, progress: bool = False) -> Report:
        """Add rules to those in force, like `reason(rules=...)`."""
        with self._begin() as writer:
            report = add_rules(writer, rules, writer.settings, progress)
        return report

    def remove_rules(self, rules: RulesLike, *, progress: bool = False) -> Report:
        """Remove rules from those in force; facts that only they infer are removed."""
        with self._begin() as writer:
            report = remove_rules(writer, rules, progress)
        return report
