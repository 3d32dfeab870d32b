"""The W3C's tests of the SPARQL 1.1 Protocol and of the Graph Store Protocol.

They are requests to a server, and say what its answers must be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pyoxigraph as ox
import pytest

pytest.importorskip("starlette", reason="the extra `server` is not installed")

from server.conftest import Client, Reply, served

from triplestore import Store

MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
HT = "http://www.w3.org/2011/http#"
HTS = "http://www.w3.org/2011/http-statusCodes#"
CNT = "http://www.w3.org/2011/content#"
UT = "http://www.w3.org/2009/sparql/tests/test-update#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"

NAMES = [
    "query_post_form",
    "query_dataset_default_graphs_get",
    "query_dataset_default_graphs_post",
    "query_dataset_named_graphs_post",
    "query_dataset_named_graphs_get",
    "query_dataset_full",
    "query_multiple_dataset",
    "query_get",
    "query_content_type_select",
    "query_content_type_ask",
    "query_content_type_describe",
    "query_content_type_construct",
    "update_dataset_default_graph",
    "update_dataset_default_graphs",
    "update_dataset_named_graphs",
    "update_dataset_full",
    "update_post_form",
    "update_post_direct",
    "update_base_uri",
    "query_post_direct",
    "bad_query_method",
    "bad_multiple_queries",
    "bad_query_wrong_media_type",
    "bad_query_missing_form_type",
    "bad_query_missing_direct_type",
    "bad_query_non_utf8",
    "bad_query_syntax",
    "bad_update_get",
    "bad_multiple_updates",
    "bad_update_wrong_media_type",
    "bad_update_missing_form_type",
    "bad_update_non_utf8",
    "bad_update_syntax",
    "bad_update_dataset_conflict",
]

GRAPH_TESTS = [
    "put_get_repeat_indirect",
    "put_get_default",
    "put_delete_get_delete_indirect",
    "post_get_post_get_indirect",
    "post_get_new_graph",
    "head_existing_indirect",
    "head_non_existing_indirect",
    "put_get_uri_pct_encoded_indirect",
    "put_get_uri_pct_encoded_twice",
]
"""Those that name graphs by `?graph=`."""

DIRECT_TESTS = [
    "put_get_repeat_direct",
    "put_delete_get_delete_direct",
    "post_get_post_get_direct",
    "head_existing_direct",
    "head_non_existing_direct",
]
"""Those whose addresses name graphs."""

STATUSES = {"OK": 200, "Created": 201, "NoContent": 204, "BadRequest": 400, "NotFound": 404}

KINDS = {
    "boolean": ("application/sparql-results+json", "application/sparql-results+xml"),
    "tabular": (
        "application/sparql-results+json",
        "application/sparql-results+xml",
        "text/csv",
        "text/tab-separated-values",
    ),
    "RDF": ("text/turtle", "application/rdf+xml", "application/n-triples", "application/ld+json"),
}


def text_of(term: object) -> str:
    assert isinstance(term, ox.Literal | ox.NamedNode)
    return term.value


class Graph:
    """A manifest, looked up by subject and predicate."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found: dict[tuple[object, str], list[object]] = {}
        quads = ox.parse(path.read_bytes(), ox.RdfFormat.TURTLE, base_iri=path.as_uri())
        for quad in quads:
            self._found.setdefault((quad.subject, quad.predicate.value), []).append(quad.object)

    def all(self, subject: object, predicate: str) -> list[object]:
        return self._found.get((subject, predicate), [])

    def one(self, subject: object, predicate: str) -> object:
        found = self.all(subject, predicate)
        return found[0] if found else None

    def text(self, subject: object, predicate: str) -> str:
        return text_of(self.one(subject, predicate))

    def listed(self, head: object) -> Iterator[object]:
        while head is not None and head != ox.NamedNode(RDF + "nil"):
            yield self.one(head, RDF + "first")
            head = self.one(head, RDF + "rest")

    def names(self) -> list[str]:
        """All tests, also those that its list lacks."""
        return [
            str(subject).rpartition("#")[2][:-1]
            for subject, predicate in self._found
            if predicate == MF + "action"
        ]

    def test(self, name: str) -> object:
        (found,) = {
            s for s, p in self._found if p == MF + "action" and str(s).endswith(f"#{name}>")
        }
        return found


@dataclass
class Request:
    """One request of a test, and what its answer must be."""

    method: str
    path: str
    statuses: list[str]
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    boolean: bool | None = None
    kind: str | None = None
    document: str | None = None
    gives_location: bool = False


