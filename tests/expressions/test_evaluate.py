"""Whole columns give what one row after the other does."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pyoxigraph as ox
import pytest
from support.fuzzing import each_seed

from tests.expressions.random_expressions import AWKWARD, COMMON, NAMES, Maker, typed
from triplestore.expressions.compare_terms import truth
from triplestore.expressions.evaluate_columns import Evaluator, Scope, column, condition, evaluate
from triplestore.expressions.evaluate_scalar import Surroundings, compile_scalar
from triplestore.expressions.library.numbers import ExpressionError
from triplestore.expressions.query_terms import QueryTerms
from triplestore.expressions.text.expression_parser import parse_expression
from triplestore.expressions.text.expression_printer import Namer, expression_text
from triplestore.expressions.thresholds import EXPRESSIONS
from triplestore.expressions.tree import Call, Exists, Expression, Variable
from triplestore.expressions.vectors import Booleans, Numbers
from triplestore.operators.frame import Frame
from triplestore.terms.dictionary import FIRST_QUERY_ID, Dictionary
from triplestore.terms.thresholds import TERMS


@pytest.fixture
def by_columns(tune: Callable[..., None]) -> None:
    """No short cut for a few rows."""
    tune(EXPRESSIONS, scalar_rows=-1)
    tune(TERMS, warm_rows=1, warm_texts=1, cold_texts=1)


def check(expression: Expression, rows: list[list[bytes | None]], stored: list[bytes]) -> None:
    """Compare all three ways to ask with the scalar function, row by row."""
    dictionary = Dictionary()
    dictionary.encode_keys(stored)
    terms = QueryTerms(dictionary)
    frame = Frame.of(
        {name: terms.encode_keys([row[i] for row in rows]) for i, name in enumerate(NAMES)}
    )
    scope = Scope(terms)
    scalar = compile_scalar(expression, {name: i for i, name in enumerate(NAMES)})
    wanted = [_one(scalar, row) for row in rows]
    text = expression_text(expression, Namer())
    found = terms.keys(column(expression, frame, scope))
    for row, one, other in zip(rows, found, wanted, strict=True):
        assert one == other, f"{text} of {row}: {one!r}, not {other!r}"
    mask = condition(expression, frame, scope).tolist()
    for row, one, key in zip(rows, mask, wanted, strict=True):
        assert one is _true(key), f"truth of {text} of {row}: {one}"


def _one(scalar: object, row: list[bytes | None]) -> bytes | None:
    try:
        return scalar(row)
    except ExpressionError:
        return None


def _true(key: bytes | None) -> bool:
    try:
        return key is not None and truth(key)
    except ExpressionError:
        return False


def compare_with_scalar(seed: int, rounds: int) -> None:
    source = random.Random(seed)
    maker = Maker(source, awkward=True)
    for _ in range(rounds):
        expression = maker.any(source.randint(1, 4))
        rows = [maker.row() for _ in range(source.choice([1, 3, 30]))]
        if source.random() < 0.3:  # columns of one type, as they mostly are
            rows = _uniform(source, len(rows))
        stored = [key for row in rows for key in row if key is not None and source.random() < 0.7]
        check(expression, rows, stored)


def _uniform(source: random.Random, count: int) -> list[list[bytes | None]]:
    numbers = [key for key in COMMON + AWKWARD if b"#" in key and key[-9:-1] in _ENDS]
    kinds = [source.choice(_ENDS) for _ in NAMES]
    pools = [[key for key in numbers if key[-9:-1] == kind] for kind in kinds]
    return [[source.choice(pool) for pool in pools] for _ in range(count)]


_ENDS = [(b"XMLSchema#" + name)[-8:] for name in (b"integer", b"decimal", b"double", b"float")]


@pytest.mark.usefixtures("by_columns")
@pytest.mark.parametrize("sign", ["=", "!=", "<", ">", "<=", ">="])
def test_comparisons__of_plain_strings(sign: str) -> None:
    texts = ["", "a long text that begins alike", "a long text that begins Alike", "é", "z", "😀"]
    keys = [b"\x03" + text.encode() for text in texts]
    rows: list[list[bytes | None]] = [[one, other, one] for one in keys for other in keys]
    rows.append([None, keys[0], None])
    one, other = Variable(NAMES[0]), Variable(NAMES[1])
    check(Call(sign, (one, other)), rows, keys[::2])


@pytest.mark.usefixtures("by_columns")
@each_seed(range(4))
def test_columns__are_what_scalars_are(seed: int) -> None:
    compare_with_scalar(seed, 150)


@pytest.mark.long
@pytest.mark.usefixtures("by_columns")
@each_seed(range(100, 140))
def test_columns__are_what_scalars_are_long(seed: int) -> None:
    compare_with_scalar(seed, 1500)


@pytest.mark.usefixtures("by_columns")
@pytest.mark.parametrize("sign", ["=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "SAMETERM"])
def test_columns__every_pair_of_terms(sign: str) -> None:
    keys = COMMON + AWKWARD
    rows: list[list[bytes | None]] = [[a, b, None] for a in keys for b in keys]
    check(Call(sign, (Variable("a"), Variable("b"))), rows, keys[::2])
    for key in keys[::5]:
        constant = parse_expression("?b")
        assert isinstance(constant, Variable)
        one = Call(sign, (Variable("a"), Call("COALESCE", (Variable("c"), Variable("b")))))
        check(one, [[a, key, None] for a in keys], keys)


@pytest.mark.usefixtures("by_columns")
@pytest.mark.parametrize(
    "text",
    [
        "?a + ?b * 2 - ?c > 3",
        "(?a + 0.5) * ?b",
        "IF(?a > ?b, ?a * 2, ?b - 1) + 1",
        '?a IN (1, 2, 3.0, "x")',
        "?a NOT IN (<http://e/x>, <http://e/y>)",
        "COALESCE(?a / ?b, ?c)",
        "ABS(ROUND(?a - 2.5))",
        "-?a * 1e0",
        "?a < 5 && (?b > 0 || !BOUND(?c))",
        "?a * ?b + ?c",
        "?a + 1 = ?b",
        "(?a * ?b) / ?b",
        "?a / 4 - ?b / 8",
        "?a + ?b",
    ],
)
def test_columns__of_numbers(text: str) -> None:
    source = random.Random(7)
    near = 2**53
    kinds = [
        lambda: typed(str(source.randint(-20, 20)), "integer"),
        lambda: typed(str(source.randint(-(10**18), 10**18)), "integer"),
        lambda: typed(str(source.randint(-near, near)), "integer"),
        lambda: typed(str(near + source.randint(-2, 2)), "integer"),
        lambda: typed(f"{source.randint(-99, 99)}.{source.randint(0, 999)}", "decimal"),
        lambda: typed(repr(source.uniform(-9, 9)), "double"),
        lambda: typed(repr(source.uniform(-9, 9)), "float"),
        lambda: source.choice([typed("1", "integer"), typed("PT1H", "dayTimeDuration")]),
    ]
    for _ in range(40):
        makers = [source.choice(kinds) for _ in NAMES]
        rows: list[list[bytes | None]] = [[make() for make in makers] for _ in range(20)]
        check(parse_expression(text), rows, [])


@pytest.mark.usefixtures("by_columns")
@pytest.mark.parametrize("name", ["NEG", "POS", "ABS", "CEIL", "FLOOR", "ROUND"])
@pytest.mark.parametrize("kind", ["double", "float", "decimal", "integer"])
def test_columns__of_one_number(name: str, kind: str) -> None:
    texts = ["-3", "-2.5", "-0.5", "-0.2", "-0", "0", "0.2", "0.5", "1.5", "2.5", "123456.75"]
    if kind in ("double", "float"):
        texts += ["0.49999999999999994", "4503599627370497", "1e300", "NaN", "INF", "-INF"]
    if kind == "integer":
        texts = [text for text in texts if "." not in text]
    rows: list[list[bytes | None]] = [[typed(text, kind), None, None] for text in texts]
    check(Call(name, (Variable("a"),)), rows, [])


@pytest.mark.usefixtures("by_columns")
def test_columns__beyond_what_doubles_tell_apart() -> None:
    near = 2**53
    keys = [typed(str(near + i), "integer") for i in (-1, 0, 1, 2)]
    rows: list[list[bytes | None]] = [[a, b, None] for a in keys[:2] for b in keys]
    for sign in ("=", "<", ">="):
        check(parse_expression(f"?a + 1 {sign} ?b"), rows, keys)
        check(parse_expression(f"?a + 1.0 {sign} ?b"), rows, keys)


def test_few_rows__give_the_same_as_many() -> None:
    source = random.Random(3)
    maker = Maker(source, awkward=True)
    for _ in range(200):
        check(maker.any(3), [maker.row() for _ in range(source.randint(0, 6))], COMMON)


# --- the kinds of columns ------------------------------------------------------------------------


def scope() -> Scope:
    return Scope(QueryTerms(Dictionary()))


@pytest.mark.usefixtures("by_columns")
def test_typed_columns__of_a_frame_take_part() -> None:
    frame = Frame.of(
        n=np.array([1, 2, 3]),
        x=np.array([0.5, 1.5, 2.5]),
        b=np.array([True, False, True]),
        t=["one", None, "three"],
    )
    here = scope()
    assert condition(parse_expression("?n * 2 > 3 && ?b"), frame, here).tolist() == [
        False,
        False,
        True,
    ]
    sums = evaluate(parse_expression("?n + ?x"), frame, here)
    assert isinstance(sums, Numbers) and sums.values.tolist() == [1.5, 3.5, 5.5]
    ids = column(parse_expression("STRLEN(?t)"), frame, here)
    assert here.terms.keys(ids) == [typed("3", "integer"), None, typed("5", "integer")]


@pytest.mark.usefixtures("by_columns")
def test_vectors__of_numbers_stay_numbers() -> None:
    dictionary = Dictionary()
    terms = QueryTerms(dictionary)
    ids = dictionary.encode([ox.Literal(i) for i in range(50)])
    found = evaluate(parse_expression("(?x + 1) * ?x - 2"), Frame.of(x=ids), Scope(terms))
    assert isinstance(found, Numbers) and found.valid is None
    assert isinstance(evaluate(parse_expression("?x < 3"), Frame.of(x=ids), Scope(terms)), Booleans)
    assert len(terms) == 0  # and nothing became a term


def test_computed_terms__have_ids_of_the_query_until_they_are_settled() -> None:
    dictionary = Dictionary()
    ids = dictionary.encode([ox.Literal(1), ox.Literal(2)])
    terms = QueryTerms(dictionary)
    found = column(parse_expression("?x + 1"), Frame.of(x=ids), Scope(terms))
    assert found[0] == ids[1]
    assert found[1] == FIRST_QUERY_ID
    assert dictionary.size == 2
    settled = terms.settle(found)
    assert settled.tolist() == [2, 3]
    assert dictionary.term(3) == ox.Literal(3)


def test_exists__is_asked_of_the_scope() -> None:
    asked = []

    def exists(node: Exists, frame: Frame) -> np.ndarray:
        asked.append(node.pattern)
        return np.arange(frame.rows) % 2 == 0

    expression = Call("&&", (Exists("pattern"), Call(">", (Variable("x"), Variable("y")))))
    frame = Frame.of(x=np.array([5, 5, 1, 1]), y=np.array([1, 1, 5, 5]))
    here = Scope(QueryTerms(Dictionary()), exists=exists)
    assert condition(expression, frame, here).tolist() == [True, False, False, False]
    assert asked == ["pattern"]


@pytest.mark.parametrize("rows", [3, 40])
def test_non_deterministic_functions__differ_from_row_to_row(rows: int) -> None:
    frame = Frame.of(x=np.zeros(rows, np.int64))
    here = scope()
    for text in ("RAND()", "UUID()", "BNODE()", "STRUUID()", "CONCAT(STR(?x), STRUUID())"):
        assert len(set(column(parse_expression(text), frame, here).tolist())) == rows
    one = column(parse_expression('IF(sameTerm(BNODE("a"), BNODE("a")), 1, 2)'), frame, here)
    assert here.terms.keys(one) == [typed("1", "integer")] * rows


def test_now__is_the_same_for_all_rows() -> None:
    now = typed("2020-01-01T00:00:00Z", "dateTime")
    here = Scope(QueryTerms(Dictionary()), Surroundings(now=now))
    ids = column(parse_expression("NOW()"), Frame.of(x=np.zeros(9, np.int64)), here)
    assert here.terms.keys(ids) == [now] * 9


def test_evaluator__is_used_again_on_other_frames() -> None:
    here = scope()
    evaluator = Evaluator(parse_expression('CONTAINS(?x, "a")'), here)
    for text in ("abc", "xyz"):
        ids = here.terms.encode_keys([b"\x03" + text.encode()] * 20)
        assert evaluator.condition(Frame.of(x=ids)).all() == (text == "abc")


@pytest.mark.usefixtures("by_columns")
def test_empty_frames__give_empty_columns() -> None:
    frame = Frame.of(x=np.zeros(0, np.uint32))
    for text in ("?x + 1", "STR(?x)", "?x = 1 || ?y", "IF(?x, 1, 2)", "1"):
        assert column(parse_expression(text), frame, scope()).tolist() == []
        assert condition(parse_expression(text), frame, scope()).tolist() == []
    for text in ('!(STR(?x) = "a")', 'LANG(?x) = "en" || ?x = 3', "MD5(?x) NOT IN (MD5(?x), 2)"):
        assert condition(parse_expression(text), frame, scope()).tolist() == []
