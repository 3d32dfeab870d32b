"""A small store with an ontology, and agents that work with it."""

from __future__ import annotations

import pytest
from mcp_server.agent_client import Agent

from triplestore import Store

FAMILY = """
@prefix : <http://ex.org/family#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:Person rdfs:label "human being"@en ; rdfs:comment "A member of the family."@en .
:Parent rdfs:subClassOf :Person .
:Stone owl:disjointWith :Person .
:parent a owl:ObjectProperty ; rdfs:domain :Parent ; rdfs:range :Person ; rdfs:label "parent of" .
:ada :parent :bob ; rdfs:label "Ada"@en .
:bob :parent :cy ; :age 40 .
"""


@pytest.fixture
def store() -> Store:
    made = Store()
    made.load(FAMILY, "ttl")
    made.reason("owl-rl")
    return made


@pytest.fixture
def agent(store: Store) -> Agent:
    return Agent(store)
