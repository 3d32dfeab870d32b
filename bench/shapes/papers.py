"""Settings in the shape of the papers' benchmarks of modules, by name, at any size.

    dagr-10000-100000   DAG-R: one transitive property over random edges from lower to higher nodes
    lubmle-1            LUBM of one university, its rules, and two properties that are
                        symmetric and transitive: people who study or work together
    claros-100000       classes and properties in trees, 27 transitive properties, two that are
                        symmetric and transitive (related places, same topics)
    skos-100000         SKOS's rules over a network of categories with articles about them
    relations-40000     33 transitive properties and 130 unions of properties over them
    warming             a little of everything

The number is the approximate number of statements. Start at `setting`. Each function quotes the
published figures; the original data and hand-written rules are not public.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.harness import MeasurementError
from bench.inputs.programs import NAMESPACE, Setting
from bench.inputs.random_numbers import below
from bench.reasoners.program import number_constants
from bench.shapes.graphs import broader, dag, network, tree
from triplestore.datalog.text import read

U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]

PREFIX = f"@prefix : <{NAMESPACE}> .\n"
TRANSITIVE = ":{0}[?x, ?z] :- :{0}[?x, ?y], :{0}[?y, ?z] .\n"
SYMMETRIC = ":{0}[?y, ?x] :- :{0}[?x, ?y] .\n"
BELOW = ":{1}[?x, ?y] :- :{0}[?x, ?y] .\n"
INVERSE = ":{1}[?y, ?x] :- :{0}[?x, ?y] .\n"
DOMAIN = ":{1}[?x] :- :{0}[?x, ?y] .\n"
RANGE = ":{1}[?y] :- :{0}[?x, ?y] .\n"
SUBCLASS = ":{1}[?x] :- :{0}[?x] .\n"


class Statements(NamedTuple):
    """Edges of a property, or members of a class, between individuals that count from 1."""

    name: str
    edges: U64
    is_class: bool = False


def setting(name: str) -> Setting:
    """The setting of a name.

    >>> small = setting("dagr-100-400")
    >>> len(small), len(small.program)
    (400, 1)
    """
    kind, *sizes = name.split("-")
    numbers = [int(size) for size in sizes]
    if kind == "lubmle" and len(numbers) == 1:
        from bench.shapes.universities import lubm_le

        return lubm_le(*numbers)
    if kind not in MAKERS:
        raise MeasurementError(f"setting {name} is unknown: see bench/shapes/papers.py")
    text, statements = MAKERS[kind](*numbers)
    return assembled(name, PREFIX + text, statements)


def assembled(name: str, text: str, statements: Iterable[Statements]) -> Setting:
    """A program's text with its statements: individuals are numbered after the constants."""
    program = read(text)
    numbers = number_constants(program)
    parts: list[tuple[U32, U32, U32]] = []
    first = np.uint64(len(numbers))
    for one in statements:
        number = numbers[b"\x01" + (NAMESPACE + one.name).encode()]
        s = ((one.edges >> np.uint64(32)) + first).astype(np.uint32)
        o = ((one.edges & np.uint64(0xFFFFFFFF)) + first).astype(np.uint32)
        named = np.full(len(s), number, np.uint32)
        parts.append((s, np.ones_like(s), named) if one.is_class else (s, named, o))
    s, p, o = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return Setting(name, program, s, p, o, numbers)


Made = tuple[str, list[Statements]]


def dagr(nodes: int, edges: int) -> Made:
    """Published: 10,000 nodes, 100,000 statements, 22.9 M facts."""
    return TRANSITIVE.format("p"), [Statements("p", dag(nodes, edges))]


# --- Claros --------------------------------------------------------------------------------------

CLASSES, PROPERTIES, TREES, LARGEST = 400, 200, 27, 2270
CLAROS = 18.8e6


