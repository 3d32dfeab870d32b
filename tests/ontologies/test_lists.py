"""Lists: their readings, and what is said of those that are broken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode

from tests.ontologies.reading import n, triples
from triplestore.ontologies.model.expressions import Triple
from triplestore.ontologies.model.lists import ListReader
from triplestore.ontologies.model.schema_graph import SchemaGraph
from triplestore.ontologies.model.vocabulary import FIRST, NIL, REST
from triplestore.ontologies.thresholds import ONTOLOGIES
from triplestore.terms import Term


def reader_of(turtle: str) -> ListReader:
    return ListReader(SchemaGraph(triples(turtle)))


def items(turtle: str, head: str = "l") -> list[str]:
    """The readings of the list at `:l`, each as text, without reports."""
    return [" ".join(map(local_name, reading.items)) for reading in reader_of(turtle).read(n(head))]


def local_name(item: Term) -> str:
    assert isinstance(item, NamedNode | BlankNode | Literal)
    return item.value.rpartition("/")[2]


def codes(turtle: str, *heads: str) -> list[str]:
    """What is reported when lists are read."""
    reader = reader_of(turtle)
    for head in heads or ("l",):
        reader.read(n(head))
    return sorted(problem.code for problem in reader.problems)


def test_read__needs_no_types_and_gives_items_with_their_triples() -> None:
    turtle = ":l rdf:first :a ; rdf:rest :m . :m rdf:first :b ; rdf:rest () ; a rdf:List ."
    (reading,) = reader_of(turtle).read(n("l"))
    assert reading.items == (n("a"), n("b"))
    assert [(s, p) for s, p, _ in reading.triples] == [
        (n("l"), FIRST),
        (n("l"), REST),
        (n("m"), FIRST),
        (n("m"), REST),
    ]
    assert codes(turtle) == []


def test_read__nil_is_the_empty_list() -> None:
    (reading,) = reader_of("").read(NIL)
    assert (reading.items, reading.triples) == ((), ())


BROKEN: Mapping[str, tuple[str, list[str]]] = {
    "no cell at all": (":x :y :z .", []),
    "a rest that is no cell": (
        ":l rdf:first :a ; rdf:rest :m .",
        ["list-without-first"],
    ),
    "no first": (":l rdf:rest () .", ["list-without-first"]),
    "no first later": (
        ":l rdf:first :a ; rdf:rest :m . :m rdf:rest () .",
        ["list-without-first"],
    ),
    "no rest": (":l rdf:first :a .", ["list-without-rest"]),
    "ends at a literal": (":l rdf:first :a ; rdf:rest 'end' .", ["list-without-first"]),
    "a cycle of one": (":l rdf:first :a ; rdf:rest :l .", ["list-cycle"]),
    "a cycle later": (
        ":l rdf:first :a ; rdf:rest :m . :m rdf:first :b ; rdf:rest :k ."
        ":k rdf:first :c ; rdf:rest :m .",
        ["list-cycle"],
    ),
    "two ways, both broken": (
        ":l rdf:first :a ; rdf:rest :m, :l . :m rdf:first :b .",
        ["list-two-rests", "list-without-rest"],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_read__a_broken_list_has_no_reading_and_is_reported(name: str) -> None:
    turtle, expected = BROKEN[name]
    assert items(turtle) == []
    assert codes(turtle) == expected


def test_problems__carry_the_triples_of_the_place() -> None:
    turtle = ":l rdf:first :a ; rdf:rest :m . :m rdf:first :b ."
    reader = reader_of(turtle)
    reader.read(n("l"))
    assert [problem.triples for problem in reader.problems] == [((n("m"), FIRST, n("b")),)]
    assert "rdf:nil" in reader.problems[0].remedy


AMBIGUOUS: Mapping[str, tuple[str, list[str], list[str]]] = {
    "two firsts": (
        ":l rdf:first :a, :b ; rdf:rest (:c) .",
        ["a c", "b c"],
        ["list-two-firsts"],
    ),
    "two rests": (":l rdf:first :a ; rdf:rest (:b), () .", ["a", "a b"], ["list-two-rests"]),
    "a way out of a cycle": (
        ":l rdf:first :a ; rdf:rest :m . :m rdf:first :b ; rdf:rest :l, () .",
        ["a b"],
        ["list-two-rests"],
    ),
    "one way is broken": (
        ":l rdf:first :a ; rdf:rest :m, () . :m rdf:first :b .",
        ["a"],
        ["list-two-rests", "list-without-rest"],
    ),
    "both at once": (
        ":l rdf:first :a, :b ; rdf:rest (:c), (:d) .",
        ["a c", "a d", "b c", "b d"],
        ["list-two-firsts", "list-two-rests"],
    ),
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_read__an_ambiguous_list_has_all_readings_and_is_reported(name: str) -> None:
    turtle, expected, problems = AMBIGUOUS[name]
    assert sorted(items(turtle)) == expected
    assert codes(turtle) == problems


def test_read__each_reading_has_its_own_triples_only() -> None:
    for reading in reader_of(":l rdf:first :a, :b ; rdf:rest () .").read(n("l")):
        assert reading.triples[0] == (n("l"), FIRST, reading.items[0])
        assert len(reading.triples) == 2


def test_read__too_many_readings_are_cut_and_reported() -> None:
    cells = "".join(
        f":c{i} rdf:first :a, :b ; rdf:rest :c{i + 1} ." for i in range(ONTOLOGIES.list_readings)
    )
    turtle = f"{cells} :c{ONTOLOGIES.list_readings} rdf:first :a ; rdf:rest () ."
    assert len(items(turtle, "c0")) == ONTOLOGIES.list_readings
    assert "list-ambiguous" in codes(turtle, "c0")


def test_read__a_thicket_of_rests_ends() -> None:
    names = [f":c{i}" for i in range(40)]
    turtle = "".join(f"{c} rdf:first :a ; rdf:rest {', '.join(names)} ." for c in names)
    assert "list-ambiguous" in codes(turtle + ":c39 rdf:rest () .", "c0")


def test_read__shared_tails_are_read_and_reported() -> None:
    turtle = ":l rdf:first :a ; rdf:rest :t . :m rdf:first :b ; rdf:rest :t ."
    turtle += ":t rdf:first :c ; rdf:rest () ."
    assert (items(turtle), items(turtle, "m")) == (["a c"], ["b c"])
    assert codes(turtle, "l", "m") == ["list-shared"]
    assert codes(turtle, "l", "t") == ["list-shared"]
    assert codes(turtle, "l", "l") == []


def test_read__a_list_behind_a_broken_one_is_not_called_a_cycle() -> None:
    turtle = ":l rdf:first :a . :m rdf:first :b ; rdf:rest :l ."
    assert codes(turtle, "l", "m") == ["list-without-rest"]


def long_list(length: int) -> Sequence[Triple]:
    cells = [BlankNode(f"c{i}") for i in range(length)]
    found: list[Triple] = []
    for i, cell in enumerate(cells):
        rest = cells[i + 1] if i + 1 < length else NIL
        found += [(cell, FIRST, Literal(str(i))), (cell, REST, rest)]
    return found


def test_read__long_lists() -> None:
    (reading,) = ListReader(SchemaGraph(long_list(20_000))).read(BlankNode("c0"))
    assert len(reading.items) == 20_000


def test_read__a_broken_tail_is_walked_once_whatever_leads_to_it() -> None:
    broken = long_list(10_000)[:-1]
    heads = [BlankNode(f"h{i}") for i in range(10_000)]
    for head in heads:
        broken += [(head, FIRST, Literal("x")), (head, REST, BlankNode("c0"))]
    reader = ListReader(SchemaGraph(broken))
    assert all(reader.read(head) == () for head in heads)
    assert [problem.code for problem in reader.problems] == ["list-without-rest"]
