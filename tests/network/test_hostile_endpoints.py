"""Endpoints that send too much, too little, nonsense, nothing, or that point elsewhere."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tests.support.endpoints import Conversation, Misbehaving, misbehaving, resolver
from triplestore import Services, Store
from triplestore.errors import BudgetError, CancelledError, ServiceError, TimeLimitError

PATIENCE = 10  # seconds; generous
P = "http://ex.org/p"


def answer(names: str, *rows: dict[str, object]) -> str:
    cells = [
        {n: v if isinstance(v, dict) else {"type": "literal", "value": v} for n, v in row.items()}
        for row in rows
    ]
    return json.dumps({"head": {"vars": names.split()}, "results": {"bindings": cells}})


def sends(body: str | bytes, kind: str = "json", status: int = 200) -> Callable[..., None]:
    def send(talk: Conversation) -> None:
        talk.begin(status, kind)
        talk.write(body)

    return send


def silent(talk: Conversation) -> None:
    talk.server.ending.wait(60)


def dripping(talk: Conversation) -> None:
    talk.begin()
    while not talk.server.ending.wait(0.02):
        talk.write(" ")


def endless(talk: Conversation) -> None:
    talk.begin()
    talk.write('{"head": {"vars": ["y"]}, "results": {"bindings": [')
    number = 0
    while not talk.server.ending.is_set():
        rows = (f'{{"y": {{"type": "literal", "value": "{number + n}"}}}},' for n in range(2000))
        talk.write("".join(rows))
        number += 2000


def bomb(talk: Conversation) -> None:
    talk.begin(Content_Encoding="gzip")
    talk.write(gzip.compress(b" " * 50_000_000))


def packed(talk: Conversation) -> None:
    talk.begin(Content_Encoding="gzip")
    talk.write(gzip.compress(answer("y", {"y": "ok"}).encode()))


def cut(talk: Conversation) -> None:
    talk.begin(Content_Length="1000")
    talk.write(answer("y", {"y": "1"})[:-5])


def redirects(to: str) -> Callable[[Conversation], None]:
    def send(talk: Conversation) -> None:
        talk.begin(307, Location=to)

    return send


def no_post(talk: Conversation) -> None:
    if talk.command == "POST":
        talk.begin(405)
    else:
        sends(answer("y", {"y": "got"}))(talk)


def no_values(talk: Conversation) -> None:
    """An endpoint of SPARQL 1.0."""
    if "VALUES" in talk.text:
        sends("unknown keyword VALUES", "text/plain", 400)(talk)
        return
    iri = {"type": "uri", "value": "http://ex.org/b"}
    sends(answer("x y", {"x": iri, "y": "1"}, {"x": iri, "y": "2"}))(talk)


def ignores_values(talk: Conversation) -> None:
    iri = {"type": "uri", "value": "http://ex.org/b"}
    sends(answer("row x y", {"x": iri, "y": "1"}))(talk)


ANSWERS = {
    "good": sends(answer("y", {"y": "1"}, {"y": "2"})),
    "silent": silent,
    "drip": dripping,
    "endless": endless,
    "bomb": bomb,
    "packed": packed,
    "cut": cut,
    "away": redirects("/good"),
    "around": redirects("/around"),
    "private": redirects("http://127.0.0.1:9/"),
    "file": redirects("file:///etc/passwd"),
    "nopost": no_post,
    "novalues": no_values,
    "ignores": ignores_values,
    "html": sends("<html>", "text/html; charset=utf-8"),
    "turtle": sends("<a:b> <a:c> 1 .", "text/turtle"),
    "ask": sends('{"head": {}, "boolean": true}'),
    "broken": sends('{"head": {"vars": ["y"]}, "results": {"bindings": [{"y": 5'),
    "nonsense": sends("\0\0\0"),
    "deep": sends('{"head": {"vars": ["y"]}, "x": ' + "[" * 100_000),
    "xml": sends("<sparql/>", "xml"),
    "unbound": sends(answer("y", {})),
    "missing": sends("no such dataset", "text/plain", 404),
    "failed": sends("out of memory", "text/plain", 500),
    "wide": sends(json.dumps({"head": {"vars": [f"v{n}" for n in range(20_000)]}})),
}


@pytest.fixture
def server() -> Iterator[Misbehaving]:
    with misbehaving(ANSWERS) as made:
        yield made


def ask(
    server: Misbehaving, path: str, *, pattern: str = "?x <http://ex.org/p> ?y", **given: object
) -> list[str]:
    store = Store()
    limits = given.pop("services", {})
    word = "SILENT " if given.pop("silent", False) else ""
    services = Services([server.here], **limits)
    text = f"SELECT ?y {{ SERVICE {word}<{server.here}{path}> {{ {pattern} }} }}"
    found = store.query(text, allow_service=services, **given)
    return [None if y is None else y.value for (y,) in found.tuples()]


@pytest.mark.parametrize(
    ("path", "wanted"),
    [("good", ["1", "2"]), ("away", ["1", "2"]), ("packed", ["ok"]), ("nopost", ["got"])],
)
def test_answers__that_are_right_are_read(
    server: Misbehaving, path: str, wanted: list[str]
) -> None:
    assert ask(server, path) == wanted


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("cut", "bytes early"),
        ("around", "redirects .307. more than 5 times"),
        ("private", "<http://127.0.0.1:9/> is not allowed"),
        ("file", "<file:///etc/passwd> is not allowed"),
        ("html", "text/html instead of results"),
        ("turtle", "text/turtle instead of results"),
        ("ask", "the answer of an ASK"),
        ("broken", "cannot be read"),
        ("nonsense", "cannot be read"),
        ("deep", "cannot be read.*deep"),
        ("xml", "cannot be read"),
        ("unbound", r"no value for \?y"),
        ("missing", "404.*no such dataset"),
        ("failed", "500.*out of memory"),
        ("wide", "10,000 variables"),
    ],
)
def test_answers__that_are_wrong_are_refused_by_name(
    server: Misbehaving, path: str, said: str
) -> None:
    with pytest.raises(ServiceError, match=f"(?s)SERVICE <{server.here}{path}>.*{said}"):
        ask(server, path)
    assert ask(server, path, silent=True) == [None]


@pytest.mark.parametrize("path", ["silent", "drip", "endless", "bomb"])
@pytest.mark.parametrize("is_silent", [False, True])
def test_time__of_the_query_ends_waiting(server: Misbehaving, path: str, is_silent: bool) -> None:
    began = time.monotonic()
    with pytest.raises((TimeLimitError, BudgetError)):
        ask(server, path, timeout=0.2, silent=is_silent, budget=30_000_000)
        ask(server, "silent", timeout=0.01)  # if it was quick enough
    assert time.monotonic() - began < PATIENCE


@pytest.mark.parametrize(
    ("path", "limits", "said"),
    [
        ("silent", {"seconds": 0.2}, "more than 0.2 seconds"),
        ("drip", {"seconds": 0.2}, "more than 0.2 seconds"),
        ("endless", {"rows": 5_000}, "more than 5,000 rows"),
        ("endless", {"bytes": 100_000}, "more than 100,000 bytes"),
        ("bomb", {"bytes": 100_000}, "more than 100,000 bytes"),
        ("away", {"redirects": 0}, "more than 0 times"),
    ],
)
def test_limits__of_services_are_failures_of_the_endpoint(
    server: Misbehaving, path: str, limits: dict[str, float], said: str
) -> None:
    with pytest.raises(ServiceError, match=said):
        ask(server, path, services=limits)
    assert ask(server, path, services=limits, silent=True) == [None]


def test_memory__of_an_answer_is_charged_to_the_query(server: Misbehaving) -> None:
    store = Store()
    text = f"SELECT * {{ SERVICE <{server.here}endless> {{ ?x <{P}> ?y }} }} ORDER BY ?y"
    with pytest.raises(BudgetError):
        store.query(
            text.replace("?x", "<http://ex.org/a>"), allow_service=[server.here], budget=5_000_000
        ).tuples().__next__()


def test_cancel__ends_waiting_and_the_thread(server: Misbehaving) -> None:
    for path in ("silent", "drip", "endless"):
        flag = threading.Event()
        timer = threading.Timer(0.1, flag.set)
        timer.start()
        with pytest.raises(CancelledError):
            ask(server, path, cancel=flag)
        timer.join()
    for thread in threading.enumerate():
        if thread.name == "fetch":
            thread.join(PATIENCE)
            assert not thread.is_alive()


def test_limit__stops_reading(server: Misbehaving) -> None:
    store = Store()
    text = f"SELECT * {{ SERVICE <{server.here}endless> {{ <http://ex.org/a> <{P}> ?y }} }} LIMIT 3"
    assert len(store.query(text, allow_service=[server.here])) == 3


@pytest.mark.parametrize("path", ["novalues", "ignores"])
def test_endpoint__without_values_gets_a_filter(server: Misbehaving, path: str) -> None:
    store = Store()
    store.load(f"@prefix : <http://ex.org/> . :a <{P}> :b, :c, :d .", "ttl")
    text = f"SELECT ?x ?y {{ ?s <{P}> ?x SERVICE <{server.here}{path}> {{ ?x <{P}> ?y }} }}"
    found = sorted((x.value, y.value) for x, y in store.query(text, allow_service=[server.here]))
    wanted = [("http://ex.org/b", "1"), ("http://ex.org/b", "2")]
    assert found == wanted[: len(found)]
    assert found
    assert "VALUES" in server.asked[0][1]
    assert "sameTerm(?x, <http://ex.org/b>)" in server.asked[1][1]


def test_host__that_resolves_to_a_private_address_is_refused(server: Misbehaving) -> None:
    place = server.here.replace("127.0.0.1", "ex.test")
    found = resolver({"ex.test": server.here})
    text = f"SELECT ?y {{ SERVICE <{place}good> {{ ?x <{P}> ?y }} }}"
    with pytest.raises(ServiceError, match=r"ex\.test has the private address 127\.0\.0\.1"):
        list(Store().query(text, allow_service=Services([place], resolve=found)))
    assert server.asked == []
    allowed = Services([place], resolve=found, private=True)
    assert len(Store().query(text, allow_service=allowed)) == 2


def test_host__is_resolved_once(server: Misbehaving, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second answer of the resolver (DNS rebinding) would lead elsewhere."""
    place = server.here.replace("127.0.0.1", "ex.test")
    answers = [server.here]
    monkeypatch.setattr(socket, "getaddrinfo", None)

    def resolve(host: str, port: int) -> list[object]:
        return resolver({"ex.test": answers.pop()})(host, port)

    text = f"SELECT ?y {{ SERVICE <{place}good> {{ ?x <{P}> ?y }} }}"
    allowed = Services([place], resolve=resolve, private=True)
    assert len(Store().query(text, allow_service=allowed)) == 2
    assert answers == []


