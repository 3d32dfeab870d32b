"""What rules will cost, before they are applied: suspects are named, and hopeless ones refused.

Start reading at `suspects`; `refuse` compares them with the budget. Few kinds of rules make more
than they are given, and each has a shape: chains that go on from what they conclude (transitive
properties among them), rules that make things the same where many share a value, and bodies whose
parts have nothing in common. Of these the facts are estimated from what is stated: chains by
following them from some places, equals by counting who shares a value, products by multiplying.
Estimates look at stated facts and at those of sub-properties and inverses, so they are rough, and
mostly too low. What is asked of the tables is linear in the relations that these rules speak of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

import numpy as np

from triplestore.datalog.problems import Problem
from triplestore.datalog.program import (
    TYPE,
    Atom,
    Constant,
    Filter,
    Rule,
    Term,
    TripleAtom,
    Variable,
)
from triplestore.errors import BudgetError
from triplestore.tables.rows import I64, NO_KEYS, U32, U64, distinct, high, key_of, low, swap
from triplestore.terms.vocabulary import OWL_SAME_AS

if TYPE_CHECKING:
    from triplestore.store.tuning import Tuning
    from triplestore.tables import Tables
    from triplestore.terms import Dictionary

FEWEST = 1_000_000
"""Rules that make fewer facts are not suspect,"""

TIMES = 10
"""nor those that make fewer than so many times what is there."""

SAMPLES = 24
"""From so many places a chain is followed."""

MOST_FOLLOWED = 200_000
"""So many edges are looked at for one chain, all places together."""

MOST_TOGETHER = 64
"""So many relations are taken for parts of one, as sub-properties or inverses."""

BYTES_PER_FACT = 16
FACTS_PER_SECOND = 2_000_000

_SAME_AS = Constant.iri(OWL_SAME_AS)


@dataclass(frozen=True, slots=True)
class Suspect:
    """A rule that will make many facts.

    rule     its name
    about    what it speaks of
    facts    how many it will make, roughly
    why      what is in the data that it makes so many of
    advice   what to do
    compact  whether these facts are a closure, which need not be written out

    >>> print(Suspect("prp-trp", ":p", 5000, "each reaches 50 others", "do without"))
    prp-trp (:p) is likely to make some 5,000 facts: each reaches 50 others; do without
    """

    rule: str
    about: str
    facts: int
    why: str
    advice: str
    compact: bool = False

    @property
    def named(self) -> str:
        """The rule, and what it speaks of."""
        return f"{self.rule} ({self.about})" if self.rule else self.about

    def warning(self) -> Problem:
        """The suspect as a warning of a report."""
        message = f"it was likely to make some {self.facts:,} facts: {self.why}"
        return Problem("costly", message, self.advice, file="rules", rule=self.named, warning=True)

    def __str__(self) -> str:
        made = f"{self.named} is likely to make some {self.facts:,} facts"
        return f"{made}: {self.why}; {self.advice}"


def suspects(
    rules: Iterable[Rule],
    among: Iterable[Rule],
    tables: Tables,
    dictionary: Dictionary,
    *,
    rewriting: bool = False,
) -> list[Suspect]:
    """Which rules are likely to make many facts, those that make most first.

    rules      those to look at
    among      all that are in force, of which some say what belongs to one relation
    rewriting  whether equals cost no more than one of them
    """
    fewest = max(FEWEST, TIMES * tables.total())
    stated = _Stated(among, tables, dictionary, fewest)
    found: list[Suspect] = []
    for rule in rules:
        if rewriting and any(_is_equality(head) for head in rule.heads):
            continue
        one = _suspect(rule, stated)
        if one is not None and one.facts >= fewest:
            found.append(one)
    return sorted(found, key=lambda one: -one.facts)


def refuse(found: Sequence[Suspect], tuning: Tuning) -> None:
    """Raise if the budget is too small for one of the suspects."""
    budget = tuning.make_budget(None, None)
    for one in found:
        if one.compact and tuning.modules != "off":
            continue  # closures have a better guess of their own, before they are written out
        over = []
        if budget.facts is not None and one.facts > budget.facts:
            over.append(f"max_facts is {budget.facts:,}")
        size, seconds = one.facts * BYTES_PER_FACT, one.facts / FACTS_PER_SECOND
        if budget.bytes is not None and size > budget.bytes:
            over.append(f"max_bytes is {budget.bytes:,}, and these would take {size:,}")
        if budget.seconds is not None and seconds > budget.seconds:
            over.append(
                f"max_seconds is {budget.seconds:g}, and these would take some {seconds:,.0f}"
            )
        if over:
            raise BudgetError(
                f"nothing was inferred, for {one}. That does not fit the budget: "
                f"{'; '.join(over)}. To try all the same, raise it (tuning={{...}})"
            )


def _is_equality(head: Atom) -> bool:
    return isinstance(head, TripleAtom) and head.p == _SAME_AS


def _suspect(rule: Rule, stated: _Stated) -> Suspect | None:
    if len(rule.body) < 2:
        return None
    (head, *others), atoms = rule.heads, rule.atoms
    if others or not isinstance(head, TripleAtom) or not isinstance(head.p, Constant):
        return None
    if head.p == _SAME_AS:
        return _of_equals(rule, stated)
    chain = _chain_of(rule, head)
    if chain is not None:
        return _of_chain(rule, head.p, chain, stated)
    return _of_product(rule, stated) if len(atoms) > 1 else None


# -- what is stated -------------------------------------------------------------------------------


class _Stated:
    """Relations with what belongs to them by rules of one atom."""

    def __init__(
        self, rules: Iterable[Rule], tables: Tables, dictionary: Dictionary, fewest: int
    ) -> None:
        self.tables = tables
        self.dictionary = dictionary
        self.fewest = fewest
        self._members: dict[Constant, list[tuple[int, bool]]] = {}
        self._edges: dict[tuple[Constant, bool], U64] = {}
        self._rules = rules

    @cached_property
    def _below(self) -> dict[Constant, list[tuple[Constant, bool]]]:
        """Property -> those of which it has all pairs, and whether turned round."""
        found: dict[Constant, list[tuple[Constant, bool]]] = {}
        for rule in self._rules:
            if len(rule.body) == 1 and len(rule.heads) == 1:
                self._note(found, rule.heads[0], rule.body[0])
        return found

    @staticmethod
    def _note(
        found: dict[Constant, list[tuple[Constant, bool]]], head: object, body: object
    ) -> None:
        if not isinstance(head, TripleAtom) or not isinstance(body, TripleAtom):
            return
        if not isinstance(head.p, Constant) or not isinstance(body.p, Constant):
            return
        if isinstance(head.s, Constant) or isinstance(head.o, Constant) or head.s == head.o:
            return
        if {head.s, head.o} == {body.s, body.o}:
            found.setdefault(head.p, []).append((body.p, head.s == body.o))

    def edges(self, name: Constant, around: bool = False) -> U64:
        """The pairs of a property, sorted; turned around, if so wanted."""
        found = self._edges.get((name, around))
        if found is None:
            parts = [
                self.tables.stored_relation(number).keys(int(turned != around))
                for number, turned in self._parts(name)
            ]
            found = parts[0] if parts else NO_KEYS  # one alone is sorted, and need not be copied
            if len(parts) > 1:
                found = np.concatenate(parts)
                found.sort()
                found = distinct(found)
            self._edges[name, around] = found
        return found

    def most(self, name: Constant) -> int:
        """How many pairs of a property there are at most."""
        return sum(self.tables.stored_relation(number).count() for number, _ in self._parts(name))

    def _parts(self, name: Constant) -> list[tuple[int, bool]]:
        """The relations that belong to a property, and whether turned round."""
        found = self._members.get(name)
        if found is None:
            seen = {(name, False): None}
            waiting = list(seen)
            while waiting:
                one, turned = waiting.pop()
                for other, flipped in self._below.get(one, ()):
                    pair = other, turned != flipped
                    if pair not in seen and len(seen) < MOST_TOGETHER:
                        seen[pair] = None
                        waiting.append(pair)
            ids = self.dictionary.lookup_keys([one.key for one, _ in seen]).tolist()
            members = zip(ids, [turned for _, turned in seen], strict=True)
            found = self._members[name] = [(number, turned) for number, turned in members if number]
        return found

    def size(self, atom: Atom) -> int:
        """How many facts an atom may match."""
        if not isinstance(atom, TripleAtom):
            return 1
        if not isinstance(atom.p, Constant):
            return self.tables.total()
        p = self._id(atom.p)
        if not p:
            return 0
        relation = self.tables.relation(p)
        return len(relation.by_second(self._id(atom.o))) if _names(atom.o) else len(relation)

    def _id(self, term: Term) -> int:
        return int(self.dictionary.lookup_keys([term.key])[0]) if _names(term) else 0

    def text(self, key: bytes) -> str:
        """A name for people."""
        return str(Constant(key))


def _names(term: Term) -> TypeGuard[Constant]:
    return isinstance(term, Constant)


# -- chains ---------------------------------------------------------------------------------------


class _Chain(NamedTuple):
    """A rule as a way that goes on from itself: begin with pairs of `start`, go on by `steps`.

    backwards  whether it goes on before its beginning: then pairs are to be read from the end
    """

    steps: tuple[tuple[Constant, bool], ...]
    backwards: bool


def _chain_of(rule: Rule, head: TripleAtom) -> _Chain | None:
    """The chain that a rule is, if it is one that goes on from its own conclusions."""
    atoms = [item for item in rule.body if not isinstance(item, Filter)]
    way: list[tuple[Constant, bool]] = []
    at = head.s
    for atom in atoms:
        if not isinstance(atom, TripleAtom) or not isinstance(atom.p, Constant) or atom.p == TYPE:
            return None
        if atom.s != at and atom.o != at:
            return None
        way.append((atom.p, atom.s != at))
        at = atom.o if atom.s == at else atom.s
    if at != head.o or len(way) < 2 or isinstance(at, Constant):
        return None
    own = [place for place, (name, turned) in enumerate(way) if name == head.p and not turned]
    if not own:
        return None
    backwards = 0 not in own and own[-1] == len(way) - 1
    if backwards:
        return _Chain(tuple((name, not turned) for name, turned in reversed(way[:-1])), True)
    return _Chain(tuple(way[1:]), False) if own[0] == 0 else None


def _of_chain(rule: Rule, name: Constant, chain: _Chain, stated: _Stated) -> Suspect | None:
    last = chain.steps[-1][0]
    if stated.most(name) * stated.most(last) < stated.fewest:
        return None
    start = stated.edges(name, chain.backwards)
    steps = [stated.edges(other, turned) for other, turned in chain.steps]
    reached, whole = _reached(start, steps)
    begins = len(distinct(high(start)))
    facts = max(0, int(reached * begins) - len(start))
    more = "" if whole else " or more"
    transitive = all(other == name for other, _ in chain.steps)
    advice = "keep it compressed (schemes other than plain)" if transitive else "shorten the chain"
    why = f"from {begins:,} places one comes to {reached:,.0f}{more} others on an average"
    advice += ", or leave the axiom out"
    return Suspect(rule.name, stated.text(name.key), facts, why, advice, transitive)


def _reached(start: U64, steps: Sequence[U64]) -> tuple[float, bool]:
    """How many are reached from one place on an average; whether each was followed to the end."""
    places = distinct(high(start))
    chosen = places[np.linspace(0, len(places) - 1, min(SAMPLES, len(places))).astype(np.int64)]
    total = looked = 0
    whole = True
    for place in chosen:
        seen = fresh = _next(start, np.array([place], np.uint32))
        while len(fresh) and whole:
            for keys in steps:
                fresh = _next(keys, fresh)
                looked += len(fresh) + 1
                whole = looked <= MOST_FOLLOWED
            fresh = np.setdiff1d(fresh, seen, assume_unique=True)
            seen = distinct(np.sort(np.concatenate((seen, fresh))))
        total += len(seen)
        whole = looked <= MOST_FOLLOWED
    return total / len(chosen), whole


def _next(keys: U64, froms: U32) -> U32:
    """What these lead to, increasing."""
    lo = keys.searchsorted(froms.astype(np.uint64) << np.uint64(32))
    hi = keys.searchsorted((froms.astype(np.uint64) + np.uint64(1)) << np.uint64(32))
    sizes: I64 = hi - lo
    if not sizes.any():
        return np.zeros(0, dtype=np.uint32)
    starts = np.repeat(lo - np.append(0, np.cumsum(sizes)[:-1]), sizes)
    return distinct(np.sort(low(keys[starts + np.arange(int(sizes.sum()))])))


# -- equals ---------------------------------------------------------------------------------------


def _of_equals(rule: Rule, stated: _Stated) -> Suspect | None:
    """A rule that makes two things the same because they share what they have."""
    head = rule.heads[0]
    assert isinstance(head, TripleAtom)
    shared = _shared(rule, head)
    if not shared:
        return None
    if min(stated.most(name) for name, _ in shared) ** 2 < stated.fewest // TIMES:
        return None
    columns = [stated.edges(name) for name, _ in shared]
    turned = [
        swap(keys) if by_object else keys
        for keys, (_, by_object) in zip(columns, shared, strict=True)
    ]
    sizes, what = _groups([np.sort(keys) for keys in turned], stated)
    pairs = int((sizes * (sizes - 1)).sum())
    if not pairs:
        return None
    each = 1 + 2 * stated.tables.total() / max(1, stated.dictionary.size)
    largest = int(sizes.max())
    about = ", ".join(stated.text(name.key) for name, _ in shared)
    why = f"{largest:,} things share {what}, and each would have all that the others have"
    advice = 'take such values out, or say equality="rewrite"'
    return Suspect(rule.name, about, int(pairs * each), why, advice)


def _shared(rule: Rule, head: TripleAtom) -> list[tuple[Constant, bool]]:
    """The properties in which two things agree that are made the same; whether as their values.

    (property, False): both are values of it of one subject; (property, True): both are subjects.
    """
    found: dict[tuple[Constant, bool], None] = {}
    for one in rule.atoms:
        for other in rule.atoms:
            if not isinstance(one, TripleAtom) or not isinstance(other, TripleAtom):
                continue
            if one is other or one.p != other.p or not isinstance(one.p, Constant):
                continue
            if one.p == TYPE:
                continue
            if (one.o, other.o) == (head.s, head.o) and one.s == other.s:
                found[one.p, False] = None
            if (one.s, other.s) == (head.s, head.o) and one.o == other.o:
                found[one.p, True] = None
    return list(found)


def _groups(relations: Sequence[U64], stated: _Stated) -> tuple[I64, str]:
    """How many things share each value, or values; and the one that most share.

    relations  pairs (what is shared, thing)
    """
    if len(relations) == 1:
        values, sizes = np.unique(high(relations[0]), return_counts=True)
        return sizes.astype(np.int64), _most(values, sizes, stated)
    things = low(relations[0])
    for keys in relations[1:]:
        things = np.intersect1d(things, low(keys))
    columns = []
    for keys in relations:
        by_thing = np.sort(swap(keys))
        first = by_thing[np.searchsorted(by_thing, things.astype(np.uint64) << np.uint64(32))]
        columns.append(low(first))
    _, sizes = np.unique(key_of(columns), return_counts=True)
    return sizes.astype(np.int64), "the same values"


def _most(values: U32, sizes: I64, stated: _Stated) -> str:
    if not len(values):
        return "a value"
    return stated.text(stated.dictionary.key(int(values[sizes.argmax()])))


# -- products -------------------------------------------------------------------------------------


def _of_product(rule: Rule, stated: _Stated) -> Suspect | None:
    """A body of parts that share no variable: everything with everything."""
    parts: list[tuple[set[Term], list[Atom]]] = []
    for atom in rule.atoms:
        names: set[Term] = {term for term in atom.terms if isinstance(term, Variable)}
        together = [atom]
        apart = []
        for others, known in parts:
            if names & others:
                names |= others
                together += known
            else:
                apart.append((others, known))
        parts = [*apart, (names, together)] if names else apart
    if len(parts) < 2:
        return None
    sizes = [max(map(stated.size, atoms)) for _, atoms in parts]
    facts = int(np.prod(np.array(sizes, dtype=np.float64)))
    why = " and ".join(f"{size:,} matches" for size in sizes) + " that have nothing in common"
    advice = "let its parts share a variable"
    return Suspect(rule.name, str(rule.heads[0]), facts, why, advice)
