"""The MCP server of a store: start at `create_server`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import MCPServer

from triplestore._version import VERSION
from triplestore.mcp_server.agent_tools import AgentTools
from triplestore.mcp_server.documents import register_documents
from triplestore.mcp_server.session import AgentSession
from triplestore.mcp_server.settings import AgentSettings

if TYPE_CHECKING:
    from triplestore.store import Store

INSTRUCTIONS = """\
A store of RDF triples with inference. Inferred triples hold like asserted ones, and each has a \
proof. Begin with describe_store, find IRIs with search_terms, then ask with query (SPARQL 1.1). \
Prefixes that are shown need no declaration. Say in your answers whether something is asserted or \
inferred where that matters: `why` shows the proof of a triple, `why_not` what is missing. \
preview_update shows what a change would imply without writing anything."""

READS_ONLY = "This server only reads: none of its tools changes the store."
WRITES = "The tool update changes the store: call preview_update with the same text before."


def create_server(store: Store, settings: AgentSettings | None = None) -> MCPServer[Any]:
    """A server for a store; a store that was opened for reading follows other processes.

    >>> import asyncio
    >>> from mcp import Client
    >>> from triplestore import Store
    >>> store = Store()
    >>> _ = store.load("@prefix ex: <http://ex.org/> . ex:ada ex:knows ex:bob .", "ttl")
    >>> async def ask():
    ...     async with Client(create_server(store)) as client:
    ...         return await client.call_tool("query", {"query": "SELECT ?x { ?x ex:knows ?y }"})
    >>> print(asyncio.run(ask()).content[0].text)
    prefixes: ex: <http://ex.org/>
    ?x
    ex:ada
    (1 row)
    """
    chosen = settings or AgentSettings()
    session = AgentSession(store, chosen)
    server: MCPServer[Any] = MCPServer(
        "triplestore",
        title="RDF store with inference",
        version=VERSION,
        instructions=f"{INSTRUCTIONS} {WRITES if chosen.update else READS_ONLY}",
        log_level="WARNING",
    )
    AgentTools(session).register(server)
    register_documents(server, session)
    return server
