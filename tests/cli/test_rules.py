"""The commands about rules: `reason`, `rules`, `check`."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.interrupting import STOPPED

from tests.cli.cli_helpers import run
from triplestore import Store
from triplestore.terms.vocabulary import XSD

FAMILY = """@prefix : <http://ex.org/> .
:ada :parent :bob . :bob :parent :cy . :cy a :Person .
"""
RULES = """@prefix : <http://ex.org/> .
:ancestor[?x, ?y] :- :parent[?x, ?y] .
:ancestor[?x, ?z] :- :ancestor[?x, ?y], :parent[?y, ?z] .
constraint "loop" "an ancestor of himself" :- :ancestor[?x, ?x] .
"""
COUSINS = "@prefix : <http://ex.org/> .\n:Person[?x] :- :parent[?x, ?y] .\n"
ENDLESS = """@prefix : <http://ex.org/> .
:number[:zero, 0] .
:number[:zero, ?m] :- :number[:zero, ?n], BIND(?n + 1 AS ?m) .
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("family.ttl").write_text(FAMILY)
    Path("rules.dlog").write_text(RULES)
    Path("more.dlog").write_text(COUSINS)
    Path("endless.dlog").write_text(ENDLESS)
    assert run("load", "-l", "s", "-f", "family.ttl", "--quiet").exit_code == 0
    return tmp_path


def counts() -> tuple[int, int]:
    with Store.read_only("s") as store:
        return store.count("explicit"), store.count("inferred")


def test_reason__takes_regimes_as_arguments(folder: Path) -> None:
    result = run("reason", "-l", "s", "rdfs", "--regime", "skos")
    assert result.exit_code == 0
    assert re.search(r"regimes +rdfs, skos", result.stderr)


def test_reason__without_a_store_says_how_to_name_it() -> None:
    result = run("reason", "owl-rl")
    assert result.exit_code == 2
    assert "which store? Name its directory: triplestore reason -l my.db" in result.stderr


def test_reason__applies_rules_and_keeps_them(folder: Path) -> None:
    result = run("reason", "-l", "s", "--rules", "rules.dlog")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "3 explicit, 3 inferred (3 new, 0 gone)" in result.stderr
    assert counts() == (3, 3)
    more = "@prefix : <http://ex.org/> . :cy :parent :dora ."
    loaded = run("load", "-l", "s", "--format", "ttl", stdin=more)
    assert "added 1, inferred added 3" in loaded.stderr
    again = run("reason", "-l", "s", "--rules", "rules.dlog")
    assert again.exit_code == 0
    assert "(0 new, 0 gone)" in again.stderr
    with Store.read_only("s") as store:
        assert store.commit == 3


def test_reason__of_several_files_and_standard_input(folder: Path) -> None:
    result = run(
        "reason", "-l", "s", "--rules", "rules.dlog", "--rules", "-", "--quiet", stdin=COUSINS
    )
    assert result.exit_code == 0
    assert result.output == ""
    assert counts() == (3, 5)


def test_reason__dry_run_says_what_would_be_and_changes_nothing(folder: Path) -> None:
    result = run("reason", "-l", "s", "--rules", "rules.dlog", "--dry-run")
    assert result.exit_code == 0
    assert "3 inferred (3 new" in result.stderr
    assert "dry run" in result.stderr
    assert counts() == (3, 0)
    with Store.read_only("s") as store:
        assert len(store.program) == 0 and store.commit == 1


def test_reason__as_json(folder: Path) -> None:
    result = run("reason", "-l", "s", "--rules", "rules.dlog", "--format", "json", "--quiet")
    report = json.loads(result.stdout)
    assert (report["rules"], report["constraints"], report["inferred_added"]) == (2, 1, 3)
    assert report["strata"][0]["added"] > 0


def test_reason__off_and_regimes_that_are_not_there(folder: Path) -> None:
    run("reason", "-l", "s", "--rules", "rules.dlog", "--quiet")
    refused = run("reason", "-l", "s", "--regime", "owl-lr")
    assert refused.exit_code == 1
    assert "did you mean 'owl-rl'" in refused.stderr
    assert counts() == (3, 3)
    assert run("reason", "-l", "s", "--regime", "none").exit_code == 0
    assert counts() == (3, 0)


