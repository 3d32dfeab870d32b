"""Rules in the store: what is kept, what counts as what, and what is refused."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad

from tests.reasoning.families import ANCESTORS, ENDLESS, PREFIX, family, node, parents, quad
from triplestore import Store, TripleStoreError
from triplestore.datalog.program import Aggregate, Program, Rule, TripleAtom, Variable
from triplestore.datalog.text import read
from triplestore.errors import (
    BudgetError,
    ProgramError,
    ReadOnlyError,
    UsageError,
)

LOOP = PREFIX + 'constraint "loop" "an ancestor of himself" :- :ancestor[?x, ?x] .'


@pytest.fixture
def store() -> Store:
    return family()


# -- stated and inferred --------------------------------------------------------------------------


def test_store__explicit_and_inferred_partition_what_holds(store: Store) -> None:
    assert store.count("explicit") == 2 and store.count("inferred") == 3
    explicit = set(store.quads_for_pattern(None, None, None, facts="explicit"))
    inferred = set(store.quads_for_pattern(None, None, None, facts="inferred"))
    assert explicit | inferred == set(store) and not explicit & inferred
    assert quad("a ancestor c") in store


def test_add__of_an_inferred_fact_makes_it_explicit(store: Store) -> None:
    change = store.add(quad("a ancestor c"))
    assert (change.added, change.inferred_added, change.inferred_removed) == (1, 0, 0)
    assert store.count("explicit") == 3 and store.count("inferred") == 2


def test_remove__of_a_fact_that_still_follows_keeps_it_as_inferred(store: Store) -> None:
    store.add(quad("a ancestor c"))
    change = store.remove(quad("a ancestor c"))
    assert (change.removed, change.still_entailed) == (1, 1)
    assert str(change) == "removed 1, still entailed 1"
    assert quad("a ancestor c") in store and store.count("explicit") == 2


def test_remove__of_a_fact_that_is_only_inferred_changes_nothing(store: Store) -> None:
    before = store.commit
    change = store.remove(quad("a ancestor c"))
    assert (change.not_stated, change.only_inferred) == (1, 1)
    assert str(change) == "not stated 1 (1 of them inferred)"
    assert not change and store.commit == before
    both = store.remove_all([quad("a ancestor c"), quad("a ancestor x"), quad("b ancestor c")])
    assert (both.not_stated, both.only_inferred) == (3, 2)


def test_remove__takes_what_followed_away(store: Store) -> None:
    change = store.remove(parents("bc")[0])
    assert (change.removed, change.inferred_removed) == (1, 2)
    assert set(store) == {*parents("ab"), quad("a ancestor b")}


def test_named_graphs__take_no_part(store: Store) -> None:
    graph = node("g")
    change = store.add(Quad(node("c"), node("parent"), node("d"), graph))
    assert (change.added, change.inferred_added, change.graphs_added) == (1, 0, 1)
    assert store.remove_graph(graph).inferred_removed == 0
    stays = store.load("<http://ex.org/c> <http://ex.org/parent> 1 .", "ttl", to_graph=graph)
    assert stays.inferred_added == 0


def test_replace_graph__of_the_default_graph_maintains_the_closure(store: Store) -> None:
    from pyoxigraph import DefaultGraph

    text = PREFIX + ":a :parent :b . :b :parent :d ."
    change = store.load(text, "ttl", replace_graph=DefaultGraph())
    assert (change.added, change.removed, change.already_there) == (1, 1, 1)
    assert (change.inferred_added, change.inferred_removed) == (2, 2)
    assert quad("a ancestor d") in store and quad("a ancestor c") not in store


def test_clear__empties_the_data_and_keeps_the_rules(store: Store) -> None:
    store.add_rules(PREFIX + ":root[:r, :r] .")
    assert quad("r root r") in store
    change = store.clear()
    assert (change.removed, change.inferred_removed) == (2, 3)
    assert set(store) == {quad("r root r")}
    assert len(store.program) == 3
    store.extend(parents("xy"))
    assert quad("x ancestor y") in store


def test_clear__of_the_default_graph_only(store: Store) -> None:
    from pyoxigraph import DefaultGraph

    change = store.clear_graph(DefaultGraph())
    assert (change.removed, change.inferred_removed) == (2, 3)
    assert len(store) == 0


# -- inside of a transaction ----------------------------------------------------------------------


def test_transaction__reading_sees_what_follows_from_its_own_writes(store: Store) -> None:
    with store.transaction() as t:
        t.add(parents("cd")[0])
        assert quad("a ancestor d") in t
        assert quad("a ancestor d") not in store
        t.remove(parents("cd")[0])
        assert quad("a ancestor d") not in t
        assert len(t) == 5
    assert not t.change and store.commit == 2


def test_transaction__rolled_back_leaves_rules_and_facts(store: Store) -> None:
    with pytest.raises(RuntimeError), store.transaction() as t:
        t.reason(rules=LOOP)
        t.add(parents("ca")[0])
        assert len(t.violations()) == 3
        raise RuntimeError
    assert store.violations() == [] and not store.program.constraints
    assert len(store) == 5
    assert store.add(parents("ca")[0]).inferred_added == 6


def test_diff__lists_rows_of_relations(store: Store) -> None:
    store.reason(
        rules=PREFIX + ":hop[?x, ?y, ?z] :- :parent[?x, ?y], :parent[?y, ?z] . "
        ":Far[?x] :- :hop[?x, ?y, ?z], NOT (:parent[?z, ?u], :parent[?u, ?v]) ."
    )
    hop = node("hop")
    with store.transaction() as t:
        before = set(t.tuples(hop))
        t.remove(quad("b parent c"))
        t.extend([quad("b parent d"), quad("d parent e")])
        diff, now = t.diff(), set(t.tuples(hop))
        assert {row[1:] for row in diff.rows_removed} == before - now != set()
        assert {row[1:] for row in diff.rows_added} == now - before != set()
        assert len(diff.rows_added) == len(now - before)
        assert {row[0] for row in diff.rows_added} == {hop}  # and no helper's
        assert f"rows of relations 2\n  + {hop}[{node('a')}, " in str(diff)
        t.rollback()


def test_diff__shows_what_is_stated_what_follows_and_new_violations(store: Store) -> None:
    store.reason(rules=LOOP)
    with store.transaction() as t:
        assert not t.diff() and str(t.diff()) == "nothing changed"
        t.remove(parents("ab")[0])
        t.add(parents("cb")[0])
        diff = t.diff()
        assert list(diff.added) == parents("cb") and list(diff.removed) == parents("ab")
        inferred = {quad("b ancestor b"), quad("c ancestor b"), quad("c ancestor c")}
        assert set(diff.inferred_added) == inferred and len(diff.inferred_added) == 3
        assert set(diff.inferred_removed) == {quad("a ancestor b"), quad("a ancestor c")}
        assert {one.values["x"] for one in diff.new_violations} == {node("b"), node("c")}
        text = str(diff)
        assert "no longer inferred 2" in text and "new violations 2" in text
        assert "+ <http://ex.org/c> <http://ex.org/parent> <http://ex.org/b> ." in text
    assert t.change.new_violations == 2


def test_diff__of_loads_and_after_clearing(store: Store) -> None:
    with store.transaction() as t:
        t.load(PREFIX + ":c :parent :d . :a :parent :b .", "ttl")
        assert list(t.diff().added) == parents("cd")
        assert len(t.diff().inferred_added) == 3
        t.clear()
        t.extend(parents("ab"))
        diff = t.diff()
        assert not len(diff.added) and list(diff.removed) == parents("bc")
        assert set(diff.inferred_removed) == {quad("b ancestor c"), quad("a ancestor c")}


def test_transaction__goes_on_after_an_inference_that_failed(store: Store) -> None:
    with store.transaction() as t:
        t.add(parents("cd")[0])
        with pytest.raises(BudgetError):
            t.reason(rules=ENDLESS, tuning={"max_facts": 30})
        assert len(t.program) == 2
        assert quad("a ancestor d") in t
    assert store.count("inferred") == 6
    assert store.reason(tuning={"max_facts": None}).rules == 2


# -- rules ----------------------------------------------------------------------------------------


def test_reason__is_idempotent_and_additive(store: Store) -> None:
    commit = store.commit
    again = store.reason(rules=ANCESTORS)
    assert (again.rules, again.rules_added, again.inferred_added) == (2, 0, 0)
    assert store.commit == commit
    renamed = store.reason(rules=ANCESTORS.replace("?x", "?who"))
    assert renamed.rules_added == 0
    more = store.reason(rules=PREFIX + ":Person[?x] :- :parent[?x, ?y] .")
    assert (more.rules, more.rules_added, more.inferred_added) == (3, 1, 2)
    assert store.reason().rules == 3


def test_reason__none_turns_inference_off(store: Store) -> None:
    store.add(quad("a ancestor c"))
    report = store.reason("none")
    assert (report.rules, report.inferred, report.inferred_removed) == (0, 0, 2)
    assert store.count() == store.count("explicit") == 3
    assert len(store.program) == 0
    assert store.add(parents("cd")[0]).inferred_added == 0
    assert store.reason(rules=ANCESTORS).inferred == 5


def test_reason__none_forgets_the_counters_of_stated_facts(store: Store) -> None:
    store.add(quad("a ancestor b"))
    store.reason("none")
    store.reason(rules=ANCESTORS)
    store.remove_all(parents("ab"))
    assert store.remove(quad("a ancestor b")).still_entailed == 0
    assert quad("a ancestor b") not in store


@pytest.mark.parametrize(
    ("regimes", "options", "says"),
    [
        (["nonne"], {}, "did you mean 'none'"),
        (["none"], {"rules": ANCESTORS}, "cannot be combined with rules"),
        ([], {"tuning": {"max_fact": 3}}, "did you mean 'max_facts'"),
        ([], {"tuning": {"strategy": "derd"}}, "did you mean 'dred'"),
        ([], {"tuning": {"max_facts": 0}}, "a number above 0"),
        ([], {"rules": 5}, "rules are a text"),
        ([], {"rules": "no-such-file.dlog"}, "does not exist"),
    ],
)
def test_reason__of_what_it_cannot_do_says_so_and_changes_nothing(
    store: Store, regimes: list[str], options: dict, says: str
) -> None:
    commit = store.commit
    with pytest.raises(UsageError, match=says):
        store.reason(*regimes, **options)
    assert store.commit == commit and len(store.program) == 2


def test_reason__of_wrong_rules_lists_all_problems(store: Store) -> None:
    wrong = PREFIX + ":a[?x] :- :b[?y] .\n:c[?x] :- nope:d[?x] .\n:p[?x, ?y :- :q[?x, ?y] ."
    with pytest.raises(ProgramError) as caught:
        store.reason(rules=wrong)
    assert [problem.line for problem in caught.value.problems] == [2, 3, 4]
    clash = PREFIX + ":new[?x, ?y, ?z] :- :ancestor[?x, ?y, ?z] ."
    with pytest.raises(ProgramError, match="has 3 columns here, but 2"):
        store.add_rules(clash)
    assert len(store.program) == 2


def test_reason__warns_in_its_report(store: Store) -> None:
    report = store.reason(rules=PREFIX + ":old[?x] :- :ancestors[?x, ?y] .")
    (warning,) = report.warnings
    assert "did you mean" in str(warning) and str(warning) in str(report)


def test_rules__know_the_prefixes_of_the_store_and_bring_their_own(store: Store) -> None:
    store.bind("ex", "http://ex.org/")
    store.add_rules("@prefix kin: <http://kin.org/> .\nkin:elder[?x] :- ex:parent[?x, ?y] .")
    assert store.prefixes["kin"] == "http://kin.org/"
    assert "kin:elder[?x] :- :parent[?x, ?y] ." in str(store.program)


def test_remove_rules__takes_what_followed_away(store: Store) -> None:
    report = store.remove_rules(ANCESTORS.splitlines()[0] + ANCESTORS.splitlines()[2])
    assert (report.rules, report.rules_removed, report.inferred_removed) == (1, 1, 1)
    assert quad("a ancestor c") not in store and quad("a ancestor b") in store
    nothing = store.remove_rules(PREFIX + ":x[?x] :- :y[?x] .")
    assert (nothing.rules, nothing.rules_removed) == (1, 0)
    (warning,) = nothing.warnings
    assert "input:2:1: warning: no such rule is in force: :x[?x] :- :y[?x]" in str(warning)
    many = store.remove_rules(PREFIX + "".join(f":x[?x] :- :y{i}[?x] ." for i in range(30)))
    assert len(many.warnings) == 11 and "20 more" in str(many.warnings[-1])
    assert store.remove_rules(store.program).inferred == 0


def test_reason__of_a_file_that_changed_takes_its_former_rules_out(
    store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "more.dlog"
    file.write_text(PREFIX + ":A[?x] :- :parent[?x, ?y] .\n:B[?x] :- :parent[?x, ?y] .")
    store.reason(rules=file)
    assert store.reason(rules=str(file)).rules_added == 0
    file.write_text(PREFIX + "# a comment\n:B[?u] :- :parent[?u, ?v] .\n:C[?x] :- :B[?x] .")
    report = store.reason(rules=file)
    assert (report.rules, report.rules_added, report.rules_removed) == (4, 1, 1)
    sources = [str(rule.source) for rule in store.program.rules if rule.source.file]
    assert sources == [f"{file}:3:1", f"{file}:4:1"]
    other = tmp_path / "other.dlog"
    other.write_text(PREFIX + ":D[?x] :- :B[?x] .")
    assert store.reason(rules=[other, ANCESTORS]).rules == 5


def test_program__survives_with_names_and_sources(tmp_path: Path) -> None:
    file = tmp_path / "rules.dlog"
    file.write_text(ANCESTORS + LOOP)
    with Store(tmp_path / "s") as store:
        store.extend(parents("ab"))
        store.reason(rules=file, tuning={"strategy": "dred", "max_seconds": 50, "modules": "off"})
        before = store.program
    with Store.read_only(tmp_path / "s") as store:
        assert store.program == before == read(file.read_text())
        assert [rule.name for rule in store.program.rules] == ["", "step"]
        assert str(store.program.rules[1].source) == f"{file}:3:1"
        assert str(store.program.constraints[0].source) == f"{file}:5:1"
        assert store.violations() == [] and store.snapshot().program == before
        with pytest.raises(ReadOnlyError):
            store.reason(rules=LOOP)
    with Store(tmp_path / "s") as store, store.transaction() as t:
        t.add(parents("ba")[0])
        assert t.report.strategy == "dred"
        assert {stratum.strategy for stratum in t.report.strata} == {"dred"}
        assert len(t.violations()) == 2


def test_program__that_no_text_can_say_is_refused(store: Store) -> None:
    x, y = Variable("x"), Variable("y")
    parent, odd = (read(PREFIX + f":{n}[:a, :b] .").rules[0].heads[0].p for n in ("parent", "odd"))
    body = (Aggregate((TripleAtom(x, parent, y),), (x,), ()),)
    rule = Rule((TripleAtom(x, odd, x),), body)
    try:
        store.reason(rules=Program([rule]))
    except TripleStoreError:
        assert len(store.program) == 2
    else:
        assert store.program == read(str(store.program))


def test_optimize__renumbers_ids_and_rules_go_on(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        store.extend(parents("xy"))
        store.reason(rules=ANCESTORS + PREFIX + ":never[?x, :seen] :- :ancestor[?x, :nobody] .")
        store.extend(parents("ab", "bc"))
        store.remove_all(parents("xy"))
        store.optimize()
        assert store.add(parents("cd")[0]).inferred_added == 3
        assert store.add(parents("de")[0]).inferred_added == 4
        change = store.extend([quad("e parent nobody")])
        assert change.inferred_added == 10
        assert Quad(node("a"), node("never"), node("seen")) in store


def test_compiled_rules__survive_transactions_that_fail() -> None:
    """Constants that only a rolled back transaction encoded must not be taken for known."""
    store = Store()
    store.extend(parents("ab"))
    store.reason(rules=ANCESTORS)
    for text in (":p[:one, ?y] :- :parent[?x, ?y] .", ":p[:two, ?y] :- :parent[?x, ?y] ."):
        with pytest.raises(RuntimeError), store.transaction() as t:
            t.add_rules(PREFIX + text)
            raise RuntimeError
    store.add(quad("other other other"))
    store.add_rules(PREFIX + ":p[:two, ?y] :- :parent[?x, ?y] .")
    assert set(store.quads_for_pattern(None, node("p"), None)) == {quad("two p b")}
    store.add_rules(PREFIX + ":flag[?x, :unused] :- :parent[?x, :special] .")
    store.optimize()  # drops constants of rules that are in no fact
    with pytest.raises(RuntimeError), store.transaction() as t:
        t.add(quad("new1 new2 new3"))
        assert len(t) == len(store) + 1
        raise RuntimeError
    for n in range(3):
        store.add(quad(f"more{n} other{n} some{n}"))
    store.add(quad("z parent special"))
    assert quad("z flag unused") in store


def test_readers__see_what_is_stated_with_what_follows(tmp_path: Path) -> None:
    """In other threads and stores: never a fact without its consequence, or the other way round."""
    rules = PREFIX + ":knows[?y, ?x] :- :knows[?x, ?y] ."
    with Store(tmp_path / "s", durability="flush") as store:
        store.reason(rules=rules)
        wrong, stop = [], threading.Event()

        def read() -> None:
            with Store.read_only(tmp_path / "s") as other:
                while not stop.is_set():
                    other.refresh()
                    wrong.extend(
                        reader.commit
                        for reader in (other, store.snapshot())
                        if reader.count("explicit") != reader.count("inferred")
                    )

        thread = threading.Thread(target=read)
        thread.start()
        for n in range(60):
            store.add(quad(f"a{n} knows b{n}"))
            if n % 3 == 2:
                store.remove_all([quad(f"a{n - 1} knows b{n - 1}"), quad(f"a{n} knows b{n}")])
        stop.set()
        thread.join()
        assert wrong == [] and store.count("inferred") == 20


def test_reader__goes_on_to_the_rules_of_later_commits(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store, Store.read_only(tmp_path / "s") as reader:
        store.extend(parents("ab"))
        store.reason(rules=ANCESTORS)
        reader.refresh()
        before = reader.snapshot()
        store.remove_rules(ANCESTORS)
        assert len(reader.program) == 2 and reader.refresh() and len(reader.program) == 0
        assert len(before.program) == 2 and before.count("inferred") == 1


# -- violations and relations ---------------------------------------------------------------------


def test_violations__come_and_go(store: Store) -> None:
    report = store.reason(rules=LOOP)
    assert (report.constraints, report.violations) == (1, 0)
    change = store.add(parents("cb")[0])
    assert change.new_violations == 2
    first, second = sorted(store.violations(), key=str)
    assert str(first) == "loop: an ancestor of himself: ?x = <http://ex.org/b>"
    assert second.values == {"x": node("c")}
    assert store.violations(limit=1) == store.violations()[:1]
    assert store.info().violations == 2
    again = store.reason(rules=PREFIX + ":Person[?x] :- :parent[?x, ?y] .")
    assert (again.violations, again.new_violations) == (2, 0)
    assert store.remove(parents("cb")[0]).new_violations == 0
    assert store.violations() == []


def test_violations__of_several_variables_and_of_none(store: Store) -> None:
    store.reason(
        rules=PREFIX
        + """constraint "one" :- :parent[?y, ?x], :parent[?x, ?z], FILTER(?y != ?z) .
        constraint "never" "nobody" :- :parent[:a, :b] .
        constraint "four" "m" :- :parent[?d, ?c], :parent[?b, ?a] ."""
    )
    by_id = {}
    for one in store.violations():
        by_id.setdefault(one.constraint, []).append(one.values)
    assert by_id["one"] == [{"x": node("b"), "y": node("a"), "z": node("c")}]
    assert by_id["never"] == [{}]
    assert {"a": node("c"), "b": node("b"), "c": node("b"), "d": node("a")} in by_id["four"]
    assert len(by_id["four"]) == 4


def test_violations__are_members_of_owl_nothing_too(store: Store) -> None:
    store.reason(rules=PREFIX + "owl:Nothing[?x] :- :ancestor[?x, ?x] .")
    assert store.violations() == []
    change = store.add(parents("ba")[0])
    assert change.new_violations == 2
    assert {str(one) for one in store.violations()} == {
        "owl:Nothing: ?x = <http://ex.org/a>",
        "owl:Nothing: ?x = <http://ex.org/b>",
    }
    with store.transaction() as t:
        t.load(PREFIX + "<http://ex.org/z> :parent <http://ex.org/z> .", "ttl")
        assert [one.values["x"] for one in t.diff().new_violations] == [node("z")]
    assert t.change.new_violations == 1


def test_helper_relations__never_show(store: Store) -> None:
    store.reason(
        rules=PREFIX
        + """:Leaf[?y] :- :parent[?x, ?y], NOT :parent[?y, ?z] .
        :Busy[?x] :- AGGREGATE(:parent[?x, ?y] ON ?x BIND count(?y) AS ?n), FILTER(?n > 1) .
        constraint "c" "m" :- :parent[?x, ?y] ."""
    )
    tables = store._view().tables
    hidden = [name for name, _ in tables.tuple_names()]
    assert len(hidden) == 3
    assert store.count() == len(list(store)) == 2 + 3 + 1
    for facts in ("all", "explicit", "inferred"):
        assert b"x-triplestore" not in store.dump(format="nq", facts=facts)
    info = store.info()
    assert (info.quads, info.relation_rows) == (6, 0)
    for name in hidden:
        assert list(store.tuples(store._view().dictionary.term(name))) == []
    assert store.add(parents("cd")[0]).inferred_added == 4  # Leaf[d], and three ancestors


def test_tuples__of_relations_of_three_columns_or_more(store: Store) -> None:
    report = store.reason(
        rules=PREFIX
        + """:line[:U1, :a, 3] . :line[:U1, :b, 4] .
        :via[?x, ?y, ?z] :- :parent[?x, ?y], :parent[?y, ?z] ."""
    )
    assert report.inferred_added == 3
    assert set(store.tuples(node("via"))) == {(node("a"), node("b"), node("c"))}
    rows = set(store.tuples(node("line"), 3, facts="inferred"))
    integer = NamedNode("http://www.w3.org/2001/XMLSchema#integer")
    assert (node("U1"), node("a"), Literal("3", datatype=integer)) in rows and len(rows) == 2
    assert list(store.tuples(node("line"), facts="explicit")) == []
    assert list(store.tuples(node("line"), 4)) == list(store.tuples(node("nope"))) == []
    change = store.add(parents("cd")[0])
    assert change.inferred_added == 3 + 1
    assert len(list(store.tuples(node("via")))) == 2
    assert store.info().relation_rows == 4
    assert store.count() == 3 + 6


def test_generalised_triples__hold_and_are_not_shown(store: Store) -> None:
    store.load(PREFIX + ':a :name "Ada" . :b :name :c .', "ttl")
    store.reason(rules=PREFIX + ":of[?y, ?x] :- :name[?x, ?y] . :Name[?x] :- :of[?x, ?y] .")
    shown = {quad("c of b"), Quad(node("c"), NamedNode(RDF_TYPE), node("Name"))}
    assert {q for q in store if q.predicate != node("parent")} >= shown
    assert len(store) == len(list(store)) == store.info().quads == 4 + 3 + 2
    assert sum(rows.size for rows in store.rows_for_pattern()) == 9
    assert len(store.dump(format="nq", facts="all").splitlines()) == 9
    assert store.info().hidden == 2
    ids = store.lookup_ids([node("a"), node("b")])
    _, subjects = store.subjects_of(ids, node("of"))
    assert store.terms(subjects) == [node("c")]
    with store.transaction() as t:
        t.remove(Quad(node("a"), node("name"), Literal("Ada")))
        assert len(t.diff().inferred_removed) == 0
    assert store.info().hidden == 0 and len(store) == len(list(store)) == 8


RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
