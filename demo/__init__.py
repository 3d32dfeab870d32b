"""`make demo`: a city's public transport as a knowledge graph, queried, reasoned about, changed.

`python -m demo` runs it. The data is made by `make_files` in files.py: an ontology (ontology.ttl,
written by hand), a thesaurus (thesaurus.py), the network (network.py) and what two other offices
know about it (records.py). The rules are in rules.dlog.
"""