def test_reason__scope_is_a_word_or_graphs(folder: Path) -> None:
    Path("graphs.trig").write_text("@prefix : <http://ex.org/> . :g { :cy :parent :dora }")
    run("load", "-l", "s", "-f", "graphs.trig", "--quiet")
    ours = ("reason", "-l", "s", "--rules", "rules.dlog", "--scope")
    assert "scope           union" in run(*ours, "union").stderr
    assert counts() == (4, 7)
    assert run(*ours, "default", "--quiet").exit_code == 0
    assert counts() == (4, 3)
    assert run(*ours, "http://ex.org/g", "--scope", "http://ex.org/h").exit_code == 0
    assert counts() == (4, 7)
    refused = run(*ours, "g")
    assert refused.exit_code == 1
    assert "one graph is a list of one" in refused.stderr


BEYOND = """@prefix : <http://ex.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Person rdfs:subClassOf [ owl:onProperty :parent ; owl:someValuesFrom :Person ] , :Mortal .
"""


def test_reason__program_below_or_above_an_ontology(folder: Path) -> None:
    Path("beyond.ttl").write_text(BEYOND)
    ours = ("reason", "-l", "s", "--ontology", "beyond.ttl", "--program")
    lower = run(*ours, "lower", "--dry-run")
    assert lower.exit_code == 0
    made = 'rule "cax-sco" <http://ex.org/Mortal>[?x] :- <http://ex.org/Person>[?x] .\n'
    assert lower.stdout == made
    assert "left out: SubClassOf" in lower.stderr
    upper = run(*ours, "upper", "--dry-run")
    assert "U some" in upper.stdout and "replaced by something stronger: SubClassOf" in upper.stderr
    assert counts() == (3, 0)
    Path("upper.dlog").write_text(upper.stdout)
    assert run("check", "--rules", "upper.dlog").exit_code == 0
    assert run(*ours, "upper", "--quiet").exit_code == 0
    assert counts() == (3, 5)
    refused = run(*ours, "lower", "--regime", "rdfs")
    assert "not both" in refused.stderr


def test_check_and_dry_run__list_axioms_without_rules_one_by_one(folder: Path) -> None:
    Path("beyond.ttl").write_text(BEYOND)
    line = "left out: SubClassOf(<http://ex.org/Person> SomeValuesFrom(<http://ex.org/parent>"
    assert line in run("check", "--ontology", "beyond.ttl").stdout
    dry = run("reason", "-l", "s", "--regime", "owl-rl", "--ontology", "beyond.ttl", "--dry-run")
    assert line in dry.stderr and "OWL 2 RL has no someValuesFrom on the right" in dry.stderr
    assert counts() == (3, 0)


def test_reason__says_how_many_axioms_are_left_out_and_lists_them_if_asked(folder: Path) -> None:
    Path("beyond.ttl").write_text(BEYOND)
    ours = ("reason", "-l", "s", "--regime", "OWL-RL", "--ontology", "beyond.ttl")
    counted = run(*ours).stderr
    assert "left out: 1 axiom has no rule; --verbose lists each" in counted
    assert "left out: SubClassOf" not in counted and " 1 times" not in counted
    listed = run(*ours, "--verbose").stderr
    assert "left out: SubClassOf(<http://ex.org/Person> SomeValuesFrom(" in listed
    assert "--verbose lists" not in listed


BROKEN = (
    BEYOND
    + """<http://ex.org/o> a owl:Ontology ; owl:imports <http://ex.org/other> .
:a :parent :a . """
)
OTHER = """@prefix : <http://ex.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:other a owl:Ontology . :parent a owl:IrreflexiveProperty . """


