"""Full-text search: an index of literals beside a store, for `text:query` in SPARQL.

Start at `text_index.TextIndex`. tantivy, which the extra `text` installs, is imported when an index
is first used.
"""
