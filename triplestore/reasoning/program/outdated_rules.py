"""Whether the rules in force are still the right ones after some changes.

Start reading at `are_outdated`. The rules that regimes bring are made from axioms, from literals
and from the names in graphs of the scope. So each commit asks whether its changes speak of these.
That costs a look at the distinct properties and classes of the changes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from triplestore.datalog.program import TYPE
from triplestore.ontologies.model import vocabulary as words
from triplestore.reasoning.program.graph_scope import DEFAULT, needs_rules
from triplestore.reasoning.program.literals import ill_typed
from triplestore.relations import Changes
from triplestore.relations.facts.sorted_arrays import sorted_distinct
from triplestore.relations.packed_keys import NO_IDS, U32, high, in_sorted, low
from triplestore.terms import BLANK, IRI, STRING, key_of
from triplestore.terms.vocabulary import OWL, RDF, RDFS

if TYPE_CHECKING:
    from triplestore.reasoning.outcome import WriteStep
    from triplestore.reasoning.program.in_force import InForce
    from triplestore.reasoning.program.settings import Regimes
    from triplestore.terms import Dictionary

_MEMBER = b"\x01" + RDF.encode() + b"_"


def are_outdated(
    rules: InForce | None,
    regimes: Regimes,
    steps: Sequence[WriteStep],
    dictionary: Dictionary,
    committed: int,
) -> bool:
    """Whether other rules may have to be made after these steps.

    committed  number of committed terms: earlier commits have looked at these
    """
    if regimes.scope != DEFAULT:
        scoped = frozenset() if rules is None else rules.scoped
        if needs_rules(steps, scoped, dictionary):
            return True
    if regimes.has_el and _touch_roles(steps, rules, dictionary):
        return True
    if regimes.reads_axioms and _touch_axioms(steps, regimes, dictionary):
        return True
    if not regimes.reads_axioms and _touch_ontologies(steps, regimes, dictionary):
        return True
    known = None if rules is None else rules.literals
    upto = max(committed, 0 if known is None else known.upto)
    if regimes.look_at_literals and ill_typed(dictionary, upto):
        return True
    valued = NO_IDS if known is None else known.valued
    return len(valued) > 0 and any(_touches_values(step, valued, dictionary) for step in steps)


def names_in(step: WriteStep, type_id: int) -> tuple[U32, U32]:
    """The properties and the classes in the facts of a step, each in order."""
    if isinstance(step, Changes):
        p, _, o = step.facts.columns
        return sorted_distinct(p), sorted_distinct(o[p == type_id])
    order, place = step.facts.forward, step.facts.place(type_id)
    if place < 0:
        return order.names, NO_IDS
    run = order.run(place)
    return order.names, sorted_distinct(low(run.keys[run.lo : run.hi]))


def have_one_of(ids: U32, keys: Collection[bytes], dictionary: Dictionary) -> bool:
    """Whether one of these distinct ids, in order, belongs to one of these keys."""
    if len(ids) < len(keys):
        return any(dictionary.key(number) in keys for number in ids.tolist())
    found = dictionary.lookup_keys(list(keys))
    return bool(in_sorted(found[found != 0], ids).any())


# -- axioms ---------------------------------------------------------------------------------------


def _touch_axioms(steps: Sequence[WriteStep], regimes: Regimes, dictionary: Dictionary) -> bool:
    """Whether some steps change triples that may be part of an axiom, or equalities.

    That something is in a class without a name may be a reason to have that class.
    """
    graphs = dictionary.lookup_keys(regimes.graphs) if regimes.ontologies else NO_IDS
    (type_id,) = dictionary.lookup_keys([TYPE.key]).tolist()
    properties, axiom_classes = _axiom_words()
    for step in steps:
        if len(graphs) and _touches_graphs(step, graphs):
            return True
        names, classes = names_in(step, type_id)
        keys = map(dictionary.key, names.tolist())
        if any(key in properties or is_member(key) for key in keys):
            return True
        if len(classes) == 0:
            continue
        unnamed = (dictionary.kinds(classes) == BLANK).any()
        if unnamed or have_one_of(classes, axiom_classes, dictionary):
            return True
    return False


def _touch_roles(steps: Sequence[WriteStep], rules: InForce | None, dictionary: Dictionary) -> bool:
    """Whether some steps change which properties of the ontology have assertions: they bring facts
    of a property that has no rule, or an axiom with a property that has none."""
    known = frozenset() if rules is None else rules.roles
    (type_id,) = dictionary.lookup_keys([TYPE.key]).tolist()
    for step in steps:
        names, _ = names_in(step, type_id)
        keys = [dictionary.key(name) for name in names.tolist()]
        for key in keys:
            if key in _PROPERTIES_OF_AXIOMS:
                return True
            if key[0] == IRI and key[1:].decode() not in known and not _is_vocabulary(key):
                return True
    return False


_PROPERTIES_OF_AXIOMS = frozenset(
    map(
        key_of,
        (
            words.ON_PROPERTY,
            words.SUB_PROPERTY_OF,
            words.EQUIVALENT_PROPERTY,
            words.PROPERTY_CHAIN_AXIOM,
            words.DOMAIN,
            words.RANGE,
        ),
    )
)


def _is_vocabulary(key: bytes) -> bool:
    return key[1:].startswith(_NAMESPACES)


_NAMESPACES = (RDF.encode(), RDFS.encode(), OWL.encode())


def _touch_ontologies(steps: Sequence[WriteStep], regimes: Regimes, dictionary: Dictionary) -> bool:
    """Whether some steps change the graph of an ontology file."""
    graphs = dictionary.lookup_keys(regimes.graphs) if regimes.ontologies else NO_IDS
    return len(graphs) > 0 and any(_touches_graphs(step, graphs) for step in steps)


@cache
def _axiom_words() -> tuple[frozenset[bytes], frozenset[bytes]]:
    """The keys of the properties and of the classes that axioms are written with."""
    properties = {*words.SCHEMA_PREDICATES, *words.SWRL_PREDICATES, words.SAME_AS}
    classes = {*words.SCHEMA_CLASSES, *words.SWRL_CLASSES}
    return frozenset(map(key_of, properties)), frozenset(map(key_of, classes))


def is_member(key: bytes) -> bool:
    """Whether a property is rdf:_1, rdf:_2 and so on.

    >>> is_member(b"\\x01http://www.w3.org/1999/02/22-rdf-syntax-ns#_12")
    True
    """
    number = key.removeprefix(_MEMBER)
    return number != key and number.isdigit() and not number.startswith(b"0")


def _touches_graphs(step: WriteStep, graphs: U32) -> bool:
    if isinstance(step, Changes):
        return bool(np.isin(step.quads.columns[3], graphs).any())
    order = step.quads.by_graph
    return order is not None and bool(np.isin(high(order.names), graphs).any())


# -- literals -------------------------------------------------------------------------------------


def _touches_values(step: WriteStep, valued: U32, dictionary: Dictionary) -> bool:
    """Whether a literal was added to, or removed from, a property whose values are compared."""
    if isinstance(step, Changes):
        p, _, o = step.facts.columns
        return bool((dictionary.kinds(o[np.isin(p, valued)]) >= STRING).any())
    for name in valued.tolist():
        place = step.facts.place(name)
        if place >= 0:
            run = step.facts.forward.run(place)
            objects = sorted_distinct(low(run.keys[run.lo : run.hi]))
            if (dictionary.kinds(objects) >= STRING).any():
                return True
    return False
