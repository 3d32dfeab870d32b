"""The MCP server: a store for agents, over the Model Context Protocol.

Start reading at `app.create_server`; `serving.py` runs it over standard input or HTTP. What is
known of a store comes from `browse`; this package writes it as text that fits in a model's context,
with the same as data beside it. Importing this package imports `mcp`, the official SDK.
"""

from triplestore.mcp_server.app import create_server
from triplestore.mcp_server.serving import serve_http, serve_stdio
from triplestore.mcp_server.settings import AgentSettings

__all__ = ["AgentSettings", "create_server", "serve_http", "serve_stdio"]
