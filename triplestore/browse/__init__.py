"""What a person or an agent wants to know of a store, as plain data: no HTTP, no printing.

Functions take a `ReadableStore` (a store, a snapshot or a transaction) and return dicts and lists
that `json.dumps` takes. Terms are as `term_data.TermData` makes them. The page of the server and
the MCP server show them.
"""
