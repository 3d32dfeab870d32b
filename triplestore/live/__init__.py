"""Live queries and the change feed: what came and went with each commit.

Start at `hub.py: LiveHub`. `query.py: LiveQuery` computes how the rows of a query change from the
facts that a commit changed (`fact_changes.py`); `feed.py: ChangeFeed` lists these facts.
"""
