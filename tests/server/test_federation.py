"""SERVICE between stores that are served on this machine."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.support.endpoints import served_endpoint
from triplestore import NamedNode, Services, Store
from triplestore.cli import main
from triplestore.errors import ServiceError, UsageError

PREFIX = "PREFIX : <http://ex.org/> "
PEOPLE = """@prefix : <http://ex.org/> .
:ada :knows :bob, :cy . :bob :knows :cy . :cy :knows _:b . :dora :age 01 .
"""
NAMES = """@prefix : <http://ex.org/> .
:bob :name "Bob", "Bobby"@en . :cy :name "Cy" ; :age 1 . _:b :name "unnamed" .
"""


@pytest.fixture(scope="module")
def names() -> Iterator[str]:
    """The endpoint of names."""
    store = Store()
    store.load(NAMES, "ttl")
    with served_endpoint(store) as place:
        yield place


@pytest.fixture
def people(names: str) -> Store:
    store = Store()
    store.load(PEOPLE, "ttl")
    store.allow_service = [names]
    return store


def rows(store: Any, pattern: str, **options: Any) -> list[tuple[Any, ...]]:
    found = store.query(f"{PREFIX} SELECT {pattern}", **options)
    return sorted(tuple(_shown(term) for term in row) for row in found.tuples())


def _shown(term: Any) -> str:
    if term is None:
        return ""
    return "_" if type(term).__name__ == "BlankNode" else term.value.rpartition("/")[2]


CASES = [
    ("?x ?n { ?x :knows ?y SERVICE <S> { ?y :name ?n } }", 4),
    ("?x ?n { SERVICE <S> { ?y :name ?n } ?x :knows ?y }", 4),
    ("?n { SERVICE <S> { ?y :name ?n } }", 4),
    ("?x ?n { ?x :knows ?y OPTIONAL { SERVICE <S> { ?y :name ?n } } }", 5),
    ("?x ?n { ?x :knows ?y OPTIONAL { SERVICE <S> { ?y :name ?n } FILTER(?n = 'Cy') } }", 4),
    ("?x ?y { ?x :knows ?y MINUS { SERVICE <S> { ?y :name 'Cy' } } }", 2),
    ("?x ?y { ?x :knows ?y FILTER EXISTS { SERVICE <S> { ?y :name 'Cy' } } }", 2),
    ("?x ?y { ?x :knows ?y FILTER NOT EXISTS { SERVICE <S> { ?y :name 'Cy' } } }", 2),
    ("?x ?n { { ?x :knows ?y SERVICE <S> { ?y :name ?n } } UNION { ?x :age ?n } }", 5),
    ("?x ?n { VALUES ?s { <S> } ?x :knows ?y SERVICE ?s { ?y :name ?n } }", 4),
    ("?x ?n { VALUES ?s { <S> } ?x :knows ?y OPTIONAL { SERVICE ?s { ?y :name ?n } } }", 5),
    ("?n { VALUES ?s { <S> <S> } SERVICE ?s { ?y :name ?n } }", 8),
    ("?x ?n { ?x :knows ?y SERVICE <S> { ?y :name ?n FILTER(strlen(?n) > 2) } }", 2),
    (
        "?x ?n { ?x :knows ?y SERVICE <S> { SELECT ?y (COUNT(*) AS ?n) { ?y :name ?z } "
        "GROUP BY ?y } }",
        3,
    ),
    ("(COUNT(*) AS ?c) { ?x :knows ?y SERVICE <S> { ?y :name ?n } }", 1),
    ("?x ?n { ?x :knows ?y SERVICE <S> { ?y :name ?n } } ORDER BY ?n LIMIT 2", 2),
    ("?x { ?x :age ?a SERVICE <S> { ?z :age ?a } }", 0),
    (
        "?x ?y { ?x :knows ?y { SERVICE <S> { ?y :name 'Cy' } } UNION "
        "{ SERVICE <S> { ?y :name 'Bob' } } }",
        3,
    ),
    ("?y ?z { OPTIONAL { ?y :nothing 1 } SERVICE <S> { ?y :name ?z } }", 4),
    ("?x ?n { ?x :knows ?y . GRAPH :g { SERVICE <S> { ?y :name ?n } } }", 0),
]


@pytest.mark.parametrize(("pattern", "count"), CASES)
def test_service__answers(people: Store, names: str, pattern: str, count: int) -> None:
    found = rows(people, pattern.replace("<S>", f"<{names}>"))
    assert len(found) == count, found


def test_service__does_not_know_our_blank_nodes(people: Store, names: str) -> None:
    found = rows(people, f"?x ?n {{ ?x :knows ?y SERVICE <{names}> {{ ?y :name ?n }} }}")
    assert not [row for row in found if row[1] == "unnamed"]
    found = rows(people, f"?y {{ ?x :knows ?y SERVICE <{names}> {{ OPTIONAL {{ ?y :no 1 }} }} }}")
    assert len(found) == 4  # what the endpoint leaves unbound is compatible with them


def test_service__gives_new_blank_nodes(people: Store, names: str) -> None:
    text = f"SELECT ?b ?c {{ SERVICE <{names}> {{ ?b ?p 'unnamed' . ?c ?q 'unnamed' }} }}"
    ((b, c),) = people.query(text).tuples()
    assert b == c
    ((other, _),) = people.query(text).tuples()
    assert other != b
    assert b not in {quad.object for quad in people}


def test_update__takes_what_another_store_answers(people: Store, names: str) -> None:
    change = people.update(
        f"{PREFIX} INSERT {{ ?y :name ?n }} WHERE {{ ?x :knows ?y "
        f"SERVICE <{names}> {{ ?y :name ?n }} }}"
    )
    assert change.added == 3
    place = names.removesuffix("sparql") + "store?default"
    other = Store()
    with pytest.raises(ServiceError, match="is not allowed"):
        other.update(f"LOAD <{place}>")
    assert other.update(f"LOAD <{place}>", allow_service=[place]).added == 5
    with pytest.raises(ServiceError), people.transaction() as t:
        t.update("INSERT { :a :b :c } WHERE { SERVICE <http://127.0.0.1:9/> { ?x ?y ?z } }")
    assert len(people) == 8


def test_allow__is_per_call_store_snapshot_and_transaction(names: str) -> None:
    store = Store()
    text = f"SELECT * {{ SERVICE <{names}> {{ ?x :name ?n }} }}".replace(":name", "?p")
    for asked in (store, store.snapshot()):
        with pytest.raises(ServiceError, match="--allow-service"):
            list(asked.query(text))
        assert len(asked.query(text, allow_service=[names])) == 5
        assert len(asked.prepare(text, allow_service=[names])()) == 5
    with pytest.raises(ServiceError):
        list(store.query(text))
    store.allow_service = [names]
    assert len(store.select(text)) == len(store.snapshot().query(text)) == 5
    with store.transaction() as t:
        assert len(t.query(text)) == 5
    with pytest.raises(ServiceError):
        list(store.query(text, allow_service=[]))


def test_bound_joins__send_batches(people: Store, names: str) -> None:
    store = Store()
    store.load("".join(f"<http://ex.org/{n}> <http://ex.org/p> {n} .\n" for n in range(950)), "ttl")
    asked: list[int] = []
    from triplestore.sparql.federation.service_texts import ServiceTexts

    plain = ServiceTexts.for_values

    def counted(self: ServiceTexts, names: Any, given: Any, sent: Any) -> str:
        asked.append(len(sent))
        return plain(self, names, given, sent)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ServiceTexts, "for_values", counted)
        text = f"{PREFIX} SELECT * {{ ?x :p ?n SERVICE <{names}> {{ ?x :name ?m }} }}"
        services = Services([names], batch=300)
        assert len(store.query(text, allow_service=services)) == 0
    assert asked == [100, 200, 300, 300, 50]


def test_plan__says_what_is_sent(people: Store, names: str) -> None:
    found = people.query(
        f"{PREFIX} SELECT * {{ ?x :knows ?y SERVICE <{names}> {{ ?y :name ?n }} }}"
    )
    assert f"service <{names}> for ?y" in str(found.explain())


def test_chain__of_endpoints(names: str) -> None:
    """A store asks a store that asks a store."""
    middle = Store()
    middle.load(PEOPLE, "ttl")
    inner = f"SERVICE <{names}> {{ ?y :name ?n }}"
    text = f"{PREFIX} SELECT ?n {{ SERVICE <M> {{ ?x :knows ?y {inner} }} }}"
    with served_endpoint(middle, allow_service=(names,)) as place:
        assert len(Store().query(text.replace("<M>", f"<{place}>"), allow_service=[place])) == 4
    with served_endpoint(middle) as place, pytest.raises(ServiceError, match="not allowed"):
        list(Store().query(text.replace("<M>", f"<{place}>"), allow_service=[place]))


def test_command__allows_endpoints(tmp_path: Path, names: str) -> None:
    place = str(tmp_path / "a.db")
    text = f"SELECT ?n {{ SERVICE <{names}> {{ ?x <http://ex.org/name> ?n }} }}"
    Store(place).close()
    run = CliRunner().invoke(main, ["query", "-l", place, text])
    assert run.exit_code == 1
    assert "--allow-service" in run.output
    run = CliRunner().invoke(main, ["query", "-l", place, text, "--allow-service", names])
    assert run.exit_code == 0
    assert "Bobby" in run.output
    run = CliRunner().invoke(main, ["shell", place, "-c", text, "--allow-service", names])
    assert "Bobby" in run.output
    insert = f"INSERT {{ ?x <http://ex.org/n> ?n }} WHERE {text[text.index('{') :]}"
    run = CliRunner().invoke(main, ["update", "-l", place, insert, "--allow-service", names])
    assert "added 4" in run.output


def test_subscription__does_not_follow_endpoints(people: Store, names: str) -> None:
    with pytest.raises(UsageError, match="SERVICE asks another endpoint"):
        people.subscribe(f"{PREFIX} SELECT ?n {{ SERVICE SILENT <{names}> {{ ?x :name ?n }} }}")


# --- random queries ------------------------------------------------------------------------------


class _Texts:
    """Random queries with places `{S ... }` for patterns of another store."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def term(self) -> str:
        chosen = self.random.choice
        return chosen([":n0", *["?a", "?b", "?c", "?d"] * 3])

    def triple(self) -> str:
        chosen = self.random.choice
        verb = chosen([*[":p", ":q", ":r"] * 3, "?v", ":p/:q", ":p+", "^:r", ":p|:q"])
        return f"{self.term()} {verb} {chosen([*[self.term()] * 9, '1'])} ."

    def group(self, depth: int, inside: bool) -> str:
        parts = [self.triple() for _ in range(self.random.choice([1, 1, 1, 2]))]
        more = range(self.random.randint(0, 2) if depth else 0)
        parts += [self.element(depth - 1, inside) for _ in more]
        self.random.shuffle(parts)
        return " ".join(parts)

    def element(self, depth: int, inside: bool) -> str:
        kinds = ["OPTIONAL {G}", "{G} UNION {G}", "MINUS {G}", "{G}", "FILTER(F)", "VALUES"]
        kinds += ["FILTER EXISTS {G}", "FILTER NOT EXISTS {G}", "SELECT"]
        kinds += [] if inside else ["{S}"] * 6 + ["OPTIONAL { {S} }", "MINUS { {S} }"]
        kinds += [] if inside else ["FILTER NOT EXISTS { {S} }", "{ {S} } UNION {G}"]
        text = self.random.choice(kinds)
        if text == "VALUES":
            return f"VALUES ({self.term()[:1]}x ?b) {{ (:n1 :n2) (UNDEF :n0) }}".replace(":x", "?x")
        if text == "SELECT":
            return f"{{ SELECT DISTINCT ?a ?b {{ {self.group(depth, inside)} }} }}"
        if "F" in text and "{" not in text:
            tests = ["?a = ?b", "?a != :n1", "BOUND(?c)", "isIRI(?a) || ?b > 0", "!BOUND(?b)"]
            return f"FILTER({self.random.choice(tests)})"
        while "{G}" in text:
            text = text.replace("{G}", f"{{ {self.group(depth, inside)} }}", 1)
        while "{S}" in text:
            text = text.replace("{S}", f"<<S {self.group(depth, True)} S>>", 1)
        return text

    def query(self) -> str:
        body = self.group(2, False)
        if "<<S" not in body:
            body += f" <<S {self.group(1, True)} S>>"
        return f"{PREFIX} SELECT ?a ?b ?c ?d {{ {body} }}"

    def data(self) -> str:
        lines = {
            f":n{self.random.randrange(5)} :{self.random.choice('pqr')} "
            f"{self.random.choice([*[f':n{self.random.randrange(5)}'] * 4, '1', '2'])} ."
            for _ in range(45)
        }
        return "@prefix : <http://ex.org/> . " + " ".join(sorted(lines))


