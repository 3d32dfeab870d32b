"""Classes that stand for expressions, put away: rules about names only, which mean the same.

Start reading at `unfold`. The translation gives each class expression a class of its own:

    _:n(?x) :- A(?x), R(?x, ?y), B(?y) .            C(?x) :- _:n(?x) .

Where a body has such a class, each rule that concludes it can stand in its place, and then the
class is gone, with all the facts that nobody would have seen. Taken are classes for which that
makes no more rules than there were (`GROWTH` times as many, to be exact), and that are not in
their own definition. What is always true: of all other classes and properties the same follows.
The rule that is made has the names of its parts, the last step first, and the axioms of all.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

from triplestore.datalog.canonical import signature
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

GROWTH = 2
"""A class is unfolded if it makes at most so many times the rules that it replaces."""

_FEW = 12


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
    if not classes:
        return list(rules), list(constraints)
    work = _Unfolding(rules, constraints, classes)
    work.run()
    return work.result()


class _Unfolding:
    """Rules by number, each once, and which of them conclude a class or use it."""

    def __init__(
        self,
        rules: Sequence[Rule],
        constraints: Sequence[Constraint],
        classes: Collection[Constant],
    ) -> None:
        self.clauses: dict[int, Rule | Constraint] = {}
        self.made: dict[Constant, dict[int, None]] = {c: {} for c in classes}
        self.used: dict[Constant, dict[int, None]] = {c: {} for c in classes}
        self.known: set[Hashable] = set()
        self.next = 0
        for rule in rules:
            self._add(rule)
        for constraint in constraints:
            self._add(constraint)

    def run(self) -> None:
        """Unfold class by class, those that cost least first, until none is left that can go."""
        waiting = sorted(self.made, key=self._cost)
        while waiting:
            left = [class_ for class_ in waiting if not self._try(class_)]
            if len(left) == len(waiting):
                return
            waiting = left

    def result(self) -> tuple[list[Rule], list[Constraint]]:
        rules = [clause for clause in self.clauses.values() if isinstance(clause, Rule)]
        others = [clause for clause in self.clauses.values() if isinstance(clause, Constraint)]
        return rules, others

    def _cost(self, class_: Constant) -> int:
        return len(self.made[class_]) * len(self.used[class_])

    def _try(self, class_: Constant) -> bool:
        made, used = list(self.made[class_]), list(self.used[class_])
        before = len(made) + len(used)
        if len(made) * len(used) > max(_FEW, GROWTH * before):
            return False
        if set(made) & set(used):
            return False
        uses = [self.clauses[number] for number in used]
        if any(len(_atoms_of(clause, class_)) > 1 for clause in uses):
            return False
        definitions = [self.clauses[number] for number in made]
        for number in (*made, *used):
            self._remove(number)
        for clause in uses:
            for definition in definitions:
                assert isinstance(definition, Rule)
                joined = _joined(clause, definition, class_)
                if joined is not None:
                    self._add(joined)
        return True

    def _add(self, clause: Rule | Constraint) -> None:
        key = signature(clause)
        if key in self.known:
            return
        self.known.add(key)
        number = self.next
        self.next += 1
        self.clauses[number] = clause
        for class_ in _classes_in(clause.body):
            if class_ in self.used:
                self.used[class_][number] = None
        if isinstance(clause, Rule):
            for class_ in _classes_in(clause.heads):
                if class_ in self.made:
                    self.made[class_][number] = None

    def _remove(self, number: int) -> None:
        clause = self.clauses.pop(number)
        self.known.discard(signature(clause))
        for class_ in _classes_in(clause.body):
            if class_ in self.used:
                self.used[class_].pop(number, None)
        if isinstance(clause, Rule):
            for class_ in _classes_in(clause.heads):
                if class_ in self.made:
                    self.made[class_].pop(number, None)


def _class_of(item: Item | Atom) -> Constant | None:
    if isinstance(item, TripleAtom) and item.p == TYPE and isinstance(item.o, Constant):
        return item.o
    return None


def _classes_in(items: Iterable[Item | Atom]) -> Iterator[Constant]:
    for item in items:
        found = _class_of(item)
        if found is not None:
            yield found


def _atoms_of(clause: Rule | Constraint, class_: Constant) -> list[int]:
    return [place for place, item in enumerate(clause.body) if _class_of(item) == class_]


def _joined(
    clause: Rule | Constraint, definition: Rule, class_: Constant
) -> Rule | Constraint | None:
    """A clause with the body of a definition in the place of the class; None if it says nothing.

    Where both the member in the clause and the one in the head are constants they must agree.
    """
    (place,) = _atoms_of(clause, class_)
    atom, head = clause.body[place], definition.heads[0]
    assert isinstance(atom, TripleAtom) and isinstance(head, TripleAtom)
    definition = _apart(definition, clause)
    head = definition.heads[0]
    assert isinstance(head, TripleAtom)
    by: dict[Variable, Term] = {}
    if isinstance(head.s, Variable):
        by[head.s] = atom.s
    elif isinstance(atom.s, Variable):
        by[atom.s] = head.s
    elif atom.s != head.s:
        return None
    inside = [replaced(item, by) for item in definition.body]
    around = [replaced(item, by) for item in clause.body]
    body = tuple(dict.fromkeys((*around[:place], *inside, *around[place + 1 :])))
    axioms = tuple(dict.fromkeys((*clause.axioms, *definition.axioms)))
    if isinstance(clause, Constraint):
        return replace(clause, body=body, axioms=axioms)
    heads = tuple(_of_atom(one, by) for one in clause.heads)
    if heads[0] in body:
        return None
    name = ", ".join(dict.fromkeys((*clause.name.split(", "), *definition.name.split(", "))))
    return Rule(heads, body, name, axioms=axioms)


def _apart(definition: Rule, clause: Rule | Constraint) -> Rule:
    """The definition with variables that the clause does not have."""
    items = (*clause.body, *clause.heads) if isinstance(clause, Rule) else clause.body
    taken = {variable for item in items for variable in variables_in(item)}
    by: dict[Variable, Term] = {}
    for item in (*definition.heads, *definition.body):
        for variable in variables_in(item):
            if variable in taken and variable not in by:
                fresh = _fresh(variable, taken)
                by[variable] = fresh
                taken.add(fresh)
    if not by:
        return definition
    return replace(
        definition,
        heads=tuple(_of_atom(head, by) for head in definition.heads),
        body=tuple(replaced(item, by) for item in definition.body),
    )


def _fresh(variable: Variable, taken: set[Variable]) -> Variable:
    number, stem = 1, variable.name.partition("_")[0]
    while (made := Variable(f"{stem}_{number}")) in taken:
        number += 1
    return made


def replaced(item: Item, by: dict[Variable, Term]) -> Item:
    """An item with terms in the place of variables."""
    if isinstance(item, Filter):
        return Filter(_within(item.expression, by))
    if isinstance(item, Bind):
        return Bind(_within(item.expression, by), item.variable)
    return _of_atom(item, by) if isinstance(item, TripleAtom | TupleAtom) else item


def _of_atom(atom: Atom, by: dict[Variable, Term]) -> Atom:
    return atom.map(lambda term: by.get(term, term) if isinstance(term, Variable) else term)


def _within(expression: Expression, by: dict[Variable, Term]) -> Expression:
    if isinstance(expression, Variable):
        return by.get(expression, expression)
    if isinstance(expression, Call):
        parts = tuple(_within(part, by) for part in expression.arguments)
        return Call(expression.function, parts)
    return expression
