"""What a regime made of the axioms: the part of a report that prevents "it infers nothing".

Start reading at `regime_report`. It looks at axioms, and for its warnings at a sample of the data;
it holds on to no facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from triplestore.datalog.problems import Problem
from triplestore.datalog.program import TYPE, Rule, TripleAtom
from triplestore.engine.report import Report
from triplestore.store.in_force import InForce, Regimes
from triplestore.store.scope import DEFAULT, out_of_scope, scope_rules
from triplestore.tables import EXPLICIT, Tables
from triplestore.terms import IRI, key_of, to_ntriples
from triplestore.terms.vocabulary import OWL, RDF, RDFS

if TYPE_CHECKING:
    from triplestore.ontologies.regimes import Translation
    from triplestore.terms import Dictionary

MOST_NAMES = 2000
"""Names of data and ontology are compared letter by letter if there are no more than so many."""

MOST_LISTED = 10
"""So many of each kind are printed."""

MOST_KEPT = 1000
"""So many axioms that are outside are in a report."""

MOST_LOOKED_AT = 10_000
"""So many values of a property are looked at for literals where its range is a class."""


@dataclass(frozen=True, slots=True)
class RegimeReport(Report):
    """A report with what was made of axioms; prints as a table."""

    regimes: Sequence[str] = ()
    """The regimes in force."""
    scope: str | Sequence[str] = DEFAULT
    """Which named graphs take part beside the default graph."""
    axioms: int = 0
    """Axioms that rules were made of."""
    rules_by_id: Mapping[str, int] = field(default_factory=dict)
    """Id of a public rule -> how many rules are cases of it; those of unfolded expressions count
    for each of their ids."""
    outside_count: int = 0
    """Axioms, or parts of axioms, for which the regimes have no rule."""
    outside_reasons: Mapping[str, int] = field(default_factory=dict)
    """Reason -> of how many of these it is the one."""
    outside: Sequence[str] = ()
    """The first of them, each with the reason."""
    problems: Sequence[str] = ()
    """What looks like part of an axiom and is not quite right."""
    unresolved: Sequence[str] = ()
    """Imports that were not found, each with the reason."""

    def as_dict(self) -> dict[str, Any]:
        """The figures by name, fit for JSON."""
        values = asdict(self)
        values["warnings"] = [str(problem) for problem in self.warnings]
        return values

    def __str__(self) -> str:
        rows = [("regimes", ", ".join(self.regimes)), ("scope", self._scope())]
        rows.append(("axioms", self._axioms()))
        ids = Counter(self.rules_by_id).most_common(MOST_LISTED)
        rows.append(("rules by id", ", ".join(f"{name} {count:,}" for name, count in ids)))
        reasons = [f"{count:,} times: {why}" for why, count in self.outside_reasons.items()]
        rows += _listed("outside", reasons, len(reasons))
        rows += _listed("problems", self.problems, len(self.problems))
        rows += _listed("not imported", self.unresolved, len(self.unresolved))
        lines = [f"{name:<15} {value}" for name, value in rows if value]
        return "\n".join([*lines, Report.__str__(self)])

    def _scope(self) -> str:
        if self.scope == DEFAULT:
            return ""
        return self.scope if isinstance(self.scope, str) else ", ".join(self.scope)

    def _axioms(self) -> str:
        left = f", {self.outside_count:,} outside" if self.outside else ""
        return f"{self.axioms:,} used{left}"


def _listed(name: str, lines: Sequence[str], count: int) -> Iterator[tuple[str, str]]:
    for place, line in enumerate(lines[:MOST_LISTED]):
        yield ("" if place else name), " ".join(line.split())
    if count > MOST_LISTED:
        yield "", f"and {count - MOST_LISTED:,} more"


def regime_report(
    report: Report, rules: InForce, regimes: Regimes, tables: Tables, dictionary: Dictionary
) -> RegimeReport:
    """The report with what was made of axioms."""
    made = {one.name: getattr(report, one.name) for one in fields(Report)}
    translation, ontology = rules.translation, rules.ontology
    warnings = [*report.warnings, *_out_of_scope(regimes, tables, dictionary)]
    if regimes.names:
        warnings += _warnings(rules, tables, dictionary)
    return RegimeReport(
        **{**made, "warnings": tuple(warnings)},
        regimes=regimes.names,
        scope=regimes.scope,
        axioms=(0 if translation is None else translation.used) + len(rules.whole.edges or ()),
        rules_by_id=dict(_by_id(rules)),
        outside_count=0 if translation is None else len(translation.outside),
        outside_reasons=_reasons(translation),
        outside=() if translation is None else tuple(map(str, translation.outside[:MOST_KEPT])),
        problems=() if ontology is None else tuple(map(str, ontology.problems)),
        unresolved=tuple(f"{iri}: {reason}" for iri, reason in regimes.unresolved),
    )


def _reasons(translation: Translation | None) -> dict[str, int]:
    found = () if translation is None else translation.outside
    return dict(Counter(one.reason for one in found).most_common())


def _by_id(rules: InForce) -> Counter[str]:
    found: Counter[str] = Counter()
    for rule in rules.whole.program.rules:
        if rule.axioms:
            found.update(rule.name.split(", "))
    if rules.whole.edges is not None:
        found[rules.whole.edges.name] += rules.rule_count - len(rules.whole.program.rules)
    for constraint in rules.constraints:
        if constraint.axioms:
            found[constraint.id] += 1
    return found


# -- warnings -------------------------------------------------------------------------------------


def _warnings(rules: InForce, tables: Tables, dictionary: Dictionary) -> Iterator[Problem]:
    """What makes it likely that less is inferred than was hoped for."""
    about = [rule for rule in rules.whole.program.rules if rule.axioms]
    beside = [] if rules.whole.edges is None else rules.whole.edges.lower_classes()
    scoped = scope_rules(tables, dictionary)
    if not (about or beside) and (scoped or tables.total(EXPLICIT)):
        yield _warning(
            "no-axioms",
            "there are no axioms that rules could be made of, so little can follow",
            "give the ontology as ontology=..., or load it with the data",
        )
        return
    data = _names_of_data(tables, dictionary) | _names_of(scoped, heads=True)
    ontology = _names_of(about) | {key for key in beside if _is_own(key)}
    if not data or not ontology:
        return
    if not data & ontology:
        yield _strangers(data, ontology)
    elif max(len(data), len(ontology)) <= MOST_NAMES:
        yield from _misspelt(data - ontology, ontology - data)
    yield from _literals(rules, tables, dictionary)


def _out_of_scope(regimes: Regimes, tables: Tables, dictionary: Dictionary) -> Iterator[Problem]:
    """Data in named graphs that take no part."""
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


def _names_of_data(tables: Tables, dictionary: Dictionary) -> set[bytes]:
    """Keys of the properties and classes that stated facts have, those of vocabularies aside."""
    names = [name for name in tables.names().tolist() if tables.relation_total(name, EXPLICIT)]
    type_id = int(dictionary.lookup_keys([TYPE.key])[0])
    if type_id:
        types = tables.relation(type_id)
        if types.distinct_estimate(1) <= MOST_NAMES:
            names += types.distinct(1, EXPLICIT).tolist()
    known = {dictionary.key(name) for name in names}
    return set(filter(_is_own, known))


def _is_own(key: bytes) -> bool:
    """Whether it is a name, and of no vocabulary of the W3C's."""
    return key[0] == IRI and not key[1:].startswith(_VOCABULARIES)


