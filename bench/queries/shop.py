"""Products, offers and reviews, and queries in the manner of BSBM's explore mix.

`size` is the number of products in hundreds; each has some 20 offers and 10 reviews, features and
types in a tree. Queries name random products, types and features: five texts for each. Data and
texts are our own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from bench.queries.triples import LABEL, TYPE, date, number, text

BASE = "http://shop.example/"
PREFIXES = f"""PREFIX : <{BASE}>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
TYPES, FEATURES, COUNTRIES = 40, 300, ("AT", "DE", "FR", "GB", "JP", "US")
FIRST_LEAF = TYPES // 4  # type i lies below type (i - 1) // 3
TEXTS = 5
WORDS = ("amber", "basil", "cedar", "delta", "ember", "fable", "grove", "heron", "indigo", "kelp")


def _iri(name: str) -> str:
    return f"<{BASE}{name}>"


def lines(size: int) -> Iterator[str]:
    """Lines of N-Triples; some 190 for each product.

    >>> len(list(lines(1))) // 100
    188
    """
    draw = random.Random(f"shop/{size}").random
    products = size * 100

    def below(limit: int) -> int:
        return int(limit * draw())

    for i in range(1, TYPES):
        yield f"{_iri(f'Type{i}')} {_iri('within')} {_iri(f'Type{(i - 1) // 3}')} .\n"
    for i in range(FEATURES):
        yield f"{_iri(f'feature{i}')} {LABEL} {text(f'feature {i}')} .\n"
    vendors, people = 2 + products // 50, 2 + products // 2
    for kind, count in (("vendor", vendors), ("producer", 1 + products // 40), ("person", people)):
        for i in range(count):
            country = _iri(COUNTRIES[below(len(COUNTRIES))])
            yield f"{_iri(f'{kind}{i}')} {LABEL} {text(f'{kind} {i}')} .\n"
            yield f"{_iri(f'{kind}{i}')} {_iri('country')} {country} .\n"
    for i in range(products):
        product = _iri(f"product{i}")
        leaf = FIRST_LEAF + below(TYPES - FIRST_LEAF)
        yield f"{product} {_iri('producer')} {_iri(f'producer{below(1 + products // 40)}')} .\n"
        words = f"{WORDS[below(len(WORDS))]} {WORDS[below(len(WORDS))]} {i}"
        yield f"{product} {LABEL} {text(words)} .\n"
        while True:  # a product has its type and those above it
            yield f"{product} {TYPE} {_iri(f'Type{leaf}')} .\n"
            if leaf == 0:
                break
            leaf = (leaf - 1) // 3
        for feature in sorted({below(FEATURES) for _ in range(12)}):
            yield f"{product} {_iri('feature')} {_iri(f'feature{feature}')} .\n"
        for j in range(1, 4):
            yield f"{product} {_iri(f'size{j}')} {number(1 + below(2000))} .\n"
        for j in range(15 + below(11)):
            offer = _iri(f"offer{i}-{j}")
            price = number(5 + below(99_500) / 100)
            yield f"{offer} {_iri('product')} {product} .\n"
            yield f"{offer} {_iri('vendor')} {_iri(f'vendor{below(vendors)}')} .\n"
            yield f"{offer} {_iri('price')} {price} .\n"
            yield f"{offer} {_iri('delivery')} {number(1 + below(14))} .\n"
            yield f"{offer} {_iri('until')} {date(200 + below(300))} .\n"
        for j in range(5 + below(11)):
            review = _iri(f"review{i}-{j}")
            yield f"{review} {_iri('of')} {product} .\n"
            yield f"{review} {_iri('by')} {_iri(f'person{below(people)}')} .\n"
            yield f"{review} {_iri('title')} {text(f'Review {j} of {i}')} .\n"
            yield f"{review} {_iri('date')} {date(below(500))} .\n"
            for rated in range(1, 4):
                if draw() < 0.7:
                    yield f"{review} {_iri(f'rating{rated}')} {number(1 + below(10))} .\n"


QUERIES = {
    "b1 products with two features": """SELECT DISTINCT ?product ?label WHERE {
  ?product rdfs:label ?label ; a :%(type)s ; :feature :%(feature)s ; :feature :%(other)s ;
           :size1 ?size FILTER(?size > %(number)d) } ORDER BY ?label ?product LIMIT 10""",
    "b2 all about a product": """SELECT ?label ?made ?feature ?one ?two ?three WHERE {
  :%(product)s rdfs:label ?label ; :producer ?p ; :feature ?f ; :size1 ?one ; :size2 ?two .
  ?p rdfs:label ?made . ?f rdfs:label ?feature OPTIONAL { :%(product)s :size3 ?three } }""",
    "b3 one feature, not another": """SELECT ?product ?label WHERE {
  ?product rdfs:label ?label ; a :%(type)s ; :feature :%(feature)s ; :size1 ?one ; :size2 ?two
  FILTER(?one > %(number)d && ?two < 1900)
  OPTIONAL { ?product :feature :%(other)s ; rdfs:label ?has } FILTER(!BOUND(?has)) }
ORDER BY ?label ?product LIMIT 10""",
    "b4 one feature or another": """SELECT DISTINCT ?product ?label WHERE {
  { ?product rdfs:label ?label ; a :%(type)s ; :feature :%(feature)s ; :size1 ?n
    FILTER(?n > %(number)d) } UNION
  { ?product rdfs:label ?label ; a :%(type)s ; :feature :%(other)s ; :size2 ?n
    FILTER(?n > %(number)d) } } ORDER BY ?label ?product OFFSET 1 LIMIT 10""",
    "b5 similar products": """SELECT DISTINCT ?product ?label WHERE {
  ?product rdfs:label ?label . FILTER(:%(product)s != ?product)
  :%(product)s :feature ?feature ; :size1 ?a ; :size2 ?b . ?product :feature ?feature ;
  :size1 ?one ; :size2 ?two FILTER(?one < (?a + 120) && ?one > (?a - 120))
  FILTER(?two < (?b + 170) && ?two > (?b - 170)) } ORDER BY ?label ?product LIMIT 5""",
    "b6 a word in a label": """SELECT ?product ?label WHERE {
  ?product rdfs:label ?label ; a :Type0 FILTER(REGEX(?label, "%(word)s")) }""",
    "b7 offers and reviews of a product": """SELECT * WHERE {
  :%(product)s rdfs:label ?label
  OPTIONAL { ?offer :product :%(product)s ; :price ?price ; :vendor ?vendor ; :until ?until .
    ?vendor rdfs:label ?name ; :country :DE FILTER(?until > "2008-10-01"^^xsd:date) }
  OPTIONAL { ?review :of :%(product)s ; :by ?person ; :title ?title . ?person rdfs:label ?who
    OPTIONAL { ?review :rating1 ?r1 } OPTIONAL { ?review :rating2 ?r2 } } }""",
    "b8 latest reviews": """SELECT ?title ?date ?who ?r1 ?r2 ?r3 WHERE {
  ?review :of :%(product)s ; :title ?title ; :date ?date ; :by ?person . ?person rdfs:label ?who
  OPTIONAL { ?review :rating1 ?r1 } OPTIONAL { ?review :rating2 ?r2 }
  OPTIONAL { ?review :rating3 ?r3 } } ORDER BY DESC(?date) ?title LIMIT 20""",
    "b9 a reviewer": """SELECT ?property ?value WHERE {
  :%(review)s :by ?person . ?person ?property ?value }""",
    "b10 cheap offers, soon": """SELECT DISTINCT ?offer ?price WHERE {
  ?offer :product :%(product)s ; :vendor ?vendor ; :delivery ?days ; :price ?price ; :until ?until .
  ?vendor :country :US FILTER(?days <= 7 && ?until > "2008-10-01"^^xsd:date) }
ORDER BY ?price ?offer LIMIT 10""",
    "b11 all about an offer": """SELECT ?property ?value ?of WHERE {
  { :%(offer)s ?property ?value } UNION { ?of ?property :%(offer)s } }""",
    "b12 an offer as other triples": """CONSTRUCT { :%(offer)s :label ?label ; :seller ?name ;
  :costs ?price } WHERE { :%(offer)s :product ?product ; :vendor ?vendor ; :price ?price .
  ?product rdfs:label ?label . ?vendor rdfs:label ?name }""",
    "b13 mean ratings by country": """SELECT ?country (AVG(?rating) AS ?mean) WHERE {
  ?review :of ?product ; :by ?person ; :rating1 ?rating . ?product a :%(type)s .
  ?person :country ?country } GROUP BY ?country""",
    "b14 cheapest offers by product": """SELECT ?product (MIN(?price) AS ?least) WHERE {
  ?offer :product ?product ; :price ?price . ?product a :%(type)s } GROUP BY ?product""",
    "b15 products below a type": """SELECT DISTINCT ?product WHERE {
  ?product a/:within* :%(type)s ; :feature :%(feature)s }""",
}


def queries(size: int) -> dict[str, list[str]]:
    """Five texts of each, about five products."""
    roll = random.Random(f"shop/{size}/queries").random
    chosen = [_constants(size * 100, roll) for _ in range(TEXTS)]
    return {name: [PREFIXES + query % some for some in chosen] for name, query in QUERIES.items()}


def _constants(products: int, roll: Callable[[], float]) -> dict[str, object]:
    product = int(products * roll())
    return {
        "product": f"product{product}",
        "offer": f"offer{product}-3",
        "review": f"review{product}-2",
        "type": f"Type{int(FIRST_LEAF * roll())}",
        "feature": f"feature{int(FEATURES * roll())}",
        "other": f"feature{int(FEATURES * roll())}",
        "number": int(500 * roll()),
        "word": WORDS[int(len(WORDS) * roll())],
    }
