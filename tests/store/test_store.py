"""The store against pyoxigraph's, which has the same shape and no code in common with it."""

from __future__ import annotations

import copy
import itertools
import pickle
from pathlib import Path
from typing import Any

import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from pyoxigraph import (
    BlankNode,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    RdfFormat,
    Triple,
)
from pyoxigraph import Store as Peer

from triplestore import Store
from triplestore.errors import CancelledError, ParseError, StorageError, UsageError

XSD = "http://www.w3.org/2001/XMLSchema#"
NODES = [NamedNode(f"http://ex.org/{name}") for name in "abc"] + [BlankNode("x")]
PREDICATES = [NamedNode(f"http://ex.org/p{number}") for number in range(3)]
OBJECTS: list[Any] = [
    *NODES,
    Literal("v"),
    Literal("v", language="en"),
    Literal("1", datatype=NamedNode(XSD + "integer")),
    Triple(NODES[0], PREDICATES[0], NODES[1]),
]
GRAPHS: list[Any] = [DefaultGraph(), NamedNode("http://ex.org/g1"), BlankNode("g2")]

QUADS = st.builds(
    Quad,
    st.sampled_from(NODES),
    st.sampled_from(PREDICATES),
    st.sampled_from(OBJECTS),
    st.sampled_from(GRAPHS),
)


class StoreMachine(RuleBasedStateMachine):
    """Random calls on our store and on pyoxigraph's: what can be seen of both stays the same."""

    ours: Any
    peer: Any

    @initialize()
    def start(self) -> None:
        self.ours = Store()
        self.peer = Peer()

    @rule(quad=QUADS)
    def add(self, quad: Quad) -> None:
        new = quad not in self.peer
        change = self.ours.add(quad)
        assert (change.added, change.already_there) == (int(new), int(not new))
        self.peer.add(quad)

    @rule(quad=QUADS)
    def remove(self, quad: Quad) -> None:
        there = quad in self.peer
        change = self.ours.remove(quad)
        assert (change.removed, change.not_stated) == (int(there), int(not there))
        self.peer.remove(quad)

    @rule(quads=st.lists(QUADS, max_size=20))
    def extend(self, quads: list[Quad]) -> None:
        before = len(self.peer)
        self.peer.extend(quads)
        change = self.ours.extend(quads)
        assert change.added == len(self.peer) - before
        assert change.already_there == len(quads) - change.added

    @rule(steps=st.lists(st.tuples(st.booleans(), QUADS), max_size=20), fails=st.booleans())
    def transaction(self, steps: list[tuple[bool, Quad]], fails: bool) -> None:
        before = set(self.peer)
        try:
            with self.ours.transaction() as t:
                now = set(before)
                for add, quad in steps:
                    (t.add if add else t.remove)(quad)
                    (now.add if add else now.discard)(quad)
                assert set(t) == now and len(t) == len(now)
                assert set(self.ours) == before
                if fails:
                    raise RuntimeError
        except RuntimeError:
            return
        for add, quad in steps:
            (self.peer.add if add else self.peer.remove)(quad)
        assert t.change.added == len(now - before)
        assert t.change.removed == len(before - now)

    @rule(quads=st.lists(QUADS, max_size=20))
    def load(self, quads: list[Quad]) -> None:
        quads = [q for q in quads if not _has_blank(q)]
        text = "".join(f"{quad} .\n" for quad in quads)
        before = len(self.peer)
        self.peer.load(text, RdfFormat.N_QUADS)
        change = self.ours.load(text, RdfFormat.N_QUADS)
        assert change.added == len(self.peer) - before

    @rule(graph=st.sampled_from(GRAPHS))
    def clear_graph(self, graph: Any) -> None:
        gone = len(list(self.peer.quads_for_pattern(None, None, None, graph)))
        assert self.ours.clear_graph(graph).removed == gone
        self.peer.clear_graph(graph)

    @rule(graph=st.sampled_from(GRAPHS))
    def add_graph(self, graph: Any) -> None:
        self.ours.add_graph(graph)
        self.peer.add_graph(graph)

    @rule(graph=st.sampled_from(GRAPHS))
    def remove_graph(self, graph: Any) -> None:
        self.ours.remove_graph(graph)
        self.peer.remove_graph(graph)

    @rule(graph=st.sampled_from(GRAPHS), quads=st.lists(QUADS, max_size=10))
    def replace_graph(self, graph: Any, quads: list[Quad]) -> None:
        triples = {quad.triple for quad in quads if not _has_blank(quad)}
        before = {q.triple for q in self.peer.quads_for_pattern(None, None, None, graph)}
        text = "".join(f"{triple} .\n" for triple in triples)
        change = self.ours.load(text, "nt", replace_graph=graph)
        assert (change.added, change.removed) == (len(triples - before), len(before - triples))
        self.peer.clear_graph(graph)
        self.peer.add_graph(graph)
        self.peer.extend(Quad(t.subject, t.predicate, t.object, graph) for t in triples)

    @rule()
    def clear(self) -> None:
        assert self.ours.clear().removed == len(self.peer)
        self.peer.clear()

    @rule()
    def optimize(self) -> None:
        self.ours.optimize()

    @invariant()
    def same_contents(self) -> None:
        assert len(self.ours) == len(self.peer) == len(list(self.ours))
        assert set(self.ours) == set(self.peer)
        assert set(self.ours.named_graphs()) == set(self.peer.named_graphs())
        assert bool(self.ours) == bool(self.peer)

    @rule(quad=QUADS, bound=st.sampled_from(list(itertools.product([0, 1], repeat=4))))
    def same_pattern(self, quad: Quad, bound: tuple[int, ...]) -> None:
        terms = (quad.subject, quad.predicate, quad.object, quad.graph_name)
        pattern = [term if use else None for term, use in zip(terms, bound, strict=True)]
        found = list(self.ours.quads_for_pattern(*pattern))
        assert len(found) == len(set(found))
        assert set(found) == set(self.peer.quads_for_pattern(*pattern))
        assert (quad in self.ours) == (quad in self.peer)


