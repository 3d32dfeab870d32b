"""Writing: what a transaction gathers, and how it becomes one commit.

Start reading at `writer.TransactionWriter`. `documents.py` reads files and tables into it,
`graph_writes.py` writes whole graphs, `run_update.py` carries out SPARQL updates, and
`rule_changes.py` changes the rules in force. `combine_writes.py` turns single writes into rows.
"""
