"""Tables, trees and terms as HTML: escaped, cut, well-formed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple
from support.html_output import read_html

from triplestore.notebook.parts import (
    MAX_LINES,
    MAX_TITLE,
    Node,
    escape,
    figures,
    folded,
    line,
    output,
    preformatted,
    span,
    tree,
)
from triplestore.notebook.plans import MAX_OPERATORS, plan_html
from triplestore.notebook.terms import (
    MAX_ROWS,
    MAX_SHOWN,
    TermWriter,
    cut,
    names_list,
    quads_table,
    solutions_table,
)

EX = "http://ex.org/"
EVIL = "<script>alert('x')</script>\"' onmouseover=\"x()\" &lt; <img src=x>\n</td></table>\0"


def test_read_html__refuses_what_runs_fetches_or_is_open() -> None:
    for wrong in (
        "<script>x</script>",
        "<img src='x'>",
        "<div onclick='x'></div>",
        "<a href='x'>x</a>",
        "<div>",
        "</div>",
        "<div><span></div></span>",
        "<!-- x -->",
        "<style>a{background:url(x)}</style>",
    ):
        with pytest.raises(AssertionError):
            read_html(wrong)


@given(st.text())
def test_parts__texts_mean_themselves(text: str) -> None:
    shown = text.replace("\0", "\ufffd")
    html = output(line(text), span(text, text + "!"), preformatted(text), folded(text))
    found = read_html(html.replace("\r", "&#13;"))
    assert found.text == shown * 4
    if len(text) < MAX_TITLE:
        assert found.titles == [shown + "!"]


def test_parts__kinds_and_titles_are_escaped() -> None:
    found = read_html(output(span(EVIL, EVIL + "more", EVIL), figures([(EVIL, EVIL)])))
    assert found.text.count("alert") == 3
    assert len(found.titles) == 1


def test_span__has_no_title_that_says_nothing_new_and_cuts_long_ones() -> None:
    assert read_html(span("a", "a")).titles == []
    assert read_html(span("a", "")).titles == []
    (title,) = read_html(span("a", "b" * 10_000)).titles
    assert len(title) == MAX_TITLE
    assert title.endswith("…")


def test_escape__takes_any_object() -> None:
    assert escape(5) == "5"


def test_tree__folds_below_the_first_levels_and_is_made_without_recursion() -> None:
    root = leaf = Node(span("0"))
    for depth in range(1, 5000):
        leaf.below.append(Node(span(str(depth))))
        leaf = leaf.below[0]
    html = tree(root, unfolded=2)
    assert html.count("<details open>") == 2
    assert html.count("<details>") == 4999 - 2
    assert read_html(html).text.startswith("0123")


def test_tree__keeps_the_order_of_what_hangs_on_a_node() -> None:
    root = Node("a", ["rule"], [Node("b", (), [Node("c")]), Node("d")])
    assert read_html(tree(root)).text == "arulebcd"


def test_terms__are_short_and_whole_on_hover() -> None:
    writer = TermWriter({"": EX})
    found = read_html(writer.html(NamedNode(EX + "ada")))
    assert (found.text, found.titles) == (":ada", [EX + "ada"])
    found = read_html(writer.html(NamedNode("http://other.org/x")))
    assert (found.text, found.titles) == ("<http://other.org/x>", [])
    found = read_html(writer.html(NamedNode("http://www.w3.org/2000/01/rdf-schema#label")))
    assert found.text == "rdfs:label"
    date = Literal("2024-01-01", datatype=NamedNode("http://www.w3.org/2001/XMLSchema#date"))
    assert read_html(writer.html(date)).text == '"2024-01-01"^^xsd:date'
    assert read_html(writer.html(Literal("x", language="en"))).text == '"x"@en'
    assert read_html(writer.html(BlankNode("b"))).text == "_:b"
    assert writer.html(None) == ""


def test_terms__a_prefix_of_the_store_is_not_overridden() -> None:
    writer = TermWriter({"rdfs": EX})
    assert writer.text(NamedNode(EX + "a")) == "rdfs:a"
    whole = "http://www.w3.org/2000/01/rdf-schema#label"
    assert writer.text(NamedNode(whole)) == f"<{whole}>"


def test_terms__long_ones_lack_their_middle() -> None:
    found = read_html(TermWriter().html(NamedNode(EX + "a" * 200 + "/end")))
    assert len(found.text) == MAX_SHOWN
    assert found.text.startswith("<http://ex.org/")
    assert found.text.endswith("/end>")
    assert found.titles == [EX + "a" * 200 + "/end"]
    assert cut("x" * MAX_SHOWN) == "x" * MAX_SHOWN


@pytest.mark.parametrize(
    "term",
    [
        Literal(EVIL),
        Literal(EVIL, language="en"),
        Literal(EVIL, datatype=NamedNode("javascript:alert(1)")),
        NamedNode("javascript:alert('1')"),
        Triple(NamedNode(EX), NamedNode(EX), Literal(EVIL)),
    ],
)
def test_terms__of_hostile_data_are_only_text(term: object) -> None:
    found = read_html(output(solutions_table([EVIL], [[term]], 1, {EVIL: EX})))  # type: ignore[list-item]
    assert len(found.cells) == 1


def test_solutions_table__says_how_many_there_are() -> None:
    rows = ([Literal(str(i)), None] for i in range(12_345))
    found = read_html(solutions_table(["x", "y"], rows, 12_345, {}))
    assert found.text.endswith("showing 20 of 12,345 solutions")
    assert len(found.cells) == 2 * MAX_ROWS
    assert found.cells[:2] == ['"0"', ""]
    assert read_html(solutions_table(["x"], [], 0, {})).text == "?x0 solutions"


def test_solutions_table__without_variables() -> None:
    assert read_html(solutions_table([], [()], 1, {})).text == "1 solution"


def test_numbers__are_aligned_to_the_right() -> None:
    html = solutions_table(["n", "s"], [[_number("5"), Literal("5")]], 1, {})
    assert html.count('class="number"') == 1


def test_numbers__are_shown_without_datatype_if_they_are_valid() -> None:
    double = "http://www.w3.org/2001/XMLSchema#double"
    for text in ("61.5", "-.5E7", "INF", "NaN", "7."):
        number = Literal(text, datatype=NamedNode(double))
        found = read_html(TermWriter().html(number))
        assert (found.text, found.titles) == (text, [f'"{text}"^^<{double}>'])
    wrong = Literal("six", datatype=NamedNode(double))
    assert read_html(TermWriter().html(wrong)).text == '"six"^^xsd:double'


def _number(text: str) -> Literal:
    return Literal(text, datatype=NamedNode("http://www.w3.org/2001/XMLSchema#integer"))


def test_quads_table__has_a_column_for_graphs_if_there_are_some() -> None:
    a = NamedNode(EX + "a")
    plain = [Quad(a, a, a), Quad(a, a, a, DefaultGraph())]
    assert len(read_html(quads_table(plain, 2, {})).cells) == 6
    assert len(read_html(quads_table([Triple(a, a, a)], 1, {})).cells) == 3
    found = read_html(quads_table([*plain, Quad(a, a, a, BlankNode("g"))], 3, {"": EX}))
    assert found.cells == [":a"] * 3 + [""] + [":a"] * 3 + [""] + [":a"] * 3 + ["_:g"]
    assert read_html(quads_table([], 0, {})).text == "0 quads"


def test_names_list__says_how_many_are_left() -> None:
    names = [NamedNode(EX + name) for name in "abc"]
    assert read_html(names_list(names, 5, {"": EX}, 2)).text == ":a, :b and 3 more"
    assert read_html(names_list(names, 3, {"": EX}, 3)).text == ":a, :b, :c"


def _operator(children: list[dict[str, object]], **values: object) -> dict[str, object]:
    figures = {"estimate": 1.0, "rows": 1, "blocks": 1, "calls": 1, "seconds": 0.5}
    more = {"self_seconds": 0.25, "bytes": 8, "children": children}
    return {"operator": "scan", "detail": EVIL, **figures, **more, **values}


def test_plan__is_indented_and_marks_wrong_estimates() -> None:
    plan = _operator([_operator([_operator([])]), _operator([], rows=10, calls=3)])
    html = plan_html(plan, ["unbound ?x"])
    found = read_html(html)
    assert html.count('class="bad"') == 2  # the warning, and one number of rows
    assert found.text.startswith("warning: unbound ?x")
    first = found.cells[::7]
    assert [text[:3] for text in first] == ["sca", "├─ ", "│\u00a0\u00a0", "└─ "]
    assert first[3].endswith("(3 calls)")


def test_plan__of_nothing_and_of_too_much() -> None:
    assert read_html(plan_html({"warnings": []})).text == "no plan: nothing was matched"
    many = _operator([_operator([]) for _ in range(2 * MAX_OPERATORS)])
    assert len(read_html(plan_html(many)).cells) == 7 * MAX_OPERATORS


def test_preformatted__is_cut_after_some_lines() -> None:
    text = "\n".join("x" * (MAX_LINES + 7))
    assert read_html(preformatted(text)).text.endswith("x\nxand 7 more lines")