def _has_blank(quad: Quad) -> bool:
    return "_:" in str(quad)


TestStoreAgainstPeer = StoreMachine.TestCase
TestStoreAgainstPeer.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


A, P = NODES[0], PREDICATES[0]


def test_quad__may_be_a_tuple_of_terms_of_either_library() -> None:
    store = Store()
    a, p = rdflib.URIRef(A.value), rdflib.URIRef(P.value)
    store.add((a, p, rdflib.Literal(5)))
    store.add((A, P, Literal("5", datatype=NamedNode(XSD + "integer"))))
    store.add((a, p, rdflib.BNode("z"), rdflib.Graph(identifier="http://ex.org/g1")))
    store.add((a, p, rdflib.Literal("chat", lang="FR"), None))
    assert {str(quad) for quad in store} == {
        f'{A} {P} "5"^^<{XSD}integer>',
        f'{A} {P} "chat"@fr',
        f"{A} {P} _:z <http://ex.org/g1>",
    }


@pytest.mark.parametrize(
    "quad",
    [
        (Literal("x"), P, A),
        (A, BlankNode("b"), A),
        (A, Literal("x"), A),
        (A, P, A, Literal("g")),
        (A, P),
        "text",
        (A, P, 5),
    ],
)
def test_quad__that_is_none_is_refused_and_nothing_changes(quad: Any) -> None:
    store = Store()
    with pytest.raises(UsageError):
        store.add(quad)
    with pytest.raises(UsageError):
        store.extend([Quad(A, P, A), quad])
    assert len(store) == 0
    assert store.add(Quad(A, P, A)).commit == 1


def test_transaction__loads_and_single_writes_mix_in_order() -> None:
    store = Store()
    keep, drop = Quad(A, P, Literal("keep")), Quad(A, P, Literal("drop"))
    store.add(drop)
    with store.transaction() as t:
        t.add(Quad(A, P, NODES[1]))
        t.load(f"{keep} .\n{drop} .\n{A} {P} <http://ex.org/new1> .", "nt")
        t.remove(drop)
        t.load(f"{A} {P} <http://ex.org/new2> .\n{A} {P} <http://ex.org/new1> .", "nt")
        t.add(Quad(A, P, NamedNode("http://ex.org/new3"), GRAPHS[1]))
        inside = set(t)
    assert set(store) == inside
    assert drop not in store and keep in store and len(store) == 5
    assert (t.change.added, t.change.removed) == (5, 1)


def test_transaction__in_the_same_thread_refuses_calls_on_the_store() -> None:
    store = Store()
    with store.transaction() as t:
        with pytest.raises(UsageError, match="transaction open"):
            store.add(Quad(A, P, A))
        t.add(Quad(A, P, A))
    assert len(store) == 1
    with pytest.raises(UsageError, match="has ended"):
        t.add(Quad(A, P, A))


