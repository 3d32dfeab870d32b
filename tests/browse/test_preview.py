"""Previews beside two fresh computations, and commits after them."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter

import pytest
from browse.random_stores import (
    EX,
    TYPE,
    ex,
    random_quads,
    random_store,
    told,
    value,
)
from pyoxigraph import NamedNode, Quad

from triplestore import Store
from triplestore.browse.change_request import (
    ChangeLimits,
    ChangeRequest,
    DocumentText,
    commit_change,
)
from triplestore.browse.preview import preview_change, preview_update
from triplestore.browse.term_data import plain_term
from triplestore.browse.thresholds import BROWSE
from triplestore.errors import (
    BudgetError,
    CancelledError,
    ConflictError,
    ParseError,
    ProgramError,
    TimeLimitError,
    UsageError,
)

RULES = f"""@prefix : <{EX}> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
:C0[?x] :- :p0[?x, ?y], :C1[?y] .
:p1[?x, ?z] :- :p1[?x, ?y], :p0[?y, ?z] .
constraint "twice" "is both" :- :C2[?x], :C3[?x] .
"""


def states(store: Store) -> tuple[set, set]:
    """What is asserted, and what is only inferred, as (triple, graph)."""
    explicit = told(store)
    return explicit, set(store) - explicit


def group_of(quad: Quad) -> tuple[str, str]:
    if quad.predicate == TYPE:
        return "class", quad.object.value
    return "property", quad.predicate.value


def difference(before: Store, after: Store) -> dict[str, Counter]:
    """By kind, the number of quads that changed in each group."""
    (was, implied), (now, implies) = states(before), states(after)
    kinds = {
        "added": now - was,
        "removed": was - now,
        "inferred_added": implies - implied - was,
        "inferred_removed": implied - implies - now,
    }
    return {kind: Counter(map(group_of, quads)) for kind, quads in kinds.items()}


def shown(preview: dict) -> dict[str, Counter]:
    kinds = ("added", "removed", "inferred_added", "inferred_removed")
    found = {
        kind: Counter(
            {(one["kind"], value(one["term"])): one[kind] for one in preview["groups"] if one[kind]}
        )
        for kind in kinds
    }
    assert all(preview[kind] == sum(found[kind].values()) for kind in kinds)
    return found


def key(violation) -> str:
    return json.dumps([violation.constraint, {n: str(v) for n, v in violation.values.items()}])


def shown_key(violation: dict) -> str:
    values = {
        name: f"<{value(term)}>" if term["type"] == "uri" else str(term)
        for name, term in violation["bindings"].items()
    }
    return json.dumps([violation["constraint"], values])


def update_of(pick: random.Random, store: Store) -> str:
    quads = random_quads(pick)[:4]
    new = " ".join(f"{quad.subject} {quad.predicate} {quad.object} ." for quad in quads)
    old = pick.sample(sorted(told(store), key=str), 3)
    gone = " ".join(
        f"{q.subject} {q.predicate} {q.object} ."
        for q in old
        if isinstance(q.subject, NamedNode)
        and not str(q.object).startswith("_:")
        and not str(q.graph_name).startswith("<")
    )
    return f"DELETE DATA {{ {gone} }} ; INSERT DATA {{ {new} }}"


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("regimes", "equality"), [((), None), (("owl-rl",), None), (("owl-rl",), "rewrite")]
)
def test_preview__is_the_difference_of_two_states(seed, regimes, equality):
    pick = random.Random(seed)
    store = random_store(seed, *regimes, equality=equality)
    store.reason(rules=RULES)
    text = update_of(pick, store)
    before, commit = states(store), store.commit
    violated = {key(one) for one in store.violations()}
    with BROWSE.changed(shown_violations=1000):
        preview = preview_update(store, text)
    assert (states(store), store.commit) == (before, commit), "nothing is written"
    old = Store()
    old.extend(told(store))
    old.reason(*regimes, rules=RULES, equality=equality)
    new = Store()
    new.extend(told(store))
    new.update(text)
    new.reason(*regimes, rules=RULES, equality=equality)
    if "_:" not in text:
        assert shown(preview) == difference(old, new)
    change = commit_change(store, ChangeRequest(update=text), expected_commit=preview["commit"])
    assert (change.added, change.removed) == (preview["added"], preview["removed"])
    assert change.inferred_added == preview["inferred_added"]
    assert change.inferred_removed == preview["inferred_removed"]
    now = {key(one) for one in store.violations()}
    assert preview["violations"]["new_count"] == len(now - violated)
    assert preview["violations"]["resolved_count"] == len(violated - now)
    if "_:" not in text:
        assert {shown_key(one) for one in preview["violations"]["new"]} == now - violated
        assert {shown_key(one) for one in preview["violations"]["resolved"]} == violated - now
    json.dumps(preview)


def test_preview__examples_are_of_their_group_and_kind():
    store = random_store(3, "owl-rl")
    data = " ".join(f"<{EX}n{i}> a <{EX}C{i % 3}> ; <{EX}p0> <{EX}n0> ." for i in range(30))
    data += f" <{EX}one> a <{EX}A1> ; <{EX}q1> 1 . <{EX}two> a <{EX}A2> ; <{EX}q2> 1 ."
    preview = preview_update(store, f"INSERT DATA {{ {data} }}")
    explicit, before = states(store)
    store.update(f"INSERT DATA {{ {data} }}")
    now, implied = states(store)
    sets = {"added": now - explicit, "inferred_added": implied - before - explicit}
    for group in preview["groups"]:
        for kind, rows in group["examples"].items():
            assert len(rows) == min(group[kind], BROWSE.shown_examples)
            quads = [q for q in sets[kind] if group_of(q)[1] == value(group["term"])]
            plain = [[plain_term(t) for t in (q.subject, q.predicate, q.object)] for q in quads]
            for row in rows:
                bare = [{k: v for k, v in t.items() if k not in ("short", "label")} for t in row]
                assert bare in plain


def test_preview__a_document_is_loaded_and_taken_back():
    store = Store()
    request = ChangeRequest(
        documents=(
            DocumentText(f"<{EX}a> <{EX}p> 1 .", "a.ttl"),
            DocumentText(f"<{EX}b> <{EX}p> 1 .", "b.nt.txt", "turtle", f"{EX}g"),
        )
    )
    preview = preview_change(store, request)
    assert (preview["added"], len(store), store.prefixes) == (2, 0, {})
    assert commit_change(store, request).added == 2
    assert store.contains_named_graph(ex("g"))


def test_preview__rules_replace_those_of_users_and_leave_regimes():
    store = random_store(1, "owl-rl")
    prefix = f"@prefix : <{EX}> . "
    store.reason(rules=prefix + "rule 'old' :Old[?x] :- :p0[?x, ?y] .")
    request = ChangeRequest(rules=prefix + "rule 'new' :New[?x] :- :p0[?x, ?y] .")
    preview = preview_change(store, request)
    changed = {
        value(group["term"]): (group["inferred_added"], group["inferred_removed"])
        for group in preview["groups"]
    }
    found = store.quads_for_pattern(None, ex("p0"), None)
    in_default = {quad.subject for quad in found if str(quad.graph_name) == "DEFAULT"}
    assert in_default
    assert changed[EX + "New"] == (len(in_default), 0)
    assert changed[EX + "Old"] == (0, len(in_default))
    assert "old" in str(store.program)
    commit_change(store, request)
    assert "old" not in str(store.program) and "new" in str(store.program)
    assert store.info().rules > 1, "the regime is still in force"


def test_preview__violations_that_rules_bring_and_take():
    store = Store()
    prefix = f"@prefix : <{EX}> . "
    store.load(prefix + ":a a :A , :B .", "ttl")
    store.reason(rules=prefix + 'constraint "a" :- :A[?x] .')
    preview = preview_change(store, ChangeRequest(rules=prefix + 'constraint "b" :- :B[?x] .'))
    new, resolved = preview["violations"]["new"], preview["violations"]["resolved"]
    assert [one["constraint"] for one in new] == ["b"]
    assert [one["constraint"] for one in resolved] == ["a"]


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (ChangeRequest(update="INSERT DATA {"), ParseError),
        (ChangeRequest(documents=(DocumentText("<a", "a.nt"),)), ParseError),
        (ChangeRequest(documents=(DocumentText("", "a.unknown"),)), UsageError),
        (ChangeRequest(rules="x"), ProgramError),
        (ChangeRequest(rules="/etc/passwd"), ProgramError),
        (ChangeRequest(update="LOAD <file:///etc/passwd>"), UsageError),
    ],
)
def test_preview__a_faulty_request_changes_nothing(request_, error):
    store = random_store(0, "owl-rl")
    before = states(store)
    for make in (preview_change, commit_change):
        with pytest.raises(error):
            make(store, request_)
    assert states(store) == before
    assert store.add(Quad(ex("z"), ex("p"), ex("z"))).added == 1, "the store can be written to"


def test_change_request__needs_exactly_one_thing():
    for given in ({}, {"update": "", "rules": ""}):
        with pytest.raises(UsageError, match="one of"):
            ChangeRequest(**given)


def test_commit__is_refused_if_the_store_has_moved():
    store = Store()
    update = ChangeRequest(update=f"INSERT DATA {{ <{EX}a> <{EX}p> 1 }}")
    seen = preview_change(store, update)["commit"]
    store.add(Quad(ex("b"), ex("p"), ex("b")))
    with pytest.raises(ConflictError, match="changed since the preview"):
        commit_change(store, update, expected_commit=seen)
    assert len(store) == 1


ENDLESS = f"""@prefix : <{EX}> .
:next[?x, ?y] :- :next[?z, ?x], BIND(IRI(CONCAT(STR(?x), "x")) AS ?y) .
"""


def test_preview__time_and_stop_hold_for_inference_too():
    store = Store()
    store.reason(rules=ENDLESS, tuning={"max_seconds": 60})
    update = ChangeRequest(update=f"INSERT DATA {{ <{EX}a> <{EX}next> <{EX}b> }}")
    with pytest.raises(TimeLimitError):
        preview_change(store, update, limits=ChangeLimits(seconds=0.3))
    stop = threading.Event()
    stop.set()
    with pytest.raises(CancelledError):
        preview_change(store, update, limits=ChangeLimits(cancel=stop))
    assert len(store) == 0


def test_preview__memory_holds_for_inference_too():
    store = Store()
    store.reason(rules=ENDLESS, tuning={"max_seconds": 60})
    update = ChangeRequest(update=f"INSERT DATA {{ <{EX}a> <{EX}next> <{EX}b> }}")
    with pytest.raises(BudgetError):
        preview_change(store, update, limits=ChangeLimits(budget=20_000_000))
    assert len(store) == 0


def test_preview__readers_go_on_meanwhile():
    store = Store()
    store.reason(rules=ENDLESS, tuning={"max_seconds": 60})
    stop = threading.Event()
    update = ChangeRequest(update=f"INSERT DATA {{ <{EX}a> <{EX}next> <{EX}b> }}")

    def preview() -> None:
        with pytest.raises(CancelledError):
            preview_change(store, update, limits=ChangeLimits(cancel=stop))

    thread = threading.Thread(target=preview)
    thread.start()
    try:
        for _ in range(20):
            assert not store.ask("ASK { ?s ?p ?o }")
        assert thread.is_alive()
    finally:
        stop.set()
        thread.join()
