"""A clause while classes in its body are replaced by their definitions.

Start reading at `Open`. A body of n expressions grows n times, so it is kept as nested lists:
putting something into it costs the length of that, not of the whole body. Classes are known by
their keys and variables by their names, because hashing these is much faster than hashing terms.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias, cast

from triplestore.datalog.canonical import signed
from triplestore.datalog.program import (
    TYPE,
    Atom,
    Bind,
    Call,
    Constant,
    Constraint,
    Expression,
    Filter,
    Item,
    Rule,
    Term,
    TripleAtom,
    TupleAtom,
    Variable,
    variables_in,
)
from triplestore.kept_results import kept
from triplestore.ontologies.thresholds import ONTOLOGIES

AnyClause: TypeAlias = Rule | Constraint


class Open:
    """A clause of at most one head, with the places of some classes in its body.

    class_  key of the class that it concludes; None if it concludes none, or one of any name
    places  key of a class -> the lists of the body, and the places there, with an atom of it
    size    how many items the body has
    """

    __slots__ = (
        "_axioms",
        "_body",
        "_by_class",
        "_classes",
        "_clause",
        "_flat",
        "_fresh",
        "_names",
        "_order",
        "_signed",
        "_taken",
        "_whole",
        "class_",
        "places",
        "size",
    )

    def __init__(self, clause: AnyClause, classes: Container[bytes]) -> None:
        self._clause = clause
        self._classes = classes
        self._whole: AnyClause | None = clause
        self._taken: set[str] | None = None
        self._by_class: dict[bytes | None, list[Item]] | None = None
        self._fresh: dict[str, int] = {}
        self._names: dict[str, None] | None = None
        self._signed: Hashable = None
        self._axioms: tuple[tuple[TripleAtom, ...], ...] = (clause.axioms,)
        self.class_ = class_of_atom(clause.heads[0]) if isinstance(clause, Rule) else None
        self._set_body(clause.body)

    def _set_body(self, items: Iterable[Item]) -> None:
        self._body: list[Any] = []
        self._flat: list[Item] | None = None
        self._order: dict[str, Variable] | None = None
        self.places: dict[bytes, list[tuple[list[Any], int]]] = {}
        self.size = 0
        for item in items:
            self._append(item, self._body)

    def _append(self, item: Item, to: list[Any]) -> None:
        """Put an item at the end of a list of the body, unless it is an atom of a class of ours
        that is there."""
        class_ = class_of_atom(item)
        if class_ is not None and class_ in self._classes:
            places = self.places.setdefault(class_, [])
            if any(held[place] == item for held, place in places):
                return
            places.append((to, len(to)))
        to.append(item)
        self.size += 1

    def count(self, class_: bytes) -> int:
        """How many atoms of a class there are."""
        return len(self.places[class_])

    def copy(self) -> Open:
        """A copy."""
        made = Open.__new__(Open)
        made._clause, made._classes, made._whole = self._clause, self._classes, self._whole
        made._taken = None if self._taken is None else self._taken.copy()
        made._by_class, made._fresh = None, self._fresh.copy()
        made._names, made._axioms, made._signed = self._names, self._axioms, self._signed
        made.class_ = self.class_
        made._set_body(self._items())
        return made

    def closed(self) -> AnyClause:
        """The clause as it is now."""
        if self._whole is None:
            axioms = _together(tuple(map(_Same, self._axioms)))
            body, clause = tuple(dict.fromkeys(self._items())), self._clause
            if isinstance(clause, Constraint):
                self._whole = replace(clause, body=body, axioms=axioms)
            else:
                self._whole = Rule(clause.heads, body, ", ".join(self._all_names()), axioms=axioms)
        return self._whole

    def signature(self) -> Hashable:
        """The same for two clauses if they say the same. The axioms, which are expensive to
        collect, are not needed."""
        if self._signed is None:
            clause, name = self._clause, ""
            heads: tuple[Atom, ...] = ()
            if isinstance(clause, Rule):
                heads = clause.heads
            else:
                name = f"{clause.id}: {clause.message}"
            head, body = signed(heads, self._items())
            items = cast("tuple[Hashable, ...]", body)
            self._signed = type(clause), name, head, tuple(dict.fromkeys(items))
        return self._signed

    def _all_names(self) -> dict[str, None]:
        """The names of the rules that this was made from, the last step first."""
        if self._names is None:
            clause = self._clause
            name = clause.name if isinstance(clause, Rule) else clause.id
            self._names = dict.fromkeys(name.split(", "))
        return self._names

    def _items(self) -> list[Item]:
        """The items of the body, in order."""
        if self._flat is None:
            self._flat = list(_flattened(self._body))
        return self._flat

    def put(self, class_: bytes, definition: Open) -> bool:
        """Replace the class by the body of a definition; False if that is impossible: members
        that are constants in both must agree.
        """
        ((held, place),) = self.places[class_]
        atom, head = held[place], definition.head
        assert isinstance(atom, TripleAtom) and isinstance(head, TripleAtom)
        if not isinstance(head.s, Variable) and atom.s != head.s:
            if not isinstance(atom.s, Variable):
                return False
            self._replace(atom.s, head.s)
            return self.put(class_, definition)
        by = self._apart(definition, atom.s)
        inside: list[Any] = []
        for item in definition._items():
            self._append(_mapped(item, by), inside)
        del self.places[class_]
        held[place] = inside
        self.size -= 1
        self._axioms = (*self._axioms, *definition._axioms)
        names = self._all_names()
        if not names.keys() >= definition._all_names().keys():
            self._names = names | definition._all_names()
        self._whole = self._by_class = self._flat = self._order = self._signed = None
        return True

    def would_say(self, class_: bytes, definition: Open) -> bool:
        """Whether this says something after a class is replaced by a definition: its own head is
        then not in the body."""
        alike = definition._items_by_class().get(self.class_)
        if not alike or isinstance(self._clause, Constraint):
            return True
        ((held, place),) = self.places[class_]
        atom, head, own = held[place], definition.head, self.head
        assert isinstance(atom, TripleAtom) and isinstance(head, TripleAtom)
        # Other variables of the definition get other names than any in the head.
        by: dict[str, Term] = {v.name: _NOBODY for item in alike for v in variables_in(item)}
        if isinstance(head.s, Variable):
            by[head.s.name] = atom.s
        return all(_mapped(item, by) != own for item in alike)

    def _items_by_class(self) -> dict[bytes | None, list[Item]]:
        """The items of the body by the class that they are about; None has all others."""
        if self._by_class is None:
            self._by_class = {}
            for item in self._items():
                self._by_class.setdefault(class_of_atom(item), []).append(item)
        return self._by_class

    @property
    def head(self) -> Atom:
        """What a rule concludes."""
        assert isinstance(self._clause, Rule)
        return self._clause.heads[0]

    def _replace(self, variable: Variable, by: Term) -> None:
        """Replace a variable by a constant."""
        clause, terms = self._clause, {variable.name: by}
        if isinstance(clause, Rule):
            heads = tuple(
                [head.map(lambda term: by if term == variable else term) for head in clause.heads]
            )
            self._clause = replace(clause, heads=heads)
        self._set_body([_mapped(item, terms) for item in self._items()])
        self._whole = self._by_class = self._signed = None

    def _apart(self, definition: Open, member: Term) -> dict[str, Term]:
        """Names for the variables of a definition: none that the clause has."""
        head, taken = definition.head, self._variables()
        assert isinstance(head, TripleAtom)
        by: dict[str, Term] = {}
        if isinstance(head.s, Variable):
            by[head.s.name] = member
        for name, variable in definition._variables_in_order().items():
            if name in by:
                continue
            if name in taken:
                by[name] = self._fresh_one(variable)
            taken.add(name)
        return by

    def _variables_in_order(self) -> dict[str, Variable]:
        """The variables of the body by their names."""
        if self._order is None:
            self._order = {}
            for item in self._items():
                terms = item.terms if type(item) is TripleAtom else variables_in(item)
                for term in terms:
                    if type(term) is Variable:
                        self._order.setdefault(term.name, term)
        return self._order

    def _variables(self) -> set[str]:
        """The names of all variables of the clause."""
        if self._taken is None:
            self._taken = set(self._variables_in_order())
            if isinstance(self._clause, Rule):
                self._taken.update(v.name for v in variables_in(self._clause.heads[0]))
        return self._taken

    def _fresh_one(self, variable: Variable) -> Variable:
        taken = self._variables()
        stem = variable.name.partition("_")[0]
        number = self._fresh.get(stem, 1)
        while (name := f"{stem}_{number}") in taken:
            number += 1
        self._fresh[stem] = number + 1
        taken.add(name)
        return Variable(name)


def _flattened(body: list[Any]) -> Iterator[Item]:
    stack = [iter(body)]
    while stack:
        for item in stack[-1]:
            if type(item) is list:
                stack.append(iter(item))
                break
            yield item
        else:
            stack.pop()


_TYPE_KEY = TYPE.key
_NOBODY = Constant(b"")


class _Same:
    """The triples of a rule's axioms. Equal only as the same object, which is told at once."""

    __slots__ = ("triples",)

    def __init__(self, triples: tuple[TripleAtom, ...]) -> None:
        self.triples = triples

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.triples is other.triples

    def __hash__(self) -> int:
        return id(self.triples)


