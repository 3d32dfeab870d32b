"""rdflib over our store: `rdflib.Graph(store="triplestore")`. Start at `TripleStore` (plugin.py).

terms.py translates terms, names.py the names of graphs; pending.py collects single changes;
queries.py runs queries and updates on our engine; pyshacl_validate.py has `validate` for programs
that call pySHACL's. The extra `rdflib` installs rdflib.
"""

from triplestore.rdflib_store.plugin import TripleStore
from triplestore.rdflib_store.pyshacl_validate import validate

__all__ = ["TripleStore", "validate"]
