"""Terms: the dictionary, which gives every RDF term an integer id, and the values of literals.

Start reading at `dictionary.Dictionary`. A bulk load goes through `collector.TermCollector`; terms
are stored in `segment.TermSegment`s. A term is known by its key (`term_keys`): a kind and bytes.
The values of literals (numbers, dates, ...) are in `values`. DESIGN.md has the decisions.
"""

from triplestore.terms.collector import TermCollector
from triplestore.terms.dictionary import FIRST_QUERY_ID, Dictionary
from triplestore.terms.segment import TermSegment
from triplestore.terms.term_keys import (
    BLANK,
    IRI,
    LANG,
    STRING,
    TRIPLE,
    TYPED,
    Term,
    key_of,
    term_of,
    to_ntriples,
)

__all__ = [
    "BLANK",
    "FIRST_QUERY_ID",
    "IRI",
    "LANG",
    "STRING",
    "TRIPLE",
    "TYPED",
    "Dictionary",
    "Term",
    "TermCollector",
    "TermSegment",
    "key_of",
    "term_of",
    "to_ntriples",
]
