"""Branches: private, side by side, compared, committed, refused."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyoxigraph as ox
import pytest

from tests.versions.copies import PREFIX, Copy, content_of
from triplestore import Store, errors
from triplestore.store import Snapshot

DATA = "@prefix : <http://ex.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
LOOP = 'constraint "loop" "is its own" :- :p[?x, ?x] .'


def iri(name: str) -> ox.NamedNode:
    return ox.NamedNode(f"http://ex.org/{name}")


@pytest.fixture
def store() -> Store:
    made = Store()
    made.load(DATA + ":Cat rdfs:subClassOf :Animal . :tom a :Cat ; :p :kit .", "ttl")
    made.reason("rdfs", rules=PREFIX + LOOP)
    return made


def test_branch__does_not_wait_for_the_writer_nor_for_other_branches(store: Store) -> None:
    seen: list[int] = []

    def work() -> None:
        with store.branch() as branch:
            branch.load(DATA + ":kit a :Cat .", "ttl")
            seen.append(len(branch.diff().inferred_added))

    with store.transaction() as t, store.branch() as other, other.transaction() as u:
        t.load(DATA + ":ben a :Cat .", "ttl")
        u.load(DATA + ":bob a :Cat .", "ttl")
        thread = threading.Thread(target=work)
        thread.start()
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert seen == [1]


def test_branches_in_threads__infer_beside_the_writer(store: Store) -> None:
    def work(number: int) -> None:
        for turn in range(6):
            with store.branch() as branch:
                for each in range(4):
                    branch.load(DATA + f":n{number}x{turn}x{each} a :Cat .", "ttl")
                branch.add_rules(PREFIX + f":Big{number}[?x] :- :Cat[?x] .")
                assert branch.audit().problems() == []
                branch.commit(rebase=True)

    with ThreadPoolExecutor(3) as threads:
        works = [threads.submit(work, number) for number in range(3)]
        for number in range(10):
            store.load(DATA + f":m{number} a :Cat .", "ttl")
        for each in works:
            each.result()  # raises what the thread raised
    assert store.audit().problems() == []
    cats = 1 + 3 * 6 * 4 + 10
    for name in ("Animal", "Big1"):
        members = store.quads_for_pattern(None, ox.NamedNode(RDF_TYPE), iri(name))
        assert len(list(members)) == cats


def test_branch__shares_the_layers_of_its_store(store: Store) -> None:
    with store.branch() as branch:
        branch.load(DATA + ":kit a :Cat .", "ttl")
        own, shared = branch._database.state.tables.layers, store._database.state.tables.layers
        assert own[: len(shared)] == shared
        assert own[-1].rows < 5


def test_many_commits_of_a_branch__leave_few_layers(store: Store) -> None:
    with store.branch() as branch:
        for number in range(60):
            rows = "".join(f":n{number} :p {i} . " for i in range(200))
            branch.load(DATA + rows, "ttl")
        assert len(branch._database.state.tables.layers) < 12
        assert branch.audit().problems() == []


def test_new_terms_of_a_branch__do_not_meet_those_of_the_store(store: Store) -> None:
    with store.branch() as one, store.branch() as other:
        one.load(DATA + ":only-one :p :only-one-too .", "ttl")
        other.load(DATA + ":only-other :p :only-other-too .", "ttl")
        store.load(DATA + ":only-store :p :only-store-too .", "ttl")
        assert [str(q.subject) for q in one.diff(other).added] == ["<http://ex.org/only-one>"]
        assert [str(q.subject) for q in one.diff(store).removed] == ["<http://ex.org/only-store>"]
        one.commit()
        other.commit()
    names = {str(q.subject) for q in store.quads_for_pattern(None, iri("p"), None)}
    assert {f"<http://ex.org/only-{each}>" for each in ("one", "other", "store")} <= names


def test_blank_nodes_of_files__stay_apart(store: Store) -> None:
    with store.branch() as one, store.branch() as other:
        for target in (one, other, store):
            target.load(DATA + "_:x :q :here .", "ttl")
        one.commit()
        other.commit()
    assert len(list(store.quads_for_pattern(None, iri("q"), None))) == 3


def test_replaced_graph_of_a_branch__is_unchanged_when_loaded_again(store: Store) -> None:
    text = DATA + "_:x :q :here ."
    with store.branch() as branch:
        branch.load(text, "ttl", replace_graph=iri("g"))
        branch.commit()
    change = store.load(text, "ttl", replace_graph=iri("g"))
    assert (change.added, change.removed) == (0, 0)


def test_diff__compares_with_snapshots_and_past_commits(store: Store) -> None:
    store.keep_history()
    before = store.snapshot()
    store.load(DATA + ":ben a :Cat .", "ttl")
    with store.branch() as branch:
        branch.load(DATA + ":kit a :Cat .", "ttl")
        assert len(branch.diff(before).added) == 2
        assert len(branch.diff(store.at(before.commit)).inferred_added) == 2
        assert isinstance(branch.snapshot(), Snapshot)
        assert not branch.diff(branch.snapshot())
        with store.transaction() as t, pytest.raises(errors.UsageError, match="Transaction"):
            branch.diff(t)


def test_diff__is_right_after_optimize(store: Store) -> None:
    with store.branch() as branch:
        branch.load(DATA + ":kit a :Cat ; :p :kit .", "ttl")
        store.remove((iri("tom"), iri("p"), iri("kit")))
        store.optimize()
        found = branch.diff(store)
        assert {str(q.subject) for q in found.added} == {str(iri("kit")), str(iri("tom"))}
        assert iri("Animal") in {q.object for q in found.inferred_added}
        assert len(found.new_violations) == 1
        branch.commit()
    assert len(store.violations()) == 1


def conflict_of(store: Store, ours: str, theirs: str) -> str:
    with store.branch() as branch:
        branch.update(PREFIX + ours)
        store.update(PREFIX + theirs)
        with pytest.raises(errors.ConflictError) as caught:
            branch.commit()
        before = content_of(store)
        with pytest.raises(errors.ConflictError):
            branch.commit()
        assert content_of(store) == before
        branch.commit(rebase=True)
    return str(caught.value)


def test_commit__names_facts_that_both_changed(store: Store) -> None:
    said = conflict_of(store, "INSERT DATA { :a :p :b }", "INSERT DATA { :a :p :b, :c }")
    assert "the fact <http://ex.org/a> <http://ex.org/p> <http://ex.org/b> was added" in said
    assert "since commit 2" in said


def test_commit__names_graphs_that_both_changed(store: Store) -> None:
    store.update(PREFIX + "INSERT DATA { GRAPH :g { :a :p :b } }")
    said = conflict_of(store, "DROP GRAPH :g", "INSERT DATA { GRAPH :g { :a :p :c } }")
    assert "quads were added to the graph <http://ex.org/g>" in said
    assert not store.contains_named_graph(iri("g"))


def test_commit__names_rules_and_axioms(store: Store) -> None:
    ours, axiom = "INSERT DATA { :new a :Cat }", ":Animal rdfs:subClassOf :Being"
    schema = "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
    with store.branch() as branch:
        branch.update(PREFIX + ours)
        store.update(schema + PREFIX + f"INSERT DATA {{ {axiom} }}")
        with pytest.raises(errors.ConflictError, match="axioms were changed"):
            branch.commit()
        branch.rebase()
        assert (iri("new"), ox.NamedNode(RDF_TYPE), iri("Being")) in branch
        store.remove_rules(PREFIX + LOOP)
        with pytest.raises(errors.ConflictError, match="rules of the store were changed"):
            branch.commit()


def test_commit__names_prefixes_that_both_bound(store: Store) -> None:
    with store.branch() as branch:
        branch.bind("x", "http://one.org/")
        branch.bind("y", "http://y.org/")
        store.bind("x", "http://other.org/")
        store.bind("z", "http://z.org/")
        with pytest.raises(errors.ConflictError, match="prefix x:"):
            branch.commit()
        branch.commit(rebase=True)
    assert {name: store.prefixes[name] for name in "xyz"} == {
        "x": "http://one.org/",
        "y": "http://y.org/",
        "z": "http://z.org/",
    }


def test_commit__to_a_strict_store_adds_no_violation(store: Store) -> None:
    store.reason(strict=True)
    with store.branch() as branch:
        with pytest.raises(errors.InconsistencyError):
            branch.update(PREFIX + "INSERT DATA { :a :p :a }")
        branch.update(PREFIX + "INSERT DATA { :a :p :b }")
        store.reason(rules=PREFIX + 'constraint "no-b" "no" :- :p[?x, :b] .')
        with pytest.raises(errors.InconsistencyError, match="no-b"):
            branch.commit(rebase=True)
        assert len(branch.diff().added) == 1


def test_branch_that_changed_nothing__makes_no_commit(store: Store) -> None:
    number = store.commit
    with store.branch() as branch:
        assert not branch.commit()
    assert store.commit == number


def test_committed_branch__leaves_the_store_exact(tmp_path: Path) -> None:
    copy = Copy()
    with Store(tmp_path / "s") as store:
        store.load(DATA + ":Cat rdfs:subClassOf :Animal .", "ttl")
        store.reason("rdfs", tuning={"schemes": "compressed"})
        with store.branch() as branch:
            branch.load(DATA + ":tom a :Cat . :new :p 1, 2, 3 .", "ttl")
            branch.remove((iri("new"), iri("p"), ox.Literal(3)))
            branch.commit()
        store.load(DATA + ":kit a :Cat .", "ttl")
        assert store.audit(thorough=True).problems() == []
        copy.add(store.quads_for_pattern(None, None, None, facts="explicit"))
    copy.regimes = frozenset(["rdfs"])
    with Store(tmp_path / "s") as store:
        assert content_of(store) == copy.content()
        assert store.verify(closure=True) == []


# -- what_if ----------------------------------------------------------------------------------


def test_what_if__tells_what_falls_with_a_source() -> None:
    store = Store()
    store.load(DATA + ":tom a :Cat .", "ttl", to_graph=iri("one"))
    store.load(DATA + ":tom a :Cat . :kit a :Cat .", "ttl", to_graph=iri("two"))
    store.load(DATA + ":Cat rdfs:subClassOf :Animal .", "ttl")
    store.reason("rdfs", scope="union")
    found = store.what_if(remove_graphs=["http://ex.org/two"])
    gone = {str(q.subject) for q in found.inferred_removed if q.object == iri("Animal")}
    assert gone == {"<http://ex.org/kit>"}
    assert len(found.removed) == 2
    assert found.survivors == store.count("inferred") - len(found.inferred_removed)
    assert len(store.what_if(remove_graphs=[ox.DefaultGraph()]).removed) == 1


def test_what_if__changes_nothing(store: Store) -> None:
    before, number = content_of(store), store.commit
    terms = store.info().terms
    found = store.what_if(without=[":tom a :Cat"], add=DATA + ":new a :Cat .")
    assert (len(found.inferred_removed), len(found.inferred_added)) == (1, 1)
    assert (content_of(store), store.commit, store.info().terms) == (before, number, terms)


def test_what_if__tells_violations_that_come_and_end(store: Store) -> None:
    store.reason(strict=True)
    found = store.what_if(add=[(iri("a"), iri("p"), iri("a"))])
    assert [each.constraint for each in found.new_violations] == ["loop"]
    assert found.ended_violations == []
    with store.branch() as branch:
        branch.reason(strict=False)
        branch.add((iri("a"), iri("p"), iri("a")))
        found = branch.what_if(without=[(iri("a"), iri("p"), iri("a"))])
        assert [each.constraint for each in found.ended_violations] == ["loop"]
        assert "ended violations 1" in str(found)


def test_what_if__of_a_snapshot_is_about_that(store: Store, tmp_path: Path) -> None:
    before = store.snapshot()
    store.update(PREFIX + "DELETE DATA { :tom a :Cat }")
    assert len(before.what_if(without=[":tom a :Cat"]).inferred_removed) == 1
    (tmp_path / "more.ttl").write_text(DATA + ":new a :Cat .")
    assert len(before.what_if(add=tmp_path / "more.ttl").inferred_added) == 1


def test_what_if__refuses_what_is_not_there(store: Store) -> None:
    with pytest.raises(errors.UsageError, match="why"):
        store.what_if(without=[":tom a :Animal"])
    with pytest.raises(errors.UsageError, match="no graph"):
        store.what_if(remove_graphs=["http://ex.org/none"])


def test_consequences__are_data_too(store: Store) -> None:
    said = store.what_if(without=[":tom a :Cat"]).as_dict()
    assert said["inferred_removed"] == [f"<http://ex.org/tom> <{RDF_TYPE}> <http://ex.org/Animal>"]
    assert said["added"] == []
