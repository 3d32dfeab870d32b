"""Random terms of every kind, shared by the tests of terms."""

from __future__ import annotations

import pyoxigraph as ox
from hypothesis import strategies as st

from triplestore.terms.term_keys import key_of

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

# Everything a string of Unicode may hold, the awkward ones often.
any_text = st.text(
    st.sampled_from("\0\n\r\t\b\f\"\\@^<>_: a'\x7f\x85\ufffe\uffff\U0001f600é")
    | st.characters(exclude_categories=["Cs"]),
    max_size=12,
) | st.sampled_from(["", '"', '"@en', 'x"^^<http://a>', '"@', '\\"'])
any_text |= st.sampled_from([9, 64, 3000]).map(lambda n: "\0" * (n % 64) + "a" * (n & ~63))
iris = st.builds(
    lambda path: ox.NamedNode("http://example.org/" + path),
    st.text("abcABC012/?=&%é\U0001f600.-_~", max_size=8).map(lambda s: s.replace("%", "%20")),
)
labels = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9.]{0,5}[A-Za-z0-9])?", fullmatch=True)
blanks = st.builds(ox.BlankNode, labels)
languages = st.sampled_from(["en", "EN", "de-CH", "zh-Hant-TW", "ar", "x-private"])
directions = st.sampled_from([None, ox.BaseDirection.LTR, ox.BaseDirection.RTL])
datatypes = st.sampled_from(
    [ox.NamedNode(XSD + name) for name in ("integer", "string", "double", "dateTime")]
    + [ox.NamedNode("http://example.org/type")]
)
lexical_forms = any_text | st.sampled_from(["1", "01", "1.0", "1e0", "NaN", "true", "2020-01-01"])
literals = (
    st.builds(ox.Literal, any_text)
    | st.builds(
        lambda text, tag, way: ox.Literal(text, language=tag, direction=way),
        any_text,
        languages,
        directions,
    )
    | st.builds(lambda text, kind: ox.Literal(text, datatype=kind), lexical_forms, datatypes)
)
simple_terms = iris | blanks | literals
triples = st.recursive(
    st.builds(ox.Triple, iris | blanks, iris, simple_terms),
    lambda inner: st.builds(ox.Triple, iris | blanks, iris, inner),
    max_leaves=3,
)
terms = simple_terms | triples

# Keys of terms, and of IRIs and blank nodes of any bytes: the dictionary must hold them all.
odd_keys = st.builds(
    lambda kind, text: bytes([kind]) + text,
    st.integers(1, 2),
    st.binary(max_size=20)
    | st.builds(
        lambda n, tail: b"http://example.org/" * n + tail, st.integers(0, 6), st.binary(max_size=3)
    ),
)
keys = terms.map(key_of) | odd_keys
# Without triple terms, whose parts a dictionary adds by itself.
simple_keys = simple_terms.map(key_of) | odd_keys
