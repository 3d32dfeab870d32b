"""SPARQL queries of a store, a snapshot or a transaction, as methods.

Start reading at `Querying.query`. `select`, `ask`, `construct` and `describe` do the same for one
form of queries, so that callers and type checkers know what they get.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Unpack, cast

from triplestore.store.arguments import (
    CustomAggregates,
    CustomFunctions,
    QueryKeywords,
    QueryOptions,
    Substitutions,
)
from triplestore.store.faces.federating import Federating

if TYPE_CHECKING:
    from triplestore.network.services import ServicesLike
    from triplestore.operators.context import Flag
    from triplestore.sparql.engine import Result
    from triplestore.sparql.results.solutions import Solutions, Triples
    from triplestore.store.arguments import GraphLike
    from triplestore.store.run_query import Prepared
    from triplestore.store.state_view import StateView
    from triplestore.text_limits import TextLimits


class Querying(Federating, ABC):
    """Queries over one consistent state."""

    @abstractmethod
    def _view(self) -> StateView:
        """The state to read."""

    def query(
        self,
        query: str,
        *,
        facts: str = "all",
        equality: str = "all",
        base_iri: str | None = None,
        prefixes: Mapping[str, str] | None = None,
        use_default_graph_as_union: bool = False,
        default_graph: GraphLike | Iterable[GraphLike] | None = None,
        named_graphs: Iterable[GraphLike] | None = None,
        timeout: float | None = None,
        budget: int | None = None,
        cancel: Flag | None = None,
        limits: TextLimits | None = None,
        substitutions: Substitutions | None = None,
        custom_functions: CustomFunctions | None = None,
        custom_aggregate_functions: CustomAggregates | None = None,
        allow_service: ServicesLike | None = None,
    ) -> Result:
        """The result of a SPARQL query: solutions, triples, or True or False for an ASK.

        Prefixes of loaded files are known. `facts` selects the facts that it sees: "all",
        "explicit" (asserted) or "inferred" ones. Where equals are rewritten (see `Store.reason`) it
        sees the facts of all of them; with `equality="representatives"` it gives one answer for
        each class, and a name in a pattern stands for its class. `timeout` (seconds) and `budget`
        (bytes; by default half of the machine's memory) stop a query that takes too much, as does
        `cancel`, a `threading.Event` that another thread sets; `limits`, a `TextLimits`, limits the
        size of its text. `substitutions` binds variables by name; functions and aggregates that the
        query calls by IRI can be given in Python, as for pyoxigraph's store. SERVICE asks only the
        endpoints of `allow_service`, a list of IRIs or a `Services`; by default those of the store
        (see `Store.allow_service`). A text that was asked before is not parsed again.

        >>> from triplestore import NamedNode, Store
        >>> store = Store()
        >>> _ = store.load("@prefix : <http://ex.org/> . :ada :sees :bob . :bob :sees :cy .", "ttl")
        >>> print(store.query("SELECT ?x { :ada :sees+ ?x }"))
        ?x
        ----
        :bob
        :cy
        >>> store.query("ASK { ?x :sees ?y }", substitutions={"x": NamedNode("http://ex.org/cy")})
        False
        """
        # Late: it needs all of `sparql`.
        from triplestore.store.run_query import query as ask

        options = QueryOptions(
            facts,
            equality,
            base_iri,
            prefixes,
            use_default_graph_as_union,
            default_graph,
            named_graphs,
            timeout,
            budget,
            cancel,
            limits,
            substitutions,
            custom_functions,
            custom_aggregate_functions,
            self._services if allow_service is None else allow_service,
        )
        return ask(self._view(), query, options)

    def prepare(self, query: str, **options: Unpack[QueryKeywords]) -> Prepared:
        """A query to be run often, each time with other values for its variables.

        Errors in its text are raised at once. `options` are the keywords of `query`.

        >>> from triplestore import NamedNode, Store
        >>> store = Store()
        >>> _ = store.load("@prefix : <http://ex.org/> . :ada :sees :bob . :bob :sees :cy .", "ttl")
        >>> sees = store.prepare("SELECT ?y { ?x :sees ?y }", timeout=1)
        >>> [solution["y"].value for solution in sees(x=NamedNode("http://ex.org/bob"))]
        ['http://ex.org/cy']
        """
        # Late: it needs all of `sparql`.
        from triplestore.store.run_query import Prepared, read

        chosen = self._query_options(None, options)
        read(self._view(), query, chosen)
        return Prepared(self._view, query, chosen)

    # -- one form ---------------------------------------------------------------------------------

    def select(self, query: str, **options: Unpack[QueryKeywords]) -> Solutions:
        """The solutions of a SELECT; `options` are the keywords of `query`.

        A query of another form is an error that says which form it has.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.load("@prefix : <http://ex.org/> . :ada :age 36 .", "ttl")
        >>> [solution["age"].value for solution in store.select("SELECT ?age { ?x :age ?age }")]
        ['36']
        >>> store.select("ASK { ?x :age ?age }")
        Traceback (most recent call last):
        triplestore.errors.UsageError: this is an ASK query, not a SELECT query: call ask(), or ...
        """
        return cast("Solutions", self._of_form("SELECT", query, options))

    def ask(self, query: str, **options: Unpack[QueryKeywords]) -> bool:
        """The answer of an ASK; see `select`.

        >>> from triplestore import Store
        >>> Store().ask("ASK { ?s ?p ?o }")
        False
        """
        return cast(bool, self._of_form("ASK", query, options))

    def construct(self, query: str, **options: Unpack[QueryKeywords]) -> Triples:
        """The triples of a CONSTRUCT; see `select`.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.load("@prefix : <http://ex.org/> . :ada :parent :bob .", "ttl")
        >>> for triple in store.construct("CONSTRUCT { ?y :child ?x } WHERE { ?x :parent ?y }"):
        ...     print(triple)
        <http://ex.org/bob> <http://ex.org/child> <http://ex.org/ada>
        """
        return cast("Triples", self._of_form("CONSTRUCT", query, options))

    def describe(self, query: str, **options: Unpack[QueryKeywords]) -> Triples:
        """The triples of a DESCRIBE; see `select`.

        >>> from triplestore import Store
        >>> store = Store()
        >>> _ = store.load("@prefix : <http://ex.org/> . :ada :parent :bob .", "ttl")
        >>> len(store.describe("DESCRIBE :ada"))
        1
        """
        return cast("Triples", self._of_form("DESCRIBE", query, options))

    def _of_form(self, form: str, query: str, options: QueryKeywords) -> Result:
        # Late: it needs all of `sparql`.
        from triplestore.store.run_query import query as ask

        return ask(self._view(), query, self._query_options(form, options))

    def _query_options(self, form: str | None, given: QueryKeywords) -> QueryOptions:
        options = QueryOptions(form=form, **given)
        if options.allow_service is None:
            options = options._replace(allow_service=self._services)
        return options
