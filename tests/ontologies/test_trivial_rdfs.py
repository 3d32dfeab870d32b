"""RDFS with all that is trivial listed: exactly what the rules and axiomatic triples of RDF give.

Without `trivial` the store's facts are compared with what the oracle leaves over of its closure;
here only what is not a triple of RDF is left out.
"""

from __future__ import annotations

import re
from random import Random

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad
from support.fuzzing import seeds

from tests.ontologies.in_store import listed, store_of
from tests.ontologies.oracle import Fact, close, rdfs, term
from tests.ontologies.oracle.rdfs import _AXIOMATIC
from tests.ontologies.oracle.values import DATATYPES
from tests.ontologies.oracle.vocabulary import TYPE, triples
from tests.ontologies.random_ontologies import LITERALS, META, PLAIN, make_pool
from triplestore import Store

WORDS = re.findall(
    r"\S+",
    """
    rdf:type rdf:Property rdf:subject rdf:predicate rdf:object rdf:Statement rdf:first
    rdf:rest rdf:List rdf:nil rdf:value rdf:_1 rdf:_7 rdf:_0
    rdf:Alt rdf:Bag rdf:Seq rdf:XMLLiteral rdfs:Resource rdfs:Class rdfs:Literal
    rdfs:Datatype rdfs:domain rdfs:range rdfs:subClassOf rdfs:subPropertyOf rdfs:label rdfs:comment
    rdfs:seeAlso rdfs:isDefinedBy rdfs:member rdfs:Container rdfs:ContainerMembershipProperty
    """,
)


def is_rdf(fact: Fact) -> bool:
    return isinstance(fact[0], NamedNode | BlankNode) and isinstance(fact[1], NamedNode)


def about_datatypes(fact: Fact) -> bool:
    """Which datatypes there are is a choice: the oracle has those of OWL 2 RL and a few more."""
    others = {"xsd:yearMonthDuration", "xsd:dayTimeDuration", "rdf:HTML", "rdfs:Literal"}
    return fact[0] in {*DATATYPES, *map(term, others)}


def compare(facts: list[Fact]) -> None:
    closure = close(facts, rdfs(facts))
    with store_of(facts, "rdfs", trivial=True) as store:
        ours = {fact for fact in listed(store) if not about_datatypes(fact)}
        theirs = {fact for fact in closure.graph if is_rdf(fact) and not about_datatypes(fact)}
        assert {str(fact) for fact in ours - theirs} == set(), "too much"
        assert {str(fact) for fact in theirs - ours} == set(), "missing"
        assert bool(store.violations()) == bool(closure.violations)
        assert store.audit().ok


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ex:a rdf:_1 ex:b . ex:a rdf:_12 ex:c . ex:a rdf:_0 ex:d .",
        """ex:a rdfs:isDefinedBy ex:b . ex:a rdf:rest ex:c . ex:s rdf:subject ex:t .
        ex:p rdfs:subPropertyOf rdfs:label . ex:a ex:p 'x' . ex:Box rdfs:subClassOf rdf:Bag .
        ex:b a ex:Box . ex:d a rdfs:Datatype . ex:p rdfs:range ex:d .""",
    ],
)
def test_trivial__is_the_whole_closure(text: str) -> None:
    compare(triples(text))


def test_axiomatic_triples__are_listed_or_at_least_hold() -> None:
    quads = [Quad(*fact) for fact in _AXIOMATIC]
    store = Store()
    store.load("<http://e/a> <http://e/p> 1 .", "ttl")
    store.reason("rdfs")
    assert [quad for quad in quads if quad not in store] == []
    assert len(store) < len(quads)
    store.reason("rdfs", trivial=True)
    assert [quad for quad in quads if quad not in list(store)] == []


@pytest.mark.fuzz
def test_trivial__random_graphs_of_words() -> None:
    """Graphs in which the words of RDF and RDFS stand in all places."""
    for seed in seeds(2):
        random = Random(seed)
        pool = make_pool(random, random.choice([PLAIN, META]), 8)
        names = [term(word) for word in WORDS] + [one for fact in pool for one in fact]
        # rdf:_1 and the like are properties of containers where they stand as properties.
        nodes = [one for one in names if not isinstance(one, Literal) and "_" not in str(one)]
        properties = [one for one in names if isinstance(one, NamedNode)]
        facts = [fact for fact in pool if fact[1].value.startswith(("http://example", TYPE.value))]
        for _ in range(random.randrange(6)):
            value = random.choice([*nodes, *LITERALS])
            facts += [(random.choice(nodes), random.choice(properties), value)]
        compare(facts)
