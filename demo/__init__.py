"""`make demo`: a city's public transport as a knowledge graph: queries, inference, changes.

`python -m demo` runs it. `make_files` in files.py makes the data: an ontology (ontology.ttl,
written by hand), a thesaurus (thesaurus.py), the network (network.py) and the records of two other
offices (records.py). The rules are in rules.dlog.
"""
