"""A closed snapshot that can be asked: facts as atoms and as ids, and the rules behind them.

Start reading at `Closed`. What is always true: asking changes nothing. Terms that the dictionary
does not have, of the question or made by a BIND, get ids beside it and are never added; a rule is
compiled when a fact is met that it might conclude.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from triplestore.datalog.program import (
    TYPE,
    Atom,
    Constant,
    Constraint,
    Program,
    Rule,
    TripleAtom,
    TupleAtom,
    Variable,
)
from triplestore.datalog.slices import Slice, slice_of
from triplestore.datalog.stratify import stratify
from triplestore.errors import UsageError
from triplestore.evaluate.evaluation import Evaluation
from triplestore.expressions.query_terms import QueryTerms
from triplestore.maintenance.update_state import Work, facts_of
from triplestore.relations import EXPLICIT, Tables
from triplestore.relations.facts.body_views import Setting
from triplestore.relations.facts.fact_sets import RelationKey
from triplestore.relations.facts.stored_facts import Stored
from triplestore.relations.packed_keys import I64, U8, U32, Keys, key_of
from triplestore.rules.compile_rules import compile_rules
from triplestore.rules.compiled_program import Compiled
from triplestore.rules.families import Family
from triplestore.rules.simplify import SimpleProgram, is_given, simplify
from triplestore.rules.subclass_rules import copied_class
from triplestore.terms import Dictionary

Key: TypeAlias = Any
"""The key of one fact: an int for relations of two columns, bytes for others."""

Place: TypeAlias = "tuple[RelationKey, Key]"
"""A fact as the engine keeps it."""

NO_STRATA = stratify(Program())  # proofs are about facts that hold, so strata do not matter


class Passing(QueryTerms):
    """Terms of one question: nothing is added to the dictionary."""

    def settle(self, ids: U32) -> U32:
        """The ids as they are; those of new terms match no fact."""
        return ids


class Written:
    """A program as it was written, in simple form, and its rules by what they conclude.

    It has no ids, so it is good for any store; making one costs about 2 us a rule.
    """

    def __init__(self, program: Program, simple: SimpleProgram | None = None) -> None:
        self.program = program
        self.simple = simplify(program) if simple is None else simple
        self._by_slice: dict[Slice, list[int]] = {}
        for number, rule in enumerate(self.simple.rules):
            self._by_slice.setdefault(slice_of(rule.heads[0]), []).append(number)

    @classmethod
    def of(cls, compiled: Compiled) -> Written:
        """That of a compiled program, made once."""
        found = _written.get(compiled)
        if found is None:
            found = _written[compiled] = cls(compiled.program, compiled.simple)
        return found

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The simple rules."""
        return self.simple.rules

    @property
    def origins(self) -> tuple[Rule | Constraint, ...]:
        """What each simple rule was made from."""
        return self.simple.origins

    def concluding(self, of: Slice) -> list[int]:
        """The simple rules that may conclude facts of a slice, in the order of the program."""
        if of.kind in ("any", "any class"):
            kinds = ("class", of.kind, "any") if of.kind == "any class" else _TRIPLES
            return sorted(n for s, more in self._by_slice.items() if s.kind in kinds for n in more)
        found = list(self._by_slice.get(of, ()))
        if of.kind == "class":
            found += self._by_slice.get(Slice("any class"), ())
        if of.kind != "tuple":
            found += self._by_slice.get(Slice("any"), ())
        return sorted(found)


_written: WeakKeyDictionary[Compiled, Written] = WeakKeyDictionary()
_TRIPLES = ("property", "class", "any class", "any")


class Concluding(NamedTuple):
    """The rules that may conclude facts of one slice.

    copied, numbers  classes D of rules `C[?x] :- D[?x]`, and these rules: of many programs most
    families         the others
    """

    copied: U32
    numbers: I64
    families: list[Family]

    def without(self, rules: frozenset[int]) -> Concluding:
        """The same without families of some rules only."""
        if not rules:
            return self
        left = [family for family in self.families if not rules.issuperset(family.rules)]
        return self._replace(families=left)


