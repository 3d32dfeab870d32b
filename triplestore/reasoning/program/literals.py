"""Facts about literals for rules made from axioms: spellings of one value, and ill-typed ones.

Start reading at `Literals`. Rules match terms; where an axiom compares the values of
properties, they need to know which literals are one value in several spellings. Internal relations
have facts that say so, only about literals in the data.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from typing import TYPE_CHECKING

import numpy as np

from triplestore.data_classes import data_class
from triplestore.datalog.program import Constant, Program, Rule, TupleAtom
from triplestore.ontologies.translate.draft import VARIANT
from triplestore.ontologies.translate.schema_rules import LITERALS, vocabulary_rules
from triplestore.terms import STRING, TYPED
from triplestore.terms.values.value_keys import split_typed
from triplestore.terms.values.xml_literals import is_well_formed
from triplestore.terms.values.xsd import is_known
from triplestore.terms.vocabulary import RDF_XML_LITERAL
from triplestore.thread_limits import look, looking

if TYPE_CHECKING:
    from triplestore.relations import Tables
    from triplestore.relations.packed_keys import U32
    from triplestore.terms import Dictionary

ILL_TYPED = Constant.iri("x-triplestore:literals/ill-typed")
"""The relation of literals that are not values of their datatype: each in all three columns."""

MAX_ILL_TYPED = 1000
"""Maximum number of ill-typed literals that are reported."""


@data_class(slots=False)
class Literals:
    """The literals about which a program has facts.

    upto    the greatest id that was looked at for ill-typed ones
    ill     keys of those
    valued  ids of properties of which literals are compared by value
    """

    upto: int = 0
    ill: tuple[bytes, ...] = ()
    valued: U32 = field(default_factory=lambda: np.zeros(0, dtype=np.uint32))

    @classmethod
    def of_closure(cls, tables: Tables, dictionary: Dictionary, upto: int) -> Literals:
        """The literals that the closed tables of a commit with this many terms have facts about.

        The closure has a row for each ill-typed literal, so no term is looked at.
        """
        (name,) = dictionary.lookup_keys([ILL_TYPED.key]).tolist()
        ids = tables.tuples(name, 3).distinct(0).tolist() if name else []
        return cls(upto, tuple(map(dictionary.key, ids)))

    def looked_at(self, dictionary: Dictionary) -> Literals:
        """The same with all ill-typed literals that a dictionary has."""
        upto = self.upto if self.upto <= dictionary.size else 0
        known = self.ill if upto else ()
        found = ill_typed(dictionary, upto)
        return replace(self, upto=dictionary.size, ill=(*known, *found)[:MAX_ILL_TYPED])

    def added(self, program: Program, tables: Tables, dictionary: Dictionary) -> Program:
        """A program with these facts."""
        facts = variants(tables, dictionary, self.valued.tolist())
        facts += ill_typed_facts(self.ill)
        made = Program(facts) if facts else Program()
        made = made + vocabulary_rules(LITERALS) if self.ill else made
        return program + made if len(made) else program


def variants(tables: Tables, dictionary: Dictionary, properties: Iterable[int]) -> list[Rule]:
    """Facts that relate the literals among the values of properties that have one value."""
    values = literals_of(tables, dictionary, properties)
    if len(values) < 2:
        return []
    canonical = dictionary.value_stack.canonical(values)
    order = np.argsort(canonical, kind="stable")
    values, canonical = values[order], canonical[order]
    starts = np.flatnonzero(np.append(True, canonical[1:] != canonical[:-1]))
    found: list[Rule] = []
    for group in np.split(values, starts[1:]):
        if len(group) > 1:
            keys = [Constant(dictionary.key(number)) for number in group.tolist()]
            pairs = [(one, other) for one in keys for other in keys if one is not other]
            found += [_fact(VARIANT, one, other) for one, other in pairs]
    return found


def literals_of(tables: Tables, dictionary: Dictionary, properties: Iterable[int]) -> U32:
    """The literals among the values of properties, increasing."""
    parts = [
        keys.astype(np.uint32) for name in properties for keys in tables.relation(name).scan_keys()
    ]
    if not parts:
        return np.zeros(0, dtype=np.uint32)
    values = np.unique(np.concatenate(parts))
    kinds = dictionary.kinds(values)
    found: U32 = values[(kinds >= STRING) & (kinds <= TYPED)]
    return found


def _fact(name: Constant, one: Constant, other: Constant) -> Rule:
    return Rule((TupleAtom(name, (one, one, other)),), (), "dt-eq")


def ill_typed(dictionary: Dictionary, since: int = 0) -> list[bytes]:
    """Literals with greater ids and a known datatype that have no value; a limited number.

    >>> from triplestore.terms import Dictionary
    >>> from pyoxigraph import Literal, NamedNode
    >>> integer = NamedNode("http://www.w3.org/2001/XMLSchema#integer")
    >>> words = Dictionary()
    >>> _ = words.encode([Literal("5", datatype=integer), Literal("five", datatype=integer)])
    >>> [key[1:5] for key in ill_typed(words)]
    [b'five']
    """
    found = []
    for typed in dictionary.of_kind(TYPED, since):
        look()
        without = typed[dictionary.value_stack.values(typed).marks == 0]
        for number in looking(without.tolist()):
            key = dictionary.key(number)
            lexical, datatype = split_typed(key[1:])
            if is_known(datatype) or (datatype == RDF_XML_LITERAL and not is_well_formed(lexical)):
                found.append(key)
                if len(found) == MAX_ILL_TYPED:
                    return found
    return found


def ill_typed_facts(keys: Iterable[bytes]) -> list[Rule]:
    """Facts that say that these are ill-typed."""
    found = []
    for key in keys:
        one = Constant(key)
        found.append(Rule((TupleAtom(ILL_TYPED, (one, one, one)),), (), "dt-not-type"))
    return found
