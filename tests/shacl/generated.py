"""Random shapes and data, the same for each seed: start at `shapes` and `triples`.

The vocabulary is small, so that shapes meet the data: nodes `:n0` to `:n7`, properties `:p0` to
`:p3`, classes `:C0` to `:C3` with sub-classes, and some literals.
"""

from __future__ import annotations

from random import Random

import pyoxigraph as ox

BASE = "http://example.org/"
PREFIXES = """@prefix : <http://example.org/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
LITERALS = (
    "1",
    "2",
    "5",
    "2.5",
    '"a"',
    '"abc"',
    '"abc"@en',
    '"abc"@de',
    '"x"@en-GB',
    '"2020-01-01"^^xsd:date',
    '"2021-05-05"^^xsd:date',
    '"bad"^^xsd:integer',
    "true",
)
NODES = tuple(f":n{i}" for i in range(8))
PROPERTIES = tuple(f":p{i}" for i in range(4))
CLASSES = tuple(f":C{i}" for i in range(4))


def triple(random: Random) -> str:
    """One triple of the data, as Turtle."""
    kind = random.random()
    if kind < 0.3:
        return f"{random.choice(NODES)} a {random.choice(CLASSES)} ."
    if kind < 0.34:
        return f"{random.choice(CLASSES)} rdfs:subClassOf {random.choice(CLASSES)} ."
    value = random.choice(NODES if random.random() < 0.5 else LITERALS)
    return f"{random.choice(NODES)} {random.choice(PROPERTIES)} {value} ."


def triples(random: Random, count: int) -> str:
    """A document of data."""
    return PREFIXES + "\n".join(triple(random) for _ in range(count))


def quads(text: str) -> list[ox.Quad]:
    """The quads of a document."""
    return list(ox.parse(text, format=ox.RdfFormat.TURTLE))


def path(random: Random, depth: int = 2) -> str:
    """A path of shapes."""
    if depth == 0 or random.random() < 0.55:
        return random.choice(PROPERTIES)
    inner = path(random, depth - 1)
    kind = random.randrange(6)
    if kind == 0:
        return f"( {inner} {path(random, depth - 1)} )"
    if kind == 1:
        return f"[ sh:alternativePath ( {inner} {path(random, depth - 1)} ) ]"
    name = ("inversePath", "zeroOrMorePath", "oneOrMorePath", "zeroOrOnePath")[kind - 2]
    return f"[ sh:{name} {inner} ]"


def value_constraint(random: Random) -> str:
    """A constraint on values."""
    choices = (
        lambda: f"sh:class {random.choice(CLASSES)}",
        lambda: f"sh:datatype xsd:{random.choice(('integer', 'string', 'date', 'decimal'))}",
        lambda: "sh:nodeKind sh:" + random.choice(("IRI", "Literal", "BlankNodeOrIRI")),
        lambda: f"sh:minInclusive {random.choice(('1', '2', '2.5'))}",
        lambda: f"sh:maxExclusive {random.choice(('2', '5'))}",
        lambda: f"sh:minLength {random.randrange(1, 4)}",
        lambda: f"sh:maxLength {random.randrange(1, 25)}",
        lambda: 'sh:pattern "' + random.choice(("^a", "b", "n[0-3]$")) + '"',
        lambda: f"sh:in ( {' '.join(random.sample((*NODES, *LITERALS), 6))} )",
        lambda: "sh:languageIn ( " + random.choice(('"en"', '"de" "en"')) + " )",
        lambda: f"sh:hasValue {random.choice((*NODES, *LITERALS))}",
    )
    return random.choice(choices)()


def constraints(random: Random, depth: int, has_path: bool) -> str:
    """Some constraints of one shape, each with its own parameter."""
    found: dict[str, str] = {}
    for _ in range(random.randrange(1, 3)):
        made = constraint(random, depth, has_path)
        found.setdefault(made.split(" ")[0], made)
    return " ; ".join(found.values())


def constraint(random: Random, depth: int, has_path: bool) -> str:
    """One constraint."""
    kind = random.random()
    if has_path and kind < 0.3:
        other = random.choice(PROPERTIES)
        return random.choice(
            (
                f"sh:minCount {random.randrange(1, 3)}",
                f"sh:maxCount {random.randrange(0, 3)}",
                "sh:uniqueLang true",
                f"sh:lessThan {other}",
                f"sh:lessThanOrEquals {other}",
                f"sh:equals {other}",
                f"sh:disjoint {other}",
            )
        )
    if depth and kind < 0.7:
        return nested(random, depth - 1, has_path)
    if not has_path and kind > 0.93:
        return "sh:closed true ; sh:ignoredProperties ( :p0 )"
    return value_constraint(random)


def nested(random: Random, depth: int, has_path: bool) -> str:
    """A constraint that refers to other shapes."""

    def inner() -> str:
        if random.random() < 0.4:
            body = constraints(random, depth, True)
            return f"[ a sh:PropertyShape ; sh:path {path(random)} ; {body} ]"
        return f"[ a sh:NodeShape ; {constraints(random, depth, False)} ]"

    kind = random.randrange(6)
    if kind == 0:
        return f"sh:not {inner()}"
    if kind == 1:
        return f"sh:{random.choice(('and', 'or', 'xone'))} ( {inner()} {inner()} )"
    if kind == 2 and has_path:
        word = random.choice(("qualifiedMinCount", "qualifiedMaxCount"))
        return f"sh:qualifiedValueShape {inner()} ; sh:{word} {random.randrange(0, 3)}"
    if kind == 3:
        return f"sh:node [ a sh:NodeShape ; {constraints(random, depth, False)} ]"
    body = constraints(random, depth, True)
    return f"sh:property [ sh:path {path(random)} ; {body} ]"


def target(random: Random) -> str:
    """A target."""
    return random.choice(
        (
            lambda: f"sh:targetClass {random.choice(CLASSES)}",
            lambda: f"sh:targetNode {random.choice(NODES)} , {random.choice(LITERALS)}",
            lambda: f"sh:targetSubjectsOf {random.choice(PROPERTIES)}",
            lambda: f"sh:targetObjectsOf {random.choice(PROPERTIES)}",
        )
    )()


QUERIES = (
    "SELECT $this ?value WHERE { $this :p0 ?value . FILTER (isLiteral(?value)) }",
    "SELECT $this WHERE { FILTER NOT EXISTS { $this :p1 ?x . ?x :p2 ?y } }",
    "SELECT $this ?value WHERE { $this :p0/:p1 ?value . OPTIONAL { ?value :p2 ?z } "
    "FILTER (!bound(?z)) }",
    "SELECT $this (COUNT(?x) AS ?n) WHERE { ?x :p3 $this } GROUP BY $this HAVING (COUNT(?x) > 1)",
    "SELECT $this ?value WHERE { { $this :p2 ?value } UNION { ?value :p2+ $this } ?value a :C1 }",
    "SELECT $this ?value WHERE { $this :p1 ?value . ?other :p3 ?value . FILTER (?other != $this) }",
    "SELECT $this WHERE { BIND ($this AS ?that) ?that a ?kind . ?any :p0 ?kind2 "
    "FILTER (?kind2 = ?that) }",
)


def shape(random: Random, number: int, queries: bool = False) -> str:
    """One shape with a target, as Turtle."""
    head = f":S{number} {target(random)}"
    if queries and random.random() < 0.35:
        text = random.choice(QUERIES)
        return f'{head} ; sh:sparql [ sh:prefixes : ; sh:select """{text}""" ] .'
    severity = random.choice(("", "", " ; sh:severity sh:Warning"))
    if random.random() < 0.3:
        body = f"sh:path {path(random)} ; {constraints(random, 2, True)}"
        return f"{head} ; a sh:PropertyShape ; {body}{severity} ."
    return f"{head} ; a sh:NodeShape ; {constraints(random, 2, False)}{severity} ."


DECLARED = ': sh:declare [ sh:prefix "" ; sh:namespace "http://example.org/"^^xsd:anyURI ] .'


def shapes(random: Random, count: int, queries: bool = False) -> str:
    """A shapes graph."""
    lines = [shape(random, number, queries) for number in range(count)]
    return "\n".join([PREFIXES, DECLARED, *lines])
