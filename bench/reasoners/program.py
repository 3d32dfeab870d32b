"""Rules over integers, in a form that can be written in every peer's language.

Start at `translate`. Our programs are about triples; peers have named relations. The `layout` is
the translation:

    split    a relation of one column for each class, of two for each property (the usual one)
    typed    classes as one relation `type` of two columns, (member, class); properties as in split
    triples  one relation `t` of three columns, (subject, property, object)

Always true: clauses have one head; the name of a term's relation has the term's number (`c17`,
`p4`), so names are valid in any language.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from triplestore.datalog.program import (
    TYPE,
    Aggregate,
    Atom,
    Constant,
    Item,
    Not,
    Program,
    Rule,
    Term,
    TripleAtom,
    TupleAtom,
    Variable,
)
from triplestore.datalog.slices import components

Layout: TypeAlias = Literal["split", "typed", "triples"]
LAYOUTS: tuple[Layout, ...] = ("split", "typed", "triples")

TYPE_NUMBER = 1
"""The number of rdf:type in every task."""


class UnsupportedError(Exception):
    """A part of a program that clauses, a layout or a peer cannot express."""


class Relation(NamedTuple):
    """A relation of a peer: its name and its number of columns."""

    name: str
    arity: int


class Pattern(NamedTuple):
    """An atom: numbers are constants; `x1`, `x2`, ... are variables, as they come in a clause."""

    relation: Relation
    terms: tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Clause:
    """If all of `body` hold and none of `nots`, `head` holds."""

    head: Pattern
    body: tuple[Pattern, ...] = ()
    nots: tuple[Pattern, ...] = ()

    def __str__(self) -> str:
        return datalog(self)


def translate(
    program: Program, numbers: Mapping[bytes, int], layout: Layout = "split"
) -> list[Clause]:
    """The clauses of a program; `numbers` has one for the key of each of its constants.

    >>> from triplestore.datalog.text import read
    >>> program = read("PREFIX : <http://e/> :C[?y] :- :p[?x, ?y], :D[?x], NOT :C[?x] .")
    >>> numbers = number_constants(program)
    >>> print(translate(program, numbers)[0])
    c2(?x1) :- p3(?x2, ?x1), c4(?x2), ~c2(?x2) .
    >>> print(translate(program, numbers, "typed")[0])
    type(?x1, 2) :- p3(?x2, ?x1), type(?x2, 4), ~type(?x2, 2) .
    """
    if program.constraints:
        raise UnsupportedError("constraints")
    translator = _Translator(numbers, layout)
    return [translator.clause(part) for rule in program.rules for part in rule.split()]


def number_constants(program: Program) -> dict[bytes, int]:
    """1, 2, 3, ... for rdf:type and then each constant of the program, in order, by key."""
    numbers = {TYPE.key: TYPE_NUMBER}
    for rule in program.rules:
        for atom in _atoms((*rule.heads, *rule.body)):
            constants = [term for term in atom.terms if isinstance(term, Constant)]
            if isinstance(atom, TupleAtom):
                constants.insert(0, atom.name)
            for constant in constants:
                numbers.setdefault(constant.key, len(numbers) + 1)
    return numbers


def _atoms(items: Iterable[Item]) -> Iterable[Atom]:
    for item in items:
        if isinstance(item, TripleAtom | TupleAtom):
            yield item
        elif isinstance(item, Not | Aggregate):
            yield from _atoms(item.body)


@dataclass(frozen=True, slots=True)
class _Translator:
    numbers: Mapping[bytes, int]
    layout: Layout

    def clause(self, rule: Rule) -> Clause:
        names: dict[str, str] = {}
        head = self.pattern(rule.heads[0], names)
        body, nots = [], []
        for item in rule.body:
            if isinstance(item, TripleAtom | TupleAtom):
                body.append(self.pattern(item, names))
            elif isinstance(item, Not) and len(item.body) == 1:
                (atom,) = _atoms(item.body)
                nots.append(self.pattern(atom, names))
            else:
                raise UnsupportedError(f"{type(item).__name__.lower()} in a body: {rule}")
        bound = {term for pattern in body for term in pattern.terms}
        for pattern in (head, *nots):
            if any(isinstance(term, str) and term not in bound for term in pattern.terms):
                raise UnsupportedError(f"a variable that no atom of the body binds: {rule}")
        return Clause(head, tuple(body), tuple(nots))

    def pattern(self, atom: Atom, names: dict[str, str]) -> Pattern:
        terms = tuple(self.term(term, names) for term in atom.terms)
        if isinstance(atom, TupleAtom):
            return Pattern(tuple_relation(self.numbers[atom.name.key], len(terms)), terms)
        if self.layout == "triples":
            return Pattern(TRIPLES, terms)
        s, p, o = terms
        if isinstance(p, str):
            raise UnsupportedError(f"a variable property needs the layout triples: {atom}")
        if p != TYPE_NUMBER:
            return Pattern(property_relation(p), (s, o))
        if self.layout == "typed":
            return Pattern(TYPES, (s, o))
        if isinstance(o, str):
            raise UnsupportedError(f"a variable class needs the layout typed: {atom}")
        return Pattern(class_relation(o), (s,))

    def term(self, term: Term, names: dict[str, str]) -> int | str:
        if isinstance(term, Variable):
            return names.setdefault(term.name, f"x{len(names) + 1}")
        return self.numbers[term.key]


TRIPLES = Relation("t", 3)
TYPES = Relation("type", 2)


def class_relation(number: int) -> Relation:
    """The members of a class, in the layout `split`."""
    return Relation(f"c{number}", 1)


def property_relation(number: int) -> Relation:
    """The pairs of a property, in the layouts `split` and `typed`."""
    return Relation(f"p{number}", 2)


def tuple_relation(number: int, arity: int) -> Relation:
    """A user's relation of three columns or more."""
    return Relation(f"r{number}_{arity}", arity)


