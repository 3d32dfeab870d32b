"""The tools of the MCP server, called with the SDK's own client."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from mcp import Client, MCPError
from mcp_server.agent_client import Agent, text_of
from pyoxigraph import Literal, NamedNode, Quad

from triplestore import Store
from triplestore.mcp_server.session import AgentSession
from triplestore.mcp_server.settings import AgentSettings
from triplestore.terms.vocabulary import RDF_TYPE

FAMILY = "http://ex.org/family#"


# --- what there is -------------------------------------------------------------------------------


def test_tools__change_nothing_unless_updates_are_allowed(store: Store) -> None:
    reading, writing = Agent(store).tools(), Agent(store, update=True).tools()
    assert writing.keys() - reading.keys() == {"update"}
    assert all(tool.annotations.read_only_hint for tool in reading.values())
    assert not writing["update"].annotations.read_only_hint
    assert all(tool.description and tool.input_schema for tool in writing.values())


def test_describe_store__shows_classes_properties_and_prefixes(agent: Agent) -> None:
    text = agent.text("describe_store")
    assert text.startswith("prefixes: : <http://ex.org/family#>")
    assert "- :Person “human being” 3 inferred (A member of the family.)" in text
    assert "- :parent “parent of” 2" in text
    assert ":Parent → :Person; stated domain :Parent and range :Person" in text
    assert "inference: owl-rl" in text
    data = agent.data("describe_store")
    assert data["classes"]["items"][0]["term"] == ":Person"
    assert data["prefixes"][""] == FAMILY


def test_describe_store__of_an_ontology_alone_shows_how_large_its_classes_are() -> None:
    store = Store()
    store.load(
        "@prefix : <http://ex.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."
        ":A rdfs:subClassOf :Top . :B rdfs:subClassOf :Top .",
        "ttl",
    )
    assert "- :Top 0 (2 subclasses)" in Agent(store).text("describe_store")


def test_describe_store__about_some_terms_says_which_are_unknown(agent: Agent) -> None:
    text = agent.text("describe_store", about=[":Parent", ":Nothing"])
    assert "- :Parent 2 inferred; below :Person" in text
    assert "- :Person" not in text
    assert ":Nothing is neither a class nor a property of this store" in text
    assert "'a b' is not a term" in agent.error("describe_store", about=["a b"])


def test_describe_store__that_is_cut_says_how_to_get_more() -> None:
    store = Store()
    for n in range(300):
        node = NamedNode(f"http://ex.org/x{n}")
        store.add(Quad(node, NamedNode(f"http://ex.org/property{n}"), Literal("x")))
    text = Agent(store, characters=3_000).text("describe_store", properties=300)
    assert len(text) < 3_500
    assert "more properties; find them with search_terms" in text
    shown = text.count("\n- ")
    assert f"properties ({shown} of 300):" in text
    assert f"not shown: {300 - shown} more properties" in text


def test_search_terms__finds_labels_and_names(agent: Agent) -> None:
    assert agent.data("search_terms", text="human")["items"] == [
        {
            "term": ":Person",
            "iri": FAMILY + "Person",
            "kind": "class",
            "count": 3,
            "label": "human being",
        }
    ]
    text = agent.text("search_terms", text="p", kind="property", limit=1)
    assert ":parent | property | 2 | “parent of”" in text
    assert "nothing matches 'zebra'" in agent.text("search_terms", text="zebra")
    assert agent.data("search_terms", text="", limit=1)["more"]


def test_labels__that_are_long_or_have_lines_stay_in_one_line() -> None:
    store = Store()
    label = Literal("first\n- :Fake 99 " + "x" * 5_000)
    thing = NamedNode("http://ex.org/Thing")
    store.add(Quad(thing, NamedNode("http://www.w3.org/2000/01/rdf-schema#label"), label))
    store.add(Quad(NamedNode("http://ex.org/a"), NamedNode(RDF_TYPE), thing))
    agent = Agent(store)
    for text in (agent.text("search_terms", text="first"), agent.text("describe_store")):
        assert len(text) < 1_500
        assert not any(line.startswith("- :Fake") for line in text.splitlines())


def test_prefixes__are_made_for_namespaces_without_one_and_work_everywhere() -> None:
    store = Store()
    long = "http://ex.org/ontologies/univ-bench.owl#"
    store.load(f"<http://ex.org/x> <{long}advisor> <http://ex.org/y> .", "nt")
    agent = Agent(store, update=True)
    assert f"univ-bench: <{long}>" in agent.text("describe_store")
    assert agent.data("query", query="SELECT ?x { ?x univ-bench:advisor ?y }")["count"] == 1
    assert agent.data("search_terms", text="univ-bench:adv")["items"][0]["iri"] == long + "advisor"
    assert "asserted" in agent.text(
        "why", fact="<http://ex.org/x> univ-bench:advisor <http://ex.org/y>"
    )
    insert = "INSERT DATA { univ-bench:a univ-bench:advisor univ-bench:b }"
    assert agent.data("preview_update", update=insert)["added"] == 1
    assert agent.data("update", update=insert)["added"] == 1


# --- queries -------------------------------------------------------------------------------------


def test_query__is_a_table_with_prefixes_given_once(agent: Agent) -> None:
    result = agent.call("query", query="SELECT ?x ?y { ?x :parent ?y } ORDER BY ?x")
    assert text_of(result) == (
        "prefixes: : <http://ex.org/family#>\n?x | ?y\n:ada | :bob\n:bob | :cy\n(2 rows)"
    )
    data = result.structured_content or {}
    assert data["columns"] == ["x", "y"]
    assert data["rows"] == [[":ada", ":bob"], [":bob", ":cy"]]
    assert (data["more"], data["prefixes"]) == (False, {"": FAMILY})


def test_query__sees_inferred_or_asserted_triples_as_asked(agent: Agent) -> None:
    query = "SELECT ?x { ?x a :Person }"
    counts = [agent.data("query", query=query, facts=facts)["count"] for facts in FACTS]
    assert counts == [3, 0, 3]


FACTS = ("all", "asserted", "inferred")


def test_query__of_other_forms(agent: Agent) -> None:
    assert agent.text("query", query="ASK { :ada :parent :bob }") == "true"
    text = agent.text("query", query="CONSTRUCT { ?y :child ?x } { ?x :parent ?y }", limit=1)
    assert ":bob :child :ada ." in text
    assert "call again with offset=1" in text
    assert "unbound" not in agent.text("query", query="SELECT ?z { OPTIONAL { ?z :no :no } }")


def test_query__gives_pages_that_together_are_everything(store: Store) -> None:
    store.extend(
        Quad(NamedNode(f"{FAMILY}n{n}"), NamedNode(f"{FAMILY}number"), Literal(n))
        for n in range(25)
    )
    agent, offset, seen = Agent(store, rows=10), 0, []
    while True:
        query = "SELECT ?n { ?x :number ?n } ORDER BY ?n"
        data = agent.data("query", query=query, limit=100, offset=offset)
        assert len(data["rows"]) == data["count"] <= 10
        seen += [row[0] for row in data["rows"]]
        offset += data["count"]
        if not data["more"]:
            break
    assert seen == [str(n) for n in range(25)]


def test_query__with_long_values_is_cut_and_says_how_to_see_them(store: Store) -> None:
    text = "x" * 5_000
    for n in range(20):
        store.add(Quad(NamedNode(f"{FAMILY}n{n}"), NamedNode(f"{FAMILY}note"), Literal(text)))
    agent = Agent(store, characters=3_000)
    many = agent.call("query", query="SELECT ?n { ?x :note ?n }")
    assert len(text_of(many)) < 3_300
    assert "long values are cut" in text_of(many)
    assert "call again with offset=" in text_of(many)
    assert many.structured_content and len(many.structured_content["rows"]) < 20
    one = Agent(store).data("query", query="SELECT ?n { ?x :note ?n } LIMIT 1")
    assert one["rows"] == [[f'"{text}"']]


def test_query__without_answers_says_what_may_be_wrong(agent: Agent) -> None:
    text = agent.text("query", query="SELECT ?x { ?x :parnt ?y }")
    assert "(0 rows)" in text
    assert f"did you mean <{FAMILY}parent>?" in text


def test_query__with_a_mistake_says_where_and_what_to_do(agent: Agent) -> None:
    result = agent.call("query", query="SELECT ?x {\n  ?x family:parent ?y }")
    assert result.is_error
    assert text_of(result) == (
        "line 2, column 6: unknown prefix 'family:'; declare it: PREFIX family: <...>\n"
        "    ?x family:parent ?y }\n"
        "       ^\n"
        "hint: these prefixes are known and need no declaration: "
        "(the empty one), owl, rdf, rdfs, skos, xsd"
    )
    error = (result.structured_content or {})["error"]
    assert (error["line"], error["column"]) == (2, 6)
    assert "found 'SELEC' (did you mean SELECT?)" in agent.error("query", query="SELEC * {}")
    assert "limit" in agent.error("query", query="ASK {}", limit=0)


def test_query__that_takes_too_long_or_too_much_is_stopped(store: Store) -> None:
    store.extend(
        Quad(NamedNode(f"{FAMILY}n{n}"), NamedNode(f"{FAMILY}number"), Literal(n))
        for n in range(400)
    )
    product = "SELECT * { ?a :number ?b . ?c :number ?d . ?e :number ?f } ORDER BY ?f ?d ?b"
    text = Agent(store).error("query", query=product, timeout=0.05)
    assert "time limit" in text and "hint: ask for less" in text
    text = Agent(store, memory=1_000_000).error("query", query=product)
    assert "memory" in text and "COUNT" in text


def test_settings__limit_what_an_agent_asks_for() -> None:
    session = AgentSession(Store(), AgentSettings(seconds=2.0))
    assert [session.seconds(asked) for asked in (None, 1.0, 60.0, 0.0)] == [2.0, 1.0, 2.0, 2.0]


# --- reasons -------------------------------------------------------------------------------------


def test_why__shows_a_proof_with_rules_and_prefixes(agent: Agent) -> None:
    text = agent.text("why", fact=":ada a :Person")
    assert text.startswith("prefixes: : <http://ex.org/family#>")
    assert "by rule prp-dom" in text
    assert ":parent[:ada, :bob]  (asserted)" in text
    assert "http" not in text.partition("\n")[2]
    assert agent.data("why", fact=":ada :parent :bob .")["asserted"]


def test_why_not__says_what_is_missing(agent: Agent) -> None:
    text = agent.text("why_not", fact=":cy a :Parent")
    assert "no match: :parent[:cy, ?y]" in text
    assert not agent.data("why_not", fact=":cy a :Parent")["holds"]
    assert "the fact holds: it is inferred" in agent.text("why_not", fact=":ada a :Person")
    assert "the fact holds: it is asserted" in agent.text("why_not", fact=":ada :parent :bob")


def test_why__of_a_malformed_fact_says_how_to_write_one(agent: Agent) -> None:
    assert "write it as in Turtle" in agent.error("why", fact=":ada :parent")


def test_violations__are_counted_listed_and_proved(store: Store) -> None:
    agent = Agent(store)
    assert agent.text("violations") == "no violations (inference: owl-rl)"
    store.load(
        "@prefix : <http://ex.org/family#> . :ada a :Stone . :bob a :Stone . :cy a :Stone .", "ttl"
    )
    text = agent.text("violations", limit=2)
    assert "3 violations: cax-dw 3" in text
    assert "call again with offset=2" in text
    rest = agent.data("violations", offset=2)
    assert (rest["total"], len(rest["items"]), rest["more"]) == (3, 1, False)
    proof = agent.text("violations", explain=0)
    assert "cax-dw" in proof and "(asserted)" in proof
    assert "violation 7 does not exist: there are 3" in agent.error("violations", explain=7)


# --- changes -------------------------------------------------------------------------------------


def test_preview_update__shows_consequences_and_writes_nothing(store: Store, agent: Agent) -> None:
    before = sorted(map(str, store))
    result = agent.call("preview_update", update="INSERT DATA { :eve :parent :ada }")
    text = text_of(result)
    assert "this update would change: 1 asserted, 2 inferred; nothing has been written" in text
    assert "+ :eve :parent :ada ." in text
    assert "⊢ :eve rdf:type :Parent ." in text
    assert "by rule prp-dom" in text and "no new violations" in text
    assert "this server only reads" in text
    assert sorted(map(str, store)) == before


def test_preview_update__shows_examples_under_their_class_or_property(agent: Agent) -> None:
    text = agent.text("preview_update", update="INSERT DATA { :eve :parent :ada ; :age 7 }")
    group = ""
    examples = 0
    for line in text.splitlines():
        if line.startswith(("class ", "property ")):
            group = line.split()[1].removesuffix(":")
        elif line.startswith(("  + ", "  ⊢ ")):
            examples += 1
            assert group in line.split()[2:5]
    assert examples == 4


def test_preview_update__shows_contradictions_with_their_proofs(agent: Agent) -> None:
    text = agent.text("preview_update", update="INSERT DATA { :ada a :Stone }")
    assert "CONTRADICTIONS: 1 new violations" in text
    assert "cax-dw" in text and "?x = :ada" in text
    assert ":parent[:ada, :bob]  (asserted)" in text
    data = agent.data("preview_update", update="INSERT DATA { :ada a :Stone }")
    assert data["new_violations"] == 1


def test_preview_update__of_a_deletion_shows_what_no_longer_follows(agent: Agent) -> None:
    text = agent.text("preview_update", update="DELETE DATA { :bob :parent :cy }")
    assert "1 no longer asserted" in text and "⊬ :bob rdf:type :Parent ." in text
    assert "this update would change: nothing" in agent.text(
        "preview_update", update="INSERT DATA { :ada :parent :bob }"
    )


def test_update__commits_what_was_previewed(store: Store) -> None:
    agent = Agent(store, update=True)
    insert = "INSERT DATA { :eve :parent :ada }"
    preview = agent.call("preview_update", update=insert)
    commit = (preview.structured_content or {})["commit"]
    assert f"expected_commit={commit}" in text_of(preview)
    made = agent.data("update", update=insert, expected_commit=commit)
    assert (made["added"], made["inferred_added"], made["commit"]) == (1, 2, store.commit)
    assert store.ask("ASK { :eve a :Parent }")
    again = agent.error("update", update="INSERT DATA { :x :parent :y }", expected_commit=commit)
    assert "the store has changed since the preview" in again and "preview_update again" in again
    assert not store.ask("ASK { :x :parent :y }")


def test_update__with_a_mistake_or_a_load_changes_nothing(store: Store, tmp_path: Path) -> None:
    agent, before = Agent(store, update=True), store.commit
    assert "line 1, column" in agent.error("update", update="INSERT DATA { :a :b }")
    (tmp_path / "a.nt").write_text("<http://a> <http://b> <http://c> .")
    assert agent.error("update", update=f"LOAD <file://{tmp_path}/a.nt>")
    assert store.commit == before


# --- states --------------------------------------------------------------------------------------


def test_calls__follow_the_commits_of_another_process(tmp_path: Path) -> None:
    with Store(tmp_path / "store") as writer:
        writer.load("@prefix ex: <http://ex.org/> . ex:a ex:p ex:b .", "ttl")
        with Store.read_only(tmp_path / "store") as reader:
            agent = Agent(reader)
            query = "SELECT ?x { ?x ex:p ?y }"
            assert agent.data("query", query=query)["count"] == 1
            writer.update("INSERT DATA { ex:c ex:p ex:d }")
            assert agent.data("query", query=query)["count"] == 2
            assert agent.data("search_terms", text="c", kind="individual")["items"]
            preview = agent.data("preview_update", update="INSERT DATA { ex:e ex:p ex:f }")
            assert (preview["added"], preview["commit"]) == (1, writer.commit)
            assert agent.data("query", query=query)["count"] == 2


def test_call__on_a_store_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    Store(tmp_path / "store").close()
    reader = Store.read_only(tmp_path / "store")
    agent = Agent(reader)
    reader.close()
    for tool, arguments in (("query", {"query": "ASK {}"}), ("describe_store", {})):
        assert "is closed" in agent.error(tool, **arguments)

    async def run() -> None:
        async with Client(agent.server) as client:
            with pytest.raises(MCPError, match="is closed"):
                await client.read_resource("triplestore://report")

    anyio.run(run)


# --- documents -----------------------------------------------------------------------------------


def test_resources__are_the_ontology_the_rules_and_the_report(agent: Agent) -> None:
    ontology = agent.resource("ontology")
    again = Store()
    again.load(ontology, "ttl")
    assert again.ask("ASK { :parent rdfs:domain :Parent ; rdfs:label 'parent of' }")
    assert not again.ask("ASK { { :ada ?p ?o } UNION { ?s :parent ?o } }")
    assert '"prp-dom"' in agent.resource("rules")
    assert '"regimes": [\n  "owl-rl"' in agent.resource("report")
    assert agent.resource("summary") == agent.text("describe_store")


@pytest.mark.parametrize("name", ["answer_question", "review_change"])
def test_prompts__name_the_tools(agent: Agent, name: str) -> None:
    argument = {"answer_question": "question", "review_change": "update"}[name]

    async def run() -> str:
        async with Client(agent.server) as client:
            found = await client.get_prompt(name, {argument: "WHO?"})
            return str(found.messages[0].content)

    text = anyio.run(run)
    assert "WHO?" in text
    assert any(tool in text for tool in agent.tools())
