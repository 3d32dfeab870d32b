"""HTML for notebooks: what `_repr_html_` of results, proofs, reports and stores is made of.

Start at `parts.output`, which makes one output of a cell, and `terms.TermWriter`, which writes RDF
terms. What is always true: texts of data are escaped, and an output has no script and fetches
nothing. Nothing here knows IPython: these are functions from values to text. What a kind of object
consists of is said in a module of its own package, for example `proofs/proof_html.py`.
"""
