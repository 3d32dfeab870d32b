"""Where statements of Turtle end; whole documents are tested with the Spark loaders."""

from __future__ import annotations

import numpy as np
import pyoxigraph as ox
import pytest

from triplestore.kernels.documents.turtle_cuts import MARKS, WORD, scan_statements


def scanned(text: str, trig: bool = False, room: int = 100) -> tuple[list[list[int]], list[int]]:
    """Ends, kinds and nodes of statements; nodes, graph and giving up at the end."""
    data = np.frombuffer(text.encode() or b"\0", np.uint8)
    state = np.zeros(4, np.int64)
    ends = np.zeros(3 * room, np.int64)
    stack = np.zeros(19, np.int64)
    done = scan_statements(data, 0, len(text.encode()), int(trig), stack, ends, state)
    found = int(state[3])
    assert done == (ends[3 * found - 3] if found else 0)
    return ends[: 3 * found].reshape(-1, 3).tolist(), state[:3].tolist()


def test_scan__ends_kinds_and_nodes() -> None:
    text = '@base <x> . PREFIX p:<#> [] :a ( 1.5 \'x\'^^p:t """]."""@en ), 2.\n:a.b :c _:d.. '
    found, state = scanned(text)
    assert [kind for _, kind, _ in found] == [1, 1, 0, 0]
    assert [nodes for _, _, nodes in found] == [0, 0, 4, 4]
    assert [text[:end].rpartition(" ")[2] for end, _, _ in found] == [".", "p:<#>", "2.", "_:d."]
    assert state == [4, 0, 1]  # a full stop alone is no statement


def test_scan__graphs() -> None:
    found, state = scanned(":g { :a :b [] } GRAPH [] { } ", trig=True)
    assert found == [[4, 2, 0], [15, 3, 1], [26, 2, 2], [28, 3, 2]]
    assert state == [2, 0, 0]
    assert scanned("[] { :a :b :c . ", trig=True)[1] == [1, 2, 0]
    assert scanned(":g { :a :b [] } ") == ([], [0, 0, 1])


@pytest.mark.parametrize(
    "text", [":a :b 'x' . ", ":a :b '''x''' .\n", "<a> :b 1.5e3 . ", ":a :b :c\\.. ", ":a :b 1 .#"]
)
def test_scan__what_is_not_complete_leaves_no_trace(text: str) -> None:
    found, _ = scanned(text)
    assert len(found) == 1
    for stop in range(len(text) - 1):
        assert scanned(text[:stop]) == ([], [0, 0, 0])


def test_scan__stops_where_the_output_is_full() -> None:
    assert scanned(":a :b :c . " * 5, room=2)[0] == [[10, 0, 0], [21, 0, 0]]


@pytest.mark.parametrize(
    "text",
    [
        *[":a :b <<( :c ) . ", ":a :b :c ] . ", ":a :b ( :c ] . ", ":a :b 'x\n' . "],
        *[":a { :b :c :d } . ", ":a :b :c ~ . ", ":a ^ :b :c . ", ":a :b ( . ) . ", ". "],
        *[":a :b <c d> . ", "@prefix { "],
    ],
)
def test_scan__gives_up_at_what_it_cannot_tell(text: str) -> None:
    assert scanned(":x :y [] . " + text) == ([[10, 0, 1]], [1, 0, 1])


def test_marks__words_are_what_names_may_contain() -> None:
    # A character that may stand in a name, taken for its end, would put cuts in the wrong places.
    for code in [*range(33, 127), 0xB7, 0xE9, 0x203F, 0x10000]:
        text = f"@prefix : <http://e/> . :a :b :c{chr(code)}d ."
        try:
            [quad] = ox.parse(text, ox.RdfFormat.TURTLE)
        except (SyntaxError, ValueError):
            continue
        if chr(code) in quad.object.value.removeprefix("http://e/"):
            assert all(MARKS[byte] & WORD for byte in chr(code).encode()), chr(code)


def test_scan__too_many_brackets_give_up() -> None:
    assert scanned("<a> <b> " + "[" * 20 + "]" * 20 + " . ") == ([], [0, 0, 1])
    assert scanned("<a> <b> " + "[" * 19 + "]" * 19 + " . ") == ([[48, 0, 19]], [19, 0, 0])
