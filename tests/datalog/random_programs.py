"""Random rules of every shape, for round trips; they need not make sense."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.expressions.random_expressions import Maker
from tests.expressions.test_parser import is_proper
from tests.terms.strategies import simple_terms
from triplestore.datalog.program import (
    Aggregate,
    Atom,
    Bind,
    Constant,
    Constraint,
    Filter,
    Item,
    Not,
    Program,
    Result,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
)
from triplestore.expressions.functions import AGGREGATES
from triplestore.expressions.tree import Expression, constants_of
from triplestore.terms.term_keys import key_of
from triplestore.terms.vocabulary import RDF_TYPE

variables = st.sampled_from([Variable(name) for name in ("x", "y", "z", "long_name", "é1", "1")])
iris = st.sampled_from(
    [
        Constant.iri("http://example.org/" + name)
        for name in ("a", "B", "p-q", "x.y", "", "a/b", "1")
    ]
    + [Constant.iri(RDF_TYPE), Constant.iri("urn:x"), Constant.iri("http://other/ü#")]
)
constants = iris | simple_terms.map(key_of).map(Constant).filter(lambda c: "\\u" not in str(c))
terms = variables | constants
triple_atoms = st.builds(TripleAtom, terms, terms, terms) | st.builds(
    TripleAtom, terms, st.just(Constant.iri(RDF_TYPE)), iris
)
tuple_atoms = st.builds(TupleAtom, iris, st.lists(terms, min_size=3, max_size=5).map(tuple))
atoms: st.SearchStrategy[Atom] = triple_atoms | tuple_atoms


@st.composite
def expressions(draw: st.DrawFn) -> Expression:
    maker = Maker(draw(st.randoms(use_true_random=False)), awkward=True)
    expression = maker.any(draw(st.integers(0, 4)))
    if all(is_proper(constant.key) for constant in constants_of(expression)):
        return expression
    return Variable("a")


results = st.builds(
    lambda function, argument, variable, distinct, separator: Result(
        function,
        argument,
        variable,
        distinct and argument is not None,
        separator if function == "group_concat" else None,
    ),
    st.sampled_from(AGGREGATES),
    expressions(),
    variables,
    st.booleans(),
    st.none() | st.text(max_size=5),
) | st.builds(Result, st.just("count"), st.none(), variables)


def nested(items: st.SearchStrategy[Item]) -> st.SearchStrategy[Item]:
    bodies = st.lists(items, min_size=1, max_size=3).map(tuple)
    names = st.lists(variables, max_size=3).map(tuple)
    lists = st.lists(results, min_size=1, max_size=2).map(tuple)
    return st.builds(Not, bodies, names) | st.builds(Aggregate, bodies, names, lists)


items: st.SearchStrategy[Item] = st.recursive(
    atoms | st.builds(Filter, expressions()) | st.builds(Bind, expressions(), variables),
    nested,
    max_leaves=4,
)
bodies = st.lists(items, max_size=4).map(tuple)
names = st.just("") | st.text(max_size=6)
rules = st.builds(Rule, st.lists(atoms, min_size=1, max_size=3).map(tuple), bodies, names)
constraints = st.builds(
    Constraint,
    st.text(max_size=6),
    st.text(max_size=6),
    st.lists(items, min_size=1, max_size=3).map(tuple),
)
prefixes = st.dictionaries(
    st.sampled_from(["", "ex", "a.b", "xsd", "other"]),
    st.sampled_from(["http://example.org/", "http://example.org/a/", "http://other/", "urn:"]),
    max_size=3,
)
programs = st.builds(
    Program, st.lists(rules, max_size=4), st.lists(constraints, max_size=2), prefixes
)