def relations_of(clauses: Iterable[Clause]) -> list[Relation]:
    """All relations of clauses, in the order of their occurrence."""
    found: dict[Relation, None] = {}
    for clause in clauses:
        for pattern in (clause.head, *clause.body, *clause.nots):
            found[pattern.relation] = None
    return list(found)


def strata(clauses: Sequence[Clause]) -> list[tuple[set[Relation], list[Clause]]]:
    """The clauses in groups that can be closed one after the other, with their defined relations.

    A group is a strongly connected component of the relations.
    """
    nodes = {relation: node for node, relation in enumerate(relations_of(clauses))}
    needs: list[list[int]] = [[] for _ in nodes]
    for clause in clauses:
        edges = needs[nodes[clause.head.relation]]
        edges += (nodes[pattern.relation] for pattern in (*clause.body, *clause.nots))
    group_of = components(needs)
    groups: dict[int, tuple[set[Relation], list[Clause]]] = {}
    for clause in clauses:
        number = group_of[nodes[clause.head.relation]]
        defined, members = groups.setdefault(number, (set(), []))
        defined.add(clause.head.relation)
        members.append(clause)
        if any(group_of[nodes[pattern.relation]] == number for pattern in clause.nots):
            raise UnsupportedError(f"negation on a cycle: {clause}")
    return [groups[number] for number in sorted(groups)]


def datalog(clause: Clause, variable: str = "?", negation: str = "~") -> str:
    """A clause in the usual syntax; `variable` is the prefix of variables.

    >>> edge, path = Relation("edge", 2), Relation("path", 2)
    >>> clause = Clause(Pattern(path, ("x1", 3)), (Pattern(edge, ("x1", 3)),))
    >>> datalog(clause), datalog(clause, variable="X")
    ('path(?x1, 3) :- edge(?x1, 3) .', 'path(Xx1, 3) :- edge(Xx1, 3) .')
    """

    def show(pattern: Pattern) -> str:
        terms = (
            str(term) if isinstance(term, int) else f"{variable}{term}" for term in pattern.terms
        )
        return f"{pattern.relation.name}({', '.join(terms)})"

    body = [show(pattern) for pattern in clause.body]
    body += [negation + show(pattern) for pattern in clause.nots]
    return f"{show(clause.head)}{' :- ' if body else ''}{', '.join(body)} ."
