"""Warnings of a report: likely reasons why less is inferred than a user expects.

Start reading at `warnings_of`. A wrong warning is worse than none, since users stop reading
warnings. So only asserted facts about individuals count as data. A vocabulary alone has none, even
if it describes its own classes, properties and authors.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from triplestore.datalog.problems import Problem
from triplestore.datalog.program import TYPE, Rule, TripleAtom
from triplestore.ontologies.model.axioms import PropertyRange
from triplestore.ontologies.model.expressions import Expression
from triplestore.ontologies.translate.datatypes import is_datatype
from triplestore.ontologies.translate.draft import EVERYTHING, base_of, class_of
from triplestore.reasoning.program.graph_scope import out_of_scope, scope_rules
from triplestore.reasoning.program.in_force import InForce
from triplestore.reasoning.program.schema_reader import SchemaReader
from triplestore.reasoning.program.settings import Regimes
from triplestore.relations import EXPLICIT, Tables
from triplestore.relations.packed_keys import in_sorted
from triplestore.terms import IRI, key_of, to_ntriples
from triplestore.terms.vocabulary import OWL, RDF, RDFS

if TYPE_CHECKING:
    from triplestore.relations.packed_keys import U32, Bools
    from triplestore.terms import Dictionary

MAX_NAMES = 2000
"""Maximum number of names with which data and ontology are compared."""

MAX_LOOKED_AT = 10_000
"""Maximum number of facts of a property or class that are examined."""

LEAST_LENGTH = 5
"""Minimum length of names that are compared; shorter ones are alike by chance."""

_ANNOTATION = b"\x01" + f"{OWL}AnnotationProperty".encode()
_VOCABULARIES = (RDF.encode(), RDFS.encode(), OWL.encode(), b"http://www.w3.org/2003/11/swrl")
_ABOUT_DOCUMENTS = (
    b"http://purl.org/dc/",
    b"http://xmlns.com/foaf/",
    b"http://purl.org/vocab/vann/",
    b"http://www.w3.org/2003/06/sw-vocab-status/",
    b"http://creativecommons.org/ns#",
    b"http://web.resource.org/cc/",
    b"http://www.w3.org/2004/02/skos/core#",
    b"http://schema.org/",
    b"https://schema.org/",
    b"http://rdfs.org/ns/void#",
    b"http://purl.org/vocommons/voaf#",
    b"http://www.w3.org/ns/prov#",
    b"http://www.w3.org/ns/adms#",
    b"http://usefulinc.com/ns/doap#",
    b"http://www.w3.org/2006/vcard/ns#",
    b"http://purl.org/pav/",
    b"http://purl.org/net/provenance/",
    b"http://open.vocab.org/terms/",
    b"http://omv.ontoware.org/",
    b"http://www.geneontology.org/formats/oboInOwl#",
)
"""Vocabularies with which vocabularies describe themselves and their authors."""


def warnings_of(
    rules: InForce, regimes: Regimes, tables: Tables, dictionary: Dictionary, missing: bool
) -> Iterator[Problem]:
    """The warnings about axioms and data.

    missing  whether some imports are not there: then names may be strangers for that reason
    """
    yield from _out_of_scope(regimes, tables, dictionary)
    if not regimes.reads_axioms:
        return
    about = [rule for rule in rules.whole.program.rules if rule.axioms]
    beside = [] if rules.whole.edges is None else rules.whole.edges.lower_classes()
    scoped = scope_rules(tables, dictionary)
    if not (about or beside) and (scoped or tables.total(EXPLICIT)):
        yield _warning(
            "no-axioms",
            "no rules could be made from axioms, so little can follow",
            "give the ontology as ontology=..., or load it with the data",
        )
        return
    ontology = _names_of(about)
    ontology.classes.update(key for key in beside if _is_own(key))
    data = _IndividualData(tables, dictionary, regimes)
    _names_of(scoped, heads=True, found=data.names)
    slips = list(_misspelt(data, ontology))
    yield from slips
    if not slips and ontology.all and not data.names.all & ontology.all:
        yield from _strangers(data, ontology.all, len(about) + len(beside), missing)
    yield from _literals(rules, tables, dictionary)


def _out_of_scope(regimes: Regimes, tables: Tables, dictionary: Dictionary) -> Iterator[Problem]:
    """Data in named graphs that are not in scope."""
    quads, graphs = out_of_scope(regimes, tables, dictionary)
    if quads:
        which = "a named graph" if graphs == 1 else f"{graphs:,} named graphs"
        yield _warning(
            "out-of-scope",
            f"{quads:,} statements in {which} take no part in reasoning",
            'say scope="union", or name the graphs: scope=[...]',
        )


def _warning(code: str, message: str, remedy: str = "") -> Problem:
    return Problem(code, message, remedy, file="ontology", warning=True)


# -- names ----------------------------------------------------------------------------------------


class NamesInUse(NamedTuple):
    """Keys of properties and classes, without those of the W3C's vocabularies."""

    properties: set[bytes]
    classes: set[bytes]

    @property
    def all(self) -> set[bytes]:
        """Both."""
        return self.properties | self.classes


