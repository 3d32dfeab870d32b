"""The page's API for reading: every route answers, and faults say what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Quad
from server.conftest import SLOW, Client, in_background, wait_until

from triplestore import Store
from triplestore.browse.store_data import store_data
from triplestore.store.thresholds import STORE

EX = "http://ex.org/"


def get(client: Client, path: str, **parameters: Any) -> Any:
    reply = client.ask(f"/api/{path}", parameters)
    assert (reply.status, reply.media_type) == (200, "application/json"), reply.text
    return json.loads(reply.body)


def post(client: Client, path: str, body: Any, status: int = 200, method: str = "POST") -> Any:
    text = json.dumps(body)
    reply = client.ask(f"/api/{path}", method=method, body=text, content_type="application/json")
    assert reply.status == status, reply.text
    return json.loads(reply.body)


def error(client: Client, path: str, status: int = 400, **parameters: Any) -> str:
    reply = client.ask(f"/api/{path}", parameters)
    assert reply.status == status, reply.text
    return str(json.loads(reply.body)["error"]["message"])


def names(items: list[dict]) -> list[str]:
    return [item["term"]["short"] for item in items]


def test_store__says_what_there_is(client):
    found = get(client, "store")
    assert found["quads"] == {"all": 6, "asserted": 4, "inferred": 2}
    assert [graph["count"] for graph in found["graphs"]] == [5, 1]
    assert found["rules"] == 1 and found["prefixes"] == {"": EX}
    assert "path" not in json.dumps(found)


def test_store__lists_the_last_commits_with_their_counts(client):
    first = get(client, "store")["commits"]
    client.store.update("INSERT DATA { :new :sees :ada }")
    client.store.update("DELETE DATA { :new :sees :ada }")
    gone, come, *others = get(client, "store")["commits"]
    assert others == first and first[0]["time"] <= come["time"] <= gone["time"]
    assert come["commit"] + 1 == gone["commit"] == client.store.commit
    kinds = ("added", "removed", "inferred_added", "inferred_removed")
    assert [come[kind] for kind in kinds] == [1, 0, 1, 0]
    assert [gone[kind] for kind in kinds] == [0, 1, 0, 1]


def test_store__commits_of_others_have_no_counts(tmp_path):
    with Store(tmp_path / "s") as store, Store.read_only(tmp_path / "s") as reader:
        store.update("INSERT DATA { <http://e/a> <http://e/p> 1 }")
        assert store_data(reader)["commits"] == [{"commit": reader.commit}]
        reader.refresh()
        (found,) = store_data(reader)["commits"]
    assert found.keys() == {"commit", "time"} and found["commit"] == store.commit


def test_store__keeps_as_many_commits_as_it_may(monkeypatch):
    monkeypatch.setattr(STORE, "recent_commits", 2)
    store = Store()
    for number in range(4):
        store.update(f"INSERT DATA {{ <http://e/a> <http://e/p> {number} }}")
    assert [each["commit"] for each in store_data(store)["commits"]] == [4, 3]


def test_session__a_lone_store_has_the_name_of_its_directory(serving, tmp_path, client):
    assert get(client, "session")["store"] is None  # it is in memory
    with Store(tmp_path / "city.db") as store:
        found = get(serving(store), "session")
        assert (found["store"], found["stores"]) == ("city.db", [])
        assert str(tmp_path) not in json.dumps(found)


def test_query__rows(client):
    found = post(
        client, "query", {"query": "SELECT ?x { ?x :seen ?y } ORDER BY ?x", "marked": True}
    )
    assert [row[0]["short"] for row in found["rows"]] == [":bob", ":cy"]
    assert found["inferred"] == [True, True] and found["commit"] == client.store.commit
    few = post(client, "query", {"query": "SELECT ?x { ?x :seen ?y }", "limit": 1})
    assert len(few["rows"]) == 1 and few["more"]


def test_query__triples_and_booleans(client):
    found = post(client, "query", {"query": "CONSTRUCT WHERE { ?x :seen :ada }"})
    assert [(row[0]["short"], row[3]) for row in found["triples"]] == [(":bob", True)]
    assert post(client, "query", {"query": "ASK { :ada :sees :bob }"})["value"] is True
    facts = {"query": "ASK { :bob :seen :ada }", "facts": "explicit"}
    assert post(client, "query", facts)["value"] is False


def test_query__errors_have_their_place(client):
    found = post(client, "query", {"query": "SELECT * {\n  ?x :sees }"}, 400)
    assert (found["error"]["line"], found["error"]["column"]) == (2, 12)
    assert "object" in found["error"]["message"]


def test_query__advice_beside_an_empty_answer(client):
    found = post(client, "query", {"query": "SELECT * { ?x :seees ?y }"})
    assert "did you mean <http://ex.org/sees>" in found["advice"][0]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"query": 5}, 400),
        ({"query": "ASK {}", "facts": "some"}, 400),
        ({"query": "ASK {}", "limit": -1}, 400),
        ({"query": "ASK {}", "limit": "x"}, 400),
        ({"query": "ASK {}", "timeout": float("inf")}, 400),
        ({"query": "ASK {}", "id": "a b"}, 400),
        ([], 400),
    ],
)
def test_query__faults_are_refused(client, body, status):
    assert "message" in post(client, "query", body, status)["error"]


def test_query__other_media_types_are_refused(client):
    for media_type in ("text/plain", "application/x-www-form-urlencoded", ""):
        reply = client.ask(
            "/api/query", method="POST", body='{"query": "ASK {}"}', content_type=media_type
        )
        assert reply.status == 415
    reply = client.ask(
        "/api/query", method="POST", body="{", content_type="application/json; charset=utf-8"
    )
    assert (reply.status, "not JSON" in reply.text) == (400, True)


def test_query__pages_of_other_sites_are_refused(client):
    sent = {"content_type": "application/json", "origin": "http://evil.example"}
    body = '{"query": "ASK {}"}'
    assert client.ask("/api/query", method="POST", body=body, **sent).status == 403


def test_explain__is_a_tree(client):
    found = post(client, "explain", {"query": "SELECT * { ?x :sees ?y . ?y :sees ?z }"})
    assert found["plan"]["children"] and found["plan"]["rows"] == 1
    without = post(client, "explain", {"query": "ASK { ?x :sees ?y }", "analyze": False})
    assert "rows" not in without["plan"]


def test_queries__are_listed_and_stopped(serving: Callable[..., Client]):
    client = serving()
    thread = in_background(client, SLOW)
    wait_until(lambda: len(get(client, "queries")) == 1)
    (running,) = get(client, "queries")
    assert running["text"] == SLOW and running["seconds"] >= 0
    reply = client.ask(f"/api/queries/{running['id']}", method="DELETE")
    assert json.loads(reply.body) == {"stopped": True}
    thread.join(20)
    wait_until(lambda: get(client, "queries") == [])
    assert client.ask(f"/api/queries/{running['id']}", method="DELETE").status == 404


def test_queries__a_page_names_its_own(serving: Callable[..., Client]):
    import threading

    client, replies = serving(), []
    body = json.dumps({"query": SLOW, "id": "tab-1"})
    thread = threading.Thread(
        target=lambda: replies.append(
            client.ask("/api/query", method="POST", body=body, content_type="application/json")
        )
    )
    thread.start()
    wait_until(lambda: [one["id"] for one in get(client, "queries")] == ["tab-1"])
    client.ask("/api/queries/tab-1", method="DELETE")
    thread.join(20)
    (reply,) = replies
    assert (reply.status, "stopped" in reply.text) == (503, True)


def test_query__time_limits_are_at_most_those_of_the_server(serving: Callable[..., Client]):
    client = serving(seconds=20)
    assert post(client, "query", {"query": SLOW, "timeout": 0.2}, 504)["error"]
    client = serving(seconds=0.3)
    assert post(client, "query", {"query": SLOW, "timeout": 100}, 504)["error"]


def test_query__long_texts_keep_to_the_memory_limit(serving: Callable[..., Client]):
    store = Store()
    store.load(f'<{EX}a> <{EX}p> "{"x" * 100_000}" .', "nt")
    client = serving(store, memory=20_000_000)
    text = "SELECT ?o { ?s ?p ?o VALUES ?n { %s } }"
    few = text % " ".join(map(str, range(20)))
    assert len(post(client, "query", {"query": few})["rows"]) == 20
    assert get(client, "resource", term=f"<{EX}a>")["out"][0]["count"] == 1
    b, p = NamedNode(f"{EX}b"), NamedNode(f"{EX}p")
    store.extend(Quad(b, p, Literal(f"{i}" * 100_000)) for i in range(100))
    assert "bytes" in error(client, "resource", 503, term=f"<{EX}b>", limit=1000)
    many = text % " ".join(map(str, range(500)))
    assert "bytes" in post(client, "query", {"query": many}, 503)["error"]["message"]


def test_complete__offers_names_of_the_store(client):
    found = post(client, "complete", {"query": "SELECT * { ?x :se", "offset": 17})
    assert {item["insert"] for item in found["items"]} == {":sees", ":seen"}
    assert (found["from"], found["to"]) == (14, 17)


def test_search__finds_terms(client):
    assert names(get(client, "search", text="sees", kind="property")) == [":sees"]
    assert error(client, "search", text="x", kind="nonsense").startswith("kind")


@pytest.mark.parametrize("lang", ["it,de-at,de,en", "DE", "de,,<en>"])
def test_resource__its_label_is_in_the_first_language_that_has_one(client, lang):
    label = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
    for text, tag in (("Anna", "de"), ("Ann", "en")):
        client.store.add(Quad(NamedNode(EX + "ann"), label, Literal(text, language=tag)))
    found = get(client, "resource", term=":ann", lang=lang)
    assert found["term"]["label"] == "Anna"
    assert get(client, "resource", term=":ann")["term"]["label"] == "Ann"


def test_resource__and_more_of_its_values(client):
    for term in ("<http://ex.org/ada>", ":ada"):
        found = get(client, "resource", term=term)
        assert [each["property"]["short"] for each in found["out"]] == [":name", ":sees"]
        assert found["in"][0]["values"][0]["inferred"] is True
    more = get(client, "resource/values", term=":ada", property=":seen", direction="in")
    assert (more["count"], more["values"][0]["term"]["short"]) == (1, ":bob")
    assert "missing" in error(client, "resource")
    assert "not a term" in error(client, "resource", term="<a")
    assert "direction" in error(client, "resource/values", term=":a", property=":p", direction="up")


def test_why__and_why_not(client):
    found = get(client, "why", s=":bob", p=":seen", o=":ada")
    assert not found["asserted"] and found["because"][0]["asserted"]
    assert found["graph"]["edges"] == [{"from": 1, "to": 0}]
    assert get(client, "why", fact=":bob :seen :ada")["holds"]
    found = get(client, "why-not", s=":ada", p=":seen", o=":bob")
    assert found["reasons"][0]["missing"]["text"] == ":sees[:bob, :ada]"
    assert "give a fact" in error(client, "why")
    assert "missing" in error(client, "why", s=":a", p=":p")
    assert "violation" in error(client, "why", violation=0)


def test_tree__is_a_list_with_the_number_of_all():
    store = Store()
    rdfs = "http://www.w3.org/2000/01/rdf-schema#"
    store.load(f"@prefix : <{EX}> . :B <{rdfs}subClassOf> :A . :C <{rdfs}subClassOf> :A .", "ttl")
    from server.conftest import served

    with served(store) as client:
        assert names(get(client, "tree", kind="class")) == [":A"]
        reply = client.ask("/api/tree", {"kind": "class", "parent": ":A", "limit": 1})
        assert reply.headers["x-total-count"] == "2"
        assert names(json.loads(reply.body)) == [":B"]
        assert names(get(client, "tree/path", kind="class", term=":C")) == [":A", ":C"]
        assert "kind" in error(client, "tree", kind="nothing")


def test_report__and_rules(client):
    assert get(client, "report")["rules"][0]["user"]
    found = get(client, "rules")
    assert found["items"][0]["text"] == ":seen[?y, ?x] :- :sees[?x, ?y] ."
    (problem,) = post(client, "rules/check", {"text": ":a[?x] :- :b[?y] ."})["problems"]
    assert (problem["line"], problem["column"], problem["code"]) == (1, 4, "unsafe-variable")


def test_report__counts_within_the_time_limit(serving: Callable[..., Client]):
    assert error(serving(seconds=1e-6), "report", 504, counts="true")
    assert get(serving(), "report", counts="true")["rules"][0]["count"] == 1


def test_answers__are_not_kept_by_caches(client):
    assert client.ask("/api/store").headers["cache-control"] == "no-store"


def test_unknown_paths__are_404(client):
    assert client.ask("/api/nothing").status == 404
    assert client.ask("/api/query").status == 405


def test_several_stores__each_have_their_own(serving: Callable[..., Client]):
    one, two = Store(), Store()
    two.load(f"<{EX}a> <{EX}p> 1 .", "ttl")
    client = serving({"one": one, "two": two})
    for name, count in (("one", 0), ("two", 1)):
        found = json.loads(client.ask(f"/{name}/api/store").body)
        assert found["quads"]["all"] == count
