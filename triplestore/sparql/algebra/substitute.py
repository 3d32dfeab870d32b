"""Replaces variables of a query by values, without parsing or rewriting it again.

Start at `with_values`. A variable is replaced wherever it is the same variable: in patterns,
expressions and templates, in EXISTS, and in sub-queries that project it. Always true: a
selected variable is in the answers, with the given value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from triplestore.errors import UsageError
from triplestore.expressions.compare_terms import TRUE
from triplestore.expressions.tree import Call, Constant, Exists, Expression, Variable
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import Node, Query
from triplestore.sparql.algebra.variables import conjunction
from triplestore.terms.term_keys import BLANK, IRI

Values = Mapping[str, Constant]

_TRUE = Constant(TRUE)


def with_values(query: Query, values: Values) -> Query:
    """A query in which some variables have values.

    >>> from triplestore.sparql.syntax.parser import parse_query
    >>> query = parse_query("SELECT ?x { ?x <http://e/p> ?y }")
    >>> with_values(query, {"y": Constant.iri("http://e/a")}).pattern.pattern.patterns[0].object
    Constant(<http://e/a>)
    """
    for node in sparql.walk(query.pattern):
        made = [node.variable] if isinstance(node, sparql.Extend) else []
        if isinstance(node, sparql.Group):
            made = [key.variable for key in node.aggregates]
        for variable in made:
            if variable.name in values:
                raise UsageError(f"?{variable.name} cannot be given: the query computes it")
    query = replace(query, pattern=_shown(query.pattern, values))
    if isinstance(query, sparql.Construct):
        template = tuple(
            sparql.TriplePattern(*(_in_template(term, values) for term in triple))
            for triple in query.template
        )
        return replace(query, template=template)
    if isinstance(query, sparql.Describe):
        return replace(query, targets=tuple(_term(term, values) for term in query.targets))
    return query


def _shown(node: Node, values: Values) -> Node:
    """The pattern of a query, which still has the selected variables."""
    if isinstance(node, sparql.Distinct | sparql.Reduced | sparql.Slice):
        return sparql.with_children(node, lambda child: _shown(child, values))
    if not isinstance(node, sparql.Project):
        return substituted(node, values)
    inner = substituted(node.pattern, values)
    for variable in node.variables:
        if variable.name in values and not _is_key(variable, inner):
            inner = sparql.Extend(inner, variable, values[variable.name])
    return sparql.Project(inner, node.variables)


def _is_key(variable: Variable, node: Node) -> bool:
    """True if a variable is a key of the groups of a node."""
    while isinstance(node, sparql.Extend | sparql.Filter | sparql.OrderBy):
        node = node.pattern
    return isinstance(node, sparql.Group) and variable in [key.variable for key in node.keys]


def substituted(node: Node, values: Values) -> Node:
    """A pattern with constants instead of variables.

    >>> x, p = Variable("x"), Constant.iri("http://ex.org/p")
    >>> triple = sparql.TriplePattern(x, p, Variable("y"))
    >>> substituted(sparql.Bgp((triple,)), {"x": p}).patterns[0].subject
    Constant(<http://ex.org/p>)
    """
    if isinstance(node, sparql.Project):
        # Variables that a sub-query does not project are its own.
        values = {v.name: values[v.name] for v in node.variables if v.name in values}
        if not values:
            return node
        kept = tuple(variable for variable in node.variables if variable.name not in values)
        return sparql.Project(substituted(node.pattern, values), kept)
    if isinstance(node, sparql.Service):
        return _service(node, values)
    node = sparql.with_children(node, lambda child: substituted(child, values))

    def inside(expression: Expression) -> Expression:
        return _in_expression(expression, values)

    match node:
        case sparql.Bgp(patterns):
            return sparql.Bgp(
                tuple(sparql.TriplePattern(*(_term(t, values) for t in p)) for p in patterns)
            )
        case sparql.Path(subject, path, object_):
            return sparql.Path(_term(subject, values), path, _term(object_, values))
        case sparql.TermPattern(term, subject, predicate, object_):
            parts = [_term(part, values) for part in (subject, predicate, object_)]
            return sparql.TermPattern(term, *parts)
        case sparql.Filter(pattern, condition):
            return sparql.Filter(pattern, inside(condition))
        case sparql.LeftJoin(_, _, _, absent) if absent is not None and absent.name in values:
            unbound = Call("!", (Call("BOUND", (values[absent.name],)),))
            return sparql.Filter(replace(node, absent=None), unbound)
        case sparql.LeftJoin(_, _, condition) if condition is not None:
            return replace(node, condition=inside(condition))
        case sparql.Extend(pattern, variable, expression):
            value = values.get(variable.name)
            if value is None:
                return sparql.Extend(pattern, variable, inside(expression))
            return sparql.Filter(pattern, _agrees(inside(expression), value))
        case sparql.Graph(name, pattern):
            return sparql.Graph(_term(name, values), pattern)
        case sparql.OrderBy(pattern, keys):
            made = [sparql.OrderKey(inside(k.expression), k.descending) for k in keys]
            return sparql.OrderBy(pattern, tuple(made))
        case sparql.Group():
            return _group(node, values)
        case sparql.Values(variables, rows):
            return _chosen_values(variables, rows, values)
        case sparql.TextHits():
            return _text_hits(node, values)
        case _:
            return node


def _service(node: sparql.Service, values: Values) -> Node:
    """A SERVICE with constants. Triples that its text cannot have are a table without rows: those
    with a literal as subject, and those with blank nodes, which no endpoint knows."""
    inner = _sendable(substituted(node.pattern, values))
    return replace(node, name=_term(node.name, values), pattern=inner)


def _sendable(node: Node) -> Node:
    match node:
        case sparql.Bgp(patterns) if not all(map(_is_sendable, patterns)):
            return sparql.Values((), ())
        case sparql.Path(subject, _, object_) if not _is_sendable((subject, _ANY, object_)):
            return sparql.Values((), ())
        case sparql.Filter(pattern, condition):
            return sparql.Filter(_sendable(pattern), _without_blanks(condition))
        case sparql.Extend(pattern, variable, expression):
            return sparql.Extend(_sendable(pattern), variable, _without_blanks(expression))
    return sparql.with_children(node, _sendable)


_ANY = Variable("any")


def _is_sendable(triple: tuple[sparql.TermOrVariable, ...]) -> bool:
    places = zip(triple, ((IRI,), (IRI,), None), strict=True)
    return all(
        isinstance(term, Variable) or (term.kind != BLANK if kinds is None else term.kind in kinds)
        for term, kinds in places
    )


def _without_blanks(expression: Expression) -> Expression:
    """An expression with an unbound variable instead of blank nodes, which have no text."""
    if isinstance(expression, Constant) and expression.kind == BLANK:
        return Variable("blank_node")
    if isinstance(expression, Exists):
        return Exists(_sendable(expression.pattern), expression.negated)
    if isinstance(expression, Call):
        parts = tuple(map(_without_blanks, expression.arguments))
        return Call(expression.function, parts)
    return expression


def _term(term: sparql.TermOrVariable, values: Values) -> sparql.TermOrVariable:
    return values.get(term.name, term) if isinstance(term, Variable) else term


def _in_template(term: sparql.TermOrVariable, values: Values) -> sparql.TermOrVariable:
    made = _term(term, values)
    if made is not term and isinstance(made, Constant) and made.kind == BLANK:
        raise UsageError("a blank node cannot be put into a template: it would be a new one")
    return made


def _in_expression(expression: Expression, values: Values) -> Expression:
    if isinstance(expression, Variable):
        return values.get(expression.name, expression)
    if isinstance(expression, Exists):
        return Exists(substituted(expression.pattern, values), expression.negated)
    if isinstance(expression, Call):
        parts = tuple(_in_expression(part, values) for part in expression.arguments)
        if expression.function == "BOUND" and isinstance(parts[0], Constant):
            return _TRUE  # BOUND of a constant has no text
        return Call(expression.function, parts)
    return expression


def _group(node: sparql.Group, values: Values) -> Node:
    keys = tuple(k._replace(expression=_in_expression(k.expression, values)) for k in node.keys)
    aggregates = []
    for key in node.aggregates:
        argument = key.aggregate.argument
        if argument is not None:
            changed = replace(key.aggregate, argument=_in_expression(argument, values))
            key = key._replace(aggregate=changed)
        aggregates.append(key)
    made: Node = sparql.Group(node.pattern, keys, tuple(aggregates))
    for variable, expression in node.keys:
        value = values.get(variable.name)
        if value is not None and expression != variable:
            made = sparql.Filter(made, _agrees(variable, value))
    return made


def _text_hits(node: sparql.TextHits, values: Values) -> Node:
    """The hits with a given query, and of given results."""
    tests: list[Expression] = []

    def hidden(variable: Variable | None) -> Variable | None:
        if variable is None or variable.name not in values:
            return variable
        made = Variable(f"hits:{variable.name}")
        tests.append(Call("SAMETERM", (made, values[variable.name])))
        return made

    literal = hidden(node.literal)
    assert literal is not None
    score, by_property = hidden(node.score), hidden(node.property)
    query = _term(node.query, values)
    made = replace(node, literal=literal, score=score, property=by_property, query=query)
    return sparql.Filter(made, conjunction(tests)) if tests else made


def _agrees(computed: Expression, value: Constant) -> Expression:
    """True where a computed value equals the given one, or is an error: then it is unbound."""
    return Call("COALESCE", (Call("SAMETERM", (computed, value)), _TRUE))


def _chosen_values(
    variables: tuple[Variable, ...],
    rows: tuple[tuple[Constant | None, ...], ...],
    values: Values,
) -> sparql.Values:
    """The rows of a table that match the values, without the columns of given variables."""
    given = [values.get(variable.name) for variable in variables]
    kept = [place for place, value in enumerate(given) if value is None]
    chosen = [
        tuple(row[place] for place in kept)
        for row in rows
        if all(v is None or one in (None, v) for v, one in zip(given, row, strict=True))
    ]
    return sparql.Values(tuple(variables[place] for place in kept), tuple(chosen))