@kept(ONTOLOGIES.kept_items, len)
def _together(parts: tuple[_Same, ...]) -> tuple[TripleAtom, ...]:
    """The triples of all parts, each once. The same object for the same parts: an axiom about n
    things has n rules of 2n triples each."""
    return tuple(dict.fromkeys(one for part in parts for one in part.triples))


def class_of_atom(item: Item) -> bytes | None:
    """The key of the class of an atom `C[?x]`."""
    if type(item) is not TripleAtom or type(item.o) is not Constant:
        return None
    return item.o.key if type(item.p) is Constant and item.p.key == _TYPE_KEY else None


def _mapped(item: Item, by: dict[str, Term]) -> Item:
    """An item in which terms replace the variables of these names."""
    if type(item) is TripleAtom:
        s, p, o = item.s, item.p, item.o
        return TripleAtom(
            by.get(s.name, s) if type(s) is Variable else s,
            by.get(p.name, p) if type(p) is Variable else p,
            by.get(o.name, o) if type(o) is Variable else o,
        )
    return replaced(item, {Variable(name): term for name, term in by.items()})


def replaced(item: Item, by: dict[Variable, Term]) -> Item:
    """An item in which terms replace variables."""
    if isinstance(item, Filter):
        return Filter(_within(item.expression, by))
    if isinstance(item, Bind):
        return Bind(_within(item.expression, by), item.variable)
    if not isinstance(item, TripleAtom | TupleAtom):
        return item
    return item.map(lambda term: by.get(term, term) if isinstance(term, Variable) else term)


def _within(expression: Expression, by: dict[Variable, Term]) -> Expression:
    if isinstance(expression, Variable):
        return by.get(expression, expression)
    if isinstance(expression, Call):
        parts = tuple(_within(part, by) for part in expression.arguments)
        return Call(expression.function, parts)
    return expression
