"""The commands about SPARQL: `query`, `update`."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pyoxigraph as ox
import pytest
from support.interrupting import STOPPED

from tests.cli.cli_helpers import run
from triplestore import Store

DATA = """@prefix : <http://ex.org/> .
:ada :sees :bob ; :name "Ada"@en . :bob :sees :cy .
:g { :cy :sees :dora }
"""
RULES = "@prefix : <http://ex.org/> .\n:seen[?y, ?x] :- :sees[?x, ?y] .\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with Store("s") as store:
        store.load(DATA, "trig")
        store.reason(rules=RULES)
    return tmp_path


def test_query__prints_a_table_for_people(folder: Path) -> None:
    result = run("query", "-l", "s", "-q", "SELECT ?x ?n { ?x :name ?n }")
    assert result.exit_code == 0
    assert result.stdout == '?x    ?n\n----  --------\n:ada  "Ada"@en\n'
    assert result.stderr == "1 row\n"


def test_query__says_what_is_probably_wrong_where_nothing_is_found(folder: Path) -> None:
    result = run("query", "-l", "s", "-q", "SELECT ?x { ?x :seees ?n }")
    assert result.exit_code == 0 and result.stdout == "?x\n--\n"
    hint = "hint: no triple has the property :seees; did you mean :sees?"
    assert result.stderr == f"no rows\n{hint}\n"
    other = run("query", "-l", "s", "-q", "DESCRIBE :nobody")
    assert other.stderr == "no triples\n"
    assert run("query", "-l", "s", "-q", "ASK { :ada :sees :bob }").stderr == ""
    quiet = run("query", "-l", "s", "-q", "SELECT ?x { ?x :seees ?n }", "--results-format", "csv")
    assert quiet.stderr == ""


def test_query__takes_argument_option_file_or_standard_input(folder: Path) -> None:
    Path("q.rq").write_text("ASK { :ada :sees :bob }")
    assert run("query", "-l", "s", "ASK { :ada :sees :bob }").stdout == "true\n"
    assert run("query", "-l", "s", "-q", "ASK { :bob :sees :ada }").stdout == "false\n"
    assert run("query", "-l", "s", "--query-file", "q.rq").stdout == "true\n"
    assert run("query", "-l", "s", stdin="ASK { :bob :sees :ada }").stdout == "false\n"
    for twice in (["-q", "ASK {}", "--query-file", "q.rq"], ["ASK {}", "-q", "ASK {}"]):
        refused = run("query", "-l", "s", *twice)
        assert refused.exit_code == 2
        assert "only one of them" in refused.stderr
    assert run("query", "-l", "s", "--query-file", "none.rq").exit_code == 1


@pytest.mark.parametrize("name", ["json", "xml", "tsv", "application/sparql-results+json"])
def test_query__writes_solutions_in_every_format(folder: Path, name: str) -> None:
    text = "SELECT ?x ?n { ?x :sees ?y OPTIONAL { ?x :name ?n } } ORDER BY ?x"
    result = run("query", "-l", "s", "-q", text, "--results-format", name)
    assert result.exit_code == 0
    form = ox.QueryResultsFormat.from_extension(name) or ox.QueryResultsFormat.JSON
    read = ox.parse_query_results(result.stdout_bytes, form)
    assert isinstance(read, ox.QuerySolutions)
    ada, bob = (ox.NamedNode(f"http://ex.org/{who}") for who in ("ada", "bob"))
    rows = [tuple(row) for row in read]
    assert rows == [(ada, ox.Literal("Ada", language="en")), (bob, None)]


@pytest.mark.parametrize("name", ["nt", "ttl", "rdf", "jsonld", "nq", "trig", "text/turtle"])
def test_query__writes_triples_in_every_format(folder: Path, name: str) -> None:
    text = "CONSTRUCT { ?y :by ?x } WHERE { ?x :sees ?y }"
    result = run("query", "-l", "s", "-q", text, "--results-format", name)
    assert result.exit_code == 0
    form = ox.RdfFormat.from_extension(name) or ox.RdfFormat.TURTLE
    found = {(q.subject.value[-3:], q.object.value[-3:]) for q in ox.parse(result.stdout, form)}
    assert found == {("bob", "ada"), ("/cy", "bob")}


def test_query__triples_are_turtle_with_the_prefixes_of_the_store(folder: Path) -> None:
    result = run("query", "-l", "s", "-q", "DESCRIBE :bob")
    assert result.stdout.startswith("@prefix : <http://ex.org/> .\n:bob ")
    assert ":seen :ada" in result.stdout
    assert ":sees :cy" in result.stdout


def test_query__results_file_tells_format_and_compression(folder: Path) -> None:
    text = "SELECT ?y { :ada :sees ?y }"
    result = run("query", "-l", "s", "-q", text, "--results-file", "out.csv.gz")
    assert (result.exit_code, result.stdout) == (0, "")
    assert gzip.decompress(Path("out.csv.gz").read_bytes()) == b"y\r\nhttp://ex.org/bob\r\n"
    describe = run("query", "-l", "s", "-q", "DESCRIBE :ada", "--results-file", "out.nt")
    assert describe.exit_code == 0
    assert len(Path("out.nt").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("text", "name"),
    [("SELECT * { ?s ?p ?o }", "ttl"), ("DESCRIBE :ada", "csv"), ("ASK {}", "nonsense")],
)
def test_query__a_format_that_does_not_suit_is_refused(folder: Path, text: str, name: str) -> None:
    result = run("query", "-l", "s", "-q", text, "--results-format", name)
    assert result.exit_code == 1
    assert name in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(("facts", "count"), [("all", 5), ("explicit", 3), ("inferred", 2)])
def test_query__facts_chooses(folder: Path, facts: str, count: int) -> None:
    text = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    result = run("query", "-l", "s", "-q", text, "--facts", facts, "--results-format", "csv")
    assert result.stdout.split() == ["n", str(count)]


def test_query__chooses_graphs(folder: Path) -> None:
    def seen(*options: str, text: str = "SELECT ?y { :cy :sees ?y }") -> int:
        found = run("query", "-l", "s", "-q", text, "--results-format", "csv", *options)
        assert found.exit_code == 0, found.stderr
        return len(found.stdout.split()) - 1

    assert seen() == 0
    assert seen("--union-default-graph") == 1
    assert seen("--default-graph", "http://ex.org/g") == 1
    in_named = "SELECT ?y { GRAPH ?g { :cy :sees ?y } }"
    assert seen(text=in_named) == 1
    assert seen("--named-graph", "http://ex.org/other", text=in_named) == 0


def test_query__says_where_a_text_is_wrong(folder: Path) -> None:
    result = run("query", "-l", "s", "-q", "SELECT *\n{ ?s ex:a ?o }")
    assert result.exit_code == 1
    assert result.stderr.startswith("triplestore: input:2:6: unknown prefix 'ex:'")


def test_query__explains_on_stderr_and_in_a_file(folder: Path) -> None:
    text = "SELECT ?z { :ada :sees/:sees ?z }"
    explain = ("--explain", "--explain-file", "plan.json")
    result = run("query", "-l", "s", "-q", text, "--results-format", "csv", *explain)
    assert result.exit_code == 0
    assert result.stdout.split() == ["z", "http://ex.org/cy"]
    assert "rows 1" in result.stderr
    assert json.loads(Path("plan.json").read_text())


def test_query__explains_triples_and_no_truth_values(folder: Path) -> None:
    made = run("query", "-l", "s", "-q", "CONSTRUCT WHERE { ?x :sees ?y }", "--explain")
    assert made.exit_code == 0
    assert "rows 2" in made.stderr
    asked = run("query", "-l", "s", "-q", "ASK { ?x :sees ?y }", "--explain")
    assert asked.exit_code == 1
    assert "SELECT" in asked.stderr


@pytest.mark.parametrize("limit", [("--timeout-s", "0.2"), ("--max-memory", "1MB")])
def test_query__limits_hold(folder: Path, limit: tuple[str, str]) -> None:
    numbers = " ".join(f"({n})" for n in range(60))
    values = " ".join(f"VALUES (?v{n}) {{ {numbers} }}" for n in range(6))
    text = f"SELECT (COUNT(DISTINCT *) AS ?n) {{ {values} }}"
    result = run("query", "-l", "s", "-q", text, *limit)
    assert result.exit_code == 1
    assert "limit" in result.stderr or "budget" in result.stderr
    assert run("query", "-l", "s", "-q", "ASK {}").exit_code == 0


@pytest.mark.parametrize(("size", "accepted"), [("1.5G", True), ("300000", True), ("much", False)])
def test_query__sizes(folder: Path, size: str, accepted: bool) -> None:
    result = run("query", "-l", "s", "-q", "ASK {}", "--max-memory", size)
    assert result.exit_code == (0 if accepted else 2)


def test_query__creates_nothing_and_takes_no_lock(folder: Path) -> None:
    assert run("query", "-l", "none", "-q", "ASK {}").exit_code == 1
    assert not Path("none").exists()
    with Store("s"):
        assert run("query", "-l", "s", "-q", "ASK {}").exit_code == 0


def test_query__ends_with_ctrl_c(folder: Path) -> None:
    many = " ".join(f"?v{n} ?p{n} ?w{n} ." for n in range(25))
    text = f"SELECT (COUNT(*) AS ?n) {{ {many} }}"
    command = [sys.executable, "-m", "triplestore.cli", "query", "-l", "s", "-q", text]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while sum(psutil.Process(process.pid).cpu_times()[:2]) < 2.0:  # it is well past its start
        assert process.poll() is None, "it ended by itself"
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode in STOPPED and out == b""
    assert b"interrupted" in err


def test_update__is_one_commit_and_says_what_changed(folder: Path) -> None:
    text = "DELETE DATA { :bob :sees :cy } ; INSERT { ?x :saw ?y } WHERE { ?x :sees ?y }"
    result = run("update", "-l", "s", "-u", text)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "removed 1" in result.stderr
    with Store.read_only("s") as store:
        assert store.query("ASK { :ada :saw :bob FILTER NOT EXISTS { :cy :seen :bob } }")
        assert not store.query("ASK { :bob :saw :cy }")


def test_update__takes_a_file_and_makes_a_store(folder: Path) -> None:
    Path("u.ru").write_text("PREFIX : <http://ex.org/> INSERT DATA { :a :b :c }")
    result = run("update", "-l", "new", "--update-file", "u.ru", "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    with Store.read_only("new") as store:
        assert len(store) == 1


def test_update__what_fails_changes_nothing(folder: Path) -> None:
    result = run("update", "-l", "s", "-u", "INSERT DATA { :a :b :c } ; DROP GRAPH :none")
    assert result.exit_code == 1
    assert run("query", "-l", "s", "-q", "ASK { :a :b :c }").stdout == "false\n"
    wrong = run("update", "-l", "s", "-u", "INSERT DATA { :a :b }")
    assert wrong.exit_code == 1
    assert "input:1:" in wrong.stderr


def test_update__load_reads_only_what_is_allowed(folder: Path) -> None:
    Path("more.ttl").write_text("<http://ex.org/m> <http://ex.org/n> 1 .")
    source = Path("more.ttl").resolve().as_uri()
    text = f"LOAD <{source}>"
    assert run("update", "-l", "s", "-u", text).exit_code == 1
    assert run("update", "-l", "s", "-u", text, "--load-from", source).exit_code == 0
    assert run("query", "-l", "s", "-q", "ASK { :m :n 1 }").stdout == "true\n"


def test_update__takes_the_text_as_an_argument(folder: Path) -> None:
    assert run("update", "-l", "s", "DELETE DATA { :ada :sees :bob }").exit_code == 0
    assert run("query", "-l", "s", "ASK { :ada :sees :bob }").stdout == "false\n"
