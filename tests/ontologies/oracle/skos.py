"""The statements of the SKOS reference by their numbers: axioms, the list rule, integrity.

S1 to S3 and the like, which only say that a word is a class or a property, are left out. That the
range of labels are plain literals (S12, S51) is left to whoever checks literals.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from pyoxigraph import Literal

from .closing import RuleSet
from .graph import Graph
from .owl_rl import TABLE_5, TABLE_7, TABLE_9, Violation, prp_spo2
from .patterns import read_rules
from .values import identity
from .vocabulary import Fact, Term, term, triples

AXIOMS: dict[str, list[Fact]] = {
    number: triples(text)
    for number, text in {
        "S4": "skos:inScheme rdfs:range skos:ConceptScheme",
        "S5": "skos:hasTopConcept rdfs:domain skos:ConceptScheme",
        "S6": "skos:hasTopConcept rdfs:range skos:Concept",
        "S7": "skos:topConceptOf rdfs:subPropertyOf skos:inScheme",
        "S8": "skos:topConceptOf owl:inverseOf skos:hasTopConcept",
        "S11": """skos:prefLabel rdfs:subPropertyOf rdfs:label .
            skos:altLabel rdfs:subPropertyOf rdfs:label .
            skos:hiddenLabel rdfs:subPropertyOf rdfs:label""",
        "S17": """skos:changeNote rdfs:subPropertyOf skos:note .
            skos:definition rdfs:subPropertyOf skos:note .
            skos:editorialNote rdfs:subPropertyOf skos:note .
            skos:example rdfs:subPropertyOf skos:note .
            skos:historyNote rdfs:subPropertyOf skos:note .
            skos:scopeNote rdfs:subPropertyOf skos:note""",
        "S19": "skos:semanticRelation rdfs:domain skos:Concept",
        "S20": "skos:semanticRelation rdfs:range skos:Concept",
        "S21": """skos:broaderTransitive rdfs:subPropertyOf skos:semanticRelation .
            skos:narrowerTransitive rdfs:subPropertyOf skos:semanticRelation .
            skos:related rdfs:subPropertyOf skos:semanticRelation""",
        "S22": """skos:broader rdfs:subPropertyOf skos:broaderTransitive .
            skos:narrower rdfs:subPropertyOf skos:narrowerTransitive""",
        "S23": "skos:related a owl:SymmetricProperty",
        "S24": """skos:broaderTransitive a owl:TransitiveProperty .
            skos:narrowerTransitive a owl:TransitiveProperty""",
        "S25": "skos:narrower owl:inverseOf skos:broader",
        "S26": "skos:narrowerTransitive owl:inverseOf skos:broaderTransitive",
        "S29": "skos:OrderedCollection rdfs:subClassOf skos:Collection",
        "S31": "skos:member rdfs:domain skos:Collection",
        "S33": "skos:memberList rdfs:domain skos:OrderedCollection",
        "S34": "skos:memberList rdfs:range rdf:List",
        "S35": "skos:memberList a owl:FunctionalProperty",
        "S39": "skos:mappingRelation rdfs:subPropertyOf skos:semanticRelation",
        "S40": """skos:closeMatch rdfs:subPropertyOf skos:mappingRelation .
            skos:broadMatch rdfs:subPropertyOf skos:mappingRelation .
            skos:narrowMatch rdfs:subPropertyOf skos:mappingRelation .
            skos:relatedMatch rdfs:subPropertyOf skos:mappingRelation""",
        "S41": """skos:broadMatch rdfs:subPropertyOf skos:broader .
            skos:narrowMatch rdfs:subPropertyOf skos:narrower .
            skos:relatedMatch rdfs:subPropertyOf skos:related""",
        "S42": "skos:exactMatch rdfs:subPropertyOf skos:closeMatch",
        "S43": "skos:narrowMatch owl:inverseOf skos:broadMatch",
        "S44": """skos:relatedMatch a owl:SymmetricProperty .
            skos:closeMatch a owl:SymmetricProperty . skos:exactMatch a owl:SymmetricProperty""",
        "S45": "skos:exactMatch a owl:TransitiveProperty",
        "S50": "skosxl:literalForm rdfs:domain skosxl:Label",
        "S54": """skosxl:prefLabel rdfs:range skosxl:Label .
            skosxl:altLabel rdfs:range skosxl:Label . skosxl:hiddenLabel rdfs:range skosxl:Label""",
        "S55": """skos:prefLabel owl:propertyChainAxiom _:S55 .
            _:S55 rdf:first skosxl:prefLabel . _:S55 rdf:rest _:S55b .
            _:S55b rdf:first skosxl:literalForm . _:S55b rdf:rest rdf:nil""",
        "S56": """skos:altLabel owl:propertyChainAxiom _:S56 .
            _:S56 rdf:first skosxl:altLabel . _:S56 rdf:rest _:S56b .
            _:S56b rdf:first skosxl:literalForm . _:S56b rdf:rest rdf:nil""",
        "S57": """skos:hiddenLabel owl:propertyChainAxiom _:S57 .
            _:S57 rdf:first skosxl:hiddenLabel . _:S57 rdf:rest _:S57b .
            _:S57b rdf:first skosxl:literalForm . _:S57b rdf:rest rdf:nil""",
        "S60": "skosxl:labelRelation rdfs:domain skosxl:Label",
        "S61": "skosxl:labelRelation rdfs:range skosxl:Label",
        "S62": "skosxl:labelRelation a owl:SymmetricProperty",
    }.items()
}

INTEGRITY = read_rules("""
S9  | ?x a skos:ConceptScheme . ?x a skos:Concept | false
S13 | ?x skos:prefLabel ?l . ?x skos:altLabel ?l | false
S13 | ?x skos:prefLabel ?l . ?x skos:hiddenLabel ?l | false
S13 | ?x skos:altLabel ?l . ?x skos:hiddenLabel ?l | false
S27 | ?x skos:related ?y . ?x skos:broaderTransitive ?y | false
S37 | ?x a skos:Collection . ?x a skos:Concept | false
S37 | ?x a skos:Collection . ?x a skos:ConceptScheme | false
S46 | ?x skos:exactMatch ?y . ?x skos:broadMatch ?y | false
S46 | ?x skos:exactMatch ?y . ?x skos:relatedMatch ?y | false
S48 | ?x a skosxl:Label . ?x a skos:Concept | false
S48 | ?x a skosxl:Label . ?x a skos:ConceptScheme | false
S48 | ?x a skosxl:Label . ?x a skos:Collection | false
S58 | ?x skosxl:prefLabel ?l . ?x skosxl:altLabel ?l | false
S58 | ?x skosxl:prefLabel ?l . ?x skosxl:hiddenLabel ?l | false
S58 | ?x skosxl:altLabel ?l . ?x skosxl:hiddenLabel ?l | false
""")


def s14(graph: Graph) -> Iterator[Fact | Violation]:
    """Two preferred labels in one language."""
    pairs = _pairs_of_values(graph, term("skos:prefLabel"))
    for x, one, other in pairs:
        if isinstance(one, Literal) and isinstance(other, Literal) and _tag(one) == _tag(other):
            yield Violation("S14", (x, one, other))


def s36(graph: Graph) -> Iterator[Fact | Violation]:
    """What is in the list of an ordered collection is a member of it."""
    for x, _, head in graph.match(None, term("skos:memberList"), None):
        for reading in graph.lists(head):
            for member in reading:
                yield (x, term("skos:member"), member)


def s52(graph: Graph) -> Iterator[Fact | Violation]:
    """Two literal forms of one label."""
    for x, one, other in _pairs_of_values(graph, term("skosxl:literalForm")):
        yield Violation("S52", (x, one, other))


def _pairs_of_values(graph: Graph, p: Term) -> Iterator[tuple[Term, Term, Term]]:
    """A subject and two of its values of a property, of different value."""
    for x in dict.fromkeys(fact[0] for fact in graph.match(None, p, None)):
        for one, other in combinations(graph.objects(x, p), 2):
            if identity(one) != identity(other):
                yield x, one, other


def _tag(literal: Literal) -> str:
    return (literal.language or "").lower()


# The words whose rules the axioms, and a user's extensions of them, need.
_NEEDED = ["prp-dom", "prp-rng", "prp-symp", "prp-trp", "prp-spo1", "prp-inv1", "prp-inv2"]
_NEEDED += ["cax-sco", "scm-sco", "scm-spo"]
_RULES = [rule for rule in read_rules(TABLE_5 + TABLE_7 + TABLE_9) if rule.name in _NEEDED]
_LISTS = {"S14": s14, "S36": s36, "S52": s52, "prp-spo2": prp_spo2}

SKOS = RuleSet(_RULES + INTEGRITY, _LISTS, AXIOMS)