class _IndividualData:
    """What is asserted of individuals (everything but classes, properties and parts of axioms), by
    properties that are not declared to be for annotations.

    names  of which properties and classes
    facts  name -> how many facts there are, of those that were looked at
    """

    def __init__(self, tables: Tables, dictionary: Dictionary, regimes: Regimes) -> None:
        self._tables, self._dictionary = tables, dictionary
        self._described = SchemaReader(dictionary, tables, regimes).described()
        self.names = NamesInUse(set(), set())
        self.facts: Counter[bytes] = Counter()
        type_id, annotation = dictionary.lookup_keys([TYPE.key, _ANNOTATION]).tolist()
        if type_id:
            self._read_types(type_id)
        annotating = tables.relation(type_id).by_second(annotation, EXPLICIT) if annotation else ()
        for name in sorted({*tables.names().tolist()} - {*map(int, annotating)}):
            key = dictionary.key(name)
            if _is_own(key) and tables.relation_total(name, EXPLICIT):
                keys = next(iter(tables.relation(name).scan_keys(EXPLICIT)), None)
                if keys is not None:
                    subjects = (keys[:MAX_LOOKED_AT] >> np.uint64(32)).astype(np.uint32)
                    self._count(key, subjects, self.names.properties)

    def _read_types(self, type_id: int) -> None:
        types = self._tables.relation(type_id)
        if types.distinct_estimate(1) > MAX_NAMES:
            return
        for class_ in types.distinct(1, EXPLICIT).tolist():
            key = self._dictionary.key(class_)
            if _is_own(key):
                self._count(key, types.by_second(class_, EXPLICIT), self.names.classes)

    def _count(self, key: bytes, subjects: U32, found: set[bytes]) -> None:
        own = int(np.count_nonzero(~self._are_described(subjects[:MAX_LOOKED_AT])))
        if own:
            found.add(key)
            self.facts[key] += own

    def _are_described(self, ids: U32) -> Bools:
        return in_sorted(ids, self._described)

    def is_described(self, key: bytes) -> bool:
        """Whether a name is the subject of an asserted fact."""
        (number,) = self._dictionary.lookup_keys([key]).tolist()
        relations = map(self._tables.relation, self._tables.names().tolist())
        return any(len(relation.by_first(number, EXPLICIT)) for relation in relations)


def _is_own(key: bytes) -> bool:
    """Whether it is an IRI that is not in a W3C vocabulary."""
    return key[0] == IRI and not key[1:].startswith(_VOCABULARIES)


def _names_of(
    rules: Sequence[Rule], *, heads: bool = False, found: NamesInUse | None = None
) -> NamesInUse:
    """The properties and classes in bodies of rules, or in heads."""
    found = found or NamesInUse(set(), set())
    for rule in rules:
        for atom in rule.heads if heads else rule.atoms:
            if isinstance(atom, TripleAtom):
                is_type = atom.p == TYPE
                key = getattr(atom.o if is_type else atom.p, "key", b"\x00")
                if _is_own(key):
                    (found.classes if is_type else found.properties).add(key)
    return found


# -- comparing them -------------------------------------------------------------------------------


