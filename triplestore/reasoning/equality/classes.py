"""Which classes of equals outlive an update, and which classes some equalities make.

Start reading at `merge_classes` (classes grow) and `asserted_equalities` (what is known without any
rule). After a deletion the classes in force must be entailed by what is still asserted, each
without the help of facts that need the class itself. Asserted equalities are, and so are two
asserted values of a property that is asserted to be functional, or below one; everything else is
found by the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from triplestore.datalog.program import Rule, atoms_in
from triplestore.datalog.slices import ANY, ANY_CLASS, Slice, slice_of
from triplestore.reasoning.equality.not_rewritten import SAME_AS_KEY
from triplestore.relations import EXPLICIT
from triplestore.relations.packed_keys import I64, NO_KEYS, U32, U64, Bools, high, low, pack
from triplestore.relations.views.equality import Classes, KeysByName
from triplestore.terms import BLANK, IRI
from triplestore.terms.vocabulary import (
    OWL_FUNCTIONAL_PROPERTY,
    OWL_INVERSE_FUNCTIONAL_PROPERTY,
    RDF_TYPE,
    RDFS_SUB_PROPERTY_OF,
)

if TYPE_CHECKING:
    from triplestore.reasoning.equality.scoped_rows import AssertedRelations
    from triplestore.reasoning.program.stored_rules import Rules
    from triplestore.terms import Dictionary

_FUNCTIONAL = b"\x01" + OWL_FUNCTIONAL_PROPERTY.encode()
_INVERSE_FUNCTIONAL = b"\x01" + OWL_INVERSE_FUNCTIONAL_PROPERTY.encode()
_TYPE = b"\x01" + RDF_TYPE.encode()
_SUB_PROPERTY = b"\x01" + RDFS_SUB_PROPERTY_OF.encode()


CheckLimits = Callable[[], None]
"""Raises if it is time to stop."""

KEYS_AT_ONCE = 4096
"""Number of keys of terms that are read between two checks of the limits."""


def _no_limit() -> None:
    pass


def components(one: I64, other: I64, size: int, check: CheckLimits = _no_limit) -> I64:
    """For each node the least node that some edges connect it with.

    >>> components(np.array([3, 4]), np.array([1, 3]), 5).tolist()
    [0, 1, 2, 1, 1]
    """
    least = np.arange(size)
    while True:
        check()
        a, b = least[one], least[other]
        apart = a != b
        if not apart.any():
            return least
        one, other, a, b = one[apart], other[apart], a[apart], b[apart]
        np.minimum.at(least, np.maximum(a, b), np.minimum(a, b))
        while (shorter := least[least]).tobytes() != least.tobytes():
            least = shorter
            check()


def merge_classes(
    classes: Classes,
    equal: U64,
    dictionary: Dictionary,
    left_alone: Callable[[U32], Bools] | None = None,
    check: CheckLimits = _no_limit,
) -> Classes:
    """The classes after these pairs became equal.

    left_alone  tells which terms may be in no class: a class that would have one is taken apart
    """
    ends = classes.images(equal)
    nodes = np.unique(np.concatenate((high(ends), low(ends), classes.reps)))
    if not len(nodes):
        return classes
    one, other = (np.searchsorted(nodes, end(ends)) for end in (high, low))
    group = components(one, other, len(nodes), check)
    if left_alone is not None:
        spoiled = np.zeros(len(nodes), dtype=np.bool_)
        spoiled[group[left_alone(nodes)]] = True
        kept = ~spoiled[group]
    else:
        kept = np.ones(len(nodes), dtype=np.bool_)
    heads = _heads(nodes, group, kept, dictionary, check)
    every = np.union1d(nodes, classes.members)
    reps = classes.representatives(every)
    places = np.searchsorted(nodes, reps)
    here = kept[places]
    return _classes(every[here], heads[places[here]])


def _classes(members: U32, heads: U32) -> Classes:
    """Classes of two or more."""
    _, inverse, sizes = np.unique(heads, return_inverse=True, return_counts=True)
    many = sizes[inverse] > 1
    return Classes.of(members[many], heads[many])


def _heads(nodes: U32, group: I64, kept: Bools, dictionary: Dictionary, check: CheckLimits) -> U32:
    """The representative of each node: an IRI before a blank node, then the least in term order."""
    heads = nodes.copy()
    sizes = np.bincount(group, minlength=len(nodes))
    (places,) = (kept & (sizes[group] > 1)).nonzero()
    if not len(places):
        return heads
    best: dict[int, tuple[bytes, int]] = {}
    for start in range(0, len(places), KEYS_AT_ONCE):
        check()
        some = places[start : start + KEYS_AT_ONCE]
        for of, number in zip(group[some].tolist(), nodes[some].tolist(), strict=True):
            key = dictionary.key(number)
            if of not in best or key < best[of][0]:
                best[of] = (key, number)  # a key begins with its kind: an IRI before a blank node
    heads[places] = [best[of][1] for of in group[places].tolist()]
    return heads


# -- what is certain ------------------------------------------------------------------------------


def asserted_equalities(
    stored: AssertedRelations, dictionary: Dictionary, words: U32, check: CheckLimits = _no_limit
) -> U64:
    """Pairs that are the same according to asserted facts alone.

    words  properties of the vocabulary, which are not properties of individuals
    """
    (same_as,) = dictionary.lookup_keys([SAME_AS_KEY]).tolist()
    parts = [NO_KEYS]
    if same_as:
        parts.append(stored.relation(same_as).keys(where=EXPLICIT))
    for order in (0, 1):
        for names in functional(stored, dictionary, words, order):
            check()
            rows = [stored.relation(one).keys(order, EXPLICIT) for one in names.tolist()]
            parts += [_neighbours(np.sort(np.concatenate(rows)))] if rows else []
    pairs = np.concatenate(parts)
    kinds = [dictionary.kinds(ends) for ends in (high(pairs), low(pairs))]
    things = [(kind == IRI) | (kind == BLANK) for kind in kinds]
    found: U64 = pairs[things[0] & things[1] & (high(pairs) != low(pairs))]
    return found


def functional(
    stored: AssertedRelations, dictionary: Dictionary, words: U32, order: int
) -> Iterator[U32]:
    """For each property that is asserted to be functional (order 1: inverse functional): it, and
    those that are asserted to be below it, except those that are not properties of things."""
    keys = [SAME_AS_KEY, _TYPE, _SUB_PROPERTY, _INVERSE_FUNCTIONAL if order else _FUNCTIONAL]
    same_as, type_id, below, class_ = dictionary.lookup_keys(keys).tolist()
    special = np.array([same_as, type_id, *words.tolist()], dtype=np.uint32)
    if type_id and class_:
        for name in stored.relation(type_id).by_second(class_, EXPLICIT).tolist():
            names = stated_below(stored, name, below)
            yield names[~np.isin(names, special)]


def stated_below(stored: AssertedRelations, name: int, below: int) -> U32:
    """A property, and those that are asserted to be below it, by one step or by more."""
    found, waiting = {name}, [name]
    while waiting and below:
        for one in stored.relation(below).by_second(waiting.pop(), EXPLICIT).tolist():
            if one not in found:
                found.add(one)
                waiting.append(one)
    return np.array(sorted(found), dtype=np.uint32)


def _neighbours(keys: U64) -> U64:
    """Of sorted pairs, the second ids of each two that have their first one in common."""
    same = high(keys[:-1]) == high(keys[1:])
    seconds = low(keys)
    return pack(seconds[:-1][same], seconds[1:][same])


def keep_connected(
    classes: Classes, pairs: U64, dictionary: Dictionary, check: CheckLimits = _no_limit
) -> Classes:
    """The classes that remain if only these pairs are the same."""
    one, other = high(pairs), low(pairs)
    reps = classes.representatives(one)
    within = classes.is_member(one) & (reps == classes.representatives(other))
    nothing = classes.members[:0]
    return merge_classes(Classes(nothing, nothing), pairs[within], dictionary, check=check)


# -- what can feed equality -----------------------------------------------------------------------


class EqualitySources:
    """The facts from which an equality may follow by the rules of a program."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        heads: dict[Slice, list[Rule]] = {}
        for rule in rules:
            for head in rule.heads:
                heads.setdefault(slice_of(head), []).append(rule)
        self.slices: dict[Slice, Slice | None] = {}  # each with the one it leads to
        waiting: list[tuple[Slice, Slice | None]] = [(Slice("property", SAME_AS_KEY), None)]
        while waiting and ANY not in self.slices:
            found, after = waiting.pop()
            if found in self.slices:
                continue
            self.slices[found] = after
            reached = [*heads.get(found, ()), *heads.get(ANY, ())]
            if found.kind == "class":
                reached += heads.get(ANY_CLASS, ())
            elif found is ANY_CLASS:
                reached += [one for of, some in heads.items() if of.kind == "class" for one in some]
            read = (slice_of(atom) for rule in reached for atom, _ in atoms_in(rule.body))
            waiting += [(one, found) for one in read]

    def way_from(self, head: Slice) -> list[str]:
        """The slices from the conclusion of a rule to equality, without equality itself; empty if
        the conclusion does not lead there."""
        at: Slice | None = next((one for one in self.slices if _meet(head, one)), None)
        if at is None:
            return []
        way = [str(head)]
        while at is not None and at.name != SAME_AS_KEY:
            if str(at) != way[-1]:
                way.append(str(at))
            at = self.slices[at]
        return way

    def any_of(self, facts: KeysByName, dictionary: Dictionary, type_id: int) -> bool:
        """Whether an equality may follow from one of these facts."""
        if ANY in self.slices:
            return bool(facts)
        for name, keys in facts.items():
            if name != type_id:
                if Slice("property", dictionary.key(name)) in self.slices:
                    return True
                continue
            if ANY_CLASS in self.slices:
                return True
            classes = map(dictionary.key, np.unique(low(keys)).tolist())
            if any(Slice("class", key) in self.slices for key in classes):
                return True
        return False


def _meet(one: Slice, other: Slice) -> bool:
    """Whether two slices may have a fact in common."""
    if one == other or (one.arity == other.arity == 0 and ANY in (one, other)):
        return True
    return ANY_CLASS in (one, other) and {one.kind, other.kind} <= {"class", "any class"}


def equality_sources(rules: Rules) -> EqualitySources:
    """The same for rules, kept with them."""
    found: EqualitySources | None = rules.__dict__.get("feeding")
    if found is None:
        found = rules.__dict__["feeding"] = EqualitySources(rules.program.rules)
    return found
