"""Axioms that could keep themselves alive: each kind, and each of its triples in turn.

A case has an axiom, data that make it conclude something, and a way from what it concludes back to
one of its own triples. That triple has a reason from outside at first. When the reason is gone, the
triple must go: only the axiom itself would say it. `anew`, a store that never had the reason,
knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.ontologies.oracle import Fact, term, turtle
from tests.ontologies.oracle.vocabulary import TYPE, triple

SUB_PROPERTY = term("rdfs:subPropertyOf")
SAME_AS = term("owl:sameAs")


@dataclass(frozen=True)
class Kind:
    """A kind of axiom.

    axiom       its triples
    data        what makes it conclude something
    conclusion  what it concludes of them
    """

    name: str
    axiom: str
    data: str
    conclusion: str
    regimes: tuple[str, ...] = ("owl-rl",)


@dataclass(frozen=True)
class Case:
    """A kind, and one of its triples.

    kept     everything but the triple and its reason: what a store that is made anew states
    missing  the triple
    reasons  ways to say it from outside, each as (stated for good, stated for a time)
    goal     what the way back begins with, to see that there is one
    """

    kind: Kind
    kept: tuple[Fact, ...]
    missing: Fact
    goal: Fact

    @property
    def reasons(self) -> Iterator[tuple[tuple[Fact, ...], tuple[Fact, ...]]]:
        """Ways to say the triple from outside: what is stated for good, and what for a time."""
        s, p, o = self.missing
        rename = (term("ex:mk"), SUB_PROPERTY, p)
        use = (s, term("ex:mk"), o)
        yield (), (self.missing,)
        yield (rename,), (use,)
        yield (use,), (rename,)

    def __str__(self) -> str:
        return f"{self.kind.name}, without {' '.join(map(str, self.missing))}"


def cases(kind: Kind) -> Iterator[Case]:
    """The cases of a kind, one for each triple of the axiom."""
    axiom, data = turtle(kind.axiom), turtle(kind.data)
    for missing in axiom:
        way, goal = way_back(triple(kind.conclusion), missing)
        kept = [fact for fact in (*axiom, *data, *way) if fact != missing]
        yield Case(kind, tuple(dict.fromkeys(kept)), missing, goal)


def way_back(conclusion: Fact, to: Fact) -> tuple[list[Fact], Fact]:
    """What leads from a conclusion to a triple, and where the way begins."""
    s, p, o = conclusion
    begin = f"{_text(o)} rdfs:subClassOf ex:Goal ."
    if p == SAME_AS:
        begin = f"{_text(o)} a ex:Goal ."
    elif p != TYPE:
        begin = f"""_:begin owl:onProperty {_text(p)} ; owl:hasValue {_text(o)} ;
            rdfs:subClassOf ex:Goal ."""
    last = f"ex:Hooked rdfs:subClassOf {_text(to[2])} ."
    if to[1] != TYPE:
        last = f"""ex:Hooked rdfs:subClassOf _:hook .
            _:hook owl:onProperty {_text(to[1])} ; owl:hasValue {_text(to[2])} ."""
    way = f"""{begin}
        {_text(s)} ex:link {_text(to[0])} .
        ex:Goal rdfs:subClassOf _:all . _:all owl:onProperty ex:link ; owl:allValuesFrom ex:Hooked .
        {last}"""
    return turtle(way), (s, TYPE, term("ex:Goal"))


def _text(one: object) -> str:
    return str(one)


# --- the kinds -----------------------------------------------------------------------------------

# A property as it stands in an axiom: by name, or as the inverse of one, once and twice.
PROPERTIES = {
    "": "",
    " of an inverse": "_:v owl:inverseOf ex:p .",
    " of the inverse of an inverse": "_:v owl:inverseOf _:w . _:w owl:inverseOf ex:p .",
}


def _relate(which: str, one: str, other: str) -> str:
    """A fact such that the property of an axiom relates two."""
    turned = which == " of an inverse"
    return f"{other} ex:p {one} ." if turned else f"{one} ex:p {other} ."


def _of_property() -> Iterator[Kind]:
    """Axioms in which a property stands that may be the inverse of another."""
    for which, said in PROPERTIES.items():
        v = "_:v" if said else "ex:p"
        ij = _relate(which, "ex:i", "ex:j")
        ik = _relate(which, "ex:i", "ex:k")
        jk = _relate(which, "ex:j", "ex:k")
        on = f"{said} _:r owl:onProperty {v} ; "
        below = "_:r rdfs:subClassOf ex:Z . "
        above = "ex:A rdfs:subClassOf _:r . "
        a = "ex:i a ex:A . "
        same = "ex:j owl:sameAs ex:k"
        one = "'1'^^xsd:nonNegativeInteger"
        yield from (
            Kind(
                f"someValuesFrom{which}", f"{on} owl:someValuesFrom ex:F . {below}",
                f"{ij} ex:j a ex:F .", "ex:i a ex:Z",
            ),
            Kind(
                f"someValuesFrom owl:Thing{which}",
                f"{on} owl:someValuesFrom owl:Thing . {below}", ij, "ex:i a ex:Z",
            ),
            Kind(
                f"allValuesFrom{which}", f"{on} owl:allValuesFrom ex:Z . {above}",
                a + ij, "ex:j a ex:Z",
            ),
            Kind(
                f"hasValue of a member{which}", f"{on} owl:hasValue ex:j . {above}", a,
                "ex:j ex:p ex:i" if which == " of an inverse" else "ex:i ex:p ex:j",
            ),
            Kind(
                f"hasValue{which}", f"{on} owl:hasValue ex:j . {below}", ij, "ex:i a ex:Z",
            ),
            Kind(
                f"maxCardinality{which}", f"{on} owl:maxCardinality {one} . {above}",
                a + ij + ik, same,
            ),
            Kind(
                f"maxQualifiedCardinality{which}",
                f"{on} owl:maxQualifiedCardinality {one} ; owl:onClass ex:F . {above}",
                f"{a + ij + ik} ex:j a ex:F . ex:k a ex:F .", same,
            ),
            Kind(
                f"maxQualifiedCardinality owl:Thing{which}",
                f"{on} owl:maxQualifiedCardinality {one} ; owl:onClass owl:Thing . {above}",
                a + ij + ik, same,
            ),
            Kind(f"domain{which}", f"{said} {v} rdfs:domain ex:Z .", ij, "ex:i a ex:Z"),
            Kind(f"range{which}", f"{said} {v} rdfs:range ex:Z .", ij, "ex:j a ex:Z"),
            Kind(
                f"subPropertyOf{which}", f"{said} {v} rdfs:subPropertyOf ex:z .", ij,
                "ex:i ex:z ex:j",
            ),
            Kind(
                f"above subPropertyOf{which}", f"{said} ex:q rdfs:subPropertyOf {v} .",
                "ex:i ex:q ex:j .",
                "ex:j ex:p ex:i" if which == " of an inverse" else "ex:i ex:p ex:j",
            ),
            Kind(
                f"equivalentProperty{which}", f"{said} {v} owl:equivalentProperty ex:z .", ij,
                "ex:i ex:z ex:j",
            ),
            Kind(
                f"right of equivalentProperty{which}",
                f"{said} ex:z owl:equivalentProperty {v} .", ij, "ex:i ex:z ex:j",
            ),
            Kind(f"inverseOf{which}", f"{said} ex:z owl:inverseOf {v} .", ij, "ex:j ex:z ex:i"),
            Kind(
                f"propertyChainAxiom{which}",
                f"{said} ex:z owl:propertyChainAxiom _:c1 . _:c1 rdf:first {v} ; rdf:rest _:c2 ."
                "_:c2 rdf:first ex:q ; rdf:rest rdf:nil .",
                f"{ij} ex:j ex:q ex:k .", "ex:i ex:z ex:k",
            ),
            Kind(
                f"hasKey{which}",
                f"{said} ex:A owl:hasKey _:c1 . _:c1 rdf:first {v} ; rdf:rest rdf:nil .",
                f"ex:i a ex:A . ex:j a ex:A . {ik} {jk}", "ex:i owl:sameAs ex:j",
            ),
            Kind(f"functional{which}", f"{said} {v} a owl:FunctionalProperty .", ij + ik, same),
            Kind(
                f"inverse functional{which}", f"{said} {v} a owl:InverseFunctionalProperty .",
                ik + jk, "ex:i owl:sameAs ex:j",
            ),
            Kind(
                f"symmetric{which}", f"{said} {v} a owl:SymmetricProperty .", "ex:i ex:p ex:j .",
                "ex:j ex:p ex:i",
            ),
            Kind(
                f"transitive{which}", f"{said} {v} a owl:TransitiveProperty .",
                "ex:i ex:p ex:j . ex:j ex:p ex:k .", "ex:i ex:p ex:k",
            ),
        )  # fmt: skip


def _listed(word: str, head: str, *members: str) -> str:
    """A list with its cells named `_:c1` and so on."""
    cells = [f"_:c{number}" for number in range(1, len(members) + 1)]
    ends = [*cells[1:], "rdf:nil"]
    said = zip(cells, members, ends, strict=True)
    return f"{head} {word} _:c1 . " + "".join(
        f"{cell} rdf:first {member} ; rdf:rest {rest} . " for cell, member, rest in said
    )


_INTERSECTION = _listed("owl:intersectionOf", "_:n", "ex:A", "ex:B")
_UNION = _listed("owl:unionOf", "_:n", "ex:A", "ex:B")
_NESTED = """_:n rdfs:subClassOf ex:Z . _:n owl:intersectionOf _:c1 .
    _:c1 rdf:first ex:A ; rdf:rest _:c2 . _:c2 rdf:first _:r ; rdf:rest rdf:nil .
    _:r owl:onProperty _:v ; owl:someValuesFrom _:u . _:v owl:inverseOf ex:p .
    _:u owl:unionOf _:d1 . _:d1 rdf:first ex:B ; rdf:rest rdf:nil ."""
_SWRL = "<http://www.w3.org/2003/11/swrl#{}>"


def _swrl() -> Kind:
    words = (
        "Imp", "body", "head", "ClassAtom", "classPredicate", "argument1", "argument2",
        "Variable", "IndividualPropertyAtom", "propertyPredicate",
    )  # fmt: skip
    w = {word: _SWRL.format(word) for word in words}
    axiom = f"""_:rule a {w["Imp"]} ; {w["body"]} _:b1 ; {w["head"]} _:h1 .
        _:b1 rdf:first _:a1 ; rdf:rest rdf:nil . _:h1 rdf:first _:a2 ; rdf:rest rdf:nil .
        _:a1 a {w["IndividualPropertyAtom"]} ; {w["propertyPredicate"]} _:v ;
            {w["argument1"]} ex:x ; {w["argument2"]} ex:y .
        _:v owl:inverseOf ex:p .
        _:a2 a {w["ClassAtom"]} ; {w["classPredicate"]} ex:Z ; {w["argument1"]} ex:x .
        ex:x a {w["Variable"]} . ex:y a {w["Variable"]} ."""
    return Kind("SWRL", axiom, "ex:j ex:p ex:i .", "ex:i a ex:Z", ("owl-rl", "swrl"))


KINDS = [
    *_of_property(),
    Kind("subClassOf", "ex:A rdfs:subClassOf ex:Z .", "ex:i a ex:A .", "ex:i a ex:Z"),
    Kind("equivalentClass", "ex:A owl:equivalentClass ex:Z .", "ex:i a ex:A .", "ex:i a ex:Z"),
    Kind(
        "right of equivalentClass", "ex:Z owl:equivalentClass ex:A .", "ex:i a ex:A .",
        "ex:i a ex:Z",
    ),
    Kind(
        "intersectionOf", f"{_INTERSECTION} _:n rdfs:subClassOf ex:Z .",
        "ex:i a ex:A . ex:i a ex:B .", "ex:i a ex:Z",
    ),
    Kind(
        "members of an intersection", f"{_INTERSECTION} ex:D rdfs:subClassOf _:n .",
        "ex:i a ex:D .", "ex:i a ex:B",
    ),
    Kind(
        "equivalent intersection", f"{_INTERSECTION} _:n owl:equivalentClass ex:Z .",
        "ex:i a ex:A . ex:i a ex:B .", "ex:i a ex:Z",
    ),
    Kind(
        "intersectionOf of a name", _listed("owl:intersectionOf", "ex:Z", "ex:A", "ex:B"),
        "ex:i a ex:A . ex:i a ex:B .", "ex:i a ex:Z",
    ),
    Kind("below an intersection", _INTERSECTION, "", "_:n rdfs:subClassOf ex:B"),
    Kind("unionOf", f"{_UNION} _:n rdfs:subClassOf ex:Z .", "ex:i a ex:B .", "ex:i a ex:Z"),
    Kind("above a union", _UNION, "", "ex:B rdfs:subClassOf _:n"),
    Kind(
        "oneOf", _listed("owl:oneOf", "_:n", "ex:h", "ex:i") + "_:n rdfs:subClassOf ex:Z .", "",
        "ex:i a ex:Z",
    ),
    Kind("nested", _NESTED, "ex:i a ex:A . ex:j ex:p ex:i . ex:j a ex:B .", "ex:i a ex:Z"),
    Kind(
        "domain that is described", "ex:p rdfs:domain _:n . " + _INTERSECTION,
        "ex:i ex:p ex:j .", "ex:i a ex:B",
    ),
    Kind(
        "key of a described class",
        f"{_UNION} _:n owl:hasKey _:k . _:k rdf:first ex:p ; rdf:rest rdf:nil .",
        "ex:i a ex:A . ex:j a ex:B . ex:i ex:p ex:k . ex:j ex:p ex:k .", "ex:i owl:sameAs ex:j",
    ),
    Kind(
        "values of a datatype",
        "_:r owl:onProperty ex:u ; owl:someValuesFrom xsd:integer . _:r rdfs:subClassOf ex:Z .",
        "ex:i ex:u 1 .", "ex:i a ex:Z",
    ),
    Kind(
        "datatype definition",
        "ex:D owl:equivalentClass ex:A . ex:D rdfs:subClassOf ex:Z .",
        "ex:D a rdfs:Datatype . ex:i a ex:A .", "ex:i a ex:Z",
    ),
    Kind(
        "restrictions below each other",
        "_:r owl:onProperty ex:p ; owl:someValuesFrom ex:A . _:s owl:onProperty ex:p ; "
        "owl:someValuesFrom ex:B . ex:A rdfs:subClassOf ex:B . _:s rdfs:subClassOf ex:Z .",
        "ex:C rdfs:subClassOf _:r . ex:i a ex:C .", "ex:i a ex:Z",
    ),
    Kind(
        "two steps", "ex:A rdfs:subClassOf ex:B . ex:B rdfs:subClassOf ex:Z .", "ex:i a ex:A .",
        "ex:i a ex:Z",
    ),
    Kind(
        "sameAs of properties", "ex:p owl:sameAs ex:z . ", "ex:i ex:p ex:j .", "ex:i ex:z ex:j",
    ),
    Kind("sameAs of classes", "ex:A owl:sameAs ex:Z . ", "ex:i a ex:A .", "ex:i a ex:Z"),
    Kind(
        "axiom of an equal name", "ex:p owl:sameAs ex:q . ex:q a owl:SymmetricProperty .",
        "ex:i ex:p ex:j .", "ex:j ex:q ex:i",
    ),
    _swrl(),
]  # fmt: skip
"""Everything of which something follows; constraints conclude no triples."""
