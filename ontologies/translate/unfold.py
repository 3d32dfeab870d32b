"""Classes that stand for expressions, removed: equivalent rules about names only.

Start reading at `unfold`. The translation gives each class expression a class of its own:

    _:n(?x) :- A(?x), R(?x, ?y), B(?y) .            C(?x) :- _:n(?x) .

Where a body has such a class, each rule that concludes it can take its place, and the class and its
members disappear. A class is unfolded if that makes at most twice as many rules, if it is not in
its own definition, and while the classes together do not make too many items (see `ONTOLOGIES`).
The members of other classes are rows of a relation that is not shown (`MEMBERS`), because which
classes remain depends on the order in which they are looked at, and what is listed must not. What
is always true: no type in one of these classes follows, and the conclusions about all other classes
and properties stay the same. The resulting rule has the names of its parts, the last step first,
and the axioms of all.

Clauses are unfolded in groups that have no such class in common (`_groups`). So the result of a
group depends on the group only, and is kept: when a few axioms of an ontology change, all others
have the same rule objects again.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Hashable, Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b

from triplestore.datalog.program import (
    TYPE,
    Atom,
    Constant,
    Constraint,
    Item,
    Rule,
    TripleAtom,
    TupleAtom,
    bound_by,
)
from triplestore.datalog.rules import signature
from triplestore.kept_results import kept
from triplestore.ontologies.model.expressions import Description
from triplestore.ontologies.thresholds import ONTOLOGIES
from triplestore.ontologies.translate.draft import class_of
from triplestore.ontologies.translate.open_clause import AnyClause, Open, class_of_atom
from triplestore.terms import BLANK
from triplestore.thread_limits import look, looking

MEMBERS = Constant.iri("x-triplestore:classes/member")
"""The relation of members of remaining classes: (class, member, member)."""

BROKEN = "x-triplestore:classes/broken/"
"""Names of relations for violations of constraints about classes without names."""


def unfold(
    rules: Sequence[Rule], constraints: Sequence[Constraint], classes: Collection[Constant]
) -> tuple[list[Rule], list[Constraint]]:
    """The rules without those of these classes that can go.

    >>> from triplestore.datalog.text import read
    >>> program = read("PREFIX : <http://e/> :n[?x] :- :r[?x, ?y], :b[?y] . :c[?y] :- :n[?y] .")
    >>> made, _ = unfold(program.rules, (), {Constant.iri("http://e/n")})
    >>> [str(rule) for rule in made]
    ['<http://e/c>[?y] :- <http://e/r>[?y, ?y_1], <http://e/b>[?y_1] .']
    """
    every: list[AnyClause] = [*rules, *constraints]
    if classes:
        alone, groups = _groups(every, {class_.key for class_ in classes})
        every = alone
        for group in groups:
            every += _unfolded(group)
    made = [clause for clause in every if isinstance(clause, Rule)]
    return made, [clause for clause in every if isinstance(clause, Constraint)]


def loose_classes(expressions: Iterable[Description], kept: Collection[Constant]) -> set[Constant]:
    """The classes in which types are trivial: they follow from the rest and are not listed.

    These are the blank nodes that stand for an expression. Not those that are kept: of which
    something is asserted to be a member, or which a disjointness names. What equals a member is a
    member by the same rules, since these name nothing that is the same as something else.
    """
    nodes = {class_of(expression) for expression in expressions}
    return {node for node in nodes if node.kind == BLANK and node not in kept}


class _ClauseGroup:
    """Clauses that have classes in common, with their keys. The same only as the same objects."""

    __slots__ = ("_key", "classes", "clauses")

    def __init__(self, clauses: tuple[AnyClause, ...], classes: tuple[bytes, ...]) -> None:
        self.clauses = clauses
        self.classes = classes
        self._key = tuple(map(id, clauses)), classes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ClauseGroup) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def _groups(
    clauses: Sequence[AnyClause], classes: Container[bytes]
) -> tuple[list[AnyClause], list[_ClauseGroup]]:
    """The clauses with none of these classes, and the others in groups that share no class."""
    alone: list[AnyClause] = []
    named: list[tuple[AnyClause, bytes]] = []  # each with one of its classes
    above: dict[bytes, bytes] = {}  # of each class one of its group, up to one for all
    for clause in clauses:
        first = b""
        for item in (*clause.heads, *clause.body) if type(clause) is Rule else clause.body:
            if type(item) is not TripleAtom or type(item.o) is not Constant:
                continue
            key = item.o.key
            if key in classes and item.p == TYPE:
                root = _root(above, key)
                if not first:
                    first = root
                elif root != first:
                    above[root] = first
        if first:
            named.append((clause, first))
        else:
            alone.append(clause)
    members: dict[bytes, tuple[list[AnyClause], list[bytes]]] = {}
    for clause, key in named:
        members.setdefault(_root(above, key), ([], []))[0].append(clause)
    for key in above:
        members[_root(above, key)][1].append(key)
    return alone, [_ClauseGroup(tuple(some), tuple(own)) for some, own in members.values()]


def _root(above: dict[bytes, bytes], key: bytes) -> bytes:
    """The one class that stands for the group of a class."""
    one = above.setdefault(key, key)
    while one != key:
        key, one = one, above[one]
        above[key] = above[one]  # halve the path for later searches
    return key


@kept(ONTOLOGIES.kept_items, lambda clauses: 1 + sum(4 + len(one.body) for one in clauses))
def _unfolded(group: _ClauseGroup) -> tuple[AnyClause, ...]:
    work = _Unfolding(group)
    work.run()
    return work.result()


class _Unfolding:
    """Clauses by number, and which of them conclude a class or use it.

    room  number of further body items that are allowed
    """

    def __init__(self, group: _ClauseGroup) -> None:
        classes = group.classes
        self.clauses: dict[int, Open] = {}
        self.made: dict[bytes, dict[int, None]] = {key: {} for key in classes}
        self.used: dict[bytes, dict[int, None]] = {key: {} for key in classes}
        self.next = 0
        for clause in looking(group.clauses):
            parts = clause.split() if isinstance(clause, Rule) else _apart_from_classes(clause)
            for part in parts:
                self._add(Open(part, self.used))
        size = sum(clause.size for clause in self.clauses.values())
        self.room = max(ONTOLOGIES.unfold_few_items, (ONTOLOGIES.unfold_items - 1) * size)

    def run(self) -> None:
        """Unfold class by class, the cheapest first, until no further class can be unfolded."""
        waiting = sorted(self.made, key=lambda class_: (self._cost(class_), class_))
        while waiting:
            left = [class_ for class_ in waiting if not self._try(class_)]
            if len(left) == len(waiting):
                return
            waiting = left

    def result(self) -> tuple[AnyClause, ...]:
        """All clauses, each once; members of classes that are left are rows of `MEMBERS`."""
        found: dict[Hashable, Open] = {}
        for clause in self.clauses.values():
            found.setdefault(clause.signature(), clause)
        return tuple([_with_hidden(clause.closed(), self.made) for clause in found.values()])

    def _cost(self, class_: bytes) -> int:
        return len(self.made[class_]) * len(self.used[class_])

    def _try(self, class_: bytes) -> bool:
        look()
        made, used = self.made[class_], self.used[class_]
        if _too_many(len(made), len(used)):
            self._drop_repeated(made)
            self._drop_repeated(used)
            if _too_many(len(made), len(used)):
                return False
        if not made.keys().isdisjoint(used):
            return False
        if any(self.clauses[number].count(class_) > 1 for number in used):
            return False
        pairs = self._pairs(class_)
        if not self._has_room(class_, pairs):
            return False
        definitions = {number: self._taken(number) for number in list(made)}
        for number, chosen in pairs.items():
            if len(chosen) == 1:
                self._put(number, class_, definitions[chosen[0]])
                continue
            use = self._taken(number)
            look()
            for one in chosen:
                self._put(self._add(use.copy()), class_, definitions[one])
        return True

    def _pairs(self, class_: bytes) -> dict[int, list[int]]:
        """For each use of a class, the definitions that would say something in its place."""
        made = [(number, self.clauses[number]) for number in self.made[class_]]
        found = {}
        for number in self.used[class_]:
            use = self.clauses[number]
            found[number] = [i for i, definition in made if use.would_say(class_, definition)]
        return found

    def _has_room(self, class_: bytes, pairs: dict[int, list[int]]) -> bool:
        """Whether there is room for the body items that unfolding a class makes; if so, take it."""
        sizes = {number: self.clauses[number].size for number in self.made[class_]}
        more = -sum(sizes.values())
        for number, chosen in pairs.items():
            around = self.clauses[number].size
            more += sum(around - 1 + sizes[i] for i in chosen) - around
        if more > self.room:
            return False
        self.room -= more
        return True

    def _put(self, number: int, class_: bytes, definition: Open) -> None:
        """Replace a class by its definition; a clause that says nothing then is removed."""
        if not self.clauses[number].put(class_, definition):
            self._taken(number)
            return
        self.used[class_].pop(number, None)
        for one in definition.places:
            self.used[one][number] = None

    def _add(self, clause: Open) -> int:
        number = self.next
        self.next += 1
        self.clauses[number] = clause
        for class_ in clause.places:
            self.used[class_][number] = None
        if clause.class_ is not None and clause.class_ in self.made:
            self.made[clause.class_][number] = None
        return number

    def _taken(self, number: int) -> Open:
        """Remove a clause, and return it."""
        clause = self.clauses.pop(number)
        for class_ in clause.places:
            self.used[class_].pop(number, None)
        if clause.class_ is not None and clause.class_ in self.made:
            self.made[clause.class_].pop(number, None)
        return clause

    def _drop_repeated(self, numbers: Collection[int]) -> None:
        """Keep one of the clauses that say the same."""
        known: set[Hashable] = set()
        for number in list(numbers):
            key = self.clauses[number].signature()
            if key in known:
                self._taken(number)
            known.add(key)


def _apart_from_classes(constraint: Constraint) -> tuple[Rule, Constraint]:
    """A rule with the body of a constraint, and a constraint of what that concludes.

    So a violation names what the constraint names, and not what is found on the way to a class.
    """
    named = tuple(dict.fromkeys(bound_by(constraint.body)))
    digest = blake2b(repr(signature(constraint)).encode(), digest_size=8).hexdigest()
    name = Constant.iri(BROKEN + digest)
    row = TupleAtom(name, (*named, *(named or (name,))[-1:] * (3 - len(named))))
    rule = Rule((row,), constraint.body, constraint.id, axioms=constraint.axioms)
    return rule, replace(constraint, body=(row,))


def _with_hidden(clause: AnyClause, classes: Container[bytes]) -> AnyClause:
    """A clause in which rows of `MEMBERS` stand for types in these classes."""
    whole = (*clause.heads, *clause.body) if isinstance(clause, Rule) else clause.body
    if not any(class_of_atom(item) in classes for item in whole):
        return clause
    body = tuple([_hidden(item, classes) for item in clause.body])
    if isinstance(clause, Constraint):
        return replace(clause, body=body)
    heads = tuple([_hidden_atom(head, classes) for head in clause.heads])
    return Rule(heads, body, clause.name, axioms=clause.axioms)


def _hidden(item: Item, classes: Container[bytes]) -> Item:
    return _hidden_atom(item, classes) if isinstance(item, TripleAtom) else item


def _hidden_atom(atom: Atom, classes: Container[bytes]) -> Atom:
    if class_of_atom(atom) not in classes:
        return atom
    assert isinstance(atom, TripleAtom)
    return TupleAtom(MEMBERS, (atom.o, atom.s, atom.s))


def _too_many(made: int, used: int) -> bool:
    return made * used > max(ONTOLOGIES.unfold_few_rules, ONTOLOGIES.unfold_growth * (made + used))
