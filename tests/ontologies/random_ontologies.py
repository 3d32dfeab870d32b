"""Random ontologies with random data, triple by triple, and schedules of changes to them.

Pieces are small: one assertion, one axiom, one class expression with its list. A pool of their
triples is what a schedule adds and removes, any triple at any time, so that axioms stand there
half-made, and lists lose their cells one after the other. Few names, so that pieces meet.

    >>> import random
    >>> pool = make_pool(random.Random(1), META, 30)
    >>> len(pool) >= 30
    True
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from random import Random

from pyoxigraph import BlankNode

from tests.ontologies.oracle import Fact, Term, term

INDIVIDUALS = [term(f"ex:{name}") for name in ("a", "b", "c", "d")] + [term("_:i")]
MANY = [*INDIVIDUALS, *(term(f"ex:{name}") for name in ("e", "f", "g", "h", "i", "j"))]
CLASSES = [term(f"ex:{name}") for name in ("C", "D", "E", "F")]
PROPERTIES = [term(f"ex:{name}") for name in ("p", "q", "r", "s")]
DATA_PROPERTIES = [term(f"ex:{name}") for name in ("u", "v")]
LITERALS = [
    term(text)
    for text in ("1", "'01'^^xsd:int", "1.0", "1e0", "2", "'x'", "'x'^^xsd:token", "'x'@en")
]
CHARACTERISTICS = [
    term(f"owl:{name}")
    for name in (
        "TransitiveProperty",
        "SymmetricProperty",
        "FunctionalProperty",
        "InverseFunctionalProperty",
        "AsymmetricProperty",
        "IrreflexiveProperty",
    )
]
THING = term("owl:Thing")
TYPE, SUB_CLASS, SUB_PROPERTY = (
    term("rdf:type"),
    term("rdfs:subClassOf"),
    term("rdfs:subPropertyOf"),
)


class Maker:
    """Makes pieces; `fresh` nodes are new in each."""

    def __init__(self, random: Random, malformed: float) -> None:
        self.random = random
        self._malformed = malformed
        self._numbers = count()

    def pick(self, choices: list[Term]) -> Term:
        return self.random.choice(choices)

    def fresh(self) -> BlankNode:
        return BlankNode(f"n{next(self._numbers)}")

    def listed(self, members: list[Term]) -> tuple[Term, list[Fact]]:
        """The head of a list and its triples."""
        cells = [self.fresh() for _ in members]
        facts: list[Fact] = []
        for cell, member, rest in zip(cells, members, [*cells[1:], term("rdf:nil")], strict=True):
            facts += [(cell, term("rdf:first"), member), (cell, term("rdf:rest"), rest)]
        if self.random.random() < self._malformed:
            cell = self.random.choice(cells)
            facts.append((cell, term("rdf:first"), self.pick(members)))
        return (cells[0] if cells else term("rdf:nil")), facts

    def some(self, choices: list[Term], most: int = 3) -> list[Term]:
        return self.random.sample(choices, self.random.randint(1, most))


Piece = Callable[[Maker], list[Fact]]


# ------------------------------------------------------------------------------ data


def relation(maker: Maker) -> list[Fact]:
    return [(maker.pick(INDIVIDUALS), maker.pick(PROPERTIES), maker.pick(INDIVIDUALS))]


def value(maker: Maker) -> list[Fact]:
    return [(maker.pick(INDIVIDUALS), maker.pick(DATA_PROPERTIES), maker.pick(LITERALS))]


def value_of_any(maker: Maker) -> list[Fact]:
    """A literal where there are individuals, too."""
    return [(maker.pick(INDIVIDUALS), maker.pick(PROPERTIES), maker.pick(LITERALS))]


def membership(maker: Maker) -> list[Fact]:
    return [(maker.pick(INDIVIDUALS), TYPE, maker.pick(CLASSES))]


# ------------------------------------------------------------------------------ axioms


def class_axiom(maker: Maker) -> list[Fact]:
    words = [SUB_CLASS, SUB_CLASS, term("owl:equivalentClass"), term("owl:disjointWith")]
    return [(maker.pick(CLASSES), maker.pick(words), maker.pick(CLASSES))]


def property_axiom(maker: Maker) -> list[Fact]:
    words = [SUB_PROPERTY, SUB_PROPERTY, term("owl:equivalentProperty"), term("owl:inverseOf")]
    words.append(term("owl:propertyDisjointWith"))
    return [(maker.pick(PROPERTIES), maker.pick(words), maker.pick(PROPERTIES))]


def data_axiom(maker: Maker) -> list[Fact]:
    p = maker.pick(DATA_PROPERTIES)
    return maker.random.choice(
        [
            [(p, SUB_PROPERTY, maker.pick(DATA_PROPERTIES))],
            [(p, term("owl:propertyDisjointWith"), maker.pick(DATA_PROPERTIES))],
            [(p, term("rdfs:domain"), maker.pick(CLASSES))],
            [(p, term("rdfs:range"), maker.pick([term("xsd:integer"), term("xsd:string")]))],
            [(p, TYPE, term("owl:InverseFunctionalProperty"))],
        ]
    )


def domain_or_range(maker: Maker) -> list[Fact]:
    word = maker.pick([term("rdfs:domain"), term("rdfs:range")])
    return [(maker.pick(PROPERTIES), word, maker.pick(CLASSES))]


def characteristic(maker: Maker) -> list[Fact]:
    return [(maker.pick(PROPERTIES), TYPE, maker.pick(CHARACTERISTICS[:3]))]


def chain(maker: Maker) -> list[Fact]:
    head, facts = maker.listed(maker.some(PROPERTIES, 3))
    return [(maker.pick(PROPERTIES), term("owl:propertyChainAxiom"), head), *facts]


def key(maker: Maker) -> list[Fact]:
    head, facts = maker.listed(maker.some([*PROPERTIES, *DATA_PROPERTIES], 2))
    return [(maker.pick(CLASSES), term("owl:hasKey"), head), *facts]


def all_disjoint(maker: Maker) -> list[Fact]:
    kind, names = maker.random.choice(
        [("owl:AllDisjointClasses", CLASSES), ("owl:AllDisjointProperties", PROPERTIES)]
    )
    node = maker.fresh()
    head, facts = maker.listed(maker.random.sample(names, 3))
    return [(node, TYPE, term(kind)), (node, term("owl:members"), head), *facts]


def negative(maker: Maker) -> list[Fact]:
    node = maker.fresh()
    word, properties, targets = maker.random.choice(
        [
            ("owl:targetIndividual", PROPERTIES, INDIVIDUALS),
            ("owl:targetValue", DATA_PROPERTIES, LITERALS),
        ]
    )
    return [
        (node, term("owl:sourceIndividual"), maker.pick(INDIVIDUALS)),
        (node, term("owl:assertionProperty"), maker.pick(properties)),
        (node, term(word), maker.pick(targets)),
    ]


# ------------------------------------------------------------------------- expressions


def expression(maker: Maker) -> list[Fact]:
    """A class expression, named or not, with an axiom that it stands in."""
    node = maker.fresh() if maker.random.random() < 0.7 else maker.pick(CLASSES)
    made = maker.random.choice([restriction, boolean, enumeration])(maker, node)
    word = maker.pick([SUB_CLASS, term("owl:equivalentClass")])
    pair = [node, maker.pick(CLASSES)]
    maker.random.shuffle(pair)
    return [*made, (pair[0], word, pair[1])]


def restriction(maker: Maker, node: Term) -> list[Fact]:
    kind = maker.random.choice(
        ["someValuesFrom", "allValuesFrom", "hasValue", "maxCardinality", "maxQualifiedCardinality"]
    )
    about_data = kind in ("someValuesFrom", "hasValue") and maker.random.random() < 0.3
    p = maker.pick(DATA_PROPERTIES if about_data else PROPERTIES)
    facts: list[Fact] = [(node, term("owl:onProperty"), p)]
    if kind in ("someValuesFrom", "allValuesFrom"):
        filler = maker.pick([term("xsd:integer")] if about_data else [*CLASSES, THING])
    elif kind == "hasValue":
        filler = maker.pick(LITERALS if about_data else INDIVIDUALS)
    else:
        filler = term(maker.random.choice(["'0'", "'1'", "'1'"]) + "^^xsd:nonNegativeInteger")
    facts.append((node, term(f"owl:{kind}"), filler))
    if kind == "maxQualifiedCardinality":
        facts.append((node, term("owl:onClass"), maker.pick([*CLASSES, THING])))
    return facts


def boolean(maker: Maker, node: Term) -> list[Fact]:
    kind = maker.random.choice(["intersectionOf", "unionOf", "complementOf"])
    if kind == "complementOf":
        return [(node, term("owl:complementOf"), maker.pick(CLASSES))]
    head, facts = maker.listed(maker.some(CLASSES))
    return [(node, term(f"owl:{kind}"), head), *facts]


def enumeration(maker: Maker, node: Term, members: list[Term] = INDIVIDUALS) -> list[Fact]:
    head, facts = maker.listed(maker.some(members))
    return [(node, term("owl:oneOf"), head), *facts]


# ---------------------------------------------------------------------------- equality


def equal(maker: Maker) -> list[Fact]:
    word = maker.pick([term("owl:sameAs"), term("owl:sameAs"), term("owl:differentFrom")])
    return [(maker.pick(INDIVIDUALS), word, maker.pick(INDIVIDUALS))]


def identifying_value(maker: Maker) -> list[Fact]:
    return [(maker.pick(DATA_PROPERTIES), TYPE, maker.pick(CHARACTERISTICS[2:4]))]


def enumeration_of_any(maker: Maker) -> list[Fact]:
    return enumeration(maker, maker.pick(CLASSES), [*INDIVIDUALS, *LITERALS])


def identifying(maker: Maker) -> list[Fact]:
    return [(maker.pick(PROPERTIES), TYPE, maker.pick(CHARACTERISTICS[2:]))]


def all_different(maker: Maker) -> list[Fact]:
    node = maker.fresh()
    word = maker.pick([term("owl:members"), term("owl:distinctMembers")])
    head, facts = maker.listed(maker.random.sample(INDIVIDUALS, 3))
    return [(node, TYPE, term("owl:AllDifferent")), (node, word, head), *facts]


def link(maker: Maker) -> list[Fact]:
    """Of more individuals, so that equalities follow from each other step by step."""
    return [(maker.pick(MANY), maker.pick(PROPERTIES), maker.pick(MANY))]


def value_of_many(maker: Maker) -> list[Fact]:
    """A literal of which there is one spelling: subjects that are literals are joined by term."""
    return [(maker.pick(MANY), maker.pick(PROPERTIES), maker.pick(LITERALS[-2:]))]


def inverse(maker: Maker) -> list[Fact]:
    return [(maker.pick(PROPERTIES), term("owl:inverseOf"), maker.pick(PROPERTIES))]


def typed(maker: Maker) -> list[Fact]:
    return [(maker.pick(MANY), TYPE, maker.pick(CLASSES))]


def equal_many(maker: Maker) -> list[Fact]:
    other = maker.pick(LITERALS[-2:] if maker.random.random() < 0.1 else MANY)
    return [(maker.pick(MANY), term("owl:sameAs"), other)]


def anonymous_inverse(maker: Maker) -> list[Fact]:
    """The inverse of a property, without a name, in an axiom; or the inverse that has one."""
    node = maker.fresh() if maker.random.random() < 0.7 else maker.pick(PROPERTIES)
    facts: list[Fact] = [(node, term("owl:inverseOf"), maker.pick(PROPERTIES))]
    restricted, limit = maker.fresh(), term("'1'^^xsd:nonNegativeInteger")
    head, cells = maker.listed([node])
    axioms: list[list[Fact]] = [
        [(node, TYPE, maker.pick(CHARACTERISTICS[2:4]))],
        [(node, SUB_PROPERTY, maker.pick(PROPERTIES))],
        [(maker.pick(PROPERTIES), SUB_PROPERTY, node)],
        [(maker.pick(CLASSES), term("owl:hasKey"), head), *cells],
        [
            (restricted, term("owl:onProperty"), node),
            (restricted, term("owl:maxCardinality"), limit),
            (maker.pick(CLASSES), SUB_CLASS, restricted),
        ],
        [
            (restricted, term("owl:onProperty"), node),
            (restricted, term("owl:someValuesFrom"), maker.pick([*CLASSES, THING])),
            (restricted, SUB_CLASS, maker.pick(CLASSES)),
        ],
    ]
    return [*facts, *maker.random.choice(axioms)]


# ---------------------------------------------------- axioms about axioms, names for two things


def class_of_properties(maker: Maker) -> list[Fact]:
    node = maker.pick(CLASSES)
    return [(node, SUB_CLASS, maker.pick(CHARACTERISTICS)), (maker.pick(PROPERTIES), TYPE, node)]


def equal_names(maker: Maker) -> list[Fact]:
    names = maker.random.choice([CLASSES, PROPERTIES, [*CLASSES, *INDIVIDUALS]])
    return [(maker.pick(names), term("owl:sameAs"), maker.pick(names))]


def word_below(maker: Maker) -> list[Fact]:
    """A property below a word of the schema, with a fact of it."""
    p = maker.pick(PROPERTIES)
    word, first, second = maker.random.choice(
        [
            (TYPE, INDIVIDUALS, CLASSES),
            (SUB_CLASS, CLASSES, CLASSES),
            (SUB_PROPERTY, PROPERTIES, PROPERTIES),
            (term("rdfs:domain"), PROPERTIES, CLASSES),
            (term("rdfs:range"), PROPERTIES, CLASSES),
            (term("owl:sameAs"), INDIVIDUALS, INDIVIDUALS),
            (term("owl:inverseOf"), PROPERTIES, PROPERTIES),
        ]
    )
    return [(p, SUB_PROPERTY, word), (maker.pick(first), p, maker.pick(second))]


def word_above(maker: Maker) -> list[Fact]:
    """A property above a word of the schema."""
    words = [TYPE, SUB_CLASS, SUB_PROPERTY, term("rdfs:domain"), term("rdf:first")]
    return [(maker.pick(words), SUB_PROPERTY, maker.pick(PROPERTIES))]


def beside_same_as(maker: Maker) -> list[Fact]:
    """What every equality says of a property, or the property of equality."""
    p, same = maker.pick(PROPERTIES), term("owl:sameAs")
    axioms = ("rdfs:subPropertyOf", "owl:equivalentProperty", "owl:inverseOf")
    one, other = maker.random.sample((p, same), 2)
    return [(one, term(maker.random.choice(axioms)), other)]


def punned(maker: Maker) -> list[Fact]:
    names = [*CLASSES, *PROPERTIES, *INDIVIDUALS]
    word = maker.pick([*PROPERTIES, TYPE])
    last = CLASSES if word == TYPE else names
    return [(maker.pick(names), word, maker.pick(last))]


@dataclass(frozen=True)
class Kind:
    """A kind of ontology.

    pieces     what it is made of, each as often as it is to come
    malformed  how many lists have a cell with two members
    """

    name: str
    pieces: tuple[Piece, ...]
    malformed: float = 0


_DATA = (relation,) * 6 + (value,) * 3 + (membership,) * 4
_AXIOMS = (class_axiom,) * 3 + (property_axiom,) * 3 + (domain_or_range,) * 2
_AXIOMS += (characteristic,) * 2 + (data_axiom,) * 2
_LISTS = (expression,) * 5 + (chain,) * 2 + (all_disjoint, negative)
_EQUALITY = (equal,) * 3 + (identifying,) * 2 + (key, all_different)
_META = (
    (class_of_properties,) * 2
    + (equal_names,) * 2
    + (word_below,) * 2
    + (word_above, punned, beside_same_as)
)
_VALUES = (value_of_any,) * 4 + (identifying_value,) * 2 + (enumeration_of_any,)

PLAIN = Kind("plain", _DATA + _AXIOMS)
EXPRESSIONS = Kind("expressions", _DATA + _AXIOMS + _LISTS)
EQUALITY = Kind("equality", _DATA + _AXIOMS + _EQUALITY)
META = Kind("meta", _DATA + _AXIOMS + _META)
# Literals where there are individuals, too, and equalities with and between literals.
VALUES = Kind("values", _DATA + _AXIOMS + _LISTS + _EQUALITY + _VALUES)
EVERYTHING = Kind("everything", _DATA + _AXIOMS + _LISTS + _EQUALITY + _META)
MALFORMED = Kind("malformed", _DATA + _AXIOMS + _LISTS + _EQUALITY, malformed=0.5)
# Individuals that are merged and split, under axioms of all kinds.
_MERGED = (link,) * 12 + (typed,) * 4 + (value_of_many,) * 2 + (value, identifying_value)
_MERGED += (equal_many,) * 2 + (identifying,) * 3 + (anonymous_inverse,) * 3 + (key,)
MERGED = Kind("merged", _MERGED + (class_axiom, property_axiom) * 2 + (expression,) * 4)
# The same with long ways from one equality to the next, some of which end in a literal.
_LINKED = (link,) * 10 + (value_of_many, identifying, identifying, inverse, inverse, typed, key)
LINKED = Kind("linked", (*_LINKED, class_axiom, anonymous_inverse, expression))
KINDS = [PLAIN, EXPRESSIONS, EQUALITY, META, VALUES, EVERYTHING, MALFORMED, MERGED, LINKED]


def make_pool(random: Random, kind: Kind, size: int) -> list[Fact]:
    """Triples of random pieces, so many at least."""
    maker = Maker(random, kind.malformed)
    pool: dict[Fact, None] = {}
    while len(pool) < size:
        pool.update(dict.fromkeys(random.choice(kind.pieces)(maker)))
    return list(pool)


def schedule(
    random: Random, pool: list[Fact], steps: int
) -> Iterator[tuple[list[Fact], list[Fact]]]:
    """(removed, added) of each step; the first states most of the pool."""
    held = {fact for fact in pool if random.random() < 0.8}
    yield [], sorted(held, key=pool.index)
    for _ in range(steps):
        chosen = random.sample(pool, min(len(pool), random.choice((1, 1, 2, 4))))
        removed = [fact for fact in chosen if fact in held]
        added = [fact for fact in chosen if fact not in held]
        held.difference_update(removed)
        held.update(added)
        yield removed, added
