"""Makes searches of text queries, which are written as triples with lists.

    (?x ?score) text:query (rdfs:label "solar panel" "lang:en")

becomes a search for literals, joined with the facts that have them:

    hits of "solar panel" in English as ?literal, ?score .  ?x rdfs:label ?literal

and with a limit a sub-query that takes the best. The forms are those of Jena; the variables for
score, literal, graph and property may also be written behind the query string.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from triplestore.errors import QuerySyntaxError
from triplestore.expressions.tree import Call, Constant, Variable
from triplestore.operators.context import current
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import Node, TermOrVariable, TriplePattern, is_hidden
from triplestore.sparql.algebra.text_terms import DEFAULT_GRAPH, TEXT_QUERY
from triplestore.sparql.rewrites.shared import QueryVariables
from triplestore.terms.term_keys import IRI, STRING, TYPED
from triplestore.terms.values.value_keys import split_typed
from triplestore.terms.vocabulary import RDF_FIRST, RDF_NIL, RDF_REST, XSD_INTEGER

_FIRST, _REST, _NIL = map(Constant.iri, (RDF_FIRST, RDF_REST, RDF_NIL))
_LANGUAGE, _HIGHLIGHT = "lang:", "highlight:"
_FORM = "(?x ?score ?literal ?graph ?property) text:query (properties... 'query' limit 'lang:en')"


def find_text_queries(node: Node, seen: QueryVariables) -> Node:
    """The pattern with searches in the place of text queries."""
    return _found(node, None, seen)


def _found(node: Node, graph: TermOrVariable | None, seen: QueryVariables) -> Node:
    current().check()
    if isinstance(node, sparql.Service):
        return node  # it is for another endpoint
    if isinstance(node, sparql.Graph):
        graph = node.name
    if isinstance(node, sparql.Bgp):
        if all(each.predicate != TEXT_QUERY for each in node.patterns):
            return node
        return _joined(_TextQueries(node.patterns, graph, seen).parts())
    made = sparql.with_children(node, lambda child: _found(child, graph, seen))
    if isinstance(made, sparql.Join) and made is not node:
        return _joined(made.parts)
    return made


def _joined(parts: Sequence[Node]) -> Node:
    """The join of parts, of which some may be joins."""
    flat: list[Node] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, sparql.Join) else (part,))
    return flat[0] if len(flat) == 1 else sparql.Join(tuple(flat))


class _Outputs(NamedTuple):
    """What a text query gives beside the subject; None for what it does not name."""

    score: TermOrVariable | None = None
    literal: TermOrVariable | None = None
    graph: TermOrVariable | None = None
    property: TermOrVariable | None = None


class _Arguments(NamedTuple):
    """What a text query is given."""

    properties: tuple[Constant, ...]
    query: TermOrVariable
    limit: int | None
    language: str
    outputs: tuple[TermOrVariable, ...]


class _TextQueries:
    """The text queries among some triples.

    graph  the active graph; None for the default one
    """

    def __init__(
        self,
        patterns: Sequence[TriplePattern],
        graph: TermOrVariable | None,
        seen: QueryVariables,
    ) -> None:
        self._patterns = patterns
        self._graph = graph
        self._seen = seen
        self._firsts = {p.subject: p.object for p in patterns if p.predicate == _FIRST}
        self._rests = {p.subject: p.object for p in patterns if p.predicate == _REST}
        self._cells: set[TermOrVariable] = set()  # of lists that are arguments

    def parts(self) -> list[Node]:
        """The parts that are joined instead of the triples."""
        searches: list[Node] = []
        for subject, predicate, object_ in self._patterns:
            if predicate == TEXT_QUERY:
                searches += self._search(subject, object_)
        rest = tuple(
            each
            for each in self._patterns
            if each.predicate != TEXT_QUERY and each.subject not in self._cells
        )
        return [*([sparql.Bgp(rest)] if rest else []), *searches]

    def _list(self, node: TermOrVariable) -> list[TermOrVariable] | None:
        """The members of a list; None if a term is not a list."""
        if node == _NIL:
            return []
        members: list[TermOrVariable] = []
        cells: list[TermOrVariable] = []
        while node != _NIL:
            if not isinstance(node, Variable) or not is_hidden(node) or node not in self._firsts:
                return None
            cells.append(node)
            members.append(self._firsts[node])
            node = self._rests[node]
        self._cells.update(cells)
        return members

    # -- one query --------------------------------------------------------------------------------

    def _search(self, subject: TermOrVariable, object_: TermOrVariable) -> list[Node]:
        """A text query as parts of a join."""
        named = self._list(subject)
        given = self._list(object_)
        arguments = _arguments([object_] if given is None else given)
        results: Sequence[TermOrVariable] = arguments.outputs
        if named is not None:
            if not named:
                raise _error("the list before text:query is empty")
            subject, *others = named
            if others and results:
                raise _error("the variables for results are on both sides of text:query")
            results = others or results
        if len(results) > len(_Outputs._fields):
            raise _error("there are too many variables")
        return self._parts(subject, arguments, _Outputs(*results))

    def _parts(
        self, subject: TermOrVariable, arguments: _Arguments, outputs: _Outputs
    ) -> list[Node]:
        used: set[TermOrVariable] = {subject}
        tests: list[Call] = []

        def variable(wanted: TermOrVariable | None, word: str) -> Variable:
            """The variable for a result; another one if a constant or a used one is given."""
            if isinstance(wanted, Variable) and wanted not in used:
                used.add(wanted)
                return wanted
            made = self._seen.fresh(word)
            if wanted is not None:
                tests.append(Call("SAMETERM", (made, wanted)))
            return made

        literal = variable(outputs.literal, "literal")
        limit = arguments.limit
        score = None
        if outputs.score is not None or limit is not None:
            score = variable(outputs.score, "score")
        by_property = variable(outputs.property, "property")
        predicate: TermOrVariable = by_property
        own: Variable | None = by_property
        if len(arguments.properties) == 1 and outputs.property is None:
            predicate, own = arguments.properties[0], None
        hits = sparql.TextHits(
            literal,
            score,
            own,
            arguments.query,
            arguments.properties,
            arguments.language,
            limit,
        )
        parts: list[Node] = [
            hits,
            sparql.Bgp((TriplePattern(subject, predicate, literal),)),
        ]
        if limit is not None:
            assert score is not None
            parts = [self._best(parts, score, limit)]
        if outputs.graph is not None:
            parts += self._graph_part(outputs.graph)
        made = parts
        for test in tests:
            made = [sparql.Filter(_joined(made), test)]
        return made

    def _best(self, parts: list[Node], score: Variable, limit: int) -> Node:
        """The rows with the highest scores, as a sub-query."""
        whole = _joined(parts)
        names = self._seen.in_scope(whole)
        ordered = sparql.OrderBy(whole, (sparql.OrderKey(score, descending=True),))
        shown = tuple(Variable(name) for name in sorted(names))
        return sparql.Slice(sparql.Project(ordered, shown), 0, limit)

    def _graph_part(self, wanted: TermOrVariable) -> list[Node]:
        """The graph of the hits, which is the active one."""
        if self._graph == wanted:
            return []
        name = DEFAULT_GRAPH if self._graph is None else self._graph
        if isinstance(name, Variable):
            raise _error(f"the graph of the hits is {name} here: write {name} for it")
        if not isinstance(wanted, Variable):
            return [] if wanted == name else [sparql.Values((), ())]
        return [sparql.Values((wanted,), ((name,),))]


def _arguments(given: Sequence[TermOrVariable]) -> _Arguments:
    """The arguments behind `text:query`."""
    properties: list[Constant] = []
    for each in given:
        if not isinstance(each, Constant) or each.kind != IRI:
            break
        properties.append(each)
    rest = list(given[len(properties) :])
    if not rest:
        raise _error("the query string is missing")
    query = rest.pop(0)
    if isinstance(query, Constant) and query.kind != STRING:
        raise _error(f"the query string must be a plain string, not {query}")
    limit: int | None = None
    language = ""
    outputs: list[TermOrVariable] = []
    for each in rest:
        if isinstance(each, Variable):
            outputs.append(each)
        elif outputs:
            raise _error(f"{each} must be before the variables for results")
        elif each.kind == TYPED and limit is None:
            limit = _limit(each)
        elif each.kind == STRING and each.key[1:].startswith(_LANGUAGE.encode()):
            language = each.key[1 + len(_LANGUAGE) :].decode().strip().lower()
        elif each.kind == STRING and each.key[1:].startswith(_HIGHLIGHT.encode()):
            raise _error("highlighting is not supported")
        else:
            raise _error(f"{each} is not expected here")
    return _Arguments(tuple(properties), query, limit, language, tuple(outputs))


def _limit(constant: Constant) -> int | None:
    """The limit that a number gives; negative numbers are none, as in Jena."""
    lexical, datatype = split_typed(constant.key[1:])
    if datatype != XSD_INTEGER:
        raise _error(f"the limit must be an integer, not {constant}")
    limit = int(lexical)
    return None if limit < 0 else limit


def _error(problem: str) -> QuerySyntaxError:
    return QuerySyntaxError(f"text:query: {problem}; the form is {_FORM}")
