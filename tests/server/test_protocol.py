"""The SPARQL 1.1 Protocol over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import urlencode

import pyoxigraph as ox
import pytest

from triplestore import NamedNode, Store
from triplestore.server.negotiation import RESULTS, TRIPLES
from triplestore.server.serving import names_of

from .conftest import SEES, Client

IN_G = "SELECT ?y { ?x <http://ex.org/sees> ?y }"
G = "http://ex.org/g"
FORM = "application/x-www-form-urlencoded"
SD = "http://www.w3.org/ns/sparql-service-description#"


@pytest.mark.parametrize("path", ["/query", "/sparql"])
def test_query__by_get_form_and_directly(client: Client, path: str) -> None:
    ways = [
        client.ask(path, {"query": SEES}, accept="text/csv"),
        client.ask(
            path,
            method="POST",
            body=urlencode({"query": SEES}),
            content_type=FORM,
            accept="text/csv",
        ),
        client.ask(
            path,
            method="POST",
            body=SEES,
            content_type="application/sparql-query; charset=UTF-8",
            accept="text/csv",
        ),
    ]
    for reply in ways:
        assert (reply.status, reply.text) == (200, "y\r\nhttp://ex.org/bob\r\n")


@pytest.mark.parametrize("media_type", [media_type for media_type, _ in RESULTS])
def test_query__solutions_in_every_format(client: Client, media_type: str) -> None:
    reply = client.query(SEES, accept=media_type)
    assert (reply.status, reply.media_type) == (200, media_type)
    assert "accept" in reply.headers["vary"]
    form = dict(RESULTS)[media_type]
    if form == ox.QueryResultsFormat.CSV:
        assert reply.text.split() == ["y", "http://ex.org/bob"]
    else:
        found = ox.parse_query_results(reply.body, form)
        assert isinstance(found, ox.QuerySolutions)
        assert [row["y"] for row in found] == [NamedNode("http://ex.org/bob")]


@pytest.mark.parametrize("media_type", [media_type for media_type, _ in TRIPLES])
def test_query__triples_in_every_format(client: Client, media_type: str) -> None:
    reply = client.query("CONSTRUCT WHERE { ?x <http://ex.org/name> ?n }", accept=media_type)
    assert (reply.status, reply.media_type) == (200, media_type)
    (quad,) = ox.parse(reply.body, dict(TRIPLES)[media_type])
    assert quad.object == ox.Literal("Ada", language="en")


def test_query__ask(client: Client) -> None:
    reply = client.query("ASK { ?x ?y ?z }", accept="*/*")
    assert json.loads(reply.text) == {"head": {}, "boolean": True}


def test_query__graphs_of_the_request(client: Client) -> None:
    def found(text: str = IN_G, **parameters: object) -> list[str]:
        reply = client.query(text, **parameters)
        assert reply.status == 200, reply.text
        return sorted(line[-4:] for line in reply.text.split()[1:])

    named = "SELECT ?y { GRAPH ?g { ?x <http://ex.org/sees> ?y } }"
    assert found() == ["g/cy", "/bob"] or found() == ["/bob", "g/cy"]
    assert found(**{"default-graph-uri": G}) == ["dora"]
    assert found(**{"default-graph-uri": [G, "http://ex.org/none"]}) == ["dora"]
    assert found(**{"named-graph-uri": G}) == []
    assert found(named) == ["dora"]
    assert found(named, **{"named-graph-uri": G}) == ["dora"]
    assert found(named, **{"named-graph-uri": "http://ex.org/none"}) == []
    assert found(named, **{"default-graph-uri": G}) == []
    assert len(found(**{"union-default-graph": ""})) == 3


def test_query__facts(client: Client) -> None:
    count = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    numbers = [
        client.query(count, facts=facts).text.split()[1]
        for facts in ("all", "explicit", "inferred")
    ]
    assert numbers == ["5", "3", "2"]
    assert client.query(count, facts="some").status == 400


@pytest.mark.parametrize(
    ("path", "parameters", "status", "words"),
    [
        ("/query", {"query": "SELECT *\n{ ?s ex:p ?o }"}, 400, "input:2:6: unknown prefix 'ex:'"),
        ("/query", {"query": "SELECT * { ?s"}, 400, "input:1:"),
        ("/query", {"query": ["ASK {}", "ASK {}"]}, 400, "once"),
        ("/query", {"query": "ASK {}", "update": "CLEAR ALL"}, 400, "once"),
        ("/query", {"update": "CLEAR ALL"}, 400, "does not accept the parameter update"),
        ("/sparql", {"update": "CLEAR ALL"}, 405, "POST"),
        ("/query", {"query": "ASK {}", "default-graph-uri": "no iri"}, 400, "default-graph-uri"),
        ("/store", {"graph": G, "default": ""}, 400, "one graph"),
        ("/store", {"graph": "http://ex.org/none"}, 404, "does not exist"),
        ("/elsewhere", {}, 404, ""),
    ],
)
def test_what_is_wrong_with_a_request_is_said(
    client: Client, path: str, parameters: dict[str, str], status: int, words: str
) -> None:
    reply = client.ask(path, parameters)
    assert reply.status == status
    assert words in reply.text


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        (b"ASK {}", "text/plain", 415),
        (b"", FORM, 400),
        (b"query=%ff", FORM, 400),
        (b"ASK { ?s ?p '\xff' }", "application/sparql-query", 400),
        (b"CLEAR ALL", "application/sparql-update", 400),
    ],
)
def test_post__what_cannot_be_read_is_refused(
    client: Client, body: bytes, content_type: str, status: int
) -> None:
    reply = client.ask("/query", method="POST", body=body, content_type=content_type)
    assert reply.status == status


def test_accept__what_cannot_be_had_is_refused(client: Client) -> None:
    assert client.query(SEES, accept="text/turtle").status == 406
    reply = client.query("DESCRIBE <http://ex.org/ada>", accept="text/csv")
    assert reply.status == 406
    assert "text/turtle" in reply.text


def test_body__too_long_is_refused(serving: Callable[..., Client]) -> None:
    client = serving(body=1000)
    text = "ASK {} #" + "x" * 2000
    reply = client.ask("/query", method="POST", body=text, content_type="application/sparql-query")
    assert reply.status == 413


def test_head__is_like_get_without_the_body(client: Client) -> None:
    reply = client.ask("/query", {"query": SEES}, method="HEAD", accept="text/csv")
    assert (reply.status, reply.media_type, reply.body) == (200, "text/csv", b"")


def test_update__only_if_allowed(client: Client) -> None:
    before = len(client.store)
    reply = client.update("CLEAR ALL")
    assert reply.status == 403
    assert "--allow-update" in reply.text
    assert len(client.store) == before


def test_update__directly_and_as_a_form(serving: Callable[..., Client]) -> None:
    client = serving(update=True)
    first = client.update("INSERT DATA { :bob :name 'Bob' }")
    assert (first.status, first.text) == (200, "added 1\n")
    body = urlencode({"update": "DELETE WHERE { :ada ?p ?o }"})
    second = client.ask("/sparql", method="POST", body=body, content_type=FORM)
    assert second.status == 200
    assert client.query("ASK { :ada :sees ?x }").text == "false"
    assert client.query("SELECT ?n { :bob :name ?n }").text.split() == ["n", "Bob"]
    assert not client.store.query("ASK { :bob :seen :ada }")


def test_update__errors_change_nothing(serving: Callable[..., Client]) -> None:
    client = serving(update=True)
    wrong = client.update("INSERT DATA { :a :b }")
    assert wrong.status == 400
    assert "input:1:" in wrong.text
    assert client.update("INSERT DATA { :a :b :c } ; DROP GRAPH :none").status == 400
    assert client.update("LOAD <file:///etc/hostname>").status == 400
    assert client.query("ASK { :a :b :c }").text == "false"


def test_update__on_graphs_of_the_request(serving: Callable[..., Client]) -> None:
    client = serving(update=True)

    def update(text: str) -> int:
        sent = {"method": "POST", "body": text, "content_type": "application/sparql-update"}
        return client.ask("/update", {"using-graph-uri": G}, **sent).status

    assert update("INSERT { ?y :by ?x } WHERE { ?x :sees ?y }") == 200
    assert client.query("SELECT ?x { ?x :by ?y }").text.split() == ["x", "http://ex.org/dora"]
    assert update("DELETE { ?y :by ?x } USING :h WHERE { ?y :by ?x }") == 400
    assert update("WITH :g DELETE { ?y :by ?x } WHERE { ?y :by ?x }") == 400
    assert update("INSERT DATA { :a :b :c") == 400


def test_query__graphs_of_the_request_stand_for_its_own(client: Client) -> None:
    text = "SELECT ?y FROM <http://ex.org/none> { ?x <http://ex.org/sees> ?y }"
    assert client.query(text).text.split() == ["y"]
    reply = client.query(text, **{"default-graph-uri": G})
    assert reply.text.split() == ["y", "http://ex.org/dora"]


def test_accept__of_several_headers(client: Client) -> None:
    connection = client.connection()
    connection.putrequest("GET", "/query?" + urlencode({"query": "ASK {}"}))
    for media_type in ("image/png", "text/csv"):
        connection.putheader("accept", media_type)
    connection.endheaders()
    assert connection.getresponse().read() == b"true"
    connection.close()


def test_update__not_from_pages_of_other_sites(serving: Callable[..., Client]) -> None:
    client = serving(update=True)
    before = len(client.store)
    body = urlencode({"update": "CLEAR ALL"})
    reply = client.ask(
        "/update", method="POST", body=body, content_type=FORM, origin="http://evil.example"
    )
    assert reply.status == 403
    assert len(client.store) == before
    own = f"http://localhost:{client.port}"
    assert client.update("CLEAR ALL", origin=own).status == 200
    assert len(client.store) == 0


def test_host__only_names_of_this_machine(client: Client) -> None:
    reply = client.ask("/health", host="Evil.example:80")
    assert reply.status == 421
    assert "--allowed-host evil.example" in reply.text
    assert client.ask("/health", host=f"127.0.0.1:{client.port}").status == 200
    assert client.ask("/health", host=f"[::1]:{client.port}").status == 200


def test_host__others_may_be_allowed(serving: Callable[..., Client]) -> None:
    names = names_of("localhost", frozenset({"Data.example.org"}), True)
    client = serving(hosts=names)
    assert client.ask("/health", host="data.example.org").status == 200
    assert client.ask("/health", host="localhost").status == 200
    assert client.ask("/health", host="evil.example").status == 421
    assert names_of("localhost", frozenset({"*"}), True) == frozenset()
    assert names_of("0.0.0.0", frozenset(), False) == frozenset()
    assert "evil.example" not in names_of("0.0.0.0", frozenset({"data.example.org"}), False)


def test_cors__only_if_asked_for(client: Client, serving: Callable[..., Client]) -> None:
    allows = "access-control-allow-origin"
    assert allows not in client.ask("/health", origin="http://a.example").headers
    open_to_all = serving(cors=True)
    reply = open_to_all.ask("/query", {"query": SEES}, origin="http://a.example")
    assert reply.headers[allows] == "*"
    preflight = {"origin": "http://a.example", "access_control_request_method": "POST"}
    assert open_to_all.ask("/query", method="OPTIONS", **preflight).status == 200


def test_description__is_what_the_endpoint_answers_without_a_query(client: Client) -> None:
    reply = client.ask("/query", accept="text/turtle")
    assert (reply.status, reply.media_type) == (200, "text/turtle")
    triples = list(ox.parse(reply.body, ox.RdfFormat.TURTLE))
    me = NamedNode(f"http://localhost:{client.port}/query")
    found = {(q.predicate.value.removeprefix(SD), q.object) for q in triples if q.subject == me}
    assert ("endpoint", me) in found
    languages = {term for name, term in found if name == "supportedLanguage"}
    assert languages == {NamedNode(SD + "SPARQL11Query")}
    assert sum(name == "resultFormat" for name, _ in found) >= 8
    sizes = [q.object.value for q in triples if q.predicate.value.endswith("void#triples")]
    assert sizes == ["5"]


def test_description__says_what_is_allowed(serving: Callable[..., Client]) -> None:
    text = serving(update=True, union=True).ask("/sparql", accept="application/n-triples").text
    assert f"<{SD}SPARQL11Update>" in text
    assert f"<{SD}UnionDefaultGraph>" in text


def test_graphs__are_read(client: Client) -> None:
    def lines(parameters: dict[str, str], accept: str = "application/n-triples") -> list[str]:
        reply = client.ask("/store", parameters, accept=accept)
        assert (reply.status, reply.media_type) == (200, accept)
        return reply.text.splitlines()

    assert len(lines({"default": ""})) == 3
    assert len(lines({"default": "", "facts": "all"})) == 5
    assert lines({"graph": G}) == ["<http://ex.org/cy> <http://ex.org/sees> <http://ex.org/dora> ."]
    assert len(lines({}, "application/n-quads")) == 4
    assert client.ask("/store", accept="text/turtle").status == 406


def test_graphs__are_written_only_if_allowed(
    client: Client, serving: Callable[..., Client]
) -> None:
    def put(to: Client, text: str = "<a> <b> <c> .", **headers: str) -> int:
        sent = {"content_type": "text/turtle", **headers}
        return to.ask("/store", {"graph": G}, method="PUT", body=text, **sent).status

    assert put(client) == 403
    assert client.ask("/store", {"graph": G}, method="DELETE").status == 403
    writable = serving(update=True)
    assert put(writable, origin="http://evil.example") == 403
    assert put(writable, content_type="text/csv") == 415
    assert put(writable, "<a> <b>") == 400
    assert put(writable, "<a> <b> <c> <d> .", content_type="application/n-quads") == 400
    assert writable.query("ASK { GRAPH :g { :cy :sees :dora } }").text == "true"
    assert put(writable) == 200
    base = "ASK { GRAPH :g { <http://ex.org/a> <http://ex.org/b> ?c } }"
    assert writable.query(base).text == "true"
    assert writable.query("ASK { GRAPH :g { :cy :sees :dora } }").text == "false"
    empty = {"method": "PUT", "body": "", "content_type": "text/turtle"}
    assert writable.ask("/store", {"graph": "http://ex.org/empty"}, **empty).status == 201
    assert writable.store.contains_named_graph(NamedNode("http://ex.org/empty"))
    assert writable.ask("/store", method="PUT", body="", content_type="text/turtle").status == 400


def test_health_and_index(client: Client) -> None:
    assert json.loads(client.ask("/health").text) == {
        "status": "ok",
        "commit": client.store.commit,
        "quads": 6,
        "running": 0,
    }
    assert "/query" in client.ask("/").text


def test_readers__see_what_another_process_writes(
    serving: Callable[..., Client], tmp_path: object
) -> None:
    path = f"{tmp_path}/s"
    with Store(path) as writer:
        writer.load("<http://ex.org/a> <http://ex.org/sees> <http://ex.org/b> .", "ttl")
        client = serving(Store.read_only(path))
        assert len(client.query(IN_G).text.split()) == 2
        writer.load("<http://ex.org/b> <http://ex.org/sees> <http://ex.org/c> .", "ttl")
        assert len(client.query(IN_G).text.split()) == 3
