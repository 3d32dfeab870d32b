"""Queries: from text to results, on one snapshot.

Start at `Engine.query`. The algebra of a text is kept, so that asking again costs no parsing; plans
are made anew each time, from the sizes of the tables as they are. What is always true: a query
reads one snapshot; its memory and time are those of its `Context`, also while results are read.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, TypeAlias

from triplestore.expr.evaluate import Scope
from triplestore.expr.query_terms import QueryTerms
from triplestore.expr.scalar import Surroundings
from triplestore.expr.tree import Constant, Variable
from triplestore.ops.context import Context
from triplestore.ops.rows import Limit
from triplestore.sparql.advice import advice
from triplestore.sparql.algebra import (
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
from triplestore.sparql.construct import constructed, described
from triplestore.sparql.dataset import STORE_DEFAULT, Dataset
from triplestore.sparql.parser import parse_query
from triplestore.sparql.planned import NONE, Planned, Wanted
from triplestore.sparql.planner import Options, Planner
from triplestore.sparql.rewrites import PASSES, rewrite
from triplestore.sparql.solutions import Rows, Solutions, Triples, WriteResult
from triplestore.sparql.substitute import with_values
from triplestore.tables.status import EXPLICIT, HOLDS, INFERRED
from triplestore.terms import Dictionary
from triplestore.terms.vocabulary import XSD

if TYPE_CHECKING:
    from triplestore.tables import Tables
    from triplestore.terms import Term

Result: TypeAlias = Solutions | Triples | bool

PSEUDO_GRAPHS = {
    "http://www.ontotext.com/explicit": EXPLICIT,
    "http://www.ontotext.com/implicit": INFERRED,
}
"""What FROM says with these is which facts are meant."""

_KEPT_TEXTS = 256
_SMALL_BLOCKS = 2048


@dataclass(frozen=True, slots=True)
class Asked:
    """What a query is asked of.

    where    statuses of the facts that it sees
    default  the graphs whose merge is the default graph, by id; 0 is the store's own
    named    the named graphs that GRAPH reaches, whatever FROM says; None for those that it says
    hidden   True if there are facts that are no triples of RDF, which are not shown
    chosen   True if `default` was asked for, and goes before FROM
    """

    dictionary: Dictionary
    tables: Tables
    where: int = HOLDS
    default: tuple[int, ...] = (STORE_DEFAULT,)
    named: tuple[int, ...] | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict)
    hidden: bool = False
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Custom:
    """Functions and aggregates, by IRI, that whoever asks brings along.

    functions   take terms and give a term, or None for an error
    aggregates  make an object with `accumulate(term)` and `finish()`, one for each group
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
        self._parsed: OrderedDict[tuple[object, ...], Query] = OrderedDict()

    def parse(
        self,
        text: str,
        prefixes: Mapping[str, str],
        base: str | None,
        optimise: bool = True,
        aggregates: Collection[str] = (),
    ) -> Query:
        """The rewritten algebra of a text."""
        key = (text, base, tuple(prefixes.items()), optimise, *sorted(aggregates))
        found = self._parsed.get(key)
        if found is None:
            parsed = parse_query(text, prefixes=prefixes, base=base, aggregates=aggregates)
            found = prepared(parsed, optimise)
            self._parsed[key] = found
            if len(self._parsed) > _KEPT_TEXTS:
                self._parsed.popitem(last=False)
        return found

    def query(
        self,
        text: str,
        asked: Asked,
        context: Context,
        *,
        base: str | None = None,
        options: Options | None = None,
        values: Mapping[str, Constant] | None = None,
        custom: Custom = NOTHING_CUSTOM,
    ) -> Result:
        """The result of a query, in which some variables may have values."""
        options = options or Options()
        query = self.parse(text, asked.prefixes, base, options.rewrites, custom.aggregates)
        if values:
            query = with_values(query, values)
        return evaluate(query, asked, context, self._write, options, custom)


def prepared(query: Query, optimise: bool = True) -> Query:
    """A query whose pattern is rewritten."""
    from dataclasses import replace

    return replace(query, pattern=rewrite(query.pattern, PASSES if optimise else ()))


