"""Triple terms nested deep: none is missed, and no honest text is refused."""

from __future__ import annotations

import random

import pyoxigraph as ox
import pytest
from support import fuzzing

from triplestore import Store
from triplestore.errors import UsageError
from triplestore.terms.guards.document_limits import MOST_NESTED, Chain, check_depth

SPACES = [
    b" ", b"\n", b"\t", b'# <<( )>> " x\n', b"#<<(\n", b"#)>>\r", b"#" + b"c<<( )>>" * 200 + b"\n",
]  # fmt: skip
NAMES = [b"<a:s>", b"_:b", b"a:b", b":x\\'y\\#", b"<a:#x>", b"<a:')>", b"a:b.c", b"[ ]"]
BEFORE = [b"", b'<a:> <a:> "<<( #" .', b"<a:> <a:> \"''<<( <\" .", b"# <<( <<( <a: \n", b"# <<(\n"]


def beginnings(choose: random.Random, count: int) -> bytes:
    """So many nested beginnings, with spaces and comments of every kind between."""
    text = choose.choice(BEFORE)
    for _ in range(count):
        text += b"<<("
        for _ in range(2):
            text += b"".join(choose.choices(SPACES, k=choose.choice([0, 0, 1, 2])))
            text += b" " + choose.choice(NAMES) + b" "
    return text


def found_at(text: bytes, size: int) -> int | None:
    """Where a chain finds it too deep, if the text comes in pieces of this size."""
    chain = Chain()
    for start in range(0, len(text), size):
        if (at := chain.too_deep(text[start : start + size])) is not None:
            return start + at
    return None


@pytest.mark.fuzz
def test_chain__misses_nothing_in_pieces_of_any_size() -> None:
    for seed in fuzzing.seeds(60):
        choose = random.Random(seed)
        count = choose.choice([1, 40, MOST_NESTED + 1, MOST_NESTED + 50])
        text = beginnings(choose, count)
        found = found_at(text, choose.choice([61, 1000, 1 << 16]))
        assert (found is not None) == (count > MOST_NESTED), (seed, count)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_chain__pieces_of_a_few_bytes(size: int) -> None:
    assert found_at(b"<<( <a:> #)>>\n <a:> " * (MOST_NESTED + 1), size) is not None
    assert found_at(b"<<( <a:> <a:> " * MOST_NESTED, size) is None


def test_chain__many_that_are_not_nested() -> None:
    for text in (
        b"<a:> <a:> <<( <a:#> <a:> <a:> )>> .\n",
        b'<a:> <a:> "cout <<(a) <<(b) <<(c)" .\n',
        b'<a:> <a:> <<( <a:> <a:> "#" )>> , <<( <a:> <a:> _:b )>> .\n',
    ):
        assert found_at(text * 1000, 1 << 10) is None


def nested(depth: int) -> ox.Triple:
    term: ox.NamedNode | ox.Triple = ox.NamedNode("a:o")
    for _ in range(depth):
        term = ox.Triple(ox.NamedNode("a:s"), ox.NamedNode("a:p"), term)
    assert isinstance(term, ox.Triple)
    return term


def test_store__takes_what_it_can_give_back_and_refuses_what_is_deeper() -> None:
    store = Store()
    name = ox.NamedNode("a:s")
    deepest = ox.Quad(name, name, nested(MOST_NESTED))
    store.add(deepest)
    assert list(store) == [deepest]
    assert len(list(store.query("SELECT ?o { ?s ?p ?o } ORDER BY ?o"))) == 1
    with pytest.raises(UsageError, match="at most 100 deep"):
        store.add(ox.Quad(name, name, nested(2_000)))
    grown = "SELECT (TRIPLE(<a:s>, <a:p>, ?o) AS ?deeper) { ?s ?p ?o }"
    (row,) = store.query(grown)
    assert row["deeper"] is None, "an expression is an error there, as any other"
    check_depth(deepest.object)
