"""A bibliography in the manner of DBLP's graph, for the templates of Sparqloscope.

It has what the templates look for: a few predicates with a tenth of all triples each and many with
a handful, classes, blank nodes (signatures: who signed a publication, and where in the list), names
with and without language tags, numbers, dates, IRIs, values that nearly every subject shares and
values that none shares, two predicates with the same objects, and a symmetric relation whose
transitive closure is large. No two large predicates have the same number of triples, so a rule that
takes the largest has one answer. `size` is the number of publications in thousands. Names are made
of syllables.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from bench.queries.triples import LABEL, TYPE, XSD, number, text

BASE = "http://bibliography.example/"
SCHEMA = f"{BASE}schema#"
SUBCLASS = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
FIRST, LAST = 1960, 2025
Roll = Callable[[], float]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


KINDS = ("Article", "Inproceedings", "Book", "Incollection", "Editorship", "Data", "Withdrawn")
WORDS = _words(
    "Compact Computing Complex Common Combined Communication Coded Collaborative Concurrent Cyclic "
    "Adaptive Algebraic Automatic Bayesian Bounded Deep Distributed Efficient Fast Formal Graph "
    "Hybrid Incremental Large Learning Linear Local Logic Mobile Models Modular Networks Neural "
    "Optimal Parallel Planar Practical Privacy Proofs Queries Random Reliable Robust Scalable "
    "Semantic Sensor Simple Sparse Spatial Stable Statistical Streams Strong Systems Temporal "
    "Theories Trees Type Verified Visual Wireless with for of and over by in data becoming "
    "recommendation compiler incomplete welcome"
)
SYLLABLES = (
    *("an", "bel", "cor", "dü", "el", "fa", "gri", "ho", "in", "jo", "ka", "li", "mé", "no"),
    *("or", "pe", "qi", "ra", "so", "ta", "ul", "ve", "wen", "xi", "yu", "za", "ström"),
)
TAGS = ("", "@zh", "", "@en", "@de", "@en", "@fr", "@en")  # of the least name none, of the last zh
RARE = (  # predicates of streams with at most this many thousandths of the streams
    *(("formerTitle", 400), ("awardPage", 350), ("successor", 300), ("predecessor", 280)),
    *(("publisherAddress", 240), ("chapterOf", 200), ("mirror", 170), ("note", 150)),
    *(("isbn", 130), ("edition", 110), ("city", 95), ("country", 80), ("sponsor", 70)),
    *(("archive", 60), ("feed", 50), ("licence", 42), ("version", 35), ("abstract", 30)),
    *(("translation", 25), ("erratum", 20), ("reviewedBy", 16), ("motto", 12), ("logo", 9)),
    *(("founded", 7), ("dissolved", 5), ("seeElsewhere", 3)),
)


def _iri(name: str) -> str:
    return f"<{BASE}{name}>"


def _of(name: str) -> str:
    return f"<{SCHEMA}{name}>"


def lines(size: int) -> Iterator[str]:
    """Lines of N-Triples; about 40 for each publication.

    >>> sum(chunk.count(" .") for chunk in lines(1)) // 1000
    42
    """
    roll = random.Random(f"bibliography/{size}").random
    persons, streams = size * 700, 200 + size * 30
    for kind in KINDS:
        yield _said(_of(kind), ((SUBCLASS, _of("Publication")), (LABEL, text(kind))))
    for i in range(persons):
        yield _person(i, roll)
    for i in range(streams):
        yield _stream(i, streams, roll)
    for i in range(size * 1000):
        yield from _publication(i, persons, streams, roll)


def _said(subject: str, facts: Iterator[tuple[str, str]] | tuple[tuple[str, str], ...]) -> str:
    return "".join(f"{subject} {predicate} {value} .\n" for predicate, value in facts)


def name_of(i: int) -> str:
    """The name of person `i`: no two are the same.

    >>> name_of(5), name_of(1000)
    ('Fa An 5', 'Bel Ka 1000')
    """
    first, last = SYLLABLES[i % len(SYLLABLES)], SYLLABLES[i // 27 % len(SYLLABLES)]
    return f"{first.title()} {last.title()} {i}"


def _tag(i: int) -> str:
    """The language of a name, by its first syllable."""
    return TAGS[i % len(SYLLABLES) % len(TAGS)]


def _person(i: int, roll: Roll) -> str:
    facts = [(TYPE, _of("Person")), (LABEL, text(name_of(i)))]
    if roll() < 0.97:
        facts.append((TYPE, _of("Creator")))
    if roll() < 0.5:
        facts.append((_of("primaryName"), text(name_of(i))))
    if roll() < 0.3:
        facts.append((_of("orcid"), _iri(f"orcid/{i:08}")))
    if roll() < 0.2:
        facts.append((_of("affiliation"), text(f"University of {_title(roll, 1)}")))
    if roll() < 0.1:
        facts.append((_of("homepage"), _iri(f"home/{i}")))
    return _said(_iri(f"person/{i}"), tuple(facts))


def _stream(i: int, streams: int, roll: Roll) -> str:
    """A journal or a series; forty related ones make a group, whose members reach each other."""
    kind = "Journal" if i % 3 else "Conference"
    facts = [(TYPE, _of("Stream")), (TYPE, _of(kind)), (LABEL, text(_title(roll, 3) + f" {i}"))]
    group = i - i % 40
    near = sorted({min(group + int(40 * roll()), streams - 1) for _ in range(4)} - {i})
    facts += [(_of("relatedStream"), _iri(f"stream/{other}")) for other in near]
    if i % 5 == 0:
        facts += [(_of("subStream"), _iri(f"stream/{other}")) for other in near[:2]]
    elif i % 5 < 3:
        facts.append((_of("superStream"), _iri(f"stream/{group}")))
    for name, share in RARE:
        if roll() * 1000 < share:
            facts.append((_of(name), text(f"{name} {i}")))
    return _said(_iri(f"stream/{i}"), tuple(facts))


def _title(roll: Roll, count: int) -> str:
    return " ".join(WORDS[int(len(WORDS) * roll() ** 1.5)] for _ in range(count))


def _publication(i: int, persons: int, streams: int, roll: Roll) -> Iterator[str]:
    """Number `i` and its signatures; the last years have most, the first persons write most."""
    publication = _iri(f"publication/{i}")
    year = FIRST + int((LAST - FIRST + 1) * roll() ** 0.35)
    kind = KINDS[int(len(KINDS) * roll() ** 3)]
    people = sorted({int(persons * roll() ** 2) for _ in range(1 + int(6 * roll() ** 1.5))})
    yield _said(publication, tuple(_about(i, kind, year, streams, roll)))
    for place, person in enumerate(people, 1):
        creator, mark = _iri(f"person/{person}"), f"_:s{i}x{place}"
        role = ("editedBy", "Editor") if kind == "Editorship" else ("authoredBy", "Author")
        yield _said(publication, ((_of("createdBy"), creator), (_of(role[0]), creator)))
        if roll() < 0.995:
            yield _said(publication, ((_of("hasSignature"), mark),))
        yield _said(mark, tuple(_signature(publication, creator, place, person, role[1], roll)))


def _about(i: int, kind: str, year: int, streams: int, roll: Roll) -> Iterator[tuple[str, str]]:
    title, stream = _title(roll, 3 + int(6 * roll())), int(streams * roll() ** 2)
    tag = TAGS[int(len(TAGS) * roll())]
    yield TYPE, _of("Publication")
    yield TYPE, _of(kind)
    yield LABEL, f'"{title}. ({year}) {i}"{tag}'
    if roll() < 0.995:
        yield _of("bibtexType"), _of(f"bibtex/{kind}")
    yield _of("modified"), f'"{_day(2010, 15, roll)}"^^<{XSD}date>'
    if roll() < 0.99:
        yield _of("title"), f'"{title}."{tag}'
    if roll() < 0.98:
        yield _of("year"), f'"{year}"^^<{XSD}gYear>'
    if roll() < 0.9:
        yield _of("publishedInStream"), _iri(f"stream/{stream}")
        yield _of("publishedIn"), text(f"Venue {stream}")
    if roll() < 0.8:
        yield _of("doi"), _iri(f"doi/10.{1000 + stream}/{i}")
    if roll() < 0.7:
        yield _of("pagination"), text(f"{int(900 * roll())}-{int(900 * roll()) + 900}")
    volume = roll()
    if volume < 0.55:
        yield _of("inVolume"), _iri(f"volume/{stream}/{year}")
    if volume > 0.5:
        yield _of("partOf"), _iri(f"publication/{int(i * roll())}")


def _day(first: int, years: int, roll: Roll) -> str:
    """A date within some years; months of 28 days."""
    return f"{first + int(years * roll())}-{1 + int(12 * roll()):02}-{1 + int(28 * roll()):02}"


def _signature(
    publication: str, creator: str, place: int, person: int, role: str, roll: Roll
) -> Iterator[tuple[str, str]]:
    yield TYPE, _of("Signature")
    yield TYPE, _of(f"{role}Signature")
    if roll() < 0.997:
        yield _of("signatureOrdinal"), number(place)
    if roll() < 0.99:
        yield _of("signatureName"), text(name_of(person)) + _tag(person)
    if roll() < 0.985:
        yield _of("signaturePublication"), publication
    if roll() < 0.98:
        yield _of("signatureCreator"), creator
