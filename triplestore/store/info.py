"""Facts about a store and its size: `Info`, which `store.info()` returns and the command prints."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from triplestore.data_classes import data_class
from triplestore.reasoning.outcome import is_helper_in, rows_of_relations
from triplestore.reasoning.violations import count_violations, violation_relations
from triplestore.relations import EXPLICIT, INFERRED, Layer
from triplestore.storage.metadata import file_count, hidden_count, prefixes_of
from triplestore.store.state_view import rules_in, text_settings_in
from triplestore.terms import IRI, key_of
from triplestore.terms.vocabulary import RDF_TYPE

if TYPE_CHECKING:
    from triplestore.storage import Database


@data_class
class Info:
    """Facts about a store; prints as a table. All sizes are in bytes."""

    path: str | None
    commit: int
    quads: int
    explicit: int
    inferred: int
    default_graph: int
    named_graphs: int
    in_named_graphs: int
    rules: int
    constraints: int
    violations: int
    relation_rows: int
    """Rows of relations with three or more columns, which only rules make."""
    hidden: int
    """Inferred facts that are not triples of RDF, and not among the quads."""
    predicates: int
    classes: int
    terms: int
    prefixes: int
    files_loaded: int
    layers: int
    fact_table_bytes: int
    """Tables of the default graph: both orders, status, statistics, characteristic sets."""
    fact_bytes_per_triple: float
    counter_bytes: int
    table_bytes: int
    """Recursive counters and traces, where `tuning` asks for them: in memory only."""
    quad_table_bytes: int
    quad_bytes_per_quad: float
    dictionary_bytes: int
    term_text_bytes: int
    dictionary_bytes_per_term: float
    disk_bytes: int
    journal_bytes: int
    text_index: str | None = None
    """The text index, if there is one: what it holds and its size."""

    def as_dict(self) -> dict[str, Any]:
        """The facts by name, fit for JSON."""
        return asdict(self)

    def rows(self) -> list[tuple[str, str]]:
        """The lines of its table: what each is called, and what it says."""
        dictionary = f"{_size(self.dictionary_bytes)} for {_size(self.term_text_bytes)} of text"
        rows = [
            ("store", self.path or "in memory"),
            ("commit", f"{self.commit:,}"),
            ("quads", f"{self.quads:,} ({self.explicit:,} explicit, {self.inferred:,} inferred)"),
            ("  default graph", f"{self.default_graph:,}"),
            ("  named graphs", f"{self.in_named_graphs:,} in {self.named_graphs:,} graphs"),
            *self._reasoning(),
            ("predicates", f"{self.predicates:,}"),
            ("classes", f"{self.classes:,}"),
            ("terms", f"{self.terms:,}"),
            ("prefixes", f"{self.prefixes:,}"),
            ("files loaded", f"{self.files_loaded:,}"),
            *([("text index", self.text_index)] if self.text_index is not None else []),
            ("tables", f"{_size(self.fact_table_bytes)} in {self.layers} layers"),
            ("  per triple", f"{self.fact_bytes_per_triple:.1f} bytes"),
            ("  counters", f"{_size(self.counter_bytes)}{self._tables()}"),
            ("  graph tables", f"{_size(self.quad_table_bytes)}{self._per_quad()}"),
            ("dictionary", dictionary),
            ("  per term", self._per_term()),
        ]
        if self.path is not None:
            journal = _size(self.journal_bytes)
            rows.append(("on disk", f"{_size(self.disk_bytes)}, journal {journal} of it"))
        return rows

    def __str__(self) -> str:
        return "\n".join(f"{name:<16} {value}" for name, value in self.rows())

    def _repr_html_(self) -> str:
        # Late: only notebooks ask for it.
        from triplestore.notebook.parts import figures, output

        return output(figures(self.rows()))

    def _reasoning(self) -> list[tuple[str, str]]:
        rows = []
        if self.rules or self.constraints:
            also = "" if self.constraints == 1 else "s"
            constraints = f" and {self.constraints:,} constraint{also}" if self.constraints else ""
            rows.append(("rules", f"{self.rules:,}{constraints}"))
        if self.relation_rows:
            rows.append(("  relations", f"{self.relation_rows:,} rows"))
        if self.hidden:
            rows.append(("  not shown", f"{self.hidden:,} that are not triples of RDF"))
        if self.constraints or self.violations:
            rows.append(("violations", f"{self.violations:,}"))
        return rows

    def _tables(self) -> str:
        if not self.table_bytes:
            return ""
        return f", and {_size(self.table_bytes)} of recursive counters and traces in memory"

    def _per_term(self) -> str:
        if not self.dictionary_bytes_per_term:
            return "no index yet: all terms are in the journal" if self.terms else "no terms"
        return f"{self.dictionary_bytes_per_term:.1f} bytes beside its text"

    def _per_quad(self) -> str:
        return f", {self.quad_bytes_per_quad:.1f} bytes a quad" if self.in_named_graphs else ""


def describe(database: Database, table_bytes: int = 0) -> Info:
    """The facts about a store as of its last commit; reads directories, not rows."""
    state = database.state
    tables, dictionary = state.tables, state.dictionary
    facts, in_graphs = tables.total(), tables.quad_total()
    fact_bytes = sum(_fact_bytes(layer) for layer in tables.layers)
    counters = sum(_counter_bytes(layer) for layer in tables.layers)
    quad_bytes = sum(layer.quads.nbytes for layer in tables.layers)
    rules = rules_in(state)
    hidden = hidden_count(state.meta)
    is_helper = is_helper_in(dictionary) if rules is not None else lambda name: False
    files = database.info()
    terms = state.term_count
    sealed = min(dictionary.sealed_size, terms)
    live = sum(len(key) for key in dictionary.new_keys(sealed, terms))
    indexed = dictionary.nbytes - dictionary.text_bytes
    text = dictionary.text_bytes + live
    return Info(
        path=None if database.path is None else str(database.path),
        commit=state.commit,
        quads=facts + in_graphs - hidden,
        explicit=tables.total(EXPLICIT) + tables.quad_total(EXPLICIT),
        inferred=tables.total(INFERRED) + tables.quad_total(INFERRED) - hidden,
        default_graph=facts - hidden,
        named_graphs=len(tables.tuples(0, 1)),
        in_named_graphs=in_graphs,
        rules=0 if rules is None else rules.rule_count,
        constraints=0 if rules is None else rules.constraint_count,
        violations=count_violations(tables, violation_relations(rules, dictionary)),
        relation_rows=rows_of_relations(tables, is_helper),
        hidden=hidden,
        predicates=int((dictionary.kinds(tables.names()) == IRI).sum()),
        classes=_class_count(database),
        terms=terms,
        prefixes=len(prefixes_of(state.meta)),
        files_loaded=file_count(state.meta),
        layers=len(tables.layers),
        fact_table_bytes=fact_bytes,
        fact_bytes_per_triple=fact_bytes / facts if facts else 0.0,
        counter_bytes=counters,
        table_bytes=table_bytes,
        quad_table_bytes=quad_bytes,
        quad_bytes_per_quad=quad_bytes / in_graphs if in_graphs else 0.0,
        dictionary_bytes=text + indexed,
        term_text_bytes=text,
        dictionary_bytes_per_term=indexed / sealed if sealed else 0.0,
        disk_bytes=files.disk_bytes,
        journal_bytes=files.journal_bytes,
        text_index=_text_index(database),
    )


def _text_index(database: Database) -> str | None:
    settings = text_settings_in(database.state.meta)
    if settings is None:
        return None
    # Late: few stores have a text index.
    from triplestore.text_search.report import text_index_info

    return str(text_index_info(database, settings))


def _counter_bytes(layer: Layer) -> int:
    count = layer.facts.forward.count
    return 0 if count is None else count.nbytes


def _fact_bytes(layer: Layer) -> int:
    """The size of facts with all indexes; of layers with quads also the characteristic sets."""
    tuples = sum(run.nbytes for run in layer.tuples.values())
    return layer.nbytes - layer.quads.nbytes - tuples - _counter_bytes(layer)


def _class_count(database: Database) -> int:
    from pyoxigraph import NamedNode

    name = database.state.dictionary.lookup_keys([key_of(NamedNode(RDF_TYPE))])
    return database.state.tables.relation(int(name[0])).distinct_estimate(1) if name[0] else 0


def _size(size: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"
