"""Queries: from text to results, on one snapshot.

Start at `Engine.query`: the text is parsed and rewritten, unless its algebra is cached
(`QueryCache`); a plan is made from the current sizes of the tables (`Planner`), unless a cached one
can be used. Always true: a query reads one snapshot; its `Context` limits its memory and
time, also while results are read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from functools import partial, reduce
from operator import or_
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from triplestore.data_classes import data_class
from triplestore.errors import UsageError
from triplestore.expressions.evaluate_columns import Scope
from triplestore.expressions.evaluate_scalar import Surroundings
from triplestore.expressions.query_terms import U32, QueryTerms
from triplestore.expressions.tree import Constant, Variable
from triplestore.network.services import NO_SERVICES, Services
from triplestore.operators.context import Context, running
from triplestore.operators.deep_calls import when_large
from triplestore.operators.row_operators import Limit
from triplestore.relations.status import EXPLICIT, HOLDS, INFERRED
from triplestore.sparql.advice import advice
from triplestore.sparql.algebra.nodes import (
    Ask,
    Construct,
    Describe,
    Group,
    OrderBy,
    Project,
    Query,
    Select,
    Slice,
)
from triplestore.sparql.algebra.substitute import with_values
from triplestore.sparql.cache.kept_plans import QueryPlan, StatePlans
from triplestore.sparql.cache.query_cache import QueryCache, QueryText, Reuse
from triplestore.sparql.construct import constructed, described
from triplestore.sparql.evaluate.dataset import STORE_DEFAULT, Dataset
from triplestore.sparql.evaluate.text_hits import SearchText
from triplestore.sparql.plan.planned import ANYTHING, NONE, Planned, Wanted
from triplestore.sparql.plan.planner import Planner, PlanOptions
from triplestore.sparql.plan.query_planner import QueryPlanner
from triplestore.sparql.results.solutions import ResultRows, Solutions, Triples, WriteResult
from triplestore.sparql.rewrites import NEEDED, PASSES, rewrite
from triplestore.sparql.syntax.parser import parse_query
from triplestore.sparql.thresholds import SPARQL
from triplestore.terms import Dictionary
from triplestore.terms.vocabulary import XSD

if TYPE_CHECKING:
    from triplestore.relations import Tables
    from triplestore.terms import Term

Result: TypeAlias = Solutions | Triples | bool

PSEUDO_GRAPHS = {
    "http://www.ontotext.com/explicit": EXPLICIT,
    "http://www.ontotext.com/implicit": INFERRED,
}
"""FROM with one of these selects facts by status instead of a graph."""

_NO_PREFIXES: Mapping[str, str] = MappingProxyType({})


class AskedState(NamedTuple):
    """The state that a query reads, and which part of it.

    where    statuses of the facts that it sees
    default  ids of the graphs whose merge is the default graph; 0 is the store's own default graph
    named    the named graphs that GRAPH reaches, regardless of FROM; None to use FROM NAMED
    hidden   True if the state has facts that are not RDF triples; they are not shown
    chosen   True if the caller chose `default`, which then takes precedence over FROM
    services  the endpoints that SERVICE may ask
    plans    keeps plans as long as the state is read; None if plans are not kept
    text     searches the text index; None if there is none
    """

    dictionary: Dictionary
    tables: Tables
    where: int = HOLDS
    default: tuple[int, ...] = (STORE_DEFAULT,)
    named: tuple[int, ...] | None = None
    prefixes: Mapping[str, str] = _NO_PREFIXES
    hidden: bool = False
    chosen: bool = False
    plans: StatePlans | None = None
    services: Services = NO_SERVICES
    text: SearchText | None = None

    @property
    def what(self) -> tuple[Hashable, ...]:
        """All that plans for one state depend on besides the query."""
        return (self.where, self.default, self.named, self.hidden, self.chosen)


@data_class
class Custom:
    """The caller's own functions and aggregates, by IRI.

    functions   take terms and return a term, or None for an error
    aggregates  return an object with `accumulate(term)` and `finish()`, one for each group
    """

    functions: Mapping[str, Callable[..., Term | None]] = field(default_factory=dict)
    aggregates: Mapping[str, Callable[[], Any]] = field(default_factory=dict)


NOTHING_CUSTOM = Custom()


class Engine:
    """Parses queries, keeping their algebra by text, and evaluates them.

    write  writes results as documents
    """

    def __init__(self, write: WriteResult) -> None:
        self._write = write
        self._cache = QueryCache(algebra_of)

    def parse(
        self,
        text: str,
        prefixes: Mapping[str, str],
        base: str | None,
        aggregates: Collection[str] = (),
    ) -> Query:
        """The rewritten algebra of a text."""
        return self._cache.algebra(QueryText(text, prefixes, base, aggregates))

    def query(
        self,
        text: str,
        asked: AskedState,
        context: Context,
        *,
        base: str | None = None,
        options: PlanOptions | None = None,
        values: Mapping[str, Constant] | None = None,
        custom: Custom = NOTHING_CUSTOM,
        form: str | None = None,
    ) -> Result:
        """The result of a query, in which some variables may have values.

        form  the form that it must have, such as "SELECT"; None for any
        """
        rewritten = options is None or options.rewrites
        full_text = QueryText(text, asked.prefixes, base, custom.aggregates, rewritten=rewritten)
        with running(context):
            return self._query(full_text, asked, context, options, values, custom, form)

    def _query(
        self,
        text: QueryText,
        asked: AskedState,
        context: Context,
        options: PlanOptions | None,
        values: Mapping[str, Constant] | None,
        custom: Custom,
        form: str | None,
    ) -> Result:
        # Results keep this: it must not hold the state.
        read = partial(_read, self._cache, text, values)
        reuse = plan = None
        if asked.plans is not None and custom is NOTHING_CUSTOM:
            reuse = self._cache.reuse(text, values, asked.plans, (asked.what, options))
        if reuse is not None:
            plan = reuse.plan(context)
        query = read() if plan is None else plan.query
        if form is not None:
            check_form(query, form)
        run = _QueryRun(query, asked, context, self._write, options, custom, read, reuse)
        return run.result() if plan is None else run.of_plan(plan)


def check_form(query: Query, form: str) -> None:
    """Refuse a query of another form."""
    own = type(query).__name__.upper()
    if own != form:
        named = [f"{'an' if name == 'ASK' else 'a'} {name} query" for name in (own, form)]
        raise UsageError(
            f"this is {named[0]}, not {named[1]}: call {own.lower()}(), or query(), "
            "which takes every form"
        )


def _read(cache: QueryCache, text: QueryText, values: Mapping[str, Constant] | None) -> Query:
    """The query of a text, with values for variables."""
    query = cache.algebra(text)
    return when_large(query.size, with_values, query, values) if values else query


def algebra_of(text: QueryText) -> Query:
    """The rewritten algebra of a text, parsed now."""
    query = parse_query(
        text.text, prefixes=text.prefixes, base=text.base, aggregates=text.aggregates
    )
    return prepared(query, text.rewritten)


def prepared(query: Query, optimise: bool = True) -> Query:
    """A query whose pattern is rewritten."""
    passes = PASSES if optimise else NEEDED
    pattern = when_large(query.size, rewrite, query.pattern, passes)
    return query if pattern is query.pattern else replace(query, pattern=pattern)


@data_class(frozen=False)
class _QueryRun:
    """One rewritten query, on its way to a result.

    read   parses the query's text; `query` may have other constants than the text
    reuse  where its plan may be kept; None if it is not kept
    """

    query: Query
    asked: AskedState
    context: Context
    write: WriteResult
    options: PlanOptions | None
    custom: Custom
    read: Callable[[], Query]
    reuse: Reuse | None

    def result(self) -> Result:
        """The result of the query."""
        query = self.query
        if isinstance(query, Describe):
            return _describe(self.planner(), query, self.context, self.write)
        return self.of_plan(self.planned(query))

    def of_plan(self, plan: QueryPlan) -> Result:
        """The result of a finished plan."""
        query, context = plan.query, self.context
        loan = None if self.reuse is None else self.reuse.loan(plan)
        if _wants_few(query):
            context.block_rows = min(context.block_rows, SPARQL.first_block_rows)
        if isinstance(query, Ask):
            holds = Limit(plan.operator, 1).run(context).rows > 0
            if loan is not None:
                loan.finished = True
            return holds
        read = self.read
        terms, operator, dataset = plan.planner.scope.terms, plan.operator, plan.planner.dataset

        def advise() -> list[str]:
            return advice(read(), operator, dataset, terms.dictionary)

        if isinstance(query, Select):
            names = tuple(variable.name for variable in query.variables)
            prefixes = {**self.asked.prefixes, **query.prefixes}
            rows = ResultRows(operator, context, loan)
            return Solutions(names, rows, terms, prefixes, self.write, advise)
        template = plan.planner.slots.templates(query.template)

        def construct() -> list[U32]:
            with running(context):
                return constructed(template, operator, terms, context)

        return Triples(
            construct,
            terms,
            self.write,
            dict(query.prefixes),
            operator,
            advise,
            loan,
        )

    def planner(self) -> Planner:
        """A planner for this query."""
        scope = Scope(QueryTerms(self.asked.dictionary), QuerySurroundings(self.query.base))
        scope.around.functions = self.custom.functions
        planner = QueryPlanner(dataset_of(self.query, self.asked), scope, self.options)
        planner.context = self.context
        planner.services = self.asked.services
        planner.text = self.asked.text
        planner.size = self.query.size
        planner.aggregates = self.custom.aggregates
        return planner

    def planned(self, query: Ask | Select | Construct) -> QueryPlan:
        """The plan of its pattern."""
        planner = self.planner()
        if isinstance(query, Select):
            wanted = ANYTHING
        elif isinstance(query, Ask):
            wanted = Wanted(names=NONE, bag=False, first=1.0)
        else:
            terms = (term for triple in query.template for term in triple)
            names = frozenset(term.name for term in terms if isinstance(term, Variable))
            wanted = Wanted(names=names)
        slots = None if self.reuse is None else self.reuse.slots(query)
        if slots is not None:
            planner.slots = slots
        operator = planner.plan_large(query.pattern, wanted).operator
        planner.slots.finish(operator, [atom for _, atom in planner.atoms.values()])
        return QueryPlan(planner, operator, query)


def _wants_few(query: Query) -> bool:
    """True if a few rows of the pattern are enough, so that operators should use small blocks."""
    if isinstance(query, Ask):
        return True
    top = query.pattern
    if not isinstance(top, Slice) or top.limit is None:
        return False
    inner = top.pattern
    streams = isinstance(inner, Project) and not isinstance(inner.pattern, OrderBy | Group)
    return streams and top.offset + top.limit <= SPARQL.first_block_rows


def _describe(planner: Planner, query: Describe, context: Context, write: WriteResult) -> Triples:
    terms = planner.scope.terms
    wanted = [t.name for t in query.targets if isinstance(t, Variable)]
    constants = [t for t in query.targets if isinstance(t, Constant)]
    made: Planned | None = None
    if wanted:
        names = Wanted(names=frozenset(wanted), bag=False)
        made = planner.plan_large(query.pattern, names)
    ids = [planner.look_up(term) for term in constants]

    def describe() -> list[U32]:
        with running(context):
            return described(ids, made, planner.dataset, terms, context)

    return Triples(
        describe,
        terms,
        write,
        dict(query.prefixes),
        None if made is None else made.operator,
    )


def dataset_of(query: Query, asked: AskedState) -> Dataset:
    """The graphs that a query sees: those that the caller chose, else those of its FROM."""
    kinds = asked.dictionary.kinds if asked.hidden else None
    where, default, named = asked.where, asked.default, asked.named
    if query.dataset is not None:
        statuses, graphs = _sorted_out(query.dataset.default)
        where = reduce(or_, statuses) if statuses else where
        if graphs or query.dataset.named or not statuses:
            if named is None:
                named = _known(asked.dictionary, query.dataset.named)
            if not asked.chosen and (graphs or not statuses):
                default = _known(asked.dictionary, graphs)
    return Dataset(asked.tables, default, named, where, kinds)


def _sorted_out(graphs: Sequence[Constant]) -> tuple[list[int], list[Constant]]:
    """The statuses and the graphs that FROM names."""
    statuses = [PSEUDO_GRAPHS.get(graph.key[1:].decode()) for graph in graphs]
    real = [graph for graph, status in zip(graphs, statuses, strict=True) if status is None]
    return [status for status in statuses if status is not None], real


def _known(dictionary: Dictionary, graphs: Sequence[Constant]) -> tuple[int, ...]:
    ids = dictionary.lookup_keys([graph.key for graph in graphs]).tolist()
    return tuple(sorted({term_id for term_id in ids if term_id}))


class QuerySurroundings(Surroundings):
    """The surroundings of a query; its time is taken when NOW() is first called."""

    def __init__(self, base: str | None) -> None:
        super().__init__(base)
        del self.now

    def __getattr__(self, name: str) -> bytes:
        if name != "now":
            raise AttributeError(name)
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.now = b"\x05" + f'{now}"^^<{XSD}dateTime>'.encode()
        return self.now
