"""Targets, paths and conditions of shapes as items of rules: start at `RuleParts`."""

from __future__ import annotations

from triplestore.datalog.program import (
    TYPE,
    Constant,
    Filter,
    Item,
    Not,
    Rule,
    Term,
    TripleAtom,
    TupleAtom,
    Variable,
)
from triplestore.errors import ShapesError
from triplestore.expressions.compare_terms import FALSE
from triplestore.expressions.tree import Call, Expression, substitute
from triplestore.shacl import model
from triplestore.shacl.model import Shape, ShapeSet
from triplestore.shacl.reading.read_paths import path_text
from triplestore.shacl.reading.shapes_graph import shown
from triplestore.shacl.vocabulary import SUB_CLASS_OF, Key, local_name
from triplestore.sparql.algebra.nodes import Inverse, PathExpression, Sequence

_BELOW = Constant.iri("urn:x-triplestore:shacl:below")
_INSTANCE = Constant.iri("urn:x-triplestore:shacl:instance")
THIS = Variable("this")


class RuleParts:
    """Makes items of rules, and notes the classes whose instances they ask for."""

    def __init__(self, shapes: ShapeSet) -> None:
        self._shapes = shapes
        self._count = 0
        self._classes: dict[Key, None] = {}

    def new(self) -> Variable:
        """A new variable."""
        self._count += 1
        return Variable(f"v{self._count}")

    # -- targets ----------------------------------------------------------------------------------

    def target(self, target: model.Target) -> list[Item]:
        """The items that bind `?this` to the focus nodes of a target."""
        match target:
            case model.TargetClass(of):
                return [self.instance(THIS, of)]
            case model.TargetSubjects(predicate):
                return [TripleAtom(THIS, Constant(predicate), self.new())]
            case model.TargetObjects(predicate):
                return [TripleAtom(self.new(), Constant(predicate), THIS)]
            case _:
                raise ShapesError("a rule needs targets by class or property")

    def instance(self, term: Term, of: Key) -> Item:
        """That a term is an instance of a class, or of a sub-class of it."""
        self._classes[of] = None
        return TupleAtom(_INSTANCE, (term, Constant(of), Constant(of)))

    def helpers(self) -> list[Rule]:
        """The rules of instances and sub-classes, which the items need."""
        x, c, d = Variable("x"), Variable("c"), Variable("d")
        below, made = Constant(SUB_CLASS_OF), []
        for of in map(Constant, self._classes):
            head = TupleAtom(_INSTANCE, (x, of, of))
            made.append(Rule((head,), (TripleAtom(x, TYPE, of),), "sh:class"))
            through = (TupleAtom(_BELOW, (c, of, of)), TripleAtom(x, TYPE, c))
            made.append(Rule((head,), through, "sh:class"))
            chain = TupleAtom(_BELOW, (c, of, of))
            made.append(Rule((chain,), (TripleAtom(c, below, of),), "sh:class"))
            steps = (TupleAtom(_BELOW, (d, of, of)), TripleAtom(c, below, d))
            made.append(Rule((chain,), steps, "sh:class"))
        return made

    # -- paths ------------------------------------------------------------------------------------

    def path(self, path: PathExpression, start: Term, end: Term) -> list[Item]:
        """The atoms of a path between two terms."""
        match path:
            case Constant():
                return [TripleAtom(start, path, end)]
            case Inverse(inner):
                return self.path(inner, end, start)
            case Sequence(parts):
                nodes = [start, *(self.new() for _ in parts[1:]), end]
                steps = zip(parts, nodes, nodes[1:], strict=False)
                return [item for part, s, e in steps for item in self.path(part, s, e)]
            case _:
                raise ShapesError(
                    f"the path {path_text(path)} cannot be part of a rule: only predicates, their "
                    "inverses and sequences can"
                )

    # -- conditions -------------------------------------------------------------------------------

    def condition(self, node: Key, term: Variable) -> list[Item]:
        """The items that are true if a node conforms to a shape."""
        shape = self._shapes.shapes[node]
        if shape.path is not None:
            return self._property(shape, term)
        found: list[Item] = []
        for constraint in shape.constraints:
            if isinstance(constraint, model.PropertyOf):
                found += self._property(self._shapes.shapes[constraint.shape], term)
            elif isinstance(constraint, model.ClassTest):
                found.append(self.instance(term, constraint.of))
            else:
                found.append(Filter(self._test(constraint, term)))
        return found

    def _property(self, shape: Shape, term: Variable) -> list[Item]:
        assert shape.path is not None
        found: list[Item] = []
        for constraint in shape.constraints:
            value = self.new()
            match constraint:
                case model.CountTest(_, 1, True):
                    found += self.path(shape.path, term, value)
                case model.CountTest(_, 0, False):
                    found.append(Not(tuple(self.path(shape.path, term, value))))
                case model.HasValueTest(_, key):
                    found += self.path(shape.path, term, Constant(key))
                case _:  # each value: none is wrong
                    fine = Call("COALESCE", (self._test(constraint, value), Constant(FALSE)))
                    wrong = Filter(Call("!", (fine,)))
                    found.append(Not((*self.path(shape.path, term, value), wrong)))
        return found

    def _test(self, constraint: model.Constraint, term: Variable) -> Expression:
        match constraint:
            case model.ValueTest() | model.DatatypeTest():
                return substitute(constraint.condition, {Variable("value"): term})
            case model.InTest(_, members):
                same = [Call("SAMETERM", (term, Constant(each))) for each in members]
                return same[0] if len(same) == 1 else Call("||", tuple(same))
            case model.HasValueTest(_, key):
                return Call("SAMETERM", (term, Constant(key)))
            case _:
                name = local_name(constraint.component)
                raise ShapesError(f"{name} cannot be the condition of a rule")


def refused(node: Key, why: object) -> ShapesError:
    """The error of a rule that cannot be translated."""
    return ShapesError(f"the rule {shown(node)} cannot be a rule of the store: {why}")
