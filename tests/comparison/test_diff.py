"""Comparisons of files, revisions and stores: the same answers, whichever way they are found."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest
from comparison.repository import HEAD, NEW, OLD, git, make_repository, write
from consequences.random_changes import random_triple

from triplestore import Store
from triplestore.comparison import Found, diff
from triplestore.comparison.reports import STYLES
from triplestore.errors import BudgetError, MissingError, ParseError, TimeLimitError, UsageError
from triplestore.terms.vocabulary import RDFS


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("git") / "work")


def counted(found: Found) -> dict[str, int]:
    return {name: count for name, count in found.metrics.items() if count}


def told(found: Found) -> list[tuple[int, int, str, str]]:
    return [(c.added, c.new_violations, c.cause.place, c.cause.text) for c in found.consequences]


# -- sides ----------------------------------------------------------------------------------------


def test_diff__of_revisions_blames_lines(repository: Path, tmp_path: Path) -> None:
    found = diff("main..topic", reason="owl-rl", folder=repository, cache=tmp_path)
    assert told(found) == [
        (4, 0, "onto.ttl:7", ":Animal rdfs:subClassOf :Being"),
        (1, 1, "onto.ttl:9", ":likes rdfs:domain :Fan"),
    ]
    (violation,) = found.violations
    assert [cause.line for cause in violation.causes] == [9, 8] or {
        cause.line for cause in violation.causes
    } == {8, 9}
    assert git(repository, "status", "--porcelain") == ""
    assert git(repository, "branch", "--show-current") == "main"


@pytest.mark.parametrize("range_", ["main...topic", "main..topic"])
def test_diff__of_ranges(repository: Path, range_: str) -> None:
    assert diff(range_, reason="rdfs", folder=repository, only=["onto.ttl"]).metrics["added"] == 3


def test_diff__is_the_same_for_folders_stores_and_revisions(
    repository: Path, tmp_path: Path
) -> None:
    old, new = write(tmp_path / "old", OLD), write(tmp_path / "new", NEW)
    stores = []
    for folder in (old, new):
        store = Store(tmp_path / f"{folder.name}.db")
        store.load(path=folder)
        store.reason("owl-rl")
        store.close()
        stores.append(tmp_path / f"{folder.name}.db")
    of_files = diff(old, new, reason="owl-rl")
    of_git = diff("main", "topic", reason="owl-rl", folder=repository)
    of_stores = diff(*stores)
    mixed = diff(old, stores[1], reason="owl-rl")
    assert counted(of_files) == counted(of_git) == counted(of_stores) == counted(mixed)
    assert [one[:2] for one in told(of_files)] == [one[:2] for one in told(of_stores)]
    assert [one.cause.file for one in of_stores.consequences] == [None, None]


def test_diff__of_snapshots_needs_no_transaction() -> None:
    store = Store()
    store.load(OLD["onto.ttl"], "ttl")
    store.reason("owl-rl")
    before = store.snapshot()
    store.load(HEAD + ":tom a :Cat .", "ttl")
    assert counted(diff(before, store)) == {"added": 1, "inferred": 2, "types": 1}
    assert counted(diff(store, before)) == {"removed": 1, "inferred-removed": 2, "types-removed": 1}
    assert counted(diff(before, Store(), reason="owl-rl"))["removed"] == 6


def test_diff__of_single_files(tmp_path: Path) -> None:
    write(tmp_path, {"a.ttl": OLD["onto.ttl"], "b.ttl": NEW["onto.ttl"]})
    found = diff(tmp_path / "a.ttl", tmp_path / "b.ttl", reason="rdfs")
    assert {one.cause.place for one in found.consequences} == {"b.ttl:7", "b.ttl:8", "b.ttl:9"}


def test_diff__changes_no_store(tmp_path: Path) -> None:
    store = Store()
    store.load(OLD["onto.ttl"], "ttl")
    store.reason("owl-rl")
    commit, digest = store.commit, store.digest()
    diff(store, write(tmp_path / "new", NEW))
    assert (store.commit, store.digest()) == (commit, digest)


def test_diff__of_rules_that_changed(tmp_path: Path) -> None:
    rules = OLD["rules.dlog"] + ":fan[?x, ?y] :- :friend[?x, ?y] .\n"
    old = write(tmp_path / "old", OLD)
    new = write(tmp_path / "new", {**OLD, "rules.dlog": rules})
    found = diff(old, new, rules="rules.dlog")
    assert counted(found) == {"inferred": 1}
    assert told(found) == [(1, 0, "rules.dlog:3", ":fan[?x, ?y] :- :friend[?x, ?y] .")]
    back = diff(new, old, rules="rules.dlog")
    assert [(c.removed, c.cause.came) for c in back.consequences] == [(1, False)]


def test_diff__keeps_what_another_file_asserts(tmp_path: Path) -> None:
    twice = {**OLD, "copy.nt": OLD["data/people.nt"]}
    old = write(tmp_path / "old", twice)
    new = write(tmp_path / "new", {**OLD, "data/people.nt": ""})
    (new / "copy.nt").write_text(OLD["data/people.nt"])
    assert not diff(old, new, reason="owl-rl")


def test_diff__refuses_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="nothing"):
        diff(tmp_path / "nothing", tmp_path)
    with pytest.raises(UsageError, match="one side is missing"):
        diff(tmp_path)
    with pytest.raises(UsageError, match="git"):
        diff("main..nowhere", folder=tmp_path)
    with pytest.raises(MissingError, match="rules"):
        diff(tmp_path, tmp_path, rules="none.dlog")


def test_diff__names_the_file_of_a_mistake(tmp_path: Path) -> None:
    old = write(tmp_path / "old", OLD)
    new = write(tmp_path / "new", {**OLD, "data/people.nt": "<http://e/a> nonsense .\n"})
    with pytest.raises(ParseError) as caught:
        diff(old, new, cache=tmp_path / "cache")
    assert caught.value.filename == "data/people.nt"
    assert not diff(old, old, cache=tmp_path / "cache")


# -- blank nodes ----------------------------------------------------------------------------------


def test_diff__renames_blank_nodes(tmp_path: Path) -> None:
    restriction = ":Cat owl:equivalentClass [ owl:hasValue :meow ; owl:onProperty :says ] .\n"
    text = f"{HEAD}{restriction}".replace("[ owl:hasValue", "[ a owl:Restriction ; owl:hasValue")
    text += ":Cat rdfs:subClassOf :Animal .\n:likes rdfs:domain :Person .\n"
    old, new = write(tmp_path / "old", OLD), write(tmp_path / "new", {**OLD, "onto.ttl": text})
    assert not diff(old, new, reason="owl-rl")


# -- the cache ------------------------------------------------------------------------------------


def entries(cache: Path) -> list[str]:
    return sorted(one.name for folder in cache.iterdir() for one in folder.iterdir())


def test_cache__is_used_again_and_moves_along(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    first = diff("main..topic", reason="owl-rl", folder=repository, cache=cache)
    assert len(entries(cache)) == 1
    again = diff("main..topic", reason="owl-rl", folder=repository, cache=cache, advance=True)
    assert counted(first) == counted(again) == counted(again)
    assert len(entries(cache)) == 2
    back = diff("topic..main", reason="owl-rl", folder=repository, cache=cache)
    assert back.metrics["inferred-removed"] == first.metrics["inferred"]
    moved = shutil.move(cache, tmp_path / "restored")
    told_again = diff("main..topic", reason="owl-rl", folder=repository, cache=moved)
    assert told(told_again) == told(first)


def test_cache__ignores_what_was_not_finished(repository: Path, tmp_path: Path) -> None:
    expected = told(diff("main..topic", reason="owl-rl", folder=repository, cache=tmp_path))
    (entry,) = next(tmp_path.iterdir()).iterdir()
    (entry / "files.json").unlink()
    found = diff("main..topic", reason="owl-rl", folder=repository, cache=tmp_path)
    assert told(found) == expected


def test_cache__random_histories_agree_with_closing_anew(tmp_path: Path) -> None:
    for seed in range(4):
        chance = random.Random(seed)
        files = {f"f{i}.nt": [random_triple(chance, True) for _ in range(5)] for i in range(4)}
        cache = tmp_path / f"cache{seed}"
        folder = tmp_path / f"s{seed}"
        before: dict[str, str] | None = None
        for step in range(4):
            for name in files:
                if chance.random() < 0.5:
                    chance.shuffle(files[name])
                    files[name] = [*files[name][1:], random_triple(chance, True)]
            texts = {n: "".join(f"{t} .\n" for t in triples) for n, triples in files.items()}
            new = write_all(folder / f"{step}", texts)
            if before is not None:
                old = folder / f"{step - 1}"
                found = diff(old, new, reason="owl-rl", cache=cache, advance=step == 2)
                (was, had), (now, has) = closed(old), closed(new)
                assert found.metrics["inferred"] == len(now - was - had), (seed, step)
                assert found.metrics["inferred-removed"] == len(was - now - has), (seed, step)
                assert (found.unexplained, found.inexact) == (0, 0)
            before = texts


def write_all(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def closed(folder: Path) -> tuple[set[str], set[str]]:
    """The inferred facts, and the asserted ones."""
    store = Store()
    store.load(path=folder)
    store.reason("owl-rl")
    inferred, asserted = (
        {str(quad) for quad in store.quads_for_pattern(None, None, None, facts=facts)}
        for facts in ("inferred", "explicit")
    )
    return inferred, asserted


# -- budgets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", ["0.01s", "0.4s", "10kB"])
def test_diff__keeps_to_its_budget(tmp_path: Path, budget: str) -> None:
    # Inference takes some milliseconds, and what follows from it some seconds.
    chain = "".join(f"<http://e/{i}> <http://e/p> <http://e/{i + 1}> .\n" for i in range(3000))
    axiom = "<http://e/p> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> "
    axiom += "<http://www.w3.org/2002/07/owl#TransitiveProperty> .\n"
    old = write_all(tmp_path / "old", {"a.nt": chain})
    new = write_all(tmp_path / "new", {"a.nt": chain + axiom})
    with pytest.raises((TimeLimitError, BudgetError)):
        diff(old, new, reason="owl-rl", budget=budget)


@pytest.mark.parametrize("budget", ["much", "3", "2GB,3GB", "1 week"])
def test_diff__refuses_a_budget_that_it_does_not_understand(budget: str) -> None:
    with pytest.raises(UsageError, match="budget"):
        diff(Store(), Store(), budget=budget)


# -- reports --------------------------------------------------------------------------------------


def test_reports__escape_what_comes_from_data(tmp_path: Path) -> None:
    evil = '<http://e/a> <http://e/p> "</details><script>alert(1)</script>`x`" .\n'
    old = write_all(tmp_path / "old", {"a.nt": ""})
    new = write_all(tmp_path / "new", {"a.nt": evil})
    found = diff(old, new, rules=())
    for style in STYLES:
        assert found.report(style)
    assert "<script>" not in found.report("html")


def test_markdown__is_short_enough_and_closes_what_it_opens(tmp_path: Path) -> None:
    lines = [
        f"<http://e/{'x' * 90}{i}> <http://e/p{i}> <http://e/{'y' * 90}{i}> .\n" for i in range(300)
    ]
    axioms = [f"<http://e/p{i}> <{RDFS}domain> <http://e/{'C' * 200}{i}> .\n" for i in range(300)]
    old = write_all(tmp_path / "old", {"a.nt": "".join(axioms)})
    new = write_all(tmp_path / "new", {"a.nt": "".join(axioms + lines)})
    text = diff(old, new, reason="rdfs").report("markdown")
    assert len(text) < 60_000
    assert text.count("<details>") == text.count("</details>")
    assert text.count("```") % 2 == 0


def test_sarif__has_lines(repository: Path) -> None:
    found = diff("main..topic", reason="owl-rl", folder=repository)
    (run,) = json.loads(found.report("sarif"))["runs"]
    first = run["results"][0]
    assert first["ruleId"] == "new-violation"
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "onto.ttl"
    assert place["region"]["startLine"] in (8, 9)


def test_json__can_list_everything(repository: Path) -> None:
    found = diff("main..topic", reason="owl-rl", folder=repository, everything=True)
    data = json.loads(found.report("json"))
    assert len(data["everything"]) == data["metrics"]["inferred"] + data["metrics"]["violations"]
    assert all(one["causes"] for one in data["everything"])


def test_report__names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="markdown"):
        diff(Store(), Store()).report("pdf")


def test_diff__reports_results_of_shapes() -> None:
    store = Store()
    before = store.snapshot()
    store.load(HEAD + ":a :p :b .", "ttl")
    found = diff(before, store, shapes=lambda view: [f"rows: {view.tables.total()}"])
    assert found.metrics["shapes"] == found.metrics["resolved-shapes"] == 1


def test_diff__of_named_graphs_in_scope(tmp_path: Path) -> None:
    graphs = (
        HEAD + ":Cat rdfs:subClassOf :Animal .\n:g { :a a :Cat }\n:h { :a a :Cat . :b a :Cat }\n"
    )
    changed = graphs.replace(":b a :Cat", ":c a :Cat").replace(":g { :a a :Cat }", "")
    old = write_all(tmp_path / "old", {"a.trig": graphs})
    new = write_all(tmp_path / "new", {"a.trig": changed})
    assert counted(diff(old, new, reason="rdfs")) == {"added": 1, "removed": 2}
    found = diff(old, new, reason="rdfs", scope="union")
    texts = {(one.cause.came, one.cause.text, one.added, one.removed) for one in found.consequences}
    assert texts == {(True, ":c a :Cat", 1, 0), (False, ":b a :Cat", 0, 1)}
    assert {one.cause.line for one in found.consequences} == {6}
    assert found.inexact == 0


def test_diff__blames_no_inner_rows_for_literals(tmp_path: Path) -> None:
    number = "<http://www.w3.org/2001/XMLSchema#integer>"
    old = write_all(tmp_path / "old", {"a.nt": ""})
    new = write_all(tmp_path / "new", {"a.nt": f'<http://e/a> <http://e/p> "x"^^{number} .\n'})
    (violation,) = diff(old, new, reason="owl-rl").violations
    assert [cause.place for cause in violation.causes] == ["a.nt:1"]