def _strangers(
    data: _IndividualData, ontology: set[bytes], axioms: int, missing: bool
) -> Iterator[Problem]:
    """Data and ontology have no name in common; perhaps they would with another scheme."""
    names = data.names.all
    if names & {_with_other_scheme(key) for key in ontology}:
        yield _warning(
            "http-https",
            "the names of ontology and data differ only in http and https",
            "load one of them with the names of the other",
        )
        return
    foreign = [key for key in names if not key[1:].startswith(_ABOUT_DOCUMENTS)]
    if missing or not foreign or sum(data.facts[key] for key in foreign) < axioms:
        return
    one, two = (_shown(min(keys)) for keys in (foreign, ontology))
    yield _warning(
        "strangers",
        f"ontology and data share no class and no property: the data have {one}, and the ontology "
        f"{two}",
        "is it the right ontology?",
    )


def _with_other_scheme(key: bytes) -> bytes:
    if key.startswith(b"\x01https:"):
        return key.replace(b"https:", b"http:", 1)
    return key.replace(b"http:", b"https:", 1)


def _misspelt(data: _IndividualData, ontology: NamesInUse) -> Iterator[Problem]:
    """Names of the data that are one letter away from one of the ontology, of the same kind and in
    the same namespace, and of which nothing else is known."""
    if max(len(data.names.all), len(ontology.all)) > MAX_NAMES:
        return
    for used, known in zip(data.names, ontology, strict=True):
        near = _nearest(used - ontology.all, known - data.names.all)
        for key, other in sorted(near):
            if not data.is_described(key):
                yield _warning(
                    "misspelt",
                    f"the data have {_shown(key)}, and the ontology {_shown(other)}",
                    "is that the same name?",
                )


def _nearest(names: Iterable[bytes], known: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Pairs of names that differ by one letter."""
    by_part: defaultdict[tuple[str, str], list[bytes]] = defaultdict(list)
    for key in known:
        for part in _without_a_letter(key):
            by_part[part].append(key)
    for key in names:
        found = {other for part in _without_a_letter(key) for other in by_part.get(part, ())}
        one = _local(key)
        near = sorted(other for other in found if _is_slip(one[1], _local(other)[1]))
        if near:
            yield key, near[0]


def _local(key: bytes) -> tuple[str, str]:
    """A name's namespace, and the rest."""
    text = key[1:].decode()
    at = max(text.rfind("#"), text.rfind("/"), text.rfind(":")) + 1
    return text[:at], text[at:]


def _without_a_letter(key: bytes) -> set[tuple[str, str]]:
    """A name, and all that remain if one of its letters is dropped."""
    space, name = _local(key)
    if len(name) > 100:
        return set()
    return {(space, name)} | {(space, name[:i] + name[i + 1 :]) for i in range(len(name))}


def _is_slip(one: str, other: str) -> bool:
    """Whether names differ by one letter that was added, dropped or changed (also its case). Short
    names, and those that differ by a digit, are different on purpose.

    >>> _is_slip("worksFor", "worksfor"), _is_slip("Person", "Persn"), _is_slip("part1", "part2")
    (True, True, False)
    """
    if len(one) > len(other):
        one, other = other, one
    if len(other) - len(one) > 1 or one == other or len(one) < LEAST_LENGTH:
        return False
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    changed = len(one) == len(other)
    if one[at + changed :] != other[at + 1 :]:
        return False
    return not (other[at] + one[at : at + changed]).isdigit()


# -- literals -------------------------------------------------------------------------------------


def _literals(rules: InForce, tables: Tables, dictionary: Dictionary) -> Iterator[Problem]:
    """Properties with literals as values, and a class as range."""
    ranges = [] if rules.ontology is None else rules.ontology.axioms
    for axiom in ranges:
        if not isinstance(axiom, PropertyRange) or isinstance(axiom.range, Expression):
            continue
        class_ = class_of(axiom.range)
        if class_ in EVERYTHING or is_datatype(class_) or isinstance(axiom.property, Expression):
            continue
        name = int(dictionary.lookup_keys([base_of(axiom.property).key])[0])
        if not name:
            continue
        keys = next(iter(tables.relation(name).scan_keys(EXPLICIT)), None)
        if keys is None:
            continue
        values = np.unique(keys[:MAX_LOOKED_AT].astype(np.uint32))
        kinds = dictionary.kinds(values)
        if bool(((kinds >= 3) & (kinds <= 5)).any()):
            yield _warning(
                "literal-in-class",
                f"{_shown(key_of(axiom.property))} has literals as values, and the class {class_} "
                "as range",
                "state resources, or give a datatype as range",
            )


def _shown(key: bytes) -> str:
    return to_ntriples(key).decode()
