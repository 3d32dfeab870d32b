"""The page's API for changes: previews, commits, rules, loads, inference and dumps."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from server.conftest import Client, Reply, wait_until

from triplestore import Store

EX = "http://ex.org/"
ADD = "INSERT DATA { :new :sees :ada }"
ENDLESS = """@prefix : <http://ex.org/> .
:next[?x, ?y] :- :next[?z, ?x], BIND(IRI(CONCAT(STR(?x), "x")) AS ?y) .
"""


def send(
    client: Client, path: str, body: Any = None, method: str = "POST", **headers: str
) -> Reply:
    sent = {"content_type": "application/json", **headers}
    return client.ask(f"/api/{path}", method=method, body=json.dumps(body), **sent)


def answered(reply: Reply, status: int = 200) -> Any:
    assert reply.status == status, reply.text
    return json.loads(reply.body)


def events(client: Client, job: str) -> list[tuple[str, dict]]:
    """All events of a job, until it ends."""
    text = client.ask(f"/api/jobs/{job}").text
    found = []
    for block in text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n"))
        if "event" in lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


@pytest.fixture
def writing(serving: Callable[..., Client]) -> Client:
    return serving(update=True)


def test_preview__then_commit_does_the_same(writing):
    preview = answered(send(writing, "preview", {"update": ADD}))
    assert (preview["added"], preview["inferred_added"], preview["refused"]) == (1, 1, False)
    assert {one["term"]["short"] for one in preview["groups"]} == {":sees", ":seen"}
    assert len(writing.store) == 6, "nothing is written"
    body = {"update": ADD, "expected_commit": preview["commit"]}
    change = answered(send(writing, "commit", body))
    assert (change["added"], change["inferred_added"]) == (1, 1)
    assert len(writing.store) == 8


def test_preview__proves_as_many_consequences_as_one_asks_for(writing):
    assert answered(send(writing, "preview", {"update": ADD}))["proofs"] == []
    found = answered(send(writing, "preview", {"update": ADD, "proofs": 1}))["proofs"]
    assert [proof["fact"][1]["short"] for proof in found] == [":seen"]
    assert found[0]["because"][0]["fact"][0]["short"] == ":new"
    answered(send(writing, "preview", {"update": ADD, "proofs": -1}), 400)


def test_commit__is_refused_if_the_store_has_moved(writing):
    preview = answered(send(writing, "preview", {"update": ADD}))
    writing.store.update("INSERT DATA { :other :p 1 }")
    body = {"update": ADD, "expected_commit": preview["commit"]}
    refused = answered(send(writing, "commit", body), 409)
    assert "new preview" in refused["error"]["message"]
    assert not writing.store.ask("ASK { :new ?p ?o }")


def test_commit__a_strict_store_refuses_violations(serving):
    store = Store()
    store.reason(rules=f'@prefix : <{EX}> . constraint "no" :- :Bad[?x] .', strict=True)
    store.bind("", EX)
    client = serving(store, update=True)
    preview = answered(send(client, "preview", {"update": "INSERT DATA { :a a :Bad }"}))
    assert (preview["violations"]["new_count"], preview["refused"]) == (1, True)
    assert send(client, "commit", {"update": "INSERT DATA { :a a :Bad }"}).status == 409


def test_documents__are_previewed_and_loaded(writing):
    documents = [{"name": "a.ttl", "text": f"<{EX}x> <{EX}sees> <{EX}y> ."}]
    preview = answered(send(writing, "preview", {"documents": documents}))
    assert (preview["added"], preview["inferred_added"]) == (1, 1)
    assert answered(send(writing, "commit", {"documents": documents}))["added"] == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"update": ADD, "rules": ""},
        {"documents": "x"},
        {"documents": [{"name": "a.ttl"}]},
        {"documents": [{"text": "<a", "name": "a.nt"}]},
        {"documents": [{"text": "", "name": "none"}]},
        {"update": "INSERT"},
        {"update": "LOAD <file:///etc/passwd>"},
        {"rules": "/etc/passwd"},
    ],
)
def test_changes__faults_change_nothing(writing, body):
    for path in ("preview", "commit"):
        assert answered(send(writing, path, body), 400)["error"]["message"]
    assert len(writing.store) == 6


def test_rules__dry_run_then_put(writing):
    text = "@prefix : <http://ex.org/> .\n:met[?y, ?x] :- :sees[?x, ?y] ."
    preview = answered(send(writing, "rules/dry-run", {"text": text}))
    assert (preview["inferred_added"], preview["inferred_removed"]) == (2, 2)
    change = answered(send(writing, "rules", {"text": text}, "PUT"))
    assert (change["inferred_added"], change["inferred_removed"]) == (2, 2)
    assert writing.store.ask("ASK { :bob :met :ada }")
    wrong = answered(send(writing, "rules/dry-run", {"text": ":a[?x] :- :b[?y] ."}), 400)
    assert (wrong["error"]["line"], wrong["error"]["column"]) == (1, 4)


def test_changes__time_limits_hold_and_a_stop_ends_them(serving):
    store = Store()
    store.reason(rules=ENDLESS, tuning={"max_seconds": 60})
    store.bind("", EX)
    client = serving(store, update=True, seconds=0.5)
    body = {"update": "INSERT DATA { :a :next :b }"}
    for path in ("preview", "commit"):
        assert answered(send(client, path, body), 504)["error"]["message"]
    assert len(store) == 0


def test_changes__do_not_wait_for_a_long_writer(serving):
    writing = serving(update=True, wait=0.05)
    with writing.store.transaction():
        for path in ("preview", "commit"):
            refused = answered(send(writing, path, {"update": ADD}), 503)
            assert "has been writing" in refused["error"]["message"]
    assert answered(send(writing, "commit", {"update": ADD}))["added"] == 1


CHANGING = [
    ("POST", "preview"),
    ("POST", "commit"),
    ("POST", "rules/dry-run"),
    ("PUT", "rules"),
    ("POST", "load?format=nt"),
    ("POST", "reason"),
]


@pytest.mark.parametrize(("method", "path"), CHANGING)
def test_changes__only_where_updates_are_allowed(serving, method, path):
    client = serving()
    reply = send(client, path, {"update": ADD, "text": "", "regime": "rdfs"}, method)
    assert (reply.status, "--allow-update" in reply.text) == (403, True)


@pytest.mark.parametrize(("method", "path"), CHANGING)
def test_changes__not_from_pages_of_other_sites(writing, method, path):
    body = {"update": ADD, "text": "", "regime": "rdfs"}
    for headers in ({"origin": "http://evil.example"}, {"sec_fetch_site": "cross-site"}):
        assert send(writing, path, body, method, **headers).status == 403
    assert len(writing.store) == 6


@pytest.mark.parametrize("path", ["preview", "commit", "reason", "rules/dry-run"])
def test_changes__forms_are_refused(writing, path):
    reply = writing.ask(f"/api/{path}", method="POST", body="update=x", content_type="text/plain")
    assert reply.status == 415


def test_changes__only_for_writers(serving, users):
    client = serving(users=users, update=True)
    for name, status in (("rita", 403), ("wim", 200)):
        sent = {"authorization": f"Bearer ts_{name}"}
        assert send(client, "preview", {"update": ADD}, **sent).status == status
    assert send(client, "preview", {"update": ADD}).status == 401


def test_load__as_a_job(writing):
    data = "".join(f"<{EX}n{i}> <{EX}sees> <{EX}n{i + 1}> .\n" for i in range(100))
    reply = writing.ask("/api/load", {"name": "data.nt"}, method="POST", body=data)
    job = answered(reply, 202)["job"]
    *_, (name, last) = events(writing, job)
    assert (name, last["change"]["added"]) == ("done", 100)
    assert len(writing.store) == 206
    (listed,) = answered(writing.ask("/api/jobs"))
    assert (listed["id"], listed["state"]) == (job, "done")


def test_load__into_a_graph_and_compressed(writing):
    import gzip

    data = gzip.compress(f"<{EX}a> <{EX}p> 1 .".encode())
    given = {"name": "../../x.ttl.gz", "graph": f"{EX}g2"}
    reply = writing.ask("/api/load", given, method="POST", body=data)
    assert events(writing, answered(reply, 202)["job"])[-1][0] == "done"
    assert writing.store.ask("ASK { GRAPH :g2 { :a :p 1 } }")
    given = {"format": "ttl", "graph": f"{EX}g2", "replace": "true"}
    reply = writing.ask("/api/load", given, method="POST", body=f"<{EX}b> <{EX}p> 1 .")
    assert events(writing, answered(reply, 202)["job"])[-1][0] == "done"
    assert not writing.store.ask("ASK { GRAPH :g2 { :a :p 1 } }")


def test_load__a_faulty_file_loads_nothing(writing):
    body = f"<{EX}a> <{EX}p> 1 .\n<{EX}a> nonsense"
    reply = writing.ask("/api/load", {"format": "ttl"}, method="POST", body=body)
    name, last = events(writing, answered(reply, 202)["job"])[-1]
    assert (name, last["error"]["line"]) == ("failed", 2)
    assert len(writing.store) == 6
    assert writing.ask("/api/load", method="POST", body="").status == 400
    assert writing.ask("/api/load", {"format": "x y"}, method="POST", body="").status in (202, 400)


def test_load__of_too_many_bytes_is_refused(serving, tmp_path, monkeypatch):
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    client = serving(update=True, body=1000)
    reply = client.ask("/api/load", {"format": "nt"}, method="POST", body="#" * 5000)
    assert reply.status == 413
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"


def test_reason__as_a_job_that_tells_of_it(writing):
    job = answered(send(writing, "reason", {"regimes": ["rdfs"]}), 202)["job"]
    name, last = events(writing, job)[-1]
    assert name == "done" and {row["name"] for row in last["report"]} >= {"rules", "facts"}
    assert writing.store.info().rules > 1
    job = answered(send(writing, "reason", {"regime": "unknown"}), 202)["job"]
    name, last = events(writing, job)[-1]
    assert name == "failed" and "unknown" in last["error"]["message"]


def test_jobs__are_stopped_and_change_nothing(serving):
    store = Store()
    store.reason(rules=ENDLESS, tuning={"max_seconds": 60})
    client = serving(store, update=True)
    reply = client.ask(
        "/api/load", {"format": "nt"}, method="POST", body=f"<{EX}a> <{EX}next> <{EX}b> .\n"
    )
    job = answered(reply, 202)["job"]
    wait_until(lambda: answered(client.ask("/api/jobs"))[0]["state"] == "running")
    assert answered(client.ask(f"/api/jobs/{job}", method="DELETE"))["stopped"]
    name, last = events(client, job)[-1]
    assert name == "stopped" and last["error"]["message"]
    assert len(store) == 0
    assert client.ask("/api/jobs/none").status == 404


def test_jobs__end_with_the_server(serving):
    store = Store()
    store.reason(rules=ENDLESS, tuning={"max_seconds": 60})
    client = serving(store, update=True)
    body = f"<{EX}a> <{EX}next> <{EX}b> .\n"
    answered(client.ask("/api/load", {"format": "nt"}, method="POST", body=body), 202)
    job = answered(client.ask("/api/jobs"))[0]["id"]
    heard: list[str] = []
    thread = threading.Thread(target=lambda: heard.append(client.ask(f"/api/jobs/{job}").text))
    thread.start()
    client.end()
    thread.join(20)
    assert len(store) == 0 and not thread.is_alive()


@pytest.mark.parametrize(
    ("form", "media_type", "graph", "count"),
    [
        ("trig", "application/trig", "", 4),
        ("nq", "application/n-quads", "", 4),
        ("nt", "application/n-triples", "default", 3),
        ("turtle", "text/turtle", f"{EX}g", 1),
    ],
)
def test_dump__is_a_file_of_the_asserted_quads(writing, form, media_type, graph, count):
    reply = writing.ask("/api/dump", {"format": form, "graph": graph})
    assert (reply.status, reply.media_type) == (200, media_type)
    ending = "ttl" if form == "turtle" else form
    assert reply.headers["content-disposition"] == f'attachment; filename="dump.{ending}"'
    other = Store()
    other.load(reply.body, ending)
    assert len(other) == count


def test_dump__faults_are_refused(writing):
    assert writing.ask("/api/dump", {"format": "docx"}).status == 400
    assert writing.ask("/api/dump", {"format": "nt", "graph": "no iri"}).status == 400
    assert writing.ask("/api/dump", {"format": "nt", "facts": "some"}).status == 400
