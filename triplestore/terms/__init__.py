"""Terms: the dictionary that gives every RDF term an integer id, and what terms are worth.

Start reading at `dictionary.Dictionary`; a bulk load goes through `collector.TermCollector`, and
what is stored are `segment.TermSegment`s. A term is known by its key (`model`): a kind and bytes.
The values of literals (numbers, dates, ...) are in `values` and the modules beside it. DESIGN.md
has the decisions and measurements.
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
