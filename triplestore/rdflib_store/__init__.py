"""rdflib over our store: `rdflib.Graph(store="triplestore")`. Start at `TripleStore` (plugin.py).

terms.py translates terms, names.py the names of graphs; pending.py collects single changes;
queries.py runs queries and updates on our engine. The extra `rdflib` installs rdflib.
"""

from triplestore.rdflib_store.plugin import TripleStore

__all__ = ["TripleStore"]
