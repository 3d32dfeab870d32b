"""Guards: atoms that bind the variables which a negation compares but does not bind itself.

    :a[?x] :- :b[?x, ?y], NOT (:p[?x, ?z], FILTER(?z < ?y)) .

The helper relation for the negation has the columns ?x and ?y; `guard` adds the atom `:b[?x, ?y]`
to it. Start there. Always true: items of a guard are items of the body around the negation.
So all rows that the body looks up in the helper satisfy the guard, and the fewest items that bind
the variables are enough.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from triplestore.datalog.program import Atom, Bind, Item, TripleAtom, TupleAtom, Variable, bound_by
from triplestore.expressions.tree import variables_of


def guard(
    missing: Iterable[Variable],
    own: Collection[Variable],
    around: Sequence[Item],
    banned: Collection[Atom] = (),
) -> tuple[list[Item], list[Variable]]:
    """The items of the body `around` that bind missing variables, and those they cannot bind.

    own     variables that the negation's own atoms bind
    banned  atoms that must not be used, because they depend on the rule's head

    >>> from triplestore.datalog.text import read
    >>> rule, = read("PREFIX : <http://e/> :a[?x] :- :b[?x, ?u], :c[?u, ?y], :d[?u, ?w] .")
    >>> x, y = map(Variable, "xy")
    >>> [item.p.term.value for item in guard([y], {x}, rule.body)[0]]
    ['http://e/b', 'http://e/c']
    """
    found: list[Item] = []
    failed: list[Variable] = []
    have, waiting = dict.fromkeys(own), list(missing)
    usable = [i for i in around if isinstance(i, TripleAtom | TupleAtom) and i not in banned]
    binds = {item.variable: item for item in around if isinstance(item, Bind)}
    while waiting:
        variable = waiting.pop(0)
        if variable in have:
            continue
        if variable in binds:
            found.append(binds[variable])
            have[variable] = None
            waiting += variables_of(binds[variable].expression)
            continue
        path = _path(variable, have, sorted(usable, key=lambda atom: _rank(atom, have, waiting)))
        found += [atom for atom in path if atom not in found]
        have.update(dict.fromkeys(bound_by(path)))
        if not path:
            failed.append(variable)
    return found, failed


def _path(goal: Variable, have: Iterable[Variable], atoms: Sequence[Atom]) -> list[Atom]:
    """The shortest chain of atoms from the bound variables to the goal, each sharing a variable
    with the next, so that the guard is not a Cartesian product; a single atom if none exists."""
    paths: dict[Variable, list[Atom]] = {variable: [] for variable in have}
    queue = list(paths)
    for variable in queue:
        for atom in atoms:
            if variable in atom.terms:
                for other in bound_by((atom,)):
                    if other not in paths:
                        paths[other] = [*paths[variable], atom]
                        queue.append(other)
        if goal in paths:
            return paths[goal]
    return next(([atom] for atom in atoms if goal in atom.terms), [])


def _rank(atom: Atom, have: Iterable[Variable], waiting: Iterable[Variable]) -> tuple[int, int]:
    """Least for the best atom: many wanted variables, then few others."""
    variables = set(bound_by((atom,)))
    useful = variables.intersection([*have, *waiting])
    return -len(useful), len(variables) - len(useful)
