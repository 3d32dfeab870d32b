"""The calls that write: shared by stores and branches. Start at `WritingCalls`.

Every call is a transaction of its own and returns a `Change`; `transaction()` combines several.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from triplestore.errors import UsageError
from triplestore.reasoning.outcome import Change
from triplestore.store.arguments import (
    GraphLike,
    LoadOptions,
    PathLike,
    QuadLike,
    ReasonOptions,
)
from triplestore.store.faces.updating import Updating
from triplestore.store.faces.watching import WatchingShapes
from triplestore.store.readable import ReadableStore
from triplestore.store.transaction import Transaction
from triplestore.store.writes.documents import load_documents, load_table
from triplestore.store.writes.graph_writes import add_graph, clear_graph, remove_graph
from triplestore.store.writes.rule_changes import add_rules, reason, remove_rules
from triplestore.store.writes.writer import TransactionWriter

if TYPE_CHECKING:
    from pyoxigraph import DefaultGraph, NamedNode, RdfFormat

    from triplestore.live.published import Published
    from triplestore.loaders.rdflib_graphs import RdflibGraph
    from triplestore.loaders.sources import InputLike
    from triplestore.loaders.tabular import Property
    from triplestore.maintenance.report import Report
    from triplestore.reasoning.program.ontology_graphs import Places
    from triplestore.reasoning.program.stored_rules import RulesLike
    from triplestore.reasoning.reasoner import Reasoner
    from triplestore.storage import Database, State
    from triplestore.store.state_view import StateView
    from triplestore.terms import Dictionary


class WritingCalls(Updating, WatchingShapes, ReadableStore):
    """What can be written to a store or a branch."""

    _database: Database
    _reasoner: Reasoner
    _seen: tuple[State, StateView] | None
    _writer: int | None = None  # the thread that has a transaction open

    @abstractmethod
    def _note(self, published: Published) -> None:
        """A transaction was committed; no other one has begun yet."""

    @abstractmethod
    def _write(self, add: bool, quads: Iterable[QuadLike]) -> Change:
        """Assert or remove quads, in one commit."""

    @contextmanager
    def transaction(
        self, *, wait: float | None = None, message: str | None = None, author: str | None = None
    ) -> Iterator[Transaction]:
        """A block of writes, published together when it ends, or not at all if it raises.

        `message` and `author` are kept with the commit if the store keeps its history.

        If another thread writes for more than `wait` seconds, a `LockedError` is raised; by default
        this one waits as long as it takes.

        >>> from triplestore import Store
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
            writer.say({"message": message, "author": author})
            yield self._passing_on(Transaction(writer))

    @contextmanager
    def trial(self, *, wait: float | None = None) -> Iterator[Transaction]:
        """A transaction that is always rolled back; also on a store opened for reading.

        `wait` is that of `transaction`.

        >>> from triplestore import Store
        >>> store = Store()
        >>> with store.trial() as t:
        ...     _ = t.load("<http://ex.org/a> <http://ex.org/p> 1 .", "ttl")
        ...     len(t), len(store)
        (1, 0)
        """
        with self._begin(self._database.trying(-1 if wait is None else wait)) as writer:
            writer.is_trial = True
            try:
                yield self._passing_on(Transaction(writer))
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
            return TransactionWriter(self._database, end, self._reasoner, self._note, self._watcher)
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

        >>> from triplestore import Store
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

        >>> from triplestore import Store
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

        >>> from triplestore import Property, Store
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

        >>> from triplestore import Store
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
