"""The evaluation of one expression on one frame, part by part.

Start at `Evaluation.of`. A call is computed by the form for columns that `_OPERATORS` names; if it
has none, or that one says None, by the scalar form once for each distinct combination of values.
Always true: the result is that of `evaluate_scalar` row by row. `evaluate_columns` is the entrance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

import numpy as np

from triplestore.data_classes import data_class
from triplestore.expressions import column_operators
from triplestore.expressions.columns.parts_of_triples import PART_PLACES, part_of_triples
from triplestore.expressions.columns.prefix_ranges import starting_with
from triplestore.expressions.columns.text_functions import TEXT_FUNCTIONS, on_texts
from triplestore.expressions.columns.text_patterns import matches, prefix_of
from triplestore.expressions.columns.time_parts import is_numeric, part_of_times
from triplestore.expressions.distinct_values import (
    CHUNK_BYTES,
    DistinctValues,
    chunks,
    combinations,
)
from triplestore.expressions.evaluate_scalar import Row, Scalar, Surroundings, compile_scalar
from triplestore.expressions.library.numbers import ExpressionError
from triplestore.expressions.library.times import PART_NAMES
from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.text_columns import worth_texts
from triplestore.expressions.thresholds import EXPRESSIONS
from triplestore.expressions.tree import (
    Call,
    Constant,
    Exists,
    Expression,
    Variable,
    variables_of,
)
from triplestore.expressions.vectors import (
    Booleans,
    Coded,
    Ids,
    Mask,
    Vector,
    coded,
    constant,
    integers,
    known,
    of_column,
    truths,
    values_of,
)
from triplestore.operators.context import Budget
from triplestore.operators.frame import Array, Frame
from triplestore.terms.term_keys import BLANK, IRI, LANG, STRING, TRIPLE, TYPED
from triplestore.terms.vocabulary import XSD_INTEGER


@data_class
class Scope:
    """The surroundings in which expressions are evaluated.

    terms   the terms of ids; gives ids to new terms
    around  the base IRI and the time of a query
    exists  evaluates EXISTS: returns the rows of a frame for which it is true
    """

    terms: QueryTerms
    around: Surroundings = field(default_factory=Surroundings)
    exists: Callable[[Exists, Frame], Mask] | None = None


class Prepared:
    """What is prepared once for an expression: scalar forms of its parts, lists of numbers.

    patterns  the EXISTS of the expression, for which it has variables instead
    """

    __slots__ = ("_numbers", "_scalars", "patterns", "scope")

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.patterns: list[Exists] = []
        self._scalars: dict[Expression, tuple[tuple[str, ...], Scalar]] = {}
        self._numbers: dict[
            tuple[int, int], column_operators.NumberSet | None
        ] = {}  # by node of an IN

    def forget(self) -> None:
        """Forget what was prepared, because the expression has other constants now."""
        self._scalars.clear()
        self._numbers.clear()

    def numbers_in(self, node: Call, keys: list[bytes]) -> column_operators.NumberSet | None:
        """The numbers in the list of an IN, read once for all blocks."""
        place = id(node), len(keys)
        if place not in self._numbers:
            self._numbers[place] = column_operators.number_set(keys)
        return self._numbers[place]

    def scalar(self, expression: Expression) -> tuple[tuple[str, ...], Scalar]:
        """The variables of a part, and the function that computes it from their keys."""
        found = self._scalars.get(expression)
        if found is None:
            names = tuple(dict.fromkeys(v.name for v in variables_of(expression)))
            places = {name: place for place, name in enumerate(names)}
            scalar = compile_scalar(expression, places, self.scope.around)
            found = self._scalars[expression] = (names, scalar)
        return found


def value_of_row(scalar: Scalar, row: Row) -> bytes | None:
    """The value of an expression for a row; None for an error."""
    try:
        return scalar(row)
    except ExpressionError:
        return None


def name_of_exists(number: int) -> str:
    """The variable for the truth of an EXISTS."""
    return f" exists {number}"


class Evaluation:
    """The evaluation of one expression on one frame."""

    __slots__ = ("evaluator", "frame", "held", "terms", "vectors")

    def __init__(self, evaluator: Prepared, frame: Frame, held: Budget) -> None:
        self.held = held
        self.evaluator = evaluator
        self.frame = frame
        self.terms = evaluator.scope.terms
        self.vectors: dict[str, Vector] = {}
        for number, node in enumerate(evaluator.patterns):
            if evaluator.scope.exists is None:
                raise AssertionError("EXISTS in an expression without patterns")
            self.vectors[name_of_exists(number)] = Booleans(evaluator.scope.exists(node, frame))

    def of(self, node: Expression) -> Vector:
        """The values of a part."""
        if isinstance(node, Variable):
            return self._variable(node.name)
        if isinstance(node, Constant):
            return constant(node.key, self.frame.rows)
        assert isinstance(node, Call)
        self.held.check()
        operator = _OPERATORS.get(node.function)
        found = operator(self, node) if operator is not None else None
        return self._generic(node) if found is None else found

    def _variable(self, name: str) -> Vector:
        found = self.vectors.get(name)
        if found is None:
            if name in self.frame.names:
                found = of_column(self.frame[name])
            else:
                found = constant(None, self.frame.rows)
            self.vectors[name] = found
        return found

    # --- by vectors -----------------------------------------------------------------------------

    def compare(self, node: Call) -> Vector:
        """= != < > <= >=."""
        left, right = map(self.of, node.arguments)
        return column_operators.compare(node.function, left, right, self.terms)

    def calculate(self, node: Call) -> Vector | None:
        """+ - * /."""
        left, right = map(self.of, node.arguments)
        return column_operators.calculate(node.function, left, right, self.terms)

    def on_numbers(self, node: Call) -> Vector | None:
        """The sign, ABS, CEIL, FLOOR, ROUND."""
        return column_operators.on_numbers(node.function, self.of(node.arguments[0]), self.terms)

    def logic(self, node: Call) -> Vector:
        """|| and &&."""
        wanted = node.function == "||"
        found: Booleans | None = None
        for part in node.arguments:  # one after the other: together they may be many
            test = truths(self.of(part), self.terms)
            found = test if found is None else column_operators.any_of([found, test], wanted)
        assert found is not None
        return found

    def negate(self, node: Call) -> Vector:
        """!."""
        return column_operators.negated(self.of(node.arguments[0]), self.terms)

    def is_in(self, node: Call) -> Vector:
        """IN and NOT IN."""
        value, others = self.of(node.arguments[0]), node.arguments[1:]
        if not others:  # False, but an error without a value
            found = Booleans(np.zeros(self.frame.rows, np.bool_), known(value))
        else:
            found = self._is_among(node, value, others)
        return found if node.function == "IN" else Booleans(~found.values, found.valid)

    def _is_among(self, node: Call, value: Vector, others: tuple[Expression, ...]) -> Booleans:
        """Whether one of these is equal: IRIs and strings all at once, others one by one."""
        named = [o.key for o in others if isinstance(o, Constant) and o.kind in _NAMES]
        at_once = column_operators.among(value, named, self.terms) if named else None
        rest = [
            other
            for other in others
            if at_once is None or not (isinstance(other, Constant) and other.kind in _NAMES)
        ]
        numbers = [o.key for o in rest if isinstance(o, Constant)]
        if len(numbers) > EXPRESSIONS.scalar_rows and len(numbers) == len(rest):
            wanted = self.evaluator.numbers_in(node, numbers)
            found = column_operators.among_numbers(value, wanted, self.terms)
            if found is not None:
                return found if at_once is None else column_operators.any_of([at_once, found], True)
        found = at_once
        for other in rest:  # one after the other: together they may be many
            self.held.check()
            test = column_operators.compare("=", value, self.of(other), self.terms)
            found = test if found is None else column_operators.any_of([found, test], True)
        assert found is not None
        return found

    def bound(self, node: Call) -> Vector:
        """BOUND."""
        return Booleans(known(self.of(node.arguments[0])))

    def kind(self, node: Call) -> Vector:
        """isIRI, isBLANK, isLITERAL, isTRIPLE."""
        return column_operators.is_kind(
            self.of(node.arguments[0]), _KINDS_OF_TESTS[node.function], self.terms
        )

    def part_of_triple(self, node: Call) -> Vector | None:
        """SUBJECT, PREDICATE, OBJECT."""
        return part_of_triples(node.function, self.of(node.arguments[0]), self.terms)

    def same_term(self, node: Call) -> Vector:
        """sameTerm."""
        left, right = map(self.of, node.arguments)
        return column_operators.same_term(left, right, self.terms)

    def choose(self, node: Call) -> Vector:
        """IF."""
        test, then, otherwise = node.arguments
        found = truths(self.of(test), self.terms)
        chosen = column_operators.choose(
            found.values, self.of(then), self.of(otherwise), self.terms
        )
        if found.valid is None or found.valid.all():
            return chosen
        return column_operators.choose(
            found.valid, chosen, constant(None, self.frame.rows), self.terms
        )

    def coalesce(self, node: Call) -> Vector:
        """COALESCE."""
        found: Vector = constant(None, self.frame.rows)
        for part in reversed(node.arguments):
            value = self.of(part)
            found = column_operators.choose(known(value), value, found, self.terms)
        return found

    def on_times(self, node: Call) -> Vector | None:
        """YEAR, MONTH, ..."""
        return part_of_times(node.function, self.of(node.arguments[0]), self.terms)

    def numeric(self, node: Call) -> Vector:
        """isNUMERIC."""
        value = self.of(node.arguments[0])
        return Booleans(is_numeric(values_of(value, self.terms)), known(value))

    def by_pattern(self, node: Call) -> Vector | None:
        """REGEX."""
        if not worth_texts(self.frame.rows):
            return None
        ranges = self._by_ranges(node)
        if ranges is not None:
            return ranges
        return matches(node.function, list(map(self.of, node.arguments)), self.terms, self.held)

    def starts(self, node: Call) -> Vector | None:
        """STRSTARTS."""
        ranges = self._by_ranges(node) if worth_texts(self.frame.rows) else None
        return self.on_texts(node) if ranges is None else ranges

    def _by_ranges(self, node: Call) -> Vector | None:
        """A test for a prefix that ids decide."""
        asked, prefix = node.arguments[0], prefix_of(node)
        through = isinstance(asked, Call) and asked.function == "STR"
        if isinstance(asked, Call) and through:
            asked = asked.arguments[0]
        vector = self._variable(asked.name) if isinstance(asked, Variable) else None
        if prefix is None or not isinstance(vector, Ids):
            return None
        return starting_with(vector.ids, prefix, through, self.terms)

    def on_texts(self, node: Call) -> Vector | None:
        """The functions of strings."""
        if not worth_texts(self.frame.rows):
            return None
        given = list(map(self.of, node.arguments))
        return on_texts(node.function, given, self.terms, self.held)

    # --- by different values --------------------------------------------------------------------

    def _generic(self, node: Call) -> Vector:
        part = _part_for_columns(node)
        if part is None:
            names, scalar = self.evaluator.scalar(node)
            inputs = [DistinctValues(self._variable(name), self.terms) for name in names]
        else:
            _, scalar = self.evaluator.scalar(_with_hole(node, part))
            inputs = [DistinctValues(self.of(part), self.terms)]
        if not inputs:
            return constant(value_of_row(scalar, []), self.frame.rows)
        if len(inputs) == 1:
            (only,) = inputs
            found = Coded(self._values(scalar, [(only, np.arange(only.size))]), only.codes)
            return integers(found) if node.function in _INTEGERS else found
        rows, places = combinations(inputs)
        return Coded(self._values(scalar, [(one, one.codes[rows]) for one in inputs]), places)

    def _values(
        self, scalar: Scalar, inputs: list[tuple[DistinctValues, Array]]
    ) -> list[bytes | None]:
        """The values of rows, each given by the codes of its inputs."""
        made: list[bytes | None] = []
        for start, stop in chunks([one.lengths[codes] for one, codes in inputs]):
            self.held.check()
            lists = [one.keys(codes[start:stop]) for one, codes in inputs]
            found = [value_of_row(scalar, row) for row in zip(*lists, strict=True)]
            self.held.charge(sum(len(key) for key in found if key is not None) + 50 * len(found))
            made += found
        return made

    def row_by_row(self, expression: Expression) -> Vector:
        """Compute row by row; each row is a separate list, by which BNODE identifies it."""
        names, scalar = self.evaluator.scalar(expression)
        inputs = [coded(self._variable(name), self.terms) for name in names]
        rows: list[Row] = []
        made: list[bytes | None] = []
        size = 0
        for row in range(self.frame.rows):
            if row % 1024 == 0:
                self.held.check()
            rows.append([one.keys[one.codes[row]] for one in inputs])
            key = value_of_row(scalar, rows[-1])
            made.append(key)
            size += 150 + (0 if key is None else len(key))
            if size > CHUNK_BYTES:
                self.held.charge(size)
                size = 0
        labels = self.evaluator.scope.around.labels
        for label in [label for label in labels if isinstance(label[0], int)]:
            del labels[label]
        return Coded(made, np.arange(self.frame.rows))


_NAMES = (IRI, STRING, LANG)
_INTEGERS = frozenset({"STRLEN", "YEAR", "MONTH", "DAY", "HOURS", "MINUTES", XSD_INTEGER})
"""Functions whose results become columns of numbers at once, as a short cut."""

_KINDS_OF_TESTS = {
    "ISIRI": (IRI,),
    "ISBLANK": (BLANK,),
    "ISLITERAL": (STRING, LANG, TYPED),
    "ISTRIPLE": (TRIPLE,),
}


_OPERATORS: Mapping[str, Callable[[Evaluation, Call], Vector | None]] = {
    **dict.fromkeys(("=", "!=", "<", ">", "<=", ">="), Evaluation.compare),
    **dict.fromkeys("+-*/", Evaluation.calculate),
    **dict.fromkeys(("NEG", "POS", "ABS", "CEIL", "FLOOR", "ROUND"), Evaluation.on_numbers),
    **dict.fromkeys(("||", "&&"), Evaluation.logic),
    "!": Evaluation.negate,
    **dict.fromkeys(("IN", "NOT IN"), Evaluation.is_in),
    "BOUND": Evaluation.bound,
    **dict.fromkeys(_KINDS_OF_TESTS, Evaluation.kind),
    **dict.fromkeys(PART_PLACES, Evaluation.part_of_triple),
    "SAMETERM": Evaluation.same_term,
    "IF": Evaluation.choose,
    "COALESCE": Evaluation.coalesce,
    **dict.fromkeys(PART_NAMES, Evaluation.on_times),
    "ISNUMERIC": Evaluation.numeric,
    **dict.fromkeys(TEXT_FUNCTIONS, Evaluation.on_texts),
    "REGEX": Evaluation.by_pattern,
    "STRSTARTS": Evaluation.starts,
}
"""The operators with a form for columns; `_generic` computes all others."""


def _part_for_columns(node: Call) -> Call | None:
    """The only argument that is not constant, if it has a form for columns: then it has fewer
    values, or is computed faster, than the variables in it."""
    parts = [part for part in node.arguments if not isinstance(part, Constant)]
    if len(parts) == 1 and isinstance(parts[0], Call) and parts[0].function in _OPERATORS:
        return parts[0]
    return None


def _with_hole(node: Call, part: Call) -> Call:
    """The call with a variable instead of one argument."""
    return Call(node.function, tuple(_HOLE if one is part else one for one in node.arguments))


_HOLE = Variable(" part")
