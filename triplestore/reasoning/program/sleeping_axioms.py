"""An ontology without instances, recognised by ids: the rules that it gives about data all sleep.

Start reading at `find_sleeping_axioms`. To read axioms, translate and unfold them takes longer than
to close the ontology, and then nearly all of these rules sleep (see `sleeping_rules`). Here the
columns of ids tell before any axiom is read that all of them will. What is needed then, the rules
about axioms, is made of columns too.

Each rule that an axiom gives about data has an atom in its body, of a property or class that the
axiom names. So all of them sleep if no fact is of a named property and nothing is a member of
a named class. What must hold for that is checked here; where it does not, nothing is found:

- Many of the asserted facts are axioms.
- No axiom names a word of the vocabulary, of which rules about axioms conclude facts. So these
  conclude nothing that a sleeping rule reads, and the axioms that hold are those that are asserted
  and what follows from them by these rules.
- A class that needs no atom (owl:Thing, datatypes) stands only where rules conclude its members, or
  beside a property.
- No axiom gives facts about data (owl:oneOf), or rows that constraints read (owl:members).
- Lists of intersections and unions are complete, without choices, and have members.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from triplestore.data_classes import data_class
from triplestore.datalog.program import TYPE, Constant, Program, Rule, TripleAtom
from triplestore.datalog.slices import slice_of
from triplestore.ontologies.model import vocabulary as words
from triplestore.ontologies.translate.datatypes import DATATYPES
from triplestore.ontologies.translate.draft import EVERYTHING, NOTHING
from triplestore.ontologies.translate.owl_rl_classes import SUB_CLASS
from triplestore.ontologies.translate.premises import SCHEMA_SLICES
from triplestore.ontologies.translate.regimes import vocabulary
from triplestore.reasoning.program.graph_scope import DEFAULT
from triplestore.reasoning.program.outdated_rules import names_in
from triplestore.reasoning.program.schema_reader import SchemaReader
from triplestore.reasoning.program.settings import BY_RULES
from triplestore.reasoning.program.sleeping_rules import Sleeping
from triplestore.reasoning.thresholds import REASONING
from triplestore.relations import EXPLICIT
from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.relations.packed_keys import NO_KEYS, U32, U64, Bools, high, in_sorted, low, pack
from triplestore.relations.views.equality import EQUALITY
from triplestore.terms import BLANK, IRI, key_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triplestore.reasoning.outcome import WriteStep
    from triplestore.reasoning.program.settings import Regimes
    from triplestore.relations import Tables
    from triplestore.terms import Dictionary


@data_class(slots=False)
class SleepingAxioms(Sleeping):
    """Axioms whose rules about data all sleep.

    names    ids of all that the axioms name, in order; a first fact of one of them wakes all rules
    read     what of the axioms the rules that are awake were made of
    """

    names: U32
    read: object

    def woken_by(self, steps: Iterable[WriteStep], dictionary: Dictionary) -> bool:
        """Whether some steps bring a fact that is watched for."""
        steps = list(steps)
        (type_id,) = dictionary.lookup_keys([TYPE.key]).tolist()
        if any(in_sorted(ids, self.names).any() for s in steps for ids in names_in(s, type_id)):
            return True
        return super().woken_by(steps, dictionary)


def find_sleeping_axioms(
    regimes: Regimes, tables: Tables, dictionary: Dictionary, before: Sleeping | None = None
) -> SleepingAxioms | None:
    """The axioms of some tables, closed or not, if all rules that they give about data sleep.

    before  those of earlier tables; their rules are used again if they are the same
    """
    plain = regimes.names == ("owl-rl",) and regimes.equality == BY_RULES and not regimes.trivial
    if not plain or regimes.ontologies or regimes.scope != DEFAULT or EQUALITY in tables.schemes:
        return None
    reader = SchemaReader(dictionary, tables, regimes)
    if not reader.many():
        return None  # who makes the rules later needs these tables, which must be small
    ids = _Words(dictionary)
    names = _names_of_axioms(reader, ids)
    if names is None or _are_in_use(names, ids, reader, tables):
        return None
    below = _said_by_lists(reader, ids, dictionary)
    if below is None:
        return None
    disjoint = bool(_are_nodes(low(reader.keys(ids.disjoint, EXPLICIT)), dictionary).any())
    read = disjoint, {name: pairs.tobytes() for name, pairs in below.items()}
    if isinstance(before, SleepingAxioms) and before.read == read:
        awake = before.awake
    else:
        awake = _awake(below, disjoint, dictionary)
    return SleepingAxioms(awake, _PROPERTIES, _CLASSES, names, read)


# -- names ----------------------------------------------------------------------------------------


class _Words:
    """Ids of words, in order where they are several; 0 for a word that the dictionary lacks."""

    def __init__(self, dictionary: Dictionary) -> None:
        def found(keys: Iterable[bytes]) -> U32:
            ids = dictionary.lookup_keys(list(keys))
            return np.sort(ids[ids != 0])

        self.of_rules = found(_words_of_rules())
        self.bodiless = found(class_.key for class_ in DATATYPES | EVERYTHING)
        self.concluded = found(map(key_of, _CONCLUDED))
        self.refused = found(map(key_of, _REFUSED))
        self.watched = found((*_PROPERTIES, *_CLASSES))
        single = [key_of(word) for word in _SINGLE]
        self.first, self.rest, self.nil, self.intersection, self.union, self.disjoint = (
            dictionary.lookup_keys(single).tolist()
        )
        (self.nothing,) = dictionary.lookup_keys([NOTHING.key]).tolist()


def _names_of_axioms(reader: SchemaReader, ids: _Words) -> U32 | None:
    """All that asserted axioms name; None if one is of a kind that is not handled here."""
    parts: list[U32] = []
    for predicate in reader.names.predicates.tolist():
        keys = reader.keys(predicate, EXPLICIT)
        if len(keys) and predicate in ids.refused:
            return None
        subjects, objects = high(keys), low(keys)
        parts += [subjects, objects]
        checked = (subjects,) if predicate in ids.concluded else (subjects, objects)
        if any(in_sorted(ids.bodiless, sorted_distinct(part)).any() for part in checked):
            return None
    types = reader.relations(reader.names.type_id)
    for class_ in reader.names.classes.tolist():
        parts += [one.by_second(class_, EXPLICIT) for one in types]
    names = sorted_distinct(np.concatenate([np.zeros(0, dtype=np.uint32), *parts]))
    return None if in_sorted(ids.of_rules, names).any() else names


def _are_in_use(names: U32, ids: _Words, reader: SchemaReader, tables: Tables) -> bool:
    """Whether there is a fact of a property, or a member of a class, that is watched for."""
    if in_sorted(tables.names(), names).any() or in_sorted(tables.names(), ids.watched).any():
        return True
    types = tables.relation(reader.names.type_id)
    if types.distinct_estimate(1) > len(names) + len(ids.of_rules):
        return True
    classes = types.distinct(1)
    return bool(in_sorted(classes, names).any() or in_sorted(classes, ids.watched).any())


@cache
def _words_of_rules() -> frozenset[bytes]:
    """The names of what rules about axioms read or conclude, and of what axioms are read from."""
    rules = [rule for rule in vocabulary(["owl-rl"]) if isinstance(rule, Rule)]
    slices = {slice_of(atom) for rule in rules for atom in (*rule.heads, *rule.atoms)}
    named = (one.name for one in (*slices, *SCHEMA_SLICES) if one.kind in ("property", "class"))
    return frozenset((TYPE.key, *(name for name in named if isinstance(name, bytes))))


_CONCLUDED = (
    words.SUB_CLASS_OF,
    words.DOMAIN,
    words.RANGE,
    words.SOME_VALUES_FROM,
    words.ALL_VALUES_FROM,
    words.ON_CLASS,
    words.ON_DATA_RANGE,
    words.ON_DATATYPE,
)
"""Properties whose values are classes that no rule reads alone."""

_REFUSED = (words.ONE_OF, words.MEMBERS, words.DISTINCT_MEMBERS)

_SINGLE = (
    words.FIRST,
    words.REST,
    words.NIL,
    words.INTERSECTION_OF,
    words.UNION_OF,
    words.DISJOINT_WITH,
)

_PROPERTIES = frozenset((key_of(words.SAME_AS), key_of(words.DIFFERENT_FROM)))
_CLASSES = frozenset((NOTHING.key,))
"""What the constraints read that do not depend on axioms."""


# -- rules that are awake -------------------------------------------------------------------------


def _said_by_lists(
    reader: SchemaReader, ids: _Words, dictionary: Dictionary
) -> dict[str, U64] | None:
    """Which classes are below others by intersections and unions, as packed pairs by the id of the
    rule that says so; None if a list is not plain."""
    found: dict[str, U64] = {}
    for name, predicate in (("scm-int", ids.intersection), ("scm-uni", ids.union)):
        keys = reader.keys(predicate, EXPLICIT) if predicate else NO_KEYS
        if not len(keys):
            continue
        parts = list(_members(keys, reader, ids))
        one = np.concatenate([owners for owners, _ in parts])
        other = np.concatenate([members for _, members in parts])
        if not _are_nodes(other, dictionary).all():  # also if a list broke off
            return None
        pairs = pack(one, other) if name == "scm-int" else pack(other, one)
        proper = (one != other) & (high(pairs) != ids.nothing)
        found[name] = sorted_distinct(pairs[proper])
    return found


def _are_nodes(ids: U32, dictionary: Dictionary) -> Bools:
    kinds = dictionary.kinds(ids)
    found: Bools = (kinds == IRI) | (kinds == BLANK)
    return found


def _members(keys: U64, reader: SchemaReader, ids: _Words) -> Iterator[tuple[U32, U32]]:
    """The subjects of lists with one member each, place by place; with 0 as the last members if a
    list is not complete, or ambiguous, or too long."""
    firsts, rests = (
        reader.keys(one, EXPLICIT) if one else NO_KEYS for one in (ids.first, ids.rest)
    )
    cells = high(firsts)
    owners, at = high(keys), low(keys)
    plain = np.array_equal(cells, high(rests)) and bool((cells[1:] != cells[:-1]).all())
    for _ in range(REASONING.sleeping_list):
        if not (plain and in_sorted(at, cells).all()):
            break
        places = cells.searchsorted(at)
        yield owners, low(firsts)[places]
        at = low(rests)[places]
        owners, at = owners[at != ids.nil], at[at != ids.nil]
        if not len(at):
            return
    yield owners, np.zeros(len(owners), dtype=np.uint32)


def _awake(below: dict[str, U64], disjoint: bool, dictionary: Dictionary) -> Program:
    """The rules about axioms, with what lists say, and the constraint about disjoint classes."""
    clauses = vocabulary(["owl-rl"])
    rules = [clause for clause in clauses if isinstance(clause, Rule)]
    for name, pairs in below.items():
        for one, other in zip(high(pairs).tolist(), low(pairs).tolist(), strict=True):
            sub, sup = Constant(dictionary.key(one)), Constant(dictionary.key(other))
            rules.append(Rule((TripleAtom(sub, SUB_CLASS, sup),), (), name))
    constraints = [one for one in clauses if not isinstance(one, Rule)]
    return Program(rules, [one for one in constraints if disjoint and one.id == "cax-dw"])