def claros(statements: int) -> Made:
    """Published: 18.8 M statements, 533.3 M facts (28.4 times as many), 1,337 rules, 306 of them
    recursive; 27 modules for transitive properties, two for symmetric ones; the largest of their
    cliques has 2,270 members, as here at full size; in smaller ones cliques shrink with the square
    root, so that facts grow as statements do.
    """
    text = "".join(SUBCLASS.format(f"C{i}", f"C{(i - 1) // 2}") for i in range(1, CLASSES))
    for j in range(1, PROPERTIES):
        text += BELOW.format(f"P{j}", f"P{(j - 1) // 3}") + DOMAIN.format(f"P{j}", f"C{j}")
        text += RANGE.format(f"P{j}", f"C{j + PROPERTIES - 1}")
    text += "".join(TRANSITIVE.format(f"T{i}") + BELOW.format(f"T{i}", "P1") for i in range(TREES))
    text += "".join(
        TRANSITIVE.format(n) + SYMMETRIC.format(n) + DOMAIN.format(n, "C7")
        for n in ("relatedPlaces", "sameTopic")
    )
    people = statements // 3
    found = [
        typed("C", CLASSES, people, statements * 3 // 10),
        related("P", PROPERTIES, people, statements * 4 // 10),
    ]
    each = statements // 10 // TREES
    trees = [Statements(f"T{i}", tree(each + 1, seed=f"T{i}")) for i in range(TREES)]
    largest = max(4, int(LARGEST * (statements / CLAROS) ** 0.5))
    cliques = [
        Statements("relatedPlaces", groups(largest, statements // 10, "places")),
        Statements("sameTopic", groups(largest // 2, statements // 10, "topics")),
    ]
    return text, [one for many in found for one in many] + trees + cliques


def typed(name: str, count: int, people: int, statements: int) -> list[Statements]:
    """Members of the lower half of this many classes."""
    members = 1 + below(people, f"{name}/members", statements)
    of = count // 2 + below(count - count // 2, f"{name}/of", statements)
    keys = np.unique(members.astype(np.uint64) << np.uint64(32) | of.astype(np.uint64))
    classes = keys & np.uint64(0xFFFFFFFF)
    return [
        Statements(f"{name}{i}", keys[classes == np.uint64(i)], True)
        for i in range(count // 2, count)
    ]


def related(name: str, count: int, people: int, statements: int) -> list[Statements]:
    """Random edges of the lower half of this many properties."""
    each = statements // (count - count // 2)
    return [
        Statements(f"{name}{i}", random_edges(people, each, f"{name}{i}"))
        for i in range(count // 2, count)
    ]


def random_edges(nodes: int, count: int, seed: str) -> U64:
    one, other = (1 + below(nodes, f"{seed}/edges", 2 * count).reshape(2, -1)).astype(np.uint64)
    return np.unique(one << np.uint64(32) | other)


def groups(largest: int, statements: int, seed: str) -> U64:
    """Components of many sizes, each given by a random tree with half as many edges more."""
    parts: list[U64] = []
    free = left = 0
    turn = 0
    left = statements
    while left > 0:
        size = max(2, int(largest / (1 + turn) ** 0.5))
        edges = network(size, min(size - 1 + size // 2, size * (size - 1)), seed=f"{seed}/{turn}")
        parts.append(edges + (np.uint64(free) << np.uint64(32) | np.uint64(free)))
        free, left, turn = free + size, left - len(edges), turn + 1
    return np.concatenate(parts)


# --- SKOS ----------------------------------------------------------------------------------------

LIES_WITHIN = {
    "broader": "broaderTransitive",
    "narrower": "narrowerTransitive",
    "broaderTransitive": "semanticRelation",
    "narrowerTransitive": "semanticRelation",
    "mappingRelation": "semanticRelation",
    "closeMatch": "mappingRelation",
    "exactMatch": "closeMatch",
    "topConceptOf": "inScheme",
    "subject": "about",
    "related": "semanticRelation",
}
MATCHES = {"broadMatch": "broader", "narrowMatch": "narrower", "relatedMatch": "related"}
TURNED = {
    "broader": "narrower",
    "broaderTransitive": "narrowerTransitive",
    "broadMatch": "narrowMatch",
    "topConceptOf": "hasTopConcept",
}
SKOS = "".join(
    [
        *(TRANSITIVE.format(n) for n in ("broaderTransitive", "narrowerTransitive", "exactMatch")),
        *(SYMMETRIC.format(n) for n in ("exactMatch", "closeMatch", "related", "relatedMatch")),
        *(BELOW.format(*pair) for pair in (*LIES_WITHIN.items(), *MATCHES.items())),
        *(BELOW.format(name, "mappingRelation") for name in MATCHES),
        *(INVERSE.format(*pair) + INVERSE.format(*reversed(pair)) for pair in TURNED.items()),
        DOMAIN.format("semanticRelation", "Concept"),
        RANGE.format("semanticRelation", "Concept"),
        RANGE.format("inScheme", "ConceptScheme"),
    ]
)
"""The 38 rules of SKOS that are stated in RDF."""


def skos(statements: int) -> Made:
    """Published: 5.0 M statements, 97.0 M facts, 41 rules, 15 of them recursive; two modules for
    transitive properties and one for a symmetric one.

    One in 31 statements is an edge to a broader category: the paper's smaller extract of these has
    159,561 and a closure of 29 M pairs, which the rules make thrice. The others are mostly about
    articles.
    """
    edges = broader(statements // 31)
    categories = int(edges.max() >> np.uint64(32))
    many = statements // 62
    topics = dag(categories, many, seed="related")
    matches = groups(20, many, "match")
    others = statements - len(edges) - len(topics) - len(matches)
    articles = (1 + below(others, "articles", others)).astype(np.uint64) + np.uint64(categories)
    about = (1 + below(categories, "subjects", others)).astype(np.uint64)
    return SKOS, [
        Statements("broader", edges),
        Statements("related", topics),
        Statements("exactMatch", matches),
        Statements("subject", np.unique(articles << np.uint64(32) | about)),
    ]


# --- Relations -----------------------------------------------------------------------------------

RELATIONS, UNIONS, LEVELS = 33, 130, 13


def relations(statements: int) -> Made:
    """Published: 845.8 k statements, 212.2 M facts, 1,307 rules; 33 transitive properties (390.3 k
    edges become 14.1 M pairs) and 130 unions, which have 191.0 M facts: so each pair is in some 13
    unions. Here each transitive property is in 13 unions, which lie within each other.
    """
    text = "".join(TRANSITIVE.format(f"R{i}") for i in range(RELATIONS))
    for i in range(RELATIONS):
        text += BELOW.format(f"R{i}", f"U{_union(i, 0)}") + DOMAIN.format(f"R{i}", f"D{i}")
        for level in range(1, LEVELS):
            text += BELOW.format(f"U{_union(i, level - 1)}", f"U{_union(i, level)}")
    for j in range(UNIONS):
        text += BELOW.format(f"S{j}", f"U{j}") + DOMAIN.format(f"U{j}", f"E{j}")
        text += RANGE.format(f"U{j}", f"F{j}") + SUBCLASS.format(f"E{j}", "Thing")
        text += SUBCLASS.format(f"F{j}", "Thing")
    each = max(8, statements * 46 // 100 // RELATIONS)
    edges = [
        Statements(f"R{i}", dag(int(each / 1.45), each, seed=f"R{i}")) for i in range(RELATIONS)
    ]
    others = statements * 54 // 100 // UNIONS
    stated = [Statements(f"S{j}", random_edges(2 * others, others, f"S{j}")) for j in range(UNIONS)]
    return "".join(dict.fromkeys(text.splitlines(keepends=True))), edges + stated


def _union(relation: int, level: int) -> int:
    """The union of a relation at a level: ten chains of unions of 13 levels each."""
    return relation % (UNIONS // LEVELS) * LEVELS + level


def warming() -> Made:
    """A little of everything that the others have."""
    text, _ = skos(3_100)
    return text + TRANSITIVE.format("p"), [
        Statements("p", dag(300, 2_000)),
        *skos(31_000)[1],
    ]


MAKERS: Mapping[str, Callable[..., Made]] = {
    "dagr": dagr,
    "claros": claros,
    "skos": skos,
    "relations": relations,
    "warming": warming,
}
