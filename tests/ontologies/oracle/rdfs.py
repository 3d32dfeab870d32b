"""The RDFS entailment rules of RDF 1.1 Semantics, by their ids.

`rdf1` is what RDF 1.1 calls rdfD2; `rdfs1` says which datatypes there are. What rdfD1 says of
literals is said, for all datatypes, by the closure itself (`RuleSet.literals`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pyoxigraph import NamedNode

from .closing import RuleSet
from .patterns import read_rules
from .values import DATATYPES
from .vocabulary import PREFIXES, TYPE, Fact, term, triples

PATTERNS = read_rules("""
rdf1   | ?x ?p ?y | ?p a rdf:Property
rdfs2  | ?p rdfs:domain ?c . ?x ?p ?y | ?x a ?c
rdfs3  | ?p rdfs:range ?c . ?x ?p ?y | ?y a ?c
rdfs4a | ?x ?p ?y | ?x a rdfs:Resource
rdfs4b | ?x ?p ?y | ?y a rdfs:Resource
rdfs5  | ?p rdfs:subPropertyOf ?q . ?q rdfs:subPropertyOf ?r | ?p rdfs:subPropertyOf ?r
rdfs6  | ?p a rdf:Property | ?p rdfs:subPropertyOf ?p
rdfs7  | ?p rdfs:subPropertyOf ?q . ?x ?p ?y | ?x ?q ?y
rdfs8  | ?c a rdfs:Class | ?c rdfs:subClassOf rdfs:Resource
rdfs9  | ?c rdfs:subClassOf ?d . ?x a ?c | ?x a ?d
rdfs10 | ?c a rdfs:Class | ?c rdfs:subClassOf ?c
rdfs11 | ?c rdfs:subClassOf ?d . ?d rdfs:subClassOf ?e | ?c rdfs:subClassOf ?e
rdfs12 | ?p a rdfs:ContainerMembershipProperty | ?p rdfs:subPropertyOf rdfs:member
rdfs13 | ?c a rdfs:Datatype | ?c rdfs:subClassOf rdfs:Literal
""")
RULE_IDS = [rule.name for rule in PATTERNS]

_AXIOMATIC = triples("""
rdf:type a rdf:Property . rdf:subject a rdf:Property . rdf:predicate a rdf:Property .
rdf:object a rdf:Property . rdf:first a rdf:Property . rdf:rest a rdf:Property .
rdf:value a rdf:Property . rdf:nil a rdf:List .

rdf:type rdfs:domain rdfs:Resource . rdf:type rdfs:range rdfs:Class .
rdfs:domain rdfs:domain rdf:Property . rdfs:domain rdfs:range rdfs:Class .
rdfs:range rdfs:domain rdf:Property . rdfs:range rdfs:range rdfs:Class .
rdfs:subPropertyOf rdfs:domain rdf:Property . rdfs:subPropertyOf rdfs:range rdf:Property .
rdfs:subClassOf rdfs:domain rdfs:Class . rdfs:subClassOf rdfs:range rdfs:Class .
rdf:subject rdfs:domain rdf:Statement . rdf:subject rdfs:range rdfs:Resource .
rdf:predicate rdfs:domain rdf:Statement . rdf:predicate rdfs:range rdfs:Resource .
rdf:object rdfs:domain rdf:Statement . rdf:object rdfs:range rdfs:Resource .
rdfs:member rdfs:domain rdfs:Resource . rdfs:member rdfs:range rdfs:Resource .
rdf:first rdfs:domain rdf:List . rdf:first rdfs:range rdfs:Resource .
rdf:rest rdfs:domain rdf:List . rdf:rest rdfs:range rdf:List .
rdfs:seeAlso rdfs:domain rdfs:Resource . rdfs:seeAlso rdfs:range rdfs:Resource .
rdfs:isDefinedBy rdfs:domain rdfs:Resource . rdfs:isDefinedBy rdfs:range rdfs:Resource .
rdfs:comment rdfs:domain rdfs:Resource . rdfs:comment rdfs:range rdfs:Literal .
rdfs:label rdfs:domain rdfs:Resource . rdfs:label rdfs:range rdfs:Literal .
rdf:value rdfs:domain rdfs:Resource . rdf:value rdfs:range rdfs:Resource .
rdf:Alt rdfs:subClassOf rdfs:Container . rdf:Bag rdfs:subClassOf rdfs:Container .
rdf:Seq rdfs:subClassOf rdfs:Container .
rdfs:ContainerMembershipProperty rdfs:subClassOf rdf:Property .
rdfs:isDefinedBy rdfs:subPropertyOf rdfs:seeAlso .
rdfs:Datatype rdfs:subClassOf rdfs:Class .
""")
_MEMBER = re.compile(re.escape(PREFIXES["rdf"]) + r"_[1-9][0-9]*")


def rdfs(facts: Iterable[Fact]) -> RuleSet:
    """The rules for these facts: of the rdf:_1, rdf:_2, ... there are those in use."""
    members = {one for fact in facts for one in fact if _is_member(one)}
    of_members: list[Fact] = []
    for member in members:
        of_members += [
            (member, TYPE, term("rdf:Property")),
            (member, TYPE, term("rdfs:ContainerMembershipProperty")),
            (member, term("rdfs:domain"), term("rdfs:Resource")),
            (member, term("rdfs:range"), term("rdfs:Resource")),
        ]
    datatypes = [(one, TYPE, term("rdfs:Datatype")) for one in DATATYPES]
    axiomatic = {"axiomatic": _AXIOMATIC, "of members": of_members, "rdfs1": datatypes}
    return RuleSet(PATTERNS, axiomatic=axiomatic, literals=True)


def _is_member(one: object) -> bool:
    return isinstance(one, NamedNode) and _MEMBER.fullmatch(one.value) is not None
