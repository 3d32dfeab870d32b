"""Publications and their authors, and queries in the manner of SP2Bench.

The data has the properties that make SP2Bench's queries hard: few authors write much, the number of
publications grows by year, abstracts are rare, articles belong to journals and papers to
proceedings, and some cite others. `size` is the number of publications in thousands. Data and texts
are our own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from bench.queries.triples import LABEL, TYPE, number, text

BASE = "http://publications.example/"
FIRST, LAST = 1970, 2009
PREFIXES = f"""PREFIX : <{BASE}>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
"""
Roll = Callable[[], float]


def _iri(name: str) -> str:
    return f"<{BASE}{name}>"


def lines(size: int) -> Iterator[str]:
    """Lines of N-Triples; nine or ten for each publication.

    >>> len(list(lines(1))) // 1000
    9
    """
    roll = random.Random(f"publications/{size}").random
    count, authors = size * 1000, size * 400
    for i in range(authors):
        yield f"{_iri(f'person{i}')} {TYPE} {_iri('Person')} .\n"
        yield f"{_iri(f'person{i}')} {_iri('name')} {text(f'Person {i}')} .\n"
    for year in range(FIRST, LAST + 1):
        yield from _venues(year)
    for i in range(count):
        yield from _publication(i, authors, roll)


def _venues(year: int) -> Iterator[str]:
    for kind in ("Journal", "Proceedings"):
        venue = _iri(f"{kind}1/{year}")
        yield f"{venue} {TYPE} {_iri(kind)} .\n"
        yield f"{venue} {LABEL} {text(f'{kind} 1 ({year})')} .\n"
        yield f"{venue} {_iri('year')} {number(year)} .\n"


def _publication(i: int, authors: int, roll: Roll) -> Iterator[str]:
    """Number `i`; the last years have most, the first persons write most."""
    year = FIRST + int((LAST - FIRST + 1) * roll() ** 0.4)
    kind, venue = ("Article", "Journal") if roll() < 0.5 else ("Paper", "Proceedings")
    said = [
        (TYPE, _iri(kind)),
        (LABEL, text(f"Title {i}")),
        (_iri("year"), number(year)),
        (_iri("partOf"), _iri(f"{venue}1/{year}")),
        (_iri("pages"), number(1 + int(400 * roll()))),
    ]
    people = sorted({int(authors * roll() ** 3) for _ in range(1 + int(3 * roll()))})
    said += [(_iri("creator"), _iri(f"person{person}")) for person in people]
    if roll() < 0.3:
        said.append((_iri("seeAlso"), _iri(f"online/{i}")))
    if roll() < 0.02:
        said.append((_iri("abstract"), text(f"An abstract of title {i}")))
    if i and roll() < 0.4:
        cited = sorted({int(i * roll() ** 2) for _ in range(1 + int(4 * roll()))})
        said += [(_iri("cites"), _iri(f"publication{one}")) for one in cited]
    for predicate, value in said:
        yield f"{_iri(f'publication{i}')} {predicate} {value} .\n"


QUERIES = {
    "s1 year of a journal": """SELECT ?year WHERE {
  ?journal a :Journal ; rdfs:label "Journal 1 (1990)" ; :year ?year }""",
    "s2 papers, abstracts optional, by year": """SELECT * WHERE {
  ?paper a :Paper ; :creator ?author ; rdfs:label ?title ; :partOf ?venue ; :pages ?pages ;
         :seeAlso ?online ; :year ?year
  OPTIONAL { ?paper :abstract ?abstract } } ORDER BY ?year""",
    "s3a articles with some property, common": """SELECT ?article WHERE {
  ?article a :Article ; ?property ?value FILTER(?property = :pages) }""",
    "s3b articles with some property, rare": """SELECT ?article WHERE {
  ?article a :Article ; ?property ?value FILTER(?property = :abstract) }""",
    "s4 pairs of authors of a journal": """SELECT DISTINCT ?one ?other WHERE {
  ?a a :Article ; :creator ?x ; :partOf ?journal . ?x :name ?one .
  ?b a :Article ; :creator ?y ; :partOf ?journal . ?y :name ?other .
  ?journal :year 1980 FILTER(?one < ?other) }""",
    "s5 authors of both kinds": """SELECT DISTINCT ?person ?name WHERE {
  ?article a :Article ; :creator ?person . ?paper a :Paper ; :creator ?person .
  ?person :name ?name }""",
    "s6 first publications": """SELECT ?year ?name ?document WHERE {
  ?document :year ?year ; :creator ?author . ?author :name ?name
  OPTIONAL { ?before :year ?earlier ; :creator ?author FILTER(?earlier < ?year) }
  FILTER(!BOUND(?before)) }""",
    "s7 cited by none that is not cited": """SELECT DISTINCT ?title WHERE {
  ?document rdfs:label ?title . ?by :cites ?document
  FILTER NOT EXISTS { ?other :cites ?document FILTER NOT EXISTS { ?third :cites ?other } } }""",
    "s8 authors near one": """SELECT DISTINCT ?name WHERE {
  ?one :creator :person7 ; :creator ?near FILTER(?near != :person7)
  { ?near :name ?name } UNION { ?two :creator ?near ; :creator ?far . ?far :name ?name
    FILTER(?far != :person7 && ?far != ?near) } }""",
    "s9 properties of persons": """SELECT DISTINCT ?property WHERE {
  { ?person a :Person . ?any ?property ?person } UNION
  { ?person a :Person . ?person ?property ?any } }""",
    "s10 all about one": "SELECT ?subject ?property WHERE { ?subject ?property :person7 }",
    "s11 a page of a list": """SELECT ?online WHERE { ?document :seeAlso ?online }
ORDER BY ?online LIMIT 10 OFFSET 50""",
    "s12 ask, yes": """ASK { ?article a :Article ; :creator ?person .
  ?paper a :Paper ; :creator ?person }""",
    "s13 ask, no": "ASK { :person0 a :Journal }",
    "s14 publications by year": """SELECT ?year (COUNT(?document) AS ?documents)
  (AVG(?pages) AS ?mean) WHERE { ?document :year ?year ; :pages ?pages } GROUP BY ?year""",
    "s15 citing one, directly or not": "SELECT ?document WHERE { ?document :cites+ :publication3 }",
}


def queries(size: int) -> dict[str, list[str]]:
    """The texts; the same for all sizes, since constants are among the first things made."""
    return {name: [PREFIXES + query] for name, query in QUERIES.items()}
