"""Property paths as branches, and rules of helper relations for their closures.

Start at `PathReader.branches`. A closure `p+` is a relation of three columns, which queries do not
see; its name is made of the path, so that equal paths share one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import pyoxigraph as ox

from triplestore.datalog.items import Filter, Item, TripleAtom, TupleAtom
from triplestore.datalog.rules import Rule
from triplestore.expressions.text.expression_printer import Namer
from triplestore.expressions.tree import Call, Constant, Variable
from triplestore.sparql.algebra import nodes as sparql
from triplestore.sparql.algebra.nodes import PathExpression, TermOrVariable
from triplestore.sparql.syntax.pattern_printer import path_text
from triplestore.sparql_rules.branches import Branch, joined, names_of
from triplestore.sparql_rules.refusals import RefusedError

_MARK = Constant.of(ox.Literal(1))
_NAME = "urn:triplestore:path:"
_BODY = "urn:triplestore:body:"


class PathReader:
    """Reads paths, and keeps the rules of their closures."""

    def __init__(self) -> None:
        self.rules: dict[str, list[Rule]] = {}

    def branches(
        self,
        subject: TermOrVariable,
        path: PathExpression,
        object_: TermOrVariable,
        fresh: Callable[[], str],
        counted: bool = False,
    ) -> list[Branch]:
        """The branches of a path between two terms.

        counted  whether each solution must be there as often as in SPARQL
        """
        match path:
            case Constant():
                return [_atom(TripleAtom(subject, path, object_))]
            case sparql.Inverse(inner):
                return self.branches(object_, inner, subject, fresh, counted)
            case sparql.Alternative(parts):
                return [
                    branch
                    for part in parts
                    for branch in self.branches(subject, part, object_, fresh, counted)
                ]
            case sparql.Sequence(parts):
                ends = [subject, *(Variable(fresh()) for _ in parts[1:]), object_]
                found = [Branch()]
                for part, start, end in zip(parts, ends, ends[1:], strict=False):
                    steps = self.branches(start, part, end, fresh, counted)
                    made = [joined(one, step) for one in found for step in steps]
                    found = [branch for branch in made if branch is not None]
                return found
            case sparql.NegatedSet(iris):
                return [_negated(subject, iris, object_, fresh)]
            case sparql.OneOrMore(inner):
                name = self._closure(inner)
                return [_atom(TupleAtom(name, (subject, object_, _MARK)))]
        if counted:
            raise RefusedError(
                "*" if isinstance(path, sparql.ZeroOrMore) else "?",
                "a path with * or ? in a pattern whose solutions are counted",
                "conclude it by a rule of its own, and count over that",
            )
        inner_path = (
            path.path if isinstance(path, sparql.ZeroOrOne) else sparql.OneOrMore(path.path)
        )
        longer = self.branches(subject, inner_path, object_, fresh)
        return [*_of_length_zero(subject, object_), *longer]

    def relation(self, body: tuple[Item, ...], names: Sequence[str]) -> TupleAtom:
        """An atom of a relation whose rows are the values of some variables in a body."""
        text = ", ".join(map(str, (*map(Variable, names), *body)))
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        marks = [_MARK] * max(1, 3 - len(names))
        atom = TupleAtom(Constant.iri(f"{_BODY}{digest}"), (*map(Variable, names), *marks))
        self.rules.setdefault(text, [Rule((atom,), body, "body of a negation")])
        return atom

    def _closure(self, step: PathExpression) -> Constant:
        """The name of the relation of a closure, whose rules are made if they are new."""
        text = path_text(step, Namer({}))
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        name = Constant.iri(f"{_NAME}{digest}")
        if text in self.rules:
            return name
        made = self.rules[text] = []
        numbers = iter(range(1 << 30))

        def fresh() -> str:
            return f"step{next(numbers)}"

        x, y, z = map(Variable, ("x", "y", "z"))
        head = TupleAtom(name, (x, z, _MARK))
        before = TupleAtom(name, (x, y, _MARK))
        label = f"path ({text})+"
        bodies = [_items(branch) for branch in self.branches(x, step, z, fresh)]
        bodies += [(before, *_items(branch)) for branch in self.branches(y, step, z, fresh)]
        made += [Rule((head,), body, label) for body in bodies]
        return name


def _items(branch: Branch) -> tuple[Item, ...]:
    if branch.same or branch.computed:
        raise RefusedError(
            "+",
            "a closure of a path that may have length zero",
            "write (p*)+ and (p?)+ as p*",
        )
    return branch.items


def _atom(atom: TripleAtom | TupleAtom) -> Branch:
    return Branch((atom,), frozenset(names_of((atom,))))


def _negated(
    subject: TermOrVariable,
    iris: tuple[Constant, ...],
    object_: TermOrVariable,
    fresh: Callable[[], str],
) -> Branch:
    verb = Variable(fresh())
    atom = TripleAtom(subject, verb, object_)
    test = Filter(Call("NOT IN", (verb, *iris))) if iris else None
    return Branch((atom,) if test is None else (atom, test), frozenset(names_of((atom,))))


def _of_length_zero(subject: TermOrVariable, object_: TermOrVariable) -> list[Branch]:
    if isinstance(subject, Constant) and isinstance(object_, Constant):
        return [Branch()] if subject == object_ else []
    for one, other in ((subject, object_), (object_, subject)):
        if isinstance(one, Variable) and isinstance(other, Constant):
            return [Branch(computed={one.name: other})]
    assert isinstance(subject, Variable) and isinstance(object_, Variable)
    return [Branch(same=((subject.name, object_.name),))]
