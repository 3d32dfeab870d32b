"""Resources and prompts: the ontology, the rules, the report; how to answer and how to change.

Start at `register_documents`. Resources are read when a client asks for them, and always show the
newest state.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyoxigraph as ox
from mcp.server.mcpserver.exceptions import ResourceError

from triplestore.browse.ontology_triples import ontology_triples
from triplestore.browse.report import report
from triplestore.errors import TripleStoreError
from triplestore.mcp_server.answers import fitting
from triplestore.mcp_server.overview_tools import answer_description

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from triplestore.mcp_server.session import AgentSession

ONTOLOGY_TRIPLES = 3_000
"""Maximum number of triples of the ontology's document."""


def register_documents(server: MCPServer[Any], session: AgentSession) -> None:
    """Add the resources and prompts to a server."""

    @server.resource("triplestore://summary", title="Summary", mime_type="text/plain")
    def summary() -> str:
        """What is in the store, as describe_store says it."""
        with told():
            return answer_description(session, session.reading()).text

    @server.resource("triplestore://ontology", title="Ontology", mime_type="text/turtle")
    def ontology() -> str:
        """The asserted axioms and labels of classes and properties, as Turtle."""
        with told():
            return ontology_text(session)

    @server.resource("triplestore://rules", title="Rules", mime_type="text/plain")
    def rules() -> str:
        """The rules in force, those made from axioms included."""
        with told():
            return rules_text(session)

    @server.resource("triplestore://report", title="Report", mime_type="application/json")
    def reasoning_report() -> str:
        """What reasoning does: regimes, rules, what lies outside of them, violations."""
        with told():
            return json.dumps(report_data(session), indent=1)

    @server.prompt(title="Answer a question from the store")
    def answer_question(question: str) -> str:
        """Answer a question from the store, with queries and proofs."""
        return ANSWER.format(question=question)

    @server.prompt(title="Review a change")
    def review_change(update: str) -> str:
        """Say what a SPARQL update would imply, before it is made."""
        return REVIEW.format(update=update)


ANSWER = """\
Answer this question from the store: {question}

1. Call describe_store, and search_terms for each name in the question.
2. Write a SPARQL query; count or group where many rows would come.
3. If the answer is empty or surprising, use the hints, why_not, or a simpler query.
4. Give the answer, the query, and for the decisive triples whether they are asserted or inferred \
(why)."""

REVIEW = """\
Review this SPARQL update without making it:

{update}

Call preview_update. Say what would be asserted and removed, what would follow or no longer \
follow, and whether something would contradict, with the proofs. Say whether this looks \
intended."""


@contextmanager
def told() -> Iterator[None]:
    """Errors of the store reach the client with their message."""
    try:
        yield
    except TripleStoreError as error:
        raise ResourceError(str(error)) from error


def rules_text(session: AgentSession) -> str:
    """The rules in force, with prefixes."""
    reading = session.reading()
    names = reading.names()
    text = str(reading.snapshot.program)
    lines = [
        line if line.startswith("@prefix") else names.shortened(line) for line in text.splitlines()
    ]
    shown, whole = fitting(lines, session.settings.characters)
    cut = [] if whole else [f"# cut: {len(lines) - len(shown):,} more lines"]
    declared = names.header()
    first = [f"# {declared}"] if declared else []
    return "\n".join([*first, *shown, *cut]) or "# no rules are in force"


def ontology_text(session: AgentSession) -> str:
    """The axioms that are asserted, as Turtle, at most `ONTOLOGY_TRIPLES` of them."""
    reading = session.reading()
    names = reading.names()
    triples, total = ontology_triples(reading.snapshot, ONTOLOGY_TRIPLES)
    triples.sort(key=lambda triple: str(triple.subject))  # Turtle names each subject once
    used = _used_prefixes(triples, names.prefixes)
    written = ox.serialize(triples, format=ox.RdfFormat.TURTLE, prefixes=used)
    text = written.decode() if written else ""
    more = total - len(triples)
    if more > 0:
        text += f"# cut: {more:,} more triples; describe_store(about=[...]) and query show them\n"
    return text


def report_data(session: AgentSession) -> dict[str, Any]:
    """The report of reasoning, with texts instead of terms."""
    found = report(session.reading().snapshot)
    found["rules"] = found["rules"][:100]
    found["violations"]["items"] = [item["text"] for item in found["violations"]["items"]]
    return found


def _used_prefixes(triples: list[ox.Triple], prefixes: dict[str, str]) -> dict[str, str]:
    iris = {
        term.value
        for triple in triples
        for term in (triple.subject, triple.predicate, triple.object)
        if isinstance(term, ox.NamedNode)
    }
    return {
        name: space
        for name, space in prefixes.items()
        if any(iri.startswith(space) for iri in iris)
    }