class Closed:
    """Tables closed under a program, and what is needed to ask why a fact holds.

    all, stated  what bodies are matched with: every fact, or the asserted ones
    run          evaluates steps of rules, and counts
    """

    def __init__(
        self,
        written: Written | Compiled,
        tables: Tables,
        terms: Dictionary | Passing,
    ) -> None:
        self.written = Written.of(written) if isinstance(written, Compiled) else written
        self.tables = tables
        self.terms = terms if isinstance(terms, Passing) else Passing(terms)
        self.type_id = int(self.terms.encode_keys([TYPE.key])[0])
        self.stored = Stored(tables, self.type_id)
        self.all = Setting(self.stored)
        self.stated = Setting(self.stored.explicit())
        self.run = Evaluation(self.terms, self.type_id)
        self._work: Work | None = None
        self._facts: dict[Place, Atom] = {}
        self._rules: dict[Slice, Concluding] = {}
        self._alone: dict[int, Family] = {}

    # -- facts -----------------------------------------------------------------------------------

    def place(self, fact: Atom) -> Place:
        """Where a fact is kept, if it holds."""
        if any(isinstance(term, Variable) for term in fact.terms):
            raise UsageError(f"{fact} is not a fact: it has variables")
        keys = [term.key for term in fact.terms if isinstance(term, Constant)]
        ids = self.terms.encode_keys(keys)
        if isinstance(fact, TupleAtom):
            name = int(self.terms.encode_keys([fact.name.key])[0])
            return (name, len(ids)), key_of([ids[i : i + 1] for i in range(len(ids))]).tolist()[0]
        s, p, o = ids.tolist()
        first, second = (o, s) if p == self.type_id else (s, o)
        return p, first << 32 | second

    def fact(self, place: Place) -> Atom:
        """The fact that is kept at a place."""
        found = self._facts.get(place)
        if found is None:
            found = self._facts[place] = self._fact(*place)
        return found

    def _fact(self, relation: RelationKey, key: Key) -> Atom:
        columns = facts_of(relation, keys_of(relation, [key]), self.type_id)
        terms = [Constant(self.terms.key(int(column[0]))) for column in columns]
        if isinstance(relation, tuple):
            return TupleAtom(Constant(self.terms.key(relation[0])), tuple(terms))
        return TripleAtom(terms[0], Constant(self.terms.key(relation)), terms[1])

    def status(self, relation: RelationKey, keys: Keys) -> U8:
        """The statuses of facts of a relation; 0 for those that do not hold."""
        return self.stored.of(relation).status(keys)

    def holds(self, fact: Atom) -> bool:
        """Whether a fact holds."""
        relation, key = self.place(fact)
        return bool(self.status(relation, keys_of(relation, [key]))[0])

    def is_stated(self, fact: Atom) -> bool:
        """Whether a fact is asserted."""
        relation, key = self.place(fact)
        return int(self.status(relation, keys_of(relation, [key]))[0]) == EXPLICIT

    # -- rules -----------------------------------------------------------------------------------

    def slice_at(self, relation: RelationKey, class_id: int) -> Slice:
        """The slice of facts of a relation; `class_id` counts where that is rdf:type."""
        if isinstance(relation, tuple):
            return Slice("tuple", self.terms.key(relation[0]), relation[1])
        if relation == self.type_id:
            return Slice("class", self.terms.key(class_id))
        return Slice("property", self.terms.key(relation))

    def relation_named(self, of: Slice) -> tuple[int, int]:
        """The relation of a slice of tuples."""
        return int(self.terms.encode_keys([of.name])[0]), of.arity

    def rules(self, of: Slice) -> Concluding:
        """The rules that may conclude facts of a slice."""
        found = self._rules.get(of)
        if found is None:
            found = self._rules[of] = self._compiled_rules(self.written.concluding(of))
        return found

    def _compiled_rules(self, numbers: list[int]) -> Concluding:
        rules = self.written.rules
        copies = [number for number in numbers if copied_class(rules[number])]
        bodies = self.terms.encode_keys([_class_of(rules[number].body[0]) for number in copies])
        families: list[Family] = []
        if len(copies) < len(numbers):
            others = sorted(set(numbers) - set(copies))
            listed = [rules[number] for number in others]
            families = compile_rules(listed, NO_STRATA, self.terms.encode_keys, others)
        return Concluding(bodies, np.array(copies, dtype=np.int64), families)

    def family(self, number: int) -> Family:
        """The family of one simple rule."""
        found = self._alone.get(number)
        if found is None:
            rule = self.written.rules[number]
            (found,) = compile_rules([rule], NO_STRATA, self.terms.encode_keys, [number])
            self._alone[number] = found
        return found

    def work(self) -> Work:
        """What the functions of `regrouping` want: they read from it, and add to the counts of
        `run` only."""
        if self._work is None:
            nothing = Compiled(Program(), self.terms.encode_keys)
            self._work = Work(nothing, self.tables, self.terms)
        return self._work

    def is_helper(self, relation: RelationKey) -> bool:
        """Whether a relation is an internal one."""
        return isinstance(relation, tuple) and is_given(self.terms.key(relation[0]))


def _class_of(item: object) -> bytes:
    assert isinstance(item, TripleAtom) and isinstance(item.o, Constant)
    return item.o.key


def keys_of(relation: RelationKey, keys: Sequence[Key]) -> Keys:
    """Keys of facts as an array."""
    if isinstance(relation, tuple):
        return np.array(keys, dtype=f"S{4 * relation[1]}")
    return np.array(keys, dtype=np.uint64)


def unify(atom: Atom, fact: Atom, values: dict[Variable, Constant]) -> bool:
    """Give the variables of an atom the values by which it is a fact; False if it cannot be.

    >>> x, a, p = Variable("x"), Constant.iri("http://e/a"), Constant.iri("http://e/p")
    >>> values = {}
    >>> unify(TripleAtom(x, p, x), TripleAtom(a, p, a), values), values
    (True, {Variable(name='x'): Constant(<http://e/a>)})
    """
    if isinstance(atom, TupleAtom):
        if not isinstance(fact, TupleAtom) or atom.name != fact.name:
            return False
    elif isinstance(fact, TupleAtom):
        return False
    if len(atom.terms) != len(fact.terms):
        return False
    for term, value in zip(atom.terms, fact.terms, strict=True):
        assert isinstance(value, Constant)
        if isinstance(term, Constant):
            if term != value:
                return False
        elif values.setdefault(term, value) != value:
            return False
    return True


def ground(atom: Atom, values: Mapping[Variable, Constant]) -> Atom:
    """An atom with values in the place of variables that have one."""
    return atom.map(lambda term: values.get(term, term) if isinstance(term, Variable) else term)