def test_check__lists_the_violations_of_an_ontology_and_fails(folder: Path) -> None:
    Path("broken.ttl").write_text(BROKEN)
    result = run("check", "--ontology", "broken.ttl")
    assert result.exit_code == 0 and "no violations" in result.stderr
    assert "http://ex.org/other: no file or catalogue given has it" in result.stdout
    Path("other.ttl").write_text(OTHER)
    ours = ("check", "--ontology", "broken.ttl", "--imports", "other.ttl")
    result = run(*ours)
    assert result.exit_code == 1 and "1 violation" in result.stderr
    assert "prp-irp: <http://ex.org/parent> is irreflexive: ?x = <http://ex.org/a>" in result.stdout
    result = run(*ours, "--format", "json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)["inconsistencies"]
    assert found["counts"] == {"prp-irp": 1} and len(found["violations"]) == 1
    assert run(*ours, "--fail-on", "none").exit_code == 0
    assert run(*ours, "--fail-on", "prp-asyp").exit_code == 0
    both = run(*ours, "--rules", "rules.dlog")
    assert both.exit_code == 1 and "OK" in both.stderr


def test_load__says_which_imports_are_missing(folder: Path) -> None:
    Path("broken.ttl").write_text(BROKEN)
    Path("other.ttl").write_text(OTHER)
    result = run("load", "-l", "s", "-f", "broken.ttl")
    assert "imported by the data, but not in the store: http://ex.org/other\n" in result.stderr
    assert "not in the store" not in run("load", "-l", "s", "-f", "other.ttl").stderr


def test_reason__of_wrong_rules_lists_every_problem_and_changes_nothing(folder: Path) -> None:
    Path("wrong.dlog").write_text(":a[?x] :- .\nx:b[?z] :- rdf:b[?y] .\n")
    result = run("reason", "-l", "s", "--rules", "wrong.dlog")
    assert result.exit_code == 1
    assert "wrong.dlog:2:1: error: unknown prefix 'x:'" in result.stderr
    assert "wrong.dlog:2:5: error: ?z in the head is not bound" in result.stderr
    assert "Traceback" not in result.stderr
    assert counts() == (3, 0)


@pytest.mark.parametrize(
    ("file", "message"),
    [("none.dlog", "cannot read none.dlog: No such file or directory"),
     (".", "cannot read .: Is a directory")],
)  # fmt: skip
def test_reason__with_rules_that_cannot_be_read(folder: Path, file: str, message: str) -> None:
    result = run("reason", "-l", "s", "--rules", file)
    assert result.exit_code == 1 and result.stderr == f"triplestore: {message}\n"
    assert counts() == (3, 0)


def test_reason__beyond_its_budget_leaves_the_last_commit(folder: Path) -> None:
    options = ["--rules", "endless.dlog", "--max-facts", "50", "--quiet"]
    result = run("reason", "-l", "s", *options)
    assert result.exit_code == 1
    assert "more than 50 facts" in result.stderr
    assert counts() == (3, 0)


def test_reason__tuning_is_kept(folder: Path) -> None:
    assert run("reason", "-l", "s", "--strategy", "dred", "--max-facts", "9").exit_code == 0
    result = run("reason", "-l", "s", "--rules", "endless.dlog", "--quiet")
    assert "more than 9 facts" in result.stderr
    unknown = run("reason", "-l", "s", "--strategy", "derd")
    assert unknown.exit_code == 1
    assert "did you mean 'dred'" in unknown.stderr


def test_rules__prints_what_reason_reads_back(folder: Path) -> None:
    run("reason", "-l", "s", "--rules", "rules.dlog", "--quiet")
    result = run("rules", "-l", "s")
    assert result.exit_code == 0
    assert result.stdout == RULES.replace("> .\n:a", "> .\n\n:a")
    again = run("reason", "-l", "s", "--rules", "-", stdin=result.stdout)
    assert "(0 new, 0 gone)" in again.stderr


def test_rules__sections(folder: Path) -> None:
    run("reason", "-l", "s", "--rules", "rules.dlog", "--quiet")
    with Store("s") as store:
        store.optimize()  # some constants of rules are in no fact
    strata = run("rules", "-l", "s", "--strata").stdout
    assert "stratum 1: 2 rules, 1 recursive" in strata
    assert "* :ancestor[?x, ?z] :- :ancestor[?x, ?y], :parent[?y, ?z] ." in strata
    both = run("rules", "-l", "s", "--families", "--plans").stdout
    assert "one recursive rule of stratum 1" in both
    assert "from :parent[?y, ?z]: :ancestor[?x, ?y]" in both


def test_rules__added_and_removed(folder: Path) -> None:
    run("rules", "-l", "s", "--add", "rules.dlog", "--quiet")
    assert counts() == (3, 3)
    result = run("rules", "-l", "s", "--add", "more.dlog", "--remove", "rules.dlog")
    assert result.exit_code == 0
    assert "3 explicit, 2 inferred" in result.stderr
    assert run("rules", "-l", "s").stdout.count(":-") == 1


def test_rules__of_a_store_without_rules(folder: Path) -> None:
    result = run("rules", "-l", "s")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert run("rules", "-l", "s", "--strata").stdout == "there are no rules\n"


def test_check__lists_all_problems_of_files(folder: Path) -> None:
    assert run("check", "--rules", "rules.dlog").exit_code == 0
    Path("wrong.dlog").write_text("x:a[?x] :- rdf:b[?x] .\nrdf:c[?z] :- rdf:b[?y] .\n")
    result = run("check", "--rules", "wrong.dlog")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0].startswith("wrong.dlog:1:1: error: unknown prefix 'x:'")
    assert lines[1].startswith("wrong.dlog:2:7: error: ?z in the head is not bound")
    warned = run("check", "--rules", "endless.dlog")
    assert warned.exit_code == 0
    assert "warning" in warned.stdout
    assert run("check").exit_code == 2


