"""A client of the MCP server, called from tests without `async`: the SDK's own."""

from __future__ import annotations

from typing import Any

import anyio
from mcp import Client
from mcp.types import CallToolResult, TextContent, TextResourceContents

from triplestore import Store
from triplestore.mcp_server import AgentSettings, create_server


class Agent:
    """Calls tools of a store's server; each call is a connection of its own to the same server."""

    def __init__(self, store: Store, **settings: Any) -> None:
        self.server = create_server(store, AgentSettings(**settings))

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        async def run() -> CallToolResult:
            async with Client(self.server) as client:
                return await client.call_tool(tool, arguments)

        return anyio.run(run)

    def text(self, tool: str, **arguments: Any) -> str:
        result = self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        return text_of(result)

    def data(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.call(tool, **arguments)
        assert not result.is_error and result.structured_content is not None, text_of(result)
        return result.structured_content

    def error(self, tool: str, **arguments: Any) -> str:
        result = self.call(tool, **arguments)
        assert result.is_error
        return text_of(result)

    def tools(self) -> dict[str, Any]:
        async def run() -> dict[str, Any]:
            async with Client(self.server) as client:
                return {tool.name: tool for tool in (await client.list_tools()).tools}

        return anyio.run(run)

    def resource(self, name: str) -> str:
        async def run() -> str:
            async with Client(self.server) as client:
                (content,) = (await client.read_resource(f"triplestore://{name}")).contents
                assert isinstance(content, TextResourceContents)
                return content.text

        return anyio.run(run)


def text_of(result: CallToolResult) -> str:
    """The text that a model reads."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text