_VOCABULARIES = (RDF.encode(), RDFS.encode(), OWL.encode(), b"http://www.w3.org/2003/11/swrl")


def _names_of(rules: Sequence[Rule], *, heads: bool = False) -> set[bytes]:
    """Keys of the properties and classes that bodies of rules, or heads, speak of."""
    found: set[bytes] = set()
    for rule in rules:
        for atom in rule.heads if heads else rule.atoms:
            if isinstance(atom, TripleAtom):
                term = atom.o if atom.p == TYPE else atom.p
                key = getattr(term, "key", b"\x00")
                if _is_own(key):
                    found.add(key)
    return found


def _strangers(data: set[bytes], ontology: set[bytes]) -> Problem:
    """Data and ontology have no name in common; perhaps they would with another scheme."""
    other = {
        key.replace(b"https:", b"http:", 1)
        if key.startswith(b"\x01https:")
        else key.replace(b"http:", b"https:", 1)
        for key in ontology
    }
    if data & other:
        return _warning(
            "http-https",
            "ontology and data have the same names but for http and https",
            "load one of them with the names of the other",
        )
    one, two = (_shown(min(keys)) for keys in (data, ontology))
    return _warning(
        "strangers",
        f"ontology and data share no class and no property: {one} is one of the data, {two} one "
        "of the ontology",
        "is it the right ontology?",
    )


def _misspelt(data: set[bytes], ontology: set[bytes]) -> Iterator[Problem]:
    """Names of the data that are one letter away from one of the ontology."""
    known = [key.decode() for key in ontology if not key[-1:].isdigit()]
    for key in sorted(data):
        text = key.decode()
        if text[-1].isdigit():
            continue  # names are numbers there, and all of them are near to others
        near = get_close_matches(text, known, n=1, cutoff=0.9)
        if near and _distance_is_one(text, near[0]):
            yield _warning(
                "misspelt",
                f"the data have {_shown(key)}, and the ontology {_shown(near[0].encode())}",
                "is that the same name?",
            )


def _distance_is_one(one: str, other: str) -> bool:
    """Whether one letter added, dropped or changed (its case, too) makes one of the other.

    >>> _distance_is_one("worksFor", "worksfor"), _distance_is_one("Dog", "Cog2")
    (True, False)
    """
    if len(one) > len(other):
        one, other = other, one
    if len(other) - len(one) > 1 or one == other:
        return False
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    return one[at + (len(one) == len(other)) :] == other[at + 1 :]


def _literals(rules: InForce, tables: Tables, dictionary: Dictionary) -> Iterator[Problem]:
    """Properties with literals as values, and a class as range."""
    from triplestore.ontologies.axioms import PropertyRange
    from triplestore.ontologies.datatypes import is_datatype
    from triplestore.ontologies.expressions import Expression
    from triplestore.ontologies.making import EVERYTHING, base_of, class_of

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
        values = np.unique(keys[:MOST_LOOKED_AT].astype(np.uint32))
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
