"""Columns of integers from files, against plain Python, and refused files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.inputs import csv_integers
from bench.inputs.csv_integers import read_all, read_integers
from triplestore.errors import ParseError

numbers = st.integers(0, 12) | st.integers(0, 2**32 - 1) | st.sampled_from([99_999_999, 10**8])
spelt = st.tuples(numbers, st.integers(0, 12)).map(lambda pair: "0" * pair[1] + str(pair[0]))


@settings(max_examples=150, deadline=None)
@given(
    data=st.data(),
    columns=st.integers(1, 4),
    line=st.sampled_from(["\n", "\r\n"]),
    end=st.sampled_from(["", "\n", "\n\n"]),
    piece=st.sampled_from([8, 64, 1 << 18]),
)
def test_read_integers__is_what_was_written(
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
    columns: int,
    line: str,
    end: str,
    piece: int,
) -> None:
    rows = data.draw(st.lists(st.lists(spelt, min_size=columns, max_size=columns), max_size=9))
    path = tmp_path_factory.mktemp("integers") / "some.csv"
    path.write_bytes((line.join(map(",".join, rows)) + end).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_integers, "_PIECE", piece)
        found = read_integers(path, columns)
    wanted = [[int(number) for number in column] for column in zip(*rows, strict=True)]
    assert [column.tolist() for column in found] == (wanted or [[]] * columns)


@pytest.mark.parametrize(
    ("text", "columns", "place"),
    [
        ("1,2\n3,4,5\n", 2, "2:4"),
        ("1,2\n3\n", 2, "2:2"),
        ("1,2\n3,\n", 2, "2:3"),
        ("1\n,\n", 1, "2:1"),
        ("1 \n", 1, "1:2"),
        ("a\n", 1, "1:1"),
        ("7\n-1\n", 1, "2:1"),
        ("1,4294967296", 2, "1:3"),
        ("1,99999999999999999999999999", 2, "1:3"),
        ("1,2\n5", 2, "2:2"),
        ("1,2\n\x00", 2, "2:1"),
        ("1\n2é\n", 1, "2:2"),
        ("1,\n", 2, "1:3"),
    ],
)
def test_read_integers__says_where_it_is_wrong(
    tmp_path: Path, text: str, columns: int, place: str
) -> None:
    path = tmp_path / "wrong.csv"
    path.write_bytes(text.encode())
    with pytest.raises(ParseError) as caught:
        read_integers(path, columns)
    assert f"wrong.csv:{place}:" in str(caught.value)


def test_read_all__keeps_the_order_of_the_files(tmp_path: Path) -> None:
    for name, text in (("a", "1\n"), ("b", "2,3\n" * 5), ("c", "")):
        (tmp_path / name).write_text(text)
    files = [(tmp_path / name, arity) for name, arity in (("a", 1), ("b", 2), ("c", 3))]
    found = [[column.tolist() for column in columns] for columns in read_all(files)]
    assert found == [[[1]], [[2] * 5, [3] * 5], [[], [], []]]
