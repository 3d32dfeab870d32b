"""rdflib over our store: `rdflib.Graph(store="triplestore")`. Start at `TripleStore` (plugin.py).

Terms go through terms.py, names of graphs through names.py; single changes wait in pending.py;
queries and updates run on our engine by queries.py. The extra `rdflib` installs what it needs.
"""

from triplestore.rdflib_store.plugin import TripleStore

__all__ = ["TripleStore"]