def evaluate(
    query: Query,
    asked: Asked,
    context: Context,
    write: WriteResult,
    options: Options | None = None,
    custom: Custom = NOTHING_CUSTOM,
) -> Result:
    """The result of a query that was rewritten."""
    terms = QueryTerms(asked.dictionary)
    scope = Scope(terms, Around(query.base))
    scope.around.functions = custom.functions
    planner = Planner(dataset_of(query, asked), scope, options)
    planner.context = context
    planner.aggregates = custom.aggregates
    if _wants_few(query):
        context.block_rows = min(context.block_rows, _SMALL_BLOCKS)
    if isinstance(query, Ask):
        plan = planner.plan(query.pattern, Wanted(names=NONE, bag=False))
        return Limit(plan.operator, 1).run(context).rows > 0
    if isinstance(query, Select):
        made = planner.plan(query.pattern)
        names = tuple(variable.name for variable in query.variables)
        prefixes = {**asked.prefixes, **query.prefixes}
        rows = Rows(made.operator, context)

        def advise() -> list[str]:
            return advice(query, made.operator, planner.dataset, asked.dictionary)

        return Solutions(names, rows, terms, prefixes, write, advise)
    if isinstance(query, Construct):
        return _construct(planner, query, terms, context, write)
    return _describe(planner, query, terms, context, write)


def _wants_few(query: Query) -> bool:
    """True if some rows of the pattern are enough, so that operators should begin with few."""
    if isinstance(query, Ask):
        return True
    top = query.pattern
    if not isinstance(top, Slice) or top.limit is None:
        return False
    inner = top.pattern
    streams = isinstance(inner, Project) and not isinstance(inner.pattern, OrderBy | Group)
    return streams and top.offset + top.limit <= _SMALL_BLOCKS


def _construct(
    planner: Planner, query: Construct, terms: QueryTerms, context: Context, write: WriteResult
) -> Triples:
    names = {t.name for triple in query.template for t in triple if isinstance(t, Variable)}
    made = planner.plan(query.pattern, Wanted(names=frozenset(names)))
    return Triples(
        lambda: constructed(query.template, made.operator, terms, context),
        terms,
        write,
        dict(query.prefixes),
        made.operator,
        lambda: advice(query, made.operator, planner.dataset, terms.dictionary),
    )


def _describe(
    planner: Planner, query: Describe, terms: QueryTerms, context: Context, write: WriteResult
) -> Triples:
    wanted = [t.name for t in query.targets if isinstance(t, Variable)]
    constants = [t for t in query.targets if isinstance(t, Constant)]
    made: Planned | None = None
    if wanted:
        made = planner.plan(query.pattern, Wanted(names=frozenset(wanted), bag=False))
    ids = [planner.look_up(term) for term in constants]
    return Triples(
        lambda: described(ids, made, planner.dataset, terms, context),
        terms,
        write,
        dict(query.prefixes),
        None if made is None else made.operator,
    )


def dataset_of(query: Query, asked: Asked) -> Dataset:
    """The graphs that a query sees: those it is asked of, else those its FROM names."""
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
    """What FROM names: the statuses that it means by some names, and real graphs."""
    statuses = [PSEUDO_GRAPHS.get(graph.key[1:].decode()) for graph in graphs]
    real = [graph for graph, status in zip(graphs, statuses, strict=True) if status is None]
    return [status for status in statuses if status is not None], real


def _known(dictionary: Dictionary, graphs: Sequence[Constant]) -> tuple[int, ...]:
    ids = dictionary.lookup_keys([graph.key for graph in graphs]).tolist()
    return tuple(sorted({term_id for term_id in ids if term_id}))


class Around(Surroundings):
    """The surroundings of a query: the time of it is taken when NOW() is first asked for."""

    def __init__(self, base: str | None) -> None:
        super().__init__(base)
        del self.now

    def __getattr__(self, name: str) -> bytes:
        if name != "now":
            raise AttributeError(name)
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.now = b"\x05" + f'{now}"^^<{XSD}dateTime>'.encode()
        return self.now
