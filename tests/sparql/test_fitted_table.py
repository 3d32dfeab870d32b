"""Tables that fit a width, and texts shortened so that they differ."""

from __future__ import annotations

import random

import pyoxigraph as ox

from triplestore.sparql.results.fitted_table import fitted_table, shortened, text_width
from triplestore.sparql.results.text_table import text_table

STUDENTS = [
    f"<http://www.Department{d}.University0.edu/GraduateStudent{i}>"
    for d in range(3)
    for i in range(0, 60, 7)
]


def test_shortened__iris_of_lubm_differ() -> None:
    for width in range(24, 60):
        made = shortened(STUDENTS, width)
        assert len(set(made)) == len(STUDENTS), width
        assert all(text_width(one) <= width for one in made)
    assert shortened(STUDENTS, 100) == STUDENTS


def test_shortened__in_the_middle_where_that_is_enough() -> None:
    iris = ["<http://e.org/a/long/path/to/one>", "<http://e.org/a/long/path/to/two>", ":short"]
    assert shortened(iris, 20) == ["<http:/…path/to/one>", "<http:/…path/to/two>", ":short"]
    assert shortened(iris, 20, "...")[0] == "<http:...ath/to/one>"


def test_shortened__strings_lose_their_end() -> None:
    assert shortened(['"a long text"', '"a long word"'], 8) == ['"a long…', '"a long…']


def test_table__never_wider_than_the_terminal() -> None:
    for seed in range(200):
        some = random.Random(seed)
        columns, width = some.randrange(1, 12), some.randrange(20, 120)
        names = [f"?{'v' * some.randrange(1, 15)}{i}" for i in range(columns)]
        letters = ["a", "é", "日", "e\u0301", " ", '"']
        rows = [
            ["".join(some.choices(letters, k=some.choice([0, 3, 10, 80]))) for _ in names]
            for _ in range(some.randrange(4))
        ]
        lines = fitted_table(names, rows, width, plain=some.random() < 0.5).split("\n")
        assert len({text_width(line) for line in lines}) == 1, seed
        assert text_width(lines[0]) <= width, seed
        assert len(lines) == len(rows) + 4


def test_table__numbers_stand_to_the_right_and_columns_are_left_out() -> None:
    table = fitted_table(["n", "s"], [["5", "x"], ["", "1y"], ["1,000.5", "2"]], 40, plain=True)
    assert "|       5 | x  |" in table and "| 1,000.5 | 2  |" in table
    wide = fitted_table([f"c{i}" for i in range(9)], [["abcdefgh"] * 9], 50)
    assert wide.split("\n")[1].count("│") < 10 and " … " in wide.split("\n")[1]
    assert fitted_table([], [], 40) == ""


def test_text_table__shortens_iris_in_the_middle() -> None:
    rows = [[ox.NamedNode(f"http://e.org/{'long/' * 20}{i}")] for i in range(3)]
    rows.append([ox.Literal("x" * 100)])
    lines = text_table(["x"], rows, 4, {}).split("\n")
    assert len(set(lines)) == 6 and max(map(len, lines)) == 60
    assert lines[2].endswith("long/0>") and "..." in lines[2] and lines[5].endswith("xxx...")
