"""The same triples in any order, at once or one by one, under any labels: the same closure.

Labels of blank nodes do not show in a digest, so states with other labels are compared by it; those
with the same labels by all that is listed.
"""

from __future__ import annotations

import gzip
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest
from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, RdfFormat, parse
from support import fuzzing

from tests.ontologies.in_store import listed
from tests.ontologies.oracle import Fact, Term, term, turtle
from tests.ontologies.random_ontologies import (
    CLASSES,
    INDIVIDUALS,
    KINDS,
    PROPERTIES,
    SUB_CLASS,
    Maker,
    class_axiom,
    make_pool,
    membership,
    property_axiom,
    relation,
)
from triplestore import Store
from triplestore.store.readable import ReadableStore
from triplestore.terms.vocabulary import RDF_TYPE

EQUALITIES = ["rules", "rewrite"]
UNIONS = """[ owl:intersectionOf (_:y _:z) ] rdfs:subClassOf ex:C .
    _:y owl:unionOf (ex:d1 ex:d2 ex:d3 ex:d4 ex:d5) ; rdfs:subClassOf ex:E , ex:G , ex:H .
    _:z owl:unionOf (ex:f1 ex:f2 ex:f3 ex:f4 ex:f5) ; rdfs:subClassOf ex:F , ex:G , ex:H .
    ex:i a ex:d1 , ex:f2 . ex:j a ex:d2 . ex:k a ex:f1 ."""
SAME = " ex:j owl:sameAs ex:k ."
ENUMERATION = """_:y owl:oneOf (ex:i ex:j) ; rdfs:subClassOf ex:C1 , ex:C2 , ex:C3 , ex:C4 , ex:C5 ,
    ex:C6 , ex:C7 , ex:C8 . ex:j owl:sameAs ex:k ."""
RESTRICTIONS = """
    _:a owl:onProperty ex:p ; owl:hasValue ex:v . _:b owl:onProperty ex:p ; owl:hasValue ex:v .
    _:c owl:onProperty ex:p ; owl:hasValue ex:v . ex:p a owl:ObjectProperty .
    ex:C owl:equivalentClass [ owl:intersectionOf (ex:D _:a) ] . ex:E rdfs:subClassOf _:b .
    ex:F owl:equivalentClass [ owl:intersectionOf (ex:G _:c) ] . ex:E rdfs:subClassOf ex:D .
    ex:i a ex:E , ex:G . ex:j a ex:F . ex:k ex:p ex:v ; a ex:D ."""
SMALL = [UNIONS, UNIONS + SAME, ENUMERATION, RESTRICTIONS, RESTRICTIONS + SAME]
LISTED = [ENUMERATION]  # something that an axiom names is the same as something else


def figures(store: ReadableStore) -> tuple[object, ...]:
    """What says the same of two states that differ in labels only."""
    broken = Counter(violation.constraint for violation in store.violations())
    return store.digest(), store.digest(facts="inferred"), len(store), broken


def hidden_types(store: ReadableStore) -> list[Quad]:
    """Types in anonymous classes that were not stated."""
    types = (quad for quad in listed(store) if quad[1].value == RDF_TYPE)
    stated = {
        (q.subject, q.predicate, q.object)
        for q in store.quads_for_pattern(None, None, None, DefaultGraph(), facts="explicit")
    }
    return [Quad(*fact) for fact in types if isinstance(fact[2], BlankNode) and fact not in stated]


def shuffled(quads: list[Quad], random: Random) -> list[Quad]:
    return random.sample(quads, len(quads))