def test_check__with_the_prefixes_and_names_of_a_store(folder: Path) -> None:
    Path("typo.dlog").write_text(":old[?x] :- :paren[?x, ?y] .\n")
    assert run("check", "--rules", "typo.dlog").exit_code == 1
    result = run("check", "--rules", "typo.dlog", "-l", "s")
    assert result.exit_code == 0
    assert "did you mean :parent?" in result.stdout or "did you mean" in result.stdout


def test_check__lists_the_violations_of_a_store(folder: Path) -> None:
    run("reason", "-l", "s", "--rules", "rules.dlog", "--quiet")
    assert run("check", "-l", "s").exit_code == 0
    loop = "@prefix : <http://ex.org/> . :bob :parent :ada ."
    loaded = run("load", "-l", "s", "--format", "ttl", stdin=loop)
    assert "new violations 2" in loaded.stderr
    result = run("check", "-l", "s")
    assert result.exit_code == 1
    assert "loop: an ancestor of himself: ?x = <http://ex.org/ada>" in result.stdout
    assert "2 violations" in result.stderr


def test_dump_and_info__know_what_is_inferred(folder: Path) -> None:
    run("reason", "-l", "s", "--rules", "rules.dlog", "--quiet")
    inferred = run("dump", "-l", "s", "--format", "nt", "--facts", "inferred").stdout
    assert inferred.count("/ancestor>") == inferred.count("\n") == 3
    assert run("dump", "-l", "s", "--format", "nt").stdout.count("\n") == 3
    info = run("info", "-l", "s").stdout
    assert "6 (3 explicit, 3 inferred)" in info
    assert "2 and 1 constraint\n" in info
    assert json.loads(run("info", "-l", "s", "--format", "json").stdout)["rules"] == 2


def test_dump__of_a_relation_of_rules_has_its_rows(folder: Path) -> None:
    rules = "@prefix : <http://ex.org/> . :pair[?x, ?y, ?n] :- :parent[?x, ?y], BIND(1 AS ?n) ."
    result = run("reason", "-l", "s", "--rules", "-", stdin=rules)
    assert "0 inferred, 2 in relations of rules (2 new, 0 gone)" in result.stderr
    lines = run("dump", "-l", "s", "--relation", ":pair").stdout.splitlines()
    assert len(lines) == 2 and lines[0].split("\t")[2] == f'"1"^^<{XSD}integer>'
    assert run("dump", "-l", "s", "--relation", "<http://ex.org/pair>").stdout.splitlines() == lines
    nothing = run("dump", "-l", "s", "--relation", ":pear")
    assert (nothing.stdout, "no rows" in nothing.stderr) == ("", True)
    assert "unknown prefix" in run("dump", "-l", "s", "--relation", "exx:pear").stderr
    assert run("dump", "-l", "s", "--relation", ":pair", "--format", "nt").exit_code == 2


def test_check__says_each_wrong_function_once(folder: Path) -> None:
    wrong = "@prefix : <http://e/> . :A[?x] :- :p[?x, ?y], BIND(STRLENN(?y) AS ?n), FILTER(STR()) ."
    lines = run("check", "--rules", "-", stdin=wrong).stdout.splitlines()
    assert [line.split(": ")[0] for line in lines] == ["input:1:52", "input:1:79"]
    assert "did you mean STRLEN?" in lines[0] and "STR takes 1 argument" in lines[1]


@pytest.mark.parametrize(
    "arguments", [("reason",), ("rules",), ("rules", "--add", "rules.dlog"), ("check",)], ids=str
)
def test_verbs__never_make_a_store_from_a_mistyped_path(
    arguments: tuple[str, ...], folder: Path
) -> None:
    before = sorted(folder.iterdir())
    result = run(*arguments, "-l", "no-such.db")
    assert result.exit_code == 1
    assert "no-such.db" in result.stderr and "Traceback" not in result.stderr
    assert sorted(folder.iterdir()) == before


def test_interrupt__stops_reasoning_cleanly(folder: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "triplestore.cli", "reason", "-l", "s", "--rules", "endless.dlog"],
        stderr=subprocess.PIPE,
    )
    time.sleep(2.0)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode in STOPPED, errors
    assert b"Traceback" not in errors
    assert counts() == (3, 0)
    with Store("s") as store:
        assert store.verify() == []
        assert store.program == store.program - store.program