def test_transaction__that_fails_gives_the_terms_back() -> None:
    store = Store()
    store.add(Quad(A, P, A))
    known = store.info().terms
    with pytest.raises(ParseError), store.transaction() as t:
        t.add(Quad(A, P, NamedNode("http://ex.org/never")))
        t.load("<http://ex.org/n> <http://ex.org/m> .", "nt")
    assert store.info().terms == known
    assert not store.lookup_ids([NamedNode("http://ex.org/never")])[0]
    store.add(Quad(A, P, NamedNode("http://ex.org/next")))
    assert str(next(store.quads_for_pattern(None, None, NamedNode("http://ex.org/next"))))


def test_iteration__shows_the_state_of_its_beginning() -> None:
    store = Store()
    store.extend(Quad(A, P, Literal(str(number))) for number in range(500))
    quads = store.quads_for_pattern(A, None, None)
    first = next(quads)
    store.clear()
    store.add(Quad(A, P, A))
    assert len([first, *quads]) == 500


def test_durable_store__comes_back_with_everything(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        store.load("@prefix ex: <http://ex.org/> . ex:a ex:p ex:b, _:n .", "ttl")
        store.add(Quad(A, P, OBJECTS[-1], GRAPHS[1]))
        store.bind("", "http://ex.org/default#")
        store.add_graph(GRAPHS[2])
        before = set(store), set(store.named_graphs()), dict(store.prefixes), store.commit
    for opened in (Store.read_only(tmp_path / "s"), Store(tmp_path / "s")):
        with opened as store:
            seen = set(store), set(store.named_graphs()), dict(store.prefixes), store.commit
            assert seen == before


def test_blank_nodes__belong_to_the_file_that_brings_them() -> None:
    store = Store()
    for _ in range(2):
        store.load("_:x <http://ex.org/p> _:x .", "nt")
    assert len(store) == 2
    assert len({quad.subject for quad in store}) == 2


@pytest.mark.parametrize("text", ["_:x <http://ex.org/p> 1 .", "[] <http://ex.org/p> [] ."])
def test_replace_graph__of_the_same_file_is_no_change(text: str) -> None:
    store = Store()
    first = store.load(text, "ttl", replace_graph=GRAPHS[1])
    again = store.load(text, "ttl", replace_graph=GRAPHS[1])
    assert first.added == 1
    assert not again and again.already_there == 1


def test_load__into_a_graph_and_of_quads(tmp_path: Path) -> None:
    store = Store()
    file = tmp_path / "data.nq"
    file.write_text(f"{A} {P} {A} <http://ex.org/g1> .\n{A} {P} {A} .\n")
    store.load(path=file)
    store.load(f"{A} {P} {A} .", "nt", to_graph=GRAPHS[2])
    assert {str(q.graph_name) for q in store} == {"DEFAULT", "<http://ex.org/g1>", "_:g2"}


@given(st.lists(QUADS, max_size=30))
@settings(max_examples=30)
def test_rows_for_pattern__are_the_quads_as_ids(quads: list[Quad]) -> None:
    store = Store()
    store.extend(quads)
    seen = set()
    for rows in store.rows_for_pattern(None, PREDICATES[0]):
        for s, p, o, g in zip(*(store.terms(column) for column in rows), strict=True):
            seen.add(Quad(s, p, o, g if g is not None else DefaultGraph()))
    assert seen == {quad for quad in quads if quad.predicate == PREDICATES[0]}


def test_objects_of__many_subjects_at_once() -> None:
    store = Store()
    store.load("@prefix : <http://ex.org/> . :a :p0 :b, :c . :b :p0 :c . :c :p1 :a .", "ttl")
    subjects = store.lookup_ids(NODES[:3])
    index, objects = store.objects_of(subjects, PREDICATES[0])
    assert list(zip(index.tolist(), store.terms(objects), strict=True)) == [
        (0, NODES[1]),
        (0, NODES[2]),
        (1, NODES[2]),
    ]
    index, found = store.subjects_of(store.lookup_ids([NODES[2]]), PREDICATES[0])
    assert store.terms(found) == NODES[:2]


@pytest.mark.parametrize("name", ["ttl", "trig", "nt", "nq", "rdfxml", "jsonld"])
def test_dump__comes_back_equal(name: str, tmp_path: Path) -> None:
    store = Store()
    store.load('@prefix : <http://ex.org/> . :a :p "x\\n\\"y\\"", 5, "ß"@de; :q :a .', "ttl")
    target = tmp_path / "out.gz"
    graph = None if name in ("trig", "nq", "jsonld") else DefaultGraph()
    store.dump(target, name, from_graph=graph)
    again = Store()
    again.load(path=target, format=name)
    assert set(again) == set(store)


def test_dump__of_a_format_without_graphs_needs_one(tmp_path: Path) -> None:
    store = Store()
    store.add(Quad(A, P, A, GRAPHS[1]))
    with pytest.raises(UsageError):
        store.dump(format="ttl")
    assert store.dump(format="nt", from_graph=GRAPHS[1]) == f"{A} {P} {A} .\n".encode()


def test_facts__asked_for_by_another_name_are_refused() -> None:
    with pytest.raises(UsageError, match="explicit"):
        Store().quads_for_pattern(None, None, None, facts="some")
    assert list(Store().quads_for_pattern(None, None, None, facts="inferred")) == []


def test_info__counts_what_is_there() -> None:
    store = Store()
    store.load("@prefix : <http://ex.org/> . :a a :C ; :p 1 . :b a :C, :D .", "ttl")
    store.add(Quad(A, P, A, GRAPHS[1]))
    info = store.info()
    assert (info.quads, info.explicit, info.inferred) == (5, 5, 0)
    assert (info.default_graph, info.in_named_graphs, info.named_graphs) == (4, 1, 1)
    assert (info.predicates, info.classes, info.prefixes, info.files_loaded) == (2, 2, 1, 1)
    assert info.terms == 9
    assert info.dictionary_bytes >= info.term_text_bytes > 9 * len("http://ex.org/")
    assert "5 (5 explicit, 0 inferred)" in str(info)


def test_replace_graph__by_more_files_keeps_their_blank_nodes_apart(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.nt").write_text(f"_:x <http://ex.org/{name}> _:x .\n")
    store = Store()
    store.load(path=tmp_path / "a.nt", replace_graph=GRAPHS[1])
    store.load(path=tmp_path / "b.nt")
    store.load(path=[tmp_path / "a.nt", tmp_path / "c.nt"], replace_graph=GRAPHS[1])
    assert len({quad.subject for quad in store}) == 3
    again = store.load(path=[tmp_path / "a.nt", tmp_path / "c.nt"], replace_graph=GRAPHS[1])
    assert not again and again.already_there == 2


def test_load__asked_to_stop_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "large.nt"
    file.write_text("".join(f"<http://ex.org/{n}> <http://ex.org/p> 'x' .\n" for n in range(9999)))
    file.write_text(file.read_text().replace("'", '"'))
    store = Store()
    with pytest.raises(CancelledError):
        store.load(path=file, cancel=lambda: True)
    assert len(store) == 0 and store.info().terms == 0
    assert store.load(path=file, cancel=lambda: False).added == 9999


def test_load__may_refuse_named_graphs() -> None:
    store = Store()
    with pytest.raises(ParseError, match="g1"):
        store.load(f"{A} {P} {A} {GRAPHS[1]} .", "nq", named_graphs="refuse")
    assert len(store) == 0


# -- errors and copies ----------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", ["x", None, 1, b"y"])
def test_something_that_is_no_term__is_an_error_of_the_type_as_for_the_peer(wrong: Any) -> None:
    store: Any
    for store in (Store(), Peer()):
        for call in (store.add, store.remove, store.__contains__):
            with pytest.raises(TypeError):
                call(wrong)
        with pytest.raises(TypeError):
            store.extend([wrong])
        if wrong is not None:
            with pytest.raises(TypeError):
                list(store.quads_for_pattern(wrong, None, None))
    text: Any = "http://ex.org/a"
    with pytest.raises(UsageError, match="not an RDF term"):
        list(Store().quads_for_pattern(text, None, None))


def test_a_missing_file__is_an_error_of_that_name_as_for_the_peer(tmp_path: Path) -> None:
    for store in (Store(), Peer()):
        with pytest.raises(FileNotFoundError):
            store.load(path=str(tmp_path / "none.ttl"))
    with pytest.raises(StorageError, match=r"cannot read .*none"):
        Store().reason(rules=tmp_path / "none.dlog")


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copies__are_refused_with_what_to_do_instead(make: Any) -> None:
    with pytest.raises(TypeError, match="use backup"):
        make(Store())
