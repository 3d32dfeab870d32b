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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

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
from triplestore.store.forecast_pairs import Pairs, StatedPairs
from triplestore.tables.relation import BLOCK
from triplestore.tables.rows import I64, U32, U64, distinct, high, key_of, low, start_of_runs
from triplestore.terms.vocabulary import OWL_SAME_AS

if TYPE_CHECKING:
    from triplestore.store.tuning import Tuning
    from triplestore.tables import Tables
    from triplestore.terms import Dictionary

FEWEST = 1_000_000
"""Rules that make fewer facts are not suspect,"""

TIMES = 10
"""nor those that make fewer than so many times what is there."""

SAMPLES = 12
"""From so many places a chain is followed."""

MOST_FOLLOWED = 50_000
"""So many edges are looked at for one chain, all places together."""

A_STEP = 100
"""What a step costs on top of its edges, as edges: long paths are as dear as wide ones."""

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
    stated = StatedPairs(among, tables, dictionary, fewest)
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


def _suspect(rule: Rule, stated: StatedPairs) -> Suspect | None:
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


def _of_chain(rule: Rule, name: Constant, chain: _Chain, stated: StatedPairs) -> Suspect | None:
    last = chain.steps[-1][0]
    if stated.most(name) * stated.most(last) < stated.fewest:
        return None
    start = stated.pairs(name, chain.backwards)
    places = start.firsts()
    steps = [stated.pairs(other, turned) for other, turned in chain.steps]
    reached, whole = _reached(places, start, steps)
    begins = len(places)
    facts = max(0, int(reached * begins) - start.most())
    more = "" if whole else " or more"
    transitive = all(other == name for other, _ in chain.steps)
    advice = "keep it compressed (schemes other than plain)" if transitive else "shorten the chain"
    why = f"from {begins:,} places one comes to {reached:,.0f}{more} others on an average"
    advice += ", or leave the axiom out"
    return Suspect(rule.name, stated.text(name.key), facts, why, advice, transitive)


def _reached(places: U32, start: Pairs, steps: Sequence[Pairs]) -> tuple[float, bool]:
    """How many are reached from one place on an average; whether each was followed to the end."""
    chosen = places[np.linspace(0, len(places) - 1, min(SAMPLES, len(places))).astype(np.int64)]
    total, left, whole = 0, MOST_FOLLOWED, True
    for number, place in enumerate(chosen):
        share = left // (len(chosen) - number)
        count, rest = _reached_from(place, start, steps, share)
        total += count
        left -= share - max(0, rest)
        whole &= rest >= 0
    return total / len(chosen), whole


def _reached_from(
    place: np.uint32, start: Pairs, steps: Sequence[Pairs], left: int
) -> tuple[int, int]:
    """How many are reached from a place, and what is left of what it may cost: less than nothing
    if it was not followed to the end."""
    fresh, looked = start.after(np.array([place], dtype=np.uint32), left)
    seen, left = fresh, left - looked
    while len(fresh) and left >= 0:
        for pairs in steps:
            fresh, looked = pairs.after(fresh, max(0, left))
            left -= looked + A_STEP
        fresh = np.setdiff1d(fresh, seen, assume_unique=True)
        seen = distinct(np.sort(np.concatenate((seen, fresh))))
    return len(seen), left


# -- equals ---------------------------------------------------------------------------------------


def _of_equals(rule: Rule, stated: StatedPairs) -> Suspect | None:
    """A rule that makes two things the same because they share what they have."""
    head = rule.heads[0]
    assert isinstance(head, TripleAtom)
    shared = _shared(rule, head)
    if not shared:
        return None
    if min(stated.most(name) for name, _ in shared) ** 2 < stated.fewest // TIMES:
        return None
    sizes, what = _groups(shared, stated)
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


def _groups(shared: Sequence[tuple[Constant, bool]], stated: StatedPairs) -> tuple[I64, str]:
    """How many things share each value, or values, that several share; what most share."""
    if len(shared) == 1:
        ((name, by_object),) = shared
        values, sizes = _repeated(stated.pairs(name, by_object).keys())
        return sizes, _most(values, sizes, stated)
    by_thing = [stated.pairs(name, not by_object).keys() for name, by_object in shared]
    things = high(by_thing[0])
    for keys in by_thing[1:]:
        things = np.intersect1d(things, high(keys))
    columns = []
    for keys in by_thing:
        first = keys[np.searchsorted(keys, things.astype(np.uint64) << np.uint64(32))]
        columns.append(low(first))
    _, sizes = np.unique(key_of(columns), return_counts=True)
    return sizes.astype(np.int64), "the same values"


def _repeated(keys: U64) -> tuple[U32, I64]:
    """The ids that several sorted pairs begin with, and how many do."""
    found = list(_repeated_in_blocks(keys))
    values = np.concatenate([np.empty(0, dtype=np.uint32), *(values for values, _ in found)])
    return values, np.concatenate([np.empty(0, dtype=np.int64), *(sizes for _, sizes in found)])


def _repeated_in_blocks(keys: U64) -> Iterator[tuple[U32, I64]]:
    at = 0
    while at < len(keys):
        block = high(keys[at : at + BLOCK])
        starts = start_of_runs(block)
        last = np.uint64(block[-1])
        # The last id of the block may go on after it.
        starts[-1] = keys.searchsorted(last << np.uint64(32) | np.uint64(0xFFFFFFFF), "right") - at
        sizes = np.diff(starts)
        several = sizes > 1
        yield block[starts[:-1][several]], sizes[several]
        at += int(starts[-1])


def _most(values: U32, sizes: I64, stated: StatedPairs) -> str:
    if not len(values):
        return "a value"
    return stated.text(stated.dictionary.key(int(values[sizes.argmax()])))


# -- products -------------------------------------------------------------------------------------


def _of_product(rule: Rule, stated: StatedPairs) -> Suspect | None:
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
