"""`reason`, `add_rules` and `remove_rules` in a transaction.

Start reading at `reason`. Each derives new settings from those in force, and
`TransactionWriter.apply` puts them in force.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from triplestore.datalog.problems import raise_errors
from triplestore.datalog.text import parse
from triplestore.errors import UsageError
from triplestore.reasoning.collector_pause import no_collection
from triplestore.reasoning.program.ontology_graphs import load_ontologies
from triplestore.reasoning.program.settings import ReasonSettings, Regimes
from triplestore.reasoning.program.stored_rules import (
    Rules,
    not_in_force,
    raise_or_warn,
    read_rules,
)
from triplestore.reasoning.reason_arguments import chosen, known_names
from triplestore.storage.metadata import STRICT
from triplestore.store.arguments import LoadOptions, ReasonOptions
from triplestore.store.writes.documents import load_documents
from triplestore.thread_limits import look

if TYPE_CHECKING:
    from pyoxigraph import NamedNode, RdfFormat

    from triplestore.maintenance.report import Report
    from triplestore.reasoning.program.stored_rules import RulesLike
    from triplestore.store.writes.writer import TransactionWriter


def reason(writer: TransactionWriter, options: ReasonOptions) -> Report:
    """Apply rules, from now on; see `Store.reason`."""
    if options.strict is not None:
        writer.keep({STRICT: b"1" if options.strict else None})
    named = chosen(options.regimes, options.rules)
    before = writer.settings
    tuning = before.tuning.changed(options.tuning or {})
    if named is None:
        if options.scope is not None:
            raise UsageError('reason("none") turns inference off; it has no scope')
        off = ReasonSettings(None, Regimes(), tuning)
        return writer.apply(off, (), options.progress, options.cancel)
    regimes = before.regimes.changed(named, options.trivial, options.equality)
    if options.ontology is not None:
        regimes = load_ontologies(
            _loader(writer),
            options.ontology,
            regimes,
            imports=options.imports,
            network=options.network,
        )
    wanted = ReasonSettings(before.users, regimes.scoped(options.scope), tuning)
    if options.rules is None:
        return writer.apply(wanted, (), options.progress, options.cancel)
    return add_rules(writer, options.rules, wanted, options.progress, options.cancel)


def add_rules(
    writer: TransactionWriter,
    rules: RulesLike,
    settings: ReasonSettings,
    progress: bool = False,
    cancel: Callable[[], bool] | None = None,
) -> Report:
    """Put settings in force with more rules."""
    known = known_names(writer.stated_tables(), writer.dictionary)
    with no_collection(), writer.reading_rules(settings):
        look("reading the rules")
        added = read_rules(rules, writer.prefixes())
        wanted = (settings.users or Rules()).with_added(added)
        warnings = raise_or_warn(wanted, added.problems, known)
    writer.bind(added.declared, over=False)
    return writer.apply(replace(settings, users=wanted or None), warnings, progress, cancel)


def remove_rules(writer: TransactionWriter, rules: RulesLike, progress: bool = False) -> Report:
    """Remove these rules; see `Store.remove_rules`."""
    taken = read_rules(rules, writer.prefixes())
    raise_errors(taken.problems)
    users = writer.settings.users or Rules()
    warnings = not_in_force(users, taken)
    left = replace(writer.settings, users=users.without(taken) or None)
    return writer.apply(left, warnings, progress)


def replace_rules(
    writer: TransactionWriter, text: str, cancel: Callable[[], bool] | None = None
) -> Report:
    """Put the rules of a text in force instead of all that users gave before; regimes stay."""
    program, problems = parse(text, prefixes=writer.prefixes())
    raise_errors(problems)
    known = known_names(writer.stated_tables(), writer.dictionary)
    with no_collection(), writer.reading_rules(writer.settings):
        look("reading the rules")
        given = read_rules(program, writer.prefixes())
        wanted = Rules().with_added(given)
        warnings = raise_or_warn(wanted, problems, known)
    writer.bind(program.prefixes, over=False)
    settings = replace(writer.settings, users=wanted or None)
    return writer.apply(settings, warnings, cancel=cancel)


def _loader(writer: TransactionWriter) -> Callable[[bytes, RdfFormat, str, NamedNode], object]:
    """Replaces a graph by a document, for `load_ontologies`."""

    def load(data: bytes, format: RdfFormat, base_iri: str, graph: NamedNode) -> object:
        options = LoadOptions(format=format, base_iri=base_iri, replace_graph=graph)
        return load_documents(writer, data, options)

    return load
