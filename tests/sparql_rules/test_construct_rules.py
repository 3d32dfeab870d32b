"""CONSTRUCT queries as rules: where they are accepted, what they conclude, what is refused."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph as ox
import pytest
from click.testing import CliRunner

from triplestore import NamedNode, Quad, Store, check_rules
from triplestore.cli import main
from triplestore.errors import ProgramError

PREFIX = "PREFIX : <http://ex.org/> "
DATA = """@prefix : <http://ex.org/> .
:ada :child :bob ; :age 60 . :bob :child :cy ; :age 30 ; :name "Bob" . :cy :age 1 .
"""
GRAND = "CONSTRUCT { ?x :grandchild ?z } WHERE { ?x :child ?y . ?y :child ?z }"


def node(name: str) -> NamedNode:
    return NamedNode(f"http://ex.org/{name}")


def concluded(rules: object, data: str = DATA) -> set[str]:
    store = Store()
    store.load(data, "ttl")
    store.reason(rules=rules)
    return inferred(store)


def inferred(store: Store) -> set[str]:
    found = store.query("SELECT * { ?s ?p ?o }", facts="inferred").tuples()
    return {" ".join(_short(term) for term in row) for row in found}


def _short(term: object) -> str:
    assert isinstance(term, ox.NamedNode | ox.Literal)
    return term.value.rpartition("/")[2]


# --- where they are accepted ---------------------------------------------------------------------


def test_rules__are_a_text_a_list_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "rules.rq"
    file.write_text(f"# family\n{PREFIX}\n{GRAND}\n")
    for rules in (PREFIX + GRAND, [PREFIX + GRAND], file, str(file), [file]):
        assert concluded(rules) == {"ada grandchild cy"}
    both = ["@prefix : <http://ex.org/> . :parent[?y, ?x] :- :child[?x, ?y] .", PREFIX + GRAND]
    assert concluded(both) == {"ada grandchild cy", "bob parent ada", "cy parent bob"}


def test_rules__several_in_a_text_share_its_prefixes() -> None:
    other = "CONSTRUCT { ?y :parent ?x } WHERE { ?x :child ?y }"
    wanted = {"ada grandchild cy", "bob parent ada", "cy parent bob"}
    for between in (" ; ", "\n", " ;\nPREFIX ex: <http://ex.org/>\n"):
        assert concluded(PREFIX + GRAND + between + other) == wanted


def test_rules__are_added_removed_and_kept(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db") as store:
        store.load(DATA, "ttl")
        store.add_rules(PREFIX + GRAND)
        assert inferred(store) == {"ada grandchild cy"}
    with Store(tmp_path / "a.db") as store:
        assert inferred(store) == {"ada grandchild cy"}
        store.remove(Quad(node("bob"), node("child"), node("cy")))
        assert inferred(store) == set()
        store.add(Quad(node("bob"), node("child"), node("dora")))
        assert inferred(store) == {"ada grandchild dora"}
        store.remove_rules(PREFIX + GRAND)
        assert inferred(store) == set()


def test_rules__of_a_file_follow_the_file(tmp_path: Path) -> None:
    file = tmp_path / "rules.rq"
    store = Store()
    store.load(DATA, "ttl")
    file.write_text(PREFIX + GRAND)
    store.add_rules(file)
    file.write_text(PREFIX + "CONSTRUCT { ?y :parent ?x } WHERE { ?x :child ?y }")
    store.add_rules(file)
    assert inferred(store) == {"bob parent ada", "cy parent bob"}


def test_command__reads_them(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(DATA)
    (tmp_path / "rules.rq").write_text(PREFIX + GRAND)
    place = str(tmp_path / "a.db")
    runs = [
        ["load", "-l", place, "-f", str(tmp_path / "a.ttl")],
        ["reason", "-l", place, "--rules", str(tmp_path / "rules.rq")],
        ["check", "--rules", str(tmp_path / "rules.rq")],
        ["query", "-l", place, "SELECT ?z { :ada :grandchild ?z }"],
    ]
    for run in runs:
        result = CliRunner().invoke(main, run)
        assert result.exit_code == 0, result.output
    assert ":cy" in result.output


def test_why__names_the_construct() -> None:
    store = Store()
    store.load(DATA, "ttl")
    store.reason(rules=PREFIX + "\n" + GRAND)
    proof = str(store.why(Quad(node("ada"), node("grandchild"), node("cy"))))
    assert "CONSTRUCT { ?x :grandchild ?z } (line 2)" in proof
    assert "input:2:1" in proof


# --- what they conclude --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        # A template of several triples: each is concluded where its variables are bound.
        (
            "CONSTRUCT { ?x :old true ; :called ?n } WHERE { ?x :age ?a OPTIONAL { ?x :name ?n } "
            "FILTER(?a > 20) }",
            {"ada old true", "bob old true", "bob called Bob"},
        ),
        (
            "CONSTRUCT { ?x :twice ?t } WHERE { ?x :age ?a BIND(?a * 2 AS ?t) FILTER(?t < 100) }",
            {"bob twice 60", "cy twice 2"},
        ),
        # An error leaves a variable of BIND unbound, but not the solution.
        (
            "CONSTRUCT { ?x :seen 1 ; :up ?u } WHERE { ?x :name|:age ?n BIND(UCASE(?n) AS ?u) }",
            {"ada seen 1", "bob seen 1", "cy seen 1", "bob up BOB"},
        ),
        (
            "CONSTRUCT { ?x :nameless 1 } WHERE { ?x :age ?a FILTER NOT EXISTS { ?x :name ?n } }",
            {"ada nameless 1", "cy nameless 1"},
        ),
        (
            "CONSTRUCT { ?x :nameless 1 } WHERE { ?x :age ?a OPTIONAL { ?x :name ?n } "
            "FILTER(!BOUND(?n)) }",
            {"ada nameless 1", "cy nameless 1"},
        ),
        (
            "CONSTRUCT { ?x :older ?y } WHERE { ?x :age ?a . ?y :age ?b FILTER(?a > ?b) "
            "MINUS { ?x :child ?y } }",
            {"ada older cy"},
        ),
        # Everyone whose children all have a name: a negation within a negation.
        (
            "CONSTRUCT { ?x :done 1 } WHERE { ?x :child ?c FILTER NOT EXISTS { ?x :child ?y "
            "FILTER NOT EXISTS { ?y :name ?n } } }",
            {"ada done 1"},
        ),
        (
            "CONSTRUCT { ?x :kids ?n } WHERE { SELECT ?x (COUNT(?y) AS ?n) { ?x :child ?y } "
            "GROUP BY ?x HAVING(?n > 0) }",
            {"ada kids 1", "bob kids 1"},
        ),
        (
            "CONSTRUCT { :all :cats ?n } WHERE { SELECT (COUNT(?y) AS ?n) { ?y a :Cat } }",
            {"all cats 0"},
        ),
        (
            "CONSTRUCT { ?x :line ?y } WHERE { ?x :child+ ?y }",
            {"ada line bob", "ada line cy", "bob line cy"},
        ),
        (
            "CONSTRUCT { ?x :line ?y } WHERE { ?x :name ?n . ?x :child* ?y }",
            {"bob line bob", "bob line cy"},
        ),
        (
            "CONSTRUCT { ?x a ?c } WHERE { VALUES (?x ?c) { (:ada :A) (:eve :B) } ?x :age ?a }",
            {"ada 22-rdf-syntax-ns#type A"},
        ),
        # A literal cannot be a subject: that triple is not made.
        ("CONSTRUCT { ?a :of ?x } WHERE { ?x :age|:child ?a }", {"bob of ada", "cy of bob"}),
        (
            "CONSTRUCT { ?x :r ?y } WHERE { { ?x :child ?y } UNION { ?y :child ?x } } ;"
            "CONSTRUCT { ?x :r ?z } WHERE { ?x :r ?y . ?y :r ?z }",
            {f"{x} r {y}" for x in ("ada", "bob", "cy") for y in ("ada", "bob", "cy")},
        ),
        ("CONSTRUCT WHERE { ?x :child ?y }", set()),
        ("CONSTRUCT { :a :b :c } WHERE {}", {"a b c"}),
    ],
)
def test_construct__concludes(rules: str, wanted: set[str]) -> None:
    assert concluded(PREFIX + rules) == wanted


def test_counts__follow_changes() -> None:
    store = Store()
    store.load(DATA, "ttl")
    store.reason(
        rules=PREFIX
        + "CONSTRUCT { :all :cats ?n } WHERE { SELECT (COUNT(?y) AS ?n) { ?y a :Cat } }"
    )
    store.update(PREFIX + "INSERT DATA { :tom a :Cat }")
    assert inferred(store) == {"all cats 1"}
    store.update(PREFIX + "DELETE DATA { :tom a :Cat }")
    assert inferred(store) == {"all cats 0"}


# --- the draft of SPARQL-RL ----------------------------------------------------------------------


def test_sparql_rl__rules_data_set_and_not() -> None:
    rules = """PREFIX : <http://ex.org/>
        DATA { :eve :child :ada }
        RULE { ?x :ancestor ?y } WHERE { ?x :child ?y }
        RULE :step { ?x :ancestor ?z } WHERE { ?x :ancestor ?y . ?y :child ?z }
        IF { ?x :age ?a SET (?t := ?a + 1) NOT { ?x :name ?n } } THEN { ?x :next ?t }
    """
    assert concluded(rules) == {
        "eve child ada",
        "eve ancestor ada",
        "eve ancestor bob",
        "eve ancestor cy",
        "ada ancestor bob",
        "ada ancestor cy",
        "bob ancestor cy",
        "ada next 61",
        "cy next 2",
    }
    store = Store()
    store.load(DATA, "ttl")
    store.reason(rules=rules)
    assert "http://ex.org/step" in str(store.why(Quad(node("ada"), node("ancestor"), node("cy"))))


@pytest.mark.parametrize(
    ("data", "rules", "wanted"),
    [
        # SET without a value ends the solution, unlike BIND.
        (
            ":a :n 2 . :b :n 0 .",
            "RULE { ?x :in ?n ; :out ?m } WHERE { ?x :n ?n SET(?m := 1 / ?n) }",
            {"a in 2", "a out 0.5"},
        ),
        # Strata, whatever the order of the rules.
        (
            ":a :n 1 .",
            "RULE { :c :r 3 } WHERE { NOT { ?x :q 2 } } RULE { :b :q 2 } WHERE { NOT "
            "{ ?x :p 1 } } RULE { :x :p 1 } WHERE { :a :n 1 }",
            {"x p 1", "c r 3"},
        ),
        (
            "",
            "DATA { :a :p :b , :c } RULE {} WHERE {} DATA { :b :p :c }",
            {"a p b", "a p c", "b p c"},
        ),
    ],
)
def test_sparql_rl__concludes(data: str, rules: str, wanted: set[str]) -> None:
    assert concluded(PREFIX + rules, "@prefix : <http://ex.org/> . " + data) == wanted


def test_rule_with_a_string__is_still_our_own_language() -> None:
    text = '@prefix : <http://ex.org/> . rule "data" :p[?y, ?x] :- :child[?x, ?y] .'
    assert concluded(text) == {"bob p ada", "cy p bob"}


def test_templates__make_triple_terms() -> None:
    store = Store()
    store.load(DATA, "ttl")
    rules = "CONSTRUCT { ?y :said <<( ?x :child ?y )>> } WHERE { ?x :child ?y }"
    assert store.reason(rules=PREFIX + rules).inferred == 2
    asked = f"{PREFIX} ASK {{ :bob :said <<( :ada :child :bob )>> }}"
    assert store.query(asked)
    store.remove(Quad(node("ada"), node("child"), node("bob")))
    assert not store.query(asked)


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "place", "said"),
    [
        ("CONSTRUCT { ?x :p _:b } WHERE { ?x :q 1 }", "2:19", "blank node in a template"),
        ("CONSTRUCT { ?x :p 1 } WHERE {\n ?x :q 1\n GRAPH :g { ?x :r 1 } }", "4:2", "GRAPH"),
        ("CONSTRUCT { ?x :p 1 } WHERE { ?x :q <<( ?s :r 1 )>> }", "2:37", "a triple term with"),
        ("CONSTRUCT { ?x :p 1 } FROM :g WHERE { ?x :q 1 }", "2:23", "FROM"),
        ("CONSTRUCT { ?x :p 1 } WHERE { ?x :q 1 }\nLIMIT 3", "3:1", "LIMIT"),
        ("CONSTRUCT { ?x :p 1 } WHERE { SERVICE :s { ?x :q 1 } }", "2:31", "SERVICE"),
        ("CONSTRUCT { ?x :p 1 } WHERE { ?x :q* ?y }", "2:36", "path with"),
        ("CONSTRUCT { ?x :p 1 } WHERE { ?x :q 1 FILTER NOT EXISTS { ?x :p 1 } }", "2:1", "cycle"),
        ("CONSTRUCT { ?x :p ?r } WHERE { ?x :q 1 BIND(RAND() AS ?r) }", "2:1", "RAND"),
        ("CONSTRUCT { ?x :p ?r } WHERE { ?x :q 1 BIND(BNODE() AS ?r) }", "2:1", "BNODE"),
        (
            "CONSTRUCT { ?x :p 1 } WHERE { ?x :q 1 FILTER(EXISTS { ?x :r 1 } || ?x = :a) }",
            "2:46",
            "EXISTS within an expression",
        ),
        ("CONSTRUCT { ?x :p }", "2:19", "as object"),
        ("SELECT * { ?x :p ?y }", "2:1", "expected a rule"),
    ],
)
def test_refusals__name_the_part_and_its_place(rule: str, place: str, said: str) -> None:
    problems = [str(one) for one in check_rules(f"{PREFIX}\n{rule}") if not one.warning]
    assert problems
    assert f"input:{place}:" in problems[0]
    assert said in problems[0]
    store = Store()
    with pytest.raises(ProgramError):
        store.reason(rules=[PREFIX + GRAND, f"{PREFIX}\n{rule}"])
    assert store.program is None or len(store.program) == 0


def test_refusals__are_reported_all_at_once() -> None:
    text = (
        f"{PREFIX}\nCONSTRUCT {{ ?x :p }} WHERE {{ }} ;\n"
        "CONSTRUCT { ?x :p ?y } WHERE { ?x u:y ?y } ;\n"
        "CONSTRUCT { ?x :p 1 } WHERE { GRAPH ?g { ?x :q 1 } }"
    )
    assert [one.line for one in check_rules(text)] == [2, 3, 4]


def test_template__without_values_is_a_warning() -> None:
    (problem,) = check_rules(PREFIX + "CONSTRUCT { ?x :p ?z } WHERE { ?x :q ?y }")
    assert problem.warning
    assert "binds all variables" in problem.message


def test_endless_rules__are_warned_of() -> None:
    rules = PREFIX + "CONSTRUCT { ?x :n ?m } WHERE { ?x :n ?y BIND(?y + 1 AS ?m) }"
    assert [one.code for one in check_rules(rules)] == ["endless"]


@pytest.mark.parametrize(
    "pattern",
    [
        "?x :age ?a . ?y :age ?b FILTER NOT EXISTS { ?x :child ?c FILTER NOT EXISTS "
        "{ ?y :child ?d FILTER NOT EXISTS { ?d :name ?n } } }",
        "?x :age ?a . ?y :age ?b FILTER NOT EXISTS { FILTER(?a > ?b) }",
        "?x :age ?a OPTIONAL { ?x :child ?y OPTIONAL { ?y :name ?n } } FILTER(!BOUND(?n))",
        "?x :age ?a MINUS { ?x :child ?c FILTER NOT EXISTS { ?c :name ?n } } ?y :age ?a",
        "?x :child? ?y . ?y :age ?a",
        "{ SELECT ?x (MAX(?b) AS ?y) { ?x :child/:age ?b } GROUP BY ?x }",
        "?x :age ?a BIND(?a * 2 AS ?b) OPTIONAL { ?y :age ?b }",
    ],
)
def test_construct__concludes_what_the_query_returns(pattern: str) -> None:
    text = f"{PREFIX} CONSTRUCT {{ ?x :result ?y }} WHERE {{ {pattern} }}"
    store = Store()
    store.load(DATA, "ttl")
    wanted = set(store.query(text))
    store.reason(rules=text)
    assert set(store.query(f"{PREFIX} CONSTRUCT {{ ?x :result ?y }} {{ ?x :result ?y }}")) == wanted
