"""What the shell does with statements and commands, without a terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from triplestore import Store
from triplestore.cli.shell.commands import COMMANDS, session_of
from triplestore.cli.shell.session import Settings
from triplestore.errors import QuerySyntaxError, TripleStoreError, UsageError

DATA = """
@prefix : <http://ex.org/> .
:ada a :Person ; :parent :bob ; :name "Ada" . :bob a :Person ; :parent :cy . :cy a :Robot .
GRAPH :g { :ada :parent :eve }
"""


class Shell:
    """A session, and what it wrote since the last look."""

    def __init__(self, store: Store) -> None:
        self.lines: list[str] = []
        settings = Settings(timer=False, plain=True)
        self.session = session_of(store, self.lines.append, lambda: 60, settings)

    def __call__(self, text: str) -> str:
        self.lines.clear()
        self.session.run(text)
        return "\n".join(self.lines)


@pytest.fixture
def shell() -> Shell:
    store = Store()
    store.load(DATA, "trig")
    return Shell(store)


def test_query__a_table_and_the_number_of_rows(shell: Shell) -> None:
    assert shell("SELECT ?x ?y { ?x :parent ?y } ORDER BY ?x;") == "\n".join(
        ["+------+------+", "| ?x   | ?y   |", "+------+------+", "| :ada | :bob |",
         "| :bob | :cy  |", "+------+------+", "2 rows"]
    )  # fmt: skip
    assert shell("SELECT ?x { ?x a :Robot }").endswith("\n1 row")
    shell(".rows 1")
    assert shell("SELECT ?x { ?x a :Person }").endswith("\n1 of 2 rows shown")
    assert shell("ASK { :ada :parent :bob }") == "true"
    assert shell("SELECT * {}") == "1 row"


def test_query__triples_as_turtle(shell: Shell) -> None:
    found = shell("CONSTRUCT { ?y :child ?x } WHERE { ?x :parent ?y }")
    assert found == "@prefix : <http://ex.org/> .\n:bob :child :ada .\n:cy :child :bob .\n2 triples"
    assert shell("CONSTRUCT { ?x :q ?y } WHERE { ?x :name ?y }").endswith("\n1 triple")


def test_query__advice_under_an_empty_answer(shell: Shell) -> None:
    parnet = "hint: no triple has the property :parnet; did you mean :parent?"
    assert shell("SELECT ?x { ?x :parnet ?y }") == f"no rows\n{parnet}"
    assert shell("CONSTRUCT { ?x :q ?y } WHERE { ?x :parnet ?y }") == f"no triples\n{parnet}"
    assert "did you mean :Person?" in shell("SELECT ?x { ?x a :Persn }")
    assert shell("SELECT ?x { ?x :parent :ada }") == "no rows"


def test_update_and_rules(shell: Shell) -> None:
    assert shell("INSERT DATA { :cy :parent :dora }") == "added 1"
    assert "rules           1 (1 new)" in shell(":anc[?x, ?y] :- :parent[?x, ?y] .")
    assert "rules           2 (1 new)" in shell(":anc[?x, ?z] :-\n :anc[?x, ?y], :parent[?y, ?z] .")
    assert shell("ASK { :ada :anc :dora }") == "true"
    assert shell(".rules").count(":-") == 2
    assert shell(".reason") == "regimes: none; rules of yours: 2"
    assert ":parent[:ada, :bob]" in shell(".why :ada :anc :bob")
    shell(".facts inferred")
    assert shell("SELECT ?x { ?x :parent ?y }").startswith("no rows")
    shell(".facts all")
    assert "(1 gone)" in shell(".unrule :anc[?x, ?y] :- :parent[?x, ?y] .")


def test_prefixes__are_kept_in_the_store(shell: Shell) -> None:
    assert shell("PREFIX e: <http://e/> PREFIX f: <http://f/>") == (
        "e: is <http://e/>\nf: is <http://f/>"
    )
    assert shell.session.store.prefixes["f"] == "http://f/"
    assert "| e:     | <http://e/>      |" in shell(".prefixes")


def test_prefixes__of_a_store_for_reading_are_those_of_the_session(tmp_path: Path) -> None:
    with Store(tmp_path / "s") as store:
        store.load(DATA, "trig")
    with Store.read_only(tmp_path / "s") as store:
        shell = Shell(store)
        assert shell("PREFIX e: <http://ex.org/>") == "e: is <http://ex.org/>"
        assert shell("SELECT ?x { ?x a e:Robot }").endswith("1 row")
        with pytest.raises(TripleStoreError, match="read"):
            shell("INSERT DATA { e:a e:b e:c }")
        assert shell(".refresh") == "commit 1, as before"


def test_lists_of_names(shell: Shell) -> None:
    assert shell(".classes").split("\n")[3:5] == ["| :Person |       2 |", "| :Robot  |       1 |"]
    assert shell(".classes rob").count("\n") == 4
    properties = shell(".properties")
    assert re.search(r"\| :parent +\| +2 \|", properties)
    assert shell(".tables") == shell(".classes") + "\n" + properties
    assert re.search(r"\| :g +\| +1 \|", shell(".graphs"))
    assert Shell(Store())(".tables") == "no classes\nno properties"
    assert Shell(Store())(".graphs") == "no named graphs"
    assert Shell(Store())(".prefixes").startswith("no prefixes")
    shell("CREATE GRAPH :empty")
    assert re.search(r"\| :empty +\| +0 \|", shell(".graphs"))


def test_files(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a b.nt").write_text("<http://ex.org/x> <http://ex.org/p> <http://ex.org/y> .\n")
    assert shell(".load 'a b.nt'") == "added 1"
    assert shell(".load 'a b.nt' into :h") == "added 1, graphs added 1"
    assert shell("SELECT ?x { GRAPH :h { ?x ?p ?o } }").endswith("1 row")
    assert shell(".dump all.nq") == "written to all.nq"
    assert len(Path("all.nq").read_text().splitlines()) == 9
    saved = shell(".save out.csv SELECT ?x { ?x a :Person } ORDER BY ?x")
    assert saved == "written to out.csv (2 rows)"
    assert Path("out.csv").read_text() == "x\nhttp://ex.org/ada\nhttp://ex.org/bob\n"
    Path("s.rq").write_text("PREFIX q: <http://q/>\nSELECT ?x {\n ?x a :Robot }\n\nASK {}\n")
    assert shell(".read s.rq").split("\n")[-2:] == ["1 row", "true"]
    Path("r.dlog").write_text("@prefix : <http://ex.org/> . :a[?x] :- :Person[?x] .")
    assert "(1 new)" in shell(".rules r.dlog") and "(1 gone)" in shell(".unrule r.dlog")
    Path("bad.rq").write_bytes(b"\xff")
    with pytest.raises(UsageError, match=r"bad\.rq is not UTF-8"):
        shell(".read bad.rq")


def test_other_commands(shell: Shell) -> None:
    assert shell(".describe :cy").endswith("1 triple")
    assert "scan" in shell(".explain SELECT * { ?s :parent ?o }")
    assert shell(".check") == "no violations"
    assert "quads" in shell(".info")
    assert "rules" in shell(".reason OWL-RL") and "owl-rl" in shell(".reason")
    shell(".timer on")
    assert re.fullmatch(r"true \([\d.,]+ m?s\)", shell("ASK {}"))
    shell(".exit")
    assert shell.session.over


def test_help__names_every_command_and_explains_each(shell: Shell) -> None:
    text = shell(".help")
    for name, command in COMMANDS.items():
        if name == command.name:
            assert f"\n  .{name} " in text or f"\n  .{name}\n" in text
        assert command.help and shell(f".help .{name}").startswith(f".{command.name}")
    assert max(map(len, text.split("\n"))) <= 110


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".clases", "no command is called .clases .did you mean .classes"),
        (".help clases", "no command is called clases"),
        ("SELCT * {}", r"expected a query .*, found 'SELCT' \(did you mean SELECT\?\)|found SELCT"),
        (":ada :knows :bob .", "expected a query"),
        (".rows many", "give a number of rows"),
        (".timer often", "give on or off"),
        (".facts some", 'give "all", "explicit" or "inferred"'),
        (".load", "give files"),
        (".load 'x", "No closing quotation"),
        (".dump a b", "give one file"),
        (".save a.csv", "give a file and a query"),
        (".why", "give a fact"),
        (".explain", "give a query"),
        (".explain ASK {}", "the answer of an ASK"),
        (".describe", "give a name"),
        (".unrule", "give a rule"),
        (".reason owl", "regime 'owl' does not exist"),
    ],
)
def test_faults__say_what_to_do(shell: Shell, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        shell(text)


def test_faults__of_queries_come_from_the_parser(shell: Shell) -> None:
    with pytest.raises(QuerySyntaxError, match="OPTIONAL"):
        shell("SELECT * { ?s ?p ?o OPTINAL {} }")