def request_of(graph: Graph, node: object) -> Request:
    response = graph.one(node, HT + "resp")
    boolean, kind = (graph.one(response, MF + n) for n in ("expectedBoolean", "expectedFormat"))
    made = Request(
        graph.text(node, HT + "methodName"),
        graph.text(node, HT + "absolutePath"),
        [text_of(status) for status in graph.all(response, MF + "expectedStatus")],
        boolean=None if boolean is None else text_of(boolean) == "true",
        kind=None if kind is None else text_of(kind),
    )
    made.gives_location = graph.one(response, MF + "expectedLocation") is not None
    expected = graph.one(response, HT + "body")
    if expected is not None:
        made.document = graph.text(expected, CNT + "chars")
    body = graph.one(node, HT + "body")
    if body is not None:
        encoding = graph.text(body, CNT + "characterEncoding")
        made.body = graph.text(body, CNT + "chars").encode(encoding)
    for header in graph.listed(graph.one(node, HT + "headers")):
        name = graph.text(header, HT + "fieldName").lower().replace("-", "_")
        made.headers[name] = graph.text(header, HT + "fieldValue")
    return made


def is_as_expected(reply: Reply, request: Request) -> None:
    codes = {f"{HTS}StatusCode{reply.status // 100}xx"}
    codes |= {HTS + name for name, status in STATUSES.items() if status == reply.status}
    assert codes & set(request.statuses), (reply.status, reply.text)
    if request.kind is not None:
        assert reply.media_type in KINDS[request.kind]
    if request.boolean is not None:
        form = ox.QueryResultsFormat.from_media_type(reply.media_type)
        assert form is not None
        found = ox.parse_query_results(reply.body, form)
        assert isinstance(found, ox.QueryBoolean)
        assert bool(found) == request.boolean


def same_triples(one: str, other: str, base: str) -> bool:
    datasets = []
    for text in (one, other):
        quads = ox.parse(text, ox.RdfFormat.TURTLE, base_iri=base)
        dataset = ox.Dataset(quads)
        dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
        datasets.append(dataset)
    return datasets[0] == datasets[1]


@pytest.fixture(scope="module")
def manifest(shared_data: Path) -> Graph:
    return Graph(shared_data / "w3c-rdf-tests/sparql/sparql11/protocol/manifest.ttl")


def test_manifest__has_these_tests(manifest: Graph) -> None:
    assert sorted(manifest.names()) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_protocol(manifest: Graph, name: str) -> None:
    test = manifest.test(name)
    store = Store()
    for data in manifest.all(test, UT + "graphData"):
        file = Path(urlsplit(manifest.text(data, UT + "graph")).path)
        store.load(path=file, to_graph=ox.NamedNode(manifest.text(data, LABEL)))
    action = manifest.one(test, MF + "action")
    with served(store, update=True) as client:
        for node in manifest.listed(manifest.one(action, HT + "requests")):
            request = request_of(manifest, node)
            is_as_expected(_sent(client, request), request)


def _sent(client: Client, request: Request) -> Reply:
    path = request.path.replace("/sparql/", "/sparql", 1)
    return client.ask(path, method=request.method, body=request.body, **request.headers)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        *(("manifest-indirect.ttl", name) for name in GRAPH_TESTS),
        *(("manifest-direct.ttl", name) for name in DIRECT_TESTS),
    ],
)
def test_graph_store_protocol(shared_data: Path, file: str, name: str) -> None:
    folder = shared_data / "w3c-rdf-tests/sparql/sparql11/graph-store-protocol"
    manifest = Graph(folder / file)
    action = manifest.one(manifest.test(name), MF + "action")
    location = ""
    with served(Store(), update=True) as client:
        for node in manifest.listed(manifest.one(action, HT + "requests")):
            request = request_of(manifest, node)
            path = request.path.replace("/gsp", "/store", 1).replace("$LOCATION$", location)
            reply = client.ask(path, method=request.method, body=request.body, **request.headers)
            is_as_expected(reply, request)
            if request.gives_location:
                location = reply.headers["location"]
            if request.document is not None:
                assert same_triples(reply.text, request.document, path_of(path))


def test_graph_store_manifests__have_these_tests(shared_data: Path) -> None:
    folder = shared_data / "w3c-rdf-tests/sparql/sparql11/graph-store-protocol"
    for file, names in (
        ("manifest-indirect.ttl", GRAPH_TESTS),
        ("manifest-direct.ttl", DIRECT_TESTS),
    ):
        manifest = Graph(folder / file)
        assert sorted(manifest.names()) == sorted(names)


def path_of(path: str) -> str:
    """The graph that a path names, which is the base of what is in it."""
    return dict(parse_qsl(urlsplit(path).query)).get("graph", "http://www.example/store")