def _agree(seeds: range, batch: int) -> None:
    """SERVICE over another store is GRAPH over a copy of it."""
    texts = _Texts(seeds.start)
    local, remote, data = Store(), Store(), texts.data()
    local.load(texts.data(), "ttl")
    local.load(data, "ttl", to_graph=NamedNode("http://ex.org/g"))
    remote.load(data, "ttl")
    with served_endpoint(remote) as place:
        services = Services([place], batch=batch)
        for seed in seeds:
            text = _Texts(seed).query()
            plain = text.replace("<<S", "GRAPH :g {").replace("S>>", "}")
            wanted = Counter(local.query(plain).tuples())
            asked = text.replace("<<S", f"SERVICE <{place}> {{").replace("S>>", "}")
            found = Counter(local.query(asked, allow_service=services).tuples())
            assert found == wanted, f"seed {seed}: {asked}"


def test_random__service_is_a_join_with_the_data_of_the_other_store() -> None:
    _agree(range(0, 60), batch=1000)
    _agree(range(1000, 1040), batch=2)


def test_random__a_silent_failure_is_an_empty_group() -> None:
    data = _Texts(5).data()
    local = Store()
    local.load(data, "ttl")
    for seed in range(300):
        text = _Texts(seed).query()
        plain = re.sub(r"<<S.*?S>>", "{ }", text)
        asked = text.replace("<<S", "SERVICE SILENT <http://127.0.0.1:9/> {").replace("S>>", "}")
        found = Counter(local.query(asked).tuples())
        assert found == Counter(local.query(plain).tuples()), f"seed {seed}: {asked}"


@pytest.mark.long
def test_random_long__service_is_a_join_with_the_data_of_the_other_store() -> None:
    for start in range(10_000, 14_000, 250):
        _agree(range(start, start + 250), batch=1000 if start % 500 else 2)
