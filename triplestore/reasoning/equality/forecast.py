"""Predicts whether equalities will follow, before the rules are applied.

Start reading at `will_equate`. The rules of equality speak of all triples: they are in force only
where there is equality. A first closure that finds some has to begin again with these rules; where
asserted facts show that it will, they are there from the start. A wrong answer costs another turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pyoxigraph import NamedNode

from triplestore.ontologies.model.axioms import FunctionalProperty, InverseFunctionalProperty
from triplestore.relations import EXPLICIT
from triplestore.relations.packed_keys import NO_KEYS, U64, low, swap
from triplestore.terms import BLANK, IRI, key_of
from triplestore.terms.vocabulary import RDFS_SUB_PROPERTY_OF

if TYPE_CHECKING:
    from triplestore.ontologies.model.ontology import Ontology
    from triplestore.relations import Tables
    from triplestore.terms import Dictionary

_SUB_PROPERTY = b"\x01" + RDFS_SUB_PROPERTY_OF.encode()


def will_equate(ontology: Ontology, tables: Tables, dictionary: Dictionary) -> bool:
    """Whether a functional property has two values somewhere, or an inverse functional one a value
    twice; as far as asserted facts of it and of properties below it show.
    """
    kinds = (FunctionalProperty, InverseFunctionalProperty)
    found = [axiom for axiom in ontology.axioms if isinstance(axiom, kinds)]
    named = [(axiom, axiom.property) for axiom in found if isinstance(axiom.property, NamedNode)]
    if not named:
        return False
    ids = dictionary.lookup_keys([_SUB_PROPERTY, *(key_of(one) for _, one in named)]).tolist()
    sub_property, *properties = ids
    for (axiom, _), number in zip(named, properties, strict=True):
        if number:
            keys = _stated(number, sub_property, tables)
            if isinstance(axiom, InverseFunctionalProperty):
                keys = np.sort(swap(keys))
            if _several(keys, dictionary):
                return True
    return False


def _stated(number: int, sub_property: int, tables: Tables) -> U64:
    """The asserted pairs of a property and of those below it, sorted."""
    names, waiting = {number}, [number] if sub_property else []
    while waiting:
        below = tables.relation(sub_property).by_second(waiting.pop()).tolist()
        waiting += [one for one in below if one not in names]
        names.update(below)
    parts = [keys for one in names for keys in tables.relation(one).scan_keys(EXPLICIT)]
    return parts[0] if len(parts) == 1 else np.unique(np.concatenate([NO_KEYS, *parts]))


def _several(keys: U64, dictionary: Dictionary) -> bool:
    """Whether two things that are not literals stand beside one."""
    same = np.flatnonzero(keys[1:] >> np.uint64(32) == keys[:-1] >> np.uint64(32))
    if not len(same):
        return False
    kinds = [dictionary.kinds(low(keys[same + place])) for place in (0, 1)]
    things = [(kind == IRI) | (kind == BLANK) for kind in kinds]
    return bool((things[0] & things[1]).any())