def ways(
    quads: list[Quad], equality: str, random: Random, regimes: Sequence[str], *, single: bool
) -> Iterator[Store]:
    """Stores that were told the same: first as it is written, then in other ways."""
    with Store() as store:
        store.extend(quads)
        store.reason(*regimes, equality=equality)
        yield store
    with Store() as store:
        store.extend(shuffled(quads, random))
        store.reason(*regimes, equality=equality)
        yield store
    with Store() as store:
        store.reason(*regimes, equality=equality)
        mixed = shuffled(quads, random)
        parts = 1 if single else random.randint(len(mixed) // 4, len(mixed) // 2 + 1)
        for begin in range(0, len(mixed), parts):
            store.extend(mixed[begin : begin + parts])
        yield store


def reloaded(store: Store, equality: str, random: Random, regimes: Sequence[str]) -> Store:
    """A store that loads what another one dumps, its lines in another order."""
    text = io.BytesIO()
    store.dump(text, format=RdfFormat.N_QUADS)
    lines = text.getvalue().splitlines(keepends=True)
    random.shuffle(lines)
    made = Store()
    made.reason(*regimes, equality=equality)
    made.load(b"".join(lines), format=RdfFormat.N_QUADS)
    return made


def check(
    quads: list[Quad],
    equality: str,
    random: Random,
    regimes: Sequence[str] = ("owl-rl",),
    *,
    single: bool = False,
) -> None:
    wanted = None
    for store in ways(quads, equality, random, regimes, single=single):
        found = listed(store), figures(store)
        wanted = wanted or found
        assert found[0] ^ wanted[0] == set()
        assert found[1] == wanted[1]
    assert wanted is not None
    with Store() as first:
        first.extend(quads)
        with reloaded(first, equality, random, regimes) as store:
            assert figures(store) == wanted[1]


@pytest.mark.parametrize("equality", EQUALITIES)
@pytest.mark.parametrize("number", range(len(SMALL)))
def test_closure__of_triples_in_any_order(number: int, equality: str) -> None:
    quads = [Quad(*fact) for fact in turtle(SMALL[number])]
    check(quads, equality, Random(number), single=equality == "rules")


@pytest.mark.parametrize("text", [text for text in SMALL if text not in LISTED])
def test_closure__has_no_types_in_classes_without_a_name(text: str) -> None:
    with Store() as store:
        store.extend(Quad(*fact) for fact in turtle(text))
        store.reason("owl-rl")
        assert hidden_types(store) == []


def test_why__goes_through_classes_without_a_name() -> None:
    with Store() as store:
        store.extend(Quad(*fact) for fact in turtle(UNIONS))
        store.reason("owl-rl")
        a, ex = NamedNode(RDF_TYPE), "http://example.org/"
        proof = store.why(Quad(NamedNode(f"{ex}i"), a, NamedNode(f"{ex}C")))
        used = {str(fact) for fact, step in proof.steps.items() if step.stated}
        assert used == {f"<{ex}d1>[<{ex}i>]", f"<{ex}f2>[<{ex}i>]"}


def nested(random: Random) -> list[Fact]:
    """Classes without names that stand in each other, and in themselves, in many places."""
    maker = Maker(random, malformed=0)
    nodes: list[Term] = [BlankNode(f"x{number}") for number in range(random.randint(3, 8))]
    every = [*nodes, *CLASSES]
    facts: list[Fact] = []
    for node in nodes:
        word = random.choice(["unionOf", "intersectionOf", "oneOf", "complementOf", "", "", ""])
        if word == "complementOf":
            facts.append((node, term("owl:complementOf"), maker.pick(every)))
        elif word:
            members = INDIVIDUALS if word == "oneOf" else every
            head, cells = maker.listed(maker.some(members, min(5, len(members))))
            facts += [(node, term(f"owl:{word}"), head), *cells]
        else:
            kind = random.choice(["someValuesFrom", "allValuesFrom", "hasValue"])
            filler = maker.pick(INDIVIDUALS[:2] if kind == "hasValue" else every)
            facts.append((node, term("owl:onProperty"), maker.pick(PROPERTIES[:2])))
            facts.append((node, term(f"owl:{kind}"), filler))
        for _ in range(random.randint(1, 4)):
            pair = [node, maker.pick(every)]
            random.shuffle(pair)
            axiom = maker.pick([SUB_CLASS, SUB_CLASS, term("owl:equivalentClass")])
            facts.append((pair[0], axiom, pair[1]))
    for _ in range(random.randint(3, 12)):
        facts += random.choice([relation, membership, property_axiom, class_axiom])(maker)
    return list(dict.fromkeys(facts))


@pytest.mark.fuzz
def test_closure__of_random_triples_in_any_order() -> None:
    for seed in fuzzing.seeds(3):
        random = Random(seed)
        plain = random.random() < 0.3
        facts = make_pool(random, random.choice(KINDS), 30) if plain else nested(random)
        quads = [Quad(*fact) for fact in facts]
        regimes = random.choice([["owl-rl"], ["owl-rl"], ["owl-horst"], ["rdfs", "owl-rl"]])
        single = random.random() < 0.3
        check(quads, random.choice(EQUALITIES), random, regimes, single=single)


# --- ontologies of others ------------------------------------------------------------------------

FOLDERS = ["owl-real", "owl-el", "owl2-testcases/rl-cases"]
FORMATS = {".owl": RdfFormat.RDF_XML, ".rdf": RdfFormat.RDF_XML, ".ttl": RdfFormat.TURTLE}
MOST_QUADS = 100_000


def read(file: Path) -> list[Quad]:
    """The triples of a file; none if it is not RDF, whatever its name says."""
    data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    suffix = Path(file.name.removesuffix(".gz")).suffix
    try:
        quads = list(parse(data, format=FORMATS[suffix], base_iri="http://example.org/"))
    except (SyntaxError, KeyError):
        return []
    return list(dict.fromkeys(quads))


def check_file(file: Path, equality: str) -> None:
    quads = read(file)
    if 0 < len(quads) <= MOST_QUADS:
        check(quads, equality, Random(1))


@pytest.mark.parametrize(
    ("name", "equality"),
    [("wine/wine.owl", "rules"), ("wine/food.owl", "rewrite"), ("doap/doap.rdf", "rules")],
)
def test_closure__of_an_ontology_in_any_order(shared_data: Path, name: str, equality: str) -> None:
    check_file(shared_data / "owl-real" / name, equality)


@pytest.mark.long
@pytest.mark.parametrize("equality", EQUALITIES)
@pytest.mark.parametrize("folder", FOLDERS)
def test_closure__of_all_ontologies_in_any_order(
    shared_data: Path, folder: str, equality: str
) -> None:
    for file in sorted((shared_data / folder).rglob("*")):
        if file.is_file():
            check_file(file, equality)
