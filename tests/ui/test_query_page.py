"""The query page in a browser: queries, results, completion, errors, stopping."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect
from pyoxigraph import NamedNode, Quad

from triplestore import Store
from ui.browser import PHONE, Visit, Visitor

PREFIX = "PREFIX : <http://city.example/>\n"
RDFS = PREFIX + "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n"
STATIONS = RDFS + "SELECT ?stop ?name ?lines {\n  ?stop rdfs:label ?name ; :lines ?lines\n}"
SLOW = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(STR(?c) < STR(?i)) }"


def ex(name: str) -> NamedNode:
    return NamedNode(f"http://e/{name}")


def test_query__rows_are_shown_with_links_and_size(visitor: Visitor) -> None:
    visitor.ask(STATIONS)
    expect(visitor.result).to_contain_text("3 rows")
    for name in (":bridge", ":harbour", ":market"):
        expect(visitor.cells(1).filter(has_text=name)).to_have_count(1)
    visitor.shot("query-table")
    visitor.page.get_by_role("link", name=":harbour").click()
    visitor.page.wait_for_url("**/#/resource?term=%3Chttp%3A%2F%2Fcity**")


def test_query__ctrl_enter_runs_what_is_in_the_editor(visitor: Visitor) -> None:
    visitor.open("query")
    visitor.page.locator(".cm-content").click()
    visitor.page.keyboard.press("Control+A")
    visitor.page.keyboard.type("ASK { <http://city.example/u1> ?p ?o }")
    visitor.page.keyboard.press("Control+Enter")
    expect(visitor.page.locator(".boolean")).to_contain_text("Yes")


def test_query__rows_of_several_commits_are_told_apart(
    store: Store, visit: Visit, host: Callable[..., str]
) -> None:
    store.extend(Quad(ex("s"), ex("p"), ex(str(number))) for number in range(10_000))
    visitor = visit(base=host(store))
    visitor.ask("SELECT * { ?s ?p ?o }")
    store.update("INSERT DATA { <http://e/new> <http://e/p> 1 }")
    visitor.page.get_by_role("button", name="Load the next rows").click()
    visitor.page.get_by_text(f"These rows are of commits {store.commit - 1} to").wait_for()


def test_query__inferred_rows_and_triples_are_marked(visitor: Visitor) -> None:
    visitor.ask(PREFIX + "SELECT ?stop { ?stop a :Stop ; :lines ?n FILTER(?n < 4) } ORDER BY ?stop")
    marked = visitor.page.locator(".results tr.inferred a")
    expect(marked).to_have_text([":harbour", ":market"])
    visitor.ask(PREFIX + "CONSTRUCT { :harbour a ?kind } { :harbour a ?kind }")
    visitor.page.locator(".results tr.inferred").first.wait_for()
    expect(visitor.page.locator(".results tr:not(.inferred) >> text=:Station")).to_have_count(1)


def test_triples__the_mark_of_an_inferred_one_shows_its_proof(visitor: Visitor) -> None:
    visitor.ask(PREFIX + "CONSTRUCT { :market a ?kind } { :market a ?kind FILTER(?kind = :Stop) }")
    visitor.page.get_by_role("button", name="why?").click()
    proof = visitor.page.locator("dialog[open]")
    proof.get_by_text("Station").first.wait_for()
    visitor.shot("query-why")


def test_start__offers_queries_to_begin_with(visitor: Visitor) -> None:
    visitor.open("query")
    visitor.page.get_by_role("button", name="Classes and their sizes").click()
    visitor.result.wait_for()
    visitor.cells(1).filter(has_text=":Stop").wait_for()
    tabs = visitor.page.locator(".query-tab")
    expect(tabs, "the unchanged first tab is used").to_have_count(1)


def test_facts__only_asserted_ones_are_asked_when_chosen(visitor: Visitor) -> None:
    visitor.ask(PREFIX + "SELECT ?kind { :harbour a ?kind }")
    visitor.cells(1).filter(has_text=":Stop").wait_for()
    visitor.page.get_by_role("radio", name="Asserted").check(force=True)
    visitor.page.get_by_role("button", name="Run", exact=True).click()
    visitor.page.get_by_text("1 row", exact=True).wait_for()
    expect(visitor.cells(1)).to_have_text([":Station"])


def test_error__its_place_is_marked_in_the_query(visitor: Visitor) -> None:
    visitor.ask("SELECT ?x {\n  ?x a FILTER(?x)\n}")
    expect(visitor.result).to_contain_text("line 2, column 8")
    mark = visitor.page.locator(".cm-lintRange-error")
    expect(mark).to_have_text("FILTER")
    visitor.shot("query-error")
    visitor.type(" ")  # the mark goes with the first change
    mark.wait_for(state="detached")


def test_completion__offers_names_of_the_store_and_inserts_them(visitor: Visitor) -> None:
    visitor.open("query", query=PREFIX + "SELECT * {\n  ?line ")
    visitor.type(":serv")
    chosen = ".cm-tooltip-autocomplete li[aria-selected=true]"
    visitor.page.locator(chosen, has_text=":serves").wait_for()  # after those of fewer letters
    visitor.shot("query-completion")
    visitor.page.wait_for_timeout(500)  # the editor takes no Enter right after the list appears
    visitor.page.keyboard.press("Enter")
    visitor.type(" ?stop }")
    expect(visitor.page.locator(".cm-content")).to_contain_text("?line :serves ?stop }")


def test_completion__does_not_disturb_fast_typing(visitor: Visitor) -> None:
    visitor.open("query", query="")
    written = "SELECT ?a ?b WHERE { ?a ?b ?c . ?c a ?d FILTER(?d != ?a) } LIMIT 7"
    visitor.type(written)
    visitor.page.keyboard.press("Escape")
    expect(visitor.page.locator(".cm-content")).to_have_text(written)


def test_stop__ends_a_running_query_in_the_server(visitor: Visitor) -> None:
    visitor.open("query", query=SLOW)
    visitor.page.get_by_role("button", name="Run", exact=True).click()
    visitor.page.get_by_role("button", name="Stop").wait_for()
    visitor.page.keyboard.press("Alt+r")
    expect(visitor.page.locator(".running-query pre")).to_contain_text("COUNT")
    visitor.shot("query-running")
    visitor.page.locator(".running-query").get_by_role("button", name="Stop").click()
    visitor.page.get_by_text("No query runs now").wait_for()
    visitor.page.keyboard.press("Escape")
    visitor.result.wait_for()
    visitor.page.get_by_role("button", name="Run", exact=True).wait_for()


def test_stop__the_button_ends_it(visitor: Visitor) -> None:
    visitor.open("query", query=SLOW)
    visitor.page.get_by_role("button", name="Run", exact=True).click()
    visitor.page.get_by_role("button", name="Stop").click()
    expect(visitor.result).to_contain_text("stopped")


def test_table__ten_thousand_rows_scroll_and_sort(visitor: Visitor) -> None:
    visitor.ask("SELECT * { ?s ?p ?o } ORDER BY ?s LIMIT 10000")
    expect(visitor.result).to_contain_text("10,000 rows")
    frame = visitor.page.locator(".results .table-frame")
    assert visitor.page.locator(".results tbody tr").count() < 100, "only rows in view are drawn"
    frame.evaluate("frame => frame.scrollTo(0, frame.scrollHeight)")
    visitor.page.get_by_role("row").filter(has_text="10000").wait_for()
    frame.evaluate("frame => frame.scrollTo(0, 28 * 4990)")
    visitor.page.locator("tr[aria-rowindex='5000']").wait_for()
    visitor.shot("query-10000-rows")


def test_table__a_click_on_a_title_sorts_by_value(visitor: Visitor) -> None:
    visitor.ask(STATIONS)
    for order in ("1", "2", "3"), ("3", "2", "1"):
        visitor.page.get_by_role("button", name="lines").click()
        expect(visitor.cells(3)).to_have_text(order)


def test_cells__nothing_of_the_store_becomes_markup_or_a_link_that_runs(visitor: Visitor) -> None:
    visitor.ask(RDFS + "SELECT * { ?s rdfs:label|rdfs:seeAlso ?o }")
    text = "<img src=x onerror=alert(1)>"
    visitor.cells(2).filter(has_text=text).wait_for()
    assert visitor.page.locator("main img").count() == 0
    targets = visitor.page.locator("main a").evaluate_all("all => all.map(a => a.protocol)")
    assert set(targets) == {"http:"}, targets


def test_cells__long_texts_are_shown_whole_in_a_dialog(visitor: Visitor) -> None:
    visitor.ask(RDFS + "SELECT ?text { :market rdfs:comment ?text }")
    visitor.page.locator(".cell-whole").click()
    expect(visitor.page.locator("dialog[open] pre")).to_contain_text("with all of its words")


def test_views__raw_chart_graph_and_plan(visitor: Visitor) -> None:
    visitor.ask(STATIONS)
    visitor.page.get_by_role("tab", name="Raw").click()
    visitor.page.get_by_text("http://city.example/harbour").first.wait_for()
    visitor.page.get_by_role("tab", name="Chart").click()
    expect(visitor.page.locator(".chart rect")).to_have_count(3)
    visitor.shot("query-chart")
    visitor.page.get_by_role("tab", name="Explain").click()
    expect(visitor.page.locator(".plan-numbers").first).to_contain_text("rows")
    visitor.shot("query-explain")
    visitor.ask(PREFIX + "CONSTRUCT { ?line :serves ?stop } { ?line :serves ?stop }")
    visitor.page.get_by_role("tab", name="Graph").click()
    graph = visitor.page.locator(".graph-canvas")
    graph.locator("canvas").first.wait_for()
    expect(graph).to_have_attribute("aria-label", re.compile("4 arrows"))
    visitor.shot("query-graph")


def test_plan__is_not_asked_for_at_every_key(visitor: Visitor) -> None:
    asked: list[str] = []
    visitor.page.on("request", lambda request: asked.append(request.url))
    visitor.ask(STATIONS)
    visitor.page.get_by_role("tab", name="Explain").click()
    visitor.page.get_by_role("treeitem").first.wait_for()
    visitor.type(" LIMIT 2")
    visitor.page.get_by_text("The query has changed").wait_for()
    assert sum("/api/explain?" in url for url in asked) == 1
    visitor.page.get_by_role("button", name="Take the new one").click()
    visitor.page.get_by_role("treeitem").filter(has_text="limit").first.wait_for()


def test_advice__stands_beside_an_empty_answer(visitor: Visitor) -> None:
    visitor.ask(PREFIX + "SELECT * { ?line :servs ?stop }")
    expect(visitor.page.locator(".empty")).to_contain_text("did you mean")
    visitor.shot("query-advice")


def test_export__saves_the_whole_answer(visitor: Visitor, tmp_path: Path) -> None:
    visitor.ask(STATIONS)
    for name in ("CSV", "Parquet"):
        visitor.page.get_by_role("button", name="Export").click()
        with visitor.page.expect_download() as saving:
            visitor.page.get_by_role("menuitem", name=name).click()
        saving.value.save_as(tmp_path / name)
    lines = (tmp_path / "CSV").read_text().splitlines()
    assert lines[0] == "stop,name,lines" and len(lines) == 4
    assert (tmp_path / "Parquet").read_bytes()[:4] == b"PAR1"


def test_tabs_and_history__are_there_after_a_reload(visitor: Visitor) -> None:
    visitor.ask("SELECT ?first { ?first ?p ?o } LIMIT 1")
    visitor.page.get_by_role("button", name="New tab").click()
    visitor.type("ASK {}")
    visitor.page.reload()
    expect(visitor.page.locator(".cm-content")).to_have_text("ASK {}")
    expect(visitor.page.get_by_role("tab", name="SELECT ?first")).to_have_count(1)
    visitor.page.keyboard.press("Alt+h")
    expect(visitor.page.locator(".history-entry pre").first).to_contain_text("?first")


def test_mobile__nothing_is_wider_than_the_screen(visit: Visit) -> None:
    phone = visit(**PHONE)
    phone.ask(STATIONS)
    assert phone.fits()
    phone.shot("query-390")


def test_follow__rows_appear_when_a_commit_brings_them(visitor: Visitor) -> None:
    visitor.open("query", query=PREFIX + "SELECT ?line { ?line :follows :harbour }")
    visitor.page.get_by_role("tab", name="Follow").click()
    visitor.page.get_by_text("No rows now").wait_for()
    for name in ("u7", "u8"):
        update = f"{PREFIX} INSERT DATA {{ :{name} :follows :harbour }}"
        answer = visitor.page.request.post(f"{visitor.base}/update", form={"update": update})
        assert answer.ok, answer.text()
        visitor.page.locator(".results tbody").get_by_text(f"{name}", exact=False).wait_for()
    expect(visitor.page.locator(".results tr.added")).to_have_count(1)
    visitor.shot("query-follow")
    update = f"{PREFIX} DELETE {{ ?x :follows ?y }} WHERE {{ ?x :follows ?y }}"
    visitor.page.request.post(f"{visitor.base}/update", form={"update": update})
    visitor.page.get_by_text("No rows now").wait_for()