@pytest.mark.parametrize("closes", [False, True])
def test_connections__are_used_again(monkeypatch: pytest.MonkeyPatch, closes: bool) -> None:
    """Also if the server closes an idle one without saying so."""
    places: set[int] = set()

    def empty(talk: Conversation) -> None:
        places.add(talk.client_address[1])
        body = answer("row y")
        talk.begin(Content_Length=str(len(body)))
        talk.write(body)
        talk.close_connection = closes

    monkeypatch.setattr(Conversation, "protocol_version", "HTTP/1.1")
    store = Store()
    store.load("".join(f"<a:{n}> <{P}> <a:b> .\n" for n in range(50)), "nt")
    with misbehaving({"empty": empty}) as server:
        text = f"SELECT * {{ ?x <{P}> ?z SERVICE <{server.here}empty> {{ ?x <{P}> ?y }} }}"
        services = Services([server.here], batch=10)
        assert len(store.query(text, allow_service=services)) == 0
        assert len(server.asked) == 5
    assert len(places) == (5 if closes else 1)


def test_proxies__of_the_environment_are_not_used(
    server: Misbehaving, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/")
    assert ask(server, "good") == ["1", "2"]


def test_interrupt__stops_a_query_that_waits(server: Misbehaving) -> None:
    import _thread

    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        ask(server, "silent")
        time.sleep(PATIENCE)
    assert time.monotonic() - began < PATIENCE
